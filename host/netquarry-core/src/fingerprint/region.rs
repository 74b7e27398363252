//! The part of a code that normalisation looks at: classes derived from something called `Module`, and the functions
//! that they call.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::syntax::{Outline, OutlineDefinition, OutlineKind, outline};

/// The part of a code that is compared, and the names of classes and functions in it. Functions that are `async` do not
/// count.
pub(super) struct Region<'c> {
    pub(super) text: Cow<'c, str>,
    pub(super) declared: BTreeSet<Box<str>>,
}

/// The lines of all `Module` classes and of all functions (methods and nested ones too) that are called by a bare name
/// in one; the whole code where there are none, or where it does not parse. No names where the region does not parse.
///
/// `outline` is that of the code, and `read` outlines other texts.
pub(super) fn model_region(
    code: &str,
    outline: Option<Outline>,
    read: impl FnOnce(&str) -> Option<Outline>,
) -> Region<'_> {
    let Some(outline) = outline else { return Region { text: Cow::Borrowed(code), declared: BTreeSet::new() } };
    let chosen = chosen(&outline);
    if chosen.is_empty() {
        return Region { text: Cow::Borrowed(code), declared: declared_names(outline) };
    }
    let spans = merged(chosen.iter().map(|definition| definition.lines).collect());
    let starts = line_starts(code);
    let offset = |line: u32| starts.get(line as usize).copied().unwrap_or(code.len());
    let chunks: Vec<&str> = spans.iter().map(|[first, last]| &code[offset(first - 1)..offset(*last)]).collect();
    let text = chunks.join("\n");
    // Definitions that start their lines are whole statements of the module, and so is what they are joined to.
    // Otherwise the region may be indented and not parse, or parse as something else: only reading it tells.
    let is_whole = |chunk: &&str| chunk.starts_with("class") || chunk.starts_with("def");
    let declared = if chunks.iter().all(is_whole) && !has_other_line_ends(code) {
        let inside = |definition: &OutlineDefinition| {
            spans.iter().any(|[first, last]| *first <= definition.lines[0] && definition.lines[1] <= *last)
        };
        let definitions = outline.definitions.into_iter().filter(inside).collect();
        declared_names(Outline { definitions, calls: Vec::new() })
    } else {
        read(&text).map(declared_names).unwrap_or_default()
    };
    Region { text: Cow::Owned(text), declared }
}

/// The lines of the last class of that name; `None` where the code has none.
pub(super) fn class<'c>(code: &'c str, outline: &Outline, name: &str) -> Option<&'c str> {
    let class = outline.definitions.iter().rfind(|definition| is_class(definition, name))?;
    Some(lines(code, class.lines))
}

/// Whether a class of that name is defined.
pub(super) fn is_class(definition: &OutlineDefinition, name: &str) -> bool {
    matches!(definition.kind, OutlineKind::Class { .. }) && &*definition.name == name
}

/// Whole lines, counted from 1, both included.
pub(super) fn lines(code: &str, [first, last]: [u32; 2]) -> &str {
    let starts = line_starts(code);
    let offset = |line: u32| starts.get(line as usize).copied().unwrap_or(code.len());
    &code[offset(first - 1)..offset(last)]
}

fn declared_names(outline: Outline) -> BTreeSet<Box<str>> {
    let definitions = outline.definitions.into_iter();
    definitions.filter(|definition| definition.kind != OutlineKind::AsyncFunction).map(|each| each.name).collect()
}

/// CPython's `ast.parse` takes a string without a byte-order mark and without NUL.
pub(super) fn parsed(code: &str) -> Option<Outline> {
    if code.starts_with('\u{feff}') || code.contains('\0') { None } else { outline(code).ok() }
}

/// The `Module` classes and the functions that they call.
fn chosen(outline: &Outline) -> Vec<&OutlineDefinition> {
    let classes =
        || outline.definitions.iter().filter(|definition| matches!(definition.kind, OutlineKind::Class { .. }));
    let is_module = |definition: &&OutlineDefinition| is_module(&definition.kind);
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
    classes().filter(is_module).chain(helpers).collect()
}

fn is_module(kind: &OutlineKind) -> bool {
    match kind {
        OutlineKind::Class { bases } => bases.iter().any(|base| &**base == "Module"),
        OutlineKind::Function | OutlineKind::AsyncFunction => false,
    }
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
        if matches!(character, '\n' | '\r') || ends_only_pythons_lines(character) {
            starts.push(index + character.len_utf8());
        }
    }
    starts
}

fn has_other_line_ends(code: &str) -> bool {
    code.contains(ends_only_pythons_lines)
}

/// Ends a line for `str.splitlines` and none for the parser.
fn ends_only_pythons_lines(character: char) -> bool {
    matches!(character, '\x0b' | '\x0c' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}')
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
        assert_eq!(model_region(code, parsed(code), parsed).text, region);
    }

    /// The method becomes one of `A`, and the region parses; without `A` it would not.
    #[test]
    fn a_method_that_bears_the_name_of_a_called_function() {
        let class = "class A(Module):\n    x = helper()\n";
        let method = "    def helper(self):\n        pass\n";
        let region = model_region_of(&format!("{class}class B:\n{method}"));
        assert_eq!(region, (format!("{class}\n{method}"), ["A", "helper"].join(" ")));
        let region = model_region_of(&format!("class B:\n{method}{class}"));
        assert_eq!(region, (format!("{method}{class}"), String::new()));
    }

    fn model_region_of(code: &str) -> (String, String) {
        let Region { text, declared } = model_region(code, parsed(code), parsed);
        (text.into_owned(), declared.into_iter().collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn without_a_module_everything_counts() {
        for code in ["class A(Base):\n    pass\n", "class A(Module:\n", "", "\u{feff}class A(Module): pass"] {
            assert_eq!(model_region(code, parsed(code), parsed).text, code);
        }
    }
}
