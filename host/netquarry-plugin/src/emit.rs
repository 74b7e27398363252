//! Calls of emitters, and the check of the paths that they return.

use std::collections::{BTreeMap, btree_map};

use netquarry_core::facts::ParameterKind;
use netquarry_core::record::{BlockRecord, ClosureRecord, ParameterRecord};
use netquarry_core::verdict::{Level, Outcome, TensorShape};

use crate::bindings::spec_emitter::netquarry::plugin::records;
use crate::bindings::spec_emitter::{SpecEmitter as Instance, SpecEmitterPre};
use crate::call::{State, Task};
use crate::emitted_path::check_path;
use crate::error::{CallError, PluginIdentity};
use crate::plugin::ConfiguredCaller;

/// An emitter with its configuration.
#[derive(Clone)]
pub struct SpecEmitter {
    caller: ConfiguredCaller,
    instances: SpecEmitterPre<State>,
}

/// A file for the folder of the emitter. The path is relative, has forward slashes, stays inside of the folder and is a
/// file name everywhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmittedFile {
    pub path: String,
    pub content: Vec<u8>,
}

/// What an emitter made of a library.
#[derive(Debug, Default)]
pub struct Emission {
    /// Sorted by path; no two paths differ only in the case of letters.
    pub files: Vec<EmittedFile>,
    /// One for each block at which the emitter failed, and one more where the index failed.
    pub failures: Vec<CallError>,
}

impl SpecEmitter {
    pub(crate) fn new(caller: ConfiguredCaller, instances: SpecEmitterPre<State>) -> Self {
        Self { caller, instances }
    }

    pub fn plugin(&self) -> &PluginIdentity {
        self.caller.plugin()
    }

    /// The files about each block, then those about all of them. A block that fails costs its own files alone.
    pub fn emit(&self, blocks: &[&BlockRecord]) -> Emission {
        let mut emission = Emission::default();
        let mut files = Files::default();
        let mut emitted = Vec::new();
        for block in blocks {
            let task = Task { stage: "emit", item: &block.block };
            let added = self.emit_block(block).and_then(|block_files| {
                files.add(block_files).map_err(|reason| self.caller.unacceptable(task, reason))
            });
            match added {
                Ok(paths) => emitted.push(emitted_block(block, paths)),
                Err(error) => emission.failures.push(error),
            }
        }
        emitted.sort_by(|first, second| first.id.cmp(&second.id));
        let task = Task { stage: "emit", item: "the index of all blocks" };
        let index = self.call(task, |instance, store| instance.call_emit_index(store, &emitted));
        let added = index.and_then(|index| files.add(index).map_err(|reason| self.caller.unacceptable(task, reason)));
        emission.failures.extend(added.err());
        emission.files = files.into_sorted();
        emission
    }

    fn emit_block(&self, block: &BlockRecord) -> Result<Vec<records::File>, CallError> {
        let task = Task { stage: "emit", item: &block.block };
        let record = converted(block);
        self.call(task, |instance, store| instance.call_emit_block(store, &record))
    }

    fn call<R>(
        &self,
        task: Task<'_>,
        ask: impl FnOnce(&Instance, &mut wasmtime::Store<State>) -> wasmtime::Result<Result<R, String>>,
    ) -> Result<R, CallError> {
        let instantiate = |store: &mut wasmtime::Store<State>| self.instances.instantiate(store);
        self.caller.call(task, instantiate, |instance, store, json| instance.call_configure(store, json), ask)
    }
}

/// Files by their path in lower case, because some file systems know no difference.
#[derive(Default)]
struct Files(BTreeMap<String, EmittedFile>);

impl Files {
    /// All of the files or none of them; returns their paths.
    fn add(&mut self, files: Vec<records::File>) -> Result<Vec<String>, String> {
        let mut added = Vec::new();
        let result = files.into_iter().try_for_each(|file| {
            let path = file.path.clone();
            let key = self.insert(file)?;
            added.push((key, path));
            Ok(())
        });
        if let Err(reason) = result {
            added.iter().for_each(|(key, _)| drop(self.0.remove(key)));
            return Err(reason);
        }
        Ok(added.into_iter().map(|(_, path)| path).collect())
    }

    fn insert(&mut self, file: records::File) -> Result<String, String> {
        let records::File { path, content } = file;
        check_path(&path)?;
        let key = path.to_lowercase();
        match self.0.entry(key.clone()) {
            btree_map::Entry::Occupied(there) => Err(format!("{path:?} is there already, as {:?}", there.get().path)),
            btree_map::Entry::Vacant(slot) => {
                slot.insert(EmittedFile { path, content });
                Ok(key)
            }
        }
    }

    fn into_sorted(self) -> Vec<EmittedFile> {
        let mut files: Vec<EmittedFile> = self.0.into_values().collect();
        files.sort_by(|first, second| first.path.cmp(&second.path));
        files
    }
}

impl records::Host for State {}

fn emitted_block(block: &BlockRecord, paths: Vec<String>) -> records::Emitted {
    records::Emitted {
        id: block.block.clone(),
        name: block.name.clone(),
        category: block.category.into(),
        level: block.level,
        paths,
    }
}

fn converted(block: &BlockRecord) -> records::Block {
    let parameters = |parameters: &[ParameterRecord]| parameters.iter().map(parameter).collect();
    let tensors = |tensors: &[TensorShape]| tensors.iter().map(tensor).collect();
    let outcome = |level: Level| Some((level.name().to_owned(), (*block.levels.get(level.name())?).into()));
    let arguments = block.evidence.constructor_arguments.iter();
    let failure = block
        .failure
        .as_ref()
        .map(|failure| records::Failure { class: failure.class.name().to_owned(), message: failure.message.clone() });
    records::Block {
        id: block.block.clone(),
        name: block.name.clone(),
        category: block.category.into(),
        provenance: provenance(block),
        license: block.license.clone(),
        bundle: block.bundle.clone(),
        sha256: block.sha256.clone(),
        requirements: block.requirements.clone(),
        constructor_parameters: parameters(&block.constructor),
        forward_parameters: parameters(&block.forward),
        constructor_arguments: arguments.map(|(name, value)| (name.clone(), value.clone())).collect(),
        inputs: tensors(&block.evidence.forward_inputs),
        outputs: tensors(&block.evidence.forward_outputs),
        parameter_count: block.evidence.parameters,
        closure: block.closure.iter().map(dependency).collect(),
        level: block.level,
        outcomes: Level::ALL.into_iter().filter_map(outcome).collect(),
        failure,
        manifest_record: serde_json::to_string(block).expect("a record has string keys"),
    }
}

fn provenance(block: &BlockRecord) -> records::Provenance {
    let [first_line, last_line] = block.source.lines;
    records::Provenance {
        source: block.source.name.clone(),
        kind: block.source.kind.name().to_owned(),
        version: block.source.version.clone(),
        commit: block.source.commit.clone(),
        file: block.source.path.clone(),
        first_line,
        last_line,
        sha1: block.source.sha1.clone(),
        swhid: block.swhid.clone(),
    }
}

fn parameter(parameter: &ParameterRecord) -> records::Parameter {
    let ParameterRecord { name, kind, annotation, default } = parameter.clone();
    records::Parameter { name, kind: kind.into(), annotation, default }
}

fn tensor(tensor: &TensorShape) -> records::Tensor {
    let TensorShape { name, shape, dtype } = tensor.clone();
    records::Tensor { name, shape, dtype }
}

fn dependency(definition: &ClosureRecord) -> records::Dependency {
    records::Dependency {
        definition: definition.definition.clone(),
        needed_by: definition.needed_by.clone(),
        confidence: definition.confidence.map(|confidence| confidence.name().to_owned()),
        license: definition.license.clone(),
    }
}

impl From<ParameterKind> for records::ParameterKind {
    fn from(kind: ParameterKind) -> Self {
        match kind {
            ParameterKind::PositionalOnly => Self::PositionalOnly,
            ParameterKind::PositionalOrKeyword => Self::PositionalOrKeyword,
            ParameterKind::Variadic => Self::Variadic,
            ParameterKind::KeywordOnly => Self::KeywordOnly,
            ParameterKind::VariadicKeyword => Self::VariadicKeyword,
        }
    }
}

impl From<Outcome> for records::Outcome {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Passed => Self::Passed,
            Outcome::Failed => Self::Failed,
            Outcome::Unknown => Self::Unknown,
            Outcome::NotApplicable => Self::NotApplicable,
        }
    }
}
