//! What the commands about registries have in common.

use std::thread;
use std::time::Duration;

use netquarry_plugin::{Kind, Permission, Plugin};
use netquarry_registry::catalog::Catalog;
use netquarry_registry::lock::LockedPlugin;
use netquarry_registry::notice::Notice;
use netquarry_registry::resolve::Resolved;
use netquarry_registry::trust::{Trust, Voucher};

use crate::configuration::Settings;
use crate::console::Console;
use crate::driver::plugins;
use crate::driver::registries;
use crate::folder_lock::{FolderLock, Locked};
use crate::interrupt;
use crate::problem::Problem;

/// Tells a notice as it comes up.
pub(super) fn told(console: &Console) -> impl Fn(&Notice) {
    |notice| console.caution(&notice.to_string())
}

/// Keeps the project for this command, which reads its files and writes them changed: waits until no other one does so.
pub(super) fn hold(settings: &Settings, console: &Console) -> Result<FolderLock, Problem> {
    let (folder, locks) = (&settings.project_dir, settings.cache_dir.join("locks"));
    let mut is_told = false;
    loop {
        if let Some(held) = FolderLock::try_take(folder, Locked::Project, &locks)? {
            return Ok(held);
        }
        interrupt::check()?;
        if !is_told {
            console.status("Waiting", "for another netquarry, which changes the plugins of this project");
            is_told = true;
        }
        thread::sleep(Duration::from_millis(200));
    }
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
    let plugin = registries::load(&plugins::host(settings)?, &locked, &fetched.component)?;
    Ok((locked, plugin))
}

/// What the plugin asks for and was not granted; all of it is granted from now on where `grant` is set.
///
/// # Errors
/// Where it asks for something, and nobody grants it.
pub(super) fn missing_grants(
    plugin: &Plugin,
    grant: bool,
    settings: &Settings,
    again: &str,
) -> Result<Vec<Permission>, Problem> {
    let granted = plugins::granted(settings, &[&plugin.identity().name]);
    match plugin.clone().granted(&granted) {
        Ok(_) => Ok(Vec::new()),
        Err(ungranted) if grant => Ok(ungranted.missing),
        Err(ungranted) => Err(Problem::from(ungranted).help(format!("if you want that, give `{again} --grant`"))),
    }
}

/// A right that was granted, to the person who has granted it.
pub(super) fn told_grant(Permission { right, why }: &Permission) -> String {
    format!("{right}: {why}")
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
