//! `required_repos.json`: the repositories that the blocks come from and the distributions that they import.

use std::collections::{BTreeMap, BTreeSet};

use netquarry_core::record::BlockRecord;
use netquarry_core::source::Source;
use serde::{Deserialize, Serialize};

use super::distribution_name::{distribution_name, normalised};
use super::records::Records;
use super::requirements;

/// Its name in the output folder.
pub const FILE_NAME: &str = "required_repos.json";

/// Something that bundles of the library rely on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Required {
    pub name: String,
    pub role: Role,
    /// What tells that the bundles need a distribution of this name; none for a source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<Basis>,
    /// Of a distribution, the version that the blocks were validated with.
    pub version: Option<String>,
    /// None where nothing but the name of an import tells of a distribution: there may be another one of that name.
    pub url: Option<String>,
    pub swhid: Option<String>,
    pub license: Option<String>,
    /// Bundles that rely on it.
    pub blocks: usize,
}

/// In which way bundles rely on something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Its code stands in bundles.
    Source,
    /// Bundles import it.
    Requirement,
}

/// How sure it is that a package comes from a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// Blocks were validated with it.
    Installed,
    /// A source of the bundles declares it, or one of the corpus is it.
    Declared,
    /// From the name that is imported.
    Assumed,
}

/// What the bundles of `records` rely on, sorted by role and name. `installed` has the versions of the environment by
/// normalised distribution name; what was installed for single bundles stands in their records.
pub fn required(records: &Records, sources: &[Source], installed: &BTreeMap<String, String>) -> Vec<Required> {
    let bundled = || records.small().iter().filter(|record| record.bundle.is_some());
    let mut by_source: BTreeMap<String, usize> = BTreeMap::new();
    let mut by_requirement: BTreeMap<String, usize> = BTreeMap::new();
    for (record, sources) in records.with_sources().filter(|(record, _)| record.bundle.is_some()) {
        let origins: BTreeSet<&String> = sources.iter().chain([&record.source.name]).collect();
        for source in origins {
            *by_source.entry(source.clone()).or_default() += 1;
        }
        for requirement in relied_on(record) {
            *by_requirement.entry(requirement).or_default() += 1;
        }
    }
    let mut beside: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for distribution in bundled().flat_map(|record| &record.installed) {
        beside.entry(normalised(&distribution.name)).or_default().insert(&distribution.version);
    }
    // Bundles of different sources may have been validated with different versions.
    let version = |name: &str| {
        let beside = || beside.get(name).map(|versions| versions.iter().copied().collect::<Vec<_>>().join(", "));
        installed.get(name).cloned().or_else(beside)
    };
    let source = |(name, blocks): (String, usize)| {
        let source = sources.iter().find(|source| source.name == name);
        // A library may hold blocks of a source that this corpus does not have.
        let origin = records.small().iter().map(|record| &record.source).find(|origin| origin.name == name);
        let commit = source.map_or_else(|| origin?.commit.clone(), |source| source.commit.clone());
        let version = source.map_or_else(|| origin?.version.clone(), |source| source.version.clone());
        Required {
            role: Role::Source,
            basis: None,
            version: version.or_else(|| commit.clone()),
            url: source.and_then(|source| source.url.clone()),
            swhid: commit.map(|commit| format!("swh:1:rev:{commit}")),
            license: source.and_then(|source| source.license.clone()),
            name,
            blocks,
        }
    };
    let declares = |record: &BlockRecord, name: &String| {
        relied_on(record).contains(name) && !record.assumed_requirements.contains(name)
    };
    let requirement = |(name, blocks): (String, usize)| {
        let version = version(&normalised(&name));
        let basis = match version {
            Some(_) => Basis::Installed,
            None if bundled().any(|record| declares(record, &name)) => Basis::Declared,
            None => Basis::Assumed,
        };
        let is_known = basis != Basis::Assumed;
        Required {
            role: Role::Requirement,
            basis: Some(basis),
            version,
            url: is_known.then(|| format!("https://pypi.org/project/{}/", normalised(&name))),
            swhid: None,
            license: None,
            name,
            blocks,
        }
    };
    by_source.into_iter().map(source).chain(by_requirement.into_iter().map(requirement)).collect()
}

/// The distributions that a bundle imports: those that were installed for it, and for everything else the usual ones.
fn relied_on(record: &BlockRecord) -> BTreeSet<String> {
    let installed = || record.installed.iter().filter(|distribution| !distribution.provides.is_empty());
    let usual: BTreeSet<&str> =
        installed().flat_map(|it| &it.provides).map(|it| requirements::distribution(it)).collect();
    let stated = record.requirements.iter().map(|requirement| distribution_name(requirement));
    let others = stated.filter(|name| !usual.contains(name)).map(str::to_owned);
    others.chain(installed().map(|distribution| distribution.name.clone())).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use netquarry_core::record::InstalledDistribution;

    use super::*;
    use crate::spool::Spool;

    fn kept(records: Vec<BlockRecord>) -> Records {
        let spool = Arc::new(Spool::new(&std::env::temp_dir()).unwrap());
        let mut kept = Records::new(&spool);
        records.into_iter().try_for_each(|record| kept.push_whole(record)).unwrap();
        kept
    }

    #[test]
    fn what_was_installed_for_a_bundle_stands_for_what_is_usual() {
        let mut records = crate::findings::tests::library();
        records.truncate(1);
        records[0].requirements = vec!["opencv-python-headless".to_owned(), "torch".to_owned()];
        let installed = |name: &str, provides: &[&str]| InstalledDistribution {
            name: name.to_owned(),
            version: "1.2".to_owned(),
            provides: provides.iter().map(|name| (*name).to_owned()).collect(),
        };
        records[0].installed = vec![installed("idna", &[]), installed("opencv-python", &["cv2"])];
        let required = required(&kept(records), &[], &BTreeMap::new());
        let lines: Vec<_> = required.iter().map(|each| (each.name.as_str(), each.version.as_deref())).skip(1).collect();
        assert_eq!(lines, [("opencv-python", Some("1.2")), ("torch", None)]);
    }

    #[test]
    fn only_a_name_that_is_more_than_that_of_an_import_has_a_url() {
        let mut records = crate::findings::tests::library();
        records.truncate(1);
        records[0].requirements = ["clip", "einops", "torch"].map(str::to_owned).to_vec();
        records[0].assumed_requirements = vec!["clip".to_owned()];
        let required = required(&kept(records), &[], &[("torch".to_owned(), "2.15.0".to_owned())].into());
        let lines: Vec<_> = required.iter().map(|each| (each.name.as_str(), each.basis, each.url.as_deref())).collect();
        let expected = [
            ("timm", None, None),
            ("clip", Some(Basis::Assumed), None),
            ("einops", Some(Basis::Declared), Some("https://pypi.org/project/einops/")),
            ("torch", Some(Basis::Installed), Some("https://pypi.org/project/torch/")),
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn sources_come_before_requirements_with_the_number_of_bundles() {
        let records = crate::findings::tests::library();
        let required = required(&kept(records), &[], &[("torch".to_owned(), "2.15.0".to_owned())].into());
        let lines: Vec<String> = required
            .iter()
            .map(|each| {
                format!("{:?} {} {} {}", each.role, each.name, each.version.as_deref().unwrap_or("-"), each.blocks)
            })
            .collect();
        assert_eq!(
            lines,
            ["Source timm 1.0.31 2", "Source vision 1.0.31 1", "Requirement Pillow - 1", "Requirement torch 2.15.0 3"]
        );
    }
}
