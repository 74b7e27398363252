//! `netquarry validate FILE...`: verdicts on files that anyone wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use netquarry_core::facts::{ClassFacts, FileFacts, ImportForm, ImportStatement};
use netquarry_core::record::{BlockRecord, ClosureRecord, InstalledDistribution};
use netquarry_core::syntax;
use netquarry_core::verdict::{Evidence, Failure, Level, Outcome, Tier, Verdict};
use serde::Serialize;

use super::listing::{Row, list, why};
use super::{Ending, of_library};
use crate::arguments::PipelineArguments;
use crate::configuration::{FILE_NAME, Settings};
use crate::console::{Console, Format, Task};
use crate::driver::context::Context;
use crate::driver::fetch;
use crate::driver::layers::{asked_for, recorded};
use crate::driver::provision::{Provision, Want, is_missing_distribution, missing_package};
use crate::driver::python::Python;
use crate::driver::select;
use crate::driver::upstream::Upstreams;
use crate::driver::validate::options;
use crate::environment::{Environment, Layer};
use crate::findings::level_name;
use crate::interrupt;
use crate::library::distribution_name::{distribution_name, normalised};
use crate::library::folder::place_of_bundle;
use crate::library::manifest;
use crate::library::run_record::CorpusOrigin;
use crate::problem::Problem;
use crate::quantity::human_things;
use crate::table::Align;
use crate::validate::{self, Job, LineSpan, Upstream};

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
        let why = why(self.failure.as_ref(), &self.evidence);
        vec![level_name(self.level), self.class.clone(), self.file.display().to_string(), why]
    }
}

/// A file that was named, and what is known about it.
struct Named {
    file: PathBuf,
    /// The library that it is a bundle of, and what the manifest there says about it.
    library: Option<(PathBuf, BlockRecord)>,
    /// What it imports.
    packages: BTreeSet<String>,
}

impl Named {
    fn record(&self) -> Option<&BlockRecord> {
        self.library.as_ref().map(|(_, record)| record)
    }
}

/// Validates `files`, each a path or `PATH:CLASS`. One that cannot be read or has no class is reported and left out. All
/// others have to reach the highest level that is tried, or the gate where one was asked for and no level.
pub(super) fn files(
    files: &[PathBuf],
    asked: &PipelineArguments,
    settings: &Settings,
    console: &Console,
) -> Result<Ending, Problem> {
    let files: Vec<(PathBuf, Option<String>)> = files.iter().map(|named| parted(named)).collect();
    let libraries = Libraries::of(files.iter().map(|(file, _)| file.as_path()))?;
    let (mut readable, mut jobs) = (Vec::new(), Vec::new());
    for (file, class) in &files {
        let (file, class) = (file.clone(), class.clone());
        let library = libraries.record(&file).cloned();
        match job(&file, class, library.as_ref().map(|(_, record)| record), console) {
            Ok((job, packages)) => {
                readable.push(Named { file, library, packages });
                jobs.push(job);
            }
            Err(problem) => console.error(&problem),
        }
    }
    if jobs.is_empty() {
        return Ok(Ending::Incomplete);
    }
    let wanted = wanted(asked, settings);
    let environment = Python::start(settings, console)?.wait(console)?;
    // Only to compare with upstream takes a corpus.
    let library = match settings.level >= Level::Parity {
        true => library_of(&readable, settings)?,
        false => None,
    };
    let of_library = library.map(|library| of_library(settings.clone(), library, console)).transpose()?;
    let context = of_library.as_ref().map(|settings| Context::open(settings, console)).transpose()?;
    let fetched =
        context.as_ref().map(|context| fetch::fetch(context, fetch::corpus(context.settings)?)).transpose()?;
    let upstreams = fetched.as_ref().map(|fetched| Upstreams::new(&fetched.sources, &environment)).transpose()?;
    for (job, named) in jobs.iter_mut().zip(&readable) {
        let Some(record) = named.record() else {
            job.layers =
                asked_for(&requirements(&named.packages, &environment, settings), &environment, settings, console)?;
            continue;
        };
        job.layers = recorded(record, &environment, settings, console)?;
        // The record knows upstream's class for its own block alone.
        let is_the_block = job.class_name == record.name;
        job.upstream = upstreams.as_ref().filter(|_| is_the_block).and_then(|upstreams| upstream(record, upstreams));
    }
    let wants = readable.iter().map(|named| named.record().map(Want::of_record).unwrap_or_default()).collect();
    let provision = match (&context, &fetched, &upstreams) {
        (Some(context), Some(fetched), Some(upstreams)) => {
            upstreams.write()?;
            Some(Provision::new(context, &environment, &fetched.sources))
        }
        _ => None,
    };
    let task = console.task("Validating", "files", jobs.len() as u64);
    let verdicts = Validation { environment: &environment, settings, task: &task, wants, provision }.all(&mut jobs)?;
    task.finish("Validated", &human_things(jobs.len(), "file"));
    let rows: Vec<FileRow> = jobs
        .iter()
        .zip(&readable)
        .zip(verdicts)
        .map(|((job, named), verdict)| row(job, named, verdict, &environment, settings))
        .collect();
    tell_hints(&rows, console);
    let ending = match rows.iter().all(|row| row.level >= wanted as u8) {
        _ if readable.len() < files.len() => Ending::Incomplete,
        true => Ending::Done,
        false => Ending::Findings,
    };
    list(console, &rows, ending)
}

/// The library that gives the corpus: all bundles have to be of one corpus, unless the user names another.
fn library_of<'n>(named: &'n [Named], settings: &Settings) -> Result<Option<&'n Path>, Problem> {
    let libraries: BTreeSet<&Path> =
        named.iter().filter_map(|named| named.library.as_ref().map(|(library, _)| library.as_path())).collect();
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
fn wanted(asked: &PipelineArguments, settings: &Settings) -> Level {
    match (asked.gate, asked.level) {
        (Some(_), _) => settings.gate,
        (None, None) if settings.gate_was_asked_for => settings.gate,
        (None, _) => settings.level,
    }
}

/// `my/model.py` and `Encoder` of `my/model.py:Encoder`; a file whose own name has a colon is that file.
fn parted(named: &Path) -> (PathBuf, Option<String>) {
    let text = named.to_string_lossy();
    match text.rsplit_once(".py:") {
        Some((path, class)) if !named.exists() => (PathBuf::from(format!("{path}.py")), Some(class.to_owned())),
        _ => (named.to_owned(), None),
    }
}

fn row(job: &Job, named: &Named, mut verdict: Verdict, environment: &Environment, settings: &Settings) -> FileRow {
    if let Some(failure) = verdict.failure.as_mut().filter(|failure| is_missing_distribution(failure)) {
        let is_there = |distribution: &str| has(environment, &job.layers, distribution);
        failure.hint = Some(hint(missing_package(failure), named.record(), &is_there, settings));
    }
    FileRow {
        file: named.file.clone(),
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

/// Whether a process with these layers has a distribution, whatever that provides.
fn has(environment: &Environment, layers: &[Layer], distribution: &str) -> bool {
    let name = normalised(distribution);
    environment.distributions.contains_key(&name) || layers.iter().any(|layer| normalised(&layer.pin.name) == name)
}

/// What gives a file the `package` that it misses, in one line. `is_there` says of a distribution whether the file has it.
fn hint(
    package: Option<&str>,
    record: Option<&BlockRecord>,
    is_there: &dyn Fn(&str) -> bool,
    settings: &Settings,
) -> String {
    let table = format!("[validate.requirements] in {FILE_NAME}");
    let entry = package.map(|package| format!(": {package} = \"DISTRIBUTION\"")).unwrap_or_default();
    let what = package.map_or("what is missing".to_owned(), |package| format!("`{package}`"));
    let interpreter = "or an interpreter that has it, with --python";
    let forbidden = "which --no-install or `install = false` keeps from being installed";
    if let Some(record) = record {
        let provides =
            |it: &&InstalledDistribution| package.is_some_and(|package| it.provides.iter().any(|each| each == package));
        let lost = record.installed.iter().find(|it| provides(it) && !is_there(&it.name));
        return match lost {
            Some(it) if !settings.install => {
                format!("the bundle's record names {} {}, {forbidden}", it.name, it.version)
            }
            Some(it) => format!("the bundle's record names {} {}, which cannot be installed", it.name, it.version),
            None => format!(
                "a bundle has what its record names, and `netquarry run` makes it anew with {what} under {table}{entry}; \
                 {interpreter}"
            ),
        };
    }
    match package.and_then(|package| settings.requirements.get(package)) {
        None => format!("name what provides {what} under {table}{entry}; {interpreter}"),
        Some(requirement) if !settings.install => format!("{table} names `{requirement}` for {what}, {forbidden}"),
        Some(requirement) if is_there(distribution_name(requirement)) => {
            format!("`{requirement}`, which {table} names, does not provide {what}; name another{entry}; {interpreter}")
        }
        Some(requirement) => {
            format!(
                "`{requirement}`, which {table} names for {what}, cannot be installed; name another{entry}; {interpreter}"
            )
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

/// What the user names for those of `packages` that the environment lacks. Nothing else is installed for a file.
fn requirements(packages: &BTreeSet<String>, environment: &Environment, settings: &Settings) -> Vec<String> {
    let lacking = packages.iter().filter(|package| !environment.provides(package));
    let named: BTreeSet<&String> = lacking.filter_map(|package| settings.requirements.get(package)).collect();
    named.into_iter().cloned().collect()
}

/// The job, and what the file imports. `class` is the one that is asked for; else it is that of the record.
fn job(
    file: &Path,
    class: Option<String>,
    record: Option<&BlockRecord>,
    console: &Console,
) -> Result<(Job, BTreeSet<String>), Problem> {
    let bytes = fs::read(file).map_err(|error| Problem::io("read", file, error).help("give files, not folders"))?;
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let facts = facts(&bytes).map_err(|error| Problem::new("Could not start a thread to parse").because(error))?;
    let class_name = match (class, record) {
        (Some(class), _) => checked(file, &facts, class)?,
        (None, Some(record)) => record.name.clone(),
        (None, None) => chosen(file, &facts, &stem, console)?,
    };
    if has_relative_import(&facts) {
        console.caution(&format!(
            "`{}` has relative imports, which fail in a file on its own; `netquarry extract` lifts a class out of its \
             package, with `--source` or a corpus for a folder of yours",
            file.display()
        ));
    }
    let job = Job {
        id: String::new(),
        file: fs::canonicalize(file).map_err(|error| Problem::io("find", file, error))?,
        class_name,
        blocked_packages: record.map(own_packages).unwrap_or_default(),
        layers: Arc::default(),
        operator_packages: record.map(|record| record.operator_imports.clone()).unwrap_or_default(),
        arguments: None,
        // A verdict tells places by the lines of the file itself.
        line_map: vec![LineSpan {
            bundle_start: 1,
            bundle_end: u32::MAX,
            path: file.display().to_string(),
            upstream_start: 1,
        }],
        upstream: None,
    };
    Ok((job, packages(&facts)))
}

/// The class that was asked for. One that the file clearly does not have is refused before anything runs.
fn checked(file: &Path, facts: &FileFacts, class: String) -> Result<String, Problem> {
    if facts.may_bind(&class) {
        return Ok(class);
    }
    let classes = classes(facts);
    if classes.is_empty() {
        return Err(no_class(file));
    }
    let names = classes.into_iter().map(|class| facts.name(class.name)).map(|name| (name, name));
    let problem = Problem::new(format!("`{}` has no class `{class}`", file.display()));
    Err(match &select::similar(&class, names)[..] {
        [] => problem.help("name one of its classes, or leave the class out: the last one with a `forward` is tried"),
        similar => problem.help(format!("did you mean {}?", similar.join(", "))),
    })
}

fn no_class(file: &Path) -> Problem {
    Problem::new(format!("`{}` has no class in it", file.display())).help("give a file that defines an nn.Module class")
}

fn imports(facts: &FileFacts) -> impl Iterator<Item = &ImportStatement> {
    facts.statements.iter().flat_map(|statement| &statement.imports)
}

/// The class to try where none was named. That there are others is told, but for a file that is named after one.
fn chosen(file: &Path, facts: &FileFacts, stem: &str, console: &Console) -> Result<String, Problem> {
    let classes = classes(facts);
    // What cannot be parsed has no classes either, and its verdict says why.
    if classes.is_empty() && facts.diagnostics.is_empty() {
        return Err(no_class(file));
    }
    let others: Vec<&str> =
        classes.iter().filter(|class| has_forward(facts, class)).map(|class| facts.name(class.name)).collect();
    let chosen = class_name(facts, stem);
    if others.len() > 1 && !names(stem).contains(&chosen.as_str()) {
        console.caution(&format!(
            "`{0}` has {1} classes with a `forward`; the last one, {chosen}, is tried: {0}:CLASS names another of {2}",
            file.display(),
            others.len(),
            others.join(", ")
        ));
    }
    Ok(chosen)
}

fn has_relative_import(facts: &FileFacts) -> bool {
    imports(facts).any(|import| match import.form {
        ImportForm::Module => false,
        ImportForm::From { level, .. } | ImportForm::Star { level, .. } => level > 0,
    })
}

/// The top-level packages that a file imports, wherever the import stands.
fn packages(facts: &FileFacts) -> BTreeSet<String> {
    let modules = imports(facts).flat_map(|import| import.absolute_modules(facts));
    modules.filter_map(|module| module.split('.').next()).map(str::to_owned).collect()
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
    let classes = classes(facts);
    let named = classes.iter().find(|class| names(stem).contains(&facts.name(class.name)));
    let chosen = named.or_else(|| classes.iter().rfind(|class| has_forward(facts, class))).or_else(|| classes.last());
    chosen.map_or_else(|| stem.to_owned(), |class| facts.name(class.name).to_owned())
}

/// The names of a class after which a file of this stem would be named: bundles of one name are told apart by `__`.
fn names(stem: &str) -> [&str; 2] {
    [stem, stem.split("__").next().filter(|name| !name.is_empty()).unwrap_or(stem)]
}

fn classes(facts: &FileFacts) -> Vec<&ClassFacts> {
    facts.statements.iter().flat_map(|statement| &statement.classes).collect()
}

fn has_forward(facts: &FileFacts, class: &ClassFacts) -> bool {
    class.methods.iter().any(|method| facts.name(method.name) == "forward")
}

/// The records of those among some files that are bundles of libraries, each manifest read once.
#[derive(Default)]
struct Libraries {
    /// By file, with the folder of its library.
    records: BTreeMap<PathBuf, (PathBuf, BlockRecord)>,
}

impl Libraries {
    /// # Errors
    /// A manifest cannot be read. A verdict without the packages blocked that it names would promise less than it seems
    /// to.
    fn of<'f>(files: impl Iterator<Item = &'f Path>) -> Result<Self, Problem> {
        let mut wanted: BTreeMap<PathBuf, BTreeSet<PathBuf>> = BTreeMap::new();
        for (library, relative) in files.filter_map(place_of_bundle) {
            wanted.entry(library).or_default().insert(relative);
        }
        let mut records = BTreeMap::new();
        for (library, wanted) in wanted {
            for record in manifest::read(&library)?.into_iter().flatten() {
                let record = record?;
                if let Some(path) = record.bundle.as_deref().map(Path::new).filter(|path| wanted.contains(*path)) {
                    records.insert(library.join(path), (library.clone(), record));
                }
            }
        }
        Ok(Self { records })
    }

    /// The library of a bundle and its record; none for a file that is no bundle of a library.
    fn record(&self, file: &Path) -> Option<&(PathBuf, BlockRecord)> {
        let (library, relative) = place_of_bundle(file)?;
        self.records.get(&library.join(relative))
    }
}

/// The class that a bundle was made from, where the corpus has its source at the version of the record.
fn upstream(record: &BlockRecord, upstreams: &Upstreams<'_>) -> Option<Upstream> {
    let source = &record.source;
    if !upstreams.is_at(&source.name, source.version.as_deref(), source.commit.as_deref()) {
        return None;
    }
    let (_, path) = record.block.split_once(':')?;
    let module = path.strip_suffix(record.name.as_str())?.strip_suffix('.')?;
    let beside: BTreeSet<&str> = record.closure.iter().map(ClosureRecord::source).collect();
    upstreams.class(&source.name, module, &record.name, &source.sha1, &beside)
}

/// The packages that a bundle of a library must do without: those that its code is from.
fn own_packages(record: &BlockRecord) -> Vec<String> {
    let paths = record.closure.iter().map(ClosureRecord::dotted_path);
    let packages: BTreeSet<&str> = paths.filter_map(|path| path.split('.').next()).collect();
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
        manifest::write(
            records.into_iter().map(Ok),
            fs::File::create(folder.path().join(manifest::FILE_NAME)).unwrap(),
        )
        .unwrap();
        fs::create_dir_all(bundle.parent().expect("it lies in a folder")).unwrap();
        fs::write(&bundle, "").unwrap();
        let libraries = Libraries::of([bundle.as_path()].into_iter()).unwrap();
        let (library, record) = libraries.record(&bundle).expect("it is in the manifest");
        assert_eq!(*library, fs::canonicalize(folder.path()).unwrap());
        assert_eq!(own_packages(record), ["timm"]);
        for other in ["failed/Other.py", "Other.py"] {
            let other = folder.path().join(other);
            fs::write(&other, "").unwrap();
            let libraries = Libraries::of([other.as_path()].into_iter()).unwrap();
            assert!(libraries.record(&other).is_none(), "{}", other.display());
        }
    }

    #[test]
    fn a_class_of_a_file_can_be_named() {
        assert_eq!(parted(Path::new("my/net.py:Encoder")), (PathBuf::from("my/net.py"), Some("Encoder".to_owned())));
        assert_eq!(parted(Path::new("my/net.py")), (PathBuf::from("my/net.py"), None));
    }

    #[test]
    fn a_class_is_refused_only_where_the_file_cannot_have_it() {
        let has = |text: &str| checked(Path::new("net.py"), &syntax::facts(text.as_bytes()), "Net".to_owned()).is_ok();
        for text in [
            "class Net: pass",
            "if True:\n    class Net: pass",
            "from a import Net",
            "from a import *",
            "Net = make()",
            "for Net in (A, B): pass",
            "def f():\n    global Net\n    class Net: pass\nf()",
            "globals()['N' + 'et'] = A",
            "import sys\nsys.modules[__name__].Net = A",
            "exec(text)",
            "class Net(:",
        ] {
            assert!(has(text), "{text}");
        }
        for text in ["class Other: pass", "def f():\n    class Net: pass", "import a as Nett", "print(Net)"] {
            assert!(!has(text), "{text}");
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
        fs::create_dir(folder.path().join("blocks")).unwrap();
        fs::write(folder.path().join("blocks/A.py"), "").unwrap();
        let problem = Libraries::of([folder.path().join("blocks/A.py").as_path()].into_iter()).err().unwrap();
        assert!(problem.to_string().starts_with("Line 1 of"), "{problem}");
    }
}
