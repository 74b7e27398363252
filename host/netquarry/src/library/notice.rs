//! `NOTICE`: whose code the library holds, and on which terms, as those terms ask whoever passes it on to say.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use netquarry_core::license::copyright;
use netquarry_core::record::{BlockRecord, SourceRecord};
use netquarry_core::source::SourceKind;

use crate::problem::Problem;

/// Its name in the output folder.
pub const FILE_NAME: &str = "NOTICE";

const LINE: &str = "--------------------------------------------------------------------------------\n";

/// The text of a licence file of a source, by the file's path; `None` where it is not at hand for this version.
pub type LicenseTexts<'a> = dyn Fn(&SourceRecord, &str) -> Option<String> + 'a;

/// A source with all that the blocks have of it.
struct Origin {
    source: SourceRecord,
    blocks: usize,
    copyright: BTreeSet<String>,
    license_files: BTreeSet<String>,
    /// Files of which something is used and that state another licence than the source, by that licence.
    others: BTreeMap<Option<String>, BTreeSet<String>>,
}

/// The notice for the blocks that are kept.
///
/// # Errors
/// A record cannot be read.
pub fn text(
    kept: impl Iterator<Item = Result<BlockRecord, Problem>>,
    texts: &LicenseTexts<'_>,
) -> Result<String, Problem> {
    let mut blocks = 0;
    // Two versions of a source may stand in one library, where blocks were added to it later.
    let mut origins: BTreeMap<(String, String), Origin> = BTreeMap::new();
    for record in kept {
        let record = record?;
        blocks += 1;
        for source in &record.sources {
            let new = || Origin {
                source: source.clone(),
                blocks: 0,
                copyright: BTreeSet::new(),
                license_files: BTreeSet::new(),
                others: BTreeMap::new(),
            };
            let origin = origins.entry((source.name.clone(), version(source))).or_insert_with(new);
            origin.blocks += 1;
            let definitions = record.closure.iter().filter(|closed| closed.source() == source.name);
            for closed in definitions.filter(|closed| closed.license != source.license) {
                origin.others.entry(closed.license.clone()).or_default().insert(closed.path.clone());
            }
            origin.copyright.extend(source.copyright.iter().cloned());
            origin.license_files.extend(source.license_files.iter().cloned());
        }
    }
    let mut collected = Collected::default();
    let sections: Vec<String> = origins.into_values().map(|origin| section(origin, texts, &mut collected)).collect();
    let mut text = format!(
        "This folder holds blocks of neural networks ({blocks}) that NetQuarry assembled from the sources below, whose\n\
         authors hold the copyright in them. The first lines of each block name its licence, and its record says of\n\
         every definition which lines of which file it is, under which licence, and what was changed.\n\n"
    );
    text.extend(sections);
    for (number, license) in (1..).zip(&collected.texts) {
        let _ = write!(text, "{LINE}Licence text {number}\n{LINE}\n{}\n\n", license.trim_matches('\n'));
    }
    Ok(text)
}

/// Distinct licence texts, in the order in which they were met.
#[derive(Default)]
struct Collected {
    texts: Vec<String>,
    /// By their words: texts that differ in white space alone are one.
    numbers: BTreeMap<String, usize>,
}

impl Collected {
    fn number(&mut self, text: String) -> usize {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        *self.numbers.entry(words).or_insert_with(|| {
            self.texts.push(text.replace("\r\n", "\n"));
            self.texts.len()
        })
    }
}

fn section(mut origin: Origin, texts: &LicenseTexts<'_>, collected: &mut Collected) -> String {
    let source = &origin.source;
    let mut text = format!("{LINE}{} {}", source.name, version(source));
    text.truncate(text.trim_end().len());
    let _ = write!(text, "\n{LINE}\n");
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{name:<10}{value}");
    };
    // Where a folder lies is nobody else's business.
    let fetched = source.url.as_ref().filter(|_| source.kind != SourceKind::Local);
    for (name, value) in
        [("Origin", source.origin.as_ref()), ("Fetched", fetched), ("Revision", source.revision.as_ref())]
    {
        if let Some(value) = value {
            line(name, value);
        }
    }
    line("Licence", source.license.as_deref().unwrap_or("not known"));
    for (license, files) in &origin.others {
        let license = license.as_deref().unwrap_or("not known");
        files.iter().for_each(|file| line("Licence", &format!("{license} for what is from {file}")));
    }
    line("Blocks", &origin.blocks.to_string());
    for path in &origin.license_files {
        let known = texts(source, path);
        origin.copyright.extend(known.iter().flat_map(|text| copyright::of_text(text)));
        match known {
            Some(known) => line("Text", &format!("{path}: licence text {}", collected.number(known))),
            None => line("Text", &format!("{path}, in the source")),
        }
    }
    text.push('\n');
    for statement in &origin.copyright {
        let _ = writeln!(text, "{statement}");
    }
    if !origin.copyright.is_empty() {
        text.push('\n');
    }
    text
}

fn version(source: &SourceRecord) -> String {
    match (&source.version, &source.commit) {
        (Some(version), _) => version.clone(),
        (None, Some(commit)) => format!("at {commit}"),
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use netquarry_core::record::ClosureRecord;

    use super::*;

    fn source(name: &str, copyright: &[&str], license_files: &[&str]) -> SourceRecord {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        SourceRecord {
            name: name.to_owned(),
            kind: SourceKind::Pypi,
            version: Some("1.0".to_owned()),
            commit: None,
            distribution: Some(name.to_owned()),
            url: None,
            origin: Some(format!("https://pypi.org/project/{name}/")),
            revision: None,
            directory: None,
            license: Some("MIT".to_owned()),
            copyright: owned(copyright),
            license_files: owned(license_files),
        }
    }

    fn closed(definition: &str, path: &str, license: Option<&str>) -> ClosureRecord {
        ClosureRecord {
            definition: definition.to_owned(),
            path: path.to_owned(),
            lines: [1, 2],
            sha1: "0".repeat(40),
            swhid: format!("swh:1:cnt:{}", "0".repeat(40)),
            license: license.map(str::to_owned),
            needed_by: None,
            reference: None,
            confidence: None,
        }
    }

    #[test]
    fn every_source_stands_there_once_and_every_text_once() {
        let [mut first, mut second] = [0, 1].map(|place| crate::findings::tests::library().remove(place));
        first.sources =
            vec![source("timm", &["Copyright 2020 A"], &["LICENSE"]), source("vision", &[], &["LICENSE.txt"])];
        let commit = SourceRecord {
            version: None,
            commit: Some("c".repeat(40)),
            license: None,
            url: Some("https://host/mine.git".to_owned()),
            origin: Some("https://host/mine.git".to_owned()),
            revision: Some(format!("swh:1:rev:{}", "c".repeat(40))),
            ..source("mine", &[], &["COPYING"])
        };
        second.sources = vec![commit, source("timm", &["Copyright 2020 A", "Copyright 2021 B"], &["LICENSE"])];
        second.closure = vec![
            closed("timm:timm.layers.A", "timm/layers/a.py", Some("MIT")),
            closed("timm:timm.layers.B", "timm/layers/b.py", Some("GPL-3.0-or-later")),
            closed("mine:mine.C", "mine/c.py", None),
        ];
        let texts = |source: &SourceRecord, _: &str| match source.name.as_str() {
            "timm" => Some("MIT License\n\nCopyright (c) 2019 Somebody\n\nPermission is granted.\n".to_owned()),
            "vision" => Some("MIT  License\r\nCopyright (c) 2019 Somebody\r\nPermission is granted.".to_owned()),
            _ => None,
        };
        insta::assert_snapshot!(text([Ok(first), Ok(second)].into_iter(), &texts).unwrap());
    }
}
