//! The HTTP client: the certificates and the proxy that pip is configured with, two attempts, errors that say what to do.

use std::cell::Cell;
use std::fs;
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::time::Duration;

use reqwest::blocking::{Client as HttpClient, RequestBuilder, Response};
use reqwest::{Proxy, StatusCode, Url};
use sha2::{Digest, Sha256};

use super::configuration::IndexConfiguration;
use crate::failure::{FetchFailure, causes, root_cause};
use crate::progress::{FetchEvent, Reporter};

/// How often something that may pass is tried.
const ATTEMPTS: u32 = 2;

pub(crate) struct Client<'fetch> {
    http: HttpClient,
    back_off: Duration,
    reporter: Reporter<'fetch>,
    /// Bytes of bodies received so far, over all requests.
    received: Cell<u64>,
}

impl<'fetch> Client<'fetch> {
    pub(crate) fn new(
        configuration: &IndexConfiguration,
        back_off: Duration,
        reporter: Reporter<'fetch>,
    ) -> Result<Self, FetchFailure> {
        let client_failure = |error: reqwest::Error| FetchFailure::Client { why: causes(&error) };
        let mut builder = HttpClient::builder()
            .user_agent(concat!("netquarry/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(configuration.timeout)
            .timeout(configuration.timeout)
            .tls_certs_merge(configuration.trusted()?);
        if let Some(proxy) = &configuration.proxy {
            let proxy = if proxy.contains("://") { proxy.clone() } else { format!("http://{proxy}") };
            builder = builder.proxy(Proxy::all(proxy).map_err(client_failure)?);
        }
        let http = builder.build().map_err(client_failure)?;
        Ok(Self { http, back_off, reporter, received: Cell::new(0) })
    }

    pub(crate) fn reporter(&self) -> Reporter<'fetch> {
        self.reporter
    }

    /// The whole body of a page, and the URL after redirections. `None` for status 404 and 410.
    pub(crate) fn page(&self, url: &Url, accept: &str) -> Result<Option<Page>, FetchFailure> {
        self.reporter.tell(FetchEvent::Asking { url: &without_credentials(url) });
        self.attempt(|| {
            let response = self.send(url, self.http.get(url.clone()).header("Accept", accept))?;
            match response.status() {
                StatusCode::NOT_FOUND | StatusCode::GONE => return Ok(None),
                _ => successful(url, &response)?,
            }
            let header = response.headers().get("Content-Type").and_then(|value| value.to_str().ok());
            let content_type = header.unwrap_or("").to_owned();
            let final_url = response.url().clone();
            let mut body = Vec::new();
            let mut limited = response.take(PAGE_LIMIT + 1);
            limited.read_to_end(&mut body).map_err(|error| interrupted(url, &error))?;
            if body.len() as u64 > PAGE_LIMIT {
                return Err(FetchFailure::IndexPage {
                    url: without_credentials(url),
                    why: "it is too large".to_owned(),
                });
            }
            Ok(Some(Page { url: final_url, content_type, body }))
        })
    }

    /// Writes the file at `url` into `file` and returns the SHA-256 of its bytes in hexadecimal digits.
    pub(crate) fn download(&self, url: &Url, limit: u64, file: &mut fs::File) -> Result<String, FetchFailure> {
        if url.scheme() == "file" {
            return copy_local(url, file);
        }
        let write_failure = || FetchFailure::io("write the download of", Path::new(url.path()));
        self.attempt(|| {
            file.rewind().and_then(|()| file.set_len(0)).map_err(write_failure())?;
            self.received.set(0);
            // The digest is that of the file, not of a compressed transfer of it.
            let request = self.http.get(url.clone()).header("Accept-Encoding", "identity");
            let mut response = self.send(url, request)?;
            successful(url, &response)?;
            let total = response.content_length();
            let mut hasher = Sha256::new();
            let mut buffer = vec![0; 1 << 16];
            while self.received.get() <= limit {
                let read = response.read(&mut buffer).map_err(|error| interrupted(url, &error))?;
                if read == 0 {
                    return Ok(hexadecimal(&hasher.finalize()));
                }
                hasher.update(&buffer[..read]);
                file.write_all(&buffer[..read]).map_err(write_failure())?;
                self.count(read, total);
            }
            Err(FetchFailure::TooLarge { archive: without_credentials(url), limit, what: "bytes" })
        })
    }

    /// The size of the file at `url`, where the server says it without sending the file.
    pub(crate) fn size(&self, url: &Url) -> Result<Option<u64>, FetchFailure> {
        self.attempt(|| {
            let response = self.send(url, self.http.head(url.clone()).header("Accept-Encoding", "identity"))?;
            let header = response.headers().get("Content-Length").and_then(|value| value.to_str().ok());
            Ok(header.and_then(|text| text.parse().ok()).filter(|_| response.status().is_success()))
        })
    }

    /// Bytes `from..=to` of the file at `url`; `None` where the server does not send parts. The second value is the length
    /// of the whole file.
    pub(crate) fn range(&self, url: &Url, from: RangeStart) -> Result<Option<Part>, FetchFailure> {
        self.attempt(|| {
            let range = match from {
                RangeStart::At { from, to } => format!("bytes={from}-{to}"),
                RangeStart::Last(bytes) => format!("bytes=-{bytes}"),
            };
            let request = self.http.get(url.clone()).header("Accept-Encoding", "identity").header("Range", range);
            let response = self.send(url, request)?;
            if response.status() != StatusCode::PARTIAL_CONTENT {
                successful(url, &response)?;
                return Ok(None);
            }
            let Some((start, length)) = content_range(&response) else { return Ok(None) };
            let mut bytes = Vec::new();
            let mut limited = response.take(length);
            limited.read_to_end(&mut bytes).map_err(|error| interrupted(url, &error))?;
            self.count(bytes.len(), None);
            Ok(Some(Part { start, bytes, length }))
        })
    }

    fn count(&self, read: usize, total: Option<u64>) {
        self.received.set(self.received.get() + read as u64);
        self.reporter.tell(FetchEvent::Received { bytes: self.received.get(), total });
    }

    fn send(&self, url: &Url, request: RequestBuilder) -> Result<Response, FetchFailure> {
        request.send().map_err(|error| network(url, &error.without_url()))
    }

    /// Twice where the failure may pass, with a pause between that doubles.
    fn attempt<T>(&self, mut attempt: impl FnMut() -> Result<T, FetchFailure>) -> Result<T, FetchFailure> {
        let mut pause = self.back_off;
        for _ in 1..ATTEMPTS {
            match attempt() {
                Err(failure) if failure.is_transient() => {
                    self.reporter.tell(FetchEvent::Retrying { why: &failure.to_string() });
                    std::thread::sleep(pause);
                    pause *= 2;
                }
                decided => return decided,
            }
        }
        attempt()
    }
}

/// No page of an index is larger; the largest known one has 20 MB.
const PAGE_LIMIT: u64 = 256 << 20;

pub(crate) struct Page {
    pub(crate) url: Url,
    pub(crate) content_type: String,
    pub(crate) body: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum RangeStart {
    /// Both inclusive.
    At { from: u64, to: u64 },
    /// The last so many bytes.
    Last(u64),
}

/// A part of a file.
pub(crate) struct Part {
    pub(crate) start: u64,
    pub(crate) bytes: Vec<u8>,
    /// Of the whole file.
    pub(crate) length: u64,
}

/// `bytes 200-1000/67589` as 200 and 67589.
fn content_range(response: &Response) -> Option<(u64, u64)> {
    let header = response.headers().get("Content-Range")?.to_str().ok()?;
    let (range, length) = header.strip_prefix("bytes ")?.split_once('/')?;
    Some((range.split_once('-')?.0.parse().ok()?, length.parse().ok()?))
}

fn copy_local(url: &Url, file: &mut fs::File) -> Result<String, FetchFailure> {
    let path = url.to_file_path().expect("made from a path");
    let mut source = fs::File::open(&path).map_err(FetchFailure::io("read", &path))?;
    io::copy(&mut source, file).map_err(FetchFailure::io("copy", &path))?;
    source.rewind().map_err(FetchFailure::io("read", &path))?;
    digest(source).map_err(FetchFailure::io("read", &path))
}

/// SHA-256 of everything that the reader gives, in hexadecimal digits.
pub(crate) fn digest(mut reader: impl Read) -> io::Result<String> {
    let mut hasher = Sha256::new();
    io::copy(&mut reader, &mut hasher)?;
    Ok(hexadecimal(&hasher.finalize()))
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// For messages and records, which other people read.
pub(crate) fn without_credentials(url: &Url) -> String {
    let mut url = url.clone();
    // Both fail only for URLs that cannot have credentials.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_fragment(None);
    url.to_string()
}

fn successful(url: &Url, response: &Response) -> Result<(), FetchFailure> {
    let status = response.status();
    if status.is_success() {
        return Ok(());
    }
    Err(FetchFailure::Status { url: without_credentials(url), status: status.as_u16() })
}

fn network(url: &Url, error: &(dyn std::error::Error + 'static)) -> FetchFailure {
    FetchFailure::Network { url: without_credentials(url), why: root_cause(error) }
}

fn interrupted(url: &Url, error: &io::Error) -> FetchFailure {
    FetchFailure::Network {
        url: without_credentials(url),
        why: format!("the transfer broke off: {}", root_cause(error)),
    }
}
