//! `manifest.jsonl`: one record per candidate, sorted by block.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use netquarry_core::record::BlockRecord;

use crate::problem::Problem;

/// Its name in the output folder.
pub const FILE_NAME: &str = "manifest.jsonl";

/// The records of a library, each read when its turn comes: a third of a megabyte, where closures are large.
pub type Lines = Box<dyn Iterator<Item = Result<BlockRecord, Problem>>>;

/// Whether there is a library in `folder`.
pub fn is_in(folder: &Path) -> bool {
    folder.join(FILE_NAME).is_file()
}

/// The records of the library in `folder`; `None` where there is none yet.
pub fn read(folder: &Path) -> Result<Option<Lines>, Problem> {
    let path = folder.join(FILE_NAME);
    let unreadable = |error: io::Error, path: &Path| Problem::io("read the manifest", path, error);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error, &path)),
    };
    let record = move |(index, line): (usize, io::Result<String>)| {
        let line = line.map_err(|error| unreadable(error, &path))?;
        serde_json::from_str(&line).map_err(|error| {
            Problem::new(format!("Line {} of `{}` is not a record of a block", index + 1, path.display()))
                .because(error)
                .help("`netquarry run` writes the manifest anew")
        })
    };
    Ok(Some(Box::new(BufReader::new(file).lines().enumerate().map(record))))
}

/// The records of a library that has to be there.
pub fn read_existing(folder: &Path) -> Result<Lines, Problem> {
    read(folder)?.ok_or_else(|| {
        Problem::new(format!("There is no library in `{}`", folder.display()))
            .because(format!("`{}` does not exist", folder.join(FILE_NAME).display()))
            .help("`netquarry run` makes one; another folder can be named")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let mut records = crate::findings::tests::library();
        records.sort_by(|left, right| left.block.cmp(&right.block));
        let text: String = records.iter().map(|record| record.to_line() + "\n").collect();
        std::fs::write(folder.path().join(FILE_NAME), text).unwrap();
        let read: Result<Vec<_>, _> = read_existing(folder.path()).unwrap().collect();
        assert_eq!(read.unwrap(), records);
    }

    #[test]
    fn a_broken_line_is_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE_NAME), "{}\n").unwrap();
        let first = read_existing(folder.path()).unwrap().next().expect("there is a line");
        assert!(first.unwrap_err().to_string().starts_with("Line 1 of"));
        assert!(read(&folder.path().join("nowhere")).unwrap().is_none());
    }
}
