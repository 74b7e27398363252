//! Calls and assignments, as far as the facts know them.

use crate::facts::{Call, Evaluation, KeyPlace, KeyString, Reference, Statement};
use crate::index::{DefinitionId, Variable};

/// The calls of a statement, at any depth, with the references of what they call.
pub(super) fn calls(statement: &Statement) -> impl Iterator<Item = (&Call, &Reference)> {
    statement.calls.iter().filter_map(|call| {
        let references = &statement.references;
        let place = references.partition_point(|reference| reference.range.start < call.callee);
        let callee = references.get(place).filter(|callee| callee.range.start == call.callee)?;
        Some((call, callee))
    })
}

/// An argument, as far as the facts know it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Argument<'facts> {
    Key(&'facts KeyString),
    Reference(&'facts Reference),
}

/// The first two arguments of a call of which the facts know anything. What is put together of several parts counts by
/// its whole where that is a key, else by its first part.
pub(super) fn arguments<'facts>(
    statement: &'facts Statement,
    call: &Call,
    callee: &Reference,
) -> [Option<Argument<'facts>>; 2] {
    let start = callee.path.last().map_or(callee.range.end, |attribute| attribute.end);
    let is_inside = |place: u32| place >= start && place < call.range.end;
    let is_positional = |key: &&KeyString| matches!(key.place, KeyPlace::Positional | KeyPlace::Schema);
    let keys = statement.keys.iter().filter(is_positional).filter(|key| is_inside(key.range.start));
    let references = statement.references.iter().filter(|reference| is_inside(reference.range.start));
    let keys = keys.map(|key| (key.range.start, key.range.end, Argument::Key(key)));
    let references = references.map(|reference| {
        let end = reference.path.last().map_or(reference.range.end, |attribute| attribute.end);
        (reference.range.start, end, Argument::Reference(reference))
    });
    let mut arguments: Vec<_> = keys.chain(references).collect();
    // A key stands before the references that it is made of.
    arguments.sort_by_key(|(start, ..)| *start);
    let Some((_, end, first)) = arguments.first().copied() else { return [None, None] };
    let second = arguments.iter().find(|(start, ..)| *start >= end).map(|(.., argument)| *argument);
    [Some(first), second]
}

/// The variable that the binding directly before `place` binds: `variable = <place>`.
pub(super) fn variable_before(definition: DefinitionId, statement: &Statement, place: u32) -> Option<Variable> {
    let next = statement.bindings.partition_point(|binding| binding.range.start < place);
    let binding = statement.bindings[..next].last()?;
    let is_between = |reference: &Reference| {
        (binding.range.end..place).contains(&reference.range.start)
            && reference.evaluation != Evaluation::EagerAnnotation
    };
    let is_direct = !statement.references.iter().any(is_between);
    is_direct.then_some(Variable { file: definition.file, name: binding.name })
}
