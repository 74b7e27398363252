//! `netquarry validate FILE...`: verdicts on files that anyone wrote.

mod again;
mod file;
mod hint;
mod library;
mod requirements;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use netquarry_core::record::BlockRecord;
use netquarry_core::shim::BlockArguments;
use netquarry_core::verdict::{Evidence, Failure, Level, Outcome, Tier, Verdict};
use serde::Serialize;

use super::listing::{Row, list, why};
use super::{Ending, of_library};
use crate::arguments::ValidateArguments;
use crate::configuration::Settings;
use crate::console::{Console, Format, Task};
use crate::driver::context::Context;
use crate::driver::fetch;
use crate::driver::layers::{asked_for, recorded};
use crate::driver::provision::{Provision, Want, is_missing_distribution, missing_package};
use crate::driver::python::Python;
use crate::driver::upstream::Upstreams;
use crate::driver::validate::options;
use crate::environment::{Environment, Layer};
use crate::findings::{Judged, level_name};
use crate::interrupt;
use crate::library::folder;
use crate::library::run_record::CorpusOrigin;
use crate::problem::Problem;
use crate::quantity::human_things;
use crate::report::{JudgedFile, html_of_files};
use crate::table::Align;
use crate::validate::{self, Job};

pub(super) use again::{again, tried};
use library::Libraries;

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
    tier: Option<Tier>,
}

impl Row for FileRow {
    const COLUMNS: &'static [(&'static str, Align)] =
        &[("level", Align::Left), ("class", Align::Left), ("file", Align::Left), ("why no further", Align::Left)];

    fn cells(&self) -> Vec<String> {
        vec![level_name(self.level), self.class.clone(), self.file.display().to_string(), self.why()]
    }
}

impl FileRow {
    /// Why it came no further; of a level that has nothing to check, that.
    fn why(&self) -> String {
        let told = why(self.failure.as_ref(), &self.evidence);
        let is_void = |level: &&Level| self.levels.get(level.name()) == Some(&Outcome::NotApplicable);
        match Level::ALL.iter().find(is_void) {
            Some(level) if told.is_empty() => format!("{} is not applicable", level.name()),
            _ => told,
        }
    }

    fn judged<'a>(&'a self, identity: &'a str) -> Judged<'a> {
        Judged {
            identity,
            class_name: &self.class,
            level: self.level,
            levels: &self.levels,
            failure: self.failure.as_ref(),
            evidence: &self.evidence,
        }
    }

    fn place(&self) -> String {
        format!("{}:{}", self.file.display(), self.class)
    }
}

/// A class of a file that was named, and what is known about it.
struct Asked {
    file: PathBuf,
    /// The library that the file is a bundle of, and what the manifest there says about it.
    library: Option<(PathBuf, BlockRecord)>,
    /// What the file imports.
    packages: BTreeSet<String>,
}

impl Asked {
    fn record(&self) -> Option<&BlockRecord> {
        self.library.as_ref().map(|(_, record)| record)
    }
}

/// A class of a file that somebody wrote, and the verdict on it.
pub(super) struct Implementation {
    pub(super) file: PathBuf,
    pub(super) class: String,
    /// What the file imports.
    pub(super) packages: BTreeSet<String>,
    pub(super) verdict: Verdict,
}

/// Validates one class of a file, `FILE` or `FILE:CLASS`, with these arguments.
pub(super) fn implementation(
    named: &Path,
    arguments: BlockArguments,
    requirements: &[PathBuf],
    settings: &Settings,
    console: &Console,
) -> Result<Implementation, Problem> {
    let extra = requirements::read(requirements)?;
    let (path, class) = file::parted(named);
    let file::Named { mut jobs, packages, .. } = file::read(&path, class, None, console)?;
    if let [_, _, ..] = jobs[..] {
        let classes: Vec<&str> = jobs.iter().map(|job| job.class_name.as_str()).collect();
        let problem = Problem::new(format!("`{}` has several modules", path.display()));
        return Err(problem.help(format!("say which, as in {}:{}", path.display(), classes[0])));
    }
    jobs[0].arguments = Some(arguments);
    let asked = [Asked { file: path.clone(), library: None, packages: packages.clone() }];
    let (_, mut verdicts) = judge(&mut jobs, &asked, &extra, settings, console)?;
    let verdict = verdicts.pop().expect("there is a verdict for every job");
    Ok(Implementation { file: path, class: jobs.swap_remove(0).class_name, packages, verdict })
}

/// Validates files, each a path or `PATH:CLASS`. One that cannot be read or has no class is reported and left out. The
/// classes of all others have to reach the highest level that is tried, or the gate where one was asked for and no level.
pub(super) fn files(arguments: &ValidateArguments, settings: &Settings, console: &Console) -> Result<Ending, Problem> {
    let extra = requirements::read(&arguments.requirements)?;
    let files: Vec<(PathBuf, Option<String>)> = arguments.files.iter().map(|named| file::parted(named)).collect();
    let libraries = Libraries::of(files.iter().map(|(file, _)| file.as_path()))?;
    let (mut blocks, mut jobs) = (Vec::new(), Vec::new());
    let mut all_readable = true;
    let mut left: Vec<(PathBuf, Vec<String>)> = Vec::new();
    for (file, class) in files {
        let library = libraries.record(&file).cloned();
        match file::read(&file, class, library.as_ref().map(|(_, record)| record), console) {
            Ok(named) => {
                let (library, packages) = (&library, &named.packages);
                let block = |_| Asked { file: file.clone(), library: library.clone(), packages: packages.clone() };
                blocks.extend(named.jobs.iter().map(block));
                jobs.extend(named.jobs);
                left.extend(Some((file, named.left)).filter(|(_, left)| !left.is_empty()));
            }
            Err(problem) => {
                console.error(&problem);
                all_readable = false;
            }
        }
    }
    if jobs.is_empty() {
        if console.format == Format::Json {
            console.print_json(&[(); 0])?;
        }
        return Ok(Ending::Incomplete);
    }
    tell_left(&left, console);
    let wanted = wanted(arguments, settings);
    arguments.report.as_deref().map(|report| check_place(report, arguments)).transpose()?;
    let (environment, verdicts) = judge(&mut jobs, &blocks, &extra, settings, console)?;
    let rows: Vec<FileRow> = jobs
        .iter()
        .zip(&blocks)
        .zip(verdicts)
        .map(|((job, named), verdict)| row(job, named, verdict, &environment, settings))
        .collect();
    tell_hints(&rows, console);
    tell_taints(&rows, console);
    let ending = match rows.iter().all(|row| row.judged("").reaches(wanted)) {
        _ if !all_readable => Ending::Incomplete,
        true => Ending::Done,
        false => Ending::Findings,
    };
    arguments.report.as_deref().map(|report| folder::write_whole(report, &html(&rows))).transpose()?;
    list(console, &rows, ending)
}

/// Validates classes up to the level of the settings, those of bundles as their records have it. `extra` is installed for
/// all others. The verdicts come in the order of the jobs, with the environment that they were reached in.
fn judge(
    jobs: &mut [Job],
    blocks: &[Asked],
    extra: &[String],
    settings: &Settings,
    console: &Console,
) -> Result<(Environment, Vec<Verdict>), Problem> {
    let environment = Python::start(settings, console)?.wait(console)?;
    // Only to compare with upstream takes a corpus.
    let library = match settings.level >= Level::Parity {
        true => library_of(blocks, settings)?,
        false => None,
    };
    let of_library = library.map(|library| of_library(settings.clone(), library, console)).transpose()?;
    let context = of_library.as_ref().map(|settings| Context::open(settings, console)).transpose()?;
    let fetched =
        context.as_ref().map(|context| fetch::fetch(context, fetch::corpus(context.settings)?)).transpose()?;
    let upstreams = fetched.as_ref().map(|fetched| Upstreams::new(&fetched.sources, &environment)).transpose()?;
    // By requirements: what was installed for one class of a file is there for the others.
    let mut installed: BTreeMap<Vec<String>, Arc<[Layer]>> = BTreeMap::new();
    for (job, asked) in jobs.iter_mut().zip(blocks) {
        let Some(record) = asked.record() else {
            let wanted = [extra, &requirements::of_imports(&asked.packages, &environment, settings)].concat();
            job.layers = match installed.get(&wanted) {
                Some(layers) => Arc::clone(layers),
                None => asked_for(&wanted, &environment, settings, console)?,
            };
            installed.insert(wanted, Arc::clone(&job.layers));
            continue;
        };
        job.layers = recorded(record, &environment, settings, console)?;
        // The record knows upstream's class for its own block alone.
        let is_the_block = job.class_name == record.name;
        job.upstream =
            upstreams.as_ref().filter(|_| is_the_block).and_then(|upstreams| library::upstream(record, upstreams));
    }
    let wants = blocks.iter().map(|asked| asked.record().map(Want::of_record).unwrap_or_default()).collect();
    let provision = match (&context, &fetched, &upstreams) {
        (Some(context), Some(fetched), Some(upstreams)) => {
            upstreams.write()?;
            Some(Provision::new(context, &environment, &fetched.sources))
        }
        _ => None,
    };
    let task = console.task("Validating", "classes", jobs.len() as u64);
    let verdicts = Validation { environment: &environment, settings, task: &task, wants, provision }.all(jobs)?;
    task.finish("Validated", &human_things(jobs.len(), "class"));
    Ok((environment, verdicts))
}

/// The library that gives the corpus: all bundles have to be of one corpus, unless the user names another.
fn library_of<'n>(asked: &'n [Asked], settings: &Settings) -> Result<Option<&'n Path>, Problem> {
    let libraries: BTreeSet<&Path> =
        asked.iter().filter_map(|asked| asked.library.as_ref().map(|(library, _)| library.as_path())).collect();
    let Some(first) = libraries.first().copied() else { return Ok(None) };
    if !settings.corpus_was_asked_for {
        let origin = |library: &Path| CorpusOrigin::of_library(library, Path::new("/"));
        let origin_of_first = origin(first)?;
        for other in &libraries {
            if origin(other)? != origin_of_first {
                let (first, other) = (first.display(), other.display());
                return Err(Problem::new(format!("`{first}` and `{other}` are libraries of different corpora"))
                    .because("at this level files are compared with the corpus of their library")
                    .help("validate the files of one library at a time, or name a corpus with --corpus"));
            }
        }
    }
    Ok(Some(first))
}

/// Validation of files, in rounds where upstream misses what can be had.
struct Validation<'a> {
    environment: &'a Environment,
    settings: &'a Settings,
    task: &'a Task<'a>,
    /// What each file's record names.
    wants: Vec<Want>,
    /// Where there is an upstream to compare with.
    provision: Option<Provision<'a>>,
}

impl Validation<'_> {
    fn all(mut self, jobs: &mut [Job]) -> Result<Vec<Verdict>, Problem> {
        let mut verdicts = vec![None; jobs.len()];
        let mut pending: Vec<usize> = (0..jobs.len()).collect();
        while !pending.is_empty() {
            self.give_upstream(jobs, &pending)?;
            self.run(jobs, &pending, &mut verdicts)?;
            let Some(provision) = &self.provision else { break };
            let wants = &mut self.wants;
            pending
                .retain(|at| verdicts[*at].as_ref().is_some_and(|it| provision.extend_upstream(&mut wants[*at], it)));
        }
        Ok(verdicts
            .into_iter()
            .map(|verdict| verdict.expect("every job has a verdict where nobody interrupts"))
            .collect())
    }

    /// Installs what the upstream of these files needs.
    fn give_upstream(&mut self, jobs: &mut [Job], pending: &[usize]) -> Result<(), Problem> {
        let Some(provision) = &mut self.provision else { return Ok(()) };
        provision.install(pending.iter().map(|at| &self.wants[*at]), true)?;
        for at in pending {
            let Job { layers, upstream: Some(upstream), .. } = &mut jobs[*at] else { continue };
            upstream.layers = provision.upstream_layers(&self.wants[*at], layers);
        }
        Ok(())
    }

    fn run(&self, jobs: &[Job], pending: &[usize], verdicts: &mut [Option<Verdict>]) -> Result<(), Problem> {
        let verdicts = Mutex::new(verdicts);
        let on_verdict = |job: &Job, verdict: Verdict| {
            let position: usize = job.id.parse().expect("the position was written there");
            let first = verdicts.lock().expect("no panic while collecting")[position].replace(verdict).is_none();
            self.task.advance(u64::from(first));
        };
        let numbered = pending.iter().map(|at| Job { id: at.to_string(), ..jobs[*at].clone() });
        let waiting = numbered.take_while(|_| !interrupt::requested());
        let options = options(self.settings, self.settings.level, self.environment)?;
        validate::validate(waiting, self.environment, &options, &on_verdict)?;
        interrupt::check()
    }
}

/// What every file has to reach.
fn wanted(arguments: &ValidateArguments, settings: &Settings) -> Level {
    match (arguments.pipeline.gate, arguments.pipeline.level) {
        (Some(_), _) => settings.gate,
        (None, None) if settings.gate_was_asked_for => settings.gate,
        (None, _) => settings.level,
    }
}

fn row(job: &Job, asked: &Asked, mut verdict: Verdict, environment: &Environment, settings: &Settings) -> FileRow {
    if let Some(failure) = verdict.failure.as_mut().filter(|failure| is_missing_distribution(failure)) {
        let is_there = |distribution: &str| hint::has(environment, &job.layers, distribution);
        failure.hint = Some(hint::hint(missing_package(failure), asked.record(), &asked.file, &is_there, settings));
    }
    FileRow {
        file: asked.file.clone(),
        class: job.class_name.clone(),
        level: verdict.level(),
        levels: Level::ALL.into_iter().map(|level| (level.name().to_owned(), verdict.outcome(level))).collect(),
        failure: verdict.failure,
        evidence: verdict.evidence,
        tainted: verdict.tainted,
        protections: verdict.protections,
        tier: verdict.tier,
    }
}

/// A place that the page cannot be written to is told before the long work, and so is one that would cost a file.
fn check_place(report: &Path, arguments: &ValidateArguments) -> Result<(), Problem> {
    let is_named = arguments.files.iter().chain(&arguments.requirements).any(|named| same_file(named, report));
    if is_named {
        return Err(Problem::new(format!("`{}` is read and cannot be the report", report.display()))
            .help("name another file with --report"));
    }
    folder::report_beside(report).map(drop).map_err(|error| Problem::io("write the report", report, error))
}

fn same_file(left: &Path, right: &Path) -> bool {
    matches!((fs::canonicalize(file::parted(left).0), fs::canonicalize(right)), (Ok(left), Ok(right)) if left == right)
}

fn html(rows: &[FileRow]) -> String {
    let told: Vec<(String, String)> = rows.iter().map(|row| (row.place(), row.why())).collect();
    let classes = rows.iter().zip(&told).map(|(row, (identity, why))| JudgedFile {
        file: &row.file,
        judged: row.judged(identity),
        why,
        protections: &row.protections,
        tier: row.tier,
    });
    html_of_files(&classes.collect::<Vec<_>>())
}

/// Who gives a file may take all of it for validated.
fn tell_left(left: &[(PathBuf, Vec<String>)], console: &Console) {
    let Some((file, classes)) = left.first() else { return };
    let (file, others) = (file.display(), left.len() - 1);
    let others = match others {
        0 => String::new(),
        others => format!("; likewise in {}", human_things(others, "other file")),
    };
    let (some, first) = (file::some_of(classes), &classes[0]);
    console.caution(&format!("not validated in `{file}`: {some}; name a class, as in `{file}:{first}`{others}"));
}

/// How far a class came is worth less where it could lie about that.
fn tell_taints(rows: &[FileRow], console: &Console) {
    for row in rows.iter().filter(|_| console.format == Format::Human) {
        for taint in &row.evidence.tainted {
            console.caution(&format!("{} in {} is tainted by {}", row.class, row.file.display(), taint.told()));
        }
    }
}

/// Below the table there is room for them; each once.
fn tell_hints(rows: &[FileRow], console: &Console) {
    let hints: BTreeSet<&String> = rows.iter().filter_map(|row| row.failure.as_ref()?.hint.as_ref()).collect();
    if console.format == Format::Human {
        hints.into_iter().for_each(|hint| console.caution(hint));
    }
}
