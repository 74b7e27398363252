//! Stage 1: the sources of the corpus, all at the same time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use netquarry_core::source::SourceKind;
use netquarry_corpus::corpus::{Corpus, SourceSpec};
use netquarry_corpus::fetch::FetchOptions;
use netquarry_corpus::progress::{FetchEvent, FetchProgress};
use netquarry_corpus::snapshot::Snapshot;
use netquarry_corpus::{fetch, load};

use super::context::Context;
use crate::configuration::{FILE_NAME, Settings, working_folder};
use crate::console::Task;
use crate::course::{Stage, StageCourse, Stopwatch};
use crate::interrupt;
use crate::library::run_record::CorpusOrigin;
use crate::problem::Problem;
use crate::quantity::{human_bytes, human_seconds, human_things};
use crate::summary::MissingSource;

/// The sources of a corpus that are there.
#[derive(Debug)]
pub struct Fetched {
    pub corpus: Corpus,
    /// In the order of priority; equal ones in that of the corpus.
    pub sources: Vec<FetchedSource>,
    pub missing: Vec<MissingSource>,
    pub course: StageCourse,
}

/// A source with what the corpus says about it.
#[derive(Debug)]
pub struct FetchedSource {
    pub spec: SourceSpec,
    pub snapshot: Arc<Snapshot>,
}

/// The corpus that the settings name, with the user's own folders in the place of sources.
pub fn corpus(settings: &Settings) -> Result<Corpus, Problem> {
    let mut corpus = load::load(&settings.corpus)?;
    for (name, path) in &settings.sources {
        corpus.replace_source(name, path)?;
        // A slip of the user's rather than a source that cannot be had.
        if !path.is_dir() {
            return Err(Problem::new(format!("There is no folder `{}`", path.display()))
                .because(format!("--source or `[sources]` of {FILE_NAME} names it for the source `{name}`"))
                .help("name a folder that is there, or leave it out to have the source from where the corpus says"));
        }
    }
    Ok(corpus)
}

/// What the settings ask for, so that another command can ask for the same.
pub fn origin(settings: &Settings) -> Result<CorpusOrigin, Problem> {
    let (corpus, sources) = (settings.corpus.clone(), settings.sources.clone());
    Ok(CorpusOrigin { corpus, sources, folder: working_folder()? })
}

/// Fetches every source. One that cannot be had is reported and left out; only where none is left there is nothing to do.
pub fn fetch(context: &Context<'_>, corpus: Corpus) -> Result<Fetched, Problem> {
    let watch = Stopwatch::start(Stage::Fetch);
    let options = FetchOptions {
        offline: context.settings.offline,
        ..FetchOptions::new(context.settings.cache_dir.join("sources"))
    };
    let specs: Vec<SourceSpec> = corpus.by_priority().into_iter().cloned().collect();
    let task = context.console.task("Fetching", "sources", specs.len() as u64);
    let news = News { task: &task, transferred: Mutex::default() };
    // Fetching waits for the network: a thread each, however many cores there are.
    let results: Vec<_> = std::thread::scope(|scope| {
        let fetches: Vec<_> = specs
            .iter()
            .map(|spec| {
                scope.spawn(|| {
                    let result = fetch::fetch(spec, &options, &news);
                    task.advance(1);
                    result
                })
            })
            .collect();
        fetches.into_iter().map(|fetch| fetch.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    let transferred: u64 = news.transferred.lock().expect("no panic while counting").values().sum();
    interrupt::check()?;

    let (mut sources, mut missing) = (Vec::new(), Vec::new());
    for (spec, result) in specs.into_iter().zip(results) {
        match result {
            Ok(snapshot) => {
                if snapshot.files.is_empty() {
                    context.console.caution(&format!("The source `{}` has no Python file", spec.name));
                }
                sources.push(FetchedSource { spec, snapshot: Arc::new(snapshot) });
            }
            Err(error) => {
                let problem = Problem::from(&error);
                if corpus.sources.len() == 1 {
                    return Err(problem);
                }
                // It makes the exit status 2 in the end, so it is told however quiet the program is.
                context.console.error(&problem);
                missing.push(MissingSource { name: spec.name, reason: error.failure.to_string() });
            }
        }
    }
    if sources.is_empty() {
        return Err(nothing_left(&corpus));
    }
    let files: usize = sources.iter().map(|source| source.snapshot.files.len()).sum();
    let elapsed = human_seconds(watch.elapsed().as_secs_f64());
    let local = sources.iter().filter(|source| source.snapshot.source.kind == SourceKind::Local).count();
    let from = match transferred {
        0 if local == sources.len() => "from this machine".to_owned(),
        0 if local > 0 => "from this machine and the cache".to_owned(),
        0 => "from the cache".to_owned(),
        bytes => format!("{} transferred", human_bytes(bytes)),
    };
    task.finish(
        "Fetched",
        &format!(
            "{} with {} in {elapsed}, {from}",
            human_things(sources.len(), "source"),
            human_things(files, "Python file")
        ),
    );
    let cached = if transferred == 0 { sources.len() - local } else { 0 };
    let course = watch.stop("source", sources.len(), cached);
    Ok(Fetched { corpus, sources, missing, course })
}

fn nothing_left(corpus: &Corpus) -> Problem {
    Problem::new(format!(
        "None of the {} sources of the corpus `{}` could be fetched",
        corpus.sources.len(),
        corpus.name
    ))
    .help("the reasons stand above, one for each source")
}

/// Shows the transfers of all sources in one line.
struct News<'task> {
    task: &'task Task<'task>,
    /// Bytes by source.
    transferred: Mutex<BTreeMap<String, u64>>,
}

impl FetchProgress for News<'_> {
    fn on_event(&self, source_name: &str, event: FetchEvent<'_>) {
        match event {
            FetchEvent::Waiting => self.task.message(format!("{source_name}: another process fetches it")),
            FetchEvent::Asking { url } => self.task.message(format!("{source_name}: {url}")),
            FetchEvent::Retrying { why } => self.task.message(format!("{source_name}: once more, {why}")),
            FetchEvent::Received { bytes, total } => {
                let of = total.map(|total| format!(" of {}", human_bytes(total))).unwrap_or_default();
                self.task.message(format!("{source_name}: {}{of}", human_bytes(bytes)));
                let mut transferred = self.transferred.lock().expect("no panic while counting");
                let most = transferred.entry(source_name.to_owned()).or_default();
                *most = bytes.max(*most);
            }
            FetchEvent::Unpacked { files } => self.task.message(format!("{source_name}: {files} files")),
        }
    }
}
