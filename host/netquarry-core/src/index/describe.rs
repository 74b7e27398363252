//! What a discovery rule sees of the classes of the index.

use std::collections::{BTreeSet, HashSet, VecDeque};

use super::{DefinitionId, FileId, Index, Variable};
use crate::discovery::{Ancestor, BaseClass, ClassDescription, MethodDescription};
use crate::facts::{ClassFacts, Decorator, FileFacts, FunctionFacts, Operand, ParameterKind};
use crate::resolve::Entity;
use crate::source::TextRange;

/// A class of the index with what a discovery rule sees of it.
#[derive(Clone, Debug)]
pub struct DescribedClass {
    pub definition: DefinitionId,
    pub variable: Variable,
    pub description: ClassDescription,
}

/// Where a dotted path leads that stands in the place of a base class.
enum Base<'index> {
    Class(DefinitionId, &'index ClassFacts),
    /// The dotted path of what is not a class of the index.
    Other(String, bool),
}

impl Index {
    /// Describes all classes of `file` that are bound at its top level, in source order. `text` is the decoded text of
    /// the file; `subclassed` is [`Index::subclassed`].
    pub fn describe(&self, file: FileId, text: &str, subclassed: &HashSet<DefinitionId>) -> Vec<DescribedClass> {
        let indexed = self.file(file);
        self.classes_of(file)
            .map(|(definition, class)| DescribedClass {
                definition,
                variable: Variable { file, name: class.name },
                description: self.description(definition, class, text, subclassed),
            })
            .filter(|described| indexed.file.module.is_some() && !described.description.name.is_empty())
            .collect()
    }

    /// The classes that some other class of the index names as a base.
    pub fn subclassed(&self) -> HashSet<DefinitionId> {
        let mut subclassed = HashSet::new();
        for (definition, class) in self.classes() {
            for base in &class.bases {
                if let Some(Base::Class(base, _)) = self.base(definition.file, base) {
                    subclassed.insert(base);
                }
            }
        }
        subclassed
    }

    fn description(
        &self,
        definition: DefinitionId,
        class: &ClassFacts,
        text: &str,
        subclassed: &HashSet<DefinitionId>,
    ) -> ClassDescription {
        let indexed = self.file(definition.file);
        let facts = &indexed.facts;
        let name = facts.name(class.name).to_owned();
        let metaclass = class.keywords.iter().find(|(keyword, _)| facts.name(*keyword) == "metaclass");
        ClassDescription {
            path: format!("{}.{name}", indexed.module()),
            name,
            module: indexed.module().to_owned(),
            source: self.source(indexed.source).name.clone(),
            file: indexed.file.path.clone(),
            bases: class.bases.iter().map(|base| self.base_class(definition.file, base)).collect(),
            metaclass: metaclass.and_then(|(_, operand)| operand.path).map(|path| facts.name(path).to_owned()),
            ancestors: self.lineage(definition.file, class),
            methods: methods(facts, class),
            decorators: decorators(facts, &class.decorators),
            attributes: class.attributes.iter().map(|attribute| facts.name(*attribute).to_owned()).collect(),
            references: self.references_in(definition, class.range),
            summary: class.docstring.and_then(|docstring| summary(docstring.slice(text))),
            conditional: class.conditional,
            subclassed: subclassed.contains(&definition),
        }
    }

    fn base_class(&self, file: FileId, base: &Operand) -> BaseClass {
        let facts = &self.file(file).facts;
        let resolved = self.base(file, base).map(|base| match base {
            Base::Class(definition, class) => {
                let indexed = self.file(definition.file);
                format!("{}.{}", indexed.module(), indexed.facts.name(class.name))
            }
            Base::Other(path, _) => path,
        });
        BaseClass { written: base.path.map(|path| facts.name(path).to_owned()), resolved }
    }

    fn base(&self, file: FileId, base: &Operand) -> Option<Base<'_>> {
        let path = self.file(file).facts.name(base.path?);
        let (entity, rest) = self.resolve_path(file, path);
        match entity {
            Entity::Variable(variable) if rest.is_empty() => match self.class_of(variable) {
                Some((definition, class)) => Some(Base::Class(definition, class)),
                None => {
                    let module = self.file(variable.file).module();
                    Some(Base::Other(format!("{module}.{}", self.variable_name(variable)), false))
                }
            },
            Entity::External(external) => {
                let mut path = external.object_path();
                for part in rest {
                    path.push('.');
                    path.push_str(part);
                }
                Some(Base::Other(path, true))
            }
            _ => None,
        }
    }

    /// The ancestors in the order of a breadth-first walk, which agrees with Python's order of method look-up except in
    /// diamonds.
    fn lineage(&self, file: FileId, class: &ClassFacts) -> Vec<Ancestor> {
        let mut ancestors = Vec::new();
        let mut seen = HashSet::new();
        let mut waiting: VecDeque<(FileId, Operand)> = class.bases.iter().map(|base| (file, *base)).collect();
        while let Some((file, operand)) = waiting.pop_front() {
            let Some(base) = self.base(file, &operand) else { continue };
            let (path, external, class) = match base {
                Base::Class(definition, class) => {
                    let indexed = self.file(definition.file);
                    let path = format!("{}.{}", indexed.module(), indexed.facts.name(class.name));
                    (path, false, Some((definition.file, class)))
                }
                Base::Other(path, external) => (path, external, None),
            };
            // A class may be its own base by name: `class Foo(Foo)` extends what another statement bound.
            if !seen.insert(path.clone()) {
                continue;
            }
            waiting.extend(class.iter().flat_map(|(file, class)| class.bases.iter().map(|base| (*file, *base))));
            let methods = class.map_or_else(Vec::new, |(file, class)| methods(&self.file(file).facts, class));
            ancestors.push(Ancestor { path, external, methods });
        }
        ancestors
    }

    fn references_in(&self, definition: DefinitionId, range: TextRange) -> Vec<String> {
        let facts = &self.file(definition.file).facts;
        let references =
            self.statement(definition).references.iter().filter(|reference| range.contains(reference.range));
        let written: BTreeSet<String> = references
            .map(|reference| {
                let attributes = reference.path.iter().map(|attribute| facts.name(attribute.name));
                std::iter::once(facts.name(reference.name)).chain(attributes).collect::<Vec<_>>().join(".")
            })
            .collect();
        written.into_iter().collect()
    }
}

fn methods(facts: &FileFacts, class: &ClassFacts) -> Vec<MethodDescription> {
    class.methods.iter().map(|method| description_of(facts, method)).collect()
}

fn description_of(facts: &FileFacts, method: &FunctionFacts) -> MethodDescription {
    let named = method.parameters.iter().filter(|parameter| {
        matches!(
            parameter.kind,
            ParameterKind::PositionalOnly | ParameterKind::PositionalOrKeyword | ParameterKind::KeywordOnly
        )
    });
    MethodDescription {
        name: facts.name(method.name).to_owned(),
        parameters: named.map(|parameter| facts.name(parameter.name).to_owned()).collect(),
        decorators: decorators(facts, &method.decorators),
        is_stub: method.is_stub,
    }
}

fn decorators(facts: &FileFacts, decorators: &[Decorator]) -> Vec<String> {
    let path = |decorator: &Decorator| decorator.path.map_or_else(String::new, |path| facts.name(path).to_owned());
    decorators.iter().map(path).collect()
}

/// The first line of a docstring, given as the text of its literal.
fn summary(literal: &str) -> Option<String> {
    let body = literal.trim_start_matches(|char: char| char.is_ascii_alphabetic()).trim_matches(['"', '\'']);
    let line = body.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.to_owned())
}
