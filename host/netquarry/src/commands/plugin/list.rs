//! `netquarry plugin list`

use netquarry_plugin::{Permission, first_party};
use rayon::prelude::*;
use serde::Serialize;
use serde_json::Value;

use crate::commands::Ending;
use crate::configuration::Settings;
use crate::console::{Console, Format};
use crate::driver::{fetch, plugins};
use crate::problem::Problem;
use crate::table::{Align, Table};

#[derive(Serialize)]
struct Listed {
    name: String,
    version: String,
    kind: &'static str,
    /// Its place among the plugins of its kind, from 1; `None` where the run does not use it.
    order: Option<usize>,
    sha256: String,
    documentation: String,
    configuration_schema: Value,
    /// What it asks for beyond what every plugin is given.
    permissions: Vec<Permission>,
}

pub(super) fn list(settings: &Settings, console: &Console) -> Result<Ending, Problem> {
    let listed = listed(settings)?;
    match console.format {
        Format::Json => console.print_json(&listed)?,
        Format::Human => {
            let mut table = Table::new(&[
                ("kind", Align::Left),
                ("order", Align::Right),
                ("plugin", Align::Left),
                ("version", Align::Left),
                ("sha256", Align::Left),
                ("", Align::Left),
            ]);
            for plugin in listed {
                let summary = plugin.documentation.lines().next().unwrap_or("").to_owned();
                let order = plugin.order.map_or("-".to_owned(), |order| order.to_string());
                table.row(vec![
                    plugin.kind.to_owned(),
                    order,
                    plugin.name,
                    plugin.version,
                    plugin.sha256[..12].to_owned(),
                    summary,
                ]);
            }
            console.print(&table.render(|style| console.out_style(style)))?;
        }
    }
    Ok(Ending::Done)
}

/// The plugins that the run uses, in order, and then the other first-party ones.
fn listed(settings: &Settings) -> Result<Vec<Listed>, Problem> {
    let host = plugins::host(settings)?;
    let corpus = fetch::corpus(settings)?;
    let discovery = plugins::discovery_order(settings, corpus.discovery_rule.as_deref());
    let order = &settings.plugins;
    let mut named: Vec<(String, Option<usize>)> = Vec::new();
    for names in [&discovery, &order.shims, &order.dedup, &order.emit] {
        named.extend(names.iter().enumerate().map(|(index, name)| (name.clone(), Some(index + 1))));
    }
    let others =
        first_party().iter().map(|component| component.name).filter(|name| !named.iter().any(|(used, _)| used == name));
    let others: Vec<_> = others.map(|name| (name.to_owned(), None)).collect();
    named.extend(others);
    let loaded = |(name, order): (String, Option<usize>)| -> Result<Listed, Problem> {
        let plugin = plugins::load(settings, &host, &name)?.plugin;
        let (identity, description) = (plugin.identity(), plugin.description());
        Ok(Listed {
            name: identity.name.clone(),
            version: identity.version.clone(),
            kind: description.kind.name(),
            order,
            sha256: identity.digest.clone(),
            documentation: description.documentation.clone(),
            configuration_schema: description.configuration_schema.clone(),
            permissions: description.permissions.clone(),
        })
    };
    let mut listed = named.into_par_iter().map(loaded).collect::<Result<Vec<_>, _>>()?;
    listed.sort_by_key(|plugin| (plugin.kind, plugin.order.unwrap_or(usize::MAX)));
    Ok(listed)
}
