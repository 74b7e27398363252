//! The Python environment, found or made while the other stages run.

use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::configuration::Settings;
use crate::console::Console;
use crate::environment::{self, Environment, Installation, Plan, Preparation, Progress, Request};
use crate::interrupt;
use crate::problem::Problem;

/// An environment that is there, or on its way.
pub enum Python {
    Ready(Box<Environment>),
    Coming { preparation: Preparation, news: Receiver<Progress> },
}

impl Python {
    /// Looks for an environment. Where there is none, says what one costs and begins to make it.
    pub fn start(settings: &Settings, console: &Console) -> Result<Self, Problem> {
        match environment::plan(&request(settings))? {
            Plan::Ready(environment) => Ok(Self::Ready(environment)),
            Plan::Install(_) if settings.offline => Err(offline()),
            Plan::Install(installation) => {
                console.status("Preparing", &installation.cost());
                Ok(Self::coming(installation))
            }
        }
    }

    fn coming(installation: Installation) -> Self {
        let (sender, news) = channel();
        // Whoever listens may be gone already; the installation goes on all the same.
        let preparation = installation.start(move |progress| _ = sender.send(progress));
        Self::Coming { preparation, news }
    }

    /// The environment where it is there already.
    pub fn ready(&self) -> Option<&Environment> {
        match self {
            Self::Ready(environment) => Some(environment),
            Self::Coming { .. } => None,
        }
    }

    /// Waits until the environment is there.
    pub fn wait(self, console: &Console) -> Result<Environment, Problem> {
        let (preparation, news) = match self {
            Self::Ready(environment) => return Ok(*environment),
            Self::Coming { preparation, news } => (preparation, news),
        };
        let task = console.spinner("Preparing");
        while !preparation.is_finished() {
            if interrupt::requested() {
                preparation.interrupt();
            }
            if let Ok(progress) = news.recv_timeout(Duration::from_millis(100)) {
                task.message(told(&progress));
            }
            task.remind();
        }
        let environment = preparation.wait()?;
        let what = format!(
            "Python {} with torch {} at `{}`",
            environment.version,
            environment.torch,
            environment.python.display()
        );
        task.finish("Prepared", &what);
        Ok(environment)
    }
}

fn offline() -> Problem {
    Problem::new("There is no Python environment with torch, and --offline forbids to download one").help(
        "name an interpreter that has torch with --python, or run `netquarry env prepare` once where there is a network",
    )
}

/// How the settings and the variables of this process ask for an environment.
pub fn request(settings: &Settings) -> Request {
    Request::from_variables(settings.python.clone(), settings.cache_dir.clone())
}

/// What the installation is doing, as a person reads it.
pub fn told(progress: &Progress) -> String {
    match progress {
        Progress::Waiting => "another process is making the environment".to_owned(),
        Progress::CreatingFolder => "a folder for the environment".to_owned(),
        Progress::Resolving(requirement) => format!("looking for {requirement}"),
        Progress::Downloading { file, size } => format!("downloading {file} ({size})"),
        Progress::Unpacking(count) => format!("unpacking {count} distributions"),
        Progress::Checking => "importing torch for the first time".to_owned(),
    }
}
