//! The study of mutants: bundles that were changed in one place, and how far each of them still gets.
//!
//! `oracles/mutants.py` makes the mutants. They are laid out as a library of their own, and `netquarry validate` gives its
//! verdict on each as it would on a bundle that somebody has changed by hand. `oracles/behaviours.py`, which shares
//! nothing with NetQuarry, then runs each bundle and its mutant in plain Python, with the arguments of the verdict, and
//! says whether what was changed ran and whether anyone could see it. A mutant that passes parity although its state or
//! its outputs are others is a false pass ([`Mutant::is_false_pass`]), and there must be none.
//!
//! Where the verdict rests on arguments that were found for the mutant, those are what upstream, the bundle and the mutant
//! are all given: it is the mutant that is judged.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Which mutants are made.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// How many bundles are drawn, among those that pass parity.
    pub bundles: usize,
    /// How many mutants are made of each, unless it has fewer places to change.
    pub mutants: usize,
    /// The same seed draws the same bundles, places and changes.
    pub seed: u64,
}

/// What the study runs, and where.
pub struct Tools<'a> {
    /// The built program, without arguments.
    pub netquarry: &'a dyn Fn() -> Command,
    /// An interpreter that has torch.
    pub python: &'a Path,
    /// Where the mutants are written to. What they come to is written into `mutants.jsonl` there.
    pub folder: &'a Path,
}

/// One change of one bundle, and what came of it.
#[derive(Clone, Debug, Serialize)]
pub struct Mutant {
    /// `timm:timm.layers.drop.DropPath`
    pub block: String,
    pub file: PathBuf,
    #[serde(flatten)]
    pub change: Change,
    /// The outcome at each level, by name.
    pub levels: BTreeMap<String, String>,
    /// Why it came no further.
    pub failure: Option<Value>,
    /// `None` where no forward pass is known of it: then there is nothing to compare.
    pub behaviour: Option<Behaviour>,
}

/// What was changed in a bundle.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Change {
    pub kind: String,
    /// Of the bundle, 1-based.
    pub line: u32,
    pub before: String,
    pub after: String,
    /// The lines of the bundle, inclusive, that show whether it ran.
    lines: [u32; 2],
}

/// A mutant beside its bundle, as plain Python shows it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Behaviour {
    /// Why one of the two could not be looked at.
    pub observed: Option<String>,
    /// Whether what was changed ran in the bundle.
    pub ran: bool,
    /// The first difference, by part of the observation.
    pub differences: BTreeMap<String, String>,
}

/// The parts of an observation that a comparison with upstream speaks of.
const OBSERVABLE: [&str; 4] = ["state", "output", "training", "trained"];

impl Behaviour {
    /// Whether somebody who makes an instance and runs it can tell the two apart.
    pub fn is_other(&self) -> bool {
        OBSERVABLE.iter().any(|part| self.differences.contains_key(*part))
    }
}

impl Mutant {
    pub fn passes(&self, level: &str) -> bool {
        self.levels.get(level).is_some_and(|outcome| outcome == "passed")
    }

    /// Whether it passes for its bundle, and is another block.
    pub fn is_false_pass(&self) -> bool {
        self.passes("parity") && self.behaviour.as_ref().is_some_and(Behaviour::is_other)
    }

    /// Whether it is refused, and nothing that was looked at differs.
    pub fn is_false_alarm(&self) -> bool {
        let is_same = |it: &Behaviour| it.observed.is_none() && !it.is_other();
        self.levels.get("parity").is_some_and(|it| it == "failed") && self.behaviour.as_ref().is_some_and(is_same)
    }
}

impl fmt::Display for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first_line = |text: &str| text.lines().next().unwrap_or_default().to_owned();
        let Change { kind, line, before, after, .. } = &self.change;
        write!(f, "{} line {line}: {kind}: `{}` -> `{}`", self.block, first_line(before), first_line(after))?;
        match &self.behaviour {
            Some(behaviour) if !behaviour.differences.is_empty() => write!(f, "; {:?}", behaviour.differences),
            _ => Ok(()),
        }
    }
}

#[derive(Deserialize)]
struct Made {
    mutants: Vec<MutantText>,
}

#[derive(Deserialize)]
struct MutantText {
    #[serde(flatten)]
    change: Change,
    text: String,
}

/// What `netquarry validate` says of a file.
#[derive(Deserialize)]
struct Row {
    file: PathBuf,
    levels: BTreeMap<String, String>,
    failure: Option<Value>,
    evidence: Value,
}

/// Makes mutants of the bundles of a library that was compared with upstream, and says what becomes of each.
///
/// # Errors
/// The library cannot be read, or the program or an oracle fails.
pub fn study(library: &Path, choice: Choice, tools: &Tools<'_>) -> io::Result<Vec<Mutant>> {
    let records = drawn(library, choice)?;
    let mut originals = Vec::new();
    let mut mutants = Vec::new();
    let requests = records.iter().map(|record| {
        let seed = format!("{} {}", choice.seed, text(record, "block"));
        json!({"path": library.join(text(record, "bundle")), "seed": seed, "count": choice.mutants})
    });
    let made: Vec<Made> = ask(tools, "mutants.py", requests)?;
    fs::create_dir_all(tools.folder.join("blocks"))?;
    fs::copy(library.join("run.json"), tools.folder.join("run.json"))?;
    let mut manifest = BufWriter::new(File::create(tools.folder.join("manifest.jsonl"))?);
    for (record, made) in records.iter().zip(made) {
        let bundle = text(record, "bundle");
        let stem = bundle.trim_end_matches(".py");
        let original = fs::read_to_string(library.join(bundle))?;
        let mut lay_out = |bundle: &str, text: &str| -> io::Result<PathBuf> {
            let mut record = record.clone();
            record["bundle"] = bundle.into();
            writeln!(manifest, "{record}")?;
            let file = tools.folder.join(bundle);
            fs::write(&file, text)?;
            Ok(file)
        };
        originals.push(lay_out(bundle, &original)?);
        for (number, MutantText { change, text: mutated }) in made.mutants.into_iter().enumerate() {
            let file = lay_out(&format!("{stem}__mutant_{number}.py"), &mutated)?;
            let block = text(record, "block").to_owned();
            let (levels, failure, behaviour) = (BTreeMap::new(), None, None);
            mutants.push((originals.len() - 1, Mutant { block, file, change, levels, failure, behaviour }));
        }
    }
    manifest.into_inner()?.sync_all()?;
    let files: Vec<&Path> =
        originals.iter().chain(mutants.iter().map(|(_, mutant)| &mutant.file)).map(PathBuf::as_path).collect();
    let rows = verdicts(&files, tools)?;
    // A bundle that is refused today tells nothing of its mutants.
    mutants.retain(|(original, _)| rows[&originals[*original]].levels["parity"] == "passed");
    let mut compared = Vec::new();
    let mut requests = Vec::new();
    for (position, (original, mutant)) in mutants.iter_mut().enumerate() {
        let row = &rows[&mutant.file];
        (mutant.levels, mutant.failure) = (row.levels.clone(), row.failure.clone());
        if mutant.passes("forward") {
            let record = records.iter().find(|record| text(record, "block") == mutant.block).expect("it was drawn");
            compared.push(position);
            requests.push(json!({
                "original": originals[*original], "mutant": mutant.file, "class_name": record["name"],
                "constructor": row.evidence["constructor_arguments"], "forward": row.evidence["forward_arguments"],
                "lines": mutant.change.lines,
            }));
        }
    }
    let behaviours: Vec<Behaviour> = ask(tools, "behaviours.py", requests.into_iter())?;
    for (position, behaviour) in compared.into_iter().zip(behaviours) {
        mutants[position].1.behaviour = Some(behaviour);
    }
    let mutants: Vec<Mutant> = mutants.into_iter().map(|(_, mutant)| mutant).collect();
    let mut kept = BufWriter::new(File::create(tools.folder.join("mutants.jsonl"))?);
    for mutant in &mutants {
        serde_json::to_writer(&mut kept, mutant)?;
        kept.write_all(b"\n")?;
    }
    kept.flush()?;
    Ok(mutants)
}

fn text<'r>(record: &'r Value, field: &str) -> &'r str {
    record[field].as_str().expect("a record of a bundle has this field")
}

/// Records of bundles that pass parity, drawn by their digests; those of duplicates are left out.
fn drawn(library: &Path, choice: Choice) -> io::Result<Vec<Value>> {
    let mut records = Vec::new();
    for line in fs::read_to_string(library.join("manifest.jsonl"))?.lines() {
        let record: Value = serde_json::from_str(line)?;
        if record["levels"]["parity"] == "passed"
            && record["bundle"].as_str().is_some_and(|bundle| bundle.starts_with("blocks/"))
        {
            records.push(record);
        }
    }
    records.sort_by_cached_key(|record| Sha256::digest(format!("{} {}", choice.seed, text(record, "block"))));
    records.truncate(choice.bundles);
    Ok(records)
}

/// The verdicts on files, by file.
fn verdicts(files: &[&Path], tools: &Tools<'_>) -> io::Result<BTreeMap<PathBuf, Row>> {
    // A command line has room for so many.
    const FILES: usize = 2000;
    let mut rows = BTreeMap::new();
    for files in files.chunks(FILES) {
        let mut command = (tools.netquarry)();
        command.args(["validate", "--level", "parity", "--format", "json"]).args(files);
        let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
        // 1: some files do not get that far.
        if !matches!(output.status.code(), Some(0 | 1)) {
            return Err(io::Error::other(format!("`netquarry validate` failed: {}", output.status)));
        }
        let found: Vec<Row> = serde_json::from_slice(&output.stdout)?;
        rows.extend(found.into_iter().map(|row| (row.file.clone(), row)));
    }
    Ok(rows)
}

/// The answers of a script of `oracles/`, one for each request.
fn ask<T: DeserializeOwned>(
    tools: &Tools<'_>,
    script: &str,
    requests: impl Iterator<Item = Value>,
) -> io::Result<Vec<T>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("oracles").join(script);
    let scratch = tempfile::tempdir()?;
    let (asked, answers) = (scratch.path().join("requests.jsonl"), scratch.path().join("responses.jsonl"));
    let lines: Vec<String> = requests.map(|request| format!("{request}\n")).collect();
    fs::write(&asked, lines.concat())?;
    let status = Command::new(tools.python).arg("-I").arg(&script).arg(&asked).arg(&answers).status()?;
    if !status.success() {
        return Err(io::Error::other(format!("`{}` failed: {status}", script.display())));
    }
    let answers = fs::read_to_string(answers)?.lines().map(serde_json::from_str).collect::<Result<Vec<T>, _>>()?;
    assert_eq!(answers.len(), lines.len(), "there is an answer for each request");
    Ok(answers)
}

/// How many mutants of a kind there are, and what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    pub made: usize,
    pub execute: usize,
    pub forward: usize,
    pub parity: usize,
    /// Of those that pass parity: what was changed did not run.
    pub did_not_run: usize,
    /// It ran, and neither the state nor an output is another.
    pub same: usize,
    /// It did, and they are.
    pub false_passes: usize,
    /// Plain Python could not run the two.
    pub not_observed: usize,
}

impl Figures {
    /// Adds a mutant up.
    fn count(&mut self, mutant: &Mutant) {
        self.made += 1;
        self.execute += usize::from(mutant.passes("execute"));
        self.forward += usize::from(mutant.passes("forward"));
        if !mutant.passes("parity") {
            return;
        }
        self.parity += 1;
        let behaviour = mutant.behaviour.as_ref().expect("what passes parity had a forward pass");
        *match behaviour {
            it if it.observed.is_some() => &mut self.not_observed,
            it if it.is_other() => &mut self.false_passes,
            it if it.ran => &mut self.same,
            _ => &mut self.did_not_run,
        } += 1;
    }

    fn cells(&self) -> [usize; 8] {
        [
            self.made,
            self.execute,
            self.forward,
            self.parity,
            self.did_not_run,
            self.same,
            self.false_passes,
            self.not_observed,
        ]
    }
}

/// The figures by kind of change.
pub fn by_kind(mutants: &[Mutant]) -> BTreeMap<&str, Figures> {
    let mut figures: BTreeMap<&str, Figures> = BTreeMap::new();
    for mutant in mutants {
        figures.entry(&mutant.change.kind).or_default().count(mutant);
    }
    figures
}

/// A table in Markdown: the figures by kind, and of all.
pub fn table(mutants: &[Mutant]) -> String {
    let mut all = Figures::default();
    mutants.iter().for_each(|mutant| all.count(mutant));
    let mut rows = vec![(
        "kind",
        ["made", "pass 3", "pass 5", "pass 7", "did not run", "ran, the same", "false passes", "not observed"]
            .map(str::to_owned),
    )];
    rows.extend(by_kind(mutants).iter().map(|(kind, figures)| (*kind, figures.cells().map(|it| it.to_string()))));
    rows.push(("all", all.cells().map(|it| it.to_string())));
    let mut table = String::new();
    for (number, (kind, cells)) in rows.iter().enumerate() {
        let cells: Vec<String> =
            cells.iter().zip(&rows[0].1).map(|(it, head)| format!("{it:>0$}", head.len())).collect();
        writeln!(table, "| {kind:<33} | {} |", cells.join(" | ")).expect("text can be written to");
        if number == 0 {
            let rules: Vec<String> = cells.iter().map(|head| format!("{}:", "-".repeat(head.len() - 1))).collect();
            writeln!(table, "| {} | {} |", "-".repeat(33), rules.join(" | ")).expect("text can be written to");
        }
    }
    table
}
