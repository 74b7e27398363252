//! What an export counts while it goes over the blocks.

use std::collections::{BTreeMap, BTreeSet};

use netquarry_core::record::{BlockRecord, ClosureRecord};

/// Counts over exported blocks.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub blocks: usize,
    /// Those whose code is there.
    pub with_code: usize,
    /// By the reason for which code is not.
    pub left_out: BTreeMap<String, usize>,
    /// By the highest level reached.
    pub levels: BTreeMap<u8, usize>,
    pub categories: BTreeMap<&'static str, usize>,
    /// By licence; `None` where it is not known.
    pub licenses: BTreeMap<Option<String>, usize>,
    /// The licences of code that is there.
    pub licenses_of_code: BTreeSet<String>,
    /// By the sources that code is from.
    pub sources: BTreeMap<String, SourceTally>,
}

/// What is exported of one source.
#[derive(Clone, Debug, Default)]
pub struct SourceTally {
    /// With anything of it.
    pub blocks: usize,
    /// The licences that its definitions state.
    pub licenses: BTreeSet<String>,
    pub version: Option<String>,
    pub commit: Option<String>,
}

impl Tally {
    /// Counts a block; `left_out` says why its code is not there.
    pub fn add(&mut self, record: &BlockRecord, left_out: Option<&str>) {
        self.blocks += 1;
        match left_out {
            None => {
                self.with_code += 1;
                self.licenses_of_code.extend(record.license.clone());
            }
            Some(reason) => *self.left_out.entry(reason.to_owned()).or_default() += 1,
        }
        *self.levels.entry(record.level).or_default() += 1;
        *self.categories.entry(record.category.name()).or_default() += 1;
        *self.licenses.entry(record.license.clone()).or_default() += 1;
        for source in sources(record) {
            self.sources.entry(source.to_owned()).or_default().blocks += 1;
        }
        for closed in &record.closure {
            let source = self.sources.entry(closed.source().to_owned()).or_default();
            source.licenses.extend(closed.license.clone());
        }
        let own = self.sources.entry(record.source.name.clone()).or_default();
        (own.version, own.commit) = (record.source.version.clone(), record.source.commit.clone());
    }
}

/// The sources that a block's code is from, its own among them.
pub fn sources(record: &BlockRecord) -> BTreeSet<&str> {
    record.closure.iter().map(ClosureRecord::source).chain([record.source.name.as_str()]).collect()
}
