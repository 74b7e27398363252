//! The text of a bundle, with the way back from its lines to upstream's.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::edits::{Edit, Editing};
use super::imports::Imports;
use super::names::Names;
use super::order::Item;
use super::uses::{Named, TYPES, Uses};
use super::{LineSpan, Texts};
use crate::closure::Closure;
use crate::facts::StatementKind;
use crate::index::{DefinitionId, FileId, Index, Variable};
use crate::record::EditRecord;
use crate::source::{TextRange, line_ends, lines_of};

pub(super) struct Parts<'parts> {
    pub(super) index: &'parts Index,
    pub(super) closure: &'parts Closure,
    pub(super) uses: &'parts Uses<'parts>,
    pub(super) names: &'parts Names,
    pub(super) order: &'parts [Item],
    pub(super) imports: &'parts Imports,
}

pub(super) struct Rendered {
    pub(super) text: String,
    pub(super) edits: Vec<EditRecord>,
    pub(super) line_map: Vec<LineSpan>,
}

pub(super) fn render(parts: &Parts<'_>, texts: &Texts<'_>) -> Rendered {
    let future_annotations = postpones_annotations(parts);
    let editing = Editing {
        index: parts.index,
        closure: parts.closure,
        uses: parts.uses,
        names: parts.names,
        imports: parts.imports,
        future_annotations,
    };
    let mut page = Page { text: String::new(), line_ends: 0, edits: Vec::new(), line_map: Vec::new() };
    page.push(&parts.imports.text(future_annotations));
    page.end_line();
    let mut files: BTreeMap<FileId, Arc<str>> = BTreeMap::new();
    let mut previous = None;
    for item in parts.order {
        match item {
            Item::Definition(definition) => {
                let text = files.entry(definition.file).or_insert_with(|| texts(definition.file));
                let statement = parts.index.statement(*definition);
                let is_block = !matches!(
                    statement.kind,
                    StatementKind::Assign
                        | StatementKind::AugAssign
                        | StatementKind::Expression
                        | StatementKind::Import
                );
                let path = &parts.index.file(definition.file).file.path;
                page.separate(previous, Place { file: Some(definition.file), is_block }, path);
                page.definition(&editing, *definition, text);
                if let Some((name, renamed)) = renamed_class(parts, *definition) {
                    page.push(&format!("\n\n{renamed}.__name__ = \"{name}\"  # as upstream calls it\n"));
                }
                previous = Some(Place { file: Some(definition.file), is_block });
            }
            Item::Namespace(file) => {
                page.separate(previous, Place { file: None, is_block: true }, "");
                page.push(&namespace(parts, *file));
                previous = Some(Place { file: None, is_block: true });
            }
            Item::Replacement(variable) => {
                let replacement = &parts.closure.substitutions[variable].rule;
                page.separate(previous, Place { file: None, is_block: true }, "");
                page.push(&format!("# Replaces {}: {}\n", parts.index.variable_path(*variable), replacement.why));
                page.push(replacement_text(parts, *variable).trim_end());
                page.end_line();
                previous = Some(Place { file: None, is_block: true });
            }
            Item::Alias(file, symbol) => {
                let name = parts.names.of(&Named::Alias(*file, *symbol));
                let variable = parts.uses.aliases[&(*file, *symbol)];
                let Some(value) = parts.names.of_variable(variable) else { continue };
                let place = Place { file: Some(*file), is_block: false };
                page.separate(previous, place, &parts.index.file(*file).file.path);
                page.push(&format!("{name} = {value}\n"));
                previous = Some(place);
            }
        }
    }
    Rendered { text: page.text, edits: page.edits, line_map: page.line_map }
}

/// The statements that make a module object.
fn namespace(parts: &Parts<'_>, file: FileId) -> String {
    let module = parts.index.file(file).module();
    let name = parts.names.of(&Named::Module(file));
    let types = parts.names.of(&Named::External { path: TYPES.to_owned(), wanted: TYPES.to_owned() });
    let mut text =
        format!("# The module {module}, which is used as an object.\n{name} = {types}.ModuleType(\"{module}\")\n");
    for (member, named) in &parts.uses.namespaces[&file] {
        text.push_str(&format!("{name}.{member} = {}\n", parts.names.of(named)));
    }
    text
}

/// The text of a replacement, under the names that the bundle gives to what it uses.
fn replacement_text(parts: &Parts<'_>, variable: Variable) -> String {
    let mut text = parts.closure.substitutions[&variable].rule.by.clone();
    let mut uses: Vec<_> = parts.uses.by_replacement[&variable].iter().collect();
    uses.sort_by_key(|(used, _)| std::cmp::Reverse(used.range));
    for (used, named) in uses {
        text.replace_range(used.range.start as usize..used.range.end as usize, parts.names.of(named));
    }
    text
}

/// Whether the bundle can postpone the evaluation of all annotations, as the files of all its definitions do that have
/// any.
fn postpones_annotations(parts: &Parts<'_>) -> bool {
    let mut annotated = parts
        .closure
        .definitions
        .keys()
        .filter(|definition| !parts.index.statement(**definition).annotations.is_empty())
        .map(|definition| parts.index.file(definition.file).facts.future_annotations)
        .peekable();
    annotated.peek().is_some() && annotated.all(|postponed| postponed)
}

/// Upstream's name and the bundle's of a class that is renamed. What `repr` shows and registries use is `__name__`;
/// `__qualname__` stays the name under which pickle and `inspect` look the class up. A decorated class may be anything.
fn renamed_class<'parts>(parts: &Parts<'parts>, definition: DefinitionId) -> Option<(&'parts str, &'parts str)> {
    let [class] = parts.index.statement(definition).classes.as_slice() else { return None };
    if parts.index.statement(definition).kind != StatementKind::Class || !class.decorators.is_empty() {
        return None;
    }
    let name = parts.index.file(definition.file).facts.name(class.name);
    let renamed = parts.names.of_variable(Variable { file: definition.file, name: class.name })?;
    (name != renamed).then_some((name, renamed))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    /// `None` for what stands in no upstream file.
    file: Option<FileId>,
    /// A class, a function or another statement with a body, which PEP 8 sets apart by two empty lines.
    is_block: bool,
}

struct Page {
    text: String,
    /// The number of line ends in `text`.
    line_ends: u32,
    edits: Vec<EditRecord>,
    line_map: Vec<LineSpan>,
}

impl Page {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.line_ends += line_ends(text);
    }

    fn end_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.push("\n");
        }
    }

    fn separate(&mut self, previous: Option<Place>, next: Place, path: &str) {
        let same_file = previous.is_some_and(|previous| previous.file == next.file && next.file.is_some());
        let apart = next.is_block || previous.is_none_or(|previous| previous.is_block);
        if !self.text.is_empty() {
            self.push(if apart || !same_file { "\n\n" } else { "" });
        }
        if !same_file && next.file.is_some() {
            self.push(&format!("# --- {path} ---\n"));
        }
    }

    fn definition(&mut self, editing: &Editing<'_>, definition: DefinitionId, text: &str) {
        let statement = editing.index.statement(definition);
        let path = &editing.index.file(definition.file).file.path;
        let whole = TextRange::new(statement.leading_comments, with_trailing_comment(text, statement.range.end));
        let mut from = whole.start;
        let mut line = lines_of(text, TextRange::new(from, from))[0];
        for edit in editing.of(definition, text) {
            self.copy(TextRange::new(from, edit.range.start).slice(text), path, &mut line);
            self.note(&edit, path, line, text);
            self.push(&edit.replacement);
            line += line_ends(edit.range.slice(text));
            from = edit.range.end;
        }
        self.copy(TextRange::new(from, whole.end.max(from)).slice(text), path, &mut line);
        self.end_line();
    }

    /// Appends upstream's text, which starts on line `line` of `path`.
    fn copy(&mut self, piece: &str, path: &str, line: &mut u32) {
        let bundle_start = 1 + self.line_ends;
        let lines = 1 + line_ends(piece);
        match self.line_map.last_mut() {
            // An edit within a line leaves the lines in step.
            Some(last)
                if last.path == path
                    && last.bundle_start + last.lines > bundle_start
                    && bundle_start - last.bundle_start == line.wrapping_sub(last.upstream_start) =>
            {
                last.lines = last.lines.max(bundle_start + lines - last.bundle_start);
            }
            _ => self.line_map.push(LineSpan { bundle_start, lines, path: path.to_owned(), upstream_start: *line }),
        }
        self.push(piece);
        *line += line_ends(piece);
    }

    fn note(&mut self, edit: &Edit, path: &str, line: u32, text: &str) {
        self.edits.push(EditRecord {
            upstream: format!("{path}:{line}"),
            before: edit.range.slice(text).to_owned(),
            after: edit.replacement.clone(),
            reason: edit.reason.to_owned(),
        });
    }
}

/// The end of the comment that follows on the same line, or `end` where something else does.
fn with_trailing_comment(text: &str, end: u32) -> u32 {
    let rest = &text[end as usize..];
    let line = rest.lines().next().unwrap_or_default();
    let is_comment = line.trim_start().starts_with('#');
    if is_comment { end + u32::try_from(line.trim_end().len()).expect("files are below 4 GiB") } else { end }
}
