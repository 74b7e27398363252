//! What every stage is given beside its input.

use std::sync::Arc;

use netquarry_core::syntax::PARSER_STACK_BYTES;
use netquarry_store::{Store, StoreError};

use crate::configuration::Settings;
use crate::console::Console;
use crate::problem::Problem;
use crate::spool::Spool;

/// What every stage is given: the settings, the console, the store, the spool and the threads.
pub struct Context<'a> {
    pub settings: &'a Settings,
    pub console: &'a Console,
    pub store: Store,
    /// For what is large, as long as the command runs.
    pub spool: Arc<Spool>,
    /// Its threads have stacks that are large enough for whatever people have written.
    pub pool: rayon::ThreadPool,
}

impl<'a> Context<'a> {
    /// Opens the store and starts the threads.
    pub fn open(settings: &'a Settings, console: &'a Console) -> Result<Self, Problem> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(settings.threads)
            .stack_size(PARSER_STACK_BYTES)
            .thread_name(|index| format!("netquarry-{index}"))
            .build()
            .map_err(|error| {
                Problem::new(format!("Could not start {} threads", settings.threads))
                    .because(error)
                    .help("ask for fewer with --threads")
            })?;
        let spool = Arc::new(Spool::new(&settings.cache_dir)?);
        Ok(Self { settings, console, store: open_store(settings)?, spool, pool })
    }
}

/// The store, or an empty one where it is to be made anew.
pub fn open_store(settings: &Settings) -> Result<Store, StoreError> {
    let path = settings.store_dir.join("index.sqlite");
    if settings.rebuild_index { Store::rebuild(&path) } else { Store::open(&path) }
}
