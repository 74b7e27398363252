//! Registries in folders: published, yanked, vendored and audited.

use std::fs;
use std::path::Path;

use netquarry_plugin::Kind;
use netquarry_registry::audit::audit;
use netquarry_registry::catalog::Network::{Offline, Online};
use netquarry_registry::index::{Index, IndexKey};
use netquarry_registry::lock::Lock;
use netquarry_registry::parse::parse;
use netquarry_registry::publish::{Order, Published, Submission, init, publish, refusals, unyank, yank};
use netquarry_registry::settings::RegistrySettings;
use netquarry_registry::trust::Trust::{AllowUnsigned, SignedOnly};
use netquarry_registry::trust::Voucher;
use netquarry_registry::vendor::vendor;

use crate::server::Server;
use crate::support::{
    GOLDEN, Project, component, new_key, permission, publish_plain, settings, signature, signed_registry, submission,
    tamper,
};

fn index(folder: &Path) -> Index {
    parse(&fs::read_to_string(folder.join("registry.json")).unwrap(), "r").expect("what is published is in the format")
}

fn versions(folder: &Path, name: &str) -> Vec<String> {
    index(folder).plugins[name].versions.iter().map(|version| version.version.clone()).collect()
}

fn findings(folder: &Path) -> Vec<String> {
    audit(folder).unwrap().iter().map(ToString::to_string).collect()
}

#[test]
fn the_first_publication_makes_the_registry() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("my-shims");
    let bytes = component("a");
    let first = submission("shim-a", "1.0.0", &bytes);
    assert_eq!(publish(&folder, &first, Order::NewestOnly).unwrap(), Published::New);
    assert_eq!(index(&folder).name, "my-shims");
    assert_eq!(fs::read(folder.join("plugins/shim-a/shim-a-1.0.0.wasm")).unwrap(), bytes);
    assert_eq!(fs::read(folder.join("plugins/shim-a/shim-a-1.0.0.golden.json")).unwrap(), GOLDEN);
    assert_eq!(findings(&folder), [""; 0]);
    assert!(init(&folder, "again", Vec::new()).is_err());
    let odd = outer.path().join("My Shims");
    publish(&odd, &first, Order::NewestOnly).unwrap();
    assert_eq!(index(&odd).name, "plugins");
}

#[test]
fn the_same_version_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (bytes, others) = (component("a"), component("b"));
    let first = submission("shim-a", "1.0.0", &bytes);
    publish(folder, &first, Order::NewestOnly).unwrap();
    let before = fs::read(folder.join("registry.json")).unwrap();
    assert_eq!(publish(folder, &first, Order::NewestOnly).unwrap(), Published::AlreadyThere);
    let grown = [permission("clock", "")];
    let changed = [
        ("other bytes", Submission { component: &others, ..first.clone() }),
        ("another golden pack", Submission { golden: None, ..first.clone() }),
        ("another `wit`", Submission { wit: "=0.1.0", ..first.clone() }),
        ("other permissions", Submission { permissions: &grown, ..first.clone() }),
    ];
    for (what, submission) in changed {
        let error = publish(folder, &submission, Order::Any).expect_err(what).to_string();
        assert!(error.contains(what) && error.contains("shim-a 1.0.0"), "{error}");
    }
    assert_eq!(fs::read(folder.join("registry.json")).unwrap(), before);
    assert_eq!(findings(folder), [""; 0], "no file of a refused version is left");
    let signature = signature(&new_key(), "shim-a", "1.0.0", &bytes);
    let signed = Submission { signature: Some(&signature), ..first };
    assert_eq!(publish(folder, &signed, Order::NewestOnly).unwrap(), Published::Signed);
    assert_eq!(publish(folder, &signed, Order::NewestOnly).unwrap(), Published::AlreadyThere);
}

#[test]
fn versions_go_up_unless_told() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let bytes = component("a");
    let publish = |version, summary, order| {
        publish(folder, &Submission { summary, ..submission("shim-a", version, &bytes) }, order)
    };
    publish("1.2.0", "new", Order::NewestOnly).unwrap();
    let error = publish("1.1.0", "old", Order::NewestOnly).expect_err("older").to_string();
    assert!(error.contains("shim-a 1.1.0 is not newer than 1.2.0"), "{error}");
    publish("1.1.0", "old", Order::Any).unwrap();
    publish("1.10.0", "newest", Order::NewestOnly).unwrap();
    assert_eq!(versions(folder, "shim-a"), ["1.1.0", "1.2.0", "1.10.0"]);
    assert_eq!(index(folder).plugins["shim-a"].summary, "newest");
}

/// Each is refused, and nothing is written.
#[test]
fn submissions_that_are_refused() {
    let bytes = component("a");
    let good = submission("shim-a", "1.0.0", &bytes);
    let scope = [permission("clock", "a\nb")];
    let core_module = b"\0asm\x01\0\0\0";
    let cases = [
        ("name", Submission { name: "../a", ..good.clone() }),
        ("name", Submission { name: "Shim", ..good.clone() }),
        ("its name: a plugin of the program has it", Submission { name: "shim-timm", ..good.clone() }),
        ("version", Submission { version: "1.0", ..good.clone() }),
        ("version", Submission { version: "../1.0.0", ..good.clone() }),
        ("summary", Submission { summary: "", ..good.clone() }),
        ("license", Submission { license: "mine", ..good.clone() }),
        ("repository", Submission { repository: "", ..good.clone() }),
        ("wit", Submission { wit: "new", ..good.clone() }),
        ("permissions", Submission { permissions: &scope, ..good.clone() }),
        ("component", Submission { component: b"", ..good.clone() }),
        ("golden pack", Submission { golden: Some(b""), ..good.clone() }),
        ("not a WebAssembly component", Submission { component: core_module, ..good.clone() }),
        ("built against 0.1.0, and `wit` is ^0.2.0", Submission { wit: "^0.2.0", ..good.clone() }),
    ];
    for (what, submission) in cases {
        let folder = tempfile::tempdir().unwrap();
        let error = publish(folder.path(), &submission, Order::Any).expect_err(what).to_string();
        assert!(error.contains(what), "{what}: {error}");
        assert!(!folder.path().join("registry.json").exists(), "{what}");
        assert!(!folder.path().join("plugins").exists(), "{what}");
    }
    let folder = tempfile::tempdir().unwrap();
    publish(folder.path(), &good, Order::Any).unwrap();
    let other = Submission { kind: Kind::DedupStrategy, version: "2.0.0", ..good };
    let error = publish(folder.path(), &other, Order::Any).expect_err("another kind").to_string();
    assert!(error.contains("is published as a repo-shim, and this is a dedup-strategy"), "{error}");
}

#[test]
fn many_publish_at_once_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::thread::scope(|scope| {
        for number in 0..8 {
            scope.spawn(move || {
                for patch in 0..4 {
                    publish_plain(folder, &format!("shim-{}", number % 4), &format!("1.{number}.{patch}"));
                }
            });
        }
    });
    let count: usize = index(folder).plugins.values().map(|plugin| plugin.versions.len()).sum();
    assert_eq!(count, 32);
    assert_eq!(findings(folder), [""; 0]);
}

#[test]
fn yanked_and_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    publish_plain(folder, "shim-a", "1.0.0");
    yank(folder, "shim-a", "1.0.0", "it is slow").unwrap();
    assert_eq!(index(folder).plugins["shim-a"].versions[0].yanked.as_deref(), Some("it is slow"));
    unyank(folder, "shim-a", "1.0.0").unwrap();
    assert_eq!(index(folder).plugins["shim-a"].versions[0].yanked, None);
    assert!(yank(folder, "shim-a", "1.0.0", " ").is_err());
    let error = yank(folder, "shim-a", "2.0.0", "slow").expect_err("no such version").to_string();
    assert!(error.contains("has no shim-a 2.0.0; it has 1.0.0"), "{error}");
    let error = yank(folder, "shim-a", "1.0.0", "slow\u{1b}[2J").expect_err("not a line").to_string();
    assert!(error.contains("not one line of text"), "{error}");
    let nowhere = folder.join("nowhere");
    assert!(yank(&nowhere, "shim-a", "1.0.0", "slow").is_err());
    assert!(!nowhere.exists(), "a registry that is not there is not made");
    assert!(yank(folder, "shim-b", "1.0.0", "slow").expect_err("no such plugin").to_string().contains("it has none"));
}

#[test]
fn an_audit_finds_what_is_missing_changed_or_too_much() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let key = new_key();
    signed_registry(folder, "acme", &key);
    for version in ["1.0.0", "1.1.0", "1.2.0", "1.3.0"] {
        let bytes = component(version);
        let signature = signature(&key, "shim-a", version, &bytes);
        let submission = Submission { signature: Some(&signature), ..submission("shim-a", version, &bytes) };
        publish(folder, &submission, Order::NewestOnly).unwrap();
    }
    fs::write(folder.join("README.md"), "Our shims").unwrap();
    assert_eq!(findings(folder), [""; 0]);
    let file = |name: &str| folder.join("plugins/shim-a").join(name);
    fs::remove_file(file("shim-a-1.0.0.wasm")).unwrap();
    fs::write(file("shim-a-1.1.0.wasm"), component("9.9.9")).unwrap();
    fs::write(file("shim-a-1.2.0.golden.json"), "[]").unwrap();
    tamper(folder, |index| {
        let versions = &mut index.plugins.get_mut("shim-a").unwrap().versions;
        versions[3].signature = versions[2].signature.clone();
    });
    fs::write(file("extra.wasm"), "x").unwrap();
    fs::write(folder.join("notes.txt"), "x").unwrap();
    let found = findings(folder);
    let expected = [
        "shim-a 1.0.0: plugins/shim-a/shim-a-1.0.0.wasm cannot be read",
        "shim-a 1.1.0: plugins/shim-a/shim-a-1.1.0.wasm is not what the index means: it has SHA-256",
        "shim-a 1.2.0: plugins/shim-a/shim-a-1.2.0.golden.json is not what the index means",
        "the signature of shim-a 1.3.0 does not fit its bytes",
        "notes.txt is not named by the index",
        "plugins/shim-a/extra.wasm is not named by the index",
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found}\n{expected}");
    }
}

/// A project of two registries on a server, then the vendored folder alone.
#[test]
fn a_vendored_project_needs_neither_network_nor_cache() {
    let (signed, plain, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), Project::new());
    let key = new_key();
    signed_registry(signed.path(), "acme", &key);
    let bytes = component("signed");
    let text = signature(&key, "acme-shim", "1.0.0", &bytes);
    let submitted = Submission { signature: Some(&text), ..submission("acme-shim", "1.0.0", &bytes) };
    publish(signed.path(), &submitted, Order::NewestOnly).unwrap();
    publish_plain(plain.path(), "shim-b", "0.1.0");
    let (first, second) = (Server::start(signed.path()), Server::start(plain.path()));
    let prefixes = vec!["acme-".to_owned()];
    let remote = [RegistrySettings { prefixes, ..settings("acme", &first.url) }, settings("plain", &second.url)];
    let mut lock = Lock::default();
    for name in ["acme-shim", "shim-b", "dedup-exact"] {
        lock.insert(project.add(&remote, Online, name, AllowUnsigned).unwrap().1);
    }
    let vendored = tempfile::tempdir().unwrap();
    let made = project.with(&remote, Online, |catalog| vendor(catalog, &lock, vendored.path())).unwrap();
    assert_eq!(made, index(vendored.path()));
    assert_eq!(made.plugins.keys().collect::<Vec<_>>(), ["acme-shim", "shim-b"], "what is embedded is not copied");
    assert_eq!(made.keys, [], "not all of them are signed");
    assert_eq!(findings(vendored.path()), [""; 0]);

    let local = [settings("vendored", &vendored.path().display().to_string())];
    let fresh = Project::new();
    for locked in lock.plugins() {
        let bytes = fresh.with(&local, Offline, |catalog| catalog.fetch_locked(locked)).unwrap();
        lock.verify(&locked.name, &bytes).unwrap();
    }
    assert!(!fresh.cache.path().join("components").exists());

    // Without the unsigned one the copy keeps the keys, and is verified as the registry was.
    let gone = lock.remove("shim-b").unwrap();
    let made = project.with(&remote, Online, |catalog| vendor(catalog, &lock, vendored.path())).unwrap();
    let [IndexKey { key: kept, .. }] = made.keys.as_slice() else { panic!("{:?}", made.keys) };
    assert!(key.public.contains(kept.as_str()));
    assert_eq!(findings(vendored.path()), [""; 0], "files of an earlier copy are gone");
    let (_, locked) = fresh.add(&local, Offline, "acme-shim", SignedOnly).unwrap();
    assert_eq!(locked.voucher, Voucher::Key(key.id.clone()));
    let error = fresh.with(&local, Offline, |catalog| catalog.fetch_locked(&gone)).err().unwrap().to_string();
    assert!(error.contains("shim-b 0.1.0") && error.contains("`plain`"), "{error}");
}

#[test]
fn vendoring_never_overwrites_another_registry() {
    let (folder, project) = (tempfile::tempdir().unwrap(), Project::new());
    publish_plain(folder.path(), "shim-a", "1.0.0");
    let before = fs::read(folder.path().join("registry.json")).unwrap();
    let result = project.with(&[], Online, |catalog| vendor(catalog, &Lock::default(), folder.path()));
    assert!(result.expect_err("it is refused").to_string().contains("choose another folder"));
    assert_eq!(fs::read(folder.path().join("registry.json")).unwrap(), before);
}

#[test]
fn what_would_be_refused_is_told_at_once_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = component("a");
    let told = |submission: &Submission<'_>, registry: Option<&Path>| -> Vec<String> {
        let refusals = refusals(submission, registry, Order::NewestOnly).expect("the registry can be read");
        refusals.iter().map(ToString::to_string).collect()
    };
    let good = submission("shim-a", "1.0.0", &bytes);
    assert_eq!(told(&good, None), [""; 0]);
    let bad = Submission { summary: "", license: "Mine", version: "one", repository: " ", ..good.clone() };
    let fields = told(&bad, None);
    for (text, field) in fields.iter().zip(["summary", "license", "repository", "version"]) {
        assert!(text.contains(&format!("its {field}: ")), "{text}");
    }
    assert_eq!(fields.len(), 4);

    publish(folder.path(), &good, Order::NewestOnly).unwrap();
    let before = fs::read(folder.path().join("registry.json")).unwrap();
    let others = component("b");
    let changed = Submission { component: &others, ..good.clone() };
    for (submission, why) in [
        (changed.clone(), "with other bytes"),
        (Submission { version: "0.9.0", ..changed }, "is not newer than 1.0.0"),
        (Submission { kind: Kind::SpecEmitter, ..good.clone() }, "choose another name"),
    ] {
        let refusals = told(&submission, Some(folder.path()));
        assert!(matches!(&refusals[..], [text] if text.contains(why)), "{refusals:?}");
        let refused = publish(folder.path(), &submission, Order::NewestOnly).expect_err("it is refused");
        assert_eq!([refused.to_string()], refusals[..]);
    }
    assert_eq!(told(&good, Some(folder.path())), [""; 0]);
    assert_eq!(fs::read(folder.path().join("registry.json")).unwrap(), before);
    // `publish` would make it.
    assert_eq!(told(&good, Some(&folder.path().join("nowhere"))), [""; 0]);
}
