//! Requirements that are installed beside the environment, set by set. What cannot be had is told, and ends nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use netquarry_core::record::{BlockRecord, InstalledDistribution};

use super::context::Context;
use super::in_parallel::in_parallel;
use crate::configuration::Settings;
use crate::console::Console;
use crate::course::{Stage, Stopwatch};
use crate::environment::{Environment, EnvironmentError, Installer, Layer, Pin, Refusal};
use crate::library::distribution_name::{distribution_name, normalised};
use crate::problem::Problem;
use crate::quantity::{human_count, human_seconds, human_things};

/// What came of a set of requirements.
#[derive(Debug, Default)]
pub(super) struct Installed {
    pub(super) layers: Arc<[Layer]>,
    /// By requirement or by the name of a distribution that one of them needs.
    refused: BTreeMap<String, Refusal>,
}

impl Installed {
    /// Why a requirement was not fulfilled: nothing fits it, or what does was not to be had.
    pub(super) fn refusal(&self, requirement: &str) -> Option<&Refusal> {
        let name = normalised(distribution_name(requirement));
        let of_distribution = || self.refused.iter().find(|(refused, _)| normalised(refused) == name);
        self.refused.get(requirement).or_else(|| of_distribution().map(|(_, refusal)| refusal))
    }
}

/// All sets that were installed so far.
pub(super) struct InstalledSets<'a> {
    context: &'a Context<'a>,
    environment: &'a Environment,
    /// By requirements.
    sets: BTreeMap<Vec<String>, Installed>,
}

impl<'a> InstalledSets<'a> {
    pub(super) fn new(context: &'a Context<'a>, environment: &'a Environment) -> Self {
        Self { context, environment, sets: BTreeMap::new() }
    }

    /// What came of these requirements; none where they were never installed.
    pub(super) fn of(&self, requirements: &[String]) -> Option<&Installed> {
        self.sets.get(requirements)
    }

    /// Whether something could not be had that may be there another time.
    pub(super) fn are_incomplete(&self) -> bool {
        self.sets.values().flat_map(|set| set.refused.values()).any(|refusal| !refusal.is_lasting)
    }

    /// Installs those of `sets` that are new, as far as they can be had.
    pub(super) fn install(&mut self, sets: BTreeSet<Vec<String>>) -> Result<(), Problem> {
        let new: Vec<Vec<String>> = sets.into_iter().filter(|set| !self.sets.contains_key(set)).collect();
        if new.is_empty() {
            return Ok(());
        }
        let watch = Stopwatch::start(Stage::Prepare);
        let task = self.context.console.task("Installing", "steps", new.len() as u64);
        let installer = installer(self.environment, self.context.settings);
        let resolved = in_parallel(&new, |set| {
            task.message(set.join(", "));
            let resolved = resolve(&installer, set);
            task.advance(1);
            resolved
        });
        let resolved = resolved.into_iter().collect::<Result<Vec<_>, _>>()?;
        let pins: BTreeSet<&Pin> = resolved.iter().flat_map(|resolved| &resolved.pins).collect();
        let pins: Vec<&Pin> = pins.into_iter().collect();
        let is_there = |pin: &&&Pin| Layer::find(&installer.folder, &pin.name, &pin.version).is_some();
        let there = pins.iter().filter(is_there).count();
        task.extend(pins.len() as u64);
        let layers = in_parallel(&pins, |pin| {
            task.message(format!("{} {}", pin.name, pin.version));
            let layer = installer.install(pin);
            task.advance(1);
            layer
        });
        let layers = layers_of(&pins, layers)?;
        let count = layers.values().filter(|layer| layer.is_ok()).count();
        let all = format!("{} that bundles require", human_things(count, "distribution"));
        match count.saturating_sub(there) {
            0 => task.finish("Found", &all),
            new => {
                let elapsed = human_seconds(watch.elapsed().as_secs_f64());
                task.finish("Installed", &format!("{} of {all} in {elapsed}", human_count(new)));
            }
        }
        let installed = new.into_iter().zip(&resolved).map(|(set, resolved)| (set, installed(resolved, &layers)));
        let installed: Vec<(Vec<String>, Installed)> = installed.collect();
        self.tell(&installed);
        self.sets.extend(installed);
        Ok(())
    }

    fn tell(&self, installed: &[(Vec<String>, Installed)]) {
        let refused: BTreeMap<&String, &Refusal> = installed.iter().flat_map(|(_, set)| &set.refused).collect();
        for (requirement, refusal) in refused {
            self.context.console.warn(
                &Problem::new(format!("`{requirement}` cannot be installed")).because(refusal.reason.clone()).help(
                    "bundles that need it fail with `missing_distribution`, which `netquarry report failures` lists; \
                         upstream classes that need it cannot be compared with",
                ),
            );
        }
    }
}

/// What was installed for a bundle of a library. What is no longer in the cache is installed again.
pub fn recorded(
    record: &BlockRecord,
    environment: &Environment,
    settings: &Settings,
    console: &Console,
) -> Result<Arc<[Layer]>, Problem> {
    if !settings.install {
        return Ok(Arc::default());
    }
    let folder = layers_folder(settings);
    let find = |it: &InstalledDistribution| Layer::find(&folder, &it.name, &it.version);
    let found: Arc<[Layer]> = record.installed.iter().filter_map(find).collect();
    if found.len() == record.installed.len() {
        return Ok(found);
    }
    let pins: Vec<String> = record.installed.iter().map(|it| format!("{}=={}", it.name, it.version)).collect();
    asked_for(&pins, environment, settings, console)
}

/// These requirements, as far as they can be had, for files that nobody declares anything for. What cannot is told.
pub fn asked_for(
    requirements: &[String],
    environment: &Environment,
    settings: &Settings,
    console: &Console,
) -> Result<Arc<[Layer]>, Problem> {
    if !settings.install || requirements.is_empty() {
        return Ok(Arc::default());
    }
    let installer = installer(environment, settings);
    let task = console.spinner("Installing");
    task.message(requirements.join(", "));
    let resolved = resolve(&installer, requirements)?;
    let pins: Vec<&Pin> = resolved.pins.iter().collect();
    let layers = layers_of(&pins, in_parallel(&pins, |pin| installer.install(pin)))?;
    let installed = installed(&resolved, &layers);
    drop(task);
    for (requirement, refusal) in &installed.refused {
        let problem = Problem::new(format!("`{requirement}` cannot be installed")).because(refusal.reason.clone());
        console.warn(&problem.help("files that need it fail with `missing_distribution`"));
    }
    Ok(installed.layers)
}

fn installer<'a>(environment: &'a Environment, settings: &Settings) -> Installer<'a> {
    Installer { environment, folder: layers_folder(settings), offline: settings.offline, retry: settings.retry_failed }
}

/// Where everything lies that was ever installed for bundles.
fn layers_folder(settings: &Settings) -> PathBuf {
    settings.cache_dir.join("requirements")
}

type Layers<'p> = BTreeMap<&'p Pin, Result<Layer, Refusal>>;

/// What came of each pin, or the first error that ends everything.
fn layers_of<'p>(
    pins: &[&'p Pin],
    layers: Vec<Result<Result<Layer, Refusal>, EnvironmentError>>,
) -> Result<Layers<'p>, EnvironmentError> {
    pins.iter().copied().zip(layers).map(|(pin, layer)| Ok((pin, layer?))).collect()
}

struct Resolved {
    pins: Vec<Pin>,
    refused: BTreeMap<String, Refusal>,
}

/// What a set of requirements comes to. Where they cannot all be had, as many of them as can, in their order.
fn resolve(installer: &Installer<'_>, requirements: &[String]) -> Result<Resolved, EnvironmentError> {
    let refusal = match installer.resolve(requirements)? {
        Ok(pins) => return Ok(Resolved { pins, refused: BTreeMap::new() }),
        Err(refusal) => refusal,
    };
    let mut resolved = Resolved { pins: Vec::new(), refused: BTreeMap::new() };
    // Without an index every one of them would wait for it in vain.
    if requirements.len() == 1 || (!refusal.is_lasting && !installer.offline) {
        resolved.refused.extend(requirements.iter().map(|requirement| (requirement.clone(), refusal.clone())));
        return Ok(resolved);
    }
    let mut kept: Vec<String> = Vec::new();
    for requirement in requirements {
        kept.push(requirement.clone());
        match installer.resolve(&kept)? {
            Ok(pins) => resolved.pins = pins,
            Err(refusal) => {
                kept.pop();
                resolved.refused.insert(requirement.clone(), refusal);
            }
        }
    }
    Ok(resolved)
}

fn installed(resolved: &Resolved, layers: &Layers<'_>) -> Installed {
    let mut refused = resolved.refused.clone();
    let mut present = Vec::new();
    for pin in &resolved.pins {
        match &layers[pin] {
            Ok(layer) => present.push(layer.clone()),
            Err(refusal) => _ = refused.insert(pin.name.clone(), refusal.clone()),
        }
    }
    Installed { layers: present.into(), refused }
}
