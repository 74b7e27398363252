//! The registries of a project, and the plugins that its lock pins.

use std::path::PathBuf;

use netquarry_plugin::{Plugin, PluginHost};
use netquarry_registry::catalog::{Access, Catalog, Network};
use netquarry_registry::lock::{self, Lock, LockedPlugin};
use netquarry_registry::notice::{Notice, Notify};
use netquarry_registry::settings::Registries;

use crate::configuration::Settings;
use crate::hints::unusable_plugin;
use crate::problem::Problem;

/// Where the lock of a project lies: beside its configuration.
pub fn lock_path(settings: &Settings) -> PathBuf {
    settings.project_dir.join(lock::FILE_NAME)
}

/// All registries of a project, the first-party one last.
pub fn catalog<'a>(settings: &Settings, notify: Notify<'a>) -> Result<Catalog<'a>, Problem> {
    let registries = Registries::new(&settings.registries, &settings.project_dir)?;
    let network = if settings.offline { Network::Offline } else { Network::Online };
    Ok(Catalog::new(registries, Access::new(&settings.cache_dir, network), notify))
}

/// The plugin that the lock pins under this name; nothing where it pins none.
pub fn locked(settings: &Settings, host: &PluginHost, name: &str) -> Result<Option<Plugin>, Problem> {
    let lock = Lock::read(&lock_path(settings))?;
    let Some(locked) = lock.get(name) else { return Ok(None) };
    let notify = |notice: &Notice| tracing::warn!("{notice}");
    let component = catalog(settings, &notify)?.fetch_locked(locked)?;
    load(host, locked, &component).map(Some)
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
    Ok(plugin)
}
