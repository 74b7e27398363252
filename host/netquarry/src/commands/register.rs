//! `netquarry register FILE --spec SPEC`: an implementation that somebody or something wrote from a spec.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use netquarry_core::shim::BlockArguments;
use netquarry_core::verdict::Level;
use serde::Serialize;

use super::dedup::{Distance, distance};
use super::{Ending, validate};
use crate::arguments::RegisterArguments;
use crate::configuration::Settings;
use crate::console::{Console, Format};
use crate::driver::plugins::Plugins;
use crate::library::manifest;
use crate::models::Models;
use crate::problem::Problem;
use crate::registration::compare::{Comparison, Outcome, compare};
use crate::registration::record;
use crate::registration::spec::{self, Spec};
use crate::spool::Spool;
use crate::table::{Align, STRONG, Table};

/// What writes models for LEMUR.
const EMITTER: &str = "emit-lemur";

#[derive(Serialize)]
struct Registered<'a> {
    file: &'a Path,
    class: &'a str,
    /// The block whose spec it implements.
    spec: &'a str,
    /// Nothing differs from what the spec says.
    accepted: bool,
    comparisons: &'a [Comparison],
    level: u8,
    /// How far its text is from upstream's; null where upstream's is not at hand.
    distance: Option<&'a Distance>,
    /// What was written for LEMUR.
    written: &'a [PathBuf],
}

pub(super) fn register(
    arguments: &RegisterArguments,
    settings: &Settings,
    console: &Console,
) -> Result<Ending, Problem> {
    let spec = Spec::read(&arguments.spec)?;
    let settings = &Settings { level: Level::Backward, ..settings.clone() };
    let given = given(&spec, console);
    let implementation = validate::implementation(&arguments.file, given, &arguments.requirements, settings, console)?;
    let (file, class) = (implementation.file.clone(), implementation.class.clone());
    let level = implementation.verdict.level();
    let comparisons = compare(&spec, &implementation.verdict);
    let accepted = comparisons.iter().all(|each| each.outcome != Outcome::Differs);
    let distance = upstream(&spec, settings)?.map(|upstream| distance_from(&file, &upstream, settings)).transpose()?;
    let written = match &arguments.models {
        Some(models) if accepted => write(models, &spec, implementation, arguments.license.as_deref(), settings)?,
        Some(_) | None => Vec::new(),
    };
    let registered = Registered {
        file: &file,
        class: &class,
        spec: &spec.id,
        accepted,
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
fn upstream(spec: &Spec, settings: &Settings) -> Result<Option<PathBuf>, Problem> {
    if !manifest::is_in(&settings.out) {
        return Ok(None);
    }
    let mut records = manifest::read_existing(&settings.out)?;
    let record = records.find(|record| record.as_ref().is_ok_and(|record| record.block == spec.id)).transpose()?;
    let bundle = record.and_then(|record| record.bundle);
    Ok(bundle.map(|bundle| settings.out.join(bundle)).filter(|file| file.is_file()))
}

fn distance_from(file: &Path, upstream: &Path, settings: &Settings) -> Result<Distance, Problem> {
    let spool = Arc::new(Spool::new(&settings.cache_dir)?);
    distance([Models::single(file, &spool)?, Models::single(upstream, &spool)?], settings, &spool)
}

/// Has the emitter make a model of it, and writes what comes of that.
fn write(
    models: &Path,
    spec: &Spec,
    implementation: validate::Implementation,
    license: Option<&str>,
    settings: &Settings,
) -> Result<Vec<PathBuf>, Problem> {
    let code = fs::read_to_string(&implementation.file)
        .map_err(|error| Problem::io("read", &implementation.file, error).help("save it as UTF-8"))?;
    let what = format!("`{}` fits the spec and cannot be made an image classifier", implementation.file.display());
    let validate::Implementation { file, class, packages, verdict } = implementation;
    let implementation = record::Implementation { file: &file, class, code: &code, packages: &packages, verdict };
    let record = record::of(spec, implementation, license);
    let emitter = Plugins::load_emitter(settings, EMITTER)?;
    let mut emission = emitter.start();
    let files = emission.accept(&record, emitter.ask(&record, Some(&code)));
    let (index, failures) = emission.finish();
    if let Some(failure) = failures.first() {
        return Err(failure.into());
    }
    if files.is_empty() {
        let refused = String::from_utf8_lossy(index.first().map_or(&[], |index| &index.content)).into_owned();
        return Err(Problem::new(what).because(refused).help("leave out --models to compare it only"));
    }
    let mut written = Vec::new();
    for file in files {
        let path = models.join(&file.path);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, &file.content));
        made.map_err(|error| Problem::io("write the model", &path, error))?;
        written.push(path);
    }
    Ok(written)
}

fn text(registered: &Registered<'_>, console: &Console) -> String {
    let strong = console.out_style(STRONG);
    let Registered { file, class, spec, accepted, comparisons, distance, written, .. } = registered;
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
        Some(distance) => write!(text, "\nLikeness to upstream's text\n{}", distance.told(console)),
        None => writeln!(text, "\nUpstream's text is not at hand: --out names the library that the spec is of"),
    };
    let verdict = if *accepted { "It does what the spec says." } else { "It is no implementation of the spec." };
    let _ = writeln!(text, "\n{verdict}");
    for path in *written {
        let _ = writeln!(text, "Wrote {}", path.display());
    }
    text
}
