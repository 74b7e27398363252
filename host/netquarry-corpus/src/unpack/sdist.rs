//! Tar archives compressed with gzip: sdists.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

use flate2::read::MultiGzDecoder;
use tar::{Archive, EntryType};

use super::Unpacker;
use crate::failure::FetchFailure;

/// What may stand between two members: their headers, long names and extended attributes. The tar reader takes those into
/// memory whole, however large they say they are.
const HEADERS: u64 = 4 << 20;

/// Keeps what counts of a `.tar.gz`, without the single folder that holds everything.
pub(crate) fn unpack<R: Read>(reader: R, unpacker: &mut Unpacker<'_>) -> Result<(), FetchFailure> {
    let allowance = Rc::new(Cell::new(HEADERS));
    let total = unpacker.limits.uncompressed;
    let bounded = Bounded { inner: MultiGzDecoder::new(reader), allowance: Rc::clone(&allowance), left: total };
    let mut archive = Archive::new(bounded);
    let members = archive.entries().map_err(|error| failure(unpacker, error))?;
    for member in members {
        let mut member = member.map_err(|error| failure(unpacker, error))?;
        // The rest of this member is read before the next one, in whole blocks.
        allowance.set(member.size().saturating_add(HEADERS));
        let name = String::from_utf8_lossy(&member.path_bytes()).into_owned();
        let kind = member.header().entry_type();
        let inner = super::without_root(&name);
        if kind == EntryType::Directory || inner.is_empty() {
            continue;
        }
        let Some((path, role)) = unpacker.admit(inner)? else { continue };
        match kind {
            EntryType::Regular | EntryType::Continuous => unpacker.keep(path, role, &mut member)?,
            EntryType::Symlink | EntryType::Link => unpacker.pass_over(&path, "it is a link"),
            _ => unpacker.pass_over(&path, "it is no regular file"),
        }
    }
    Ok(())
}

/// Ends in an error where an archive unfolds into more than it may.
struct Bounded<R> {
    inner: R,
    /// Bytes that may be read before the next member is seen.
    allowance: Rc<Cell<u64>>,
    /// Bytes that may be read at all.
    left: u64,
}

#[derive(Debug, thiserror::Error)]
#[error("it unfolds into too much")]
struct Unbounded;

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let (allowance, left) = (self.allowance.get().checked_sub(read as u64), self.left.checked_sub(read as u64));
        let (Some(allowance), Some(left)) = (allowance, left) else { return Err(io::Error::other(Unbounded)) };
        self.allowance.set(allowance);
        self.left = left;
        Ok(read)
    }
}

fn failure(unpacker: &Unpacker<'_>, error: io::Error) -> FetchFailure {
    if error.get_ref().is_some_and(|inner| inner.is::<Unbounded>()) {
        let limit = unpacker.limits.uncompressed;
        return FetchFailure::TooLarge { archive: unpacker.archive.to_owned(), limit, what: "uncompressed bytes" };
    }
    unpacker.broken(error)
}
