//! Cases of emitters.

use std::collections::BTreeMap;

use netquarry_core::record::BlockRecord;
use netquarry_core::verdict::Evidence;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Answered, CaseError, Input, lines};
use crate::emit::{AskedBlock, EmittedFile, SpecEmitter};
use crate::plugin::Kind;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EmitterInput {
    blocks: Vec<EmittedInput>,
}

impl Input for EmitterInput {
    const KIND: Kind = Kind::SpecEmitter;
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EmittedInput {
    /// A line of a manifest, or some of its fields: the others are those of a block about which nothing is known.
    record: Map<String, Value>,
    /// The lines of the bundle.
    #[serde(default)]
    code: Option<Vec<String>>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct EmitterOutput {
    /// By path.
    files: BTreeMap<String, FileContent>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
enum FileContent {
    /// Its lines.
    Text(Vec<String>),
    Binary {
        /// Its bytes.
        bytes: Vec<u8>,
    },
}

pub(super) fn run(
    emitter: &SpecEmitter,
    EmitterInput { blocks }: EmitterInput,
) -> Result<Answered<EmitterOutput>, CaseError> {
    let numbered = blocks.into_iter().enumerate();
    let blocks = numbered.map(|(position, block)| read(position, block)).collect::<Result<Vec<_>, _>>()?;
    let mut contents: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut keep = |files: Vec<EmittedFile>| {
        for EmittedFile { path, content, .. } in files {
            contents.entry(path).or_default().extend(content);
        }
    };
    let mut emission = emitter.start();
    for block in &blocks {
        keep(emission.accept(block, emitter.ask(block)));
    }
    let (index, failures) = emission.finish();
    keep(index);
    let files = contents.into_iter().map(|(path, bytes)| (path, content(bytes))).collect();
    Ok(Answered { output: EmitterOutput { files }, failures })
}

fn content(bytes: Vec<u8>) -> FileContent {
    match String::from_utf8(bytes) {
        Ok(text) => FileContent::Text(lines(&text)),
        Err(error) => FileContent::Binary { bytes: error.into_bytes() },
    }
}

/// The record with what is left open, and the code.
fn read(position: usize, block: EmittedInput) -> Result<AskedBlock, CaseError> {
    let mut record = unknown();
    record.extend(block.record);
    let record: BlockRecord =
        serde_path_to_error::deserialize(Value::Object(record)).map_err(|error| CaseError::Input {
            kind: Kind::SpecEmitter,
            path: format!("blocks[{position}].record.{}", error.path()),
            message: error.inner().to_string(),
        })?;
    let line = record.to_line();
    Ok(AskedBlock::new(record, line, block.code.map(|lines| lines.join("\n"))))
}

/// The record of a block about which nothing is known; without identity and name, which a case has to give.
fn unknown() -> Map<String, Value> {
    let record = json!({
        "category": "utility",
        "discovered_by": "a case",
        "source": {
            "name": super::repository::SOURCE,
            "kind": "local",
            "priority": 1,
            "version": null,
            "commit": null,
            "path": "case.py",
            "lines": [1, 1],
            "sha1": "0000000000000000000000000000000000000000",
        },
        "bundle": null,
        "sha256": null,
        "lines": null,
        "requirements": [],
        "unresolved": [],
        "replaced": [],
        "edits": [],
        "closure": [],
        "constructor": [],
        "forward": [],
        "level": 0,
        "levels": {},
        "failure": null,
        "evidence": Evidence::default(),
        "tainted": false,
        "protections": [],
        "dedup": null,
        "swhid": "swh:1:cnt:0000000000000000000000000000000000000000",
        "license": null,
    });
    match record {
        Value::Object(record) => record,
        _ => unreachable!("it was written as an object"),
    }
}
