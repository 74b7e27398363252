//! The import graph over all sources, and the order in which CPython would run all statements.

use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

use super::{DefinitionId, FileId, Index, Module, is_unguarded};
use crate::facts::{Guard, ImportForm, ImportStatement, ScopeKind};

/// How one file imports another while it is itself being imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    /// Whenever the importing file runs.
    Always,
    /// Under `if`, `try` or the like.
    Guarded,
}

/// Which files a file imports when it runs. Imports in functions and under `TYPE_CHECKING` do not count.
#[derive(Debug, Default)]
pub struct ImportGraph {
    graph: DiGraph<FileId, Edge>,
    /// The position of each statement of each file in the order in which CPython would run them all.
    ranks: Vec<Vec<u32>>,
}

impl ImportGraph {
    pub(super) fn build(index: &Index) -> Self {
        let mut graph = DiGraph::with_capacity(index.files.len(), 8 * index.files.len());
        let nodes: Vec<NodeIndex> = index.files().map(|(id, _)| graph.add_node(id)).collect();
        let mut order = RunOrder {
            index,
            ranks: index.files.iter().map(|file| vec![0; file.facts.statements.len()]).collect(),
            visited: vec![false; index.files.len()],
            next: 0,
        };
        for (id, file) in index.files() {
            for parent in parents(index, id) {
                graph.update_edge(nodes[id.0 as usize], nodes[parent.0 as usize], Edge::Always);
            }
            for statement in &file.facts.statements {
                for import in &statement.imports {
                    if !runs_with_module(index, id, import) {
                        continue;
                    }
                    let edge = if is_unguarded(&import.guards) { Edge::Always } else { Edge::Guarded };
                    for imported in imported_files(index, id, import) {
                        let (from, to) = (nodes[id.0 as usize], nodes[imported.0 as usize]);
                        match graph.find_edge(from, to) {
                            Some(known) if graph[known] == Edge::Always => {}
                            _ => {
                                graph.update_edge(from, to, edge);
                            }
                        }
                    }
                }
            }
        }
        for (id, _) in index.files() {
            order.run(id);
        }
        Self { ranks: order.ranks, graph }
    }

    /// The position of a statement in the order in which CPython would run all statements of the corpus.
    pub fn rank(&self, definition: DefinitionId) -> u32 {
        self.ranks[definition.file.0 as usize][definition.statement as usize]
    }

    /// The files that may run when `file` is imported, itself included, by file id.
    pub fn may_import(&self, file: FileId) -> FileSet {
        self.reach(file, |_| true)
    }

    /// The files that run whenever `file` is imported, itself included.
    pub fn always_imports(&self, file: FileId) -> FileSet {
        self.reach(file, |edge| edge == Edge::Always)
    }

    fn reach(&self, file: FileId, follow: impl Fn(Edge) -> bool) -> FileSet {
        let mut reached = FileSet { members: vec![false; self.graph.node_count()] };
        let mut waiting = vec![NodeIndex::new(file.0 as usize)];
        while let Some(node) = waiting.pop() {
            if !std::mem::replace(&mut reached.members[node.index()], true) {
                waiting.extend(self.graph.edges(node).filter(|edge| follow(*edge.weight())).map(|edge| edge.target()));
            }
        }
        reached
    }
}

/// A set of files.
#[derive(Clone, Debug)]
pub struct FileSet {
    members: Vec<bool>,
}

impl FileSet {
    pub fn contains(&self, file: FileId) -> bool {
        self.members[file.0 as usize]
    }
}

/// Simulates the import of every file in turn, as far as its order goes: a file runs when the first import of it does,
/// after the packages around it.
struct RunOrder<'index> {
    index: &'index Index,
    ranks: Vec<Vec<u32>>,
    visited: Vec<bool>,
    next: u32,
}

impl RunOrder<'_> {
    fn run(&mut self, file: FileId) {
        // Files being imported, each with the next statement to run: an explicit stack, since import chains of a big
        // package are deeper than a small thread's.
        let mut running: Vec<(FileId, usize)> = Vec::new();
        self.enter(file, &mut running);
        while let Some((file, statement)) = running.pop() {
            let Some(facts) = self.index.file(file).facts.statements.get(statement) else { continue };
            let depth = running.len();
            running.push((file, statement + 1));
            let imported: Vec<FileId> = facts
                .imports
                .iter()
                .filter(|import| runs_with_module(self.index, file, import))
                .flat_map(|import| imported_files(self.index, file, import))
                .collect();
            if imported.iter().any(|imported| !self.visited[imported.0 as usize]) {
                // Run what it imports first, then come back to this very statement: by then all of it is visited.
                running[depth] = (file, statement);
                for imported in imported.into_iter().rev() {
                    self.enter(imported, &mut running);
                }
            } else {
                self.ranks[file.0 as usize][statement] = self.next;
                self.next += 1;
            }
        }
    }

    fn enter(&mut self, file: FileId, running: &mut Vec<(FileId, usize)>) {
        let mut chain = vec![file];
        chain.extend(parents(self.index, file));
        // The outermost package ends on top of the stack and runs first.
        for file in chain {
            if !std::mem::replace(&mut self.visited[file.0 as usize], true) {
                running.push((file, 0));
            }
        }
    }
}

/// The `__init__` files of the packages around `file`, innermost first.
fn parents(index: &Index, file: FileId) -> Vec<FileId> {
    let indexed = index.file(file);
    let mut parents = Vec::new();
    let mut module = indexed.file.module.as_deref().unwrap_or_default();
    while let Some((package, _)) = module.rsplit_once('.') {
        parents.extend(index.modules.get(&(indexed.source, package.into())));
        module = package;
    }
    parents
}

fn runs_with_module(index: &Index, file: FileId, import: &ImportStatement) -> bool {
    let scopes = &index.file(file).facts.scopes;
    let mut scope = Some(import.stands_in);
    while let Some(current) = scope {
        let current = &scopes[current.0 as usize];
        if matches!(current.kind, ScopeKind::Function | ScopeKind::Lambda) {
            return false;
        }
        scope = current.parent;
    }
    !import.guards.contains(&Guard::TypeChecking)
}

/// The files that an import statement runs, without the packages around them, in order. Those are modules, and where a
/// module gives its names lazily, the ones that it takes them from.
pub(super) fn imported_files(index: &Index, file: FileId, import: &ImportStatement) -> Vec<FileId> {
    let indexed = index.file(file);
    let find = |module: &str| match index.find_module(indexed.source, module) {
        Module::File(file) => Some(file),
        Module::Namespace(..) | Module::External | Module::Missing => None,
    };
    match import.form {
        ImportForm::Module => import.names.iter().filter_map(|name| find(indexed.facts.name(name.name))).collect(),
        ImportForm::From { level, module } | ImportForm::Star { level, module } => {
            let module = module.map(|module| indexed.facts.name(module));
            let Some(module) = index.absolute_module(file, level, module) else { return Vec::new() };
            let submodules = import.names.iter().filter_map(|name| {
                let name = indexed.facts.name(name.name);
                find(&format!("{module}.{name}"))
            });
            let found = find(&module);
            let names = import.names.iter().map(|name| indexed.facts.name(name.name));
            let declaring = found.iter().flat_map(|module| names.clone().map(|name| (*module, name)));
            let declared = declaring.filter_map(|(module, name)| index.declared_file(module, name));
            found.into_iter().chain(submodules).chain(declared).collect()
        }
    }
}
