//! The components that are built with the host.

use netquarry_plugin::{Kind, Registry, first_party, first_party_registry};
use serde_json::json;

use crate::support::{embedded, host, module_class};

#[test]
fn every_component_loads_and_is_what_the_registry_says() {
    let host = host();
    let registry: Registry = serde_json::from_str(first_party_registry()).expect("the registry is in its format");
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
    }
}

#[test]
fn a_rule_discovers() {
    let plugin = embedded(&host(), "discover-nn-module");
    assert_eq!(plugin.description().kind, Kind::DiscoveryRule);
    let rule = plugin.discovery_rule(&json!({})).expect("it accepts an empty configuration");
    let mut classes = [module_class("First"), module_class("Second"), module_class("Third")];
    classes[1].methods.clear();
    let discovery = rule.discover(&classes);
    assert!(discovery.failures.is_empty(), "{:?}", discovery.failures);
    let names: Vec<&str> = discovery.proposals.iter().map(|proposal| proposal.qualified_name.as_str()).collect();
    assert_eq!(names, ["package.module.First", "package.module.Third"]);
}
