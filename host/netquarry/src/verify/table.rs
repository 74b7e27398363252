//! The checks of a table that an export wrote.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use netquarry_core::license;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row};
use parquet::schema::types::Type;

use super::{Check, Report, is_swhid_of_content};
use crate::curation::Split;
use crate::export::blocks::sha256;
use crate::export::table::{CODE_KEY, FORM, FORM_KEY};
use crate::export::terms::CodePolicy;
use crate::problem::Problem;

/// The columns that are read.
const COLUMNS: [&str; 8] = ["id", "path", "swhid", "license", "sha256", "lines", "code", "code_left_out"];

/// What holds over all rows, of one table or of several.
#[derive(Default)]
pub(super) struct Rows {
    identities: BTreeSet<String>,
    /// Of the blocks whose code is there.
    pub(super) licenses_of_code: BTreeSet<Option<String>>,
}

/// Checks a table by itself.
///
/// # Errors
/// It is no table of ours.
pub fn verify(path: &Path) -> Result<Report, Problem> {
    let mut report = Report::default();
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let refused = |why: String| {
        Problem::new(format!("`{}` cannot be checked", path.display()))
            .because(why)
            .help("name a table that `netquarry export` wrote; where this is one, it is damaged: export it again")
    };
    Rows::default().table(path, &name, None, &mut report).map_err(refused)?;
    Ok(report)
}

/// What a row has of [`COLUMNS`].
#[derive(Default)]
struct Checked {
    id: String,
    path: String,
    swhid: String,
    license: Option<String>,
    sha256: String,
    lines: i64,
    code: Option<String>,
    left_out: Option<String>,
}

impl Rows {
    /// Checks the rows of a table that is called `place`, and is of one side of a split where there is one; how many there
    /// are. A row that cannot be read is a finding, and the last one: behind it the reader does not find the next.
    pub(super) fn table(
        &mut self,
        path: &Path,
        place: &str,
        side: Option<Split>,
        report: &mut Report,
    ) -> Result<usize, String> {
        let file = File::open(path).map_err(|error| error.to_string())?;
        let reader = SerializedFileReader::new(file).map_err(|error| error.to_string())?;
        let about = reader.metadata().file_metadata();
        let stated = |key: &str| {
            let all = about.key_value_metadata()?;
            all.iter().find(|pair| pair.key == key)?.value.clone()
        };
        if stated(FORM_KEY).as_deref() != Some(FORM) {
            return Err(format!("its metadata do not say `{FORM_KEY}: {FORM}`"));
        }
        let policy = stated(CODE_KEY).and_then(|name| CodePolicy::named(&name));
        let policy =
            policy.ok_or_else(|| format!("its metadata do not say for which licences it has code, as `{CODE_KEY}`"))?;
        let projection = projection(about.schema()).map_err(|error| error.to_string())?;
        let rows = RowIter::from_file_into(Box::new(reader)).project(Some(projection));
        let mut count = 0;
        for row in rows.map_err(|error| error.to_string())? {
            let place = format!("{place}:{count}");
            let checked = row.map_err(|error| error.to_string()).and_then(checked);
            match checked {
                Ok(row) => self.row(&row, &place, policy, side, report),
                Err(error) => {
                    let what = format!("The row cannot be read, nor what follows it: {error}");
                    report.find(Check::UnreadableFile, place, None, what);
                    break;
                }
            }
            count += 1;
        }
        report.count("rows", count);
        Ok(count)
    }

    fn row(&mut self, row: &Checked, place: &str, policy: CodePolicy, side: Option<Split>, report: &mut Report) {
        let block = Some(row.id.as_str());
        if !self.identities.insert(row.id.clone()) {
            report.find(Check::Duplicate, place, block, "An earlier row is of the same block");
        }
        if !is_swhid_of_content(&row.swhid) {
            report.find(Check::Swhid, place, block, format!("`{}` is no identifier of a content", row.swhid));
        }
        if let Some(license) = row.license.as_deref().filter(|license| license::expression(license).is_none()) {
            report.find(Check::License, place, block, format!("`{license}` is no SPDX expression"));
        }
        let own = crate::export::dataset::split(&row.path);
        if side.is_some_and(|side| side != own) {
            let own = crate::export::dataset::name(own);
            report.find(Check::Split, place, block, format!("Blocks of `{}` are for {own}", row.path));
        }
        if row.code.is_some() {
            self.licenses_of_code.insert(row.license.clone());
        }
        code(row, place, policy, report);
    }
}

fn code(row: &Checked, place: &str, policy: CodePolicy, report: &mut Report) {
    let block = Some(row.id.as_str());
    let refusal = policy.refusal(row.license.as_deref());
    let Some(code) = &row.code else {
        let what = match (&row.left_out, refusal) {
            (Some(_), Some(_)) => return,
            (None, _) => "There is no code, and no reason why".to_owned(),
            (Some(reason), None) => {
                format!("There is no code because {reason}, and `--code {}` has it", policy.name())
            }
        };
        return report.find(Check::Code, place, block, what);
    };
    report.count("codes", 1);
    if sha256(code.as_bytes()) != row.sha256 {
        return report.find(Check::ChangedFile, place, block, "The code has another digest than `sha256` says");
    }
    let lines = code.lines().count();
    if i64::try_from(lines) != Ok(row.lines) {
        report.find(Check::Lines, place, block, format!("The code has {lines} lines, and `lines` says {}", row.lines));
    }
    if row.left_out.is_some() {
        report.find(Check::Code, place, block, "There is code, and a reason why it is left out");
    } else if let Some(reason) = refusal {
        let what = format!("There is code that `--code {}` leaves out: {reason}", policy.name());
        report.find(Check::Code, place, block, what);
    }
}

fn projection(schema: &Type) -> Result<Type, ParquetError> {
    let wanted = schema.get_fields().iter().filter(|field| COLUMNS.contains(&field.name())).map(Arc::clone);
    Type::group_type_builder(schema.name()).with_fields(wanted.collect()).build()
}

fn checked(row: Row) -> Result<Checked, String> {
    let mut checked = Checked::default();
    for (column, field) in row.into_columns() {
        match (column.as_str(), field) {
            ("id", Field::Str(text)) => checked.id = text,
            ("path", Field::Str(text)) => checked.path = text,
            ("swhid", Field::Str(text)) => checked.swhid = text,
            ("license", Field::Str(text)) => checked.license = Some(text),
            ("sha256", Field::Str(text)) => checked.sha256 = text,
            ("lines", Field::Int(number)) => checked.lines = number.into(),
            ("code", Field::Str(text)) => checked.code = Some(text),
            ("code_left_out", Field::Str(text)) => checked.left_out = Some(text),
            ("license" | "code" | "code_left_out", Field::Null) => {}
            (column, _) => return Err(format!("`{column}` has another type than it should")),
        }
    }
    Ok(checked)
}

#[cfg(test)]
mod tests {
    use netquarry_core::record::BlockRecord;

    use super::*;
    use crate::export::blocks::is_promoted;
    use crate::export::output::NewFile;
    use crate::export::table::{Row as Written, Table};

    const CODE: &str = "import torch\n";

    /// A record whose file holds [`CODE`].
    fn record() -> BlockRecord {
        let mut record = crate::findings::tests::library().into_iter().find(is_promoted).expect("there is one");
        (record.sha256, record.lines) = (Some(sha256(CODE.as_bytes())), Some(1));
        record.swhid = format!("swh:1:cnt:{}", "0".repeat(40));
        record.license = Some("MIT".to_owned());
        record
    }

    fn found(records: &[BlockRecord], code: Result<&str, &str>) -> Vec<Check> {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("blocks.parquet");
        let name = place.display().to_string();
        let mut table = Table::begin(NewFile::begin(&place).unwrap(), name, CodePolicy::Permissive).unwrap();
        records.iter().for_each(|record| table.push(Written { record, code }).unwrap());
        table.finish().unwrap();
        let report = verify(&place).unwrap();
        assert_eq!(report.counts["rows"], records.len());
        report.findings.into_iter().map(|finding| finding.check).collect()
    }

    #[test]
    fn each_change_of_a_row_is_found_as_what_it_is() {
        type Change = fn(&mut BlockRecord);
        let cases: [(Change, &[Check]); 7] = [
            (|_| {}, &[]),
            (|record| record.sha256 = Some("00".to_owned()), &[Check::ChangedFile]),
            (|record| record.lines = Some(2), &[Check::Lines]),
            (|record| record.swhid.push('0'), &[Check::Swhid]),
            (|record| record.license = Some("GPL-3.0-only".to_owned()), &[Check::Code]),
            (|record| record.license = None, &[Check::Code]),
            (|record| record.license = Some("MIT AND".to_owned()), &[Check::License, Check::Code]),
        ];
        for (number, (change, expected)) in cases.into_iter().enumerate() {
            let mut record = record();
            change(&mut record);
            assert_eq!(found(&[record], Ok(CODE)), expected, "case {number}");
        }
        assert_eq!(found(&[record(), record()], Ok(CODE)), [Check::Duplicate]);
        assert_eq!(found(&[record()], Err("its licence is not known")), [Check::Code]);
        let unknown = BlockRecord { license: None, ..record() };
        assert_eq!(found(&[unknown], Err("its licence is not known")), []);
    }

    #[test]
    fn a_block_on_the_side_of_another_file_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("blocks.parquet");
        let (record, mut report) = (record(), Report::default());
        let mut table = Table::begin(NewFile::begin(&place).unwrap(), "-".to_owned(), CodePolicy::All).unwrap();
        table.push(Written { record: &record, code: Ok(CODE) }).unwrap();
        table.finish().unwrap();
        let own = crate::export::dataset::split(&record.source.path);
        let other = Split::ALL.into_iter().find(|split| *split != own);
        for (side, count) in [(Some(own), 0), (None, 0), (other, 1)] {
            Rows::default().table(&place, "-", side, &mut report).unwrap();
            let found = report.findings.drain(..).filter(|finding| finding.check == Check::Split).count();
            assert_eq!(found, count, "{side:?}");
        }
    }
}
