//! What has to wait until upstream would import it.
//!
//! Upstream may import a module only inside of a function, or under a guard, since the module cannot run without a
//! package that may not be there. Definitions of such a module that need the package while they run are written into a
//! function, and this function is called where upstream's import statement stood.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::{Graph, Item};
use super::imports::may_be_missing;
use super::users::{Users, UsersByObject};
use super::uses::Uses;
use crate::closure::Closure;
use crate::facts::{Guard, ImportForm, ImportStatement, Statement, StatementKind};
use crate::index::{DefinitionId, FileId, FileSet, Index, Module};

/// An import statement inside of a definition: the place in `Statement::imports`.
pub(super) type Place = (DefinitionId, usize);

/// An import statement inside of a definition that imports modules of the corpus.
#[derive(Debug)]
pub(super) struct Gateway {
    pub(super) place: Place,
    pub(super) at_module_level: bool,
    /// The files that then run, by imported module.
    reached: Vec<FileSet>,
}

impl Gateway {
    fn runs(&self, file: FileId) -> bool {
        self.reached.iter().any(|files| files.contains(file))
    }
}

#[derive(Debug, Default)]
pub(super) struct Late {
    gateways: Vec<Gateway>,
    /// In the order in which a statement that runs several of them has to.
    groups: Vec<Group>,
    group_of: BTreeMap<Item, usize>,
}

/// Items that run at the same import statements.
#[derive(Debug)]
pub(super) struct Group {
    /// Sorted by the order in which upstream runs them.
    pub(super) items: Vec<Item>,
    /// The file after which its function is named. No two groups have items of one file.
    pub(super) file: FileId,
    /// Positions of import statements in `gateways`.
    gateways: BTreeSet<usize>,
}

impl Late {
    pub(super) fn groups(&self) -> &[Group] {
        &self.groups
    }

    pub(super) fn group_of(&self, item: Item) -> Option<usize> {
        self.group_of.get(&item).copied()
    }

    /// The import statements that run one of the files.
    pub(super) fn gateways_to(&self, files: &BTreeSet<FileId>) -> impl Iterator<Item = &Gateway> {
        self.gateways.iter().filter(|gateway| files.iter().any(|file| gateway.runs(*file)))
    }

    pub(super) fn gateways_in(&self, definition: DefinitionId) -> impl Iterator<Item = &Gateway> {
        self.gateways.iter().filter(move |gateway| gateway.place.0 == definition)
    }

    /// The groups that an import statement runs, as positions in [`Self::groups`]; a group is not run by its own items.
    pub(super) fn run_by(&self, place: Place) -> impl Iterator<Item = usize> {
        let own = self.group_of(Item::Definition(place.0));
        let runs = move |group: &Group| group.gateways.iter().any(|gateway| self.gateways[*gateway].place == place);
        let numbered = self.groups.iter().enumerate();
        numbered.filter(move |(number, group)| Some(*number) != own && runs(group)).map(|(number, _)| number)
    }
}

/// Finds what has to wait.
pub(super) fn find(
    index: &Index,
    closure: &Closure,
    uses: &Uses<'_>,
    users: &UsersByObject<'_>,
    graph: &Graph,
) -> Late {
    let always = index.imports().always_imports(closure.target.definition.file);
    let unsure = unsure(uses, users, &always);
    let may_fail =
        |definition: &DefinitionId| !always.contains(definition.file) && asks_for_packages(index, *definition);
    if unsure.is_empty() && !closure.definitions.keys().any(may_fail) {
        return Late::default();
    }
    let gateways = gateways(index, closure);
    let mut search = Search::new(index, graph, &gateways, &always, &unsure);
    search.spread();
    search.take_back();
    let (groups, group_of) = search.groups();
    Late { gateways, groups, group_of }
}

/// The users of packages that upstream may do without.
fn unsure<'users>(uses: &Uses<'_>, users: &'users UsersByObject<'_>, always: &FileSet) -> Vec<&'users Users> {
    let is_unsure = |(object, users): &(&(&str, &str), &Users)| {
        let ways = &uses.externals[&(object.0.to_owned(), object.1.to_owned())];
        ways.iter().any(|way| may_be_missing(way.package())) && !users.files().any(|file| always.contains(file))
    };
    users.iter().filter(is_unsure).map(|(_, users)| users).collect()
}

/// The import statements inside of definitions that import modules of the corpus.
fn gateways(index: &Index, closure: &Closure) -> Vec<Gateway> {
    let mut gateways = Vec::new();
    for (definition, closed) in &closure.definitions {
        for (number, import) in index.statement(*definition).imports.iter().enumerate() {
            if import.guards.contains(&Guard::TypeChecking) || closed.cuts.contain(import.range) {
                continue;
            }
            let files = index.imported_files(definition.file, import);
            if !files.is_empty() {
                let reached = files.into_iter().map(|file| index.imports().always_imports(file)).collect();
                let at_module_level = import.stands_in.0 == 0;
                gateways.push(Gateway { place: (*definition, number), at_module_level, reached });
            }
        }
    }
    gateways
}

struct Search<'search> {
    graph: &'search Graph,
    /// For each node, the import statements that run it late; none where it cannot wait.
    gateways: Vec<BTreeSet<usize>>,
    all_gateways: &'search [Gateway],
    /// Running the node needs something that has to be waited for.
    waits: Vec<bool>,
    /// Calling what the node defines does.
    waits_when_called: Vec<bool>,
}

impl<'search> Search<'search> {
    fn new(
        index: &Index,
        graph: &'search Graph,
        all_gateways: &'search [Gateway],
        always: &FileSet,
        unsure: &[&Users],
    ) -> Self {
        let mut by_file: BTreeMap<FileId, BTreeSet<usize>> = BTreeMap::new();
        let mut to = |file: FileId| -> BTreeSet<usize> {
            let reaching = |(_, gateway): &(usize, &Gateway)| gateway.place.0.file != file && gateway.runs(file);
            let found = || all_gateways.iter().enumerate().filter(reaching).map(|(number, _)| number).collect();
            by_file.entry(file).or_insert_with(found).clone()
        };
        let gateways = graph.items().map(|item| match item.file() {
            Some(file) if !always.contains(file) && can_wait(index, item) => to(file),
            _ => BTreeSet::new(),
        });
        let gateways: Vec<_> = gateways.collect();
        let is_one =
            |item: &Item, of: fn(&Users) -> &BTreeSet<Item>| unsure.iter().any(|users| of(users).contains(item));
        let may_fail = |item: &Item| {
            is_one(item, |users| &users.eager)
                || matches!(item, Item::Definition(definition) if asks_for_packages(index, *definition))
        };
        let waits = graph.items().zip(&gateways).map(|(item, gateways)| !gateways.is_empty() && may_fail(&item));
        let waits = waits.collect();
        let waits_when_called = graph.items().map(|item| is_one(&item, |users| &users.lazy)).collect();
        Self { graph, gateways, all_gateways, waits, waits_when_called }
    }

    /// What needs something that waits has to wait itself.
    fn spread(&mut self) {
        let mut changes = true;
        while changes {
            changes = false;
            for (number, node) in self.graph.nodes().iter().enumerate() {
                let waits = !self.gateways[number].is_empty()
                    && (node.eager.iter().any(|needed| self.waits[*needed])
                        || node.called.iter().any(|called| self.waits_when_called[*called]));
                let when_called = node.lazy.iter().any(|used| self.waits[*used] || self.waits_when_called[*used]);
                changes |= (waits && !self.waits[number]) || (when_called && !self.waits_when_called[number]);
                self.waits[number] |= waits;
                self.waits_when_called[number] |= when_called;
            }
        }
    }

    /// What is needed by something that does not wait, and that no import statement would run before, cannot wait.
    fn take_back(&mut self) {
        let mut changes = true;
        while changes {
            changes = false;
            for (number, node) in self.graph.nodes().iter().enumerate().filter(|(_, node)| node.item.file().is_some()) {
                if self.waits[number] {
                    continue;
                }
                let eager = node.eager.iter().filter(|needed| !self.runs_at_once(node.item, **needed));
                let lazy = node.lazy.iter().filter(|used| !self.has_run_for(number, **used));
                let taken: Vec<usize> = eager.chain(lazy).copied().filter(|needed| self.waits[*needed]).collect();
                changes |= !taken.is_empty();
                taken.into_iter().for_each(|needed| self.waits[needed] = false);
            }
        }
    }

    /// Whether running the item runs an import statement that runs the node.
    fn runs_at_once(&self, item: Item, node: usize) -> bool {
        self.gateways_between(item, node).any(|gateway| gateway.at_module_level)
    }

    /// Whether a function of `user` finds that the node has run: it has the import statement itself, or stands in a
    /// file that the same statements run.
    fn has_run_for(&self, user: usize, node: usize) -> bool {
        let run_together = !self.gateways[user].is_empty() && self.gateways[user].is_subset(&self.gateways[node]);
        run_together || self.gateways_between(self.graph.nodes()[user].item, node).next().is_some()
    }

    /// The import statements in the item that run the node.
    fn gateways_between(&self, item: Item, node: usize) -> impl Iterator<Item = &Gateway> {
        let to_node = self.gateways[node].iter().map(|gateway| &self.all_gateways[*gateway]);
        to_node.filter(move |gateway| Item::Definition(gateway.place.0) == item)
    }

    fn groups(&self) -> (Vec<Group>, BTreeMap<Item, usize>) {
        let mut by_gateways: BTreeMap<&BTreeSet<usize>, Vec<Item>> = BTreeMap::new();
        for (number, item) in self.graph.items().enumerate().filter(|(number, _)| self.waits[*number]) {
            by_gateways.entry(&self.gateways[number]).or_default().push(item);
        }
        let group = |(gateways, items): (&BTreeSet<usize>, Vec<Item>)| {
            let file = items.iter().rev().find_map(|item| item.file()).expect("what waits is in a file");
            Group { items, file, gateways: gateways.clone() }
        };
        let mut groups: Vec<Group> = by_gateways.into_iter().map(group).collect();
        // What another file always imports is run by whatever runs that file, and by more.
        groups.sort_by_key(|group| std::cmp::Reverse(group.gateways.len()));
        let numbered = groups.iter().enumerate();
        let group_of =
            numbered.flat_map(|(number, group)| group.items.iter().map(move |item| (*item, number))).collect();
        (groups, group_of)
    }
}

/// Whether running the definition imports packages that may not be there, under an `if`. Where the condition fails, it
/// raises an error as often as not.
fn asks_for_packages(index: &Index, definition: DefinitionId) -> bool {
    let file = index.file(definition.file);
    let asks = |import: &ImportStatement| {
        let catches = |guard: &Guard| matches!(guard, Guard::TypeChecking | Guard::TryImport);
        let is_asked = import.guards.contains(&Guard::If) && !import.guards.iter().any(catches);
        let is_unsure = |module: &&str| {
            let root = module.split('.').next().expect("split yields at least one part");
            may_be_missing(root) && index.find_module(file.source, module) == Module::External
        };
        import.stands_in.0 == 0 && is_asked && import.absolute_modules(&file.facts).iter().any(is_unsure)
    };
    index.statement(definition).imports.iter().any(asks)
}

/// Whether the item can be written into a function.
fn can_wait(index: &Index, item: Item) -> bool {
    let Item::Definition(definition) = item else { return true };
    let statement = index.statement(definition);
    let has_star = |statement: &Statement| {
        let mut at_module_level = statement.imports.iter().filter(|import| import.scope.0 == 0);
        at_module_level.any(|import| matches!(import.form, ImportForm::Star { .. }))
    };
    // A name that is annotated cannot be global to the function. The statement kinds with annotations of their own are
    // assignments; in other statements they may stand anywhere.
    let is_annotated = !statement.annotations.is_empty()
        && !matches!(statement.kind, StatementKind::Class | StatementKind::Function | StatementKind::Assign);
    !has_star(statement) && !is_annotated
}
