//! Where the text of a definition has to differ from upstream's, and why.

use std::collections::{HashMap, HashSet};

use super::graph::Item;
use super::imports::{Imports, modules_of_root};
use super::late::{Late, Place};
use super::names::Names;
use super::uses::{FILE_ATTRIBUTE, Named, Uses, is_shared};
use crate::closure::Closure;
use crate::facts::{
    Assigns, BindingKind, Dictionary, DictionaryEntry, Guard, ImportForm, ImportStatement, ReferenceBinding,
    StatementKind, Suite,
};
use crate::index::{DefinitionId, Index, Variable};
use crate::resolve::{Entity, External};
use crate::source::TextRange;
use crate::syntax;

/// The comment behind an import whose success matters, and not what it binds.
const UNUSED: &str = "  # noqa: F401 - whether it succeeds matters";

/// A span of upstream's text and what stands in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    pub range: TextRange,
    pub replacement: String,
    pub reason: &'static str,
}

/// What the edits of one definition depend on.
pub(super) struct Editing<'parts> {
    pub(super) index: &'parts Index,
    pub(super) closure: &'parts Closure,
    pub(super) uses: &'parts Uses<'parts>,
    pub(super) names: &'parts Names,
    pub(super) imports: &'parts Imports,
    pub(super) late: &'parts Late,
    /// The bundle says `from __future__ import annotations` for all, so that no annotation needs quotes.
    pub(super) future_annotations: bool,
}

impl Editing<'_> {
    /// The edits of a definition's text, sorted by position, none inside another.
    pub(super) fn of(&self, definition: DefinitionId, text: &str) -> Vec<Edit> {
        let mut removed = Removed::default();
        let mut edits = self.dropped_decorators(definition, text);
        edits.extend(self.imports(definition, text, &mut removed));
        edits.extend(self.cuts(definition, text, &mut removed));
        edits.extend(self.references(definition, text));
        edits.extend(self.bindings(definition));
        match self.annotation_that_cannot_wait(definition, text) {
            Some(edit) => edits.push(edit),
            None => edits.extend(self.quoted_annotations(definition, text)),
        }
        edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
        // What stands inside of a larger edit (a name in a dropped decorator) is gone with it.
        let mut kept: Vec<Edit> = Vec::with_capacity(edits.len());
        for edit in edits {
            match kept.iter().rev().find(|larger| !larger.range.is_empty()) {
                Some(larger) if larger.range.contains(edit.range) && edit.range.start < larger.range.end => {}
                _ => kept.push(edit),
            }
        }
        kept
    }

    fn dropped_decorators(&self, definition: DefinitionId, text: &str) -> Vec<Edit> {
        let dropped = &self.closure.definitions[&definition].cuts.decorators;
        dropped
            .iter()
            .map(|range| {
                let start = text[..range.start as usize].rfind('@').expect("a decorator follows an `@`");
                let line_end = text[range.end as usize..].find('\n').expect("a definition follows its decorator");
                let after = range.end as usize + line_end + 1;
                let indent = text[after..].len() - text[after..].trim_start_matches([' ', '\t']).len();
                Edit {
                    range: text_range(start, after + indent),
                    replacement: String::new(),
                    reason: "a shim drops this decorator",
                }
            })
            .collect()
    }

    /// What shims leave out or replace, but for decorators.
    fn cuts(&self, definition: DefinitionId, text: &str, removed: &mut Removed) -> Vec<Edit> {
        let cuts = &self.closure.definitions[&definition].cuts;
        let mut edits = Vec::new();
        for call in &cuts.calls {
            let suite = call.statement_in.expect("only statements are dropped");
            edits.push(removed.remove(call.range, suite, text, "a shim drops this call"));
        }
        for (range, suite) in &cuts.members {
            let edit = removed.remove(*range, *suite, text, "a shim drops this member");
            edits.push(with_empty_line(edit, text));
        }
        for (range, by) in &cuts.replaced_members {
            let replacement = indented(by, text, *range);
            edits.push(Edit { range: *range, replacement, reason: "a shim replaces this member" });
        }
        if let Some(dictionary) = &self.index.statement(definition).dictionary {
            edits.extend(without_entries(dictionary, &cuts.entries, text));
        }
        for (range, by) in &cuts.bases {
            let replacement = (*by).to_owned();
            edits.push(Edit { range: *range, replacement, reason: "a shim drops this base" });
        }
        edits
    }

    fn references(&self, definition: DefinitionId, text: &str) -> Vec<Edit> {
        let facts = &self.index.file(definition.file).facts;
        let mut edits = Vec::new();
        for (found, named) in &self.uses.by_definition[&definition] {
            let consumed = found.resolution.consumed;
            let reference = found.reference;
            let name = self.names.of(named);
            if consumed == 0 && facts.name(reference.name) == name {
                continue;
            }
            if matches!(reference.binding, ReferenceBinding::LocalImport { .. }) && consumed == 0 {
                // The import in the function is rewritten so that it still binds the name.
                continue;
            }
            let end = match consumed.checked_sub(1) {
                Some(last) => reference.path[last].end,
                None => reference.range.end,
            };
            let assigns = reference.assigns == Assigns::Path && consumed > 0 && consumed == reference.path.len();
            // The block itself keeps its name even where a local variable has it, and so does what Python names.
            let keeps_name = self.is_target(named) || *named == Named::OwnFile;
            let is_hidden = keeps_name && self.uses.captured.contains(named);
            let replacement = if assigns || is_hidden { format!("globals()[\"{name}\"]") } else { name.to_owned() };
            let range = TextRange::new(reference.range.start, end);
            if range.slice(text) != replacement {
                let reason = if consumed > 0 { "the module is part of this file" } else { self.names.reason(named) };
                edits.push(Edit { range, replacement, reason });
            }
        }
        edits
    }

    fn is_target(&self, named: &Named) -> bool {
        *named == Named::Variable(self.closure.target.variable)
    }

    /// New names where a statement binds a variable that is renamed. Imports are rewritten as a whole elsewhere.
    fn bindings(&self, definition: DefinitionId) -> Vec<Edit> {
        let facts = &self.index.file(definition.file).facts;
        let statement = self.index.statement(definition);
        let renamed = statement.bindings.iter().filter(|binding| !matches!(binding.kind, BindingKind::Import { .. }));
        renamed
            .filter_map(|binding| {
                let variable = Variable { file: definition.file, name: binding.name };
                let name = self.names.of_variable(variable)?;
                (name != facts.name(binding.name)).then(|| Edit {
                    range: binding.range,
                    replacement: name.to_owned(),
                    reason: self.names.reason(&Named::Variable(variable)),
                })
            })
            .collect()
    }

    fn waits(&self, definition: DefinitionId) -> bool {
        self.late.group_of(Item::Definition(definition)).is_some()
    }

    /// `x: int = 1` in a function that declares `x` global is no Python: it becomes `x = 1`, and `x: int` nothing.
    fn annotation_that_cannot_wait(&self, definition: DefinitionId, text: &str) -> Option<Edit> {
        let statement = self.index.statement(definition);
        if !self.waits(definition) || statement.kind != StatementKind::Assign {
            return None;
        }
        let [binding] = statement.bindings.as_slice() else { return None };
        let annotation = syntax::annotation_of_assignment(statement.range.slice(text))?;
        let range = TextRange::new(statement.range.start + annotation.start, statement.range.start + annotation.end);
        let reason = "a name that is global to a function has no annotation in it";
        match binding.kind {
            BindingKind::Declaration => Some(Edit { range: statement.range, replacement: "pass".to_owned(), reason }),
            _ => Some(Edit { range, replacement: String::new(), reason }),
        }
    }

    /// Annotations that upstream's file keeps from being evaluated are quoted one by one where the bundle cannot say so
    /// for all of them.
    fn quoted_annotations(&self, definition: DefinitionId, text: &str) -> Vec<Edit> {
        if self.future_annotations {
            return Vec::new();
        }
        let is_postponed = self.index.file(definition.file).facts.future_annotations;
        let (annotations, reason) = if is_postponed {
            let annotations = &self.index.statement(definition).annotations;
            (annotations, "upstream's file postpones the evaluation of annotations")
        } else {
            (&self.closure.definitions[&definition].postponed, "a shim says that nothing reads this annotation")
        };
        let quoted = annotations.iter().flat_map(|range| {
            let (open, close) = quotes(range.slice(text));
            let insert = |at: u32, replacement: &str| Edit {
                range: TextRange::new(at, at),
                replacement: replacement.to_owned(),
                reason,
            };
            [insert(range.start, open), insert(range.end, close)]
        });
        quoted.collect()
    }

    /// Import statements inside a definition: those of the corpus give way to what is in the bundle.
    fn imports(&self, definition: DefinitionId, text: &str, removed: &mut Removed) -> Vec<Edit> {
        let statement = self.index.statement(definition);
        let mut edits = Vec::new();
        // By block of statements, what an earlier import statement of it has run.
        let mut run_before: HashMap<u32, HashSet<String>> = HashMap::new();
        for (place, import) in statement.imports.iter().enumerate() {
            let is_whole_statement = statement.kind == StatementKind::Import;
            let Some(rewritten) = self.rewrite(definition, import) else {
                edits.extend(self.marked_unused(definition, import, text));
                continue;
            };
            let mut lines = self.run_at((definition, place));
            let run_in_suite = run_before.entry(import.suite.id).or_default();
            lines.retain(|line| run_in_suite.insert(line.clone()));
            lines.extend(rewritten);
            if !lines.is_empty() {
                let replacement = join_statements(&lines, text, import.range);
                if import.range.slice(text) != replacement {
                    edits.push(Edit { range: import.range, replacement, reason: "the module is part of this file" });
                }
                continue;
            }
            let reason = "the module is part of this file";
            edits.push(if is_whole_statement {
                Edit { range: import.range, replacement: "pass".to_owned(), reason }
            } else {
                removed.remove(import.range, import.suite, text, reason)
            });
        }
        edits
    }

    /// The statements that take the place of an import statement; `None` where it stays as it is.
    fn rewrite(&self, definition: DefinitionId, import: &ImportStatement) -> Option<Vec<String>> {
        let facts = &self.index.file(definition.file).facts;
        if import.guards.contains(&Guard::TypeChecking) {
            return self.absolute(definition, import);
        }
        let at_module_level = import.scope.0 == 0;
        let mut lines = Vec::new();
        let mut external = Vec::new();
        let mut untouched = 0;
        for (place, imported) in (0u32..).zip(&import.names) {
            let entity = self.index.resolve_imported(definition.file, import, place);
            let name = facts.name(imported.name);
            let local = import.local_name(imported, facts);
            let symbol = self.index.bound_symbol(definition.file, local);
            let wanted = if at_module_level {
                let variable = symbol.map(|name| Variable { file: definition.file, name });
                match variable.and_then(|variable| self.names.of_variable(variable)) {
                    Some(name) => name.to_owned(),
                    // External imports under a guard stay whole: whether they succeed may matter.
                    None if matches!(entity, Entity::External(_)) => local.to_owned(),
                    None => continue,
                }
            } else {
                local.to_owned()
            };
            match entity {
                Entity::Variable(variable) => {
                    let Some(global) = self.names.of_variable(variable) else { continue };
                    lines.extend(self.binding(definition, import, &wanted, global));
                }
                Entity::External(object) => {
                    let mark = if self.is_unused(definition, import, local) { UNUSED } else { "" };
                    let imports = external_imports(self.index, import, &object, name, &wanted);
                    untouched += usize::from(wanted == local);
                    external.extend(imports.into_iter().map(|line| line + mark));
                }
                Entity::Module(file) if self.closure.namespaces.contains_key(&file) => {
                    let global = self.names.of(&Named::Module(file));
                    lines.extend(self.binding(definition, import, &wanted, global));
                }
                Entity::ModuleAttribute(attribute) if attribute == FILE_ATTRIBUTE && wanted != FILE_ATTRIBUTE => {
                    lines.push(format!("{wanted} = {FILE_ATTRIBUTE}"));
                }
                Entity::Module(_)
                | Entity::Namespace(..)
                | Entity::Builtin
                | Entity::ModuleAttribute(_)
                | Entity::Undefined => {}
                Entity::Missing(missing) => lines.push(match missing.name {
                    Some(name) => import_member(&missing.module, &name, &wanted),
                    None => import_module(&missing.module, &wanted),
                }),
            }
        }
        // Nothing of it comes from the corpus: the statement stays to the letter.
        if untouched == import.names.len() && self.imports_outside(definition, import) {
            return None;
        }
        lines.extend(external);
        Some(lines)
    }

    /// Whether an import at module level stands in the bundle for nothing but its success.
    fn is_unused(&self, definition: DefinitionId, import: &ImportStatement, local: &str) -> bool {
        let variable = self.index.bound_symbol(definition.file, local);
        let variable = variable.map(|name| Variable { file: definition.file, name });
        import.scope.0 == 0 && variable.is_some_and(|variable| !self.uses.is_used(variable))
    }

    /// Without the mark, a linter would take away names that look unused, and with them what the import may raise.
    fn marked_unused(&self, definition: DefinitionId, import: &ImportStatement, text: &str) -> Option<Edit> {
        if import.guards.contains(&Guard::TypeChecking) {
            return None;
        }
        let facts = &self.index.file(definition.file).facts;
        let mut locals = import.names.iter().map(|imported| import.local_name(imported, facts));
        let is_unused = locals.any(|local| self.is_unused(definition, import, local));
        let start = import.range.start as usize;
        let end = start + text[start..].find('\n').unwrap_or(text.len() - start);
        let line = text[start..end].trim_end();
        let at = start + line.len();
        let can_be_marked = match text.get(import.range.end as usize..at).map(str::trim_start) {
            Some(rest) => rest.is_empty() || (rest.starts_with('#') && !rest.contains("noqa")),
            // The statement goes on in parentheses.
            None => !line.ends_with('\\') && !line.contains('#'),
        };
        (is_unused && can_be_marked).then(|| Edit {
            range: text_range(at, at),
            replacement: UNUSED.to_owned(),
            reason: "an import whose names nothing here uses may fail, as it may upstream",
        })
    }

    /// The statement that binds what an import did; none where the global itself serves under this name. A local that
    /// something else binds too is not the global, whatever both are called.
    fn binding(
        &self,
        definition: DefinitionId,
        import: &ImportStatement,
        wanted: &str,
        global: &str,
    ) -> Option<String> {
        if global != wanted {
            return Some(format!("{wanted} = {global}"));
        }
        // Only the block is not renamed where a local hides it.
        let is_hidden = is_shared(self.index, definition, import, wanted);
        is_hidden.then(|| format!("{wanted} = globals()[\"{global}\"]"))
    }

    /// What waits for this statement to run; it may name one thing twice.
    fn run_at(&self, place: Place) -> Vec<String> {
        let statements_of = |group: usize| match self.late.is_inline(group, place) {
            true => self.imports.of_group(&self.late.groups()[group]).iter().map(|(it, _)| (*it).to_owned()).collect(),
            false => vec![format!("{}()", self.names.of(&Named::Late(self.late.groups()[group].file)))],
        };
        self.late.run_by(place).flat_map(statements_of).collect()
    }

    /// Whether the module that the statement names is outside of the corpus; relative imports never are.
    fn imports_outside(&self, definition: DefinitionId, import: &ImportStatement) -> bool {
        let file = self.index.file(definition.file);
        let modules = import.absolute_modules(&file.facts);
        let outside = |module: &&str| self.index.find_module(file.source, module) == crate::index::Module::External;
        !modules.is_empty() && modules.iter().all(outside)
    }

    /// A relative import that never runs becomes absolute, so that a type checker can follow it.
    fn absolute(&self, definition: DefinitionId, import: &ImportStatement) -> Option<Vec<String>> {
        let facts = &self.index.file(definition.file).facts;
        let ImportForm::From { level: level @ 1.., module } = import.form else { return None };
        let module = self.index.absolute_module(definition.file, level, module.map(|module| facts.name(module)))?;
        let names: Vec<String> = import
            .names
            .iter()
            .map(|name| match name.alias {
                Some(alias) => format!("{} as {}", facts.name(name.name), facts.name(alias)),
                None => facts.name(name.name).to_owned(),
            })
            .collect();
        Some(vec![format!("from {module} import {}", names.join(", "))])
    }
}

/// How many statements are removed from each block: the last one leaves a `pass`.
#[derive(Debug, Default)]
struct Removed {
    by_suite: HashMap<u32, u32>,
}

impl Removed {
    fn remove(&mut self, range: TextRange, suite: Suite, text: &str, reason: &'static str) -> Edit {
        let removed = self.by_suite.entry(suite.id).or_default();
        *removed += 1;
        match whole_line(text, range) {
            Some(line) if *removed < suite.length => Edit { range: line, replacement: String::new(), reason },
            _ => Edit { range, replacement: "pass".to_owned(), reason },
        }
    }
}

/// Entries go with all that stands before the next one, the last one with what stands before the closing brace; comments
/// on lines of their own belong to what stands below them.
fn without_entries(dictionary: &Dictionary, left_out: &[TextRange], text: &str) -> Vec<Edit> {
    let next = dictionary.entries.iter().skip(1).map(|entry| entry.range.start).chain([dictionary.end]);
    let extents = dictionary.entries.iter().zip(next).filter(|(entry, _)| left_out.contains(&entry.range));
    let begins = |position| above_comments(text, own_line(text, position));
    let extent = |(entry, end): (&DictionaryEntry, u32)| TextRange::new(begins(entry.range.start), begins(end));
    let edit = |range| Edit { range, replacement: String::new(), reason: "a shim leaves out this entry" };
    extents.map(extent).map(edit).collect()
}

/// The start of the comments that stand on lines of their own right above `position`, a start of a line.
fn above_comments(text: &str, position: u32) -> u32 {
    let before = &text[..position as usize];
    let is_comment = |line: &&str| line.trim_start().starts_with('#');
    let comments = match before.ends_with('\n') {
        true => before.split_inclusive('\n').rev().take_while(is_comment).map(str::len).sum(),
        false => 0,
    };
    position - u32::try_from(comments).expect("files are below 4 GiB")
}

/// The start of the line on which nothing stands before `position`, else `position`.
fn own_line(text: &str, position: u32) -> u32 {
    let before = &text[..position as usize];
    let indentation = before.len() - before.trim_end_matches([' ', '\t']).len();
    match before[..before.len() - indentation].ends_with('\n') {
        true => position - u32::try_from(indentation).expect("files are below 4 GiB"),
        false => position,
    }
}

/// Imports of an external object that bind it as `wanted`.
fn external_imports(
    index: &Index,
    import: &ImportStatement,
    object: &External,
    name: &str,
    wanted: &str,
) -> Vec<String> {
    match object {
        External::Module(module) => vec![import_module(module, wanted)],
        External::Member { module, name } | External::Star { module, name } => {
            vec![import_member(module, name, wanted)]
        }
        External::Root { package, .. } if import.form == ImportForm::Module => vec![import_root(name, package, wanted)],
        // It is imported from another file, with all that this one loads of it.
        External::Root { package, file } => {
            let modules = modules_of_root(index, package, *file, |_| true);
            modules.iter().map(|module| import_root(module, package, wanted)).collect()
        }
    }
}

pub(super) fn import_module(module: &str, wanted: &str) -> String {
    if module == wanted { format!("import {module}") } else { format!("import {module} as {wanted}") }
}

/// `import a.b` where `a` is called `wanted`.
pub(super) fn import_root(module: &str, package: &str, wanted: &str) -> String {
    if wanted == package {
        format!("import {module}")
    } else if module == package {
        import_module(module, wanted)
    } else {
        // It loads the module, and its value is the package.
        format!("{wanted} = __import__(\"{module}\")")
    }
}

pub(super) fn import_member(module: &str, name: &str, wanted: &str) -> String {
    if name == wanted {
        format!("from {module} import {name}")
    } else {
        format!("from {module} import {name} as {wanted}")
    }
}

/// Statements in the place of one, with its indentation; on one line where the statement shares its line.
fn join_statements(lines: &[String], text: &str, range: TextRange) -> String {
    let start = text[..range.start as usize].rfind('\n').map_or(0, |newline| newline + 1);
    let before = &text[start..range.start as usize];
    let begins_its_line = before.trim().is_empty();
    let is_followed = text[range.end as usize..].trim_start_matches([' ', '\t']).starts_with(';');
    // A comment would take what follows with it.
    let has_comments = begins_its_line && !is_followed;
    let shown = |line: &String| match has_comments {
        true => line.clone(),
        false => line.strip_suffix(UNUSED).unwrap_or(line).to_owned(),
    };
    let lines: Vec<String> = lines.iter().map(shown).collect();
    lines.join(&if begins_its_line { format!("\n{before}") } else { "; ".to_owned() })
}

/// An edit that removes whole lines, with the empty line that sets them apart from what follows.
fn with_empty_line(edit: Edit, text: &str) -> Edit {
    let end = edit.range.end as usize;
    if edit.replacement.is_empty() && text[end..].starts_with('\n') {
        return Edit { range: text_range(edit.range.start as usize, end + 1), ..edit };
    }
    edit
}

/// Statements with the indentation that the text has where `range` starts; the first line stands there already.
fn indented(statements: &str, text: &str, range: TextRange) -> String {
    let line = text[..range.start as usize].rfind('\n').map_or(0, |newline| newline + 1);
    let indentation = &text[line..range.start as usize];
    let separator = format!("\n{indentation}");
    let lines: Vec<&str> = statements.trim_end().lines().collect();
    // Empty lines stay empty.
    lines.join(&separator).replace(&format!("{separator}\n"), "\n\n")
}

/// The line or lines that hold nothing but `range` and a comment, with the line's end.
fn whole_line(text: &str, range: TextRange) -> Option<TextRange> {
    let start = text[..range.start as usize].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[range.end as usize..].find('\n').map_or(text.len(), |newline| range.end as usize + newline + 1);
    let after = text[range.end as usize..end].trim();
    let is_alone = text[start..range.start as usize].trim().is_empty() && (after.is_empty() || after.starts_with('#'));
    is_alone.then(|| text_range(start, end))
}

fn text_range(start: usize, end: usize) -> TextRange {
    let offset = |value| u32::try_from(value).expect("files are below 4 GiB");
    TextRange::new(offset(start), offset(end))
}

/// Quotes around an annotation that leave its text as it is.
fn quotes(annotation: &str) -> (&'static str, &'static str) {
    match (annotation.contains('\n'), annotation.contains('"'), annotation.contains('\'')) {
        (true, ..) => ("\"\"\"(", ")\"\"\""),
        (false, false, _) => ("\"", "\""),
        (false, true, false) => ("'", "'"),
        (false, true, true) => ("\"\"\"(", ")\"\"\""),
    }
}
