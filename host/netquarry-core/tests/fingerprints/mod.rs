//! What an archive is asked for, and that what it has is what would be computed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use netquarry_core::dedup::{
    Banding, BlockSet, BlockSummary, Code, HashFamily, Hashing, Normalisation, Shingling, Structure,
};
use netquarry_core::fingerprint::archive::{Archive, ArchiveKey, FINGERPRINT_VERSION};
use netquarry_core::fingerprint::banding::NN_DUP;
use netquarry_core::fingerprint::blocks::CodeBlocks;
use netquarry_core::fingerprint::shelf::{InMemory, Shelf};
use sha2::{Digest, Sha256};

use crate::canonical::{BORDER, with_stack};

/// The version, and what is archived of cases of the canonical form in it: a path and a digest in each line. Cases that it
/// does not have are not asked for.
const DIGESTS: &str = include_str!("digests.txt");

#[derive(Debug, Default)]
struct Kept(Mutex<BTreeMap<ArchiveKey, Vec<u8>>>);

impl Archive for Kept {
    fn find(&self, key: ArchiveKey) -> Option<Vec<u8>> {
        self.0.lock().expect("no panic while it is held").get(&key).cloned()
    }

    fn keep(&self, key: ArchiveKey, bytes: Vec<u8>) {
        self.0.lock().expect("no panic while it is held").insert(key, bytes);
    }
}

/// A full disk.
#[derive(Debug)]
struct Broken;

impl Shelf for Broken {
    fn put(&self, _: &[u8]) -> u64 {
        0
    }

    fn get(&self, _: u64, bytes: &mut [u8]) {
        bytes.fill(0);
    }

    fn has_failed(&self) -> bool {
        true
    }
}

/// The cases and their texts by path.
fn cases() -> BTreeMap<String, String> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/canonical/cases");
    let mut texts = BTreeMap::new();
    for folder in fs::read_dir(&cases).expect("the cases are there") {
        for file in fs::read_dir(folder.expect("it can be read").path()).expect("it can be read") {
            let path = file.expect("it can be read").path();
            let text = fs::read_to_string(&path).expect("it can be read");
            let path = path.strip_prefix(&cases).expect("it lies there");
            texts.insert(path.to_str().expect("a plain name").to_owned(), text);
        }
    }
    texts
}

fn blocks(codes: &[String], archive: &Arc<Kept>) -> CodeBlocks {
    blocks_on(Arc::new(InMemory::default()), codes, archive)
}

fn blocks_on(shelf: Arc<dyn Shelf>, codes: &[String], archive: &Arc<Kept>) -> CodeBlocks {
    let block = |code: &String| {
        let summary =
            BlockSummary { name: "Block".to_owned(), sha256: Sha256::digest(code).into(), ..BlockSummary::default() };
        (summary, Code::from(Arc::from(code.as_str())))
    };
    CodeBlocks::new(codes.iter().map(block), shelf, Arc::clone(archive) as _)
}

type Answers = (Vec<Vec<u32>>, Vec<Vec<(u32, u32)>>, Vec<Structure>, Vec<Vec<f64>>);

fn asked(blocks: &CodeBlocks) -> Answers {
    let all: Vec<u32> = (0..blocks.len()).collect();
    let shinglings: Vec<Shingling> = Normalisation::ALL
        .into_iter()
        .flat_map(|normalisation| [1, 5].map(|width| Shingling { normalisation, width }))
        .collect();
    let hashing = Hashing { family: HashFamily::MinhashRs, permutations: 128 };
    let bandings = [NN_DUP, Banding { hashing, bands: 32, rows: 4 }];
    let pairs = |shingling, banding| blocks.candidate_pairs(&all, shingling, banding).expect("there are few");
    (
        shinglings.iter().map(|shingling| blocks.first_equals(&all, *shingling)).collect(),
        bandings.iter().flat_map(|banding| shinglings.iter().map(|shingling| pairs(*shingling, *banding))).collect(),
        all.iter().map(|block| blocks.structure(*block)).collect(),
        shinglings.iter().map(|shingling| blocks.jaccard(0, &all, *shingling)).collect(),
    )
}

/// What is added is computed, and nothing of what was there before.
#[test]
fn what_an_archive_has_is_not_computed_again() {
    with_stack(|| {
        let (codes, archive) = (cases().into_values().collect::<Vec<_>>(), Arc::<Kept>::default());
        let (few, all) = (&codes[..codes.len() - 3], &codes[..]);
        let first = blocks(few, &archive);
        asked(&first);
        assert_eq!(first.known(), 0);
        let known = archive.0.lock().expect("no panic while it is held").clone();
        let more = blocks(all, &archive);
        let answers = asked(&more);
        assert_eq!(more.known(), few.len());
        assert!(known.iter().all(|(key, bytes)| archive.find(*key).as_ref() == Some(bytes)));
        assert_eq!(answers, asked(&blocks(all, &Arc::default())));
        let again = blocks(all, &archive);
        assert_eq!((asked(&again), again.known()), (answers, all.len()));
    });
}

#[test]
fn what_a_failed_shelf_gave_is_not_archived() {
    with_stack(|| {
        let archive = Arc::<Kept>::default();
        asked(&blocks_on(Arc::new(Broken), &["x = 1\n".to_owned()], &archive));
        assert!(archive.0.lock().expect("no panic while it is held").is_empty());
    });
}

/// Whoever changes what a kernel gives raises [`FINGERPRINT_VERSION`], and replaces `digests.txt` by what this test says.
#[test]
fn what_is_archived_belongs_to_its_version() {
    with_stack(|| {
        let version = format!("{FINGERPRINT_VERSION}\n");
        let cases = cases().into_iter().map(|(path, text)| (format!("{path} {}\n", archived_of(&text)), path));
        let (lines, paths): (Vec<_>, Vec<_>) = cases.unzip();
        let is_known = |path: &String| DIGESTS.contains(&format!("{path} "));
        let known = lines.iter().zip(&paths).filter(|(_, path)| is_known(path)).map(|(line, _)| line.as_str());
        let found = version.clone() + &known.collect::<String>();
        assert!(found == DIGESTS, "raise FINGERPRINT_VERSION; digests.txt is then\n{version}{}", lines.concat());
    });
}

fn archived_of(code: &str) -> String {
    let archive = Arc::<Kept>::default();
    // Both codes of the case, and what is no Python, has no such class, or ends its lines otherwise.
    let [first, second] = [0, 1].map(|part| code.split(BORDER).nth(part).expect("a case has two codes"));
    let others = ["def f(:\n".to_owned(), first.replace("class Block", "class Other"), first.replace('\n', "\r\n")];
    let codes = [&[first.to_owned(), second.to_owned(), String::new()][..], &others].concat();
    asked(&blocks(&codes, &archive));
    let mut digest = Sha256::new();
    for (ArchiveKey(key), bytes) in archive.0.lock().expect("no panic while it is held").iter() {
        digest.update(key);
        digest.update(bytes);
    }
    digest.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}
