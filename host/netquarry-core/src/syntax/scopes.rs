//! The scopes of a file: what each does with each name, and what a name means where it is used.
//!
//! This is `symtable` of CPython 3.11. A scope's entries are collected while the tree is walked, in the order in which
//! CPython walks it; what a name means follows from them alone, because a name is local to the whole of the innermost
//! function, lambda or comprehension that binds it, wherever in it the binding stands.

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::names::Names;
use super::text::Span;
use crate::facts::{ScopeId, ScopeKind, Symbol};

pub(super) const MODULE: ScopeId = ScopeId(0);

pub(super) struct ScopeTree {
    scopes: Vec<ScopeNode>,
    entries: FxHashMap<(ScopeId, Symbol), Entry>,
}

pub(super) struct ScopeNode {
    pub(super) kind: ScopeKind,
    pub(super) name: Symbol,
    pub(super) parent: Option<ScopeId>,
    pub(super) span: Span,
    /// The names that the scope has entries for, in the order in which they came.
    pub(super) symbols: Vec<Symbol>,
    /// `symtable` does not see it: it stands in an annotation that is never evaluated or inside a string.
    pub(super) detached: bool,
}

/// What a scope does with a name: the flags of `symtable`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    pub(super) assigned: bool,
    pub(super) parameter: bool,
    pub(super) imported: bool,
    pub(super) annotated: bool,
    pub(super) declared_global: bool,
    pub(super) declared_nonlocal: bool,
    pub(super) referenced: bool,
    /// How many places bind the name; a declaration, `x: int`, does not.
    pub(super) binders: u32,
    /// Where the first of them has bound it: the end of the assignment or definition.
    pub(super) bound_from: Option<u32>,
    /// The first import that binds the name, as `imports[import].names[name]` of the top-level statement.
    pub(super) import: Option<(u32, u32)>,
}

impl Entry {
    pub(super) fn is_bound(&self) -> bool {
        self.assigned || self.parameter || self.imported
    }
}

/// The scope in which a name is looked up at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resolution {
    /// The module's globals, then builtins.
    Module,
    /// A function, lambda, comprehension or class.
    Local(ScopeId),
    /// `__class__`, which Python provides to the methods of the class.
    ImplicitClass,
}

impl ScopeTree {
    pub(super) fn new(name: Symbol, span: Span) -> Self {
        let module =
            ScopeNode { kind: ScopeKind::Module, name, parent: None, span, symbols: Vec::new(), detached: false };
        Self { scopes: vec![module], entries: FxHashMap::default() }
    }

    pub(super) fn push(&mut self, scope: ScopeNode) -> ScopeId {
        self.scopes.push(scope);
        ScopeId(u32::try_from(self.scopes.len() - 1).expect("a file has fewer scopes than bytes"))
    }

    pub(super) fn scope(&self, scope: ScopeId) -> &ScopeNode {
        &self.scopes[scope.0 as usize]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (ScopeId, &ScopeNode)> {
        (0..).map(ScopeId).zip(&self.scopes)
    }

    pub(super) fn entry(&self, scope: ScopeId, name: Symbol) -> Option<&Entry> {
        self.entries.get(&(scope, name))
    }

    pub(super) fn entry_mut(&mut self, scope: ScopeId, name: Symbol) -> &mut Entry {
        self.entries.entry((scope, name)).or_insert_with(|| {
            self.scopes[scope.0 as usize].symbols.push(name);
            Entry::default()
        })
    }

    /// Prepares the comprehension `scope` for a walrus that assigns to `name` in it, and says which scope it binds:
    /// the innermost one around that is no comprehension.
    pub(super) fn hoist(&mut self, scope: ScopeId, name: Symbol) -> ScopeId {
        let mut host = scope;
        while self.scope(host).kind == ScopeKind::Comprehension {
            host = self.scope(host).parent.expect("a comprehension stands in another scope");
        }
        if host == scope {
            return host;
        }
        let is_module = host == MODULE;
        let entry = self.entry_mut(host, name);
        if is_module {
            entry.declared_global = true;
        } else {
            entry.assigned = true;
        }
        let is_global = entry.declared_global;
        let entry = self.entry_mut(scope, name);
        entry.declared_global |= is_global;
        entry.declared_nonlocal |= !is_global;
        host
    }

    /// Where a use of `name` in `scope` is looked up.
    pub(super) fn resolve(&self, scope: ScopeId, name: Symbol, class_cell: Symbol) -> Resolution {
        let mut current = scope;
        let mut is_visible = true;
        loop {
            let node = self.scope(current);
            if is_visible || node.kind != ScopeKind::Class {
                match self.entry(current, name) {
                    Some(entry) if entry.declared_global => return Resolution::Module,
                    Some(entry) if entry.declared_nonlocal => {}
                    Some(entry) if entry.is_bound() && current != MODULE => return Resolution::Local(current),
                    _ => {}
                }
            } else if name == class_cell {
                return Resolution::ImplicitClass;
            }
            // A class's names are visible in its own body and in the type parameters of its methods, no deeper.
            is_visible = node.kind == ScopeKind::TypeParameters;
            match node.parent {
                Some(parent) => current = parent,
                None => return Resolution::Module,
            }
        }
    }
}

/// One scope as `symtable` shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SymbolTable {
    pub kind: TableKind,
    /// The name of the class or function; `lambda`, `listcomp`, `setcomp`, `dictcomp`, `genexpr` or `top`.
    pub name: String,
    /// The number of tables above it: 0 for the module's.
    pub depth: u32,
    /// In the order of the names.
    pub symbols: Vec<SymbolEntry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TableKind {
    Module,
    Class,
    Function,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SymbolEntry {
    pub name: String,
    pub classification: Classification,
    pub parameter: bool,
    pub imported: bool,
    pub annotated: bool,
    pub assigned: bool,
    pub referenced: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Classification {
    Local,
    /// Local, and used by a scope inside.
    Cell,
    Free,
    GlobalExplicit,
    GlobalImplicit,
}

/// The view of `symtable` on the scopes.
pub(super) fn symbol_tables(tree: &ScopeTree, names: &Names, class_cell: Symbol) -> Vec<SymbolTable> {
    let mut classes: FxHashMap<(ScopeId, Symbol), Classification> = FxHashMap::default();
    for (scope, node) in tree.iter().filter(|(_, node)| !node.detached) {
        for name in &node.symbols {
            let classification = classify(tree, scope, *name, class_cell);
            // A scope inside may have made a free variable or a cell of it already.
            classes.entry((scope, *name)).or_insert(classification);
        }
    }
    let free: Vec<_> =
        classes.iter().filter(|(_, class)| **class == Classification::Free).map(|(place, _)| *place).collect();
    for (scope, name) in free {
        propagate(tree, &mut classes, scope, name, class_cell);
    }
    let mut symbols: Vec<Vec<SymbolEntry>> = tree.iter().map(|_| Vec::new()).collect();
    for ((scope, name), classification) in classes {
        let entry = tree.entry(scope, name).copied().unwrap_or_default();
        symbols[scope.0 as usize].push(SymbolEntry {
            name: names.get(name).to_owned(),
            classification,
            parameter: entry.parameter,
            imported: entry.imported,
            annotated: entry.annotated,
            assigned: entry.assigned,
            referenced: entry.referenced,
        });
    }
    let tables = tree.iter().zip(symbols).filter(|((_, node), _)| !node.detached);
    tables
        .map(|((_, node), mut symbols)| {
            symbols.sort_by(|left, right| left.name.cmp(&right.name));
            let kind = match node.kind {
                ScopeKind::Module => TableKind::Module,
                ScopeKind::Class => TableKind::Class,
                ScopeKind::Function | ScopeKind::Lambda | ScopeKind::Comprehension | ScopeKind::TypeParameters => {
                    TableKind::Function
                }
            };
            let depth = std::iter::successors(node.parent, |parent| tree.scope(*parent).parent).count();
            let depth = u32::try_from(depth).expect("nesting is bounded");
            SymbolTable { kind, name: names.get(node.name).to_owned(), depth, symbols }
        })
        .collect()
}

fn classify(tree: &ScopeTree, scope: ScopeId, name: Symbol, class_cell: Symbol) -> Classification {
    let entry = tree.entry(scope, name).expect("the scope lists the name");
    if entry.declared_global {
        return Classification::GlobalExplicit;
    }
    if entry.is_bound() && !entry.declared_nonlocal {
        return Classification::Local;
    }
    match tree.resolve(scope, name, class_cell) {
        Resolution::Module => Classification::GlobalImplicit,
        Resolution::Local(_) | Resolution::ImplicitClass => Classification::Free,
    }
}

/// A variable that is free in a scope is free in the scopes around it too, up to the function that binds it, where it
/// is a cell.
fn propagate(
    tree: &ScopeTree,
    classes: &mut FxHashMap<(ScopeId, Symbol), Classification>,
    scope: ScopeId,
    name: Symbol,
    class_cell: Symbol,
) {
    let mut current = tree.scope(scope).parent;
    while let Some(ancestor) = current {
        let node = tree.scope(ancestor);
        let is_class = node.kind == ScopeKind::Class;
        if is_class && name == class_cell {
            return;
        }
        match classes.get_mut(&(ancestor, name)) {
            Some(class @ (Classification::Local | Classification::Cell)) if !is_class => {
                *class = Classification::Cell;
                return;
            }
            Some(Classification::Free) => return,
            Some(_) => {}
            None => {
                classes.insert((ancestor, name), Classification::Free);
            }
        }
        current = node.parent;
    }
}
