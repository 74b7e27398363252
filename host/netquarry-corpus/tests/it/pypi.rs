//! The package index that this machine is configured with.

use netquarry_corpus::corpus::{ArchivePreference, Location};
use netquarry_corpus::fetch::{FetchOptions, fetch};
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
