//! Local folders, wheels and sdists, and the names of modules.

use std::fs;
use std::path::Path;

use netquarry_core::source::SourceKind;
use netquarry_corpus::fetch::{FetchOptions, fetch};
use netquarry_corpus::snapshot::{Integrity, ReadError};

use crate::archives::{Member, tar_gz, wheel, zip};
use crate::{local, modules, paths};

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn modules_are_named_as_the_cases_say() {
    let cases = include_str!("../cases/modules.md");
    let sections: Vec<_> = cases.split("\n## ").skip(1).collect();
    assert!(sections.len() > 5);
    for section in sections {
        check_modules(section);
    }
}

fn check_modules(section: &str) {
    let title = section.lines().next().unwrap();
    let words = |label: &str| -> Option<Vec<String>> {
        let line = section.lines().find_map(|line| line.strip_prefix(label))?;
        Some(line.split_whitespace().map(str::to_owned).collect())
    };
    let temporary = tempfile::tempdir().unwrap();
    let root = temporary.path().join("folder");
    let block = section.split("```").nth(1).unwrap();
    let mut expected: Vec<(String, Option<String>)> = Vec::new();
    for line in block.lines().filter(|line| !line.is_empty()) {
        let (path, module) = line.rsplit_once("  ").unwrap();
        write(&root, path.trim(), "x = 1\n");
        expected.push((path.trim().to_owned(), (module.trim() != "-").then(|| module.trim().to_owned())));
    }
    expected.sort();
    let mut spec = local(&root);
    spec.import_roots = words("given:");
    let snapshot = fetch(&spec, &FetchOptions::new(temporary.path().join("cache")), &()).unwrap();
    let found: Vec<_> = snapshot.files.iter().map(|file| (file.path.clone(), file.module.clone())).collect();
    assert_eq!(found, expected, "{title}");
    assert_eq!(snapshot.import_roots, words("roots:").unwrap(), "{title}");
}

#[test]
fn what_does_not_count_in_a_folder() {
    let temporary = tempfile::tempdir().unwrap();
    let root = temporary.path().join("folder");
    write(&root, ".gitignore", "build/\n*.gen.py\n");
    write(&root, "pkg/__init__.py", "");
    write(&root, "pkg/x.gen.py", "");
    write(&root, "pkg/model.yaml", "depth: 3\n");
    write(&root, "pkg/weights.bin", "0");
    write(&root, "build/pkg/x.py", "");
    write(&root, ".hidden/x.py", "");
    write(&root, "venv/pyvenv.cfg", "");
    write(&root, "venv/lib/x.py", "");
    write(&root, "LICENSE", include_str!("../../../../LICENSE-MIT"));
    write(&root, "pyproject.toml", "[project]\nname = \"pkg\"\nversion = \"2.1\"\n");
    std::os::unix::fs::symlink("/etc/passwd", root.join("pkg/link.py")).unwrap();
    let snapshot = fetch(&local(&root), &FetchOptions::new(temporary.path().join("cache")), &()).unwrap();
    assert_eq!(paths(&snapshot), ["pkg/__init__.py"]);
    let skipped: Vec<_> = snapshot.skipped.iter().map(|file| (file.path.as_str(), file.why.as_str())).collect();
    assert_eq!(skipped, [("pkg/link.py", "it is no regular file")]);
    assert_eq!(snapshot.data[0].path, "pkg/model.yaml");
    assert_eq!(snapshot.read_path("pkg/model.yaml").unwrap(), b"depth: 3\n");
    assert_eq!(snapshot.source.kind, SourceKind::Local);
    assert_eq!(snapshot.source.distribution.as_deref(), Some("pkg"));
    assert_eq!(snapshot.source.version.as_deref(), Some("2.1"));
    assert_eq!(snapshot.source.license.as_deref(), Some("MIT"));
    assert_eq!(snapshot.metadata.top_level, ["pkg"]);
    assert_eq!(snapshot.integrity, Integrity::Local);
}

#[test]
fn a_file_that_changes_after_the_fetch_is_not_read() {
    let temporary = tempfile::tempdir().unwrap();
    let root = temporary.path().join("folder");
    write(&root, "pkg/a.py", "x = 1\n");
    let options = FetchOptions::new(temporary.path().join("cache"));
    let snapshot = fetch(&local(&root), &options, &()).unwrap();
    assert_eq!(snapshot.read(&snapshot.files[0]).unwrap(), b"x = 1\n");
    write(&root, "pkg/a.py", "x = 2\n");
    let error = snapshot.read(&snapshot.files[0]).unwrap_err();
    assert!(matches!(error, ReadError::Changed { .. }), "{error}");
    let again = fetch(&local(&root), &options, &()).unwrap();
    assert_ne!(again.identity, snapshot.identity);
    assert_eq!(again.read(&again.files[0]).unwrap(), b"x = 2\n");
}

#[test]
fn wheels_and_sdists_of_this_machine() {
    let temporary = tempfile::tempdir().unwrap();
    let options = FetchOptions::new(temporary.path().join("cache"));
    let members: [(&str, &[u8]); 4] = [
        ("pkg/__init__.py", b""),
        ("pkg-1.0.data/purelib/extra/a.py", b"a = 1\n"),
        ("pkg-1.0.data/scripts/run.py", b""),
        ("pkg-1.0.dist-info/licenses/LICENSE", b"text"),
    ];
    let file = temporary.path().join("pkg-1.0-py3-none-any.whl");
    fs::write(&file, wheel("pkg", &members)).unwrap();
    let snapshot = fetch(&local(&file), &options, &()).unwrap();
    assert_eq!(modules(&snapshot), ["extra.a", "pkg"]);
    assert_eq!(snapshot.metadata.requires, ["torch"]);
    assert_eq!(snapshot.licenses[0].path, "pkg-1.0.dist-info/licenses/LICENSE");

    let file = temporary.path().join("pkg-1.0.tar.gz");
    let info = b"Name: pkg\nVersion: 1.0\n";
    let members = [
        Member::Folder("pkg-1.0"),
        Member::File("pkg-1.0/PKG-INFO", info),
        Member::File("pkg-1.0/src/pkg/__init__.py", b"x = 1\n"),
    ];
    fs::write(&file, tar_gz(&members)).unwrap();
    let from_tar = fetch(&local(&file), &options, &()).unwrap();
    assert_eq!(paths(&from_tar), ["src/pkg/__init__.py"]);
    assert_eq!(modules(&from_tar), ["pkg"]);

    let file = temporary.path().join("pkg-1.0.zip");
    fs::write(&file, zip(&[("pkg-1.0/PKG-INFO", info), ("pkg-1.0/src/pkg/__init__.py", b"x = 1\n")])).unwrap();
    let from_zip = fetch(&local(&file), &options, &()).unwrap();
    assert_eq!(from_zip.identity, from_tar.identity);
}

#[test]
fn a_copy_that_python_can_import() {
    let temporary = tempfile::tempdir().unwrap();
    let file = temporary.path().join("pkg-1.0-py3-none-any.whl");
    fs::write(&file, wheel("pkg", &[("pkg/__init__.py", b"x = 1\n"), ("pkg/d.json", b"{}")])).unwrap();
    let snapshot = fetch(&local(&file), &FetchOptions::new(temporary.path().join("cache")), &()).unwrap();
    let copy = temporary.path().join("copy");
    snapshot.materialise(&copy).unwrap();
    assert_eq!(fs::read(copy.join("pkg/__init__.py")).unwrap(), b"x = 1\n");
    assert_eq!(fs::read(copy.join("pkg/d.json")).unwrap(), b"{}");
}

#[test]
fn a_path_that_is_not_there() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("nothing");
    let error = fetch(&local(&path), &FetchOptions::new(temporary.path()), &()).unwrap_err();
    let expected = format!("cannot fetch source `local`: there is no folder, wheel or sdist `{}`", path.display());
    assert_eq!(error.to_string(), expected);
    assert!(error.hint().starts_with("check the path"));
}
