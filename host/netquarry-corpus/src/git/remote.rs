//! Asking a remote for its refs and for one commit.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use gix::progress::Discard;
use gix::protocol::transport::client::blocking_io::http;
use gix::remote::fetch::{RefMap, Shallow, Tags};
use gix::remote::{Direction, ref_map};
use gix::{ObjectId, Remote};
use reqwest::Certificate;

use crate::failure::FetchFailure;
use crate::fetch::FetchOptions;
use crate::pypi::configuration::IndexConfiguration;
use crate::pypi::http::causes;

/// How many refs an error lists.
const LISTED: usize = 8;

/// What of a remote is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Revision {
    /// Whatever branch the remote's HEAD points to.
    Default,
    /// A branch, else a tag, of this short name; or a full ref name.
    Name(String),
    Commit(ObjectId),
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

/// A failure, and whether trying again may help.
#[derive(Debug)]
pub(crate) struct RemoteFailure {
    pub(crate) failure: FetchFailure,
    pub(crate) may_pass: bool,
}

impl RemoteFailure {
    fn of(url: &str, error: &gix::Error) -> Self {
        let failure = FetchFailure::Repository { url: url.to_owned(), why: causes(error) };
        Self { failure, may_pass: error.classify().is_retryable() }
    }
}

/// The bare repository at `path`, made anew where there is none that can be opened. The caller holds the lock.
pub(crate) fn open_or_make(path: &Path) -> Result<gix::Repository, FetchFailure> {
    // Proxies and credential helpers of the user's configuration count; nobody is there to answer a prompt.
    let options = || {
        gix::open::Options::default().config_overrides(["gitoxide.credentials.terminalPrompt=false", "core.askPass="])
    };
    if let Ok(repository) = gix::open_opts(path, options().open_path_as_is(true)) {
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
        Err(error) => Err(FetchFailure::ObjectDatabase {
            url: "a repository".to_owned(),
            path: path.to_path_buf(),
            why: causes(&error),
        }),
    }
}

/// Certificates to trust besides the system's: those of pip's configuration and of `GIT_SSL_CAINFO`.
pub(crate) fn certificates(options: &FetchOptions) -> Result<Vec<Certificate>, FetchFailure> {
    let mut files = match &options.index {
        Some(index) => index.certificates.clone(),
        None => IndexConfiguration::of_pip(&|name| std::env::var(name).ok())?.certificates,
    };
    files.extend(std::env::var_os("GIT_SSL_CAINFO").map(PathBuf::from));
    let mut certificates = Vec::new();
    for path in files {
        let failure = |why| FetchFailure::Certificates { path: path.clone(), why };
        let bundle = std::fs::read(&path).map_err(|error| failure(error.to_string()))?;
        certificates.extend(Certificate::from_pem_bundle(&bundle).map_err(|error| failure(causes(&error)))?);
    }
    Ok(certificates)
}

/// The commit that `revision` stands for at the remote, its objects in `repository`. Where `is_known` says so, nothing but
/// the refs is transferred. `shown` is the URL without credentials.
pub(crate) fn fetch_commit(
    repository: &gix::Repository,
    url: &str,
    shown: &str,
    revision: &Revision,
    certificates: &[Certificate],
    is_known: &dyn Fn(ObjectId) -> bool,
) -> Result<ObjectId, RemoteFailure> {
    let failure = |error: gix::Error| RemoteFailure::of(shown, &error);
    let refspecs = revision.refspecs();
    let remote = remote(repository, url, &refspecs).map_err(failure)?;
    let connection = connect(&remote, repository, url, certificates).map_err(failure)?;
    let prepared = connection.prepare_fetch(Discard, ref_map::Options::default()).map_err(failure)?;
    let Some(commit) = revision.among(prepared.ref_map()) else {
        drop(prepared);
        return Err(no_such_revision(repository, url, shown, revision, certificates));
    };
    if is_known(commit) {
        return Ok(commit);
    }
    let depth = NonZeroU32::new(1).expect("one is not zero");
    let received = prepared.with_shallow(Shallow::DepthAtRemote(depth)).receive(Discard, &AtomicBool::new(false));
    match received {
        Ok(_) => Ok(commit),
        // A server says of a commit that it does not have only that it will not send it.
        Err(error) if revision.commit().is_some() && !error.classify().is_retryable() => {
            tracing::debug!("{shown}: {}", causes(&error));
            Err(no_such_revision(repository, url, shown, revision, certificates))
        }
        Err(error) => Err(failure(error)),
    }
}

fn remote<'repository>(
    repository: &'repository gix::Repository,
    url: &str,
    refspecs: &[String],
) -> Result<Remote<'repository>, gix::Error> {
    let remote = repository.remote_at(url)?.with_fetch_tags(Tags::None);
    remote.with_refspecs(refspecs.iter().map(String::as_str), Direction::Fetch)
}

type Connection<'remote, 'repository> = gix::remote::Connection<
    'remote,
    'static,
    'repository,
    Box<dyn gix::protocol::transport::client::blocking_io::Transport + Send>,
>;

fn connect<'remote, 'repository>(
    remote: &'remote Remote<'repository>,
    repository: &gix::Repository,
    url: &str,
    certificates: &[Certificate],
) -> Result<Connection<'remote, 'repository>, gix::Error> {
    let mut connection = remote.connect(Direction::Fetch)?;
    let configured = repository.transport_options(url, None)?;
    if let Some(mut options) = configured.and_then(|options| options.downcast::<http::Options>().ok()) {
        let certificates = certificates.to_vec();
        let backend = http::reqwest::Options {
            configure_client: Some(Box::new(move |builder| Ok(builder.tls_certs_merge(certificates.clone())))),
            configure_request: None,
        };
        options.backend = Some(Arc::new(Mutex::new(backend)));
        connection.set_transport_options(options);
    }
    Ok(connection)
}

/// Lists what the remote has instead.
fn no_such_revision(
    repository: &gix::Repository,
    url: &str,
    shown: &str,
    revision: &Revision,
    certificates: &[Certificate],
) -> RemoteFailure {
    let list = || -> Result<Vec<String>, gix::Error> {
        let all = ["+refs/heads/*:refs/netquarry/heads/*", "+refs/tags/*:refs/netquarry/tags/*"].map(str::to_owned);
        let remote = remote(repository, url, &all)?;
        let connection = connect(&remote, repository, url, certificates)?;
        let (refs, _) = connection.ref_map(Discard, ref_map::Options::default())?;
        let names = refs.remote_refs.iter().map(|reference| reference.unpack().0.to_string());
        let mut names: Vec<_> = names
            .map(|name| name.trim_start_matches("refs/heads/").trim_start_matches("refs/tags/").to_owned())
            .collect();
        let wanted = match revision {
            Revision::Name(name) => name.as_str(),
            Revision::Default | Revision::Commit(_) => "",
        };
        // Those that start alike come first.
        let alike = |name: &str| wanted.chars().zip(name.chars()).take_while(|(left, right)| left == right).count();
        names.sort_by(|left, right| alike(right).cmp(&alike(left)).then_with(|| left.cmp(right)));
        names.dedup();
        names.truncate(LISTED);
        Ok(names)
    };
    let known = list().unwrap_or_else(|error| {
        tracing::debug!("{shown}: cannot list the refs: {}", causes(&error));
        Vec::new()
    });
    let revision = match revision {
        Revision::Default => "HEAD".to_owned(),
        Revision::Name(name) => name.clone(),
        Revision::Commit(id) => id.to_string(),
    };
    RemoteFailure { failure: FetchFailure::NoSuchRevision { url: shown.to_owned(), revision, known }, may_pass: false }
}
