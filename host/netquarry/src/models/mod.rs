//! Models of any origin, for `netquarry dedup`: a library, a folder of Python files, or a table with a code in each row.

use std::borrow::{Borrow, Cow};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use netquarry_core::dedup::Code;

use crate::driver::curate::Contender;
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

/// What was found, with its file's text in the spool.
pub struct Model {
    pub contender: Contender,
    /// Its file, to the byte.
    pub file: Spooled<[u8]>,
    /// Where it goes below `kept/`.
    pub path: String,
    /// Its place in the input, counted from 0 over what is no model too.
    pub number: usize,
}

impl Borrow<Contender> for Model {
    fn borrow(&self) -> &Contender {
        &self.contender
    }
}

#[derive(Default)]
pub struct Models {
    pub models: Vec<Model>,
    /// Files and rows that could not be read; the others are deduplicated all the same.
    pub unreadable: Vec<Problem>,
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
    pub fn file(path: &Path, spool: &Arc<Spool>) -> Result<Model, Problem> {
        files::single(path)?.spooled(0, spool)
    }

    fn of(spool: &Arc<Spool>, found: impl Iterator<Item = Result<Found, Problem>>) -> Result<Self, Problem> {
        let mut all = Self::default();
        for (number, found) in found.enumerate() {
            match found {
                Ok(found) => all.models.push(found.spooled(number, spool)?),
                Err(problem) => all.unreadable.push(problem),
            }
        }
        Ok(all)
    }
}

/// A model whose file was read.
struct Found {
    block: String,
    name: String,
    source: String,
    priority: u32,
    level: u8,
    bytes: Vec<u8>,
    /// Where in the text the code starts.
    code_start: usize,
    path: String,
}

impl Found {
    fn spooled(self, number: usize, spool: &Arc<Spool>) -> Result<Model, Problem> {
        // What is not UTF-8 is replaced, since only the tokens count.
        let text = String::from_utf8_lossy(&self.bytes);
        let is_whole = matches!(text, Cow::Borrowed(_));
        let text = spool.put_text(&text)?;
        let file = if is_whole { text.as_bytes() } else { spool.put(&self.bytes)? };
        let code = Code::behind(SpooledCode { spool: Arc::clone(spool), text }, self.code_start);
        let Self { block, name, source, priority, level, path, .. } = self;
        let contender = Contender { block, name, source, priority, level, accuracy: None, code };
        Ok(Model { contender, file, path, number })
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Problem> {
    fs::read(path).map_err(|error| Problem::io("read", path, error))
}
