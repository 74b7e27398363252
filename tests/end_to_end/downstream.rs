//! What emitters write for the programs of others, read by these.

use std::path::{Path, PathBuf};
use std::process::Command;

use netquarry_tests::packages::{installed, unpacked, wheel};
use serde_json::{Value, json};

use super::support::{Playground, Run, python};

const EMITTERS: &str = "emit-neutral-spec,emit-nn-gpt,emit-lemur";

/// What nn-dataset imports beside torch, torchvision, numpy and Pillow.
const LEMUR: [&str; 14] = [
    "datasketch==2.0.0",
    "pandas==2.3.3",
    "optuna==5.0.0",
    "tqdm==4.70.1",
    "scipy==1.17.1",
    "psutil==7.2.2",
    "einops==0.8.2",
    "pycocotools==2.0.11",
    "requests==2.34.2",
    "huggingface_hub==2.4.0",
    "radon==6.0.1",
    "pylint==4.1.4",
    "zstandard==0.25.0",
    "setuptools==65.5.0",
];

/// One block of each of seven categories, and what it becomes.
const BLOCKS: [(&str, &str); 7] = [
    ("timm:timm.models.davit.ChannelAttention", "attention"),
    ("timm:timm.models.efficientformer.ConvMlpWithNorm", "convolution"),
    ("timm:timm.layers.norm.LayerNorm2d", "normalisation"),
    ("timm:timm.layers.adaptive_avgmax_pool.AdaptiveAvgMaxPool2d", "pooling"),
    ("timm:timm.models.volo.ClassBlock", "transformer_block"),
    ("timm:timm.layers.blur_pool.BlurPool2d", "pooling"),
    ("torchvision:torchvision.ops.feature_pyramid_network.FeaturePyramidNetwork", "architecture"),
];

fn target() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

fn oracle(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/oracles").join(name)
}

/// A library of these blocks, with all that is written of them.
fn emitted() -> Playground {
    let playground = Playground::new();
    let source = |name: &str, distribution: &str| {
        let modules = |block: &str| Some(block.strip_prefix(name)?.strip_prefix(':')?.to_owned());
        let include: Vec<String> = BLOCKS.iter().filter_map(|(block, _)| modules(block)).collect();
        let path = unpacked(target(), &[distribution]);
        json!({"name": name, "location": {"local": {"path": path}}, "scope": {"symbols": {"include": include}}})
    };
    let sources = [source("timm", "timm==1.0.31"), source("torchvision", "torchvision==0.29.2")];
    let corpus = json!({"name": "blocks", "description": "Blocks of seven categories", "sources": sources});
    playground.write("blocks.json", &corpus.to_string());
    let mut run = playground.command(&["run", "--corpus", "blocks.json", "--level", "backward", "--emit", EMITTERS]);
    Run::of(run.arg("--quiet").env("NETQUARRY_PYTHON", python())).succeeded();
    playground
}

#[test]
fn programs_of_others_take_what_is_written_for_them() {
    let playground = emitted();
    let found: Vec<(String, String)> = playground
        .manifest("out")
        .into_iter()
        .map(|(block, record)| (block, record["category"].as_str().unwrap().to_owned()))
        .collect();
    let mut expected = BLOCKS.map(|(block, category)| (block.to_owned(), category.to_owned()));
    expected.sort();
    assert_eq!(found, expected);

    specs_carry_no_code(&playground);
    chat_records_are_read(&playground);
    models_are_trained(&playground);
    implementations_are_held_to_specs(&playground);
}

/// Every spec is of the published form, and holds no run of upstream's tokens.
fn specs_carry_no_code(playground: &Playground) {
    let verified = playground.netquarry(&["verify", "out", "--format", "json"]).succeeded().json();
    assert_eq!(verified["findings"], json!([]), "{verified}");
    let mut runs = Command::new(python());
    let told = Run::of(runs.arg(oracle("upstream_runs.py")).arg(playground.path("out"))).succeeded().stdout;
    assert!(told.contains("7 specs compared, 0 with a run of 25 or more"), "{told}");
    let spec: Value =
        serde_json::from_str(&playground.read("out/specs/emit-neutral-spec/blocks/LayerNorm2d.json")).unwrap();
    assert_eq!(spec["invariants"]["batch_independent"], true, "{spec}");
    let axes = &spec["forward"]["outputs"][0]["axes"];
    assert_eq!(axes[0]["follows"][0]["times"], 1, "{spec}");
    assert_eq!(axes[1]["follows"], json!([]), "{spec}");
}

/// The rules of ChatPrep and of NN-GPT's loaders, restated in Python.
fn chat_records_are_read(playground: &Playground) {
    let mut reads = Command::new(python());
    reads.arg(oracle("chat_records.py")).arg(playground.path("out/specs/emit-nn-gpt/chat_data"));
    let told = Run::of(&mut reads).stdout;
    let figures: Vec<(&str, &str)> = told.trim().split(", ").filter_map(|figure| figure.split_once(' ')).collect();
    let [(records, "records"), (accepted, "accepted"), rest @ ..] = &figures[..] else { panic!("{told}") };
    assert!(*records != "0" && records == accepted, "{told}");
    // Seven blocks of two sources can leave a side empty, which the oracle refuses as the loaders do; nothing else is wrong.
    let is_known = |(_, what): &(&str, &str)| ["train", "dev", "test", "full", "infill", "readers"].contains(what);
    assert!(rest.iter().all(is_known), "{told}");
}

/// LEMUR's own dynamic check of all models, and the whole of its `check_nn`: with pylint for one of them.
fn models_are_trained(playground: &Playground) {
    let folder = playground.path("out/specs/emit-lemur");
    let mut dynamic = Command::new(python());
    dynamic.arg(oracle("lemur_dynamic_check.py")).args(["--jobs", "2"]).arg(&folder);
    let told = Run::of(&mut dynamic).succeeded().stdout;
    assert!(told.contains("7 models, 7 accepted"), "{told}");

    let index: Value = serde_json::from_str(&playground.read("out/specs/emit-lemur/index.json")).unwrap();
    let models = index["models"].as_array().unwrap_or_else(|| panic!("{index}"));
    let paths: Vec<PathBuf> = models.iter().map(|model| folder.join(model["path"].as_str().unwrap())).collect();
    let packages = installed(python(), target(), "lemur", &LEMUR);
    let scripts = std::env::var_os("PATH").unwrap_or_default();
    let scripts = [packages.join("bin")].into_iter().chain(std::env::split_paths(&scripts).collect::<Vec<_>>());
    let scripts = std::env::join_paths(scripts).expect("no folder has a colon in its name");
    let check = |models: &[PathBuf], options: &[&str]| {
        let mut command = Command::new(python());
        command.arg(oracle("lemur_check_nn.py")).arg("--nn-dataset").arg(wheel(target(), "nn-dataset==2.2.11"));
        command.args(options).args(models).env("PYTHONPATH", &packages).env("PATH", &scripts);
        Run::of(&mut command).succeeded().stdout
    };
    let told = check(&paths[..1], &[]);
    assert!(told.contains("1 models, 1 accepted") && !told.contains("\"quality\": 0.0"), "{told}");
    let told = check(&paths[1..], &["--without-pylint"]);
    assert!(told.contains("6 models, 6 accepted"), "{told}");
}

/// An implementation that does what the spec says becomes a model under its own name, and one that does not is told where.
fn implementations_are_held_to_specs(playground: &Playground) {
    let implementation = |mean: &str| {
        format!(
            "import torch\n\n\nclass ChannelNorm(torch.nn.Module):\n    def __init__(self, num_channels, eps=1e-6):\n        \
             super().__init__()\n        self.gain = torch.nn.Parameter(torch.ones(num_channels))\n        self.eps = eps\n\n    \
             def forward(self, x):\n        centred = x - x.mean({mean}, keepdim=True)\n        \
             variance = centred.square().mean({mean}, keepdim=True)\n        \
             return centred / (variance + self.eps).sqrt() * self.gain[:, None, None]\n"
        )
    };
    playground.write("mine.py", &implementation("1"));
    playground.write("wrong.py", &implementation("0"));
    let spec = "out/specs/emit-neutral-spec/blocks/LayerNorm2d.json";
    let told = |arguments: &[&str]| {
        let mut command = playground.command(&[&["register", "--spec", spec], arguments].concat());
        Run::of(command.env("NETQUARRY_PYTHON", python()))
    };
    let register = |arguments: &[&str]| told(&[&["--format", "json"], arguments].concat());
    let mine = register(&["mine.py", "--models", "mine", "--license", "MIT"]).succeeded().json();
    assert_eq!(mine["accepted"], true, "{mine}");
    assert_eq!(mine["distance"]["equal_code"], false, "{mine}");
    let model = mine["written"][0].as_str().unwrap_or_else(|| panic!("{mine}"));
    let text = playground.read(model);
    assert!(text.contains("class ChannelNorm") && text.contains("class Net"), "{text}");

    let wrong = register(&["wrong.py", "--models", "wrong"]).ended(1).json();
    let differing = |comparison: &&Value| comparison["outcome"] == "differs";
    let comparisons = wrong["comparisons"].as_array().unwrap();
    let differing: Vec<&str> = comparisons.iter().filter(differing).map(|it| it["what"].as_str().unwrap()).collect();
    assert!(differing.contains(&"batch independence"), "{wrong}");
    assert_eq!(wrong["written"], json!([]));

    // It runs forward, and ends its process where it is tried with one sample.
    let ends =
        implementation("1").replace("        centred", "        x.shape[0] != 1 or os._exit(0)\n        centred");
    playground.write("ends.py", &format!("import os\n{ends}"));
    let unseen = register(&["ends.py", "--models", "unseen"]).ended(1).json();
    assert_eq!((&unseen["accepted"], &unseen["conclusion"]), (&json!(false), &json!("unseen")), "{unseen}");
    assert_eq!(unseen["written"], json!([]));

    let run = told(&["mine.py", "--models", "described", "--emit", "emit-neutral-spec"]).succeeded();
    let legend = "A  mine.py\nB  timm:timm.layers.norm.LayerNorm2d\n";
    assert!(
        run.stdout.contains(legend) && run.stdout.contains("Nothing that the spec says and that was tried differs."),
        "{}",
        run.stdout
    );
    assert!(playground.read("described/blocks/mine.json").contains("netquarry-neutral-spec/2"));
}
