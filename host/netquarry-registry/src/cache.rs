//! What was fetched before: components and golden packs under their digests, indexes under the digest of their URL.
//!
//! Files under their digests are not trusted: what is read has its digest checked. An index has none, and is read without a
//! network as it lies here; who can change it can offer other versions, though not change what is locked, nor sign.

use std::io;
use std::path::{Path, PathBuf};

use reqwest::Url;
use serde::{Deserialize, Serialize};

use crate::digest::{Pin, sha256};
use crate::files::{read_bounded, write_whole};

#[derive(Clone, Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
}

/// What kind of file a digest is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Component,
    GoldenPack,
}

/// What the cache has under a digest.
pub(crate) enum Cached {
    Nothing,
    Whole(Vec<u8>),
    Damaged { path: PathBuf, why: String },
}

/// Beside a cached index: the server's name for that content.
#[derive(Serialize, Deserialize)]
struct EntityTag {
    etag: String,
    /// Of the index that was sent with it. The two files are not written in one step.
    sha256: String,
}

impl Cache {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf() }
    }

    pub(crate) fn find(&self, content: Content, pin: &Pin) -> Cached {
        let path = self.path(content, pin);
        let damaged = |why: String| Cached::Damaged { path: path.clone(), why };
        match read_bounded(&path, pin.size) {
            Ok(bytes) => match pin.check(&bytes) {
                Ok(()) => Cached::Whole(bytes),
                Err(mismatch) => damaged(mismatch.to_string()),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Cached::Nothing,
            Err(error) => damaged(error.to_string()),
        }
    }

    /// Keeps what fits the pin.
    pub(crate) fn keep(&self, content: Content, pin: &Pin, bytes: &[u8]) -> Result<(), (PathBuf, io::Error)> {
        let path = self.path(content, pin);
        write_whole(&path, bytes).map_err(|error| (path, error))
    }

    pub(crate) fn path(&self, content: Content, pin: &Pin) -> PathBuf {
        match content {
            Content::Component => self.folder.join("components").join(format!("{}.wasm", pin.sha256)),
            Content::GoldenPack => self.folder.join("golden").join(format!("{}.json", pin.sha256)),
        }
    }

    /// The text of the index that was last read from `url`.
    pub(crate) fn index(&self, url: &Url, limit: u64) -> Option<String> {
        String::from_utf8(read_bounded(&self.index_path(url), limit).ok()?).ok()
    }

    /// The entity tag under which `text` came from `url`.
    pub(crate) fn entity_tag(&self, url: &Url, text: &str) -> Option<String> {
        let tag = read_bounded(&self.tag_path(url), 1 << 16).ok()?;
        let tag: EntityTag = serde_json::from_slice(&tag).ok()?;
        (tag.sha256 == sha256(text.as_bytes())).then_some(tag.etag)
    }

    pub(crate) fn keep_index(&self, url: &Url, text: &str, etag: Option<String>) -> Result<(), (PathBuf, io::Error)> {
        let path = self.index_path(url);
        write_whole(&path, text.as_bytes()).map_err(|error| (path, error))?;
        let Some(etag) = etag else { return Ok(()) };
        let tag = EntityTag { etag, sha256: sha256(text.as_bytes()) };
        let tag = serde_json::to_vec(&tag).expect("plain JSON");
        let path = self.tag_path(url);
        write_whole(&path, &tag).map_err(|error| (path, error))
    }

    pub(crate) fn index_path(&self, url: &Url) -> PathBuf {
        self.folder.join("registries").join(format!("{}.json", sha256(url.as_str().as_bytes())))
    }

    fn tag_path(&self, url: &Url) -> PathBuf {
        self.folder.join("registries").join(format!("{}.etag.json", sha256(url.as_str().as_bytes())))
    }
}
