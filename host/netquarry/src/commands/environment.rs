//! `netquarry env [prepare]`

use serde::Serialize;

use super::Ending;
use crate::arguments::{EnvArguments, EnvCommand};
use crate::configuration::Settings;
use crate::console::{Console, Format};
use crate::driver::python::{self, Python};
use crate::environment::{self, Environment, Plan};
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
        None => match environment::plan(&python::request(settings))? {
            Plan::Ready(environment) => show(&environment, console)?,
            Plan::Install(installation) => missing(&installation.cost(), console)?,
        },
    }
    Ok(Ending::Done)
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
