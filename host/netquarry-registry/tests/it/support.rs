//! Components, keys, registries and catalogs for tests.

use std::cell::RefCell;
use std::path::Path;
use std::time::Duration;

use netquarry_plugin::Kind;
use netquarry_plugin::api_version::{self, ApiVersion};
use netquarry_registry::catalog::{Access, Catalog, Network};
use netquarry_registry::index::{Index, IndexKey, Permission};
use netquarry_registry::lock::LockedPlugin;
use netquarry_registry::name::Request;
use netquarry_registry::notice::Notice;
use netquarry_registry::publish::{Order, Submission, init, publish};
use netquarry_registry::settings::{Registries, RegistrySettings};
use netquarry_registry::signing::{NewKey, generate, sign};
use netquarry_registry::trust::{Subject, Trust, Voucher};

/// The shortest component that says which API it was built against; `tag` makes its bytes differ.
pub(crate) fn component(tag: &str) -> Vec<u8> {
    let mut bytes = b"\0asm\x0d\0\x01\0".to_vec();
    let length = u8::try_from(tag.len()).expect("a tag is short");
    // A custom section named `t`.
    bytes.extend([0, length + 2, 1, b't']);
    bytes.extend(tag.as_bytes());
    api_version::stamp(&mut bytes, ApiVersion::CURRENT);
    bytes
}

pub(crate) const GOLDEN: &[u8] = b"{\"cases\": []}";

pub(crate) fn submission<'a>(name: &'a str, version: &'a str, component: &'a [u8]) -> Submission<'a> {
    Submission {
        name,
        version,
        kind: Kind::RepoShim,
        summary: "A shim",
        license: "MIT",
        repository: "https://example.org/shims",
        wit: "^0.1.0",
        permissions: &[],
        component,
        golden: Some(GOLDEN),
        signature: None,
    }
}

/// Publishes a component that is tagged with its name and version, without a signature.
pub(crate) fn publish_plain(folder: &Path, name: &str, version: &str) {
    let component = component(&format!("{name} {version}"));
    publish(folder, &submission(name, version, &component), Order::Any).unwrap();
}

pub(crate) fn signature(key: &NewKey, name: &str, version: &str, component: &[u8]) -> String {
    sign(Subject { name, version, component }, &key.secret, None).unwrap()
}

/// A registry whose index has this key.
pub(crate) fn signed_registry(folder: &Path, name: &str, key: &NewKey) {
    init(folder, name, vec![IndexKey { comment: None, key: key_text(key) }]).unwrap();
}

pub(crate) fn key_text(key: &NewKey) -> String {
    key.public.lines().nth(1).unwrap().to_owned()
}

pub(crate) fn new_key() -> NewKey {
    generate(None).unwrap()
}

pub(crate) fn permission(name: &str, scope: &str) -> Permission {
    Permission { name: name.to_owned(), scope: scope.to_owned() }
}

pub(crate) fn settings(name: &str, location: &str) -> RegistrySettings {
    RegistrySettings { name: name.to_owned(), location: location.to_owned(), ..RegistrySettings::default() }
}

pub(crate) fn registries(settings: &[RegistrySettings]) -> Registries {
    Registries::new(settings, Path::new("/nowhere")).unwrap()
}

pub(crate) fn request(text: &str) -> Request {
    text.parse().unwrap()
}

/// Everything for one project: the folder of its cache and what it was told.
pub(crate) struct Project {
    pub(crate) cache: tempfile::TempDir,
    pub(crate) notices: RefCell<Vec<Notice>>,
}

impl Project {
    pub(crate) fn new() -> Self {
        Self { cache: tempfile::tempdir().unwrap(), notices: RefCell::default() }
    }

    /// Hands a catalog of these registries to `use_it`.
    pub(crate) fn with<T>(
        &self,
        settings: &[RegistrySettings],
        network: Network,
        use_it: impl FnOnce(&Catalog<'_>) -> T,
    ) -> T {
        let notify = |notice: &Notice| self.notices.borrow_mut().push(notice.clone());
        let mut access = Access::new(self.cache.path(), network);
        access.back_off = Duration::from_millis(1);
        access.patience = Duration::from_secs(5);
        use_it(&Catalog::new(registries(settings), access, &notify))
    }

    /// Resolves and fetches a plugin, with the error as text.
    pub(crate) fn add(
        &self,
        settings: &[RegistrySettings],
        network: Network,
        wanted: &str,
        trust: Trust,
    ) -> Result<(Vec<u8>, LockedPlugin), String> {
        self.with(settings, network, |catalog| {
            let resolved = catalog.resolve(&request(wanted)).map_err(|error| error.to_string())?;
            let fetched = catalog.fetch(&resolved, trust).map_err(|error| error.to_string())?;
            let locked = LockedPlugin::new(&resolved, fetched.voucher);
            Ok((fetched.component, locked))
        })
    }

    pub(crate) fn told(&self, wanted: impl Fn(&Notice) -> bool) -> usize {
        self.notices.borrow().iter().filter(|notice| wanted(notice)).count()
    }
}

/// Changes the index of a folder as its owner would not.
pub(crate) fn tamper(folder: &Path, change: impl FnOnce(&mut Index)) {
    let path = folder.join("registry.json");
    let mut index: Index = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    change(&mut index);
    std::fs::write(path, index.to_json()).unwrap();
}

pub(crate) fn is_error<T>(result: Result<T, String>, parts: &[&str]) {
    let error = result.err().expect("it is refused");
    for part in parts {
        assert!(error.contains(part), "{part:?} is not in {error:?}");
    }
}

pub(crate) fn nobody(locked: &LockedPlugin) -> bool {
    locked.voucher == Voucher::Nobody
}
