//! What shims say, as the closure engine asks for it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use netquarry_core::closure::{Dynamics, Rules};
use netquarry_core::dynamic::{CodeIndex, DynamicAnswer, DynamicQuestion};
use netquarry_core::index::{FileId, Index, IndexView};
use netquarry_core::shim::ShimTables;

use crate::error::{CallError, PluginIdentity};
use crate::shim::RepoShim;
use crate::source_files::SourceFiles;

/// Gives the decoded text of a file of the index.
pub type Texts = Arc<dyn Fn(FileId) -> Arc<str> + Send + Sync>;

/// What shims are asked about.
#[derive(Clone)]
pub struct Sources {
    pub index: Arc<Index>,
    pub texts: Texts,
    pub files: Arc<dyn SourceFiles>,
}

/// Takes note of a call that failed.
pub type Report = Box<dyn Fn(CallError) + Send + Sync>;

/// The rules of the shims, of which `tables` are those that told them, and the way to ask them about what their tables mark
/// as dynamic. A shim that fails to answer leaves the name unresolved.
pub fn rules(shims: Vec<RepoShim>, tables: Vec<ShimTables>, sources: Sources, report: Report) -> Rules {
    let Sources { index, texts, files } = sources;
    let of_view = Arc::clone(&texts);
    let index = Arc::new(IndexView::new(index, Box::new(move |file| of_view(file))));
    let asked = AskedShims { shims, index, texts, files, report, answers: Mutex::default() };
    Rules::new(tables).with_dynamics(Arc::new(asked))
}

struct AskedShims {
    shims: Vec<RepoShim>,
    index: Arc<dyn CodeIndex>,
    texts: Texts,
    files: Arc<dyn SourceFiles>,
    report: Report,
    /// By plugin and question. Many blocks come by the same definition, and an answer depends on nothing else.
    answers: Mutex<HashMap<(String, DynamicQuestion), DynamicAnswer>>,
}

impl Dynamics for AskedShims {
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
        (self.texts)(file)
    }
}

impl AskedShims {
    fn ask(&self, plugin: &str, question: &DynamicQuestion) -> DynamicAnswer {
        let title = |PluginIdentity { name, version, .. }: &PluginIdentity| format!("{name} {version}");
        let shim = self.shims.iter().find(|shim| title(shim.plugin()) == plugin);
        let shim = shim.expect("only shims that told their tables are asked");
        shim.answer(question, &self.index, &self.files).unwrap_or_else(|error| {
            let why = format!("{plugin} failed to answer: {}", error.failure);
            (self.report)(error);
            DynamicAnswer::Unknown { why }
        })
    }
}
