//! An audit of a library: its bundles beside the sources that they were made of.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use netquarry_core::record::{BlockRecord, ClosureRecord};
use netquarry_core::syntax;
use netquarry_core::verdict::Level;

use super::context::Context;
use super::fetch::{self, FetchedSource};
use super::python::Python;
use super::upstream::Upstreams;
use super::validate::options;
use crate::audit::{self, Audit, Bundle};
use crate::environment::Environment;
use crate::interval::Proportion;
use crate::library::manifest;
use crate::problem::Problem;
use crate::quantity::human_things;
use crate::validate::lookup::{self, Answer, Lookup, Questions};

/// Audits the library in the output folder. Sources come from the corpus, which has to be the one of the library.
pub fn audit(context: &Context<'_>) -> Result<Audit, Problem> {
    let settings = context.settings;
    let records = manifest::read_existing(&settings.out)?;
    let python = Python::start(settings, context.console)?;
    let fetched = fetch::fetch(context, fetch::corpus(settings)?)?;
    let environment = python.wait(context.console)?;
    let bundles = bundles(context, &records)?;
    let texts = Texts::read(&fetched.sources, &records);
    let asked = audit::lookups(&records);
    let answered = answers(context, &environment, &fetched.sources, &asked)?;
    let count = |is_meant: &dyn Fn(&Bundle<'_>) -> bool| {
        Proportion::of(bundles.iter().filter(|bundle| is_meant(bundle)).count(), bundles.len())
    };
    Ok(Audit {
        blocks: records.len(),
        bundles: bundles.len(),
        resolution: audit::resolution(answered.iter().map(|(lookup, answer)| (lookup, answer))),
        formatting: audit::formatting(&bundles, &|closed| texts.of(closed)),
        complete: count(&|bundle| audit::is_complete(bundle.record)),
        imports_in_order: count(&|bundle| audit::has_imports_in_order(&bundle.text)),
        lines: audit::lines(&bundles),
    })
}

fn bundles<'a>(context: &Context<'_>, records: &'a [BlockRecord]) -> Result<Vec<Bundle<'a>>, Problem> {
    let with_file = records.iter().filter_map(|record| Some((record, record.bundle.as_ref()?)));
    let read = |(record, bundle): (&'a BlockRecord, &String)| {
        let path = context.settings.out.join(bundle);
        let text = fs::read_to_string(&path).map_err(|error| Problem::io("read the bundle", &path, error))?;
        Ok(Bundle { record, text })
    };
    with_file.map(read).collect()
}

/// The upstream files that the closures are from, by source and path.
struct Texts {
    by_place: BTreeMap<(String, String), String>,
}

impl Texts {
    /// A file that is not at hand, or is another one now, is left out.
    fn read(sources: &[FetchedSource], records: &[BlockRecord]) -> Self {
        let mut wanted: BTreeMap<(String, String), &str> = BTreeMap::new();
        for closed in records.iter().flat_map(|record| &record.closure) {
            wanted.insert(place(closed), &closed.sha1);
        }
        let text = |place: &(String, String), sha1: &str| {
            let snapshot = &sources.iter().find(|source| source.snapshot.source.name == place.0)?.snapshot;
            let file = snapshot.files.iter().find(|file| file.path == place.1 && file.digest.to_string() == sha1)?;
            let bytes = snapshot.read(file).ok()?;
            Some(syntax::decode(&bytes).ok()?.into_owned())
        };
        let texts = wanted.into_iter().filter_map(|(place, sha1)| Some((place.clone(), text(&place, sha1)?)));
        Self { by_place: texts.collect() }
    }

    fn of(&self, closed: &ClosureRecord) -> Option<&str> {
        self.by_place.get(&place(closed)).map(String::as_str)
    }
}

fn place(closed: &ClosureRecord) -> (String, String) {
    let source = closed.definition.split_once(':').map_or("", |(source, _)| source);
    (source.to_owned(), closed.path.clone())
}

fn answers(
    context: &Context<'_>,
    environment: &Environment,
    sources: &[FetchedSource],
    asked: &BTreeMap<String, BTreeSet<Lookup>>,
) -> Result<Vec<(Lookup, Answer)>, Problem> {
    let upstreams = Upstreams::new(sources, environment)?;
    upstreams.write()?;
    let questions = questions(&upstreams, asked);
    let task = context.console.task("Looking up", "modules", questions.len() as u64);
    let options = options(Level::Parity, context.settings.jobs);
    let answers = lookup::look_up(&questions, environment, &options, &|| task.advance(1))?;
    let count = questions.iter().map(|questions| questions.lookups.len()).sum();
    task.finish("Looked up", &human_things(count, "name"));
    Ok(questions.into_iter().zip(answers).flat_map(|(asked, answers)| asked.lookups.into_iter().zip(answers)).collect())
}

/// One set of questions for each module, source by source.
fn questions(upstreams: &Upstreams<'_>, asked: &BTreeMap<String, BTreeSet<Lookup>>) -> Vec<Questions> {
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
