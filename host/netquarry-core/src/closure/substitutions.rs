//! What the text that stands in the place of a definition needs.

use super::{Closing, Need, Substitution, SubstitutionUse};
use crate::facts::{Evaluation, FileFacts, Reference, ReferenceBinding};
use crate::index::{DefinitionId, Variable};
use crate::record::Confidence;
use crate::resolve::Entity;
use crate::shim::Replacement;
use crate::source::TextRange;

impl Closing<'_> {
    /// Puts a replacement in the place of all binders of a variable. Its free names mean what they mean in upstream's
    /// module, and what they name joins the closure.
    pub(super) fn substitute(&mut self, variable: Variable, rule: &Replacement) {
        for operators in self.rules.operator_namespaces_in(&rule.by) {
            self.need_operator_namespace(&operators.namespace);
        }
        self.hold_keys_of_text(&rule.by);
        let uses = self.uses_of(variable, self.rules.replacement_facts(rule));
        self.closure.substitutions.insert(variable, Substitution { rule: rule.clone(), uses: uses.clone() });
        let upstream = self.index.file(variable.file).binders(self.index.variable_name(variable)).next();
        let definition = upstream.map(|(statement, _)| DefinitionId { file: variable.file, statement });
        let definition = definition.expect("a variable has a binder");
        for used in uses {
            match used.entity {
                Entity::Variable(needed) => {
                    let need =
                        Need { by: Some(definition), reference: used.name, confidence: Confidence::DirectImport };
                    self.need_variable(needed, need);
                }
                entity => {
                    self.need_entity(definition, TextRange::new(0, 0), &used.name, &entity, Confidence::DirectImport);
                }
            }
        }
    }

    fn uses_of(&self, variable: Variable, facts: &FileFacts) -> Vec<SubstitutionUse> {
        let is_free = |reference: &&Reference| {
            let is_bound = facts.scopes.first().is_some_and(|module| module.locals.contains(&reference.name));
            reference.binding == ReferenceBinding::Module && !is_bound
        };
        let references = facts.statements.iter().flat_map(|statement| &statement.references).filter(is_free);
        let used = references.map(|reference| {
            let name = facts.name(reference.name);
            SubstitutionUse {
                range: reference.range,
                name: name.to_owned(),
                path: reference.path.iter().map(|attribute| facts.name(attribute.name).to_owned()).collect(),
                entity: self.index.resolve_global(variable.file, name),
                is_eager: reference.evaluation == Evaluation::Eager,
            }
        });
        used.filter(|used| !matches!(used.entity, Entity::Builtin | Entity::ModuleAttribute(_))).collect()
    }
}
