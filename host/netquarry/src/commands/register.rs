//! `netquarry register FILE --spec SPEC`: an implementation that somebody or something wrote from a spec.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use netquarry_core::record::BlockRecord;
use netquarry_core::shim::BlockArguments;
use netquarry_core::verdict::Level;
use netquarry_plugin::{AskedBlock, EmittedFile, SpecEmitter};
use serde::{Deserialize, Serialize};

use super::dedup::{Distance, distance};
use super::{Ending, validate};
use crate::arguments::RegisterArguments;
use crate::configuration::Settings;
use crate::console::{Console, Format};
use crate::driver::for_sources::ForSources;
use crate::driver::plugins::Plugins;
use crate::export::blocks::place;
use crate::library::manifest;
use crate::models::Models;
use crate::problem::Problem;
use crate::registration::compare::{Comparison, Conclusion, Outcome, compare, conclusion};
use crate::registration::record;
use crate::registration::spec::{self, Spec};
use crate::spool::Spool;
use crate::table::{Align, STRONG, Table};

#[derive(Serialize)]
struct Registered<'a> {
    file: &'a Path,
    class: &'a str,
    /// The block whose spec it implements.
    spec: &'a str,
    /// All that the spec says was seen, and nothing differs.
    accepted: bool,
    conclusion: Conclusion,
    comparisons: &'a [Comparison],
    level: u8,
    /// How far its text is from upstream's; null where upstream's is not at hand.
    distance: Option<&'a Distance>,
    /// What the emitter made of it.
    written: &'a [PathBuf],
}

/// What an index of an emitter says of the blocks of which nothing was made.
#[derive(Deserialize)]
struct Refusals {
    refused: Vec<Refusal>,
}

#[derive(Deserialize)]
struct Refusal {
    id: String,
    reason: String,
}

pub(super) fn register(
    arguments: &RegisterArguments,
    settings: &Settings,
    console: &Console,
) -> Result<Ending, Problem> {
    let spec = Spec::read(&arguments.spec)?;
    let settings = &Settings { level: Level::Backward, ..settings.clone() };
    // What is not as it should be is told before the long work.
    let load = |models| Ok::<_, Problem>((models, Plugins::load_emitter(settings, &arguments.emit)?));
    let wanted = arguments.models.as_deref().map(load).transpose()?;
    let upstream = upstream(&spec.id, &settings.out)?;
    let given = given(&spec, console);
    let implementation = validate::implementation(&arguments.file, given, &arguments.requirements, settings, console)?;
    let (file, class) = (implementation.file.clone(), implementation.class.clone());
    let level = implementation.verdict.level();
    let comparisons = compare(&spec, &implementation.verdict);
    let conclusion = conclusion(&comparisons);
    let accepted = conclusion == Conclusion::Fits;
    let distance = upstream.map(|upstream| distance_from(&file, &upstream, settings)).transpose()?;
    let written = match &wanted {
        Some((models, emitter)) if accepted => {
            write(models, &emitted(&spec, implementation, arguments.license.as_deref(), emitter)?)?
        }
        Some(_) | None => Vec::new(),
    };
    let registered = Registered {
        file: &file,
        class: &class,
        spec: &spec.id,
        accepted,
        conclusion,
        comparisons: &comparisons,
        level,
        distance: distance.as_ref(),
        written: &written,
    };
    match console.format {
        Format::Json => console.print_json(&registered)?,
        Format::Human => console.print(&text(&registered, console))?,
    }
    Ok(if accepted { Ending::Done } else { Ending::Findings })
}

/// The arguments of the spec's instance and of its forward pass, as far as the spec has them; others are guessed.
fn given(spec: &Spec, console: &Console) -> BlockArguments {
    let told = |what: &str, expressions: Option<_>| {
        if expressions.is_none() {
            console.caution(&format!("the spec leaves out an argument of {what}: its arguments are guessed"));
        }
        expressions.unwrap_or_default()
    };
    BlockArguments {
        path: spec.id.clone(),
        constructor: told("the constructor", spec::expressions(&spec.constructor.example)),
        forward: told("`forward`", spec::expressions(&spec.forward.example)),
    }
}

/// The bundle of upstream's block in the library, where it is there.
fn upstream(block: &str, library: &Path) -> Result<Option<PathBuf>, Problem> {
    if !manifest::is_in(library) {
        return Ok(None);
    }
    let mut records = manifest::read_existing(library)?;
    // A record that cannot be read may be the block's.
    let is_another = |record: &Result<BlockRecord, Problem>| record.as_ref().is_ok_and(|record| record.block != block);
    let record = records.find(|record| !is_another(record)).transpose()?;
    let Some(bundle) = record.and_then(|record| record.bundle) else { return Ok(None) };
    let file = place(library, &bundle).ok_or_else(|| {
        Problem::new(format!("`{bundle}` of {block} is not read: its path leads out of the library"))
            .help("`netquarry verify` says what else was changed; `netquarry run` writes the library anew")
    })?;
    Ok(Some(file).filter(|file| file.is_file()))
}

fn distance_from(file: &Path, upstream: &Path, settings: &Settings) -> Result<Distance, Problem> {
    let spool = Arc::new(Spool::new(&settings.cache_dir)?);
    distance([Models::single(file, &spool)?, Models::single(upstream, &spool)?], settings, &spool)
}

/// What the emitter makes of it: at least one file.
fn emitted(
    spec: &Spec,
    implementation: validate::Implementation,
    license: Option<&str>,
    emitter: &ForSources<SpecEmitter>,
) -> Result<Vec<EmittedFile>, Problem> {
    let code = fs::read_to_string(&implementation.file)
        .map_err(|error| Problem::io("read", &implementation.file, error).help("save it as UTF-8"))?;
    let validate::Implementation { file, class, packages, verdict } = implementation;
    let implementation = record::Implementation { file: &file, class, code: &code, packages: &packages, verdict };
    let record = record::of(spec, implementation, license);
    let (id, line) = (record.block.clone(), record.to_line());
    let block = AskedBlock::new(record, line, Some(code));
    let mut emission = emitter.all().start();
    let files = emission.accept(&block, emitter.of(block.source()).ask(&block));
    let (index, failures) = emission.finish();
    if let Some(failure) = failures.first() {
        return Err(failure.into());
    }
    if files.is_empty() {
        return Err(refused(&file, &emitter.all().plugin().name, reason(&index, &id).as_deref()));
    }
    Ok(files)
}

/// Why an emitter made nothing of a block, where its index says so.
fn reason(index: &[EmittedFile], block: &str) -> Option<String> {
    let told = index.iter().filter_map(|file| serde_json::from_slice::<Refusals>(&file.content).ok());
    told.flat_map(|told| told.refused).find(|refusal| refusal.id == block).map(|refusal| refusal.reason)
}

fn refused(file: &Path, emitter: &str, reason: Option<&str>) -> Problem {
    let help = "leave out --models to compare it only; `netquarry plugin list --format json` says what reasons mean";
    let problem =
        Problem::new(format!("`{}` fits the spec, and {emitter} makes no model of it", file.display())).help(help);
    match reason {
        Some(reason) => problem.because(format!("{emitter} refuses it as `{reason}`")),
        None => problem,
    }
}

/// Writes files into the folder of the models. One that comes in parts is put together.
fn write(models: &Path, files: &[EmittedFile]) -> Result<Vec<PathBuf>, Problem> {
    let mut whole: BTreeMap<PathBuf, Vec<u8>> = BTreeMap::new();
    for file in files {
        whole.entry(models.join(&file.path)).or_default().extend(&file.content);
    }
    for (path, content) in &whole {
        let made = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(path, content));
        made.map_err(|error| Problem::io("write the model", path, error))?;
    }
    Ok(whole.into_keys().collect())
}

fn text(registered: &Registered<'_>, console: &Console) -> String {
    let strong = console.out_style(STRONG);
    let Registered { file, class, spec, conclusion, comparisons, distance, written, .. } = registered;
    let mut text = format!("{strong}{class}{strong:#} of {} beside the spec of {spec}\n\n", file.display());
    let mut table = Table::new(&[
        ("", Align::Left),
        ("what", Align::Left),
        ("the spec says", Align::Left),
        ("the file does", Align::Left),
    ]);
    for Comparison { what, outcome, expected, found } in *comparisons {
        let word = match outcome {
            Outcome::Same => "same",
            Outcome::Differs => "differs",
            Outcome::Unknown => "unknown",
            Outcome::Free => "free",
        };
        table.row(vec![word.to_owned(), what.clone(), expected.clone(), found.clone()]);
    }
    text.push_str(&table.render(|style| console.out_style(style)));
    let _ = match distance {
        Some(distance) => {
            let told = distance.told([&file.display().to_string(), spec], console);
            write!(text, "\nLikeness to upstream's text\n{told}")
        }
        None => writeln!(text, "\nUpstream's text is not at hand: --out names the library that the spec is of"),
    };
    let _ = writeln!(text, "\n{}", concluded(*conclusion, comparisons));
    for path in *written {
        let _ = writeln!(text, "Wrote {}", path.display());
    }
    text
}

/// The conclusion in a sentence.
fn concluded(conclusion: Conclusion, comparisons: &[Comparison]) -> String {
    let count = |counts: &dyn Fn(Outcome) -> bool| comparisons.iter().filter(|each| counts(each.outcome)).count();
    match conclusion {
        Conclusion::Fits => "Nothing that the spec says and that was tried differs.".to_owned(),
        Conclusion::Differs => "It is no implementation of the spec.".to_owned(),
        Conclusion::Unseen => {
            let demanded = count(&|outcome| outcome != Outcome::Free);
            let seen = demanded - count(&|outcome| outcome == Outcome::Unknown);
            format!("Not everything that the spec says could be seen: only {seen} of {demanded}.")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use netquarry_plugin::Placement;
    use serde_json::json;

    use super::*;
    use crate::console::{ColorChoice, Verbosity};

    /// A library whose manifest has these lines.
    fn library(lines: &[String]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(manifest::FILE_NAME), lines.concat()).unwrap();
        folder
    }

    fn line(block: &str, bundle: &str) -> String {
        let mut record = crate::findings::tests::library().remove(0);
        (record.block, record.bundle) = (block.to_owned(), Some(bundle.to_owned()));
        record.to_line() + "\n"
    }

    fn file(path: &str, content: &str, placement: Placement) -> EmittedFile {
        EmittedFile { path: path.to_owned(), content: content.into(), placement }
    }

    fn compared(outcomes: &[Outcome]) -> Vec<Comparison> {
        let comparison = |outcome: &Outcome| Comparison {
            what: "outputs".to_owned(),
            outcome: *outcome,
            expected: "yes".to_owned(),
            found: "it was not seen".to_owned(),
        };
        outcomes.iter().map(comparison).collect()
    }

    /// What is printed of comparisons, as text and as JSON.
    fn printed(comparisons: &[Comparison]) -> (String, serde_json::Value) {
        let conclusion = conclusion(comparisons);
        let registered = Registered {
            file: Path::new("mine.py"),
            class: "Mine",
            spec: "pack:pack.Halve",
            accepted: conclusion == Conclusion::Fits,
            conclusion,
            comparisons,
            level: 6,
            distance: None,
            written: &[],
        };
        let console = Console::new(Format::Human, Verbosity::Quiet, ColorChoice::Never);
        (text(&registered, &console), serde_json::to_value(&registered).unwrap())
    }

    #[test]
    fn what_was_not_seen_is_told_and_not_accepted() {
        let (text, json) = printed(&compared(&[Outcome::Same, Outcome::Unknown, Outcome::Unknown, Outcome::Free]));
        assert!(text.ends_with("\nNot everything that the spec says could be seen: only 1 of 3.\n"), "{text}");
        assert_eq!((&json["accepted"], &json["conclusion"]), (&json!(false), &json!("unseen")));
        let (text, json) = printed(&compared(&[Outcome::Same, Outcome::Free]));
        assert!(text.ends_with("\nNothing that the spec says and that was tried differs.\n"), "{text}");
        assert_eq!((&json["accepted"], &json["conclusion"]), (&json!(true), &json!("fits")));
        let (text, json) = printed(&compared(&[Outcome::Unknown, Outcome::Differs]));
        assert!(text.ends_with("\nIt is no implementation of the spec.\n"), "{text}");
        assert_eq!((&json["accepted"], &json["conclusion"]), (&json!(false), &json!("differs")));
    }

    #[test]
    fn the_bundle_of_a_block_is_found_in_its_library() {
        let lines = [line("pack:pack.A", "blocks/A.py"), line("pack:pack.B", "blocks/B.py")];
        let folder = library(&lines);
        let sought = |block: &str| upstream(block, folder.path()).unwrap();
        assert_eq!(sought("pack:pack.B"), None, "there is no such file yet");
        fs::create_dir(folder.path().join("blocks")).unwrap();
        fs::write(folder.path().join("blocks/B.py"), "").unwrap();
        assert_eq!(sought("pack:pack.B"), Some(folder.path().join("blocks/B.py")));
        assert_eq!(sought("pack:pack.C"), None);
        assert_eq!(upstream("pack:pack.B", &folder.path().join("nowhere")).unwrap(), None);
    }

    #[test]
    fn a_damaged_manifest_is_no_missing_block() {
        let lines = [line("pack:pack.A", "blocks/A.py"), "{}\n".to_owned(), line("pack:pack.B", "blocks/B.py")];
        let problem = upstream("pack:pack.B", library(&lines).path()).unwrap_err();
        assert!(problem.to_string().starts_with("Line 2 of"), "{problem}");
    }

    #[test]
    fn no_bundle_lies_outside_of_the_library() {
        let folder = tempfile::tempdir().unwrap();
        let outside = folder.path().join("outside.py");
        fs::write(&outside, "").unwrap();
        let out = folder.path().join("out");
        fs::create_dir(&out).unwrap();
        for bundle in ["../outside.py", outside.to_str().unwrap()] {
            fs::write(out.join(manifest::FILE_NAME), line("pack:pack.A", bundle)).unwrap();
            let problem = upstream("pack:pack.A", &out).unwrap_err();
            assert!(problem.to_string().ends_with("leads out of the library"), "{problem}");
        }
    }

    #[test]
    fn a_refusal_is_told_by_its_reason_alone() {
        let refused_blocks = [("local:Other", "too_large"), ("local:Mine", "no_gradient")]
            .map(|(id, reason)| json!({"id": id, "category": "pooling", "reason": reason}));
        let index = json!({"format": "netquarry-lemur/1", "models": [], "refused": refused_blocks}).to_string();
        let index = [file("notes.md", "# Notes", Placement::Whole), file("index.json", &index, Placement::Whole)];
        assert_eq!(reason(&index, "local:Neither"), None);
        let problem = refused(Path::new("mine.py"), "emit-lemur", reason(&index, "local:Mine").as_deref());
        assert_eq!(problem.to_string(), "`mine.py` fits the spec, and emit-lemur makes no model of it");
        let cause = problem.source().expect("the index has a reason");
        assert_eq!(cause.to_string(), "emit-lemur refuses it as `no_gradient`");
        assert!(refused(Path::new("mine.py"), "mine.wasm", None).source().is_none());
    }

    #[test]
    fn parts_of_a_file_are_put_together() {
        let folder = tempfile::tempdir().unwrap();
        let files = [
            file("chat/train.jsonl", "1\n", Placement::Appended),
            file("blocks/Mine.py", "pass\n", Placement::Whole),
            file("chat/train.jsonl", "2\n", Placement::Appended),
        ];
        let written = write(folder.path(), &files).unwrap();
        assert_eq!(written, ["blocks/Mine.py", "chat/train.jsonl"].map(|path| folder.path().join(path)));
        assert_eq!(fs::read_to_string(&written[1]).unwrap(), "1\n2\n");
    }
}
