//! Distributions beside an environment. Each lies in a folder of its own in the cache, which a process puts on its path
//! where it needs it; the environment, which may be the user's own, never changes.
//!
//! A layer appears by one rename and never changes afterwards. Whoever makes one holds its lock.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::install::{self, io_error};
use super::pip::Outcome;
use super::resolution::{self, Pin, Refusal};
use super::{Environment, EnvironmentError};
use crate::interrupt;
use crate::library::distribution_name::normalised;

const DESCRIPTION: &str = "layer.json";
const PACKAGES: &str = "site-packages";

/// One distribution, ready to be put on the path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layer {
    pub pin: Pin,
    /// The folder to put on the path.
    pub path: PathBuf,
    /// What can be imported from it.
    pub packages: BTreeSet<String>,
}

impl Layer {
    /// The layer of a distribution that was installed before, whatever its wheel.
    pub fn find(folder: &Path, distribution: &str, version: &str) -> Option<Self> {
        let of_this = format!("{}-", stem(distribution, version));
        let entries = fs::read_dir(folder).ok()?.flatten();
        let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names.iter().filter(|name| name.starts_with(&of_this)).find_map(|name| existing(&folder.join(name)))
    }
}

#[derive(Serialize, Deserialize)]
struct Description {
    pin: Pin,
    packages: BTreeSet<String>,
}

/// Finds and makes layers for one environment.
#[derive(Clone, Debug)]
pub struct Installer<'a> {
    pub environment: &'a Environment,
    /// The folder of all layers; several environments and processes may share it.
    pub folder: PathBuf,
    /// Only what is there already.
    pub offline: bool,
    /// Ask again where the index had nothing to offer.
    pub retry: bool,
}

impl Installer<'_> {
    /// What has to be installed for these requirements, beside what the environment has.
    ///
    /// # Errors
    /// Python cannot be started, the cache cannot be written, or the user asked to stop. What the index or pip say
    /// against it is the inner result.
    pub fn resolve(&self, requirements: &[String]) -> Result<Result<Vec<Pin>, Refusal>, EnvironmentError> {
        if let Some(odd) = requirements.iter().find(|requirement| !resolution::names_a_distribution(requirement)) {
            let reason = format!("`{odd}` is no requirement by name and version");
            return Ok(Err(Refusal { reason, is_lasting: true }));
        }
        let place = resolution::place(&self.folder, self.environment, requirements);
        match resolution::kept(&place) {
            Some(Err(_)) if self.retry && !self.offline => {}
            Some(answer) => return Ok(answer),
            None if self.offline => return Ok(Err(offline())),
            None => {}
        }
        let lock = self.lock("resolution", &place)?;
        // Another process may have asked while this one waited: both have to go on with the same versions.
        if let Some(Ok(pins)) = resolution::kept(&place) {
            return Ok(Ok(pins));
        }
        let answer = resolution::ask(self.environment, requirements, &lock)?;
        resolution::keep(&place, requirements, &answer)?;
        Ok(answer)
    }

    /// The layer of a distribution, installed where it is not there yet.
    ///
    /// # Errors
    /// As [`Installer::resolve`].
    pub fn install(&self, pin: &Pin) -> Result<Result<Layer, Refusal>, EnvironmentError> {
        let folder = self.folder.join(name(pin));
        if let Some(layer) = existing(&folder) {
            return Ok(Ok(layer));
        }
        if self.offline {
            return Ok(Err(offline()));
        }
        let lock = self.lock("layer", &folder)?;
        // Another process may have made it while this one waited.
        if let Some(layer) = existing(&folder) {
            return Ok(Ok(layer));
        }
        let partial = tempfile::Builder::new().prefix("partial-").tempdir_in(&self.folder);
        let partial = partial.map_err(|source| io_error("make a folder in", &self.folder, source))?;
        let requirement = partial.path().join("requirement.txt");
        fs::write(&requirement, line(pin)).map_err(|source| io_error("write", &requirement, source))?;
        let target = partial.path().join(PACKAGES);
        let (file, to) = (requirement.to_string_lossy(), target.to_string_lossy());
        let arguments = ["install", "--no-deps", "--target", &to, "--requirement", &file];
        if let Outcome::Failed { output } = resolution::run(self.environment, &arguments, &lock)? {
            return Ok(Err(resolution::refusal(&output)?));
        }
        describe(pin, partial.path())?;
        if folder.exists() {
            // Something has damaged it: its description cannot be read.
            fs::remove_dir_all(&folder).map_err(|source| io_error("remove", &folder, source))?;
        }
        fs::rename(partial.path(), &folder).map_err(|source| io_error("put in place", &folder, source))?;
        // The folder has moved: there is nothing left for the guard to remove.
        let _ = partial.keep();
        Ok(Ok(existing(&folder).expect("it was described a moment ago")))
    }

    fn lock(&self, kind: &str, place: &Path) -> Result<fs::File, EnvironmentError> {
        let folder = self.folder.join("locks");
        fs::create_dir_all(&folder).map_err(|source| io_error("create", &folder, source))?;
        let stem = place.file_name().unwrap_or_default().to_string_lossy();
        install::lock(&folder.join(format!("{kind}-{stem}.lock")), &|_| {}, interrupt::flag())
    }
}

fn offline() -> Refusal {
    Refusal::passing("it is not in the cache, and --offline forbids to fetch it")
}

/// `pyyaml-6.0.3-b8bb0864c5a2`: of the same name and version there may be wheels for several Pythons.
fn name(pin: &Pin) -> String {
    let digest = pin.sha256.as_deref().unwrap_or("unstated");
    format!("{}-{}", stem(&pin.name, &pin.version), &digest[..digest.len().min(12)])
}

fn stem(distribution: &str, version: &str) -> String {
    format!("{}-{}", normalised(distribution), version.replace(['/', '\\'], "-"))
}

/// As pip reads it. With a digest it takes no other file than the one that was resolved to.
fn line(pin: &Pin) -> String {
    let digest = pin.sha256.as_ref().map(|digest| format!(" --hash=sha256:{digest}"));
    format!("{}=={}{}\n", pin.name, pin.version, digest.unwrap_or_default())
}

fn existing(folder: &Path) -> Option<Layer> {
    let description: Description = serde_json::from_slice(&fs::read(folder.join(DESCRIPTION)).ok()?).ok()?;
    Some(Layer { pin: description.pin, packages: description.packages, path: folder.join(PACKAGES) })
}

fn describe(pin: &Pin, folder: &Path) -> Result<(), EnvironmentError> {
    let packages = folder.join(PACKAGES);
    let entries = fs::read_dir(&packages).map_err(|source| io_error("list", &packages, source))?;
    let description = Description {
        pin: pin.clone(),
        packages: entries.flatten().filter_map(|entry| import_name(&entry.path())).collect(),
    };
    let text = serde_json::to_vec(&description).expect("names and versions are plain text");
    let path = folder.join(DESCRIPTION);
    fs::write(&path, text).map_err(|source| io_error("write", &path, source))
}

/// What a folder or file of installed packages is imported as.
fn import_name(path: &Path) -> Option<String> {
    let file = path.file_name()?.to_str()?;
    let name = match path.is_dir() {
        true => file,
        false if file.ends_with(".py") || file.ends_with(".so") => file.split('.').next()?,
        false => return None,
    };
    let is_name = name.chars().all(|letter| letter.is_alphanumeric() || letter == '_') && name != "__pycache__";
    is_name.then(|| name.to_owned())
}
