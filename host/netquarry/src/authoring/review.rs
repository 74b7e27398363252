//! What whoever runs a registry would say of a plugin, before it is published.

use std::path::Path;

use netquarry_plugin::{Description, Plugin};
use netquarry_registry::index::Permission;
use netquarry_registry::publish::PublishError;
use serde::Serialize;
use serde_json::Value;

use super::cases::{NamedCase, Origin};
use super::project::Project;
use super::trial::{Outcome, Tried};
use crate::quantity::human_things;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It cannot be published so, or should not.
    Error,
    /// A reader would miss something, or has to look at something.
    Warning,
}

/// Something to be said about a plugin or a registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub severity: Severity,
    /// Where: a file, a case, a field.
    pub place: String,
    pub what: String,
    /// What to do about it.
    pub help: String,
}

impl Finding {
    pub fn error(place: impl Into<String>, what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { severity: Severity::Error, place: place.into(), what: what.into(), help: help.into() }
    }

    pub fn warning(place: impl Into<String>, what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(place, what, help) }
    }
}

/// Whether it says enough about itself; `project` is its source, where that is at hand.
pub fn description(plugin: &Plugin, project: Option<&Project>) -> Vec<Finding> {
    let Description { documentation, configuration_schema, .. } = plugin.description();
    let mut findings = Vec::new();
    if documentation.lines().skip(1).all(|line| line.trim().is_empty()) {
        let help = "say below the summary what it does, for which code, and what it leaves alone";
        findings.push(Finding::warning("documentation", "it has no more than its summary", help));
    }
    let properties = configuration_schema.get("properties").and_then(Value::as_object);
    for (option, schema) in properties.into_iter().flatten() {
        if ["description", "$ref"].iter().all(|key| schema.get(key).is_none()) {
            let help = "describe it where the configuration is declared";
            findings.push(Finding::warning(format!("option `{option}`"), "nothing says what it is for", help));
        }
    }
    if let Some(project) = project.filter(|project| !project.folder.join(README).is_file()) {
        let help = "write one for those who read the source";
        findings.push(Finding::warning(project.folder.join(README).display().to_string(), "there is none", help));
    }
    findings
}

const README: &str = "README.md";

/// Whether its cases show what it does; `target` is what the user calls the plugin.
pub fn cases(cases: &[NamedCase], tried: &[Tried], target: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !cases.iter().any(|named| matches!(named.origin, Origin::Example(_))) {
        let help = "put a case into examples/ (`netquarry plugin schema KIND`) and have the plugin carry it";
        findings.push(Finding::error("examples", "it carries none, so nobody sees what it does", help));
    }
    findings.extend(tried.iter().filter_map(|tried| of_trial(tried, target)));
    findings
}

fn of_trial(Tried { origin, name, outcome }: &Tried, target: &Path) -> Option<Finding> {
    let test = format!("netquarry plugin test {}", target.display());
    let (what, help) = match outcome {
        Outcome::Passed | Outcome::Blessed => return None,
        Outcome::Different { differences } => (
            format!("it gives something else than is expected, at {}", differences[0].pointer),
            format!("see `{test}`, and mend the plugin or keep the output with --bless"),
        ),
        Outcome::Unseen { .. } => {
            ("nobody has looked at its output".to_owned(), format!("look at it, and keep it with `{test} --bless`"))
        }
        Outcome::Unsteady { differences } => (
            format!("a second run gives something else, at {}", differences[0].pointer),
            "have it depend on its input alone: the order of a hash table is none".to_owned(),
        ),
        Outcome::Failed { failures } => (
            format!("{}: {}", human_things(failures.len(), "call"), failures.join("; ")),
            "have it answer, or refuse with an error of its own, whatever it is given".to_owned(),
        ),
        Outcome::Unusable { reason } => (format!("it cannot be run: {reason}"), format!("see `{test}`")),
    };
    Some(Finding::error(format!("{origin} {name}"), what, help))
}

/// For what a registry would refuse it.
pub fn refusal(refusal: &PublishError) -> Finding {
    let manifest = "Cargo.toml or pyproject.toml";
    let (place, help) = match refusal {
        PublishError::Field { field: field @ "name", .. } => {
            (*field, format!("name the package otherwise, in {manifest}"))
        }
        PublishError::Field { field: field @ "version", .. } => {
            (*field, format!("write one such as 1.2.0 in {manifest}"))
        }
        PublishError::Field { field: field @ "summary", .. } => {
            (*field, "begin its documentation with one line that says what it does".to_owned())
        }
        PublishError::Field { field: field @ ("license" | "repository"), .. } => {
            (*field, format!("name it with --{field}, or in {manifest}"))
        }
        PublishError::Field { field, .. } => (*field, "registry.schema.json says what a registry takes".to_owned()),
        PublishError::Component { .. } | PublishError::Wit { .. } => {
            ("component", "build it with `netquarry plugin build` of this version".to_owned())
        }
        PublishError::Conflict { .. } | PublishError::NotNewer { .. } => ("version", format!("raise it in {manifest}")),
        PublishError::OtherKind { .. } => ("name", "choose another name".to_owned()),
        PublishError::Index(_)
        | PublishError::Trust(_)
        | PublishError::Io { .. }
        | PublishError::Exists { .. }
        | PublishError::NoSuchVersion { .. } => ("registry", "look at the registry".to_owned()),
    };
    Finding::error(place, refusal.to_string(), help)
}

/// Of a registry with keys: whoever publishes there has to sign. `signers` are their identifiers.
pub fn signature(signers: &[String], registry: &Path) -> Option<Finding> {
    let what =
        format!("the registry {} takes what one of its keys has signed: {}", registry.display(), signers.join(", "));
    let help = "publish it with --sign and that secret key, or hand it to those who have it";
    (!signers.is_empty()).then(|| Finding::warning("signature", what, help))
}

/// What it asks for: somebody has to want to give it.
pub fn permission(Permission { name, scope }: &Permission) -> Finding {
    let what = format!("it asks for {scope}");
    Finding::warning(format!("permission `{name}`"), what, "look whether it needs that; who adds it has to grant it")
}
