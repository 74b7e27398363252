//! What is large and not needed until later: in a file instead of in memory.
//!
//! The bundles of a corpus repeat what they share: all of their texts are many times as long as the sources. Whoever has
//! made something large puts it here, keeps the place, and reads it back when its turn comes.

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::marker::PhantomData;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use netquarry_core::dedup::CodeText;
use netquarry_core::fingerprint::shelf::Shelf;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::problem::Problem;

/// A file without a name, which goes with this value, however the program ends. It only grows.
#[derive(Debug)]
pub struct Spool {
    file: File,
    /// The folder in which it has no name.
    folder: PathBuf,
    end: AtomicU64,
    /// Why something could not be kept or read, where nobody could be told.
    unread: Mutex<Option<Problem>>,
    has_failed: AtomicBool,
}

/// The place of a `T` in a [`Spool`].
pub struct Spooled<T: ?Sized> {
    start: u64,
    length: usize,
    what: PhantomData<fn() -> T>,
}

impl Spool {
    /// A new one in `folder`, which is made where it is not there.
    pub fn new(folder: &Path) -> Result<Self, Problem> {
        let file = fs::create_dir_all(folder).and_then(|()| tempfile::tempfile_in(folder));
        let file = file.map_err(|error| Problem::io("make a temporary file in", folder, error))?;
        Ok(Self {
            file,
            folder: folder.to_owned(),
            end: AtomicU64::new(0),
            unread: Mutex::default(),
            has_failed: AtomicBool::new(false),
        })
    }

    /// Keeps bytes.
    pub fn put(&self, bytes: &[u8]) -> Result<Spooled<[u8]>, Problem> {
        let length = bytes.len();
        let start = self.end.fetch_add(length as u64, Ordering::Relaxed);
        self.file
            .write_all_at(bytes, start)
            .map_err(|error| Problem::io("write a temporary file in", &self.folder, error))?;
        Ok(Spooled { start, length, what: PhantomData })
    }

    /// Keeps a text.
    pub fn put_text(&self, text: &str) -> Result<Spooled<str>, Problem> {
        let Spooled { start, length, .. } = self.put(text.as_bytes())?;
        Ok(Spooled { start, length, what: PhantomData })
    }

    /// Keeps a value, in a form that leaves nothing out: its type may have no fields that are skipped.
    pub fn put_value<T: Serialize>(&self, value: &T) -> Result<Spooled<T>, Problem> {
        let bytes = postcard::to_stdvec(value).expect("what is kept has no maps of unknown length");
        let Spooled { start, length, .. } = self.put(&bytes)?;
        Ok(Spooled { start, length, what: PhantomData })
    }

    /// The bytes that were put there.
    pub fn bytes(&self, place: Spooled<[u8]>) -> Result<Vec<u8>, Problem> {
        self.read(place).map_err(|error| self.unreadable(error))
    }

    /// The text that was put there.
    pub fn text(&self, place: Spooled<str>) -> Result<String, Problem> {
        let text = self.read(place).and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other));
        text.map_err(|error| self.unreadable(error))
    }

    /// The value that was put there.
    pub fn value<T: DeserializeOwned>(&self, place: Spooled<T>) -> Result<T, Problem> {
        let value = self.read(place).and_then(|bytes| postcard::from_bytes(&bytes).map_err(io::Error::other));
        value.map_err(|error| self.unreadable(error))
    }

    /// Likewise, or nothing where it cannot be read: [`Self::check`] tells.
    pub fn value_or_default<T: DeserializeOwned + Default>(&self, place: Spooled<T>) -> T {
        self.value(place).unwrap_or_else(|problem| self.remember(problem))
    }

    /// Whether everything could be kept and read that kernels asked for, as a [`Shelf`] or through a [`SpooledCode`], or that
    /// was read with [`Self::value_or_default`].
    ///
    /// # Errors
    /// Something could not, and nothing that was computed counts.
    pub fn check(&self) -> Result<(), Problem> {
        self.unread.lock().expect("no panic while it is held").take().map_or(Ok(()), Err)
    }

    /// Keeps the first problem, and gives something instead of what is missing.
    fn remember<T: Default>(&self, problem: Problem) -> T {
        self.has_failed.store(true, Ordering::Relaxed);
        self.unread.lock().expect("no panic while it is held").get_or_insert(problem);
        T::default()
    }

    fn read<T: ?Sized>(&self, place: Spooled<T>) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; place.length];
        self.file.read_exact_at(&mut bytes, place.start)?;
        Ok(bytes)
    }

    fn unreadable(&self, error: io::Error) -> Problem {
        let problem = Problem::io("read back a temporary file in", &self.folder, error);
        match problem.help_text() {
            Some(_) => problem,
            None => problem.help("give the same command again: what was finished is kept"),
        }
    }
}

impl Spooled<str> {
    /// The same as bytes.
    pub fn as_bytes(self) -> Spooled<[u8]> {
        Spooled { start: self.start, length: self.length, what: PhantomData }
    }
}

impl<T: ?Sized> Clone for Spooled<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Spooled<T> {}

impl<T: ?Sized> fmt::Debug for Spooled<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} bytes from {} on", self.length, self.start)
    }
}

/// A text that whoever compares codes reads when it is needed.
#[derive(Debug)]
pub struct SpooledCode {
    pub spool: Arc<Spool>,
    pub text: Spooled<str>,
}

impl CodeText for SpooledCode {
    fn read(&self) -> Arc<str> {
        Arc::from(self.spool.text(self.text).unwrap_or_else(|problem| self.spool.remember(problem)))
    }
}

impl Shelf for Spool {
    fn put(&self, bytes: &[u8]) -> u64 {
        self.put(bytes).map_or_else(|problem| self.remember(problem), |place| place.start)
    }

    fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    fn get(&self, start: u64, bytes: &mut [u8]) {
        if let Err(error) = self.file.read_exact_at(bytes, start) {
            bytes.fill(0);
            self.remember(self.unreadable(error))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::new(&folder.path().join("cache")).unwrap();
        let text = spool.put_text("naïve").unwrap();
        let value = spool.put_value(&vec![(1_u32, "one".to_owned())]).unwrap();
        let nothing = spool.put(b"").unwrap();
        assert_eq!(spool.text(text).unwrap(), "naïve");
        assert_eq!(spool.bytes(text.as_bytes()).unwrap(), "naïve".as_bytes());
        assert_eq!(spool.value(value).unwrap(), [(1, "one".to_owned())]);
        assert_eq!(spool.bytes(nothing).unwrap(), b"");
        assert_eq!(fs::read_dir(folder.path().join("cache")).unwrap().count(), 0, "the file has no name");
    }

    #[test]
    fn threads_do_not_write_over_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let spool = &Spool::new(folder.path()).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                scope.spawn(move || {
                    let texts: Vec<String> = (0..100).map(|number| format!("{thread} {number} ").repeat(50)).collect();
                    let places: Vec<_> = texts.iter().map(|text| spool.put_text(text).unwrap()).collect();
                    assert!(texts.iter().zip(places).all(|(text, place)| spool.text(place).unwrap() == *text));
                });
            }
        });
    }

    #[test]
    fn a_code_that_cannot_be_read_is_told_of_later() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Arc::new(Spool::new(folder.path()).unwrap());
        let beyond = Spooled { start: 1000, length: 1, what: PhantomData };
        assert_eq!(&*SpooledCode { spool: Arc::clone(&spool), text: beyond }.read(), "");
        assert!(spool.has_failed());
        let problem = spool.check().expect_err("it could not be read");
        assert!(problem.to_string().starts_with("Could not read back a temporary file in"));
        assert!(problem.help_text().is_some() && spool.check().is_ok());
    }

    /// `/dev/full` is a disk without room.
    #[test]
    fn a_full_disk_is_told_with_what_to_do() {
        let file = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let folder = PathBuf::from("cache");
        let spool = Spool {
            file,
            folder,
            end: AtomicU64::new(0),
            unread: Mutex::default(),
            has_failed: AtomicBool::new(false),
        };
        let problem = spool.put(b"text").expect_err("there is no room");
        assert_eq!(problem.to_string(), "Could not write a temporary file in `cache`");
        assert!(problem.help_text().expect("there is advice").contains("--cache-dir"));
        assert_eq!(Shelf::put(&spool, b"text"), 0);
        assert_eq!(spool.check().expect_err("there is no room").to_string(), problem.to_string());
        let mut bytes = [1; 4];
        Shelf::get(&spool, 1000, &mut bytes);
        assert!(bytes == [0; 4] && spool.check().is_err());
    }
}
