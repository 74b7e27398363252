//! What has to wait until upstream would import it.
//!
//! Upstream may import a module only inside of a function, or under a guard, since the module cannot run without a
//! package that may not be there. The import of that package, and definitions of the module that need it while they run,
//! are written into a function, and this function is called where upstream's import statement stood.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::{Graph, Item};
use super::imports::{imported_in, may_be_missing};
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
    /// It stands in a `try` or a `with`, so that what it raises may be caught.
    is_tried: bool,
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

/// An external object, by path and wanted name.
pub(super) type Object = (String, String);

/// What runs at the same import statements.
#[derive(Debug)]
pub(super) struct Group {
    /// What is imported first, sorted by the order in which upstream imports it, each with the first file that does.
    pub(super) imports: Vec<(Object, FileId)>,
    /// Sorted by the order in which upstream runs them.
    pub(super) items: Vec<Item>,
    /// The file after which its function is named. What is of one file is in one group.
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

    /// Whether the import of an external object waits.
    pub(super) fn defers(&self, object: &Object) -> bool {
        self.groups.iter().flat_map(|group| &group.imports).any(|(other, _)| other == object)
    }

    /// Whether a group that runs at this import statement can do so in its place: nothing but imports, at the top level
    /// of the bundle.
    pub(super) fn is_inline(&self, group: usize, place: Place) -> bool {
        let is_at_top =
            |gateway: &Gateway| gateway.at_module_level && self.group_of(Item::Definition(gateway.place.0)).is_none();
        let gateways = self.groups[group].gateways.iter().map(|gateway| &self.gateways[*gateway]);
        self.groups[group].items.is_empty() && gateways.filter(|gateway| gateway.place == place).all(is_at_top)
    }

    /// Whether what an import statement raises that runs the group may be caught around it.
    pub(super) fn is_tried(&self, group: &Group) -> bool {
        group.gateways.iter().any(|gateway| self.gateways[*gateway].is_tried)
    }

    /// The groups that are written as functions.
    pub(super) fn functions(&self) -> impl Iterator<Item = usize> {
        let is_called = |number: &usize| {
            let group = &self.groups[*number];
            let is_inline = |gateway: &usize| self.is_inline(*number, self.gateways[*gateway].place);
            !group.gateways.iter().all(is_inline)
        };
        (0..self.groups.len()).filter(is_called)
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
    let unsure = unsure(closure, uses, users, &always);
    let may_fail =
        |definition: &DefinitionId| !always.contains(definition.file) && asks_for_packages(index, *definition);
    if unsure.is_empty() && !closure.definitions.keys().any(may_fail) {
        return Late::default();
    }
    let gateways = gateways(index, closure);
    let mut search = Search::new(index, uses, graph, &gateways, &always, &unsure);
    search.spread();
    search.take_back();
    let groups = search.groups();
    Late { group_of: groups_of_items(&groups), groups, gateways }
}

/// The objects of packages that upstream may do without, with their users.
fn unsure<'users>(
    closure: &Closure,
    uses: &Uses<'_>,
    users: &'users UsersByObject<'_>,
    always: &FileSet,
) -> Vec<(Object, &'users Users)> {
    let owned = users.iter().map(|((path, wanted), users)| (((*path).to_owned(), (*wanted).to_owned()), users));
    let is_unsure = |(object, users): &(Object, &Users)| {
        !closure.external_replacements.contains_key(&object.0)
            && uses.externals[object].iter().any(|way| may_be_missing(way.package()))
            && !users.files().any(|file| always.contains(file))
    };
    owned.filter(is_unsure).collect()
}

fn groups_of_items(groups: &[Group]) -> BTreeMap<Item, usize> {
    let numbered = groups.iter().enumerate();
    numbered.flat_map(|(number, group)| group.items.iter().map(move |item| (*item, number))).collect()
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
                let may_catch = |guard: &Guard| matches!(guard, Guard::TryImport | Guard::Try | Guard::With);
                let is_tried = import.guards.iter().any(may_catch);
                gateways.push(Gateway { place: (*definition, number), at_module_level, is_tried, reached });
            }
        }
    }
    gateways
}

struct Search<'search> {
    index: &'search Index,
    uses: &'search Uses<'search>,
    graph: &'search Graph,
    unsure: &'search [(Object, &'search Users)],
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
        index: &'search Index,
        uses: &'search Uses<'search>,
        graph: &'search Graph,
        all_gateways: &'search [Gateway],
        always: &'search FileSet,
        unsure: &'search [(Object, &'search Users)],
    ) -> Self {
        let mut by_file: BTreeMap<FileId, BTreeSet<usize>> = BTreeMap::new();
        let mut to = |file: FileId| by_file.entry(file).or_insert_with(|| gateways_to(all_gateways, file)).clone();
        let gateways = graph.items().map(|item| match item.file() {
            Some(file) if !always.contains(file) && can_wait(index, item) => to(file),
            _ => BTreeSet::new(),
        });
        let gateways: Vec<_> = gateways.collect();
        let is_one =
            |item: &Item, of: fn(&Users) -> &BTreeSet<Item>| unsure.iter().any(|(_, users)| of(users).contains(item));
        let may_fail = |item: &Item| {
            is_one(item, |users| &users.eager)
                || matches!(item, Item::Definition(definition) if asks_for_packages(index, *definition))
        };
        let waits = graph.items().zip(&gateways).map(|(item, gateways)| !gateways.is_empty() && may_fail(&item));
        let waits = waits.collect();
        let waits_when_called = graph.items().map(|item| is_one(&item, |users| &users.lazy)).collect();
        Self { index, uses, graph, unsure, gateways, all_gateways, waits, waits_when_called }
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

    fn groups(&self) -> Vec<Group> {
        let mut by_gateways: BTreeMap<BTreeSet<usize>, Together> = BTreeMap::new();
        for (number, item) in self.graph.items().enumerate().filter(|(number, _)| self.waits[*number]) {
            by_gateways.entry(self.gateways[number].clone()).or_default().items.push(item);
        }
        for (object, users) in self.deferred() {
            for file in users.files() {
                let gateways = gateways_to(self.all_gateways, file);
                if !gateways.is_empty() {
                    let new = (self.import_rank(file, object), file);
                    let together = by_gateways.entry(gateways).or_default();
                    let first = together.imports.entry(object.clone()).or_insert(new);
                    *first = new.min(*first);
                }
            }
        }
        let mut groups: Vec<Group> =
            by_gateways.into_iter().map(|(gateways, together)| together.into_group(gateways)).collect();
        // What another file always imports is run by whatever runs that file, and by more.
        groups.sort_by_key(|group| std::cmp::Reverse(group.gateways.len()));
        groups
    }

    /// The objects that nothing needs before what waits runs.
    fn deferred(&self) -> impl Iterator<Item = &(Object, &Users)> {
        let waiting = self.graph.items().zip(&self.waits).filter(|(_, waits)| **waits).map(|(item, _)| item);
        let waiting: BTreeSet<Item> = waiting.collect();
        self.unsure.iter().filter(move |(_, users)| users.eager.is_subset(&waiting))
    }

    /// When upstream imports the object for this file, which may have it from another one.
    fn import_rank(&self, file: FileId, object: &Object) -> u32 {
        let mut ways = self.uses.externals[object].iter();
        let itself = ways.find_map(|way| imported_in(self.index, file, way)).map(|(definition, _)| definition);
        let from_others = || self.index.file(file).binders(&object.1).map(|(statement, _)| statement).next();
        // A star import of another file has no name to be found by.
        let first = || DefinitionId { file, statement: from_others().unwrap_or(0) };
        self.index.imports().rank(itself.unwrap_or_else(first))
    }
}

/// What the same import statements run.
#[derive(Debug, Default)]
struct Together {
    items: Vec<Item>,
    /// With the first import of each: its rank and its file.
    imports: BTreeMap<Object, (u32, FileId)>,
}

impl Together {
    fn into_group(self, gateways: BTreeSet<usize>) -> Group {
        let mut ranked: Vec<_> = self.imports.into_iter().map(|(object, first)| (first, object)).collect();
        ranked.sort();
        let by_items = self.items.iter().rev().find_map(|item| item.file());
        let by_imports = ranked.last().map(|((_, file), _)| *file);
        let file = by_items.or(by_imports).expect("what waits is in a file");
        let imports = ranked.into_iter().map(|((_, file), object)| (object, file)).collect();
        Group { imports, items: self.items, file, gateways }
    }
}

/// The import statements of other files that run this one, as positions.
fn gateways_to(gateways: &[Gateway], file: FileId) -> BTreeSet<usize> {
    let reaching = |(_, gateway): &(usize, &Gateway)| gateway.place.0.file != file && gateway.runs(file);
    gateways.iter().enumerate().filter(reaching).map(|(number, _)| number).collect()
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
