//! Calls of shims, and the index as they see it.

use std::sync::Arc;

use netquarry_core::dynamic::{CodeIndex, DefinitionKind, DefinitionSummary, DynamicAnswer, DynamicQuestion};
use netquarry_core::shim::{
    BlockArguments, OperatorNamespace, RegistryRule, Replacement, Rule, ShimTables, UpstreamState,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use wasmtime::Store;
use wasmtime::component::Resource;

use crate::bindings::base::netquarry::plugin::types::Refusal;
use crate::bindings::repo_shim::netquarry::plugin::{index, rules};
use crate::bindings::repo_shim::{RepoShim as Instance, RepoShimPre};
use crate::call::{State, Task};
use crate::error::{CallError, PluginIdentity, quoted};
use crate::kept::{CallOutcome, KeptCall, KeptError};
use crate::permission::ReadableFiles;
use crate::plugin::{Answer, Call, ConfiguredCaller, Keepsake, accepted};
use crate::source_files::SourceFiles;
use crate::tape::Tape;

/// A shim with its configuration.
#[derive(Clone)]
pub struct RepoShim {
    caller: ConfiguredCaller,
    instances: RepoShimPre<State>,
    readable: Arc<ReadableFiles>,
}

/// The index behind the resource `code-index`.
#[expect(unreachable_pub, reason = "the generated bindings export it from their own module")]
pub enum IndexHandle {
    Index {
        index: Arc<dyn CodeIndex>,
        files: Arc<dyn SourceFiles>,
        readable: Arc<ReadableFiles>,
    },
    /// Everything that is asked has been asked before, and the tape has the answers.
    Replayed,
}

impl RepoShim {
    pub(crate) fn new(caller: ConfiguredCaller, instances: RepoShimPre<State>, readable: ReadableFiles) -> Self {
        Self { caller, instances, readable: Arc::new(readable) }
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
        let PluginIdentity { name, version, .. } = self.plugin();
        let accept = |tables| {
            let tables = converted(format!("{name} {version}"), tables);
            flaw(&tables).map_or(Ok(tables), Err)
        };
        let call = Call {
            task: TELL,
            world: &self.instances,
            ask: &|instance: &Instance, store| accepted(instance.call_tables(store), accept),
        };
        self.caller.call_or_keep(&call, &Keepsake { function: "tables", arguments: &Vec::new, blocks: 0 })
    }

    /// Asks about one use of a name that the tables mark as dynamic. Of `files` the shim sees what it was granted.
    ///
    /// # Errors
    ///
    /// Where the call fails; the name is then unresolved.
    pub fn answer(
        &self,
        question: &DynamicQuestion,
        index: &Arc<dyn CodeIndex>,
        files: &Arc<dyn SourceFiles>,
    ) -> Result<DynamicAnswer, CallError> {
        let item = format!("{} in {}", question.name, question.referrer);
        let referrer = index.find(&question.referrer);
        let source = referrer.as_ref().map_or("", |referrer| referrer.source.as_str());
        let question = index::Question::from(question);
        let call = Call {
            task: Task { stage: ANSWER, item: &item, source },
            world: &self.instances,
            ask: &|instance: &Instance, store| {
                let (index, files, readable) = (Arc::clone(index), Arc::clone(files), Arc::clone(&self.readable));
                let handle = IndexHandle::Index { index, files, readable };
                accepted(answer(instance, store, &question, handle), |answer| Ok(DynamicAnswer::from(answer)))
            },
        };
        let arguments = &|| vec![json!(question)];
        self.caller.call_or_keep(&call, &Keepsake { function: "answer-dynamic", arguments, blocks: 0 })
    }

    pub(crate) fn replay(&self, kept: &KeptCall, answers: Tape) -> Result<CallOutcome, KeptError> {
        let call = |task, ask: &dyn Fn(&Instance, &mut Store<State>) -> Answer<Value>| {
            self.caller.replay(&Call { task, world: &self.instances, ask }, answers)
        };
        match kept.function.as_str() {
            "tables" => Ok(call(TELL, &|instance, store| {
                accepted(instance.call_tables(store), |tables| {
                    let told = json!(tables);
                    flaw(&converted(String::new(), tables)).map_or(Ok(told), Err)
                })
            })),
            "answer-dynamic" => {
                let question: index::Question = kept.argument()?;
                let task = Task { stage: ANSWER, item: &kept.item, source: "" };
                Ok(call(task, &|instance, store| {
                    accepted(answer(instance, store, &question, IndexHandle::Replayed), |answer| Ok(json!(answer)))
                }))
            }
            _ => Err(kept.misfit("a repo-shim has no such function".to_owned())),
        }
    }
}

const TELL: Task<'static> = Task { stage: "tell", item: "its tables", source: "" };
const ANSWER: &str = "answer about";

/// Asks an instance, for which the index is there as long as the call lasts.
fn answer(
    instance: &Instance,
    store: &mut Store<State>,
    question: &index::Question,
    handle: IndexHandle,
) -> wasmtime::Result<Result<index::Answer, Refusal>> {
    let handle = store.data_mut().resources.push(handle)?;
    let borrow = Resource::new_borrow(handle.rep());
    instance.call_answer_dynamic(store, question, borrow)
}

impl rules::Host for State {}

impl index::Host for State {}

impl State {
    /// Answers a question about the index.
    fn of_index<A: Serialize, R: Serialize + DeserializeOwned>(
        &self,
        index: &Resource<IndexHandle>,
        function: &'static str,
        arguments: A,
        answer: impl FnOnce(&Arc<dyn CodeIndex>, &Arc<dyn SourceFiles>, &ReadableFiles) -> R,
    ) -> wasmtime::Result<R> {
        let handle = self.resources.get(index)?;
        self.host_call(function, arguments, || match handle {
            IndexHandle::Index { index, files, readable } => Ok(answer(index, files, readable)),
            IndexHandle::Replayed => Err(wasmtime::Error::msg("there is no index behind a replayed call")),
        })
    }
}

impl index::HostCodeIndex for State {
    fn find(&mut self, index: Resource<IndexHandle>, path: String) -> wasmtime::Result<Option<index::Definition>> {
        let found = |index: &Arc<dyn CodeIndex>| index.find(&path).map(index::Definition::from);
        self.of_index(&index, "code-index.find", (&path,), |index, _, _| found(index))
    }

    fn source(&mut self, index: Resource<IndexHandle>, path: String) -> wasmtime::Result<Option<String>> {
        self.of_index(&index, "code-index.source", (&path,), |index, _, _| index.source(&path))
    }

    fn references(&mut self, index: Resource<IndexHandle>, path: String) -> wasmtime::Result<Vec<String>> {
        self.of_index(&index, "code-index.references", (&path,), |index, _, _| index.references(&path))
    }

    fn registered(
        &mut self,
        index: Resource<IndexHandle>,
        registry: String,
        key: String,
    ) -> wasmtime::Result<Vec<String>> {
        let arguments = (&registry, &key);
        self.of_index(&index, "code-index.registered", arguments, |index, _, _| index.registered(&registry, &key))
    }

    fn files(&mut self, index: Resource<IndexHandle>, source: String) -> wasmtime::Result<Vec<String>> {
        self.of_index(&index, "code-index.files", (&source,), |_, files, readable| {
            let mut paths = files.paths(&source);
            paths.retain(|path| readable.has(path));
            paths.sort_unstable();
            paths
        })
    }

    fn read_file(
        &mut self,
        index: Resource<IndexHandle>,
        source: String,
        path: String,
    ) -> wasmtime::Result<Result<Vec<u8>, index::FileError>> {
        self.of_index(&index, "code-index.read-file", (&source, &path), |_, files, readable| {
            if !readable.has(&path) {
                return Err(index::FileError::NotPermitted);
            }
            let read = files.read(&source, &path).map_err(index::FileError::Other)?;
            read.ok_or(index::FileError::Missing)
        })
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
