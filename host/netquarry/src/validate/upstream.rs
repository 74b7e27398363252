//! Workers that have modules of upstream.
//!
//! Importing `mmdet.models.detectors` takes seconds, forking a process that has it takes milliseconds, and many classes
//! are compared. So the processes form a tree as the modules do: a root that has torch, a branch of it that has imported
//! `mmdet`, of that one a branch that has imported `mmdet.models`, and so on. To import a module is to import the packages
//! that it lies in first, so a process in the tree has what importing its module alone would have brought, and no more.

use std::mem;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use super::Upstream;
use super::protocol::{Exception, UpstreamSettings};
use super::worker::{Ground, NoBranch, Worker};
use crate::environment::Layer;

/// How many branches are kept. Jobs come module by module.
const BRANCHES: usize = 16;
/// After how many children of all its processes a tree is replaced.
const CHILDREN_IN_A_LIFE: u64 = 2000;

/// The processes of one upstream.
#[derive(Debug)]
pub(super) struct Tree {
    paths: Vec<PathBuf>,
    layers: Arc<[Layer]>,
    root: Arc<Worker>,
    ground: Arc<Ground>,
    /// By module, the one that was used last at the end.
    branches: Mutex<Vec<(String, Branch)>>,
    children: AtomicU64,
}

/// Empty until the module is imported.
type Branch = Arc<OnceLock<Result<Arc<Worker>, NoBranch>>>;

/// How far the way to a module leads.
pub(super) struct Reached {
    /// The process that has the module, or as much of the way to it as can be had.
    pub(super) worker: Arc<Worker>,
    /// What the rest of the way raises.
    pub(super) failure: Option<Exception>,
}

impl Tree {
    /// A tree whose root is forked from `worker`, which has torch.
    pub(super) fn new(
        upstream: &Upstream,
        worker: &Arc<Worker>,
        filters: &[String],
        ground: Ground,
    ) -> Result<Self, NoBranch> {
        let layers = upstream.layers.iter().map(|layer| layer.path.as_path()).collect();
        let ground = Arc::new(ground);
        let root = worker.reaching(&ground, UpstreamSettings { paths: &upstream.paths, layers, filters })?;
        Ok(Self {
            paths: upstream.paths.clone(),
            layers: Arc::clone(&upstream.layers),
            root: Arc::new(root),
            ground,
            branches: Mutex::default(),
            children: AtomicU64::new(0),
        })
    }

    pub(super) fn is_for(&self, upstream: &Upstream) -> bool {
        self.paths == upstream.paths && self.layers == upstream.layers
    }

    pub(super) fn is_spent(&self) -> bool {
        self.children.load(Ordering::Relaxed) >= CHILDREN_IN_A_LIFE
    }

    pub(super) fn reach(&self, module: &str) -> Reached {
        self.children.fetch_add(1, Ordering::Relaxed);
        let mut reached = Reached { worker: Arc::clone(&self.root), failure: None };
        let ends = module.match_indices('.').map(|(dot, _)| dot).chain([module.len()]);
        for name in ends.map(|end| &module[..end]) {
            // Outside the lock of the branches, so that modules are imported side by side.
            let branch = self.branch(name);
            match branch.get_or_init(|| reached.worker.importing(&self.ground, name).map(Arc::new)) {
                Ok(next) => reached.worker = Arc::clone(next),
                Err(reason) => {
                    tracing::debug!(module = name, %reason, "no process has this module of upstream");
                    if let NoBranch::NotImportable(exception) = reason {
                        reached.failure = Some(exception.clone());
                    }
                    break;
                }
            }
        }
        reached
    }

    pub(super) fn has(&self, worker: &Arc<Worker>) -> bool {
        let branches = self.branches.lock().expect("nothing panics here");
        let mut branches = branches.iter().filter_map(|(_, branch)| branch.get()?.as_ref().ok());
        Arc::ptr_eq(&self.root, worker) || branches.any(|branch| Arc::ptr_eq(branch, worker))
    }

    /// Where the branch of a module is or will be; one that nobody has used for long makes room.
    fn branch(&self, module: &str) -> Branch {
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
