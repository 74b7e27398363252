//! A component in an OCI registry on loopback. It answers as far as pulling a layer by its digest goes.

use netquarry_registry::catalog::Network::{Offline, Online};
use netquarry_registry::digest::sha256;
use netquarry_registry::location::Location;
use netquarry_registry::settings::RegistrySettings;
use netquarry_registry::trust::Trust::AllowUnsigned;

use crate::server::{Answer, Server};
use crate::support::{Project, component, is_error, publish_plain, settings, tamper};

struct Served {
    _folder: tempfile::TempDir,
    oci: Server,
    blob: String,
    settings: [RegistrySettings; 1],
}

/// A local index whose one component lies in an OCI registry that answers so to the request for the layer.
fn served(layer: Answer) -> Served {
    let folder = tempfile::tempdir().unwrap();
    publish_plain(folder.path(), "shim-a", "1.0.0");
    let oci = Server::start(folder.path());
    let blob = format!("/v2/acme/plugins/shim-a/blobs/sha256:{}", sha256(&component("shim-a 1.0.0")));
    oci.set("/v2/", Answer::body("{}"));
    oci.set(&blob, layer);
    let host = oci.url.trim_start_matches("http://");
    tamper(folder.path(), |index| {
        let location = Location::Oci(format!("{host}/acme/plugins/shim-a:1.0.0"));
        index.plugins.get_mut("shim-a").unwrap().versions[0].location = location;
    });
    let settings = [settings("acme", &folder.path().display().to_string())];
    Served { _folder: folder, oci, blob, settings }
}

#[test]
fn a_layer_is_pulled_by_its_digest_once() {
    let bytes = component("shim-a 1.0.0");
    let (served, project) = (served(Answer::body(bytes.clone())), Project::new());
    for network in [Online, Online, Offline] {
        let (found, locked) = project.add(&served.settings, network, "shim-a", AllowUnsigned).unwrap();
        assert_eq!(found, bytes);
        assert!(matches!(locked.location, Location::Oci(_)));
    }
    assert_eq!(served.oci.statuses(&served.blob), [200]);
    let asked = served.oci.seen();
    assert!(asked.iter().all(|seen| seen.path == "/v2/" || seen.path == served.blob), "no tag is asked for: {asked:?}");
}

#[test]
fn layers_that_are_refused() {
    let bytes = component("shim-a 1.0.0");
    let mut flipped = bytes.clone();
    flipped[12] ^= 1;
    let cases = [
        ("other bytes", Answer::body(flipped), "digest"),
        ("more bytes", Answer::body([bytes.as_slice(), &[0; 1 << 16]].concat()), "more than the"),
        ("fewer bytes", Answer::body(&bytes[..20]), "digest"),
        (
            "a broken transfer",
            Answer { cut_at: Some(20), ..Answer::body(bytes.clone()) },
            "error decoding response body",
        ),
        ("not there", Answer::status(404), "404"),
    ];
    for (case, layer, error) in cases {
        let (served, project) = (served(layer), Project::new());
        let result = project.add(&served.settings, Online, "shim-a", AllowUnsigned);
        let found = result.err().unwrap_or_else(|| panic!("{case} is accepted"));
        assert!(found.contains(error) && found.contains("/acme/plugins/shim-a:1.0.0"), "{case}: {found}");
        assert!(!project.cache.path().join("components").exists(), "{case}: something was kept");
    }
}

#[test]
fn offline_nothing_is_pulled() {
    let (served, project) = (served(Answer::body(component("shim-a 1.0.0"))), Project::new());
    is_error(project.add(&served.settings, Offline, "shim-a", AllowUnsigned), &["shim-a 1.0.0", "not in the cache"]);
    assert_eq!(served.oci.seen(), []);
}
