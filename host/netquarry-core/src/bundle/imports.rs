//! The import statements at the top of a bundle, grouped as PEP 8 has them.

use std::collections::{BTreeMap, BTreeSet};

use super::edits::{import_member, import_module, import_root};
use super::late::{Group, Late, Object};
use super::names::Names;
use super::type_imports::TypeImports;
use super::users::UsersByObject;
use super::uses::{Named, Uses, type_checking};
use crate::closure::Closure;
use crate::facts::{Guard, ImportForm, ImportStatement, Statement, StatementKind};
use crate::index::{DefinitionId, FileId, Index, Module, is_unguarded};
use crate::resolve::{Entity, External};
use crate::shim::Replacement;
use crate::source::TextRange;
use crate::stdlib;
use crate::syntax::indented;

/// The standard module of the compiler's features, which a module may also use as objects.
const FUTURE: &str = "__future__";

#[derive(Debug, Default)]
pub(super) struct Imports {
    /// Whole `import` statements by group: standard library, then third parties.
    modules: [BTreeSet<String>; 2],
    /// By group and module, what is imported from it: name and the name it gets.
    members: [BTreeMap<String, BTreeSet<(String, String)>>; 2],
    /// What no import statement can bind under its name.
    assigned: BTreeSet<String>,
    /// Imports of packages that may not be there, which upstream reaches only through a module that it imports under a
    /// guard or in a function. They run where upstream's import of that module stood, so that they fail where and when
    /// they fail upstream.
    deferred: BTreeMap<Object, Deferred>,
    /// Likewise, where no import statement of the bundle is left to run them.
    optional: BTreeSet<String>,
    /// What stands in the place of imports that a shim replaces.
    replaced: Vec<String>,
    /// An `if` statement with imports that never run.
    for_types: Option<String>,
    /// Imports that only register operators.
    operators: BTreeSet<String>,
    /// Top-level packages outside the standard library.
    pub(super) packages: BTreeSet<String>,
}

#[derive(Debug)]
struct Deferred {
    name: String,
    statements: Vec<String>,
    /// The import statements of upstream's that they stand for, by the file that has one.
    upstream: BTreeMap<FileId, TextRange>,
}

/// What the imports of a bundle depend on.
pub(super) struct Wanted<'parts> {
    pub(super) index: &'parts Index,
    pub(super) closure: &'parts Closure,
    pub(super) uses: &'parts Uses<'parts>,
    pub(super) users: &'parts UsersByObject<'parts>,
    pub(super) names: &'parts Names,
    pub(super) late: &'parts Late,
}

/// Collects what the definitions import at module level. Imports inside of definitions stay where they are.
pub(super) fn collect(wanted: &Wanted<'_>) -> Imports {
    let Wanted { index, closure, uses, names, late, .. } = *wanted;
    let mut imports = Imports::default();
    let always = index.imports().always_imports(closure.target.definition.file);
    for (object, ways) in &uses.externals {
        let (path, wanted_name) = object;
        let name = names.of(&Named::External { path: path.clone(), wanted: wanted_name.clone() });
        if let Some(replacement) = closure.external_replacements.get(path) {
            imports.replaced.push(replaced(replacement, name));
            continue;
        }
        let users = wanted.users.get(&(path.as_str(), wanted_name.as_str()));
        let is_sure = users.is_some_and(|users| users.files().any(|user| always.contains(user)));
        for way in preferred(ways) {
            let package = way.package();
            if !stdlib::is_module(package) {
                imports.packages.insert(package.to_owned());
            }
            if is_sure || !may_be_missing(package) {
                imports.add(index, uses, way, name);
            } else if late.defers(object) {
                let new = || Deferred { name: name.to_owned(), statements: Vec::new(), upstream: BTreeMap::new() };
                let deferred = imports.deferred.entry(object.clone()).or_insert_with(new);
                deferred.statements.extend(statements(index, uses, way, name));
                let files = users.into_iter().flat_map(|users| users.files());
                let found = files.filter_map(|file| Some((file, imported_in(index, file, way)?.1)));
                deferred.upstream.extend(found);
            } else {
                // Nothing that waits would be there in time.
                imports.optional.extend(statements(index, uses, way, name));
            }
        }
    }
    for operator in &closure.operators {
        imports.operators.insert(operator.import.clone());
        let package = operator.import.split_whitespace().nth(1).unwrap_or_default();
        imports.packages.insert(package.split('.').next().unwrap_or_default().to_owned());
    }
    imports.packages.extend(inner_packages(index, closure));
    imports.for_types = (!uses.type_imports.is_empty()).then(|| for_types(&uses.type_imports, names));
    imports
}

fn for_types(wanted: &TypeImports, names: &Names) -> String {
    let (path, wanted_name) = type_checking();
    let modules = wanted.modules.iter().map(|(module, name)| import_module(module, name));
    let members = wanted.members.iter().map(|(module, members)| from_import(module, members));
    let statements: String = modules.chain(members).map(|statement| statement + "\n").collect();
    let guard = names.of(&Named::External { path, wanted: wanted_name });
    format!("if {guard}:  # annotations name these, and nothing evaluates them\n{}", indented(&statements, "    "))
}

/// Whether upstream may do without it: the standard library and torch are there wherever a bundle runs at all.
pub(super) fn may_be_missing(package: &str) -> bool {
    !stdlib::is_module(package) && package != "torch"
}

/// The statements of a replacement, which bind the last part of the path, and the name that the bundle has for it.
fn replaced(replacement: &Replacement, name: &str) -> String {
    let bound = replacement.path.rsplit('.').next().expect("split yields at least one part");
    let alias = if bound == name { String::new() } else { format!("\n{name} = {bound}") };
    format!("# Replaces {}: {}\n{}{alias}", replacement.path, replacement.why, replacement.by.trim_end())
}

/// One import is enough for an object, but for packages: there each file may load other submodules.
fn preferred(ways: &BTreeSet<External>) -> Vec<&External> {
    let roots: Vec<&External> = ways.iter().filter(|way| matches!(way, External::Root { .. })).collect();
    if roots.is_empty() { ways.iter().take(1).collect() } else { roots }
}

/// Top-level packages that are imported inside of definitions.
fn inner_packages(index: &Index, closure: &Closure) -> BTreeSet<String> {
    let mut packages = BTreeSet::new();
    for (definition, closed) in &closure.definitions {
        let file = index.file(definition.file);
        for import in &file.statement(definition.statement).imports {
            if closed.cuts.contain(import.range) {
                continue;
            }
            for module in import.absolute_modules(&file.facts) {
                let root = module.split('.').next().expect("split yields at least one part");
                let is_external = index.find_module(file.source, module) == Module::External;
                if is_external && is_unguarded(&import.guards) && import.stands_in.0 == 0 && !stdlib::is_module(root) {
                    packages.insert(root.to_owned());
                }
            }
        }
    }
    packages
}

impl Imports {
    /// The import statements of a late group, with those of upstream's that they stand for.
    pub(super) fn of_group(&self, group: &Group) -> Vec<(&str, Option<(FileId, TextRange)>)> {
        let deferred = group.imports.iter().filter_map(|(object, file)| Some((self.deferred.get(object)?, *file)));
        let statements = deferred.flat_map(|(deferred, file)| {
            let upstream = deferred.upstream.get(&file).map(|range| (file, *range));
            deferred.statements.iter().map(move |statement| (statement.as_str(), upstream))
        });
        let mut seen = BTreeSet::new();
        statements.filter(|(statement, _)| seen.insert(*statement)).collect()
    }

    /// The names that the import statements of a late group bind.
    pub(super) fn names_of_group(&self, group: &Group) -> impl Iterator<Item = String> {
        group.imports.iter().filter_map(|(object, _)| self.deferred.get(object)).map(|deferred| deferred.name.clone())
    }

    fn add(&mut self, index: &Index, uses: &Uses<'_>, way: &External, name: &str) {
        let group = usize::from(!stdlib::is_module(way.package()));
        match way {
            External::Member { module, name: member } if module != FUTURE => {
                let members = self.members[group].entry(module.clone()).or_default();
                members.insert((member.clone(), name.to_owned()));
            }
            External::Member { .. } | External::Module(_) | External::Root { .. } | External::Star { .. } => {
                let (imports, assigned): (Vec<String>, Vec<String>) =
                    statements(index, uses, way, name).into_iter().partition(|statement| is_import(statement));
                self.modules[group].extend(imports);
                self.assigned.extend(assigned);
            }
        }
    }

    /// The statements, each on its line or lines, with an empty line between groups.
    pub(super) fn text(&self, future_annotations: bool) -> String {
        let mut groups: Vec<Vec<String>> = Vec::new();
        if future_annotations {
            groups.push(vec!["from __future__ import annotations".to_owned()]);
        }
        for group in 0..2 {
            let modules = self.modules[group].iter().cloned();
            let members = self.members[group].iter().map(|(module, members)| from_import(module, members));
            let mut statements: Vec<String> = modules.chain(members).collect();
            if group == 1 {
                // Without the mark, a linter would take away what looks unused.
                let marked = |operator: &String| format!("{operator}  # noqa: F401 - registers the operators");
                statements.extend(self.operators.iter().map(marked));
            }
            if !statements.is_empty() {
                groups.push(statements);
            }
        }
        groups.extend((!self.assigned.is_empty()).then(|| self.assigned.iter().cloned().collect()));
        groups.extend(self.for_types.iter().map(|statement| vec![statement.trim_end().to_owned()]));
        groups.extend(self.replaced.iter().map(|statements| vec![format!("\n{statements}")]));
        for statement in &self.optional {
            groups.push(vec![format!("try:\n    {statement}\nexcept ImportError:\n    pass")]);
        }
        groups.iter().map(|group| group.join("\n")).collect::<Vec<_>>().join("\n\n")
    }
}

fn statements(index: &Index, uses: &Uses<'_>, way: &External, name: &str) -> Vec<String> {
    match way {
        External::Module(module) => vec![import_module(module, name)],
        // The statement would be a directive to the compiler, for the whole bundle.
        External::Member { module, name: member } if module == FUTURE => {
            vec![format!("{name} = __import__(\"{FUTURE}\").{member}")]
        }
        External::Member { module, name: member } => vec![import_member(module, member, name)],
        External::Star { module, .. } => vec![format!("from {module} import *")],
        External::Root { package, file } => {
            let modules = root_modules(index, uses, package, *file);
            modules.iter().map(|module| import_root(module, package, name)).collect()
        }
    }
}

fn is_import(statement: &str) -> bool {
    statement.starts_with("import ") || statement.starts_with("from ")
}

/// The statement by which `file` itself imports an external object as it runs, and the import in it.
pub(super) fn imported_in(index: &Index, file: FileId, way: &External) -> Option<(DefinitionId, TextRange)> {
    let facts = &index.file(file).facts;
    let wanted = Entity::External(way.clone());
    let imports_way = |import: &&ImportStatement| {
        let is_star = || match (way, import.form) {
            (External::Star { module, .. }, ImportForm::Star { .. }) => {
                import.absolute_modules(facts).contains(&module.as_str())
            }
            _ => false,
        };
        let mut places = 0..u32::try_from(import.names.len()).expect("files are below 4 GiB");
        let runs = import.scope.0 == 0 && !import.guards.contains(&Guard::TypeChecking);
        runs && (places.any(|place| index.resolve_imported(file, import, place) == wanted) || is_star())
    };
    (0u32..).zip(&facts.statements).find_map(|(statement, it)| {
        Some((DefinitionId { file, statement }, it.imports.iter().find(imports_way)?.range))
    })
}

/// The modules `a.b` that `file` imports and of which it uses attributes, else `a`.
fn root_modules(index: &Index, uses: &Uses<'_>, package: &str, file: FileId) -> BTreeSet<String> {
    let no_paths = BTreeSet::new();
    let paths = uses.root_paths.get(&(file, package.to_owned())).unwrap_or(&no_paths);
    let is_used = |module: &str| {
        let first = module[package.len()..].split('.').nth(1);
        first.is_none_or(|first| paths.iter().any(|path| path.first().is_some_and(|attribute| attribute == first)))
    };
    let plain_statements = |statement: &Statement| statement.kind == StatementKind::Import;
    let mut modules = modules_of_root(index, package, file, plain_statements);
    modules.retain(|module| is_used(module));
    if modules.is_empty() {
        modules.insert(package.to_owned());
    }
    modules
}

/// The modules `a` and `a.b` that the import statements of `file` at module level load when they bind `a`.
pub(super) fn modules_of_root(
    index: &Index,
    package: &str,
    file: FileId,
    is_wanted: impl Fn(&Statement) -> bool,
) -> BTreeSet<String> {
    let facts = &index.file(file).facts;
    let statements = facts.statements.iter().filter(|statement| is_wanted(statement));
    let imports = statements.flat_map(|statement| &statement.imports);
    let at_top = imports.filter(|import| import.scope.0 == 0 && import.form == ImportForm::Module);
    let names = at_top.flat_map(|import| &import.names).filter(|name| name.alias.is_none());
    let modules = names.map(|name| facts.name(name.name));
    modules.filter(|module| module.split('.').next() == Some(package)).map(str::to_owned).collect()
}

/// `from a import b, c as d`, over several lines where it is long.
fn from_import(module: &str, members: &BTreeSet<(String, String)>) -> String {
    let names: Vec<String> = members
        .iter()
        .map(|(name, wanted)| if name == wanted { name.clone() } else { format!("{name} as {wanted}") })
        .collect();
    let line = format!("from {module} import {}", names.join(", "));
    if line.len() <= 100 { line } else { format!("from {module} import (\n    {},\n)", names.join(",\n    ")) }
}
