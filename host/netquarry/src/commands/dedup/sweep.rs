//! `netquarry dedup sweep [INPUT]`: how the number of models that stay moves with the thresholds.

use std::sync::Arc;

use netquarry_plugin::DedupStrategy;
use serde_json::json;

use super::strategies::with_preset;
use super::{Fingerprints, human_things, nothing_in, threads};
use crate::arguments::{DedupSweepArguments, SWEPT};
use crate::commands::Ending;
use crate::configuration::{PluginOrder, Settings};
use crate::console::{Console, Format};
use crate::curation::{self, SweepPoint};
use crate::driver::curate::{Contenders as _, Contest, Kernels};
use crate::driver::plugins::Plugins;
use crate::library::{folder, manifest};
use crate::models::Models;
use crate::problem::Problem;
use crate::quantity::human_count;
use crate::report::html_of_sweep;
use crate::spool::Spool;
use crate::table::{Align, Table};

const LEXICAL: &str = "dedup-lexical";
const STRUCTURAL: &str = "dedup-structural";

/// A strategy at one of its thresholds, or as it is.
struct Variant {
    thresholds: Thresholds,
    strategy: DedupStrategy,
}

#[derive(Clone, Copy, Default)]
struct Thresholds {
    lexical: Option<f64>,
    structural: Option<f64>,
}

impl Thresholds {
    fn or(self, other: Self) -> Self {
        Self { lexical: self.lexical.or(other.lexical), structural: self.structural.or(other.structural) }
    }
}

pub(super) fn sweep(
    arguments: &DedupSweepArguments,
    settings: &Settings,
    console: &Console,
) -> Result<Ending, Problem> {
    let preset = with_preset(&arguments.preset, settings)?;
    let used = &preset.settings.plugins.dedup;
    if ![LEXICAL, STRUCTURAL].iter().any(|wanted| used.iter().any(|name| name == wanted)) {
        return Err(Problem::new(format!("There is no threshold to move: neither {LEXICAL} nor {STRUCTURAL} is used"))
            .help("name one of them under `[plugins]` in netquarry.toml"));
    }
    for (strategy, thresholds, option) in
        [(LEXICAL, &arguments.lexical, "--lexical"), (STRUCTURAL, &arguments.structural, "--structural")]
    {
        if *thresholds != SWEPT && !used.iter().any(|name| name == strategy) {
            return Err(Problem::new(format!("{option} moves the threshold of {strategy}, which is not used"))
                .help("take --preset nn-dup, or name it under `[plugins]` in netquarry.toml"));
        }
    }
    let input = arguments.input.clone().unwrap_or_else(|| settings.out.clone());
    let spool = Arc::new(Spool::new(&settings.cache_dir)?);
    let models = Models::read(&input, &spool)?;
    models.unreadable.iter().for_each(|problem| console.error(problem));
    if models.is_empty() {
        return Err(nothing_in(&input));
    }
    let stages = used.iter().map(|name| variants(name, arguments, &preset.settings)).collect::<Result<Vec<_>, _>>()?;
    let pool = threads(settings)?;
    let fingerprints =
        if manifest::is_in(&input) { Fingerprints::kept(settings, console) } else { Fingerprints::forgotten() };
    let contest = Contest::new(&Kernels { pool: &pool, spool: &spool, archive: fingerprints.archive() }, &models);
    let count = stages.iter().map(Vec::len).product::<usize>();
    let task = console.task("Sweeping", "pair of thresholds", count as u64);
    let mut points = Vec::new();
    let mut found = |point: SweepPoint| {
        task.advance(1);
        points.push(point);
    };
    ask(&pool, &stages, &contest, Thresholds::default(), &mut found)?;
    spool.check()?;
    fingerprints.finish(console);
    let total = models.count();
    task.finish("Swept", &format!("{} of thresholds over {} models", human_things(count, "pair"), human_count(total)));
    if let Some(report) = &arguments.report {
        folder::write_whole(report, &html_of_sweep(&curation::title(&input), &arguments.preset, total, &points))?;
    }
    match console.format {
        Format::Json => console.print_json(&points)?,
        Format::Human => console.print(&table(&points, arguments).render(|style| console.out_style(style)))?,
    }
    Ok(if models.unreadable.is_empty() { Ending::Done } else { Ending::Incomplete })
}

/// The strategy of that name, at each of the thresholds that it is tried at.
fn variants(name: &str, arguments: &DedupSweepArguments, settings: &Settings) -> Result<Vec<Variant>, Problem> {
    let thresholds: Vec<Thresholds> = match name {
        LEXICAL => arguments.lexical.iter().map(|at| Thresholds { lexical: Some(*at), structural: None }).collect(),
        STRUCTURAL => {
            arguments.structural.iter().map(|at| Thresholds { lexical: None, structural: Some(*at) }).collect()
        }
        _ => vec![Thresholds::default()],
    };
    let variant = |thresholds: Thresholds| {
        let mut settings = settings.clone();
        settings.plugins = PluginOrder { dedup: vec![name.to_owned()], ..settings.plugins };
        if let Some(threshold) = thresholds.lexical.or(thresholds.structural) {
            let options = settings.plugin_options.entry(name.to_owned()).or_insert_with(|| json!({}));
            options["threshold"] = json!(threshold);
        }
        let strategy = Plugins::load_dedup(&settings)?.pop().expect("one was asked for");
        Ok(Variant { thresholds, strategy })
    };
    thresholds.into_iter().map(variant).collect()
}

/// Asks every variant of the first stage, and behind each of them all that follows.
fn ask(
    pool: &rayon::ThreadPool,
    stages: &[Vec<Variant>],
    contest: &Contest,
    thresholds: Thresholds,
    found: &mut impl FnMut(SweepPoint),
) -> Result<(), Problem> {
    let Some((variants, rest)) = stages.split_first() else {
        let Thresholds { lexical, structural } = thresholds;
        found(SweepPoint { lexical, structural, kept: contest.left() });
        return Ok(());
    };
    for variant in variants {
        let mut contest = contest.clone();
        contest.ask(pool, &variant.strategy).map_err(|error| Problem::from(&error))?;
        ask(pool, rest, &contest, thresholds.or(variant.thresholds), found)?;
    }
    Ok(())
}

/// A row for each lexical threshold and a column for each structural one.
fn table(points: &[SweepPoint], arguments: &DedupSweepArguments) -> Table {
    let has = |threshold: fn(&SweepPoint) -> Option<f64>| points.iter().any(|point| threshold(point).is_some());
    let steps = |is_there: bool, all: &[f64]| -> Vec<Option<f64>> {
        if is_there { all.iter().map(|at| Some(*at)).collect() } else { vec![None] }
    };
    let rows = steps(has(|point| point.lexical), &arguments.lexical);
    let columns = steps(has(|point| point.structural), &arguments.structural);
    let headings: Vec<String> =
        columns.iter().map(|at| at.map_or_else(|| "kept".to_owned(), |at| format!("structural {at:.2}"))).collect();
    let mut all = vec![("lexical", Align::Left)];
    all.extend(headings.iter().map(|heading| (heading.as_str(), Align::Right)));
    let mut table = Table::new(&all);
    for row in rows {
        let mut cells = vec![row.map(|at| format!("{at:.2}")).unwrap_or_default()];
        cells.extend(columns.iter().map(|column| {
            let point = points.iter().find(|point| point.lexical == row && point.structural == *column);
            point.map(|point| human_count(point.kept)).unwrap_or_default()
        }));
        table.row(cells);
    }
    table
}
