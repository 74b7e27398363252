//! The registry that is part of the program.

use std::fs;
use std::path::Path;

use netquarry_plugin::cases::{Case, GoldenPack, differences};
use netquarry_plugin::{Example, HostOptions, Plugin, PluginHost, first_party, first_party_registry};
use netquarry_registry::catalog::Network;
use netquarry_registry::digest::Pin;
use netquarry_registry::index::GoldenPack as IndexedPack;
use netquarry_registry::location::Location;
use netquarry_registry::parse::parse_first_party;
use netquarry_registry::trust::{Trust, Voucher};
use serde_json::Value;

use crate::support::{Project, request};

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

/// The pack of a plugin holds its examples, the registry pins the pack, and the plugin answers as the pack says: what a
/// plugin does cannot change unseen. Where `NETQUARRY_BLESS` is set, packs and pins are written anew; the next build has them.
#[test]
fn every_golden_pack_is_pinned_and_holds() {
    let compiled_cache = Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("plugins"));
    let host = PluginHost::new(HostOptions { compiled_cache, ..HostOptions::default() })
        .expect("this machine can run plugins");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("registry.json")).expect("it is in the repository");
    let mut registry = parse_first_party(&text, "registry.json").expect("it is in its format");
    let is_blessing = std::env::var_os("NETQUARRY_BLESS").is_some();
    for component in first_party() {
        let plugin = host.load(component.bytes).expect("a first-party component loads");
        let cases = examples(&plugin).into_iter().map(|(name, case)| {
            let output = case.run(&plugin).unwrap_or_else(|error| panic!("{name}: {error}")).output;
            (format!("example-{name}"), Case { output, ..case })
        });
        let pack = GoldenPack::of(&plugin, cases.collect());
        let listed = registry.plugins.get_mut(component.name).expect("the registry lists it");
        let newest = listed.versions.last_mut().expect("it has a version");
        let pin = Pin::of(pack.text().as_bytes());
        let location = Location::Embedded(component.name.to_owned());
        let golden = IndexedPack { sha256: pin.sha256, size: pin.size, location };
        if is_blessing {
            let folder = root.join(listed.folder.as_deref().expect("its source lies in the repository"));
            fs::write(folder.join("golden.json"), pack.text()).expect("it can be written");
            newest.golden = Some(golden);
            continue;
        }
        let bless = "look at what changed, and bless it with NETQUARRY_BLESS=1";
        let found =
            GoldenPack::read(component.golden.unwrap_or_else(|| panic!("{} has no pack: {bless}", component.name)));
        let found = found.unwrap_or_else(|error| panic!("{}: {error}", component.name));
        for (name, case) in &pack.cases {
            let expected = found.cases.get(name).map(|case| &case.output).unwrap_or(&Value::Null);
            let differences = differences(expected, &case.output);
            assert!(differences.is_empty(), "{name} of {}: {differences:#?}; {bless}", component.name);
        }
        assert!(found == pack, "the pack of {} has other inputs than its examples: {bless}", component.name);
        assert_eq!(
            newest.golden.as_ref(),
            Some(&golden),
            "registry.json pins another pack of {}: {bless}",
            component.name
        );
    }
    if is_blessing {
        fs::write(root.join("registry.json"), registry.to_json()).expect("it can be written");
    }
}

fn examples(plugin: &Plugin) -> Vec<(String, Case)> {
    let examples = plugin.examples().expect("it shows them");
    let read = |example: Example| {
        let case = Case::read(&example.document).unwrap_or_else(|error| panic!("{}: {error}", example.name));
        (example.name, case)
    };
    examples.into_iter().map(read).collect()
}

#[test]
fn its_golden_packs_are_in_the_program() {
    Project::new().with(&[], Network::Offline, |catalog| {
        for component in first_party() {
            let resolved = catalog.resolve(&request(component.name)).expect("it is in the program");
            let pack = catalog.fetch_golden(&resolved).expect("it is what the registry says");
            assert_eq!(pack.as_deref(), component.golden.map(str::as_bytes));
        }
    });
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
