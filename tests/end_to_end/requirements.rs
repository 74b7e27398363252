//! What bundles require is installed: a package that declares a distribution whose import has another name, one that it
//! declares for an extra, and one that nobody declares.

use serde_json::{Value, json};

use crate::support::Playground;

const CORPUS: &str = r#"{
    "name": "requiring", "description": "A package with requirements", "discovery_rule": "discover-nn-module-deep",
    "sources": [{"name": "tunnels", "priority": 1, "location": {"local": {"path": "tunnels"}}}]
}"#;

const PROJECT: &str = r#"[project]
name = "tunnels"
version = "1.0"
dependencies = ["torch", "PySocks==1.7.1", "python-dotenv==1.2.1"]
[project.optional-dependencies]
all = ["sniffio==1.3.1", "h11==0.16.0"]
"#;

/// A module with one block that needs what `import_it` imports as `it`.
fn module(import_it: &str, name: &str) -> String {
    format!(
        "{import_it}\nfrom torch import nn\n\n\nclass {name}(nn.Module):\n    def forward(self, x):\n        \
         return x * len(it.__name__) if it else x\n"
    )
}

fn playground() -> Playground {
    let playground = Playground::new();
    playground.write("corpus.json", CORPUS);
    playground.write("tunnels/pyproject.toml", PROJECT);
    // Upstream needs as a whole what no single block needs.
    playground.write("tunnels/tunnels/__init__.py", "import dotenv\n");
    let modules = [
        ("needed", "import socks as it", "Needed"),
        ("optional", "import sniffio as it", "Optional"),
        ("guarded", "try:\n    import h11 as it\nexcept ImportError:\n    it = None", "Guarded"),
        ("undeclared", "import six as it", "Undeclared"),
    ];
    for (file, import_it, name) in modules {
        playground.write(&format!("tunnels/tunnels/{file}.py"), &module(import_it, name));
    }
    playground.write("tunnels/tunnels/late.py", LATE);
    playground.write("tunnels/tunnels/beside.py", BESIDE);
    playground.write("tunnels/tunnels/inner.py", INNER);
    playground
}

/// A block whose module needs what the block itself does not.
const BESIDE: &str = "import sniffio\nfrom torch import nn\n\n\nclass Beside(nn.Module):\n    def __init__(self):\n        \
                      super().__init__()\n        self.layer = nn.Linear(4, 4)\n\n    def forward(self, x):\n        \
                      return self.layer(x).relu()\n\n\ndef version():\n    return sniffio.__version__\n";

/// A block that imports a module late, which imports at its top what nobody declares.
const LATE: &str = "from torch import nn\n\n\nclass Late(nn.Module):\n    def __init__(self):\n        \
                    super().__init__()\n        from .inner import length\n        self.length = length()\n\n    \
                    def forward(self, x):\n        return x * self.length\n";
const INNER: &str =
    "\"\"\"What is imported late.\"\"\"\n\nimport six\n\n\ndef length():\n    return len(six.__name__)\n";

fn record<'a>(manifest: &'a std::collections::BTreeMap<String, Value>, name: &str) -> &'a Value {
    &manifest[&format!("tunnels:tunnels.{}.{name}", name.to_lowercase())]
}

#[test]
fn what_a_source_declares_is_installed_for_its_bundles() {
    let playground = playground();
    playground.mine(&["run", "--level", "parity"]).succeeded();
    let manifest = playground.manifest("out");
    for name in ["Needed", "Optional", "Guarded", "Beside"] {
        assert_eq!(record(&manifest, name)["level"], 7, "{}", record(&manifest, name));
    }
    let socks = json!([{"name": "PySocks", "version": "1.7.1", "provides": ["socks"]}]);
    assert_eq!(record(&manifest, "Needed")["installed"], socks);
    assert_eq!(record(&manifest, "Optional")["installed"][0]["name"], "sniffio");
    // Upstream does without it where it is not there, and so does the bundle.
    assert_eq!(record(&manifest, "Guarded")["installed"], Value::Null);
    assert_eq!(record(&manifest, "Beside")["installed"], Value::Null);

    let required: Value = serde_json::from_str(&playground.read("out/required_repos.json")).unwrap();
    let socks = required.as_array().unwrap().iter().find(|each| each["name"] == "PySocks").expect("it is relied on");
    assert_eq!((&socks["version"], &socks["blocks"]), (&json!("1.7.1"), &json!(1)));
    let run: Value = serde_json::from_str(&playground.read("out/run.json")).unwrap();
    assert_eq!(run["installed"], json!(["PySocks==1.7.1", "sniffio==1.3.1"]));

    // A file of the library is validated with what it was validated with before.
    let files = ["out/blocks/Needed.py", "out/blocks/Beside.py"];
    playground.mine(&["validate", files[0], files[1], "--level", "parity", "--gate", "parity"]).succeeded();

    // Everything that was installed is kept, for another library without a network too.
    playground.mine(&["run", "--level", "parity", "--offline", "--rebuild-index", "--out", "again"]).succeeded();
    assert_eq!(playground.read("again/manifest.jsonl"), playground.read("out/manifest.jsonl"));
}

#[test]
fn what_nobody_declares_stays_missing_until_the_user_names_it() {
    let playground = playground();
    playground.mine(&["run", "--no-install"]).succeeded();
    let manifest = playground.manifest("out");
    for name in ["Needed", "Optional", "Undeclared"] {
        assert_eq!(record(&manifest, name)["failure"]["class"], "missing_distribution");
        let hint = "nothing was installed: --no-install or `install = false` in netquarry.toml forbids it";
        assert_eq!(record(&manifest, name)["failure"]["hint"], hint);
    }

    playground.mine(&["run"]).succeeded();
    let manifest = playground.manifest("out");
    assert_eq!(record(&manifest, "Needed")["level"], 5);
    let failure = &record(&manifest, "Undeclared")["failure"];
    assert_eq!(failure["class"], "missing_distribution");
    let hint = "no source of the corpus declares a distribution that provides `six`; [validate.requirements] in \
                netquarry.toml can name one: six = \"DISTRIBUTION\"";
    assert_eq!(failure["hint"], hint);
    // Where upstream has the import, and not where it is waited for.
    assert_eq!(record(&manifest, "Late")["failure"]["upstream"], "tunnels/inner.py:3");
    let required: Value = serde_json::from_str(&playground.read("out/required_repos.json")).unwrap();
    let known: Vec<_> = required.as_array().unwrap().iter().map(|it| (&it["name"], &it["basis"], &it["url"])).collect();
    let six = (&json!("six"), &json!("assumed"), &Value::Null);
    let torch = (&json!("torch"), &json!("installed"), &json!("https://pypi.org/project/torch/"));
    assert!(known.contains(&six) && known.contains(&torch), "{known:?}");
    assert_eq!(record(&manifest, "Undeclared")["assumed_requirements"], json!(["six"]));
    let header = playground.read("out/failed/Undeclared.py");
    assert!(header.contains("\n# Assumed from the names of imports: six\n"), "{header}");
    assert!(playground.netquarry(&["report", "failures"]).succeeded().stdout.contains(hint));

    playground.write("netquarry.toml", "[validate.requirements]\nsix = \"six==1.17.0\"\nsocks = \"PySocks<0.1\"\n");
    let run = playground.mine(&["run"]).succeeded();
    assert!(run.stderr.contains("`pysocks<0.1` cannot be installed"), "{}", run.stderr);
    let manifest = playground.manifest("out");
    assert_eq!(record(&manifest, "Undeclared")["level"], 5);
    let failure = &record(&manifest, "Needed")["failure"];
    assert_eq!(failure["class"], "missing_distribution");
    assert!(failure["hint"].as_str().unwrap().starts_with("`pysocks<0.1` cannot be installed: "), "{failure}");
    // The index has said that there is none, and would say so again.
    assert_eq!(playground.mine(&["run", "--format", "json"]).succeeded().json()["up_to_date"], true);
}

#[test]
fn a_file_has_what_the_user_names_for_it_and_nothing_else() {
    let playground = playground();
    playground.write("own/mine.py", &module("import socks as it", "Mine"));
    let failed = |arguments: &[&str]| {
        let run = playground.mine(&[&["validate", "own/mine.py", "--format", "json"], arguments].concat()).ended(1);
        let failure = run.json()[0]["failure"].clone();
        assert_eq!(failure["class"], "missing_distribution");
        failure["hint"].as_str().expect("there is advice").to_owned()
    };
    let hint = failed(&[]);
    assert!(hint.contains("[validate.requirements]") && hint.contains("socks = \"DISTRIBUTION\""), "{hint}");
    assert!(hint.contains("--python"), "{hint}");
    let human = playground.mine(&["validate", "own/mine.py"]).ended(1);
    assert!(human.stderr.contains(&hint), "{}", human.stderr);

    // What lies in the cache for a library is not for a file that belongs to none.
    playground.mine(&["run"]).succeeded();
    assert_eq!(failed(&[]), hint);

    playground.write("own/requirements.txt", "# what mine.py needs\nPySocks==1.7.1\n");
    playground.mine(&["validate", "own/mine.py", "--requirements", "own/requirements.txt"]).succeeded();
    playground.write("own/wrong.txt", "PySocks==1.7.1\n-r more.txt\n");
    let wrong = playground.mine(&["validate", "own/mine.py", "--requirements", "own/wrong.txt"]).ended(2);
    assert!(wrong.stderr.contains("own/wrong.txt:2:1"), "{}", wrong.stderr);

    playground.write("netquarry.toml", "[validate.requirements]\nsocks = \"PySocks==1.7.1\"\n");
    playground.mine(&["validate", "own/mine.py"]).succeeded();
    assert!(failed(&["--no-install"]).contains("--no-install"));
    for (requirement, what) in [("PySocks<0.1", "cannot be installed"), ("six==1.17.0", "does not provide")] {
        playground.write("netquarry.toml", &format!("[validate.requirements]\nsocks = \"{requirement}\"\n"));
        let hint = failed(&[]);
        assert!(hint.contains(what) && hint.contains("netquarry.toml names"), "{hint}");
    }

    // And a bundle has what its record names, wherever it is validated.
    playground.mine(&["validate", "out/blocks/Needed.py", "--cache-dir", "other"]).succeeded();
    let hint = |bundle: &str, arguments: &[&str]| {
        let run = playground.mine(&[&["validate", bundle, "--format", "json"], arguments].concat()).ended(1);
        run.json()[0]["failure"]["hint"].as_str().expect("there is advice").to_owned()
    };
    let lost = hint("out/blocks/Needed.py", &["--no-install"]);
    assert!(lost.contains("PySocks 1.7.1") && lost.contains("--no-install"), "{lost}");
    let before = hint("out/failed/Undeclared.py", &[]);
    assert!(before.contains("`netquarry run` makes it anew") && before.contains("six = \"DISTRIBUTION\""), "{before}");
    playground.write("netquarry.toml", "[validate.requirements]\nsix = \"six==1.17.0\"\n");
    assert_eq!(hint("out/failed/Undeclared.py", &[]), before);
}

#[test]
fn without_a_network_and_a_cache_one_warning_says_what_is_missing() {
    let playground = playground();
    let run = playground.mine(&["run", "--offline"]).succeeded();
    assert_eq!(run.stderr.matches("PySocks").count() + run.stderr.matches("pysocks").count(), 1, "{}", run.stderr);
    assert!(run.stderr.contains("without --offline") && !run.stderr.contains("WARN"), "{}", run.stderr);
}
