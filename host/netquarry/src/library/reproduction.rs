//! What a run was made of and what it made, as digests that are the same on every machine.

use std::collections::BTreeMap;
use std::path::Path;

use netquarry_core::record::BlockRecord;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::folder::{Files, SPECS, hexadecimal};
use super::inexact::JsonHash;
use crate::problem::Problem;

/// What a run was made of. Equal ones give equal [`Results`], whatever the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ingredients {
    /// Of the program's file; a build for another machine has another.
    pub host: String,
    /// Of the corpus and of the contents of its sources.
    pub corpus: String,
    /// What found, made and validated the blocks: rules of discovery, shims, and all options but those of `curation`.
    pub blocks: Way,
    /// What decided which of them are kept, and described those: strategies and emitters.
    pub curation: Way,
}

/// In which way a part of the work was done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Way {
    /// Of each plugin's component, by its name.
    pub components: BTreeMap<String, String>,
    /// Of all options on which the outputs of this part depend.
    pub configuration: String,
}

/// What a run made, without what depends on a machine's arithmetic or on time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Results {
    /// Of all that follows.
    pub sha256: String,
    /// The definitions of each block with where they are from, the names that are unresolved, and what was left out and why.
    pub closures: String,
    /// The bytes of each bundle.
    pub bundles: String,
    /// What became of each block that was compared with others. Whether a block is compared depends on its verdict.
    pub decisions: String,
    /// Every file below `specs/`, with its path: the bytes, but of `.json` and `.jsonl` files without the numbers that are no
    /// integers ([`JsonHash`]). Specs tell of verdicts, whose levels and classes count. Absent from what earlier versions
    /// wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub specs: Option<String>,
}

impl Results {
    /// Those of the blocks with these records, which come sorted, and of the files of their library.
    ///
    /// # Errors
    /// A record or a file cannot be read.
    pub fn of(records: impl Iterator<Item = Result<BlockRecord, Problem>>, files: &Files<'_>) -> Result<Self, Problem> {
        let [mut closures, mut bundles, mut decisions] = [(); 3].map(|()| Sha256::new());
        for record in records {
            let record = record?;
            let block = record.block.as_str();
            let closure =
                (block, &record.closure, &record.edits, &record.replaced, &record.unresolved, &record.unknown_keys);
            add(&mut closures, &closure);
            add(&mut bundles, &(block, &record.sha256, &record.requirements));
            add(&mut decisions, &(block, &record.dedup));
        }
        let [closures, bundles, decisions] = [closures, bundles, decisions].map(|hash| hexadecimal(&hash.finalize()));
        let specs = specs(files)?;
        let sha256 = digest(&(&closures, &bundles, &decisions, &specs));
        Ok(Self { sha256, closures, bundles, decisions, specs: Some(specs) })
    }
}

/// One digest of all specs, in the order of their paths.
fn specs(files: &Files<'_>) -> Result<String, Problem> {
    let mut specs = Sha256::new();
    for (path, content) in files.range(SPECS.to_owned()..).take_while(|(path, _)| path.starts_with(SPECS)) {
        let unreadable = |error| Problem::io("read back", Path::new(path), error);
        let digest: [u8; 32] = if path.ends_with(".json") || path.ends_with(".jsonl") {
            let mut hash = JsonHash::default();
            content.write(&mut hash).map_err(unreadable)?;
            hash.finish()
        } else {
            let mut hash = Sha256::new();
            content.write(&mut hash).map_err(unreadable)?;
            hash.finalize().into()
        };
        add(&mut specs, &(path, hexadecimal(&digest)));
    }
    Ok(hexadecimal(&specs.finalize()))
}

/// Hashes the value as JSON, a line of its own.
fn add(hash: &mut Sha256, value: &impl Serialize) {
    hash.update(serde_json::to_vec(value).expect("what is recorded has string keys"));
    hash.update(b"\n");
}

/// SHA-256 of a value as JSON.
pub fn digest(value: &impl Serialize) -> String {
    let mut hash = Sha256::new();
    add(&mut hash, value);
    hexadecimal(&hash.finalize())
}
