//! Tables of comma-separated values, or of tab-separated ones, whose first line names the columns.

use std::fs::File;
use std::path::Path;

use csv::{ReaderBuilder, StringRecord};

use super::rows::{ACCURACY_COLUMN, CODE_COLUMNS, NAME_COLUMNS, Row};
use crate::problem::Problem;

/// Where the columns are that count.
struct Columns {
    name: Option<usize>,
    code: usize,
    accuracy: Option<usize>,
}

/// # Errors
/// The file cannot be opened, or has no column with code.
pub(super) fn rows(path: &Path, delimiter: u8) -> Result<impl Iterator<Item = Result<Row, Problem>>, Problem> {
    let file = File::open(path).map_err(|error| Problem::io("read", path, error))?;
    let mut reader = ReaderBuilder::new().delimiter(delimiter).buffer_capacity(1 << 20).from_reader(file);
    let unreadable =
        |error: csv::Error| Problem::new(format!("`{}` cannot be read as a table", path.display())).because(error);
    let columns = Columns::of(reader.headers().map_err(unreadable)?);
    let columns = columns.ok_or_else(|| {
        Problem::new(format!("`{}` has no column with code", path.display()))
            .help(format!("name it {} in the first line", CODE_COLUMNS.join(" or ")))
    })?;
    let mut is_over = false;
    let records = reader.into_records().take_while(move |record| {
        // Nothing comes behind what could not be read from the disk.
        !std::mem::replace(&mut is_over, record.as_ref().is_err_and(csv::Error::is_io_error))
    });
    Ok((0..).zip(records).map(move |(number, record)| {
        let refused = |why: String| Problem::new(format!("Row {number} of `{}` is no record: {why}", path.display()));
        columns.row(&record.map_err(|error| refused(error.to_string()))?).map_err(refused)
    }))
}

impl Columns {
    fn of(header: &StringRecord) -> Option<Self> {
        let first = |columns: &[&str]| columns.iter().find_map(|column| header.iter().position(|name| name == *column));
        Some(Self { name: first(&NAME_COLUMNS), code: first(&CODE_COLUMNS)?, accuracy: first(&[ACCURACY_COLUMN]) })
    }

    fn row(&self, record: &StringRecord) -> Result<Row, String> {
        let text = |column: Option<usize>| column.and_then(|column| record.get(column)).unwrap_or_default();
        let accuracy = Some(text(self.accuracy).trim()).filter(|accuracy| !accuracy.is_empty());
        let number = |text: &str| match text.parse::<f64>() {
            Ok(number) if number.is_nan() => Ok(None),
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(format!("its accuracy is no number but {text}")),
        };
        Ok(Row {
            name: text(self.name).to_owned(),
            code: text(Some(self.code)).to_owned(),
            accuracy: accuracy.map_or(Ok(None), number)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// The name, the code and the accuracy; or what is wrong.
    type Told = Result<(String, String, Option<f64>), String>;

    fn rows_of(bytes: &[u8]) -> Result<Vec<Told>, String> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        let shown = |problem: Problem| problem.to_string();
        let rows = rows(file.path(), b',').map_err(shown)?;
        Ok(rows.map(|row| row.map(|Row { name, code, accuracy }| (name, code, accuracy)).map_err(shown)).collect())
    }

    #[test]
    fn a_code_may_have_commas_lines_and_quotes() {
        let table = b"accuracy,code,nn\r\n0.5,\"class A:\n    x = \"\"a\"\", 1\n\",A\r\n,x,\n nan ,y,C\n";
        let rows = rows_of(table).unwrap().into_iter().map(Result::unwrap).collect::<Vec<_>>();
        let row = |name: &str, code: &str, accuracy| (name.to_owned(), code.to_owned(), accuracy);
        let expected = [row("A", "class A:\n    x = \"a\", 1\n", Some(0.5)), row("", "x", None), row("C", "y", None)];
        assert_eq!(rows, expected);
    }

    #[test]
    fn a_row_that_is_none_costs_itself_only() {
        let rows = rows_of(b"nn,code,accuracy\nA,x\nB,y,high\nC,\xff,1\nD,z,1\n").unwrap();
        let complaint = |row: usize| rows[row].clone().unwrap_err();
        assert!(complaint(0).contains("Row 0") && complaint(0).contains("fields"), "{}", complaint(0));
        assert!(complaint(1).ends_with("its accuracy is no number but high"), "{}", complaint(1));
        assert!(complaint(2).contains("UTF-8"), "{}", complaint(2));
        assert_eq!(rows[3], Ok(("D".to_owned(), "z".to_owned(), Some(1.0))));
    }

    #[test]
    fn a_table_without_code_is_refused() {
        assert!(rows_of(b"nn,text\nA,x\n").unwrap_err().contains("has no column with code"));
    }
}
