//! The order of plugins in `netquarry.toml`, changed without a touch on anything else in the file.

use std::fs;
use std::path::PathBuf;

use netquarry_plugin::Kind;
use toml_edit::{Array, DocumentMut, Item, Table, value};

use super::shelf::list_of;
use crate::configuration::{FILE_NAME, Settings};
use crate::problem::Problem;

/// The configuration file of the project; the one that will be made, where there is none.
fn path(settings: &Settings) -> PathBuf {
    settings.configuration_path.clone().unwrap_or_else(|| settings.project_dir.join(FILE_NAME))
}

/// Has the plugin asked behind all others of its kind. Returns whether it was not so before.
pub(super) fn append(settings: &Settings, kind: Kind, name: &str) -> Result<bool, Problem> {
    let order = &settings.plugins;
    // A list that is written down takes the place of the default, so that all of that has to stand in it.
    let now: Vec<String> = match kind {
        Kind::DiscoveryRule => order.discover.clone(),
        Kind::RepoShim => order.shims.clone(),
        Kind::DedupStrategy => order.dedup.clone(),
        Kind::SpecEmitter => order.emit.clone(),
    };
    if now.iter().any(|listed| listed == name) {
        return Ok(false);
    }
    change(settings, |document| {
        let plugins = document.entry("plugins").or_insert_with(|| Item::Table(Table::new()));
        let list = &mut plugins[list_of(kind)];
        match list.as_array_mut() {
            Some(list) => list.push(name),
            None => *list = value(now.iter().map(String::as_str).chain([name]).collect::<Array>()),
        }
    })?;
    Ok(true)
}

/// Has the plugin asked no more. Returns whether it was.
pub(super) fn remove(settings: &Settings, name: &str) -> Result<bool, Problem> {
    let mut found = false;
    change(settings, |document| {
        let lists = document.get_mut("plugins").and_then(Item::as_table_like_mut);
        for (_, list) in lists.into_iter().flat_map(|lists| lists.iter_mut()) {
            let Some(list) = list.as_array_mut() else { continue };
            let before = list.len();
            list.retain(|listed| listed.as_str() != Some(name));
            found |= list.len() < before;
        }
    })?;
    Ok(found)
}

fn change(settings: &Settings, edit: impl FnOnce(&mut DocumentMut)) -> Result<(), Problem> {
    let path = path(settings);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(Problem::io("read the configuration file", &path, error)),
    };
    let unreadable = |error: toml_edit::TomlError| {
        Problem::new(format!("The configuration file `{}` cannot be changed", path.display())).because(error)
    };
    let mut document: DocumentMut = text.parse().map_err(unreadable)?;
    edit(&mut document);
    let changed = document.to_string();
    if changed == text {
        return Ok(());
    }
    fs::write(&path, changed).map_err(|error| Problem::io("write the configuration file", &path, error))
}
