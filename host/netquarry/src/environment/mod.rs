//! The Python environment in which bundles are validated: finding one, or making one with torch in it.
//!
//! An environment is looked for in a fixed order: the interpreter that the user names, `NETQUARRY_PYTHON`, an active
//! virtual environment that has torch, the environment that an earlier run made under the cache folder, and
//! interpreters on `PATH`. One that was named must do; the others are passed over where they do not. Where none has
//! torch, [`plan`] answers with an [`Installation`] that makes an environment of our own.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

mod error;
mod install;
mod interpreter;
mod layers;
mod pip;
mod resolution;
#[cfg(test)]
mod tests;

pub use error::EnvironmentError;
pub use install::{Installation, Preparation, Progress, distributions};
pub use layers::{Installer, Layer};
pub use resolution::{Pin, Refusal};

use interpreter::{Interpreter, PythonVersion};

/// The oldest Python for which torch has wheels, and the version whose semantics bundles are assembled for.
const OLDEST_PYTHON: PythonVersion = PythonVersion { major: 3, minor: 11 };

/// Interpreters that are tried on `PATH`, the first that will do wins. 3.11 comes first because verdicts are best
/// compared between machines that run the same Python.
const NAMES_ON_PATH: [&str; 6] = ["python3.11", "python3.12", "python3.13", "python3.14", "python3", "python"];

/// A Python environment that has torch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// The interpreter to start.
    pub python: PathBuf,
    /// `3.11.7`
    pub version: String,
    /// The version of torch, as its distribution states it.
    pub torch: String,
    /// Folders that hold what is installed; written as `<environment>` where a message names them.
    pub prefixes: Vec<PathBuf>,
    /// The version of every installed distribution, by normalised name (PEP 503).
    pub distributions: BTreeMap<String, String>,
    /// The distributions that provide each top-level import name.
    pub packages: BTreeMap<String, Vec<String>>,
    /// The names of the standard library's top-level modules.
    pub standard_library: BTreeSet<String>,
    /// What the markers of requirements are evaluated against, by the names of PEP 508.
    pub markers: BTreeMap<String, String>,
    pub origin: Origin,
}

/// How an environment was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Named by the user on the command line or in the configuration.
    Named,
    /// Named by the variable `NETQUARRY_PYTHON`.
    Variable,
    /// The active virtual environment.
    Virtual,
    /// Made by an earlier run, or by this one.
    Managed,
    /// An interpreter on `PATH` that has torch.
    Path,
}

impl Environment {
    /// SHA-256, in hexadecimal, of what a verdict can depend on: the system, the versions of Python and of all
    /// distributions. It is the same for two environments with the same versions, wherever they lie.
    pub fn digest(&self) -> String {
        let mut hasher = Sha256::new();
        hasher.update(format!("{} {}\npython {}\n", env::consts::OS, env::consts::ARCH, self.version));
        for (name, version) in &self.distributions {
            hasher.update(format!("{name} {version}\n"));
        }
        format!("{:x}", hasher.finalize())
    }

    /// As `run.json` tells it.
    pub fn described(&self) -> serde_json::Value {
        serde_json::json!({
            "python": self.python,
            "version": self.version,
            "torch": self.torch,
            "origin": self.origin,
            "digest": self.digest(),
            "distributions": self.distributions,
        })
    }

    /// Whether `import name` finds something: in the standard library or in an installed distribution.
    pub fn provides(&self, name: &str) -> bool {
        self.standard_library.contains(name) || self.packages.contains_key(name)
    }

    fn new(python: &Path, interpreter: Interpreter, origin: Origin) -> Result<Self, EnvironmentError> {
        if interpreter.version() < OLDEST_PYTHON {
            return Err(EnvironmentError::TooOld { python: python.to_owned(), version: interpreter.version });
        }
        let Some(torch) = interpreter.distributions.get("torch").cloned() else {
            return Err(EnvironmentError::NoTorch { python: python.to_owned(), version: interpreter.version });
        };
        Ok(Self {
            python: python.to_owned(),
            version: interpreter.version,
            torch,
            prefixes: interpreter.prefixes,
            distributions: interpreter.distributions,
            packages: interpreter.packages,
            standard_library: interpreter.standard_library,
            markers: interpreter.markers,
            origin,
        })
    }
}

/// What the user and the machine say about where to find Python.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Named by the user; must have torch, nothing else is tried.
    pub python: Option<PathBuf>,
    /// `NETQUARRY_PYTHON`; likewise.
    pub variable: Option<PathBuf>,
    /// The root of the active virtual environment, if any.
    pub virtual_environment: Option<PathBuf>,
    /// Folders to look for interpreters in, in order.
    pub path: Vec<PathBuf>,
    /// The folder that holds everything we keep between runs; an environment of ours lies in `environment/` there.
    pub cache: PathBuf,
}

impl Request {
    /// A request as this process's environment variables make it.
    pub fn from_variables(python: Option<PathBuf>, cache: PathBuf) -> Self {
        let folder = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        Self {
            python,
            variable: folder("NETQUARRY_PYTHON"),
            virtual_environment: folder("VIRTUAL_ENV"),
            path: env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default(),
            cache,
        }
    }
}

/// What has to be done to have an environment.
#[derive(Debug)]
pub enum Plan {
    /// Nothing.
    Ready(Box<Environment>),
    /// An environment of our own has to be made.
    Install(Installation),
}

/// Looks for an environment, and says what it takes to make one where there is none. Starts interpreters to ask them
/// about themselves (a tenth of a second each) and changes nothing.
///
/// # Errors
/// An interpreter that was named does not run, is too old or has no torch; or there is no torch anywhere and no Python
/// to make an environment with.
pub fn plan(request: &Request) -> Result<Plan, EnvironmentError> {
    let named = request.python.iter().map(|python| (python, Origin::Named));
    if let Some((python, origin)) = named.chain(request.variable.iter().map(|it| (it, Origin::Variable))).next() {
        let python = interpreter::locate(python, &request.path)?;
        return Environment::new(&python, interpreter::query(&python)?, origin).map(ready);
    }
    if let Some(found) = request.virtual_environment.as_deref().and_then(in_virtual_environment) {
        return Ok(ready(found));
    }
    if let Some(found) = install::existing(&request.cache) {
        return Ok(ready(found));
    }
    let mut base = None;
    let mut passed_over = None;
    for python in on_path(&request.path) {
        let Ok(interpreter) = interpreter::query(&python) else {
            continue;
        };
        if interpreter.version() < OLDEST_PYTHON {
            passed_over.get_or_insert(EnvironmentError::TooOld { python, version: interpreter.version });
        } else if interpreter.distributions.contains_key("torch") {
            return Environment::new(&python, interpreter, Origin::Path).map(ready);
        } else if base.is_none() && interpreter.makes_environments {
            base = Some(python);
        } else {
            passed_over.get_or_insert(EnvironmentError::NoVenv { python });
        }
    }
    match (base, passed_over) {
        (Some(python), _) => Ok(Plan::Install(Installation::new(python, &request.cache))),
        (None, Some(reason)) => Err(reason),
        (None, None) => Err(EnvironmentError::NoPython),
    }
}

/// [`plan`], and the installation where one is needed, in this thread.
///
/// # Errors
/// As [`plan`] and [`Installation::run`].
pub fn prepare(request: &Request, on_progress: &dyn Fn(Progress)) -> Result<Environment, EnvironmentError> {
    match plan(request)? {
        Plan::Ready(environment) => Ok(*environment),
        Plan::Install(installation) => installation.run(on_progress),
    }
}

fn ready(environment: Environment) -> Plan {
    Plan::Ready(Box::new(environment))
}

fn in_virtual_environment(root: &Path) -> Option<Environment> {
    let python = root.join("bin").join("python");
    Environment::new(&python, interpreter::query(&python).ok()?, Origin::Virtual).ok()
}

fn on_path(folders: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
    NAMES_ON_PATH
        .iter()
        .flat_map(move |name| folders.iter().map(move |folder| folder.join(name)))
        .filter(|python| python.is_file())
}
