//! Tables in Apache Parquet. Columns within columns are none.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::Repetition;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row as Record};
use parquet::schema::types::Type;

use super::rows::{ACCURACY_COLUMN, CODE_COLUMNS, NAME_COLUMNS, Row};
use crate::problem::Problem;

/// The names of the columns that count.
struct Columns {
    name: Option<String>,
    code: String,
    has_accuracy: bool,
}

/// Reads no other columns than those that count, and one row after the other.
///
/// # Errors
/// The file cannot be opened, is no Parquet, or has no column with code.
pub(super) fn rows(path: &Path) -> Result<impl Iterator<Item = Result<Row, Problem>>, Problem> {
    let file = File::open(path).map_err(|error| Problem::io("read", path, error))?;
    let unreadable =
        |error: ParquetError| Problem::new(format!("`{}` cannot be read as Parquet", path.display())).because(error);
    let reader = SerializedFileReader::new(file).map_err(unreadable)?;
    let schema = reader.metadata().file_metadata().schema();
    let columns = Columns::of(schema).ok_or_else(|| {
        Problem::new(format!("`{}` has no column with code", path.display()))
            .help(format!("name it {}", CODE_COLUMNS.join(" or ")))
    })?;
    let projection = columns.projection(schema).map_err(unreadable)?;
    let records = RowIter::from_file_into(Box::new(reader)).project(Some(projection)).map_err(unreadable)?;
    let mut is_over = false;
    let records = records.take_while(move |record| {
        // Behind a page that cannot be read, or a text that is none, the reader does not find the next row.
        !std::mem::replace(&mut is_over, record.is_err())
    });
    Ok((0..).zip(records).map(move |(number, record)| {
        let refused = |why: String| Problem::new(format!("Row {number} of `{}` is no record: {why}", path.display()));
        columns
            .row(record.map_err(|error| refused(format!("it cannot be read ({error}), nor what follows it")))?)
            .map_err(refused)
    }))
}

impl Columns {
    fn of(schema: &Type) -> Option<Self> {
        let is_there =
            |column: &str| schema.get_fields().iter().any(|field| is_single(field) && field.name() == column);
        let first =
            |columns: &[&str]| columns.iter().find(|column| is_there(column)).map(|column| (*column).to_owned());
        Some(Self { name: first(&NAME_COLUMNS), code: first(&CODE_COLUMNS)?, has_accuracy: is_there(ACCURACY_COLUMN) })
    }

    fn is_wanted(&self, column: &str) -> bool {
        column == self.code || self.name.as_deref() == Some(column) || self.has_accuracy && column == ACCURACY_COLUMN
    }

    /// The schema without the other columns.
    fn projection(&self, schema: &Type) -> Result<Type, ParquetError> {
        let wanted = schema.get_fields().iter().filter(|field| self.is_wanted(field.name())).map(Arc::clone);
        Type::group_type_builder(schema.name()).with_fields(wanted.collect()).build()
    }

    fn row(&self, record: Record) -> Result<Row, String> {
        let mut row = Row { name: String::new(), code: String::new(), accuracy: None };
        for (column, field) in record.into_columns() {
            if column == self.code {
                row.code = text(field).map_err(|field| format!("its code is no text but {field}"))?;
            } else if column == ACCURACY_COLUMN {
                row.accuracy = number(&field)?;
            } else {
                row.name = text(field).unwrap_or_else(|field| field.to_string());
            }
        }
        Ok(row)
    }
}

/// Whether each row has one value at most.
fn is_single(field: &Type) -> bool {
    field.is_primitive() && field.get_basic_info().repetition() != Repetition::REPEATED
}

/// Empty for a null, as in other tables; text that is not marked as such has to be UTF-8.
fn text(field: Field) -> Result<String, Field> {
    match field {
        Field::Null => Ok(String::new()),
        Field::Str(text) => Ok(text),
        Field::Bytes(bytes) => match bytes.as_utf8() {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Err(Field::Bytes(bytes)),
        },
        other => Err(other),
    }
}

fn number(field: &Field) -> Result<Option<f64>, String> {
    let number = match field {
        Field::Null => return Ok(None),
        Field::Double(number) => *number,
        Field::Float(number) => f64::from(*number),
        Field::Float16(number) => f64::from(*number),
        // Integers and decimals, which are written as they are read.
        other => other.to_string().parse().map_err(|_| format!("its accuracy is no number but {other}"))?,
    };
    Ok((!number.is_nan()).then_some(number))
}

#[cfg(test)]
mod tests {
    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::*;

    /// The name, the code and the accuracy; or what is wrong.
    type Told = Result<(String, String, Option<f64>), String>;

    fn rows_of(path: &Path) -> Result<Vec<Told>, String> {
        let shown = |problem: Problem| problem.to_string();
        let rows = rows(path).map_err(shown)?;
        Ok(rows.map(|row| row.map(|Row { name, code, accuracy }| (name, code, accuracy)).map_err(shown)).collect())
    }

    /// A file with a column of numbers, one of codes and one of accuracies, in which those that are `None` are null.
    fn file(message: &str, codes: &[Option<&[u8]>], accuracies: &[Option<f64>]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        let schema = Arc::new(parse_message_type(message).unwrap());
        let properties = Arc::new(WriterProperties::builder().build());
        let mut writer = SerializedFileWriter::new(file.reopen().unwrap(), schema, properties).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let numbers: Vec<i32> = (7..).take(codes.len()).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int32Type>().write_batch(&numbers, None, None).unwrap();
        column.close().unwrap();
        let values: Vec<ByteArray> = codes.iter().flatten().map(|code| ByteArray::from(*code)).collect();
        let levels: Vec<i16> = codes.iter().map(|code| code.is_some().into()).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None).unwrap();
        column.close().unwrap();
        let values: Vec<f64> = accuracies.iter().flatten().copied().collect();
        let levels: Vec<i16> = accuracies.iter().map(|accuracy| accuracy.is_some().into()).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(&values, Some(&levels), None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
        file
    }

    const MODELS: &str =
        "message models { required int32 nn; optional binary nn_code (UTF8); optional double accuracy; }";

    #[test]
    fn columns_are_those_of_other_tables() {
        let file = file(MODELS, &[Some(b"class A: pass\n"), None, Some(b"x")], &[Some(0.5), Some(f64::NAN), None]);
        let row = |name: &str, code: &str, accuracy| Ok((name.to_owned(), code.to_owned(), accuracy));
        let expected = vec![row("7", "class A: pass\n", Some(0.5)), row("8", "", None), row("9", "x", None)];
        assert_eq!(rows_of(file.path()), Ok(expected));
    }

    #[test]
    fn text_need_not_be_marked_but_has_to_be_text() {
        let message = MODELS.replace(" (UTF8)", "");
        let found = rows_of(file(&message, &[Some(b"x"), Some(b"\xff")], &[None, None]).path()).unwrap();
        assert_eq!(found[0], Ok(("7".to_owned(), "x".to_owned(), None)));
        assert!(found[1].as_ref().unwrap_err().contains("Row 1"), "{found:?}");
    }

    #[test]
    fn what_is_no_table_of_models_is_refused() {
        let message = MODELS.replace("nn_code", "text");
        assert!(rows_of(file(&message, &[None], &[None]).path()).unwrap_err().contains("has no column with code"));
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "nn,nn_code\n").unwrap();
        assert!(rows_of(file.path()).unwrap_err().contains("cannot be read as Parquet"));
    }

    /// A file that was cut in its pages, with its end as it was.
    #[test]
    fn a_damaged_page_ends_the_table_once() {
        let code = "x".repeat(5000);
        let file = file(MODELS, &[Some(code.as_bytes()); 3], &[None; 3]);
        let mut bytes = std::fs::read(file.path()).unwrap();
        bytes[4..60].fill(0xff);
        std::fs::write(file.path(), bytes).unwrap();
        let problems = match rows_of(file.path()) {
            Err(problem) => vec![problem],
            Ok(rows) => rows.into_iter().filter_map(Result::err).collect(),
        };
        assert_eq!(problems.len(), 1, "{problems:?}");
    }
}
