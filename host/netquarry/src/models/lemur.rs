//! The models of LEMUR, from its database: the trials that its own `data(only_best_accuracy=True)` gives, in its order.

use std::collections::HashMap;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::rows::Row;
use crate::problem::Problem;

const CODES: &str = "SELECT name, code FROM nn";

/// For each task, dataset, metric, model and epoch the trials of the best accuracy.
const BEST: &str = "
    SELECT trial.nn, trial.accuracy
    FROM stat AS trial
    JOIN (
        SELECT task, dataset, metric, nn, epoch, MAX(accuracy) AS accuracy
        FROM stat GROUP BY task, dataset, metric, nn, epoch
    ) AS best USING (task, dataset, metric, nn, epoch, accuracy)
    ORDER BY trial.task, trial.dataset, trial.metric, trial.nn, trial.epoch, trial.rowid";

/// The code of each model by its name, and the name and the accuracy of each trial.
type Contents = (HashMap<String, String>, Vec<(String, f64)>);

/// A trial whose model the database does not have is no row.
///
/// # Errors
/// The file is no database of LEMUR, or cannot be read.
pub(super) fn rows(path: &Path) -> Result<impl Iterator<Item = Result<Row, Problem>>, Problem> {
    let read = || -> rusqlite::Result<Contents> {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let mut codes = connection.prepare(CODES)?;
        let codes = codes.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<rusqlite::Result<_>>()?;
        let mut trials = connection.prepare(BEST)?;
        let trials = trials.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<rusqlite::Result<_>>()?;
        Ok((codes, trials))
    };
    let (codes, trials) = read().map_err(|error| {
        Problem::new(format!("`{}` cannot be read as a database of LEMUR", path.display()))
            .because(error)
            .help("it has the tables `nn`, with `name` and `code`, and `stat`, with a row for each trial")
    })?;
    Ok(trials.into_iter().filter_map(move |(name, accuracy)| {
        let code = codes.get(&name)?.clone();
        Some(Ok(Row { name, code, accuracy: Some(accuracy) }))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLES: &str = "
        CREATE TABLE nn (name TEXT PRIMARY KEY, code TEXT NOT NULL, id TEXT NOT NULL);
        CREATE TABLE stat (id TEXT PRIMARY KEY, accuracy REAL, epoch INTEGER, duration INTEGER, task TEXT, dataset TEXT,
            nn TEXT, transform TEXT, metric TEXT, prm TEXT);
        INSERT INTO nn VALUES ('Net', 'class Net: pass', '1'), ('Alt', 'class Alt: pass', '2');";

    #[test]
    fn the_best_trials_of_each_epoch_come_in_order() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let connection = Connection::open(file.path()).unwrap();
        connection.execute_batch(TABLES).unwrap();
        let trials =
            [("Net", 10, 0.5), ("Net", 10, 0.7), ("Net", 10, 0.7), ("Net", 9, 0.1), ("Gone", 1, 0.9), ("Alt", 3, 0.2)];
        for (id, (name, epoch, accuracy)) in (0_i64..).zip(trials) {
            let sql = "INSERT INTO stat VALUES (?1, ?2, ?3, 1, 'task', 'mnist', ?4, 'plain', 'acc', 'p')";
            connection.execute(sql, (id, accuracy, epoch, name)).unwrap();
        }
        let rows = rows(file.path()).unwrap().map(|row| row.unwrap());
        let rows: Vec<_> = rows.map(|Row { name, code, accuracy }| (name, code, accuracy.unwrap())).collect();
        let row = |name: &str, accuracy: f64| (name.to_owned(), format!("class {name}: pass"), accuracy);
        assert_eq!(rows, [row("Alt", 0.2), row("Net", 0.1), row("Net", 0.7), row("Net", 0.7)]);
    }

    #[test]
    fn another_file_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "no database").unwrap();
        let refused = rows(file.path()).map(|_| ()).unwrap_err().to_string();
        assert!(refused.contains("cannot be read as a database of LEMUR"), "{refused}");
    }
}
