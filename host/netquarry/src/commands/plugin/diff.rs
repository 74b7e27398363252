//! `netquarry plugin diff OLD NEW`: what changed in behaviour, over the cases of both.

use netquarry_plugin::cases::{Case, Difference, differences};
use serde::Serialize;
use serde_json::Value;

use super::component::{self, Component};
use super::{test, verify};
use crate::arguments::PluginDiffArguments;
use crate::commands::Ending;
use crate::configuration::Settings;
use crate::console::{Console, Format};
use crate::problem::Problem;
use crate::quantity::human_things;

#[derive(Serialize)]
struct Differing {
    old: String,
    new: String,
    cases: usize,
    /// What `new` gives, against what `old` does; cases in which they give the same are left out.
    differences: Vec<(String, Vec<Difference>)>,
    /// Options that only one of them has.
    options: Vec<String>,
}

pub(super) fn diff(arguments: &PluginDiffArguments, settings: &Settings, console: &Console) -> Result<Ending, Problem> {
    let open = |path| component::open(path, arguments.offline, settings, console);
    let (old, new) = (open(&arguments.old)?, open(&arguments.new)?);
    let kinds = (old.plugin.description().kind, new.plugin.description().kind);
    if kinds.0 != kinds.1 {
        return Err(Problem::new(format!("A {} cannot be compared with a {}", kinds.0, kinds.1)));
    }
    let mut cases: Vec<(String, Case)> = Vec::new();
    for path in &arguments.golden {
        let pack = verify::read(path)?;
        let whose = format!("{} {}", pack.plugin, pack.version);
        pack.cases.into_iter().for_each(|(name, case)| add_case(&mut cases, name, case, &whose));
    }
    for component in [&old, &new] {
        let named = component.cases()?.into_iter();
        named.for_each(|named| add_case(&mut cases, named.name, named.case, &title(component)));
    }
    let mut found = Vec::new();
    for (name, case) in &cases {
        let [before, after] = [&old, &new].map(|component| output(component, case));
        let differences = differences(&before, &after);
        if !differences.is_empty() {
            found.push((name.clone(), differences));
        }
    }
    let differing = Differing {
        old: title(&old),
        new: title(&new),
        cases: cases.len(),
        differences: found,
        options: options(&old, &new),
    };
    match console.format {
        Format::Json => console.print_json(&differing)?,
        Format::Human => {
            let mut text: String = differing.options.iter().map(|option| format!("option {option}\n")).collect();
            text.push_str(&test::differences(&differing.differences));
            console.print(&text)?;
        }
    }
    let (count, cases) = (differing.differences.len(), human_things(differing.cases, "case"));
    console
        .status("Compared", &format!("{} and {}: another output in {count} of {cases}", differing.old, differing.new));
    let is_same = differing.differences.is_empty() && differing.options.is_empty();
    Ok(if is_same { Ending::Done } else { Ending::Findings })
}

/// `shim-acme 0.1.0`
fn title(component: &Component) -> String {
    let identity = component.plugin.identity();
    format!("{} {}", identity.name, identity.version)
}

/// Adds a case that asks something new. Where its name is taken, by a fixture of an example's name or by the case as it was
/// in the other version, it says whose it is.
fn add_case(cases: &mut Vec<(String, Case)>, name: String, case: Case, whose: &str) {
    let asks_alike = |other: &Case| (&other.configuration, &other.input) == (&case.configuration, &case.input);
    if cases.iter().any(|(_, other)| asks_alike(other)) {
        return;
    }
    let is_taken = cases.iter().any(|(taken, _)| *taken == name);
    cases.push((if is_taken { format!("{name} of {whose}") } else { name }, case));
}

/// What it gives, or why it cannot be asked: one version may accept what the other does not.
fn output(component: &Component, case: &Case) -> Value {
    case.run(&component.plugin).map_or_else(|error| error.to_string().into(), |run| run.output)
}

/// Options that came, went or have another schema.
fn options(old: &Component, new: &Component) -> Vec<String> {
    // A schema without properties and one with none of them say the same.
    let properties = |component: &Component| -> Value {
        component.plugin.description().configuration_schema["properties"]
            .as_object()
            .cloned()
            .unwrap_or_default()
            .into()
    };
    let told = |difference: Difference| match (difference.expected, difference.found) {
        (None, _) => format!("{} came", difference.pointer),
        (_, None) => format!("{} went", difference.pointer),
        _ => format!("{} changed", difference.pointer),
    };
    differences(&properties(old), &properties(new)).into_iter().map(told).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    #[test]
    fn every_question_is_asked_once_whatever_its_case_is_called() {
        let mut cases = Vec::new();
        let mut add = |name: &str, input: u64, whose: &str| {
            let case = Case { configuration: Map::new(), input: json!(input), output: Value::Null };
            add_case(&mut cases, name.to_owned(), case, whose);
        };
        add("head", 1, "shim-acme 0.1.0");
        add("tail", 2, "shim-acme 0.1.0");
        add("head", 1, "shim-acme 0.2.0");
        add("tail", 3, "shim-acme 0.2.0");
        add("again", 2, "shim-acme 0.2.0");
        let names: Vec<&str> = cases.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["head", "tail", "tail of shim-acme 0.2.0"]);
    }
}
