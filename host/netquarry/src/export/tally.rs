//! What an export counts while it goes over the blocks.

use std::collections::{BTreeMap, BTreeSet};

use netquarry_core::record::{BlockRecord, ClosureRecord, SourceRecord};

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
    /// The licences of code that is there; `None` where one is not known.
    pub licenses_of_code: BTreeSet<Option<String>>,
    /// By the sources that code is from.
    pub sources: BTreeMap<String, SourceTally>,
}

/// What is exported of one source.
#[derive(Clone, Debug, Default)]
pub struct SourceTally {
    /// With anything of it.
    pub blocks: usize,
    /// The licences that its definitions state; `None` where one is not known.
    pub licenses: BTreeSet<Option<String>>,
    /// What the last record says of it; `None` where all records are too old to.
    pub record: Option<SourceRecord>,
}

impl SourceTally {
    /// Its version, or else its commit.
    pub fn version(&self) -> Option<&str> {
        let record = self.record.as_ref()?;
        record.version.as_deref().or(record.commit.as_deref())
    }
}

impl Tally {
    /// Counts a block; `left_out` says why its code is not there.
    pub fn add(&mut self, record: &BlockRecord, left_out: Option<&str>) {
        self.add_record(record);
        match left_out {
            None => {
                self.with_code += 1;
                self.licenses_of_code.insert(record.license.clone());
            }
            Some(reason) => *self.left_out.entry(reason.to_owned()).or_default() += 1,
        }
    }

    /// Counts a block of an export that has no code of any.
    pub fn add_record(&mut self, record: &BlockRecord) {
        self.blocks += 1;
        *self.levels.entry(record.level).or_default() += 1;
        *self.categories.entry(record.category.name()).or_default() += 1;
        *self.licenses.entry(record.license.clone()).or_default() += 1;
        for source in sources(record) {
            self.sources.entry(source.to_owned()).or_default().blocks += 1;
        }
        for closed in &record.closure {
            let source = self.sources.entry(closed.source().to_owned()).or_default();
            source.licenses.insert(closed.license.clone());
        }
        for source in &record.sources {
            self.sources.entry(source.name.clone()).or_default().record = Some(source.clone());
        }
    }
}

/// The sources that a block's code is from, its own among them.
pub fn sources(record: &BlockRecord) -> BTreeSet<&str> {
    record.closure.iter().map(ClosureRecord::source).chain([record.source.name.as_str()]).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use netquarry_core::provenance;
    use netquarry_core::record::Category;
    use netquarry_core::source::{Source, SourceKind};

    use super::*;
    use crate::findings;

    /// What a record says of a source of this kind. Its distribution is not called as it is itself.
    pub(crate) fn source(name: &str, kind: SourceKind, url: &str) -> SourceRecord {
        let source = Source {
            name: name.to_owned(),
            kind,
            version: (kind != SourceKind::Local).then(|| "1.2".to_owned()),
            commit: (kind == SourceKind::Git).then(|| "c".repeat(40)),
            tree: None,
            url: Some(url.to_owned()),
            license: Some("MIT".to_owned()),
            distribution: Some(format!("{name}-full")),
        };
        provenance::source_record(&source, Vec::new(), Vec::new())
    }

    /// A block of a distribution, with a helper of a folder and two of a repository, one of them under an unknown licence.
    pub(crate) fn record() -> BlockRecord {
        let mut record = findings::tests::record("vision:vision.ops.Net", Category::Utility, 5, 57);
        record.license = None;
        record.closure = [
            ("vision:vision.ops.Net", Some("BSD-3-Clause")),
            ("mine:mine.layers.scale", Some("MIT")),
            ("yolov5:utils.drop", Some("AGPL-3.0-only")),
            ("yolov5:utils.shift", None),
        ]
        .map(|(definition, license)| closed(definition, license))
        .to_vec();
        record.sources = vec![
            source("mine", SourceKind::Local, "/home/me/mine"),
            source("vision", SourceKind::Pypi, "https://pypi.org/simple/vision/"),
            source("yolov5", SourceKind::Git, "https://github.com/Ultralytics/yolov5.git"),
        ];
        record
    }

    fn closed(definition: &str, license: Option<&str>) -> ClosureRecord {
        ClosureRecord {
            definition: definition.to_owned(),
            path: "layers.py".to_owned(),
            lines: [1, 2],
            sha1: "0".repeat(40),
            swhid: String::new(),
            license: license.map(str::to_owned),
            needed_by: None,
            reference: None,
            confidence: None,
        }
    }

    #[test]
    fn a_licence_that_is_not_known_counts_like_another() {
        let mut tally = Tally::default();
        tally.add(&record(), None);
        assert_eq!(tally.licenses_of_code, [None].into());
        assert_eq!(tally.sources["yolov5"].licenses, [None, Some("AGPL-3.0-only".to_owned())].into());
    }

    #[test]
    fn a_record_alone_is_no_code() {
        let mut tally = Tally::default();
        tally.add_record(&record());
        assert_eq!((tally.blocks, tally.with_code, tally.left_out.len(), tally.licenses_of_code.len()), (1, 0, 0, 0));
    }

    #[test]
    fn sources_of_helpers_are_known_like_those_of_blocks() {
        let mut tally = Tally::default();
        tally.add_record(&record());
        let versions: Vec<_> = tally.sources.iter().map(|(name, source)| (name.as_str(), source.version())).collect();
        assert_eq!(versions, [("mine", None), ("vision", Some("1.2")), ("yolov5", Some("1.2"))]);
    }
}
