//! The parameters of a block's constructor and of its `forward`, as upstream writes them.

use std::collections::{HashSet, VecDeque};

use netquarry_core::facts::FunctionFacts;
use netquarry_core::index::{DefinitionId, FileId, Variable};
use netquarry_core::record::ParameterRecord;
use netquarry_core::resolve::Entity;
use netquarry_core::source::TextRange;

use super::index::Indexed;

/// The parameters of the method that Python would find on the class, `self` left out; empty where no class of the corpus
/// defines it.
pub(super) fn parameters(indexed: &Indexed, class: Variable, method: &str) -> Vec<ParameterRecord> {
    let mut seen = HashSet::new();
    let mut waiting = VecDeque::from([class]);
    while let Some(variable) = waiting.pop_front() {
        if !seen.insert(variable) {
            continue;
        }
        let Some((definition, facts)) = indexed.index.class_of(variable) else { continue };
        let file = &indexed.index.file(definition.file).facts;
        // The last definition of a method is the one that a class keeps.
        if let Some(function) = facts.methods.iter().rev().find(|function| file.name(function.name) == method) {
            return records(indexed, definition, function);
        }
        let bases = facts.bases.iter().filter_map(|base| base.path);
        waiting.extend(bases.filter_map(|base| base_class(indexed, definition.file, file.name(base))));
    }
    Vec::new()
}

fn base_class(indexed: &Indexed, file: FileId, path: &str) -> Option<Variable> {
    match indexed.index.resolve_path(file, path) {
        (Entity::Variable(variable), rest) if rest.is_empty() => Some(variable),
        _ => None,
    }
}

fn records(indexed: &Indexed, definition: DefinitionId, function: &FunctionFacts) -> Vec<ParameterRecord> {
    let facts = &indexed.index.file(definition.file).facts;
    let text = indexed.texts.get(definition.file).ok();
    let slice = |range: TextRange| Some(one_line(range.slice(&text?.text)));
    let is_static = function
        .decorators
        .iter()
        .any(|decorator| decorator.path.is_some_and(|path| facts.name(path) == "staticmethod"));
    let bound = if is_static { 0 } else { 1 };
    let record = |parameter: &netquarry_core::facts::Parameter| ParameterRecord {
        name: facts.name(parameter.name).to_owned(),
        kind: parameter.kind,
        annotation: parameter.annotation.and_then(slice),
        default: parameter.default.and_then(slice),
    };
    function.parameters.iter().skip(bound).map(record).collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
