//! `netquarry bench`: what each stage costs on this machine, with the corpus and the versions beside the figures.

use std::time::Instant;

use serde::Serialize;

use super::Ending;
use crate::arguments::{BenchArguments, IndexChoice};
use crate::configuration::Settings;
use crate::console::{ColorChoice, Console, Format, Verbosity};
use crate::course::{cpu_time, human_bytes, human_count, human_seconds, peak_memory};
use crate::driver::assemble::assemble;
use crate::driver::context::Context;
use crate::driver::fetch::Fetched;
use crate::driver::index::Indexed;
use crate::driver::plugins::Plugins;
use crate::driver::python::Python;
use crate::driver::{self, curate, discover, fetch, index, resolve, shims, validate};
use crate::library::run_record::Machine;
use crate::problem::Problem;
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
    let level = arguments.bench_level.map_or(netquarry_core::verdict::Level::Execute, Into::into);
    let cold = Settings { cache_dir: scratch.path().to_owned(), index: IndexChoice::Force, level, ..settings.clone() };
    let context = Context::open(&cold, &quiet)?;
    let bench = Bench { repetitions: arguments.repeat, console };

    let mut measurements = Vec::new();
    let indexed = indexing(&bench, &context, &fetched, &mut measurements)?;
    let found = discovery(&bench, &context, &fetched, &indexed, &plugins, &mut measurements)?;
    border(&bench, &plugins, &mut measurements);
    let candidates = &found.candidates;
    let rules = shims::rules(&plugins, &indexed);
    let resolved = bench.measure("resolve", candidates.len(), "blocks/s", &mut measurements, || {
        resolve::resolve(&context, &indexed, &rules, candidates)
    })?;
    let assembled = bench.measure("assemble", candidates.len(), "blocks/s", &mut measurements, || {
        assemble(&context, &fetched.sources, &indexed, candidates, &resolved.closures)
    })?;
    if let Some(environment) = &python {
        let once = Bench { repetitions: 1, console };
        let what = format!("validate to {}", level.name());
        let validated = once.measure(&what, candidates.len(), "bundles/s", &mut measurements, || {
            validate::validate(&context, environment, &rules, candidates, &assembled)
        })?;
        if let Some(statistics) = &validated.statistics {
            for (what, share) in [("validate, a bundle, median", 0.5), ("validate, a bundle, 90%", 0.9)] {
                let cpu_seconds = statistics.cpu_quantile(share);
                measurements.push(Measurement {
                    what: what.to_owned(),
                    wall_seconds: cpu_seconds,
                    cpu_seconds,
                    peak_memory: statistics.child_peak_bytes,
                    rate: 1e3 * cpu_seconds,
                    unit: "ms of CPU",
                });
            }
        }
        let made = driver::Made {
            indexed,
            candidates: found.candidates.clone(),
            rules,
            closures: resolved.closures,
            assembled,
            stages: Vec::new(),
        };
        let records = driver::records(&context, &made, &validated);
        let contenders = driver::contenders(&context, &made, &records);
        once.measure("deduplicate", contenders.len(), "blocks/s", &mut measurements, || {
            Ok::<_, Problem>(curate::curate(&context.pool, &quiet, &plugins.dedup, &contenders))
        })?;
        for emitter in &plugins.emit {
            let what = format!("emit, {}", emitter.plugin().name);
            once.measure(&what, records.len(), "blocks/s", &mut measurements, || {
                Ok::<_, Problem>(emitter.emit(&records))
            })?;
        }
    }
    let python = python.map(|environment| format!("Python {}, torch {}", environment.version, environment.torch));
    let result = benchmark(arguments, settings, &fetched, python, measurements);
    print(&result, console)?;
    Ok(Ending::Done)
}

fn indexing(
    bench: &Bench<'_>,
    context: &Context<'_>,
    fetched: &Fetched,
    into: &mut Vec<Measurement>,
) -> Result<Indexed, Problem> {
    let files = fetched.sources.iter().flat_map(|source| &source.snapshot.files);
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let megabytes = files.map(|file| file.bytes).sum::<u64>() as f64 / 1e6;
    let kept = driver::kept_imports(context, fetched);
    bench.measure_amount("parse and index, cold", megabytes, "MB/s", into, || index::index(context, fetched, &kept))?;
    let warm = Settings { index: IndexChoice::Missing, ..context.settings.clone() };
    let warm = Context::open(&warm, context.console)?;
    bench.measure_amount("index, nothing changed", megabytes, "MB/s", into, || index::index(&warm, fetched, &kept))
}

fn discovery(
    bench: &Bench<'_>,
    context: &Context<'_>,
    fetched: &Fetched,
    indexed: &Indexed,
    plugins: &Plugins,
    into: &mut Vec<Measurement>,
) -> Result<discover::Discovered, Problem> {
    let classes = indexed.index.classes().count();
    bench.measure("discover", classes, "classes/s", into, || {
        discover::discover(context, fetched, indexed, &plugins.discovery)
    })
}

/// What it costs to enter a plugin and to come back with nothing done: an instance, its configuration and one call.
fn border(bench: &Bench<'_>, plugins: &Plugins, into: &mut Vec<Measurement>) {
    const CALLS: usize = 200;
    let Some(shim) = plugins.shims.first() else { return };
    let call = || {
        for _ in 0..CALLS {
            // A shim that cannot tell its tables was reported when it was loaded.
            let _ = shim.tables();
        }
        Ok::<_, Problem>(())
    };
    let what = format!("plugin border, {} calls for tables", CALLS);
    bench.measure(&what, CALLS, "calls/s", into, call).expect("nothing in it fails");
}

/// Repeats and times.
struct Bench<'a> {
    repetitions: u16,
    console: &'a Console,
}

impl Bench<'_> {
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    fn measure<T, E>(
        &self,
        what: &str,
        items: usize,
        unit: &'static str,
        into: &mut Vec<Measurement>,
        work: impl FnMut() -> Result<T, E>,
    ) -> Result<T, E> {
        self.measure_amount(what, items as f64, unit, into, work)
    }

    fn measure_amount<T, E>(
        &self,
        what: &str,
        amount: f64,
        unit: &'static str,
        into: &mut Vec<Measurement>,
        mut work: impl FnMut() -> Result<T, E>,
    ) -> Result<T, E> {
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
        let rate = amount / wall_seconds.max(1e-9);
        into.push(Measurement {
            what: what.to_owned(),
            wall_seconds,
            cpu_seconds,
            peak_memory: peak_memory(),
            rate,
            unit,
        });
        Ok(last.expect("there is at least one repetition"))
    }
}

fn benchmark(
    arguments: &BenchArguments,
    settings: &Settings,
    fetched: &Fetched,
    python: Option<String>,
    measurements: Vec<Measurement>,
) -> Benchmark {
    let version = |source: &fetch::FetchedSource| {
        let source = &source.snapshot.source;
        let version = source.version.as_deref().or(source.commit.as_deref()).unwrap_or("");
        format!("{} {version}", source.name).trim().to_owned()
    };
    let files = || fetched.sources.iter().flat_map(|source| &source.snapshot.files);
    Benchmark {
        program: format!(
            "netquarry {}{}",
            env!("CARGO_PKG_VERSION"),
            if cfg!(debug_assertions) { ", not optimised" } else { "" }
        ),
        machine: Machine::this(settings.threads),
        processor: processor(),
        corpus: fetched.corpus.name.clone(),
        sources: fetched.sources.iter().map(version).collect(),
        files: files().count(),
        bytes: files().map(|file| file.bytes).sum(),
        python,
        repetitions: arguments.repeat,
        measurements,
    }
}

/// What Linux calls the processor.
fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim().to_owned())
}

fn print(result: &Benchmark, console: &Console) -> Result<(), Problem> {
    if console.format == Format::Json {
        return console.print_json(result);
    }
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
    text.push_str(&format!("median of {} repetitions; validation and what follows it, once\n\n", result.repetitions));
    let mut table = Table::new(&[
        ("", Align::Left),
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
    text.push_str(&table.render(|style| console.out_style(style)));
    console.print(&text)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate for people")]
fn rate(rate: f64) -> String {
    if rate < 100.0 { format!("{rate:.1}") } else { human_count(rate.round() as usize) }
}
