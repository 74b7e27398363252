//! Hosts, plugins and descriptions for tests.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use netquarry_core::dedup::{BlockSet, BlockSummary, Code};
use netquarry_core::discovery::{Ancestor, BaseClass, ClassDescription, MethodDescription};
use netquarry_core::fingerprint::archive::Forgetful;
use netquarry_core::fingerprint::blocks::CodeBlocks;
use netquarry_core::fingerprint::shelf::InMemory;
use netquarry_core::record::{BlockRecord, Category, RecordSource};
use netquarry_core::source::SourceKind;
use netquarry_core::verdict::Evidence;
use netquarry_plugin::{AskedBlock, CallError, EmittedFile, HostOptions, Plugin, PluginHost, SpecEmitter, first_party};
use sha2::{Digest, Sha256};

/// A host with the usual limits, and with a cache that all tests share.
pub(crate) fn host() -> PluginHost {
    let compiled_cache = Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("plugins"));
    PluginHost::new(HostOptions { compiled_cache, ..HostOptions::default() }).expect("this machine can run plugins")
}

/// The first-party plugin with this name.
pub(crate) fn embedded(host: &PluginHost, name: &str) -> Plugin {
    let component = first_party().iter().find(|component| component.name == name);
    let component = component.unwrap_or_else(|| panic!("{name} is not embedded"));
    host.load(component.bytes).expect("a first-party component loads")
}

/// A class of `package.module` with an `nn.Module` base and a `forward`.
pub(crate) fn module_class(name: &str) -> ClassDescription {
    let forward = MethodDescription {
        name: "forward".to_owned(),
        parameters: vec!["self".to_owned(), "x".to_owned()],
        decorators: Vec::new(),
        is_stub: false,
    };
    let base = BaseClass { written: Some("nn.Module".to_owned()), resolved: Some("torch.nn.Module".to_owned()) };
    ClassDescription {
        name: name.to_owned(),
        path: format!("package.module.{name}"),
        module: "package.module".to_owned(),
        source: "test".to_owned(),
        file: "package/module.py".to_owned(),
        bases: vec![base],
        metaclass: None,
        ancestors: vec![Ancestor { path: "torch.nn.Module".to_owned(), external: true, methods: Vec::new() }],
        methods: vec![forward],
        decorators: Vec::new(),
        attributes: Vec::new(),
        references: vec!["nn.Module".to_owned()],
        summary: None,
        conditional: false,
        subclassed: false,
    }
}

/// So many blocks, no two of which are alike.
pub(crate) fn blocks(count: u32) -> Arc<dyn BlockSet> {
    let block = |number: u32| {
        let code = format!("class Block{number}:\n    pass\n");
        let summary = BlockSummary {
            id: format!("test:package.module.Block{number}"),
            name: format!("Block{number}"),
            source: "test".to_owned(),
            priority: 0,
            level: 3,
            accuracy: None,
            characters: code.len() as u64,
            sha256: Sha256::digest(code.as_bytes()).into(),
        };
        (summary, Code::from(Arc::from(code.as_str())))
    };
    Arc::new(CodeBlocks::new((0..count).map(block), Arc::new(InMemory::default()), Arc::new(Forgetful)))
}

/// What an emitter makes of a library: its files, sorted by path, and where it failed.
pub(crate) fn emitted(emitter: &SpecEmitter, blocks: &[&BlockRecord]) -> (Vec<EmittedFile>, Vec<CallError>) {
    let mut emission = emitter.start();
    let asked = |block: &&BlockRecord| AskedBlock::new((*block).clone(), block.to_line(), None);
    let blocks = blocks.iter().map(asked);
    let mut files: Vec<EmittedFile> = blocks.flat_map(|block| emission.accept(&block, emitter.ask(&block))).collect();
    let (index, failures) = emission.finish();
    files.extend(index);
    files.sort_by(|left, right| left.path.cmp(&right.path));
    (files, failures)
}

/// The record of a block of `package.module` about which little is known.
pub(crate) fn record(name: &str) -> BlockRecord {
    let source = RecordSource {
        name: "test".to_owned(),
        kind: SourceKind::Local,
        priority: 1,
        version: None,
        commit: None,
        path: "package/module.py".to_owned(),
        lines: [1, 9],
        sha1: "0".repeat(40),
    };
    BlockRecord {
        block: format!("test:package.module.{name}"),
        name: name.to_owned(),
        category: Category::Utility,
        discovered_by: "a test".to_owned(),
        source,
        bundle: Some(format!("blocks/{name}.py")),
        sha256: None,
        lines: None,
        requirements: vec!["torch".to_owned()],
        assumed_requirements: Vec::new(),
        installed: Vec::new(),
        operator_imports: Vec::new(),
        unresolved: Vec::new(),
        unknown_keys: Vec::new(),
        replaced: Vec::new(),
        edits: Vec::new(),
        closure: Vec::new(),
        constructor: Vec::new(),
        forward: Vec::new(),
        level: 0,
        levels: BTreeMap::new(),
        failure: None,
        evidence: Evidence::default(),
        structure: None,
        tainted: false,
        protections: Vec::new(),
        tier: None,
        dedup: None,
        swhid: String::new(),
        license: None,
        license_policy: None,
        sources: Vec::new(),
        imports: Vec::new(),
    }
}
