//! The part of a code that normalisation looks at: classes derived from something called `Module`, and the functions
//! that they call.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::syntax::{Outline, OutlineDefinition, OutlineKind, outline};

/// The lines of all `Module` classes and of all functions (methods and nested ones too) that are called by a bare name
/// in one; the whole code where there are none, or where it does not parse.
pub(super) fn model_region(code: &str) -> Cow<'_, str> {
    let Some(outline) = parsed(code) else { return Cow::Borrowed(code) };
    let spans = merged(spans(&outline));
    if spans.is_empty() {
        return Cow::Borrowed(code);
    }
    let starts = line_starts(code);
    let chunks = spans.iter().map(|[first, last]| {
        let offset = |line: u32| starts.get(line as usize).copied().unwrap_or(code.len());
        &code[offset(first - 1)..offset(*last)]
    });
    Cow::Owned(chunks.collect::<Vec<_>>().join("\n"))
}

/// The names of classes and of functions that are not `async`, at any depth; none where `code` does not parse.
pub(super) fn declared_names(code: &str) -> BTreeSet<Box<str>> {
    let definitions = parsed(code).unwrap_or_default().definitions.into_iter();
    definitions.filter(|definition| definition.kind != OutlineKind::AsyncFunction).map(|each| each.name).collect()
}

/// CPython's `ast.parse` takes a string without a byte-order mark and without NUL.
pub(super) fn parsed(code: &str) -> Option<Outline> {
    if code.starts_with('\u{feff}') || code.contains('\0') { None } else { outline(code).ok() }
}

fn spans(outline: &Outline) -> Vec<[u32; 2]> {
    let classes =
        || outline.definitions.iter().filter(|definition| matches!(definition.kind, OutlineKind::Class { .. }));
    let is_module = |definition: &&OutlineDefinition| matches!(&definition.kind, OutlineKind::Class { bases } if bases.iter().any(|base| &**base == "Module"));
    // NN-DUP goes on by name: a class that bears the name of a `Module` class counts as one when calls are looked for.
    let names: BTreeSet<&str> = classes().filter(is_module).map(|class| &*class.name).collect();
    let called: BTreeSet<&str> = classes()
        .filter(|class| names.contains(&*class.name))
        .flat_map(|class| &outline.calls[class.calls.clone()])
        .filter(|call| call.is_bare)
        .map(|call| &*call.name)
        .collect();
    let helpers = outline
        .definitions
        .iter()
        .filter(|definition| definition.kind == OutlineKind::Function && called.contains(&*definition.name));
    classes().filter(is_module).chain(helpers).map(|definition| definition.lines).collect()
}

/// Spans that overlap or touch become one.
fn merged(mut spans: Vec<[u32; 2]>) -> Vec<[u32; 2]> {
    spans.sort_unstable();
    let mut merged: Vec<[u32; 2]> = Vec::with_capacity(spans.len());
    for [first, last] in spans {
        match merged.last_mut() {
            Some(previous) if first <= previous[1] + 1 => previous[1] = previous[1].max(last),
            _ => merged.push([first, last]),
        }
    }
    merged
}

/// Where lines start for Python's `str.splitlines`. It ends lines at form feeds and the like too, where the parser does
/// not, so line numbers of the parser that are used on these lines cut at the wrong places. So does NN-DUP.
fn line_starts(code: &str) -> Vec<usize> {
    let mut starts = vec![0];
    let mut characters = code.char_indices().peekable();
    while let Some((index, character)) = characters.next() {
        if character == '\r' && characters.peek().is_some_and(|(_, next)| *next == '\n') {
            continue;
        }
        if matches!(character, '\n' | '\r' | '\x0b' | '\x0c' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}') {
            starts.push(index + character.len_utf8());
        }
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_and_the_functions_that_they_call() {
        let code = "\
import torch
def helper(x):
    return other(x)
def other(x):
    return x
@decorated
class A(nn.Module):
    def forward(self, x):
        return helper(x)
class B(Base):
    pass
";
        let region = "\
def helper(x):
    return other(x)

class A(nn.Module):
    def forward(self, x):
        return helper(x)
";
        assert_eq!(model_region(code), region);
    }

    #[test]
    fn without_a_module_everything_counts() {
        for code in ["class A(Base):\n    pass\n", "class A(Module:\n", "", "\u{feff}class A(Module): pass"] {
            assert_eq!(model_region(code), code);
        }
    }
}
