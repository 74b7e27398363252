//! Reading commits from a bare repository.

use std::fmt;
use std::path::{Path, PathBuf};

use gix::objs::tree::EntryKind;
use gix::{ObjectId, ThreadSafeRepository};
use netquarry_core::source::ContentDigest;

use crate::failure::{FetchFailure, causes};
use crate::inventory::{Budget, Entry, Inventory, Limits, Place, Refusal, Role, role_of};
use crate::paths;
use crate::progress::Reporter;

/// The objects of a repository in the cache; may be read by several threads at once.
pub(crate) struct ObjectDatabase {
    repository: ThreadSafeRepository,
    path: PathBuf,
    description: PathBuf,
}

impl fmt::Debug for ObjectDatabase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ObjectDatabase").field("path", &self.path).finish_non_exhaustive()
    }
}

impl ObjectDatabase {
    /// `description` is the file that describes the commit that will be read.
    pub(crate) fn open(path: &Path, description: PathBuf) -> Result<Self, String> {
        // What git is configured to do elsewhere on this machine has no say in what a commit holds.
        let options = gix::open::Options::isolated().open_path_as_is(true);
        let repository = ThreadSafeRepository::open_opts(path, options).map_err(|error| error.to_string())?;
        Ok(Self { repository, path: path.to_path_buf(), description })
    }

    pub(crate) fn description(&self) -> &Path {
        &self.description
    }

    pub(crate) fn has(&self, commit: ObjectId) -> bool {
        let repository = self.repository.to_thread_local();
        repository.find_commit(commit).is_ok_and(|commit| commit.tree().is_ok())
    }

    /// The name of the root tree of a commit.
    pub(crate) fn tree(&self, commit: &str) -> Option<String> {
        let id = ObjectId::from_hex(commit.as_bytes()).ok()?;
        let repository = self.repository.to_thread_local();
        Some(repository.find_commit(id).ok()?.tree_id().ok()?.to_string())
    }

    /// The content of the blob of this name.
    pub(crate) fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        let id = ObjectId::from_hex(name.as_bytes()).map_err(|error| error.to_string())?;
        let repository = self.repository.to_thread_local();
        let mut object = repository.find_object(id).map_err(|error| error.to_string())?;
        Ok(std::mem::take(&mut object.data))
    }

    /// What counts of the tree of a commit. Links and submodules do not.
    pub(crate) fn inventory(
        &self,
        commit: ObjectId,
        url: &str,
        folder: &Path,
        limits: Limits,
        reporter: Reporter<'_>,
    ) -> Result<Inventory, FetchFailure> {
        let repository = self.repository.to_thread_local();
        let mut walk = TreeWalk {
            repository: &repository,
            url,
            folder,
            budget: Budget::new(limits),
            inventory: Inventory::default(),
            reporter,
        };
        let commit = repository.find_commit(commit).map_err(|error| walk.failure(&error))?;
        let tree = commit.tree_id().map_err(|error| walk.failure(&error))?;
        walk.tree(tree.detach())?;
        reporter.taken_all(walk.budget.files());
        Ok(walk.inventory)
    }
}

struct TreeWalk<'walk> {
    repository: &'walk gix::Repository,
    url: &'walk str,
    folder: &'walk Path,
    budget: Budget,
    inventory: Inventory,
    reporter: Reporter<'walk>,
}

impl TreeWalk<'_> {
    /// Depth first with a stack of our own: how deep a tree goes is up to whoever made it.
    fn tree(&mut self, root: ObjectId) -> Result<(), FetchFailure> {
        let mut pending = vec![(String::new(), root)];
        while let Some((folder, id)) = pending.pop() {
            let tree = self.repository.find_tree(id).map_err(|error| self.failure(&error))?;
            for entry in tree.iter() {
                let entry = entry.map_err(|error| self.failure(&error))?;
                let name = String::from_utf8_lossy(entry.filename());
                let path = if folder.is_empty() { name.into_owned() } else { format!("{folder}/{name}") };
                if let Err(refusal) = self.budget.see() {
                    self.refuse(path, refusal)?;
                    continue;
                }
                match (entry.mode().kind(), paths::checked(&path)) {
                    (EntryKind::Commit, _) => {}
                    (EntryKind::Tree, Ok(path)) => pending.push((path, entry.object_id())),
                    (EntryKind::Blob | EntryKind::BlobExecutable, Ok(path)) => self.blob(path, entry.object_id())?,
                    (EntryKind::Link, Ok(path)) => self.pass_over(&path, "it is a link"),
                    (_, Err(why)) => self.pass_over(&path, &why.to_string()),
                }
            }
        }
        Ok(())
    }

    fn blob(&mut self, path: String, id: ObjectId) -> Result<(), FetchFailure> {
        let Some(role) = role_of(&path) else { return Ok(()) };
        let header = self.repository.find_header(id).map_err(|error| self.failure(&error))?;
        if let Err(refusal) = self.budget.take(role, header.size()) {
            return self.refuse(path, refusal);
        }
        let blob = self.repository.find_object(id).map_err(|error| self.failure(&error))?;
        self.keep(path, role, id, &blob.data);
        Ok(())
    }

    fn keep(&mut self, path: String, role: Role, id: ObjectId, content: &[u8]) {
        let (digest, bytes) = (ContentDigest::of(content), content.len() as u64);
        self.inventory.entries.push(Entry { path, role, digest, bytes, place: Place::Blob(id.to_string()) });
        self.reporter.taken(self.budget.files());
    }

    fn pass_over(&mut self, path: &str, why: &str) {
        if role_of(path).is_some() {
            self.inventory.skip(path, why);
        }
    }

    fn refuse(&mut self, path: String, refusal: Refusal) -> Result<(), FetchFailure> {
        match refusal {
            Refusal::File(why) => {
                self.inventory.skip(path, why);
                Ok(())
            }
            Refusal::Source { limit, what } => {
                Err(FetchFailure::TooLarge { archive: self.url.to_owned(), limit, what })
            }
        }
    }

    fn failure(&self, error: &(dyn std::error::Error + 'static)) -> FetchFailure {
        FetchFailure::ObjectDatabase { url: self.url.to_owned(), path: self.folder.to_path_buf(), why: causes(error) }
    }
}
