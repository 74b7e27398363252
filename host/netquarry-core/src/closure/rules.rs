//! The rules of all shims, to be asked about a dotted path.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use super::named_tables::NamedTables;
use super::registrations::Registrations;
use crate::dynamic::{DynamicAnswer, DynamicQuestion};
use crate::facts::FileFacts;
use crate::index::{FileId, Index};
use crate::shim::{BlockArguments, OperatorNamespace, RegistryRule, Replacement, Rule, ShimTables, UpstreamState};
use crate::syntax;

/// Asks shims about the names that their tables mark as dynamic.
pub trait Dynamics: Send + Sync {
    /// The answer of the shim that bears this name.
    fn answer(&self, plugin: &str, question: &DynamicQuestion) -> DynamicAnswer;

    /// The decoded text of a file, from which the question quotes.
    fn text(&self, file: FileId) -> Arc<str>;
}

/// The tables of all shims, in the order of the configuration: the first rule that matches holds. They serve one index:
/// what its files register is gathered once.
#[derive(Clone, Default)]
pub struct Rules {
    tables: Vec<ShimTables>,
    dynamics: Option<Arc<dyn Dynamics>>,
    registrations: Arc<OnceLock<Registrations>>,
    named_tables: Arc<OnceLock<NamedTables>>,
    /// The facts of the replacements' texts.
    replacements: Arc<HashMap<String, FileFacts>>,
}

impl fmt::Debug for Rules {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Rules").field("tables", &self.tables).finish_non_exhaustive()
    }
}

impl Rules {
    /// The rules of the tables alone: what they mark as dynamic stays unanswered.
    pub fn new(tables: Vec<ShimTables>) -> Self {
        let texts = tables.iter().flat_map(|tables| &tables.replaced_definitions);
        let replacements = texts.map(|rule| (rule.by.clone(), syntax::facts(rule.by.as_bytes()))).collect();
        Self { tables, replacements: Arc::new(replacements), ..Self::default() }
    }

    pub fn with_dynamics(self, dynamics: Arc<dyn Dynamics>) -> Self {
        Self { dynamics: Some(dynamics), ..self }
    }

    /// The shim that marks a name as dynamic, and who asks it.
    pub fn dynamic(&self, path: &str) -> Option<(&dyn Dynamics, &str)> {
        let dynamics = self.dynamics.as_deref()?;
        let path = without_source(path);
        let marks = |tables: &&ShimTables| tables.dynamic.iter().any(|pattern| matches(pattern, path));
        let tables = self.tables.iter().find(marks)?;
        Some((dynamics, &tables.plugin))
    }

    /// The rule that leaves out calls of a function where they are statements, and the shim that states it.
    pub fn dropped_call(&self, path: &str) -> Option<(&Rule, &str)> {
        self.first(path, |tables| &tables.dropped_calls, |rule| &rule.path)
    }

    /// The rule that drops a decorator, and the shim that states it.
    pub fn dropped_decorator(&self, path: &str) -> Option<(&Rule, &str)> {
        self.first(path, |tables| &tables.dropped_decorators, |rule| &rule.path)
    }

    /// The rule by which the annotations of a definition are only kept as strings, and the shim that states it.
    pub fn postponed_annotations(&self, path: &str) -> Option<(&Rule, &str)> {
        self.first(path, |tables| &tables.postponed_annotations, |rule| &rule.path)
    }

    /// The rule about a dictionary that gives classes something by their names, and the shim that states it.
    pub fn named_table(&self, path: &str) -> Option<(&Rule, &str)> {
        self.first(path, |tables| &tables.named_tables, |rule| &rule.path)
    }

    /// The rule that leaves out a method or an attribute, and the shim that states it.
    pub fn dropped_member(&self, path: &str) -> Option<(&Rule, &str)> {
        self.first(path, |tables| &tables.dropped_members, |rule| &rule.path)
    }

    /// The rule that leaves out a class where it is a base, and the shim that states it.
    pub fn dropped_base(&self, path: &str) -> Option<(&Rule, &str)> {
        self.first(path, |tables| &tables.dropped_bases, |rule| &rule.path)
    }

    pub fn replacement(&self, path: &str) -> Option<(&Replacement, &str)> {
        self.first(path, |tables| &tables.replaced_definitions, |rule| &rule.path)
    }

    /// The rules about registries, each with the shim that states it.
    pub(super) fn registries(&self) -> impl Iterator<Item = (&RegistryRule, &str)> {
        self.tables.iter().flat_map(|tables| tables.registries.iter().map(|rule| (rule, tables.plugin.as_str())))
    }

    /// What the files of the index register.
    pub(super) fn registrations(&self, index: &Index) -> &Registrations {
        self.registrations.get_or_init(|| Registrations::gather(index, self))
    }

    pub(super) fn has_named_tables(&self) -> bool {
        self.tables.iter().any(|tables| !tables.named_tables.is_empty())
    }

    /// The dictionaries of the index that give classes something by their names.
    pub(super) fn named_tables(&self, index: &Index) -> &NamedTables {
        self.named_tables.get_or_init(|| NamedTables::gather(index, self))
    }

    /// The facts of a replacement's text.
    pub(super) fn replacement_facts(&self, replacement: &Replacement) -> &FileFacts {
        self.replacements.get(&replacement.by).expect("all texts of the tables were read")
    }

    pub fn arguments(&self, path: &str) -> Option<(&BlockArguments, &str)> {
        self.first(path, |tables| &tables.arguments, |rule| &rule.path)
    }

    /// The state in which upstream's class is compared, and the shim that states it.
    pub fn upstream_state(&self, path: &str) -> Option<(&UpstreamState, &str)> {
        self.first(path, |tables| &tables.upstream_states, |rule| &rule.path)
    }

    /// The operator namespaces that the text of a replacement uses.
    pub fn operator_namespaces_in(&self, text: &str) -> impl Iterator<Item = &OperatorNamespace> {
        let rules = self.tables.iter().flat_map(|tables| &tables.operator_namespaces);
        rules.filter(move |rule| text.contains(&format!("torch.ops.{}.", rule.namespace)))
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
        let path = without_source(path);
        self.tables.iter().find_map(|tables| {
            let rule = table(tables).iter().find(|rule| matches(pattern(rule), path))?;
            Some((rule, tables.plugin.as_str()))
        })
    }
}

/// The source's name, which a corpus may choose freely, is no part of a rule.
pub(super) fn without_source(path: &str) -> &str {
    path.split_once(':').map_or(path, |(_, path)| path)
}

/// Whether `path` is `pattern`, in which one `*` matches anything.
pub(super) fn matches(pattern: &str, path: &str) -> bool {
    match pattern.split_once('*') {
        Some((start, end)) => {
            path.strip_prefix(start).is_some_and(|rest| rest.len() >= end.len() && rest.ends_with(end))
        }
        None => path == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn one_star_matches_anything() {
        assert!(matches("timm.layers.*", "timm.layers.drop.DropPath"));
        assert!(matches("timm.layers.drop", "timm.layers.drop"));
        assert!(!matches("timm.layers.drop", "timm.layers.drop.DropPath"));
        assert!(matches("package.*.from_config", "package.heads.Head.from_config"));
        assert!(!matches("package.*.from_config", "package.heads.Head.from_config_file"));
        assert!(!matches("package.*.config", "package.config"));
    }
}
