//! Names of files as archives and trees give them, and which of them a snapshot takes.

/// Why a name is not taken as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadPath {
    /// The name would lead out of the root. Nobody writes one by accident.
    #[error("it leads out of the archive's own folder")]
    Escapes,
    /// Legal somewhere, but not a name that a Python import could mean.
    #[error("its name is odd (control characters, backslashes, or too long)")]
    Odd,
}

const LONGEST_SEGMENT: usize = 255;
const LONGEST_PATH: usize = 1024;

/// `name` as a path within the root: relative, forward slashes, no `.`, `..` or empty segments.
pub(crate) fn checked(name: &str) -> Result<String, BadPath> {
    let bytes = name.as_bytes();
    let drive = bytes.len() >= 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':';
    if name.starts_with('/') || name.starts_with('\\') || drive {
        return Err(BadPath::Escapes);
    }
    if name.split(['/', '\\']).any(|segment| segment == "..") {
        return Err(BadPath::Escapes);
    }
    let segments: Vec<_> = name.split('/').filter(|segment| !segment.is_empty() && *segment != ".").collect();
    let path = segments.join("/");
    let odd = |letter: char| letter.is_control() || letter == '\\' || letter == '\u{fffd}';
    let too_long = path.len() > LONGEST_PATH || segments.iter().any(|segment| segment.len() > LONGEST_SEGMENT);
    if path.is_empty() || path.contains(odd) || too_long { Err(BadPath::Odd) } else { Ok(path) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_normalised_or_refused() {
        assert_eq!(checked("./a//b/./c.py").as_deref(), Ok("a/b/c.py"));
        assert_eq!(checked("a/..b/c..py").as_deref(), Ok("a/..b/c..py"));
        for name in ["/etc/passwd", "a/../b.py", "..", "a/..", "\\x", "a\\..\\b", "C:\\x.py", "c:/x.py"] {
            assert_eq!(checked(name), Err(BadPath::Escapes), "{name}");
        }
        let long = format!("{}.py", "x".repeat(300));
        for name in ["", ".", "a\\b.py", "a\nb.py", "a\0.py", "a\u{fffd}.py", &long, &"a/".repeat(600)] {
            assert_eq!(checked(name), Err(BadPath::Odd), "{name:?}");
        }
    }
}
