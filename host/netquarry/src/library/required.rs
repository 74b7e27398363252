//! `required_repos.json`: the repositories that the blocks come from and the distributions that they import.

use std::collections::{BTreeMap, BTreeSet};

use netquarry_core::record::BlockRecord;
use netquarry_core::source::Source;
use serde::{Deserialize, Serialize};

/// Its name in the output folder.
pub const FILE_NAME: &str = "required_repos.json";

/// Something that bundles of the library rely on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Required {
    pub name: String,
    pub role: Role,
    /// Of a distribution, the version that the blocks were validated with.
    pub version: Option<String>,
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

/// What the bundles of `records` rely on, sorted by role and name. `installed` has the versions of the environment by
/// normalised distribution name.
pub fn required(records: &[BlockRecord], sources: &[Source], installed: &BTreeMap<String, String>) -> Vec<Required> {
    let bundled = || records.iter().filter(|record| record.bundle.is_some());
    let origins = |record: &BlockRecord| -> BTreeSet<String> {
        let closure = record.closure.iter().filter_map(|definition| definition.definition.split_once(':'));
        closure.map(|(source, _)| source.to_owned()).chain([record.source.name.clone()]).collect()
    };
    let mut by_source: BTreeMap<String, usize> = BTreeMap::new();
    let mut by_requirement: BTreeMap<String, usize> = BTreeMap::new();
    for record in bundled() {
        for source in origins(record) {
            *by_source.entry(source).or_default() += 1;
        }
        for requirement in &record.requirements {
            *by_requirement.entry(distribution_name(requirement).to_owned()).or_default() += 1;
        }
    }
    let source = |(name, blocks): (String, usize)| {
        let source = sources.iter().find(|source| source.name == name);
        // A library may hold blocks of a source that this corpus does not have.
        let origin = records.iter().map(|record| &record.source).find(|origin| origin.name == name);
        let commit = source.map_or_else(|| origin?.commit.clone(), |source| source.commit.clone());
        let version = source.map_or_else(|| origin?.version.clone(), |source| source.version.clone());
        Required {
            role: Role::Source,
            version: version.or_else(|| commit.clone()),
            url: source.and_then(|source| source.url.clone()),
            swhid: commit.map(|commit| format!("swh:1:rev:{commit}")),
            license: source.and_then(|source| source.license.clone()),
            name,
            blocks,
        }
    };
    let requirement = |(name, blocks): (String, usize)| Required {
        role: Role::Requirement,
        version: installed.get(&normalised(&name)).cloned(),
        url: Some(format!("https://pypi.org/project/{}/", normalised(&name))),
        swhid: None,
        license: None,
        name,
        blocks,
    };
    by_source.into_iter().map(source).chain(by_requirement.into_iter().map(requirement)).collect()
}

/// `torch` of `torch>=2.0; python_version > "3.8"`.
fn distribution_name(requirement: &str) -> &str {
    let end = requirement.find(|character: char| !(character.is_alphanumeric() || "-_.".contains(character)));
    &requirement[..end.unwrap_or(requirement.len())]
}

/// As PEP 503 has it.
pub fn normalised(name: &str) -> String {
    let mut normalised = String::new();
    for character in name.to_lowercase().chars() {
        match character {
            '-' | '_' | '.' if normalised.ends_with('-') => {}
            '-' | '_' | '.' => normalised.push('-'),
            character => normalised.push(character),
        }
    }
    normalised
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_requirements_are_read_and_normalised() {
        assert_eq!(distribution_name("torch>=2.0; python_version > \"3.8\""), "torch");
        assert_eq!(distribution_name("ruamel.yaml[all]"), "ruamel.yaml");
        assert_eq!(normalised("Ruamel__.Yaml"), "ruamel-yaml");
    }

    #[test]
    fn sources_come_before_requirements_with_the_number_of_bundles() {
        let records = crate::findings::tests::library();
        let required = required(&records, &[], &[("torch".to_owned(), "2.15.0".to_owned())].into());
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
