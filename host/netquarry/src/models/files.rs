//! Models that are files: the blocks of a library, and Python files below a folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use netquarry_core::record::BlockRecord;

use super::{Decided, Found, Head, Models, read};
use crate::findings::is_removed;
use crate::library::bundles::BundleFolder;
use crate::library::header;
use crate::problem::Problem;
use crate::quantity::human_things;
use crate::spool::Spool;

/// The promoted blocks of the library in `folder`, duplicates included.
pub(super) fn of_library(
    folder: &Path,
    records: impl Iterator<Item = Result<BlockRecord, Problem>>,
    spool: &Arc<Spool>,
) -> Result<Models, Problem> {
    let mut unread = None;
    // A line that is no record ends the command.
    let records = records.map_while(|record| record.map_err(|problem| unread = Some(problem)).ok());
    let (mut decided, mut lacking) = (Decided::new(), 0);
    let found = records.filter_map(|record| {
        lacking += usize::from(record.bundle.is_none() && is_removed(&record));
        block_of_library(folder, record, &mut decided)
    });
    let mut models = Models::of(spool, found)?;
    if lacking > 0 {
        models.unreadable.push(without_bundles(folder, lacking));
    }
    unread.map_or(Ok(Models { decided: Some(decided), ..models }), Err)
}

/// A promoted block of the library in `folder`; `None` for the others.
fn block_of_library(folder: &Path, record: BlockRecord, decided: &mut Decided) -> Option<Result<Found, Problem>> {
    let bundle = record.bundle.as_ref()?;
    if !matches!(BundleFolder::of(bundle)?, BundleFolder::Blocks | BundleFolder::Duplicates) {
        return None;
    }
    decided.insert(record.block.clone(), record.dedup);
    // The names of files are unique over both folders.
    let (_, file) = bundle.split_once('/')?;
    let path = file.to_owned();
    let found = read(&folder.join(bundle)).map(|bytes| {
        let text = String::from_utf8_lossy(&bytes);
        let head = Head {
            block: record.block,
            name: record.name,
            source: record.source.name,
            priority: record.source.priority,
            level: record.level,
            code_start: text.len() - header::strip(&text).len(),
            path,
            ..Head::default()
        };
        Found { head, bytes }
    });
    Some(found)
}

/// Libraries of earlier versions have no bundles of their duplicates.
fn without_bundles(folder: &Path, lacking: usize) -> Problem {
    let duplicates = human_things(lacking, "duplicate");
    Problem::new(format!("`{}` has no bundles of {duplicates}, which are left out", folder.display()))
        .because("an earlier version made this library")
        .help("`netquarry run` makes it anew, with the bundles of its duplicates")
}

/// The Python files below a folder, sorted by path.
pub(super) fn below(folder: &Path, spool: &Arc<Spool>) -> Result<Models, Problem> {
    let mut waiting = vec![folder.to_owned()];
    let mut paths = Vec::new();
    while let Some(folder) = waiting.pop() {
        let entries = fs::read_dir(&folder)
            .map_err(|error| Problem::io("look into", &folder, error).help("name a folder or a table that exists"))?;
        for entry in entries {
            let entry = entry.map_err(|error| Problem::io("look into", &folder, error))?;
            let kind = entry.file_type().map_err(|error| Problem::io("look at", &entry.path(), error))?;
            match entry.path() {
                path if kind.is_dir() => waiting.push(path),
                path if path.extension().is_some_and(|extension| extension == "py") => paths.push(path),
                _ => {}
            }
        }
    }
    paths.sort();
    let found = |path: PathBuf| {
        let bytes = read(&path)?;
        let block = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let path = block.clone();
        Ok(Found { head: Head { block, name, priority: 1, path, ..Head::default() }, bytes })
    };
    Models::of(spool, paths.into_iter().map(found))
}

/// A file by itself, without the header of a bundle.
pub(super) fn single(path: &Path) -> Result<Found, Problem> {
    let bytes = read(path)?;
    let text = String::from_utf8_lossy(&bytes);
    let code_start = text.len() - header::strip(&text).len();
    let block = path.display().to_string();
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let head = Head { path: block.clone(), block, name, priority: 1, code_start, ..Head::default() };
    Ok(Found { head, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::manifest;

    fn spool() -> Arc<Spool> {
        Arc::new(Spool::new(&std::env::temp_dir()).unwrap())
    }

    #[test]
    fn a_file_that_cannot_be_read_costs_itself_only() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.py"), "x = 1\n").unwrap();
        std::os::unix::fs::symlink("nowhere", folder.path().join("b.py")).unwrap();
        let found = Models::read(folder.path(), &spool()).unwrap();
        assert_eq!(found.heads().unwrap().into_iter().map(|head| head.path).collect::<Vec<_>>(), ["a.py"]);
        assert!(found.unreadable[0].to_string().contains("b.py"), "{:?}", found.unreadable);
    }

    #[test]
    fn blocks_of_a_library_keep_their_files_and_priorities() {
        let folder = tempfile::tempdir().unwrap();
        ["blocks", "duplicates"].iter().for_each(|name| fs::create_dir(folder.path().join(name)).unwrap());
        let mut records = Vec::new();
        // Their modules differ in where the dots are only.
        for (block, file, priority) in
            [("s:a.b_c.Net", "blocks/Net__a_b_c", 1), ("s:a_b.c.Net", "duplicates/Net__a_b_c__1", 2)]
        {
            let mut record = crate::findings::tests::library().remove(0);
            record.block = block.to_owned();
            record.bundle = Some(format!("{file}.py"));
            record.source.priority = priority;
            fs::write(folder.path().join(format!("{file}.py")), block).unwrap();
            records.push(record.to_line() + "\n");
        }
        fs::write(folder.path().join(manifest::FILE_NAME), records.concat()).unwrap();
        let found = Models::read(folder.path(), &spool()).unwrap();
        let shown: Vec<_> = found.heads().unwrap().into_iter().map(|head| (head.path, head.priority)).collect();
        assert_eq!(shown, [("Net__a_b_c.py".to_owned(), 1), ("Net__a_b_c__1.py".to_owned(), 2)]);
    }
}
