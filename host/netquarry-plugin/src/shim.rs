//! Calls of shims, and the index as they see it.

use std::sync::Arc;

use netquarry_core::dynamic::{CodeIndex, DefinitionKind, DefinitionSummary, DynamicAnswer, DynamicQuestion};
use netquarry_core::shim::{
    BlockArguments, OperatorNamespace, RegistryRule, Replacement, Rule, ShimTables, UpstreamState,
};
use wasmtime::component::Resource;

use crate::bindings::base::netquarry::plugin::types::Refusal;
use crate::bindings::repo_shim::netquarry::plugin::{index, rules};
use crate::bindings::repo_shim::{RepoShim as Instance, RepoShimPre};
use crate::call::{State, Task};
use crate::error::{CallError, PluginIdentity, quoted};
use crate::plugin::ConfiguredCaller;

/// A shim with its configuration.
#[derive(Clone)]
pub struct RepoShim {
    caller: ConfiguredCaller,
    instances: RepoShimPre<State>,
}

/// The index behind the resource `code-index`.
#[expect(unreachable_pub, reason = "the generated bindings export it from their own module")]
pub struct IndexHandle(Arc<dyn CodeIndex>);

impl RepoShim {
    pub(crate) fn new(caller: ConfiguredCaller, instances: RepoShimPre<State>) -> Self {
        Self { caller, instances }
    }

    pub fn plugin(&self) -> &PluginIdentity {
        self.caller.plugin()
    }

    /// The rules that the host applies by itself.
    ///
    /// # Errors
    ///
    /// Where the call fails, or a rule is empty.
    pub fn tables(&self) -> Result<ShimTables, CallError> {
        let task = Task { stage: "tell", item: "its tables", source: "" };
        let tables = self.call(task, |instance, store| instance.call_tables(store))?;
        let PluginIdentity { name, version, .. } = self.plugin();
        let tables = converted(format!("{name} {version}"), tables);
        match flaw(&tables) {
            Some(reason) => Err(self.caller.unacceptable(task, reason)),
            None => Ok(tables),
        }
    }

    /// Asks about one use of a name that the tables mark as dynamic.
    ///
    /// # Errors
    ///
    /// Where the call fails; the name is then unresolved.
    pub fn answer(&self, question: &DynamicQuestion, index: &Arc<dyn CodeIndex>) -> Result<DynamicAnswer, CallError> {
        let item = format!("{} in {}", question.name, question.referrer);
        let referrer = index.find(&question.referrer);
        let source = referrer.as_ref().map_or("", |referrer| referrer.source.as_str());
        let task = Task { stage: "answer about", item: &item, source };
        let question = index::Question::from(question);
        let answer = self.call(task, |instance, store| {
            let handle = store.data_mut().resources.push(IndexHandle(Arc::clone(index)))?;
            let borrow = Resource::new_borrow(handle.rep());
            instance.call_answer_dynamic(store, &question, borrow)
        })?;
        Ok(answer.into())
    }

    fn call<R>(
        &self,
        task: Task<'_>,
        ask: impl FnOnce(&Instance, &mut wasmtime::Store<State>) -> wasmtime::Result<Result<R, Refusal>>,
    ) -> Result<R, CallError> {
        let instantiate = |store: &mut wasmtime::Store<State>| self.instances.instantiate(store);
        self.caller.call(task, instantiate, |instance, store, json| instance.call_configure(store, json), ask)
    }
}

impl rules::Host for State {}

impl index::Host for State {}

impl State {
    fn index(&self, handle: &Resource<IndexHandle>) -> wasmtime::Result<&dyn CodeIndex> {
        self.count_host_call();
        Ok(&*self.resources.get(handle)?.0)
    }
}

impl index::HostCodeIndex for State {
    fn find(&mut self, index: Resource<IndexHandle>, path: String) -> wasmtime::Result<Option<index::Definition>> {
        Ok(self.index(&index)?.find(&path).map(index::Definition::from))
    }

    fn source(&mut self, index: Resource<IndexHandle>, path: String) -> wasmtime::Result<Option<String>> {
        Ok(self.index(&index)?.source(&path))
    }

    fn references(&mut self, index: Resource<IndexHandle>, path: String) -> wasmtime::Result<Vec<String>> {
        Ok(self.index(&index)?.references(&path))
    }

    fn registered(
        &mut self,
        index: Resource<IndexHandle>,
        registry: String,
        key: String,
    ) -> wasmtime::Result<Vec<String>> {
        Ok(self.index(&index)?.registered(&registry, &key))
    }

    fn drop(&mut self, index: Resource<IndexHandle>) -> wasmtime::Result<()> {
        self.resources.delete(index)?;
        Ok(())
    }
}

fn converted(plugin: String, tables: rules::Tables) -> ShimTables {
    let rule = |rule: rules::Rule| Rule { path: rule.path, why: rule.why };
    let registry = |rule: rules::Registry| RegistryRule {
        classes: rule.classes,
        objects: rule.objects,
        methods: rule.methods,
        key_argument: rule.key_argument,
        key_fields: rule.key_fields,
        scope_separator: rule.scope_separator.unwrap_or_default(),
        why: rule.why,
    };
    let replacement = |rule: rules::Replacement| Replacement { path: rule.path, by: rule.by, why: rule.why };
    let namespace = |rule: rules::OperatorNamespace| OperatorNamespace {
        namespace: rule.namespace,
        import: rule.import_statement,
        why: rule.why,
    };
    let arguments = |rule: rules::BlockArguments| BlockArguments {
        path: rule.path,
        constructor: rule.constructor_arguments.into_iter().collect(),
        forward: rule.forward_arguments.into_iter().collect(),
    };
    let state =
        |rule: rules::UpstreamState| UpstreamState { path: rule.path, statements: rule.statements, why: rule.why };
    ShimTables {
        plugin,
        packages: tables.packages,
        dropped_decorators: tables.dropped_decorators.into_iter().map(rule).collect(),
        dropped_calls: tables.dropped_calls.into_iter().map(rule).collect(),
        postponed_annotations: tables.postponed_annotations.into_iter().map(rule).collect(),
        registries: tables.registries.into_iter().map(registry).collect(),
        named_tables: tables.named_tables.into_iter().map(rule).collect(),
        dropped_members: tables.dropped_members.into_iter().map(rule).collect(),
        dropped_bases: tables.dropped_bases.into_iter().map(rule).collect(),
        replaced_definitions: tables.replaced_definitions.into_iter().map(replacement).collect(),
        operator_namespaces: tables.operator_namespaces.into_iter().map(namespace).collect(),
        dynamic: tables.dynamic_names,
        arguments: tables.arguments.into_iter().map(arguments).collect(),
        upstream_states: tables.upstream_states.into_iter().map(state).collect(),
    }
}

/// What makes the tables unacceptable: a rule that is about everything or nothing, or that keeps its reason to itself.
fn flaw(tables: &ShimTables) -> Option<String> {
    let ShimTables { dropped_decorators, dropped_calls, dropped_members, dropped_bases, .. } = tables;
    let ShimTables { postponed_annotations, named_tables, replaced_definitions, operator_namespaces, .. } = tables;
    let plain =
        [dropped_decorators, dropped_calls, dropped_members, dropped_bases, postponed_annotations, named_tables];
    let rules = plain.into_iter().flatten().map(|rule| (&rule.path, &rule.why));
    let registries = tables
        .registries
        .iter()
        .flat_map(|rule| rule.classes.iter().chain(&rule.objects).map(|path| (path, &rule.why)));
    let replacements = replaced_definitions.iter().map(|rule| (&rule.path, &rule.why));
    let namespaces = operator_namespaces.iter().map(|rule| (&rule.namespace, &rule.why));
    let states = tables.upstream_states.iter().map(|rule| (&rule.path, &rule.why));
    let reasoned = rules.chain(registries).chain(replacements).chain(namespaces).chain(states);
    let mut paths = tables.dynamic.iter().chain(tables.arguments.iter().map(|rule| &rule.path));
    for (path, why) in reasoned {
        if !is_specific(path) {
            return Some(format!("a rule is about {}", quoted(path)));
        }
        if why.trim().is_empty() {
            return Some(format!("the rule about {} gives no reason", quoted(path)));
        }
    }
    paths.find(|path| !is_specific(path)).map(|path| format!("a rule is about {}", quoted(path)))
}

fn is_specific(pattern: &str) -> bool {
    pattern.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

impl From<&DynamicQuestion> for index::Question {
    fn from(question: &DynamicQuestion) -> Self {
        let DynamicQuestion { name, referrer, expression, literals } = question.clone();
        Self { name, referrer, expression, literals }
    }
}

impl From<index::Answer> for DynamicAnswer {
    fn from(answer: index::Answer) -> Self {
        match answer {
            index::Answer::Definitions(resolved) => Self::Definitions { paths: resolved.paths, why: resolved.why },
            index::Answer::Unknown(why) => Self::Unknown { why },
        }
    }
}

impl From<DefinitionSummary> for index::Definition {
    fn from(definition: DefinitionSummary) -> Self {
        let DefinitionSummary { path, kind, source, file, lines: [first_line, last_line] } = definition;
        let kind = match kind {
            DefinitionKind::Class => index::DefinitionKind::Class,
            DefinitionKind::Function => index::DefinitionKind::Function,
            DefinitionKind::Assignment => index::DefinitionKind::Assignment,
            DefinitionKind::Import => index::DefinitionKind::Import,
            DefinitionKind::Other => index::DefinitionKind::Other,
        };
        Self { path, kind, source, file, first_line, last_line }
    }
}
