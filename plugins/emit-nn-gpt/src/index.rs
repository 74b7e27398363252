//! The files about all blocks: `spec.json`, and the manifest of the chat records.

use std::collections::{BTreeMap, BTreeSet};

use netquarry_sdk::emit::{Emitted, File};
use serde::{Deserialize, Serialize};

use crate::Configuration;
use crate::chat::{self, Infill, Outcome, Written};
use crate::design::Candidate;
use crate::identity::Split;
use crate::reason::Reason;

/// What `emit_index` gets back of a block.
#[derive(Deserialize, Serialize)]
pub(crate) struct Entry {
    pub(crate) candidate: Candidate,
    /// An SPDX expression.
    pub(crate) license: Option<String>,
    pub(crate) chat: Outcome,
}

/// The block of an entry, by its identity.
struct Described<'a> {
    block: &'a str,
    entry: Entry,
}

pub(crate) fn files(configuration: &Configuration, blocks: &[Emitted]) -> Result<Vec<File>, String> {
    let entries: Vec<Described<'_>> = blocks
        .iter()
        .filter_map(|emitted| Some((emitted, emitted.entry.as_deref()?)))
        .map(|(emitted, entry)| match serde_json::from_str(entry) {
            Ok(entry) => Ok(Described { block: &emitted.id, entry }),
            Err(error) => Err(format!("the entry of {}: {error}", emitted.id)),
        })
        .collect::<Result<_, _>>()?;
    let candidates = Specification { candidates: entries.iter().map(|block| &block.entry.candidate).collect() };
    let mut files = vec![
        json_file("spec.json".to_owned(), &candidates)?,
        json_file(format!("{}/manifest.json", chat::FOLDER), &Manifest::of(configuration, &entries))?,
    ];
    // A reader opens all three, so that one without records is there, too.
    files.extend(Split::ALL.map(|split| File::appended(chat::path(split), Vec::new())));
    Ok(files)
}

fn json_file(path: String, value: &impl Serialize) -> Result<File, String> {
    let mut content = serde_json::to_vec_pretty(value).map_err(|error| format!("{path}: {error}"))?;
    content.push(b'\n');
    Ok(File::whole(path, content))
}

#[derive(Serialize)]
struct Specification<'a> {
    candidates: Vec<&'a Candidate>,
}

/// `summary` is all that ChatPrep writes; the rest says more of the same, and what is not there.
#[derive(Serialize)]
struct Manifest<'a> {
    summary: Summary,
    splits: BTreeMap<&'static str, SplitSummary<'a>>,
    left_out: LeftOut,
    /// How many records are of blocks with this SPDX expression.
    licenses: BTreeMap<&'a str, usize>,
    config: &'a Configuration,
    /// The block of each record.
    blocks: BTreeMap<&'a str, &'a str>,
}

#[derive(Serialize)]
struct Summary {
    counts: BTreeMap<&'static str, usize>,
    total_examples: usize,
    unique_sources: usize,
    overlap: Overlap,
}

/// How many sources two splits share.
#[derive(Serialize)]
struct Overlap {
    train_dev: usize,
    train_test: usize,
    dev_test: usize,
}

#[derive(Default, Serialize)]
struct SplitSummary<'a> {
    count: usize,
    unique_sources: usize,
    source_paths: BTreeSet<&'a str>,
    /// How many records are of this family.
    family_distribution: BTreeMap<&'a str, usize>,
}

#[derive(Default, Serialize)]
struct LeftOut {
    /// Blocks without any record.
    blocks: BTreeMap<Reason, usize>,
    /// Blocks that have the other record only.
    infill: BTreeMap<Reason, usize>,
}

impl<'a> Manifest<'a> {
    fn of(configuration: &'a Configuration, entries: &'a [Described<'_>]) -> Self {
        let mut splits: BTreeMap<_, SplitSummary<'_>> =
            Split::ALL.map(|split| (split.name(), SplitSummary::default())).into();
        let mut left_out = LeftOut::default();
        let mut licenses = BTreeMap::new();
        let mut blocks = BTreeMap::new();
        for Described { block, entry } in entries {
            match &entry.chat {
                Outcome::LeftOut(reason) => *left_out.blocks.entry(*reason).or_default() += 1,
                Outcome::Written(written) => {
                    let records = records(written);
                    splits.entry(written.split.name()).or_default().add(written, records.len());
                    let license = entry.license.as_deref().unwrap_or("NOASSERTION");
                    *licenses.entry(license).or_default() += records.len();
                    blocks.extend(records.into_iter().map(|record| (record, *block)));
                    if let Infill::LeftOut(reason) = written.infill {
                        *left_out.infill.entry(reason).or_default() += 1;
                    }
                }
            }
        }
        Self { summary: Summary::of(&splits), splits, left_out, licenses, config: configuration, blocks }
    }
}

impl<'a> SplitSummary<'a> {
    fn add(&mut self, written: &'a Written, records: usize) {
        self.count += records;
        self.source_paths.insert(&written.source_path);
        self.unique_sources = self.source_paths.len();
        *self.family_distribution.entry(&written.family).or_default() += records;
    }
}

impl Summary {
    fn of(splits: &BTreeMap<&'static str, SplitSummary<'_>>) -> Self {
        let sources = |split: Split| &splits[split.name()].source_paths;
        let shared = |first, second| sources(first).intersection(sources(second)).count();
        let all: BTreeSet<&str> = Split::ALL.into_iter().flat_map(sources).copied().collect();
        Self {
            counts: splits.iter().map(|(name, split)| (*name, split.count)).collect(),
            total_examples: splits.values().map(|split| split.count).sum(),
            unique_sources: all.len(),
            overlap: Overlap {
                train_dev: shared(Split::Train, Split::Dev),
                train_test: shared(Split::Train, Split::Test),
                dev_test: shared(Split::Dev, Split::Test),
            },
        }
    }
}

/// The identities of the records of a block.
fn records(written: &Written) -> Vec<&str> {
    let mut records = vec![written.full.as_str()];
    if let Infill::Written(id) = &written.infill {
        records.push(id);
    }
    records
}
