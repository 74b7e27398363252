//! A folder as Hugging Face's `datasets` loads it: a table for each side of a split, and a card.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::blocks::{self, Block};
use super::card::{self, Card};
use super::output::{self, NewFile, WrittenFile};
use super::table::Table;
use super::tally::Tally;
use super::terms::CodePolicy;
use super::{Exported, push};
use crate::curation::Split;
use crate::library::notice;
use crate::problem::Problem;

/// The card's name in the folder.
pub const CARD: &str = "README.md";

const NO_NOTICE: &str = "what is passed on has to say whose it is: `netquarry emit` writes the notice anew";

/// What a side of the split is called in datasets.
pub fn name(split: Split) -> &'static str {
    match split {
        Split::Train => "train",
        Split::Dev => "validation",
        Split::Test => "test",
    }
}

/// The path of its table in the folder.
pub fn path(split: Split) -> String {
    format!("data/{}-00000-of-00001.parquet", name(split))
}

/// The side of the blocks of an upstream file, by the file's path alone. So the blocks of a file are on one side, with
/// those of the same file in a fork of its repository, and what is added to a library moves none.
pub fn split(path: &str) -> Split {
    Split::of_digest(Sha256::digest(path.as_bytes()).into())
}

/// Writes the promoted blocks of a library as a dataset. A block that cannot be read goes to `damaged` and is left out.
///
/// # Errors
/// There is no library, the folder holds something else, or a file cannot be written.
pub fn export(
    library: &Path,
    folder: &Path,
    policy: CodePolicy,
    damaged: &mut dyn FnMut(Problem),
) -> Result<Exported, Problem> {
    refuse_foreign(folder)?;
    let required = blocks::required(library)?;
    let place = library.join(notice::FILE_NAME);
    let terms = fs::read_to_string(&place)
        .map_err(|error| Problem::io("read the notice of the library", &place, error).help(NO_NOTICE))?;
    let mut sides = Sides { folder, policy, tables: BTreeMap::new() };
    let mut tally = Tally::default();
    for block in blocks::blocks(library)? {
        match block {
            Ok(block) => sides.push(&mut tally, &block)?,
            Err(problem) => damaged(problem),
        }
    }
    let sizes = sides.tables.iter().map(|(split, table)| (*split, table.size())).collect();
    let mut files = sides.finish()?;
    let notice = output::write(&folder.join(notice::FILE_NAME), &terms)?;
    let text =
        card::text(&Card { tally: &tally, sizes: &sizes, required: &required, policy, notice_sha256: &notice.sha256 });
    files.push(notice);
    files.push(output::write(&folder.join(CARD), &text)?);
    Ok(Exported { files, tally })
}

/// The tables of the sides that have a block.
struct Sides<'a> {
    folder: &'a Path,
    policy: CodePolicy,
    tables: BTreeMap<Split, Table>,
}

impl Sides<'_> {
    fn push(&mut self, tally: &mut Tally, block: &Block) -> Result<(), Problem> {
        let split = split(&block.record.source.path);
        if !self.tables.contains_key(&split) {
            let place = self.folder.join(path(split));
            let table = Table::begin(NewFile::begin(&place)?, place.display().to_string(), self.policy)?;
            self.tables.insert(split, table);
        }
        push(self.tables.get_mut(&split).expect("it was begun"), tally, block, self.policy)
    }

    /// Puts the tables in their places, and takes those of an earlier export away that have no block now.
    fn finish(mut self) -> Result<Vec<WrittenFile>, Problem> {
        let mut files = Vec::new();
        for split in Split::ALL {
            match self.tables.remove(&split) {
                Some(table) => files.push(table.finish()?),
                None => remove(&self.folder.join(path(split)))?,
            }
        }
        Ok(files)
    }
}

fn remove(place: &Path) -> Result<(), Problem> {
    match fs::remove_file(place) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Problem::io("remove", place, error)),
        _ => Ok(()),
    }
}

/// A folder that holds anything is ours only if its card says so.
fn refuse_foreign(folder: &Path) -> Result<(), Problem> {
    let mut entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Problem::io("look into the output folder", folder, error)),
    };
    let is_ours = || fs::read_to_string(folder.join(CARD)).is_ok_and(|text| card::is_ours(&text));
    if entries.next().is_none() || is_ours() {
        return Ok(());
    }
    Err(Problem::new(format!("`{}` holds something else than a dataset of netquarry", folder.display()))
        .because(format!("there is no `{CARD}` in it that `netquarry export dataset` wrote"))
        .help("choose another folder with --out, or empty this one if nothing in it is needed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `emit-nn-gpt` has the same paths in its tests, so that nobody trains on what somebody else tests with.
    #[test]
    fn sides_of_files_are_those_of_chat_records() {
        for (path, side) in [
            ("timm/layers/drop.py", Split::Train),
            ("netquarry/2.py", Split::Dev),
            ("timm/layers/gather_excite.py", Split::Test),
        ] {
            assert_eq!(split(path), side, "{path}");
        }
    }

    #[test]
    fn a_folder_that_is_not_ours_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        refuse_foreign(folder.path()).unwrap();
        refuse_foreign(&folder.path().join("new")).unwrap();
        fs::write(folder.path().join(CARD), "# My thesis\n").unwrap();
        let problem = refuse_foreign(folder.path()).unwrap_err();
        assert!(problem.help_text().expect("there is advice").contains("--out"), "{problem}");
    }
}
