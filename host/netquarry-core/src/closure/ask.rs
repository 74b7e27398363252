//! Questions to shims about the names that their tables mark as dynamic.

use super::{Closing, Need};
use crate::dynamic::{DynamicAnswer, DynamicQuestion};
use crate::facts::Reference;
use crate::index::DefinitionId;
use crate::record::{Confidence, ReplacedRecord};
use crate::resolve::{Entity, Resolution};
use crate::shim::{OperatorNamespace, Replacement};
use crate::source::TextRange;
use crate::syntax;

impl Closing<'_> {
    /// Asks the shim about a name that it marks as dynamic.
    pub(super) fn ask(&mut self, definition: DefinitionId, reference: &Reference, resolution: &Resolution) {
        let Some(path) = self.reference_path(definition, reference, resolution) else { return };
        let Some((dynamics, plugin)) = self.rules.dynamic(&path) else { return };
        let statement = self.index.statement(definition);
        let call = statement.calls.iter().find(|call| call.callee == reference.range.start);
        let end = reference.path.last().map_or(reference.range.end, |attribute| attribute.end);
        let range = call.map_or(TextRange::new(reference.range.start, end), |call| call.range);
        let expression = range.slice(&dynamics.text(definition.file)).to_owned();
        let question = DynamicQuestion {
            name: without_source(&path),
            referrer: without_source(&self.index.definition_path(definition)),
            literals: syntax::string_literals(&expression),
            expression,
        };
        let what = format!("{} in {}", question.name, question.referrer);
        let (by, why) = match dynamics.answer(plugin, &question) {
            DynamicAnswer::Definitions { paths, why } => {
                for path in &paths {
                    let need =
                        Need { by: Some(definition), reference: what.clone(), confidence: Confidence::Heuristic };
                    match self.index.find_variable(path) {
                        Some(variable) => self.need_variable(variable, need),
                        None => {
                            let message = format!("{plugin} answers with `{path}`, which the index does not hold");
                            self.unresolved(definition, reference.range, path, false, message);
                        }
                    }
                }
                (paths.join(", "), why)
            }
            DynamicAnswer::External { statement, why } => {
                let namespace = String::new();
                self.closure.operators.push(OperatorNamespace {
                    namespace,
                    import: statement.clone(),
                    why: why.clone(),
                });
                (statement, why)
            }
            DynamicAnswer::Statements { statements, why } => {
                if let Entity::Variable(variable) = resolution.entity {
                    let replacement = Replacement { path, by: statements.clone(), why: why.clone() };
                    self.substitute(variable, &replacement);
                }
                (statements, why)
            }
            DynamicAnswer::Unknown { why } => {
                self.unresolved(definition, reference.range, &question.name, false, why);
                return;
            }
        };
        if !by.is_empty() {
            self.closure.replaced.push(ReplacedRecord { what, by, why, plugin: plugin.to_owned() });
        }
    }
}

fn without_source(path: &str) -> String {
    path.split_once(':').map_or(path, |(_, path)| path).to_owned()
}
