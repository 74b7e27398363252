//! An audit of a library: its bundles beside the sources that they were made of.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use netquarry_core::record::{BlockRecord, ClosureRecord};
use netquarry_core::syntax;
use netquarry_core::verdict::Level;

use super::context::Context;
use super::fetch::{self, FetchedSource};
use super::python::Python;
use super::upstream::Upstreams;
use super::validate::options;
use crate::audit::{self, Audit, Bundle, Formatting, Lookups};
use crate::environment::Environment;
use crate::findings::is_removed;
use crate::interval::Proportion;
use crate::library::manifest;
use crate::problem::Problem;
use crate::quantity::human_things;
use crate::validate::lookup::{self, Answer, Lookup, Questions};

/// Audits the library in the output folder. Sources come from the corpus, which has to be the one of the library.
pub fn audit(context: &Context<'_>) -> Result<Audit, Problem> {
    let settings = context.settings;
    // A manifest that cannot be read shows before any of the work is done.
    let claims = Claims::read(&settings.out)?;
    let python = Python::start(settings, context.console)?;
    let fetched = fetch::fetch(context, fetch::corpus(settings)?)?;
    let environment = python.wait(context.console)?;
    let texts = Texts::read(&fetched.sources, &claims.files);
    let (mut bundles, mut complete, mut in_order) = (0, 0, 0);
    let (mut formatting, mut lines) = (Formatting::default(), Vec::new());
    for record in manifest::read_existing(&settings.out)? {
        let Some(bundle) = bundle(&settings.out, record?)? else { continue };
        bundles += 1;
        complete += usize::from(audit::is_complete(&bundle.record));
        in_order += usize::from(audit::has_imports_in_order(&bundle.text));
        formatting.add(&bundle, &|closed| texts.of(closed));
        lines.extend(bundle.record.lines);
    }
    let answered = answers(context, &environment, &fetched.sources, &claims.lookups)?;
    Ok(Audit {
        blocks: claims.blocks,
        bundles,
        resolution: audit::resolution(answered.iter().map(|(lookup, answer)| (lookup, answer))),
        formatting,
        complete: Proportion::of(complete, bundles),
        imports_in_order: Proportion::of(in_order, bundles),
        lines: audit::lines(lines),
    })
}

/// What the records of a library claim that is to be compared with the sources, each once.
#[derive(Default)]
struct Claims {
    blocks: usize,
    lookups: Lookups,
    /// The SHA-1 of the upstream files that closures are from, by source and path.
    files: BTreeMap<(String, String), String>,
}

impl Claims {
    fn read(library: &Path) -> Result<Self, Problem> {
        let mut claims = Self::default();
        for record in manifest::read_existing(library)? {
            let record = record?;
            claims.blocks += 1;
            audit::add_lookups(&mut claims.lookups, &record);
            for closed in record.closure {
                claims.files.insert(place(&closed), closed.sha1);
            }
        }
        Ok(claims)
    }
}

/// The block's file in the library; `None` where it has none, and for a duplicate.
fn bundle(library: &Path, record: BlockRecord) -> Result<Option<Bundle>, Problem> {
    let Some(bundle) = record.bundle.as_ref().filter(|_| !is_removed(&record)) else { return Ok(None) };
    let path = library.join(bundle);
    let text = fs::read_to_string(&path).map_err(|error| Problem::io("read the bundle", &path, error))?;
    Ok(Some(Bundle { record, text }))
}

/// The upstream files that the closures are from, by source and path.
struct Texts {
    by_place: BTreeMap<(String, String), String>,
}

impl Texts {
    /// A file that is not at hand, or is another one now, is left out.
    fn read(sources: &[FetchedSource], wanted: &BTreeMap<(String, String), String>) -> Self {
        let text = |place: &(String, String), sha1: &str| {
            let snapshot = &sources.iter().find(|source| source.snapshot.source.name == place.0)?.snapshot;
            let file = snapshot.files.iter().find(|file| file.path == place.1 && file.digest.to_string() == sha1)?;
            let bytes = snapshot.read(file).ok()?;
            Some(syntax::decode(&bytes).ok()?.into_owned())
        };
        let texts = wanted.iter().filter_map(|(place, sha1)| Some((place.clone(), text(place, sha1)?)));
        Self { by_place: texts.collect() }
    }

    fn of(&self, closed: &ClosureRecord) -> Option<&str> {
        self.by_place.get(&place(closed)).map(String::as_str)
    }
}

fn place(closed: &ClosureRecord) -> (String, String) {
    (closed.source().to_owned(), closed.path.clone())
}

fn answers(
    context: &Context<'_>,
    environment: &Environment,
    sources: &[FetchedSource],
    asked: &Lookups,
) -> Result<Vec<(Lookup, Answer)>, Problem> {
    let upstreams = Upstreams::new(sources, environment)?;
    upstreams.write()?;
    let questions = questions(&upstreams, asked);
    let task = context.console.task("Looking up", "modules", questions.len() as u64);
    let options = options(context.settings, Level::Parity, environment)?;
    let answers = lookup::look_up(&questions, environment, &options, &|| task.advance(1))?;
    let count = questions.iter().map(|questions| questions.lookups.len()).sum();
    task.finish("Looked up", &human_things(count, "name"));
    Ok(questions.into_iter().zip(answers).flat_map(|(asked, answers)| asked.lookups.into_iter().zip(answers)).collect())
}

/// One set of questions for each module, source by source.
fn questions(upstreams: &Upstreams<'_>, asked: &Lookups) -> Vec<Questions> {
    let all: BTreeSet<&str> = asked.keys().map(String::as_str).collect();
    let mut questions = Vec::new();
    for (source, lookups) in asked {
        let mut by_module: BTreeMap<&str, Vec<Lookup>> = BTreeMap::new();
        for lookup in lookups {
            by_module.entry(&lookup.user).or_default().push(lookup.clone());
        }
        questions.extend(by_module.into_iter().filter_map(|(module, lookups)| {
            Some(Questions { upstream: upstreams.class(source, module, "", "", &all)?, lookups })
        }));
    }
    questions
}
