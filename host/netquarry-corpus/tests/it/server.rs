//! A tiny HTTP server that answers from a table, for the tests of this crate.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What the server says to a path.
#[derive(Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) body: Vec<u8>,
    /// So many bytes of the body are sent, although the header promises all.
    pub(crate) truncated_at: Option<usize>,
    /// `Range` headers are honoured.
    pub(crate) ranges: bool,
    /// So many requests are answered with status 503 first.
    pub(crate) busy: usize,
    /// So many requests are answered, all later ones with status 503.
    pub(crate) gone_after: Option<usize>,
}

impl Answer {
    pub(crate) fn new(content_type: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status: 200,
            content_type,
            body: body.into(),
            truncated_at: None,
            ranges: false,
            busy: 0,
            gone_after: None,
        }
    }

    pub(crate) fn html(body: impl Into<Vec<u8>>) -> Self {
        Self::new("text/html; charset=utf-8", body)
    }

    pub(crate) fn json(body: impl Into<Vec<u8>>) -> Self {
        Self::new("application/vnd.pypi.simple.v1+json", body)
    }

    pub(crate) fn file(body: impl Into<Vec<u8>>) -> Self {
        Self::new("application/octet-stream", body)
    }
}

/// One request that the server saw: method, path and `Range` header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) range: Option<String>,
}

/// Serves until the process ends.
pub(crate) struct Server {
    pub(crate) url: String,
    answers: Arc<Mutex<BTreeMap<String, Answer>>>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let server = Self { url, answers: Arc::default(), seen: Arc::default() };
        let (answers, seen) = (Arc::clone(&server.answers), Arc::clone(&server.seen));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answers, seen) = (Arc::clone(&answers), Arc::clone(&seen));
                std::thread::spawn(move || while serve(&stream, &answers, &seen).is_some() {});
            }
        });
        server
    }

    pub(crate) fn index(&self) -> String {
        format!("{}simple/", self.url)
    }

    pub(crate) fn set(&self, path: &str, answer: Answer) {
        self.answers.lock().unwrap().insert(path.to_owned(), answer);
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn count(&self, path: &str) -> usize {
        self.seen().iter().filter(|seen| seen.path == path).count()
    }
}

/// Serves one request; `None` at the end of the connection.
fn serve(stream: &TcpStream, answers: &Mutex<BTreeMap<String, Answer>>, seen: &Mutex<Vec<Seen>>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (mut range, mut length) = (None, 0);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "range" => range = Some(value.to_owned()),
            "content-length" => length = value.parse().ok()?,
            _ => {}
        }
    }
    std::io::copy(&mut reader.take(length), &mut std::io::sink()).ok()?;
    seen.lock().unwrap().push(Seen { method: method.clone(), path: path.clone(), range: range.clone() });
    let answer = {
        let mut answers = answers.lock().unwrap();
        let answer = answers.get_mut(&path);
        let busy = answer.as_ref().is_some_and(|answer| answer.busy > 0 || answer.gone_after == Some(0));
        let result = match &answer {
            Some(_) if busy => Answer { status: 503, ..Answer::html("busy") },
            Some(answer) => (**answer).clone(),
            None => Answer { status: 404, ..Answer::html("not here") },
        };
        if let Some(answer) = answer {
            answer.busy = answer.busy.saturating_sub(1);
            answer.gone_after = answer.gone_after.map(|left| left.saturating_sub(1));
        }
        result
    };
    respond(stream, &method, range.as_deref().filter(|_| answer.ranges), &answer)
}

fn respond(mut stream: &TcpStream, method: &str, range: Option<&str>, answer: &Answer) -> Option<()> {
    let total = answer.body.len();
    let (status, part, extra) = match range.and_then(|range| bounds(range, total)) {
        Some((from, to)) => (206, &answer.body[from..=to], format!("Content-Range: bytes {from}-{to}/{total}\r\n")),
        None => (answer.status, &answer.body[..], String::new()),
    };
    let head = format!(
        "HTTP/1.1 {status} Status\r\nContent-Type: {}\r\nContent-Length: {}\r\n{extra}\r\n",
        answer.content_type,
        part.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    if method == "HEAD" {
        return Some(());
    }
    match answer.truncated_at {
        Some(bytes) => {
            stream.write_all(&part[..bytes]).ok()?;
            stream.shutdown(std::net::Shutdown::Both).ok()?;
            None
        }
        None => stream.write_all(part).ok(),
    }
}

/// `bytes=1-5` and `bytes=-5`, both ends inclusive.
fn bounds(range: &str, total: usize) -> Option<(usize, usize)> {
    let (from, to) = range.strip_prefix("bytes=")?.split_once('-')?;
    let last = total.checked_sub(1)?;
    match from.parse::<usize>() {
        Ok(from) => Some((from, to.parse::<usize>().ok()?.min(last))),
        Err(_) => Some((total.saturating_sub(to.parse().ok()?), last)),
    }
}
