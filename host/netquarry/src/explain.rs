//! Why blocks failed, from the records of a library alone: what is at the root of each failure, and by which definitions
//! the block came to need it.

use std::collections::BTreeMap;

use netquarry_core::record::{BlockRecord, ClosureRecord};
use netquarry_core::verdict::{Failure, FailureClass};
use serde::Serialize;

/// Failures with one root: who mends it there has mended it for all of these blocks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailureGroup {
    pub class: FailureClass,
    /// The name that is missing, or the upstream line that raises, or else what is said.
    pub root: String,
    /// Identities, sorted.
    pub blocks: Vec<String>,
    /// The upstream lines at which it shows: `timm/layers/x.py:12`. Sorted.
    pub places: Vec<String>,
    /// The block with the shortest way to the root.
    pub example: Example,
}

/// One block of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Example {
    pub block: String,
    pub message: String,
    pub upstream: Option<String>,
    /// What to do about it, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// From the block to the definition that fails; empty where nothing tells which one that is.
    pub chain: Vec<Link>,
}

/// A definition, and by what name the one before it refers to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Link {
    pub definition: String,
    pub path: String,
    /// 1-based, inclusive.
    pub lines: [u32; 2],
    pub reference: Option<String>,
}

/// Failures by their roots, gathered record by record.
#[derive(Debug, Default)]
pub struct Groups(BTreeMap<(FailureClass, String), FailureGroup>);

impl Groups {
    /// Adds the failure of a block, if it failed.
    pub fn add_failure(&mut self, record: &BlockRecord) {
        if let Some(failure) = &record.failure {
            self.add(record, failure.clone());
        }
    }

    /// Adds the names that stay unresolved in a bundle that does not fail for it, or not yet: nothing has looked them up.
    pub fn add_latent(&mut self, record: &BlockRecord) {
        for unresolved in &record.unresolved {
            let failure = Failure {
                class: FailureClass::UnresolvedName,
                message: format!("name '{}': {}", unresolved.name, unresolved.message),
                upstream: Some(unresolved.upstream.clone()),
                hint: None,
            };
            // One that fails at this very place is told as a failure.
            let is_told = |known: &Failure| root(known) == root(&failure) || known.upstream == failure.upstream;
            if !record.failure.as_ref().is_some_and(is_told) {
                self.add(record, failure);
            }
        }
    }

    fn add(&mut self, record: &BlockRecord, failure: Failure) {
        let example = Example {
            block: record.block.clone(),
            chain: failure.upstream.as_deref().map_or(Vec::new(), |place| chain(record, place)),
            message: failure.message.clone(),
            upstream: failure.upstream.clone(),
            hint: failure.hint.clone(),
        };
        let root = root(&failure);
        let group = self.0.entry((failure.class, root.clone())).or_insert_with(|| FailureGroup {
            class: failure.class,
            root,
            blocks: Vec::new(),
            places: Vec::new(),
            example: example.clone(),
        });
        group.blocks.push(record.block.clone());
        group.places.extend(failure.upstream);
        let length = |example: &Example| (example.chain.is_empty(), example.chain.len());
        if length(&example) < length(&group.example) {
            group.example = example;
        }
    }

    /// Those of the most blocks first.
    pub fn sorted(self) -> Vec<FailureGroup> {
        let mut groups: Vec<FailureGroup> = self.0.into_values().collect();
        for group in &mut groups {
            for list in [&mut group.blocks, &mut group.places] {
                list.sort();
                list.dedup();
            }
        }
        groups.sort_by_key(|group| std::cmp::Reverse(group.blocks.len()));
        groups
    }
}

/// Blocks at which nothing failed and a level stayed open, for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UndecidedGroup {
    /// `arguments_not_found: construct`, or `parity_unknown: upstream_not_importable`.
    pub reason: String,
    /// Identities, sorted.
    pub blocks: Vec<String>,
    /// One of the blocks, and all that is said about it.
    pub example: String,
    pub note: String,
}

/// Open questions by their reasons, gathered record by record.
#[derive(Debug, Default)]
pub struct OpenQuestions(BTreeMap<String, UndecidedGroup>);

impl OpenQuestions {
    /// Adds the block if nothing failed and something stayed open.
    pub fn add(&mut self, record: &BlockRecord) {
        let Some(note) = record.evidence.open_question().filter(|_| record.failure.is_none()) else { return };
        let reason = note.splitn(3, ": ").take(2).collect::<Vec<_>>().join(": ");
        let group = self.0.entry(reason.clone()).or_insert_with(|| UndecidedGroup {
            reason,
            blocks: Vec::new(),
            example: record.block.clone(),
            note: note.to_owned(),
        });
        group.blocks.push(record.block.clone());
    }

    /// Those of the most blocks first.
    pub fn sorted(self) -> Vec<UndecidedGroup> {
        let mut groups: Vec<UndecidedGroup> = self.0.into_values().collect();
        groups.iter_mut().for_each(|group| group.blocks.sort());
        groups.sort_by_key(|group| std::cmp::Reverse(group.blocks.len()));
        groups
    }
}

/// What has to be mended: a name, a module, a line.
fn root(failure: &Failure) -> String {
    let message = failure.message.as_str();
    let place = || failure.upstream.clone();
    let named = match failure.class {
        FailureClass::UnresolvedName => quoted(message, "name '").map(str::to_owned),
        FailureClass::MissingDistribution
        | FailureClass::UnresolvedImport
        | FailureClass::NativeExtension
        | FailureClass::ApiDrift => missing_module(message).map(|module| match quoted(message, "import name '") {
            Some(name) => format!("{module}.{name}"),
            None => module.to_owned(),
        }),
        _ => None,
    };
    named.or_else(place).unwrap_or_else(|| message.lines().next().unwrap_or_default().to_owned())
}

/// The module that an import error is about.
pub fn missing_module(message: &str) -> Option<&str> {
    quoted(message, "No module named '").or_else(|| quoted(message, "' from '"))
}

/// What stands between `opening` (which ends with a quote) and the next quote.
fn quoted<'a>(message: &'a str, opening: &str) -> Option<&'a str> {
    let (_, rest) = message.split_once(opening)?;
    rest.split_once('\'').map(|(inner, _)| inner)
}

/// The definitions from the block to the one at `place`, `timm/layers/x.py:12`; from the first one of that file where
/// the line belongs to none, as those of imports do not.
pub fn chain(record: &BlockRecord, place: &str) -> Vec<Link> {
    let Some((path, line)) = place.rsplit_once(':') else { return Vec::new() };
    let line: u32 = line.parse().unwrap_or(0);
    let of_file = || record.closure.iter().filter(|closed| closed.path == path);
    let at_line = of_file().find(|closed| (closed.lines[0]..=closed.lines[1]).contains(&line));
    let mut links = Vec::new();
    let mut next = at_line.or_else(|| of_file().next());
    while let Some(closed) = next {
        links.push(link(closed));
        let by = closed.needed_by.as_ref();
        next = by.and_then(|by| record.closure.iter().find(|other| other.definition == *by));
        // Statements that bind the same name have the same path, and can be needed by each other.
        if links.len() > record.closure.len() {
            break;
        }
    }
    links.reverse();
    links
}

fn link(closed: &ClosureRecord) -> Link {
    Link {
        definition: closed.definition.clone(),
        path: closed.path.clone(),
        lines: closed.lines,
        reference: closed.reference.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(class: FailureClass, message: &str, upstream: Option<&str>) -> Failure {
        Failure { class, message: message.into(), upstream: upstream.map(str::to_owned), hint: None }
    }

    #[test]
    fn a_root_is_a_name_or_a_line_or_a_message() {
        let cases = [
            (FailureClass::UnresolvedName, "NameError: name 'x' is not defined", Some("a.py:3"), "x"),
            (FailureClass::MissingDistribution, "ModuleNotFoundError: No module named 'apex.x'", None, "apex.x"),
            (FailureClass::ApiDrift, "ImportError: cannot import name 'T' from 'torch.x' (a)", None, "torch.x.T"),
            (FailureClass::RuntimeError, "ValueError: no", Some("a.py:3"), "a.py:3"),
            (FailureClass::ParityMismatch, "state `a`: other\nand more", None, "state `a`: other"),
        ];
        for (class, message, upstream, expected) in cases {
            assert_eq!(root(&failure(class, message, upstream)), expected);
        }
    }

    fn closed(definition: &str, lines: [u32; 2], needed_by: Option<&str>) -> ClosureRecord {
        ClosureRecord {
            definition: format!("s:{definition}"),
            path: "a.py".into(),
            lines,
            sha1: String::new(),
            swhid: String::new(),
            license: None,
            needed_by: needed_by.map(|by| format!("s:{by}")),
            reference: needed_by.map(|_| definition.to_owned()),
            confidence: None,
        }
    }

    fn failing(block: &str, closure: Vec<ClosureRecord>) -> BlockRecord {
        let mut record = crate::findings::tests::library().remove(0);
        record.block = block.into();
        record.closure = closure;
        record.failure = Some(failure(FailureClass::RuntimeError, "ValueError: no", Some("a.py:12")));
        record
    }

    #[test]
    fn blocks_with_one_root_are_one_group_with_the_shortest_chain() {
        let (block, middle, end) =
            (closed("B", [1, 9], None), closed("m", [20, 29], Some("B")), closed("e", [10, 15], Some("m")));
        let short = closed("e", [10, 15], Some("B"));
        let records = [failing("s:long", vec![block.clone(), end, middle]), failing("s:short", vec![block, short])];
        let mut groups = Groups::default();
        records.iter().for_each(|record| groups.add_failure(record));
        let groups = groups.sorted();
        assert_eq!(groups.len(), 1);
        assert_eq!((groups[0].root.as_str(), groups[0].blocks.len()), ("a.py:12", 2));
        assert_eq!(groups[0].example.block, "s:short");
        let names = |record: &BlockRecord| -> Vec<String> {
            chain(record, "a.py:12").into_iter().map(|link| link.definition).collect()
        };
        assert_eq!(names(&records[0]), ["s:B", "s:m", "s:e"]);
        // A line that belongs to no definition, as that of an import, is traced to its file.
        assert_eq!(chain(&records[0], "a.py:99").len(), 1);
        assert!(chain(&records[0], "elsewhere.py:1").is_empty());
    }

    #[test]
    fn definitions_that_need_each_other_end_the_chain() {
        let record = failing("s:b", vec![closed("x", [1, 9], Some("y")), closed("y", [10, 19], Some("x"))]);
        assert_eq!(chain(&record, "a.py:12").len(), 3);
    }
}
