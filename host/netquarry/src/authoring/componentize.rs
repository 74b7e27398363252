//! From the source of a plugin in Python to its component, through the SDK and componentize-py.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::project::Project;
use super::sdk;
use crate::console::Console;
use crate::problem::Problem;

/// What compiles CPython and the plugin into one component. Another version would give other bytes.
pub(super) const COMPONENTIZE: &str = "componentize-py==0.25.1";

/// Interpreters that are tried, the first one that is new enough wins.
const PYTHONS: [&str; 6] = ["python3.11", "python3.12", "python3.13", "python3.14", "python3", "python"];

/// Builds the component. componentize-py is installed in the cache folder, once.
pub(super) fn component(
    project: &Project,
    cache_dir: &Path,
    offline: bool,
    console: &Console,
) -> Result<Vec<u8>, Problem> {
    let python = environment(cache_dir, offline, console)?;
    console.status("Building", &format!("{} with componentize-py", project.name));
    let folder = tempfile::tempdir().map_err(|error| Problem::io("make a folder in", &env::temp_dir(), error))?;
    let component = folder.path().join("plugin.wasm");
    let mut command = Command::new(&python);
    command.args(["-m", "netquarry_sdk", "build"]).arg(&project.folder).arg("--output").arg(&component);
    // The SDK that lies in the plugin's folder, and nothing of what this user has installed.
    command.env("PYTHONPATH", project.folder.join(sdk::FOLDER).join("sdk/python"));
    command.env("PYTHONDONTWRITEBYTECODE", "1").stdin(Stdio::null());
    let output = command.output().map_err(|error| Problem::io("run", &python, error))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Problem::new(format!("`{}` does not build", project.folder.display())).because(said));
    }
    fs::read(&component).map_err(|error| Problem::io("read", &component, error))
}

/// The interpreter of an environment that has componentize-py; it is made where it is missing.
fn environment(cache_dir: &Path, offline: bool, console: &Console) -> Result<PathBuf, Problem> {
    let folder = cache_dir.join(COMPONENTIZE.replace("==", "-"));
    let python = folder.join("bin/python");
    if folder.join(FINISHED).is_file() {
        return Ok(python);
    }
    if offline {
        return Err(
            Problem::new("componentize-py is not installed yet").help("run the same command once without --offline")
        );
    }
    console.status("Installing", &format!("{COMPONENTIZE}, once"));
    let base = interpreter()?;
    fs::create_dir_all(cache_dir).map_err(|error| Problem::io("make the folder", cache_dir, error))?;
    // Two commands at once make two environments, and the later one is thrown away.
    let unfinished =
        tempfile::tempdir_in(cache_dir).map_err(|error| Problem::io("make a folder in", cache_dir, error))?;
    run(Command::new(&base).args(["-m", "venv"]).arg(unfinished.path()), "an environment cannot be made")?;
    let pip =
        ["-m", "pip", "install", "--disable-pip-version-check", "--quiet", "--only-binary", ":all:", COMPONENTIZE];
    run(Command::new(unfinished.path().join("bin/python")).args(pip), "componentize-py cannot be installed")?;
    let marker = unfinished.path().join(FINISHED);
    fs::write(&marker, "").map_err(|error| Problem::io("write", &marker, error))?;
    match fs::rename(unfinished.path(), &folder) {
        Ok(()) => drop(unfinished.keep()),
        Err(error) if !folder.join(FINISHED).is_file() => return Err(Problem::io("make", &folder, error)),
        Err(_) => {}
    }
    Ok(python)
}

/// Stands in an environment that is whole.
const FINISHED: &str = "netquarry-finished";

fn run(command: &mut Command, what: &str) -> Result<(), Problem> {
    let output = command.stdin(Stdio::null()).output();
    let program = Path::new(command.get_program()).to_owned();
    let output = output.map_err(|error| Problem::io("run", &program, error))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(Problem::new(format!("To build plugins from Python, {what}"))
        .because(said)
        .help("Python 3.11 or later with the modules venv and pip is needed, and PyPI"))
}

fn interpreter() -> Result<PathBuf, Problem> {
    let is_new_enough = |name: &&&str| {
        let check = "import sys, venv; sys.exit(sys.version_info < (3, 11))";
        let status = Command::new(**name).args(["-c", check]).stdin(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    let found = PYTHONS.iter().find(is_new_enough);
    found.map(PathBuf::from).ok_or_else(|| {
        Problem::new("There is no Python to build the plugin with")
            .help("install Python 3.11 or later; on Debian with the package python3-venv")
    })
}
