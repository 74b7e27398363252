//! Annotations that nobody evaluates, or of which a shim knows that nobody reads them.

use super::Closing;
use crate::facts::{ClassFacts, Evaluation, FunctionFacts, Reference};
use crate::index::{DefinitionId, Variable};
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
        let unread = self.unread(definition);
        if unread.is_empty() {
            return (Vec::new(), Vec::new());
        }
        let is_unread = |range: TextRange| unread.iter().any(|unread| unread.contains(range));
        let statement = index.statement(definition);
        let names_corpus = |range: &&TextRange| {
            let mut inside = statement.references.iter().filter(|reference| range.contains(reference.range));
            inside.any(|reference| {
                let entity = index.resolve(definition, reference).entity;
                !matches!(entity, Entity::External(_) | Entity::Builtin | Entity::ModuleAttribute(_))
            })
        };
        let annotations = statement.annotations.iter().filter(|range| is_unread(**range));
        let postponed: Vec<TextRange> = annotations.filter(names_corpus).copied().collect();
        let never = statement.references.iter().filter(|reference| reference.evaluation == Evaluation::Never);
        let never = never.map(|reference| reference.range).filter(|range| is_unread(*range));
        let types = never.chain(postponed.iter().copied()).collect();
        (postponed, types)
    }

    /// The parts of a definition, all of it or single methods, of which a shim says that nothing reads the annotations.
    fn unread(&self, definition: DefinitionId) -> Vec<TextRange> {
        let index = self.index;
        let statement = index.statement(definition);
        let path = index.definition_path(definition);
        if self.rules.postponed_annotations(&path).is_some() {
            return vec![statement.range];
        }
        let facts = &index.file(definition.file).facts;
        let methods =
            statement.classes.iter().flat_map(|class| class.methods.iter().map(move |method| (class, method)));
        let is_unread = |class: &ClassFacts, method: &FunctionFacts| {
            let class = index.variable_path(Variable { file: definition.file, name: class.name });
            self.rules.postponed_annotations(&format!("{class}.{}", facts.name(method.name))).is_some()
        };
        methods.filter(|(class, method)| is_unread(class, method)).map(|(_, method)| method.range).collect()
    }
}
