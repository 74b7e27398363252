//! One cache, several users of it, and damage.

use std::fs;
use std::path::{Path, PathBuf};

use netquarry_corpus::corpus::FetchPolicy;
use netquarry_corpus::fetch::{FetchOptions, fetch};
use netquarry_corpus::snapshot::ReadError;

use crate::archives::{sha256, wheel};
use crate::server::{Answer, Server};
use crate::{Recorder, options, pypi};

const WHEEL: &str = "/files/pkg-1.0-py3-none-any.whl";

fn server() -> Server {
    let archive = wheel("pkg", &[("pkg/__init__.py", b"x = 1\n"), ("pkg/layers.py", b"y = 2\n")]);
    let server = Server::start();
    server.set("/simple/pkg/", Answer::html(format!("<a href={WHEEL}#sha256={}>x</a>", sha256(&archive))));
    server.set(WHEEL, Answer::file(archive));
    server
}

fn find(folder: &Path, name: &str) -> PathBuf {
    let mut pending = vec![folder.to_path_buf()];
    while let Some(next) = pending.pop() {
        for entry in fs::read_dir(next).unwrap().flatten() {
            if entry.file_name() == name {
                return entry.path();
            }
            if entry.file_type().unwrap().is_dir() {
                pending.push(entry.path());
            }
        }
    }
    panic!("there is no {name}");
}

#[test]
fn many_fetches_at_once_transfer_once() {
    let server = server();
    let cache = tempfile::tempdir().unwrap();
    let options = options(cache.path(), &server.index());
    let identities: Vec<_> = std::thread::scope(|scope| {
        let fetches: Vec<_> =
            (0..8).map(|_| scope.spawn(|| fetch(&pypi("pkg", Some("1.0")), &options, &()).unwrap().identity)).collect();
        fetches.into_iter().map(|fetch| fetch.join().unwrap()).collect()
    });
    assert!(identities.iter().all(|identity| *identity == identities[0]));
    assert_eq!(server.seen().iter().filter(|seen| seen.path == WHEEL && seen.method == "GET").count(), 1);
}

#[test]
fn a_torn_entry_is_fetched_anew() {
    let server = server();
    for damage in ["contents", "snapshot.json"] {
        for empty in [true, false] {
            let cache = tempfile::tempdir().unwrap();
            let options = options(cache.path(), &server.index());
            let whole = fetch(&pypi("pkg", Some("1.0")), &options, &()).unwrap();
            let file = find(cache.path(), damage);
            if empty {
                fs::write(&file, b"").unwrap();
            } else {
                fs::remove_file(&file).unwrap();
            }
            let never = FetchOptions { policy: Some(FetchPolicy::Never), ..options.clone() };
            assert!(fetch(&pypi("pkg", Some("1.0")), &never, &()).is_err());
            let repaired = fetch(&pypi("pkg", Some("1.0")), &options, &()).unwrap();
            assert_eq!(repaired.identity, whole.identity);
            assert_eq!(repaired.read(&repaired.files[0]).unwrap(), b"x = 1\n");
        }
    }
}

#[test]
fn a_flipped_bit_is_found_when_it_is_read_and_mended_by_the_next_fetch() {
    let server = server();
    let cache = tempfile::tempdir().unwrap();
    let options = options(cache.path(), &server.index());
    let snapshot = fetch(&pypi("pkg", Some("1.0")), &options, &()).unwrap();
    let contents = find(cache.path(), "contents");
    let mut bytes = fs::read(&contents).unwrap();
    let place = bytes.windows(5).position(|window| window == b"y = 2").unwrap();
    bytes[place] = b'z';
    fs::write(&contents, bytes).unwrap();
    let damaged = snapshot.files.iter().find(|file| file.path == "pkg/layers.py").unwrap();
    let error = snapshot.read(damaged).unwrap_err();
    assert!(matches!(error, ReadError::Changed { .. }), "{error}");
    let mended = fetch(&pypi("pkg", Some("1.0")), &options, &()).unwrap();
    assert_eq!(mended.read(damaged).unwrap(), b"y = 2\n");
}

#[test]
fn a_cache_that_cannot_be_written_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, b"").unwrap();
    let error = fetch(&pypi("pkg", Some("1.0")), &options(&file, "http://127.0.0.1:9/"), &()).unwrap_err();
    assert!(error.to_string().contains(file.to_str().unwrap()), "{error}");
}

#[test]
fn a_lock_that_another_process_holds_is_waited_for() {
    let server = server();
    let cache = tempfile::tempdir().unwrap();
    let options = options(cache.path(), &server.index());
    fetch(&pypi("pkg", Some("1.0")), &options, &()).unwrap();
    let locks = fs::read_dir(cache.path().join("sources-1/locks")).unwrap();
    let lock = locks.flatten().next().unwrap().path();
    fs::remove_dir_all(cache.path().join("sources-1/requests")).unwrap();
    let held = fs::File::open(&lock).unwrap();
    held.lock().unwrap();
    let recorder = Recorder::default();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| fetch(&pypi("pkg", Some("1.0")), &options, &recorder).map(|_| ()));
        while recorder.count("waiting") == 0 {
            assert!(!waiting.is_finished(), "the fetch did not wait");
            std::thread::yield_now();
        }
        held.unlock().unwrap();
        waiting.join().unwrap().unwrap();
    });
}
