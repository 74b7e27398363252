//! The registry that is part of the program.

use std::path::Path;

use netquarry_plugin::{HostOptions, PluginHost, first_party, first_party_registry};
use netquarry_registry::catalog::Network;
use netquarry_registry::parse::parse_first_party;
use netquarry_registry::trust::{Trust, Voucher};

use crate::support::Project;

#[test]
fn every_component_loads_and_is_what_the_registry_says() {
    let compiled_cache = Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("plugins"));
    let host = PluginHost::new(HostOptions { compiled_cache, ..HostOptions::default() })
        .expect("this machine can run plugins");
    let registry = parse_first_party(first_party_registry(), "registry.json").expect("the registry is in its format");
    let embedded: Vec<&str> = first_party().iter().map(|component| component.name).collect();
    assert_eq!(registry.plugins.keys().map(String::as_str).collect::<Vec<_>>(), embedded);
    for component in first_party() {
        let plugin = host.load(component.bytes).expect("a first-party component loads");
        let listed = &registry.plugins[component.name];
        let newest = listed.versions.last().expect("it has a version");
        assert_eq!(plugin.description().name, component.name);
        assert_eq!(plugin.description().kind, listed.kind);
        assert_eq!(plugin.description().version, newest.version);
        assert!(newest.matches(component.bytes), "{}", component.name);
        assert!(!newest.matches(b"something else"));
    }
}

#[test]
fn its_text_in_the_repository_is_in_the_format_without_digests() {
    let text = include_str!("../../../../registry.json");
    let registry = parse_first_party(text, "registry.json").expect("it is in its format");
    assert!(registry.plugins.values().flat_map(|plugin| &plugin.versions).all(|version| version.pin().is_none()));
}

#[test]
fn what_is_embedded_needs_no_registry_network_or_signature() {
    let (component, locked) =
        Project::new().add(&[], Network::Offline, "dedup-exact", Trust::SignedOnly).expect("it is in the program");
    assert_eq!(locked.voucher, Voucher::BuiltIn);
    assert!(first_party().iter().any(|known| known.name == "dedup-exact" && known.bytes == component));
    assert_eq!(locked.registry, "netquarry");
}
