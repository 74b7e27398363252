//! The names under which files are imported.

/// The dotted name of the file at `path`, which is relative to a folder of the module search path; beneath the package
/// `prefix`, where that is given. `None` for a file that no import statement can name.
pub fn name(prefix: Option<&str>, path: &str) -> Option<String> {
    let mut segments: Vec<_> = prefix.into_iter().chain(path.strip_suffix(".py")?.split('/')).collect();
    if segments.last() == Some(&"__init__") {
        segments.pop();
    }
    if segments.is_empty() || !segments.iter().all(|segment| is_identifier(segment)) {
        return None;
    }
    Some(segments.join("."))
}

/// Whether an import statement can name it. Python's identifiers are those of Unicode's XID properties, which alphabetic and
/// numeric characters approximate closely enough for names of files.
fn is_identifier(text: &str) -> bool {
    let mut letters = text.chars();
    let first = letters.next().is_some_and(|letter| letter == '_' || letter.is_alphabetic());
    first && letters.all(|letter| letter == '_' || letter.is_alphanumeric()) && !KEYWORDS.contains(&text)
}

const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
    "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];
