//! The names of a bundle: upstream's own, made unique only where two really collide.

use std::collections::{BTreeMap, HashSet};

use super::late::Late;
use super::uses::{FILE_ATTRIBUTE, Named, Uses};
use crate::closure::Closure;
use crate::facts::BindingKind;
use crate::index::{FileId, Index, Variable};

#[derive(Debug)]
pub(super) struct Names {
    names: BTreeMap<Named, String>,
    /// Why something does not have the name that upstream gives it.
    reasons: BTreeMap<Named, &'static str>,
}

impl Names {
    /// The name under which the bundle holds it.
    pub(super) fn of(&self, named: &Named) -> &str {
        &self.names[named]
    }

    /// Why it is not called what upstream calls it.
    pub(super) fn reason(&self, named: &Named) -> &'static str {
        self.reasons.get(named).copied().unwrap_or("the bundle calls it by its name in the module that defines it")
    }

    pub(super) fn of_variable(&self, variable: Variable) -> Option<&str> {
        self.names.get(&Named::Variable(variable)).map(String::as_str)
    }
}

/// Who keeps its name where two want the same; the smaller one does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Claim {
    Target,
    /// The text that a shim puts in the place of a definition binds upstream's name.
    Replaced,
    External,
    /// Classes and functions are known by their name at run time too.
    Defined,
    Assigned,
    Alias,
}

pub(super) fn assign(index: &Index, closure: &Closure, uses: &Uses<'_>, late: &Late) -> Names {
    let mut claims: Vec<(Claim, u32, Named, String)> = Vec::new();
    for variable in closure.variables.keys() {
        let claim = if *variable == closure.target.variable {
            Claim::Target
        } else if closure.substitutions.contains_key(variable) {
            Claim::Replaced
        } else if index.is_defined_by_statement(*variable) {
            Claim::Defined
        } else {
            Claim::Assigned
        };
        let name = index.variable_name(*variable).to_owned();
        claims.push((claim, first_rank(index, *variable), Named::Variable(*variable), name));
    }
    for (file, symbol) in uses.aliases.keys() {
        let name = index.file(*file).facts.name(*symbol).to_owned();
        claims.push((Claim::Alias, file.0, Named::Alias(*file, *symbol), name));
    }
    for file in closure.namespaces.keys() {
        let name = index.file(*file).stem().to_owned();
        claims.push((Claim::Assigned, u32::MAX, Named::Module(*file), name));
    }
    for (path, wanted) in uses.externals.keys() {
        let named = Named::External { path: path.clone(), wanted: wanted.clone() };
        let is_replaced = closure.external_replacements.contains_key(path);
        claims.push((if is_replaced { Claim::Replaced } else { Claim::External }, 0, named, wanted.clone()));
    }
    for group in late.functions() {
        let file = late.groups()[group].file;
        let name = format!("import_{}", index.file(file).stem());
        claims.push((Claim::Alias, u32::MAX, Named::Late(file), name));
    }
    claims.sort();
    let mut fresh = Fresh { index, closure, taken: uses.reserved.iter().cloned().collect(), identifiers: None };
    let mut names = BTreeMap::from([(Named::OwnFile, FILE_ATTRIBUTE.to_owned())]);
    let mut reasons = BTreeMap::new();
    for (claim, _, named, wanted) in claims {
        let obstacle = match &named {
            _ if claim == Claim::Target => None,
            // It is called in functions whose locals nobody has looked at for it.
            Named::Late(_) if fresh.is_known(&wanted) => Some("the name stands for something else upstream"),
            named => obstacle(uses, &fresh.taken, named, &wanted),
        };
        let name = if obstacle.is_some() { fresh.name(&named, &wanted) } else { wanted };
        fresh.taken.insert(name.clone());
        reasons.extend(obstacle.map(|obstacle| (named.clone(), obstacle)));
        names.insert(named, name);
    }
    Names { names, reasons }
}

/// What stands in the way of the name that upstream gives it.
fn obstacle(uses: &Uses<'_>, taken: &HashSet<String>, named: &Named, wanted: &str) -> Option<&'static str> {
    if uses.reserved.contains(wanted) {
        Some("elsewhere in the bundle the name is a builtin's, or nobody's")
    } else if taken.contains(wanted) {
        Some("two definitions bear one name")
    } else if uses.captured.contains(named) {
        Some("a local variable would hide it")
    } else {
        None
    }
}

fn first_rank(index: &Index, variable: Variable) -> u32 {
    let file = index.file(variable.file);
    file.binders(file.facts.name(variable.name))
        .filter(|(_, binding)| binding.kind != BindingKind::Declaration)
        .map(|(statement, _)| index.imports().rank(crate::index::DefinitionId { file: variable.file, statement }))
        .min()
        .unwrap_or(u32::MAX)
}

struct Fresh<'index> {
    index: &'index Index,
    closure: &'index Closure,
    taken: HashSet<String>,
    /// Every identifier in the files of the closure. A name that is none of them can be captured by no local scope and
    /// hide no attribute. Gathered when first needed: most bundles rename nothing.
    identifiers: Option<HashSet<String>>,
}

impl Fresh<'_> {
    /// `wanted` with the module it comes from, and a number where that is not enough.
    fn name(&mut self, named: &Named, wanted: &str) -> String {
        let module = match named {
            Named::Variable(Variable { file, .. }) | Named::Alias(file, _) => {
                self.index.file(*file).module().to_owned()
            }
            Named::Module(_) => "module".to_owned(),
            Named::Late(_) => "late".to_owned(),
            Named::OwnFile => unreachable!("its name is Python's"),
            Named::External { path, .. } => {
                path.rsplit_once('.').map_or(path.as_str(), |(module, _)| module).to_owned()
            }
        };
        let parts = module.rsplit('.').next().expect("split yields at least one part");
        let suffix: String = parts.chars().map(|char| if char.is_alphanumeric() { char } else { '_' }).collect();
        let base = format!("{wanted}_{}", suffix.trim_matches('_'));
        let mut name = base.clone();
        let mut number = 2;
        while self.is_known(&name) {
            name = format!("{base}_{number}");
            number += 1;
        }
        name
    }

    fn is_known(&mut self, name: &str) -> bool {
        let identifiers = self.identifiers.get_or_insert_with(|| {
            let mut files: Vec<FileId> = self.closure.definitions.keys().map(|definition| definition.file).collect();
            files.dedup();
            files
                .into_iter()
                .flat_map(|file| self.index.file(file).facts.symbols.iter())
                .map(|symbol| symbol.to_string())
                .collect()
        });
        self.taken.contains(name) || identifiers.contains(name)
    }
}
