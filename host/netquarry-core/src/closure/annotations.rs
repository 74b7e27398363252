//! Annotations that nobody evaluates, or of which a shim knows that nobody reads them.

use super::Closing;
use crate::facts::{Evaluation, Reference};
use crate::index::DefinitionId;
use crate::resolve::{Entity, Resolution};
use crate::source::TextRange;

impl Closing<'_> {
    /// Whether nothing evaluates the reference, and what it names is imported under `TYPE_CHECKING`.
    pub(super) fn is_for_types(&self, definition: DefinitionId, reference: &Reference, resolved: &Resolution) -> bool {
        let Entity::Variable(variable) = resolved.entity else { return false };
        self.index.never_evaluates(definition, reference) && self.index.declared(variable).is_some()
    }

    /// The annotations of a definition that are to be kept as strings, and all text of it that names types alone.
    pub(super) fn postpone_annotations(&self, definition: DefinitionId) -> (Vec<TextRange>, Vec<TextRange>) {
        let index = self.index;
        if self.rules.postponed_annotations(&index.definition_path(definition)).is_none() {
            return (Vec::new(), Vec::new());
        }
        let statement = index.statement(definition);
        let names_corpus = |range: &&TextRange| {
            let mut inside = statement.references.iter().filter(|reference| range.contains(reference.range));
            inside.any(|reference| {
                let entity = index.resolve(definition, reference).entity;
                !matches!(entity, Entity::External(_) | Entity::Builtin | Entity::ModuleAttribute)
            })
        };
        let postponed: Vec<TextRange> = statement.annotations.iter().filter(names_corpus).copied().collect();
        let never = statement.references.iter().filter(|reference| reference.evaluation == Evaluation::Never);
        let types = never.map(|reference| reference.range).chain(postponed.iter().copied()).collect();
        (postponed, types)
    }
}
