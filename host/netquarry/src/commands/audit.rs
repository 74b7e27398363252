//! `netquarry audit [LIBRARY]`: the quality of a whole library in figures.

use std::fmt::Write as _;

use super::Ending;
use crate::audit::Audit;
use crate::configuration::Settings;
use crate::console::{Console, Format};
use crate::driver::audit;
use crate::driver::context::Context;
use crate::interval::Proportion;
use crate::problem::Problem;
use crate::quantity::human_count;
use crate::summary::percentage;
use crate::table::HEADING;

/// A name that means something else than what it was resolved to is a finding.
pub(super) fn audit(settings: &Settings, console: &Console) -> Result<Ending, Problem> {
    let audit = audit::audit(&Context::open(settings, console)?)?;
    match console.format {
        Format::Json => console.print_json(&audit)?,
        Format::Human => console.print(&human(&audit, console))?,
    }
    Ok(if audit.resolution.different.is_empty() { Ending::Done } else { Ending::Findings })
}

fn human(audit: &Audit, console: &Console) -> String {
    let heading = console.out_style(HEADING);
    let formatting = &audit.formatting;
    let of = |part: usize, whole: usize| share(&Proportion::of(part, whole));
    let rows = [
        ("names resolved as CPython binds them", share(&audit.resolution.accuracy)),
        ("definitions to the byte", of(formatting.identical, formatting.definitions)),
        ("lines to the byte", of(formatting.identical_lines, formatting.lines)),
        ("bundles without an edit", of(formatting.untouched_bundles, audit.bundles)),
        ("bundles with all of upstream's names", share(&audit.complete)),
        ("bundles with imports as PEP 8 has them", share(&audit.imports_in_order)),
    ];
    let mut text =
        format!("{heading}{} blocks, {} bundles{heading:#}\n\n", human_count(audit.blocks), human_count(audit.bundles));
    for (name, value) in rows {
        let _ = writeln!(text, "  {name:<40}{value}");
    }
    let lines = |lines: Option<u32>| lines.map_or("-".to_owned(), |lines| human_count(lines as usize));
    let _ = writeln!(
        text,
        "  {:<40}{} in the median, {} in nine of ten, {} at most",
        "lines of a bundle",
        lines(audit.lines.median),
        lines(audit.lines.ninth_decile),
        lines(audit.lines.most)
    );
    for reason in &audit.resolution.not_compared {
        let _ = writeln!(text, "\n  {} names were not compared: {}", human_count(reason.count), reason.name);
    }
    for wrong in &audit.resolution.different {
        let _ = writeln!(
            text,
            "\n  {} in {} was resolved to {}; {}",
            wrong.reference, wrong.user, wrong.chosen, wrong.detail
        );
    }
    text
}

/// `4,515 of 4,515: 100.0% (as a sample: 99.9% to 100.0% with 95% confidence)`
fn share(proportion: &Proportion) -> String {
    let (part, whole) = (human_count(proportion.successes), human_count(proportion.trials));
    format!("{part} of {whole}: {}", percentage(proportion))
}
