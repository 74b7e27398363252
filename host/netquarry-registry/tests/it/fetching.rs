//! Components from a server: what is refused, what is kept, and what is used again.

use std::fs;
use std::path::PathBuf;

use netquarry_registry::catalog::Network::{Offline, Online};
use netquarry_registry::digest::sha256;
use netquarry_registry::index::GoldenPack;
use netquarry_registry::location::Location;
use netquarry_registry::notice::Notice;
use netquarry_registry::settings::RegistrySettings;
use netquarry_registry::trust::Trust::AllowUnsigned;

use crate::server::{Answer, Server};
use crate::support::{GOLDEN, Project, component, is_error, nobody, publish_plain, request, settings, tamper};

/// A registry with one plugin, `shim-a` 1.0.0, that a server gives out.
struct Served {
    folder: tempfile::TempDir,
    server: Server,
    settings: [RegistrySettings; 1],
}

const COMPONENT: &str = "/plugins/shim-a/shim-a-1.0.0.wasm";

impl Served {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        publish_plain(folder.path(), "shim-a", "1.0.0");
        let server = Server::start(folder.path());
        let settings = [settings("acme", &server.url)];
        Self { folder, server, settings }
    }

    fn component(&self) -> Vec<u8> {
        component("shim-a 1.0.0")
    }

    fn cached(&self, project: &Project) -> PathBuf {
        project.cache.path().join("components").join(format!("{}.wasm", sha256(&self.component())))
    }
}

#[test]
fn a_component_is_fetched_once_and_then_used_offline() {
    let (served, project) = (Served::new(), Project::new());
    let add = |network| project.add(&served.settings, network, "shim-a", AllowUnsigned).unwrap();
    let (first, locked) = add(Online);
    assert_eq!(first, served.component());
    assert!(nobody(&locked));
    assert_eq!(fs::read(served.cached(&project)).unwrap(), first);
    assert_eq!(add(Online), (first.clone(), locked.clone()));
    assert_eq!(served.server.statuses(COMPONENT), [200]);
    assert_eq!(served.server.statuses("/registry.json"), [200, 304]);
    let before = served.server.seen().len();
    assert_eq!(add(Offline), (first.clone(), locked.clone()));
    let by_lock = project.with(&served.settings, Offline, |catalog| catalog.fetch_locked(&locked)).unwrap();
    assert_eq!(by_lock, first);
    assert_eq!(served.server.seen().len(), before, "nothing is asked offline");
}

#[test]
fn a_changed_index_is_sent_again() {
    let (served, project) = (Served::new(), Project::new());
    project.add(&served.settings, Online, "shim-a", AllowUnsigned).unwrap();
    publish_plain(served.folder.path(), "shim-a", "1.1.0");
    let (_, locked) = project.add(&served.settings, Online, "shim-a", AllowUnsigned).unwrap();
    assert_eq!(locked.version, "1.1.0");
    assert_eq!(served.server.statuses("/registry.json"), [200, 200]);
}

/// A cached index that is not what the entity tag was for is asked for anew.
#[test]
fn a_damaged_cached_index_is_not_revalidated() {
    let (served, project) = (Served::new(), Project::new());
    project.add(&served.settings, Online, "shim-a", AllowUnsigned).unwrap();
    for entry in fs::read_dir(project.cache.path().join("registries")).unwrap() {
        let path = entry.unwrap().path();
        if !path.to_string_lossy().ends_with(".etag.json") {
            fs::write(&path, "{").unwrap();
        }
    }
    let add = |network| project.add(&served.settings, network, "shim-a", AllowUnsigned);
    is_error(add(Offline), &["`acme`", "damaged there", "run once with it"]);
    add(Online).unwrap();
    assert_eq!(served.server.statuses("/registry.json"), [200, 200]);
    add(Offline).unwrap();
}

#[test]
fn offline_without_a_cache_says_what_is_missing() {
    let (served, project) = (Served::new(), Project::new());
    let add = |network| project.add(&served.settings, network, "shim-a", AllowUnsigned);
    is_error(add(Offline), &["`acme`", &served.server.url, "not in the cache", "network is not to be used"]);
    add(Online).unwrap();
    fs::remove_file(served.cached(&project)).unwrap();
    is_error(add(Offline), &["shim-a 1.0.0", &sha256(&served.component()), "not in the cache"]);
}

#[test]
fn a_damaged_cached_component_is_fetched_anew_or_refused() {
    let (served, project) = (Served::new(), Project::new());
    let add = |network| project.add(&served.settings, network, "shim-a", AllowUnsigned);
    add(Online).unwrap();
    let path = served.cached(&project);
    for damage in ["shorter", &"longer".repeat(100), std::str::from_utf8(&[b'x'; 54]).unwrap()] {
        fs::write(&path, damage).unwrap();
        is_error(add(Offline), &[&path.display().to_string(), "is damaged", "shim-a 1.0.0"]);
        project.notices.borrow_mut().clear();
        assert_eq!(add(Online).unwrap().0, served.component());
        assert_eq!(
            project.told(|notice| matches!(notice, Notice::DamagedCache { path: told, .. } if *told == path)),
            1
        );
        assert_eq!(fs::read(&path).unwrap(), served.component());
    }
}

/// Each answer to the request for the component, and what the error says. Nothing may be kept of any.
#[test]
fn answers_that_are_refused() {
    let whole = component("shim-a 1.0.0");
    let mut flipped = whole.clone();
    flipped[12] ^= 1;
    let longer = [whole.as_slice(), b"more"].concat();
    let cut = Answer { cut_at: Some(20), ..Answer::body(whole.clone()) };
    let endless = Answer { unmeasured: true, ..Answer::body(vec![0; 1 << 20]) };
    let ended_early = Answer { unmeasured: true, ..Answer::body(&whole[..20]) };
    let cases = [
        ("other bytes", Answer::body(flipped), "is pinned; do not use it"),
        ("fewer bytes", Answer::body(&whole[..20]), "it has 20 bytes"),
        ("more bytes", Answer::body(longer), "sends more than"),
        ("many bytes of unknown length", endless, "sends more than"),
        ("a broken transfer", cut, "the transfer broke off"),
        ("a transfer that ends early without a length", ended_early, "it has 20 bytes"),
        ("not found", Answer::status(404), "status 404"),
        ("forbidden", Answer::status(403), "status 403"),
        ("broken server", Answer::status(500), "status 500"),
        ("a redirection to http", Answer::redirect("http://example.invalid/a.wasm"), "which is not https"),
        ("a redirection to a file", Answer::redirect("file:///etc/passwd"), "status 302"),
        ("a redirection in circles", Answer::redirect(COMPONENT), "circles"),
    ];
    for (case, answer, error) in cases {
        let (served, project) = (Served::new(), Project::new());
        served.server.set(COMPONENT, answer);
        let result = project.add(&served.settings, Online, "shim-a", AllowUnsigned);
        let found = result.err().unwrap_or_else(|| panic!("{case} is accepted"));
        for part in [error, "shim-a 1.0.0", &served.server.url] {
            assert!(found.contains(part), "{case}: {part:?} is not in {found:?}");
        }
        assert!(!project.cache.path().join("components").exists(), "{case}: something was kept");
    }
}

#[test]
fn what_may_pass_is_tried_again() {
    let (served, project) = (Served::new(), Project::new());
    for path in ["/registry.json", COMPONENT] {
        served.server.set(path, Answer { times: Some(1), ..Answer::status(503) });
    }
    project.add(&served.settings, Online, "shim-a", AllowUnsigned).unwrap();
    assert_eq!(served.server.statuses(COMPONENT), [503, 200]);
    assert_eq!(project.told(|notice| matches!(notice, Notice::Retrying { .. })), 2);
}

#[test]
fn a_redirection_on_this_machine_is_followed() {
    let (served, project) = (Served::new(), Project::new());
    served.server.set("/there.wasm", Answer::body(served.component()));
    served.server.set(COMPONENT, Answer::redirect(&format!("{}/there.wasm", served.server.url)));
    project.add(&served.settings, Online, "shim-a", AllowUnsigned).unwrap();
    assert_eq!(served.server.statuses("/there.wasm"), [200]);
}

#[test]
fn urls_absolute_and_relative() {
    let (served, project) = (Served::new(), Project::new());
    served.server.set("/elsewhere/a.wasm", Answer::body(served.component()));
    for location in [format!("{}/elsewhere/a.wasm", served.server.url), "elsewhere/a.wasm".to_owned()] {
        let _ = fs::remove_dir_all(project.cache.path());
        tamper(served.folder.path(), |index| {
            index.plugins.get_mut("shim-a").unwrap().versions[0].location = Location::Https(location.clone());
        });
        assert_eq!(project.add(&served.settings, Online, "shim-a", AllowUnsigned).unwrap().0, served.component());
    }
    assert_eq!(served.server.statuses("/elsewhere/a.wasm"), [200, 200]);
    let local = [settings("acme", &served.folder.path().display().to_string())];
    let other = Project::new();
    is_error(other.add(&local, Online, "shim-a", AllowUnsigned), &["relative to a URL", "registry.json"]);
}

#[test]
fn the_golden_pack_is_fetched_by_its_own_digest() {
    let (served, project) = (Served::new(), Project::new());
    let golden = |network| {
        project.with(&served.settings, network, |catalog| {
            let resolved = catalog.resolve(&request("shim-a")).unwrap();
            catalog.fetch_golden(&resolved).map_err(|error| error.to_string())
        })
    };
    assert_eq!(golden(Online).unwrap().as_deref(), Some(GOLDEN));
    assert_eq!(golden(Offline).unwrap().as_deref(), Some(GOLDEN));
    tamper(served.folder.path(), |index| {
        let golden = &mut index.plugins.get_mut("shim-a").unwrap().versions[0].golden;
        let GoldenPack { size, location, .. } = golden.clone().unwrap();
        *golden = Some(GoldenPack { sha256: sha256(b"another"), size, location });
    });
    is_error(golden(Online), &["the golden pack of shim-a 1.0.0", "is pinned"]);
}

/// A registry that has changed the expected outputs of a locked version would have a machine found fault with for nothing.
#[test]
fn the_golden_pack_of_a_locked_version_is_the_one_that_was_locked() {
    let (served, project) = (Served::new(), Project::new());
    let (_, locked) = project.add(&served.settings, Online, "shim-a", AllowUnsigned).unwrap();
    let entry = || {
        project.with(&served.settings, Online, |catalog| {
            catalog.entry(&locked).map(|(_, resolved)| resolved.golden.is_some()).map_err(|error| error.to_string())
        })
    };
    assert_eq!(entry(), Ok(true));
    for other in [Some("0".repeat(64)), None] {
        tamper(served.folder.path(), |index| {
            let version = &mut index.plugins.get_mut("shim-a").unwrap().versions[0];
            let golden = version.golden.take();
            version.golden = golden.zip(other.clone()).map(|(golden, sha256)| GoldenPack { sha256, ..golden });
        });
        let found = other.as_deref().unwrap_or("none");
        is_error(entry(), &["another golden pack of shim-a 1.0.0", found, locked.golden.as_deref().unwrap()]);
    }
}

#[test]
fn an_index_that_is_no_index_is_not_kept() {
    let (served, project) = (Served::new(), Project::new());
    project.add(&served.settings, Online, "shim-a", AllowUnsigned).unwrap();
    served.server.set("/registry.json", Answer::body("<html>Sign in to the network</html>"));
    is_error(
        project.add(&served.settings, Online, "shim-a", AllowUnsigned),
        &["`acme`", &served.server.url, "registry.json:1:1: this is not JSON"],
    );
    project.add(&served.settings, Offline, "shim-a", AllowUnsigned).expect("the good one is still there");
}

/// Paths that lead out of the registry's folder, by text or by a link.
#[cfg(unix)]
#[test]
fn a_file_outside_of_the_folder_is_not_read() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("registry");
    publish_plain(&folder, "shim-a", "1.0.0");
    let settings = [settings("acme", &folder.display().to_string())];
    let inside = folder.join(&COMPONENT[1..]);
    let outside = outer.path().join("outside.wasm");
    fs::rename(&inside, &outside).unwrap();
    std::os::unix::fs::symlink(&outside, &inside).unwrap();
    let add = || Project::new().add(&settings, Online, "shim-a", AllowUnsigned);
    is_error(add(), &["shim-a 1.0.0", "is a link out of the registry's folder"]);
    tamper(&folder, |index| {
        let version = &mut index.plugins.get_mut("shim-a").unwrap().versions[0];
        version.location = Location::File("../outside.wasm".to_owned());
    });
    is_error(add(), &["plugins.shim-a.versions[0].location", "leads out of the folder"]);
    // A link that stays inside is a file like any other.
    tamper(&folder, |index| {
        let version = &mut index.plugins.get_mut("shim-a").unwrap().versions[0];
        version.location = Location::File("link.wasm".to_owned());
    });
    fs::remove_file(&inside).unwrap();
    fs::rename(&outside, &inside).unwrap();
    std::os::unix::fs::symlink(&inside, folder.join("link.wasm")).unwrap();
    add().expect("it lies inside");
}
