//! The worker's source, carried in this program and written to a private folder for each run.

use std::fs;
use std::io;
use std::path::Path;

use super::ValidateError;
use crate::temporary::TemporaryFolder;

/// Paths below the folder that Python is started with, and the texts.
pub(super) const FILES: [(&str, &str); 32] = [
    ("__main__.py", include_str!("python/__main__.py")),
    ("netquarry_worker/__init__.py", include_str!("python/netquarry_worker/__init__.py")),
    ("netquarry_worker/arguments.py", include_str!("python/netquarry_worker/arguments.py")),
    ("netquarry_worker/barrier.py", include_str!("python/netquarry_worker/barrier.py")),
    ("netquarry_worker/canaries.py", include_str!("python/netquarry_worker/canaries.py")),
    ("netquarry_worker/challenge.py", include_str!("python/netquarry_worker/challenge.py")),
    ("netquarry_worker/checks.py", include_str!("python/netquarry_worker/checks.py")),
    ("netquarry_worker/child.py", include_str!("python/netquarry_worker/child.py")),
    ("netquarry_worker/confinement.py", include_str!("python/netquarry_worker/confinement.py")),
    ("netquarry_worker/constructions.py", include_str!("python/netquarry_worker/constructions.py")),
    ("netquarry_worker/export.py", include_str!("python/netquarry_worker/export.py")),
    ("netquarry_worker/graph.py", include_str!("python/netquarry_worker/graph.py")),
    ("netquarry_worker/guesses.py", include_str!("python/netquarry_worker/guesses.py")),
    ("netquarry_worker/harvest.py", include_str!("python/netquarry_worker/harvest.py")),
    ("netquarry_worker/inputs.py", include_str!("python/netquarry_worker/inputs.py")),
    ("netquarry_worker/layers.py", include_str!("python/netquarry_worker/layers.py")),
    ("netquarry_worker/levels.py", include_str!("python/netquarry_worker/levels.py")),
    ("netquarry_worker/literals.py", include_str!("python/netquarry_worker/literals.py")),
    ("netquarry_worker/lookups.py", include_str!("python/netquarry_worker/lookups.py")),
    ("netquarry_worker/memory.py", include_str!("python/netquarry_worker/memory.py")),
    ("netquarry_worker/namespaces.py", include_str!("python/netquarry_worker/namespaces.py")),
    ("netquarry_worker/pages.py", include_str!("python/netquarry_worker/pages.py")),
    ("netquarry_worker/protocol.py", include_str!("python/netquarry_worker/protocol.py")),
    ("netquarry_worker/replay.py", include_str!("python/netquarry_worker/replay.py")),
    ("netquarry_worker/randomness.py", include_str!("python/netquarry_worker/randomness.py")),
    ("netquarry_worker/repairs.py", include_str!("python/netquarry_worker/repairs.py")),
    ("netquarry_worker/report.py", include_str!("python/netquarry_worker/report.py")),
    ("netquarry_worker/server.py", include_str!("python/netquarry_worker/server.py")),
    ("netquarry_worker/shapes.py", include_str!("python/netquarry_worker/shapes.py")),
    ("netquarry_worker/signs.py", include_str!("python/netquarry_worker/signs.py")),
    ("netquarry_worker/sites.py", include_str!("python/netquarry_worker/sites.py")),
    ("netquarry_worker/study.py", include_str!("python/netquarry_worker/study.py")),
];

/// Writes the program to a folder that only this user can read; it goes with the value.
pub(super) fn write() -> Result<TemporaryFolder, ValidateError> {
    let folder =
        TemporaryFolder::new("worker").map_err(|source| io_error("make a folder in", &std::env::temp_dir(), source))?;
    for (path, text) in FILES {
        let file = folder.path().join(path);
        let parent = file.parent().expect("a file lies in a folder");
        fs::create_dir_all(parent).map_err(|source| io_error("create", parent, source))?;
        fs::write(&file, text).map_err(|source| io_error("write", &file, source))?;
    }
    Ok(folder)
}

pub(super) fn io_error(action: &'static str, path: &Path, source: io::Error) -> ValidateError {
    ValidateError::Io { action, path: path.to_owned(), source }
}
