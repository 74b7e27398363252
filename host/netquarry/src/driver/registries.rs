//! The registries of a project, and the plugins that its lock pins.

use std::collections::BTreeSet;
use std::path::PathBuf;

use netquarry_plugin::{Plugin, PluginHost};
use netquarry_registry::agreement::{Disagreement, disagreements};
use netquarry_registry::catalog::{Access, Catalog, Network};
use netquarry_registry::index::Permission;
use netquarry_registry::lock::{self, Lock, LockedPlugin};
use netquarry_registry::name::{Request, is_first_party};
use netquarry_registry::notice::{Notice, Notify};
use netquarry_registry::settings::Registries;
use semver::VersionReq;

use crate::configuration::{DEFAULTS, Settings};
use crate::hints::unusable_plugin;
use crate::problem::Problem;

/// Where the lock of a project lies: beside its configuration.
pub fn lock_path(settings: &Settings) -> PathBuf {
    settings.project_dir.join(lock::FILE_NAME)
}

/// The lock of a project; an empty one where it has none.
pub fn lock(settings: &Settings) -> Result<Lock, Problem> {
    Ok(Lock::read(&lock_path(settings))?)
}

/// All registries of a project, the first-party one last.
pub fn catalog<'a>(settings: &Settings, notify: Notify<'a>) -> Result<Catalog<'a>, Problem> {
    let registries = Registries::new(&settings.registries, &settings.project_dir)?;
    let network = if settings.offline { Network::Offline } else { Network::Online };
    Ok(Catalog::new(registries, Access::new(&settings.cache_dir, network), notify))
}

/// The plugin that the lock pins under this name; nothing where it pins none.
pub fn locked(settings: &Settings, host: &PluginHost, name: &str) -> Result<Option<Plugin>, Problem> {
    let lock = lock(settings)?;
    let Some(locked) = lock.get(name) else { return Ok(None) };
    let notify = |notice: &Notice| tracing::warn!("{notice}");
    let component = catalog(settings, &notify)?.fetch_locked(locked)?;
    load(host, locked, &component).map(Some)
}

/// Where the lock is to stay as it is: holds it against the plugins that the project orders. Those of the program need no
/// lock, and a component that is named by its path has none.
///
/// # Errors
/// They do not agree.
pub fn hold_to_lock(settings: &Settings) -> Result<(), Problem> {
    if !settings.locked {
        return Ok(());
    }
    let ordered = settings.configured_plugins.names().chain(settings.plugins.names());
    let is_pinned = |name: &&String| *name != DEFAULTS && !name.ends_with(".wasm") && !is_first_party(name);
    let pinned = ordered.filter(is_pinned);
    let names: BTreeSet<&String> = pinned.collect();
    let requests: Vec<Request> =
        names.into_iter().map(|name| Request { name: name.clone(), requirement: VersionReq::STAR }).collect();
    let path = lock_path(settings);
    let differing = disagreements(&Lock::read(&path)?, &requests);
    let help = |missing: &Disagreement| match missing {
        Disagreement::NotLocked(request) => format!("pin it with `netquarry plugin add {}`", request.name),
        Disagreement::OtherVersion { request, .. } => {
            format!("pin another with `netquarry plugin update {}`", request.name)
        }
        Disagreement::OtherHost { name, .. } => format!("pin another version with `netquarry plugin update {name}`"),
        Disagreement::NotWanted(name) => {
            format!("order it in [plugins], or let it go with `netquarry plugin remove {name}`")
        }
    };
    let Some(first) = differing.first() else { return Ok(()) };
    let what = match path.is_file() {
        true => format!(
            "`{}` does not have the plugins that netquarry.toml orders, and it is not to change",
            path.display()
        ),
        false => format!("There is no `{}`, and netquarry.toml orders plugins that it has to pin", path.display()),
    };
    let listed: Vec<String> = differing.iter().map(ToString::to_string).collect();
    Err(Problem::new(what)
        .because(listed.join("; "))
        .help(format!("{}, without --locked, and commit the lock beside netquarry.toml", help(first))))
}

/// Refuses what would change the lock where it is to stay as it is.
pub fn refuse_where_locked(settings: &Settings, command: &str) -> Result<(), Problem> {
    if settings.locked {
        return Err(Problem::new(format!(
            "`netquarry plugin {command}` changes netquarry.lock, which is to stay as it is"
        ))
        .help("give the command without --locked (NETQUARRY_LOCKED)"));
    }
    Ok(())
}

/// The component as a plugin, which has to be what its registry says it is.
pub fn load(host: &PluginHost, locked: &LockedPlugin, component: &[u8]) -> Result<Plugin, Problem> {
    let whence = || format!("{locked} of the registry `{}`", locked.registry);
    let plugin = host.load(component).map_err(|error| unusable_plugin(&whence(), &error))?;
    let (identity, kind) = (plugin.identity(), plugin.description().kind);
    if (&identity.name, &identity.version, kind) != (&locked.name, &locked.version, locked.kind) {
        let what = format!("The registry `{}` says {locked} is a {}", locked.registry, locked.kind);
        return Err(Problem::new(what)
            .because(format!("its component says that it is the {kind} {} {}", identity.name, identity.version))
            .help("do not use it, and tell whoever runs the registry"));
    }
    let asked: BTreeSet<Permission> =
        plugin.description().permissions.iter().map(|permission| Permission::from(&permission.right)).collect();
    if !asked.iter().eq(&locked.permissions) {
        let what =
            format!("The registry `{}` says that {locked} asks for [{}]", locked.registry, listed(&locked.permissions));
        return Err(Problem::new(what)
            .because(format!("its component asks for [{}]", listed(&asked)))
            .help("do not use it, and tell whoever runs the registry"));
    }
    Ok(plugin)
}

fn listed<'a>(permissions: impl IntoIterator<Item = &'a Permission>) -> String {
    let told = |permission: &Permission| format!("{} {}", permission.name, permission.scope);
    permissions.into_iter().map(told).collect::<Vec<_>>().join(", ")
}
