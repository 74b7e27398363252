//! The files of a small repository, indexed as those of a corpus are.

use std::collections::BTreeMap;
use std::sync::Arc;

use netquarry_core::index::{Index, IndexedSource};
use netquarry_core::source::{ContentDigest, Source, SourceFile};
use netquarry_core::{module, syntax};

use crate::asked::{Sources, Texts};
use crate::source_files::SourceFiles;

/// Texts of files by their paths relative to the repository's root, with forward slashes.
pub(super) type Files = BTreeMap<String, String>;

/// The name of the one source of a case.
pub(super) const SOURCE: &str = "case";

/// The one source of a case: what ends in `.py` is indexed, and all of it can be read by who may.
pub(super) fn sources(files: &Files) -> Sources {
    let mut texts: Vec<Arc<str>> = Vec::new();
    let indexed = |(path, text): (&String, &String)| {
        texts.push(text.as_str().into());
        let file = SourceFile {
            path: path.clone(),
            module: module::name(None, path),
            digest: ContentDigest::of(text.as_bytes()),
            bytes: u64::try_from(text.len()).expect("lengths fit into 64 bits"),
        };
        (file, Arc::new(syntax::facts(text.as_bytes())))
    };
    let modules = files.iter().filter(|(path, _)| path.ends_with(".py")).map(indexed).collect();
    let source = IndexedSource { source: Source::local(SOURCE), files: modules };
    let index = Arc::new(Index::build(vec![source], &[]));
    // Files of one source are numbered as they come.
    let texts: Texts = Arc::new(move |file| Arc::clone(&texts[file.0 as usize]));
    Sources { index, texts, files: Arc::new(CaseFiles(files.clone())) }
}

struct CaseFiles(Files);

impl SourceFiles for CaseFiles {
    fn paths(&self, source: &str) -> Vec<String> {
        self.0.keys().filter(|_| source == SOURCE).cloned().collect()
    }

    fn read(&self, source: &str, path: &str) -> Result<Option<Vec<u8>>, String> {
        Ok(self.0.get(path).filter(|_| source == SOURCE).map(|text| text.clone().into_bytes()))
    }
}
