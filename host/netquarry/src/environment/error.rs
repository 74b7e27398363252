//! What can stand between a machine and a Python environment with torch.

use std::io;
use std::path::PathBuf;

/// Why there is no environment to validate in. [`EnvironmentError::hint`] says what to do about each.
#[derive(Debug, thiserror::Error)]
pub enum EnvironmentError {
    #[error("there is no Python 3.11 or later on PATH")]
    NoPython,
    #[error("there is no Python interpreter `{}`", python.display())]
    NotFound { python: PathBuf },
    #[error("`{}` could not be started as a Python interpreter", python.display())]
    NotStarted { python: PathBuf, source: io::Error },
    #[error("`{}` did not answer as a Python interpreter does{answer}", python.display())]
    NotPython { python: PathBuf, answer: String },
    #[error("`{}` is Python {version}; torch needs 3.11 or later", python.display())]
    TooOld { python: PathBuf, version: String },
    #[error("`{}` (Python {version}) has no torch", python.display())]
    NoTorch { python: PathBuf, version: String },
    #[error("`{}` cannot make virtual environments: it lacks the modules `venv` and `ensurepip`", python.display())]
    NoVenv { python: PathBuf },
    #[error("no virtual environment could be made at `{}`:\n{output}", folder.display())]
    Venv { folder: PathBuf, output: String },
    #[error("the disk of `{}` has {free_mib} MiB free; the environment needs {needed_mib} MiB", folder.display())]
    NoRoom { folder: PathBuf, free_mib: u64, needed_mib: u64 },
    #[error("the disk that holds `{}` is full", folder.display())]
    DiskFull { folder: PathBuf, output: String },
    #[error("pip could not reach a package index:\n{output}")]
    NoNetwork { output: String },
    #[error("pip could not install {requirements}:\n{output}")]
    Pip { requirements: String, output: String },
    #[error("torch was installed at `{}` but cannot be imported:\n{output}", folder.display())]
    TorchBroken { folder: PathBuf, output: String },
    #[error("the installation of the Python environment was interrupted")]
    Interrupted,
    #[error("could not {action} `{}`", path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },
}

impl EnvironmentError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoPython => "install Python 3.11 (or later) with its venv module, or name one with --python",
            Self::NotFound { .. } | Self::NotStarted { .. } | Self::NotPython { .. } => {
                "name a Python 3.11 or later that has torch with --python or NETQUARRY_PYTHON, or leave both out and \
                 an environment is made"
            }
            Self::TooOld { .. } => "install Python 3.11 or later, or name one with --python",
            Self::NoTorch { .. } => {
                "install torch there (`PYTHON -m pip install torch torchvision numpy pillow`), name another \
                 interpreter, or name none and an environment is made"
            }
            Self::NoVenv { .. } => {
                "install them (on Debian and Ubuntu: the package python3-venv), or name an interpreter that has torch \
                 with --python"
            }
            Self::Venv { .. } => "see Python's own words above; another interpreter can be named with --python",
            Self::NoRoom { .. } | Self::DiskFull { .. } => {
                "make room, choose another place with --cache-dir, or name an interpreter that has torch with --python"
            }
            Self::NoNetwork { .. } => {
                "check the connection and pip's settings (`pip config list`) and give the same command again, or name \
                 an interpreter that has torch with --python"
            }
            Self::Pip { .. } => "see pip's own words above; an interpreter that has torch can be named with --python",
            Self::TorchBroken { .. } => {
                "remove that folder and try again, or name an interpreter that has torch with --python"
            }
            Self::Interrupted => "the same command starts it again; what was downloaded is taken from pip's cache",
            Self::Io { .. } => "make sure that the folder can be written to, or choose another one with --cache-dir",
        }
    }
}
