//! Stage 7, second half: the files of the library.

use std::collections::BTreeMap;
use std::sync::Arc;

use netquarry_core::record::BlockRecord;
use netquarry_core::source::Source;
use netquarry_core::verdict::Level;
use netquarry_plugin::SpecEmitter;

use super::plugins::report_failures;
use crate::console::Console;
use crate::findings::{Findings, is_promoted, is_removed};
use crate::library::folder::{Content, Files};
use crate::library::{manifest, required};
use crate::report;

/// The texts of bundles by path relative to the output folder.
pub type BundleTexts = BTreeMap<String, Arc<str>>;

/// What the library is made of.
pub struct Library<'r, 'a> {
    pub corpus: &'a str,
    /// In the order of the corpus.
    pub sources: &'a [Source],
    /// Sorted by block.
    pub records: &'r [BlockRecord],
    pub texts: &'a BundleTexts,
    /// Versions of the environment by normalised distribution name.
    pub installed: &'a BTreeMap<String, String>,
    pub gate: Level,
    pub emitters: &'a [SpecEmitter],
}

/// Everything that stands in the output folder but for `run.json`, and what the records show.
pub fn files<'a>(console: &Console, library: &Library<'a, '_>) -> (Files<'a>, Findings) {
    let findings = Findings::of(library.records, library.gate);
    let records = library.records;
    let mut files: Files<'a> =
        library.texts.iter().map(|(path, text)| (path.clone(), Content::Text(Arc::clone(text)))).collect();
    let manifest = Content::Written(Box::new(|out| manifest::write(records, out)));
    files.insert(manifest::FILE_NAME.to_owned(), manifest);
    let mut add = |path: String, text: String| files.insert(path, Content::Bytes(text.into_bytes()));

    let required = required::required(library.records, library.sources, library.installed);
    let required = serde_json::to_string_pretty(&required).expect("names and versions are plain text");
    add(required::FILE_NAME.to_owned(), required + "\n");
    let names: Vec<String> = library.sources.iter().map(source_name).collect();
    let page = report::Page { corpus: library.corpus, sources: &names, findings: &findings, records: library.records };
    add(report::FILE_NAME.to_owned(), report::html(&page));

    let is_kept = |record: &&BlockRecord| is_promoted(record, library.gate) && !is_removed(record);
    let kept: Vec<&BlockRecord> = records.iter().filter(is_kept).collect();
    for emitter in library.emitters {
        let emission = emitter.emit(&kept);
        report_failures(console, &emission.failures);
        let folder = &emitter.plugin().name;
        let placed = emission.files.into_iter();
        files.extend(placed.map(|file| (format!("specs/{folder}/{}", file.path), Content::Bytes(file.content))));
    }
    (files, findings)
}

/// `timm 1.0.31`, `yolov5 at 3f2a...`.
fn source_name(source: &Source) -> String {
    match (&source.version, &source.commit) {
        (Some(version), _) => format!("{} {version}", source.name),
        (None, Some(commit)) => format!("{} at {}", source.name, &commit[..commit.len().min(12)]),
        (None, None) => source.name.clone(),
    }
}
