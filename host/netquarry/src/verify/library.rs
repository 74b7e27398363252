//! The checks of a library: its files beside `run.json`, its bundles and records beside each other.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader};
use std::path::Path;

use netquarry_core::license;
use netquarry_core::record::{BlockRecord, ClosureRecord};
use netquarry_core::swhid::{CoreSwhid, InvalidSwhid, ObjectType, Qualifiers, Swhid};
use netquarry_core::verdict::Verdict;
use sha2::{Digest as _, Sha256};

use super::upstream::Upstream;
use super::{Check, Report, specs};
use crate::export::blocks::{place, sha256};
use crate::findings::is_removed;
use crate::library::bundles::BundleFolder;
use crate::library::folder::hexadecimal;
use crate::library::manifest;
use crate::library::run_record::{self, RunRecord, State};

/// Checks the library in a folder. `upstream` has the files that its sources are known to have.
pub fn verify(folder: &Path, upstream: &Upstream) -> Report {
    let mut report = Report::default();
    let recorded = run_record(folder, &mut report);
    let mut records = Records::new(folder, upstream);
    records.all(&mut report);
    let Records { files: bundles, .. } = records;
    if let Some(recorded) = &recorded {
        files(folder, recorded, &bundles, &mut report);
        unrecorded(folder, recorded, &bundles, &mut report);
    }
    specs::verify(folder, &mut report);
    report
}

fn run_record(folder: &Path, report: &mut Report) -> Option<RunRecord> {
    let found = RunRecord::read(folder);
    match found {
        Ok(Some(record)) => {
            match record.state {
                State::Unfinished => {
                    report.find(Check::RunRecord, run_record::FILE_NAME, None, "The last run did not end");
                }
                State::Redeciding => {
                    let what = "The last `dedup run --apply` did not end: it goes on when it is given again";
                    report.find(Check::RunRecord, run_record::FILE_NAME, None, what);
                }
                State::Finished | State::Extended => {}
            }
            Some(record)
        }
        Ok(None) => {
            let what = "There is no record of a run, so that no file can be compared with what was written";
            report.find(Check::RunRecord, run_record::FILE_NAME, None, what);
            None
        }
        Err(problem) => {
            report.find(Check::RunRecord, run_record::FILE_NAME, None, problem.to_string());
            None
        }
    }
}

/// What has been seen of the files that records name: the digest of each, or none where it has a finding already.
type Bundles = BTreeMap<String, Option<String>>;

/// The checks of records, one after the other.
struct Records<'a> {
    folder: &'a Path,
    upstream: &'a Upstream,
    identities: BTreeSet<String>,
    files: Bundles,
    /// What is said first of a file, by its SHA-1.
    swhids: HashMap<String, CoreSwhid>,
}

impl<'a> Records<'a> {
    fn new(folder: &'a Path, upstream: &'a Upstream) -> Self {
        Self { folder, upstream, identities: BTreeSet::new(), files: Bundles::new(), swhids: HashMap::new() }
    }

    fn all(&mut self, report: &mut Report) {
        let path = self.folder.join(manifest::FILE_NAME);
        let lines = match File::open(&path) {
            Ok(file) => BufReader::new(file).lines(),
            Err(error) => return unreadable(report, manifest::FILE_NAME, None, &error),
        };
        for (number, line) in (1..).zip(lines) {
            let place = format!("{}:{number}", manifest::FILE_NAME);
            let line = match line {
                Ok(line) => line,
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    report.find(Check::Record, place, None, "The line is not UTF-8");
                    continue;
                }
                Err(error) => return unreadable(report, manifest::FILE_NAME, None, &error),
            };
            report.count("records", 1);
            match serde_json::from_str::<BlockRecord>(&line) {
                Ok(record) => self.record(&place, &record, report),
                Err(error) => report.find(Check::Record, place, None, format!("It is no record of a block: {error}")),
            }
        }
    }

    fn record(&mut self, place: &str, record: &BlockRecord, report: &mut Report) {
        let block = Some(record.block.as_str());
        if !self.identities.insert(record.block.clone()) {
            report.find(Check::Duplicate, place, block, "An earlier line is a record of the same block");
        }
        if let Some(bundle) = &record.bundle {
            self.bundle(place, record, bundle, report);
        }
        level(place, record, report);
        self.definitions(place, record, report);
        self.swhid(place, record, report);
        licenses(place, record, report);
    }

    fn bundle(&mut self, place_of_record: &str, record: &BlockRecord, bundle: &str, report: &mut Report) {
        let block = Some(record.block.as_str());
        if (BundleFolder::of(bundle) == Some(BundleFolder::Duplicates)) != is_removed(record) {
            let what =
                format!("Its file is `{bundle}`, where it would not lie by what is decided about its duplicates");
            report.find(Check::Record, place_of_record, block, what);
        }
        let (Some(expected), Some(lines)) = (&record.sha256, record.lines) else {
            let what = format!("It names `{bundle}`, and not what is in it");
            return report.find(Check::Record, place_of_record, block, what);
        };
        let Some(path) = place(self.folder, bundle) else {
            let what = format!("`{bundle}` is no path in the library");
            return report.find(Check::Record, place_of_record, block, what);
        };
        if self.files.contains_key(bundle) {
            let what = format!("An earlier record has the file `{bundle}`, too");
            return report.find(Check::Duplicate, place_of_record, block, what);
        }
        report.count("bundles", 1);
        self.files.insert(bundle.to_owned(), None);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) => return unreadable(report, bundle, block, &error),
        };
        let digest = sha256(&bytes);
        if digest != *expected {
            return report.find(Check::ChangedFile, bundle, block, "It is not the file that its record has");
        }
        let found = String::from_utf8_lossy(&bytes).lines().count();
        if found != lines as usize {
            let what = format!("`{bundle}` has {found} lines, and its record says {lines}");
            report.find(Check::Lines, place_of_record, block, what);
        }
        self.files.insert(bundle.to_owned(), Some(digest));
    }

    fn swhid(&mut self, place: &str, record: &BlockRecord, report: &mut Report) {
        report.count("swhids", 1);
        let source = &record.source;
        let content = record.swhid.parse::<CoreSwhid>().ok().filter(|core| core.object == ObjectType::Content);
        let checked = match content {
            Some(core) => self.content(core, [&source.name, &source.path, &source.sha1], report),
            None => Err(format!("`{}` is no identifier of a content", record.swhid)),
        };
        if let Err(what) = checked {
            report.find(Check::Swhid, place, Some(&record.block), what);
        }
    }

    /// Every definition says by itself which lines of which file it is, and of which source.
    fn definitions(&mut self, place: &str, record: &BlockRecord, report: &mut Report) {
        report.count("definitions", record.closure.len());
        for closed in &record.closure {
            let checked = definition(record, closed)
                .and_then(|core| self.content(core, [closed.source(), &closed.path, &closed.sha1], report));
            if let Err(what) = checked {
                let what = format!("`{}`: {what}", closed.definition);
                report.find(Check::Swhid, place, Some(&record.block), what);
            }
        }
    }

    /// Compares an identifier with that of upstream's file, by source, path and SHA-1, or else with what was said of the
    /// same file before.
    fn content(&mut self, stated: CoreSwhid, file: [&str; 3], report: &mut Report) -> Result<(), String> {
        let upstream = self.upstream.swhid(file);
        if upstream.is_some() {
            report.count("swhids compared with upstream's file", 1);
        }
        let first = *self.swhids.entry(file[2].to_owned()).or_insert(stated);
        let (expected, whose) = match upstream {
            Some(swhid) => (swhid, "upstream's file has"),
            None => (first, "the same file has elsewhere"),
        };
        if expected == stated { Ok(()) } else { Err(format!("It says {stated}, and {whose} {expected}")) }
    }
}

/// The content that a definition is in.
fn definition(record: &BlockRecord, closed: &ClosureRecord) -> Result<CoreSwhid, String> {
    let swhid: Swhid = closed.swhid.parse().map_err(|error: InvalidSwhid| error.to_string())?;
    let [first, last] = closed.lines;
    let source = record.sources.iter().find(|source| source.name == closed.source());
    let Some(source) = source else {
        return Err(format!("the record does not say what the source `{}` is", closed.source()));
    };
    let expected = Qualifiers {
        origin: source.origin.clone(),
        visit: None,
        anchor: source.revision.as_ref().or(source.directory.as_ref()).and_then(|anchor| anchor.parse().ok()),
        path: Some(format!("/{}", closed.path)),
        lines: Some((first, (last != first).then_some(last))),
    };
    if swhid.core.object == ObjectType::Content && swhid.qualifiers == expected {
        Ok(swhid.core)
    } else {
        Err(format!("{} does not name its file, lines or source", closed.swhid))
    }
}

/// The level of a record follows from its outcomes.
fn level(place: &str, record: &BlockRecord, report: &mut Report) {
    let level = Verdict { outcomes: record.levels.clone(), ..Verdict::default() }.level();
    if level != record.level {
        let what = format!("`level` is {}, and its outcomes make it {level}", record.level);
        report.find(Check::Record, place, Some(&record.block), what);
    }
}

fn licenses(place: &str, record: &BlockRecord, report: &mut Report) {
    let block = Some(record.block.as_str());
    report.count("licences", 1);
    let all = record.closure.iter().map(|closed| closed.license.as_deref()).chain([record.license.as_deref()]);
    let invalid: BTreeSet<&str> = all.flatten().filter(|text| license::expression(text).is_none()).collect();
    for text in &invalid {
        report.find(Check::License, place, block, format!("`{text}` is no SPDX expression"));
    }
    // A block that could not be assembled has no definitions that its licence would follow from.
    if record.closure.is_empty() || !invalid.is_empty() {
        return;
    }
    let expected = license::conjunction(record.closure.iter().map(|closed| closed.license.as_deref()));
    if expected != record.license {
        let told = |license: &Option<String>| license.clone().unwrap_or_else(|| "not known".to_owned());
        let what = format!(
            "The licence is {}, and that of its definitions together is {}",
            told(&record.license),
            told(&expected)
        );
        report.find(Check::License, place, block, what);
    }
}

/// Every file of `run.json`. Those of records have been read: what was found there is not told twice.
fn files(folder: &Path, recorded: &RunRecord, bundles: &Bundles, report: &mut Report) {
    for (path, expected) in &recorded.files {
        report.count("files", 1);
        let digest = match bundles.get(path) {
            Some(None) => continue,
            Some(Some(digest)) => Ok(digest.clone()),
            None => match place(folder, path) {
                Some(place) => digest_of_file(&place),
                None => {
                    report.find(
                        Check::RunRecord,
                        run_record::FILE_NAME,
                        None,
                        format!("`{path}` is no path in the library"),
                    );
                    continue;
                }
            },
        };
        match digest {
            Ok(digest) if digest == *expected => {}
            Ok(_) => report.find(Check::ChangedFile, path, None, "It is not the file that the run wrote"),
            // That there are no records has been told.
            Err(_) if path == manifest::FILE_NAME && !manifest::is_in(folder) => {}
            Err(error) => unreadable(report, path, None, &error),
        }
    }
}

/// Files that neither `run.json` nor a record names.
fn unrecorded(folder: &Path, recorded: &RunRecord, bundles: &Bundles, report: &mut Report) {
    for path in walk(folder) {
        let is_known =
            path == run_record::FILE_NAME || recorded.files.contains_key(&path) || bundles.contains_key(&path);
        if !is_known {
            report.find(Check::UnrecordedFile, path, None, "Nobody recorded this file");
        }
    }
}

/// Every file below a folder, by its path there, sorted. What cannot be looked into has no files.
pub(super) fn walk(folder: &Path) -> BTreeSet<String> {
    let mut files = BTreeSet::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                waiting.push(entry.path());
            } else if let Ok(relative) = entry.path().strip_prefix(folder) {
                files.insert(relative.to_string_lossy().into_owned());
            }
        }
    }
    files
}

/// Tells a file that is not there from one that cannot be read.
pub(super) fn unreadable(report: &mut Report, place: &str, block: Option<&str>, error: &io::Error) {
    if error.kind() == io::ErrorKind::NotFound {
        report.find(Check::MissingFile, place, block, "The file is not there");
    } else {
        report.find(Check::UnreadableFile, place, block, format!("The file cannot be read: {error}"));
    }
}

pub(super) fn digest_of_file(path: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    io::copy(&mut File::open(path)?, &mut hash)?;
    Ok(hexadecimal(&hash.finalize()))
}
