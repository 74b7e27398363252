//! What is done in one way for all sources but some.

use std::collections::BTreeMap;

/// One for all sources, and others for some of them.
pub struct ForSources<T> {
    all: T,
    /// By the name of the source.
    own: BTreeMap<String, T>,
}

impl<T> ForSources<T> {
    pub fn new(all: T, own: BTreeMap<String, T>) -> Self {
        Self { all, own }
    }

    /// The one for sources that have none of their own.
    pub fn all(&self) -> &T {
        &self.all
    }

    pub fn of(&self, source: &str) -> &T {
        self.own.get(source).unwrap_or(&self.all)
    }

    /// Those that sources have of their own.
    pub fn own(&self) -> impl Iterator<Item = (&str, &T)> {
        self.own.iter().map(|(source, own)| (source.as_str(), own))
    }
}
