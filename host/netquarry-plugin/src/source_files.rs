//! The files of the sources, for plugins that may read some of them.

/// The files of the sources as they were fetched.
pub trait SourceFiles: Send + Sync {
    /// Their paths in the source that the corpus gives this name, relative to its root and with forward slashes; in no
    /// particular order, and none of a source that there is not.
    fn paths(&self, source: &str) -> Vec<String>;

    /// The bytes of one of them; `None` where there is no such file.
    ///
    /// # Errors
    ///
    /// In words, where it cannot be read.
    fn read(&self, source: &str, path: &str) -> Result<Option<Vec<u8>>, String>;
}

/// No files at all.
#[derive(Clone, Copy, Debug)]
pub struct NoFiles;

impl SourceFiles for NoFiles {
    fn paths(&self, _source: &str) -> Vec<String> {
        Vec::new()
    }

    fn read(&self, _source: &str, _path: &str) -> Result<Option<Vec<u8>>, String> {
        Ok(None)
    }
}
