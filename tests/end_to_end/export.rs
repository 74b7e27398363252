//! What a library is handed on as, read by programs of others.

use std::path::Path;
use std::process::Command;

use netquarry_tests::packages::{python, unpacked};
use serde_json::Value;

use super::library::made;
use super::support::{Playground, Run, tree};

/// A folder with a copy of the library.
pub(crate) fn copied() -> Playground {
    let playground = Playground::new();
    for (path, bytes) in tree(&made().path("out")) {
        write(&playground, &format!("out/{path}"), &bytes);
    }
    write(&playground, "out/run.json", made().read("out/run.json").as_bytes());
    playground
}

pub(crate) fn write(playground: &Playground, relative: &str, bytes: &[u8]) {
    let path = playground.path(relative);
    std::fs::create_dir_all(path.parent().expect("a file lies in a folder")).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// Runs a program of Python's with distributions that are unpacked for it, and takes what it prints for JSON.
fn in_python(packages: &[&str], script: &str, arguments: &[&Path]) -> Value {
    // A folder bears the names of all that is in it, and no name may be too long.
    let folders = packages.chunks(6).map(|some| unpacked(Path::new(env!("CARGO_TARGET_TMPDIR")), some));
    let path = std::env::join_paths(folders).expect("no name has a colon");
    let mut command = Command::new(python());
    Run::of(command.args(["-c", script]).args(arguments).env("PYTHONPATH", path)).succeeded().json()
}

/// The promoted blocks of the library by their files.
fn promoted() -> Vec<Value> {
    let records = made().manifest("out").into_values();
    records.filter(|record| record["bundle"].as_str().is_some_and(|path| path.starts_with("blocks/"))).collect()
}

#[test]
fn a_table_holds_what_records_and_bundles_hold() {
    let playground = copied();
    let export =
        |out: &str| playground.netquarry(&["export", "parquet", "--out", out, "--format", "json"]).succeeded().json();
    let told = export("blocks.parquet");
    let script = "import sys, json, pyarrow.parquet as p\nprint(json.dumps(p.read_table(sys.argv[1]).to_pylist()))";
    let rows = in_python(&["pyarrow==26.0.1"], script, &[&playground.path("blocks.parquet")]);
    let (rows, records) = (rows.as_array().unwrap(), promoted());
    assert_eq!(told["blocks"], rows.len());
    assert_eq!(rows.len(), records.len());
    for (row, record) in rows.iter().zip(&records) {
        for (column, field) in [
            ("id", &record["block"]),
            ("name", &record["name"]),
            ("category", &record["category"]),
            ("source", &record["source"]["name"]),
            ("source_kind", &record["source"]["kind"]),
            ("version", &record["source"]["version"]),
            ("commit", &record["source"]["commit"]),
            ("path", &record["source"]["path"]),
            ("first_line", &record["source"]["lines"][0]),
            ("last_line", &record["source"]["lines"][1]),
            ("swhid", &record["swhid"]),
            ("license", &record["license"]),
            ("requirements", &record["requirements"]),
            ("level", &record["level"]),
            ("tainted", &record["tainted"]),
            ("parameters", &record["evidence"]["parameters"]),
            ("flops", &record["evidence"]["flops"]),
            ("file", &record["bundle"]),
            ("sha256", &record["sha256"]),
            ("lines", &record["lines"]),
        ] {
            assert_eq!(row[column], *field, "{column} of {}", record["block"]);
        }
        let nested = |column: &str| serde_json::from_str::<Value>(row[column].as_str().unwrap()).unwrap();
        assert_eq!(nested("inputs"), record["evidence"]["forward_inputs"]);
        assert_eq!(nested("constructor_arguments"), record["evidence"]["constructor_arguments"]);
        let code = playground.read(&format!("out/{}", record["bundle"].as_str().unwrap()));
        assert_eq!(row["code"], code);
        assert_eq!(row["code_left_out"], Value::Null);
    }
    // The same library gives the same bytes.
    assert_eq!(told["files"][0]["sha256"], export("again.parquet")["files"][0]["sha256"]);
}

#[test]
fn code_is_left_out_with_a_reason() {
    let playground = copied();
    let arguments = ["export", "parquet", "--out", "records.parquet", "--code", "none", "--format", "json"];
    let told = playground.netquarry(&arguments).succeeded().json();
    assert_eq!(told["with_code"], 0);
    assert_eq!(told["code_left_out"]["no code was asked for"], told["blocks"]);
    let verified = playground.netquarry(&["verify", "records.parquet", "--format", "json"]).succeeded().json();
    assert_eq!(verified["counts"]["rows"], told["blocks"]);
}

#[test]
fn a_dataset_has_a_card_and_is_written_over_its_own_kind_only() {
    let playground = copied();
    let export = || playground.netquarry(&["export", "dataset", "--out", "dataset"]);
    export().succeeded();
    let card = playground.read("dataset/README.md");
    assert!(card.contains("num_examples:") && card.contains("- mit"), "{card}");
    let small = card.lines().find(|line| line.starts_with("| small |")).expect("it is the source");
    assert!(!small.contains('/'), "a folder has no place that others can find: {small}");
    assert_eq!(playground.read("dataset/NOTICE"), playground.read("out/NOTICE"));
    let before = tree(&playground.path("dataset"));
    export().succeeded();
    assert!(before == tree(&playground.path("dataset")), "equal libraries give equal datasets");
    playground.netquarry(&["verify", "dataset"]).succeeded();

    let refused = playground.netquarry(&["export", "dataset", "--out", "package"]).ended(2);
    assert!(refused.stderr.contains("--out"), "{}", refused.stderr);
}

#[test]
fn a_damaged_bundle_is_told_and_left_out() {
    let playground = copied();
    playground.write("out/blocks/Scale.py", "import os\n");
    let run = playground.netquarry(&["export", "parquet", "--out", "blocks.parquet", "--format", "json"]).ended(2);
    assert_eq!(
        (&run.json()["unreadable"], run.json()["blocks"].as_u64()),
        (&1.into(), Some(promoted().len() as u64 - 1))
    );
    assert!(run.stderr.contains("`blocks/Scale.py` of small:small.layers.Scale is left out"), "{}", run.stderr);
}

/// All that the validator of CycloneDX's own library for Python imports.
const CYCLONEDX: [&str; 27] = [
    "cyclonedx-python-lib==11.12.0",
    "attrs==26.1.0",
    "arrow==1.4.0",
    "boolean.py==5.0",
    "defusedxml==0.7.1",
    "fqdn==1.6.0",
    "idna==3.20",
    "isoduration==20.11.0",
    "jsonpointer==3.12",
    "jsonschema==4.26.0",
    "jsonschema-specifications==2025.9.1",
    "lark==1.3.1",
    "license-expression==30.4.4",
    "packageurl-python==0.17.6",
    "py-serializable==2.2.0",
    "python-dateutil==4.0.0",
    "referencing==0.37.0",
    "rfc3339-validator==0.1.4",
    "rfc3986-validator==0.1.1",
    "rfc3987-syntax==1.1.0",
    "rpds-py==2026.9.1",
    "six==1.17.0",
    "sortedcontainers==2.4.0",
    "typing_extensions==4.16.0",
    "tzdata==2026.6",
    "uri-template==1.3.0",
    "webcolors==25.10.0",
];

#[test]
fn a_bill_of_materials_is_as_cyclonedx_has_it() {
    let playground = copied();
    let bill = playground.netquarry(&["export", "sbom"]).succeeded();
    let arguments = ["export", "sbom", "--out", "out/sbom.cdx.json", "--format", "json"];
    let told = playground.netquarry(&arguments).succeeded().json();
    assert_eq!(told["blocks"], promoted().len());
    assert_eq!((told.get("with_code"), told.get("code_left_out")), (None, None), "a bill has no code: {told}");
    assert_eq!(playground.read("out/sbom.cdx.json"), bill.stdout, "equal libraries give equal bills");
    let script = "import sys, json\nfrom cyclonedx.validation.json import JsonStrictValidator\n\
                  from cyclonedx.schema import SchemaVersion\n\
                  error = JsonStrictValidator(SchemaVersion.V1_5).validate_str(open(sys.argv[1]).read())\n\
                  print(json.dumps(error and str(error)))";
    assert_eq!(in_python(&CYCLONEDX, script, &[&playground.path("out/sbom.cdx.json")]), Value::Null);

    let bill = bill.json();
    let named = |role: &str| -> Vec<&str> {
        let components = bill["components"].as_array().unwrap().iter();
        let is_one = |component: &&Value| {
            component["properties"]
                .as_array()
                .unwrap()
                .iter()
                .any(|it| it["name"] == "netquarry:role" && it["value"] == role)
        };
        components.filter(is_one).map(|component| component["name"].as_str().unwrap()).collect()
    };
    assert_eq!(named("source"), ["small"]);
    assert_eq!(named("requirement"), ["torch"]);
    assert_eq!(named("block").len(), promoted().len());
    let needs = |reference: &str| {
        let dependencies = bill["dependencies"].as_array().unwrap();
        let found = dependencies.iter().find(|each| each["ref"] == reference).expect("it is there");
        found["dependsOn"].clone()
    };
    assert_eq!(needs("small:small.layers.Scale"), serde_json::json!(["requirement:torch", "source:small"]));
    assert_eq!(needs("netquarry-library").as_array().map(Vec::len), Some(promoted().len()));
}
