//! CPython as the oracle of `netquarry_core::syntax`.
//!
//! [`requests`] reads files and says what NetQuarry finds in them; `oracles/python_oracle.py` compares that with what
//! CPython finds.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use netquarry_core::facts::{Access, BindingKind, FileFacts, FunctionFacts};
use netquarry_core::source::TextRange;
use netquarry_core::syntax::{self, PARSER_STACK_BYTES, SymbolTable};
use serde::{Deserialize, Serialize};

/// What NetQuarry says about one file.
#[derive(Serialize)]
struct Request {
    path: PathBuf,
    diagnostic: Option<String>,
    scopes: Vec<String>,
    statements: Vec<[u32; 2]>,
    definitions: Vec<[u32; 2]>,
    loads: Vec<(String, u32, u32)>,
    bindings: Vec<String>,
}

/// A disagreement between NetQuarry and CPython.
#[derive(Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
pub struct Disagreement {
    pub path: PathBuf,
    pub check: String,
    pub explanation: String,
}

#[derive(Debug, Default)]
pub struct Report {
    pub disagreements: Vec<Disagreement>,
    /// How much was compared, by what was counted.
    pub counts: std::collections::BTreeMap<String, u64>,
    pub version: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Response {
    Disagreement(Disagreement),
    End { counts: std::collections::BTreeMap<String, u64>, version: String },
}

/// All Python files below a folder, sorted.
///
/// # Errors
/// A folder cannot be read.
pub fn python_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                pending.push(entry.path());
            } else if kind.is_file() && entry.path().extension().is_some_and(|extension| extension == "py") {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Compares NetQuarry with the interpreter `python` on `files`, with as many processes as there are cores.
///
/// # Errors
/// A file cannot be read, or the interpreter fails.
pub fn compare(python: &Path, files: &[PathBuf], scratch: &Path) -> io::Result<Report> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    // Neighbours are of similar size, so every worker takes each n-th file.
    let share = |worker: usize| files.iter().skip(worker).step_by(workers).cloned().collect::<Vec<_>>();
    let handles: Vec<_> = (0..workers)
        .map(|worker| {
            let (python, files, scratch) = (python.to_owned(), share(worker), scratch.to_owned());
            let work = move || {
                let requests = scratch.join(format!("requests-{worker}.jsonl"));
                let responses = scratch.join(format!("responses-{worker}.jsonl"));
                write_requests(&files, &requests)?;
                ask(&python, &requests, &responses)?;
                read_responses(&responses)
            };
            thread::Builder::new().stack_size(PARSER_STACK_BYTES).spawn(work)
        })
        .collect();
    let mut report = Report::default();
    for handle in handles {
        let part = handle?.join().expect("a worker panicked")?;
        report.disagreements.extend(part.disagreements);
        report.version = part.version;
        for (name, count) in part.counts {
            *report.counts.entry(name).or_default() += count;
        }
    }
    report.disagreements.sort();
    Ok(report)
}

fn ask(python: &Path, requests: &Path, responses: &Path) -> io::Result<()> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("oracles/python_oracle.py");
    let status = Command::new(python).arg("-I").arg(script).arg(requests).arg(responses).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("the oracle failed: {status}"))) }
}

fn write_requests(files: &[PathBuf], path: &Path) -> io::Result<()> {
    let mut output = BufWriter::new(File::create(path)?);
    for file in files {
        serde_json::to_writer(&mut output, &request(file.clone(), &fs::read(file)?))?;
        output.write_all(b"\n")?;
    }
    output.flush()
}

fn read_responses(path: &Path) -> io::Result<Report> {
    let mut report = Report::default();
    for line in BufReader::new(File::open(path)?).lines() {
        match serde_json::from_str(&line?)? {
            Response::Disagreement(disagreement) => report.disagreements.push(disagreement),
            Response::End { counts, version } => (report.counts, report.version) = (counts, version),
        }
    }
    Ok(report)
}

fn request(path: PathBuf, bytes: &[u8]) -> Request {
    let facts = syntax::facts(bytes);
    let tables = syntax::decode(bytes).and_then(|text| syntax::symbol_table(&text)).unwrap_or_default();
    let functions = |functions: &[FunctionFacts]| functions.iter().map(|function| function.range).collect::<Vec<_>>();
    let definitions = facts.statements.iter().flat_map(|statement| {
        let classes = statement.classes.iter();
        let inner = classes.flat_map(|class| [vec![class.range], functions(&class.methods)].concat());
        inner.chain(functions(&statement.functions)).collect::<Vec<_>>()
    });
    let bindings = facts.statements.iter().flat_map(|statement| &statement.bindings);
    let bindings = bindings.filter(|binding| binding.kind != BindingKind::Deletion);
    Request {
        diagnostic: facts.diagnostics.first().map(|diagnostic| format!("{diagnostic:?}")),
        scopes: tables.iter().map(scope_line).collect(),
        statements: facts.statements.iter().map(|statement| pair(statement.range)).collect(),
        definitions: definitions.map(pair).collect(),
        loads: loads(&facts),
        bindings: bindings.map(|binding| facts.name(binding.name).to_owned()).collect(),
        path,
    }
}

fn pair(range: TextRange) -> [u32; 2] {
    [range.start, range.end]
}

/// What may read a global: an augmented assignment is a binding or a store to the facts, and reads to CPython.
fn loads(facts: &FileFacts) -> Vec<(String, u32, u32)> {
    let references = facts.statements.iter().flat_map(|statement| &statement.references);
    let references = references
        .filter(|reference| reference.access != Access::Delete && !reference.quoted)
        .map(|reference| (reference.name, reference.range));
    let bindings = facts.statements.iter().flat_map(|statement| &statement.bindings);
    let augmented =
        bindings.filter(|binding| binding.kind == BindingKind::Augmented).map(|binding| (binding.name, binding.range));
    let load = |(name, range): (_, TextRange)| (facts.name(name).to_owned(), range.start, range.end);
    references.chain(augmented).map(load).collect()
}

/// A scope in the form that the oracle gives it.
fn scope_line(table: &SymbolTable) -> String {
    let symbol = |symbol: &syntax::SymbolEntry| {
        let flags = [
            ('p', symbol.parameter),
            ('i', symbol.imported),
            ('a', symbol.annotated),
            ('s', symbol.assigned),
            ('r', symbol.referenced),
        ];
        let flags: String = flags.iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| *flag).collect();
        let classification = serde_json::to_value(symbol.classification).expect("it is a string");
        format!("{}={}:{flags}", symbol.name, classification.as_str().expect("it is a string"))
    };
    let kind = serde_json::to_value(table.kind).expect("it is a string");
    let mut symbols: Vec<String> = table.symbols.iter().map(symbol).collect();
    symbols.sort();
    let kind = kind.as_str().expect("it is a string");
    format!("{} {kind} {} {}", table.depth, table.name, symbols.join(" "))
}
