//! Modules that are used as objects: passed on, or asked for attributes by names that only running code knows.

use super::{Closing, Need};
use crate::facts::BindingKind;
use crate::index::{DefinitionId, FileId, Index};
use crate::record::{Confidence, ReplacedRecord};
use crate::resolve::Entity;
use crate::source::TextRange;

/// A module that a bundle holds as an object. Since nobody knows which of its names will be asked for, it has them all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// The module's names with what they mean, in the order in which the module binds them.
    pub members: Vec<(String, Entity)>,
    /// Names of other modules, and names that lead nowhere: reading them off the object raises an AttributeError.
    pub left_out: Vec<String>,
}

/// A module with more names is an index to a whole package, which no single file should carry.
const MOST_NAMES: usize = 500;

impl Closing<'_> {
    /// Brings in a module as an object, with all that it binds.
    pub(super) fn need_namespace(&mut self, definition: DefinitionId, range: TextRange, written: &str, file: FileId) {
        if self.closure.namespaces.contains_key(&file) {
            return;
        }
        let index = self.index;
        let module = index.file(file).module();
        let names = names_of(index, file);
        if names.len() > MOST_NAMES {
            let message = format!("the module `{module}` is used as an object, and binds {} names", names.len());
            self.unresolved(definition, range, written, false, message);
            return;
        }
        let mut namespace = Namespace { members: Vec::new(), left_out: Vec::new() };
        for name in names {
            match index.resolve_global(file, &name) {
                entity @ (Entity::Variable(_) | Entity::External(_)) => namespace.members.push((name, entity)),
                Entity::Module(_)
                | Entity::Namespace(..)
                | Entity::Missing(_)
                | Entity::Undefined
                | Entity::Builtin
                | Entity::ModuleAttribute(_) => namespace.left_out.push(name),
            }
        }
        self.closure.replaced.push(record(module, &namespace));
        self.closure.namespaces.insert(file, namespace.clone());
        for (name, entity) in &namespace.members {
            if let Entity::Variable(variable) = entity {
                let reference = format!("{written}.{name}");
                let need = Need { by: Some(definition), reference, confidence: Confidence::Heuristic };
                self.need_variable(*variable, need);
            }
        }
    }
}

fn record(module: &str, namespace: &Namespace) -> ReplacedRecord {
    let left_out = match namespace.left_out.as_slice() {
        [] => String::new(),
        names => format!(", but for what they cannot hold: {}", names.join(", ")),
    };
    ReplacedRecord {
        what: format!("the module {module} as an object"),
        by: format!("a module object with its {} names{left_out}", namespace.members.len()),
        why: "which of its names are asked for is known only when the code runs".to_owned(),
        plugin: format!("netquarry {}", env!("CARGO_PKG_VERSION")),
    }
}

/// The names that a module has once it was imported, in the order in which it binds them; what star imports bring comes
/// last.
fn names_of(index: &Index, file: FileId) -> Vec<String> {
    let mut names = Vec::new();
    add_names(index, file, &mut vec![file], &mut names);
    names
}

/// `importing` holds the modules that star-import each other down to `file`.
fn add_names(index: &Index, file: FileId, importing: &mut Vec<FileId>, names: &mut Vec<String>) {
    let indexed = index.file(file);
    for statement in &indexed.facts.statements {
        let bindings = statement
            .bindings
            .iter()
            .filter(|binding| !matches!(binding.kind, BindingKind::Declaration | BindingKind::Deletion));
        for name in bindings.map(|binding| indexed.facts.name(binding.name)) {
            let is_bound =
                indexed.binders(name).next_back().is_some_and(|(_, last)| last.kind != BindingKind::Deletion);
            if is_bound && !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
    }
    for star in index.starred_files(file) {
        if importing.contains(&star) {
            continue;
        }
        importing.push(star);
        let mut brought = Vec::new();
        add_names(index, star, importing, &mut brought);
        importing.pop();
        names.extend(
            brought
                .into_iter()
                .filter(|name| index.is_exported(star, name) && !names.contains(name))
                .collect::<Vec<_>>(),
        );
    }
}
