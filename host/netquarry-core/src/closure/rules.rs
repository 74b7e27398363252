//! The rules of all shims, to be asked about a dotted path.

use crate::shim::{BlockArguments, OperatorNamespace, Replacement, Rule, ShimTables};

/// The tables of all shims, in the order of the configuration: the first rule that matches holds.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    tables: Vec<ShimTables>,
}

impl Rules {
    pub fn new(tables: Vec<ShimTables>) -> Self {
        Self { tables }
    }

    /// The rule that drops a decorator, and the shim that states it.
    pub fn dropped_decorator(&self, path: &str) -> Option<(&Rule, &str)> {
        self.first(path, |tables| &tables.dropped_decorators, |rule| &rule.path)
    }

    pub fn replacement(&self, path: &str) -> Option<(&Replacement, &str)> {
        self.first(path, |tables| &tables.replaced_definitions, |rule| &rule.path)
    }

    pub fn arguments(&self, path: &str) -> Option<(&BlockArguments, &str)> {
        self.first(path, |tables| &tables.arguments, |rule| &rule.path)
    }

    pub fn operator_namespace(&self, namespace: &str) -> Option<(&OperatorNamespace, &str)> {
        self.tables.iter().find_map(|tables| {
            let rule = tables.operator_namespaces.iter().find(|rule| rule.namespace == namespace)?;
            Some((rule, tables.plugin.as_str()))
        })
    }

    fn first<R>(
        &self,
        path: &str,
        table: impl Fn(&ShimTables) -> &Vec<R>,
        pattern: impl Fn(&R) -> &String,
    ) -> Option<(&R, &str)> {
        // The source's name, which a corpus may choose freely, is no part of a rule.
        let path = path.split_once(':').map_or(path, |(_, path)| path);
        self.tables.iter().find_map(|tables| {
            let rule = table(tables).iter().find(|rule| matches(pattern(rule), path))?;
            Some((rule, tables.plugin.as_str()))
        })
    }
}

/// Whether `path` is `pattern`, or starts with it where the pattern ends in `*`.
fn matches(pattern: &str, path: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => path.starts_with(prefix),
        None => path == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_trailing_star_matches_any_rest() {
        assert!(matches("timm.layers.*", "timm.layers.drop.DropPath"));
        assert!(matches("timm.layers.drop", "timm.layers.drop"));
        assert!(!matches("timm.layers.drop", "timm.layers.drop.DropPath"));
    }
}
