//! What holds for the project as a whole, as README.md says it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Crates that touch no file, process, clock or environment, and the text of the `clippy.toml` that holds them to it.
const PURE: [&str; 1] = ["host/netquarry-core"];

/// One call at least of every kind that a pure crate must not make.
const BANNED: [&str; 16] = [
    "std::env::args",
    "std::env::var",
    "std::env::vars",
    "std::fs::File::open",
    "std::fs::OpenOptions::open",
    "std::fs::metadata",
    "std::fs::read_dir",
    "std::fs::read_to_string",
    "std::fs::write",
    "std::io::stdout",
    "std::net::TcpStream::connect",
    "std::path::Path::exists",
    "std::process::Command::new",
    "std::thread::Builder::spawn",
    "std::time::Instant::now",
    "std::time::SystemTime::now",
];

/// The crates of the workspace that each crate of the host may use.
const EDGES: [(&str, &[&str]); 6] = [
    ("netquarry", &["netquarry-core", "netquarry-corpus", "netquarry-plugin", "netquarry-registry", "netquarry-store"]),
    ("netquarry-core", &[]),
    ("netquarry-corpus", &["netquarry-core"]),
    ("netquarry-plugin", &["netquarry-core"]),
    ("netquarry-registry", &["netquarry-plugin"]),
    ("netquarry-store", &["netquarry-core"]),
];

fn read(relative: &str) -> String {
    let path = root().join(relative);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the workspace").to_owned()
}

#[test]
fn pure_crates_are_kept_pure() {
    for folder in PURE {
        let rules = read(&format!("{folder}/clippy.toml"));
        for call in BANNED {
            assert!(rules.contains(&format!("{{ path = \"{call}\"")), "{folder} may call {call}");
        }
    }
    assert!(read(".ci/run").contains("cargo clippy --workspace --all-targets --locked -- -D warnings"));
}

#[test]
fn crates_of_the_host_use_each_other_as_the_architecture_has_it() {
    for (name, allowed) in EDGES {
        let manifest = read(&format!("host/{name}/Cargo.toml"));
        let used: BTreeSet<&str> = section(&manifest, "dependencies")
            .filter_map(|line| line.split(['.', ' ', '=']).next())
            .filter(|dependency| dependency.starts_with("netquarry"))
            .collect();
        assert_eq!(used, allowed.iter().copied().collect(), "{name}");
    }
    let crates: BTreeSet<_> = fs::read_dir(root().join("host"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(crates, EDGES.iter().map(|(name, _)| (*name).to_owned()).collect());
}

/// The lines of a section of a manifest.
fn section<'a>(manifest: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let heading = format!("[{name}]");
    let lines = manifest.lines().skip_while(move |line| *line != heading).skip(1);
    lines.take_while(|line| !line.starts_with('['))
}
