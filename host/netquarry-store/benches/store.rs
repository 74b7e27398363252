//! How fast facts go into the store and come out of it.
//!
//! `cargo bench -p netquarry-store -- FOLDER...` reads every Python file below the folders, makes its facts, and stores
//! and loads them. Prints the time on the clock and of the processors, and the sizes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use netquarry_core::facts::FileFacts;
use netquarry_core::source::ContentDigest;
use netquarry_core::syntax::{self, PARSER_STACK_BYTES};
use netquarry_core::verdict::Verdict;
use netquarry_store::{Store, VerdictContext};
use rayon::prelude::*;

#[expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
fn main() {
    // Cargo passes `--bench`.
    let folders: Vec<PathBuf> =
        std::env::args_os().skip(1).filter(|argument| argument != "--bench").map(Into::into).collect();
    if folders.is_empty() {
        println!("name folders of Python files: cargo bench -p netquarry-store -- FOLDER...");
        return;
    }
    rayon::ThreadPoolBuilder::new().stack_size(PARSER_STACK_BYTES).build_global().expect("the first pool");
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let path = scratch.path().join("index.sqlite");

    let contents = contents(&folders);
    let bytes: usize = contents.values().map(Vec::len).sum();
    println!(
        "{} distinct files, {:.1} MB of Python, {} threads",
        contents.len(),
        megabytes(bytes),
        rayon::current_num_threads()
    );
    let facts: Vec<(ContentDigest, FileFacts)> =
        measure("make facts", || contents.par_iter().map(|(digest, bytes)| (*digest, syntax::facts(bytes))).collect());
    drop(contents);
    let digests: Vec<ContentDigest> = facts.iter().map(|(digest, _)| *digest).collect();

    measure("store facts", || {
        let store = Store::open(&path).expect("opened");
        let writer = store.facts_writer().expect("a thread");
        facts.par_iter().for_each(|(digest, facts)| writer.add(*digest, facts));
        writer.finish().expect("stored");
    });
    let file = fs::metadata(&path).expect("it is there").len();
    println!("a file of {:.1} MB", megabytes(file as usize));

    let store = measure("open", || Store::open(&path).expect("opened"));
    let loaded = measure("load facts", || store.facts(&digests).expect("readable"));
    assert!(loaded.undecodable == 0 && facts.iter().all(|(digest, facts)| loaded.facts[digest] == *facts));
    verdicts(&store);
}

fn verdicts(store: &Store) {
    let verdicts: Vec<(String, Verdict)> =
        (0..1000).map(|number| (format!("{number:064x}"), Verdict::default())).collect();
    let context = VerdictContext { environment: "environment", options: "options" };
    measure("store 1,000 verdicts", || {
        let pairs = verdicts.iter().map(|(bundle, verdict)| (bundle.as_str(), verdict));
        store.put_verdicts(context, pairs).expect("stored");
    });
    let bundles = verdicts.iter().map(|(bundle, _)| bundle.as_str());
    measure("load 1,000 verdicts", || store.verdicts(context, bundles).expect("readable"));
}

fn contents(folders: &[PathBuf]) -> BTreeMap<ContentDigest, Vec<u8>> {
    let mut contents = BTreeMap::new();
    let mut pending = folders.to_vec();
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|extension| extension == "py") {
                let bytes = read(&path);
                contents.insert(ContentDigest::of(&bytes), bytes);
            }
        }
    }
    contents
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

#[expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
fn measure<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let (clock, processor) = (Instant::now(), processor_time());
    let result = work();
    let (clock, processor) = (clock.elapsed(), processor_time() - processor);
    println!("{what}: {:.3} s, {:.3} s of CPU", clock.as_secs_f64(), processor.as_secs_f64());
    result
}

/// User and system time of this process so far. On other systems than Linux, 0.
fn processor_time() -> Duration {
    let Ok(stat) = fs::read_to_string("/proc/self/stat") else { return Duration::ZERO };
    // The fields after the command, which may contain anything but ends with the last bracket.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks: u64 = fields[11..13].iter().map(|field| field.parse::<u64>().expect("a number of ticks")).sum();
    Duration::from_millis(ticks * 10)
}
