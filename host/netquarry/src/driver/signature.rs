//! The parameters of a block's constructor and of its `forward`, as upstream writes them.

use netquarry_core::facts::FunctionFacts;
use netquarry_core::index::{Base, DefinitionId, Variable};
use netquarry_core::record::ParameterRecord;
use netquarry_core::source::TextRange;

use super::index::Indexed;

/// The parameters of the method that Python would find on the class, `self` left out; empty where no class of the corpus
/// defines it.
pub(super) fn parameters(indexed: &Indexed, class: Variable, method: &str) -> Vec<ParameterRecord> {
    let Some((definition, facts)) = indexed.index.class_of(class) else { return Vec::new() };
    for ancestor in indexed.index.lineage(definition, facts) {
        let Base::Class(definition, facts) = ancestor else { continue };
        let file = &indexed.index.file(definition.file).facts;
        // The last definition of a method is the one that a class keeps.
        if let Some(function) = facts.methods.iter().rev().find(|function| file.name(function.name) == method) {
            return records(indexed, definition, function);
        }
    }
    Vec::new()
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
