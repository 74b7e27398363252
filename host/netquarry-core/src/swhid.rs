//! SWHIDs (ISO/IEC 18670, SWHID 1.2): identifiers of software artefacts that are computed from their content, by which
//! they can be found again wherever they are archived.
//!
//! A qualified identifier adds where the artefact was seen. Its qualifiers stand in one order, the standard's, so that
//! two equal identifiers are equal texts.

use std::fmt;
use std::str::FromStr;

use sha1::{Digest, Sha1};

use crate::source::ContentDigest;

/// What an identifier names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ObjectType {
    /// The bytes of a file.
    Content,
    /// A tree of git's.
    Directory,
    /// A commit.
    Revision,
    Release,
    Snapshot,
}

impl ObjectType {
    const ALL: [Self; 5] = [Self::Content, Self::Directory, Self::Revision, Self::Release, Self::Snapshot];

    /// As it stands in an identifier: `cnt`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Content => "cnt",
            Self::Directory => "dir",
            Self::Revision => "rev",
            Self::Release => "rel",
            Self::Snapshot => "snp",
        }
    }
}

/// An identifier without qualifiers: `swh:1:cnt:94a9ed024d3859793618152ea559a168bbcbb5e2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CoreSwhid {
    pub object: ObjectType,
    /// The digest that git names such an object by.
    pub digest: ContentDigest,
}

impl CoreSwhid {
    /// The identifier of a file's content: the SHA-1 of the content framed as a blob of git's.
    pub fn of_content(bytes: &[u8]) -> Self {
        let mut hasher = Sha1::new();
        hasher.update(format!("blob {}\0", bytes.len()));
        hasher.update(bytes);
        Self { object: ObjectType::Content, digest: ContentDigest(hasher.finalize().into()) }
    }

    /// The identifier of an object that git names by these forty hexadecimal digits. `None` where they are something
    /// else, such as the name of a repository that hashes by SHA-256.
    pub fn of_git(object: ObjectType, name: &str) -> Option<Self> {
        Some(Self { object, digest: name.parse().ok()? })
    }
}

/// An identifier with what is known about where the artefact was seen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Swhid {
    pub core: CoreSwhid,
    pub qualifiers: Qualifiers,
}

/// The context of an artefact. What is not known is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Qualifiers {
    /// The URL of the project or repository, unescaped.
    pub origin: Option<String>,
    /// The snapshot of a visit to the origin.
    pub visit: Option<CoreSwhid>,
    /// The directory, revision, release or snapshot that the path starts from.
    pub anchor: Option<CoreSwhid>,
    /// Absolute, unescaped: `/timm/layers/drop.py`.
    pub path: Option<String>,
    /// 1-based; the last one is inclusive, and none where it is one line.
    pub lines: Option<(u32, Option<u32>)>,
}

/// Why a text is no identifier; completes "`...` is no SWHID: ".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSwhid {
    #[error("`{0}` is no SWHID: it does not begin with `swh:1:` and an object type of cnt, dir, rev, rel or snp")]
    Scheme(String),
    #[error("`{0}` is no SWHID: forty lower-case hexadecimal digits follow the object type")]
    Digest(String),
    #[error("`{text}` is no SWHID: `{qualifier}` is no qualifier of the standard with a value that it may have")]
    Qualifier { text: String, qualifier: String },
    #[error("`{text}` is no SWHID: the qualifier `{name}` stands there twice")]
    Repeated { text: String, name: String },
}

impl fmt::Display for CoreSwhid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "swh:1:{}:{}", self.object.name(), self.digest)
    }
}

impl FromStr for CoreSwhid {
    type Err = InvalidSwhid;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.strip_prefix("swh:1:").and_then(|rest| rest.split_once(':'));
        let object = |(name, _): (&str, &str)| ObjectType::ALL.into_iter().find(|object| object.name() == name);
        let (Some(object), Some((_, digest))) = (parts.and_then(object), parts) else {
            return Err(InvalidSwhid::Scheme(text.to_owned()));
        };
        let is_lower = digest.chars().all(|letter| matches!(letter, '0'..='9' | 'a'..='f'));
        let digest = if is_lower { digest.parse().ok() } else { None };
        digest.map(|digest| Self { object, digest }).ok_or_else(|| InvalidSwhid::Digest(text.to_owned()))
    }
}

impl fmt::Display for Swhid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Qualifiers { origin, visit, anchor, path, lines } = &self.qualifiers;
        write!(formatter, "{}", self.core)?;
        if let Some(origin) = origin {
            // The percent sign first: it is in what the semicolon becomes.
            write!(formatter, ";origin={}", origin.replace('%', "%25").replace(';', "%3B"))?;
        }
        if let Some(visit) = visit {
            write!(formatter, ";visit={visit}")?;
        }
        if let Some(anchor) = anchor {
            write!(formatter, ";anchor={anchor}")?;
        }
        if let Some(path) = path {
            write!(formatter, ";path={}", escaped_path(path))?;
        }
        match lines {
            Some((first, Some(last))) => write!(formatter, ";lines={first}-{last}"),
            Some((first, None)) => write!(formatter, ";lines={first}"),
            None => Ok(()),
        }
    }
}

impl FromStr for Swhid {
    type Err = InvalidSwhid;

    /// Qualifiers are read in any order, and written in one.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.split(';');
        let core = parts.next().expect("splitting yields a part").parse()?;
        let mut qualifiers = Qualifiers::default();
        for qualifier in parts {
            let wrong = || InvalidSwhid::Qualifier { text: text.to_owned(), qualifier: qualifier.to_owned() };
            let (name, value) = qualifier.split_once('=').filter(|(_, value)| !value.is_empty()).ok_or_else(wrong)?;
            let is_new = match name {
                "origin" => set(&mut qualifiers.origin, unescaped(value).ok_or_else(wrong)?),
                "visit" => set(
                    &mut qualifiers.visit,
                    of_type(value, |object| object == ObjectType::Snapshot).ok_or_else(wrong)?,
                ),
                "anchor" => set(
                    &mut qualifiers.anchor,
                    of_type(value, |object| object != ObjectType::Content).ok_or_else(wrong)?,
                ),
                "path" => {
                    let path = unescaped(value).filter(|path| path.starts_with('/'));
                    set(&mut qualifiers.path, path.ok_or_else(wrong)?)
                }
                "lines" => set(&mut qualifiers.lines, line_range(value).ok_or_else(wrong)?),
                _ => return Err(wrong()),
            };
            if !is_new {
                return Err(InvalidSwhid::Repeated { text: text.to_owned(), name: name.to_owned() });
            }
        }
        Ok(Self { core, qualifiers })
    }
}

/// Whether there was no value before.
fn set<T>(place: &mut Option<T>, value: T) -> bool {
    place.replace(value).is_none()
}

fn of_type(text: &str, fits: impl Fn(ObjectType) -> bool) -> Option<CoreSwhid> {
    text.parse::<CoreSwhid>().ok().filter(|swhid| fits(swhid.object))
}

fn line_range(text: &str) -> Option<(u32, Option<u32>)> {
    match text.split_once('-') {
        Some((first, last)) => Some((first.parse().ok()?, Some(last.parse().ok()?))),
        None => Some((text.parse().ok()?, None)),
    }
}

/// The bytes of a path, all escaped but for slashes and what RFC 3986 reserves for nothing: more than `;` and `%`, which
/// have to be, and as Software Heritage itself writes them.
fn escaped_path(path: &str) -> String {
    let mut escaped = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                escaped.push(char::from(byte))
            }
            byte => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

/// `None` where an escape is broken or what comes out is no UTF-8.
fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            let is_hexadecimal = digits.iter().all(u8::is_ascii_hexdigit);
            let digits = std::str::from_utf8(&digits).ok().filter(|_| is_hexadecimal)?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use super::*;

    const BLOB: &str = "swh:1:cnt:94a9ed024d3859793618152ea559a168bbcbb5e2";
    const COMMIT: &str = "swh:1:rev:9e2b0f3a6e5e4b6f6bd1f1a9e5a8d6d3c1b0a998";

    #[test]
    fn known_contents() {
        let of_content = |bytes| CoreSwhid::of_content(bytes).to_string();
        assert_eq!(of_content(b""), "swh:1:cnt:e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(of_content(b"hello world\n"), "swh:1:cnt:3b18e512dba79e4c8300dd08aeb37f8e728b8dad");
    }

    /// Git itself is the oracle.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the oracle is another program")]
    fn as_git_hashes_objects() {
        for content in [b"".as_slice(), b"x = 1\n", b"\0\xff\r\n", &[b'a'; 100_000]] {
            let mut git = Command::new("git")
                .args(["hash-object", "--no-filters", "--stdin"])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .expect("there is a git");
            git.stdin.take().expect("it is piped").write_all(content).expect("git reads it all");
            let output = git.wait_with_output().expect("git ends");
            let hash = String::from_utf8(output.stdout).expect("hexadecimal digits");
            assert_eq!(CoreSwhid::of_content(content).to_string(), format!("swh:1:cnt:{}", hash.trim()));
        }
    }

    /// What is read is written as it was, in the order of the standard.
    #[test]
    fn qualified_identifiers_have_one_form() {
        let cases = [
            (String::new(), String::new()),
            (";lines=9".into(), ";lines=9".into()),
            (";lines=9-15;path=/a/b.py".into(), ";path=/a/b.py;lines=9-15".into()),
            (";origin=https://x.org/a?b=c".into(), ";origin=https://x.org/a?b=c".into()),
            (";origin=https://x.org/a%3Bb%25".into(), ";origin=https://x.org/a%3Bb%25".into()),
            (";path=/a%20b/%C3%A4.py".into(), ";path=/a%20b/%C3%A4.py".into()),
            (";path=/a b/ä.py".into(), ";path=/a%20b/%C3%A4.py".into()),
            (
                format!(";path=/a.py;anchor={COMMIT};origin=https://x.org/a.git"),
                format!(";origin=https://x.org/a.git;anchor={COMMIT};path=/a.py"),
            ),
        ];
        for (qualifiers, expected) in cases {
            let read: Swhid = format!("{BLOB}{qualifiers}").parse().expect(&qualifiers);
            assert_eq!(read.to_string(), format!("{BLOB}{expected}"));
            assert_eq!(read.to_string().parse(), Ok(read));
        }
    }

    #[test]
    fn what_is_no_identifier_is_told_with_the_reason() {
        let digits = "94a9ed024d3859793618152ea559a168bbcbb5e2";
        let cases = [
            (digits.to_owned(), "does not begin with"),
            (format!("swh:2:cnt:{digits}"), "does not begin with"),
            (format!("swh:1:ori:{digits}"), "does not begin with"),
            (format!("swh:1:cnt:{}", digits.to_uppercase()), "forty lower-case"),
            (format!("swh:1:cnt:{}", &digits[1..]), "forty lower-case"),
            (format!("{BLOB};"), "`` is no qualifier"),
            (format!("{BLOB};bytes=1-2"), "`bytes=1-2` is no qualifier"),
            (format!("{BLOB};path=a.py"), "`path=a.py` is no qualifier"),
            (format!("{BLOB};path=/%2"), "`path=/%2` is no qualifier"),
            (format!("{BLOB};path=/%+1"), "`path=/%+1` is no qualifier"),
            (format!("{BLOB};lines=a"), "`lines=a` is no qualifier"),
            (format!("{BLOB};anchor={BLOB}"), "is no qualifier"),
            (format!("{BLOB};visit={COMMIT}"), "is no qualifier"),
            (format!("{BLOB};lines=1;lines=1"), "`lines` stands there twice"),
        ];
        for (text, reason) in cases {
            let error = text.parse::<Swhid>().expect_err(&text).to_string();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn objects_of_git_are_named_by_their_digests() {
        let name = "9e2b0f3a6e5e4b6f6bd1f1a9e5a8d6d3c1b0a998";
        let revision = CoreSwhid::of_git(ObjectType::Revision, name).expect("it is a digest");
        assert_eq!(revision.to_string(), COMMIT);
        assert_eq!(CoreSwhid::of_git(ObjectType::Directory, &name.repeat(2)), None);
    }
}
