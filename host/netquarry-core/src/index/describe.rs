//! What a discovery rule sees of the classes of the index.

use std::collections::{BTreeSet, HashSet};

use super::lineage::Base;
use super::{DefinitionId, FileId, Index, Variable};
use crate::discovery::{Ancestor, BaseClass, ClassDescription, MethodDescription};
use crate::facts::{ClassFacts, Decorator, FileFacts, FunctionFacts, Operand, ParameterKind};
use crate::source::TextRange;

/// A class of the index with what a discovery rule sees of it.
#[derive(Clone, Debug)]
pub struct DescribedClass {
    pub definition: DefinitionId,
    pub variable: Variable,
    pub description: ClassDescription,
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
            ancestors: self.ancestors(definition, class),
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
            Base::Other { path, .. } => path,
        });
        BaseClass { written: base.path.map(|path| facts.name(path).to_owned()), resolved }
    }

    fn ancestors(&self, definition: DefinitionId, class: &ClassFacts) -> Vec<Ancestor> {
        let lineage = self.lineage(definition, class);
        let ancestor = |base: &Base<'_>| match base {
            Base::Class(definition, class) => {
                let indexed = self.file(definition.file);
                Ancestor {
                    path: format!("{}.{}", indexed.module(), indexed.facts.name(class.name)),
                    external: false,
                    methods: methods(&indexed.facts, class),
                }
            }
            Base::Other { path, external } => Ancestor { path: path.clone(), external: *external, methods: Vec::new() },
        };
        lineage.iter().skip(1).map(ancestor).collect()
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
