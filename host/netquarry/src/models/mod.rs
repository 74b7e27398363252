//! Models of any origin, for `netquarry dedup`: a library, a folder of Python files, or a table with a code in each row.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use netquarry_core::dedup::Code;
use netquarry_core::record::DedupDecision;
use serde::{Deserialize, Serialize};

use crate::driver::curate::{Contender, Contenders};
use crate::library::manifest;
use crate::problem::Problem;
use crate::spool::{Spool, Spooled, SpooledCode};

mod csv;
mod files;
mod jsonl;
mod lemur;
mod nn_dataset;
mod parquet;
mod rows;

pub use rows::file_stem;

/// What was found, with all of it in the spool.
struct Model {
    head: Spooled<Head>,
    text: Spooled<str>,
    /// Its file, to the byte.
    file: Spooled<[u8]>,
}

/// What there is of a model beside its code.
#[derive(Default, Serialize, Deserialize)]
pub struct Head {
    /// Its identity.
    pub block: String,
    pub name: String,
    source: String,
    priority: u32,
    level: u8,
    accuracy: Option<f64>,
    /// Where in the text the code starts.
    code_start: usize,
    /// Where it goes below `kept/`.
    pub path: String,
    /// Its place in the input, counted from 0 over what is no model too.
    pub number: usize,
}

pub struct Models {
    spool: Arc<Spool>,
    models: Vec<Model>,
    /// Files and rows that could not be read; the others are deduplicated all the same.
    pub unreadable: Vec<Problem>,
    /// What the library has decided about each; `None` where they come from elsewhere.
    pub decided: Option<Decided>,
}

/// What a library has decided about its promoted blocks, by block; of one that `extract` added it may have decided nothing.
pub type Decided = BTreeMap<String, Option<DedupDecision>>;

impl Contenders for Models {
    fn count(&self) -> usize {
        self.models.len()
    }

    fn contender(&self, place: usize) -> Contender {
        let text = SpooledCode { spool: Arc::clone(&self.spool), text: self.models[place].text };
        let Head { block, name, source, priority, level, accuracy, code_start, .. } = self.head(place);
        Contender { block, name, source, priority, level, accuracy, code: Code::behind(text, code_start) }
    }
}

impl Models {
    /// The models in a file or a folder, in an order that depends on nothing else.
    ///
    /// # Errors
    /// It is nothing of what is told above, or cannot be read at all.
    pub fn read(input: &Path, spool: &Arc<Spool>) -> Result<Self, Problem> {
        if !input.is_file() {
            return match manifest::read(input)? {
                Some(records) => files::of_library(input, records, spool),
                None => files::below(input, spool),
            };
        }
        let extension = input.extension().map(|extension| extension.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            Some("jsonl" | "ndjson") => rows::models(jsonl::rows(input)?, spool),
            Some("csv") => rows::models(csv::rows(input, b',')?, spool),
            Some("tsv") => rows::models(csv::rows(input, b'\t')?, spool),
            Some("parquet") => rows::models(parquet::rows(input)?, spool),
            Some("db" | "sqlite" | "sqlite3") => rows::models(lemur::rows(input)?, spool),
            Some("whl") => rows::models(nn_dataset::rows(input)?, spool),
            _ => Err(Problem::new(format!("`{}` is no table that NetQuarry reads", input.display())).help(
                "name a file that ends in .jsonl, .csv, .tsv or .parquet, a database of LEMUR (.db), a wheel of nn-dataset, or \
                     a folder: a library, or one with Python files",
            )),
        }
    }

    /// The model in a Python file, which may be a bundle.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn single(path: &Path, spool: &Arc<Spool>) -> Result<Contender, Problem> {
        Ok(Self::of(spool, std::iter::once(Ok(files::single(path)?)))?.contender(0))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.models.is_empty()
    }

    /// The file of the model at a place, to the byte.
    pub fn file(&self, place: usize) -> Spooled<[u8]> {
        self.models[place].file
    }

    /// What there is of the model at a place beside its code; nothing where the spool cannot be read, which it tells.
    pub fn head(&self, place: usize) -> Head {
        self.spool.value_or_default(self.models[place].head)
    }

    /// What there is of each model beside its code, in their order.
    ///
    /// # Errors
    /// The spool cannot be read.
    pub fn heads(&self) -> Result<Vec<Head>, Problem> {
        self.models.iter().map(|model| self.spool.value(model.head)).collect()
    }

    /// Leaves those whose names are wanted.
    pub fn retain(&mut self, is_wanted: impl Fn(&str) -> bool) {
        let spool = &self.spool;
        self.models.retain(|model| is_wanted(&spool.value_or_default(model.head).name));
    }

    fn none(spool: &Arc<Spool>) -> Self {
        Self { spool: Arc::clone(spool), models: Vec::new(), unreadable: Vec::new(), decided: None }
    }

    fn add(&mut self, head: &Head, text: Spooled<str>, file: Spooled<[u8]>) -> Result<(), Problem> {
        self.models.push(Model { head: self.spool.put_value(head)?, text, file });
        Ok(())
    }

    fn of(spool: &Arc<Spool>, found: impl Iterator<Item = Result<Found, Problem>>) -> Result<Self, Problem> {
        let mut all = Self::none(spool);
        for (number, found) in found.enumerate() {
            match found {
                Ok(Found { head, bytes }) => {
                    // What is not UTF-8 is replaced, since only the tokens count.
                    let text = String::from_utf8_lossy(&bytes);
                    let is_whole = matches!(text, Cow::Borrowed(_));
                    let text = spool.put_text(&text)?;
                    let file = if is_whole { text.as_bytes() } else { spool.put(&bytes)? };
                    all.add(&Head { number, ..head }, text, file)?;
                }
                Err(problem) => all.unreadable.push(problem),
            }
        }
        Ok(all)
    }
}

/// A model whose file was read.
struct Found {
    /// But for its number.
    head: Head,
    bytes: Vec<u8>,
}

fn read(path: &Path) -> Result<Vec<u8>, Problem> {
    fs::read(path).map_err(|error| Problem::io("read", path, error))
}
