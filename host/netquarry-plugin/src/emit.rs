//! Calls of emitters, and the check of the paths that they return.

use std::collections::{BTreeMap, btree_map};

use netquarry_core::facts::ParameterKind;
use netquarry_core::record::{BlockRecord, ClosureRecord, ParameterRecord, RecordSource};
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

/// A block as emitters get it, the same for all of them.
pub struct AskedBlock(records::Block);

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

    /// Asks about one block. What it answers counts once an [`Emission`] has accepted it; so that blocks may be asked about in
    /// any order and on any thread.
    pub fn ask(&self, block: &AskedBlock) -> BlockAnswer {
        let AskedBlock(record) = block;
        let call = Call {
            task: block.task(),
            world: &self.instances,
            ask: &|instance: &Instance, store| {
                accepted(instance.call_emit_block(store, record), |emission| {
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

impl AskedBlock {
    /// `line` is what the manifest has of it, and `code` its bundle's text.
    pub fn new(record: BlockRecord, line: String, code: Option<String>) -> Self {
        Self(converted(record, line, code))
    }

    /// The name of the source that it is from.
    pub fn source(&self) -> &str {
        &self.0.provenance.source
    }

    fn task(&self) -> Task<'_> {
        Task { stage: EMIT, item: &self.0.id, source: self.source() }
    }
}

impl Emission<'_> {
    /// The files about one block, which come in the order of the blocks. One at which the emitter failed has none.
    pub fn accept(&mut self, block: &AskedBlock, answer: BlockAnswer) -> Vec<EmittedFile> {
        let (files, entry) = match answer.0 {
            Ok(records::Emission { files, entry }) => (Ok(files), entry),
            Err(error) => (Err(error), None),
        };
        let files = self.accepted(block.task(), files);
        if let Some(files) = &files {
            let paths = files.iter().map(|file| file.path.clone()).collect();
            self.emitted.push(emitted_block(&block.0, paths, entry));
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

fn emitted_block(block: &records::Block, paths: Vec<String>, entry: Option<String>) -> records::Emitted {
    let records::Block { id, name, category, level, .. } = block;
    records::Emitted { id: id.clone(), name: name.clone(), category: *category, level: *level, paths, entry }
}

fn converted(block: BlockRecord, line: String, code: Option<String>) -> records::Block {
    let parameters = |parameters: Vec<ParameterRecord>| parameters.into_iter().map(parameter).collect();
    let tensors = |tensors: Vec<TensorShape>| tensors.into_iter().map(tensor).collect();
    let outcome = |level: Level| Some((level.name().to_owned(), (*block.levels.get(level.name())?).into()));
    let outcomes = Level::ALL.into_iter().filter_map(outcome).collect();
    let failure = block
        .failure
        .map(|failure| records::Failure { class: failure.class.name().to_owned(), message: failure.message });
    records::Block {
        id: block.block,
        name: block.name,
        category: block.category.into(),
        provenance: provenance(block.source, block.swhid),
        license: block.license,
        bundle: block.bundle,
        sha256: block.sha256,
        code,
        requirements: block.requirements,
        constructor_parameters: parameters(block.constructor),
        forward_parameters: parameters(block.forward),
        constructor_arguments: block.evidence.constructor_arguments.into_iter().collect(),
        inputs: tensors(block.evidence.forward_inputs),
        outputs: tensors(block.evidence.forward_outputs),
        parameter_count: block.evidence.parameters,
        closure: block.closure.into_iter().map(dependency).collect(),
        level: block.level,
        outcomes,
        failure,
        manifest_record: line,
    }
}

fn provenance(source: RecordSource, swhid: String) -> records::Provenance {
    let RecordSource { name, kind, version, commit, path, lines: [first_line, last_line], sha1, .. } = source;
    let kind = kind.name().to_owned();
    records::Provenance { source: name, kind, version, commit, file: path, first_line, last_line, sha1, swhid }
}

fn parameter(ParameterRecord { name, kind, annotation, default }: ParameterRecord) -> records::Parameter {
    records::Parameter { name, kind: kind.into(), annotation, default }
}

fn tensor(TensorShape { name, shape, dtype }: TensorShape) -> records::Tensor {
    records::Tensor { name, shape, dtype }
}

fn dependency(definition: ClosureRecord) -> records::Dependency {
    let ClosureRecord { definition, needed_by, confidence, license, .. } = definition;
    let confidence = confidence.map(|confidence| confidence.name().to_owned());
    records::Dependency { definition, needed_by, confidence, license }
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
