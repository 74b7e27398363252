//! The decoded text of the files of an index, read when it is first asked for and kept.

use std::sync::{Arc, OnceLock};

use netquarry_core::index::{FileId, Index};
use netquarry_core::{license, swhid, syntax};
use netquarry_corpus::snapshot::Snapshot;

use super::fetch::FetchedSource;

/// A file's text and what is computed from its bytes.
#[derive(Clone, Debug)]
pub struct FileText {
    pub text: Arc<str>,
    /// `swh:1:cnt:...`
    pub swhid: String,
    /// The licence that its head states or, where it states none, that of its source.
    pub license: Option<String>,
}

pub struct Texts {
    index: Arc<Index>,
    /// In the order of the index's sources.
    snapshots: Vec<Arc<Snapshot>>,
    files: Vec<OnceLock<Result<FileText, String>>>,
}

impl Texts {
    /// `sources` are those that the index was built from, in the same order.
    pub fn new(index: Arc<Index>, sources: &[FetchedSource]) -> Self {
        let files = index.files().map(|_| OnceLock::new()).collect();
        Self { index, snapshots: sources.iter().map(|source| Arc::clone(&source.snapshot)).collect(), files }
    }

    /// The text from which the file's facts were read.
    ///
    /// # Errors
    /// In words, where the file cannot be read any more or is another one now.
    pub fn get(&self, file: FileId) -> Result<&FileText, String> {
        self.files[file.0 as usize].get_or_init(|| self.read(file)).as_ref().map_err(Clone::clone)
    }

    fn read(&self, file: FileId) -> Result<FileText, String> {
        let indexed = self.index.file(file);
        let bytes = self.snapshots[indexed.source.0 as usize].read(&indexed.file).map_err(|error| error.to_string())?;
        let text = syntax::decode(&bytes).map_err(|diagnostic| diagnostic.message)?;
        let source_license = || self.index.source(indexed.source).license.clone();
        let license = license::of_header(&text).or_else(source_license);
        Ok(FileText { text: Arc::from(&*text), swhid: swhid::of_content(&bytes), license })
    }
}
