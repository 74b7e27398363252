//! Stage 7 alone, for a library that is there: its blocks stay what they are, and others of them are kept.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use netquarry_core::record::{BlockRecord, DedupDecision};
use sha2::{Digest, Sha256};

use super::context::Context;
use super::emit::BundleTexts;
use super::fetch;
use super::key;
use super::plugins::Plugins;
use super::python::Python;
use crate::environment::Environment;
use crate::library::folder::{Changes, OutputFolder, hexadecimal};
use crate::library::manifest;
use crate::library::records::Records;
use crate::library::reproduction::{Ingredients, Results};
use crate::library::run_record::{RunRecord, State, now};
use crate::problem::Problem;

/// Enters `decisions` into the library in `folder`, the one of the settings, and writes what follows from them: bundles move,
/// and what tells of the blocks that are kept is made anew. `arguments` is the command line, for the record.
///
/// # Errors
/// The library is not whole, or what its blocks were made of is not on this machine as it was.
pub fn apply(
    context: &Context<'_>,
    folder: &OutputFolder,
    decisions: &BTreeMap<String, DedupDecision>,
    arguments: Vec<String>,
) -> Result<Changes, Problem> {
    let (settings, console) = (context.settings, context.console);
    let begun = now();
    let earlier = folder.run_record().filter(|earlier| earlier.state != State::Unfinished);
    let earlier = earlier.ok_or_else(|| unfinished(folder.path()))?;
    let corpus = fetch::corpus(settings)?;
    let plugins = Plugins::load(settings, corpus.discovery_rule.as_deref(), console)?;
    let python = Python::start(settings, console)?;
    let fetched = fetch::fetch(context, corpus)?;
    let environment = python.wait(console)?;
    let now_made_of = key::ingredients(settings, &fetched, &plugins.identities())?;
    is_as_it_was(folder.path(), &earlier, &now_made_of, &environment)?;

    let mut records = Records::new(&context.spool);
    for record in manifest::read_existing(folder.path())? {
        records.push_whole(record?)?;
    }
    let texts = texts(context, folder.path(), records.small())?;
    super::records::decide(records.small_mut(), decisions);
    let (files, _) = super::files(context, &fetched, &plugins, &environment, &records, &texts)?;
    let record = RunRecord {
        // Whether another run would make the same blocks with these settings is for that run to find out.
        key: None,
        started: begun,
        ended: Some(now()),
        arguments,
        ingredients: earlier.ingredients.map(|it| Ingredients { host: it.host, corpus: it.corpus, ..now_made_of }),
        results: Some(Results::of(records.whole(), &files)?),
        ..earlier
    };
    folder.write(&files, record)
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

/// The licence texts and requirements that are written anew come from the sources and the environment: those of the blocks.
fn is_as_it_was(
    folder: &Path,
    earlier: &RunRecord,
    now_made_of: &Ingredients,
    environment: &Environment,
) -> Result<(), Problem> {
    let differs = |what: &str| {
        Problem::new(format!("`{}` cannot be decided about anew: {what}", folder.display()))
            .help("`netquarry run` with the same strategies and options makes it anew")
    };
    // Blocks that `extract` added may be of several corpora.
    if earlier.ingredients.as_ref().is_some_and(|made_of| made_of.corpus != now_made_of.corpus) {
        return Err(differs("its sources are others now, or are not named as they were when it was made"));
    }
    if earlier.environment.as_ref().is_some_and(|described| described["digest"] != environment.digest()) {
        return Err(differs("the Python environment is another one than it was made with"));
    }
    Ok(())
}

fn unfinished(folder: &Path) -> Problem {
    Problem::new(format!("The last run that wrote to `{}` did not end", folder.display()))
        .help("`netquarry run` goes on where it stopped")
}
