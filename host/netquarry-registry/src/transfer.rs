//! The HTTP client: bounded answers, https only, two attempts, errors that say what to do.

use std::io::{self, Read};
use std::time::Duration;

use reqwest::blocking::{Client as HttpClient, Response};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{StatusCode, Url};

use crate::location::leads_on;
use crate::notice::{Notice, Notify};

/// How often something that may pass is tried.
const ATTEMPTS: u32 = 2;

const MOST_REDIRECTS: usize = 10;

/// Why nothing came from a URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransferError {
    #[error("{url} does not answer: {why}; check the network and the proxy (HTTPS_PROXY)")]
    Network { url: String, why: String },
    #[error("{url} answers with status {status}; check the URL, or try again later")]
    Status { url: String, status: u16 },
    #[error("{url} is not followed: {why}; ask whoever runs the place to serve it over https")]
    Redirect { url: String, why: String },
    #[error("{url} sends more than {limit} bytes, and nothing of it was kept; ask whoever runs the registry")]
    TooLarge { url: String, limit: u64 },
    #[error("the HTTP client cannot be set up: {why}")]
    Client { why: String },
}

impl TransferError {
    fn may_pass(&self) -> bool {
        match self {
            Self::Network { .. } => true,
            Self::Status { status, .. } => matches!(status, 408 | 425 | 429 | 500..=599),
            Self::Redirect { .. } | Self::TooLarge { .. } | Self::Client { .. } => false,
        }
    }
}

pub(crate) struct Client {
    http: HttpClient,
    back_off: Duration,
}

/// What a server says.
pub(crate) enum Answer {
    Body {
        bytes: Vec<u8>,
        etag: Option<String>,
    },
    /// What the caller has under its entity tag is what the server has.
    NotModified,
}

impl Client {
    /// `patience` is for connecting, and for every read by itself; `back_off` the pause before a second attempt.
    pub(crate) fn new(patience: Duration, back_off: Duration) -> Result<Self, TransferError> {
        let http = HttpClient::builder()
            .user_agent(concat!("netquarry/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(patience)
            .timeout(patience)
            .redirect(Policy::custom(redirect))
            .build()
            .map_err(|error| TransferError::Client { why: causes(&error) })?;
        Ok(Self { http, back_off })
    }

    /// What lies at `url`, no more than `limit` bytes of it.
    pub(crate) fn get(
        &self,
        url: &Url,
        limit: u64,
        etag: Option<&str>,
        notify: Notify<'_>,
    ) -> Result<Answer, TransferError> {
        let mut pause = self.back_off;
        for _ in 1..ATTEMPTS {
            match self.try_once(url, limit, etag) {
                Err(error) if error.may_pass() => {
                    notify(&Notice::Retrying { why: error.to_string() });
                    std::thread::sleep(pause);
                    pause *= 2;
                }
                decided => return decided,
            }
        }
        self.try_once(url, limit, etag)
    }

    fn try_once(&self, url: &Url, limit: u64, etag: Option<&str>) -> Result<Answer, TransferError> {
        // Digests are those of the file, not of a compressed transfer of it.
        let mut request = self.http.get(url.clone()).header("Accept-Encoding", "identity");
        if let Some(etag) = etag {
            request = request.header("If-None-Match", etag);
        }
        let shown = without_credentials(url);
        let response = request.send().map_err(|error| failed(&shown, error))?;
        match response.status() {
            StatusCode::NOT_MODIFIED if etag.is_some() => return Ok(Answer::NotModified),
            status if status.is_success() => {}
            status => return Err(TransferError::Status { url: shown, status: status.as_u16() }),
        }
        let etag = response.headers().get("ETag").and_then(|value| value.to_str().ok()).map(str::to_owned);
        Ok(Answer::Body { bytes: body(response, limit, &shown)?, etag })
    }
}

fn body(response: Response, limit: u64, url: &str) -> Result<Vec<u8>, TransferError> {
    let too_large = || TransferError::TooLarge { url: url.to_owned(), limit };
    if response.content_length().is_some_and(|length| length > limit) {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    let broken = |error: io::Error| {
        let why = format!("the transfer broke off: {}", causes(&error));
        TransferError::Network { url: url.to_owned(), why }
    };
    response.take(limit + 1).read_to_end(&mut bytes).map_err(broken)?;
    if bytes.len() as u64 > limit { Err(too_large()) } else { Ok(bytes) }
}

fn redirect(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let from = attempt.previous().last().expect("something has redirected");
    if !leads_on(from, attempt.url()) {
        let why = format!("it leads to {}, which is not https", without_credentials(attempt.url()));
        attempt.error(why)
    } else if attempt.previous().len() > MOST_REDIRECTS {
        attempt.error("it leads in circles")
    } else {
        attempt.follow()
    }
}

fn failed(url: &str, error: reqwest::Error) -> TransferError {
    let error = error.without_url();
    let url = url.to_owned();
    if error.is_redirect() {
        let why = std::error::Error::source(&error).map_or_else(|| error.to_string(), causes);
        return TransferError::Redirect { url, why };
    }
    TransferError::Network { url, why: root_cause(&error) }
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

/// An error with what caused it, innermost last; causes that repeat what was said are left out.
pub(crate) fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    for cause in std::iter::successors(error.source(), |error| error.source()) {
        let next = cause.to_string();
        if !text.contains(&next) {
            text = format!("{text}: {next}");
        }
    }
    text
}

/// The two innermost causes: what stands around them names layers of libraries.
fn root_cause(error: &(dyn std::error::Error + 'static)) -> String {
    let chain: Vec<_> = std::iter::successors(Some(error), |error| error.source()).collect();
    causes(chain[chain.len().saturating_sub(2)])
}
