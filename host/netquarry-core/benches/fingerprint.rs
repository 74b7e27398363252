//! What the kernels of deduplication cost.
//!
//! `cargo bench -p netquarry-core --bench fingerprint -- FOLDER...` takes the top-level classes derived from something
//! called `Module` in every Python file below the folders, each once, and prints the time on the clock and of the
//! processors per kernel.

#![expect(clippy::disallowed_methods, reason = "a benchmark reads files and the clock")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use netquarry_core::dedup::{BlockSet, BlockSummary, Code, Normalisation, Shingling};
use netquarry_core::fingerprint::archive::Forgetful;
use netquarry_core::fingerprint::banding::NN_DUP;
use netquarry_core::fingerprint::blocks::CodeBlocks;
use netquarry_core::fingerprint::shelf::InMemory;
use netquarry_core::fingerprint::shingles::Shingles;
use netquarry_core::fingerprint::tokens::normalised_tokens;
use netquarry_core::syntax::{self, OutlineKind, PARSER_STACK_BYTES};
use rayon::prelude::*;
use sha2::{Digest, Sha256};

const SHINGLING: Shingling = Shingling { normalisation: Normalisation::NnDup, width: 10 };

fn main() {
    // Cargo passes `--bench`.
    let arguments = std::env::args_os().skip(1).filter(|argument| argument != "--bench");
    let folders: Vec<PathBuf> = arguments.map(Into::into).collect();
    if folders.is_empty() {
        println!("name folders of Python files: cargo bench -p netquarry-core --bench fingerprint -- FOLDER...");
        return;
    }
    let pool = rayon::ThreadPoolBuilder::new().stack_size(PARSER_STACK_BYTES).build().expect("threads");
    pool.install(|| run(&folders));
}

fn run(folders: &[PathBuf]) {
    let classes: Vec<String> = classes(folders).into_iter().collect();
    let bytes: usize = classes.iter().map(String::len).sum();
    println!("{} classes, {:.1} MB, {} threads", classes.len(), bytes as f64 / 1e6, rayon::current_num_threads());
    let tokens: Vec<_> = measure("tokens", || classes.par_iter().map(|code| normalised_tokens(code)).collect());
    let shingles: Vec<Shingles> =
        measure("shingles", || tokens.par_iter().map(|tokens| Shingles::new(tokens, 10)).collect());
    let count: usize = shingles.iter().map(|shingles| shingles.hashes().len()).sum();
    println!("{count} distinct shingles");
    drop((tokens, shingles));

    let blocks = classes.into_iter().map(|code| (summary(&code), Code::from(Arc::from(code))));
    let blocks = CodeBlocks::new(blocks, Arc::new(InMemory::default()), Arc::new(Forgetful));
    let all: Vec<u32> = (0..blocks.len()).collect();
    let candidates = || blocks.candidate_pairs(&all, SHINGLING, NN_DUP).expect("they fit into memory");
    let pairs = measure("signatures and candidate pairs", candidates);
    let again = measure("candidate pairs from stored keys", candidates);
    assert_eq!(pairs, again);
    let similar = measure("exact Jaccard of the candidates", || {
        let similarity = |(first, second): &&(u32, u32)| blocks.jaccard(*first, &[*second], SHINGLING)[0];
        pairs.iter().filter(|pair| similarity(pair) >= 0.90).count()
    });
    println!("{} candidate pairs, {similar} of at least 0.90", pairs.len());
    measure("structures", || blocks.structure_digests(&all));
    let pairs = measure("structural pairs", || blocks.structure_index(&all, 0.90).similar(&all, usize::MAX).0);
    println!("{} structural pairs of at least 0.90", pairs.len() / 2);
}

fn summary(code: &str) -> BlockSummary {
    BlockSummary {
        characters: code.chars().count() as u64,
        sha256: Sha256::digest(code).into(),
        ..BlockSummary::default()
    }
}

fn classes(folders: &[PathBuf]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut pending = folders.to_vec();
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|extension| extension == "py")
                && let Ok(text) = fs::read_to_string(&path)
                && let Ok(outline) = syntax::outline(&text)
            {
                let lines: Vec<&str> = text.split_inclusive('\n').collect();
                let modules = outline.definitions.iter().filter(|definition| is_module(&definition.kind));
                let lines_of = |[first, last]: [u32; 2]| lines.get(first as usize - 1..last as usize);
                let texts = modules.filter_map(|definition| lines_of(definition.lines));
                found.extend(texts.map(|lines| lines.concat()).filter(|text| !text.starts_with([' ', '\t'])));
            }
        }
    }
    found
}

fn is_module(kind: &OutlineKind) -> bool {
    match kind {
        OutlineKind::Class { bases } => bases.iter().any(|base| &**base == "Module"),
        OutlineKind::Function | OutlineKind::AsyncFunction => false,
    }
}

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
