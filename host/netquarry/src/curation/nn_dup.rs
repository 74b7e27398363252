//! The files of NN-DUP 2.2.4 (`ab/dup`): what its ChatPrep and NN-GPT read.
//!
//! Equal decisions give equal `kept_records.json`, `splits.json` and `accepted_code/`. In `tombstones.json` the order of the
//! entries is another one; a lexical duplicate names the most similar model that stayed at that point, where NN-DUP names
//! whichever its set yields first; and a structural one names a model that the stage kept, where NN-DUP's may go later in it.

use std::collections::HashMap;

use netquarry_core::dedup::{BlockSet as _, BlockSummary};
use serde::{Serialize, Serializer};

use super::{Curation, number, python_json};
use crate::driver::curate::{Curated, Removed};
use crate::library::folder::{Content, Files, hexadecimal};
use crate::models::file_stem;
use crate::spool::Spool;

/// NN-DUP's words for the reasons of NetQuarry's strategies.
const REASONS: [(&str, &str); 4] = [
    ("exact", "exact_duplicate"),
    ("lexical", "lexical_near_duplicate"),
    ("structural_equal", "structural_duplicate_exact"),
    ("structural_near", "structural_duplicate_near"),
];

#[derive(Serialize)]
struct KeptRecord {
    id: String,
    name: String,
    accuracy: Option<f64>,
    family_tag: &'static str,
}

#[derive(Serialize)]
struct Tombstone<'a> {
    reason: &'a str,
    canonical: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    jaccard: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    family_tag: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    struct_jaccard: Option<f64>,
    name: String,
    canonical_name: String,
}

/// An object whose members keep their order.
struct Object<V>(Vec<(String, V)>);

impl<V: Serialize> Serialize for Object<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

/// The models that stay in NN-DUP's order: each where the first one of its code came, and behind them those that were
/// brought back.
pub(super) fn in_order(curated: &Curated) -> Vec<usize> {
    let first = first_of_code(curated);
    let mut kept = curated.kept();
    let came = kept.len() - curated.restored().len();
    kept[..came].sort_by_key(|place| first[*place]);
    kept
}

/// For each model the place of the first one that has its code.
fn first_of_code(curated: &Curated) -> Vec<usize> {
    let mut first = HashMap::new();
    let digests = (0..curated.blocks.len()).map(|block| curated.blocks.summary(block).sha256);
    digests.enumerate().map(|(place, digest)| *first.entry(digest).or_insert(place)).collect()
}

/// The digest of the code, and the row.
pub(super) fn id(curation: &Curation<'_>, place: usize) -> String {
    format!("{}_{}", hexadecimal(&curation.summary(place).sha256), curation.models.head(place).number)
}

pub(super) fn files<'f>(curation: &Curation<'_>, spool: &'f Spool) -> Files<'f> {
    let mut files = Files::new();
    for place in &curation.kept {
        let BlockSummary { name, sha256, .. } = curation.summary(*place);
        let stem = format!("accepted_code/{}__{}", file_stem(&name), &hexadecimal(&sha256)[..12]);
        // Digests that begin alike need names that do not.
        let name = Some(format!("{stem}.py")).filter(|name| !files.contains_key(name));
        let name = name.unwrap_or_else(|| format!("{stem}_{}.py", files.len()));
        files.insert(name, Content::Spooled { spool, bytes: curation.file(*place) });
    }
    let mut add = |name: &str, bytes: Vec<u8>| files.insert(name.to_owned(), Content::Bytes(bytes));
    add("kept_records.json", python_json::to_vec(&kept_records(curation)));
    add("tombstones.json", python_json::to_vec(&tombstones(curation)));
    add("splits.json", python_json::to_vec(&splits(curation)));
    files
}

fn kept_records(curation: &Curation<'_>) -> Vec<KeptRecord> {
    let record = |place: &usize| {
        let BlockSummary { name, accuracy, .. } = curation.summary(*place);
        KeptRecord { id: id(curation, *place), name, accuracy, family_tag: family_tag(curation, *place) }
    };
    let mut records: Vec<KeptRecord> = curation.kept.iter().map(record).collect();
    records.sort_by(|first, second| first.id.cmp(&second.id));
    records
}

/// By reason, and then by row. What was brought back stays in them.
fn tombstones<'a>(curation: &Curation<'a>) -> Object<Tombstone<'a>> {
    let first = first_of_code(curation.curated);
    let kind = |reason: &str| REASONS.iter().take(2).position(|(ours, _)| *ours == reason).unwrap_or(2);
    let mut removed: Vec<(usize, &Removed)> = curation.curated.removed().collect();
    removed.sort_by_key(|(place, removed)| (kind(&removed.reason), first[*place], *place));
    Object(
        removed
            .into_iter()
            .map(|(place, removed)| (id(curation, place), tombstone(curation, place, removed)))
            .collect(),
    )
}

fn tombstone<'a>(curation: &Curation<'a>, place: usize, removed: &'a Removed) -> Tombstone<'a> {
    let reason = &*removed.reason;
    let similarity_as = |wanted: &str| removed.similarity.filter(|_| reason == wanted).map(rounded);
    Tombstone {
        reason: REASONS.iter().find(|(ours, _)| *ours == reason).map_or(reason, |(_, theirs)| theirs),
        canonical: id(curation, removed.survivor),
        jaccard: similarity_as("lexical"),
        family_tag: (reason == "lexical").then(|| family_tag(curation, place)),
        struct_jaccard: similarity_as("structural_near"),
        name: curation.summary(place).name,
        canonical_name: curation.summary(removed.survivor).name,
    }
}

fn splits(curation: &Curation<'_>) -> Object<&'static str> {
    let order = super::splits::shuffled_order(curation.families.len());
    let places = order.into_iter().flat_map(|family| &curation.families[family]);
    Object(places.map(|place| (id(curation, *place), curation.splits[place].name())).collect())
}

fn family_tag(curation: &Curation<'_>, place: usize) -> &'static str {
    model_family::family(&curation.summary(place).name, || curation.curated.blocks.code(number(place)))
}

/// To three decimals.
fn rounded(similarity: f64) -> f64 {
    format!("{similarity:.3}").parse().expect("it is a number")
}
