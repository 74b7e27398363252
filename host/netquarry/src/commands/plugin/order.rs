//! The order of plugins and what they are granted, in `netquarry.toml`, changed without a touch on anything else in the file.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use netquarry_plugin::{Kind, Permission};
use tempfile::NamedTempFile;
use toml_edit::{Array, DocumentMut, Item, Table, Value, value};

use super::shelf::list_of;
use crate::configuration::{DEFAULTS, FILE_NAME, PluginOrder, Settings};
use crate::problem::Problem;

/// The configuration file of the project while it is changed: nothing is written before [`Edit::write`].
pub(super) struct Edit {
    path: PathBuf,
    text: String,
    document: DocumentMut,
}

impl Edit {
    /// Begins with the file as it is; with nothing where there is none.
    pub(super) fn begin(settings: &Settings) -> Result<Self, Problem> {
        let path = settings.configuration_path.clone().unwrap_or_else(|| settings.project_dir.join(FILE_NAME));
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(Problem::io("read the configuration file", &path, error)),
        };
        let unreadable = |error: toml_edit::TomlError| {
            Problem::new(format!("The configuration file `{}` cannot be changed", path.display())).because(error)
        };
        let document: DocumentMut = text.parse().map_err(unreadable)?;
        Ok(Self { path, text, document })
    }

    /// Has the plugin asked behind all others of its kind. Returns whether it was not so before.
    pub(super) fn append(&mut self, kind: Kind, name: &str) -> bool {
        let defaults = PluginOrder::default();
        let defaults = match kind {
            Kind::DiscoveryRule => &defaults.discover,
            Kind::RepoShim => &defaults.shims,
            Kind::DedupStrategy => &defaults.dedup,
            Kind::SpecEmitter => &defaults.emit,
        };
        let is_default = defaults.iter().any(|default| default == name);
        let plugins = self.document.entry("plugins").or_insert_with(|| Item::Table(implicit()));
        let list = &mut plugins[list_of(kind)];
        let is_asked = match list.as_array() {
            Some(list) => list.iter().filter_map(Value::as_str).any(|it| it == name || (it == DEFAULTS && is_default)),
            None => is_default,
        };
        if is_asked {
            return false;
        }
        match list.as_array_mut() {
            Some(list) => list.push(name),
            None => *list = value([DEFAULTS, name].into_iter().collect::<Array>()),
        }
        true
    }

    /// Grants the plugin what it is not granted yet.
    pub(super) fn grant(&mut self, name: &str, missing: &[Permission]) {
        let grants = self.document.entry("grants").or_insert_with(|| Item::Table(implicit()));
        for Permission { right, .. } in missing {
            let of_plugin = grants.as_table_like_mut().map(|grants| grants.entry(name).or_insert_with(table));
            let Some(list) = of_plugin.map(|of_plugin| &mut of_plugin[right.name()]) else { continue };
            if !list.is_array() {
                *list = value(Array::new());
            }
            let granted = list.as_array_mut().expect("it is one now");
            if !granted.iter().any(|scope| scope.as_str() == Some(right.scope())) {
                granted.push(right.scope());
            }
        }
    }

    /// Has the plugin asked no more, and granted nothing. Returns whether it was either.
    pub(super) fn remove(&mut self, name: &str) -> bool {
        let grants = self.document.get_mut("grants").and_then(Item::as_table_like_mut);
        let mut found = grants.is_some_and(|grants| grants.remove(name).is_some());
        let lists = self.document.get_mut("plugins").and_then(Item::as_table_like_mut);
        for (_, list) in lists.into_iter().flat_map(|lists| lists.iter_mut()) {
            let Some(list) = list.as_array_mut() else { continue };
            let before = list.len();
            list.retain(|listed| listed.as_str() != Some(name));
            found |= list.len() < before;
        }
        found
    }

    /// Writes the file, in one step, where anything has changed.
    pub(super) fn write(self) -> Result<(), Problem> {
        let changed = self.document.to_string();
        if changed == self.text {
            return Ok(());
        }
        write_whole(&self.path, &changed)
            .map_err(|error| Problem::io("write the configuration file", &self.path, error))
    }
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

/// Whoever reads at the same time sees the old text or the new. What a link leads to is changed, and keeps its permissions.
fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let permissions = match fs::metadata(path) {
        Ok(metadata) => metadata.permissions(),
        // There is nothing yet that could be left half-written.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return fs::write(path, text),
        Err(error) => return Err(error),
    };
    let real = fs::canonicalize(path)?;
    let mut file = NamedTempFile::new_in(real.parent().expect("a file lies in a folder"))?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(permissions)?;
    file.as_file().sync_all()?;
    file.persist(&real).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_is_ordered_once_by_what_the_file_says_now() {
        let appended = |text: &str, name: &str| {
            let mut edit = Edit { path: PathBuf::new(), document: text.parse().unwrap(), text: text.to_owned() };
            let is_new = edit.append(Kind::SpecEmitter, name);
            (is_new, edit.document.to_string())
        };
        let (is_new, text) = appended("", "mine");
        assert_eq!((is_new, text.as_str()), (true, "[plugins]\nemit = [\"...\", \"mine\"]\n"));
        assert!(!appended(&text, "mine").0, "it is there");
        assert!(!appended(&text, "emit-neutral-spec").0, "it is one of the defaults");
        assert!(!appended("", "emit-neutral-spec").0, "likewise");
        assert!(appended("[plugins]\nemit = [\"mine\"]\n", "emit-neutral-spec").0, "the list leaves the defaults out");
    }

    fn edit(path: &Path, change: impl FnOnce(&mut Edit)) {
        let text = fs::read_to_string(path).unwrap();
        let mut edit = Edit { path: path.to_owned(), document: text.parse().unwrap(), text };
        change(&mut edit);
        edit.write().unwrap();
    }

    #[test]
    fn a_plugin_goes_with_all_that_it_was_granted_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE_NAME);
        let kept = "# Ours.\n[plugins]\nshims = [\"...\"]\n\n[grants.other]\nread-files = [\"*.yaml\"]\n";
        let with = kept.replace("\"...\"", "\"...\", \"mine\"") + "\n[grants.mine]\nread-files = [\"*.json\"]\n";
        fs::write(&path, with).unwrap();
        edit(&path, |edit| {
            assert!(edit.remove("mine"));
            assert!(!edit.remove("mine"), "it is gone");
        });
        assert_eq!(fs::read_to_string(&path).unwrap(), kept);
        fs::write(&path, "[grants.mine]\nread-files = [\"*.json\"]\n").unwrap();
        edit(&path, |edit| assert!(edit.remove("mine"), "a grant alone counts too"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_one_and_a_file_keeps_its_permissions() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real.toml"), folder.path().join(FILE_NAME));
        fs::write(&real, "[plugins]\nshims = [\"mine\"]\n").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&real, &link).unwrap();
        edit(&link, |edit| assert!(edit.remove("mine")));
        assert_eq!(fs::read_to_string(&real).unwrap(), "[plugins]\nshims = []\n");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing half-made is left");
    }
}
