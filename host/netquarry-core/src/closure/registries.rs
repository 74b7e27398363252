//! Registries in a closure: entries without a registry are left out, and a registry brings the entries whose keys the
//! definitions of the closure hold.

use super::registrations::{Entry, Registering};
use super::{Closing, Need, UnknownKey};
use crate::facts::{Call, Decorator, KeyPlace, KeyString, StatementKind};
use crate::index::{DefinitionId, Variable};
use crate::record::{Confidence, ReplacedRecord};
use crate::source::TextRange;

/// A decorator or call that makes an entry of a registry which the closure does not hold so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct LeftOut {
    definition: DefinitionId,
    registry: Variable,
    range: TextRange,
}

impl Closing<'_> {
    /// The decorators and calls of a definition that only make entries of registries outside of the closure.
    pub(super) fn leave_out_entries(&mut self, definition: DefinitionId) -> (Vec<TextRange>, Vec<Call>) {
        let (index, rules) = (self.index, self.rules);
        if rules.registries().next().is_none() {
            return (Vec::new(), Vec::new());
        }
        let registrations = rules.registrations(index);
        let statement = index.statement(definition);
        let mut decorators = Vec::new();
        let mut calls = Vec::new();
        if matches!(statement.kind, StatementKind::Class | StatementKind::Function) {
            let of_classes = statement.classes.iter().flat_map(|class| &class.decorators);
            let of_functions = statement.functions.iter().flat_map(|function| &function.decorators);
            for decorator in of_classes.chain(of_functions) {
                if let Some(found) = registrations.of_decorator(index, rules, definition.file, decorator)
                    && self.leave_out(definition, found, decorator.range)
                {
                    decorators.push(decorator.range);
                    self.note_left_out_decorator(definition, decorator, found);
                }
            }
        } else {
            for call in statement.calls.iter().filter(|call| call.statement_in.is_some()) {
                if let Some(found) = registrations.of_call(index, rules, definition, call)
                    && self.leave_out(definition, found, call.range)
                {
                    calls.push(*call);
                }
            }
        }
        (decorators, calls)
    }

    fn leave_out(&mut self, definition: DefinitionId, found: Registering<'_>, range: TextRange) -> bool {
        let is_outside = !self.closure.variables.contains_key(&found.registry);
        if is_outside {
            self.left_out.push(LeftOut { definition, registry: found.registry, range });
        }
        is_outside
    }

    fn note_left_out_decorator(&mut self, definition: DefinitionId, decorator: &Decorator, found: Registering<'_>) {
        let path = decorator.path.map_or("", |path| self.index.file(definition.file).facts.name(path));
        let record = ReplacedRecord {
            what: format!("@{path} on {}", self.index.definition_path(definition)),
            by: String::new(),
            why: found.rule.why.clone(),
            plugin: found.plugin.to_owned(),
        };
        self.left_out_records.push((definition, decorator.range, record));
    }

    /// Notes the strings of a definition that may name entries.
    pub(super) fn note_keys(&mut self, definition: DefinitionId) {
        let facts = &self.index.file(definition.file).facts;
        for (place, key) in (0u32..).zip(&self.index.statement(definition).keys) {
            let KeyPlace::Named(name) = key.place else { continue };
            let name = facts.name(name);
            if self.rules.registries().any(|(rule, _)| rule.key_fields.iter().any(|field| field == name)) {
                self.keys.push((definition, place));
            }
        }
    }

    /// Takes back what was left out of entries whose registry has joined the closure since, and brings what the keys in
    /// it name. Returns whether there was anything to do.
    pub(super) fn enter_registries(&mut self) -> bool {
        let (joined, outside): (Vec<LeftOut>, Vec<LeftOut>) = std::mem::take(&mut self.left_out)
            .into_iter()
            .partition(|entry| self.closure.variables.contains_key(&entry.registry));
        self.left_out = outside;
        for entry in &joined {
            self.take_back(*entry);
        }
        let before = self.closure.definitions.len() + self.closure.variables.len();
        self.unknown_keys.clear();
        for (definition, place) in self.keys.clone() {
            self.follow_key(definition, &self.index.statement(definition).keys[place as usize]);
        }
        !joined.is_empty() || before != self.closure.definitions.len() + self.closure.variables.len()
    }

    fn take_back(&mut self, entry: LeftOut) {
        let closed =
            self.closure.definitions.get_mut(&entry.definition).expect("it was left out of the closure's text");
        closed.cuts.decorators.retain(|range| *range != entry.range);
        closed.cuts.calls.retain(|call| call.range != entry.range);
        self.left_out_records.retain(|(definition, range, _)| (*definition, *range) != (entry.definition, entry.range));
        self.follow_references_in(entry.definition, entry.range);
    }

    fn follow_key(&mut self, definition: DefinitionId, key: &KeyString) {
        let rules = self.rules;
        let registrations = rules.registrations(self.index);
        let KeyPlace::Named(field) = key.place else { return };
        let field = self.index.file(definition.file).facts.name(field);
        let takes_field = |registry: &Variable| {
            let rule = registrations.rule(rules, *registry);
            rule.is_some_and(|(rule, _)| rule.key_fields.iter().any(|name| name == field))
        };
        let held = self.closure.variables.keys().copied().filter(|variable| registrations.is_registry(*variable));
        let held: Vec<Variable> = held.filter(takes_field).collect();
        let need = Need {
            by: Some(definition),
            reference: format!("{field}={:?}", key.value),
            confidence: Confidence::Heuristic,
        };
        let mut is_known = self.bring_entries(&held, &key.value, &need);
        if !is_known {
            // The package's own programs look into its registry first, and fall back from there.
            let own = held.iter().flat_map(|registry| registrations.children(*registry));
            let own: Vec<Variable> = own.filter(|child| self.is_same_package(child.file, definition.file)).collect();
            is_known = self.bring_entries(&own, &key.value, &need);
        }
        if !is_known && !held.is_empty() {
            self.unknown_keys.push(UnknownKey {
                definition,
                range: key.range,
                field: field.to_owned(),
                key: key.value.to_string(),
            });
        }
    }

    /// Returns whether one of the registries has the key.
    fn bring_entries(&mut self, registries: &[Variable], key: &str, need: &Need) -> bool {
        let registrations = self.rules.registrations(self.index);
        let mut is_known = false;
        for registry in registries {
            for entry in registrations.entries(self.rules, *registry, key) {
                is_known = true;
                self.need_variable(*registry, need.clone());
                match entry {
                    Entry::Decorated(variable) => self.need_variable(*variable, need.clone()),
                    Entry::Statement(definition) => self.need_definition(*definition, need.clone()),
                }
            }
        }
        is_known
    }

    fn is_same_package(&self, left: crate::index::FileId, right: crate::index::FileId) -> bool {
        let root = |file| self.index.file(file).module().split('.').next().expect("split yields at least one part");
        root(left) == root(right)
    }
}
