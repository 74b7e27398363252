//! The files of a small repository, indexed as those of a corpus are.

use std::collections::BTreeMap;
use std::sync::Arc;

use netquarry_core::index::{Index, IndexedSource};
use netquarry_core::source::{ContentDigest, Source, SourceFile, SourceKind};
use netquarry_core::{module, syntax};

use crate::asked::Texts;

/// Python files by their paths relative to the repository's root, with forward slashes.
pub(super) type Files = BTreeMap<String, String>;

/// The name of the one source of a case.
pub(super) const SOURCE: &str = "case";

pub(super) struct Repository {
    pub(super) index: Arc<Index>,
    pub(super) texts: Texts,
}

impl Repository {
    pub(super) fn of(files: &Files) -> Self {
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
        let files = files.iter().map(indexed).collect();
        let source = Source {
            name: SOURCE.to_owned(),
            kind: SourceKind::Local,
            version: None,
            commit: None,
            tree: None,
            url: None,
            license: None,
            distribution: None,
        };
        let index = Arc::new(Index::build(vec![IndexedSource { source, files }], &[]));
        // Files of one source are numbered as they come.
        let texts: Texts = Arc::new(move |file| Arc::clone(&texts[file.0 as usize]));
        Self { index, texts }
    }
}
