//! `netquarry.lock`.

use std::path::Path;

use netquarry_registry::agreement::{Difference, Disagreement, disagreements};
use netquarry_registry::catalog::Network::Online;
use netquarry_registry::lock::{Lock, VerifyError};
use netquarry_registry::publish::{Order, Submission, publish};
use netquarry_registry::settings::RegistrySettings;
use netquarry_registry::trust::Trust::AllowUnsigned;
use serde::Deserialize;

use crate::support::{
    GOLDEN, Project, component, new_key, permission, request, settings, signature, signed_registry, submission,
};

#[derive(Deserialize)]
struct Case {
    /// In the text of a valid lock, this
    replace: String,
    /// becomes that,
    by: String,
    /// and the error says so.
    error: String,
}

/// A lock with an embedded, a signed and an unsigned plugin.
fn lock() -> Lock {
    let (signed, plain) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let key = new_key();
    signed_registry(signed.path(), "acme", &key);
    let bytes = component("s");
    let text = signature(&key, "shim-signed", "1.2.0", &bytes);
    let permissions = [permission("read-files", "*.json"), permission("clock", "")];
    let first =
        Submission { signature: Some(&text), permissions: &permissions, ..submission("shim-signed", "1.2.0", &bytes) };
    publish(signed.path(), &first, Order::NewestOnly).unwrap();
    let bytes = component("p");
    let second = Submission { golden: None, ..submission("shim-plain", "0.3.0", &bytes) };
    publish(plain.path(), &second, Order::NewestOnly).unwrap();
    let at = |name, folder: &Path| settings(name, &folder.display().to_string());
    let registries: [RegistrySettings; 2] = [at("acme", signed.path()), at("local", plain.path())];
    let mut lock = Lock::default();
    for name in ["shim-signed", "dedup-exact", "shim-plain"] {
        lock.insert(Project::new().add(&registries, Online, name, AllowUnsigned).unwrap().1);
    }
    lock
}

#[test]
fn written_and_read_again_to_the_byte() {
    let lock = lock();
    let text = lock.to_toml();
    assert_eq!(Lock::parse(&text, "netquarry.lock").unwrap(), lock);
    assert_eq!(Lock::parse(&text, "netquarry.lock").unwrap().to_toml(), text);
    assert!(text.starts_with("# made by netquarry; do not edit\nformat = 1\n\n[[plugin]]\nname = \"dedup-exact\"\n"));
    let names: Vec<&str> = lock.plugins().iter().map(|plugin| plugin.name.as_str()).collect();
    assert_eq!(names, ["dedup-exact", "shim-plain", "shim-signed"]);
    for line in
        ["unsigned = true", "location = \"file plugins/shim-plain/shim-plain-0.3.0.wasm\"", "kind = \"repo-shim\""]
    {
        assert!(text.contains(&format!("\n{line}\n")), "{line} is not in\n{text}");
    }
    assert_eq!(text.matches("signed-by = ").count(), 1);
    assert_eq!(text.matches("unsigned = ").count(), 1);
    let golden = netquarry_registry::digest::sha256(GOLDEN);
    assert_eq!(lock.get("shim-signed").unwrap().golden.as_deref(), Some(golden.as_str()));
}

#[test]
fn a_file_is_written_only_where_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("netquarry.lock");
    assert_eq!(Lock::read(&path).unwrap(), Lock::default());
    let mut lock = lock();
    lock.write(&path).unwrap();
    assert_eq!(Lock::read(&path).unwrap(), lock);
    let written = std::fs::metadata(&path).unwrap().modified().unwrap();
    lock.write(&path).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().modified().unwrap(), written);
    lock.remove("shim-plain").unwrap();
    lock.write(&path).unwrap();
    assert_eq!(Lock::read(&path).unwrap().plugins().len(), 2);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing half-made is left");
}

#[test]
fn edits_that_make_no_lock() {
    let text = lock().to_toml();
    let cases: Vec<Case> = serde_json::from_str(include_str!("../cases/locks.json")).unwrap();
    for Case { replace, by, error } in cases {
        assert!(text.contains(&replace), "{replace:?} is not in\n{text}");
        let edited = text.replacen(&replace, &by, 1);
        let found = Lock::parse(&edited, "a/netquarry.lock").expect_err(&replace).to_string();
        assert!(found.contains(&error) && found.contains("a/netquarry.lock"), "{by}: {found}");
    }
}

#[test]
fn only_the_locked_bytes_run() {
    let lock = lock();
    assert_eq!(lock.verify("shim-signed", &component("s")).unwrap().version, "1.2.0");
    let other = lock.verify("shim-signed", &component("x")).expect_err("other bytes");
    assert!(matches!(&other, VerifyError::OtherBytes { plugin, .. } if plugin == "shim-signed 1.2.0"), "{other}");
    assert!(lock.verify("shim-signed", b"").is_err());
    assert!(matches!(lock.verify("shim-x", &component("s")), Err(VerifyError::NotLocked { .. })));
}

#[test]
fn agreement_with_what_is_wanted() {
    let mut lock = lock();
    let wanted = |texts: &[&str]| texts.iter().map(|text| request(text)).collect::<Vec<_>>();
    let all = ["shim-signed@^1.1", "shim-plain", "dedup-exact"];
    assert_eq!(disagreements(&lock, &wanted(&all)), []);
    assert_eq!(
        disagreements(&lock, &wanted(&["shim-signed@2", "shim-plain", "shim-new"])),
        [
            Disagreement::OtherVersion { request: request("shim-signed@2"), version: "1.2.0".to_owned() },
            Disagreement::NotLocked(request("shim-new")),
            Disagreement::NotWanted("dedup-exact".to_owned()),
        ]
    );
    let mut other_host = lock.get("shim-plain").unwrap().clone();
    other_host.wit = "^0.2".to_owned();
    lock.insert(other_host);
    assert!(matches!(disagreements(&lock, &wanted(&all))[..], [Disagreement::OtherHost { .. }]));
}

#[test]
fn differences_as_data() {
    let before = lock();
    assert!(Difference::between(&before, &before).is_empty());
    let mut after = before.clone();
    after.remove("dedup-exact").unwrap();
    let mut changed = after.get("shim-signed").unwrap().clone();
    changed.permissions = vec![permission("clock", ""), permission("read-files", "*")];
    changed.voucher = netquarry_registry::trust::Voucher::Nobody;
    after.insert(changed);
    let mut added = after.get("shim-plain").unwrap().clone();
    added.name = "shim-new".to_owned();
    added.permissions = vec![permission("clock", "")];
    after.insert(added);
    let difference = Difference::between(&before, &after);
    let names = |plugins: &[netquarry_registry::lock::LockedPlugin]| {
        plugins.iter().map(|plugin| plugin.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&difference.added), ["shim-new"]);
    assert_eq!(names(&difference.removed), ["dedup-exact"]);
    let [change] = difference.changed.as_slice() else { panic!("{:?}", difference.changed) };
    assert!(change.has_another_voucher());
    assert_eq!(change.grown_permissions(), [&permission("read-files", "*")]);
    assert_eq!(
        difference.new_permissions(),
        [("shim-new", &permission("clock", "")), ("shim-signed", &permission("read-files", "*"))]
    );
    assert!(
        Difference::between(&after, &before).changed[0].grown_permissions() == [&permission("read-files", "*.json")]
    );
}
