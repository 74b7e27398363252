//! The components that are built with the host, each kind through the border and back.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use netquarry_core::dedup::{BlockSet, BlockSummary, Code};
use netquarry_core::dynamic::{CodeIndex, DefinitionSummary, DynamicAnswer, DynamicQuestion};
use netquarry_core::fingerprint::archive::Forgetful;
use netquarry_core::fingerprint::blocks::CodeBlocks;
use netquarry_core::fingerprint::shelf::InMemory;
use netquarry_core::syntax::PARSER_STACK_BYTES;
use netquarry_plugin::{ConfigureError, DedupStrategy, Kind, NoFiles, SourceFiles, first_party};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use wit_component::ComponentEncoder;

use crate::sections;
use crate::support::{embedded, emitted, host, module_class, record};

/// What the documentation of the SDK has the author of a plugin do, without anything of this crate.
#[test]
fn a_module_becomes_a_plugin_by_the_documented_steps() {
    let documentation = include_str!("../../../../sdk/rust/src/lib.rs");
    let quoted = |step: &str| {
        let rest = documentation.split_once(step).expect("a step").1;
        rest.split_once('\'').expect("its argument ends").0
    };
    let deleted = quoted("wasm-tools strip --delete '");
    let stamp = quoted("printf '").replace(r"\032", "\x1a").replace(r"\024", "\x14").replace(r"\0", "\0");
    let host = host();
    for name in ["discover-nn-module", "shim-torchvision", "dedup-exact", "emit-neutral-spec"] {
        let file = format!("guests/wasm32-unknown-unknown/component/{}.wasm", name.replace('-', "_"));
        let module = fs::read(Path::new(env!("OUT_DIR")).join(file)).expect("the build made it");
        let module = without_sections(&module, deleted);
        // `wasm-tools component new`
        let component = ComponentEncoder::default().module(&module).and_then(|encoder| encoder.validate(true).encode());
        let mut component = component.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        component.extend(stamp.as_bytes());
        let plugin = host.load(&component).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert_eq!(plugin.description().name, name);
    }
}

/// What `wasm-tools strip --delete` leaves: all but the custom sections in whose name the words stand.
fn without_sections(module: &[u8], words: &str) -> Vec<u8> {
    let mut kept = module[..sections::PREAMBLE_BYTES].to_vec();
    for section in sections::sections(module).expect("a module") {
        let name = section.custom.map(|(name, _)| String::from_utf8_lossy(name));
        if !name.is_some_and(|name| name.contains(words)) {
            kept.extend_from_slice(&module[section.range]);
        }
    }
    kept
}

#[test]
fn every_component_describes_its_configuration() {
    let host = host();
    for component in first_party() {
        let plugin = host.load(component.bytes).expect("a first-party component loads");
        assert_eq!(plugin.identity().digest, component.sha256);
        let description = plugin.description();
        let properties = description.configuration_schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            let is_described = property.get("description").is_some() || property.get("$ref").is_some();
            assert!(is_described, "{name} of {}", component.name);
        }
        assert_eq!(description.configuration_schema["additionalProperties"], false, "{}", component.name);
        assert!(!description.documentation.trim().is_empty());
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

#[test]
fn proposals_do_not_depend_on_threads_and_batches() {
    let plugin = embedded(&host(), "discover-nn-module-deep");
    let rule = plugin.discovery_rule(&json!({})).expect("it accepts an empty configuration");
    let mut classes: Vec<_> = (0..1500).map(|number| module_class(&format!("Conv{number}Attention"))).collect();
    for (number, class) in classes.iter_mut().enumerate() {
        class.module = format!("package.module{}", number / 70);
        class.methods.truncate(usize::from(number % 3 > 0));
    }
    let expected = rule.discover(&classes).proposals;
    assert_eq!(expected.len(), 1000);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| rule.discover(&classes).proposals)).collect();
        for thread in threads {
            assert_eq!(thread.join().expect("no thread fails"), expected);
        }
    });
    let halves = classes.chunks(700).flat_map(|chunk| rule.discover(chunk).proposals);
    let paths: Vec<String> = halves.map(|proposal| proposal.qualified_name).collect();
    assert_eq!(paths, expected.iter().map(|proposal| proposal.qualified_name.clone()).collect::<Vec<_>>());
}

#[test]
fn a_shim_tells_its_tables() {
    let host = host();
    let timm = embedded(&host, "shim-timm").repo_shim(&json!({})).expect("it accepts an empty configuration");
    let tables = timm.tables().expect("it tells");
    assert_eq!(tables.plugin, "shim-timm 0.1.0");
    assert_eq!(tables.packages, ["timm"]);
    let dropped: Vec<&str> = tables.dropped_decorators.iter().map(|rule| rule.path.as_str()).collect();
    assert!(dropped.contains(&"timm.models._registry.register_model"));

    let torchvision = embedded(&host, "shim-torchvision").repo_shim(&json!({})).expect("it accepts it");
    let tables = torchvision.tables().expect("it tells");
    assert_eq!(tables.operator_namespaces[0].import, "import torchvision");
    assert!(tables.replaced_definitions[0].by.contains("def _has_ops():"));

    let transformers = embedded(&host, "shim-transformers").repo_shim(&json!({})).expect("it accepts it");
    let tables = transformers.tables().expect("it tells");
    let members: Vec<&str> = tables.dropped_members.iter().map(|rule| rule.path.as_str()).collect();
    assert!(members.contains(&"transformers.modeling_utils.PreTrainedModel.from_pretrained"));
    let bases: Vec<&str> = tables.dropped_bases.iter().map(|rule| rule.path.as_str()).collect();
    assert!(bases.contains(&"transformers.utils.hub.PushToHubMixin"));
}

#[test]
fn a_shim_tells_of_registries() {
    let mmlab = embedded(&host(), "shim-mmlab").repo_shim(&json!({})).expect("it accepts an empty configuration");
    let tables = mmlab.tables().expect("it tells");
    let [registry] = tables.registries.as_slice() else { panic!("{:?}", tables.registries) };
    assert_eq!(registry.classes, ["mmengine.registry.registry.Registry"]);
    assert_eq!((registry.methods[0].as_str(), registry.key_argument.as_str()), ("register_module", "name"));
    assert_eq!((registry.key_fields.as_slice(), registry.scope_separator.as_str()), (&["type".to_owned()][..], "."));
    assert!(tables.postponed_annotations.iter().any(|rule| rule.path == "mmcv.*"));
    let replaces = |path: &str| tables.replaced_definitions.iter().any(|rule| rule.path == path);
    assert!(replaces("mmengine.registry.registry.Registry") && replaces("mmcv.ops.nms.NMSop"));
}

/// An index in which `resize` has two kernels.
struct Kernels;

impl CodeIndex for Kernels {
    fn find(&self, _: &str) -> Option<DefinitionSummary> {
        None
    }

    fn source(&self, _: &str) -> Option<String> {
        None
    }

    fn references(&self, _: &str) -> Vec<String> {
        Vec::new()
    }

    fn registered(&self, registry: &str, key: &str) -> Vec<String> {
        if registry.ends_with("._register_kernel_internal") {
            vec![format!("{key}_mask"), format!("{key}_image")]
        } else {
            Vec::new()
        }
    }
}

#[test]
fn a_shim_answers_through_the_index() {
    let plugin = embedded(&host(), "shim-torchvision");
    let shim = plugin.repo_shim(&json!({})).expect("it accepts an empty configuration");
    let index: Arc<dyn CodeIndex> = Arc::new(Kernels);
    let files: Arc<dyn SourceFiles> = Arc::new(NoFiles);
    let question = DynamicQuestion {
        name: "torchvision.transforms.v2.functional._utils._get_kernel".to_owned(),
        referrer: "torchvision.transforms.v2.functional._geometry.resize".to_owned(),
        expression: "_get_kernel(resize, type(inpt))".to_owned(),
        literals: Vec::new(),
    };
    match shim.answer(&question, &index, &files).expect("it answers") {
        DynamicAnswer::Definitions { paths, .. } => assert_eq!(
            paths,
            [
                "torchvision.transforms.v2.functional._geometry.resize_image",
                "torchvision.transforms.v2.functional._geometry.resize_mask"
            ]
        ),
        other => panic!("{other:?}"),
    }
    let unknown = DynamicQuestion { name: "torchvision.models.get_model".to_owned(), ..question };
    assert!(matches!(shim.answer(&unknown, &index, &files), Ok(DynamicAnswer::Unknown { .. })));
}

const RESIDUAL: &str = "
class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.first = nn.Conv2d(channels, channels, kernel_size=3, padding=1)
        self.norm = nn.BatchNorm2d(channels)
        self.second = nn.Conv2d(channels, channels, kernel_size=3, padding=1)

    def forward(self, x):
        return x + self.second(F.relu(self.norm(self.first(x))))
";

/// Blocks of the names and codes, the first one of the best source.
fn blocks(codes: &[(&str, String)]) -> Arc<dyn BlockSet> {
    let summary = |(position, (name, code)): (usize, &(&str, String))| BlockSummary {
        id: format!("test:{name}"),
        name: (*name).to_owned(),
        source: "test".to_owned(),
        priority: -i32::try_from(position).expect("few blocks"),
        level: 3,
        accuracy: None,
        characters: code.chars().count() as u64,
        sha256: Sha256::digest(code.as_bytes()).into(),
    };
    let codes = codes.iter().enumerate().map(|block| (summary(block), Code::from(Arc::from(block.1.1.as_str()))));
    Arc::new(CodeBlocks::new(codes, Arc::new(InMemory::default()), Arc::new(Forgetful)))
}

/// The removals of a strategy with its defaults, on a thread that can parse.
fn deduplicated(name: &str, options: &Value, codes: Vec<(&'static str, String)>) -> Vec<(u32, u32, String)> {
    let plugin = embedded(&host(), name);
    let strategy: DedupStrategy = plugin.dedup_strategy(options).expect("it accepts the configuration");
    let run = move || strategy.run(&blocks(&codes)).expect("it has no reason to fail");
    let thread = thread::Builder::new().stack_size(PARSER_STACK_BYTES).spawn(run).expect("a thread can be started");
    let decisions = thread.join().expect("it does not panic");
    decisions.removals.into_iter().map(|removal| (removal.block, removal.survivor, removal.reason)).collect()
}

fn removed(block: u32, survivor: u32, reason: &str) -> (u32, u32, String) {
    (block, survivor, reason.to_owned())
}

#[test]
fn equal_code_is_an_exact_duplicate() {
    let codes = vec![("a", RESIDUAL.to_owned()), ("b", RESIDUAL.to_owned()), ("c", RESIDUAL.replace("relu", "gelu"))];
    assert_eq!(deduplicated("dedup-exact", &json!({}), codes), [removed(1, 0, "exact")]);
}

/// As `netquarry_core` bundles classes that need each other.
#[test]
fn blocks_of_one_file_are_equal_where_their_classes_are() {
    let other = RESIDUAL.replace("Residual", "Other").replace("relu", "gelu");
    let file = format!("{RESIDUAL}{other}");
    let codes = vec![("Residual", file.clone()), ("Other", file.clone()), ("Residual", file)];
    assert_eq!(deduplicated("dedup-exact", &json!({}), codes.clone()), [removed(2, 0, "exact")]);
    let of_nn_dup = json!({"normalisations": []});
    assert_eq!(deduplicated("dedup-exact", &of_nn_dup, codes), [removed(1, 0, "exact"), removed(2, 0, "exact")]);
}

#[test]
fn a_network_under_other_names_is_a_canonical_duplicate() {
    let copy =
        RESIDUAL.replace("Residual", "Copy").replace("first", "conv1").replace("second", "conv2").replace("x", "y");
    let other = RESIDUAL.replace("relu", "gelu");
    let empty = |base: &str| format!("class Block({base}):\n    pass\n");
    let codes = vec![
        ("Residual", RESIDUAL.to_owned()),
        ("Copy", copy),
        ("Residual", other),
        ("Block", empty("nn.Conv1d")),
        ("Block", empty("nn.Conv2d")),
        ("Block", "class Block(:\n".to_owned()),
        ("Block", "def Block(:\n".to_owned()),
    ];
    assert_eq!(deduplicated("dedup-canonical", &json!({}), codes), [removed(1, 0, "canonical")]);
}

#[test]
fn renamed_and_commented_code_is_a_lexical_duplicate() {
    let renamed =
        RESIDUAL.replace("channels", "width").replace("    def forward", "    # The way forward.\n    def forward");
    let different = RESIDUAL.replace("Conv2d", "Linear").replace("kernel_size=3, padding=1", "bias=False");
    let codes = vec![("a", RESIDUAL.to_owned()), ("b", renamed), ("c", different)];
    assert_eq!(deduplicated("dedup-lexical", &json!({}), codes), [removed(1, 0, "lexical")]);
}

/// Most of what a block is written with may be what it shares with others.
#[test]
fn classes_of_their_own_with_the_same_dependencies_are_no_duplicates() {
    let dependency = RESIDUAL.replace("Residual", "Dependency").repeat(9);
    let small = "class Small(Dependency):\n    def forward(self, x):\n        return x\n";
    let large =
        "class Large(Dependency):\n    def forward(self, x):\n        return super().forward(x).flatten(1).mean(1)\n";
    let renamed = small.replace("Small", "Tiny").replace("x", "value");
    let codes = [("Small", small), ("Large", large), ("Tiny", renamed.as_str())];
    let codes = codes.map(|(name, class)| (name, format!("{dependency}{class}"))).to_vec();
    assert_eq!(deduplicated("dedup-lexical", &json!({}), codes), [removed(2, 0, "lexical")]);
}

#[test]
fn the_same_layers_are_a_structural_duplicate() {
    let reordered = RESIDUAL.replace(
        "x + self.second(F.relu(self.norm(self.first(x))))",
        "self.second(F.relu(self.norm(self.first(x)))) + x",
    );
    let other = RESIDUAL.replace("kernel_size=3", "kernel_size=7");
    let codes = vec![("a", RESIDUAL.to_owned()), ("b", reordered), ("c", other)];
    let alike = json!({"lexical_floor": 0.5});
    assert_eq!(deduplicated("dedup-structural", &alike, codes.clone()), [removed(1, 0, "structural_equal")]);
    assert_eq!(deduplicated("dedup-structural", &json!({}), codes), [], "its tokens are too far from the other's");
}

#[test]
fn an_emitter_describes_blocks_and_their_index() {
    let plugin = embedded(&host(), "emit-neutral-spec");
    let emitter = plugin.spec_emitter(&json!({})).expect("it accepts an empty configuration");
    let (files, failures) = emitted(&emitter, &[&record("Two"), &record("One")]);
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["blocks/One.json", "blocks/Two.json", "index.json", "schema.json"]);
    assert_eq!(failures, []);
    let index: Value = serde_json::from_slice(&files[2].content).expect("it is JSON");
    assert_eq!(index["blocks"][0]["id"], "test:package.module.One");
}

#[test]
fn a_wrong_configuration_is_told_where() {
    let plugin = embedded(&host(), "dedup-lexical");
    for (configuration, expected) in [
        (json!({"threshold": 2}), "/threshold"),
        (json!({"prefer": ["level", "beauty"]}), "/prefer/1"),
        (json!({"treshold": 0.9}), "/treshold"),
    ] {
        match plugin.dedup_strategy(&configuration) {
            Err(ConfigureError::Refused { pointer, .. }) => assert_eq!(pointer, expected),
            other => panic!("{:?}", other.err()),
        }
    }
}
