//! A plugin that asks for more than every plugin is given, and calls that fail and are made again.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use super::plugins::plugin;
use super::support::{Playground, Run, python};

/// A repository that makes layers by names, which a file beside the source gives to classes.
fn write_repository(playground: &Playground) {
    playground.write("acme-repo/acme/__init__.py", "");
    playground.write("acme-repo/acme/parts.txt", "norm acme.parts.Norm\n");
    playground.write(
        "acme-repo/acme/make.py",
        "import importlib\nfrom pathlib import Path\n\n\ndef make(name, *arguments):\n    \
         lines = Path(__file__).with_name(\"parts.txt\").read_text().splitlines()\n    \
         path = dict(line.split() for line in lines)[name]\n    module, _, part = path.rpartition(\".\")\n    \
         return getattr(importlib.import_module(module), part)(*arguments)\n",
    );
    playground.write(
        "acme-repo/acme/parts.py",
        "import torch.nn as nn\n\n\nclass Norm(nn.Module):\n    def forward(self, x):\n        return x / x.norm()\n",
    );
    playground.write(
        "acme-repo/acme/heads.py",
        "import torch.nn as nn\n\nfrom acme.make import make\n\n\nclass Head(nn.Module):\n    def __init__(self):\n        \
         super().__init__()\n        self.norm = make(\"norm\")\n\n    def forward(self, x):\n        return self.norm(x)\n",
    );
    let sources = json!([{"name": "acme", "location": {"local": {"path": "acme-repo"}}}]);
    playground.write("acme.json", &json!({"name": "acme", "sources": sources}).to_string());
}

/// The library of a shim that looks parts up in these files.
fn library(reads: &str) -> String {
    let text = r#"//! Knows which class a name of acme means.

use netquarry_sdk::shim::{Answer, CodeIndex, Question, RepoShim, Resolved, Tables};
use netquarry_sdk::{ConfigurationError, NoConfiguration, Plugin, Refusal};

pub struct ShimAcme;

impl Plugin for ShimAcme {
    const NAME: &str = "shim-acme";
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    const DOCUMENTATION: &str = "Knows which class a name of acme means.";
    const READS_FILES: &[(&str, &str)] = READS;
    type Configuration = NoConfiguration;

    fn new(_: NoConfiguration) -> Result<Self, ConfigurationError> {
        Ok(Self)
    }
}

impl RepoShim for ShimAcme {
    fn tables(&self) -> Result<Tables, Refusal> {
        Ok(Tables {
            packages: vec!["acme".to_owned()],
            dynamic_names: vec!["acme.make.make".to_owned()],
            ..Tables::default()
        })
    }

    fn answer(&self, question: &Question, index: &dyn CodeIndex) -> Result<Answer, Refusal> {
        let source = index.find(&question.referrer).expect("the index has what refers to it").source;
        let bytes = index.read_file(&source, "acme/parts.txt").unwrap_or_else(|error| panic!("{error:?}"));
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let name = &question.literals[0];
        let path = text.lines().find_map(|line| line.strip_prefix(name.as_str())).expect("every name has a line");
        Ok(Answer::Definitions(Resolved { paths: vec![path.trim().to_owned()], why: "acme/parts.txt says so".to_owned() }))
    }
}

netquarry_sdk::export!(ShimAcme as RepoShim);
"#;
    text.replace("READS;", &format!("&[{reads}];"))
}

fn run(playground: &Playground, further: &[&str]) -> Run {
    let python = python().to_str().expect("a path of ours is UTF-8");
    let arguments = ["run", "--level", "compile", "--gate", "parse", "--python", python];
    playground.netquarry(&[&arguments, further].concat())
}

fn publish(playground: &Playground, version: &str) {
    let manifest = playground.read("shim-acme/Cargo.toml");
    let line = manifest.lines().find(|line| line.starts_with("version = ")).expect("it has a version").to_owned();
    playground.write("shim-acme/Cargo.toml", &manifest.replace(&line, &format!("version = \"{version}\"")));
    let published = ["publish", "shim-acme", "--registry", "registry", "--license", "MIT", "--repository", "."];
    plugin(playground, &published).succeeded();
}

/// The only call that was kept.
fn kept(playground: &Playground) -> PathBuf {
    let entries = fs::read_dir(playground.path("kept")).expect("calls were kept");
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    assert_eq!(folders.len(), 1, "{folders:?}");
    folders.remove(0)
}

const PARTS: &str = "(\"acme/*.txt\", \"acme/parts.txt says which class a name means\")";

#[test]
fn what_a_plugin_asks_for_is_granted_or_it_does_not_run() {
    let playground = Playground::new();
    write_repository(&playground);
    plugin(&playground, &["new", "shim-acme", "--kind", "repo-shim"]).succeeded();
    fs::remove_dir_all(playground.path("shim-acme/examples")).expect("the template has it");
    playground.write("shim-acme/src/lib.rs", &library(""));
    publish(&playground, "0.1.0");
    playground.write("shim-acme/src/lib.rs", &library(PARTS));
    publish(&playground, "0.2.0");
    let configuration = "corpus = \"acme.json\"\n[[registries]]\nname = \"own\"\nlocation = \"registry\"\n";
    playground.write("netquarry.toml", configuration);

    // A version that asks for nothing is added as it is, and what it reads all the same is refused: its call fails.
    plugin(&playground, &["add", "shim-acme@=0.1.0", "--allow-unsigned"]).succeeded();
    let failed = run(&playground, &["--keep-failed-calls", "kept"]);
    assert!(failed.stderr.contains("NotPermitted"), "{}", failed.stderr);
    let call = kept(&playground);
    // What has been asked once has to be asked again for its failures to be kept.
    fs::remove_dir_all(playground.path("kept")).unwrap();
    run(&playground, &["--keep-failed-calls", "kept"]);
    assert_eq!(kept(&playground), call);
    let folder = call.to_str().expect("a path of ours is UTF-8");
    let again = format!("netquarry plugin replay kept/{}", call.file_name().unwrap().display());
    assert!(failed.stderr.contains(&again), "{again}: {}", failed.stderr);

    // The call can be made again: as it was, by a build that does better, and natively.
    let again = plugin(&playground, &["replay", folder]).ended(1);
    assert!(again.stdout.contains("It fails as it did: it trapped"), "{}", again.stdout);
    assert!(again.stdout.contains("it logged: error: panicked at") && again.stdout.contains("NotPermitted"));
    let careful =
        library("").replace("unwrap_or_else(|error| panic!(\"{error:?}\"))", "unwrap_or(b\"norm acme.Norm\".to_vec())");
    let native = "\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn the_kept_call() {\n        \
                  let answer = netquarry_sdk::replay::repo_shim::<super::ShimAcme>(env!(\"KEPT_CALL\"));\n        \
                  assert_eq!(answer.unwrap()[\"Definitions\"][\"paths\"][0], \"acme.Norm\");\n    }\n}\n";
    playground.write("shim-acme/src/lib.rs", &(careful + native));
    let answered = plugin(&playground, &["replay", folder, "--of", "shim-acme", "--format", "json"]).succeeded().json();
    assert_eq!(answered["outcome"]["answered"]["Definitions"]["paths"][0], "acme.Norm");
    assert_eq!(answered["as_kept"], false);
    let mut cargo = std::process::Command::new("cargo");
    cargo.args(["test", "--quiet"]).current_dir(playground.path("shim-acme")).env("KEPT_CALL", &call);
    Run::of(cargo.env("CARGO_TARGET_DIR", concat!(env!("CARGO_TARGET_TMPDIR"), "/plugins"))).succeeded();

    // A version that asks for more is not taken before somebody grants it.
    let refused = plugin(&playground, &["update"]).ended(2);
    assert!(refused.stderr.contains("read-files acme/*.txt (acme/parts.txt says which class a name means)"));
    assert!(playground.read("netquarry.lock").contains("0.1.0"));
    let granted = plugin(&playground, &["update", "--grant"]).succeeded();
    assert!(
        granted.stderr.contains("Granted") && granted.stderr.contains("read-files acme/*.txt"),
        "{}",
        granted.stderr
    );
    assert!(playground.read("netquarry.toml").ends_with("[grants.shim-acme]\nread-files = [\"acme/*.txt\"]\n"));
    run(&playground, &[]).succeeded();
    assert!(playground.read("out/blocks/Head.py").contains("class Norm"));

    // What is granted no more is not run.
    let text = playground.read("netquarry.toml").replace("acme/*.txt", "acme/*.json");
    playground.write("netquarry.toml", &text);
    let refused = run(&playground, &[]).ended(2);
    assert!(refused.stderr.contains("asks for what nobody has granted it"), "{}", refused.stderr);
    assert!(playground.netquarry(&["config", "check"]).ended(1).stderr.contains("nobody has granted it"));
    plugin(&playground, &["remove", "shim-acme"]).succeeded();
    assert!(!playground.read("netquarry.toml").contains("grants"));
}
