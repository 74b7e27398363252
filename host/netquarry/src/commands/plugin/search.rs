//! `netquarry plugin search` and `info`: what there is in the registries.

use netquarry_registry::index::IndexedVersion;
use netquarry_registry::resolve::newest;
use serde::Serialize;
use serde_json::json;

use super::shelf;
use crate::commands::Ending;
use crate::configuration::Settings;
use crate::console::{Console, Format};
use crate::driver::registries;
use crate::problem::Problem;
use crate::table::{Align, Table};

#[derive(Serialize)]
struct Found<'a> {
    name: &'a str,
    registry: &'a str,
    kind: &'static str,
    /// The one that `plugin add` would take; `None` where there is none for this host that is not yanked.
    version: Option<&'a str>,
    summary: &'a str,
}

pub(super) fn search(words: &[String], settings: &Settings, console: &Console) -> Result<Ending, Problem> {
    let notify = shelf::told(console);
    let catalog = registries::catalog(settings, &notify)?;
    let (listed, failures) = catalog.search(&words.join(" "));
    let is_whole = failures.is_empty();
    failures.into_iter().for_each(|failure| console.warn(&Problem::from(failure)));
    let found: Vec<Found<'_>> = listed
        .iter()
        .map(|listed| Found {
            name: listed.name,
            registry: listed.registry,
            kind: listed.plugin.kind.name(),
            version: newest(listed.plugin).map(|version| version.version.as_str()),
            summary: &listed.plugin.summary,
        })
        .collect();
    match console.format {
        Format::Json => console.print_json(&found)?,
        Format::Human if found.is_empty() => console.print("  none\n")?,
        Format::Human => {
            let columns = ["plugin", "version", "kind", "registry", ""].map(|title| (title, Align::Left));
            let mut table = Table::new(&columns);
            for Found { name, registry, kind, version, summary } in found {
                let cells = [name, version.unwrap_or("-"), kind, registry, summary];
                table.row(cells.map(str::to_owned).to_vec());
            }
            console.print(&table.render(|style| console.out_style(style)))?;
        }
    }
    Ok(if is_whole { Ending::Done } else { Ending::Incomplete })
}

pub(super) fn info(name: &str, settings: &Settings, console: &Console) -> Result<Ending, Problem> {
    let notify = shelf::told(console);
    let catalog = registries::catalog(settings, &notify)?;
    let (registry, plugin) = catalog.find(name)?;
    match console.format {
        Format::Json => console.print_json(&json!({"name": name, "registry": registry, "plugin": plugin}))?,
        Format::Human => {
            let repository = match plugin.repository.as_str() {
                "." => "where the registry lies",
                elsewhere => elsewhere,
            };
            let mut text = format!(
                "{name}: {}\n  kind        {}\n  registry    {registry}\n  licence     {}\n  repository  {}\n  versions\n",
                plugin.summary, plugin.kind, plugin.license, repository
            );
            for version in plugin.versions.iter().rev() {
                text.push_str(&format!("    {}\n", about(version)));
            }
            console.print(&text)?;
        }
    }
    Ok(Ending::Done)
}

/// A version on one line.
fn about(version: &IndexedVersion) -> String {
    let digest = version.sha256.as_deref().map_or("not built", |digest| &digest[..12]);
    let signed = if version.signature.is_some() { ", signed" } else { "" };
    let golden = if version.golden.is_some() { ", with a golden pack" } else { "" };
    let yanked = version.yanked.as_ref().map(|reason| format!(", yanked: {reason}")).unwrap_or_default();
    let permissions: Vec<String> = version
        .permissions
        .iter()
        .map(|permission| format!(", asks for {} {}", permission.name, permission.scope))
        .collect();
    format!("{} for hosts {}, {digest}{signed}{golden}{}{yanked}", version.version, version.wit, permissions.concat())
}
