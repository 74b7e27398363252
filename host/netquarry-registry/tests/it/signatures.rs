//! Who vouches for a component.

use std::path::Path;

use netquarry_registry::catalog::Network::Online;
use netquarry_registry::lock::LockedPlugin;
use netquarry_registry::publish::{Order, Published, Submission, publish, signers};
use netquarry_registry::settings::RegistrySettings;
use netquarry_registry::signing::{NewKey, SignError, generate, sign};
use netquarry_registry::trust::Trust::{AllowUnsigned, SignedOnly};
use netquarry_registry::trust::{PublicKey, Subject, Trust, Voucher};

use crate::support::{
    Project, component, is_error, key_text, new_key, publish_plain, settings, signature, signed_registry, submission,
    tamper,
};

/// A registry with one key and `shim-a` 1.0.0, signed by it.
struct Signed {
    folder: tempfile::TempDir,
    key: NewKey,
}

impl Signed {
    fn new() -> Self {
        let signed = Self { folder: tempfile::tempdir().unwrap(), key: new_key() };
        signed_registry(signed.folder.path(), "acme", &signed.key);
        let component = component("a");
        let signature = signature(&signed.key, "shim-a", "1.0.0", &component);
        let submission = Submission { signature: Some(&signature), ..submission("shim-a", "1.0.0", &component) };
        publish(signed.folder.path(), &submission, Order::NewestOnly).unwrap();
        signed
    }

    fn settings(&self) -> RegistrySettings {
        settings("acme", &self.folder.path().display().to_string())
    }

    fn set_signature(&self, signature: Option<String>) {
        tamper(self.folder.path(), |index| {
            index.plugins.get_mut("shim-a").unwrap().versions[0].signature = signature;
        });
    }
}

fn add(settings: &RegistrySettings, trust: Trust) -> Result<Voucher, String> {
    let added = Project::new().add(std::slice::from_ref(settings), Online, "shim-a", trust);
    added.map(|(_, locked)| locked.voucher)
}

#[test]
fn a_signed_version_names_its_key() {
    let signed = Signed::new();
    assert_eq!(add(&signed.settings(), SignedOnly), Ok(Voucher::Key(signed.key.id.clone())));
    assert_eq!(PublicKey::parse(&signed.key.public).unwrap().id(), signed.key.id);
    assert!(signed.key.public.contains(&signed.key.id), "minisign shows the same identifier");
}

/// Signatures that do not vouch for `shim-a` 1.0.0, whatever the caller puts up with.
#[test]
fn signatures_that_are_refused() {
    let (bytes, other_key) = (component("a"), new_key());
    let signed = Signed::new();
    let of = |name, version, bytes: &[u8]| Some(signature(&signed.key, name, version, bytes));
    let good = of("shim-a", "1.0.0", &bytes).unwrap();
    let old_comment = "netquarry shim-a 1.0.0";
    let edited = good.replace(old_comment, "netquarry shim-a 1.0.1");
    assert_ne!(edited, good);
    let foreign = signature(&other_key, "shim-a", "1.0.0", &bytes);
    let cases = [
        ("none", None, "is not signed, and its registry has the keys"),
        ("by another key", Some(foreign), "which is not among those trusted"),
        ("of another version", of("shim-a", "0.9.0", &bytes), "is for something else"),
        ("of another plugin", of("shim-b", "1.0.0", &bytes), "is for something else"),
        ("of other bytes", of("shim-a", "1.0.0", &component("b")), "does not fit its bytes"),
        ("with an edited comment", Some(edited), "does not fit its bytes"),
        ("no signature", Some("hello".to_owned()), "cannot be read"),
        ("cut short", Some(good[..good.len() - 30].to_owned()), "cannot be read"),
    ];
    for (case, signature, error) in cases {
        signed.set_signature(signature);
        for trust in [SignedOnly, AllowUnsigned] {
            let settings = RegistrySettings { allow_unsigned: trust == AllowUnsigned, ..signed.settings() };
            let found = add(&settings, trust).err().unwrap_or_else(|| panic!("{case} is accepted"));
            assert!(found.contains(error) && found.contains("shim-a 1.0.0"), "{case}: {found}");
        }
    }
    signed.set_signature(Some(good));
    assert!(add(&signed.settings(), SignedOnly).is_ok());
}

#[test]
fn the_keys_of_the_project_replace_those_of_the_index() {
    let (signed, other) = (Signed::new(), new_key());
    let trusting = |key: &NewKey| RegistrySettings { keys: vec![key_text(key)], ..signed.settings() };
    is_error(add(&trusting(&other), SignedOnly), &["shim-a 1.0.0", &signed.key.id, &other.id]);
    assert!(add(&trusting(&signed.key), SignedOnly).is_ok());
    // Whoever takes over the place can change the index and its keys, and yet not what the project trusts.
    let replaced = signature(&other, "shim-a", "1.0.0", &component("a"));
    signed.set_signature(Some(replaced));
    tamper(signed.folder.path(), |index| index.keys[0].key = key_text(&other));
    assert!(add(&signed.settings(), SignedOnly).is_ok());
    is_error(add(&trusting(&signed.key), SignedOnly), &["not among those trusted"]);
    // Several keys: one of them is enough.
    let both = RegistrySettings { keys: vec![key_text(&signed.key), key_text(&other)], ..signed.settings() };
    assert_eq!(add(&both, SignedOnly), Ok(Voucher::Key(other.id.clone())));
}

#[test]
fn unsigned_needs_to_be_allowed_and_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    publish_plain(folder.path(), "shim-a", "1.0.0");
    let unsigned = settings("acme", &folder.path().display().to_string());
    is_error(add(&unsigned, SignedOnly), &["shim-a 1.0.0", "registry without keys", "allow-unsigned"]);
    assert_eq!(add(&unsigned, AllowUnsigned), Ok(Voucher::Nobody));
    let allowing = RegistrySettings { allow_unsigned: true, ..unsigned };
    assert_eq!(add(&allowing, SignedOnly), Ok(Voucher::Nobody));
}

/// A key that the project no longer trusts vouches for nothing that was locked with it.
#[test]
fn keys_of_the_project_hold_for_what_is_locked() {
    let (signed, other) = (Signed::new(), new_key());
    let project = Project::new();
    let (_, mut locked) = project.add(&[signed.settings()], Online, "shim-a", SignedOnly).unwrap();
    let fetch = |keys: Vec<String>, locked: &LockedPlugin| {
        let settings = [RegistrySettings { keys, ..signed.settings() }];
        project.with(&settings, Online, |catalog| catalog.fetch_locked(locked).map_err(|error| error.to_string()))
    };
    assert_eq!(fetch(Vec::new(), &locked).unwrap(), component("a"));
    assert_eq!(fetch(vec![key_text(&signed.key)], &locked).unwrap(), component("a"));
    is_error(fetch(vec![key_text(&other)], &locked), &["shim-a 1.0.0", &signed.key.id, &other.id]);
    locked.voucher = Voucher::Nobody;
    is_error(fetch(vec![key_text(&other)], &locked), &["is not signed"]);
}

#[test]
fn a_registry_with_keys_takes_nothing_unsigned() {
    let (folder, key, other) = (tempfile::tempdir().unwrap(), new_key(), new_key());
    signed_registry(folder.path(), "acme", &key);
    let bytes = component("a");
    let foreign = signature(&other, "shim-a", "1.0.0", &bytes);
    for (signature, error) in [(None, "is not signed"), (Some(foreign.as_str()), "not among those trusted")] {
        let submission = Submission { signature, ..submission("shim-a", "1.0.0", &bytes) };
        let found = publish(folder.path(), &submission, Order::Any).expect_err("it is refused").to_string();
        assert!(found.contains(error), "{found}");
    }
    assert!(!Path::new(folder.path()).join("plugins").exists());
}

/// A registry that changes its key has its versions signed again.
#[test]
fn a_version_is_signed_anew_with_another_key() {
    let (signed, new) = (Signed::new(), new_key());
    let bytes = component("a");
    let publish_signed_by = |key: &NewKey| {
        let signature = signature(key, "shim-a", "1.0.0", &bytes);
        let submission = Submission { signature: Some(&signature), ..submission("shim-a", "1.0.0", &bytes) };
        publish(signed.folder.path(), &submission, Order::NewestOnly).unwrap()
    };
    assert_eq!(signers(signed.folder.path()).unwrap(), std::slice::from_ref(&signed.key.id));
    assert_eq!(publish_signed_by(&signed.key), Published::AlreadyThere);
    tamper(signed.folder.path(), |index| index.keys[0].key = key_text(&new));
    is_error(add(&signed.settings(), SignedOnly), &["not among those trusted"]);
    assert_eq!(publish_signed_by(&new), Published::Signed);
    assert_eq!(add(&signed.settings(), SignedOnly), Ok(Voucher::Key(new.id.clone())));
    assert_eq!(publish_signed_by(&new), Published::AlreadyThere);
}

#[test]
fn keys_with_and_without_a_password() {
    let bytes = component("a");
    let subject = Subject { name: "shim-a", version: "1.0.0", component: &bytes };
    let (open, closed) = (new_key(), generate(Some("sesame")).unwrap());
    assert!(sign(subject, &open.secret, None).is_ok());
    assert!(matches!(sign(subject, &open.secret, Some("sesame")), Err(SignError::Password(_))));
    assert!(sign(subject, &closed.secret, Some("sesame")).is_ok());
    assert!(matches!(sign(subject, &closed.secret, Some("open")), Err(SignError::Password(_))));
    assert!(matches!(sign(subject, &closed.secret, None), Err(SignError::Locked(_))));
    assert!(matches!(sign(subject, "not a key", None), Err(SignError::Locked(_))));
}
