//! What a fetch tells while it runs. Nothing here prints.

/// Something that a fetch does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchEvent<'event> {
    /// Another process fetches the same source; this one waits for it.
    Waiting,
    /// The index or the remote is asked.
    Asking { url: &'event str },
    /// A first attempt failed in a way that may pass; another one follows.
    Retrying { why: &'event str },
    /// So many bytes of a transfer have arrived; `total` where it is known.
    Received { bytes: u64, total: Option<u64> },
    /// So many files have been taken over.
    Unpacked { files: u64 },
}

/// Takes the news of all fetches, possibly from several threads at once. Events come often: return quickly.
pub trait FetchProgress: Sync {
    fn on_event(&self, source_name: &str, event: FetchEvent<'_>);
}

/// Nobody listens.
impl FetchProgress for () {
    fn on_event(&self, _source_name: &str, _event: FetchEvent<'_>) {}
}

/// The progress of one source.
#[derive(Clone, Copy)]
pub(crate) struct Reporter<'fetch> {
    pub(crate) source_name: &'fetch str,
    pub(crate) progress: &'fetch dyn FetchProgress,
}

/// Files between two pieces of news.
const FILES_PER_EVENT: u64 = 64;

impl Reporter<'_> {
    /// One more file was taken, which makes `files` so far.
    pub(crate) fn taken(&self, files: u64) {
        if files.is_multiple_of(FILES_PER_EVENT) {
            self.taken_all(files);
        }
    }

    pub(crate) fn taken_all(&self, files: u64) {
        self.tell(FetchEvent::Unpacked { files });
    }

    pub(crate) fn tell(&self, event: FetchEvent<'_>) {
        self.progress.on_event(self.source_name, event);
    }
}
