//! What was changed after it was written is found, each change as what it is and nothing beside it.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::export::{copied, write};
use super::support::{Playground, Run, python};

/// A change of one file.
enum Edit {
    Remove,
    Write(&'static str),
    Append(&'static str),
    /// The first place where this stands, by that.
    Replace(&'static str, &'static str),
    /// The field of the block's record, by its JSON pointer, by this JSON.
    Record(&'static str, &'static str, &'static str),
    /// The line of the block once more.
    Repeat(&'static str),
}

/// What is changed, in which file, and the checks and places that find it. A file that is `sealed` has its new digest in
/// `run.json`: who changes records knows where their digests are.
struct Case {
    name: &'static str,
    file: &'static str,
    edit: Edit,
    sealed: bool,
    findings: &'static [(&'static str, &'static str)],
}

const SCALE: &str = "small:small.layers.Scale";

const CASES: &[Case] = &[
    Case {
        name: "a bundle that was changed",
        file: "blocks/Scale.py",
        edit: Edit::Append("\nimport os\n"),
        sealed: false,
        findings: &[("changed_file", "blocks/Scale.py")],
    },
    Case {
        name: "a bundle that was taken away",
        file: "blocks/Scale.py",
        edit: Edit::Remove,
        sealed: false,
        findings: &[("missing_file", "blocks/Scale.py")],
    },
    Case {
        name: "a file without a record of its own that was changed",
        file: "required_repos.json",
        edit: Edit::Append(" "),
        sealed: false,
        findings: &[("changed_file", "required_repos.json")],
    },
    Case {
        name: "a file that somebody put there",
        file: "blocks/Other.py",
        edit: Edit::Write("import os\n"),
        sealed: false,
        findings: &[("unrecorded_file", "blocks/Other.py")],
    },
    Case {
        name: "records that were changed",
        file: "manifest.jsonl",
        edit: Edit::Append("\n"),
        sealed: false,
        findings: &[("record", "manifest.jsonl:9"), ("changed_file", "manifest.jsonl")],
    },
    Case {
        name: "no records",
        file: "manifest.jsonl",
        edit: Edit::Remove,
        sealed: false,
        findings: &[("missing_file", "manifest.jsonl")],
    },
    Case {
        name: "no record of the run",
        file: "run.json",
        edit: Edit::Remove,
        sealed: false,
        findings: &[("run_record", "run.json")],
    },
    Case {
        name: "a run that did not end",
        file: "run.json",
        edit: Edit::Replace("\"state\": \"finished\"", "\"state\": \"unfinished\""),
        sealed: false,
        findings: &[("run_record", "run.json")],
    },
    Case {
        name: "a record that is none",
        file: "manifest.jsonl",
        edit: Edit::Append("{}\n"),
        sealed: true,
        findings: &[("record", "manifest.jsonl:9")],
    },
    Case {
        name: "a block with two records",
        file: "manifest.jsonl",
        edit: Edit::Repeat(SCALE),
        sealed: true,
        findings: &[("duplicate", "manifest.jsonl:9"), ("duplicate", "manifest.jsonl:9")],
    },
    Case {
        name: "the digest of a bundle",
        file: "manifest.jsonl",
        edit: Edit::Record(SCALE, "/sha256", r#""00""#),
        sealed: true,
        findings: &[("changed_file", "blocks/Scale.py")],
    },
    Case {
        name: "the lines of a bundle",
        file: "manifest.jsonl",
        edit: Edit::Record(SCALE, "/lines", "1"),
        sealed: true,
        findings: &[("lines", "manifest.jsonl:LINE")],
    },
    Case {
        name: "a duplicate among the blocks that are kept",
        file: "manifest.jsonl",
        edit: Edit::Record(SCALE, "/dedup/decision", r#""removed""#),
        sealed: true,
        findings: &[("record", "manifest.jsonl:LINE")],
    },
    Case {
        name: "a bundle outside",
        file: "manifest.jsonl",
        edit: Edit::Record(SCALE, "/bundle", r#""../out/blocks/Scale.py""#),
        sealed: true,
        findings: &[("record", "manifest.jsonl:LINE")],
    },
    Case {
        name: "an identifier that is none",
        file: "manifest.jsonl",
        edit: Edit::Record(SCALE, "/swhid", r#""swh:1:rev:0""#),
        sealed: true,
        findings: &[("swhid", "manifest.jsonl:LINE")],
    },
    Case {
        name: "the identifier of another file",
        file: "manifest.jsonl",
        edit: Edit::Record(SCALE, "/swhid", r#""swh:1:cnt:0000000000000000000000000000000000000000""#),
        sealed: true,
        findings: &[("swhid", "manifest.jsonl:LINE")],
    },
    Case {
        name: "a definition of another content",
        file: "manifest.jsonl",
        edit: Edit::Record(
            SCALE,
            "/closure/1/swhid",
            r#""swh:1:cnt:0000000000000000000000000000000000000000;path=/small/functional.py;lines=3""#,
        ),
        sealed: true,
        findings: &[("swhid", "manifest.jsonl:LINE")],
    },
    Case {
        name: "a definition of a revision that its source does not have",
        file: "manifest.jsonl",
        edit: Edit::Record(
            SCALE,
            "/closure/1/swhid",
            r#""swh:1:cnt:645e6b07161c68507daf81490d83c20e89d64040;anchor=swh:1:rev:0000000000000000000000000000000000000000;path=/small/functional.py;lines=3""#,
        ),
        sealed: true,
        findings: &[("swhid", "manifest.jsonl:LINE")],
    },
    Case {
        name: "a licence that is none",
        file: "manifest.jsonl",
        edit: Edit::Record(SCALE, "/license", r#""MIT AND""#),
        sealed: true,
        findings: &[("license", "manifest.jsonl:LINE")],
    },
    Case {
        name: "a licence that does not follow from the definitions",
        file: "manifest.jsonl",
        edit: Edit::Record(SCALE, "/license", r#""Apache-2.0""#),
        sealed: true,
        findings: &[("license", "manifest.jsonl:LINE")],
    },
    Case {
        name: "a definition whose licence is none",
        file: "manifest.jsonl",
        edit: Edit::Record(SCALE, "/closure/1/license", r#""Permissive""#),
        sealed: true,
        findings: &[("license", "manifest.jsonl:LINE")],
    },
    Case {
        name: "a level that does not follow from the outcomes",
        file: "manifest.jsonl",
        edit: Edit::Record(SCALE, "/level", "7"),
        sealed: true,
        findings: &[("record", "manifest.jsonl:LINE")],
    },
    Case {
        name: "a spec that is no JSON",
        file: "specs/emit-neutral-spec/blocks/Scale.json",
        edit: Edit::Write("{"),
        sealed: true,
        findings: &[("spec", "specs/emit-neutral-spec/blocks/Scale.json")],
    },
];

/// The number of the line of a block.
fn line_of(manifest: &str, block: &str) -> usize {
    let is_it = |line: &str| serde_json::from_str::<Value>(line).is_ok_and(|record| record["block"] == block);
    manifest.lines().position(is_it).expect("the block has a record")
}

fn edited(text: &str, edit: &Edit) -> String {
    match edit {
        Edit::Remove => unreachable!("there is no text then"),
        Edit::Write(new) => (*new).to_owned(),
        Edit::Append(new) => format!("{text}{new}"),
        Edit::Replace(old, new) => {
            assert!(text.contains(old), "{old}");
            text.replacen(old, new, 1)
        }
        Edit::Record(block, pointer, new) => {
            let changed = line_of(text, block);
            let line = |(number, line): (usize, &str)| match number == changed {
                true => {
                    let mut record: Value = serde_json::from_str(line).unwrap();
                    *record.pointer_mut(pointer).expect("the record has the field") =
                        serde_json::from_str(new).unwrap();
                    format!("{record}\n")
                }
                false => format!("{line}\n"),
            };
            text.lines().enumerate().map(line).collect()
        }
        Edit::Repeat(block) => {
            let line = text.lines().nth(line_of(text, block)).expect("it is one of them");
            format!("{text}{line}\n")
        }
    }
}

fn apply(playground: &Playground, case: &Case) {
    let path = format!("out/{}", case.file);
    if matches!(case.edit, Edit::Remove) {
        return std::fs::remove_file(playground.path(&path)).unwrap();
    }
    let text = std::fs::read_to_string(playground.path(&path)).unwrap_or_default();
    write(playground, &path, edited(&text, &case.edit).as_bytes());
    if case.sealed {
        seal(playground, case.file);
    }
}

/// Gives a file its digest in `run.json`.
fn seal(playground: &Playground, file: &str) {
    let bytes = std::fs::read(playground.path(&format!("out/{file}"))).unwrap();
    let digest: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    let mut run: Value = serde_json::from_str(&playground.read("out/run.json")).unwrap();
    run["files"][file] = digest.into();
    playground.write("out/run.json", &run.to_string());
}

fn found(run: &Run) -> Vec<(String, String)> {
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let findings = run.json()["findings"].as_array().unwrap().clone();
    findings.iter().map(|finding| (word(&finding["check"]), word(&finding["place"]))).collect()
}

/// Checks what is in a folder of the playground, and that the exit status says whether something was found.
#[track_caller]
fn check(playground: &Playground, arguments: &[&str], expected: &[(&str, &str)], name: &str) {
    let run = playground.netquarry(&[&["verify", "--format", "json"], arguments].concat());
    let found: Vec<(String, String)> = found(&run);
    let found: Vec<(&str, &str)> = found.iter().map(|(check, place)| (check.as_str(), place.as_str())).collect();
    assert_eq!(found, expected, "{name}: {}", run.stderr);
    let is_fault = expected.iter().any(|(check, _)| *check != "unrecorded_file");
    assert_eq!(run.status, i32::from(is_fault), "{name}");
}

#[test]
fn each_change_of_a_library_is_found_as_what_it_is() {
    let playground = copied();
    let line = line_of(&playground.read("out/manifest.jsonl"), SCALE) + 1;
    let place_of_record = format!("manifest.jsonl:{line}");
    check(&playground, &[], &[], "nothing was changed");
    for case in CASES {
        let playground = copied();
        apply(&playground, case);
        let place = |place: &'static str| match place {
            "manifest.jsonl:LINE" => place_of_record.as_str(),
            place => place,
        };
        let expected: Vec<(&str, &str)> = case.findings.iter().map(|(check, it)| (*check, place(it))).collect();
        check(&playground, &[], &expected, case.name);
    }
}

#[test]
fn specs_are_compared_with_the_schema_beside_them() {
    let playground = copied();
    let folder = "specs/emit-neutral-spec";
    let schema = r#"{"type": "object", "required": ["id"], "properties": {"name": {"type": "string"}}}"#;
    playground.write(&format!("out/{folder}/schema.json"), schema);
    seal(&playground, &format!("{folder}/schema.json"));
    check(&playground, &[], &[], "all are as it has them");
    let spec = format!("{folder}/blocks/Scale.json");
    playground.write(&format!("out/{spec}"), r#"{"id": "small:small.layers.Scale", "name": 3}"#);
    seal(&playground, &spec);
    check(&playground, &[], &[("spec", &spec)], "one is not");
    // A schema that would have to be fetched is none.
    playground.write(&format!("out/{folder}/schema.json"), r#"{"$ref": "https://example.org/schema.json"}"#);
    seal(&playground, &format!("{folder}/schema.json"));
    check(&playground, &[], &[("spec", &format!("{folder}/schema.json"))], "nothing is fetched");
}

#[test]
fn changes_of_a_dataset_are_found() {
    let changed = |edit: &dyn Fn(&Playground), expected: &[(&str, &str)], name: &str| {
        let playground = copied();
        playground.netquarry(&["export", "dataset", "--out", "dataset"]).succeeded();
        edit(&playground);
        check(&playground, &["dataset"], expected, name);
    };
    let table = |playground: &Playground| {
        let is_there = |split: &&str| playground.path(&format!("dataset/data/{split}-00000-of-00001.parquet")).exists();
        let split = ["train", "validation", "test"].into_iter().find(is_there).expect("a side has a block");
        format!("data/{split}-00000-of-00001.parquet")
    };
    let card = |playground: &Playground, old: &str, new: &str| {
        let text = playground.read("dataset/README.md");
        assert!(text.contains(old), "{text}");
        playground.write("dataset/README.md", &text.replacen(old, new, 1));
    };
    changed(&|_| {}, &[], "nothing was changed");
    changed(
        &|it| it.write("dataset/data/more.parquet", ""),
        &[("unrecorded_file", "data/more.parquet")],
        "a file more",
    );
    changed(&|it| it.write("dataset/NOTICE", "Mine.\n"), &[("changed_file", "NOTICE")], "another notice");
    changed(&|it| std::fs::remove_file(it.path("dataset/NOTICE")).unwrap(), &[("missing_file", "NOTICE")], "no notice");
    changed(&|it| card(it, "- mit\n", "- apache-2.0\n"), &[("card", "README.md")], "another licence");
    changed(&|it| card(it, "num_examples: ", "num_examples: 1"), &[("card", "README.md")], "other counts");
    changed(&|it| card(it, "---\n", ""), &[("card", "README.md")], "a head that is none");
    let playground = copied();
    playground.netquarry(&["export", "dataset", "--out", "dataset"]).succeeded();
    let table = table(&playground);
    playground.write(&format!("dataset/{table}"), "no table");
    check(&playground, &["dataset"], &[("unreadable_file", &table)], "a table that is none");
    std::fs::remove_file(playground.path(&format!("dataset/{table}"))).unwrap();
    check(&playground, &["dataset"], &[("missing_file", &table)], "a table less");
}

#[test]
fn changes_of_a_bill_of_materials_are_found() {
    let playground = copied();
    playground.netquarry(&["export", "sbom", "--out", "out/sbom.cdx.json"]).succeeded();
    let bill = playground.read("out/sbom.cdx.json");
    let verify = ["out/sbom.cdx.json"];
    check(&playground, &verify, &[], "nothing was changed");
    playground.write("out/blocks/Scale.py", "import os\n");
    check(&playground, &verify, &[("changed_file", "blocks/Scale.py")], "another bundle");
    std::fs::remove_file(playground.path("out/blocks/Scale.py")).unwrap();
    check(&playground, &verify, &[("missing_file", "blocks/Scale.py")], "a bundle less");
    playground.write("sbom.cdx.json", &bill);
    check(&playground, &["sbom.cdx.json"], &[], "without a library beside it");
    playground.write("sbom.cdx.json", &bill.replacen("\"MIT\"", "\"ISC\"", 1));
    check(&playground, &["sbom.cdx.json"], &[("changed_file", "sbom.cdx.json")], "another licence");
    playground.write("sbom.cdx.json", &bill.replacen("\"MIT\"", "\"no licence\"", 1));
    let broken = [("bill", "sbom.cdx.json"), ("changed_file", "sbom.cdx.json")];
    check(&playground, &["sbom.cdx.json"], &broken, "a licence that is none");
}

#[test]
fn verdicts_are_reached_again() {
    let playground = copied();
    let verify = |status: i32| {
        let mut command = playground.command(&["verify", "--verdicts", "--format", "json"]);
        Run::of(command.env("NETQUARRY_PYTHON", python())).ended(status)
    };
    let run = verify(0);
    assert_eq!((found(&run), &run.json()["counts"]["verdicts"]), (vec![], &run.json()["counts"]["bundles"]));
    // A record that says more than can be shown.
    let block = "small:small.troubled.NeedsDistribution";
    for (field, value) in [("/levels/execute", "\"passed\""), ("/level", "3")] {
        let text = playground.read("out/manifest.jsonl");
        let edit = Edit::Record(block, field, value);
        playground.write("out/manifest.jsonl", &edited(&text, &edit));
    }
    seal(&playground, "manifest.jsonl");
    let run = verify(1);
    let finding = &run.json()["findings"][0];
    assert_eq!((finding["check"].as_str(), finding["block"].as_str()), (Some("verdict"), Some(block)), "{finding}");
    let what = finding["what"].as_str().unwrap();
    assert!(what.starts_with("Execute was passed, and is failed: missing_distribution: "), "{what}");
}

#[test]
fn what_is_nothing_of_ours_is_refused() {
    let playground = Playground::new();
    for path in ["package", "corpus.txt", "nowhere"] {
        playground.write("corpus.txt", "");
        let run = playground.netquarry(&["verify", path]).ended(2);
        assert!(run.stderr.contains(path), "{}", run.stderr);
    }
    playground.write("table.parquet", "no table");
    let run = playground.netquarry(&["verify", "table.parquet"]).ended(2);
    assert!(run.stderr.contains("cannot be checked"), "{}", run.stderr);
}
