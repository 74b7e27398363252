//! `netquarry plugin build [DIR]`

use std::fs;

use serde::Serialize;

use super::component;
use crate::arguments::PluginBuildArguments;
use crate::authoring::build;
use crate::authoring::project::Project;
use crate::commands::Ending;
use crate::configuration::Settings;
use crate::console::{Console, Format};
use crate::problem::Problem;
use crate::quantity::human_bytes;

#[derive(Serialize)]
struct Built<'a> {
    name: &'a str,
    version: &'a str,
    kind: &'static str,
    path: &'a std::path::Path,
    sha256: &'a str,
    bytes: u64,
}

pub(super) fn build(
    arguments: &PluginBuildArguments,
    settings: &Settings,
    console: &Console,
) -> Result<Ending, Problem> {
    let project = Project::open(&arguments.folder)?;
    let built = build::build(&project, &settings.cache_dir, arguments.offline, console)?;
    let path = match &arguments.output {
        Some(output) => {
            component::copy(&built, output)?;
            output.clone()
        }
        None => built,
    };
    let plugin = component::load(&path, settings)?;
    let bytes = fs::metadata(&path).map_err(|error| Problem::io("read", &path, error))?.len();
    let identity = plugin.identity();
    match console.format {
        Format::Json => console.print_json(&Built {
            name: &identity.name,
            version: &identity.version,
            kind: plugin.description().kind.name(),
            path: &path,
            sha256: &identity.digest,
            bytes,
        })?,
        Format::Human => console.status(
            "Built",
            &format!("{} {}, {}: {}", identity.name, identity.version, human_bytes(bytes), path.display()),
        ),
    }
    Ok(Ending::Done)
}
