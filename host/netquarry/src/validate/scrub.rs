//! Takes out of a message what differs between two equal runs: places of temporary files, addresses in memory; and what
//! would steer the terminal that it is shown on.

use std::ops::RangeInclusive;

/// Stands for the folder of one process.
pub(super) const SCRATCH: &str = "<scratch>";

/// Paths, each with the name that stands for it.
#[derive(Debug)]
pub(super) struct Places {
    /// Longest path first, so that a folder does not hide what lies in it.
    names: Vec<(String, String)>,
}

impl Places {
    pub(super) fn new(names: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut names: Vec<_> = names.into_iter().filter(|(path, _)| path.len() > 1).collect();
        names.sort_by(|(left, _), (right, _)| right.len().cmp(&left.len()).then_with(|| left.cmp(right)));
        Self { names }
    }

    /// Replaces every path by its name, every address such as `0x7f3a12ab1c10` by `0x...`, and every character that a
    /// terminal obeys by its number.
    pub(super) fn scrub(&self, message: &str) -> String {
        let named = self.names.iter().fold(message.to_owned(), |text, (path, name)| renamed(text, path, name));
        without_controls(without_addresses(&named))
    }
}

/// The text with a path replaced where it is all of a path or its beginning: `/tmp/run` in `/tmp/run/a`, not in
/// `/tmp/runs`, and not in `http://host/tmp/run`.
fn renamed(text: String, path: &str, name: &str) -> String {
    if !text.contains(path) {
        return text;
    }
    let mut result = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(start) = rest.find(path) {
        let (before, after) = (&rest[..start], &rest[start + path.len()..]);
        let begins = !before.ends_with(|last: char| last.is_alphanumeric());
        let mut next = after.chars();
        let ends = match next.next() {
            Some('.') => !next.next().is_some_and(char::is_alphanumeric),
            Some(next) => !next.is_alphanumeric() && !matches!(next, '_' | '-'),
            None => true,
        };
        result.push_str(before);
        result.push_str(if begins && ends { name } else { path });
        rest = after;
    }
    result + rest
}

fn without_addresses(text: &str) -> String {
    /// Shorter numbers are constants of the program.
    const SHORTEST_ADDRESS: usize = 6;
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("0x") {
        let digits = rest[start + 2..].bytes().take_while(u8::is_ascii_hexdigit).count();
        let end = start + 2 + digits;
        result.push_str(if digits >= SHORTEST_ADDRESS { &rest[..start + 2] } else { &rest[..end] });
        if digits >= SHORTEST_ADDRESS {
            result.push_str("...");
        }
        rest = &rest[end..];
    }
    result + rest
}

fn without_controls(text: String) -> String {
    if !text.contains(steers) {
        return text;
    }
    let spell =
        |character: char| if steers(character) { character.escape_unicode().collect() } else { character.to_string() };
    text.chars().map(spell).collect()
}

/// Whether a character moves the cursor, changes colours, or turns the direction in which text is read.
fn steers(character: char) -> bool {
    const DIRECTIONS: [RangeInclusive<char>; 2] = ['\u{202a}'..='\u{202e}', '\u{2066}'..='\u{2069}'];
    let is_control = character.is_control() && !matches!(character, '\n' | '\t');
    is_control || DIRECTIONS.iter().any(|range| range.contains(&character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_between_runs_goes() {
        let names = [("/tmp/run", "<scratch>"), ("/tmp/run/a.py", "a.py"), ("/w", "<folder>")];
        let places = Places::new(names.map(|(path, name)| (path.to_owned(), name.to_owned())));
        let cases = [
            ("no file /tmp/run/weights.pt", "no file <scratch>/weights.pt"),
            ("in /tmp/run/a.py line 3", "in a.py line 3"),
            ("neither /tmp/run nor '/tmp/run'.", "neither <scratch> nor '<scratch>'."),
            ("it is file:///tmp/run.", "it is file://<scratch>."),
            ("/tmp/runs, /tmp/run_2, /tmp/run.py", "/tmp/runs, /tmp/run_2, /tmp/run.py"),
            ("http://host/weights and http://host/w", "http://host/weights and http://host/w"),
            ("<function f at 0x7fe312ab1c10> is bad", "<function f at 0x...> is bad"),
            ("mask 0xff, end 0x", "mask 0xff, end 0x"),
            ("0x7fe312ab1c10", "0x..."),
            ("\u{1b}[2Jgone\rover\n\tand \u{202e}back", "\\u{1b}[2Jgone\\u{d}over\n\tand \\u{202e}back"),
        ];
        for (message, expected) in cases {
            assert_eq!(places.scrub(message), expected);
        }
    }
}
