//! The cache of compiled components: what it saves, what it refuses, and who may use it at once.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::thread;

use netquarry_plugin::{HostOptions, PluginHost, first_party};
use serde_json::json;
use tempfile::TempDir;

use crate::support::module_class;

fn host(folder: &Path) -> PluginHost {
    let compiled_cache = Some(folder.to_owned());
    PluginHost::new(HostOptions { compiled_cache, ..HostOptions::default() }).expect("this machine can run plugins")
}

fn component() -> &'static [u8] {
    let component = first_party().iter().find(|component| component.name == "discover-nn-module");
    component.expect("it is embedded").bytes
}

/// Loads the component in a host of its own and lets it work.
fn use_plugin(folder: &Path) {
    let plugin = host(folder).load(component()).expect("a first-party component loads");
    let rule = plugin.discovery_rule(&json!({})).expect("it accepts an empty configuration");
    assert_eq!(rule.discover(&[module_class("Class")]).proposals.len(), 1);
}

/// The compiled files, and nothing beside them.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("it can be read").path()).collect();
    files.sort();
    files
}

#[test]
fn the_second_time_a_component_is_not_compiled() {
    let folder = TempDir::new().expect("there is room");
    let cache = folder.path().join("plugins");
    use_plugin(&cache);
    let [file] = &files(&cache)[..] else { panic!("one file is kept") };
    let written = fs::metadata(file).expect("it is there").modified().expect("it has a time");
    use_plugin(&cache);
    assert_eq!(fs::metadata(file).expect("it is there").modified().expect("it has a time"), written);
}

#[test]
fn a_damaged_file_is_made_anew() {
    let folder = TempDir::new().expect("there is room");
    let cache = folder.path().join("plugins");
    use_plugin(&cache);
    let file = files(&cache).remove(0);
    let whole = fs::read(&file).expect("it can be read");
    // In the head, in the digest, in the code, at the end, and cut off.
    for position in [0, 20, whole.len() / 2, whole.len() - 1] {
        let mut damaged = whole.clone();
        damaged[position] ^= 1;
        fs::write(&file, damaged).expect("it can be written");
        use_plugin(&cache);
        assert_eq!(fs::read(&file).expect("it can be read").len(), whole.len());
    }
    for length in [0, 7, 30, whole.len() - 1] {
        fs::write(&file, &whole[..length]).expect("it can be written");
        use_plugin(&cache);
        assert_eq!(fs::read(&file).expect("it can be read").len(), whole.len());
    }
}

#[test]
fn a_file_does_not_stand_for_another_component() {
    let folder = TempDir::new().expect("there is room");
    let cache = folder.path().join("plugins");
    let other = first_party().iter().find(|component| component.name == "shim-timm").expect("it is embedded");
    host(&cache).load(other.bytes).expect("a first-party component loads");
    let of_other = files(&cache).remove(0);
    use_plugin(&cache);
    let own = files(&cache).into_iter().find(|file| *file != of_other).expect("it was kept");
    fs::copy(&of_other, &own).expect("it can be written");
    use_plugin(&cache);
}

#[cfg(unix)]
#[test]
fn what_others_can_write_is_not_loaded() {
    use std::os::unix::fs::PermissionsExt;

    let folder = TempDir::new().expect("there is room");
    let cache = folder.path().join("plugins");
    use_plugin(&cache);
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode(&cache), 0o700);
    let file = files(&cache).remove(0);
    assert_eq!(mode(&file), 0o600);

    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).expect("the mode can be changed");
    use_plugin(&cache);
    assert_eq!(mode(&file), 0o600, "it was written anew");

    fs::set_permissions(&cache, fs::Permissions::from_mode(0o777)).expect("the mode can be changed");
    fs::remove_file(&file).expect("it can be removed");
    use_plugin(&cache);
    assert!(files(&cache).is_empty(), "nothing is kept in such a folder");
}

#[cfg(unix)]
#[test]
fn a_link_is_not_followed() {
    let folder = TempDir::new().expect("there is room");
    let cache = folder.path().join("plugins");
    use_plugin(&cache);
    let file = files(&cache).remove(0);
    let elsewhere = folder.path().join("elsewhere");
    fs::rename(&file, &elsewhere).expect("it can be moved");
    std::os::unix::fs::symlink(&elsewhere, &file).expect("links can be made");
    use_plugin(&cache);
    assert!(fs::symlink_metadata(&file).expect("it is there").is_file(), "the link was replaced");
}

#[test]
fn many_may_use_one_folder_at_once() {
    let folder = TempDir::new().expect("there is room");
    let cache = folder.path().join("plugins");
    let start = Barrier::new(4);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                start.wait();
                use_plugin(&cache);
            });
        }
    });
    assert_eq!(files(&cache).len(), 1, "no unfinished file is left");
}

#[test]
fn without_a_usable_folder_plugins_are_compiled() {
    let folder = TempDir::new().expect("there is room");
    let occupied = folder.path().join("file");
    fs::write(&occupied, "not a folder").expect("there is room");
    use_plugin(&occupied);
}
