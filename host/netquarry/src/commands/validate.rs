//! `netquarry validate FILE...`: verdicts on files that anyone wrote.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use netquarry_core::facts::{ClassFacts, FileFacts};
use netquarry_core::record::BlockRecord;
use netquarry_core::syntax;
use netquarry_core::verdict::{Evidence, Failure, Level, Outcome, Verdict};
use serde::Serialize;

use super::Ending;
use super::extract::level_name;
use super::listing::{Row, list};
use crate::arguments::PipelineArguments;
use crate::configuration::Settings;
use crate::console::Console;
use crate::course::human_things;
use crate::driver::context::Context;
use crate::driver::fetch::{self, Fetched};
use crate::driver::python::Python;
use crate::driver::upstream::Upstreams;
use crate::driver::validate::options;
use crate::findings::failure_name;
use crate::interrupt;
use crate::library::manifest;
use crate::problem::Problem;
use crate::table::Align;
use crate::validate::{self, Job, Upstream};

#[derive(Serialize)]
struct FileRow {
    file: PathBuf,
    /// The class that was looked for.
    class: String,
    level: u8,
    levels: std::collections::BTreeMap<String, Outcome>,
    failure: Option<Failure>,
    evidence: Evidence,
    tainted: bool,
    protections: Vec<String>,
}

impl Row for FileRow {
    const COLUMNS: &'static [(&'static str, Align)] =
        &[("level", Align::Left), ("class", Align::Left), ("file", Align::Left), ("failure", Align::Left)];

    fn cells(&self) -> Vec<String> {
        let failure = self.failure.as_ref().map(|failure| {
            format!("{}: {}", failure_name(failure.class), failure.message.lines().next().unwrap_or(""))
        });
        vec![level_name(self.level), self.class.clone(), self.file.display().to_string(), failure.unwrap_or_default()]
    }
}

/// Validates `files`. All of them have to reach the level that was asked for, or the gate where none was.
pub(super) fn files(
    files: &[PathBuf],
    asked: &PipelineArguments,
    settings: &Settings,
    console: &Console,
) -> Result<Ending, Problem> {
    let mut jobs = files.iter().map(|file| job(file)).collect::<Result<Vec<Job>, Problem>>()?;
    let wanted = match (asked.gate, asked.level) {
        (None, Some(level)) => Level::from(level),
        _ => settings.gate,
    };
    let environment = Python::start(settings, console)?.wait(console)?;
    let fetched = if settings.level >= Level::Parity { sources(files, settings, console)? } else { None };
    let upstreams = fetched.as_ref().map(|fetched| Upstreams::new(&fetched.sources, &environment)).transpose()?;
    if let Some(upstreams) = &upstreams {
        upstreams.write()?;
        for (job, file) in jobs.iter_mut().zip(files) {
            job.upstream = record(file).and_then(|record| upstream(&record, upstreams));
        }
    }
    let task = console.task("Validating", "files", jobs.len() as u64);
    let verdicts: Mutex<Vec<Option<Verdict>>> = Mutex::new(vec![None; jobs.len()]);
    let on_verdict = |job: &Job, verdict: Verdict| {
        let position: usize = job.id.parse().expect("the position was written there");
        verdicts.lock().expect("no panic while collecting")[position] = Some(verdict);
        task.advance(1);
    };
    let numbered = jobs.iter().enumerate().map(|(position, job)| Job { id: position.to_string(), ..job.clone() });
    let waiting = numbered.take_while(|_| !interrupt::requested());
    validate::validate(waiting, &environment, &options(settings.level, settings.jobs), &on_verdict)?;
    interrupt::check()?;
    task.finish("Validated", &human_things(jobs.len(), "file"));

    let verdicts = verdicts.into_inner().expect("no panic while collecting");
    let rows: Vec<FileRow> =
        jobs.iter().zip(files).zip(verdicts).map(|((job, file), verdict)| row(job, file, verdict)).collect();
    let ending = if rows.iter().all(|row| row.level >= wanted as u8) { Ending::Done } else { Ending::Findings };
    list(console, &rows, ending)
}

fn row(job: &Job, file: &Path, verdict: Option<Verdict>) -> FileRow {
    let verdict = verdict.expect("every job has a verdict where nobody interrupts");
    FileRow {
        file: file.to_owned(),
        class: job.class_name.clone(),
        level: verdict.level(),
        levels: Level::ALL.into_iter().map(|level| (level.name().to_owned(), verdict.outcome(level))).collect(),
        failure: verdict.failure,
        evidence: verdict.evidence,
        tainted: verdict.tainted,
        protections: verdict.protections,
    }
}

fn job(file: &Path) -> Result<Job, Problem> {
    let bytes = fs::read(file).map_err(|error| Problem::io("read", file, error).help("give files, not folders"))?;
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    // The parser needs a larger stack than the main thread may have.
    let parse = || {
        std::thread::scope(|scope| {
            let parser = std::thread::Builder::new().stack_size(syntax::PARSER_STACK_BYTES);
            let thread =
                parser.spawn_scoped(scope, || syntax::facts(&bytes)).expect("the system grants one more thread");
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    };
    let facts = parse();
    Ok(Job {
        id: String::new(),
        file: fs::canonicalize(file).map_err(|error| Problem::io("find", file, error))?,
        class_name: class_name(&facts, &stem),
        blocked_packages: own_packages(file),
        operator_packages: Vec::new(),
        arguments: None,
        line_map: Vec::new(),
        upstream: None,
    })
}

/// The class that the file is about: the one it is named after, or else the last one that has a `forward`, or else the
/// last one. A file without any is looked at for a class of its own name, which it will not have.
fn class_name(facts: &FileFacts, stem: &str) -> String {
    let classes: Vec<&ClassFacts> = facts.statements.iter().flat_map(|statement| &statement.classes).collect();
    let wanted = stem.split("__").next().filter(|name| !name.is_empty()).unwrap_or(stem);
    let has_forward = |class: &&&ClassFacts| class.methods.iter().any(|method| facts.name(method.name) == "forward");
    let named = classes.iter().find(|class| [stem, wanted].contains(&facts.name(class.name)));
    let chosen = named.or_else(|| classes.iter().rfind(has_forward)).or_else(|| classes.last());
    chosen.map_or_else(|| stem.to_owned(), |class| facts.name(class.name).to_owned())
}

/// The record of a bundle, by the manifest beside it.
fn record(file: &Path) -> Option<BlockRecord> {
    let file = fs::canonicalize(file).ok()?;
    let (name, folder) = (file.file_name()?, file.parent()?);
    let records = manifest::read(folder.parent()?).ok()??;
    let relative = format!("{}/{}", folder.file_name()?.to_string_lossy(), name.to_string_lossy());
    records.into_iter().find(|record| record.bundle.as_ref() == Some(&relative))
}

/// The sources of the corpus, where there is a bundle that can be compared with one of them.
fn sources(files: &[PathBuf], settings: &Settings, console: &Console) -> Result<Option<Fetched>, Problem> {
    if !files.iter().any(|file| record(file).is_some()) {
        return Ok(None);
    }
    let context = Context::open(settings, console)?;
    fetch::fetch(&context, fetch::corpus(settings)?).map(Some)
}

/// The class that a bundle was made from, where the corpus has its source at the version of the record.
fn upstream(record: &BlockRecord, upstreams: &Upstreams<'_>) -> Option<Upstream> {
    let source = &record.source;
    if !upstreams.is_at(&source.name, source.version.as_deref(), source.commit.as_deref()) {
        return None;
    }
    let (_, path) = record.block.split_once(':')?;
    let module = path.strip_suffix(record.name.as_str())?.strip_suffix('.')?;
    let beside = record.closure.iter().filter_map(|closed| closed.definition.split_once(':'));
    let beside: BTreeSet<&str> = beside.map(|(source, _)| source).collect();
    upstreams.class(&source.name, module, &record.name, &source.sha1, &beside)
}

/// The packages that a bundle of a library must do without: those that its code is from.
fn own_packages(file: &Path) -> Vec<String> {
    let Some(record) = record(file) else { return Vec::new() };
    let paths = record.closure.iter().filter_map(|definition| definition.definition.split_once(':'));
    let packages: BTreeSet<&str> = paths.filter_map(|(_, path)| path.split('.').next()).collect();
    packages.into_iter().filter(|package| *package != "torch").map(str::to_owned).collect()
}
