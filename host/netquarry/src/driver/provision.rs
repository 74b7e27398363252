//! Before validation: what bundles require and the environment lacks is installed beside it.
//!
//! What the sources of a bundle cannot do without is installed at once; what is declared for an extra, or by other
//! sources, only for a bundle that was tried and missed it. So a guarded import that upstream can do without finds
//! nothing, as it would where upstream alone is installed, and nobody waits for gigabytes that no bundle touches.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use netquarry_core::record::{BlockRecord, InstalledDistribution};
use netquarry_core::verdict::{Failure, FailureClass, Level, Verdict};
use netquarry_corpus::fetch::FetchOptions;
use netquarry_corpus::provides::provides;

use super::assemble::BundleFile;
use super::context::Context;
use super::fetch::FetchedSource;
use crate::configuration::{FILE_NAME, Settings};
use crate::console::Console;
use crate::course::{Stage, Stopwatch};
use crate::environment::{Environment, EnvironmentError, Installer, Layer, Pin, Refusal};
use crate::explain::missing_module;
use crate::library::required::{distribution_name, normalised};
use crate::problem::Problem;
use crate::quantity::{human_seconds, human_things};
use crate::requirements::declared::{self, Source};
use crate::requirements::mapping::{Mapping, Reach};

/// Most of the time pip and the index are waited for.
const AT_ONCE: usize = 4;

/// What one bundle needs beside the environment.
#[derive(Clone, Debug, Default)]
pub struct Want {
    /// The sources that it has code of.
    own: Vec<String>,
    /// By package, the requirements that provide it; none where nobody declares any.
    packages: BTreeMap<String, Vec<String>>,
}

impl Want {
    /// What a bundle of a library was validated with.
    pub fn of_record(record: &BlockRecord) -> Self {
        let sources = record.closure.iter().filter_map(|closed| Some(closed.definition.split_once(':')?.0.to_owned()));
        let own: BTreeSet<String> = sources.chain([record.source.name.clone()]).collect();
        let pin = |it: &InstalledDistribution| (it.name.clone(), vec![format!("{}=={}", it.name, it.version)]);
        Self { own: own.into_iter().collect(), packages: record.installed.iter().map(pin).collect() }
    }

    /// Sorted, each once.
    fn requirements(&self) -> Vec<String> {
        let all: BTreeSet<&String> = self.packages.values().flatten().collect();
        all.into_iter().cloned().collect()
    }
}

/// What came of a set of requirements.
#[derive(Debug, Default)]
struct Installed {
    layers: Arc<[Layer]>,
    /// By requirement or by the name of a distribution that one of them needs.
    refused: BTreeMap<String, Refusal>,
}

impl Installed {
    /// Why a requirement was not fulfilled: nothing fits it, or what does was not to be had.
    fn refusal(&self, requirement: &str) -> Option<&Refusal> {
        let name = normalised(distribution_name(requirement));
        let of_distribution = || self.refused.iter().find(|(refused, _)| normalised(refused) == name);
        self.refused.get(requirement).or_else(|| of_distribution().map(|(_, refusal)| refusal))
    }
}

/// Everything that is installed for the bundles of one corpus.
pub struct Provision<'a> {
    context: &'a Context<'a>,
    environment: &'a Environment,
    sources: Vec<Source>,
    index: FetchOptions,
    /// What distributions are imported as; `None` where the index could not tell.
    known: Mutex<BTreeMap<String, Option<BTreeSet<String>>>>,
    /// By requirements.
    sets: BTreeMap<Vec<String>, Installed>,
}

impl<'a> Provision<'a> {
    /// Reads what the sources declare. Nothing is installed yet.
    pub fn new(context: &'a Context<'a>, environment: &'a Environment, sources: &[FetchedSource]) -> Self {
        let markers = serde_json::to_value(&environment.markers).and_then(serde_json::from_value);
        let markers = markers.expect("an interpreter tells all markers");
        let settings = context.settings;
        Self {
            context,
            environment,
            sources: sources.iter().map(|source| declared::of(&source.snapshot, &markers)).collect(),
            index: FetchOptions { offline: settings.offline, ..FetchOptions::new(settings.cache_dir.join("sources")) },
            known: Mutex::default(),
            sets: BTreeMap::new(),
        }
    }

    /// Whoever is not to be executed needs nothing.
    fn installs(&self) -> bool {
        self.context.settings.install && self.context.settings.level >= Level::Execute
    }

    /// What a bundle needs in any case.
    pub fn want(&self, bundle: &BundleFile) -> Want {
        let own: BTreeSet<&str> = bundle.sources().collect();
        let mut want = Want { own: own.into_iter().map(str::to_owned).collect(), packages: BTreeMap::new() };
        if self.installs() {
            for package in self.lacking(bundle) {
                let requirements = self.mapping(|mapping| mapping.requirements(package, &want.own, Reach::Needed));
                if !requirements.is_empty() {
                    want.packages.insert(package.to_owned(), requirements);
                }
            }
        }
        want
    }

    /// The layers of a bundle, once [`Provision::install`] has seen what it wants.
    pub fn layers(&self, want: &Want) -> Arc<[Layer]> {
        self.sets.get(&want.requirements()).map(|set| Arc::clone(&set.layers)).unwrap_or_default()
    }

    /// The layers for upstream's own class, which needs what its whole package imports. They hold the bundle's: beside
    /// other versions nothing could be compared.
    pub fn upstream_layers(&self, want: &Want, own: &Arc<[Layer]>) -> Arc<[Layer]> {
        match self.sets.get(&self.upstream_requirements(want)) {
            Some(set) if own.iter().all(|layer| set.layers.contains(layer)) => Arc::clone(&set.layers),
            _ => Arc::clone(own),
        }
    }

    /// What the bundle wants, and what its sources cannot do without, those that they mention included. What is in the
    /// environment or a source of the corpus is there already.
    fn upstream_requirements(&self, want: &Want) -> Vec<String> {
        if !self.installs() {
            return Vec::new();
        }
        let own = || self.sources.iter().filter(|source| want.own.contains(&source.name));
        let mentioned: BTreeSet<&str> = own().flat_map(|source| &source.declared).map(|it| it.name.as_str()).collect();
        let is_near = |source: &&Source| {
            want.own.contains(&source.name) || source.distribution.as_deref().is_some_and(|it| mentioned.contains(it))
        };
        let is_source = |name: &str| self.sources.iter().any(|source| source.distribution.as_deref() == Some(name));
        let needed = self.sources.iter().filter(is_near).flat_map(|source| &source.declared).filter(|declared| {
            let is_there = self.environment.distributions.contains_key(&declared.name) || is_source(&declared.name);
            !declared.is_optional && !is_there
        });
        let all: BTreeSet<String> =
            needed.map(|declared| declared.requirement.clone()).chain(want.requirements()).collect();
        all.into_iter().collect()
    }

    /// The same as [`Provision::layers`], as a record tells it.
    pub fn installed(&self, want: &Want) -> Vec<InstalledDistribution> {
        let layers = self.layers(want);
        let distribution = |layer: &Layer| InstalledDistribution {
            name: layer.pin.name.clone(),
            version: layer.pin.version.clone(),
            provides: want.packages.keys().filter(|package| layer.packages.contains(*package)).cloned().collect(),
        };
        layers.iter().map(distribution).collect()
    }

    /// Whether something could not be had that may be there another time.
    pub fn is_incomplete(&self) -> bool {
        let refusals = self.sets.values().flat_map(|set| set.refused.values());
        let is_ignorant = self.known.lock().expect("no panic while asking").values().any(Option::is_none);
        refusals.into_iter().any(|refusal| !refusal.is_lasting) || is_ignorant
    }

    /// Adds what a bundle has missed when it was tried; whether that is anything that can be had.
    pub fn extend(&self, want: &mut Want, bundle: &BundleFile, verdict: &Verdict) -> bool {
        if !self.installs() {
            return false;
        }
        let before = want.requirements();
        for package in self.missed(want, bundle, verdict) {
            let requirements = self.mapping(|mapping| mapping.requirements(&package, &want.own, Reach::Declared));
            want.packages.insert(package, requirements);
        }
        want.requirements() != before
    }

    /// Packages of which a failure says that they are missing. One that names none may mean any of those that are.
    fn missed(&self, want: &Want, bundle: &BundleFile, verdict: &Verdict) -> Vec<String> {
        let Some(failure) = missing_distribution(verdict) else { return Vec::new() };
        let missed: Vec<&str> = match missing_package(failure) {
            Some(package) => vec![package],
            None => self.lacking(bundle).collect(),
        };
        missed.into_iter().filter(|package| !want.packages.contains_key(*package)).map(str::to_owned).collect()
    }

    /// Why a package is still missing, and what to do about it.
    pub fn explain(&self, want: &Want, bundle: &BundleFile, verdict: &mut Verdict) {
        let Some(failure) = verdict.failure.as_mut().filter(|failure| is_missing_distribution(failure)) else { return };
        let layers = self.layers(want);
        let is_there = |package: &str| layers.iter().any(|layer| layer.packages.contains(package));
        let lacking: Vec<&str> = self.lacking(bundle).filter(|package| !is_there(package)).collect();
        let hint = match (missing_package(failure), &lacking[..]) {
            (Some(package), _) => self.hint(want, package),
            (None, []) => return,
            (None, [package]) => self.hint(want, package),
            // It names none, and any of them may be meant.
            (None, several) => format!(
                "of what is imported, `{}` are not there; [validate.requirements] in {FILE_NAME} can name what provides them",
                several.join("`, `")
            ),
        };
        failure.hint = Some(hint);
    }

    fn hint(&self, want: &Want, package: &str) -> String {
        if !self.context.settings.install {
            return "nothing was installed: --no-install or `install = false` in netquarry.toml forbids it".to_owned();
        }
        let advice = format!("[validate.requirements] in {FILE_NAME} can name one: {package} = \"DISTRIBUTION\"");
        let requirements = want.packages.get(package).map_or(&[][..], Vec::as_slice);
        if requirements.is_empty() {
            return match self.known.lock().expect("no panic while asking").values().any(Option::is_none) {
                true => format!("the index could not tell which distribution provides `{package}`; {advice}"),
                false => format!("no source of the corpus declares a distribution that provides `{package}`; {advice}"),
            };
        }
        let set = self.sets.get(&want.requirements());
        match requirements.iter().find_map(|requirement| Some((requirement, set?.refusal(requirement)?))) {
            Some((requirement, Refusal { reason, is_lasting: true })) => {
                format!("`{requirement}` cannot be installed: {reason} (--retry-failed asks again); {advice}")
            }
            Some((requirement, Refusal { reason, is_lasting: false })) => {
                format!("`{requirement}` could not be installed: {reason}; the next run tries again")
            }
            None => format!("`{}` does not provide `{package}`; {advice}", requirements.join("`, `")),
        }
    }

    /// Installs what these bundles want, and with `is_compared` their upstream too, as far as it can be had. What cannot
    /// is told, and ends nothing.
    pub fn install<'w>(&mut self, wants: impl Iterator<Item = &'w Want>, is_compared: bool) -> Result<(), Problem> {
        if !self.installs() {
            return Ok(());
        }
        let of_one = |want: &Want| {
            let of_upstream = is_compared.then(|| self.upstream_requirements(want));
            of_upstream.into_iter().chain([want.requirements()]).collect::<Vec<_>>()
        };
        let sets: BTreeSet<Vec<String>> = wants.flat_map(of_one).filter(|set| !set.is_empty()).collect();
        let new: Vec<Vec<String>> = sets.into_iter().filter(|set| !self.sets.contains_key(set)).collect();
        if new.is_empty() {
            return Ok(());
        }
        let watch = Stopwatch::start(Stage::Prepare);
        let task = self.context.console.task("Installing", "steps", new.len() as u64);
        let installer = self.installer();
        let resolved = in_parallel(&new, |set| {
            task.message(set.join(", "));
            let resolved = resolve(&installer, set);
            task.advance(1);
            resolved
        })?;
        let pins: BTreeSet<&Pin> = resolved.iter().flat_map(|resolved| &resolved.pins).collect();
        let pins: Vec<&Pin> = pins.into_iter().collect();
        task.extend(pins.len() as u64);
        let layers = in_parallel(&pins, |pin| {
            task.message(format!("{} {}", pin.name, pin.version));
            let layer = installer.install(pin);
            task.advance(1);
            layer
        })?;
        let layers: BTreeMap<&Pin, Result<Layer, Refusal>> = pins.iter().copied().zip(layers).collect();
        let count = layers.values().filter(|layer| layer.is_ok()).count();
        let elapsed = human_seconds(watch.elapsed().as_secs_f64());
        task.finish("Installed", &format!("{} that bundles require in {elapsed}", human_things(count, "distribution")));
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

    fn installer(&self) -> Installer<'a> {
        installer(self.environment, self.context.settings)
    }

    /// The packages that a bundle imports and that the environment lacks.
    fn lacking<'b>(&self, bundle: &'b BundleFile) -> impl Iterator<Item = &'b str> {
        let all = bundle.bundle.packages.iter().chain(&bundle.operator_packages);
        let distinct: BTreeSet<&str> = all.map(String::as_str).collect();
        let blocked: BTreeSet<&str> = bundle.own_packages.iter().map(String::as_str).collect();
        let environment = self.environment;
        distinct.into_iter().filter(move |package| !environment.provides(package) && !blocked.contains(package))
    }

    fn mapping<T>(&self, ask: impl FnOnce(&Mapping<'_>) -> T) -> T {
        let provides = |names: &[&str]| self.provided(names);
        let configured = &self.context.settings.requirements;
        ask(&Mapping { configured, sources: &self.sources, provides: &provides })
    }

    /// What these distributions are imported as.
    fn provided(&self, names: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
        let unknown: Vec<&str> = {
            let known = self.known.lock().expect("no panic while asking");
            names.iter().copied().filter(|name| !known.contains_key(*name)).collect()
        };
        let task = self.context.console.task("Looking up", "distributions", unknown.len() as u64);
        let answers = in_parallel(&unknown, |name| {
            let answer = self.imported_as(name);
            task.advance(1);
            Ok::<_, EnvironmentError>(answer)
        });
        let answers = answers.expect("asking ends nothing");
        drop(task);
        let silent = unknown.iter().zip(&answers).filter_map(|(name, answer)| Some((*name, answer.as_ref().err()?)));
        self.tell_silence(&silent.collect::<Vec<_>>());
        let answers = answers.into_iter().map(Result::ok);
        let mut known = self.known.lock().expect("no panic while asking");
        known.extend(unknown.iter().map(|name| (*name).to_owned()).zip(answers));
        names.iter().filter_map(|name| Some(((*name).to_owned(), known.get(*name)?.clone()?))).collect()
    }

    fn imported_as(&self, name: &str) -> Result<BTreeSet<String>, String> {
        if self.environment.distributions.contains_key(name) {
            let packages = self.environment.packages.iter();
            let of_this = packages.filter(|(_, distributions)| distributions.iter().any(|other| other == name));
            return Ok(of_this.map(|(package, _)| package.clone()).collect());
        }
        provides(name, &self.index).map_err(|error| error.to_string())
    }

    /// Distributions of which nothing can be learnt, all in one warning: they fail for one reason.
    fn tell_silence(&self, silent: &[(&str, &String)]) {
        let Some((_, reason)) = silent.first() else { return };
        let names: Vec<&str> = silent.iter().map(|(name, _)| *name).collect();
        let problem =
            Problem::new(format!("It cannot be told what these distributions are imported as: {}", names.join(", ")));
        let help = match self.context.settings.offline {
            true => "run once without --offline; until then, bundles that need them fail with `missing_distribution`",
            false => "bundles that need them fail with `missing_distribution`; the next run asks again",
        };
        self.context.console.warn(&problem.because((*reason).clone()).help(help));
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
    let layers = in_parallel(&pins, |pin| installer.install(pin))?;
    let installed = installed(&resolved, &pins.into_iter().zip(layers).collect());
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

/// Where everything lies that was ever installed for bundles, as it is named in any working folder.
fn layers_folder(settings: &Settings) -> PathBuf {
    let folder = settings.cache_dir.join("requirements");
    std::path::absolute(&folder).unwrap_or(folder)
}

fn missing_distribution(verdict: &Verdict) -> Option<&Failure> {
    verdict.failure.as_ref().filter(|failure| is_missing_distribution(failure))
}

pub fn is_missing_distribution(failure: &Failure) -> bool {
    failure.class == FailureClass::MissingDistribution
}

/// `cv2` of `ModuleNotFoundError: No module named 'cv2.dnn'`
pub fn missing_package(failure: &Failure) -> Option<&str> {
    missing_module(&failure.message)?.split('.').next().filter(|package| !package.is_empty())
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

fn installed(resolved: &Resolved, layers: &BTreeMap<&Pin, Result<Layer, Refusal>>) -> Installed {
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

/// The results in the order of the items, or the first error.
fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> Result<R, EnvironmentError> + Sync,
) -> Result<Vec<R>, EnvironmentError> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new((0..items.len()).map(|_| None).collect::<Vec<Option<Result<R, EnvironmentError>>>>());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(items.len()) {
            scope.spawn(|| {
                while let Some((index, item)) = items.iter().enumerate().nth(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = work(item);
                    results.lock().expect("no panic while collecting")[index] = Some(result);
                }
            });
        }
    });
    let results = results.into_inner().expect("no panic while collecting");
    results.into_iter().map(|result| result.expect("every item was worked on")).collect()
}
