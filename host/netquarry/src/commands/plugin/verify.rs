//! `netquarry plugin verify [FILE.wasm FILE.golden.json]`: whether this host has a plugin answer as where it was packed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use netquarry_plugin::Plugin;
use netquarry_plugin::cases::{Difference, GoldenPack, differences};
use netquarry_registry::lock::LockedPlugin;
use netquarry_registry::name::{FIRST_PARTY, Request};
use netquarry_registry::notice::Notice;
use netquarry_registry::resolve::Resolved;
use netquarry_registry::trust::Trust;
use semver::VersionReq;
use serde::Serialize;

use super::{component, shelf, test};
use crate::arguments::PluginVerifyArguments;
use crate::commands::Ending;
use crate::configuration::Settings;
use crate::console::{Console, Format};
use crate::driver::{plugins, registries};
use crate::problem::Problem;
use crate::quantity::human_things;

#[derive(Serialize)]
struct Verified {
    name: String,
    version: String,
    sha256: String,
    /// `None` where its registry has no golden pack of it.
    golden_sha256: Option<String>,
    cases: usize,
    /// By case; those that give what the pack says have none.
    differences: Vec<(String, Vec<Difference>)>,
}

pub(super) fn verify(
    arguments: &PluginVerifyArguments,
    settings: &Settings,
    console: &Console,
) -> Result<Ending, Problem> {
    let verified = match (&arguments.component, &arguments.golden) {
        (Some(component), Some(golden)) => vec![verified(&component::load(component, settings)?, &read(golden)?)?],
        _ if arguments.first_party => first_party(settings, console)?,
        _ => pinned(settings, console)?,
    };
    let is_same = verified.iter().all(|verified| verified.differences.is_empty());
    match console.format {
        Format::Json => console.print_json(&verified)?,
        Format::Human if verified.is_empty() => console.status("Verified", "nothing: the project pins no plugin"),
        Format::Human => {
            for Verified { name, version, golden_sha256, cases, differences, .. } in &verified {
                if golden_sha256.is_none() {
                    console.caution(&format!("{name} {version} has no golden pack: nothing of it was run"));
                    continue;
                }
                console.print(&test::differences(differences))?;
                let (same, cases) = (cases - differences.len(), human_things(*cases, "case"));
                console.status("Verified", &format!("{name} {version}: {same} of {cases} as the pack says"));
            }
        }
    }
    Ok(if is_same { Ending::Done } else { Ending::Findings })
}

/// Everything that the project has pinned, with the golden packs that registries have of it.
fn pinned(settings: &Settings, console: &Console) -> Result<Vec<Verified>, Problem> {
    let notify = shelf::told(console);
    let catalog = registries::catalog(settings, &notify)?;
    let host = plugins::host(settings)?;
    let lock = registries::lock(settings)?;
    let of = |locked: &LockedPlugin| -> Result<Verified, Problem> {
        let plugin = registries::load(&host, locked, &catalog.fetch_locked(locked)?)?;
        let (_, resolved) = catalog.entry(locked)?;
        if let Some(reason) = catalog.yanked(locked) {
            notify(&Notice::Yanked { plugin: locked.to_string(), reason: reason.to_owned() });
        }
        let golden = catalog.fetch_golden(&resolved)?;
        match golden {
            Some(bytes) => verified(&plugin, &of_registry(&bytes, &resolved)?),
            None => {
                Ok(Verified { golden_sha256: None, ..verified(&plugin, &GoldenPack::of(&plugin, BTreeMap::new()))? })
            }
        }
    };
    lock.plugins().iter().map(of).collect()
}

/// Every plugin of the program, with the golden packs that are in the program too.
fn first_party(settings: &Settings, console: &Console) -> Result<Vec<Verified>, Problem> {
    let notify = shelf::told(console);
    let catalog = registries::catalog(settings, &notify)?;
    let host = plugins::host(settings)?;
    let of = |name: &String| -> Result<Verified, Problem> {
        let resolved = catalog.resolve(&Request { name: name.clone(), requirement: VersionReq::STAR })?;
        let fetched = catalog.fetch(&resolved, Trust::SignedOnly)?;
        let plugin = registries::load(&host, &LockedPlugin::new(&resolved, fetched.voucher), &fetched.component)?;
        let golden = catalog.fetch_golden(&resolved)?;
        let golden = golden.ok_or_else(|| {
            Problem::new(format!("{} {} has no golden pack", resolved.name, resolved.version))
                .help("build NetQuarry from a repository that has the file golden.json beside its source")
        })?;
        verified(&plugin, &of_registry(&golden, &resolved)?)
    };
    catalog.index(FIRST_PARTY)?.plugins.keys().map(of).collect()
}

fn verified(plugin: &Plugin, pack: &GoldenPack) -> Result<Verified, Problem> {
    let identity = plugin.identity();
    if (&pack.plugin, &pack.version) != (&identity.name, &identity.version) {
        return Err(Problem::new(format!(
            "The golden pack is of {} {}, and the component is {} {}",
            pack.plugin, pack.version, identity.name, identity.version
        )));
    }
    let mut found = Vec::new();
    for (name, case) in &pack.cases {
        let differences = differences(&case.output, &case.run(plugin)?.output);
        if !differences.is_empty() {
            found.push((name.clone(), differences));
        }
    }
    Ok(Verified {
        name: identity.name.clone(),
        version: identity.version.clone(),
        sha256: identity.digest.clone(),
        golden_sha256: Some(pack.digest()),
        cases: pack.cases.len(),
        differences: found,
    })
}

/// The golden pack that a registry has of a version.
fn of_registry(bytes: &[u8], resolved: &Resolved) -> Result<GoldenPack, Problem> {
    let Resolved { name, version, registry, .. } = resolved;
    let unusable =
        || Problem::new(format!("The golden pack of {name} {version} of the registry `{registry}` cannot be used"));
    let text = str::from_utf8(bytes).map_err(|error| unusable().because(error))?;
    GoldenPack::read(text).map_err(|error| unusable().because(error))
}

/// The golden pack in this file.
pub(super) fn read(path: &Path) -> Result<GoldenPack, Problem> {
    let text = fs::read_to_string(path).map_err(|error| Problem::io("read", path, error))?;
    GoldenPack::read(&text).map_err(|error| Problem::new(format!("`{}` cannot be used", path.display())).because(error))
}
