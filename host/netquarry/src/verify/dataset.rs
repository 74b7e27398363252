//! The checks of a dataset: its tables beside its card.

use std::fs;
use std::path::Path;

use super::library::{digest_of_file, unreadable, walk};
use super::table::Rows;
use super::{Check, Report};
use crate::curation::Split;
use crate::export::blocks::place;
use crate::export::card::{self, FrontMatter};
use crate::export::dataset::{CARD, name};
use crate::library::notice;

/// Checks the dataset in a folder.
pub fn verify(folder: &Path) -> Report {
    let mut report = Report::default();
    let head = match fs::read_to_string(folder.join(CARD)) {
        Ok(text) => card::read(&text),
        Err(error) => {
            unreadable(&mut report, CARD, None, &error);
            return report;
        }
    };
    let Some(head) = head else {
        report.find(Check::Card, CARD, None, "Its head cannot be read, so that no table can be compared with it");
        return report;
    };
    let mut rows = Rows::default();
    for split in &head.dataset_info.splits {
        side(folder, &head, &split.name, split.num_examples, &mut rows, &mut report);
    }
    let stated = card::hub_licenses(&rows.licenses_of_code);
    // A table that cannot be read to its end has licences that nobody has seen.
    if report.faults() == 0 && head.license != stated {
        let what =
            format!("Its `license` is {}, and that of the code is {}", head.license.join(", "), stated.join(", "));
        report.find(Check::Card, CARD, None, what);
    }
    notice(folder, &head, &mut report);
    let files = head.configs.iter().flat_map(|config| &config.data_files);
    let named: Vec<&str> = files.map(|file| file.path.as_str()).chain([CARD, notice::FILE_NAME]).collect();
    for path in walk(folder).into_iter().filter(|path| !named.contains(&path.as_str())) {
        report.find(Check::UnrecordedFile, path, None, "The card does not name this file");
    }
    report
}

/// Checks that the notice is the one that the card names.
fn notice(folder: &Path, head: &FrontMatter, report: &mut Report) {
    match digest_of_file(&folder.join(notice::FILE_NAME)) {
        Ok(digest) if digest == head.notice_sha256 => {}
        Ok(_) => report.find(Check::ChangedFile, notice::FILE_NAME, None, "It is not the notice that the card names"),
        Err(error) => unreadable(report, notice::FILE_NAME, None, &error),
    }
}

/// Checks the table of a side.
fn side(folder: &Path, head: &FrontMatter, side: &str, stated: usize, rows: &mut Rows, report: &mut Report) {
    let mut files = head.configs.iter().flat_map(|config| &config.data_files);
    let file = files.find(|file| file.split == side).map(|file| file.path.as_str());
    let Some((file, path)) = file.and_then(|file| Some((file, place(folder, file)?))) else {
        return report.find(Check::Card, CARD, None, format!("It counts rows of `{side}` and names no table of it"));
    };
    if !path.is_file() {
        return report.find(Check::MissingFile, file, None, "The file is not there");
    }
    report.count("tables", 1);
    let split = Split::ALL.into_iter().find(|split| name(*split) == side);
    match rows.table(&path, file, split, report) {
        Ok(found) if found == stated => {}
        Ok(found) => {
            report.find(
                Check::Card,
                CARD,
                None,
                format!("It says that `{side}` has {stated} rows, and there are {found}"),
            );
        }
        Err(why) => report.find(Check::UnreadableFile, file, None, format!("The table cannot be read: {why}")),
    }
}
