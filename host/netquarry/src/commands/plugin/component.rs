//! The component that a command is about.

use std::fs;
use std::path::{Path, PathBuf};

use netquarry_plugin::Plugin;

use crate::authoring::build;
use crate::authoring::cases::{NamedCase, fixtures};
use crate::authoring::project::Project;
use crate::configuration::Settings;
use crate::console::Console;
use crate::driver::plugins;
use crate::problem::Problem;

/// A component, with the source that it was built of where that is at hand.
pub(super) struct Component {
    pub(super) path: PathBuf,
    pub(super) plugin: Plugin,
    pub(super) project: Option<Project>,
}

/// The component at `path`; where that is a folder, the one that is built of the source in it.
pub(super) fn open(path: &Path, offline: bool, settings: &Settings, console: &Console) -> Result<Component, Problem> {
    if is_component(path) {
        return Ok(Component { path: path.to_owned(), plugin: load(path, settings)?, project: None });
    }
    let project = Project::open(path)?;
    let path = build::build(&project, &settings.cache_dir, offline, console)?;
    Ok(Component { plugin: load(&path, settings)?, path, project: Some(project) })
}

/// Whether this is a component, and not the folder with a source.
pub(super) fn is_component(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "wasm") && !path.is_dir()
}

/// The component in this file.
pub(super) fn load(path: &Path, settings: &Settings) -> Result<Plugin, Problem> {
    plugins::of_file(&plugins::host(settings)?, path)
}

/// Copies a component, be it onto itself: [`fs::copy`] would leave nothing of it.
pub(super) fn copy(from: &Path, to: &Path) -> Result<(), Problem> {
    let bytes = fs::read(from).map_err(|error| Problem::io("read", from, error))?;
    fs::write(to, bytes).map_err(|error| Problem::io("write", to, error))
}

impl Component {
    /// The examples that the component carries, and the fixtures beside its source.
    pub(super) fn cases(&self) -> Result<Vec<NamedCase>, Problem> {
        let examples = self.plugin.examples()?;
        let file = |name: &str| {
            let file = self.project.as_ref()?.examples().join(format!("{name}.json"));
            file.is_file().then_some(file)
        };
        let example = |example: netquarry_plugin::Example| {
            let file = file(&example.name);
            NamedCase::example(example.name, &example.document, file)
        };
        let mut cases = examples.into_iter().map(example).collect::<Result<Vec<_>, _>>()?;
        if let Some(project) = &self.project {
            cases.extend(fixtures(project, self.plugin.description().kind)?);
        }
        Ok(cases)
    }
}
