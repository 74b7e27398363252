//! What shims say, as the closure engine asks for it.

use std::sync::Arc;

use netquarry_core::closure::Rules;
use netquarry_core::index::FileId;
use netquarry_plugin::SourceFiles;
use netquarry_plugin::asked::{self, Sources, Texts as TextsOfFiles};

use super::index::Indexed;
use super::plugins::Plugins;
use super::texts::Texts;

/// The rules of all shims, and the way to ask them about what their tables mark as dynamic.
pub fn rules(plugins: &Plugins, indexed: &Indexed) -> Rules {
    let texts = Arc::clone(&indexed.texts);
    let texts: TextsOfFiles = Arc::new(move |file| text(&texts, file));
    let files: Arc<dyn SourceFiles> = Arc::clone(&indexed.texts) as _;
    let sources = Sources { index: Arc::clone(&indexed.index), texts, files };
    let report = Box::new(|error| tracing::warn!("{error}"));
    asked::rules(plugins.shims.clone(), plugins.tables.clone(), sources, report)
}

/// # Panics
/// Where a file cannot be read any more since it was indexed; that costs the block that needs it.
fn text(texts: &Texts, file: FileId) -> Arc<str> {
    match texts.get(file) {
        Ok(file) => Arc::clone(&file.text),
        Err(reason) => panic!("{reason}"),
    }
}
