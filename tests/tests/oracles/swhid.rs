//! SWHIDs, compared with those that `swh.model` makes: the reference implementation of Software Heritage.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::Command;

use netquarry_core::provenance;
use netquarry_core::source::lines_of;
use netquarry_core::swhid::CoreSwhid;
use netquarry_core::syntax;
use netquarry_corpus::corpus::{ArchivePreference, FetchPolicy, GitLocation, Location, PypiLocation, SourceSpec};
use netquarry_corpus::fetch::{FetchOptions, fetch};
use netquarry_corpus::scope::Scope;
use netquarry_corpus::snapshot::Snapshot;
use netquarry_tests::packages::{python, unpacked};
use serde_json::{Value, json};

/// `swh.model` with what it needs.
const REFERENCE: [&str; 8] = [
    "swh.model==8.4.1",
    "attrs==26.1.0",
    "attrs_strict==1.0.1",
    "deprecated==1.3.1",
    "iso8601==2.1.0",
    "python-dateutil==4.0.0",
    "typing_extensions==4.16.0",
    "wrapt==2.5.2",
];

fn fetched(name: &str, location: Location, cache: &Path) -> Snapshot {
    let spec = SourceSpec {
        name: name.to_owned(),
        description: String::new(),
        priority: 1,
        location,
        fetch: FetchPolicy::Missing,
        import_roots: None,
        scope: Scope::default(),
    };
    fetch(&spec, &FetchOptions::new(cache), &()).expect("the source is there")
}

/// A request for each definition and statement of every Python file.
fn definitions(snapshot: &Snapshot, scratch: &Path) -> Vec<Value> {
    let mut requests = Vec::new();
    for (number, file) in snapshot.files.iter().enumerate() {
        let bytes = snapshot.read(file).expect("it was fetched");
        let copy = scratch.join(format!("{}-{number}", snapshot.source.name));
        fs::write(&copy, &bytes).expect("the folder can be written to");
        let Ok(text) = syntax::decode(&bytes) else { continue };
        for statement in &syntax::facts(&bytes).statements {
            let lines = lines_of(&text, statement.range);
            let swhid = provenance::definition(&snapshot.source, CoreSwhid::of_content(&bytes), &file.path, lines);
            let read = swhid.to_string().parse();
            assert_eq!(read.as_ref(), Ok(&swhid));
            requests.push(json!({
                "kind": "definition",
                "file": copy,
                "origin": provenance::origin(&snapshot.source),
                "anchor": swhid.qualifiers.anchor.map(|anchor| anchor.to_string()),
                "path": file.path,
                "lines": lines,
                "swhid": swhid.to_string(),
            }));
        }
    }
    requests
}

/// Makes a repository with a history, and with names that have to be escaped.
fn repository(folder: &Path) {
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=Jörg Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"];
        let status = Command::new("git").args(identity).args(arguments).current_dir(folder).status();
        assert!(status.expect("there is a git").success(), "git {arguments:?}");
    };
    let write = |path: &str, text: &str| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("it lies in the folder")).expect("it can be made");
        fs::write(path, text).expect("it can be written");
    };
    git(&["init", "--quiet", "--initial-branch=main"]);
    write("net/__init__.py", "");
    write("net/layer.py", "class Layer:\n    pass\n\n\nSIZE = 3\n");
    write("net-extra/a b;c%3B.py", "def f():\n    return 1\n");
    write("net.py", "x = 1; y = 2\n");
    write("ähnlich/größe=1.py", "def g(): ...\n");
    write("LICENSE", "All rights reserved.\n");
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "--message", "First"]);
    write("run.sh", "#!/bin/sh\n");
    git(&["add", "--all"]);
    git(&["update-index", "--chmod=+x", "run.sh"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(folder.join("run.sh"), executable).expect("it is ours");
        std::os::unix::fs::symlink("net.py", folder.join("link.py")).expect("links can be made");
    }
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "--message", "Second\n\nWith more to say.\n"]);
}

#[test]
fn identifiers_are_those_of_the_reference() {
    let scratch = tempfile::tempdir().expect("a temporary folder can be made");
    let packages = unpacked(Path::new(env!("CARGO_TARGET_TMPDIR")), &REFERENCE);
    let distribution = fetched(
        "timm",
        Location::Pypi(PypiLocation {
            project: "timm".to_owned(),
            version: Some("1.0.31".to_owned()),
            prefer: ArchivePreference::default(),
        }),
        &Path::new(env!("CARGO_TARGET_TMPDIR")).join("swhid-sources"),
    );
    let folder = scratch.path().join("repo;1%");
    fs::create_dir(&folder).expect("it is new");
    repository(&folder);
    let url = format!("file://{}", folder.display());
    let git = Location::Git(GitLocation { url, revision: None, distribution: None });
    let git = fetched("repository", git, &scratch.path().join("cache"));

    let mut requests = definitions(&distribution, scratch.path());
    let of_distribution = requests.len();
    requests.extend(definitions(&git, scratch.path()));
    let text = |swhid: Option<CoreSwhid>| swhid.expect("git has it").to_string();
    let commit = git.source.commit.as_ref().expect("git has commits");
    let (revision, directory) = (text(provenance::revision(&git.source)), text(provenance::directory(&git.source)));
    requests.push(json!({"kind": "revision", "folder": folder, "commit": commit, "swhid": revision}));
    requests.push(json!({"kind": "directory", "folder": folder, "swhid": directory}));

    let (asked, answered) = (scratch.path().join("requests.jsonl"), scratch.path().join("responses.jsonl"));
    let mut file = fs::File::create(&asked).expect("the folder can be written to");
    requests.iter().for_each(|request| writeln!(file, "{request}").expect("there is room"));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("oracles/swhid_oracle.py");
    let mut oracle = Command::new(python());
    oracle.arg("-I").arg(script).arg(packages).arg(asked).arg(&answered);
    assert!(oracle.status().expect("there is a Python").success(), "the oracle failed");

    let lines = BufReader::new(fs::File::open(answered).expect("the oracle has answered")).lines();
    let mut lines: Vec<Value> =
        lines.map(|line| serde_json::from_str(&line.expect("lines are UTF-8")).expect("lines are JSON")).collect();
    let counts: BTreeMap<String, usize> =
        serde_json::from_value(lines.pop().expect("it counts at the end")).expect("they are numbers");
    assert_eq!(lines, Vec::<Value>::new(), "identifiers that differ");
    assert!(of_distribution > 5_000 && counts["definition"] > of_distribution, "{counts:?}");
    assert_eq!((counts["revision"], counts["directory"]), (1, 1));
}
