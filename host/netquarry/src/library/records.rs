//! The records of a library: what is small of them in memory, and the rest where it is read one by one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use netquarry_core::record::{BlockRecord, ClosureRecord, DedupOutcome, EditRecord, ReplacedRecord, UnknownKeyRecord};
use netquarry_core::structure::Structure;
use serde::{Deserialize, Serialize};

use crate::problem::Problem;
use crate::spool::{Spool, Spooled};

/// What is large of a record: hundreds of kilobytes, where closures are large.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Details {
    pub unknown_keys: Vec<UnknownKeyRecord>,
    pub replaced: Vec<ReplacedRecord>,
    pub edits: Vec<EditRecord>,
    pub closure: Vec<ClosureRecord>,
}

impl Details {
    /// Takes them out of a record.
    pub fn taken(record: &mut BlockRecord) -> Self {
        Self {
            unknown_keys: std::mem::take(&mut record.unknown_keys),
            replaced: std::mem::take(&mut record.replaced),
            edits: std::mem::take(&mut record.edits),
            closure: std::mem::take(&mut record.closure),
        }
    }

    /// The sources of which the closure has something, sorted.
    pub fn sources(&self) -> Vec<String> {
        let sources = self.closure.iter().map(ClosureRecord::source);
        sources.collect::<BTreeSet<&str>>().into_iter().map(str::to_owned).collect()
    }
}

/// What a record is made whole with.
#[derive(Debug)]
pub struct Rest {
    /// The sources of which its closure has something, sorted.
    pub sources: Vec<String>,
    /// `None` where there are none, as of a block that could not be assembled.
    pub details: Option<Spooled<Details>>,
    /// What the instance is made of; `None` where there is none.
    pub structure: Option<Spooled<Structure>>,
}

/// The records of a library, in an order of their own.
#[derive(Debug)]
pub struct Records {
    spool: Arc<Spool>,
    small: Vec<BlockRecord>,
    /// One for each of them.
    rests: Vec<Rest>,
}

impl Records {
    /// None yet.
    pub fn new(spool: &Arc<Spool>) -> Self {
        Self { spool: Arc::clone(spool), small: Vec::new(), rests: Vec::new() }
    }

    /// Adds a record without details, which are in the spool already.
    pub fn push(&mut self, small: BlockRecord, rest: Rest) {
        self.small.push(small);
        self.rests.push(rest);
    }

    /// Adds a whole record.
    pub fn push_whole(&mut self, mut record: BlockRecord) -> Result<(), Problem> {
        let details = Details::taken(&mut record);
        let structure = record.structure.take();
        let rest = Rest {
            sources: details.sources(),
            details: Some(self.spool.put_value(&details)?),
            structure: structure.map(|structure| self.spool.put_value(&structure)).transpose()?,
        };
        self.push(record, rest);
        Ok(())
    }

    /// The records without their details: closure, edits, unknown keys, what was replaced, and the structure are empty.
    pub fn small(&self) -> &[BlockRecord] {
        &self.small
    }

    /// The same, to be changed.
    pub fn small_mut(&mut self) -> &mut [BlockRecord] {
        &mut self.small
    }

    /// The same, each with the sources of its closure.
    pub fn with_sources(&self) -> impl Iterator<Item = (&BlockRecord, &[String])> + Clone {
        self.small.iter().zip(self.rests.iter().map(|rest| &rest.sources[..]))
    }

    /// Whole records, each read when its turn comes.
    pub fn whole(&self) -> impl Iterator<Item = Result<BlockRecord, Problem>> {
        self.whole_where(|_| true)
    }

    /// The whole records of those of which `is_meant` says so without their details.
    pub fn whole_where(
        &self,
        is_meant: impl Fn(&BlockRecord) -> bool,
    ) -> impl Iterator<Item = Result<BlockRecord, Problem>> {
        let meant = self.small.iter().zip(&self.rests).filter(move |(small, _)| is_meant(small));
        meant.map(|(small, rest)| {
            let details = rest.details.map(|place| self.spool.value(place)).transpose()?;
            let Details { unknown_keys, replaced, edits, closure } = details.unwrap_or_default();
            let structure = rest.structure.map(|place| self.spool.value(place)).transpose()?;
            Ok(BlockRecord { unknown_keys, replaced, edits, closure, structure, ..small.clone() })
        })
    }

    /// These records with those of `new` in the place of theirs, sorted by block. Both are in one spool. That a block was
    /// kept holds for as long as its bundle is the same.
    #[must_use]
    pub fn replaced_by(self, new: Self) -> Self {
        let Self { spool, small, rests } = self;
        let present = small.into_iter().zip(rests).map(|(small, rest)| (small.block.clone(), (small, rest)));
        let mut by_block: BTreeMap<String, (BlockRecord, Rest)> = present.collect();
        for (mut small, rest) in new.small.into_iter().zip(new.rests) {
            let present = by_block.get(&small.block).filter(|(present, _)| present.sha256 == small.sha256);
            let decision = present.and_then(|(present, _)| present.dedup.as_ref());
            let kept = decision.filter(|decision| decision.decision == DedupOutcome::Kept);
            small.dedup = small.dedup.or_else(|| kept.cloned());
            by_block.insert(small.block.clone(), (small, rest));
        }
        let (small, rests) = by_block.into_values().unzip();
        Self { spool, small, rests }
    }
}

#[cfg(test)]
mod tests {
    use netquarry_core::record::DedupDecision;

    use super::*;

    #[test]
    fn whole_records_come_back_as_they_were_and_new_ones_stand_for_old_ones() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Arc::new(Spool::new(folder.path()).unwrap());
        let mut whole = crate::findings::tests::library();
        whole.sort_by(|left, right| left.block.cmp(&right.block));
        let closed = |definition: &str| ClosureRecord {
            definition: definition.to_owned(),
            path: "timm/layers/drop.py".to_owned(),
            lines: [1, 2],
            sha1: "0".repeat(40),
            swhid: String::new(),
            license: None,
            needed_by: None,
            reference: None,
            confidence: None,
        };
        whole[0].closure = vec![closed("vision:ops.f"), closed("timm:timm.layers.g"), closed("timm:timm.layers.h")];
        // With what a record has least of, which is where a form that skips fields would lose its place.
        let nothing = String::new;
        whole[0].unknown_keys = vec![UnknownKeyRecord { field: nothing(), key: nothing(), upstream: nothing() }];
        whole[0].replaced = vec![ReplacedRecord { what: nothing(), by: nothing(), why: nothing(), plugin: nothing() }];
        let reason = "of its own".to_owned().into();
        whole[0].edits =
            vec![EditRecord { upstream: nothing(), before: nothing(), lines: 0, after: nothing(), reason }];
        let mut records = Records::new(&spool);
        for record in &whole {
            records.push_whole(record.clone()).unwrap();
        }
        assert!(records.small().iter().all(|record| record.closure.is_empty()));
        assert_eq!(records.with_sources().next().expect("it is the first").1, ["timm", "vision"]);
        assert_eq!(records.whole().collect::<Result<Vec<_>, _>>().unwrap(), whole);

        let mut new = Records::new(&spool);
        let marked = whole.iter().filter(|record| record.tainted).count();
        whole[1].tainted = true;
        new.push_whole(whole[1].clone()).unwrap();
        let all = records.replaced_by(new);
        assert_eq!(all.whole().collect::<Result<Vec<_>, _>>().unwrap(), whole);
        assert_eq!(all.whole_where(|record| record.tainted).count(), marked + 1);

        let decision = DedupDecision {
            decision: DedupOutcome::Kept,
            reason: Some("rescue".to_owned()),
            survivor: None,
            like: None,
            similarity: None,
            plugin: None,
        };
        let is_kept_after = |decision: &DedupDecision, sha256: Option<String>| {
            let [mut present, mut new] = [Records::new(&spool), Records::new(&spool)];
            present.push_whole(BlockRecord { dedup: Some(decision.clone()), ..whole[0].clone() }).unwrap();
            new.push_whole(BlockRecord { dedup: None, sha256, ..whole[0].clone() }).unwrap();
            present.replaced_by(new).small()[0].dedup.as_ref() == Some(decision)
        };
        assert!(is_kept_after(&decision, whole[0].sha256.clone()));
        assert!(!is_kept_after(&decision, Some("of another bundle".to_owned())));
        let removed = DedupDecision { decision: DedupOutcome::Removed, ..decision };
        assert!(!is_kept_after(&removed, whole[0].sha256.clone()), "who asks for a duplicate gets it");
    }
}
