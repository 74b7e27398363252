//! `manifest.jsonl`: one record per candidate, sorted by block.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use netquarry_core::record::BlockRecord;

use crate::problem::Problem;

/// Its name in the output folder.
pub const FILE_NAME: &str = "manifest.jsonl";

/// Writes the text of a manifest, record by record: a third of a megabyte each, where closures are large.
pub fn write(records: &[BlockRecord], mut out: impl Write) -> io::Result<()> {
    debug_assert!(records.is_sorted_by(|left, right| left.block < right.block), "records are sorted, each block once");
    for record in records {
        out.write_all(&serde_json::to_vec(record).expect("a record has string keys"))?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// The records of the library in `folder`; `None` where there is none yet.
pub fn read(folder: &Path) -> Result<Option<Vec<BlockRecord>>, Problem> {
    let path = folder.join(FILE_NAME);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Problem::io("read the manifest", &path, error)),
    };
    let record = |(index, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| {
            Problem::new(format!("Line {} of `{}` is not a record of a block", index + 1, path.display()))
                .because(error)
                .help("`netquarry run` writes the manifest anew")
        })
    };
    text.lines().enumerate().map(record).collect::<Result<Vec<_>, _>>().map(Some)
}

/// The records of a library that has to be there.
pub fn read_existing(folder: &Path) -> Result<Vec<BlockRecord>, Problem> {
    read(folder)?.ok_or_else(|| {
        Problem::new(format!("There is no library in `{}`", folder.display()))
            .because(format!("`{}` does not exist", folder.join(FILE_NAME).display()))
            .help("`netquarry run` makes one; --out names the folder of another")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let mut records = crate::findings::tests::library();
        records.sort_by(|left, right| left.block.cmp(&right.block));
        write(&records, fs::File::create(folder.path().join(FILE_NAME)).unwrap()).unwrap();
        assert_eq!(read_existing(folder.path()).unwrap(), records);
    }

    #[test]
    fn a_broken_line_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(FILE_NAME), "{}\n").unwrap();
        assert!(read(folder.path()).unwrap_err().to_string().starts_with("Line 1 of"));
        assert!(read(&folder.path().join("nowhere")).unwrap().is_none());
    }
}
