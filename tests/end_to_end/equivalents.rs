//! What a shim puts in the place of definitions does what they do, as a script for each family of packages shows.

use std::path::Path;
use std::process::Command;

use super::support::{Run, python};

#[test]
fn equivalents_of_openmmlab_s_definitions_do_what_upstream_s_do() {
    let upstream = ["mmengine==0.10.7", "mmcv-lite==2.1.0", "addict==2.4.0", "packaging==25.0", "six==1.17.0"];
    holds("of_openmmlab.py", "shim-mmlab", &upstream);
}

#[test]
fn torchvision_s_operators_compute_what_mmcv_s_do() {
    holds("operators.py", "shim-mmlab", &[]);
}

#[test]
fn equivalents_of_fvcore_s_definitions_do_what_upstream_s_do() {
    holds("of_detectron2.py", "shim-detectron2", &["fvcore==0.1.5.post20221221"]);
}

#[test]
fn message_passing_without_templates_does_what_torch_geometric_s_does() {
    holds("of_torch_geometric.py", "shim-torch-geometric", &["torch_geometric==2.8.1", "xxhash==4.1.0"]);
}

#[test]
fn torchvision_s_operators_are_found_as_torchvision_finds_them() {
    holds("of_torchvision.py", "shim-torchvision", &[]);
}

#[test]
fn equivalents_of_transformers_definitions_do_what_upstream_s_do() {
    let upstream = [
        "transformers==5.23.0",
        "huggingface_hub==2.4.0",
        "h11==0.16.0",
        "httpcore2==2.16.2",
        "httpx2==2.16.2",
        "idna==3.20",
        "packaging==26.3",
        "pyyaml==6.0.3",
        "regex==2026.11.15",
        "safetensors==0.8.0",
        "tokenizers==0.23.1",
        "tqdm==4.70.1",
        "truststore==0.10.5",
    ];
    holds("of_transformers.py", "shim-transformers", &upstream);
}

#[test]
fn equivalents_of_ultralytics_set_up_do_what_upstream_s_do() {
    // A later setuptools has no pkg_resources, from which yolov5 takes its versions.
    let upstream = ["ultralytics==8.4.190", "yolov5==7.0.14", "pyyaml==6.0.3", "setuptools==80.9.0"];
    holds("of_ultralytics.py", "shim-ultralytics", &upstream);
}

/// Runs a script with the folder of a shim and a folder that holds upstream's packages, and nothing beside them.
#[track_caller]
fn holds(script: &str, shim: &str, upstream: &[&str]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = tempfile::tempdir().unwrap();
    if !upstream.is_empty() {
        let mut pip = Command::new(python());
        // There is no wheel of fvcore.
        pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:", "--no-binary", "fvcore"]);
        Run::of(pip.arg("--target").arg(folder.path()).args(upstream)).succeeded();
    }
    let mut command = Command::new(python());
    command.args(["-I", "-B"]).arg(root.join("tests/end_to_end/equivalents").join(script));
    Run::of(command.arg(root.join("plugins").join(shim)).arg(folder.path())).succeeded();
}
