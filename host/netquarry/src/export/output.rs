//! Files of an export: each is written beside its place and put there whole.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

use crate::library::folder::{hexadecimal, report_beside};
use crate::problem::Problem;

/// A file that an export has written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WrittenFile {
    pub path: PathBuf,
    pub bytes: u64,
    pub sha256: String,
}

/// Writes a text as a file of an export.
pub fn write(place: &Path, text: &str) -> Result<WrittenFile, Problem> {
    let mut file = NewFile::begin(place)?;
    file.write_all(text.as_bytes()).map_err(|error| Problem::io("write the export", place, error))?;
    file.finish()
}

/// A file on its way to its place, hashed while it is written.
pub struct NewFile {
    place: PathBuf,
    file: BufWriter<NamedTempFile>,
    hash: Sha256,
    bytes: u64,
}

impl NewFile {
    /// Begins a file for `place`, in its folder, which is made where it is not there.
    pub fn begin(place: &Path) -> Result<Self, Problem> {
        let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty());
        folder
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| report_beside(place))
            .map(|file| Self { place: place.to_owned(), file: BufWriter::new(file), hash: Sha256::new(), bytes: 0 })
            .map_err(|error| Problem::io("write the export", place, error))
    }

    /// Puts it in its place.
    pub fn finish(self) -> Result<WrittenFile, Problem> {
        let Self { place, file, hash, bytes } = self;
        let persisted = file.into_inner().map_err(io::IntoInnerError::into_error);
        let persisted: io::Result<File> = persisted.and_then(|file| file.persist(&place).map_err(|error| error.error));
        persisted.map_err(|error| Problem::io("write the export", &place, error))?;
        Ok(WrittenFile { path: place, bytes, sha256: hexadecimal(&hash.finalize()) })
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
