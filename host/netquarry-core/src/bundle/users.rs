//! Who uses what a bundle imports.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::Item;
use super::uses::{Named, Uses, is_eager};
use crate::index::{FileId, Index};

/// The items that use an external object under one name.
#[derive(Debug, Default)]
pub(super) struct Users {
    /// They need it when they run.
    pub(super) eager: BTreeSet<Item>,
    /// Functions of theirs need it when they are called.
    pub(super) lazy: BTreeSet<Item>,
}

impl Users {
    pub(super) fn files(&self) -> impl Iterator<Item = FileId> {
        self.eager.iter().chain(&self.lazy).filter_map(|item| item.file())
    }
}

/// The users of external objects, by path and wanted name.
pub(super) type UsersByObject<'uses> = BTreeMap<(&'uses str, &'uses str), Users>;

pub(super) fn find<'uses>(index: &Index, uses: &'uses Uses<'_>) -> UsersByObject<'uses> {
    let of_definitions = uses.by_definition.iter().flat_map(|(definition, named)| {
        let item = Item::Definition(*definition);
        named.iter().map(move |(found, named)| (named, item, is_eager(index, *definition, found.reference)))
    });
    // A module object has all its members once it is made.
    let of_namespaces = uses
        .namespaces
        .iter()
        .flat_map(|(file, named)| named.iter().map(|(_, named)| (named, Item::Namespace(*file), true)));
    let of_replacements = uses.by_replacement.iter().flat_map(|(variable, named)| {
        named.iter().map(|(used, named)| (named, Item::Replacement(*variable), used.is_eager))
    });
    let mut users = UsersByObject::new();
    for (named, item, is_eager) in of_definitions.chain(of_namespaces).chain(of_replacements) {
        if let Named::External { path, wanted } = named {
            let users = users.entry((path.as_str(), wanted.as_str())).or_default();
            if is_eager {
                users.eager.insert(item)
            } else {
                users.lazy.insert(item)
            };
        }
    }
    users
}
