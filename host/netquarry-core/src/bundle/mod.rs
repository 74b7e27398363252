//! From a closure to one self-contained Python file.
//!
//! Definitions keep their text to the byte; what has to differ is an [`Edit`] with its reason. They stand in the order in
//! which CPython would run them upstream, under names that are made unique only where two really collide.

mod edits;
mod graph;
mod imports;
mod late;
mod names;
mod order;
mod render;
mod type_imports;
mod users;
mod uses;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::closure::Closure;
use crate::index::{FileId, Index};
use crate::record::{ClosureRecord, EditRecord, ReplacedRecord, UnknownKeyRecord, UnresolvedName};
use crate::source::lines_of;

pub use edits::Edit;

/// Gives the decoded text of a file of the index: the text that its facts were read from.
pub type Texts<'texts> = dyn Fn(FileId) -> Arc<str> + Sync + 'texts;

/// One block as one self-contained Python file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bundle {
    /// Imports and definitions, without a header.
    pub text: String,
    /// The top-level packages that the text imports, those of the standard library left out.
    pub packages: BTreeSet<String>,
    /// Import statements in the text that only register compiled operators.
    pub operator_imports: Vec<String>,
    pub unresolved: Vec<UnresolvedName>,
    pub unknown_keys: Vec<UnknownKeyRecord>,
    pub replaced: Vec<ReplacedRecord>,
    pub edits: Vec<EditRecord>,
    pub closure: Vec<ClosureRecord>,
    pub line_map: Vec<LineSpan>,
    /// Definitions that need each other while they run, in no order that satisfies all: each as a path of names.
    pub cycles: Vec<Vec<String>>,
}

/// Consecutive lines of a bundle that are consecutive lines of an upstream file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineSpan {
    /// 1-based, the first line in [`Bundle::text`].
    pub bundle_start: u32,
    pub lines: u32,
    /// The upstream file, relative to its source.
    pub path: String,
    /// 1-based.
    pub upstream_start: u32,
}

/// Writes the closure as one file.
pub fn assemble(index: &Index, closure: &Closure, texts: &Texts<'_>) -> Bundle {
    let uses = uses::collect(index, closure);
    let graph = graph::Graph::build(index, closure, &uses);
    let users = users::find(index, &uses);
    let late = late::find(index, closure, &uses, &users, &graph);
    let names = names::assign(index, closure, &uses, &late);
    let order = order::order(index, &graph, &late);
    let imports =
        imports::collect(&imports::Wanted { index, closure, uses: &uses, users: &users, names: &names, late: &late });
    let rendered = render::render(
        &render::Parts { index, closure, uses: &uses, names: &names, order: &order, late: &late, imports: &imports },
        texts,
    );
    Bundle {
        text: rendered.text,
        packages: imports.packages,
        operator_imports: closure.operators.iter().map(|operator| operator.import.clone()).collect(),
        unresolved: unresolved_records(index, closure, texts),
        unknown_keys: unknown_key_records(index, closure, texts),
        replaced: closure.replaced.clone(),
        edits: rendered.edits,
        closure: closure_records(index, closure, texts),
        line_map: rendered.line_map,
        cycles: order.cycles,
    }
}

fn unresolved_records(index: &Index, closure: &Closure, texts: &Texts<'_>) -> Vec<UnresolvedName> {
    let mut records: Vec<UnresolvedName> = closure
        .unresolved
        .iter()
        .map(|unresolved| {
            let file = unresolved.definition.file;
            let [line, _] = lines_of(&texts(file), unresolved.range);
            unresolved.record(format!("{}:{line}", index.file(file).file.path))
        })
        .collect();
    records.sort();
    records.dedup();
    records
}

fn unknown_key_records(index: &Index, closure: &Closure, texts: &Texts<'_>) -> Vec<UnknownKeyRecord> {
    let record = |unknown: &crate::closure::UnknownKey| {
        let file = unknown.definition.file;
        let [line, _] = lines_of(&texts(file), unknown.range);
        let upstream = format!("{}:{line}", index.file(file).file.path);
        UnknownKeyRecord { field: unknown.field.clone(), key: unknown.key.clone(), upstream }
    };
    closure.unknown_keys.iter().map(record).collect()
}

fn closure_records(index: &Index, closure: &Closure, texts: &Texts<'_>) -> Vec<ClosureRecord> {
    let mut definitions: Vec<_> = closure.definitions.iter().collect();
    // The block first, then as they were found: by the order in which upstream would run them.
    definitions.sort_by_key(|(id, closed)| (closed.need.by.is_some(), index.imports().rank(**id)));
    definitions
        .into_iter()
        .map(|(id, closed)| {
            let file = index.file(id.file);
            let is_target = closed.need.by.is_none();
            ClosureRecord {
                definition: index.definition_path(*id),
                path: file.file.path.clone(),
                lines: lines_of(&texts(id.file), index.statement(*id).range),
                sha1: file.file.digest.to_string(),
                swhid: String::new(),
                license: index.source(file.source).license.clone(),
                needed_by: closed.need.by.map(|by| index.definition_path(by)),
                reference: (!is_target).then(|| closed.need.reference.clone()),
                confidence: (!is_target).then_some(closed.need.confidence),
            }
        })
        .collect()
}
