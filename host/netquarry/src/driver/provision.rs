//! Before validation: what bundles require and the environment lacks is installed beside it.
//!
//! What the sources of a bundle cannot do without is installed at once; what is declared for an extra, or by other
//! sources, only for a bundle that was tried and missed it, or for its upstream that was to be compared and missed it.
//! So a guarded import that upstream can do without finds nothing, as it would where upstream alone is installed, and
//! nobody waits for gigabytes that no bundle touches.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use netquarry_core::record::{BlockRecord, InstalledDistribution};
use netquarry_core::verdict::{Failure, FailureClass, Level, Verdict};

use super::assemble::BundleFile;
use super::context::Context;
use super::fetch::FetchedSource;
use super::import_names::ImportNames;
use super::layers::InstalledSets;
use crate::configuration::FILE_NAME;
use crate::environment::{Environment, Layer, Refusal};
use crate::explain::missing_module;
use crate::problem::Problem;
use crate::requirements::declared::{self, Source};
use crate::requirements::mapping::{Mapping, Reach};
use crate::validate::upstream_import_error;

/// What one bundle needs beside the environment.
#[derive(Clone, Debug, Default)]
pub struct Want {
    /// The sources that it has code of.
    own: Vec<String>,
    /// By package, the requirements that provide it; none where nobody declares any.
    packages: BTreeMap<String, Vec<String>>,
    /// The same for packages that only upstream's own module needs, to be imported at all.
    upstream: BTreeMap<String, Vec<String>>,
}

impl Want {
    /// What a bundle of a library was validated with.
    pub fn of_record(record: &BlockRecord) -> Self {
        let sources = record.closure.iter().map(|closed| closed.source().to_owned());
        let own: BTreeSet<String> = sources.chain([record.source.name.clone()]).collect();
        let pin = |it: &InstalledDistribution| (it.name.clone(), vec![format!("{}=={}", it.name, it.version)]);
        Self { own: own.into_iter().collect(), packages: record.installed.iter().map(pin).collect(), ..Self::default() }
    }

    /// Sorted, each once.
    fn requirements(&self) -> Vec<String> {
        let all: BTreeSet<&String> = self.packages.values().flatten().collect();
        all.into_iter().cloned().collect()
    }
}

/// What the bundles of one corpus want and lack, and all that is installed for them.
pub struct Provision<'a> {
    context: &'a Context<'a>,
    environment: &'a Environment,
    sources: Vec<Source>,
    names: ImportNames<'a>,
    sets: InstalledSets<'a>,
}

impl<'a> Provision<'a> {
    /// Reads what the sources declare. Nothing is installed yet.
    pub fn new(context: &'a Context<'a>, environment: &'a Environment, sources: &[FetchedSource]) -> Self {
        let markers = serde_json::to_value(&environment.markers).and_then(serde_json::from_value);
        let markers = markers.expect("an interpreter tells all markers");
        Self {
            context,
            environment,
            sources: sources.iter().map(|source| declared::of(&source.snapshot, &markers)).collect(),
            names: ImportNames::new(context, environment),
            sets: InstalledSets::new(context, environment),
        }
    }

    /// Whoever is not to be executed needs nothing.
    fn installs(&self) -> bool {
        self.context.settings.install && self.context.settings.level >= Level::Execute
    }

    /// What a bundle needs in any case.
    pub fn want(&self, bundle: &BundleFile) -> Want {
        let own: BTreeSet<&str> = bundle.source_names().collect();
        let mut want = Want { own: own.into_iter().map(str::to_owned).collect(), ..Want::default() };
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
        self.sets.of(&want.requirements()).map(|set| Arc::clone(&set.layers)).unwrap_or_default()
    }

    /// The layers for upstream's own class, which needs what its whole package imports. They hold the bundle's: beside
    /// other versions nothing could be compared.
    pub fn upstream_layers(&self, want: &Want, own: &Arc<[Layer]>) -> Arc<[Layer]> {
        match self.sets.of(&self.upstream_requirements(want)) {
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
        let missed = want.upstream.values().flatten().cloned();
        let all: BTreeSet<String> =
            needed.map(|declared| declared.requirement.clone()).chain(missed).chain(want.requirements()).collect();
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
        self.sets.are_incomplete() || self.names.are_incomplete()
    }

    /// Adds what a bundle, or the upstream that it was to be compared with, has missed when it was tried; whether that
    /// is anything that can be had.
    pub fn extend(&self, want: &mut Want, bundle: &BundleFile, verdict: &Verdict) -> bool {
        if !self.installs() {
            return false;
        }
        let before = (want.requirements(), self.upstream_requirements(want));
        for package in self.missed(want, bundle, verdict) {
            let requirements = self.mapping(|mapping| mapping.requirements(&package, &want.own, Reach::Declared));
            want.packages.insert(package, requirements);
        }
        self.extend_upstream(want, verdict);
        (want.requirements(), self.upstream_requirements(want)) != before
    }

    /// Adds what upstream has missed; whether that is anything that can be had.
    pub fn extend_upstream(&self, want: &mut Want, verdict: &Verdict) -> bool {
        let Some(package) = self.missed_by_upstream(want, verdict) else { return false };
        let requirements = self.mapping(|mapping| mapping.requirements(package, &want.own, Reach::Declared));
        let is_there = !requirements.is_empty();
        want.upstream.insert(package.to_owned(), requirements);
        is_there
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

    /// The package that upstream's module could not be imported without. Of one that is there a part may be missing, and
    /// the packages of the corpus are there.
    fn missed_by_upstream<'v>(&self, want: &Want, verdict: &'v Verdict) -> Option<&'v str> {
        let error = upstream_import_error(verdict)?;
        let package =
            missing_module(error).filter(|_| self.installs() && error.starts_with("ModuleNotFoundError: "))?;
        let is_source = self.sources.iter().any(|source| source.packages.contains(package));
        let is_there = is_source || package.contains('.') || self.environment.provides(package);
        (!is_there && !want.upstream.contains_key(package)).then_some(package)
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
            return match self.names.are_incomplete() {
                true => format!("the index could not tell which distribution provides `{package}`; {advice}"),
                false => format!("no source of the corpus declares a distribution that provides `{package}`; {advice}"),
            };
        }
        let set = self.sets.of(&want.requirements());
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
        self.sets.install(sets)
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
        let provides = |names: &[&str]| self.names.of(names);
        let configured = &self.context.settings.requirements;
        ask(&Mapping { configured, sources: &self.sources, provides: &provides })
    }
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
