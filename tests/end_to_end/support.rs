//! A folder to work in, the built program, and an environment with torch.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_netquarry");

/// An interpreter with torch: the one that `NETQUARRY_PYTHON` names, or one of an environment that is made once and kept.
pub(crate) fn python() -> &'static Path {
    static PYTHON: OnceLock<PathBuf> = OnceLock::new();
    PYTHON.get_or_init(|| {
        // The unit tests of the program use the same one.
        let cache = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/netquarry-test-cache");
        let mut command = Command::new(PROGRAM);
        command.args(["env", "prepare", "--format", "json", "--no-config", "--cache-dir"]).arg(cache);
        let answer = Run::of(&mut command).succeeded().json();
        answer["environment"]["python"].as_str().expect("an environment has an interpreter").into()
    })
}

/// A cache folder in which nothing is but the first-party plugins, compiled: without it each test would compile them.
fn compiled_plugins() -> &'static Path {
    static COMPILED: OnceLock<PathBuf> = OnceLock::new();
    COMPILED.get_or_init(|| {
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compiled-plugins");
        Run::of(Command::new(PROGRAM).args(["plugin", "list", "--no-config", "--cache-dir"]).arg(&cache)).succeeded();
        cache.join("plugins")
    })
}

/// A temporary folder with the corpus of these tests in it, and a cache of its own.
pub(crate) struct Playground {
    folder: tempfile::TempDir,
}

impl Playground {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/end_to_end");
        copy(&here.join("corpus.json"), &folder.path().join("corpus.json"));
        copy(&here.join("package"), &folder.path().join("package"));
        let playground = Self { folder };
        playground.bring_plugins("cache");
        playground
    }

    /// Puts the compiled plugins into a cache folder; the program takes them from a private folder only.
    pub(crate) fn bring_plugins(&self, cache: &str) {
        let folder = self.path(cache).join("plugins");
        copy(compiled_plugins(), &folder);
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }

    pub(crate) fn write(&self, relative: &str, text: &str) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().expect("a file lies in a folder")).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, relative: &str) -> String {
        fs::read_to_string(self.path(relative)).unwrap_or_else(|error| panic!("{relative}: {error}"))
    }

    /// The program in this folder. Paths in its messages are relative, so that they are the same everywhere.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(arguments).current_dir(self.folder.path());
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("NETQUARRY_")) {
            command.env_remove(name);
        }
        command.env("NETQUARRY_CACHE", "cache").env("NO_COLOR", "1");
        command
    }

    /// A text without digests, and with the paths of this folder as they are seen from it.
    pub(crate) fn seen_from_here(&self, text: &str) -> String {
        let folder = format!("{}/", self.path("").display().to_string().trim_end_matches('/'));
        without_digests(text).replace(&folder, "")
    }

    /// Runs a command that needs no Python.
    pub(crate) fn netquarry(&self, arguments: &[&str]) -> Run {
        Run::of(&mut self.command(arguments))
    }

    /// Runs a command over the corpus of these tests, with an interpreter that has torch.
    pub(crate) fn mine(&self, arguments: &[&str]) -> Run {
        Run::of(&mut self.mining(arguments))
    }

    pub(crate) fn mining(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(arguments);
        command.env("NETQUARRY_PYTHON", python()).env("NETQUARRY_CORPUS", "corpus.json");
        command
    }

    /// The records of the library in `folder` by block.
    pub(crate) fn manifest(&self, folder: &str) -> std::collections::BTreeMap<String, Value> {
        let record = |line: &str| {
            let record: Value = serde_json::from_str(line).expect("a record is JSON");
            (record["block"].as_str().expect("a record names its block").to_owned(), record)
        };
        self.read(&format!("{folder}/manifest.jsonl")).lines().map(record).collect()
    }
}

/// Every file below `folder` but `run.json`, with its bytes.
pub(crate) fn tree(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut waiting = vec![folder.to_owned()];
    let mut files = Vec::new();
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else if path != folder.join("run.json") {
                let relative = path.strip_prefix(folder).expect("it lies below").to_string_lossy().into_owned();
                files.push((relative, fs::read(path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

/// Digests of plugins change with every build of them.
pub(crate) fn without_digests(text: &str) -> String {
    const DIGITS: usize = 64;
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("sha256:") {
        shown.push_str(before);
        shown.push_str("sha256:...");
        rest = after.get(DIGITS..).unwrap_or("");
    }
    shown + rest
}

fn copy(from: &Path, to: &Path) {
    if !from.is_dir() {
        fs::copy(from, to).unwrap();
        return;
    }
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let name = entry.unwrap().file_name();
        copy(&from.join(&name), &to.join(&name));
    }
}

/// What a command printed and how it ended.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn of(command: &mut Command) -> Self {
        let output = command.stdin(Stdio::null()).output().expect("the program can be started");
        Self::from(output)
    }

    pub(crate) fn from(output: Output) -> Self {
        Self {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("standard error is UTF-8"),
        }
    }

    #[track_caller]
    pub(crate) fn ended(self, status: i32) -> Self {
        assert_eq!(self.status, status, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn succeeded(self) -> Self {
        self.ended(0)
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}:\n{}", self.stdout))
    }
}
