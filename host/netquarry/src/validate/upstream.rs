//! Workers that have modules of upstream.
//!
//! Importing `mmdet.models.detectors` takes seconds, forking a process that has it takes milliseconds, and many classes
//! are compared. So the processes form a tree as the modules do: a root that has torch, a branch of it that has imported
//! `mmdet`, of that one a branch that has imported `mmdet.models`, and so on. To import a module is to import the packages
//! that it lies in first, so a process in the tree has what importing its module alone would have brought, and no more.

use std::mem;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock};

use super::Upstream;
use super::pool::Shared;
use super::worker::Worker;
use crate::environment::Layer;

/// How many branches are kept. Jobs come module by module.
const BRANCHES: usize = 16;
/// After how many children and branches of all its processes a tree is replaced.
const CHILDREN_IN_A_LIFE: u64 = 2000;

/// The processes of one upstream.
#[derive(Debug)]
pub(super) struct Tree {
    paths: Vec<PathBuf>,
    layers: Arc<[Layer]>,
    root: Shared,
    /// By module, the one that was used last at the end.
    branches: Mutex<Vec<(String, Branch)>>,
}

/// None in it once it has shown that the module cannot be imported.
type Branch = Arc<OnceLock<Option<Shared>>>;

impl Tree {
    pub(super) fn new(upstream: &Upstream, root: Worker) -> Self {
        Self {
            paths: upstream.paths.clone(),
            layers: Arc::clone(&upstream.layers),
            root: Shared::new(root),
            branches: Mutex::default(),
        }
    }

    pub(super) fn is_for(&self, upstream: &Upstream) -> bool {
        self.paths == upstream.paths && self.layers == upstream.layers
    }

    pub(super) fn is_spent(&self) -> bool {
        self.root.children.load(Ordering::Relaxed) >= CHILDREN_IN_A_LIFE
    }

    /// The process that has the module, or as much of the way to it as can be imported: its children try the rest and
    /// say what is wrong.
    pub(super) fn worker(&self, module: &str) -> Shared {
        let mut nearest = self.root.clone();
        let ends = module.match_indices('.').map(|(dot, _)| dot).chain([module.len()]);
        for name in ends.map(|end| &module[..end]) {
            match self.branch(name, &nearest) {
                Some(branch) => nearest = branch,
                None => break,
            }
        }
        self.root.children.fetch_add(1, Ordering::Relaxed);
        nearest
    }

    pub(super) fn has(&self, worker: &Arc<Worker>) -> bool {
        let is_it = |shared: &Shared| Arc::ptr_eq(&shared.worker, worker);
        let branches = self.branches.lock().expect("nothing panics here");
        is_it(&self.root)
            || branches.iter().any(|(_, branch)| branch.get().is_some_and(|it| it.as_ref().is_some_and(is_it)))
    }

    fn branch(&self, module: &str, parent: &Shared) -> Option<Shared> {
        // Outside the lock, so that modules are imported side by side.
        let branch = self.place(module);
        let import = || {
            self.root.children.fetch_add(1, Ordering::Relaxed);
            parent.worker.branch(module).map(Shared::new)
        };
        branch.get_or_init(import).clone()
    }

    /// Where the branch of a module is or will be; one that nobody has used for long makes room.
    fn place(&self, module: &str) -> Branch {
        let mut branches = self.branches.lock().expect("nothing panics here");
        let branch = match branches.iter().position(|(name, _)| name == module) {
            Some(position) => branches.remove(position).1,
            None => Branch::default(),
        };
        branches.push((module.to_owned(), Arc::clone(&branch)));
        let surplus = branches.len().saturating_sub(BRANCHES);
        let gone: Vec<_> = branches.drain(..surplus).collect();
        mem::drop(branches);
        // Ending a process takes a moment.
        mem::drop(gone);
        branch
    }
}
