//! From the name that is imported to the requirement that provides it.

use std::collections::{BTreeMap, BTreeSet};

use super::declared::{Declared, Source};
use crate::library::distribution_name::normalised;

/// How far a declaration may lie from the bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// What the bundle's own sources cannot do without.
    Needed,
    /// Their extras too, and whatever other sources of the corpus declare.
    Declared,
}

/// Says by which names a distribution is imported.
pub type Provides<'a> = dyn Fn(&[&str]) -> BTreeMap<String, BTreeSet<String>> + Sync + 'a;

/// Where declarations are looked for.
pub struct Mapping<'a> {
    /// Requirements by import name, as the user gave them.
    pub configured: &'a BTreeMap<String, String>,
    /// In the order of the corpus.
    pub sources: &'a [Source],
    /// Of many distributions at once; those of which nothing is known are left out.
    pub provides: &'a Provides<'a>,
}

impl Mapping<'_> {
    /// The requirements that provide `package` for a bundle with code of the sources `own`; none where nobody declares
    /// any. The user's word counts before that of the corpus, a distribution of the very name before one that provides
    /// it, a near source before a far one.
    pub fn requirements(&self, package: &str, own: &[String], reach: Reach) -> Vec<String> {
        if let Some(requirement) = self.configured.get(package) {
            return vec![requirement.clone()];
        }
        let is_own = |source: &&Source| own.contains(&source.name);
        let others = || self.sources.iter().filter(|source| !is_own(source));
        // A source that the user keeps as an import.
        if let Some(requirement) =
            others().find(|source| source.packages.contains(package)).and_then(|source| source.requirement.clone())
        {
            return vec![requirement];
        }
        let near: Vec<&Source> = self.sources.iter().filter(is_own).collect();
        let found = self.declared(package, &near, reach);
        if !found.is_empty() || reach == Reach::Needed {
            return found;
        }
        // Of those that the bundle has nothing of, one is enough.
        self.declared(package, &others().collect::<Vec<_>>(), reach).into_iter().take(1).collect()
    }

    fn declared(&self, package: &str, sources: &[&Source], reach: Reach) -> Vec<String> {
        let name = normalised(package);
        let of_name = chosen(sources, reach, |declared| declared.name == name);
        if !of_name.is_empty() {
            return of_name;
        }
        let is_within = |declared: &&Declared| reach == Reach::Declared || !declared.is_optional;
        let all: BTreeSet<&str> = sources
            .iter()
            .flat_map(|source| source.declared.iter().filter(is_within))
            .map(|declared| declared.name.as_str())
            .collect();
        let provided = (self.provides)(&all.into_iter().collect::<Vec<_>>());
        let provides = |declared: &Declared| provided.get(&declared.name).is_some_and(|names| names.contains(package));
        chosen(sources, reach, provides)
    }
}

/// The first declaration of each source that fits, what it cannot do without before what is for an extra. All are of one
/// distribution: that of the first.
fn chosen(sources: &[&Source], reach: Reach, fits: impl Fn(&Declared) -> bool) -> Vec<String> {
    let of_source = |source: &&Source| {
        let fitting = || source.declared.iter().filter(|declared| fits(declared));
        let needed = fitting().find(|declared| !declared.is_optional);
        needed.or_else(|| fitting().next().filter(|_| reach == Reach::Declared)).cloned()
    };
    let found: Vec<Declared> = sources.iter().filter_map(of_source).collect();
    let first = found.first().map(|declared| declared.name.clone());
    let same = found.into_iter().filter(|declared| Some(&declared.name) == first.as_ref());
    let distinct: BTreeSet<String> = same.map(|declared| declared.requirement).collect();
    distinct.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(text: &str) -> Declared {
        let (requirement, is_optional) = match text.strip_suffix('?') {
            Some(requirement) => (requirement, true),
            None => (text, false),
        };
        let name = requirement.split(['<', '>', '=']).next().expect("splitting yields a part").to_owned();
        Declared { name, requirement: requirement.to_owned(), is_optional }
    }

    fn source(name: &str, requirements: &[&str]) -> Source {
        Source {
            name: name.to_owned(),
            distribution: Some(name.to_owned()),
            requirement: Some(format!("{name}==1.0")),
            packages: [format!("{name}_package")].into(),
            declared: requirements.iter().map(|text| declared(text)).collect(),
        }
    }

    /// A small world: what four distributions provide, and what three sources declare; `?` marks an extra.
    fn provides(names: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
        let world = [
            ("opencv-python", &["cv2"][..]),
            ("opencv-python-headless", &["cv2"]),
            ("pyyaml", &["_yaml", "yaml"]),
            ("scipy", &["scipy"]),
        ];
        let known = world.into_iter().filter(|(name, _)| names.contains(name));
        known.map(|(name, names)| (name.to_owned(), names.iter().map(|name| (*name).to_owned()).collect())).collect()
    }

    #[test]
    fn names_are_mapped_by_what_is_declared() {
        let sources = [
            source("near", &["opencv-python>=4", "scipy?", "einops<1?", "einops"]),
            source("beside", &["opencv-python>=3", "pyyaml?"]),
            source("far", &["opencv-python-headless", "pyyaml>=5", "rich"]),
        ];
        let configured = [("apex".to_owned(), "nvidia-apex".to_owned())].into();
        let mapping = Mapping { configured: &configured, sources: &sources, provides: &provides };
        let (near, both) = (vec!["near".to_owned()], vec!["near".to_owned(), "beside".to_owned()]);
        let cases = [
            ("apex", &near, Reach::Needed, &["nvidia-apex"][..]),
            ("einops", &near, Reach::Needed, &["einops"]),
            ("cv2", &near, Reach::Needed, &["opencv-python>=4"]),
            ("cv2", &both, Reach::Needed, &["opencv-python>=3", "opencv-python>=4"]),
            ("scipy", &near, Reach::Needed, &[]),
            ("scipy", &near, Reach::Declared, &["scipy"]),
            ("yaml", &near, Reach::Needed, &[]),
            ("yaml", &both, Reach::Declared, &["pyyaml"]),
            ("yaml", &near, Reach::Declared, &["pyyaml"]),
            ("rich", &near, Reach::Declared, &["rich"]),
            ("far_package", &near, Reach::Needed, &["far==1.0"]),
            ("nobody", &both, Reach::Declared, &[]),
        ];
        for (package, own, reach, expected) in cases {
            assert_eq!(mapping.requirements(package, own, reach), expected, "{package} of {own:?}, {reach:?}");
        }
    }
}
