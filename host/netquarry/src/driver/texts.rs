//! The decoded text of the files of an index, read when it is first asked for and kept; and any file of its sources.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use netquarry_core::index::{FileId, Index};
use netquarry_core::license::copyright;
use netquarry_core::swhid::CoreSwhid;
use netquarry_core::{license, syntax};
use netquarry_corpus::snapshot::{ReadError, Snapshot};
use netquarry_plugin::SourceFiles;

use super::fetch::FetchedSource;

/// A file's text and what is computed from its bytes.
#[derive(Clone, Debug)]
pub struct FileText {
    pub text: Arc<str>,
    /// Of its bytes.
    pub swhid: CoreSwhid,
    /// The licence that its head states or, where it states none, that of its source; an SPDX expression.
    pub license: Option<String>,
    /// The statements of copyright in its head.
    pub copyright: BTreeSet<String>,
}

pub struct Texts {
    index: Arc<Index>,
    /// In the order of the index's sources.
    snapshots: Vec<Arc<Snapshot>>,
    files: Vec<OnceLock<Result<FileText, String>>>,
    /// What notices in heads of files state: thousands of files have the same, and to compare one with all licences takes
    /// milliseconds.
    notices: Mutex<HashMap<String, Option<String>>>,
}

impl Texts {
    /// `sources` are those that the index was built from, in the same order.
    pub fn new(index: Arc<Index>, sources: &[FetchedSource]) -> Self {
        let files = index.files().map(|_| OnceLock::new()).collect();
        let snapshots = sources.iter().map(|source| Arc::clone(&source.snapshot)).collect();
        Self { index, snapshots, files, notices: Mutex::default() }
    }

    /// The text from which the file's facts were read.
    ///
    /// # Errors
    /// In words, where the file cannot be read any more or is another one now.
    pub fn get(&self, file: FileId) -> Result<&FileText, String> {
        self.files[file.0 as usize].get_or_init(|| self.read(file)).as_ref().map_err(Clone::clone)
    }

    fn snapshot(&self, source: &str) -> Option<&Snapshot> {
        self.snapshots.iter().map(|snapshot| &**snapshot).find(|snapshot| snapshot.source.name == source)
    }

    fn read(&self, file: FileId) -> Result<FileText, String> {
        let indexed = self.index.file(file);
        let bytes = self.snapshots[indexed.source.0 as usize].read(&indexed.file).map_err(|error| error.to_string())?;
        let text = syntax::decode(&bytes).map_err(|diagnostic| diagnostic.message)?;
        let source_license = || self.index.source(indexed.source).license.as_deref().map(license::stated);
        Ok(FileText {
            swhid: CoreSwhid::of_content(&bytes),
            license: license::of_header_by(&text, |notice| self.of_notice(notice)).or_else(source_license),
            copyright: copyright::of_header(&text),
            text: Arc::from(&*text),
        })
    }

    /// Nobody holds the lock while a notice is compared: two threads may do the same work, and come to the same answer.
    fn of_notice(&self, notice: &str) -> Option<String> {
        let notices = || self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = notices().get(notice) {
            return known.clone();
        }
        let license = license::of_notice(notice);
        notices().insert(notice.to_owned(), license.clone());
        license
    }
}

impl SourceFiles for Texts {
    fn paths(&self, source: &str) -> Vec<String> {
        self.snapshot(source).into_iter().flat_map(Snapshot::paths).map(str::to_owned).collect()
    }

    fn read(&self, source: &str, path: &str) -> Result<Option<Vec<u8>>, String> {
        match self.snapshot(source).map(|snapshot| snapshot.read_path(path)) {
            None | Some(Err(ReadError::NoSuchFile { .. })) => Ok(None),
            Some(Ok(bytes)) => Ok(Some(bytes)),
            Some(Err(error)) => Err(error.to_string()),
        }
    }
}
