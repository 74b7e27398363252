//! The page of a project in a simple API: JSON (PEP 691) or HTML (PEP 503), or a folder of archives.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use reqwest::Url;
use serde::Deserialize;
use serde_json::Value;

use super::configuration::IndexConfiguration;
use super::http::{Client, Page, digest, without_credentials};
use super::release::normalised;
use crate::failure::FetchFailure;

const ACCEPT: &str = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01";

/// What an index says about a project.
#[derive(Clone, Debug)]
pub(crate) struct ProjectPage {
    pub(crate) url: Url,
    pub(crate) files: Vec<IndexFile>,
}

/// One file of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexFile {
    pub(crate) name: String,
    pub(crate) url: Url,
    /// Lower-case hexadecimal digits.
    pub(crate) sha256: Option<String>,
    /// Withdrawn by its maintainers: taken only where exactly this version is asked for.
    pub(crate) yanked: bool,
    pub(crate) size: Option<u64>,
}

impl IndexFile {
    /// The file lies in a `find-links` folder of this machine.
    pub(crate) fn is_local(&self) -> bool {
        self.url.scheme() == "file"
    }

    /// A folder states no digests; its files are at hand to make them.
    pub(crate) fn state_digest(&mut self) -> Result<(), FetchFailure> {
        if self.is_local() {
            let path = self.url.to_file_path().expect("made from a path");
            let digest = File::open(&path).and_then(digest).map_err(FetchFailure::io("read", &path))?;
            self.sha256 = Some(digest);
        }
        Ok(())
    }
}

/// The pages of all places that may have the project, in the order in which they count, asked for one by one.
pub(crate) fn project_pages<'ask>(
    project: &'ask str,
    configuration: &'ask IndexConfiguration,
    client: &'ask Client<'_>,
) -> impl Iterator<Item = Result<ProjectPage, FetchFailure>> + 'ask {
    let folders = configuration.find_links.iter().filter_map(|folder| folder_page(folder)).map(Ok);
    folders.chain(configuration.indexes.iter().map(move |index| index_page(project, index, client)))
}

/// Every archive of a `find-links` folder; `None` where it cannot be read, as pip has it.
fn folder_page(folder: &Path) -> Option<ProjectPage> {
    let folder = folder.canonicalize().ok()?;
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&folder).ok()?.flatten() {
        let (Ok(name), Ok(url)) = (entry.file_name().into_string(), Url::from_file_path(entry.path())) else {
            continue;
        };
        let size = entry.metadata().ok().map(|metadata| metadata.len());
        files.push(IndexFile { name, url, sha256: None, yanked: false, size });
    }
    files.sort_by(|left, right| left.name.cmp(&right.name));
    Some(ProjectPage { url: Url::from_directory_path(&folder).ok()?, files })
}

fn index_page(project: &str, index: &Url, client: &Client<'_>) -> Result<ProjectPage, FetchFailure> {
    let url = index.join(&format!("{}/", normalised(project))).expect("a normalised name is a segment of a URL");
    let Some(page) = client.page(&url, ACCEPT)? else {
        return Err(FetchFailure::NoSuchProject { project: project.to_owned(), index: without_credentials(index) });
    };
    let page_failure = |why: String| FetchFailure::IndexPage { url: without_credentials(&url), why };
    let media_type = page.content_type.split(';').next().expect("splitting yields a part").trim().to_ascii_lowercase();
    let files = match media_type.as_str() {
        "application/vnd.pypi.simple.v1+json" | "application/json" => json_files(&page).map_err(page_failure)?,
        "application/vnd.pypi.simple.v1+html" | "text/html" | "application/xhtml+xml" | "" => html_files(&page),
        other => return Err(page_failure(format!("its content type is `{other}`"))),
    };
    Ok(ProjectPage { url, files })
}

#[derive(Deserialize)]
struct JsonPage {
    files: Vec<JsonFile>,
}

#[derive(Deserialize)]
struct JsonFile {
    filename: String,
    url: String,
    #[serde(default)]
    hashes: BTreeMap<String, String>,
    /// `false`, `true`, or the reason.
    #[serde(default)]
    yanked: Value,
    size: Option<u64>,
}

fn json_files(page: &Page) -> Result<Vec<IndexFile>, String> {
    let json: JsonPage = serde_json::from_slice(&page.body).map_err(|error| error.to_string())?;
    let file = |file: JsonFile| {
        Some(IndexFile {
            url: page.url.join(&file.url).ok().filter(is_web)?,
            name: file.filename,
            sha256: file.hashes.get("sha256").and_then(|digest| sha256(digest)),
            yanked: !matches!(file.yanked, Value::Null | Value::Bool(false)),
            size: file.size,
        })
    };
    Ok(json.files.into_iter().filter_map(file).collect())
}

/// The anchors of the page. The HTML of an index is flat, and nothing but anchors (and `<base>`) matters.
fn html_files(page: &Page) -> Vec<IndexFile> {
    let text = String::from_utf8_lossy(&page.body);
    let mut base = page.url.clone();
    let mut files = Vec::new();
    for (tag, attributes) in tags(&text) {
        let Some(link) = attributes.get("href") else { continue };
        let Ok(mut url) = base.join(link) else { continue };
        match tag.as_str() {
            "base" => base = url,
            "a" if is_web(&url) => {
                let digest = url.fragment().and_then(|fragment| fragment.strip_prefix("sha256=")).and_then(sha256);
                url.set_fragment(None);
                let segment = url.path_segments().and_then(|mut segments| segments.next_back()).unwrap_or("");
                let name = percent_decoded(segment);
                let yanked = attributes.contains_key("data-yanked");
                files.push(IndexFile { name, url, sha256: digest, yanked, size: None });
            }
            _ => {}
        }
    }
    files
}

/// An index never leads to files of this machine.
fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

fn sha256(text: &str) -> Option<String> {
    let digits = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    digits.then(|| text.to_ascii_lowercase())
}

/// Names of files hold few escapes, `%2B` of a local version above all.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let digits =
            (first == b'%').then(|| tail.get(..2)).flatten().and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The opening tags of an HTML text, names and attributes in lower case; comments and everything else are passed over.
fn tags(text: &str) -> Vec<(String, BTreeMap<String, String>)> {
    let mut tags = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('<') {
        if let Some(comment) = after.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, after)| after);
            continue;
        }
        let length = after.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(after.len());
        let (name, inside) = after.split_at(length);
        if name.is_empty() {
            rest = after;
            continue;
        }
        let (attributes, after) = attributes(inside);
        tags.push((name.to_ascii_lowercase(), attributes));
        rest = after;
    }
    tags
}

/// The attributes up to the `>` that ends the tag, and the text behind it.
fn attributes(mut rest: &str) -> (BTreeMap<String, String>, &str) {
    let mut attributes = BTreeMap::new();
    loop {
        rest = rest.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '/');
        if rest.is_empty() {
            return (attributes, rest);
        }
        if let Some(after) = rest.strip_prefix('>') {
            return (attributes, after);
        }
        let end =
            rest.find(|letter: char| letter.is_whitespace() || matches!(letter, '=' | '>' | '/')).unwrap_or(rest.len());
        // A stray `=` at the start is part of the name, as HTML has it, so that every round makes progress.
        let (name, after) = rest.split_at(end.max(rest.chars().next().map_or(1, char::len_utf8)));
        rest = after.trim_start();
        let mut value = "";
        if let Some(after) = rest.strip_prefix('=') {
            (value, rest) = attribute_value(after.trim_start());
        }
        attributes.entry(name.to_ascii_lowercase()).or_insert_with(|| unescaped(value));
    }
}

fn attribute_value(rest: &str) -> (&str, &str) {
    for quote in ['"', '\''] {
        if let Some(inside) = rest.strip_prefix(quote) {
            return inside.split_once(quote).unwrap_or((inside, ""));
        }
    }
    rest.split_at(rest.find(|letter: char| letter.is_whitespace() || letter == '>').unwrap_or(rest.len()))
}

/// Character references, as far as URLs and markers use them.
fn unescaped(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        result.push_str(before);
        let reference = after.split_once(';').and_then(|(name, after)| Some((character(name)?, after)));
        match reference {
            Some((letter, after)) => {
                result.push(letter);
                rest = after;
            }
            None => {
                result.push('&');
                rest = after;
            }
        }
    }
    result + rest
}

fn character(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "3cba95a76b0e7d7626f67741b60b864141517eb301b692c34c5637a41fdbfb4e";

    fn page(body: &str) -> Page {
        let url = Url::parse("https://index.test/simple/einops/").unwrap();
        Page { url, content_type: String::new(), body: body.as_bytes().to_vec() }
    }

    #[test]
    fn html_pages() {
        let files = html_files(&page(&format!(
            "<!DOCTYPE html><!-- <a href='no.whl'>no</a> --><BODY><a href=\"../../packages/einops-0.8.1.tar.gz#sha256={}\" \
             data-requires-python=\"&gt;=3.8\">x</a>\n<a rel=internal data-yanked='' href='https://f.test/a%2Bb-1-py3-none-any.whl?\
             x=1&amp;y=2'>y</a><a href=file:///etc/passwd>z</a><a name=anchor><a href=\"javascript:x\"><a = ==>",
            DIGEST.to_uppercase()
        )));
        let shown: Vec<_> = files.iter().map(|file| (file.name.as_str(), file.url.as_str(), file.yanked)).collect();
        assert_eq!(
            shown,
            [
                ("einops-0.8.1.tar.gz", "https://index.test/packages/einops-0.8.1.tar.gz", false),
                ("a+b-1-py3-none-any.whl", "https://f.test/a%2Bb-1-py3-none-any.whl?x=1&y=2", true),
            ]
        );
        assert_eq!(files[0].sha256.as_deref(), Some(DIGEST));
        assert_eq!(files[1].sha256, None);
    }

    #[test]
    fn html_that_makes_no_sense_has_no_files() {
        for text in ["", "<", "<a", "<a href", "<a href=", "<a href='", "<!--", "<a =", "&#x;", "<\u{e9}a href=x>"] {
            assert!(html_files(&page(text)).iter().all(|file| file.name != "x"), "{text}");
        }
    }

    #[test]
    fn a_base_moves_relative_links() {
        let files = html_files(&page("<base href=\"https://b.test/f/\"><a href=x-1.tar.gz>"));
        assert_eq!(files[0].url.as_str(), "https://b.test/f/x-1.tar.gz");
    }

    #[test]
    fn json_pages() {
        let text = format!(
            "{{\"meta\": {{\"api-version\": \"1.1\"}}, \"files\": [\
             {{\"filename\": \"a-1.tar.gz\", \"url\": \"/f/a-1.tar.gz\", \"hashes\": {{\"sha256\": \"{DIGEST}\"}}, \"size\": 9}},\
             {{\"filename\": \"a-2.tar.gz\", \"url\": \"/f/a-2.tar.gz\", \"hashes\": {{}}, \"yanked\": \"broken\"}},\
             {{\"filename\": \"a-3.tar.gz\", \"url\": \"file:///f/a-3.tar.gz\", \"hashes\": {{}}}}]}}"
        );
        let files = json_files(&page(&text)).unwrap();
        assert_eq!(files.len(), 2);
        assert_eq!((files[0].size, files[0].yanked, files[0].sha256.as_deref()), (Some(9), false, Some(DIGEST)));
        assert!(files[1].yanked);
        assert!(json_files(&page("{\"files\": 3}")).is_err());
    }
}
