//! Cases of shims.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use netquarry_core::bundle;
use netquarry_core::closure::{Rules, Target, close};
use netquarry_core::record::{EditRecord, ReplacedRecord, UnknownKeyRecord, UnresolvedName};
use netquarry_core::shim::ShimTables;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::repository::{self, Files, SOURCE};
use super::{Answered, CaseError, Input, lines};
use crate::asked::{self, Sources};
use crate::error::CallError;
use crate::plugin::Kind;
use crate::shim::RepoShim;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ShimInput {
    /// The texts of the files of a repository, by their paths: Python, and what the shim may read.
    files: Files,
    /// The dotted paths of classes that are to be bundled. The tables are shown where there are none.
    #[serde(default)]
    blocks: Vec<String>,
}

impl Input for ShimInput {
    const KIND: Kind = Kind::RepoShim;
}

#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct ShimOutput {
    #[serde(skip_serializing_if = "Option::is_none")]
    tables: Option<ShimTables>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    blocks: BTreeMap<String, Bundled>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Bundled {
    /// The lines of the bundle, without its header.
    code: Vec<String>,
    /// What is imported from outside of the repository, but for the standard library.
    imports: Vec<String>,
    /// What a rule left out or replaced, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    replaced: Vec<ReplacedRecord>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    edits: Vec<EditRecord>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unresolved: Vec<UnresolvedName>,
    /// Keys that no registry of the closure has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown_keys: Vec<UnknownKeyRecord>,
}

pub(super) fn run(shim: &RepoShim, ShimInput { files, blocks }: &ShimInput) -> Result<Answered<ShimOutput>, CaseError> {
    let sources = repository::sources(files);
    let targets = targets(&sources, blocks)?;
    let tables = match shim.tables() {
        Ok(tables) => tables,
        Err(error) => return Ok(Answered { output: ShimOutput::default(), failures: vec![error] }),
    };
    if targets.is_empty() {
        // Name and version stand in the pack already.
        let tables = ShimTables { plugin: String::new(), ..tables };
        return Ok(Answered::from(ShimOutput { tables: Some(tables), ..ShimOutput::default() }));
    }
    let failed: Arc<Mutex<Vec<CallError>>> = Arc::default();
    let noted = Arc::clone(&failed);
    let report = move |error| noted.lock().expect("no panic while it is held").push(error);
    let rules = asked::rules(vec![shim.clone()], vec![tables], sources.clone(), Box::new(report));
    let bundled = targets.into_iter().map(|(path, target)| (path, bundled(&sources, &rules, target)));
    let output = ShimOutput { blocks: bundled.collect(), ..ShimOutput::default() };
    let failures = std::mem::take(&mut *failed.lock().expect("no panic while it is held"));
    Ok(Answered { output, failures })
}

fn targets(Sources { index, .. }: &Sources, blocks: &[String]) -> Result<Vec<(String, Target)>, CaseError> {
    let target = |(position, path): (usize, &String)| {
        let variable = index.find_variable(path);
        let class = variable.and_then(|variable| Some((index.class_of(variable)?.0, variable)));
        let (definition, variable) = class.ok_or_else(|| CaseError::Input {
            kind: Kind::RepoShim,
            path: format!("blocks[{position}]"),
            message: format!("no file of the case defines a class `{path}`"),
        })?;
        Ok((path.clone(), Target { definition, variable }))
    };
    blocks.iter().enumerate().map(target).collect()
}

fn bundled(Sources { index, texts, .. }: &Sources, rules: &Rules, target: Target) -> Bundled {
    let closure = close(index, rules, target);
    let bundle = bundle::assemble(index, &closure, &|file| texts(file));
    let unnamed = |mut record: ReplacedRecord| {
        record.plugin.clear();
        record
    };
    Bundled {
        code: lines(&bundle.text),
        imports: bundle.packages.into_iter().filter(|package| package != SOURCE).collect(),
        replaced: bundle.replaced.into_iter().map(unnamed).collect(),
        edits: bundle.edits,
        unresolved: bundle.unresolved,
        unknown_keys: bundle.unknown_keys,
    }
}
