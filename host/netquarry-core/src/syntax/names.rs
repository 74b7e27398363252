//! Names: interning, normalisation and mangling.

use std::borrow::Cow;

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use unicode_normalization::UnicodeNormalization;

use crate::facts::Symbol;

#[derive(Default)]
pub(super) struct Names {
    names: IndexSet<Box<str>, FxBuildHasher>,
}

impl Names {
    pub(super) fn intern(&mut self, name: &str) -> Symbol {
        let index = match self.names.get_index_of(name) {
            Some(index) => index,
            None => self.names.insert_full(name.into()).0,
        };
        Symbol(u32::try_from(index).expect("a file has fewer names than bytes"))
    }

    /// The symbol of an identifier as the text spells it.
    pub(super) fn identifier(&mut self, name: &str) -> Symbol {
        self.intern(&normalized(name))
    }

    /// The symbol under which Python looks up an identifier in the body of `class`.
    pub(super) fn mangled(&mut self, name: &str, class: Option<Symbol>) -> Symbol {
        let name = normalized(name);
        match class.and_then(|class| mangled(&name, self.get(class))) {
            Some(mangled) => self.intern(&mangled),
            None => self.intern(&name),
        }
    }

    pub(super) fn get(&self, symbol: Symbol) -> &str {
        self.names.get_index(symbol.0 as usize).expect("symbols come from this table")
    }

    pub(super) fn into_symbols(self) -> Vec<Box<str>> {
        self.names.into_iter().collect()
    }
}

/// CPython compares identifiers in Unicode's normal form KC.
pub(super) fn normalized(name: &str) -> Cow<'_, str> {
    if name.is_ascii() { Cow::Borrowed(name) } else { Cow::Owned(name.nfkc().collect()) }
}

/// `__helper` in class `_Foo` is `_Foo__helper`; `None` where a name stays as it is.
fn mangled(name: &str, class: &str) -> Option<String> {
    if !name.starts_with("__") || name.ends_with("__") || name.contains('.') {
        return None;
    }
    let class = class.trim_start_matches('_');
    (!class.is_empty()).then(|| format!("_{class}{name}"))
}
