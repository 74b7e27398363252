//! Mirrors: asked where the registry does not answer, and believed no more than it.

use std::fs;

use netquarry_registry::catalog::Network::{Offline, Online};
use netquarry_registry::notice::Notice;
use netquarry_registry::settings::RegistrySettings;
use netquarry_registry::trust::Trust::AllowUnsigned;

use crate::server::{Answer, Server, dead_url};
use crate::support::{Project, component, is_error, publish_plain, settings};

fn with_mirror(location: &str, mirror: &str) -> [RegistrySettings; 1] {
    [RegistrySettings { mirrors: vec![mirror.to_owned()], ..settings("acme", location) }]
}

fn told_of_another_place(project: &Project) -> usize {
    project.told(|notice| matches!(notice, Notice::Elsewhere { .. }))
}

#[test]
fn a_mirror_stands_in_for_a_dead_primary() {
    let folder = tempfile::tempdir().unwrap();
    publish_plain(folder.path(), "shim-a", "1.0.0");
    let server = Server::start(folder.path());
    let project = Project::new();
    let settings = with_mirror(&dead_url(), &server.url);
    let (bytes, locked) = project.add(&settings, Online, "shim-a", AllowUnsigned).unwrap();
    assert_eq!(bytes, component("shim-a 1.0.0"));
    assert_eq!(locked.registry, "acme");
    assert_eq!(told_of_another_place(&project), 2, "once for the index, once for the component");
    project.add(&settings, Offline, "shim-a", AllowUnsigned).expect("the mirror's index is in the cache");
}

#[test]
fn a_mirror_has_a_component_that_the_primary_lost_or_changed() {
    for answer in [Answer::status(404), Answer::body("another component")] {
        let folder = tempfile::tempdir().unwrap();
        publish_plain(folder.path(), "shim-a", "1.0.0");
        let (primary, mirror) = (Server::start(folder.path()), Server::start(folder.path()));
        primary.set("/plugins/shim-a/shim-a-1.0.0.wasm", answer);
        let project = Project::new();
        let (bytes, _) = project.add(&with_mirror(&primary.url, &mirror.url), Online, "shim-a", AllowUnsigned).unwrap();
        assert_eq!(bytes, component("shim-a 1.0.0"));
        assert_eq!(mirror.statuses("/registry.json"), [0; 0], "the primary's index is there");
        assert_eq!(told_of_another_place(&project), 1);
    }
}

#[test]
fn a_mirror_with_other_bytes_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    publish_plain(folder.path(), "shim-a", "1.0.0");
    let (primary, mirror) = (Server::start(folder.path()), Server::start(folder.path()));
    let path = "/plugins/shim-a/shim-a-1.0.0.wasm";
    primary.set(path, Answer::status(404));
    mirror.set(path, Answer::body(component("shim-a 6.6.6")));
    is_error(
        Project::new().add(&with_mirror(&primary.url, &mirror.url), Online, "shim-a", AllowUnsigned),
        &["status 404", &primary.url, &mirror.url, "is pinned"],
    );
}

#[test]
fn where_nobody_answers_every_place_is_named() {
    let (first, second) = (dead_url(), dead_url());
    is_error(
        Project::new().add(&with_mirror(&first, &second), Online, "shim-a", AllowUnsigned),
        &["`acme` does not answer", &first, &second],
    );
}

#[test]
fn a_folder_is_a_mirror_too() {
    let folder = tempfile::tempdir().unwrap();
    publish_plain(folder.path(), "shim-a", "1.0.0");
    let project = Project::new();
    let settings = with_mirror(&dead_url(), &folder.path().display().to_string());
    project.add(&settings, Offline, "shim-a", AllowUnsigned).expect("it needs no network");
    assert!(!project.cache.path().join("components").exists(), "what lies in a folder is not copied");
    fs::remove_dir_all(folder.path().join("plugins")).unwrap();
    is_error(project.add(&settings, Offline, "shim-a", AllowUnsigned), &["shim-a-1.0.0.wasm"]);
}
