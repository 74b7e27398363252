//! Where the bytes of a snapshot lie.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use netquarry_core::source::ContentDigest;

use crate::git::ObjectDatabase;
use crate::inventory::{Entry, Place, Role};
use crate::snapshot::Placed;

/// The name of the packed file in a cache entry.
pub(crate) const PACK: &str = "contents";
/// The name of the description of a cache entry; an entry without it counts as torn.
pub(crate) const DESCRIPTION: &str = "snapshot.json";

#[derive(Debug)]
pub(crate) enum Contents {
    /// A cache entry that holds all files back to back in one. Names from an archive so never become names of files.
    Packed(PathBuf),
    Git(Box<ObjectDatabase>),
    Folder(PathBuf),
}

impl Contents {
    pub(crate) fn read(&self, path: &str, placed: &Placed) -> io::Result<Vec<u8>> {
        match (self, &placed.place) {
            (Self::Packed(entry), Place::Packed(offset)) => read_at(&entry.join(PACK), *offset, placed.bytes),
            (Self::Git(objects), Place::Blob(name)) => objects.read(name).map_err(io::Error::other),
            (Self::Folder(folder), Place::Folder) => std::fs::read(folder.join(path)),
            (contents, place) => unreachable!("{place:?} is no place in {contents:?}"),
        }
    }

    /// The name of the root tree of a commit of git's; `None` for everything else.
    pub(crate) fn tree(&self, commit: &str) -> Option<String> {
        match self {
            Self::Git(objects) => objects.tree(commit),
            Self::Packed(_) | Self::Folder(_) => None,
        }
    }

    /// Makes the next fetch get the entry anew. A folder is the user's and is left as it is.
    pub(crate) fn mark_damaged(&self) {
        let description = match self {
            Self::Packed(entry) => entry.join(DESCRIPTION),
            Self::Git(objects) => objects.description().to_path_buf(),
            Self::Folder(_) => return,
        };
        if let Err(error) = std::fs::remove_file(&description) {
            tracing::warn!("cannot mark {} as damaged: {error}", description.display());
        }
    }
}

fn read_at(pack: &Path, offset: u64, bytes: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(pack)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut content = Vec::with_capacity(usize::try_from(bytes).expect("bounded by the limits of a snapshot"));
    file.take(bytes).read_to_end(&mut content)?;
    Ok(content)
}

/// Writes the packed file of a cache entry.
#[derive(Debug)]
pub(crate) struct PackWriter {
    file: BufWriter<File>,
    offset: u64,
}

impl PackWriter {
    pub(crate) fn create(entry: &Path) -> io::Result<Self> {
        Ok(Self { file: BufWriter::with_capacity(1 << 16, File::create_new(entry.join(PACK))?), offset: 0 })
    }

    pub(crate) fn add(&mut self, path: String, role: Role, content: &[u8]) -> io::Result<Entry> {
        self.file.write_all(content)?;
        let place = Place::Packed(self.offset);
        let bytes = content.len() as u64;
        self.offset += bytes;
        Ok(Entry { path, role, digest: ContentDigest::of(content), bytes, place })
    }

    /// Ends the file and makes sure that it is on disk before anything refers to it.
    pub(crate) fn finish(self) -> io::Result<u64> {
        self.file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        Ok(self.offset)
    }
}
