//! Takes out of a message what differs between two equal runs: places of temporary files, addresses in memory.

/// Replaces every occurrence of a path by its name, longest path first so that a folder does not hide what lies in it,
/// and every address such as `0x7f3a12ab1c10` by `0x...`.
pub(super) fn scrub(message: &str, replacements: &[(String, String)]) -> String {
    let mut text = message.to_owned();
    let mut ordered: Vec<_> = replacements.iter().filter(|(path, _)| path.len() > 1).collect();
    ordered.sort_by(|(left, _), (right, _)| right.len().cmp(&left.len()).then_with(|| left.cmp(right)));
    for (path, name) in ordered {
        text = text.replace(path, name);
    }
    without_addresses(&text)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_between_runs_goes() {
        let replacements =
            [("/tmp/run".to_owned(), "<scratch>".to_owned()), ("/tmp/run/a.py".to_owned(), "a.py".to_owned())];
        let cases = [
            ("no file /tmp/run/weights.pt", "no file <scratch>/weights.pt"),
            ("in /tmp/run/a.py line 3", "in a.py line 3"),
            ("<function f at 0x7fe312ab1c10> is bad", "<function f at 0x...> is bad"),
            ("mask 0xff, end 0x", "mask 0xff, end 0x"),
            ("0x7fe312ab1c10", "0x..."),
        ];
        for (message, expected) in cases {
            assert_eq!(scrub(message, &replacements), expected);
        }
    }
}
