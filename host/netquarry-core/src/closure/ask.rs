//! Questions to shims about the names that their tables mark as dynamic.

use super::rules::{Dynamics, without_source};
use super::{Closing, Need};
use crate::dynamic::{DynamicAnswer, DynamicQuestion};
use crate::facts::Reference;
use crate::index::DefinitionId;
use crate::record::{Confidence, ReplacedRecord};
use crate::resolve::Resolution;
use crate::source::TextRange;
use crate::syntax;

impl Closing<'_> {
    /// Asks the shim about a name that it marks as dynamic.
    pub(super) fn ask(&mut self, definition: DefinitionId, reference: &Reference, resolution: &Resolution) {
        let Some(path) = self.reference_path(definition, reference, resolution) else { return };
        let Some((dynamics, plugin)) = self.rules.dynamic(&path) else { return };
        let question = self.question(dynamics, &path, definition, reference);
        match dynamics.answer(plugin, &question) {
            DynamicAnswer::Definitions { paths, why } => {
                let what = format!("{} in {}", question.name, question.referrer);
                for path in &paths {
                    self.need_answer(definition, reference, &what, path, plugin);
                }
                if !paths.is_empty() {
                    let (by, plugin) = (paths.join(", "), plugin.to_owned());
                    self.closure.replaced.push(ReplacedRecord { what, by, why, plugin });
                }
            }
            DynamicAnswer::Unknown { why } => {
                self.unresolved(definition, reference.range, &question.name, false, why);
            }
        }
    }

    fn question(
        &self,
        dynamics: &dyn Dynamics,
        path: &str,
        definition: DefinitionId,
        reference: &Reference,
    ) -> DynamicQuestion {
        let calls = &self.index.statement(definition).calls;
        let call = calls.iter().find(|call| call.callee == reference.range.start);
        let end = reference.path.last().map_or(reference.range.end, |attribute| attribute.end);
        let range = call.map_or(TextRange::new(reference.range.start, end), |call| call.range);
        let expression = range.slice(&dynamics.text(definition.file)).to_owned();
        DynamicQuestion {
            name: without_source(path).to_owned(),
            referrer: without_source(&self.index.definition_path(definition)).to_owned(),
            literals: syntax::string_literals(&expression),
            expression,
        }
    }

    /// Brings a definition that a shim names.
    fn need_answer(
        &mut self,
        definition: DefinitionId,
        reference: &Reference,
        question: &str,
        path: &str,
        plugin: &str,
    ) {
        let Some(variable) = self.index.find_variable(path) else {
            let message = format!("{plugin} answers with `{path}`, which the index does not hold");
            return self.unresolved(definition, reference.range, path, false, message);
        };
        let need = Need { by: Some(definition), reference: question.to_owned(), confidence: Confidence::Heuristic };
        self.need_variable(variable, need);
    }
}
