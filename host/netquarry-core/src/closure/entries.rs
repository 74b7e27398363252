//! Objects that modules fill by decorators and calls, of which no shim's rule says how: a block that reads one needs all
//! its entries, since upstream's object has them all.
//!
//! A block that only registers itself reads nothing, and brings no other entry.

use std::collections::BTreeMap;

use super::{Closing, Need};
use crate::facts::{Evaluation, Reference, Role, StatementKind};
use crate::index::{DefinitionId, Entry, Variable};
use crate::record::{Confidence, ReplacedRecord};
use crate::resolve::{Entity, Resolution};
use crate::shim::Rule;

impl<'index> Closing<'index> {
    /// Brings the entries of what a reference reads.
    pub(super) fn need_entries(
        &mut self,
        definition: DefinitionId,
        reference: &Reference,
        resolution: &Resolution,
        written: &str,
    ) {
        let Entity::Variable(variable) = resolution.entity else { return };
        let effects = self.index.effects();
        let is_known = !self.index.entries_of(variable).is_empty() || effects.changed_by(variable).next().is_some();
        if !is_known || is_annotation(reference) || self.is_answered(definition) {
            return;
        }
        let object = self.index.origin(variable);
        if self.reads(definition, reference, resolution, object) {
            self.need_entries_of(object, definition, written);
        }
        for changed in effects.changed_by(variable) {
            // Whoever uses a function that changes the object may have it asked for what it holds.
            let is_such_a_function = self.binds_any(definition, |own| effects.changed_by(own).any(|it| it == changed));
            if !is_such_a_function && !self.is_in_entry(definition, reference, changed) {
                self.need_entries_of(changed, definition, written);
            }
        }
    }

    /// Whether a shim answers which entries a definition asks for.
    fn is_answered(&self, definition: DefinitionId) -> bool {
        self.binds_any(definition, |own| self.rules.dynamic(&self.index.variable_path(own)).is_some())
    }

    fn reads(
        &self,
        definition: DefinitionId,
        reference: &Reference,
        resolution: &Resolution,
        variable: Variable,
    ) -> bool {
        let effects = self.index.effects();
        let facts = &self.index.file(definition.file).facts;
        let makes_entries = |method: &str| effects.is_made_by(variable, method);
        let rest = &reference.path[resolution.consumed..];
        let method = rest.last().map(|attribute| facts.name(attribute.name));
        // `@Base.register("mine") class Mine(Base)` only registers itself.
        let is_own_base = reference.role == Role::Base && effects.entries_by(variable, definition).next().is_some();
        !effects.entries(variable).is_empty()
            && !method.is_some_and(makes_entries)
            && !is_own_base
            && !self.binds_any(definition, |own| {
                self.index.origin(own) == variable || effects.changes_itself(own, variable)
            })
            && !self.is_in_entry(definition, reference, variable)
    }

    /// Whether a reference is part of the decorator or call that makes an entry.
    fn is_in_entry(&self, definition: DefinitionId, reference: &Reference, variable: Variable) -> bool {
        let mut entries = self.index.effects().entries_by(variable, definition);
        entries.any(|entry| entry.range.contains(reference.range))
    }

    fn binds_any(&self, definition: DefinitionId, is_wanted: impl Fn(Variable) -> bool) -> bool {
        let bindings = &self.index.statement(definition).bindings;
        bindings.iter().any(|binding| is_wanted(Variable { file: definition.file, name: binding.name }))
    }

    fn need_entries_of(&mut self, variable: Variable, by: DefinitionId, written: &str) {
        let index = self.index;
        let entries = index.effects().entries(variable);
        if entries.is_empty() || self.rules.registrations(index).is_registry(variable) || !self.read.insert(variable) {
            return;
        }
        let need = Need { by: Some(by), reference: written.to_owned(), confidence: Confidence::Heuristic };
        let mut left_out: BTreeMap<&str, ((&Rule, &str), usize)> = BTreeMap::new();
        for entry in entries {
            let definition = entry.definition;
            let runs = definition.file == variable.file || self.may_run(definition.file);
            if !runs || index.operators().is_entry(variable, definition) || self.rules.replacement(&entry.by).is_some()
            {
                continue;
            }
            if let Some(rule) = self.dropping_rule(entry) {
                let (_, count) = left_out.entry(&*entry.by).or_insert((rule, 0));
                *count += 1;
                continue;
            }
            let statement = index.statement(definition);
            match &*statement.bindings {
                [binding] if matches!(statement.kind, StatementKind::Class | StatementKind::Function) => {
                    self.need_variable(Variable { file: definition.file, name: binding.name }, need.clone());
                }
                _ => self.need_definition(definition, need.clone()),
            }
        }
        for (by, ((rule, plugin), count)) in left_out {
            self.closure.replaced.push(ReplacedRecord {
                what: format!("entries of {} by {by}: {count}", index.variable_path(variable)),
                by: String::new(),
                why: rule.why.clone(),
                plugin: plugin.to_owned(),
            });
        }
    }

    /// The rule of a shim by which the decorator or call is left out.
    fn dropping_rule(&self, entry: &Entry) -> Option<(&'index Rule, &'index str)> {
        match entry.is_decorator {
            true => self.rules.dropped_decorator(&entry.by),
            false => self.rules.dropped_call(&entry.by),
        }
    }
}

/// An annotation names an object and reads nothing off it.
fn is_annotation(reference: &Reference) -> bool {
    matches!(reference.evaluation, Evaluation::EagerAnnotation | Evaluation::LazyAnnotation | Evaluation::Never)
}
