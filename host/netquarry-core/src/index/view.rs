//! The index as plugins see it: definitions under dotted paths.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use super::{DefinitionId, FileId, Index, Variable};
use crate::dynamic::{CodeIndex, DefinitionKind, DefinitionSummary};
use crate::facts::{BindingKind, Decorator, StatementKind};
use crate::resolve::Entity;
use crate::source::lines_of;

/// An index with the texts of its files.
pub struct IndexView {
    index: Arc<Index>,
    texts: Box<dyn Fn(FileId) -> Arc<str> + Send + Sync>,
}

impl fmt::Debug for IndexView {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("IndexView").finish_non_exhaustive()
    }
}

impl Index {
    /// The variable that a dotted path leads to, re-exports followed; in the first source of the corpus that has it.
    pub fn find_variable(&self, path: &str) -> Option<Variable> {
        for (source, _) in self.sources() {
            let mut module = path;
            while let Some((prefix, _)) = module.rsplit_once('.') {
                module = prefix;
                let Some(file) = self.modules.get(&(source, module.into())) else { continue };
                let rest: Vec<&str> = path[module.len() + 1..].split('.').collect();
                if let (Entity::Variable(variable), []) = self.resolve_parts(*file, &rest) {
                    return Some(variable);
                }
            }
        }
        None
    }
}

impl IndexView {
    pub fn new(index: Arc<Index>, texts: Box<dyn Fn(FileId) -> Arc<str> + Send + Sync>) -> Self {
        Self { index, texts }
    }

    /// The statement that binds the variable last: what the name means in the end.
    fn definition(&self, path: &str) -> Option<(Variable, DefinitionId)> {
        let variable = self.index.find_variable(path)?;
        let file = self.index.file(variable.file);
        let (statement, _) = file.binders(self.index.variable_name(variable)).next_back()?;
        Some((variable, DefinitionId { file: variable.file, statement }))
    }

    fn dotted(&self, variable: Variable) -> String {
        format!("{}.{}", self.index.file(variable.file).module(), self.index.variable_name(variable))
    }

    /// Whether a decorator is a call of `registry` that has `key` among its arguments.
    fn registers(&self, file: FileId, decorator: &Decorator, own_name: &str, registry: &str, key: &str) -> bool {
        let facts = &self.index.file(file).facts;
        let Some(path) = decorator.path else { return false };
        let (entity, rest) = self.index.resolve_path(file, facts.name(path));
        let Entity::Variable(variable) = entity else { return false };
        let called = std::iter::once(self.dotted(variable)).chain(rest.iter().map(|part| (*part).to_owned()));
        if called.collect::<Vec<_>>().join(".") != registry {
            return false;
        }
        if decorator.strings.iter().any(|(_, string)| &**string == key) {
            return true;
        }
        let statements = facts.statements.iter().flat_map(|statement| &statement.references);
        let mut arguments = statements.filter(|reference| {
            decorator.range.contains(reference.range) && reference.role == crate::facts::Role::Argument
        });
        let names_key = arguments.any(|reference| {
            matches!(self.index.resolve_global(file, facts.name(reference.name)),
                Entity::Variable(variable) if self.dotted(variable) == key)
        });
        names_key || (decorator.strings.is_empty() && own_name == key)
    }
}

impl CodeIndex for IndexView {
    fn find(&self, path: &str) -> Option<DefinitionSummary> {
        let (variable, definition) = self.definition(path)?;
        let file = self.index.file(definition.file);
        let statement = self.index.statement(definition);
        let kind = statement.bindings.iter().find(|binding| binding.name == variable.name).map(|binding| binding.kind);
        Some(DefinitionSummary {
            path: self.dotted(variable),
            kind: match kind {
                Some(BindingKind::Class) => DefinitionKind::Class,
                Some(BindingKind::Function) => DefinitionKind::Function,
                Some(BindingKind::Import { .. }) => DefinitionKind::Import,
                Some(BindingKind::Assignment | BindingKind::Augmented | BindingKind::Declaration) => {
                    DefinitionKind::Assignment
                }
                Some(BindingKind::Capture | BindingKind::Deletion) | None => DefinitionKind::Other,
            },
            source: self.index.source(file.source).name.clone(),
            file: file.file.path.clone(),
            lines: lines_of(&(self.texts)(definition.file), statement.range),
        })
    }

    fn source(&self, path: &str) -> Option<String> {
        let (_, definition) = self.definition(path)?;
        Some(self.index.statement(definition).range.slice(&(self.texts)(definition.file)).to_owned())
    }

    fn references(&self, path: &str) -> Vec<String> {
        let Some((_, definition)) = self.definition(path) else { return Vec::new() };
        let statement = self.index.statement(definition);
        let resolved = statement.references.iter().filter_map(|reference| {
            match self.index.resolve(definition, reference).entity {
                Entity::Variable(variable) => Some(self.dotted(variable)),
                Entity::External(external) => Some(external.object_path()),
                Entity::Module(file) => Some(self.index.file(file).module().to_owned()),
                _ => None,
            }
        });
        resolved.collect::<BTreeSet<_>>().into_iter().collect()
    }

    fn registered(&self, registry: &str, key: &str) -> Vec<String> {
        let mut found = BTreeSet::new();
        for (id, file) in self.index.files() {
            // The decorator needs a name that leads to the registry: most files have none and are passed over.
            let last = registry.rsplit('.').next().expect("split yields at least one part");
            if !file.facts.symbols.iter().any(|symbol| &**symbol == last) {
                continue;
            }
            for statement in file.facts.statements.iter().filter(|statement| statement.kind != StatementKind::MainGuard)
            {
                let classes = statement.classes.iter().map(|class| (class.name, &class.decorators));
                let functions = statement.functions.iter().map(|function| (function.name, &function.decorators));
                for (name, decorators) in classes.chain(functions) {
                    let own_name = file.facts.name(name);
                    if decorators.iter().any(|decorator| self.registers(id, decorator, own_name, registry, key)) {
                        found.insert(self.dotted(Variable { file: id, name }));
                    }
                }
            }
        }
        found.into_iter().collect()
    }
}
