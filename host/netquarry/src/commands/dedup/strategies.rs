//! Which strategies are asked, with which options: presets, and what the command line says of prefixes.

use std::collections::BTreeMap;

use serde_json::json;

use crate::arguments::DedupRunArguments;
use crate::configuration::{PluginOrder, Settings, expanded};
use crate::curation::Layout;
use crate::problem::Problem;

/// The strategies and options of NN-DUP.
const NN_DUP: &str = include_str!("../../presets/nn-dup.toml");

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct PresetFile {
    top_up: Vec<String>,
    layout: Layout,
    plugins: PluginOrder,
    plugin: BTreeMap<String, toml::Table>,
}

/// What a preset stands for.
pub(super) struct Preset {
    pub(super) settings: Settings,
    /// Prefixes that it tops up by itself.
    top_up: Vec<String>,
    layout: Layout,
}

/// The settings with what the command line says of strategies, and the layout that comes with the preset.
pub(super) fn with_strategies(
    arguments: &DedupRunArguments,
    settings: &Settings,
) -> Result<(Settings, Layout), Problem> {
    let Preset { mut settings, top_up: topped_up, layout } = with_preset(&arguments.preset, settings)?;
    let DedupRunArguments { includes, prefer_prefixes, top_ups, strategies, .. } = arguments;
    if !strategies.is_empty() {
        settings.plugins.dedup = expanded(strategies.clone(), &settings.plugins.dedup);
    }
    if !top_ups.is_empty() && !settings.plugins.dedup.iter().any(|used| used == "dedup-top-up") {
        return Err(Problem::new("Nothing brings models back: --top-up needs the strategy `dedup-top-up`").help(
            "take --preset nn-dup, or --dedup ...,dedup-top-up, or name it under `[plugins]` in netquarry.toml",
        ));
    }
    let inferred: Vec<String> = includes.iter().filter(|prefix| begins_with_any(prefix, &topped_up)).cloned().collect();
    let prefixes = [
        ("dedup-exact", if prefer_prefixes.is_empty() { includes } else { prefer_prefixes }),
        ("dedup-lexical", includes),
        ("dedup-rescue", includes),
        ("dedup-top-up", if top_ups.is_empty() { &inferred } else { top_ups }),
    ];
    for (plugin, prefixes) in prefixes {
        let is_used = settings.plugins.dedup.iter().any(|used| used == plugin);
        if is_used && !prefixes.is_empty() {
            let options = settings.plugin_options.entry(plugin.to_owned()).or_insert_with(|| json!({}));
            options["prefixes"] = json!(prefixes);
        }
    }
    Ok((settings.with_options(&arguments.plugin_options), layout))
}

pub(super) fn with_preset(preset: &str, settings: &Settings) -> Result<Preset, Problem> {
    match preset {
        "default" => Ok(Preset { settings: settings.clone(), top_up: Vec::new(), layout: Layout::Netquarry }),
        "nn-dup" => {
            let preset: PresetFile = toml::from_str(NN_DUP).expect("a test reads the preset");
            let mut settings = settings.clone();
            settings.plugins.dedup = preset.plugins.dedup;
            for (name, options) in preset.plugin {
                settings.plugin_options.insert(name, serde_json::to_value(options).expect("a table has string keys"));
            }
            Ok(Preset { settings, top_up: preset.top_up, layout: preset.layout })
        }
        other => {
            Err(Problem::new(format!("There is no preset `{other}`")).help("the presets are `default` and `nn-dup`"))
        }
    }
}

/// Whether a name begins with one of the prefixes, by their letters and digits, whatever their case.
pub(super) fn begins_with_any(name: &str, prefixes: &[String]) -> bool {
    let plain = |text: &str| -> String { text.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect() };
    let name = plain(name);
    prefixes.iter().any(|prefix| name.starts_with(&plain(prefix)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_begin_with_letters_and_digits() {
        let begins = |name: &str, prefix: &str| begins_with_any(name, &["other".to_owned(), prefix.to_owned()]);
        assert!(begins("RAG_block-7", "rag-b") && begins("anything", "-"));
        assert!(!begins("drag", "rag"));
    }

    #[test]
    fn the_preset_can_be_read() {
        let preset: PresetFile = toml::from_str(NN_DUP).expect("the preset is TOML");
        assert!(preset.plugins.dedup.iter().all(|name| preset.plugin.contains_key(name)));
    }
}
