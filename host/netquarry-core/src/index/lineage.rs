//! The order in which Python looks a method up on a class.

use std::collections::{HashMap, VecDeque};

use super::{DefinitionId, FileId, Index};
use crate::facts::{ClassFacts, Operand};
use crate::resolve::Entity;

/// Where a dotted path leads that stands in the place of a base class.
#[derive(Clone, Debug)]
pub enum Base<'index> {
    /// A class of the index, with the definition that binds it.
    Class(DefinitionId, &'index ClassFacts),
    /// Something that is not a class of the index.
    Other {
        /// The dotted path, as far as it resolves.
        path: String,
        /// No source of the corpus defines it.
        external: bool,
    },
}

impl PartialEq for Base<'_> {
    /// Whether both are the same class.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Base::Class(_, class), Base::Class(_, other)) => std::ptr::eq(*class, *other),
            (Base::Other { path, .. }, Base::Other { path: other, .. }) => path == other,
            (Base::Class(..), Base::Other { .. }) | (Base::Other { .. }, Base::Class(..)) => false,
        }
    }
}

impl Index {
    /// The base that an operand of a class statement in `file` names; `None` where it names nothing that is known.
    pub(super) fn base(&self, file: FileId, base: &Operand) -> Option<Base<'_>> {
        let path = self.file(file).facts.name(base.path?);
        let (entity, rest) = self.resolve_path(file, path);
        match entity {
            Entity::Variable(variable) if rest.is_empty() => Some(match self.class_of(variable) {
                Some((definition, class)) => Base::Class(definition, class),
                None => {
                    let module = self.file(variable.file).module();
                    Base::Other { path: format!("{module}.{}", self.variable_name(variable)), external: false }
                }
            }),
            Entity::External(external) => {
                let parts = std::iter::once(external.object_path()).chain(rest.into_iter().map(str::to_owned));
                Some(Base::Other { path: parts.collect::<Vec<_>>().join("."), external: true })
            }
            _ => None,
        }
    }

    /// The class and its ancestors in Python's method resolution order (C3, Barrett et al. 1996), each once. Of an
    /// external class no bases are known. Where there is no such order, because upstream would not run or because a base
    /// is not what it seems, the first of the classes that compete comes first.
    pub fn lineage<'index>(&'index self, definition: DefinitionId, class: &'index ClassFacts) -> Vec<Base<'index>> {
        Linearising { index: self, derived: Vec::new(), known: HashMap::new() }.order(&Base::Class(definition, class))
    }
}

struct Linearising<'index> {
    index: &'index Index,
    /// The classes whose orders are being made: `class Foo(Foo)` extends what another statement bound, and is no base of
    /// itself.
    derived: Vec<Base<'index>>,
    /// The orders that are made, by the place of the class: without them, diamonds upon diamonds would take for ever.
    known: HashMap<*const ClassFacts, Vec<Base<'index>>>,
}

impl<'index> Linearising<'index> {
    fn order(&mut self, class: &Base<'index>) -> Vec<Base<'index>> {
        let Base::Class(definition, facts) = class else { return vec![class.clone()] };
        if let Some(known) = self.known.get(&std::ptr::from_ref(*facts)) {
            return known.clone();
        }
        self.derived.push(class.clone());
        let bases = facts.bases.iter().filter_map(|base| self.index.base(definition.file, base));
        let bases: Vec<Base<'_>> = bases.filter(|base| !self.derived.contains(base)).collect();
        let mut orders: Vec<VecDeque<Base<'_>>> = bases.iter().map(|base| self.order(base).into()).collect();
        orders.push(bases.into());
        self.derived.pop();
        let mut order = merge(orders);
        order.insert(0, class.clone());
        self.known.insert(std::ptr::from_ref(*facts), order.clone());
        order
    }
}

/// Takes from the front of the first order of which the front stands behind no other's, until all are empty.
fn merge<'index>(mut orders: Vec<VecDeque<Base<'index>>>) -> Vec<Base<'index>> {
    let mut merged = Vec::new();
    loop {
        orders.retain(|order| !order.is_empty());
        let fronts = || orders.iter().map(|order| &order[0]);
        let is_behind = |class: &Base<'_>| orders.iter().any(|order| order.iter().skip(1).any(|other| other == class));
        let Some(next) = fronts().find(|class| !is_behind(class)).or_else(|| fronts().next()).cloned() else {
            return merged;
        };
        for order in &mut orders {
            order.retain(|class| *class != next);
        }
        merged.push(next);
    }
}
