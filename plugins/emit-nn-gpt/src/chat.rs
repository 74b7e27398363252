//! Chat records of one block, in the schema of NN-DUP's ChatPrep.

use netquarry_sdk::emit::{Block, File};
use serde::{Deserialize, Serialize};

use crate::Configuration;
use crate::identity::{Split, uuid};
use crate::infill::masked;
use crate::prompt;
use crate::reason::Reason;
use crate::signals::Signals;
use crate::syntax;

/// The folder that takes the place of `curation_output/chat_data`.
pub(crate) const FOLDER: &str = "chat_data";

/// What became of a block, as the index needs it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    Written(Written),
    LeftOut(Reason),
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Written {
    pub(crate) split: Split,
    pub(crate) source_path: String,
    pub(crate) family: String,
    pub(crate) full: String,
    pub(crate) infill: Infill,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Infill {
    Written(String),
    LeftOut(Reason),
    /// The configuration wants none.
    NotAsked,
}

/// The records of a block as one part of the file of its split, and what became of it.
pub(crate) fn records(
    configuration: &Configuration,
    block: &Block,
    code: &str,
) -> Result<(Option<File>, Outcome), serde_json::Error> {
    let code = code.trim();
    let suite = match readable(code, configuration.maximum_characters) {
        Ok(suite) => suite,
        Err(reason) => return Ok((None, Outcome::LeftOut(reason))),
    };
    let signals = Signals::of(code, &suite);
    if !signals.has_module {
        return Ok((None, Outcome::LeftOut(Reason::NoNnModule)));
    }
    let source_path = format!("{}/{}", block.provenance.source, block.provenance.file);
    let subject = Subject { block, code, source_path: &source_path, signals: &signals };

    let full = subject.example("full", prompt::task(block));
    let infill = if configuration.infill {
        let masked = masked(code, &suite, &block.name);
        Some(masked.map(|masked| subject.example("infill", masked)))
    } else {
        None
    };
    let examples = std::iter::once(&full).chain(infill.iter().flatten());
    let lines: String = examples.map(Example::line).collect::<Result<_, _>>()?;
    let split = configuration.split(block);
    let infill = match infill {
        Some(Ok(example)) => Infill::Written(example.id),
        Some(Err(reason)) => Infill::LeftOut(reason),
        None => Infill::NotAsked,
    };
    let (full, family) = (full.id, signals.family.to_owned());
    let file = File::appended(path(split), lines);
    Ok((Some(file), Outcome::Written(Written { split, source_path, family, full, infill })))
}

pub(crate) fn path(split: Split) -> String {
    format!("{FOLDER}/{}.jsonl", split.name())
}

/// The tree of a code that fits into a record as it is.
fn readable(code: &str, maximum_characters: u32) -> Result<rustpython_parser::ast::Suite, Reason> {
    if code.chars().nth(maximum_characters as usize).is_some() {
        Err(Reason::TooLong)
    } else if code.contains("```") {
        Err(Reason::CodeFence)
    } else if code.contains("<|") || code.contains("<｜") {
        Err(Reason::ChatMarker)
    } else {
        syntax::parse(code).ok_or(Reason::ParseFail)
    }
}

/// What both examples of a block are made of.
struct Subject<'a> {
    block: &'a Block,
    code: &'a str,
    source_path: &'a str,
    signals: &'a Signals,
}

impl<'a> Subject<'a> {
    fn example(&self, kind: &'static str, user: String) -> Example<'a> {
        let Self { block, code, source_path, signals } = *self;
        let message = |role, content| Message { role, content };
        Example {
            id: uuid(&format!("urn:netquarry:chat:{kind}:{}\n{code}", block.id)),
            messages: [
                message("system", prompt::SYSTEM.to_owned()),
                message("user", user),
                message("assistant", format!("```python\n{code}\n```")),
            ],
            meta: Meta { source_path, signals, r#type: kind },
        }
    }
}

/// A line of a JSONL file; the order of keys is ChatPrep's.
#[derive(Serialize)]
struct Example<'a> {
    id: String,
    messages: [Message; 3],
    meta: Meta<'a>,
}

#[derive(Serialize)]
struct Message {
    role: &'static str,
    content: String,
}

#[derive(Serialize)]
struct Meta<'a> {
    source_path: &'a str,
    #[serde(flatten)]
    signals: &'a Signals,
    r#type: &'static str,
}

impl Example<'_> {
    fn line(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string(self)? + "\n")
    }
}
