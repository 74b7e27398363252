//! The store through its public interface: round trips, several processes at once, and everything that can be wrong
//! with the file.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use netquarry_core::facts::{FACTS_VERSION, FileFacts};
use netquarry_core::source::ContentDigest;
use netquarry_core::verdict::{Level, Outcome, Verdict};
use netquarry_store::{Store, StoreError, StoredFingerprints, VerdictContext};
use rusqlite::Connection;
use tempfile::TempDir;

/// Set in a process that a test has started: the path of the index.
const CHILD_INDEX: &str = "NETQUARRY_STORE_TEST_INDEX";

const CONTEXT: VerdictContext<'static> = VerdictContext { environment: "torch-2.15", options: "level-5" };

struct Scratch {
    folder: TempDir,
}

impl Scratch {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    fn index(&self) -> PathBuf {
        self.folder.path().join("cache/index.sqlite")
    }

    fn store(&self) -> Store {
        Store::open(&self.index()).expect("a fresh index")
    }

    /// The file as another program sees it.
    fn sqlite(&self) -> Connection {
        Connection::open(self.index()).expect("a database")
    }
}

fn digest(number: u32) -> ContentDigest {
    ContentDigest::of(&number.to_le_bytes())
}

/// Facts of about four kilobytes that differ from number to number.
fn facts(number: u32) -> FileFacts {
    let symbols = (0..200).map(|index| format!("symbol_{number}_{index:08}").into_boxed_str()).collect();
    FileFacts { symbols, ..FileFacts::default() }
}

fn write_facts(store: &Store, numbers: impl IntoIterator<Item = u32>) -> Result<(), StoreError> {
    let writer = store.facts_writer()?;
    for number in numbers {
        writer.add(digest(number), &facts(number));
    }
    writer.finish()
}

fn stored(store: &Store, numbers: std::ops::Range<u32>) -> usize {
    let digests: Vec<_> = numbers.clone().map(digest).collect();
    let loaded = store.facts(&digests).expect("readable");
    assert_eq!(loaded.undecodable, 0);
    for number in numbers {
        if let Some(found) = loaded.facts.get(&digest(number)) {
            assert_eq!(*found, facts(number));
        }
    }
    loaded.facts.len()
}

fn add_fingerprint(store: &Store, number: u32) {
    let writer = store.fingerprints_writer().expect("a thread");
    writer.add(digest(number).0, b"some");
    writer.finish().expect("stored");
}

#[test]
fn facts_come_back_as_they_were() {
    let scratch = Scratch::new();
    write_facts(&scratch.store(), 0..1000).expect("stored");
    assert_eq!(stored(&scratch.store(), 0..1100), 1000);
}

#[test]
fn facts_of_another_version_are_unknown_and_replaced() {
    let scratch = Scratch::new();
    let store = scratch.store();
    write_facts(&store, 0..2).expect("stored");
    scratch.sqlite().execute("UPDATE facts SET version = ?1", [FACTS_VERSION + 1]).expect("changed");
    assert_eq!(stored(&store, 0..2), 0);

    write_facts(&store, 0..1).expect("stored");
    let rows: i64 = scratch.sqlite().query_row("SELECT count(*) FROM facts", [], |row| row.get(0)).expect("a count");
    assert_eq!((stored(&store, 0..2), rows), (1, 2));
}

#[test]
fn damaged_facts_count_as_unknown() {
    let scratch = Scratch::new();
    let store = scratch.store();
    write_facts(&store, 0..3).expect("stored");
    let damage = "UPDATE facts SET body = substr(body, 1, 100) || x'ff' || substr(body, 102) WHERE digest = ?1";
    scratch.sqlite().execute(damage, [digest(1).0]).expect("damaged");
    let cut = "UPDATE facts SET body = x'' WHERE digest = ?1";
    scratch.sqlite().execute(cut, [digest(2).0]).expect("damaged");

    let loaded = store.facts(&[digest(0), digest(1), digest(2), digest(3)]).expect("readable");
    assert_eq!((loaded.facts.len(), loaded.undecodable), (1, 2));
    assert_eq!(loaded.facts[&digest(0)], facts(0));
}

#[test]
fn a_writer_that_is_dropped_keeps_what_it_was_given() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let writer = store.facts_writer().expect("a thread");
    writer.add(digest(7), &facts(7));
    drop(writer);
    assert_eq!(stored(&store, 7..8), 1);
}

#[test]
fn fingerprints_come_back_as_they_were_unless_they_were_damaged() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let writer = store.fingerprints_writer().expect("a thread");
    (0..1000_u32).for_each(|number| writer.add(digest(number).0, &number.to_le_bytes()));
    writer.finish().expect("stored");
    let stored = |number: u32| store.fingerprints().expect("readable").find(digest(number).0).expect("readable");
    assert!((0..1000).all(|number| stored(number) == Some(number.to_le_bytes().to_vec())));
    assert_eq!(stored(1000), None);
    let damage = "UPDATE fingerprints SET body = x'00' || substr(body, 2) WHERE key = ?1";
    scratch.sqlite().execute(damage, [digest(7).0]).expect("changed");
    assert_eq!((stored(7), stored(8).is_some()), (None, true));
}

#[test]
fn fingerprints_of_another_version_go() {
    let scratch = Scratch::new();
    let store = scratch.store();
    add_fingerprint(&store, 1);
    scratch.sqlite().execute("UPDATE fingerprints SET version = version + 1", []).expect("changed");
    add_fingerprint(&store, 2);
    let keys = "SELECT key FROM fingerprints";
    let left: [u8; 20] = scratch.sqlite().query_row(keys, [], |row| row.get(0)).expect("one row");
    assert_eq!(left, digest(2).0);
}

/// A reader that goes on does not keep a writer from what it reads.
#[test]
fn fingerprints_can_be_read_while_others_are_written() {
    let scratch = Scratch::new();
    let store = scratch.store();
    add_fingerprint(&store, 0);
    let stored = store.fingerprints().expect("readable");
    let is_there =
        |stored: &StoredFingerprints, number: u32| stored.find(digest(number).0).expect("readable").is_some();
    assert!(is_there(&stored, 0) && !is_there(&stored, 1));
    add_fingerprint(&store, 1);
    assert!(is_there(&stored, 0));
    stored.release();
    assert!(is_there(&stored, 1), "a transaction of its own sees what is there now");
}

/// SQLite empties its log only where nobody reads, and here somebody always does.
#[test]
fn the_log_does_not_grow_while_many_read_and_one_writes() {
    let scratch = Scratch::new();
    let store = scratch.store();
    add_fingerprint(&store, 0);
    let stored = store.fingerprints().expect("readable");
    let writer = store.fingerprints_writer().expect("a thread");
    let is_done = AtomicBool::new(false);
    let logged = std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    assert!(stored.find(digest(0).0).expect("readable").is_some());
                }
            });
        }
        // Who computes looks first, and waits where the writer does.
        for number in 1..6000 {
            assert!(stored.find(digest(number).0).expect("readable").is_none());
            writer.add(digest(number).0, &[7; 16 << 10]);
        }
        let finished = writer.finish();
        is_done.store(true, Ordering::Relaxed);
        finished.expect("stored");
        fs::metadata(scratch.index().with_extension("sqlite-wal")).expect("there is a log").len()
    });
    assert!(logged < 60 << 20, "of 94 MiB that were written {} are in the log", logged >> 20);
}

#[test]
fn an_index_of_an_earlier_layout_keeps_its_contents() {
    let scratch = Scratch::new();
    write_facts(&scratch.store(), 0..3).expect("stored");
    scratch.sqlite().execute_batch("DROP TABLE fingerprints; PRAGMA user_version = 1").expect("the first layout");
    let store = scratch.store();
    let fingerprint = store.fingerprints().expect("readable").find(digest(0).0).expect("readable");
    assert_eq!((stored(&store, 0..3), fingerprint), (3, None));
}

#[test]
fn facts_can_be_added_from_many_threads() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let writer = store.facts_writer().expect("a thread");
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let writer = &writer;
            scope.spawn(move || {
                (thread * 250..(thread + 1) * 250).for_each(|number| writer.add(digest(number), &facts(number)))
            });
        }
        // Readers go on meanwhile.
        for _ in 0..20 {
            stored(&store, 0..1000);
        }
    });
    writer.finish().expect("stored");
    assert_eq!(stored(&store, 0..1000), 1000);
}

#[test]
fn verdicts_hold_for_their_environment_and_options_only() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let mut verdict = Verdict::default();
    verdict.set(Level::Parse, Outcome::Passed);
    store.put_verdicts(CONTEXT, [("aa", &verdict), ("bb", &Verdict::default())]).expect("stored");

    let found = scratch.store().verdicts(CONTEXT, ["aa", "bb", "cc"]).expect("readable");
    assert_eq!(found, BTreeMap::from([("aa".to_owned(), verdict), ("bb".to_owned(), Verdict::default())]));
    for other in
        [VerdictContext { environment: "torch-2.14", ..CONTEXT }, VerdictContext { options: "level-3", ..CONTEXT }]
    {
        assert!(store.verdicts(other, ["aa", "bb"]).expect("readable").is_empty());
    }
}

/// Starts this test binary again; there `test` alone runs, and finds [`CHILD_INDEX`] set.
fn start(test: &str, index: &Path) -> Child {
    Command::new(std::env::current_exe().expect("the path of the tests"))
        .args(["--exact", test, "--nocapture"])
        .env(CHILD_INDEX, index)
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("another process")
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !done() {
        assert!(Instant::now() < deadline, "waited too long for: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn two_processes_write_at_once() {
    if let Some(index) = std::env::var_os(CHILD_INDEX) {
        let store = Store::open(Path::new(&index)).expect("opened while the other process opens it");
        write_facts(&store, 1000..3000).expect("stored");
        return;
    }
    let scratch = Scratch::new();
    let mut child = start("two_processes_write_at_once", &scratch.index());
    let store = scratch.store();
    write_facts(&store, 0..2000).expect("stored");
    assert!(child.wait().expect("an exit status").success());
    assert_eq!(stored(&store, 0..3000), 3000);
}

#[test]
fn a_killed_process_leaves_whole_transactions() {
    if let Some(index) = std::env::var_os(CHILD_INDEX) {
        let store = Store::open(Path::new(&index)).expect("opened");
        let verdict = Verdict::default();
        store.put_verdicts(CONTEXT, [("whole", &verdict)]).expect("stored");
        let verdicts = (0_u32..).map(|number| {
            if number == 10_000 {
                // The parent kills this process here, in the middle of the transaction.
                fs::write(Path::new(&index).with_extension("ready"), "").expect("written");
                std::thread::sleep(Duration::from_secs(600));
            }
            ("torn", &verdict)
        });
        store.put_verdicts(CONTEXT, verdicts).expect("never ends");
        return;
    }
    let scratch = Scratch::new();
    let store = scratch.store();
    let mut child = start("a_killed_process_leaves_whole_transactions", &scratch.index());
    wait_until("the other process to be in its transaction", || scratch.index().with_extension("ready").exists());
    child.kill().expect("killed");
    child.wait().expect("reaped");

    let found = store.verdicts(CONTEXT, ["whole", "torn"]).expect("readable");
    assert_eq!(found, BTreeMap::from([("whole".to_owned(), Verdict::default())]));
    store.put_verdicts(CONTEXT, [("torn", &Verdict::default())]).expect("the lock died with the process");
    let check: String = scratch.sqlite().query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("checked");
    assert_eq!(check, "ok");
}

#[test]
fn many_threads_open_a_new_index_at_once() {
    for _ in 0..20 {
        let scratch = Scratch::new();
        std::thread::scope(|scope| {
            for number in 0..4 {
                let index = scratch.index();
                scope.spawn(move || {
                    let store = Store::open(&index).expect("opened");
                    write_facts(&store, number..number + 1).expect("stored");
                });
            }
        });
        assert_eq!(stored(&scratch.store(), 0..4), 4);
    }
}

#[test]
fn a_lock_that_is_held_too_long_is_named() {
    let scratch = Scratch::new();
    let store = Store::open_waiting(&scratch.index(), Duration::from_millis(50)).expect("opened");
    let other = scratch.sqlite();
    other.execute_batch("BEGIN IMMEDIATE").expect("locked");
    let error = store.put_verdicts(CONTEXT, [("bundle", &Verdict::default())]).expect_err("locked");
    assert!(matches!(error, StoreError::Locked { .. }), "{error:?}");
    check_message(&error, &scratch.index(), "other NetQuarry");
    let error = write_facts(&store, 0..1000).expect_err("locked");
    assert!(matches!(error, StoreError::Locked { .. }), "{error:?}");
    let rebuilt = Store::rebuild_waiting(&scratch.index(), Duration::from_millis(50));
    let Err(error) = rebuilt else { panic!("an index was deleted under another process") };
    assert!(matches!(error, StoreError::Locked { .. }), "{error:?}");
    // Reading goes on.
    assert_eq!(store.verdicts(CONTEXT, ["bundle"]).expect("readable"), BTreeMap::new());
    other.execute_batch("ROLLBACK").expect("unlocked");
    store.put_verdicts(CONTEXT, [("bundle", &Verdict::default())]).expect("stored");
}

/// What happened names the file, and the hint says what to do.
fn check_message(error: &StoreError, path: &Path, hint: &str) {
    assert!(error.to_string().contains(&path.display().to_string()), "{error}");
    assert!(error.hint().contains(hint), "{}", error.hint());
}

fn open_fails(path: &Path) -> StoreError {
    let before = fs::read(path).ok();
    let Err(error) = Store::open(path) else { panic!("{} was opened", path.display()) };
    assert_eq!(before, fs::read(path).ok(), "the file stays as it was");
    error
}

#[test]
fn a_file_that_is_no_database_is_damaged() {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.folder.path().join("cache")).expect("created");
    fs::write(scratch.index(), "not a database, but long enough to be taken for one\n".repeat(100)).expect("written");
    let error = open_fails(&scratch.index());
    assert!(matches!(error, StoreError::Corrupted { .. }), "{error:?}");
    check_message(&error, &scratch.index(), "--rebuild-index");

    let rebuilt = Store::rebuild(&scratch.index()).expect("made anew");
    write_facts(&rebuilt, 0..1).expect("stored");
    drop(rebuilt);
    assert_eq!(stored(&scratch.store(), 0..1), 1);
}

#[test]
fn an_empty_file_becomes_an_index() {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.folder.path().join("cache")).expect("created");
    fs::write(scratch.index(), "").expect("written");
    write_facts(&scratch.store(), 0..1).expect("stored");
}

#[test]
fn damaged_pages_are_found_when_they_are_read() {
    let scratch = Scratch::new();
    write_facts(&scratch.store(), 0..2000).expect("stored");
    let mut bytes = fs::read(scratch.index()).expect("read");
    bytes[16384..].fill(0xa5);
    fs::write(scratch.index(), bytes).expect("written");

    let digests: Vec<_> = (0..2000).map(digest).collect();
    let error = Store::open(&scratch.index()).and_then(|store| store.facts(&digests)).expect_err("damaged");
    assert!(matches!(error, StoreError::Corrupted { .. }), "{error:?}");
    check_message(&error, &scratch.index(), "--rebuild-index");
}

#[test]
fn a_file_that_was_cut_is_found_when_it_is_read() {
    let scratch = Scratch::new();
    write_facts(&scratch.store(), 0..2000).expect("stored");
    let bytes = fs::read(scratch.index()).expect("read");
    fs::write(scratch.index(), &bytes[..bytes.len() / 3]).expect("written");

    let digests: Vec<_> = (0..2000).map(digest).collect();
    let error = Store::open(&scratch.index()).and_then(|store| store.facts(&digests)).expect_err("cut");
    assert!(matches!(error, StoreError::Corrupted { .. }), "{error:?}");
}

#[test]
fn an_index_of_a_newer_version_is_left_alone() {
    let scratch = Scratch::new();
    write_facts(&scratch.store(), 0..1).expect("stored");
    scratch.sqlite().pragma_update(None, "user_version", 99).expect("changed");
    let error = open_fails(&scratch.index());
    assert!(matches!(error, StoreError::NewerVersion { found: 99, .. }), "{error:?}");
    check_message(&error, &scratch.index(), "--rebuild-index");
}

#[test]
fn a_database_of_another_program_is_left_alone() {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.folder.path().join("cache")).expect("created");
    scratch.sqlite().execute_batch("CREATE TABLE photographs (name TEXT)").expect("created");
    let error = open_fails(&scratch.index());
    assert!(matches!(error, StoreError::NotAnIndex { .. }), "{error:?}");
    check_message(&error, &scratch.index(), "--cache-dir");

    let Err(error) = Store::rebuild(&scratch.index()) else { panic!("a foreign database was deleted") };
    assert!(matches!(error, StoreError::NotAnIndex { .. }), "{error:?}");
    scratch.sqlite().execute_batch("SELECT name FROM photographs").expect("still there");
}

#[test]
fn paths_that_cannot_be_used_are_named() {
    let scratch = Scratch::new();
    let file = scratch.folder.path().join("file");
    fs::write(&file, "").expect("written");
    let Err(error) = Store::open(&file.join("index.sqlite")) else { panic!("opened in a file") };
    assert!(matches!(error, StoreError::Folder { .. }), "{error:?}");
    check_message(&error, &file, "folder");

    let Err(error) = Store::open(scratch.folder.path()) else { panic!("opened a folder") };
    assert!(matches!(error, StoreError::CannotOpen { .. }), "{error:?}");
    check_message(&error, scratch.folder.path(), "writable");
}

/// A file system that takes no files, whoever asks: permissions do not bind the superuser, as whom tests often run.
#[cfg(target_os = "linux")]
#[test]
fn a_read_only_folder_is_named() {
    let index = Path::new("/proc/self/index.sqlite");
    let Err(error) = Store::open(index) else { panic!("opened in /proc") };
    assert!(matches!(error, StoreError::CannotOpen { .. } | StoreError::ReadOnly { .. }), "{error:?}");
    check_message(&error, index, "writable");
}
