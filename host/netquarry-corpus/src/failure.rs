//! Why a source could not be fetched.

use std::io;
use std::path::{Path, PathBuf};

/// A fetch that failed: which source, what happened and where; [`FetchError::hint`] says what to do.
#[derive(Debug, thiserror::Error)]
#[error("cannot fetch source `{source_name}`: {failure}")]
pub struct FetchError {
    pub source_name: String,
    pub failure: FetchFailure,
}

impl FetchError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        self.failure.hint()
    }

    /// Whether the network or a server is at fault, so that the same fetch may succeed later.
    pub fn is_transient(&self) -> bool {
        self.failure.is_transient()
    }
}

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum FetchFailure {
    #[error("it is not in the cache {}, and {why}", cache.display())]
    NotCached { cache: PathBuf, why: &'static str },
    #[error("{url}: {why}")]
    Network { url: String, why: String },
    #[error("{url} answers with status {status}")]
    Status { url: String, status: u16 },
    #[error("the certificates in {} cannot be used: {why}", path.display())]
    Certificates { path: PathBuf, why: String },
    #[error("the HTTP client cannot be set up: {why}")]
    Client { why: String },
    #[error("{file}: {why}")]
    PipConfiguration { file: String, why: String },
    #[error("{url} is not an index page: {why}")]
    IndexPage { url: String, why: String },
    #[error("the index {index} has no project `{project}`")]
    NoSuchProject { project: String, index: String },
    #[error("the index {index} has no version {version} of `{project}`; nearest: {}", none_or(nearest))]
    NoSuchVersion { project: String, version: String, index: String, nearest: Vec<String> },
    #[error("release {version} of `{project}` has no wheel and no sdist that can be read; it has {}", none_or(files))]
    NoUsableFile { project: String, version: String, files: Vec<String> },
    #[error("{url} has SHA-256 {found}, but the index states {expected}")]
    DigestMismatch { url: String, expected: String, found: String },
    #[error("{archive} is refused: member `{member}`: {why}")]
    UnsafeArchive { archive: String, member: String, why: String },
    #[error("{archive} is refused: more than {limit} {what}")]
    TooLarge { archive: String, limit: u64, what: &'static str },
    #[error("{archive} cannot be unpacked: {why}")]
    BrokenArchive { archive: String, why: String },
    #[error("no git repository answers at {url}: {why}")]
    Repository { url: String, why: String },
    #[error("{url} has no branch, tag or commit `{revision}`; it has {}", none_or(known))]
    NoSuchRevision { url: String, revision: String, known: Vec<String> },
    #[error("the copy of {url} in {} cannot be read: {why}", path.display())]
    ObjectDatabase { url: String, path: PathBuf, why: String },
    #[error("there is no folder, wheel or sdist `{}`", path.display())]
    NoSuchPath { path: PathBuf },
    #[error("cannot {action} {}: {error}", path.display())]
    Io { action: &'static str, path: PathBuf, error: io::Error },
}

fn none_or(list: &[String]) -> String {
    if list.is_empty() { "none".to_owned() } else { list.join(", ") }
}

impl FetchFailure {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |error| Self::Io { action, path, error }
    }

    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Self::Network { .. } => true,
            Self::Status { status, .. } => matches!(status, 408 | 425 | 429 | 500..=599),
            _ => false,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        let text = match self {
            Self::NotCached { .. } => "fetch it once with the network, with the policy `missing`",
            Self::Network { .. } => {
                "check the network, the proxy (HTTPS_PROXY) and the certificates (PIP_CERT, SSL_CERT_FILE), then run again: \
                 what was fetched is kept"
            }
            Self::Status { status: 401 | 403, .. } => {
                "give the index URL credentials (PIP_INDEX_URL=https://user:token@host/simple) or use another index"
            }
            Self::Status { .. } => "try again later, or use another index (PIP_INDEX_URL)",
            Self::Certificates { .. } | Self::Client { .. } => {
                "name a PEM file with PIP_CERT, REQUESTS_CA_BUNDLE or SSL_CERT_FILE, or in pip's configuration"
            }
            Self::PipConfiguration { .. } => "correct it with `pip config`",
            Self::IndexPage { .. } => {
                "the index URL must be that of a simple API (PEP 503 or PEP 691), as https://pypi.org/simple"
            }
            Self::NoSuchProject { .. } => "check the spelling of `project`, and which index pip is configured with",
            Self::NoSuchVersion { .. } => "correct `version` in the corpus, or leave it out for the newest",
            Self::NoUsableFile { .. } => "choose another version, or fetch the project with git",
            Self::DigestMismatch { .. } => {
                "the file was changed on its way or at its origin: do not use it; try again, then ask whoever runs the index"
            }
            Self::UnsafeArchive { .. } => "nothing of it was kept; do not use this archive",
            Self::TooLarge { .. } => {
                "nothing of it was kept; take another version or, of a folder, the part with the code"
            }
            Self::BrokenArchive { .. } => "run again; if it stays so, choose another version or another file of it",
            Self::Repository { .. } => "check the URL, and that `git` is installed for file:// URLs, then run again",
            Self::NoSuchRevision { .. } => "correct `revision` in the corpus, or leave it out for the default branch",
            Self::ObjectDatabase { path, .. } => return format!("delete {} and run again", path.display()),
            Self::NoSuchPath { .. } => {
                "check the path; a relative one starts at the folder of the file that has it, on the command line at this folder"
            }
            Self::Io { error, .. } if error.kind() == io::ErrorKind::StorageFull => {
                "make room on the disk, or put the cache elsewhere, then run again: what was fetched is kept"
            }
            Self::Io { .. } => "check the path and its permissions",
        };
        text.to_owned()
    }
}

/// An error with what caused it, innermost last; causes that repeat what was said are left out.
pub(crate) fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    for cause in chain(error).skip(1) {
        let next = cause.to_string();
        if !text.contains(&next) {
            text = format!("{text}: {next}");
        }
    }
    text
}

/// The two innermost causes of an error: of a failed connection, "tcp connect error: Connection refused". What stands around
/// them names layers of libraries.
pub(crate) fn root_cause(error: &(dyn std::error::Error + 'static)) -> String {
    let chain: Vec<_> = chain(error).collect();
    causes(chain[chain.len().saturating_sub(2)])
}

fn chain<'error>(
    error: &'error (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'error (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error), |error| error.source())
}
