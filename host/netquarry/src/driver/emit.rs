//! Stage 7, second half: the files of the library.

use std::collections::BTreeMap;
use std::io::{self, Write};

use netquarry_core::record::{BlockRecord, SourceRecord};
use netquarry_core::source::Source;
use netquarry_core::verdict::Level;
use netquarry_plugin::{AskedBlock, BlockAnswer, CallError, Emission, EmittedFile, Placement, SpecEmitter};
use rayon::prelude::*;

use super::context::Context;
use super::fetch::FetchedSource;
use super::for_sources::ForSources;
use super::plugins::report_failures;
use crate::environment::Environment;
use crate::findings::{Findings, is_promoted, is_removed};
use crate::library::folder::{Content, Files, SPECS};
use crate::library::records::Records;
use crate::library::required::{Known, KnownSource};
use crate::library::{manifest, notice, required};
use crate::problem::Problem;
use crate::report;
use crate::requirements::declared;
use crate::spool::{Spool, Spooled};

/// So many blocks are in memory at once, as they are asked about.
const BATCH: usize = 64;

/// The texts of bundles by block.
pub type BundleTexts = BTreeMap<String, Spooled<str>>;

/// What the library is made of.
pub struct Library<'r, 'a> {
    pub corpus: &'a str,
    /// In the order of the corpus.
    pub sources: &'a [Source],
    /// Sorted by block.
    pub records: &'r Records,
    pub texts: &'a BundleTexts,
    /// The same, with their files.
    pub fetched: &'a [FetchedSource],
    pub environment: &'a Environment,
    pub gate: Level,
    pub emitters: &'a [ForSources<SpecEmitter>],
}

impl Library<'_, '_> {
    /// Whether a block stands in the library.
    fn keeps(&self, record: &BlockRecord) -> bool {
        is_promoted(record, self.gate) && !is_removed(record)
    }
}

/// Everything that stands in the output folder but for `run.json`, and what the records show.
pub fn files<'a>(context: &'a Context<'_>, library: &Library<'a, '_>) -> Result<(Files<'a>, Findings), Problem> {
    let (records, spool) = (library.records, &*context.spool);
    let findings = Findings::of(records.small(), library.gate);
    let spooled = |bytes: Spooled<[u8]>| Content::Spooled { spool, bytes };
    let placed = |record: &BlockRecord| Some((record.bundle.clone()?, *library.texts.get(&record.block)?));
    let placed = records.small().iter().filter_map(placed);
    let mut files: Files<'a> = placed.map(|(path, text)| (path, spooled(text.as_bytes()))).collect();
    let mut add = |path: String, text: String| files.insert(path, Content::Bytes(text.into_bytes()));

    let sources: Vec<KnownSource> = library.fetched.iter().map(known).collect();
    let (installed, packages) = (&library.environment.distributions, &library.environment.packages);
    let required = required::required(records, &Known { sources: &sources, installed, packages });
    let required = serde_json::to_string_pretty(&required).expect("names and versions are plain text");
    add(required::FILE_NAME.to_owned(), required + "\n");
    let license_text = |source: &SourceRecord, path: &str| license_text(library.fetched, source, path);
    add(
        notice::FILE_NAME.to_owned(),
        notice::text(records.whole_where(|record| library.keeps(record)), &license_text)?,
    );
    let names: Vec<String> = library.sources.iter().map(source_name).collect();
    let page = report::Page { corpus: library.corpus, sources: &names, findings: &findings, records: records.small() };
    add(report::FILE_NAME.to_owned(), report::html(&page));

    describe(context, library, &mut files)?;
    Ok((files, findings))
}

/// Adds the manifest and what the emitters write: one pass over the records for all of them, who get the manifest's own lines.
fn describe<'a>(context: &'a Context<'_>, library: &Library<'a, '_>, files: &mut Files<'a>) -> Result<(), Problem> {
    let (records, spool) = (library.records, &*context.spool);
    debug_assert!(records.small().is_sorted_by(|left, right| left.block < right.block), "the manifest is sorted");
    let mut passes: Vec<Pass> = library.emitters.iter().map(|emitter| Pass::begin(emitter, spool)).collect();
    let mut lines = Vec::with_capacity(records.small().len());
    let mut whole = records.whole().peekable();
    while whole.peek().is_some() {
        let batch: Vec<BlockRecord> = whole.by_ref().take(BATCH).collect::<Result<_, _>>()?;
        let prepare = |record: BlockRecord| -> Result<(Spooled<[u8]>, Option<AskedBlock>), Problem> {
            let mut line = record.to_line();
            line.push('\n');
            let kept = spool.put(line.as_bytes())?;
            line.pop();
            if passes.is_empty() || !library.keeps(&record) {
                return Ok((kept, None));
            }
            let code = library.texts.get(&record.block).map(|text| spool.text(*text)).transpose()?;
            Ok((kept, Some(AskedBlock::new(record, line, code))))
        };
        let prepared: Vec<_> =
            context.pool.install(|| batch.into_par_iter().map(prepare).collect::<Result<_, Problem>>())?;
        let (kept, blocks): (Vec<_>, Vec<_>) = prepared.into_iter().unzip();
        lines.extend(kept);
        let blocks: Vec<AskedBlock> = blocks.into_iter().flatten().collect();
        passes.iter_mut().try_for_each(|pass| pass.emit(&blocks, context))?;
    }
    files.insert(manifest::FILE_NAME.to_owned(), in_parts(spool, lines));
    for pass in passes {
        report_failures(context.console, &pass.finish(files)?);
    }
    Ok(())
}

/// A file whose content lies in parts.
fn in_parts(spool: &Spool, parts: Vec<Spooled<[u8]>>) -> Content<'_> {
    Content::Written(Box::new(move |out: &mut dyn Write| {
        parts.iter().try_for_each(|part| out.write_all(&spool.bytes(*part).map_err(io::Error::other)?))
    }))
}

fn known(fetched: &FetchedSource) -> KnownSource {
    let snapshot = &fetched.snapshot;
    let modules = snapshot.files.iter().filter_map(|file| file.module.as_deref());
    KnownSource {
        source: snapshot.source.clone(),
        packages: modules.filter_map(|module| module.split('.').next()).map(str::to_owned).collect(),
        requires: declared::stated(snapshot),
    }
}

/// A licence file of a source of the corpus, as far as it is text.
fn license_text(fetched: &[FetchedSource], source: &SourceRecord, path: &str) -> Option<String> {
    let is_same =
        |known: &Source| known.name == source.name && known.version == source.version && known.commit == source.commit;
    let snapshot = &fetched.iter().find(|fetched| is_same(&fetched.snapshot.source))?.snapshot;
    let file = snapshot.licenses.iter().find(|file| file.path == path)?;
    snapshot.read_path(&file.path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// One emitter's way through the library.
struct Pass<'e, 'a> {
    emitter: &'e ForSources<SpecEmitter>,
    emission: Emission<'e>,
    folder: EmitterFolder<'a>,
}

impl<'e, 'a> Pass<'e, 'a> {
    fn begin(emitter: &'e ForSources<SpecEmitter>, spool: &'a Spool) -> Self {
        let path = format!("{SPECS}{}", emitter.all().plugin().name);
        let folder = EmitterFolder { path, spool, files: BTreeMap::new(), appended: BTreeMap::new() };
        Self { emitter, emission: emitter.all().start(), folder }
    }

    /// Has the emitter describe the next blocks.
    fn emit(&mut self, blocks: &[AskedBlock], context: &Context<'_>) -> Result<(), Problem> {
        let ask = |block: &AskedBlock| self.emitter.of(block.source()).ask(block);
        let answers: Vec<BlockAnswer> = context.pool.install(|| blocks.par_iter().map(ask).collect());
        let mut answered = blocks.iter().zip(answers);
        answered.try_for_each(|(block, answer)| self.folder.keep(self.emission.accept(block, answer)))
    }

    /// Adds the files that it has written, and gives back the calls that failed.
    fn finish(mut self, files: &mut Files<'a>) -> Result<Vec<CallError>, Problem> {
        let (index, failures) = self.emission.finish();
        self.folder.keep(index)?;
        self.folder.finish(files);
        Ok(failures)
    }
}

/// What an emitter has written so far.
struct EmitterFolder<'a> {
    /// Relative to the output folder.
    path: String,
    spool: &'a Spool,
    /// Those that came whole, by path.
    files: BTreeMap<String, Spooled<[u8]>>,
    /// The parts of those that grow, by path.
    appended: BTreeMap<String, Vec<Spooled<[u8]>>>,
}

impl<'a> EmitterFolder<'a> {
    fn keep(&mut self, emitted: Vec<EmittedFile>) -> Result<(), Problem> {
        for file in emitted {
            let path = format!("{}/{}", self.path, file.path);
            let bytes = self.spool.put(&file.content)?;
            match file.placement {
                Placement::Whole => _ = self.files.insert(path, bytes),
                Placement::Appended => self.appended.entry(path).or_default().push(bytes),
            }
        }
        Ok(())
    }

    fn finish(self, into: &mut Files<'a>) {
        let Self { spool, files, appended, .. } = self;
        into.extend(files.into_iter().map(|(path, bytes)| (path, Content::Spooled { spool, bytes })));
        into.extend(appended.into_iter().map(|(path, parts)| (path, in_parts(spool, parts))));
    }
}

/// `timm 1.0.31`, `yolov5 at 3f2a...`.
fn source_name(source: &Source) -> String {
    match (&source.version, &source.commit) {
        (Some(version), _) => format!("{} {version}", source.name),
        (None, Some(commit)) => format!("{} at {}", source.name, &commit[..commit.len().min(12)]),
        (None, None) => source.name.clone(),
    }
}
