//! `netquarry plugin add`, `remove` and `update`: what the project has pinned.

use std::collections::BTreeMap;

use netquarry_plugin::Permission;
use netquarry_registry::agreement::{Change, Difference};
use netquarry_registry::lock::LockedPlugin;
use netquarry_registry::name::FIRST_PARTY;
use netquarry_registry::resolve::unchanged;
use netquarry_registry::trust::Voucher;
use serde_json::json;

use super::{order, shelf};
use crate::arguments::{PluginAddArguments, PluginUpdateArguments};
use crate::commands::Ending;
use crate::configuration::Settings;
use crate::console::{Console, Format};
use crate::driver::registries;
use crate::problem::Problem;
use crate::quantity::human_things;

pub(super) fn add(arguments: &PluginAddArguments, settings: &Settings, console: &Console) -> Result<Ending, Problem> {
    registries::refuse_where_locked(settings, "add")?;
    let _held = shelf::hold(settings, console)?;
    let notify = shelf::told(console);
    let catalog = registries::catalog(settings, &notify)?;
    let mut resolved = catalog.resolve(&arguments.plugin)?;
    let mut lock = registries::lock(settings)?;
    if let Some(before) = lock.get(&resolved.name) {
        resolved = unchanged(resolved, before)?;
    }
    let (locked, plugin) = shelf::lockable(&catalog, &resolved, arguments.allow_unsigned, settings)?;
    let kind = plugin.description().kind;
    let again = format!("netquarry plugin add {}", arguments.plugin);
    let granted = shelf::missing_grants(&plugin, arguments.grant, settings, &again)?;
    let mut configuration = order::Edit::begin(settings)?;
    configuration.grant(&locked.name, &granted);
    let ordered = configuration.append(kind, &locked.name);
    // Those in the program change with it, and their bytes are pinned by it.
    if resolved.registry != FIRST_PARTY {
        lock.insert(locked.clone());
        lock.write(&registries::lock_path(settings))?;
    }
    // Behind the lock: what is ordered is pinned at all times.
    configuration.write().map_err(|problem| problem.help(half_done(&again)))?;
    match console.format {
        Format::Json => console.print_json(&json!({
            "name": locked.name,
            "version": locked.version,
            "kind": kind.name(),
            "sha256": locked.pin.sha256,
            "registry": locked.registry,
            "vouched_for": shelf::vouched(&locked),
            "granted": granted,
            "ordered": ordered,
        }))?,
        Format::Human => {
            console.status("Added", &told(&locked));
            granted.iter().for_each(|permission| console.status("Granted", &shelf::told_grant(permission)));
            if ordered {
                console
                    .status("Ordered", &format!("behind the other plugins of `{}` in [plugins]", shelf::list_of(kind)));
            }
        }
    }
    Ok(Ending::Done)
}

/// What to do where only the first of the two files was written.
fn half_done(again: &str) -> String {
    format!("netquarry.lock and netquarry.toml do not go together now; mend that and give `{again}` again")
}

/// `the repo-shim shim-acme 0.1.0 of the registry ...`
fn told(locked: &LockedPlugin) -> String {
    format!("the {} {} {}", locked.kind, locked.name, told_version(locked))
}

/// ``0.1.0 of the registry `acme`, sha256:1a2b3c4d5e6f, not signed``
fn told_version(locked: &LockedPlugin) -> String {
    let LockedPlugin { version, registry, pin, .. } = locked;
    let digits = &pin.sha256[..12];
    format!("{version} of the registry `{registry}`, sha256:{digits}, {}", shelf::vouched(locked))
}

pub(super) fn remove(name: &str, settings: &Settings, console: &Console) -> Result<Ending, Problem> {
    registries::refuse_where_locked(settings, "remove")?;
    let _held = shelf::hold(settings, console)?;
    let mut lock = registries::lock(settings)?;
    let mut configuration = order::Edit::begin(settings)?;
    let was_locked = lock.remove(name);
    let was_ordered = configuration.remove(name);
    if was_locked.is_none() && !was_ordered {
        return Err(Problem::new(format!("The project has no plugin `{name}`"))
            .help("`netquarry plugin list` shows those that a run uses"));
    }
    configuration.write()?;
    // Behind the configuration: what is ordered is pinned at all times.
    if was_locked.is_some() {
        let again = format!("netquarry plugin remove {name}");
        let written = lock.write(&registries::lock_path(settings));
        written.map_err(|error| Problem::from(error).help(half_done(&again)))?;
    }
    match console.format {
        Format::Json => {
            let version = was_locked.map(|locked| locked.version);
            console.print_json(&json!({"name": name, "version": version, "ordered": was_ordered}))?;
        }
        Format::Human => console.status("Removed", name),
    }
    Ok(Ending::Done)
}

/// Locks the newest versions that fit, of one plugin or of all.
pub(super) fn update(
    arguments: &PluginUpdateArguments,
    settings: &Settings,
    console: &Console,
) -> Result<Ending, Problem> {
    registries::refuse_where_locked(settings, "update")?;
    let _held = shelf::hold(settings, console)?;
    let notify = shelf::told(console);
    let catalog = registries::catalog(settings, &notify)?;
    let before = registries::lock(settings)?;
    let named = |plugin: &&LockedPlugin| arguments.name.as_ref().is_none_or(|name| *name == plugin.name);
    let meant: Vec<&LockedPlugin> = before.plugins().iter().filter(named).collect();
    if let (Some(name), []) = (&arguments.name, &meant[..]) {
        return Err(
            Problem::new(format!("`{name}` is not locked")).help(format!("lock it with `netquarry plugin add {name}`"))
        );
    }
    let mut after = before.clone();
    let mut granted: Vec<(String, Vec<Permission>)> = Vec::new();
    let mut yanked = BTreeMap::new();
    for locked in &meant {
        let resolved = catalog.resolve_update(locked)?;
        yanked.extend(catalog.yanked(locked).map(|reason| (locked.name.clone(), reason.to_owned())));
        // Who has once taken a plugin from a place where nobody signs goes on doing so; a signature that is there is checked
        // all the same.
        let was_allowed = locked.voucher == Voucher::Nobody && locked.registry == resolved.registry;
        let allow_unsigned = arguments.allow_unsigned || was_allowed;
        let (updated, plugin) = shelf::lockable(&catalog, &resolved, allow_unsigned, settings)?;
        let again = format!("netquarry plugin update {}", locked.name);
        let missing = shelf::missing_grants(&plugin, arguments.grant, settings, &again)?;
        granted.push((locked.name.clone(), missing));
        after.insert(updated);
    }
    let mut configuration = order::Edit::begin(settings)?;
    granted.iter().for_each(|(name, missing)| configuration.grant(name, missing));
    configuration.write()?;
    // Behind the configuration: what is pinned has its grants at all times.
    let again =
        arguments.name.iter().fold("netquarry plugin update".to_owned(), |command, name| format!("{command} {name}"));
    let written = after.write(&registries::lock_path(settings));
    written.map_err(|error| Problem::from(error).help(half_done(&again)))?;
    let updates = Updates { difference: Difference::between(&before, &after), granted, yanked };
    updates.tell(console, meant.len())?;
    Ok(Ending::Done)
}

/// What an update changes.
struct Updates {
    difference: Difference,
    /// By plugin.
    granted: Vec<(String, Vec<Permission>)>,
    /// Why the version was yanked that was pinned before, by plugin.
    yanked: BTreeMap<String, String>,
}

impl Updates {
    /// `asked` is the number of plugins that were to be updated.
    fn tell(&self, console: &Console, asked: usize) -> Result<(), Problem> {
        let Self { difference, granted, yanked } = self;
        for Change { before, after } in difference.changed.iter().filter(|change| change.has_another_voucher()) {
            console.caution(&format!(
                "{before} was {}, and {after} is {}",
                shelf::vouched(before),
                shelf::vouched(after)
            ));
        }
        let changes: Vec<_> = difference
            .changed
            .iter()
            .map(|change| {
                json!({
                    "name": change.after.name,
                    "before": change.before.version,
                    "after": change.after.version,
                    "sha256": change.after.pin.sha256,
                    "registry": change.after.registry,
                    "yanked": yanked.get(&change.after.name),
                    "vouched_for": shelf::vouched(&change.after),
                    "granted": granted.iter().find(|(name, _)| *name == change.after.name).map(|(_, missing)| missing),
                })
            })
            .collect();
        match console.format {
            Format::Json => console.print_json(&json!({"changed": changes}))?,
            Format::Human if asked == 0 => console.status("Updated", "nothing: the project pins no plugin"),
            Format::Human => {
                for change in &difference.changed {
                    let reason = yanked.get(&change.after.name);
                    let yanked = reason.map(|reason| format!(" (yanked: {reason})")).unwrap_or_default();
                    let Change { before, after } = change;
                    let what = format!("{} from {}{yanked} to {}", after.name, before.version, told_version(after));
                    console.status("Updated", &what);
                }
                for (name, missing) in granted {
                    let told =
                        |permission| console.status("Granted", &format!("{name} {}", shelf::told_grant(permission)));
                    missing.iter().for_each(told);
                }
                match asked - difference.changed.len() {
                    0 => {}
                    kept => console.status("Kept", &format!("{} as pinned", human_things(kept, "plugin"))),
                }
            }
        }
        Ok(())
    }
}
