//! What shims say, as the closure engine asks for it.

use std::sync::{Arc, Mutex, PoisonError};

use netquarry_core::closure::Rules;
use netquarry_core::index::FileId;
use netquarry_plugin::asked::{self, Sources, Texts as TextsOfFiles};
use netquarry_plugin::{CallError, SourceFiles};

use super::index::Indexed;
use super::plugins::{Plugins, report_failures};
use super::texts::Texts;
use crate::console::Console;

/// Calls of shims that failed, as they come up on any thread.
#[derive(Clone, Default)]
pub struct ShimFailures(Arc<Mutex<Vec<CallError>>>);

impl ShimFailures {
    fn add(&self, error: CallError) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(error);
    }

    /// Tells of those that came up since it did so last, in an order that does not depend on threads.
    pub fn report(&self, console: &Console) {
        let mut failures = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let asked = |error: &CallError| (error.plugin.clone(), error.item.clone());
        failures.sort_by_key(|error| (asked(error), error.kept.is_none()));
        // Two threads may have asked the same.
        failures.dedup_by_key(|error| asked(error));
        report_failures(console, &failures);
    }
}

/// The rules of all shims, with the way to ask them about what their tables mark as dynamic, and what fails of that.
pub fn rules(plugins: &Plugins, indexed: &Indexed) -> (Rules, ShimFailures) {
    let texts = Arc::clone(&indexed.texts);
    let texts: TextsOfFiles = Arc::new(move |file| text(&texts, file));
    let files: Arc<dyn SourceFiles> = Arc::clone(&indexed.texts) as _;
    let sources = Sources { index: Arc::clone(&indexed.index), texts, files };
    let failures = ShimFailures::default();
    let noted = failures.clone();
    let report = Box::new(move |error| noted.add(error));
    (asked::rules(plugins.shims.clone(), plugins.tables.clone(), sources, report), failures)
}

/// # Panics
/// Where a file cannot be read any more since it was indexed; that costs the block that needs it.
fn text(texts: &Texts, file: FileId) -> Arc<str> {
    match texts.get(file) {
        Ok(file) => Arc::clone(&file.text),
        Err(reason) => panic!("{reason}"),
    }
}
