//! Stage 7 alone, for a library that is there: its blocks stay what they are, and others of them are kept.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use netquarry_core::record::{BlockRecord, DedupDecision, RecordSource, SourceRecord};
use sha2::{Digest, Sha256};

use super::context::Context;
use super::emit::BundleTexts;
use super::fetch::{self, Fetched};
use super::key;
use super::plugins::Plugins;
use super::python::Python;
use crate::environment::Environment;
use crate::library::costs::{self, FailedCalls};
use crate::library::folder::{Changes, OutputFolder, hexadecimal};
use crate::library::manifest;
use crate::library::records::Records;
use crate::library::reproduction::{Ingredients, Results};
use crate::library::run_record::{Machine, RunRecord, State, now};
use crate::problem::Problem;

/// Enters `decisions` into the library in `folder`, the one of the settings, and writes what follows from them: bundles move,
/// and what tells of the blocks that are kept is made anew. `arguments` is the command line, for the record.
///
/// Calls of plugins that failed on the way come back beside what has changed.
///
/// A library in which this was begun and not ended is taken as it stands: it has the bundles of its records.
///
/// # Errors
/// The library is not whole, or what its blocks were made of is not on this machine as it was.
pub fn apply(
    context: &Context<'_>,
    folder: &OutputFolder,
    decisions: &BTreeMap<String, DedupDecision>,
    arguments: Vec<String>,
) -> Result<(Changes, Vec<FailedCalls>), Problem> {
    let (settings, console) = (context.settings, context.console);
    let begun = now();
    let earlier = whole(folder)?;
    let corpus = fetch::corpus(settings)?;
    let plugins = Plugins::load(settings, corpus.discovery_rule.as_deref(), console)?;
    let python = Python::start(settings, console)?;
    let fetched = fetch::fetch(context, corpus)?;
    let environment = python.wait(console)?;
    let now_made_of = key::ingredients(settings, &fetched, &plugins)?;
    let mut records = Records::new(&context.spool);
    for record in manifest::read_existing(folder.path())? {
        records.push_whole(record?)?;
    }
    let as_it_was = AsItWas { folder: folder.path(), earlier: &earlier };
    as_it_was.environment(&environment)?;
    as_it_was.sources(&now_made_of, &fetched, records.small())?;
    let texts = texts(context, folder.path(), records.small())?;
    super::records::decide(records.small_mut(), decisions);
    let (files, _) = super::files(context, &fetched, &plugins, &environment, &records, &texts)?;
    let costs = costs::measured(&plugins.meter);
    let failed = FailedCalls::among(&costs);
    let record = RunRecord {
        state: if earlier.extracted.is_empty() { State::Finished } else { State::Extended },
        // Whether another run would make the same blocks with these settings is for that run to find out.
        key: None,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        machine: Machine::this(settings.threads),
        started: begun,
        ended: Some(now()),
        arguments,
        ingredients: earlier.ingredients.and_then(|made_of| curated_by(made_of, now_made_of)),
        results: Some(Results::of(records.whole(), &files)?),
        costs: costs::renewed(earlier.costs, costs),
        ..earlier
    };
    Ok((folder.rewrite(&files, record)?, failed))
}

/// The record of a library that can be decided about anew.
///
/// # Errors
/// There is none, or what wrote to the library last did not end.
pub fn whole(folder: &OutputFolder) -> Result<RunRecord, Problem> {
    folder.run_record().filter(|record| record.state != State::Unfinished).ok_or_else(|| {
        Problem::new(format!("The last run that wrote to `{}` did not end", folder.path().display()))
            .help("`netquarry run` goes on where it stopped")
    })
}

/// The blocks are what they were, and the rest is of now. What two programs have made has no one's ingredients.
fn curated_by(made_of: Ingredients, now: Ingredients) -> Option<Ingredients> {
    (made_of.host == now.host).then_some(Ingredients { curation: now.curation, ..made_of })
}

/// The texts of all bundles, each the one of its record.
fn texts(context: &Context<'_>, folder: &Path, records: &[BlockRecord]) -> Result<BundleTexts, Problem> {
    let mut texts = BundleTexts::new();
    for record in records {
        let Some(bundle) = &record.bundle else { continue };
        let path = folder.join(bundle);
        let text = fs::read_to_string(&path).map_err(|error| {
            Problem::io("read a bundle that the manifest lists", &path, error)
                .help("`netquarry run` makes the library anew")
        })?;
        if record.sha256.as_deref() != Some(hexadecimal(&Sha256::digest(&text)).as_str()) {
            return Err(Problem::new(format!("`{}` is not the file of its record", path.display()))
                .help("`netquarry verify` says what else was changed; `netquarry run` makes the library anew"));
        }
        texts.insert(record.block.clone(), context.spool.put_text(&text)?);
    }
    Ok(texts)
}

/// The licence texts and requirements that are written anew come from the sources and the environment: they have to be those
/// that the blocks of the library are of.
struct AsItWas<'a> {
    folder: &'a Path,
    earlier: &'a RunRecord,
}

impl AsItWas<'_> {
    fn environment(&self, environment: &Environment) -> Result<(), Problem> {
        match &self.earlier.environment {
            Some(described) if described["digest"] != environment.digest() => {
                Err(self.differs("the Python environment is another one than it was made with"))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Of a library that `extract` has added to, nothing is known of the corpus as a whole, since its blocks may be of
    /// several: each block's own file and sources have to be there.
    fn sources(&self, now: &Ingredients, fetched: &Fetched, records: &[BlockRecord]) -> Result<(), Problem> {
        let is_of_another_corpus = |made_of: &Ingredients| made_of.corpus != now.corpus;
        if self.earlier.ingredients.as_ref().is_some_and(is_of_another_corpus) {
            return Err(self.differs("its sources are others now, or are not named as they were when it was made"));
        }
        let gone = records.iter().find(|record| record.bundle.is_some() && !has_its_sources(record, fetched));
        gone.map_or(Ok(()), |record| {
            Err(self.differs(&format!("what {} is of is not in the corpus as it was", record.block)))
        })
    }

    fn differs(&self, what: &str) -> Problem {
        Problem::new(format!("`{}` cannot be decided about anew: {what}", self.folder.display()))
            .help("`netquarry run` with the same strategies and options makes it anew")
    }
}

/// Whether the file of a block was fetched as it was, and of each other source of its bundle the same version.
fn has_its_sources(record: &BlockRecord, fetched: &Fetched) -> bool {
    let RecordSource { name, path, sha1, .. } = &record.source;
    let snapshot_of = |name: &str| {
        let source = fetched.sources.iter().find(|source| source.snapshot.source.name == name);
        source.map(|source| &source.snapshot)
    };
    let has_file = snapshot_of(name).is_some_and(|snapshot| {
        snapshot.files.iter().any(|file| file.path == *path && file.digest.to_string() == *sha1)
    });
    let is_there = |source: &SourceRecord| {
        snapshot_of(&source.name).is_some_and(|snapshot| {
            snapshot.source.version == source.version && snapshot.source.commit == source.commit
        })
    };
    has_file && record.sources.iter().all(is_there)
}
