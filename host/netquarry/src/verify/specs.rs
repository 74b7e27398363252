//! The specs of a library beside the schema that their emitter publishes.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use jsonschema::Validator;
use serde_json::Value;

use super::library::walk;
use super::{Check, Report};

/// Where emitters have their folders.
const FOLDER: &str = "specs";
/// The file with which an emitter says how its specs of blocks look.
const SCHEMA: &str = "schema.json";
/// Where the specs of blocks lie in an emitter's folder.
const BLOCKS: &str = "blocks";

/// Checks what every emitter has written. A schema can point into itself only: nothing is fetched for it.
pub(super) fn verify(library: &Path, report: &mut Report) {
    let folder = library.join(FOLDER);
    let emitters = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let emitters: BTreeSet<String> = emitters.map(|name| name.to_string_lossy().into_owned()).collect();
    for emitter in emitters {
        let own = folder.join(&emitter);
        let schema = schema(&own, &format!("{FOLDER}/{emitter}/{SCHEMA}"), report);
        for path in walk(&own.join(BLOCKS)).into_iter().filter(|path| path.ends_with(".json")) {
            let place = format!("{FOLDER}/{emitter}/{BLOCKS}/{path}");
            spec(&own.join(BLOCKS).join(path), place, schema.as_ref(), report);
        }
    }
}

fn schema(emitter: &Path, place: &str, report: &mut Report) -> Option<Validator> {
    // Whether it should be there, and can be read, is a matter of the files of the run.
    let text = fs::read(emitter.join(SCHEMA)).ok()?;
    let schema = serde_json::from_slice::<Value>(&text).map_err(|error| error.to_string());
    match schema.and_then(|schema| jsonschema::options().offline().build(&schema).map_err(|error| error.to_string())) {
        Ok(validator) => Some(validator),
        Err(error) => {
            report.find(Check::Spec, place, None, format!("It is no JSON Schema: {error}"));
            None
        }
    }
}

fn spec(path: &Path, place: String, schema: Option<&Validator>, report: &mut Report) {
    let Ok(text) = fs::read(path) else { return };
    report.count("specs", 1);
    let spec = match serde_json::from_slice::<Value>(&text) {
        Ok(spec) => spec,
        Err(error) => return report.find(Check::Spec, place, None, format!("It is no JSON: {error}")),
    };
    let Some(schema) = schema else { return };
    report.count("specs compared with their schema", 1);
    let mut errors = schema.iter_errors(&spec);
    if let Some(first) = errors.next() {
        let others = errors.count();
        let at = first.instance_path().to_string();
        let at = if at.is_empty() { String::new() } else { format!(" at `{at}`") };
        let others = if others == 0 { String::new() } else { format!(", and {others} more") };
        let block = spec["id"].as_str();
        report.find(Check::Spec, place, block, format!("It is not as its schema has it{at}: {first}{others}"));
    }
}
