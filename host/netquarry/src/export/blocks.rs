//! The blocks of a library that are exported: those that were promoted and are no duplicates.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use netquarry_core::record::BlockRecord;
use sha2::{Digest as _, Sha256};

use crate::library::bundles::BundleFolder;
use crate::library::folder::hexadecimal;
use crate::library::manifest;
use crate::library::required::{self, Required};
use crate::problem::Problem;

/// A promoted block with the text of its file.
pub struct Block {
    pub record: BlockRecord,
    pub code: String,
}

/// The promoted blocks of a library in the order of its manifest, each read when its turn comes. One whose file cannot be
/// read, or is not the one of the record, is an error of its own.
///
/// # Errors
/// There is no library.
pub fn blocks(library: &Path) -> Result<impl Iterator<Item = Result<Block, Problem>>, Problem> {
    let library = library.to_owned();
    let records = manifest::read_existing(&library)?;
    Ok(records.filter_map(move |record| match record {
        Ok(record) if is_promoted(&record) => Some(with_code(&library, record)),
        Ok(_) => None,
        Err(problem) => Some(Err(problem)),
    }))
}

/// Whether a record is one of a block that the library offers.
pub fn is_promoted(record: &BlockRecord) -> bool {
    record.bundle.as_deref().and_then(BundleFolder::of) == Some(BundleFolder::Blocks)
}

/// The place of a file that a record or a document names; none where it leads out of the folder.
pub fn place(folder: &Path, relative: &str) -> Option<PathBuf> {
    let path = Path::new(relative);
    let stays = path.components().all(|part| matches!(part, Component::Normal(_)));
    (stays && !relative.is_empty()).then(|| folder.join(path))
}

/// The sources and distributions that the bundles rely on, as `required_repos.json` has them; none where it is missing.
///
/// # Errors
/// The file is there and cannot be read.
pub fn required(library: &Path) -> Result<Vec<Required>, Problem> {
    let path = library.join(required::FILE_NAME);
    match fs::read(&path) {
        Ok(text) => serde_json::from_slice(&text).map_err(|error| {
            Problem::new(format!("`{}` is no list of what bundles rely on", path.display()))
                .because(error)
                .help("`netquarry run` writes it anew")
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Problem::io("read", &path, error)),
    }
}

/// SHA-256 in lower-case hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn with_code(library: &Path, record: BlockRecord) -> Result<Block, Problem> {
    let bundle = record.bundle.as_deref().expect("a promoted block has a file");
    let damaged = |why: &str| {
        Problem::new(format!("`{bundle}` of {} is left out: {why}", record.block))
            .help("`netquarry verify` says what else was changed; `netquarry run` writes the library anew")
    };
    let path = place(library, bundle).ok_or_else(|| damaged("its path leads out of the library"))?;
    let code = fs::read_to_string(&path).map_err(|error| Problem::io("read the bundle", &path, error))?;
    if record.sha256.as_deref() != Some(sha256(code.as_bytes()).as_str()) {
        return Err(damaged("it is not the file of its record"));
    }
    Ok(Block { record, code })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_leads_out_of_the_folder() {
        for (relative, stays) in
            [("blocks/A.py", true), ("blocks/../A.py", false), ("/etc/passwd", false), ("../A.py", false), ("", false)]
        {
            assert_eq!(place(Path::new("library"), relative).is_some(), stays, "{relative}");
        }
    }
}
