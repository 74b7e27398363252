//! A third party's whole path: a plugin is written, signed and published, and a project takes it over HTTP, pins it, runs it,
//! and goes with the registry from version to version.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use netquarry_plugin::Kind;

use super::guest::Guest;
use super::plugins::{plugin, write_repository};
use super::support::{Playground, Run, python};

/// A registry's folder on a web server of this machine, until it is dropped.
struct Server {
    process: Child,
    url: String,
}

impl Server {
    fn start(playground: &Playground, folder: &str) -> Self {
        let mut command = Command::new("python3");
        command
            .args(["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory"])
            .arg(playground.path(folder));
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("Python can be started");
        let mut line = String::new();
        let output = process.stdout.take().expect("it is piped");
        BufReader::new(output).read_line(&mut line).expect("it says where it listens");
        let port = line.split("port ").nth(1).and_then(|rest| rest.split_whitespace().next()).expect("a port");
        Self { url: format!("http://127.0.0.1:{port}/"), process }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().expect("it still runs");
        self.process.wait().expect("it was started");
    }
}

fn publish(playground: &Playground) -> Run {
    let published = ["publish", "shim-acme", "--registry", "registry", "--license", "MIT"];
    plugin(
        playground,
        &[&published[..], &["--repository", "https://example.org/acme", "--sign", "keys/netquarry.key"]].concat(),
    )
}

fn run(playground: &Playground, further: &[&str]) -> Run {
    let python = python().to_str().expect("a path of ours is UTF-8");
    playground.netquarry(&[&["run", "--python", python, "--quiet"], further].concat())
}

fn locked(playground: &Playground) -> toml::Table {
    let lock: toml::Table = playground.read("netquarry.lock").parse().expect("the lock is TOML");
    lock["plugin"][0].as_table().expect("a plugin is locked").clone()
}

#[test]
fn a_plugin_goes_from_its_author_to_a_project() {
    let playground = Playground::new();
    write_repository(&playground);
    plugin(&playground, &["new", "shim-acme", "--kind", "repo-shim"]).succeeded();
    let key = plugin(&playground, &["keygen", "keys", "--format", "json"]).succeeded().json();
    let init = ["init", "registry", "--name", "acme", "--key", "keys/netquarry.pub", "--format", "json"];
    let made = plugin(&playground, &init).succeeded().json();
    assert!(playground.read("keys/netquarry.pub").contains(made["keys"][0].as_str().expect("a key")));
    publish(&playground).succeeded();
    plugin(&playground, &["check", "registry"]).succeeded();

    let server = Server::start(&playground, "registry");
    let configured = |location: &str| {
        format!("corpus = \"acme.json\"\n\n# Ours.\n[[registries]]\nname = \"acme\"\nlocation = \"{location}\"\n")
    };
    playground.write("netquarry.toml", &configured(&server.url));
    let found = plugin(&playground, &["search", "acme", "--format", "json"]).succeeded().json();
    assert_eq!((&found[0]["name"], &found[0]["version"]), (&"shim-acme".into(), &"0.1.0".into()));
    plugin(&playground, &["add", "shim-acme"]).succeeded();
    let first = locked(&playground);
    assert_eq!((first["signed-by"].as_str(), first["version"].as_str()), (key["id"].as_str(), Some("0.1.0")));
    let configuration = playground.read("netquarry.toml");
    assert!(configuration.contains("# Ours.") && configuration.contains("\"shim-acme\""), "{configuration}");
    run(&playground, &[]).succeeded();
    assert!(!playground.read("out/blocks/Head.py").contains("register"));
    let verified = plugin(&playground, &["verify", "--format", "json"]).succeeded().json();
    assert_eq!((&verified[0]["cases"], verified[0]["differences"].as_array().map(Vec::len)), (&1.into(), Some(0)));

    // The next version, which the project takes only when it is told to.
    let manifest = playground.read("shim-acme/Cargo.toml").replace("version = \"0.1.0\"", "version = \"0.2.0\"");
    playground.write("shim-acme/Cargo.toml", &manifest);
    publish(&playground).succeeded();
    run(&playground, &[]).succeeded();
    assert_eq!(locked(&playground), first);
    plugin(&playground, &["update"]).succeeded();
    assert_eq!(locked(&playground)["version"].as_str(), Some("0.2.0"));

    // A version that is yanked goes on working where it is pinned, and is given to nobody any more.
    plugin(&playground, &["yank", "shim-acme", "0.2.0", "--registry", "registry", "--reason", "too eager"]).succeeded();
    run(&playground, &[]).succeeded();
    assert!(plugin(&playground, &["info", "shim-acme"]).succeeded().stdout.contains("yanked: too eager"));
    assert!(plugin(&playground, &["add", "shim-acme@0.2.0"]).ended(2).stderr.contains("yanked: too eager"));
    let warned = plugin(&playground, &["verify"]).succeeded();
    assert!(warned.stderr.contains("shim-acme 0.2.0 was yanked: too eager"), "{}", warned.stderr);
    let updated = plugin(&playground, &["update"]).succeeded();
    assert!(updated.stderr.contains("shim-acme from 0.2.0 (yanked: too eager) to 0.1.0 of"), "{}", updated.stderr);
    assert_eq!(locked(&playground), first);

    // A copy of all that is pinned needs neither the server nor the cache.
    let vendored = plugin(&playground, &["vendor", "vendored", "--format", "json"]).succeeded().json();
    assert_eq!(vendored["plugins"], serde_json::json!(["shim-acme"]));
    drop(server);
    playground
        .write("netquarry.toml", &playground.read("netquarry.toml").replace("http://127.0.0.1", "http://localhost"));
    run(&playground, &["--offline"]).succeeded();
    let text = playground.read("netquarry.toml");
    let start = text.find("location = ").expect("there is a location");
    let end = start + text[start..].find('\n').expect("the line ends");
    playground.write("netquarry.toml", &format!("{}location = \"vendored\"{}", &text[..start], &text[end..]));
    playground.bring_plugins("other");
    run(&playground, &["--offline", "--cache-dir", "other"]).succeeded();

    // Nothing runs whose bytes differ from those that are pinned.
    let component = playground.path("vendored/plugins/shim-acme/shim-acme-0.1.0.wasm");
    let mut bytes = fs::read(&component).expect("it was vendored");
    *bytes.last_mut().expect("it is not empty") ^= 1;
    fs::write(&component, bytes).expect("it can be written");
    playground.bring_plugins("third");
    let refused = run(&playground, &["--offline", "--cache-dir", "third"]).ended(2);
    assert!(
        refused.stderr.contains("shim-acme 0.1.0") && refused.stderr.contains("do not use it"),
        "{}",
        refused.stderr
    );
    assert!(plugin(&playground, &["check", "vendored"]).ended(1).stdout.contains("is not what the index means"));

    let removed = plugin(&playground, &["remove", "shim-acme", "--format", "json"]).succeeded().json();
    assert_eq!((&removed["version"], &removed["ordered"]), (&"0.1.0".into(), &true.into()));
    assert!(!playground.read("netquarry.toml").contains("shim-acme"));
    assert!(!playground.read("netquarry.lock").contains("shim-acme"));
}

#[test]
fn what_nobody_vouches_for_has_to_be_allowed() {
    let playground = Playground::new();
    plugin(&playground, &["new", "mine", "--kind", "spec-emitter"]).succeeded();
    let published = ["publish", "mine", "--registry", "registry", "--license", "MIT", "--repository", "."];
    plugin(&playground, &published).succeeded();
    playground.write("netquarry.toml", "[[registries]]\nname = \"own\"\nlocation = \"registry\"\n");
    let refused = plugin(&playground, &["add", "mine"]).ended(2);
    assert!(refused.stderr.contains("nobody vouches for it"), "{}", refused.stderr);
    assert!(plugin(&playground, &["remove", "mine"]).ended(2).stderr.contains("has no plugin `mine`"));
    assert!(!playground.path("netquarry.lock").exists());
    plugin(&playground, &["add", "mine", "--allow-unsigned"]).succeeded();
    assert_eq!(locked(&playground)["unsigned"].as_bool(), Some(true));
    let unknown = plugin(&playground, &["add", "mime"]).ended(2);
    assert!(unknown.stderr.contains("did you mean `mine`?"), "{}", unknown.stderr);
}

#[test]
fn plugins_that_are_added_at_once_are_all_there() {
    let playground = Playground::new();
    let names = ["emit-a", "emit-b", "emit-c", "emit-d"];
    for name in names {
        let guest = Guest { name: Some(name.to_owned()), ..Guest::default() };
        let component = format!("{name}.wasm");
        fs::write(playground.path(&component), guest.built(Kind::SpecEmitter)).unwrap();
        let published = ["publish", &component, "--registry", "registry", "--license", "MIT", "--repository", "."];
        plugin(&playground, &published).succeeded();
    }
    let own = "[[registries]]\nname = \"own\"\nlocation = \"registry\"\nallow-unsigned = true\n";
    playground.write("netquarry.toml", own);
    let add = |name| playground.command(&["plugin", "add", name]).stderr(Stdio::null()).spawn().expect("it starts");
    // One of them is added twice.
    let adding: Vec<Child> = names.into_iter().chain(["emit-a"]).map(add).collect();
    for mut process in adding {
        assert!(process.wait().expect("it was started").success());
    }
    let lock: toml::Table = playground.read("netquarry.lock").parse().expect("the lock is TOML");
    let pinned =
        lock["plugin"].as_array().expect("a list").iter().map(|pinned| pinned["name"].as_str().expect("a name"));
    assert_eq!(pinned.collect::<Vec<_>>(), names);
    let written: toml::Table = playground.read("netquarry.toml").parse().expect("the configuration is TOML");
    let ordered = written["plugins"]["emit"].as_array().expect("a list").iter().filter_map(toml::Value::as_str);
    let mut ordered: Vec<&str> = ordered.filter(|name| *name != "...").collect();
    ordered.sort_unstable();
    assert_eq!(ordered, names);
}

#[test]
fn a_project_begins_without_a_configuration() {
    let playground = Playground::new();
    plugin(&playground, &["add", "emit-lemur"]).succeeded();
    let written: toml::Table = playground.read("netquarry.toml").parse().expect("the configuration is TOML");
    assert_eq!(written["plugins"]["emit"].as_array().map(Vec::len), Some(2), "{written}");
    assert_eq!(plugin(&playground, &["verify"]).succeeded().stdout, "");
    assert_eq!(plugin(&playground, &["search", "nothing-of-this-name"]).succeeded().stdout, "  none\n");
}

/// The findings of `plugin check`: severity, place and what.
fn findings(run: &Run) -> Vec<(String, String, String)> {
    let checked = run.json();
    let findings = checked["findings"].as_array().expect("a list").iter();
    let word = |finding: &serde_json::Value, key: &str| finding[key].as_str().expect("a text").to_owned();
    findings.map(|finding| (word(finding, "severity"), word(finding, "place"), word(finding, "what"))).collect()
}

#[test]
fn a_plugin_is_checked_as_a_registry_would() {
    let playground = Playground::new();
    plugin(&playground, &["new", "mine", "--kind", "spec-emitter"]).succeeded();
    let check = |further: &[&str]| plugin(&playground, &[&["check", "mine", "--format", "json"], further].concat());
    let errors = |run: &Run| -> Vec<(String, String)> {
        let errors = findings(run).into_iter().filter(|(severity, ..)| severity == "error");
        errors.map(|(_, place, what)| (place, what)).collect()
    };
    // Its manifest has a licence, and nobody has said yet where its source is.
    let found = errors(&check(&[]).ended(1));
    assert!(matches!(&found[..], [(place, _)] if place == "repository"), "{found:?}");
    let repository = ["--repository", "https://example.org/mine"];
    let checked = check(&repository).succeeded();
    assert_eq!(checked.json()["plugin"]["license"], "MIT OR Apache-2.0");
    assert_eq!(checked.json()["plugin"]["cases"], 1);
    let readme =
        findings(&checked).iter().any(|(severity, place, _)| severity == "warning" && place == "mine/README.md");
    assert_eq!(readme, !playground.path("mine/README.md").exists());
    let found = errors(&check(&[&repository[..], &["--license", "Mine"]].concat()).ended(1));
    assert!(matches!(&found[..], [(place, what)] if place == "license" && what.contains("Mine")), "{found:?}");

    // What `publish` would make.
    check(&[&repository[..], &["--registry", "registry"]].concat()).succeeded();
    assert!(!playground.path("registry").exists());
    let published = ["publish", "mine", "--registry", "registry", "--license", "MIT"];
    plugin(&playground, &[&published[..], &repository].concat()).succeeded();
    let against = [&repository[..], &["--registry", "registry"]].concat();
    let is_asked_for = |run: &Run| {
        findings(run).iter().any(|(severity, place, _)| (&**severity, &**place) == ("warning", "signature"))
    };
    assert!(!is_asked_for(&check(&against).succeeded()), "this registry has no keys");
    plugin(&playground, &["keygen", "keys"]).succeeded();
    plugin(&playground, &["init", "signed", "--name", "acme", "--key", "keys/netquarry.pub"]).succeeded();
    assert!(is_asked_for(&check(&[&repository[..], &["--registry", "signed"]].concat()).succeeded()));

    // What was packed is packed again, onto itself.
    plugin(&playground, &["pack", "mine"]).succeeded();
    let packed = || fs::read(playground.path("dist/mine-0.1.0.wasm")).expect("it was packed");
    let before = packed();
    plugin(&playground, &["pack", "dist/mine-0.1.0.wasm"]).succeeded();
    assert!(packed() == before, "it has {} bytes", packed().len());
    // The same version with other bytes, an older one, and one that is no version.
    let example = fs::read_dir(playground.path("mine/examples")).expect("it has some").next().expect("one");
    let example = format!("mine/examples/{}", example.expect("it is listed").file_name().to_string_lossy());
    let as_written = playground.read(&example);
    playground.write(&example, &format!("{as_written}\n"));
    let found = errors(&check(&against).ended(1));
    assert!(matches!(&found[..], [(place, what)] if place == "version" && what.contains("other bytes")), "{found:?}");
    let manifest = playground.read("mine/Cargo.toml");
    playground.write("mine/Cargo.toml", &manifest.replace("version = \"0.1.0\"", "version = \"0.0.9\""));
    let found = errors(&check(&against).ended(1));
    assert!(matches!(&found[..], [(place, what)] if place == "version" && what.contains("0.1.0")), "{found:?}");
    playground.write("mine/Cargo.toml", &manifest);

    // A case that gives something else, and what does not build at all.
    let mut changed: serde_json::Value = serde_json::from_str(&as_written).expect("an example is JSON");
    changed["output"]["files"] = serde_json::json!({"other.json": ["{}"]});
    playground.write(&example, &changed.to_string());
    let found = errors(&check(&repository).ended(1));
    assert!(matches!(&found[..], [(place, _)] if place.starts_with("example ")), "{found:?}");
    playground.write("mine/src/lib.rs", "nothing");
    let found = errors(&check(&repository).ended(1));
    assert!(matches!(&found[..], [(place, what)] if place == "mine" && what.contains("does not build")), "{found:?}");
    plugin(&playground, &["check", "nowhere"]).ended(2);
    plugin(&playground, &["check", "nowhere.wasm"]).ended(2);
}

#[test]
fn the_programs_own_plugins_answer_as_their_packs_say() {
    let playground = Playground::new();
    let verified = plugin(&playground, &["verify", "--first-party", "--format", "json"]).succeeded().json();
    let verified = verified.as_array().expect("a list");
    assert!(verified.iter().any(|plugin| plugin["name"] == "shim-timm"), "{verified:?}");
    assert!(verified.iter().all(|plugin| plugin["cases"].as_u64() > Some(0)), "{verified:?}");
}

#[test]
fn a_lock_that_is_to_stay_has_to_have_what_is_ordered() {
    let playground = Playground::new();
    write_repository(&playground);
    plugin(&playground, &["new", "mine", "--kind", "discovery-rule"]).succeeded();
    // Its manifest has a licence, and nobody has said yet where its source is.
    let published = ["publish", "mine", "--registry", "registry"];
    assert!(plugin(&playground, &published).ended(2).stderr.contains("--repository"));
    assert!(!playground.path("registry").exists());
    plugin(&playground, &[&published[..], &["--repository", "."]].concat()).succeeded();
    assert!(playground.read("registry/registry.json").contains("\"license\": \"MIT OR Apache-2.0\""));
    let registry =
        "corpus = \"acme.json\"\n[[registries]]\nname = \"own\"\nlocation = \"registry\"\nallow-unsigned = true\n";
    playground.write("netquarry.toml", registry);
    // Nothing is ordered but what the program has.
    let discover = |further: &[&str]| playground.netquarry(&[&["discover", "--quiet"], further].concat());
    discover(&["--locked"]).succeeded();
    let refused = plugin(&playground, &["add", "mine", "--locked"]).ended(2);
    assert!(refused.stderr.contains("changes netquarry.lock"), "{}", refused.stderr);
    plugin(&playground, &["add", "mine"]).succeeded();
    discover(&["--locked"]).succeeded();
    let lock = playground.read("netquarry.lock");

    // What is pinned and not ordered, also where a variable asks for it.
    let ordered = playground.read("netquarry.toml");
    playground.write("netquarry.toml", registry);
    let mut command = playground.command(&["discover", "--quiet"]);
    let unwanted = Run::of(command.env("NETQUARRY_LOCKED", "1")).ended(2);
    assert!(unwanted.stderr.contains("`mine` is locked and nobody wants it"), "{}", unwanted.stderr);
    let mut command = playground.command(&["discover", "--quiet"]);
    Run::of(command.env("NETQUARRY_LOCKED", "0")).succeeded();
    // The command line may ask for something else; what the file orders is still wanted.
    playground.write("netquarry.toml", &ordered);
    discover(&["--locked", "--discover", "discover-nn-module"]).succeeded();

    // What is ordered and not pinned, with a lock and without any.
    playground.write("netquarry.lock", "format = 1\n");
    let missing = discover(&["--locked"]).ended(2);
    assert!(missing.stderr.contains("netquarry plugin add mine"), "{}", missing.stderr);
    assert!(plugin(&playground, &["update", "--locked"]).ended(2).stderr.contains("changes netquarry.lock"));
    fs::remove_file(playground.path("netquarry.lock")).expect("it was written");
    let missing = discover(&["--locked"]).ended(2);
    assert!(missing.stderr.contains("There is no"), "{}", missing.stderr);
    assert!(!playground.path("netquarry.lock").exists());
    playground.write("netquarry.lock", &lock);
    discover(&["--locked"]).succeeded();
    assert_eq!(playground.read("netquarry.lock"), lock);
}
