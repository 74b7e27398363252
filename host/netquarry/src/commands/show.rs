//! `netquarry show BLOCK`

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use netquarry_core::record::{BlockRecord, ClosureRecord, DedupOutcome, EditRecord};
use serde::Serialize;

use super::Ending;
use super::listing::held_back;
use super::tree;
use crate::arguments::ShowArguments;
use crate::console::{Console, Format};
use crate::driver::select::{depth, is_whole, means, similar};
use crate::findings::{Judged, level_name};
use crate::library::folder::place_of_bundle;
use crate::library::manifest;
use crate::problem::Problem;
use crate::quantity::human_things;
use crate::table::{FAINT, HEADING, STRONG};
use crate::verdict_text::verdict_text;

#[derive(Serialize)]
struct Shown<'a> {
    code: Option<&'a str>,
    record: &'a BlockRecord,
}

pub(super) fn show(arguments: &ShowArguments, out: &Path, console: &Console) -> Result<Ending, Problem> {
    let (out, record) = found(&arguments.block, out)?;
    let (out, record) = (&out, &record);
    let code = match &record.bundle {
        Some(bundle) => {
            let path = out.join(bundle);
            Some(fs::read_to_string(&path).map_err(|error| Problem::io("read the bundle", &path, error))?)
        }
        None => None,
    };
    match (console.format, &code) {
        (Format::Json, code) => console.print_json(&Shown { code: code.as_deref(), record })?,
        (Format::Human, Some(code)) if arguments.code => console.print(code)?,
        (Format::Human, None) if arguments.code => {
            return Err(
                Problem::new(format!("`{}` has no file in the library", record.block)).help(why_no_file(record))
            );
        }
        (Format::Human, code) => console.print(&human(record, code.as_deref(), out, console))?,
    }
    Ok(Ending::Done)
}

/// The block that a name or the path of a file means, with the folder of its library: that of the file, or else `out`.
pub(super) fn found(block: &str, out: &Path) -> Result<(PathBuf, BlockRecord), Problem> {
    let file = Path::new(block);
    let bundle = place_of_bundle(file);
    let is_path = file.components().count() > 1 || file.extension().is_some_and(|extension| extension == "py");
    if bundle.is_none() && is_path {
        return Err(Problem::new(format!("`{}` is no file of a library", file.display()))
            .help("name a block, or a file in the `blocks`, `duplicates` or `failed` folder of a library"));
    }
    let out = bundle.as_ref().map_or(out, |(library, _)| library).to_owned();
    let is_meant = |record: &BlockRecord| match &bundle {
        Some((_, bundle)) => record.bundle.as_deref().map(Path::new) == Some(bundle),
        None => means(block, &record.block),
    };
    // Of the others only the names are kept.
    let (mut found, mut others) = (Vec::new(), Vec::new());
    for record in manifest::read_existing(&out)? {
        let record = record?;
        match is_meant(&record) {
            true => found.push(record),
            false => others.push((record.name, record.block)),
        }
    }
    let whole = |record: &BlockRecord| is_whole(block, &record.block);
    match (found.iter().position(whole), found.len()) {
        (Some(place), _) => Ok((out, found.swap_remove(place))),
        (None, 1) => Ok((out, found.swap_remove(0))),
        (None, 0) => {
            let blocks = others.iter().map(|(name, block)| (name.as_str(), block.as_str()));
            let help = match &similar(block, blocks)[..] {
                [] => "`netquarry extract` adds one; manifest.jsonl and report.html list what is there".to_owned(),
                similar => format!("did you mean {}?", similar.join(", ")),
            };
            Err(Problem::new(format!("The library in `{}` has no block `{block}`", out.display())).help(help))
        }
        (None, _) => Err(ambiguous(block, &found)),
    }
}

fn ambiguous(name: &str, found: &[BlockRecord]) -> Problem {
    let mut blocks: Vec<&str> = found.iter().map(|record| record.block.as_str()).collect();
    blocks.sort_by_key(|block| (depth(block), *block));
    let names: Vec<String> = blocks.into_iter().map(|block| format!("\n  {block}")).collect();
    Problem::new(format!("`{name}` is the name of {} blocks", found.len()))
        .help(format!("give one of these:{}", names.concat()))
}

fn why_no_file(record: &BlockRecord) -> String {
    match record.dedup.as_ref().and_then(|decision| decision.survivor.as_ref()) {
        Some(survivor) => {
            format!("it is a duplicate of {survivor}; `netquarry extract {}` writes it all the same", record.block)
        }
        None => "no bundle could be assembled; `netquarry show` without --code says why".to_owned(),
    }
}

fn human(record: &BlockRecord, code: Option<&str>, out: &Path, console: &Console) -> String {
    let (heading, strong, faint) = (console.out_style(HEADING), console.out_style(STRONG), console.out_style(FAINT));
    let mut text = String::new();
    match code {
        // Its first line names the block.
        Some(code) => text.push_str(code),
        None => {
            let _ = writeln!(text, "{strong}{}{strong:#}\n\nNo file: {}", record.block, why_no_file(record));
        }
    }
    let mut section = |title: &str, body: String| {
        if !body.is_empty() {
            let _ = write!(text, "\n{heading}{title}{heading:#}\n{body}");
        }
    };
    section("Closure", tree::render(&record.closure, |words| format!("{faint}{words}{faint:#}")));
    section("Verdict", verdict_text(&Judged::from(record)));
    section("Provenance", provenance(record, out));
    let operators = record.operator_imports.iter().map(|package| format!("  import {package}\n"));
    section("Imported for compiled operators alone", operators.collect());
    section(
        "Unresolved",
        record
            .unresolved
            .iter()
            .map(|name| format!("  {} at {}: {}\n", name.name, name.upstream, name.message))
            .collect(),
    );
    let replaced = record.replaced.iter().map(|each| match one_line(&each.by).as_str() {
        "" => format!("  {} left out: {} ({})\n", each.what, each.why, each.plugin),
        by => format!("  {} by {by}: {} ({})\n", each.what, each.why, each.plugin),
    });
    section("Replaced or left out by shims", replaced.collect());
    section("Edits", record.edits.iter().map(|edit| edited(edit, record)).collect());
    text
}

/// An edit in one line.
fn edited(edit: &EditRecord, record: &BlockRecord) -> String {
    let EditRecord { upstream, before, lines, after, reason } = edit;
    let what = match (before.trim(), after.trim()) {
        // The whole definition that begins there.
        ("", "") => {
            let begins = |closed: &&ClosureRecord| format!("{}:{}", closed.path, closed.lines[0]) == *upstream;
            let lines =
                record.closure.iter().find(begins).map(|closed| (closed.lines[1] - closed.lines[0] + 1) as usize);
            lines.map_or("indented".to_owned(), |lines| format!("indented, {}", human_things(lines, "line")))
        }
        (old, new) if old.split_whitespace().eq(new.split_whitespace()) => {
            format!("indented, {}", human_things(old.lines().count(), "line"))
        }
        ("", new) => format!("added {}", first_line(new, new.lines().count())),
        (old, "" | "pass") => format!("left out {}", first_line(old, *lines as usize)),
        (old, new) => {
            format!("{} became {}", first_line(old, *lines as usize), first_line(new, new.lines().count()))
        }
    };
    format!("  {upstream}: {what}: {reason}\n")
}

/// `` `if a:` …(+2 lines) `` of a text of so many lines, without blanks around it
fn first_line(text: &str, lines: usize) -> String {
    let first = text.lines().next().unwrap_or_default().trim_end();
    match lines.saturating_sub(1) {
        0 => format!("`{first}`"),
        rest => format!("`{first}` …(+{})", human_things(rest, "line")),
    }
}

fn provenance(record: &BlockRecord, out: &Path) -> String {
    let source = &record.source;
    let version = source.version.as_deref().or(source.commit.as_deref()).unwrap_or("");
    let [first, last] = source.lines;
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(text, "  {name:<12}  {value}");
        }
    };
    line("source", format!("{} {version}", source.name).trim());
    line("place", &format!("{}, lines {first} to {last}", source.path));
    line("swhid", &record.swhid);
    line("licence", record.license.as_deref().unwrap_or("not known"));
    line("held back", &record.license_policy.as_ref().map(held_back).unwrap_or_default());
    for source in record.sources.iter().filter(|source| source.name != record.source.name) {
        let version = source.version.as_deref().or(source.commit.as_deref()).unwrap_or("");
        line("also from", format!("{} {version}", source.name).trim());
    }
    line("category", record.category.name());
    line("discovered", &record.discovered_by);
    line("requires", &record.requirements.join(", "));
    let installed = record.installed.iter().map(|it| format!("{} {}", it.name, it.version)).collect::<Vec<_>>();
    line("installed", &installed.join(", "));
    line("level", &level_name(record.level));
    line("file", &record.bundle.as_ref().map(|bundle| out.join(bundle).display().to_string()).unwrap_or_default());
    line("sha256", record.sha256.as_deref().unwrap_or(""));
    if let Some(decision) = &record.dedup {
        let words = match (decision.decision, &decision.survivor) {
            (DedupOutcome::Removed, Some(survivor)) => {
                format!("{}, stands behind {survivor}", decision.reason.as_deref().unwrap_or("duplicate"))
            }
            (DedupOutcome::Removed, None) => "removed".to_owned(),
            (DedupOutcome::Kept, _) => "unique".to_owned(),
        };
        line("dedup", &words);
    }
    text
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_is_told_in_one_line() {
        let mut record = crate::findings::tests::library().remove(1);
        record.closure.push(ClosureRecord {
            definition: "timm:timm.layers.x.helper".to_owned(),
            path: "timm/layers/x.py".to_owned(),
            lines: [12, 20],
            sha1: String::new(),
            swhid: String::new(),
            license: None,
            needed_by: None,
            reference: None,
            confidence: None,
        });
        let told = |before: &str, after: &str| {
            let (before, after) = (before.to_owned(), after.to_owned());
            let lines = u32::try_from(before.lines().count()).unwrap();
            let upstream = "timm/layers/x.py:12".to_owned();
            edited(&EditRecord { upstream, before, lines, after, reason: "why".into() }, &record)
        };
        let lines = [
            told("a", "b"),
            told("try:\n    import a\nexcept ImportError:\n    a = None", "import a\nimport b"),
            told("", "        "),
            told("a\n  b\n", "    a\n      b\n"),
            told("", "pass"),
            told("x = 1\n", ""),
            told("def f(self):\n    return 1\n", "pass"),
        ];
        insta::assert_snapshot!(lines.concat());
    }
}
