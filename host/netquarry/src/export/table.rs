//! Blocks as rows of an Apache Parquet file.

use std::sync::Arc;

use netquarry_core::record::BlockRecord;
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use serde::Serialize;

use super::output::{NewFile, WrittenFile};
use super::terms::CodePolicy;
use crate::problem::Problem;

/// The key in a file's metadata under which its form stands, and the form.
pub const FORM_KEY: &str = "netquarry.form";
pub const FORM: &str = "blocks/1";
/// The key under which it stands of which blocks the code is there.
pub const CODE_KEY: &str = "netquarry.code";

/// The columns, in the order of [`cells`]. What is nested in a record is JSON text, which every reader of Parquet has.
const SCHEMA: &str = "message block {
    required binary id (STRING);
    required binary name (STRING);
    required binary category (STRING);
    required binary source (STRING);
    required binary source_kind (STRING);
    optional binary version (STRING);
    optional binary commit (STRING);
    required binary path (STRING);
    required int32 first_line;
    required int32 last_line;
    required binary swhid (STRING);
    optional binary license (STRING);
    required group requirements (LIST) { repeated group list { required binary element (STRING); } }
    required int32 level;
    required boolean tainted;
    optional int64 parameters;
    optional int64 flops;
    required binary constructor_arguments (STRING);
    required binary forward_arguments (STRING);
    required binary inputs (STRING);
    required binary outputs (STRING);
    required binary file (STRING);
    required binary sha256 (STRING);
    required int32 lines;
    optional binary code (STRING);
    optional binary code_left_out (STRING);
}";

/// A group of rows ends with the row that reaches this many bytes of text: what is held in memory at a time.
const GROUP_BYTES: usize = 16 << 20;
/// And with this many rows, so that readers that show a page need not read much.
const GROUP_ROWS: usize = 1000;

/// A table on its way to a file.
pub struct Table {
    writer: SerializedFileWriter<NewFile>,
    place: String,
    columns: Vec<Column>,
    /// In the group that is begun.
    rows: usize,
    bytes: usize,
    size: Size,
}

/// How large a table is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    pub rows: usize,
    /// Of its values, as they are before they are compressed.
    pub bytes: usize,
}

/// A row: a record and the code of its file, or why it is left out.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    pub record: &'a BlockRecord,
    pub code: Result<&'a str, &'a str>,
}

impl Table {
    /// Begins a table that is written into `file`.
    pub fn begin(file: NewFile, place: String, policy: CodePolicy) -> Result<Self, Problem> {
        let schema = Arc::new(parse_message_type(SCHEMA).expect("the schema is a constant"));
        let about = [(FORM_KEY, FORM), (CODE_KEY, policy.name())];
        let about = about.map(|(key, value)| KeyValue::new(key.to_owned(), value.to_owned())).to_vec();
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_key_value_metadata(Some(about))
            .build();
        let writer = SerializedFileWriter::new(file, schema, Arc::new(properties));
        let writer = writer.map_err(|error| unwritten(&place, error))?;
        Ok(Self { writer, place, columns: Vec::new(), rows: 0, bytes: 0, size: Size::default() })
    }

    /// Adds a row.
    pub fn push(&mut self, row: Row<'_>) -> Result<(), Problem> {
        let cells = cells(row);
        self.columns.resize_with(cells.len(), Column::default);
        let bytes: usize = self.columns.iter_mut().zip(cells).map(|(column, cell)| column.push(cell)).sum();
        (self.rows, self.bytes) = (self.rows + 1, self.bytes + bytes);
        (self.size.rows, self.size.bytes) = (self.size.rows + 1, self.size.bytes + bytes);
        if self.bytes >= GROUP_BYTES || self.rows >= GROUP_ROWS { self.end_group() } else { Ok(()) }
    }

    /// How large it is so far.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Ends the table and puts the file in its place.
    pub fn finish(mut self) -> Result<WrittenFile, Problem> {
        if self.rows > 0 {
            self.end_group()?;
        }
        self.writer.into_inner().map_err(|error| unwritten(&self.place, error))?.finish()
    }

    fn end_group(&mut self) -> Result<(), Problem> {
        let columns = std::mem::take(&mut self.columns);
        (self.rows, self.bytes) = (0, 0);
        let write = || {
            let mut group = self.writer.next_row_group()?;
            for column in columns {
                let mut writer = group.next_column()?.expect("there is a column of the schema for each cell");
                column.write(&mut writer)?;
                writer.close()?;
            }
            group.close().map(drop)
        };
        write().map_err(|error| unwritten(&self.place, error))
    }
}

fn unwritten(place: &str, error: ParquetError) -> Problem {
    Problem::new(format!("Could not write the table `{place}`"))
        .because(error)
        .help("make room, or choose another place with --out")
}

/// One value of a row.
enum Cell {
    Text(String),
    OptionalText(Option<String>),
    Texts(Vec<String>),
    Integer(i32),
    OptionalLong(Option<i64>),
    Flag(bool),
}

/// The values of a row, in the order of the columns.
fn cells(row: Row<'_>) -> Vec<Cell> {
    let Row { record, code } = row;
    let (source, evidence) = (&record.source, &record.evidence);
    let text = |text: &str| Cell::Text(text.to_owned());
    let optional = |text: Option<&str>| Cell::OptionalText(text.map(str::to_owned));
    let long = |number: Option<u64>| Cell::OptionalLong(number.map(|number| i64::try_from(number).unwrap_or(i64::MAX)));
    let integer = |number: u32| Cell::Integer(i32::try_from(number).unwrap_or(i32::MAX));
    vec![
        text(&record.block),
        text(&record.name),
        text(record.category.name()),
        text(&source.name),
        text(source.kind.name()),
        optional(source.version.as_deref()),
        optional(source.commit.as_deref()),
        text(&source.path),
        integer(source.lines[0]),
        integer(source.lines[1]),
        text(&record.swhid),
        optional(record.license.as_deref()),
        Cell::Texts(record.requirements.clone()),
        integer(record.level.into()),
        Cell::Flag(record.tainted),
        long(evidence.parameters),
        long(evidence.flops),
        Cell::Text(json(&evidence.constructor_arguments)),
        Cell::Text(json(&evidence.forward_arguments)),
        Cell::Text(json(&evidence.forward_inputs)),
        Cell::Text(json(&evidence.forward_outputs)),
        text(record.bundle.as_deref().expect("a promoted block has a file")),
        text(record.sha256.as_deref().expect("a promoted block has a file")),
        integer(record.lines.unwrap_or_default()),
        optional(code.ok()),
        optional(code.err()),
    ]
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("evidence has string keys")
}

/// The values of one column in a group of rows, with the levels by which Parquet tells nulls and lists.
#[derive(Default)]
struct Column {
    values: Values,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
}

#[derive(Default)]
enum Values {
    #[default]
    None,
    Texts(Vec<ByteArray>),
    Integers(Vec<i32>),
    Longs(Vec<i64>),
    Flags(Vec<bool>),
}

impl Column {
    /// Adds a value; how many bytes of text it has.
    fn push(&mut self, cell: Cell) -> usize {
        match cell {
            Cell::Text(text) => self.push_text(text),
            Cell::OptionalText(text) => {
                self.definitions.push(text.is_some().into());
                text.map_or(0, |text| self.push_text(text))
            }
            Cell::Texts(texts) => {
                if texts.is_empty() {
                    self.definitions.push(0);
                    self.repetitions.push(0);
                }
                (0..)
                    .zip(texts)
                    .map(|(place, text): (usize, _)| {
                        self.definitions.push(1);
                        self.repetitions.push((place > 0).into());
                        self.push_text(text)
                    })
                    .sum()
            }
            Cell::Integer(number) => self.push_integer(number),
            Cell::OptionalLong(number) => {
                self.definitions.push(number.is_some().into());
                number.map_or(0, |number| self.push_long(number))
            }
            Cell::Flag(flag) => self.push_flag(flag),
        }
    }

    fn push_text(&mut self, text: String) -> usize {
        let bytes = text.len();
        let text = ByteArray::from(text.into_bytes());
        match &mut self.values {
            Values::Texts(texts) => texts.push(text),
            other => *other = Values::Texts(vec![text]),
        }
        bytes
    }

    fn push_integer(&mut self, number: i32) -> usize {
        match &mut self.values {
            Values::Integers(numbers) => numbers.push(number),
            other => *other = Values::Integers(vec![number]),
        }
        size_of::<i32>()
    }

    fn push_long(&mut self, number: i64) -> usize {
        match &mut self.values {
            Values::Longs(numbers) => numbers.push(number),
            other => *other = Values::Longs(vec![number]),
        }
        size_of::<i64>()
    }

    fn push_flag(&mut self, flag: bool) -> usize {
        match &mut self.values {
            Values::Flags(flags) => flags.push(flag),
            other => *other = Values::Flags(vec![flag]),
        }
        1
    }

    fn write(self, writer: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let Self { values, definitions, repetitions } = self;
        let definitions = (!definitions.is_empty()).then_some(&definitions[..]);
        let repetitions = (!repetitions.is_empty()).then_some(&repetitions[..]);
        match values {
            Values::Texts(values) => writer.typed::<ByteArrayType>().write_batch(&values, definitions, repetitions),
            Values::Integers(values) => writer.typed::<Int32Type>().write_batch(&values, definitions, repetitions),
            Values::Longs(values) => writer.typed::<Int64Type>().write_batch(&values, definitions, repetitions),
            Values::Flags(values) => writer.typed::<BoolType>().write_batch(&values, definitions, repetitions),
            Values::None => write_nulls(writer, definitions, repetitions),
        }
        .map(drop)
    }
}

/// A column that has no value in any row of its group, which may be of either optional type.
fn write_nulls(
    writer: &mut SerializedColumnWriter<'_>,
    definitions: Option<&[i16]>,
    repetitions: Option<&[i16]>,
) -> Result<usize, ParquetError> {
    use parquet::column::writer::ColumnWriter;
    match writer.untyped() {
        ColumnWriter::Int64ColumnWriter(column) => column.write_batch(&[], definitions, repetitions),
        ColumnWriter::ByteArrayColumnWriter(column) => column.write_batch(&[], definitions, repetitions),
        _ => Err(ParquetError::General("a column that is required has no value".to_owned())),
    }
}
