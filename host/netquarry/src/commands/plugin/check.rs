//! `netquarry plugin check TARGET`: the folder of a registry against its index, or a plugin as a registry would look at it.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::iter;
use std::path::{Path, PathBuf};

use netquarry_registry::audit::audit;
use netquarry_registry::index::{self, Permission};
use netquarry_registry::publish::{self, Order};
use serde::Serialize;

use super::component::{self, Component};
use super::pack;
use super::publish::{About, submission};
use crate::arguments::PluginCheckArguments;
use crate::authoring::project::{Project, Terms};
use crate::authoring::review::{self, Finding, Severity};
use crate::authoring::trial;
use crate::commands::Ending;
use crate::configuration::Settings;
use crate::console::{Console, Format};
use crate::problem::Problem;
use crate::quantity::human_things;

#[derive(Serialize)]
struct Checked {
    target: PathBuf,
    /// Of a registry, and of a plugin that could not be built or loaded, none.
    plugin: Option<Candidate>,
    findings: Vec<Finding>,
}

/// A version as it would be published.
#[derive(Serialize)]
struct Candidate {
    name: String,
    version: String,
    kind: &'static str,
    sha256: String,
    bytes: usize,
    /// On which hosts it would run.
    wit: String,
    license: Option<String>,
    repository: Option<String>,
    permissions: Vec<Permission>,
    /// Examples and fixtures.
    cases: usize,
}

pub(super) fn check(
    arguments: &PluginCheckArguments,
    settings: &Settings,
    console: &Console,
) -> Result<Ending, Problem> {
    let checked = match arguments.target.join(index::FILE_NAME).is_file() {
        true => registry(&arguments.target)?,
        false => plugin(arguments, settings, console)?,
    };
    match console.format {
        Format::Json => console.print_json(&checked)?,
        Format::Human => console.print(&text(&checked.findings))?,
    }
    let count = |severity| checked.findings.iter().filter(|finding| finding.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let what = match &checked.plugin {
        Some(plugin) => format!("{} {}", plugin.name, plugin.version),
        None => checked.target.display().to_string(),
    };
    let counts = format!("{}, {}", human_things(errors, "error"), human_things(warnings, "warning"));
    console.status("Checked", &format!("{what}: {counts}"));
    Ok(if errors == 0 { Ending::Done } else { Ending::Findings })
}

/// Two lines for each finding.
fn text(findings: &[Finding]) -> String {
    let mut text = String::new();
    for Finding { severity, place, what, help } in findings {
        let word = match severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        writeln!(text, "{word:7}  {place}: {what}\n         help: {help}").expect("a string takes everything");
    }
    text
}

/// Whether every file in the folder of a registry is what its index says.
fn registry(folder: &Path) -> Result<Checked, Problem> {
    let help = "restore the folder as it was published, or publish the version anew under another number";
    let finding = |finding: netquarry_registry::audit::Finding| {
        Finding::error(folder.display().to_string(), finding.to_string(), help)
    };
    let findings = audit(folder)?.into_iter().map(finding).collect();
    Ok(Checked { target: folder.to_owned(), plugin: None, findings })
}

fn plugin(arguments: &PluginCheckArguments, settings: &Settings, console: &Console) -> Result<Checked, Problem> {
    let target = &arguments.target;
    let project = source(target)?;
    let checked = |plugin, findings| Checked { target: target.clone(), plugin, findings };
    let component = match component::open(target, arguments.offline, settings, console) {
        Ok(component) => component,
        Err(problem) => return Ok(checked(None, vec![of_problem(target, &problem)])),
    };
    let asked = Terms { license: arguments.license.clone(), repository: arguments.repository.clone() };
    let Terms { license, repository } = asked.or_declared(project.as_ref())?;

    let mut findings = review::description(&component.plugin, project.as_ref());
    let cases = match component.cases() {
        Ok(cases) => cases,
        Err(problem) => {
            findings.push(of_problem(target, &problem));
            Vec::new()
        }
    };
    let mut tried = trial::cases(&component.plugin, &cases, false)?;
    let count = cases.len();
    let has_defect = tried.iter().any(|tried| !tried.outcome.is_passed());
    tried.extend(trial::against_hostile_inputs(&component.plugin));
    findings.extend(review::cases(&cases, &tried, target));

    let bytes = fs::read(&component.path).map_err(|error| Problem::io("read", &component.path, error))?;
    // Outputs that are wrong would be another pack than the one that is published in the end.
    let golden = (!has_defect).then(|| pack::of(&component.plugin, &tried[..count], cases).text());
    let (wit, permissions) = (super::publish::wit(), super::publish::permissions(&component.plugin));
    let (license_text, repository_text) = (license.clone().unwrap_or_default(), repository.clone().unwrap_or_default());
    let about = About { license: &license_text, repository: &repository_text, wit: &wit, permissions: &permissions };
    let submission = submission(&component.plugin, &bytes, golden.as_deref(), None, about);
    let refusals = publish::refusals(&submission, arguments.registry.as_deref(), Order::NewestOnly)?;
    findings.extend(refusals.iter().map(review::refusal));
    if let Some(registry) = &arguments.registry {
        findings.extend(review::signature(&publish::signers(registry)?, registry));
    }
    findings.extend(submission.permissions.iter().map(review::permission));

    let Component { plugin, .. } = &component;
    let candidate = Candidate {
        name: plugin.identity().name.clone(),
        version: plugin.identity().version.clone(),
        kind: plugin.description().kind.name(),
        sha256: plugin.identity().digest.clone(),
        bytes: bytes.len(),
        wit: submission.wit.to_owned(),
        license,
        repository,
        permissions: submission.permissions.to_vec(),
        cases: count,
    };
    Ok(checked(Some(candidate), findings))
}

/// The source of a plugin; `None` for a component that is there.
fn source(target: &Path) -> Result<Option<Project>, Problem> {
    if component::is_component(target) {
        fs::File::open(target).map_err(|error| Problem::io("read the plugin", target, error))?;
        return Ok(None);
    }
    Project::open(target).map(Some)
}

fn of_problem(target: &Path, problem: &Problem) -> Finding {
    let causes = iter::successors(problem.source(), |cause: &&dyn Error| (*cause).source());
    let told: Vec<String> = iter::once(problem.to_string()).chain(causes.map(ToString::to_string)).collect();
    let help = problem.help_text().unwrap_or("`netquarry plugin build` and `netquarry plugin test` say more");
    Finding::error(target.display().to_string(), told.join(": "), help)
}
