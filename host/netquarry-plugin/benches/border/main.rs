//! What it costs that plugins run as WebAssembly, against the same code called natively.
//!
//! ```text
//! cargo bench -p netquarry-plugin --bench border -- [FOLDER [LIBRARY]]
//! ```
//!
//! `FOLDER` holds Python files, such as unpacked wheels; without one, classes are made up. `LIBRARY` is what a run over
//! the same files left: its bundles are deduplicated and its records emitted, so that the sum is what plugins cost that
//! run, and each of its stages can be compared with what its crossings of the border take. Seconds are CPU seconds of the
//! process, the least of several runs.

#![expect(clippy::print_stdout, reason = "the figures are what it is for")]

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use discover_nn_module_deep::NnModuleDeep;
use emit_neutral_spec::NeutralSpec;
use netquarry_core::dedup::{BlockSet, BlockSummary, Code};
use netquarry_core::discovery::ClassDescription;
use netquarry_core::fingerprint::archive::Forgetful;
use netquarry_core::fingerprint::blocks::CodeBlocks;
use netquarry_core::fingerprint::shelf::InMemory;
use netquarry_core::index::{FileId, Index, IndexedSource};
use netquarry_core::record::BlockRecord;
use netquarry_core::source::{ContentDigest, Source, SourceFile};
use netquarry_core::syntax::{self, PARSER_STACK_BYTES};
use netquarry_plugin::{AskedBlock, HostOptions, Plugin, PluginHost, first_party};
use netquarry_sdk::dedup::DedupStrategy as _;
use netquarry_sdk::discovery::DiscoveryRule as _;
use netquarry_sdk::emit::SpecEmitter as _;
use netquarry_sdk::{Plugin as SdkPlugin, configured};
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use sha2::{Digest, Sha256};

mod crossing;
mod native;

fn main() {
    let mut folders = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).map(PathBuf::from);
    let (folder, library) = (folders.next(), folders.next());
    let bench = move || run(folder.as_deref(), library.as_deref());
    let thread = thread::Builder::new().stack_size(PARSER_STACK_BYTES).spawn(bench).expect("a thread can be started");
    thread.join().expect("the benchmark does not panic");
}

fn run(folder: Option<&Path>, library: Option<&Path>) {
    let mut material = match folder {
        Some(folder) => Material::read(folder),
        None => Material::invented(1_500),
    };
    if let Some(library) = library {
        material.take_library(library);
    }
    println!("{}: {} classes, {} codes", material.origin, material.classes.len(), material.codes.len());
    loading();
    crossing::report(&material, library);
    println!("\n{:<24} {:>8} {:>12} {:>12} {:>8}", "plugin", "items", "wasm", "native", "ratio");
    let mut costs = vec![discovery(&material)];
    costs.extend(deduplication(&material));
    costs.push(emission(&material));
    let sum = |seconds: fn(&Cost) -> f64| costs.iter().map(seconds).sum();
    report("all", material.classes.len(), Cost { wasm: sum(|cost| cost.wasm), native: sum(|cost| cost.native) });
    if let Some(seconds) = library.and_then(run_seconds) {
        let more: f64 = costs.iter().map(|cost| cost.wasm - cost.native).sum();
        println!(
            "\nThe library's run took {seconds:.2} CPU seconds, of which {:.2}% is what plugins take beyond native code",
            1e2 * more / seconds
        );
    }
}

/// CPU seconds of the run that made the library, validation and all.
fn run_seconds(library: &Path) -> Option<f64> {
    let text = fs::read_to_string(library.join("run.json")).ok()?;
    let record: serde_json::Value = serde_json::from_str(&text).ok()?;
    record["course"]["cpu_seconds"].as_f64()
}

/// CPU seconds for the same work.
#[derive(Clone, Copy)]
struct Cost {
    wasm: f64,
    native: f64,
}

/// Classes, the codes that are deduplicated and the records that are emitted.
struct Material {
    origin: String,
    classes: Vec<ClassDescription>,
    codes: Vec<(String, Arc<str>)>,
    records: Vec<BlockRecord>,
    /// The bundles of records, by block; classes that were made up have none.
    bundles: HashMap<String, String>,
}

impl Material {
    fn read(folder: &Path) -> Self {
        let mut paths = Vec::new();
        python_files(folder, &mut paths);
        let mut files = Vec::new();
        let mut texts: Vec<Arc<str>> = Vec::new();
        for path in &paths {
            let Ok(bytes) = fs::read(path) else { continue };
            let Ok(text) = syntax::decode(&bytes) else { continue };
            let relative = path.strip_prefix(folder).unwrap_or(path).to_string_lossy().replace('\\', "/");
            let module = relative.trim_end_matches(".py").replace('/', ".");
            let module = module.strip_suffix(".__init__").unwrap_or(&module).to_owned();
            let digest = ContentDigest::of(&bytes);
            let file = SourceFile { path: relative, module: Some(module), digest, bytes: bytes.len() as u64 };
            files.push((file, Arc::new(syntax::facts(&bytes))));
            texts.push(Arc::from(&*text));
        }
        let source = Source::local("bench");
        let index = Index::build(vec![IndexedSource { source, files }], &[]);
        let subclassed: HashSet<_> = index.subclassed();
        let ids: Vec<FileId> = index.files().map(|(id, _)| id).collect();
        let origin = folder.display().to_string();
        let (classes, codes, records) = (Vec::new(), Vec::new(), Vec::new());
        let mut material = Self { origin, classes, codes, records, bundles: HashMap::new() };
        for id in ids {
            let text = &texts[id.0 as usize];
            for class in index.describe(id, text, &subclassed) {
                let code = index.statement(class.definition).range.slice(text);
                material.codes.push((class.description.path.clone(), Arc::from(code)));
                material.records.push(native::record(&class.description));
                material.classes.push(class.description);
            }
        }
        material
    }

    /// Takes codes and records from a library.
    fn take_library(&mut self, library: &Path) {
        let manifest = fs::read_to_string(library.join("manifest.jsonl")).expect("a library has a manifest");
        let record = |line: &str| serde_json::from_str::<BlockRecord>(line).expect("a line is a record");
        self.records = manifest.lines().map(record).collect();
        self.codes.clear();
        for record in &self.records {
            // All that were promoted went through deduplication; those that were removed have no file any more.
            let Some(path) = &record.bundle else { continue };
            let Ok(text) = fs::read_to_string(library.join(path)) else { continue };
            let code: String =
                text.lines().skip_while(|line| line.starts_with('#')).flat_map(|line| [line, "\n"]).collect();
            self.codes.push((record.block.clone(), Arc::from(code)));
            self.bundles.insert(record.block.clone(), text);
        }
    }

    /// Each record with its bundle.
    fn emitted(&self) -> impl Iterator<Item = (&BlockRecord, Option<&str>)> {
        self.records.iter().map(|record| (record, self.bundles.get(&record.block).map(String::as_str)))
    }

    /// The parts of what emitters are asked about, which a run has whether there are emitters or not.
    fn parts(&self) -> impl Iterator<Item = (BlockRecord, String, Option<String>)> {
        self.emitted().map(|(record, code)| (record.clone(), record.to_line(), code.map(str::to_owned)))
    }

    /// What emitters are asked about.
    fn asked(&self) -> impl Iterator<Item = AskedBlock> {
        self.parts().map(|(record, line, code)| AskedBlock::new(record, line, code))
    }

    fn invented(count: usize) -> Self {
        let text = |number: usize| {
            let layers: String = (0..number % 40)
                .map(|layer| format!("        self.layer{layer} = nn.Conv2d({number}, {layer}, kernel_size=3)\n"))
                .collect();
            format!(
                "class Block{number}(nn.Module):\n    def __init__(self):\n{layers}        pass\n\n    def forward(self, x):\n        return x\n"
            )
        };
        let codes = (0..count).map(|number| (format!("invented.Block{number}"), Arc::from(text(number)))).collect();
        let classes: Vec<_> = (0..count).map(native::invented_class).collect();
        let records = classes.iter().map(native::record).collect();
        Self { origin: "made up".to_owned(), classes, codes, records, bundles: HashMap::new() }
    }

    fn blocks(&self) -> Arc<dyn BlockSet> {
        let summary = |(name, code): &(String, Arc<str>)| BlockSummary {
            id: format!("bench:{name}"),
            name: name.clone(),
            source: "bench".to_owned(),
            priority: 0,
            level: 3,
            accuracy: None,
            characters: code.chars().count() as u64,
            sha256: Sha256::digest(code.as_bytes()).into(),
        };
        let codes = self.codes.iter().map(|block| (summary(block), Code::from(Arc::clone(&block.1))));
        Arc::new(CodeBlocks::new(codes, Arc::new(InMemory::default()), Arc::new(Forgetful)))
    }
}

fn python_files(folder: &Path, into: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            python_files(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "py") {
            into.push(path);
        }
    }
}

/// Compiling, loading what was compiled, and a call that does next to nothing.
fn loading() {
    let folder = tempfile::TempDir::new().expect("there is room");
    let options = || HostOptions { compiled_cache: Some(folder.path().join("plugins")), ..HostOptions::default() };
    let cold = PluginHost::new(options()).expect("this machine can run plugins");
    let load_all =
        |host: &PluginHost| first_party().iter().for_each(|component| drop(host.load_first_party(component)));
    let bytes: usize = first_party().iter().map(|component| component.bytes.len()).sum();
    println!("{} components, {} KiB", first_party().len(), bytes / 1024);
    println!("compile all: {:.1} ms", 1e3 * cpu_seconds(|| load_all(&cold)));
    let warm = PluginHost::new(options()).expect("this machine can run plugins");
    println!("load all from the cache and describe: {:.2} ms", 1e3 * least(|| load_all(&warm)));
    let shim = plugin(&warm, "shim-timm").repo_shim(&json!({})).expect("it accepts an empty configuration");
    let calls = || (0..100).for_each(|_| drop(shim.tables()));
    println!("instantiate, configure and one small call: {:.1} us", 1e4 * least(calls));
}

fn discovery(material: &Material) -> Cost {
    let host = host();
    let rule = plugin(&host, NnModuleDeep::NAME).discovery_rule(&json!({})).expect("it accepts an empty configuration");
    let wasm = least(|| drop(rule.discover(&material.classes)));
    let native_rule = configured::<NnModuleDeep>("{}").expect("it accepts an empty configuration");
    let classes: Vec<_> = material.classes.iter().map(native::class).collect();
    let native = least(|| drop(native_rule.discover(&classes)));
    report(NnModuleDeep::NAME, material.classes.len(), Cost { wasm, native })
}

fn deduplication(material: &Material) -> Vec<Cost> {
    let host = host();
    let blocks = material.blocks();
    let both = |name: &str, native: &dyn Fn()| {
        let strategy = plugin(&host, name).dedup_strategy(&json!({})).expect("it accepts an empty configuration");
        // The kernels keep what they computed: the first run fills their memory.
        drop(strategy.run(&blocks));
        let wasm = least(|| drop(strategy.run(&blocks)));
        report(name, material.codes.len(), Cost { wasm, native: least(native) })
    };
    let exact = configured::<dedup_exact::Exact>("{}").expect("it accepts an empty configuration");
    let exact = both(dedup_exact::Exact::NAME, &|| drop(exact.deduplicate(&native::Blocks(&*blocks))));
    let lexical = configured::<dedup_lexical::Lexical>("{}").expect("it accepts an empty configuration");
    let lexical = both(dedup_lexical::Lexical::NAME, &|| drop(lexical.deduplicate(&native::Blocks(&*blocks))));
    let structural = configured::<dedup_structural::Structural>("{}").expect("it accepts an empty configuration");
    let structural =
        both(dedup_structural::Structural::NAME, &|| drop(structural.deduplicate(&native::Blocks(&*blocks))));
    vec![exact, lexical, structural]
}

fn emission(material: &Material) -> Cost {
    let host = host();
    let emitter = plugin(&host, NeutralSpec::NAME).spec_emitter(&json!({})).expect("it accepts an empty configuration");
    let asked: Vec<AskedBlock> = material.asked().collect();
    let emitted = || -> Vec<Vec<Vec<u8>>> {
        let mut emission = emitter.start();
        let answers = asked.iter().map(|block| emission.accept(block, emitter.ask(block)));
        answers.map(|files| files.into_iter().map(|file| file.content).collect()).collect()
    };
    let native_emitter = configured::<NeutralSpec>("{}").expect("it accepts an empty configuration");
    let blocks: Vec<_> = material.emitted().map(|(record, code)| native::block(record, code)).collect();
    let emitted_natively = || -> Vec<Vec<Vec<u8>>> {
        let answers = blocks.iter().map(|block| native_emitter.emit_block(block).expect("it takes every block"));
        answers.map(|emission| emission.files.into_iter().map(|file| file.content).collect()).collect()
    };
    assert!(emitted() == emitted_natively(), "both sides do the same work");
    let (wasm, native) = (least(|| drop(emitted())), least(|| drop(emitted_natively())));
    report(NeutralSpec::NAME, material.records.len(), Cost { wasm, native })
}

fn host() -> PluginHost {
    PluginHost::new(HostOptions::default()).expect("this machine can run plugins")
}

fn plugin(host: &PluginHost, name: &str) -> Plugin {
    let component = first_party().iter().find(|component| component.name == name).expect("it is embedded");
    host.load(component.bytes).expect("a first-party component loads")
}

/// Prints the cost and gives it back.
fn report(name: &str, items: usize, cost: Cost) -> Cost {
    let Cost { wasm, native } = cost;
    println!("{name:<24} {items:>8} {:>9.2} ms {:>9.2} ms {:>8.2}", 1e3 * wasm, 1e3 * native, wasm / native);
    cost
}

/// CPU seconds of the process, all threads.
fn cpu_seconds(work: impl FnOnce()) -> f64 {
    let now = || {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    };
    let start = now();
    work();
    now() - start
}

fn least(work: impl Fn()) -> f64 {
    (0..7).map(|_| cpu_seconds(&work)).fold(f64::INFINITY, f64::min)
}
