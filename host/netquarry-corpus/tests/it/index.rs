//! Distributions from an index that the test plays.

use netquarry_core::source::SourceKind;
use netquarry_corpus::corpus::FetchPolicy;
use netquarry_corpus::failure::FetchFailure;
use netquarry_corpus::fetch::{FetchOptions, fetch};
use netquarry_corpus::provides::provides;
use netquarry_corpus::snapshot::Integrity;

use crate::archives::{Member, sha256, tar_gz, wheel};
use crate::server::{Answer, Server};
use crate::{Recorder, modules, options, paths, pypi};

const WHEEL: &str = "/files/pkg-1.0-py3-none-any.whl";
const PAGE: &str = "/simple/pkg/";

fn package() -> Vec<u8> {
    wheel("pkg", &[("pkg/__init__.py", b"x = 1\n"), ("pkg/layers.py", b"y = 2\n")])
}

/// A server with one project, `pkg` 1.0, on an HTML page.
fn server(archive: &[u8]) -> Server {
    let server = Server::start();
    server.set(PAGE, html_page(&sha256(archive)));
    server.set(WHEEL, Answer::file(archive));
    server
}

fn html_page(digest: &str) -> Answer {
    Answer::html(format!("<a href=\"../../files/pkg-1.0-py3-none-any.whl#sha256={digest}\">pkg-1.0</a>"))
}

fn failure(server: &Server, version: Option<&str>) -> FetchFailure {
    let cache = tempfile::tempdir().unwrap();
    fetch(&pypi("pkg", version), &options(cache.path(), &server.index()), &()).unwrap_err().failure
}

#[test]
fn a_wheel_from_an_html_page() {
    let server = server(&package());
    let cache = tempfile::tempdir().unwrap();
    let snapshot = fetch(&pypi("Pkg", Some("1.0")), &options(cache.path(), &server.index()), &()).unwrap();
    assert_eq!(paths(&snapshot), ["pkg/__init__.py", "pkg/layers.py"]);
    assert_eq!(modules(&snapshot), ["pkg", "pkg.layers"]);
    assert_eq!(snapshot.read(&snapshot.files[1]).unwrap(), b"y = 2\n");
    let source = &snapshot.source;
    assert_eq!((source.kind, source.version.as_deref()), (SourceKind::Pypi, Some("1.0")));
    assert_eq!(source.url.as_deref(), Some(format!("{}pkg/", server.index()).as_str()));
    assert_eq!((source.distribution.as_deref(), source.license.as_deref()), (Some("Pkg"), Some("MIT")));
    assert_eq!(snapshot.integrity, Integrity::ArchiveDigest);
}

#[test]
fn what_a_project_provides_is_read_from_its_wheel_once() {
    let server = server(&wheel("pkg", &[("other/__init__.py", b""), ("single.py", b"")]));
    let cache = tempfile::tempdir().unwrap();
    let options = options(cache.path(), &server.index());
    let names = ["other".to_owned(), "single".to_owned()];
    assert_eq!(provides("Pkg", &options).unwrap(), names.into());
    assert!(provides("nowhere", &options).unwrap().is_empty());
    let requests = server.seen().len();
    let offline = FetchOptions { offline: true, ..options };
    assert_eq!(provides("pkg", &offline).unwrap().len(), 2);
    assert!(matches!(provides("unknown", &offline), Err(FetchFailure::NotCached { .. })));
    assert_eq!(server.seen().len(), requests);
}

#[test]
fn an_sdist_from_a_json_page() {
    let server = Server::start();
    let archive =
        tar_gz(&[Member::File("pkg-2.0/pkg/__init__.py", b""), Member::File("pkg-2.0/PKG-INFO", b"Name: pkg\n")]);
    let digest = sha256(&archive);
    let page = format!(
        "{{\"files\": [{{\"filename\": \"pkg-2.0.tar.gz\", \"url\": \"/f/pkg-2.0.tar.gz\", \"hashes\": {{\"sha256\": \"{digest}\"}}}}]}}"
    );
    server.set(PAGE, Answer::json(page));
    server.set("/f/pkg-2.0.tar.gz", Answer::file(archive));
    let cache = tempfile::tempdir().unwrap();
    let snapshot = fetch(&pypi("pkg", None), &options(cache.path(), &server.index()), &()).unwrap();
    assert_eq!(paths(&snapshot), ["pkg/__init__.py"]);
    assert_eq!(snapshot.source.version.as_deref(), Some("2.0"));
}

#[test]
fn what_is_cached_needs_no_network() {
    let server = server(&package());
    let cache = tempfile::tempdir().unwrap();
    let options = options(cache.path(), &server.index());
    let first = fetch(&pypi("pkg", Some("1.0")), &options, &()).unwrap();
    let requests = server.seen().len();
    for policy in [FetchPolicy::Missing, FetchPolicy::Never] {
        let again =
            fetch(&pypi("pkg", Some("1.0")), &FetchOptions { policy: Some(policy), ..options.clone() }, &()).unwrap();
        assert_eq!((again.identity.as_str(), &again.files), (first.identity.as_str(), &first.files));
    }
    assert_eq!(server.seen().len(), requests);
    let always = FetchOptions { policy: Some(FetchPolicy::Always), ..options.clone() };
    fetch(&pypi("pkg", Some("1.0")), &always, &()).unwrap();
    assert_eq!(
        (server.count(PAGE), server.count(WHEEL)),
        (2, 2),
        "the page is asked again, the file (HEAD, GET) is not"
    );
    fetch(&pypi("pkg", Some("1.0")), &FetchOptions { offline: true, ..always }, &()).unwrap();
    assert_eq!(server.count(PAGE), 2);
}

#[test]
fn what_is_not_cached_is_not_fetched_where_it_must_not_be() {
    let cache = tempfile::tempdir().unwrap();
    let never = FetchOptions { policy: Some(FetchPolicy::Never), ..options(cache.path(), "http://127.0.0.1:9/") };
    let error = fetch(&pypi("pkg", Some("1.0")), &never, &()).unwrap_err();
    assert!(error.to_string().ends_with("and its fetch policy is `never`"), "{error}");
    let offline = FetchOptions { policy: None, offline: true, ..never };
    let error = fetch(&pypi("pkg", Some("1.0")), &offline, &()).unwrap_err();
    assert!(error.to_string().ends_with("and the network is switched off"), "{error}");
}

#[test]
fn a_wrong_digest_is_refused() {
    let server = server(&package());
    server.set(PAGE, html_page(&"0".repeat(64)));
    let failure = failure(&server, Some("1.0"));
    assert!(matches!(failure, FetchFailure::DigestMismatch { .. }), "{failure}");
    assert!(!failure.hint().is_empty());
}

#[test]
fn a_missing_project_and_a_missing_version() {
    let server = server(&package());
    let cache = tempfile::tempdir().unwrap();
    let options = options(cache.path(), &server.index());
    let error = fetch(&pypi("other", None), &options, &()).unwrap_err();
    let expected = format!("cannot fetch source `other`: the index {} has no project `other`", server.index());
    assert_eq!(error.to_string(), expected);
    let error = fetch(&pypi("pkg", Some("1.1")), &options, &()).unwrap_err();
    assert!(error.to_string().ends_with("has no version 1.1 of `pkg`; nearest: 1.0"), "{error}");
}

#[test]
fn what_may_pass_is_tried_twice() {
    let archive = package();
    let server = server(&archive);
    let cache = tempfile::tempdir().unwrap();
    server.set(PAGE, Answer { busy: 1, ..html_page(&sha256(&archive)) });
    let recorder = Recorder::default();
    fetch(&pypi("pkg", Some("1.0")), &options(cache.path(), &server.index()), &recorder).unwrap();
    assert_eq!(recorder.count("retrying"), 1);

    server.set(PAGE, Answer { busy: 2, ..html_page(&sha256(&archive)) });
    let failure = failure(&server, Some("1.0"));
    assert!(matches!(failure, FetchFailure::Status { status: 503, .. }), "{failure}");
}

#[test]
fn a_body_that_breaks_off_leaves_nothing() {
    let archive = package();
    let server = server(&archive);
    server.set(WHEEL, Answer { truncated_at: Some(100), ..Answer::file(archive) });
    let cache = tempfile::tempdir().unwrap();
    let recorder = Recorder::default();
    let error = fetch(&pypi("pkg", Some("1.0")), &options(cache.path(), &server.index()), &recorder).unwrap_err();
    assert!(matches!(error.failure, FetchFailure::Network { .. }), "{error}");
    assert!(error.is_transient());
    assert_eq!(recorder.count("retrying"), 1);
    assert_eq!(std::fs::read_dir(cache.path().join("sources-1/entries")).unwrap().count(), 0);
    assert_eq!(std::fs::read_dir(cache.path().join("sources-1/partial")).unwrap().count(), 0);
}

#[test]
fn refusals_and_pages_that_are_none() {
    let server = server(&package());
    server.set(PAGE, Answer { status: 403, ..Answer::html("no") });
    let refused = failure(&server, None);
    assert!(matches!(refused, FetchFailure::Status { status: 403, .. }), "{refused}");
    assert!(refused.hint().contains("credentials"));
    server.set(PAGE, Answer::new("application/pdf", "x"));
    assert!(matches!(failure(&server, None), FetchFailure::IndexPage { .. }));
    server.set(PAGE, Answer::json("[]"));
    assert!(matches!(failure(&server, None), FetchFailure::IndexPage { .. }));
    server.set(PAGE, Answer::html("<a href=/files/pkg-1.0.exe>no archive</a>"));
    assert!(matches!(failure(&server, None), FetchFailure::NoSuchProject { .. }));
}

#[test]
fn nobody_listens() {
    let cache = tempfile::tempdir().unwrap();
    let error =
        fetch(&pypi("pkg", None), &options(cache.path(), "http://user:secret@127.0.0.1:9/simple"), &()).unwrap_err();
    assert!(matches!(error.failure, FetchFailure::Network { .. }), "{error}");
    assert!(!error.to_string().contains("secret"), "{error}");
    assert!(error.hint().contains("network"));
}

#[test]
fn the_first_index_that_has_the_version_wins() {
    let (first, second) = (server(&package()), Server::start());
    let other = wheel("pkg", &[("pkg/__init__.py", b"other = 1\n")]);
    let name = "pkg-2.0-py3-none-any.whl";
    second.set(PAGE, Answer::html(format!("<a href=/{name}>x</a><a href={WHEEL}>y</a>")));
    second.set(&format!("/{name}"), Answer::file(other.clone()));
    second.set(WHEEL, Answer::file(other));
    let cache = tempfile::tempdir().unwrap();
    let mut options = options(cache.path(), &first.index());
    options.index.as_mut().unwrap().indexes.push(second.index().parse().unwrap());
    let snapshot = fetch(&pypi("pkg", Some("1.0")), &options, &()).unwrap();
    assert_eq!(snapshot.read_path("pkg/__init__.py").unwrap(), b"x = 1\n");
    let snapshot = fetch(&pypi("pkg", Some("2.0")), &options, &()).unwrap();
    assert_eq!(snapshot.read_path("pkg/__init__.py").unwrap(), b"other = 1\n");
    assert_eq!(snapshot.integrity, Integrity::Unstated);
    let error = fetch(&pypi("pkg", Some("3.0")), &options, &()).unwrap_err();
    assert!(error.to_string().contains("has no version 3.0"), "{error}");
}

#[test]
fn folders_of_archives_come_first() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("pkg-1.0-py3-none-any.whl"), package()).unwrap();
    let cache = tempfile::tempdir().unwrap();
    let mut options = options(cache.path(), "http://127.0.0.1:9/");
    options.index.as_mut().unwrap().find_links.push(folder.path().to_path_buf());
    let snapshot = fetch(&pypi("pkg", Some("1.0")), &options, &()).unwrap();
    assert_eq!(modules(&snapshot), ["pkg", "pkg.layers"]);
    assert_eq!(snapshot.integrity, Integrity::Local);

    // What the folder lacks is the index's to say.
    let server = server(&package());
    options.index.as_mut().unwrap().indexes = vec![server.index().parse().unwrap()];
    let error = fetch(&pypi("other", None), &options, &()).unwrap_err();
    let expected = format!("cannot fetch source `other`: the index {} has no project `other`", server.index());
    assert_eq!(error.to_string(), expected);
}

#[test]
fn an_archive_without_end_is_given_up() {
    let server = server(&package());
    let cache = tempfile::tempdir().unwrap();
    let mut options = options(cache.path(), &server.index());
    options.limits.archive = 100;
    let error = fetch(&pypi("pkg", Some("1.0")), &options, &()).unwrap_err();
    assert!(matches!(error.failure, FetchFailure::TooLarge { limit: 100, .. }), "{error}");
}

/// A wheel that is large because of a library, and code at both ends of it.
fn large_wheel() -> Vec<u8> {
    let mut state = 1_u32;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    })
    .take(52 << 20)
    .collect();
    wheel("pkg", &[("pkg/__init__.py", b"x = 1\n"), ("pkg/lib.so", &noise), ("pkg/z.py", b"z = 1\n")])
}

#[test]
fn of_a_large_wheel_only_the_code_is_transferred() {
    let archive = large_wheel();
    let server = server(&archive);
    server.set(WHEEL, Answer { ranges: true, ..Answer::file(archive.clone()) });
    let cache = tempfile::tempdir().unwrap();
    let snapshot = fetch(&pypi("pkg", Some("1.0")), &options(cache.path(), &server.index()), &()).unwrap();
    assert_eq!(modules(&snapshot), ["pkg", "pkg.z"]);
    assert_eq!(snapshot.integrity, Integrity::RecordDigests);
    let requests: Vec<_> =
        server.seen().into_iter().filter(|seen| seen.path == WHEEL && seen.method == "GET").collect();
    assert!(requests.len() <= 4 && requests.iter().all(|seen| seen.range.is_some()), "{requests:?}");

    // A server that goes away in the middle: the network is at fault, not the archive.
    server.set(WHEEL, Answer { ranges: true, gone_after: Some(2), ..Answer::file(archive.clone()) });
    let failure = failure(&server, Some("1.0"));
    assert!(matches!(failure, FetchFailure::Status { status: 503, .. }), "{failure}");

    // A server that sends whole files only.
    server.set(WHEEL, Answer::file(archive));
    let cache = tempfile::tempdir().unwrap();
    let whole = fetch(&pypi("pkg", Some("1.0")), &options(cache.path(), &server.index()), &()).unwrap();
    assert_eq!((whole.identity, whole.integrity), (snapshot.identity, Integrity::ArchiveDigest));
}

#[test]
fn a_member_of_a_large_wheel_that_record_does_not_vouch_for() {
    let archive = tampered(&large_wheel());
    let server = server(&archive);
    server.set(WHEEL, Answer { ranges: true, ..Answer::file(archive) });
    let failure = failure(&server, Some("1.0"));
    assert!(matches!(&failure, FetchFailure::UnsafeArchive { why, .. } if why.contains("RECORD")), "{failure}");
}

/// The wheel with one more member, which `RECORD` does not know.
fn tampered(archive: &[u8]) -> Vec<u8> {
    use std::io::{Cursor, Write};
    let mut writer = zip::ZipWriter::new_append(Cursor::new(archive.to_vec())).unwrap();
    writer.start_file("pkg/y.py", zip::write::SimpleFileOptions::default()).unwrap();
    writer.write_all(b"y = 1\n").unwrap();
    writer.finish().unwrap().into_inner()
}
