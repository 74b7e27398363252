//! `netquarry bench`: what each stage costs on this machine, with the corpus and the versions beside the figures.

use std::sync::Arc;
use std::time::Instant;

use netquarry_core::fingerprint::archive::Forgetful;
use serde::Serialize;

use super::Ending;
use crate::arguments::{BenchArguments, IndexChoice};
use crate::configuration::Settings;
use crate::console::{ColorChoice, Console, Format, Verbosity};
use crate::course::{Course, cpu_time, peak_memory};
use crate::driver::assemble::{Assembled, BundleFile, Origin, assemble};
use crate::driver::context::Context;
use crate::driver::curate::{Contender, Kernels, curate};
use crate::driver::discover::Candidate;
use crate::driver::fetch::{Fetched, FetchedSource};
use crate::driver::index::Indexed;
use crate::driver::plugins::Plugins;
use crate::driver::python::Python;
use crate::driver::resolve::Attempt;
use crate::driver::{self, discover, fetch, index, resolve, shims};
use crate::environment::Environment;
use crate::library::run_record::Machine;
use crate::problem::Problem;
use crate::quantity::{human_bytes, human_count, human_seconds};
use crate::spool::Spool;
use crate::table::{Align, Table};

#[derive(Serialize)]
struct Benchmark {
    program: String,
    machine: Machine,
    processor: Option<String>,
    corpus: String,
    /// Name and version of every source.
    sources: Vec<String>,
    files: usize,
    bytes: u64,
    /// Python and torch, where blocks were validated.
    python: Option<String>,
    repetitions: u16,
    measurements: Vec<Measurement>,
    /// The whole pipeline from an empty store, the sources and the environment being there.
    whole_run: Option<Course>,
}

/// The median of the repetitions.
#[derive(Serialize)]
struct Measurement {
    what: String,
    wall_seconds: f64,
    cpu_seconds: f64,
    /// Of this process, in bytes, up to and including this measurement.
    peak_memory: u64,
    /// In the unit beside it, by the clock.
    rate: f64,
    unit: &'static str,
}

pub(super) fn bench(arguments: &BenchArguments, settings: &Settings, console: &Console) -> Result<Ending, Problem> {
    let real = Context::open(settings, console)?;
    let corpus = fetch::corpus(settings)?;
    let plugins = Plugins::load(settings, corpus.discovery_rule.as_deref(), console)?;
    let python = if arguments.without_python { None } else { Some(Python::start(settings, console)?.wait(console)?) };
    let fetched = fetch::fetch(&real, corpus)?;
    let scratch = tempfile::tempdir().map_err(|error| Problem::io("make a folder in", &std::env::temp_dir(), error))?;
    let quiet = Console::new(Format::Human, Verbosity::Quiet, ColorChoice::Never);
    let cold = Settings { store_dir: scratch.path().to_owned(), out: scratch.path().join("out"), ..settings.clone() };
    let bench = Bench { repetitions: arguments.repeat, console, quiet: &quiet };
    let measurements = bench.stages(&cold, &fetched, &plugins)?;
    let whole_run = match &python {
        Some(environment) => Some(bench.whole_run(cold, environment)?),
        None => None,
    };
    let python = python.map(|environment| format!("Python {}, torch {}", environment.version, environment.torch));
    let version = |source: &FetchedSource| {
        let source = &source.snapshot.source;
        let version = source.version.as_deref().or(source.commit.as_deref()).unwrap_or("");
        format!("{} {version}", source.name).trim().to_owned()
    };
    let files = || fetched.sources.iter().flat_map(|source| &source.snapshot.files);
    let optimised = if cfg!(debug_assertions) { ", a development build" } else { "" };
    let result = Benchmark {
        program: format!("netquarry {}{optimised}", env!("CARGO_PKG_VERSION")),
        machine: Machine::this(settings.threads),
        processor: processor(),
        corpus: fetched.corpus.name.clone(),
        sources: fetched.sources.iter().map(version).collect(),
        files: files().count(),
        bytes: files().map(|file| file.bytes).sum(),
        python,
        repetitions: arguments.repeat,
        measurements,
        whole_run,
    };
    match console.format {
        Format::Json => console.print_json(&result)?,
        Format::Human => console.print(&human(&result, console))?,
    }
    Ok(Ending::Done)
}

/// How to measure.
struct Bench<'a> {
    repetitions: u16,
    console: &'a Console,
    /// For the stages themselves, whose own words would drown the figures.
    quiet: &'a Console,
}

/// What was measured so far.
#[derive(Default)]
struct Measurements(Vec<Measurement>);

impl Bench<'_> {
    /// The stages that need no Python, each by itself.
    fn stages(&self, cold: &Settings, fetched: &Fetched, plugins: &Plugins) -> Result<Vec<Measurement>, Problem> {
        let mut into = Measurements::default();
        let context = Context::open(cold, self.quiet)?;
        let indexed = self.index(cold, fetched, &mut into)?;
        let classes = indexed.index.classes().count();
        let found = self.measure(&mut into, "discover", as_amount(classes), "classes/s", || {
            discover::discover(&context, fetched, &indexed, &plugins.discovery)
        })?;
        self.border(plugins, &mut into)?;
        let (candidates, (rules, _)) = (&found.candidates, shims::rules(plugins, &indexed));
        let blocks = as_amount(candidates.len());
        let resolved = self.measure(&mut into, "resolve", blocks, "blocks/s", || {
            resolve::resolve(&context, &indexed, &rules, candidates)
        })?;
        let assembled = self.measure(&mut into, "assemble", blocks, "blocks/s", || {
            assemble(&context, &fetched.sources, &indexed, candidates, &resolved.closures)
        })?;
        drop((resolved, indexed));
        let contenders = contenders(&context.spool, candidates, &assembled);
        let kernels = Kernels { pool: &context.pool, spool: &context.spool, archive: Arc::new(Forgetful) };
        self.measure(&mut into, "curate, without verdicts", as_amount(contenders.len()), "blocks/s", || {
            Ok(curate(&kernels, self.quiet, &plugins.dedup, &contenders[..]))
        })?;
        Ok(into.0)
    }

    fn index(&self, cold: &Settings, fetched: &Fetched, into: &mut Measurements) -> Result<Indexed, Problem> {
        let files = fetched.sources.iter().flat_map(|source| &source.snapshot.files);
        #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
        let megabytes = files.map(|file| file.bytes).sum::<u64>() as f64 / 1e6;
        let force = Settings { index: IndexChoice::Force, ..cold.clone() };
        let force = Context::open(&force, self.quiet)?;
        let kept = driver::kept_imports(&force, fetched);
        self.measure(into, "parse and index, cold", megabytes, "MB/s", || index::index(&force, fetched, &kept))?;
        let missing = Settings { index: IndexChoice::Missing, ..cold.clone() };
        let missing = Context::open(&missing, self.quiet)?;
        self.measure(into, "index, nothing changed", megabytes, "MB/s", || index::index(&missing, fetched, &kept))
    }

    /// What it costs to enter a plugin and come back: an instance, its configuration, one call that copies a table out.
    fn border(&self, plugins: &Plugins, into: &mut Measurements) -> Result<(), Problem> {
        const CALLS: usize = 200;
        let Some(shim) = plugins.shims.first() else { return Ok(()) };
        let call = || {
            for _ in 0..CALLS {
                // A shim that cannot tell its tables was reported when it was loaded.
                let _ = shim.tables();
            }
            Ok(())
        };
        let what = format!("plugin border, {CALLS} calls for tables");
        self.measure(into, &what, as_amount(CALLS), "calls/s", call)
    }

    /// Everything once, into a folder that goes afterwards.
    fn whole_run(&self, cold: Settings, environment: &Environment) -> Result<Course, Problem> {
        self.console.status("Measuring", "the whole run");
        let settings = Settings { python: Some(environment.python.clone()), index: IndexChoice::Force, ..cold };
        let context = Context::open(&settings, self.quiet)?;
        Ok(driver::run::run(&context, Vec::new())?.course)
    }

    fn measure<T>(
        &self,
        into: &mut Measurements,
        what: &str,
        amount: f64,
        unit: &'static str,
        mut work: impl FnMut() -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        self.console.status("Measuring", what);
        let mut times = Vec::new();
        let mut last = None;
        for _ in 0..self.repetitions {
            // The result of the repetition before is given back outside of the measurement.
            drop(last.take());
            let (started, cpu) = (Instant::now(), cpu_time());
            let result = work()?;
            times.push((started.elapsed().as_secs_f64(), cpu_time().saturating_sub(cpu).as_secs_f64()));
            last = Some(result);
        }
        times.sort_by(|left, right| left.0.total_cmp(&right.0));
        let (wall_seconds, cpu_seconds) = times[times.len() / 2];
        into.0.push(Measurement {
            what: what.to_owned(),
            wall_seconds,
            cpu_seconds,
            peak_memory: peak_memory(),
            rate: amount / wall_seconds.max(1e-9),
            unit,
        });
        Ok(last.expect("there is at least one repetition"))
    }
}

/// Every bundle, as if all were equally good.
fn contenders(spool: &Arc<Spool>, candidates: &[Candidate], assembled: &Assembled) -> Vec<Contender> {
    let parts = candidates.iter().zip(&assembled.bundles).zip(&assembled.origins);
    let contender = |((candidate, bundle), origin): ((&Candidate, &Attempt<BundleFile>), &Origin)| {
        Some(Contender {
            block: candidate.block.clone(),
            name: candidate.name.clone(),
            source: origin.source.name.clone(),
            priority: candidate.priority,
            level: 0,
            accuracy: None,
            code: bundle.as_ref().ok()?.code(spool),
        })
    };
    parts.filter_map(contender).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a rate for people")]
fn as_amount(count: usize) -> f64 {
    count as f64
}

/// What Linux calls the processor.
fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim().to_owned())
}

fn human(result: &Benchmark, console: &Console) -> String {
    let machine = &result.machine;
    let mut text = format!(
        "{}, {} {}, {} threads on {} cores, {}\n{}: {}; {} files, {}\n",
        result.program,
        machine.operating_system,
        machine.architecture,
        machine.threads,
        machine.cores,
        result.processor.as_deref().unwrap_or("processor not known"),
        result.corpus,
        result.sources.join(", "),
        human_count(result.files),
        human_bytes(result.bytes),
    );
    if let Some(python) = &result.python {
        text.push_str(&format!("{python}\n"));
    }
    let mut table = Table::new(&[
        ("stage", Align::Left),
        ("wall", Align::Right),
        ("processor", Align::Right),
        ("rate", Align::Right),
        ("", Align::Left),
        ("peak memory", Align::Right),
    ]);
    for measurement in &result.measurements {
        table.row(vec![
            measurement.what.clone(),
            human_seconds(measurement.wall_seconds),
            human_seconds(measurement.cpu_seconds),
            rate(measurement.rate),
            measurement.unit.to_owned(),
            human_bytes(measurement.peak_memory),
        ]);
    }
    text.push_str(&format!("\nThe median of {} repetitions\n", result.repetitions));
    text.push_str(&table.render(|style| console.out_style(style)));
    if let Some(course) = &result.whole_run {
        text.push_str("\nThe whole run, sources and environment being there, nothing else cached\n");
        text.push_str(&crate::summary::course(course, |style| console.out_style(style)));
    }
    text
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate for people")]
fn rate(rate: f64) -> String {
    if rate < 100.0 { format!("{rate:.1}") } else { human_count(rate.round() as usize) }
}
