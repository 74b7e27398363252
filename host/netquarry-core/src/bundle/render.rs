//! The text of a bundle, with the way back from its lines to upstream's.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::edits::{Edit, Editing};
use super::graph::Item;
use super::imports::Imports;
use super::late::Late;
use super::names::Names;
use super::order::Order;
use super::uses::{Named, TYPES, Uses};
use super::{LineSpan, Texts};
use crate::closure::Closure;
use crate::facts::StatementKind;
use crate::index::{DefinitionId, FileId, Index, Variable};
use crate::record::EditRecord;
use crate::source::{TextRange, line_ends, lines_of};
use crate::syntax;

/// Of what stands in a function that upstream has at module level.
const INDENTATION: &str = "        ";

/// So many lines of what is left out stand in the record: methods can be hundreds of lines long.
const SHOWN: u32 = 3;

pub(super) struct Parts<'parts> {
    pub(super) index: &'parts Index,
    pub(super) closure: &'parts Closure,
    pub(super) uses: &'parts Uses<'parts>,
    pub(super) names: &'parts Names,
    pub(super) order: &'parts Order,
    pub(super) late: &'parts Late,
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
        late: parts.late,
        future_annotations,
    };
    let mut page = Page { text: String::new(), line_ends: 0, edits: Vec::new(), line_map: Vec::new() };
    page.push(&parts.imports.text(future_annotations));
    page.end_line();
    let mut writing = Writing { parts, editing, texts, files: BTreeMap::new(), page, previous: None };
    for item in &parts.order.items {
        writing.item(*item);
    }
    let page = writing.page;
    Rendered { text: page.text, edits: page.edits, line_map: page.line_map }
}

/// A bundle of which some items are written.
struct Writing<'parts> {
    parts: &'parts Parts<'parts>,
    editing: Editing<'parts>,
    texts: &'parts Texts<'parts>,
    files: BTreeMap<FileId, Arc<str>>,
    page: Page,
    previous: Option<Place>,
}

impl Writing<'_> {
    fn item(&mut self, item: Item) {
        let parts = self.parts;
        match item {
            Item::Definition(definition) => self.definition(definition),
            Item::Namespace(file) => {
                self.begin(Place { file: None, is_block: true });
                self.page.push(&namespace(parts, file));
            }
            Item::Replacement(variable) => {
                self.begin(Place { file: None, is_block: true });
                let replacement = &parts.closure.substitutions[&variable].rule;
                self.page.push(&format!("# Replaces {}: {}\n", parts.index.variable_path(variable), replacement.why));
                self.page.push(replacement_text(parts, variable).trim_end());
                self.page.end_line();
            }
            Item::Alias(file, symbol) => {
                let variable = parts.uses.aliases[&(file, symbol)];
                let Some(value) = parts.names.of_variable(variable) else { return };
                self.begin(Place { file: Some(file), is_block: false });
                let name = parts.names.of(&Named::Alias(file, symbol));
                self.page.push(&format!("{name} = {value}\n"));
            }
            Item::Late(number) => self.late_group(number),
        }
    }

    fn begin(&mut self, place: Place) {
        let path = place.file.map_or("", |file| &self.parts.index.file(file).file.path);
        self.page.separate(self.previous, place, path);
        self.previous = Some(place);
    }

    fn definition(&mut self, definition: DefinitionId) {
        let kind = self.parts.index.statement(definition).kind;
        let is_block = !matches!(
            kind,
            StatementKind::Assign | StatementKind::AugAssign | StatementKind::Expression | StatementKind::Import
        );
        self.begin(Place { file: Some(definition.file), is_block });
        let text = self.files.entry(definition.file).or_insert_with(|| (self.texts)(definition.file));
        self.page.definition(&self.editing, definition, text);
        if let Some((name, renamed)) = renamed_class(self.parts, definition) {
            self.page.push(&format!("\n\n{renamed}.__name__ = \"{name}\"  # as upstream calls it\n"));
        }
    }

    /// A function that runs its items once. One of imports alone needs no `begun`: Python runs a module once.
    fn late_group(&mut self, number: usize) {
        let parts = self.parts;
        let group = &parts.late.groups()[number];
        let function = parts.names.of(&Named::Late(group.file));
        let path = &parts.index.file(group.file).file.path;
        let items = &parts.order.groups[number];
        let statements = parts.imports.of_group(group);
        let imports: String = statements.iter().map(|(statement, _)| in_function(statement)).collect();
        let names = bound_names(parts, items).into_iter().chain(parts.imports.names_of_group(group)).collect();
        let globals: String = chunks(names).iter().map(|names| format!("    global {names}\n")).collect();
        self.begin(Place { file: None, is_block: true });
        self.page.push(&format!(
            "def {function}():\n    \"\"\"Runs what upstream runs when it imports {path}, which it does late.\"\"\"\n"
        ));
        if items.is_empty() {
            self.page.push(&globals);
            self.map_imports(&statements);
            self.page.push(&syntax::indented(&imports, "    "));
        } else {
            self.page.push(&format!("    if hasattr({function}, \"begun\"):\n        return\n{globals}"));
            // As with a module that is being imported: who asks again gets what is there, and after an error it is tried
            // anew.
            self.page.push(&format!("    {function}.begun = True\n    try:\n"));
            let start = self.page.text.len();
            self.map_imports(&statements);
            self.page.push(&imports);
            self.previous = None;
            for item in items {
                self.item(*item);
                self.note_indentation(*item);
            }
            self.page.indent(start);
            self.page.push(&format!("    except BaseException:\n        del {function}.begun\n        raise\n"));
        }
        // Import statements it runs anyway. What is raised while it traces reaches no handler of the block, not one further
        // out either: where the import itself stands in a `try`, as those do that may fail, it is left to break the graph.
        let has_star = statements.iter().any(|(statement, _)| is_star(statement));
        if (has_star || !items.is_empty()) && !parts.late.is_tried(group) {
            let mark = format!("\n\n{function}._dynamo_marked_constant = True");
            self.page.push(&format!("{mark}  # torch.compile runs it while it traces, as it runs imports\n"));
        }
        self.previous = Some(Place { file: None, is_block: true });
    }

    /// Import statements are about to be written, each on a line of its own, that stand for those of upstream's.
    fn map_imports(&mut self, statements: &[(&str, Option<(FileId, TextRange)>)]) {
        for (bundle_start, (_, upstream)) in (1 + self.page.line_ends..).zip(statements) {
            let Some((file, range)) = *upstream else { continue };
            let text = self.files.entry(file).or_insert_with(|| (self.texts)(file));
            let [upstream_start, _] = lines_of(text, range);
            let path = self.parts.index.file(file).file.path.clone();
            self.page.line_map.push(LineSpan { bundle_start, lines: 1, path, upstream_start });
        }
    }

    fn note_indentation(&mut self, item: Item) {
        let Item::Definition(definition) = item else { return };
        let [line, _] = lines_of(&self.files[&definition.file], self.parts.index.statement(definition).range);
        self.page.edits.push(EditRecord {
            upstream: format!("{}:{line}", self.parts.index.file(definition.file).file.path),
            before: String::new(),
            lines: 0,
            after: INDENTATION.to_owned(),
            reason: "every line is indented: the definition waits in a function for what upstream imports late".into(),
        });
    }
}

/// An import statement as a line of a function. There are no stars in functions.
fn in_function(statement: &str) -> String {
    match is_star(statement) {
        true => format!("exec(\"{statement}\", globals())\n"),
        false => format!("{statement}\n"),
    }
}

fn is_star(statement: &str) -> bool {
    statement.ends_with(" *")
}

/// The names that items bind in the bundle.
fn bound_names(parts: &Parts<'_>, items: &[Item]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for item in items {
        match item {
            Item::Definition(definition) => names.extend(bindings(parts, *definition)),
            Item::Late(_) => {}
            Item::Namespace(file) => {
                names.insert(parts.names.of(&Named::Module(*file)).to_owned());
            }
            Item::Replacement(variable) => names.extend(parts.names.of_variable(*variable).map(str::to_owned)),
            Item::Alias(file, symbol) => {
                names.insert(parts.names.of(&Named::Alias(*file, *symbol)).to_owned());
            }
        }
    }
    names
}

/// Under the names of the bundle.
fn bindings(parts: &Parts<'_>, definition: DefinitionId) -> impl Iterator<Item = String> {
    let facts = &parts.index.file(definition.file).facts;
    parts.index.statement(definition).bindings.iter().map(move |binding| {
        let variable = Variable { file: definition.file, name: binding.name };
        parts.names.of_variable(variable).unwrap_or_else(|| facts.name(binding.name)).to_owned()
    })
}

/// Names with commas between them, as many as fit on a line.
fn chunks(names: BTreeSet<String>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for name in names {
        match lines.last_mut() {
            Some(line) if line.len() + name.len() < 90 => line.extend([", ", &name]),
            _ => lines.push(name),
        }
    }
    lines
}

/// The statements that make a module object.
fn namespace(parts: &Parts<'_>, file: FileId) -> String {
    let module = parts.index.file(file).module();
    let name = parts.names.of(&Named::Module(file));
    let types = parts.names.of(&Named::External { path: TYPES.to_owned(), wanted: TYPES.to_owned() });
    let mut text =
        format!("# The module {module}, which is used as an object.\n{name} = {types}.ModuleType(\"{module}\")\n");
    for (member, named) in &parts.uses.namespaces[&file] {
        let value = parts.names.of(named);
        let assignment = format!("{name}.{member} = {value}\n");
        match named {
            Named::Variable(variable) if may_be_unbound(parts.index, *variable) => {
                text.push_str(&format!("if \"{value}\" in globals():\n    {assignment}"));
            }
            _ => text.push_str(&assignment),
        }
    }
    text
}

/// Whether nothing but statements with branches bind the variable.
fn may_be_unbound(index: &Index, variable: Variable) -> bool {
    let file = index.file(variable.file);
    let has_branches =
        |kind| matches!(kind, StatementKind::If | StatementKind::Try | StatementKind::Loop | StatementKind::Match);
    file.binders(index.variable_name(variable)).all(|(statement, _)| has_branches(file.statement(statement).kind))
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

    /// Indents what was written from `start` on. What a string holds stays as it is, so lines stay lines.
    fn indent(&mut self, start: usize) {
        let indented = syntax::indented(&self.text[start..], INDENTATION);
        self.text.replace_range(start.., &indented);
    }

    fn separate(&mut self, previous: Option<Place>, next: Place, path: &str) {
        let same_file = previous.is_some_and(|previous| previous.file == next.file && next.file.is_some());
        let apart = next.is_block || previous.is_none_or(|previous| previous.is_block);
        // Nothing sets the first statement of a block apart.
        if !self.text.is_empty() && !self.text.ends_with(":\n") {
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
        let before = edit.range.slice(text);
        let more = line_ends(before.trim_end());
        // The last statement of a block leaves a `pass`.
        let is_left_out = matches!(&*edit.replacement, "" | "pass");
        let shown = if is_left_out && more >= SHOWN { first_lines(before) } else { before.to_owned() };
        self.edits.push(EditRecord {
            upstream: format!("{path}:{line}"),
            before: shown,
            lines: more + u32::from(!before.trim_end().is_empty()),
            after: edit.replacement.clone(),
            reason: edit.reason.into(),
        });
    }
}

fn first_lines(text: &str) -> String {
    text.split_inclusive('\n').take(SHOWN as usize).collect()
}

/// The end of the comment that follows on the same line, or `end` where something else does.
fn with_trailing_comment(text: &str, end: u32) -> u32 {
    let rest = &text[end as usize..];
    let line = rest.lines().next().unwrap_or_default();
    let is_comment = line.trim_start().starts_with('#');
    if is_comment { end + u32::try_from(line.trim_end().len()).expect("files are below 4 GiB") } else { end }
}
