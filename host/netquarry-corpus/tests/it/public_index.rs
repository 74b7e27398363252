//! The package index that this machine is configured with.

use netquarry_corpus::corpus::{ArchivePreference, Location};
use netquarry_corpus::fetch::{FetchOptions, fetch};
use netquarry_corpus::load::{load, load_targets, parse};
use netquarry_corpus::snapshot::Integrity;

use crate::{modules, pypi};

#[test]
fn a_small_distribution_as_wheel_and_as_sdist() {
    let cache = tempfile::tempdir().unwrap();
    let options = FetchOptions::new(cache.path());
    let mut spec = pypi("einops", Some("0.8.1"));
    let wheel = fetch(&spec, &options, &()).unwrap();
    assert_eq!(wheel.integrity, Integrity::ArchiveDigest);
    assert_eq!(wheel.source.license.as_deref(), Some("MIT"));
    assert_eq!(wheel.metadata.top_level, ["einops"]);
    assert!(modules(&wheel).contains(&"einops.layers.torch"));
    let code = wheel.read(&wheel.files[0]).unwrap();
    assert!(String::from_utf8(code).unwrap().contains("__version__ = \"0.8.1\""));

    let Location::Pypi(location) = &mut spec.location else { unreachable!("made above") };
    location.prefer = ArchivePreference::Sdist;
    let sdist = fetch(&spec, &options, &()).unwrap();
    let of = |path: &str| sdist.files.iter().find(|file| file.path == path).map(|file| file.digest);
    for file in &wheel.files {
        assert_eq!(of(&file.path), Some(file.digest), "{}", file.path);
    }
}

/// The files of the reference implementation are the oracle for what is accepted, and for the shipped corpus of the paper,
/// which has one repository more.
#[test]
fn the_configuration_of_the_reference_itself() {
    let cache = tempfile::tempdir().unwrap();
    let mut spec = pypi("nn-rag", Some("1.0.3"));
    let Location::Pypi(location) = &mut spec.location else { unreachable!("made above") };
    location.prefer = ArchivePreference::Sdist;
    let reference = fetch(&spec, &FetchOptions::new(cache.path()), &()).unwrap();
    let text = reference.read_path("ab/rag/config/repo_config.json").unwrap();
    let corpus = parse(std::str::from_utf8(&text).unwrap(), "repo_config.json").unwrap();
    let shipped = load("paper").unwrap();
    assert_eq!((corpus.sources.len(), shipped.sources.len()), (21, 22));
    for source in &corpus.sources {
        let ours = shipped.source(&source.name).unwrap();
        assert_eq!((&ours.scope, ours.priority), (&source.scope, source.priority), "{}", source.name);
        let url = |location: &Location| match location {
            Location::Git(git) => git.url.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(url(&ours.location), url(&source.location));
    }
    let names = cache.path().join("nn_block_names.json");
    std::fs::write(&names, reference.read_path("ab/rag/config/nn_block_names.json").unwrap()).unwrap();
    assert_eq!(load_targets(&names).unwrap().len(), 664);
}
