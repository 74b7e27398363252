//! `required_repos.json`: the repositories that the blocks come from and the distributions that they import.

use std::collections::{BTreeMap, BTreeSet};

use netquarry_core::record::BlockRecord;
use netquarry_core::source::{Source, SourceKind};
use netquarry_core::swhid::{CoreSwhid, ObjectType};
use serde::{Deserialize, Serialize};

use super::distribution_name::{distribution_name, normalised};
use super::records::Records;
use super::requirements;
use crate::findings::is_removed;

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
    /// The packages that bundles import of a distribution, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub imports: Vec<String>,
    /// Of a distribution, the version that the blocks were validated with.
    pub version: Option<String>,
    /// What the sources of the bundles ask for, word for word.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub declared: Vec<Declaration>,
    /// None where nothing but the name of an import tells of a distribution: there may be another one of that name.
    pub url: Option<String>,
    /// The revision, of what git has.
    pub swhid: Option<String>,
    pub license: Option<String>,
    /// Bundles that rely on it.
    pub blocks: usize,
}

/// A requirement as the metadata of a source has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Declaration {
    pub source: String,
    /// PEP 508, with its marker: `numpy>=1.17; python_version < "3.12"`.
    pub requirement: String,
}

/// What is known beside the records.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    pub sources: &'a [KnownSource],
    /// Versions of the environment by normalised distribution name.
    pub installed: &'a BTreeMap<String, String>,
    /// The normalised names of the environment's distributions by the packages that they provide.
    pub packages: &'a BTreeMap<String, Vec<String>>,
}

/// A source of the corpus with what its metadata says.
#[derive(Clone, Debug)]
pub struct KnownSource {
    pub source: Source,
    /// What it can be imported as.
    pub packages: BTreeSet<String>,
    /// PEP 508, as written.
    pub requires: Vec<String>,
}

impl KnownSource {
    /// The distribution that it is, where an index has it.
    fn distribution(&self) -> Option<&str> {
        self.source.distribution.as_deref().filter(|_| self.source.kind == SourceKind::Pypi)
    }

    /// What it asks for of this distribution.
    fn declared<'a>(&'a self, name: &'a str) -> impl Iterator<Item = Declaration> + 'a {
        let of_name = move |text: &&String| normalised(distribution_name(text.trim())) == name;
        let declaration =
            move |text: &String| Declaration { source: self.source.name.clone(), requirement: text.trim().to_owned() };
        self.requires.iter().filter(of_name).map(declaration)
    }
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

/// What the bundles of `records` rely on, but for those of duplicates, sorted by role and name. What was installed for single bundles stands in their
/// records.
pub fn required(records: &Records, known: &Known<'_>) -> Vec<Required> {
    let mut by_source: BTreeMap<String, usize> = BTreeMap::new();
    let mut by_distribution: BTreeMap<String, Use> = BTreeMap::new();
    let relies = |record: &BlockRecord| record.bundle.is_some() && !is_removed(record);
    for (record, sources) in records.with_sources().filter(|(record, _)| relies(record)) {
        let origins: BTreeSet<&String> = sources.iter().chain([&record.source.name]).collect();
        for source in &origins {
            *by_source.entry((*source).clone()).or_default() += 1;
        }
        for (name, imports) in relied_on(record, known) {
            let usage = by_distribution.entry(name.clone()).or_default();
            usage.blocks += 1;
            usage.imports.extend(imports);
            usage.sources.extend(origins.iter().map(|source| (*source).clone()));
            usage.is_declared |= !record.assumed_requirements.contains(&name);
            let beside = record.installed.iter().filter(|it| normalised(&it.name) == normalised(&name));
            usage.versions.extend(beside.map(|it| it.version.clone()));
        }
    }
    let source = |(name, blocks): (String, usize)| of_source(records, known, name, blocks);
    let distribution = |(name, usage): (String, Use)| of_distribution(known, name, usage);
    by_source.into_iter().map(source).chain(by_distribution.into_iter().map(distribution)).collect()
}

/// What bundles have of a distribution.
#[derive(Default)]
struct Use {
    blocks: usize,
    imports: BTreeSet<String>,
    /// Of these bundles.
    sources: BTreeSet<String>,
    /// More than the name of an import tells of it.
    is_declared: bool,
    /// What was installed for them; bundles of different sources may have been validated with different ones.
    versions: BTreeSet<String>,
}

fn of_source(records: &Records, known: &Known<'_>, name: String, blocks: usize) -> Required {
    let source = known.sources.iter().map(|known| &known.source).find(|source| source.name == name);
    // A library may hold blocks of a source that this corpus does not have.
    let origin = records.small().iter().map(|record| &record.source).find(|origin| origin.name == name);
    let commit = source.map_or_else(|| origin?.commit.clone(), |source| source.commit.clone());
    let version = source.map_or_else(|| origin?.version.clone(), |source| source.version.clone());
    Required {
        role: Role::Source,
        basis: None,
        imports: Vec::new(),
        version: version.or_else(|| commit.clone()),
        declared: Vec::new(),
        url: source.and_then(|source| source.url.clone()),
        swhid: commit.and_then(|commit| Some(CoreSwhid::of_git(ObjectType::Revision, &commit)?.to_string())),
        license: source.and_then(|source| source.license.clone()),
        name,
        blocks,
    }
}

fn of_distribution(known: &Known<'_>, name: String, usage: Use) -> Required {
    let normal = normalised(&name);
    let Use { blocks, imports, sources, is_declared, versions } = usage;
    let beside = (!versions.is_empty()).then(|| versions.into_iter().collect::<Vec<_>>().join(", "));
    let version = known.installed.get(&normal).cloned().or(beside);
    let itself = known.sources.iter().find(|source| source.distribution().map(normalised).as_ref() == Some(&normal));
    let of_bundles = known.sources.iter().filter(|known| sources.contains(&known.source.name));
    let declared: BTreeSet<Declaration> = of_bundles.flat_map(|source| source.declared(&normal)).collect();
    let basis = match version {
        Some(_) => Basis::Installed,
        None if is_declared || itself.is_some() || !declared.is_empty() => Basis::Declared,
        None => Basis::Assumed,
    };
    let is_known = basis != Basis::Assumed;
    Required {
        role: Role::Requirement,
        basis: Some(basis),
        imports: imports.into_iter().collect(),
        version,
        declared: declared.into_iter().collect(),
        url: is_known.then(|| format!("https://pypi.org/project/{normal}/")),
        swhid: None,
        license: itself.and_then(|known| known.source.license.clone()),
        name,
        blocks,
    }
}

/// The distributions that a bundle imports, each with the packages that it imports of it. What was installed for the
/// bundle counts first, then what the environment has, then the sources of the corpus, and for everything else the usual
/// name.
fn relied_on(record: &BlockRecord, known: &Known<'_>) -> BTreeMap<String, BTreeSet<String>> {
    let mut relied_on: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for import in &record.imports {
        relied_on.entry(provider(record, import, known)).or_default().insert(import.clone());
    }
    // That every bundle is a class of torch's says nothing about its imports, and old records have none.
    let of_imports: BTreeSet<&str> = record.imports.iter().map(|import| requirements::distribution(import)).collect();
    let provided = record.installed.iter().flat_map(|it| &it.provides);
    let of_installed: BTreeSet<&str> = provided.map(|import| requirements::distribution(import)).collect();
    let stated = record.requirements.iter().map(|requirement| distribution_name(requirement));
    let rest = stated.filter(|name| !of_imports.contains(name) && !of_installed.contains(name)).map(str::to_owned);
    let installed = record.installed.iter().filter(|it| !it.provides.is_empty()).map(|it| it.name.clone());
    for name in rest.chain(installed) {
        relied_on.entry(name).or_default();
    }
    relied_on
}

fn provider(record: &BlockRecord, import: &str, known: &Known<'_>) -> String {
    if let Some(installed) = record.installed.iter().find(|it| it.provides.iter().any(|name| name == import)) {
        return installed.name.clone();
    }
    let usual = requirements::distribution(import);
    match known.packages.get(import).map_or(&[][..], Vec::as_slice) {
        // As most people write it.
        several if several.contains(&normalised(usual)) => return usual.to_owned(),
        [one] => return one.clone(),
        // A namespace that several distributions share, or none.
        _ => {}
    }
    let source = known.sources.iter().find(|known| known.packages.contains(import));
    match source.and_then(KnownSource::distribution) {
        Some(name) if normalised(name) != normalised(usual) => name.to_owned(),
        _ => usual.to_owned(),
    }
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

    fn nothing() -> Known<'static> {
        static NONE: (BTreeMap<String, String>, BTreeMap<String, Vec<String>>) = (BTreeMap::new(), BTreeMap::new());
        Known { sources: &[], installed: &NONE.0, packages: &NONE.1 }
    }

    fn torch() -> BTreeMap<String, String> {
        [("torch".to_owned(), "2.15.0".to_owned())].into()
    }

    #[test]
    fn imports_are_mapped_by_metadata_and_sources_say_what_they_ask_for() {
        let mut records = crate::findings::tests::library();
        records.truncate(1);
        records[0].requirements = ["Pillow", "clip", "mmcv", "nms", "torch"].map(str::to_owned).to_vec();
        records[0].assumed_requirements = ["clip", "nms"].map(str::to_owned).to_vec();
        records[0].imports = ["PIL", "clip", "mmcv", "nms", "torch"].map(str::to_owned).to_vec();
        let source = |name: &str, packages: &[&str], requires: &[&str]| KnownSource {
            source: Source {
                name: name.to_owned(),
                kind: SourceKind::Pypi,
                version: None,
                commit: None,
                tree: None,
                url: None,
                license: None,
                distribution: Some(format!("{name}-full")),
            },
            packages: packages.iter().map(|name| (*name).to_owned()).collect(),
            requires: requires.iter().map(|text| (*text).to_owned()).collect(),
        };
        let requires = ["pillow>=8; python_version < \"3.12\"", "torch", "Torch>=2 ; extra == 'new'", "torchaudio"];
        let sources = [source("timm", &["timm"], &requires), source("mmcv", &["mmcv"], &["torch<2"])];
        let mut installed = torch();
        installed.insert("torch-nms".to_owned(), "0.1".to_owned());
        let packages = [("torch", "torch"), ("nms", "torch-nms")];
        let packages = packages.map(|(import, name)| (import.to_owned(), vec![name.to_owned()])).into();
        let known = Known { sources: &sources, installed: &installed, packages: &packages };
        let required = required(&kept(records), &known);
        let lines: Vec<String> = required
            .iter()
            .filter(|each| each.role == Role::Requirement)
            .map(|each| {
                let declared = each.declared.iter().map(|each| format!(" {}: {}", each.source, each.requirement));
                format!("{} {:?} {:?}{}", each.name, each.basis, each.imports, declared.collect::<String>())
            })
            .collect();
        assert_eq!(
            lines,
            [
                "Pillow Some(Declared) [\"PIL\"] timm: pillow>=8; python_version < \"3.12\"",
                "clip Some(Assumed) [\"clip\"]",
                "mmcv-full Some(Declared) [\"mmcv\"]",
                "torch Some(Installed) [\"torch\"] timm: Torch>=2 ; extra == 'new' timm: torch",
                "torch-nms Some(Installed) [\"nms\"]",
            ]
        );
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
        let required = required(&kept(records), &nothing());
        let lines: Vec<_> = required.iter().map(|each| (each.name.as_str(), each.version.as_deref())).skip(1).collect();
        assert_eq!(lines, [("opencv-python", Some("1.2")), ("torch", None)]);
    }

    #[test]
    fn only_a_name_that_is_more_than_that_of_an_import_has_a_url() {
        let mut records = crate::findings::tests::library();
        records.truncate(1);
        records[0].requirements = ["clip", "einops", "torch"].map(str::to_owned).to_vec();
        records[0].assumed_requirements = vec!["clip".to_owned()];
        let required = required(&kept(records), &Known { installed: &torch(), ..nothing() });
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
        let required = required(&kept(records), &Known { installed: &torch(), ..nothing() });
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
