//! The files that Python's `configparser` reads: `setup.cfg` and `pip.conf`.

use std::collections::BTreeMap;

/// Sections with their entries; keys in lower case. A value that goes on in indented lines keeps its line breaks. Lines
/// that make no sense are passed over.
pub(crate) fn parse(text: &str) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut sections: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let mut section: Option<String> = None;
    let mut key: Option<String> = None;
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with(['#', ';']) || trimmed.is_empty() {
            continue;
        }
        let Some(name) = &section else {
            section = heading(trimmed);
            continue;
        };
        let entries = sections.entry(name.clone()).or_default();
        if let (Some(key), true) = (&key, line.starts_with([' ', '\t'])) {
            let value: &mut String = entries.entry(key.clone()).or_default();
            value.push('\n');
            value.push_str(trimmed);
        } else if let Some(next) = heading(trimmed) {
            (section, key) = (Some(next), None);
        } else if let Some((name, value)) = trimmed.split_once(['=', ':']) {
            let name = name.trim().to_lowercase();
            entries.insert(name.clone(), value.trim().to_owned());
            key = Some(name);
        }
    }
    sections
}

fn heading(line: &str) -> Option<String> {
    Some(line.strip_prefix('[')?.split_once(']')?.0.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_values_and_continuations() {
        let text = "; top\n[global]\nIndex-URL = https://a/simple\nextra-index-url:\n  https://b/simple\n  # no\n  https://c/\n\n\
                    [install]\ncert=/x.pem\n";
        let sections = parse(text);
        assert_eq!(sections["global"]["index-url"], "https://a/simple");
        assert_eq!(sections["global"]["extra-index-url"], "\nhttps://b/simple\nhttps://c/");
        assert_eq!(sections["install"]["cert"], "/x.pem");
    }
}
