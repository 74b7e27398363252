//! Git repositories that the tests make with the git command, over `file://` and over HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use netquarry_core::source::SourceKind;
use netquarry_corpus::corpus::{FetchPolicy, GitLocation, Location, SourceSpec};
use netquarry_corpus::failure::FetchFailure;
use netquarry_corpus::fetch::{FetchOptions, fetch};
use netquarry_corpus::snapshot::Integrity;

use crate::{modules, paths, source};

struct Repository {
    folder: tempfile::TempDir,
}

impl Repository {
    fn new() -> Self {
        let repository = Self { folder: tempfile::tempdir().unwrap() };
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository.write("pkg/__init__.py", "x = 1\n");
        repository.write("pkg/layers/drop.py", "class DropPath: ...\n");
        repository.write("pkg/model.yaml", "depth: 1\n");
        repository.write("pkg/weights.bin", "0");
        repository.write("LICENSE", include_str!("../../../../LICENSE-APACHE"));
        repository.write("pyproject.toml", "[project]\nname = \"pkg\"\nversion = \"3.0\"\n");
        std::os::unix::fs::symlink("../../../../etc/passwd", repository.path().join("pkg/link.py")).unwrap();
        repository.commit("first");
        repository
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn url(&self) -> String {
        format!("file://{}", self.path().display())
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn git(&self, arguments: &[&str]) -> String {
        let identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"];
        let output = Command::new("git").args(identity).args(arguments).current_dir(self.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }
}

fn git(url: &str, revision: Option<&str>) -> SourceSpec {
    let revision = revision.map(str::to_owned);
    source("pkg", Location::Git(GitLocation { url: url.to_owned(), revision, distribution: None }))
}

fn options(cache: &Path) -> FetchOptions {
    let mut options = FetchOptions::new(cache);
    options.back_off = Duration::from_millis(1);
    options
}

#[test]
fn a_commit_is_read_without_a_work_tree() {
    let repository = Repository::new();
    let cache = tempfile::tempdir().unwrap();
    let snapshot = fetch(&git(&repository.url(), None), &options(cache.path()), &()).unwrap();
    assert_eq!(paths(&snapshot), ["pkg/__init__.py", "pkg/layers/drop.py"]);
    assert_eq!(modules(&snapshot), ["pkg", "pkg.layers.drop"]);
    assert_eq!(snapshot.read(&snapshot.files[1]).unwrap(), b"class DropPath: ...\n");
    assert_eq!(snapshot.read_path("pkg/model.yaml").unwrap(), b"depth: 1\n");
    assert_eq!(snapshot.skipped[0].path, "pkg/link.py");
    let source = &snapshot.source;
    assert_eq!(source.kind, SourceKind::Git);
    assert_eq!(source.commit, Some(repository.git(&["rev-parse", "HEAD"])));
    assert_eq!(source.tree, Some(repository.git(&["rev-parse", "HEAD^{tree}"])));
    assert!(snapshot.fetched.is_some());
    assert_eq!((source.version.as_deref(), source.distribution.as_deref()), (Some("3.0"), Some("pkg")));
    assert_eq!(source.license.as_deref(), Some("Apache-2.0"));
    assert_eq!(snapshot.integrity, Integrity::ObjectNames);
}

#[test]
fn only_the_wanted_commit_is_transferred() {
    let repository = Repository::new();
    for index in 0..5 {
        repository.write("pkg/a.py", &format!("a = {index}\n"));
        repository.commit("more");
    }
    let cache = tempfile::tempdir().unwrap();
    fetch(&git(&repository.url(), None), &options(cache.path()), &()).unwrap();
    let bare = bare_repository(cache.path());
    let output = Command::new("git").args(["rev-list", "--all", "--count"]).current_dir(&bare).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), "1");
    assert!(!bare.join("index").exists() && !bare.join("pkg").exists());
}

fn bare_repository(cache: &Path) -> PathBuf {
    let mut entries = std::fs::read_dir(cache.join("sources-1/entries/git")).unwrap();
    entries.next().unwrap().unwrap().path().join("repository.git")
}

fn packs(cache: &Path) -> usize {
    let packs = std::fs::read_dir(bare_repository(cache).join("objects/pack")).unwrap().flatten();
    packs.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "pack")).count()
}

#[test]
fn an_update_transfers_what_changed_and_nothing_if_nothing_did() {
    let repository = Repository::new();
    let cache = tempfile::tempdir().unwrap();
    let spec = git(&repository.url(), None);
    let first = fetch(&spec, &options(cache.path()), &()).unwrap();
    let always = FetchOptions { policy: Some(FetchPolicy::Always), ..options(cache.path()) };
    let unchanged = fetch(&spec, &always, &()).unwrap();
    assert_eq!((unchanged.identity.as_str(), packs(cache.path())), (first.identity.as_str(), 1));

    repository.write("pkg/__init__.py", "x = 2\n");
    let second = repository.commit("second");
    let missing = fetch(&spec, &options(cache.path()), &()).unwrap();
    assert_eq!(missing.identity, first.identity, "the policy `missing` does not ask");
    let changed = fetch(&spec, &always, &()).unwrap();
    assert_eq!(changed.source.commit.as_deref(), Some(second.as_str()));
    assert_eq!(changed.read(&changed.files[0]).unwrap(), b"x = 2\n");
    assert_eq!(packs(cache.path()), 2);
    assert_eq!(first.read(&first.files[0]).unwrap(), b"x = 1\n", "the older commit stays readable");
}

#[test]
fn branches_tags_and_commits() {
    let repository = Repository::new();
    let first = repository.git(&["rev-parse", "HEAD"]);
    repository.git(&["tag", "light"]);
    repository.git(&["tag", "--annotate", "--message", "v1", "v1.0"]);
    repository.git(&["switch", "--quiet", "--create", "side"]);
    repository.write("pkg/side.py", "");
    let side = repository.commit("side");
    repository.git(&["switch", "--quiet", "main"]);
    let cache = tempfile::tempdir().unwrap();
    let commit = |revision: &str| {
        let snapshot = fetch(&git(&repository.url(), Some(revision)), &options(cache.path()), &()).unwrap();
        snapshot.source.commit.unwrap()
    };
    assert_eq!(commit("light"), first);
    assert_eq!(commit("v1.0"), first);
    assert_eq!(commit("side"), side);
    assert_eq!(commit("refs/heads/side"), side);
    assert_eq!(commit(&side), side);
    let fresh = tempfile::tempdir().unwrap();
    let snapshot = fetch(&git(&repository.url(), Some(&side)), &options(fresh.path()), &()).unwrap();
    assert_eq!(snapshot.source.commit, Some(side));
}

#[test]
fn revisions_and_repositories_that_are_not_there() {
    let repository = Repository::new();
    repository.git(&["branch", "release-1"]);
    let cache = tempfile::tempdir().unwrap();
    let error = fetch(&git(&repository.url(), Some("release-2")), &options(cache.path()), &()).unwrap_err();
    let expected = format!(
        "cannot fetch source `pkg`: {} has no branch, tag or commit `release-2`; it has release-1, main",
        repository.url()
    );
    assert_eq!(error.to_string(), expected);
    let absent = "1".repeat(40);
    let error = fetch(&git(&repository.url(), Some(&absent)), &options(cache.path()), &()).unwrap_err();
    assert!(matches!(error.failure, FetchFailure::NoSuchRevision { .. }), "{error}");
    let error = fetch(&git("file:///no/such/repository", None), &options(cache.path()), &()).unwrap_err();
    assert!(matches!(error.failure, FetchFailure::Repository { .. }), "{error}");
    assert!(error.hint().contains("URL"));
}

#[test]
fn a_torn_repository_is_fetched_anew() {
    let repository = Repository::new();
    let cache = tempfile::tempdir().unwrap();
    let spec = git(&repository.url(), None);
    let whole = fetch(&spec, &options(cache.path()), &()).unwrap();
    for damage in ["objects", "objects/pack", "config", "HEAD", "refs"] {
        let path = bare_repository(cache.path()).join(damage);
        if path.is_dir() {
            std::fs::remove_dir_all(path).unwrap()
        } else {
            std::fs::write(path, "torn [").unwrap()
        }
        let repaired = fetch(&spec, &options(cache.path()), &()).unwrap_or_else(|error| panic!("{damage}: {error}"));
        assert_eq!(repaired.identity, whole.identity, "{damage}");
        assert_eq!(repaired.read(&repaired.files[0]).unwrap(), b"x = 1\n", "{damage}");
    }
}

#[test]
fn a_blob_that_is_damaged_is_found_when_it_is_read_and_mended_by_the_next_fetch() {
    let repository = Repository::new();
    let cache = tempfile::tempdir().unwrap();
    let spec = git(&repository.url(), None);
    let snapshot = fetch(&spec, &options(cache.path()), &()).unwrap();
    let packs = std::fs::read_dir(bare_repository(cache.path()).join("objects/pack")).unwrap().flatten();
    let packs: Vec<_> = packs.map(|entry| entry.path()).collect();
    let pack = packs.iter().find(|path| path.extension().is_some_and(|extension| extension == "pack")).unwrap();
    // The fifth column of the listing is where an object lies in the pack.
    let blob = repository.git(&["rev-parse", "HEAD:pkg/__init__.py"]);
    let listing = Command::new("git").args(["verify-pack", "-v"]).arg(pack).output().unwrap().stdout;
    let listing = String::from_utf8(listing).unwrap();
    let line = listing.lines().find(|line| line.starts_with(&blob)).unwrap();
    let place: usize = line.split_whitespace().nth(4).unwrap().parse().unwrap();
    let mut bytes = std::fs::read(pack).unwrap();
    bytes[place + 5] ^= 0xff;
    let mut permissions = std::fs::metadata(pack).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o644);
    std::fs::set_permissions(pack, permissions).unwrap();
    std::fs::write(pack, bytes).unwrap();

    let damaged = fetch(&spec, &options(cache.path()), &()).unwrap();
    damaged.read(&damaged.files[0]).unwrap_err();
    let mended = fetch(&spec, &options(cache.path()), &()).unwrap();
    assert_eq!(mended.identity, snapshot.identity);
    assert_eq!(mended.read(&mended.files[0]).unwrap(), b"x = 1\n");
}

#[test]
fn a_repository_over_http() {
    let repository = Repository::new();
    let served = repository.path().join(".git");
    let server = GitServer::start(served.parent().unwrap().to_path_buf());
    let cache = tempfile::tempdir().unwrap();
    let spec = git(&format!("{}.git", server.url), None);
    let snapshot = fetch(&spec, &options(cache.path()), &()).unwrap();
    assert_eq!(modules(&snapshot), ["pkg", "pkg.layers.drop"]);
    let transfers = server.transfers.load(Ordering::SeqCst);
    let always = FetchOptions { policy: Some(FetchPolicy::Always), ..options(cache.path()) };
    fetch(&spec, &always, &()).unwrap();
    assert_eq!(packs(cache.path()), 1);
    assert!(server.transfers.load(Ordering::SeqCst) <= transfers + 1, "refs are listed, no pack is asked for");
    let error = fetch(&git(&format!("{}nothing.git", server.url), None), &options(cache.path()), &()).unwrap_err();
    assert!(matches!(error.failure, FetchFailure::Repository { .. }), "{error}");
}

/// Git's own HTTP backend behind a socket.
struct GitServer {
    url: String,
    /// Requests to `git-upload-pack`: listings of refs and packs.
    transfers: Arc<AtomicUsize>,
}

impl GitServer {
    fn start(root: PathBuf) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let transfers = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&transfers);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (root, counter) = (root.clone(), Arc::clone(&counter));
                std::thread::spawn(move || serve(&stream, &root, &counter));
            }
        });
        Self { url, transfers }
    }
}

/// One request per connection, as CGI has it.
fn serve(mut stream: &TcpStream, root: &Path, transfers: &AtomicUsize) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let mut command = Command::new("git");
    command.arg("http-backend").env("GIT_PROJECT_ROOT", root).env("GIT_HTTP_EXPORT_ALL", "1");
    command.env("REQUEST_METHOD", &method).env("PATH_INFO", path).env("QUERY_STRING", query);
    let mut body = Vec::new();
    let mut length: usize = 0;
    let mut chunked = false;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-type" => drop(command.env("CONTENT_TYPE", value)),
            "content-encoding" => drop(command.env("HTTP_CONTENT_ENCODING", value)),
            "git-protocol" => drop(command.env("GIT_PROTOCOL", value)),
            "content-length" => length = value.parse().ok()?,
            "transfer-encoding" => chunked = true,
            _ => {}
        }
    }
    if chunked {
        read_chunks(&mut reader, &mut body)?;
    } else {
        reader.by_ref().take(length as u64).read_to_end(&mut body).ok()?;
    }
    if path.ends_with("git-upload-pack") {
        transfers.fetch_add(1, Ordering::SeqCst);
    }
    command.env("CONTENT_LENGTH", body.len().to_string());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    child.stdin.take()?.write_all(&body).ok()?;
    let output = child.wait_with_output().ok()?.stdout;
    let split = output.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&output[..split]).into_owned();
    let status = head.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("200 OK").to_owned();
    let content = &output[split + 4..];
    let head = format!("HTTP/1.1 {status}\r\n{head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", content.len());
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(content).ok()
}

fn read_chunks(reader: &mut impl BufRead, body: &mut Vec<u8>) -> Option<()> {
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let size = u64::from_str_radix(line.trim(), 16).ok()?;
        reader.by_ref().take(size).read_to_end(body).ok()?;
        reader.read_line(&mut String::new()).ok()?;
        if size == 0 {
            return Some(());
        }
    }
}
