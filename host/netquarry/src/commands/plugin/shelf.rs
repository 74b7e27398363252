//! What the commands about registries have in common.

use netquarry_plugin::{Kind, Plugin};
use netquarry_registry::catalog::Catalog;
use netquarry_registry::index::Permission;
use netquarry_registry::lock::{Lock, LockedPlugin};
use netquarry_registry::notice::Notice;
use netquarry_registry::resolve::Resolved;
use netquarry_registry::trust::{Trust, Voucher};

use crate::configuration::Settings;
use crate::console::Console;
use crate::driver::plugins;
use crate::driver::registries;
use crate::problem::Problem;

/// Tells a notice as it comes up.
pub(super) fn told(console: &Console) -> impl Fn(&Notice) {
    |notice| console.caution(&notice.to_string())
}

/// The lock of the project.
pub(super) fn lock(settings: &Settings) -> Result<Lock, Problem> {
    Ok(Lock::read(&registries::lock_path(settings))?)
}

/// Fetches and loads a version: what can be locked of it.
pub(super) fn lockable(
    catalog: &Catalog<'_>,
    resolved: &Resolved,
    allow_unsigned: bool,
    settings: &Settings,
) -> Result<(LockedPlugin, Plugin), Problem> {
    let trust = if allow_unsigned { Trust::AllowUnsigned } else { Trust::SignedOnly };
    let fetched = catalog.fetch(resolved, trust)?;
    let locked = LockedPlugin::new(resolved, fetched.voucher);
    refuse_permissions(&locked.to_string(), &resolved.permissions)?;
    let plugin = registries::load(&plugins::host(settings)?, &locked, &fetched.component)?;
    Ok((locked, plugin))
}

/// This host gives plugins nothing beyond what the contract has, so one that needs more cannot do its work here.
fn refuse_permissions(plugin: &str, permissions: &[Permission]) -> Result<(), Problem> {
    if permissions.is_empty() {
        return Ok(());
    }
    let wanted: Vec<String> =
        permissions.iter().map(|Permission { name, scope }| format!("{name} ({scope})")).collect();
    Err(Problem::new(format!("{plugin} asks for what this program gives to no plugin"))
        .because(wanted.join(", "))
        .help("use another version of the plugin, or a newer NetQuarry"))
}

/// `signed by ABCD`, `not signed`.
pub(super) fn vouched(locked: &LockedPlugin) -> String {
    match &locked.voucher {
        Voucher::BuiltIn => "part of the program".to_owned(),
        Voucher::Key(id) => format!("signed by {id}"),
        Voucher::Nobody => "not signed".to_owned(),
    }
}

/// The list of `[plugins]` in which plugins of a kind stand.
pub(super) fn list_of(kind: Kind) -> &'static str {
    match kind {
        Kind::DiscoveryRule => "discover",
        Kind::RepoShim => "shims",
        Kind::DedupStrategy => "dedup",
        Kind::SpecEmitter => "emit",
    }
}
