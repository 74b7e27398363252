//! `netquarry plugin add`, `remove` and `update`: what the project has pinned.

use netquarry_plugin::Permission;
use netquarry_registry::agreement::Difference;
use netquarry_registry::lock::LockedPlugin;
use netquarry_registry::name::{FIRST_PARTY, Request};
use netquarry_registry::trust::Voucher;
use semver::VersionReq;
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
    let notify = shelf::told(console);
    let catalog = registries::catalog(settings, &notify)?;
    let resolved = catalog.resolve(&arguments.plugin)?;
    let (locked, plugin) = shelf::lockable(&catalog, &resolved, arguments.allow_unsigned, settings)?;
    let kind = plugin.description().kind;
    let again = format!("netquarry plugin add {}", arguments.plugin);
    let granted = shelf::missing_grants(&plugin, arguments.grant, settings, &again)?;
    // Those in the program change with it, and their bytes are pinned by it.
    if resolved.registry != FIRST_PARTY {
        let mut lock = shelf::lock(settings)?;
        lock.insert(locked.clone());
        lock.write(&registries::lock_path(settings))?;
    }
    order::grant(settings, &locked.name, &granted)?;
    let ordered = order::append(settings, kind, &locked.name)?;
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

fn told(locked: &LockedPlugin) -> String {
    let LockedPlugin { name, version, kind, registry, pin, .. } = locked;
    let digits = &pin.sha256[..12];
    format!("the {kind} {name} {version} of the registry `{registry}`, sha256:{digits}, {}", shelf::vouched(locked))
}

pub(super) fn remove(name: &str, settings: &Settings, console: &Console) -> Result<Ending, Problem> {
    registries::refuse_where_locked(settings, "remove")?;
    let mut lock = shelf::lock(settings)?;
    let was_locked = lock.remove(name).is_some();
    lock.write(&registries::lock_path(settings))?;
    let was_ordered = order::remove(settings, name)?;
    if !was_locked && !was_ordered {
        return Err(Problem::new(format!("The project has no plugin `{name}`"))
            .help("`netquarry plugin list` shows those that a run uses"));
    }
    console.status("Removed", name);
    Ok(Ending::Done)
}

/// Locks the newest versions that fit, of one plugin or of all.
pub(super) fn update(
    arguments: &PluginUpdateArguments,
    settings: &Settings,
    console: &Console,
) -> Result<Ending, Problem> {
    registries::refuse_where_locked(settings, "update")?;
    let notify = shelf::told(console);
    let catalog = registries::catalog(settings, &notify)?;
    let before = shelf::lock(settings)?;
    let named = |plugin: &&LockedPlugin| arguments.name.as_ref().is_none_or(|name| *name == plugin.name);
    let meant: Vec<&LockedPlugin> = before.plugins().iter().filter(named).collect();
    if let (Some(name), []) = (&arguments.name, &meant[..]) {
        return Err(
            Problem::new(format!("`{name}` is not locked")).help(format!("lock it with `netquarry plugin add {name}`"))
        );
    }
    let mut after = before.clone();
    let mut granted: Vec<(String, Vec<Permission>)> = Vec::new();
    for locked in &meant {
        let request = Request { name: locked.name.clone(), requirement: VersionReq::STAR };
        let resolved = catalog.resolve(&request)?;
        // Who has once taken a plugin that nobody signed goes on doing so; a signature that is there is checked all the same.
        let allow_unsigned = arguments.allow_unsigned || locked.voucher == Voucher::Nobody;
        let (updated, plugin) = shelf::lockable(&catalog, &resolved, allow_unsigned, settings)?;
        let again = format!("netquarry plugin update {}", locked.name);
        let missing = shelf::missing_grants(&plugin, arguments.grant, settings, &again)?;
        granted.push((locked.name.clone(), missing));
        after.insert(updated);
    }
    for (name, missing) in &granted {
        order::grant(settings, name, missing)?;
    }
    after.write(&registries::lock_path(settings))?;
    let difference = Difference::between(&before, &after);
    let changes: Vec<_> = difference
        .changed
        .iter()
        .map(|change| {
            json!({
                "name": change.after.name,
                "before": change.before.version,
                "after": change.after.version,
                "granted": granted.iter().find(|(name, _)| *name == change.after.name).map(|(_, missing)| missing),
            })
        })
        .collect();
    match console.format {
        Format::Json => console.print_json(&json!({"changed": changes}))?,
        Format::Human => {
            for change in &difference.changed {
                console.status("Updated", &format!("{} from {}", told(&change.after), change.before.version));
            }
            for (name, missing) in &granted {
                let told = |permission| console.status("Granted", &format!("{name} {}", shelf::told_grant(permission)));
                missing.iter().for_each(told);
            }
            let rest = human_things(meant.len() - difference.changed.len(), "plugin");
            console.status("Kept", &format!("{rest} as locked"));
        }
    }
    Ok(Ending::Done)
}
