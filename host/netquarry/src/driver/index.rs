//! Stage 2: the facts of every file, parsed anew only where the store does not have them, and the index over all of them.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use netquarry_core::facts::{Diagnostic, DiagnosticKind, FileFacts};
use netquarry_core::index::{Index, IndexedSource};
use netquarry_core::source::{ContentDigest, SourceFile};
use netquarry_core::syntax;
use netquarry_corpus::snapshot::Snapshot;
use rayon::prelude::*;
use serde::Serialize;

use super::context::Context;
use super::fetch::Fetched;
use super::texts::Texts;
use crate::arguments::IndexChoice;
use crate::course::{Stage, StageCourse, Stopwatch};
use crate::interrupt;
use crate::problem::Problem;
use crate::quantity::{human_bytes, human_count, human_seconds, human_things};

/// The index over all sources, and the way to their text.
pub struct Indexed {
    pub index: Arc<Index>,
    pub texts: Arc<Texts>,
    pub files: usize,
    pub bytes: u64,
    /// Files that were parsed now; the others came from the store.
    pub parsed: usize,
    /// Files that could not be read or parsed. That is normal, and their other contents are not known.
    pub unreadable: Vec<UnreadableFile>,
    pub course: StageCourse,
}

/// A file that could not be read or parsed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnreadableFile {
    pub source: String,
    pub path: String,
    pub line: Option<u32>,
    pub reason: String,
}

/// Facts by content: the same file in two sources is parsed once.
type Known = HashMap<ContentDigest, Arc<FileFacts>>;

/// Brings the facts of all files together, as the policy of the settings has it.
pub fn index(context: &Context<'_>, fetched: &Fetched, kept_imports: &[String]) -> Result<Indexed, Problem> {
    let watch = Stopwatch::start(Stage::Index);
    let snapshots: Vec<&Snapshot> = fetched.sources.iter().map(|source| &*source.snapshot).collect();
    let mut first_seen: HashMap<ContentDigest, (&Snapshot, &SourceFile)> = HashMap::new();
    let mut order = Vec::new();
    for snapshot in &snapshots {
        for file in &snapshot.files {
            first_seen.entry(file.digest).or_insert_with(|| {
                order.push(file.digest);
                (snapshot, file)
            });
        }
    }
    let mut known = stored(context, &order)?;
    let unknown: Vec<_> =
        order.iter().filter(|digest| !known.contains_key(*digest)).map(|digest| first_seen[digest]).collect();
    let parsed = match context.settings.index {
        IndexChoice::Skip => 0,
        IndexChoice::Missing | IndexChoice::Force => parse(context, &unknown, &mut known)?,
    };

    let mut unreadable = Vec::new();
    let sources = snapshots.iter().map(|snapshot| {
        let with_facts = |file: &SourceFile| {
            let facts = known.get(&file.digest)?;
            unreadable.extend(diagnostics(&snapshot.source.name, file, facts));
            Some((file.clone(), Arc::clone(facts)))
        };
        IndexedSource { source: snapshot.source.clone(), files: snapshot.files.iter().filter_map(with_facts).collect() }
    });
    let sources: Vec<IndexedSource> = sources.collect();
    let files = sources.iter().map(|source| source.files.len()).sum();
    let bytes = sources.iter().flat_map(|source| &source.files).map(|(file, _)| file.bytes).sum();
    let index = context.pool.install(|| Arc::new(Index::build(sources, kept_imports)));
    let texts = Arc::new(Texts::new(Arc::clone(&index), &fetched.sources));

    let elapsed = human_seconds(watch.elapsed().as_secs_f64());
    let of_them =
        if order.len() < files { format!(" ({} different)", human_count(order.len())) } else { String::new() };
    let what = format!(
        "{}{of_them}, {}, in {elapsed}: {} parsed",
        human_things(files, "file"),
        human_bytes(bytes),
        human_count(parsed)
    );
    context.console.status("Indexed", &what);
    tell_unknown_imports(context, &index);
    if !unreadable.is_empty() {
        context.console.caution(&format!(
            "{} cannot be read as Python; `netquarry index` lists them",
            human_things(unreadable.len(), "file")
        ));
    }
    let course = watch.stop("file", files, files.saturating_sub(parsed));
    Ok(Indexed { index, texts, files, bytes, parsed, unreadable, course })
}

/// A package that no source has is an import in any case: naming it is a slip, or does nothing.
fn tell_unknown_imports(context: &Context<'_>, index: &Index) {
    let packages: HashSet<&str> = index
        .files()
        .filter_map(|(_, file)| file.file.module.as_deref())
        .filter_map(|module| module.split('.').next())
        .collect();
    for name in
        context.settings.keep_imports.iter().filter(|name| !packages.contains(name.split('.').next().unwrap_or(name)))
    {
        context.console.caution(&format!(
            "`{name}` of --keep-import or `keep-import` changes nothing: no source has a package of that name"
        ));
    }
}

fn stored(context: &Context<'_>, digests: &[ContentDigest]) -> Result<Known, Problem> {
    if context.settings.index == IndexChoice::Force {
        return Ok(Known::new());
    }
    let loaded = context.pool.install(|| context.store.facts(digests))?;
    if loaded.undecodable > 0 {
        tracing::warn!(
            files = loaded.undecodable,
            "stored facts are damaged or of another version; the files are parsed anew"
        );
    }
    Ok(loaded.facts.into_iter().map(|(digest, facts)| (digest, Arc::new(facts))).collect())
}

/// Parses `files` on all threads and stores their facts as they come. Returns how many were parsed.
fn parse(context: &Context<'_>, files: &[(&Snapshot, &SourceFile)], known: &mut Known) -> Result<usize, Problem> {
    if files.is_empty() {
        return Ok(0);
    }
    let task = context.console.task("Indexing", "files", files.len() as u64);
    let writer = context.store.facts_writer()?;
    let facts = Mutex::new(Vec::with_capacity(files.len()));
    context.pool.install(|| {
        files.par_iter().for_each(|(snapshot, file)| {
            if interrupt::requested() {
                return;
            }
            let (read, is_stored) = read_facts(snapshot, file);
            if is_stored {
                writer.add(file.digest, &read);
            }
            facts.lock().expect("no panic while collecting").push((file.digest, Arc::new(read)));
            task.advance(1);
        });
    });
    writer.finish()?;
    interrupt::check()?;
    let facts = facts.into_inner().expect("no panic while collecting");
    let parsed = facts.len();
    known.extend(facts);
    Ok(parsed)
}

/// The facts of one file, and whether they are worth keeping: a file that could not be read now may be read later.
fn read_facts(snapshot: &Snapshot, file: &SourceFile) -> (FileFacts, bool) {
    let failed = |message: String| {
        let diagnostic = Diagnostic { kind: DiagnosticKind::Encoding, message, line: None };
        FileFacts { diagnostics: vec![diagnostic], ..FileFacts::default() }
    };
    match snapshot.read(file) {
        Err(error) => (failed(error.to_string()), false),
        Ok(bytes) => match catch_unwind(AssertUnwindSafe(|| syntax::facts(&bytes))) {
            Ok(facts) => (facts, true),
            Err(_) => (failed("the parser failed on this file; please report it".to_owned()), false),
        },
    }
}

fn diagnostics<'a>(
    source: &'a str,
    file: &'a SourceFile,
    facts: &'a FileFacts,
) -> impl Iterator<Item = UnreadableFile> + 'a {
    facts.diagnostics.iter().map(|diagnostic| UnreadableFile {
        source: source.to_owned(),
        path: file.path.clone(),
        line: diagnostic.line,
        reason: diagnostic.message.clone(),
    })
}
