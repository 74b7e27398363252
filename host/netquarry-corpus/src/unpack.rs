//! Archives to cache entries. Nothing of an archive is executed, and no name from one becomes the name of a file: what is
//! kept goes into one packed file, so links, devices and names that differ only in case can do no harm.

pub(crate) mod sdist;
pub(crate) mod wheel;

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;

use crate::contents::PackWriter;
use crate::failure::FetchFailure;
use crate::inventory::{Budget, Entry, Inventory, Limits, Refusal, Role, role_of};
use crate::paths::{self, BadPath};
use crate::progress::Reporter;

/// Takes the members of one archive and keeps what a snapshot holds, within its limits.
pub(crate) struct Unpacker<'fetch> {
    /// What errors call the archive.
    archive: &'fetch str,
    limits: Limits,
    budget: Budget,
    reporter: Reporter<'fetch>,
    pack: PackWriter,
    entries: BTreeMap<String, Entry>,
    passed_over: Inventory,
}

impl<'fetch> Unpacker<'fetch> {
    /// `entry` is the folder to write into.
    pub(crate) fn new(
        archive: &'fetch str,
        entry: &Path,
        limits: Limits,
        reporter: Reporter<'fetch>,
    ) -> Result<Self, FetchFailure> {
        let pack = PackWriter::create(entry).map_err(FetchFailure::io("write into", entry))?;
        let (entries, passed_over) = (BTreeMap::new(), Inventory::default());
        Ok(Self { archive, limits, budget: Budget::new(limits), reporter, pack, entries, passed_over })
    }

    /// Counts a member and says what to do with it: its path within the root and its role, or nothing.
    fn admit(&mut self, name: &str) -> Result<Option<(String, Role)>, FetchFailure> {
        if let Err(refusal) = self.budget.see() {
            self.refuse(name, refusal)?;
        }
        match paths::checked(name) {
            Ok(path) => Ok(role_of(&path).map(|role| (path, role))),
            Err(BadPath::Escapes) => Err(FetchFailure::UnsafeArchive {
                archive: self.archive.to_owned(),
                member: name.escape_default().to_string(),
                why: BadPath::Escapes.to_string(),
            }),
            Err(BadPath::Odd) => {
                self.pass_over(name, &BadPath::Odd.to_string());
                Ok(None)
            }
        }
    }

    /// Notes a member that would have counted. Other members are passed over in silence.
    fn pass_over(&mut self, path: &str, why: &str) {
        if role_of(path).is_some() {
            self.passed_over.skip(path, why);
        }
    }

    /// Keeps a member, unless it is larger than its role allows. What the archive declares about sizes is not believed.
    fn keep(&mut self, path: String, role: Role, reader: &mut dyn Read) -> Result<(), FetchFailure> {
        let mut content = Vec::new();
        reader.take(self.limits.of(role) + 1).read_to_end(&mut content).map_err(|error| self.broken(error))?;
        if let Err(refusal) = self.budget.take(role, content.len() as u64) {
            return self.refuse(&path, refusal);
        }
        let added = self.pack.add(path.clone(), role, &content);
        let entry = added.map_err(FetchFailure::io("write a cache entry for", Path::new(self.archive)))?;
        // An archive may hold a path twice; installers keep the last.
        self.entries.insert(path, entry);
        self.reporter.taken(self.budget.files());
        Ok(())
    }

    /// The inventory of what was kept and the size of the packed file.
    pub(crate) fn finish(self) -> Result<(Inventory, u64), FetchFailure> {
        self.reporter.taken_all(self.budget.files());
        let bytes = self.pack.finish().map_err(FetchFailure::io("write a cache entry for", Path::new(self.archive)))?;
        let inventory = Inventory { entries: self.entries.into_values().collect(), skipped: self.passed_over.skipped };
        Ok((inventory, bytes))
    }

    fn refuse(&mut self, path: &str, refusal: Refusal) -> Result<(), FetchFailure> {
        match refusal {
            Refusal::File(why) => {
                self.pass_over(path, &why);
                Ok(())
            }
            Refusal::Source { limit, what } => {
                Err(FetchFailure::TooLarge { archive: self.archive.to_owned(), limit, what })
            }
        }
    }

    /// What a failed read means: the network is at fault where an archive is read while it arrives, else the archive.
    fn broken(&self, error: io::Error) -> FetchFailure {
        match error.downcast::<FetchFailure>() {
            Ok(failure) => failure,
            Err(error) => FetchFailure::BrokenArchive { archive: self.archive.to_owned(), why: error.to_string() },
        }
    }
}

/// The name of a member without the single folder that holds everything in an sdist; empty for what stands beside that
/// folder. A root of `..` or an absolute name stays, so that it cannot hide behind the root that is taken off.
fn without_root(name: &str) -> &str {
    match name.strip_prefix("./").unwrap_or(name).split_once('/') {
        Some(("" | "..", _)) => name,
        Some((_, inner)) => inner,
        None => "",
    }
}
