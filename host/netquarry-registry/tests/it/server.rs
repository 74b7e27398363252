//! A tiny HTTP server on loopback: files of a folder, with entity tags, and answers from a table.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use netquarry_registry::digest::sha256;

/// What the server says to a path, whatever lies there in its folder.
#[derive(Clone, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
    /// So many bytes of the body are sent, although the header promises all.
    pub(crate) cut_at: Option<usize>,
    /// The header does not say how long the body is.
    pub(crate) unmeasured: bool,
    /// So many requests are answered, and later ones from the folder.
    pub(crate) times: Option<usize>,
}

impl Answer {
    pub(crate) fn body(body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, body: body.into(), ..Self::default() }
    }

    pub(crate) fn status(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    pub(crate) fn redirect(to: &str) -> Self {
        Self { status: 302, headers: vec![("Location", to.to_owned())], ..Self::default() }
    }
}

/// A request and the status of its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) status: u16,
}

/// Serves until the process ends.
pub(crate) struct Server {
    /// `http://127.0.0.1:PORT`
    pub(crate) url: String,
    answers: Arc<Mutex<BTreeMap<String, Answer>>>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    pub(crate) fn start(folder: &Path) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = Self { url, answers: Arc::default(), seen: Arc::default() };
        let (answers, seen) = (Arc::clone(&server.answers), Arc::clone(&server.seen));
        let folder = folder.to_path_buf();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answers, seen, folder) = (Arc::clone(&answers), Arc::clone(&seen), folder.clone());
                std::thread::spawn(move || while serve(&stream, &folder, &answers, &seen).is_some() {});
            }
        });
        server
    }

    pub(crate) fn set(&self, path: &str, answer: Answer) {
        self.answers.lock().unwrap().insert(path.to_owned(), answer);
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The statuses of all answers to a path, in order.
    pub(crate) fn statuses(&self, path: &str) -> Vec<u16> {
        self.seen().iter().filter(|seen| seen.path == path).map(|seen| seen.status).collect()
    }
}

/// A URL on this machine at which nobody listens.
pub(crate) fn dead_url() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

/// Serves one request; `None` at the end of the connection.
fn serve(
    stream: &TcpStream,
    folder: &Path,
    answers: &Mutex<BTreeMap<String, Answer>>,
    seen: &Mutex<Vec<Seen>>,
) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let path = line.split_whitespace().nth(1)?.to_owned();
    let mut known_tag = None;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(": ") else { break };
        if name.eq_ignore_ascii_case("if-none-match") {
            known_tag = Some(value.to_owned());
        }
    }
    let answer = answer(&path, known_tag, folder, answers);
    seen.lock().unwrap().push(Seen { path, status: answer.status });
    respond(stream, &answer)
}

fn answer(path: &str, known_tag: Option<String>, folder: &Path, answers: &Mutex<BTreeMap<String, Answer>>) -> Answer {
    if let Some(answer) = answers.lock().unwrap().get_mut(path)
        && answer.times != Some(0)
    {
        answer.times = answer.times.map(|times| times - 1);
        return answer.clone();
    }
    let file: PathBuf = folder.join(path.trim_start_matches('/'));
    let Ok(body) = std::fs::read(file) else { return Answer::status(404) };
    let tag = format!("\"{}\"", &sha256(&body)[..16]);
    if known_tag.as_ref() == Some(&tag) {
        return Answer::status(304);
    }
    Answer { headers: vec![("ETag", tag)], ..Answer::body(body) }
}

fn respond(mut stream: &TcpStream, answer: &Answer) -> Option<()> {
    let mut head = format!("HTTP/1.1 {} Status\r\n", answer.status);
    for (name, value) in &answer.headers {
        head += &format!("{name}: {value}\r\n");
    }
    if answer.unmeasured {
        head += "Connection: close\r\n";
    } else if answer.status != 304 {
        head += &format!("Content-Length: {}\r\n", answer.body.len());
    }
    stream.write_all(format!("{head}\r\n").as_bytes()).ok()?;
    let sent = answer.cut_at.unwrap_or(answer.body.len());
    // A client that has seen enough hangs up.
    stream.write_all(&answer.body[..sent]).ok()?;
    if answer.cut_at.is_some() || answer.unmeasured {
        let _ = stream.shutdown(Shutdown::Both);
        return None;
    }
    Some(())
}
