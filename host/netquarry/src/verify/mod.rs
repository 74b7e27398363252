//! Whether a library, or what was exported of it, is still what its own records say.
//!
//! Checks read and never run anything. What cannot be read costs its own finding and nothing else; only where there is
//! nothing to check at all does a check end with a [`Problem`].

pub mod bill;
pub mod dataset;
pub mod library;
pub mod specs;
pub mod table;
pub mod upstream;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use netquarry_core::swhid::{CoreSwhid, ObjectType};
use serde::Serialize;

use crate::export::{card, dataset as exported};
use crate::library::manifest;
use crate::library::run_record;
use crate::problem::Problem;

/// What a finding is about. The names are a contract, as those of failures are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// `run.json` is missing, damaged, or of a run that did not end.
    RunRecord,
    /// A file is not there that a record names.
    MissingFile,
    /// A file is there and cannot be read.
    UnreadableFile,
    /// A file is not the one that was written.
    ChangedFile,
    /// A file that nobody recorded.
    UnrecordedFile,
    /// A record cannot be read, or contradicts itself.
    Record,
    /// Two records are of one block or one file.
    Duplicate,
    /// A file has another number of lines than its record says.
    Lines,
    /// An identifier of Software Heritage is none, or is that of another content.
    Swhid,
    /// A licence is no SPDX expression, or not the one that follows from the parts.
    License,
    /// A spec is no JSON, or not as its schema has it.
    Spec,
    /// Code is there that should be left out, or the other way round.
    Code,
    /// A block is on another side of the split than its file.
    Split,
    /// A card is damaged, or counts other rows than there are.
    Card,
    /// A bill of materials is not as CycloneDX has it.
    Bill,
    /// A bundle has another verdict than its record.
    Verdict,
}

impl Check {
    /// As it stands in reports: `changed_file`.
    pub fn name(self) -> &'static str {
        match self {
            Self::RunRecord => "run_record",
            Self::MissingFile => "missing_file",
            Self::UnreadableFile => "unreadable_file",
            Self::ChangedFile => "changed_file",
            Self::UnrecordedFile => "unrecorded_file",
            Self::Record => "record",
            Self::Duplicate => "duplicate",
            Self::Lines => "lines",
            Self::Swhid => "swhid",
            Self::License => "license",
            Self::Spec => "spec",
            Self::Code => "code",
            Self::Split => "split",
            Self::Card => "card",
            Self::Bill => "bill",
            Self::Verdict => "verdict",
        }
    }

    /// Whether it is only to be known: a file that a user has put there is no fault.
    pub fn is_warning(self) -> bool {
        self == Self::UnrecordedFile
    }

    /// What to do about it.
    fn help(self) -> &'static str {
        match self {
            Self::RunRecord | Self::MissingFile | Self::UnreadableFile | Self::ChangedFile | Self::Lines => {
                "make it anew with the command that made it, or have it once more from where you have it from"
            }
            Self::UnrecordedFile => "nothing, where you have put it there; else do not trust it",
            Self::Record | Self::Duplicate => "`netquarry run` writes the records anew",
            Self::Swhid => "`netquarry run` writes the records anew; do not cite the identifier until then",
            Self::License => "do not rely on this licence: `netquarry run` determines it anew",
            Self::Spec => "`netquarry run` writes the specs anew",
            Self::Code | Self::Split | Self::Card | Self::Bill => "`netquarry export` writes it anew",
            Self::Verdict => {
                "`netquarry validate FILE` tells more; another torch, Python or machine may be the reason, and \
                 `netquarry run --retry-failed` makes records that hold here"
            }
        }
    }
}

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub check: Check,
    pub is_warning: bool,
    /// A path in what was checked, or a line of it: `manifest.jsonl:12`.
    pub place: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<String>,
    /// A sentence without its full stop.
    pub what: String,
    pub help: &'static str,
}

/// What was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    Library,
    Dataset,
    Table,
    BillOfMaterials,
}

impl Subject {
    pub fn name(self) -> &'static str {
        match self {
            Self::Library => "library",
            Self::Dataset => "dataset",
            Self::Table => "table",
            Self::BillOfMaterials => "bill of materials",
        }
    }

    /// What lies at a path.
    ///
    /// # Errors
    /// Nothing, or nothing that this program writes.
    pub fn of(path: &Path) -> Result<Self, Problem> {
        let extension = path.extension().and_then(|extension| extension.to_str());
        let about = fs::metadata(path).map_err(|error| Problem::io("find", path, error))?;
        let has_card = || fs::read_to_string(path.join(exported::CARD)).is_ok_and(|text| card::looks_ours(&text));
        match extension {
            Some("parquet") if about.is_file() => Ok(Self::Table),
            Some("json") if about.is_file() => Ok(Self::BillOfMaterials),
            _ if about.is_dir() && (manifest::is_in(path) || path.join(run_record::FILE_NAME).is_file()) => {
                Ok(Self::Library)
            }
            _ if about.is_dir() && has_card() => Ok(Self::Dataset),
            _ => Err(Problem::new(format!("`{}` is nothing that netquarry writes", path.display()))
                .because(
                    "it is no library, no dataset with a card, no table (.parquet) and no bill of materials (.json)",
                )
                .help("name the folder of a library, or what `netquarry export` wrote")),
        }
    }
}

/// What was found, and how much was checked.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// Things that were checked, by what was counted.
    pub counts: BTreeMap<&'static str, usize>,
    pub findings: Vec<Finding>,
}

impl Report {
    /// Adds something that is not as it should be.
    pub fn find(&mut self, check: Check, place: impl Into<String>, block: Option<&str>, what: impl Into<String>) {
        self.findings.push(Finding {
            check,
            is_warning: check.is_warning(),
            place: place.into(),
            block: block.map(str::to_owned),
            what: what.into(),
            help: check.help(),
        });
    }

    /// So many more of these were checked.
    pub fn count(&mut self, what: &'static str, number: usize) {
        *self.counts.entry(what).or_default() += number;
    }

    /// Those that are no warnings.
    pub fn faults(&self) -> usize {
        self.findings.iter().filter(|finding| !finding.is_warning).count()
    }
}

/// Whether a text is `swh:1:cnt:` and forty hexadecimal digits.
fn is_swhid_of_content(text: &str) -> bool {
    text.parse::<CoreSwhid>().is_ok_and(|swhid| swhid.object == ObjectType::Content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_reports() {
        for check in [Check::RunRecord, Check::UnrecordedFile, Check::Swhid, Check::Verdict] {
            assert_eq!(serde_json::to_value(check).unwrap(), check.name());
        }
    }

    #[test]
    fn identifiers_of_contents_have_one_form() {
        let digest = "928c6b26e88d876258a62d30b0e982d9504af484";
        assert!(is_swhid_of_content(&format!("swh:1:cnt:{digest}")));
        for wrong in [
            digest.to_owned(),
            format!("swh:1:rev:{digest}"),
            format!("swh:1:cnt:{}", digest.to_uppercase()),
            format!("swh:1:cnt:{digest}0"),
        ] {
            assert!(!is_swhid_of_content(&wrong), "{wrong}");
        }
    }

    #[test]
    fn what_is_none_of_ours_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Subject::of(folder.path()).unwrap_err().help_text().is_some());
        assert!(Subject::of(&folder.path().join("nowhere")).is_err());
        fs::write(folder.path().join(manifest::FILE_NAME), "").unwrap();
        assert_eq!(Subject::of(folder.path()).unwrap(), Subject::Library);
    }
}
