//! A third party's whole path: a plugin is written, signed and published, and a project takes it over HTTP, pins it, runs it,
//! and goes with the registry from version to version.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

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
    plugin(&playground, &["keygen", "keys"]).succeeded();
    plugin(&playground, &["init", "registry", "--name", "acme", "--key", "keys/netquarry.pub"]).succeeded();
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
    assert!(first["signed-by"].is_str() && first["version"].as_str() == Some("0.1.0"), "{first}");
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
    plugin(&playground, &["update"]).succeeded();
    assert_eq!(locked(&playground), first);

    // A copy of all that is pinned needs neither the server nor the cache.
    plugin(&playground, &["vendor", "vendored"]).succeeded();
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
    assert!(plugin(&playground, &["check", "vendored"]).ended(1).stderr.contains("is not what the index means"));

    plugin(&playground, &["remove", "shim-acme"]).succeeded();
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
    assert!(!playground.path("netquarry.lock").exists());
    plugin(&playground, &["add", "mine", "--allow-unsigned"]).succeeded();
    assert_eq!(locked(&playground)["unsigned"].as_bool(), Some(true));
    let unknown = plugin(&playground, &["add", "mime"]).ended(2);
    assert!(unknown.stderr.contains("did you mean `mine`?"), "{}", unknown.stderr);
}
