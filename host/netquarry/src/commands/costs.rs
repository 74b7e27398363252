//! `netquarry report costs [LIBRARY]`: what plugins took when the library was made.

use std::path::Path;

use super::Ending;
use crate::console::{Console, Format};
use crate::library::costs::{PluginCost, of_all_sources};
use crate::library::run_record::RunRecord;
use crate::problem::Problem;
use crate::quantity::{human_bytes, human_count, human_seconds};
use crate::table::{Align, Table};

/// Prints a line for each plugin and stage, and where `sources` is set for each source; programs get the latter.
pub(super) fn costs(library: &Path, sources: bool, console: &Console) -> Result<Ending, Problem> {
    let record = RunRecord::read(library)?.ok_or_else(|| {
        Problem::new(format!("There is no library in `{}`", library.display())).help("make one with `netquarry run`")
    })?;
    match console.format {
        Format::Json => console.print_json(&record.costs)?,
        Format::Human if sources => console.print(&table(&record.costs, console))?,
        Format::Human => console.print(&table(&of_all_sources(&record.costs), console))?,
    }
    Ok(Ending::Done)
}

fn table(costs: &[PluginCost], console: &Console) -> String {
    let mut table = Table::new(&[
        ("plugin", Align::Left),
        ("version", Align::Left),
        ("work", Align::Left),
        ("source", Align::Left),
        ("calls", Align::Right),
        ("failed", Align::Right),
        ("time", Align::Right),
        ("fuel", Align::Right),
        ("peak memory", Align::Right),
        ("host calls", Align::Right),
    ]);
    let count = |count: u64| human_count(usize::try_from(count).unwrap_or(usize::MAX));
    for cost in costs {
        table.row(vec![
            cost.plugin.clone(),
            cost.version.clone(),
            cost.stage.clone(),
            if cost.source.is_empty() { "-".to_owned() } else { cost.source.clone() },
            count(cost.calls),
            count(cost.failed),
            human_seconds(cost.seconds),
            count(cost.fuel),
            human_bytes(cost.peak_memory as u64),
            count(cost.host_calls),
        ]);
    }
    table.render(|style| console.out_style(style))
}
