//! Operators that a closure asks torch for by their names.

use super::{Closing, Need};
use crate::facts::Reference;
use crate::index::{DefinitionId, Operator, OperatorName, Variable};
use crate::record::{Confidence, ReplacedRecord};
use crate::resolve::{Entity, Resolution};
use crate::source::TextRange;

/// A reference by which a definition uses operators that the corpus defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorUse {
    /// Of the reference.
    pub range: TextRange,
    /// What makes the operators, in the order in which CPython would run it.
    pub definitions: Vec<DefinitionId>,
}

impl Closing<'_> {
    /// `torch.ops.<namespace>.<name>` needs what defines the operator, or the import that registers it.
    pub(super) fn need_operators(&mut self, reference: &Reference, definition: DefinitionId, resolution: &Resolution) {
        let Some(path) = self.operator_path(reference, definition, resolution) else { return };
        let (namespace, name) = match path.split_once('.') {
            Some((namespace, rest)) => (namespace, Some(rest.split('.').next().expect("split yields a part"))),
            None => (path.as_str(), None),
        };
        let operators: Vec<OperatorName> = match name {
            Some(name) => vec![OperatorName { namespace: namespace.into(), name: name.into() }],
            // Whoever has the namespace may ask for any of its operators.
            None if self.index.operators().is_space_binding(definition, reference) => Vec::new(),
            None => self.index.operators().operators_of(namespace).cloned().collect(),
        };
        let mut definitions = Vec::new();
        for operator in &operators {
            definitions.extend(self.need_operator(definition, operator));
        }
        if !definitions.is_empty() {
            let used = OperatorUse { range: reference.range, definitions };
            self.closure.operator_uses.entry(definition).or_default().push(used);
        } else if self.rules.operator_namespace(namespace).is_some() {
            self.need_operator_namespace(namespace);
        } else if let (Some(_), [operator]) = (name, operators.as_slice()) {
            self.report_unreadable(definition, reference.range, operator);
        }
    }

    /// What a reference names below `torch.ops`: `mylib.scale.default`.
    fn operator_path(
        &self,
        reference: &Reference,
        definition: DefinitionId,
        resolution: &Resolution,
    ) -> Option<String> {
        let base = match &resolution.entity {
            Entity::External(external) if external.package() == "torch" => external.object_path(),
            Entity::Variable(variable) => self.torch_object(definition, reference, *variable)?,
            _ => return None,
        };
        let facts = &self.index.file(definition.file).facts;
        let rest = reference.path[resolution.consumed..].iter().map(|attribute| facts.name(attribute.name));
        let path = std::iter::once(base.as_str()).chain(rest).collect::<Vec<_>>().join(".");
        path.strip_prefix("torch.ops.").map(str::to_owned)
    }

    /// What a variable stands for: a part of `torch.ops`, or torch where a module imports it only if it can.
    fn torch_object(&self, definition: DefinitionId, reference: &Reference, variable: Variable) -> Option<String> {
        let facts = &self.index.file(definition.file).facts;
        if let Some(space) = self.index.operators().space(variable) {
            return Some(space.to_owned());
        }
        let reads_operators = reference.path.iter().any(|attribute| facts.name(attribute.name) == "ops");
        reads_operators.then(|| self.index.named_in_torch(variable)).flatten()
    }

    /// Brings what makes an operator; it is returned. Nothing where no file of the corpus defines the operator.
    fn need_operator(&mut self, by: DefinitionId, name: &OperatorName) -> Vec<DefinitionId> {
        let index = self.index;
        let computed = index.operators().computed(&name.namespace);
        let (operator, confidence) = match (index.operators().operator(name), computed) {
            (Some(operator), _) => (operator, Confidence::QualifiedName),
            (None, Some(computed)) => (computed, Confidence::Heuristic),
            (None, None) => return Vec::new(),
        };
        let definitions = self.preferred(by, &operator.definitions);
        if definitions.is_empty() {
            return Vec::new();
        }
        self.need_makers(by, name, &definitions, confidence);
        let registrations = self.need_registrations(by, name, operator, &definitions);
        definitions.into_iter().chain(registrations).collect()
    }

    fn need_makers(
        &mut self,
        by: DefinitionId,
        name: &OperatorName,
        definitions: &[DefinitionId],
        confidence: Confidence,
    ) {
        let reference = format!("torch.ops.{}.{}", name.namespace, name.name);
        let need = Need { by: Some(by), reference, confidence };
        for definition in definitions {
            let objects = self.index.operators().objects(*definition);
            for variable in objects {
                self.need_variable(*variable, need.clone());
            }
            // What is only the operator comes by its variable, which a shim may replace.
            let bindings = self.index.statement(*definition).bindings.len();
            if objects.is_empty() || bindings != objects.len() {
                self.need_definition(*definition, need.clone());
            }
        }
    }

    /// An operator that a definition of the closure makes has all that is registered for it, however the definition came
    /// to be needed.
    pub(super) fn complete_operators(&mut self, definition: DefinitionId) {
        let index = self.index;
        for name in index.operators().defined_by(definition) {
            let operator = index.operators().operator(name).expect("it has a definition");
            self.need_registrations(definition, name, operator, &[definition]);
        }
    }

    /// Brings what the sources of the user and of the definitions register for an operator, but for the files that define
    /// it in another way.
    fn need_registrations(
        &mut self,
        by: DefinitionId,
        name: &OperatorName,
        operator: &Operator,
        definitions: &[DefinitionId],
    ) -> Vec<DefinitionId> {
        let index = self.index;
        let source = |definition: &DefinitionId| index.file(definition.file).source;
        let computed = index.operators().computed(&name.namespace).into_iter();
        let all = operator.registrations.iter().chain(computed.flat_map(|computed| &computed.registrations));
        let belongs = |registration: &&DefinitionId| {
            let is_near = source(registration) == source(&by)
                || definitions.iter().any(|definition| source(definition) == source(registration));
            let is_beside = |definition: &DefinitionId| definition.file == registration.file;
            let is_others = operator.definitions.iter().any(is_beside) && !definitions.iter().any(is_beside);
            is_near && !is_others
        };
        let registrations: Vec<DefinitionId> = all.filter(belongs).copied().collect();
        self.need_makers(by, name, &registrations, Confidence::QualifiedName);
        registrations
    }

    /// Of several definitions of one operator those that run when the block is imported, or else those of the user's
    /// source, or of the first that has any.
    fn preferred(&mut self, by: DefinitionId, definitions: &[DefinitionId]) -> Vec<DefinitionId> {
        let running: Vec<_> = definitions.iter().copied().filter(|found| self.may_run(found.file)).collect();
        if !running.is_empty() {
            return running;
        }
        let source = |definition: &DefinitionId| self.index.file(definition.file).source;
        let own = definitions.iter().find(|found| source(found) == source(&by));
        let Some(chosen) = own.or_else(|| definitions.iter().min_by_key(|found| source(found))).map(source) else {
            return Vec::new();
        };
        definitions.iter().copied().filter(|found| source(found) == chosen).collect()
    }

    pub(super) fn need_operator_namespace(&mut self, namespace: &str) {
        if let Some((rule, plugin)) = self.rules.operator_namespace(namespace)
            && !self.closure.operators.contains(rule)
        {
            self.closure.operators.push(rule.clone());
            self.closure.replaced.push(ReplacedRecord {
                what: format!("registration of torch.ops.{namespace}"),
                by: rule.import.clone(),
                why: rule.why.clone(),
                plugin: plugin.to_owned(),
            });
        }
    }

    /// An operator that nobody is known to define may be one of those that the source defines under a computed name.
    fn report_unreadable(&mut self, definition: DefinitionId, range: TextRange, name: &OperatorName) {
        let index = self.index;
        if name.is_of_torch() {
            return;
        }
        let source = |definition: &DefinitionId| index.file(definition.file).source;
        let mut unreadable = index.operators().unreadable().iter();
        let Some(first) = unreadable.find(|found| source(found) == source(&definition)) else { return };
        let operator = format!("torch.ops.{}.{}", name.namespace, name.name);
        let path = index.definition_path(*first);
        let message = format!(
            "no statement is known to define this operator; {path} defines operators under names that it computes"
        );
        self.unresolved(definition, range, &operator, false, message);
    }
}
