//! The order of a bundle's definitions.
//!
//! The base order is the one in which CPython would run them upstream; it is right by construction except where upstream
//! imports a module only later, inside a function. So definitions are written in the base order, and whatever one of them
//! evaluates when it runs is written before it if it was not already. What such an evaluation may *call* is wanted early
//! too, but gives way where it would have to stand before something that is being written.

use std::collections::HashSet;

use super::graph::{Graph, Item, Node};
use super::late::Late;
use crate::index::Index;

/// The items of a bundle in the order in which they are to be written.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) items: Vec<Item>,
    /// Likewise the items of each late group.
    pub(super) groups: Vec<Vec<Item>>,
    /// Cycles of evaluation that no order satisfies: each as a path of names.
    pub(super) cycles: Vec<Vec<String>>,
}

pub(super) fn order(index: &Index, graph: &Graph, late: &Late) -> Order {
    let (all, cycles) = written(graph);
    if late.groups().is_empty() {
        return Order { items: all, groups: Vec::new(), cycles: described(index, late, &cycles) };
    }
    let of_group = |number| all.iter().copied().filter(|item| late.group_of(*item) == Some(number)).collect();
    let groups = (0..late.groups().len()).map(of_group).collect();
    let is_within_group = |cycle: &Vec<Item>| {
        let group = late.group_of(cycle[0]);
        group.is_some() && cycle.iter().all(|item| late.group_of(*item) == group)
    };
    let within = cycles.into_iter().filter(is_within_group);
    let (items, between) = written(&graph.folded(late));
    let cycles: Vec<Vec<Item>> = within.chain(between).collect();
    Order { items, groups, cycles: described(index, late, &cycles) }
}

fn described(index: &Index, late: &Late, cycles: &[Vec<Item>]) -> Vec<Vec<String>> {
    cycles.iter().map(|cycle| cycle.iter().map(|item| describe(index, late, *item)).collect()).collect()
}

/// The items in order, and the cycles among them.
fn written(graph: &Graph) -> (Vec<Item>, Vec<Vec<Item>>) {
    let nodes = graph.nodes();
    let mut writing = Writing {
        nodes,
        state: vec![State::Waiting; nodes.len()],
        stack: Vec::new(),
        written: Vec::with_capacity(nodes.len()),
        cycles: Vec::new(),
    };
    for node in 0..nodes.len() {
        writing.write(node);
    }
    let items = writing.written.iter().map(|node| nodes[*node].item).collect();
    let cycles = writing.cycles.iter();
    let cycles = cycles.map(|cycle| cycle.iter().map(|node| nodes[*node].item).collect()).collect();
    (items, cycles)
}

fn describe(index: &Index, late: &Late, item: Item) -> String {
    match item {
        Item::Definition(definition) => index.definition_path(definition),
        Item::Namespace(file) => index.file(file).module().to_owned(),
        Item::Replacement(variable) => index.variable_path(variable),
        Item::Alias(file, symbol) => format!("{}.{}", index.file(file).module(), index.file(file).facts.name(symbol)),
        Item::Late(number) => index.file(late.groups()[number].file).module().to_owned(),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    /// What it needs is being written.
    Begun,
    Written,
}

struct Writing<'graph> {
    nodes: &'graph [Node],
    state: Vec<State>,
    stack: Vec<usize>,
    written: Vec<usize>,
    cycles: Vec<Vec<usize>>,
}

impl Writing<'_> {
    fn write(&mut self, node: usize) {
        match self.state[node] {
            State::Written => return,
            State::Begun => {
                let start = self.stack.iter().position(|begun| *begun == node).expect("what is begun is on the stack");
                let cycle = self.stack[start..].iter().copied().chain([node]).collect();
                self.cycles.push(cycle);
                return;
            }
            State::Waiting => {}
        }
        self.state[node] = State::Begun;
        self.stack.push(node);
        for needed in &self.nodes[node].eager {
            self.write(*needed);
        }
        self.write_what_is_called(node);
        self.stack.pop();
        self.state[node] = State::Written;
        self.written.push(node);
    }

    /// Writes what the functions use that running `node` may call, transitively.
    fn write_what_is_called(&mut self, node: usize) {
        let mut seen: HashSet<usize> = HashSet::new();
        let mut waiting: Vec<usize> = self.nodes[node].called.clone();
        while let Some(called) = waiting.pop() {
            if !seen.insert(called) {
                continue;
            }
            for used in &self.nodes[called].lazy {
                if self.state[*used] == State::Waiting && self.can_be_written(*used) {
                    self.write(*used);
                }
                waiting.push(*used);
            }
        }
    }

    /// Whether nothing that is being written has to stand before `node`.
    fn can_be_written(&self, node: usize) -> bool {
        let mut seen = HashSet::new();
        let mut waiting = vec![node];
        while let Some(next) = waiting.pop() {
            match self.state[next] {
                State::Begun => return false,
                State::Written => {}
                State::Waiting => {
                    if seen.insert(next) {
                        waiting.extend(&self.nodes[next].eager);
                    }
                }
            }
        }
        true
    }
}
