//! Calls of emitters, and the check of the paths that they return.

use std::collections::{BTreeMap, btree_map};

use netquarry_core::facts::ParameterKind;
use netquarry_core::record::{BlockRecord, ClosureRecord, ParameterRecord};
use netquarry_core::verdict::{Level, Outcome, TensorShape};

use serde_json::{Value, json};
use wasmtime::Store;

use crate::bindings::spec_emitter::netquarry::plugin::records;
use crate::bindings::spec_emitter::{SpecEmitter as Instance, SpecEmitterPre};
use crate::call::{State, Task};
use crate::emitted_path::check_path;
use crate::error::{CallError, PluginIdentity};
use crate::kept::{CallOutcome, KeptCall, KeptError};
use crate::plugin::{Answer, Call, ConfiguredCaller, Keepsake, accepted};
use crate::tape::Tape;

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
    pub placement: Placement,
}

/// How a file comes to stand in the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// It is the only one of its path.
    Whole,
    /// It is a part of the file of its path, behind the parts that were given before.
    Appended,
}

/// What an emitter answered about one block, not yet looked at.
pub struct BlockAnswer(Result<records::Emission, CallError>);

/// One pass of an emitter over a library, block by block. No two paths that it gives differ only in the case of letters.
pub struct Emission<'a> {
    emitter: &'a SpecEmitter,
    paths: Paths,
    emitted: Vec<records::Emitted>,
    failures: Vec<CallError>,
}

impl SpecEmitter {
    pub(crate) fn new(caller: ConfiguredCaller, instances: SpecEmitterPre<State>) -> Self {
        Self { caller, instances }
    }

    pub fn plugin(&self) -> &PluginIdentity {
        self.caller.plugin()
    }

    /// Begins a pass over the blocks of a library.
    pub fn start(&self) -> Emission<'_> {
        Emission { emitter: self, paths: Paths::default(), emitted: Vec::new(), failures: Vec::new() }
    }

    /// Asks about one block, of which `code` is the bundle's text. What it answers counts once an [`Emission`] has accepted
    /// it; so that blocks may be asked about in any order and on any thread.
    pub fn ask(&self, block: &BlockRecord, code: Option<&str>) -> BlockAnswer {
        let record = converted(block, code);
        let call = Call {
            task: Task { stage: EMIT, item: &block.block, source: &block.source.name },
            world: &self.instances,
            ask: &|instance: &Instance, store| {
                accepted(instance.call_emit_block(store, &record), |emission| {
                    check_paths(&emission.files)?;
                    Ok(emission)
                })
            },
        };
        let arguments = &|| vec![json!(record)];
        BlockAnswer(self.caller.call_or_keep(&call, &Keepsake { function: "emit-block", arguments, blocks: 0 }))
    }

    /// The files about all blocks.
    fn index(&self, emitted: &[records::Emitted]) -> Result<Vec<records::File>, CallError> {
        let call = Call {
            task: INDEX,
            world: &self.instances,
            ask: &|instance: &Instance, store| {
                accepted(instance.call_emit_index(store, emitted), |files| {
                    check_paths(&files)?;
                    Ok(files)
                })
            },
        };
        let arguments = &|| vec![json!(emitted)];
        self.caller.call_or_keep(&call, &Keepsake { function: "emit-index", arguments, blocks: 0 })
    }

    pub(crate) fn replay(&self, kept: &KeptCall, answers: Tape) -> Result<CallOutcome, KeptError> {
        let call = |task, ask: &dyn Fn(&Instance, &mut Store<State>) -> Answer<Value>| {
            self.caller.replay(&Call { task, world: &self.instances, ask }, answers)
        };
        match kept.function.as_str() {
            "emit-block" => {
                let block: records::Block = kept.argument()?;
                let task = Task { stage: EMIT, item: &kept.item, source: "" };
                Ok(call(task, &|instance, store| {
                    accepted(instance.call_emit_block(store, &block), |emission| {
                        check_paths(&emission.files)?;
                        Ok(json!(emission))
                    })
                }))
            }
            "emit-index" => {
                let emitted: Vec<records::Emitted> = kept.argument()?;
                Ok(call(INDEX, &|instance, store| {
                    accepted(instance.call_emit_index(store, &emitted), |files| {
                        check_paths(&files)?;
                        Ok(json!(files))
                    })
                }))
            }
            _ => Err(kept.misfit("a spec-emitter has no such function".to_owned())),
        }
    }
}

const EMIT: &str = "emit";
const INDEX: Task<'static> = Task { stage: EMIT, item: "the index of all blocks", source: "" };

fn check_paths(files: &[records::File]) -> Result<(), String> {
    files.iter().try_for_each(|file| check_path(&file.path))
}

impl Emission<'_> {
    /// The files about one block, which come in the order of the blocks. One at which the emitter failed has none.
    pub fn accept(&mut self, block: &BlockRecord, answer: BlockAnswer) -> Vec<EmittedFile> {
        let task = Task { stage: EMIT, item: &block.block, source: &block.source.name };
        let (files, entry) = match answer.0 {
            Ok(records::Emission { files, entry }) => (Ok(files), entry),
            Err(error) => (Err(error), None),
        };
        let files = self.accepted(task, files);
        if let Some(files) = &files {
            let paths = files.iter().map(|file| file.path.clone()).collect();
            self.emitted.push(emitted_block(block, paths, entry));
        }
        files.unwrap_or_default()
    }

    /// The files about all blocks, and one failure for each block at which the emitter failed, and one more where the
    /// index failed.
    pub fn finish(mut self) -> (Vec<EmittedFile>, Vec<CallError>) {
        self.emitted.sort_by(|first, second| first.id.cmp(&second.id));
        let index = self.emitter.index(&self.emitted);
        let index = self.accepted(INDEX, index);
        (index.unwrap_or_default(), self.failures)
    }

    /// All of the files, or none of them and why.
    fn accepted(&mut self, task: Task<'_>, files: Result<Vec<records::File>, CallError>) -> Option<Vec<EmittedFile>> {
        let accepted = files.and_then(|files| match self.paths.add(&files) {
            Ok(()) => Ok(files),
            Err(reason) => Err(self.emitter.caller.unacceptable(task, reason)),
        });
        match accepted {
            Ok(files) => Some(files.into_iter().map(EmittedFile::from).collect()),
            Err(error) => {
                self.failures.push(error);
                None
            }
        }
    }
}

impl From<records::File> for EmittedFile {
    fn from(records::File { path, content, placement }: records::File) -> Self {
        let placement = match placement {
            records::Placement::Whole => Placement::Whole,
            records::Placement::Appended => Placement::Appended,
        };
        Self { path, content, placement }
    }
}

/// Paths by what they are in lower case, because some file systems know no difference.
#[derive(Default)]
struct Paths(BTreeMap<String, Taken>);

/// A path that is there already.
struct Taken {
    path: String,
    placement: records::Placement,
}

impl Paths {
    /// The paths of all of the files or none of them.
    fn add(&mut self, files: &[records::File]) -> Result<(), String> {
        let mut added = Vec::new();
        for file in files {
            match self.insert(file) {
                Ok(key) => added.extend(key),
                Err(reason) => {
                    added.iter().for_each(|key| drop(self.0.remove(key)));
                    return Err(reason);
                }
            }
        }
        Ok(())
    }

    /// The key of a path that was not there before.
    fn insert(&mut self, file: &records::File) -> Result<Option<String>, String> {
        let (path, placement) = (&file.path, file.placement);
        let key = path.to_lowercase();
        match self.0.entry(key.clone()) {
            btree_map::Entry::Occupied(there) => {
                let Taken { path: present, placement: before } = there.get();
                let goes_on = [placement, *before].iter().all(|each| matches!(each, records::Placement::Appended));
                if goes_on && path == present {
                    Ok(None)
                } else {
                    Err(format!("{path:?} is there already, as {present:?}"))
                }
            }
            btree_map::Entry::Vacant(slot) => {
                slot.insert(Taken { path: path.clone(), placement });
                Ok(Some(key))
            }
        }
    }
}

impl records::Host for State {}

fn emitted_block(block: &BlockRecord, paths: Vec<String>, entry: Option<String>) -> records::Emitted {
    records::Emitted {
        id: block.block.clone(),
        name: block.name.clone(),
        category: block.category.into(),
        level: block.level,
        paths,
        entry,
    }
}

fn converted(block: &BlockRecord, code: Option<&str>) -> records::Block {
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
        code: code.map(str::to_owned),
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
