//! Archives that want to do harm.

use std::fs;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use netquarry_corpus::failure::FetchFailure;
use netquarry_corpus::fetch::{FetchOptions, fetch};
use netquarry_corpus::snapshot::Snapshot;

use crate::archives::{Member, tar_gz, zip};
use crate::{local, paths};

fn unpack(folder: &Path, name: &str, archive: &[u8]) -> Result<Snapshot, FetchFailure> {
    unpack_within(folder, name, archive, |_| {})
}

fn unpack_within(
    folder: &Path,
    name: &str,
    archive: &[u8],
    configure: impl FnOnce(&mut FetchOptions),
) -> Result<Snapshot, FetchFailure> {
    let file = folder.join(name);
    fs::write(&file, archive).unwrap();
    let mut options = FetchOptions::new(folder.join("cache"));
    configure(&mut options);
    fetch(&local(&file), &options, &()).map_err(|error| error.failure)
}

/// Everything below the folder but for the archive and the cache's own bookkeeping.
fn strangers(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut pending = vec![folder.to_path_buf()];
    while let Some(next) = pending.pop() {
        for entry in fs::read_dir(next).unwrap().flatten() {
            let name = entry.file_name().into_string().unwrap();
            match entry.file_type().unwrap() {
                kind if kind.is_dir() => pending.push(entry.path()),
                _ if name.ends_with(".lock") || name == "contents" || name == "snapshot.json" => {}
                _ if entry.path().parent() == Some(folder) => {}
                _ => found.push(name),
            }
        }
    }
    found
}

#[test]
fn names_that_lead_out_are_refused_and_leave_nothing() {
    for name in ["../evil.py", "/evil.py", "pkg/../../evil.py", "..\\evil.py", "C:\\evil.py", "pkg/.."] {
        let folder = tempfile::tempdir().unwrap();
        let archive = zip(&[("pkg/__init__.py", b""), (name, b"evil")]);
        let failure = unpack(folder.path(), "pkg-1.0-py3-none-any.whl", &archive).unwrap_err();
        assert!(matches!(&failure, FetchFailure::UnsafeArchive { .. }), "{name}: {failure}");
        assert_eq!(strangers(folder.path()), [""; 0], "{name}");
        let entries = folder.path().join("cache/sources-1/entries");
        assert_eq!(fs::read_dir(&entries).unwrap().count(), 0, "{name}");
        assert_eq!(fs::read_dir(folder.path().join("cache/sources-1/partial")).unwrap().count(), 0, "{name}");
    }
    for name in ["pkg-1.0/../../evil.py", "../evil.py", "/evil.py", "//evil.py", "pkg-1.0//../evil.py"] {
        let folder = tempfile::tempdir().unwrap();
        let archive = tar_gz(&[Member::File("pkg-1.0/a.py", b""), Member::File(name, b"evil")]);
        let failure = unpack(folder.path(), "pkg-1.0.tar.gz", &archive).unwrap_err();
        assert!(matches!(&failure, FetchFailure::UnsafeArchive { .. }), "{name}: {failure}");
        assert_eq!(strangers(folder.path()), [""; 0], "{name}");
    }
}

#[test]
fn links_and_devices_are_passed_over_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let archive = tar_gz(&[
        Member::File("p-1/a.py", b"a = 1\n"),
        Member::Link("p-1/b.py", "/etc/passwd"),
        Member::HardLink("p-1/c.py", "../../../etc/passwd"),
        Member::Device("p-1/d.py"),
        Member::Link("p-1/weights.bin", "/dev/zero"),
        Member::File("pax_global_header", b"beside the root"),
    ]);
    let snapshot = unpack(folder.path(), "p-1.tar.gz", &archive).unwrap();
    assert_eq!(paths(&snapshot), ["a.py"]);
    let skipped: Vec<_> = snapshot.skipped.iter().map(|file| (file.path.as_str(), file.why.as_str())).collect();
    assert_eq!(skipped, [("b.py", "it is a link"), ("c.py", "it is a link"), ("d.py", "it is no regular file")]);
}

#[test]
fn odd_names_are_passed_over_and_names_that_differ_in_case_are_kept_apart() {
    let folder = tempfile::tempdir().unwrap();
    let archive = zip(&[
        ("pkg/A.py", b"upper"),
        ("pkg/a.py", b"lower"),
        ("pkg/con.py", b"windows"),
        ("pkg/new\nline.py", b""),
        ("pkg/./b.py", b"first"),
        ("pkg//b.py", b"second"),
    ]);
    let snapshot = unpack(folder.path(), "pkg-1.0-py3-none-any.whl", &archive).unwrap();
    assert_eq!(paths(&snapshot), ["pkg/A.py", "pkg/a.py", "pkg/b.py", "pkg/con.py"]);
    assert_eq!(snapshot.read_path("pkg/A.py").unwrap(), b"upper");
    assert_eq!(snapshot.read_path("pkg/a.py").unwrap(), b"lower");
    assert_eq!(snapshot.read_path("pkg/b.py").unwrap(), b"second");
    assert_eq!(snapshot.skipped.len(), 1);
    assert_eq!(snapshot.skipped[0].path, "pkg/new\u{fffd}line.py");
}

#[test]
fn files_above_their_limit_are_passed_over_whatever_the_archive_declares() {
    let folder = tempfile::tempdir().unwrap();
    let large = vec![b'#'; 3000];
    let archive = zip(&[("pkg/a.py", &large), ("pkg/b.py", b"b = 1\n"), ("pkg/c.json", &large), ("pkg/d.json", b"{}")]);
    let snapshot = unpack_within(folder.path(), "pkg-1.0-py3-none-any.whl", &archive, |options| {
        (options.limits.python_file, options.limits.data_file) = (1000, 100);
    });
    let snapshot = snapshot.unwrap();
    assert_eq!(paths(&snapshot), ["pkg/b.py"]);
    assert_eq!(snapshot.data.len(), 1);
    assert_eq!(snapshot.skipped[0].why, "it is larger than 1000 bytes");
}

#[test]
fn bombs_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let large = vec![b'#'; 3000];
    let files: Vec<_> = (0..20).map(|index| format!("pkg/f{index}.py")).collect();
    let members: Vec<(&str, &[u8])> = files.iter().map(|name| (name.as_str(), &large[..])).collect();
    let archive = zip(&members);
    let too_large = |configure: fn(&mut FetchOptions)| {
        let failure = unpack_within(folder.path(), "pkg-1.0-py3-none-any.whl", &archive, configure).unwrap_err();
        match failure {
            FetchFailure::TooLarge { what, .. } => what,
            other => panic!("{other}"),
        }
    };
    assert_eq!(too_large(|options| options.limits.total = 10_000), "bytes of code");
    assert_eq!(too_large(|options| options.limits.files = 10), "files");
    assert_eq!(too_large(|options| options.limits.members = 10), "members");
}

#[test]
fn a_compressed_gigabyte_is_not_unfolded() {
    let folder = tempfile::tempdir().unwrap();
    // A member that does not count has to be read through nevertheless.
    let mut header = tar::Header::new_gnu();
    header.set_path("p-1/weights.bin").unwrap();
    header.set_size(1 << 30);
    header.set_cksum();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(header.as_bytes()).unwrap();
    std::io::copy(&mut std::io::Read::take(std::io::repeat(0), 1 << 26), &mut encoder).unwrap();
    let archive = encoder.finish().unwrap();
    let failure = unpack_within(folder.path(), "p-1.tar.gz", &archive, |options| options.limits.uncompressed = 1 << 22)
        .unwrap_err();
    assert!(matches!(failure, FetchFailure::TooLarge { what: "uncompressed bytes", .. }), "{failure}");
}

#[test]
fn a_name_of_a_gigabyte_is_not_taken_into_memory() {
    let folder = tempfile::tempdir().unwrap();
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::GNULongName);
    header.set_size(1 << 30);
    header.set_cksum();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(header.as_bytes()).unwrap();
    std::io::copy(&mut std::io::Read::take(std::io::repeat(b'a'), 1 << 26), &mut encoder).unwrap();
    let failure = unpack(folder.path(), "p-1.tar.gz", &encoder.finish().unwrap()).unwrap_err();
    assert!(matches!(failure, FetchFailure::TooLarge { what: "uncompressed bytes", .. }), "{failure}");
}

#[test]
fn broken_archives_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let whole = tar_gz(&[Member::File("p-1/a.py", &[b'x'; 5000])]);
    for (name, archive) in [
        ("p-1-py3-none-any.whl", &b"not a zip"[..]),
        ("p-1.zip", &[][..]),
        ("p-1.tar.gz", &b"not gzip"[..]),
        ("p-2.tar.gz", &whole[..whole.len() / 2]),
    ] {
        let failure = unpack(folder.path(), name, archive).unwrap_err();
        assert!(matches!(failure, FetchFailure::BrokenArchive { .. }), "{name}: {failure}");
    }
}
