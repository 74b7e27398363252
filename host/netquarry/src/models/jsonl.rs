//! Tables of one JSON object a line.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use serde_json::{Map, Value};

use super::rows::{ACCURACY_COLUMN, CODE_COLUMNS, NAME_COLUMNS, Row};
use crate::problem::Problem;

/// Empty lines are no rows.
///
/// # Errors
/// The file cannot be opened.
pub(super) fn rows(path: &Path) -> Result<impl Iterator<Item = Result<Row, Problem>>, Problem> {
    let file = File::open(path).map_err(|error| Problem::io("read", path, error))?;
    let lines = BufReader::with_capacity(1 << 20, file).lines();
    let lines = (1..).zip(lines).filter(|(_, line)| !line.as_ref().is_ok_and(|line| line.trim().is_empty()));
    Ok(lines.map(move |(number, line)| {
        let line = line.map_err(|error| Problem::io("read", path, error))?;
        let refused = |why: String| Problem::new(format!("Line {number} of `{}` is no record: {why}", path.display()));
        let object: Map<String, Value> = serde_json::from_str(&line).map_err(|error| refused(error.to_string()))?;
        row(object).map_err(refused)
    }))
}

fn row(mut object: Map<String, Value>) -> Result<Row, String> {
    let mut first = |columns: &[&str]| columns.iter().find_map(|column| object.remove(*column));
    let name = match first(&NAME_COLUMNS) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(name)) => name,
        Some(other) => other.to_string(),
    };
    let code = match first(&CODE_COLUMNS) {
        Some(Value::String(code)) => code,
        Some(Value::Null) => String::new(),
        Some(other) => return Err(format!("its code is no text but {other}")),
        None => return Err(format!("it has none of the keys {}", CODE_COLUMNS.join(", "))),
    };
    let accuracy = match object.remove(ACCURACY_COLUMN) {
        None | Some(Value::Null) => None,
        Some(number) => Some(number.as_f64().ok_or_else(|| format!("its accuracy is no number but {number}"))?),
    };
    Ok(Row { name, code, accuracy })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row_of(text: &str) -> Result<(String, String, Option<f64>), String> {
        row(serde_json::from_str(text).unwrap()).map(|Row { name, code, accuracy }| (name, code, accuracy))
    }

    #[test]
    fn columns_are_those_of_nn_dup() {
        let first = r#"{"name": "later", "nn": "first", "nn_code": "x", "code": "y", "accuracy": 0.5}"#;
        assert_eq!(row_of(first), Ok(("first".to_owned(), "x".to_owned(), Some(0.5))));
        assert_eq!(row_of(r#"{"code": "y", "nn": 7, "accuracy": null}"#), Ok(("7".to_owned(), "y".to_owned(), None)));
        assert_eq!(row_of(r#"{"nn": "a"}"#), Err("it has none of the keys nn_code, code".to_owned()));
        assert_eq!(row_of(r#"{"code": [], "nn": "a"}"#), Err("its code is no text but []".to_owned()));
        assert_eq!(
            row_of(r#"{"code": "", "accuracy": "high"}"#).unwrap_err(),
            "its accuracy is no number but \"high\""
        );
    }
}
