//! Models that are rows of a table.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::{Head, Models};
use crate::problem::Problem;
use crate::spool::{Spool, Spooled};

/// The columns in which the name of a model may stand, the first that there is; those of NN-DUP.
pub(super) const NAME_COLUMNS: [&str; 7] = ["nn", "nn_name", "model", "model_name", "name", "file", "filename"];
/// Likewise its code.
pub(super) const CODE_COLUMNS: [&str; 2] = ["nn_code", "code"];
pub(super) const ACCURACY_COLUMN: &str = "accuracy";

pub(super) struct Row {
    /// Empty where the table has none.
    pub(super) name: String,
    pub(super) code: String,
    pub(super) accuracy: Option<f64>,
}

/// The models of a table, in its order. Rows without code are none; they count, so that a model is `NAME#NUMBER`, with the
/// number of its row from 0.
pub(super) fn models(rows: impl Iterator<Item = Result<Row, Problem>>, spool: &Arc<Spool>) -> Result<Models, Problem> {
    let mut all = Models::none(spool);
    // Most rows of a table of runs have the code of others.
    let mut texts: HashMap<[u8; 32], Spooled<str>> = HashMap::new();
    for (number, row) in rows.enumerate() {
        let Row { name, code, accuracy } = match row {
            Ok(row) => row,
            Err(problem) => {
                all.unreadable.push(problem);
                continue;
            }
        };
        if code.trim().is_empty() {
            continue;
        }
        let digest: [u8; 32] = Sha256::digest(&code).into();
        let text = match texts.entry(digest) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => *new.insert(spool.put_text(&code)?),
        };
        let path = format!("{}__{number}.py", file_stem(&name));
        let block = format!("{name}#{number}");
        let head = Head { block, name, priority: 1, accuracy, path, number, ..Head::default() };
        all.add(&head, text, text.as_bytes())?;
    }
    Ok(all)
}

/// What of a name every file system takes.
pub fn file_stem(name: &str) -> String {
    let is_plain = |character: &char| character.is_ascii_alphanumeric() || "._-".contains(*character);
    let stem: String = name.trim().replace(' ', "_").chars().filter(is_plain).collect();
    if stem.is_empty() { "model".to_owned() } else { stem }
}
