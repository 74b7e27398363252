//! `netquarry plugin pack [DIR|FILE.wasm]`: a component and its golden pack, as they are published.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use netquarry_plugin::Plugin;
use netquarry_plugin::cases::GoldenPack;
use serde_json::json;

use super::component::{self, Component};
use crate::arguments::PluginPackArguments;
use crate::authoring::cases::NamedCase;
use crate::authoring::trial::{self, Tried};
use crate::commands::Ending;
use crate::configuration::Settings;
use crate::console::{Console, Format};
use crate::problem::Problem;
use crate::quantity::human_things;

pub(super) fn pack(arguments: &PluginPackArguments, settings: &Settings, console: &Console) -> Result<Ending, Problem> {
    let component = component::open(&arguments.target, arguments.offline, settings, console)?;
    let pack = packed(&component, &arguments.target)?;
    let plugin = &component.plugin;
    let identity = plugin.identity();
    let stem = format!("{}-{}", identity.name, identity.version);
    let (wasm, golden) =
        (arguments.output.join(format!("{stem}.wasm")), arguments.output.join(format!("{stem}.golden.json")));
    fs::create_dir_all(&arguments.output).map_err(|error| Problem::io("make the folder", &arguments.output, error))?;
    component::copy(&component.path, &wasm)?;
    fs::write(&golden, pack.text()).map_err(|error| Problem::io("write", &golden, error))?;
    let packed = json!({
        "name": identity.name,
        "version": identity.version,
        "component": wasm,
        "sha256": identity.digest,
        "golden": golden,
        "golden_sha256": pack.digest(),
        "cases": pack.cases.len(),
    });
    match console.format {
        Format::Json => console.print_json(&packed)?,
        Format::Human => {
            let cases = human_things(pack.cases.len(), "case");
            console.status("Packed", &format!("{} and {}, {cases}", wasm.display(), golden.display()));
        }
    }
    Ok(Ending::Done)
}

/// The cases of a component with their outputs; all of them have to pass.
pub(super) fn packed(component: &Component, target: &Path) -> Result<GoldenPack, Problem> {
    let plugin = &component.plugin;
    let cases = component.cases()?;
    let tried = trial::cases(plugin, &cases, false)?;
    if let Some(Tried { origin, name, .. }) = tried.iter().find(|tried| !tried.outcome.is_passed()) {
        return Err(Problem::new(format!("The {origin} `{name}` of {} does not pass", plugin.identity().name))
            .help(format!("see `netquarry plugin test {}`", target.display())));
    }
    Ok(of(plugin, &tried, cases))
}

/// The pack of cases that were tried, in their order.
pub(super) fn of(plugin: &Plugin, tried: &[Tried], cases: Vec<NamedCase>) -> GoldenPack {
    // An example and a fixture may bear one name.
    let key = |tried: &Tried| format!("{}-{}", tried.origin, tried.name);
    let packed: BTreeMap<_, _> = tried.iter().map(key).zip(cases.into_iter().map(|named| named.case)).collect();
    GoldenPack::of(plugin, packed)
}
