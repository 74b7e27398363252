//! Stage 5: from every closure to a self-contained file with a header that says where it comes from.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use netquarry_core::bundle::{self, Bundle};
use netquarry_core::closure::Closure;
use netquarry_core::dedup::Code;
use netquarry_core::index::{DefinitionId, FileId, Index, SourceId};
use netquarry_core::record::{RecordSource, SourceRecord};
use netquarry_core::source::Source;
use netquarry_core::{license, provenance, source, stdlib};
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::context::Context;
use super::discover::Candidate;
use super::fetch::FetchedSource;
use super::index::Indexed;
use super::resolve::{Attempt, guarded};
use super::texts::FileText;
use crate::console::Task;
use crate::course::{Stage, StageCourse, Stopwatch};
use crate::interrupt;
use crate::library::folder::hexadecimal;
use crate::library::header::{self, Header};
use crate::library::records::Details;
use crate::library::requirements;
use crate::problem::Problem;
use crate::quantity::{human_seconds, human_things};
use crate::requirements::declared;
use crate::spool::{Spool, Spooled, SpooledCode};
use crate::validate::LineSpan;

/// A bundle as it is written, with what the record says about it. What is large of it lies in the spool.
#[derive(Clone, Debug)]
pub struct BundleFile {
    /// Header and code.
    pub text: Spooled<str>,
    /// Where in the text the code starts.
    code_start: usize,
    /// Of the text.
    pub sha256: String,
    pub lines: u32,
    /// What was found out while the code was written, but for what has moved into `text`, `line_map` and `details`.
    pub bundle: Bundle,
    pub details: Spooled<Details>,
    /// How many edits there are in the details.
    pub edits: usize,
    /// The sources that it has code of, sorted.
    pub sources: Vec<SourceRecord>,
    /// PEP 508, sorted.
    pub requirements: Vec<String>,
    /// Those of them that only the name of an import stands for.
    pub assumed_requirements: Vec<String>,
    pub license: Option<String>,
    /// Lines of the text, header included.
    pub line_map: Spooled<Vec<LineSpan>>,
    /// The import packages of the sources that its code is from.
    pub own_packages: Vec<String>,
    /// The packages that it imports for their compiled operators, those of `own_packages` or others.
    pub operator_packages: Vec<String>,
}

impl BundleFile {
    /// The names of the sources that it has code of, sorted.
    pub fn source_names(&self) -> impl Iterator<Item = &str> {
        self.sources.iter().map(|source| source.name.as_str())
    }

    /// The code alone, without the header.
    pub fn code(&self, spool: &Arc<Spool>) -> Code {
        Code::behind(SpooledCode { spool: Arc::clone(spool), text: self.text }, self.code_start)
    }
}

/// Where a candidate stands upstream; known whether or not it becomes a bundle.
#[derive(Clone, Debug)]
pub struct Origin {
    pub source: RecordSource,
    pub swhid: String,
}

/// What came out of the stage.
pub struct Assembled {
    /// One for each candidate, in their order.
    pub bundles: Vec<Attempt<BundleFile>>,
    pub origins: Vec<Origin>,
    pub course: StageCourse,
}

impl Assembled {
    /// The results of no candidates.
    pub fn none() -> Self {
        let course = Stopwatch::start(Stage::Assemble).stop("block", 0, 0);
        Self { bundles: Vec::new(), origins: Vec::new(), course }
    }

    /// Adds the results of the candidates that follow.
    pub fn extend(&mut self, next: Self) {
        self.bundles.extend(next.bundles);
        self.origins.extend(next.origins);
        self.course.add(&next.course);
    }

    /// How many bundles there are and how long it took.
    pub fn told(&self) -> String {
        let count = self.bundles.iter().filter(|bundle| bundle.is_ok()).count();
        format!("{} in {}", human_things(count, "bundle"), human_seconds(self.course.wall_seconds))
    }
}

/// What a source says about packages.
pub struct SourcePackages {
    /// The import packages that its bundles must do without.
    own: BTreeSet<String>,
    /// The normalised names of the distributions that it declares.
    declared: BTreeSet<String>,
    /// The normalised name of the one that it is.
    distribution: Option<String>,
    /// The paths of its licence files.
    license_files: Vec<String>,
}

/// By source.
pub type Packages = Vec<SourcePackages>;

/// What all sources say.
pub fn packages(sources: &[FetchedSource], index: &Index) -> Packages {
    let of = |source: &FetchedSource| SourcePackages {
        own: top_level_packages(source, index),
        declared: declared::names(&source.snapshot),
        distribution: declared::distribution(&source.snapshot.source),
        license_files: source.snapshot.licenses.iter().map(|file| file.path.clone()).collect(),
    };
    sources.iter().map(of).collect()
}

/// Writes every closure as one file. A candidate without a closure keeps the reason why it has none.
pub fn assemble(
    context: &Context<'_>,
    sources: &[FetchedSource],
    indexed: &Indexed,
    candidates: &[Candidate],
    closures: &[Attempt<Arc<Closure>>],
) -> Result<Assembled, Problem> {
    let task = context.console.task("Assembling", "blocks", candidates.len() as u64);
    let assembled = bundles(context, &packages(sources, &indexed.index), indexed, candidates, closures, &task)?;
    task.finish("Assembled", &assembled.told());
    Ok(assembled)
}

/// The bundles of `candidates`, which may be a part of all those that `task` counts.
pub fn bundles(
    context: &Context<'_>,
    packages: &Packages,
    indexed: &Indexed,
    candidates: &[Candidate],
    closures: &[Attempt<Arc<Closure>>],
    task: &Task<'_>,
) -> Result<Assembled, Problem> {
    let watch = Stopwatch::start(Stage::Assemble);
    let common = Common { spool: &context.spool, packages, indexed };
    let work = |(candidate, closure): (&Candidate, &Attempt<Arc<Closure>>)| {
        let origin = origin(indexed, candidate);
        let bundle = match closure {
            Ok(closure) => bundle_file(&common, candidate, &origin, closure)?,
            Err(reason) => Err(reason.clone()),
        };
        task.advance(1);
        Ok((bundle, origin))
    };
    let unless_interrupted = |parts| if interrupt::requested() { Err(Problem::interrupted()) } else { work(parts) };
    let parts = candidates.par_iter().zip(closures);
    let made: Result<Vec<_>, Problem> = context.pool.install(|| parts.map(unless_interrupted).collect());
    let (bundles, origins): (Vec<_>, Vec<_>) = made?.into_iter().unzip();
    Ok(Assembled { bundles, origins, course: watch.stop("block", candidates.len(), 0) })
}

fn bundle(indexed: &Indexed, closure: &Closure) -> Attempt<Bundle> {
    // Reading is the only thing that can fail; everything after it works on text that is there.
    for definition in closure.definitions.keys() {
        indexed.texts.get(definition.file)?;
    }
    let text = |file: FileId| -> Arc<str> { Arc::clone(&indexed.texts.get(file).expect("it was read before").text) };
    guarded(|| bundle::assemble(&indexed.index, closure, &text))
}

/// What all bundles have in common.
struct Common<'a> {
    spool: &'a Spool,
    packages: &'a Packages,
    indexed: &'a Indexed,
}

fn bundle_file(
    common: &Common<'_>,
    candidate: &Candidate,
    origin: &Origin,
    closure: &Closure,
) -> Result<Attempt<BundleFile>, Problem> {
    let Common { spool, packages, indexed } = *common;
    let mut bundle = match bundle(indexed, closure) {
        Ok(bundle) => bundle,
        Err(reason) => return Ok(Err(reason)),
    };
    let used = used_files(indexed, closure);
    for record in &mut bundle.closure {
        let found = used.get(&(record.source(), record.path.as_str())).and_then(|used| Some((used.source, used.text?)));
        let told = found.map(|(source, text)| {
            let swhid = provenance::definition(source, text.swhid, &record.path, record.lines);
            (text.license.clone(), swhid.to_string())
        });
        if let Some((license, swhid)) = told {
            (record.license, record.swhid) = (license, swhid);
        }
    }
    let origins: BTreeSet<SourceId> =
        closure.definitions.keys().map(|definition| indexed.index.file(definition.file).source).collect();
    let requirements = requirements::of(bundle.packages.iter().map(String::as_str));
    let declared = origins.iter().flat_map(|source| &packages[source.0 as usize].declared);
    // What is imported of a source, for its compiled operators or by the user's wish, is of its own distribution.
    let known = declared.chain(packages.iter().filter_map(|source| source.distribution.as_ref())).map(String::as_str);
    let assumed_requirements = requirements::assumed(&requirements, &known.collect());
    let license = license::conjunction(used.values().map(|used| used.text.and_then(|text| text.license.as_deref())));
    let mut sources: Vec<SourceRecord> = origins.iter().map(|source| source_record(common, *source, &used)).collect();
    sources.sort_by(|left, right| left.name.cmp(&right.name));
    let header = header::text(&Header {
        block: &candidate.block,
        source: indexed.index.source(indexed.index.file(candidate.target.definition.file).source),
        origin: &origin.source,
        swhid: &origin.swhid,
        license: license.as_deref(),
        requirements: &requirements,
        assumed: &assumed_requirements,
    });
    let text = format!("{header}{}", std::mem::take(&mut bundle.text));
    let header_lines = line_count(&header);
    let operator_packages: Vec<String> =
        bundle.operator_imports.iter().filter_map(|statement| imported_package(statement)).collect();
    let line_map: Vec<LineSpan> =
        std::mem::take(&mut bundle.line_map).into_iter().map(|span| below(span, header_lines)).collect();
    let details = Details {
        unknown_keys: std::mem::take(&mut bundle.unknown_keys),
        replaced: std::mem::take(&mut bundle.replaced),
        edits: std::mem::take(&mut bundle.edits),
        closure: std::mem::take(&mut bundle.closure),
    };
    Ok(Ok(BundleFile {
        sha256: hexadecimal(&Sha256::digest(text.as_bytes())),
        lines: line_count(&text),
        code_start: header.len(),
        text: spool.put_text(&text)?,
        line_map: spool.put_value(&line_map)?,
        sources,
        edits: details.edits.len(),
        details: spool.put_value(&details)?,
        own_packages: origins
            .iter()
            .flat_map(|source| &packages[source.0 as usize].own)
            .cloned()
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect(),
        operator_packages,
        requirements,
        assumed_requirements,
        license,
        bundle,
    }))
}

/// A file that a bundle has code of.
struct Used<'a> {
    source: &'a Source,
    /// `None` where it cannot be read any more.
    text: Option<&'a FileText>,
}

/// By source and path.
type UsedFiles<'a> = BTreeMap<(&'a str, &'a str), Used<'a>>;

fn used_files<'a>(indexed: &'a Indexed, closure: &Closure) -> UsedFiles<'a> {
    let used = |definition: &DefinitionId| {
        let file = indexed.index.file(definition.file);
        let source = indexed.index.source(file.source);
        let text = indexed.texts.get(definition.file).ok();
        ((source.name.as_str(), file.file.path.as_str()), Used { source, text })
    };
    closure.definitions.keys().map(used).collect()
}

fn source_record(common: &Common<'_>, id: SourceId, used: &UsedFiles<'_>) -> SourceRecord {
    let source = common.indexed.index.source(id);
    let files = || used.iter().filter(|((name, _), _)| *name == source.name);
    let copyright: BTreeSet<&String> =
        files().filter_map(|(_, used)| used.text).flat_map(|text| &text.copyright).collect();
    let paths: Vec<&str> = files().map(|((_, path), _)| *path).collect();
    let license_files = license_files(&common.packages[id.0 as usize].license_files, &paths);
    provenance::source_record(source, copyright.into_iter().cloned().collect(), license_files)
}

/// The licence files that hold for files at these paths: those nearest to the root, which are the source's own, and those
/// in a folder above one of the files. Others are of what only a build or a compiled library has.
fn license_files(all: &[String], paths: &[&str]) -> Vec<String> {
    let nearest = all.iter().map(|path| depth(path)).min();
    let holds = |license: &&String| {
        let folder = license.rsplit_once('/').map(|(folder, _)| format!("{folder}/"));
        let is_above = |path: &&str| folder.as_deref().is_some_and(|folder| path.starts_with(folder));
        Some(depth(license)) == nearest || paths.iter().any(is_above)
    };
    all.iter().filter(holds).cloned().collect()
}

/// Below the root; what a wheel says about itself is about its root.
fn depth(path: &str) -> usize {
    let described = path.split_once(".dist-info/").map(|(_, path)| path.strip_prefix("licenses/").unwrap_or(path));
    described.unwrap_or(path).matches('/').count()
}

fn below(span: bundle::LineSpan, header_lines: u32) -> LineSpan {
    let bundle_start = span.bundle_start + header_lines;
    LineSpan {
        bundle_start,
        bundle_end: bundle_start + span.lines.saturating_sub(1),
        path: span.path,
        upstream_start: span.upstream_start,
    }
}

fn line_count(text: &str) -> u32 {
    u32::try_from(text.lines().count()).expect("a bundle has fewer than 2^32 lines")
}

/// `torchvision` in `import torchvision` and in `from torchvision import ops`.
fn imported_package(statement: &str) -> Option<String> {
    let path = statement.split_whitespace().nth(1)?;
    path.split(['.', ',']).next().map(str::to_owned)
}

/// The import packages of a source that a bundle must do without: all that it has, but for those that the user keeps as
/// imports and those that the standard library has too.
fn top_level_packages(source: &FetchedSource, index: &Index) -> BTreeSet<String> {
    let modules = source.snapshot.files.iter().filter_map(|file| file.module.as_deref());
    let roots = modules.filter_map(|module| module.split('.').next());
    roots.filter(|root| !index.is_kept_import(root) && !stdlib::is_module(root)).map(str::to_owned).collect()
}

fn origin(indexed: &Indexed, candidate: &Candidate) -> Origin {
    let definition = candidate.target.definition;
    let file = indexed.index.file(definition.file);
    let upstream = indexed.index.source(file.source);
    let text: Result<&FileText, String> = indexed.texts.get(definition.file);
    let lines =
        text.as_ref().map_or([0, 0], |text| source::lines_of(&text.text, indexed.index.statement(definition).range));
    Origin {
        source: RecordSource {
            name: upstream.name.clone(),
            kind: upstream.kind,
            priority: candidate.priority,
            version: upstream.version.clone(),
            commit: upstream.commit.clone(),
            path: file.file.path.clone(),
            lines,
            sha1: file.file.digest.to_string(),
        },
        swhid: text.map(|text| text.swhid.to_string()).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_licence_file_holds_for_what_lies_below_it() {
        let all = [
            "torch-2.0.dist-info/licenses/LICENSE",
            "torch-2.0.dist-info/licenses/third_party/x/LICENSE",
            "torch/_vendor/packaging/LICENSE",
            "torch/_vendor/quack/LICENSE",
        ]
        .map(str::to_owned);
        let held = license_files(&all, &["torch/nn/a.py", "torch/_vendor/packaging/version.py"]);
        assert_eq!(held, [all[0].clone(), all[2].clone()]);
        assert_eq!(license_files(&["LICENSE".to_owned()], &["a.py"]), ["LICENSE"]);
        assert_eq!(license_files(&[], &["a.py"]), Vec::<String>::new());
    }
}
