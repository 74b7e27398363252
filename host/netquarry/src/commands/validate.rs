//! `netquarry validate FILE...`: verdicts on files that anyone wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use netquarry_core::facts::{ClassFacts, FileFacts};
use netquarry_core::record::BlockRecord;
use netquarry_core::syntax;
use netquarry_core::verdict::{Evidence, Failure, Level, Outcome, Verdict};
use serde::Serialize;

use super::Ending;
use super::listing::{Row, in_one_line, list};
use crate::arguments::PipelineArguments;
use crate::configuration::Settings;
use crate::console::Console;
use crate::driver::context::Context;
use crate::driver::fetch::{self, Fetched};
use crate::driver::python::Python;
use crate::driver::upstream::Upstreams;
use crate::driver::validate::options;
use crate::findings::level_name;
use crate::interrupt;
use crate::library::manifest;
use crate::problem::Problem;
use crate::quantity::human_things;
use crate::table::Align;
use crate::validate::{self, Job, Upstream};

#[derive(Serialize)]
struct FileRow {
    file: PathBuf,
    /// The class that was looked for.
    class: String,
    level: u8,
    levels: BTreeMap<String, Outcome>,
    failure: Option<Failure>,
    evidence: Evidence,
    tainted: bool,
    protections: Vec<String>,
}

impl Row for FileRow {
    const COLUMNS: &'static [(&'static str, Align)] =
        &[("level", Align::Left), ("class", Align::Left), ("file", Align::Left), ("failure", Align::Left)];

    fn cells(&self) -> Vec<String> {
        let failure = self.failure.as_ref().map(in_one_line);
        vec![level_name(self.level), self.class.clone(), self.file.display().to_string(), failure.unwrap_or_default()]
    }
}

/// Validates `files`. One that cannot be read is reported and left out. All others have to reach
/// the level that was asked for, or the gate where none was.
pub(super) fn files(
    files: &[PathBuf],
    asked: &PipelineArguments,
    settings: &Settings,
    console: &Console,
) -> Result<Ending, Problem> {
    let mut libraries = Libraries::default();
    let (mut readable, mut jobs) = (Vec::new(), Vec::new());
    for file in files {
        let record = libraries.record(file)?;
        match job(file, record.as_ref().map(own_packages).unwrap_or_default()) {
            Ok(job) => {
                readable.push((file, record));
                jobs.push(job);
            }
            Err(problem) => console.error(&problem),
        }
    }
    if jobs.is_empty() {
        return Ok(Ending::Incomplete);
    }
    let wanted = match (asked.gate, asked.level) {
        (None, Some(level)) => Level::from(level),
        _ => settings.gate,
    };
    let environment = Python::start(settings, console)?.wait(console)?;
    let has_upstream = settings.level >= Level::Parity && readable.iter().any(|(_, record)| record.is_some());
    let fetched = if has_upstream { Some(sources(settings, console)?) } else { None };
    let upstreams = fetched.as_ref().map(|fetched| Upstreams::new(&fetched.sources, &environment)).transpose()?;
    if let Some(upstreams) = &upstreams {
        upstreams.write()?;
        for (job, (_, record)) in jobs.iter_mut().zip(&readable) {
            job.upstream = record.as_ref().and_then(|record| upstream(record, upstreams));
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
        jobs.iter().zip(&readable).zip(verdicts).map(|((job, (file, _)), verdict)| row(job, file, verdict)).collect();
    let ending = match rows.iter().all(|row| row.level >= wanted as u8) {
        _ if readable.len() < files.len() => Ending::Incomplete,
        true => Ending::Done,
        false => Ending::Findings,
    };
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

fn job(file: &Path, blocked_packages: Vec<String>) -> Result<Job, Problem> {
    let bytes = fs::read(file).map_err(|error| Problem::io("read", file, error).help("give files, not folders"))?;
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let facts = facts(&bytes).map_err(|error| Problem::new("Could not start a thread to parse").because(error))?;
    Ok(Job {
        id: String::new(),
        file: fs::canonicalize(file).map_err(|error| Problem::io("find", file, error))?,
        class_name: class_name(&facts, &stem),
        blocked_packages,
        operator_packages: Vec::new(),
        arguments: None,
        line_map: Vec::new(),
        upstream: None,
    })
}

/// Parses on a thread of its own: the parser needs a larger stack than the main thread may have.
fn facts(bytes: &[u8]) -> io::Result<FileFacts> {
    std::thread::scope(|scope| {
        let parser = std::thread::Builder::new().stack_size(syntax::PARSER_STACK_BYTES);
        let thread = parser.spawn_scoped(scope, || syntax::facts(bytes))?;
        Ok(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
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

/// The libraries that the files lie in, each manifest read once.
#[derive(Default)]
struct Libraries {
    /// By folder; without a manifest, a folder holds no library.
    records: BTreeMap<PathBuf, Vec<BlockRecord>>,
}

impl Libraries {
    /// The record of a bundle, by the manifest beside it; none for a file that is no bundle of a library.
    ///
    /// # Errors
    /// The manifest cannot be read. A verdict without the packages blocked that it names would promise less than it
    /// seems to.
    fn record(&mut self, file: &Path) -> Result<Option<BlockRecord>, Problem> {
        let Ok(file) = fs::canonicalize(file) else { return Ok(None) };
        let (Some(name), Some(folder)) = (file.file_name(), file.parent()) else { return Ok(None) };
        let kind = folder.file_name().filter(|name| *name == "blocks" || *name == "failed");
        let (Some(kind), Some(library)) = (kind, folder.parent()) else { return Ok(None) };
        if !self.records.contains_key(library) {
            self.records.insert(library.to_owned(), manifest::read(library)?.unwrap_or_default());
        }
        let relative = Path::new(kind).join(name);
        let is_its = |record: &&BlockRecord| record.bundle.as_deref().is_some_and(|path| Path::new(path) == relative);
        Ok(self.records[library].iter().find(is_its).cloned())
    }
}

/// The sources of the corpus, with which bundles are compared.
fn sources(settings: &Settings, console: &Console) -> Result<Fetched, Problem> {
    let context = Context::open(settings, console)?;
    fetch::fetch(&context, fetch::corpus(settings)?)
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
fn own_packages(record: &BlockRecord) -> Vec<String> {
    let paths = record.closure.iter().filter_map(|definition| definition.definition.split_once(':'));
    let packages: BTreeSet<&str> = paths.filter_map(|(_, path)| path.split('.').next()).collect();
    packages.into_iter().filter(|package| *package != "torch").map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use netquarry_core::record::ClosureRecord;

    use super::*;

    #[test]
    fn a_bundle_of_a_library_does_without_the_packages_that_it_came_from() {
        let folder = tempfile::tempdir().unwrap();
        let mut records = vec![crate::findings::tests::library().remove(0)];
        for definition in ["torch:torch.nn.Module", "timm:timm.layers.drop.drop_path"] {
            records[0].closure.push(definition_record(definition));
        }
        let bundle = folder.path().join(records[0].bundle.as_deref().expect("it has a file"));
        fs::write(folder.path().join(manifest::FILE_NAME), manifest::to_text(&records)).unwrap();
        fs::create_dir_all(folder.path().join("blocks")).unwrap();
        fs::write(&bundle, "").unwrap();
        let record = |file: &Path| Libraries::default().record(file).unwrap();
        assert_eq!(record(&bundle).map(|record| own_packages(&record)), Some(vec!["timm".to_owned()]));
        for other in [folder.path().join("blocks/Other.py"), folder.path().join("own/Other.py"), "Other.py".into()] {
            assert_eq!(record(&other), None);
        }
    }

    fn definition_record(definition: &str) -> ClosureRecord {
        ClosureRecord {
            definition: definition.to_owned(),
            path: String::new(),
            lines: [1, 1],
            sha1: String::new(),
            license: None,
            needed_by: None,
            reference: None,
            confidence: None,
        }
    }

    #[test]
    fn a_damaged_manifest_does_not_lift_the_barrier() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(manifest::FILE_NAME), "{}\n").unwrap();
        let file = folder.path().join("blocks/A.py");
        fs::create_dir_all(folder.path().join("blocks")).unwrap();
        fs::write(&file, "").unwrap();
        let problem = Libraries::default().record(&file).unwrap_err();
        assert!(problem.to_string().starts_with("Line 1 of"), "{problem}");
    }
}
