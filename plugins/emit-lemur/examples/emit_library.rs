//! Emits a library of `netquarry run` natively, for checks of what comes out: `emit_library LIBRARY OUTPUT`.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use emit_lemur::Lemur;
use netquarry_sdk::configured;
use netquarry_sdk::emit::{
    Block, Category, Emission, Emitted, File, Outcome, Parameter, ParameterKind, Provenance, SpecEmitter as _, Tensor,
};
use serde_json::Value;

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let mut arguments = env::args_os().skip(1).map(PathBuf::from);
    let (Some(library), Some(output)) = (arguments.next(), arguments.next()) else {
        return Err("usage: emit_library LIBRARY OUTPUT".into());
    };
    let emitter = configured::<Lemur>("{}").map_err(|error| format!("{error:?}"))?;
    let mut emitted = Vec::new();
    for line in fs::read_to_string(library.join("manifest.jsonl"))?.lines() {
        let block = block(&library, line)?;
        let Emission { files, entry } = emitter.emit_block(&block)?;
        let paths = files.iter().map(|file| file.path.clone()).collect();
        write(&output, files)?;
        emitted.push(Emitted {
            id: block.id,
            name: block.name,
            category: block.category,
            level: block.level,
            paths,
            entry,
        });
    }
    emitted.sort_by(|first, second| first.id.cmp(&second.id));
    write(&output, emitter.emit_index(&emitted)?)
}

fn write(output: &Path, files: Vec<File>) -> Result<(), Failure> {
    for file in files {
        let path = output.join(file.path);
        fs::create_dir_all(path.parent().ok_or("a file has a folder")?)?;
        fs::write(path, file.content)?;
    }
    Ok(())
}

/// What the emitter reads of a line of the manifest, as the host gives it.
fn block(library: &Path, line: &str) -> Result<Block, Failure> {
    let record: Value = serde_json::from_str(line)?;
    let evidence = &record["evidence"];
    let source = &record["source"];
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let line_at = |place: usize| u32::try_from(number(&source["lines"][place]));
    let bundle = optional(&record["bundle"]);
    let code = bundle.as_ref().map(|bundle| fs::read_to_string(library.join(bundle))).transpose()?;
    Ok(Block {
        id: text(&record["block"]),
        name: text(&record["name"]),
        category: category(&record["category"])?,
        provenance: Provenance {
            source: text(&source["name"]),
            kind: text(&source["kind"]),
            version: optional(&source["version"]),
            commit: optional(&source["commit"]),
            file: text(&source["path"]),
            first_line: line_at(0)?,
            last_line: line_at(1)?,
            sha1: text(&source["sha1"]),
            swhid: text(&record["swhid"]),
        },
        license: optional(&record["license"]),
        bundle,
        sha256: optional(&record["sha256"]),
        code,
        requirements: items(&record["requirements"]).iter().map(text).collect(),
        constructor_parameters: items(&record["constructor"]).iter().map(parameter).collect(),
        forward_parameters: items(&record["forward"]).iter().map(parameter).collect(),
        constructor_arguments: entries(&evidence["constructor_arguments"])
            .map(|(name, value)| (name.clone(), text(value)))
            .collect(),
        inputs: items(&evidence["forward_inputs"]).iter().map(tensor).collect(),
        outputs: items(&evidence["forward_outputs"]).iter().map(tensor).collect(),
        parameter_count: evidence["parameters"].as_u64(),
        closure: Vec::new(),
        level: u8::try_from(number(&record["level"]))?,
        outcomes: entries(&record["levels"]).map(|(level, value)| (level.clone(), outcome(value))).collect(),
        failure: None,
        manifest_record: line.to_owned(),
    })
}

fn text(value: &Value) -> String {
    value.as_str().map(str::to_owned).unwrap_or_default()
}

fn optional(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn parameter(value: &Value) -> Parameter {
    let kind = match value["kind"].as_str() {
        Some("positional_only") => ParameterKind::PositionalOnly,
        Some("variadic") => ParameterKind::Variadic,
        Some("keyword_only") => ParameterKind::KeywordOnly,
        Some("variadic_keyword") => ParameterKind::VariadicKeyword,
        _ => ParameterKind::PositionalOrKeyword,
    };
    Parameter {
        name: text(&value["name"]),
        kind,
        annotation: optional(&value["annotation"]),
        default: optional(&value["default"]),
    }
}

fn tensor(value: &Value) -> Tensor {
    let shape = items(&value["shape"]).iter().filter_map(Value::as_u64).collect();
    Tensor { name: text(&value["name"]), shape, dtype: text(&value["dtype"]) }
}

fn outcome(value: &Value) -> Outcome {
    match value.as_str() {
        Some("passed") => Outcome::Passed,
        Some("failed") => Outcome::Failed,
        Some("not_applicable") => Outcome::NotApplicable,
        _ => Outcome::Unknown,
    }
}

fn category(value: &Value) -> Result<Category, Failure> {
    let categories = [
        Category::Attention,
        Category::Convolution,
        Category::TransformerBlock,
        Category::Pooling,
        Category::Normalisation,
        Category::Loss,
        Category::Architecture,
        Category::Utility,
    ];
    let name = value.as_str().unwrap_or_default();
    categories.into_iter().find(|each| each.name() == name).ok_or_else(|| format!("a category {name:?}").into())
}
