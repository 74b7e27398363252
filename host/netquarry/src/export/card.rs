//! The card of a dataset: what is in it, where it is from, on which terms, and how it is loaded.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use netquarry_core::verdict::Level;
use serde::{Deserialize, Serialize};
use spdx::{Expression, ParseMode};

use super::dataset::{name, path};
use super::table::Size;
use super::tally::{SourceTally, Tally};
use super::terms::CodePolicy;
use crate::curation::Split;
use crate::library::required::{Required, Role};
use crate::quantity::{human_count, human_things};

/// What a card is made of.
pub struct Card<'a> {
    pub tally: &'a Tally,
    pub sizes: &'a BTreeMap<Split, Size>,
    pub required: &'a [Required],
    pub policy: CodePolicy,
    pub notice_sha256: &'a str,
}

/// The YAML at the head of a card, as the Hub reads it.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct FrontMatter {
    pub pretty_name: String,
    pub license: Vec<String>,
    pub task_categories: Vec<String>,
    pub size_categories: Vec<String>,
    pub tags: Vec<String>,
    pub configs: Vec<Config>,
    pub dataset_info: DatasetInfo,
    /// Of the notice beside the card; a key of our own.
    pub notice_sha256: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    pub config_name: String,
    pub data_files: Vec<DataFile>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct DataFile {
    pub split: String,
    pub path: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct DatasetInfo {
    pub splits: Vec<SplitInfo>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct SplitInfo {
    pub name: String,
    /// `datasets` refuses a table with another number of rows.
    pub num_examples: usize,
    pub num_bytes: usize,
}

/// By which a card is known to be ours.
const TAG: &str = "netquarry";

/// The identifiers of SPDX that the Hub has under another name than theirs in small letters.
const HUB_NAMES: [(&str, &str); 8] = [
    ("AGPL-3.0-only", "agpl-3.0"),
    ("AGPL-3.0-or-later", "agpl-3.0"),
    ("GPL-2.0-only", "gpl-2.0"),
    ("GPL-2.0-or-later", "gpl-2.0"),
    ("GPL-3.0-only", "gpl-3.0"),
    ("GPL-3.0-or-later", "gpl-3.0"),
    ("LGPL-3.0-only", "lgpl-3.0"),
    ("LGPL-3.0-or-later", "lgpl-3.0"),
];

/// Those that it has under their own name in small letters.
const HUB_LICENSES: [&str; 17] = [
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSD-3-Clause-Clear",
    "BSL-1.0",
    "CC-BY-4.0",
    "CC-BY-NC-4.0",
    "CC-BY-NC-SA-4.0",
    "CC-BY-SA-4.0",
    "CC0-1.0",
    "EPL-2.0",
    "ISC",
    "MIT",
    "MPL-2.0",
    "NCSA",
    "Unlicense",
    "Zlib",
];

/// What it has for all others.
const OTHER: &str = "other";

/// The text of a card.
pub fn text(card: &Card<'_>) -> String {
    let yaml = serde_saphyr::to_string(&front_matter(card)).expect("the head of a card is plain");
    let mut text = format!("---\n{}\n---\n\n", yaml.trim_end());
    let _ = writeln!(text, "# {}\n", title(card));
    text.push_str(&introduction(card));
    text.push_str(&sides(card));
    text.push_str(&levels(card));
    text.push_str(&origins(card));
    text.push_str(&terms(card));
    text.push_str(&loading(card));
    text
}

/// What stands at the head of a card; none for a text that is none of ours.
pub fn read(text: &str) -> Option<FrontMatter> {
    let (yaml, _) = text.strip_prefix("---\n")?.split_once("\n---\n")?;
    let head: FrontMatter = serde_saphyr::from_str(yaml).ok()?;
    head.tags.iter().any(|tag| tag == TAG).then_some(head)
}

/// Whether a card that may be damaged was one of ours.
pub fn looks_ours(text: &str) -> bool {
    text.lines().any(|line| line.trim_start_matches([' ', '-']) == TAG)
}

/// Whether a card is one that an export wrote.
pub fn is_ours(text: &str) -> bool {
    read(text).is_some()
}

fn front_matter(card: &Card<'_>) -> FrontMatter {
    let file = |split: &Split| DataFile { split: name(*split).to_owned(), path: path(*split) };
    let info = |(split, size): (&Split, &Size)| SplitInfo {
        name: name(*split).to_owned(),
        num_examples: size.rows,
        num_bytes: size.bytes,
    };
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    FrontMatter {
        pretty_name: title(card),
        license: hub_licenses(&card.tally.licenses_of_code),
        task_categories: words(&["text-generation"]),
        size_categories: words(&[size_category(card.tally.blocks)]),
        tags: words(&["code", "pytorch", "neural-networks", TAG]),
        configs: vec![Config { config_name: "default".to_owned(), data_files: card.sizes.keys().map(file).collect() }],
        dataset_info: DatasetInfo { splits: card.sizes.iter().map(info).collect() },
        notice_sha256: card.notice_sha256.to_owned(),
    }
}

fn title(card: &Card<'_>) -> String {
    const NAMED: usize = 3;
    let mut by_size: Vec<(&String, &SourceTally)> = card.tally.sources.iter().collect();
    by_size.sort_by_key(|(_, source)| std::cmp::Reverse(source.blocks));
    let names: Vec<&str> = by_size.iter().take(NAMED).map(|(name, _)| name.as_str()).collect();
    let (named, others) = (names.join(", "), by_size.len().saturating_sub(NAMED));
    match others {
        0 => format!("PyTorch blocks of {named}"),
        others => format!("PyTorch blocks of {named} and {}", human_things(others, "other source")),
    }
}

/// The identifiers of the Hub for all licences that stand in these expressions; `other` where it has none, or where an
/// expression is not known.
pub fn hub_licenses(expressions: &BTreeSet<Option<String>>) -> Vec<String> {
    let names: BTreeSet<String> =
        expressions.iter().flat_map(|expression| hub_licenses_of(expression.as_deref())).collect();
    if names.is_empty() { vec![OTHER.to_owned()] } else { names.into_iter().collect() }
}

fn hub_licenses_of(expression: Option<&str>) -> Vec<String> {
    match expression.map(|text| Expression::parse_mode(text, ParseMode::STRICT)) {
        Some(Ok(expression)) => {
            expression.requirements().map(|each| hub_license(&each.req.license.to_string())).collect()
        }
        Some(Err(_)) | None => vec![OTHER.to_owned()],
    }
}

fn hub_license(identifier: &str) -> String {
    match HUB_NAMES.iter().find(|(spdx, _)| *spdx == identifier) {
        Some((_, hub)) => (*hub).to_owned(),
        None if HUB_LICENSES.contains(&identifier) => identifier.to_lowercase(),
        None => OTHER.to_owned(),
    }
}

fn size_category(rows: usize) -> &'static str {
    match rows {
        0..1_000 => "n<1K",
        1_000..10_000 => "1K<n<10K",
        10_000..100_000 => "10K<n<100K",
        100_000..1_000_000 => "100K<n<1M",
        _ => "1M<n<10M",
    }
}

fn introduction(card: &Card<'_>) -> String {
    let tally = card.tally;
    let version = env!("CARGO_PKG_VERSION");
    let categories: Vec<String> =
        tally.categories.iter().map(|(name, count)| format!("{} {name}", human_count(*count))).collect();
    format!(
        "{} of the sources below, each a `torch.nn.Module` class with all the Python code that it needs, as one file.\n\
         NetQuarry {version} took the definitions that a class can reach out of its repository, kept upstream's text but for\n\
         recorded edits, and left duplicates out. `level` says how far a block came in a confined process in which its sources\n\
         cannot be imported.\n\n\
         By category: {}.\n\n",
        human_things(tally.blocks, "block"),
        categories.join(", ")
    )
}

fn sides(card: &Card<'_>) -> String {
    let mut text = "## Splits\n\n| split | rows |\n|---|---:|\n".to_owned();
    for (split, size) in card.sizes {
        let _ = writeln!(text, "| {} | {} |", name(*split), human_count(size.rows));
    }
    text.push_str(
        "\nThe side of a block depends on the path of its upstream file alone (its SHA-256; 80%, 10% and 10% of all paths), so\n\
         blocks of one file are never on two sides. Helpers that files share can still be in blocks of several sides.\n\n",
    );
    text
}

fn levels(card: &Card<'_>) -> String {
    let mut text = "## Levels\n\nThe highest level that a block reached, with none below it failed or unknown \
                    (`level`):\n\n| level | blocks |\n|---|---:|\n"
        .to_owned();
    for (level, count) in &card.tally.levels {
        let name = Level::ALL.iter().find(|each| **each as u8 == *level).map_or("none", |level| level.name());
        let _ = writeln!(text, "| {level} {name} | {} |", human_count(*count));
    }
    text.push('\n');
    text
}

fn origins(card: &Card<'_>) -> String {
    let mut text =
        "## Sources\n\n| source | version | where | licences of its definitions | blocks with definitions of it \
                    |\n|---|---|---|---|---:|\n"
            .to_owned();
    for (name, source) in &card.tally.sources {
        let listed = || card.required.iter().find(|each| each.role == Role::Source && each.name == *name);
        let version = match source.record {
            Some(_) => source.version(),
            None => listed().and_then(|listed| listed.version.as_deref()),
        };
        let version = version.unwrap_or("-");
        // Not where it was fetched from: of a folder that is a path of whoever exports.
        let origin = source.record.as_ref().and_then(|record| record.origin.as_deref()).unwrap_or("-");
        let licenses: Vec<&str> = source.licenses.iter().map(|license| known(license.as_deref())).collect();
        let licenses = if licenses.is_empty() { "-".to_owned() } else { licenses.join(", ") };
        let _ = writeln!(text, "| {name} | {version} | {origin} | {licenses} | {} |", human_count(source.blocks));
    }
    text.push('\n');
    text
}

fn terms(card: &Card<'_>) -> String {
    let tally = card.tally;
    let mut text =
        "## Terms\n\nBlocks stay under the licences of their upstream: `license` is an SPDX expression, the \
                    conjunction over all definitions of\na block, and the head of each file names its source. `NOTICE` has whom the copyright is of and the texts of the\nlicences; it \
                    goes with whatever you pass on.\n"
            .to_owned();
    text.push_str(match card.policy {
        CodePolicy::Permissive => {
            "`code` is there where that expression can be satisfied by licences that OSI has approved and that are not\n\
             copyleft; elsewhere it is null, and `code_left_out` says why.\n"
        }
        CodePolicy::All => "`code` is there whatever its licence; check that you may use what you take.\n",
        CodePolicy::None => "No code was asked for: `code` is null.\n",
    });
    let _ = writeln!(text, "{} with code.\n\n| licence | blocks |\n|---|---:|", human_things(tally.with_code, "block"));
    for (license, count) in &tally.licenses {
        let _ = writeln!(text, "| {} | {} |", known(license.as_deref()), human_count(*count));
    }
    if !tally.left_out.is_empty() {
        text.push_str("\n| code left out because | blocks |\n|---|---:|\n");
        for (reason, count) in &tally.left_out {
            let _ = writeln!(text, "| {reason} | {} |", human_count(*count));
        }
    }
    text.push('\n');
    text
}

fn known(license: Option<&str>) -> &str {
    license.unwrap_or("not known")
}

fn loading(card: &Card<'_>) -> String {
    let first = card.sizes.keys().next().map_or("train", |split| name(*split));
    format!(
        "## Loading\n\n```python\nfrom datasets import load_dataset\n\n\
         blocks = load_dataset(\"path/to/this/folder\", split=\"{first}\")\n\
         print(blocks[0][\"id\"], blocks[0][\"license\"])\n```\n\n\
         `sha256` is the digest of `code`, also where that is left out. `netquarry verify .` checks all of them. `inputs` and\n\
         `outputs` are what the block was run with, `constructor_arguments` and `forward_arguments` Python expressions, all as \
         JSON.\n",
    )
}

#[cfg(test)]
mod tests {
    use netquarry_core::source::SourceKind;

    use super::*;
    use crate::export::tally::tests::{record, source};

    #[test]
    fn a_card_says_what_is_there_and_is_read_back() {
        let mut records = crate::findings::tests::library();
        records.retain(super::super::blocks::is_promoted);
        let mut tally = Tally::default();
        for record in &mut records {
            record.sources = vec![source(&record.source.name, SourceKind::Pypi, "https://pypi.org/simple/")];
            tally.add(record, CodePolicy::Permissive.refusal(record.license.as_deref()).as_deref());
        }
        let sizes = [Split::Train, Split::Dev].map(|split| (split, Size { rows: 1, bytes: 1000 })).into();
        let text = text(&Card {
            tally: &tally,
            sizes: &sizes,
            required: &[],
            policy: CodePolicy::Permissive,
            notice_sha256: "0a",
        });
        insta::assert_snapshot!(text.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
        let head = read(&text).expect("it is ours");
        let counts: Vec<(&str, usize)> =
            head.dataset_info.splits.iter().map(|split| (split.name.as_str(), split.num_examples)).collect();
        assert_eq!(counts, [("train", 1), ("validation", 1)]);
        assert!(!is_ours("# Another dataset\n") && !is_ours("---\nlicense: mit\n---\n"));
    }

    #[test]
    fn a_card_names_origins_but_no_folder_and_tells_of_licences_that_are_not_known() {
        let mut known = record();
        known.license = Some("MIT".to_owned());
        let mut tally = Tally::default();
        for record in [known, record()] {
            tally.add(&record, None);
        }
        let sizes = [(Split::Train, Size { rows: 2, bytes: 1000 })].into();
        let required = [folder("mine", "/home/me/mine")];
        let text = text(&Card {
            tally: &tally,
            sizes: &sizes,
            required: &required,
            policy: CodePolicy::All,
            notice_sha256: "0a",
        });
        assert_eq!(read(&text).expect("it is ours").license, ["mit", "other"]);
        for line in [
            "| mine | - | - | MIT | 2 |",
            "| vision | 1.2 | https://pypi.org/project/vision-full/ | BSD-3-Clause | 2 |",
            "| yolov5 | 1.2 | https://github.com/Ultralytics/yolov5.git | not known, AGPL-3.0-only | 2 |",
            "| not known | 1 |",
        ] {
            assert!(text.lines().any(|each| each == line), "{line} is not in\n{text}");
        }
        assert!(!text.contains("/home/me"), "{text}");
    }

    /// What `required_repos.json` says of a folder.
    fn folder(name: &str, path: &str) -> Required {
        Required {
            name: name.to_owned(),
            role: Role::Source,
            basis: None,
            imports: Vec::new(),
            version: None,
            declared: Vec::new(),
            url: Some(path.to_owned()),
            swhid: None,
            license: None,
            blocks: 2,
        }
    }

    #[test]
    fn licences_have_the_names_of_the_hub() {
        let known = |expression: &&str| Some((*expression).to_owned());
        let names = |expressions: &[&str]| hub_licenses(&expressions.iter().map(known).collect());
        assert_eq!(names(&["Apache-2.0 AND BSD-3-Clause", "MIT"]), ["apache-2.0", "bsd-3-clause", "mit"]);
        assert_eq!(names(&["AGPL-3.0-only", "LicenseRef-NVIDIA"]), ["agpl-3.0", "other"]);
        assert_eq!(names(&["MIT", "see LICENSE"]), ["mit", "other"]);
        assert_eq!(names(&[]), ["other"]);
        assert_eq!(hub_licenses(&[None, Some("MIT".to_owned())].into()), ["mit", "other"]);
    }
}
