//! The comment at the top of every bundle: what it is, where it comes from, and on which terms.

use std::fmt::Write as _;

use netquarry_core::record::RecordSource;
use netquarry_core::source::Source;

/// What the header says.
#[derive(Clone, Copy, Debug)]
pub struct Header<'a> {
    pub block: &'a str,
    pub source: &'a Source,
    pub origin: &'a RecordSource,
    pub swhid: &'a str,
    pub license: Option<&'a str>,
    pub requirements: &'a [String],
    /// Those of them that only the name of an import stands for.
    pub assumed: &'a [String],
}

const END: &str = "# Assembled by NetQuarry; manifest.jsonl lists every definition and every edit.\n\n";

/// The header with the empty line that ends it.
pub fn text(header: &Header<'_>) -> String {
    let mut text = String::new();
    let [first, last] = header.origin.lines;
    let _ = writeln!(text, "# {}", header.block);
    text.push_str("#\n");
    let _ = writeln!(text, "# Source: {}", source(header.source));
    let _ = writeln!(text, "# File: {}, lines {first} to {last}", header.origin.path);
    let _ = writeln!(text, "# SWHID: {}", header.swhid);
    let _ = writeln!(text, "# SPDX-License-Identifier: {}", header.license.unwrap_or("NOASSERTION"));
    let (assumed, known): (Vec<&str>, Vec<&str>) =
        header.requirements.iter().map(String::as_str).partition(|name| header.assumed.iter().any(|it| it == name));
    if !known.is_empty() {
        let _ = writeln!(text, "# Requirements: {}", known.join(", "));
    }
    if !assumed.is_empty() {
        let _ = writeln!(text, "# Assumed from the names of imports: {}", assumed.join(", "));
    }
    text.push_str(END);
    // A path or a licence of upstream's may hold anything but must not end the comment.
    debug_assert!(text.lines().all(|line| line.is_empty() || line.starts_with('#')));
    text
}

/// The code of a bundle without its header.
pub fn strip(text: &str) -> &str {
    match text.split_once(END) {
        Some((header, code)) if header.lines().all(|line| line.starts_with('#')) => code,
        _ => text,
    }
}

fn source(source: &Source) -> String {
    let version = match (&source.version, &source.commit) {
        (Some(version), _) => format!(" {version}"),
        (None, Some(commit)) => format!(" at {commit}"),
        (None, None) => String::new(),
    };
    match &source.url {
        Some(url) => one_line(&format!("{}{version}, {url}", source.name)),
        None => one_line(&format!("{}{version}", source.name)),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use netquarry_core::source::SourceKind;

    use super::*;

    #[test]
    fn a_header_is_a_comment_with_provenance() {
        let mut record = crate::findings::tests::library().remove(1);
        record.requirements.insert(0, "einops".to_owned());
        let source = Source {
            name: "timm".to_owned(),
            kind: SourceKind::Pypi,
            version: Some("1.0.31".to_owned()),
            commit: None,
            tree: None,
            url: Some("https://pypi.org/simple/timm/".to_owned()),
            license: Some("Apache-2.0".to_owned()),
            distribution: Some("timm".to_owned()),
        };
        let header = text(&Header {
            block: &record.block,
            source: &source,
            origin: &record.source,
            swhid: &record.swhid,
            license: record.license.as_deref(),
            requirements: &record.requirements,
            assumed: &["einops".to_owned()],
        });
        insta::assert_snapshot!(header);
        assert_eq!(strip(&format!("{header}import torch\n")), "import torch\n");
        assert_eq!(strip("import torch\n"), "import torch\n");
    }
}
