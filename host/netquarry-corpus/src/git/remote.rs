//! Asking a remote for its refs and for one commit.

use std::fmt;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use gix::progress::Discard;
use gix::protocol::transport::client::blocking_io::{Transport, http};
use gix::remote::fetch::{RefMap, Shallow, Tags};
use gix::remote::{Direction, ref_map};
use gix::{ObjectId, Remote};
use reqwest::Certificate;

use super::transfer;
use crate::failure::{FetchFailure, causes, root_cause};
use crate::fetch::FetchOptions;
use crate::progress::Reporter;
use crate::pypi::configuration::{IndexConfiguration, certificates_of};

/// How many refs an error lists.
const LISTED: usize = 8;

/// What of a remote is wanted. Shown as its name or object id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Revision {
    /// Whatever branch the remote's HEAD points to.
    Default,
    /// A branch, else a tag, of this short name; or a full ref name.
    Name(String),
    Commit(ObjectId),
}

impl fmt::Display for Revision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => formatter.write_str("HEAD"),
            Self::Name(name) => formatter.write_str(name),
            Self::Commit(id) => id.fmt(formatter),
        }
    }
}

impl Revision {
    pub(crate) fn of(text: Option<&str>) -> Self {
        match text {
            None => Self::Default,
            Some(text) => match ObjectId::from_hex(text.as_bytes()) {
                Ok(id) => Self::Commit(id),
                Err(_) => Self::Name(text.to_owned()),
            },
        }
    }

    pub(crate) fn commit(&self) -> Option<ObjectId> {
        match self {
            Self::Commit(id) => Some(*id),
            Self::Default | Self::Name(_) => None,
        }
    }

    /// What to ask for, the most wanted first. Refs of ours keep the objects reachable.
    fn refspecs(&self) -> Vec<String> {
        match self {
            Self::Default => vec!["+HEAD:refs/netquarry/HEAD".to_owned()],
            Self::Name(name) if name.starts_with("refs/") => vec![format!("+{name}:refs/netquarry/{name}")],
            Self::Name(name) => {
                ["heads", "tags"].map(|kind| format!("+refs/{kind}/{name}:refs/netquarry/{kind}/{name}")).into()
            }
            Self::Commit(id) => vec![format!("+{id}:refs/netquarry/commits/{id}")],
        }
    }

    /// The commit that the remote has for it.
    fn among(&self, refs: &RefMap) -> Option<ObjectId> {
        let wanted = refs.mappings.iter().min_by_key(|mapping| match mapping.spec_index {
            gix::remote::fetch::refmap::SpecIndex::ExplicitInRemote(index)
            | gix::remote::fetch::refmap::SpecIndex::Implicit(index) => index,
        });
        wanted.and_then(|mapping| mapping.remote.peeled_id()).map(ToOwned::to_owned)
    }
}

/// The bare repository at `path`, made anew where there is none that can be opened. The caller holds the lock.
pub(crate) fn open_or_make(path: &Path, url: &str) -> Result<gix::Repository, FetchFailure> {
    // Proxies and credential helpers of the user's configuration count; nobody is there to answer a prompt.
    let options = || {
        gix::open::Options::default().config_overrides(["gitoxide.credentials.terminalPrompt=false", "core.askPass="])
    };
    if let Ok(repository) = gix::open_opts(path, options().open_path_as_is(true))
        && refs_are_sound(&repository)
    {
        return Ok(repository);
    }
    if path.exists() {
        std::fs::remove_dir_all(path).map_err(FetchFailure::io("remove the torn repository", path))?;
    }
    std::fs::create_dir_all(path).map_err(FetchFailure::io("make the folder", path))?;
    let made =
        gix::ThreadSafeRepository::init_opts(path, gix::create::Kind::Bare, gix::create::Options::default(), options());
    match made {
        Ok(repository) => Ok(repository.to_thread_local()),
        Err(error) => {
            Err(FetchFailure::ObjectDatabase { url: url.to_owned(), path: path.to_path_buf(), why: causes(&error) })
        }
    }
}

/// A remote would be told that we have what our refs name, and so not send it.
fn refs_are_sound(repository: &gix::Repository) -> bool {
    let Ok(references) = repository.references() else { return false };
    let Ok(mut references) = references.all() else { return false };
    references.all(|reference| reference.is_ok_and(|mut reference| reference.peel_to_id().is_ok()))
}

/// Certificates to trust besides the system's: those of pip's configuration and of `GIT_SSL_CAINFO`.
pub(crate) fn certificates(url: &str, options: &FetchOptions) -> Result<Vec<Certificate>, FetchFailure> {
    if !url.starts_with("https://") {
        return Ok(Vec::new());
    }
    let variable = |name: &str| std::env::var(name).ok();
    let mut certificates = match &options.index {
        Some(index) => index.trusted()?,
        None => IndexConfiguration::of_pip(&variable)?.trusted()?,
    };
    if let Some(path) = variable("GIT_SSL_CAINFO").filter(|path| !path.is_empty()) {
        certificates.extend(certificates_of(Path::new(&path))?);
    }
    Ok(certificates)
}

/// A repository elsewhere.
pub(crate) struct RemoteRepository<'fetch> {
    pub(crate) url: &'fetch str,
    /// The URL without credentials.
    pub(crate) shown: &'fetch str,
    pub(crate) certificates: Vec<Certificate>,
}

type Connection<'remote, 'repository> =
    gix::remote::Connection<'remote, 'static, 'repository, Box<dyn Transport + Send>>;

impl RemoteRepository<'_> {
    /// The commit that `revision` stands for, its objects in `repository`. Where `is_known` says so, nothing but the refs is
    /// transferred.
    pub(crate) fn fetch_commit(
        &self,
        repository: &gix::Repository,
        revision: &Revision,
        is_known: &dyn Fn(ObjectId) -> bool,
        reporter: Reporter<'_>,
    ) -> Result<ObjectId, FetchFailure> {
        let failure = |error: gix::Error| self.failure(&error);
        let remote = self.remote(repository, &revision.refspecs()).map_err(failure)?;
        let connection = self.connect(&remote, repository).map_err(failure)?;
        let prepared = connection.prepare_fetch(Discard, ref_map::Options::default()).map_err(failure)?;
        let Some(commit) = revision.among(prepared.ref_map()) else {
            drop(prepared);
            return Err(self.no_such_revision(repository, revision));
        };
        if is_known(commit) {
            return Ok(commit);
        }
        let depth = NonZeroU32::new(1).expect("one is not zero");
        let prepared = prepared.with_shallow(Shallow::DepthAtRemote(depth));
        let received = transfer::watched(reporter, |counter| prepared.receive(counter, &AtomicBool::new(false)));
        match received {
            Ok(_) => Ok(commit),
            // A server says of a commit that it does not have only that it will not send it.
            Err(error) if revision.commit().is_some() && !error.classify().is_retryable() => {
                tracing::debug!("{}: {}", self.shown, causes(&error));
                Err(self.no_such_revision(repository, revision))
            }
            Err(error) => Err(failure(error)),
        }
    }

    fn remote<'repository>(
        &self,
        repository: &'repository gix::Repository,
        refspecs: &[String],
    ) -> Result<Remote<'repository>, gix::Error> {
        let remote = repository.remote_at(self.url)?.with_fetch_tags(Tags::None);
        remote.with_refspecs(refspecs.iter().map(String::as_str), Direction::Fetch)
    }

    fn connect<'remote, 'repository>(
        &self,
        remote: &'remote Remote<'repository>,
        repository: &gix::Repository,
    ) -> Result<Connection<'remote, 'repository>, gix::Error> {
        let mut connection = remote.connect(Direction::Fetch)?;
        let configured = repository.transport_options(self.url, None)?;
        if let Some(mut options) = configured.and_then(|options| options.downcast::<http::Options>().ok()) {
            let certificates = self.certificates.clone();
            let backend = http::reqwest::Options {
                configure_client: Some(Box::new(move |builder| Ok(builder.tls_certs_merge(certificates.clone())))),
                configure_request: None,
            };
            options.backend = Some(Arc::new(Mutex::new(backend)));
            connection.set_transport_options(options);
        }
        Ok(connection)
    }

    fn failure(&self, error: &gix::Error) -> FetchFailure {
        let (url, why) = (self.shown.to_owned(), root_cause(error));
        if error.classify().is_retryable() {
            FetchFailure::Network { url, why }
        } else {
            FetchFailure::Repository { url, why }
        }
    }

    /// Lists what the remote has instead.
    fn no_such_revision(&self, repository: &gix::Repository, revision: &Revision) -> FetchFailure {
        let wanted = revision.to_string();
        let known = self.names(repository).unwrap_or_else(|error| {
            tracing::debug!("{}: cannot list the refs: {}", self.shown, causes(&error));
            Vec::new()
        });
        FetchFailure::NoSuchRevision { url: self.shown.to_owned(), known: most_alike(known, &wanted), revision: wanted }
    }

    /// The short names of all branches and tags.
    fn names(&self, repository: &gix::Repository) -> Result<Vec<String>, gix::Error> {
        let prefixes = ["refs/heads/", "refs/tags/"];
        let remote = self.remote(repository, &prefixes.map(|prefix| format!("+{prefix}*:refs/netquarry/{prefix}*")))?;
        let (refs, _) = self.connect(&remote, repository)?.ref_map(Discard, ref_map::Options::default())?;
        let names = refs.remote_refs.iter().map(|reference| reference.unpack().0.to_string());
        let short = |name: String| prefixes.iter().find_map(|prefix| name.strip_prefix(prefix).map(str::to_owned));
        Ok(names.filter_map(short).collect())
    }
}

/// The first few, those that start as the wanted one does before others.
fn most_alike(mut names: Vec<String>, wanted: &str) -> Vec<String> {
    let alike = |name: &str| wanted.chars().zip(name.chars()).take_while(|(left, right)| left == right).count();
    names.sort_by(|left, right| alike(right).cmp(&alike(left)).then_with(|| left.cmp(right)));
    names.dedup();
    names.truncate(LISTED);
    names
}
