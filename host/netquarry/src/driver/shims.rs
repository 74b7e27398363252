//! What shims say, as the closure engine asks for it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use netquarry_core::closure::{Dynamics, Rules};
use netquarry_core::dynamic::{CodeIndex, DynamicAnswer, DynamicQuestion};
use netquarry_core::index::{FileId, IndexView};
use netquarry_plugin::RepoShim;

use super::index::Indexed;
use super::plugins::Plugins;
use super::texts::Texts;

/// The rules of all shims, and the way to ask them about what their tables mark as dynamic.
pub fn rules(plugins: &Plugins, indexed: &Indexed) -> Rules {
    let texts = Arc::clone(&indexed.texts);
    let view = IndexView::new(Arc::clone(&indexed.index), Box::new(move |file| text(&texts, file)));
    let asked = AskedShims {
        shims: plugins.shims.clone(),
        index: Arc::new(view),
        texts: Arc::clone(&indexed.texts),
        answers: Mutex::default(),
    };
    Rules::new(plugins.tables.clone()).with_dynamics(Arc::new(asked))
}

struct AskedShims {
    shims: Vec<RepoShim>,
    index: Arc<dyn CodeIndex>,
    texts: Arc<Texts>,
    /// By plugin and question. Many blocks come by the same definition, and an answer depends on nothing else.
    answers: Mutex<HashMap<(String, DynamicQuestion), DynamicAnswer>>,
}

impl Dynamics for AskedShims {
    /// A shim that fails to answer leaves the name unresolved, with its failure as the reason.
    fn answer(&self, plugin: &str, question: &DynamicQuestion) -> DynamicAnswer {
        let key = (plugin.to_owned(), question.clone());
        if let Some(answer) = self.answers.lock().expect("no panic while it is held").get(&key) {
            return answer.clone();
        }
        // Two threads that ask the same at once get the same answer twice.
        let answer = self.ask(plugin, question);
        self.answers.lock().expect("no panic while it is held").insert(key, answer.clone());
        answer
    }

    fn text(&self, file: FileId) -> Arc<str> {
        text(&self.texts, file)
    }
}

impl AskedShims {
    fn ask(&self, plugin: &str, question: &DynamicQuestion) -> DynamicAnswer {
        let bears_name = |shim: &&RepoShim| format!("{} {}", shim.plugin().name, shim.plugin().version) == plugin;
        let shim = self.shims.iter().find(bears_name).expect("only shims that told their tables are asked");
        shim.answer(question, &self.index).unwrap_or_else(|error| {
            tracing::warn!("{error}");
            DynamicAnswer::Unknown { why: error.to_string() }
        })
    }
}

/// # Panics
/// Where a file cannot be read any more since it was indexed; that costs the block that needs it.
fn text(texts: &Texts, file: FileId) -> Arc<str> {
    match texts.get(file) {
        Ok(file) => Arc::clone(&file.text),
        Err(reason) => panic!("{reason}"),
    }
}
