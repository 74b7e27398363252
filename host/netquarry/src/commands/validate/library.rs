//! The library that a file is a bundle of, and what its record says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use netquarry_core::record::{BlockRecord, ClosureRecord};

use crate::driver::upstream::Upstreams;
use crate::library::folder::place_of_bundle;
use crate::library::manifest;
use crate::problem::Problem;
use crate::validate::Upstream;

/// The records of those among some files that are bundles of libraries, each manifest read once.
#[derive(Default)]
pub(super) struct Libraries {
    /// By file, with the folder of its library.
    records: BTreeMap<PathBuf, (PathBuf, BlockRecord)>,
}

impl Libraries {
    /// # Errors
    /// A manifest cannot be read. A verdict without the packages blocked that it names would promise less than it seems
    /// to.
    pub(super) fn of<'f>(files: impl Iterator<Item = &'f Path>) -> Result<Self, Problem> {
        let mut wanted: BTreeMap<PathBuf, BTreeSet<PathBuf>> = BTreeMap::new();
        for (library, relative) in files.filter_map(place_of_bundle) {
            wanted.entry(library).or_default().insert(relative);
        }
        let mut records = BTreeMap::new();
        for (library, wanted) in wanted {
            for record in manifest::read(&library)?.into_iter().flatten() {
                let record = record?;
                if let Some(path) = record.bundle.as_deref().map(Path::new).filter(|path| wanted.contains(*path)) {
                    records.insert(library.join(path), (library.clone(), record));
                }
            }
        }
        Ok(Self { records })
    }

    /// The library of a bundle and its record; none for a file that is no bundle of a library.
    pub(super) fn record(&self, file: &Path) -> Option<&(PathBuf, BlockRecord)> {
        let (library, relative) = place_of_bundle(file)?;
        self.records.get(&library.join(relative))
    }
}

/// The class that a bundle was made from, where the corpus has its source at the version of the record.
pub(super) fn upstream(record: &BlockRecord, upstreams: &Upstreams<'_>) -> Option<Upstream> {
    let source = &record.source;
    if !upstreams.is_at(&source.name, source.version.as_deref(), source.commit.as_deref()) {
        return None;
    }
    let (_, path) = record.block.split_once(':')?;
    let module = path.strip_suffix(record.name.as_str())?.strip_suffix('.')?;
    let beside: BTreeSet<&str> = record.closure.iter().map(ClosureRecord::source).collect();
    let upstream = upstreams.class(&source.name, module, &record.name, &source.sha1, &beside)?;
    let compared = record.evidence.parity.as_ref();
    Some(Upstream { state: compared.and_then(|parity| parity.upstream_state.clone()), ..upstream })
}

/// The packages that a bundle of a library must do without: those that its code is from.
pub(super) fn own_packages(record: &BlockRecord) -> Vec<String> {
    let paths = record.closure.iter().map(ClosureRecord::dotted_path);
    let packages: BTreeSet<&str> = paths.filter_map(|path| path.split('.').next()).collect();
    packages.into_iter().filter(|package| *package != "torch").map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_bundle_of_a_library_does_without_the_packages_that_it_came_from() {
        let folder = tempfile::tempdir().unwrap();
        let mut record = crate::findings::tests::library().remove(0);
        for definition in ["torch:torch.nn.Module", "timm:timm.layers.drop.drop_path"] {
            record.closure.push(definition_record(definition));
        }
        let bundle = folder.path().join(record.bundle.as_deref().expect("it has a file"));
        fs::write(folder.path().join(manifest::FILE_NAME), record.to_line() + "\n").unwrap();
        fs::create_dir_all(bundle.parent().expect("it lies in a folder")).unwrap();
        fs::write(&bundle, "").unwrap();
        let libraries = Libraries::of([bundle.as_path()].into_iter()).unwrap();
        let (library, record) = libraries.record(&bundle).expect("it is in the manifest");
        assert_eq!(*library, fs::canonicalize(folder.path()).unwrap());
        assert_eq!(own_packages(record), ["timm"]);
        for other in ["failed/Other.py", "Other.py"] {
            let other = folder.path().join(other);
            fs::write(&other, "").unwrap();
            let libraries = Libraries::of([other.as_path()].into_iter()).unwrap();
            assert!(libraries.record(&other).is_none(), "{}", other.display());
        }
    }

    fn definition_record(definition: &str) -> ClosureRecord {
        ClosureRecord {
            definition: definition.to_owned(),
            path: String::new(),
            lines: [1, 1],
            sha1: String::new(),
            swhid: String::new(),
            license: None,
            needed_by: None,
            reference: None,
            confidence: None,
        }
    }

    #[test]
    fn a_damaged_manifest_does_not_lift_the_barrier() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(manifest::FILE_NAME), "{}\n").unwrap();
        fs::create_dir(folder.path().join("blocks")).unwrap();
        fs::write(folder.path().join("blocks/A.py"), "").unwrap();
        let problem = Libraries::of([folder.path().join("blocks/A.py").as_path()].into_iter()).err().unwrap();
        assert!(problem.to_string().starts_with("Line 1 of"), "{problem}");
    }
}
