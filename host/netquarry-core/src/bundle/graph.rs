//! What the items of a bundle need of each other.

use std::collections::BTreeMap;

use super::late::Late;
use super::uses::{Named, Uses, is_eager, may_call};
use crate::closure::Closure;
use crate::facts::{StatementKind, Symbol};
use crate::index::{DefinitionId, FileId, Index, Variable};

/// Something that is written at the top level of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Item {
    Definition(DefinitionId),
    /// A module as an object, once all that it holds is there.
    Namespace(FileId),
    /// What a shim puts in the place of all binders of a variable.
    Replacement(Variable),
    /// `g = f`, for a name that a file gives to a variable of another.
    Alias(FileId, Symbol),
    /// The function that holds a group of what waits for an import: its position in [`Late::groups`].
    Late(usize),
}

impl Item {
    /// The file that it comes from; a function that holds others has none.
    pub(super) fn file(self) -> Option<FileId> {
        match self {
            Self::Definition(definition) => Some(definition.file),
            Self::Replacement(variable) => Some(variable.file),
            Self::Namespace(file) | Self::Alias(file, _) => Some(file),
            Self::Late(_) => None,
        }
    }
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) item: Item,
    rank: u32,
    /// What must have run before.
    pub(super) eager: Vec<usize>,
    /// Those of them that running the item may call; a decorated definition may be called itself.
    pub(super) called: Vec<usize>,
    /// What its functions use when they are called.
    pub(super) lazy: Vec<usize>,
}

/// The items of a closure in base order, with what they use.
#[derive(Debug)]
pub(super) struct Graph {
    nodes: Vec<Node>,
}

impl Graph {
    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(super) fn items(&self) -> impl Iterator<Item = Item> {
        self.nodes.iter().map(|node| node.item)
    }

    pub(super) fn build(index: &Index, closure: &Closure, uses: &Uses<'_>) -> Self {
        let mut items: Vec<(u32, Item)> = Vec::new();
        for definition in closure.definitions.keys() {
            items.push((index.imports().rank(*definition), Item::Definition(*definition)));
        }
        for file in closure.namespaces.keys() {
            items.push((last_rank(index, *file), Item::Namespace(*file)));
        }
        for variable in closure.substitutions.keys() {
            items.push((variable_rank(index, *variable), Item::Replacement(*variable)));
        }
        for (file, symbol) in uses.aliases.keys() {
            let name = index.file(*file).facts.name(*symbol);
            let rank = match index.import_binding(*file, name) {
                Some((statement, ..)) => index.imports().rank(DefinitionId { file: *file, statement }),
                // Through a star import: as early as the file's first statement.
                None => index.imports().rank(DefinitionId { file: *file, statement: 0 }),
            };
            items.push((rank, Item::Alias(*file, *symbol)));
        }
        items.sort_unstable();
        let places: BTreeMap<Item, usize> = items.iter().enumerate().map(|(place, (_, item))| (*item, place)).collect();
        let providers = Providers { index, closure, places: &places, items: &items };
        let nodes = items
            .iter()
            .map(|(rank, item)| {
                let mut node =
                    Node { item: *item, rank: *rank, eager: Vec::new(), called: Vec::new(), lazy: Vec::new() };
                match item {
                    Item::Definition(definition) => providers.connect(&mut node, *definition, uses),
                    Item::Alias(file, symbol) => {
                        node.eager = providers.of_variable(uses.aliases[&(*file, *symbol)], *rank)
                    }
                    Item::Namespace(file) => {
                        let members = uses.namespaces[file].iter();
                        node.eager = members.flat_map(|(_, named)| providers.of(named, *rank)).collect();
                    }
                    Item::Replacement(variable) => providers.connect_replacement(&mut node, *variable, uses),
                    Item::Late(_) => {}
                }
                node
            })
            .collect();
        Self { nodes }
    }

    /// The same with one node in the place of each late group that is a function; those of imports alone come first, and
    /// need nothing. Writing the function needs nothing, calling it all that its items need; and whatever holds an import
    /// statement that calls it needs it as it runs.
    pub(super) fn folded(&self, late: &Late) -> Self {
        let mut nodes: Vec<Node> = Vec::new();
        let mut of_group = vec![None; late.groups().len()];
        for group in late.functions().filter(|group| late.groups()[*group].items.is_empty()) {
            of_group[group] = Some(nodes.len());
            let item = Item::Late(group);
            nodes.push(Node { item, rank: 0, eager: Vec::new(), called: Vec::new(), lazy: Vec::new() });
        }
        let mut places = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let group = late.group_of(node.item);
            let place = group.and_then(|group| of_group[group]).unwrap_or(nodes.len());
            if place == nodes.len() {
                let item = group.map_or(node.item, Item::Late);
                nodes.push(Node { item, rank: node.rank, eager: Vec::new(), called: Vec::new(), lazy: Vec::new() });
            }
            if let Some(group) = group {
                of_group[group] = Some(place);
            }
            places.push(place);
        }
        for (node, place) in self.nodes.iter().zip(&places) {
            let others = |of: &[usize]| of.iter().map(|it| places[*it]).filter(|it| it != place).collect::<Vec<_>>();
            let folded = &mut nodes[*place];
            let (eager, called, lazy) = (others(&node.eager), others(&node.called), others(&node.lazy));
            if matches!(folded.item, Item::Late(_)) {
                folded.lazy.extend(eager.into_iter().chain(called).chain(lazy));
            } else {
                folded.eager = eager;
                folded.called = called;
                folded.lazy = lazy;
            }
            let Item::Definition(definition) = node.item else { continue };
            for gateway in late.gateways_in(definition) {
                let run = late.run_by(gateway.place).filter_map(|group| of_group[group]).filter(|it| it != place);
                let run: Vec<usize> = run.collect();
                if gateway.at_module_level {
                    folded.eager.extend(&run);
                    folded.called.extend(&run);
                } else {
                    folded.lazy.extend(&run);
                }
            }
        }
        Self { nodes }
    }
}

fn variable_rank(index: &Index, variable: Variable) -> u32 {
    let file = index.file(variable.file);
    let first = file.binders(index.variable_name(variable)).next();
    first.map_or(0, |(statement, _)| index.imports().rank(DefinitionId { file: variable.file, statement }))
}

/// Of the last statement of a file.
fn last_rank(index: &Index, file: FileId) -> u32 {
    let last =
        u32::try_from(index.file(file).facts.statements.len()).expect("fewer than 2^32 statements").checked_sub(1);
    last.map_or(0, |statement| index.imports().rank(DefinitionId { file, statement }))
}

struct Providers<'graph> {
    index: &'graph Index,
    closure: &'graph Closure,
    places: &'graph BTreeMap<Item, usize>,
    items: &'graph [(u32, Item)],
}

impl Providers<'_> {
    fn connect(&self, node: &mut Node, definition: DefinitionId, uses: &Uses<'_>) {
        let statement = self.index.statement(definition);
        let is_decorated = statement.functions.iter().any(|function| !function.decorators.is_empty())
            || statement.classes.iter().any(|class| !class.decorators.is_empty());
        for (found, named) in &uses.by_definition[&definition] {
            let provided = self.of(named, node.rank);
            if is_eager(self.index, definition, found.reference) {
                if may_call(found.reference) {
                    node.called.extend(&provided);
                }
                node.eager.extend(provided);
            } else {
                node.lazy.extend(provided);
            }
        }
        self.connect_operators(node, definition);
        // A compound statement binds by the imports in it what other files define.
        for import in statement.imports.iter().filter(|import| import.scope.0 == 0 && statement_runs(statement.kind)) {
            for name in 0..u32::try_from(import.names.len()).expect("fewer than 2^32 names") {
                if let crate::resolve::Entity::Variable(variable) =
                    self.index.resolve_imported(definition.file, import, name)
                {
                    node.eager.extend(self.of_variable(variable, node.rank));
                }
            }
        }
        let own = self.places[&Item::Definition(definition)];
        node.eager.retain(|place| *place != own);
        if is_decorated {
            node.called.push(own);
        }
    }

    /// Whoever uses an operator needs what upstream would have run of its makers by then; all where that is nothing.
    fn connect_operators(&self, node: &mut Node, definition: DefinitionId) {
        for used in self.closure.operator_uses.get(&definition).into_iter().flatten() {
            // What a shim replaces is no item of its own.
            let makers =
                used.definitions.iter().filter_map(|maker| self.places.get(&Item::Definition(*maker)).copied());
            let makers: Vec<usize> = makers.collect();
            let earlier: Vec<usize> = makers.iter().copied().filter(|place| self.items[*place].0 < node.rank).collect();
            let provided = if earlier.is_empty() { makers } else { earlier };
            let mut references = self.index.statement(definition).references.iter();
            let reference = references.find(|found| found.range == used.range).expect("uses are references");
            if is_eager(self.index, definition, reference) {
                node.called.extend(&provided);
                node.eager.extend(provided);
            } else {
                node.lazy.extend(provided);
            }
        }
    }

    /// The items that provide what a name stands for.
    fn of(&self, named: &Named, rank: u32) -> Vec<usize> {
        match named {
            Named::Variable(variable) => self.of_variable(*variable, rank),
            Named::Alias(file, symbol) => vec![self.places[&Item::Alias(*file, *symbol)]],
            Named::Module(file) => vec![self.places[&Item::Namespace(*file)]],
            Named::External { .. } | Named::Late(_) | Named::OwnFile => Vec::new(),
        }
    }

    fn connect_replacement(&self, node: &mut Node, variable: Variable, uses: &Uses<'_>) {
        for (used, named) in &uses.by_replacement[&variable] {
            let Named::Variable(variable) = named else { continue };
            let provided = self.of_variable(*variable, node.rank);
            if used.is_eager {
                node.called.extend(&provided);
                node.eager.extend(provided);
            } else {
                node.lazy.extend(provided);
            }
        }
        let own = self.places[&Item::Replacement(variable)];
        node.eager.retain(|place| *place != own);
    }

    /// The items that bind and change a variable up to `rank`; all that bind it where upstream would run none before.
    fn of_variable(&self, variable: Variable, rank: u32) -> Vec<usize> {
        if let Some(place) = self.places.get(&Item::Replacement(variable)) {
            return vec![*place];
        }
        let file = self.index.file(variable.file);
        let binders: Vec<usize> = file
            .binders(self.index.variable_name(variable))
            .filter_map(|(statement, _)| {
                self.places.get(&Item::Definition(DefinitionId { file: variable.file, statement })).copied()
            })
            .collect();
        // An item that binds the variable itself is one of them: it needs none that comes later.
        let earlier: Vec<usize> = binders.iter().copied().filter(|place| self.items[*place].0 <= rank).collect();
        if earlier.is_empty() {
            return binders;
        }
        let entries = self.index.entries_of(variable).iter().map(|entry| entry.definition);
        let mutations = self.index.mutations_of(variable).iter().copied().chain(entries);
        let changes = mutations.filter_map(|mutation| self.places.get(&Item::Definition(mutation)).copied());
        earlier.into_iter().chain(changes.filter(|place| self.items[*place].0 < rank)).collect()
    }
}

fn statement_runs(kind: StatementKind) -> bool {
    !matches!(kind, StatementKind::Class | StatementKind::Function)
}
