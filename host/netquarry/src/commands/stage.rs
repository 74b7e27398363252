//! The commands that run the pipeline up to one stage and list what came out of it.

use super::listing::{
    bundle_rows, candidate_rows, closure_rows, duplicate_rows, fetched_rows, list, list_index, verdict_rows,
};
use super::{Ending, tell_failed_calls};
use crate::configuration::Settings;
use crate::console::Console;
use crate::course::Stage;
use crate::driver::context::Context;
use crate::driver::fetch::Fetched;
use crate::driver::plugins::Plugins;
use crate::driver::python::Python;
use crate::driver::{self, fetch, records, resolve, shims, validate};
use crate::findings::Findings;
use crate::library::costs::{self, FailedCalls};
use crate::problem::Problem;

/// Runs the stages up to and including `stage`, which is one before the emission, and prints its results.
pub(super) fn up_to(stage: Stage, settings: &Settings, console: &Console) -> Result<Ending, Problem> {
    let context = Context::open(settings, console)?;
    let corpus = fetch::corpus(settings)?;
    // Whatever is wrong with plugins or Python shows before any of the work is done.
    let plugins = match stage {
        Stage::Fetch | Stage::Index => None,
        _ => Some(Plugins::load(settings, corpus.discovery_rule.as_deref(), console)?),
    };
    let python = if stage >= Stage::Validate { Some(Python::start(settings, console)?) } else { None };
    let fetched = fetch::fetch(&context, corpus)?;
    let ending = if fetched.missing.is_empty() { Ending::Done } else { Ending::Incomplete };
    if stage == Stage::Fetch {
        return list(console, &fetched_rows(&fetched), ending);
    }
    let Some(plugins) = plugins else {
        let indexed = driver::index::index(&context, &fetched, &driver::kept_imports(&context, &fetched))?;
        return list_index(console, &indexed, ending);
    };
    let listed = list_blocks(stage, &context, &plugins, python, &fetched)?;
    let failed = FailedCalls::among(&costs::measured(&plugins.meter));
    tell_failed_calls(&failed, console);
    Ok(if ending == Ending::Done && failed.is_empty() { listed } else { Ending::Incomplete })
}

/// Goes on from the sources to the blocks, and lists what came out.
fn list_blocks(
    stage: Stage,
    context: &Context<'_>,
    plugins: &Plugins,
    python: Option<Python>,
    fetched: &Fetched,
) -> Result<Ending, Problem> {
    let (settings, console) = (context.settings, context.console);
    let (indexed, found) = driver::discovered(context, fetched, plugins)?;
    if stage == Stage::Discover {
        return list(console, &candidate_rows(&found.candidates), Ending::Done);
    }
    if stage == Stage::Resolve {
        let (rules, failures) = shims::rules(plugins, &indexed);
        let resolved = resolve::resolve(context, &indexed, &rules, &found.candidates)?;
        failures.report(console);
        return list(console, &closure_rows(&found.candidates, &resolved.closures), Ending::Done);
    }
    let made = driver::made(context, fetched, plugins, indexed, found)?;
    let Some(python) = python else {
        return list(console, &bundle_rows(&made), Ending::Done);
    };
    let environment = python.wait(console)?;
    let validated = validate::validate(context, &environment, &fetched.sources, &made)?;
    let mut records = driver::records(context, &made, &validated);
    let findings = Findings::of(records.small(), settings.gate);
    let below = findings.total.promoted + findings.total.held_back < findings.total.candidates;
    let is_asked = findings.held_back.is_some_and(|held_back| held_back.asked > 0);
    let is_found = (settings.gate_was_asked_for && below) || is_asked;
    let ending = if is_found { Ending::Findings } else { Ending::Done };
    if stage == Stage::Validate {
        return list(console, &verdict_rows(records.small()), ending);
    }
    let contenders = driver::contenders(context, &made, &records);
    let curated = driver::curated(context, plugins, &contenders)?;
    records::decide(records.small_mut(), &curated.decisions());
    context.spool.check()?;
    list(console, &duplicate_rows(records.small()), ending)
}
