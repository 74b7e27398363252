//! `netquarry env [prepare|lock BLOCK]`

use std::path::Path;

use netquarry_core::verdict::Outcome;
use serde::Serialize;

use super::Ending;
use super::show::found;
use crate::arguments::{EnvArguments, EnvCommand, EnvLockArguments};
use crate::configuration::Settings;
use crate::console::{Console, Format};
use crate::driver::python::{self, Python};
use crate::environment::{self, Environment, Plan};
use crate::library::folder::write_whole;
use crate::library::lock::{LockedEnvironment, requirements};
use crate::library::run_record::RunRecord;
use crate::problem::Problem;

#[derive(Serialize)]
struct Shown<'a> {
    /// `None` where it has yet to be made.
    environment: Option<&'a Environment>,
    digest: Option<String>,
    /// What making one costs, as a sentence.
    cost: Option<String>,
}

pub(super) fn environment(arguments: &EnvArguments, settings: &Settings, console: &Console) -> Result<Ending, Problem> {
    match arguments.command {
        Some(EnvCommand::Prepare) => show(&Python::start(settings, console)?.wait(console)?, console)?,
        Some(EnvCommand::Lock(_)) => unreachable!("it needs no settings and is asked for before"),
        None => match environment::plan(&python::request(settings))? {
            Plan::Ready(environment) => show(&environment, console)?,
            Plan::Install(installation) => missing(&installation.cost(), console)?,
        },
    }
    Ok(Ending::Done)
}

/// Writes what the verdict on a block was reached with. `library` is where a block is looked for that is named.
pub(super) fn lock(arguments: &EnvLockArguments, library: &Path, console: &Console) -> Result<Ending, Problem> {
    let (library, record) = found(&arguments.block, library)?;
    if record.levels.values().all(|outcome| *outcome == Outcome::Unknown) {
        return Err(Problem::new(format!("`{}` was never validated", record.block))
            .because(format!("no level of its record in `{}` was tried", library.display()))
            .help("`netquarry run` validates it"));
    }
    let text = requirements(&record, &locked(&library)?);
    match (&arguments.out, console.format) {
        (Some(path), _) => write_whole(path, &text)?,
        (None, Format::Json) => console.print_json(&Locked { block: &record.block, requirements: &text })?,
        (None, Format::Human) => console.print(&text)?,
    }
    Ok(Ending::Done)
}

#[derive(Serialize)]
struct Locked<'a> {
    block: &'a str,
    /// The text of the file.
    requirements: &'a str,
}

fn locked(library: &Path) -> Result<LockedEnvironment, Problem> {
    let described = RunRecord::read(library)?.and_then(|record| record.environment);
    let environment = described.and_then(|described| serde_json::from_value(described).ok());
    environment.ok_or_else(|| {
        Problem::new(format!("`{}` does not say what its blocks were validated with", library.display()))
            .because("its run.json is gone, or an earlier version wrote it")
            .help("`netquarry run` writes it anew; blocks whose verdicts are in the cache are not validated again")
    })
}

fn show(environment: &Environment, console: &Console) -> Result<(), Problem> {
    if console.format == Format::Json {
        let digest = Some(environment.digest());
        return console.print_json(&Shown { environment: Some(environment), digest, cost: None });
    }
    let mut text = format!("Python {} at {}\n", environment.version, environment.python.display());
    for name in environment::distributions() {
        let version = environment.distributions.get(name).map_or("not installed", String::as_str);
        text.push_str(&format!("{name} {version}\n"));
    }
    text.push_str(&format!(
        "{} distributions in all, digest {}\n",
        environment.distributions.len(),
        environment.digest()
    ));
    console.print(&text)
}

fn missing(cost: &str, console: &Console) -> Result<(), Problem> {
    if console.format == Format::Json {
        return console.print_json(&Shown { environment: None, digest: None, cost: Some(cost.to_owned()) });
    }
    console.print(&format!(
        "There is no environment with torch yet. `netquarry run` and `netquarry env prepare` make one:\n{cost}\n"
    ))
}
