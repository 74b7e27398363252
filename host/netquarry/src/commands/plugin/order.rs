//! The order of plugins and what they are granted, in `netquarry.toml`, changed without a touch on anything else in the file.

use std::fs;
use std::path::PathBuf;

use netquarry_plugin::{Kind, Permission};
use toml_edit::{Array, DocumentMut, Item, Table, value};

use super::shelf::list_of;
use crate::configuration::{DEFAULTS, FILE_NAME, Settings};
use crate::problem::Problem;

/// The configuration file of the project; the one that will be made, where there is none.
fn path(settings: &Settings) -> PathBuf {
    settings.configuration_path.clone().unwrap_or_else(|| settings.project_dir.join(FILE_NAME))
}

/// Has the plugin asked behind all others of its kind. Returns whether it was not so before.
pub(super) fn append(settings: &Settings, kind: Kind, name: &str) -> Result<bool, Problem> {
    let order = &settings.plugins;
    let now = match kind {
        Kind::DiscoveryRule => &order.discover,
        Kind::RepoShim => &order.shims,
        Kind::DedupStrategy => &order.dedup,
        Kind::SpecEmitter => &order.emit,
    };
    if now.iter().any(|listed| listed == name) {
        return Ok(false);
    }
    change(settings, |document| {
        let plugins = document.entry("plugins").or_insert_with(|| Item::Table(Table::new()));
        let list = &mut plugins[list_of(kind)];
        match list.as_array_mut() {
            Some(list) => list.push(name),
            None => *list = value([DEFAULTS, name].into_iter().collect::<Array>()),
        }
    })?;
    Ok(true)
}

/// Grants the plugin what it is not granted yet.
pub(super) fn grant(settings: &Settings, name: &str, missing: &[Permission]) -> Result<(), Problem> {
    change(settings, |document| {
        let grants = document.entry("grants").or_insert_with(|| Item::Table(implicit()));
        for Permission { right, .. } in missing {
            let of_plugin = grants.as_table_like_mut().map(|grants| grants.entry(name).or_insert_with(table));
            let list = of_plugin.map(|of_plugin| &mut of_plugin[right.name()]);
            match list {
                Some(list) if list.is_array() => list.as_array_mut().expect("it is one").push(right.scope()),
                Some(list) => *list = value([right.scope()].into_iter().collect::<Array>()),
                None => {}
            }
        }
    })
}

fn table() -> Item {
    Item::Table(Table::new())
}

/// A table whose own heading is not written.
fn implicit() -> Table {
    let mut table = Table::new();
    table.set_implicit(true);
    table
}

/// Has the plugin asked no more, and granted nothing. Returns whether it was asked.
pub(super) fn remove(settings: &Settings, name: &str) -> Result<bool, Problem> {
    let mut found = false;
    change(settings, |document| {
        if let Some(grants) = document.get_mut("grants").and_then(Item::as_table_like_mut) {
            grants.remove(name);
        }
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
