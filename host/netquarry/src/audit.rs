//! The quality of a library in figures, over all of its bundles: the four that the paper states for fifty files that were
//! looked at by hand, and the size.

use std::collections::{BTreeMap, BTreeSet};

use netquarry_core::record::{BlockRecord, ClosureRecord};
use netquarry_core::stdlib;
use serde::Serialize;

use crate::findings::Counted;
use crate::interval::Proportion;
use crate::validate::lookup::{Answer, AnswerOutcome, Lookup};

/// What an audit found.
#[derive(Debug, Serialize)]
pub struct Audit {
    pub blocks: usize,
    /// Those that have a file in the library: duplicates have none.
    pub bundles: usize,
    pub resolution: Resolution,
    pub formatting: Formatting,
    /// Bundles in which every name is resolved, but for those that upstream leaves undefined too.
    pub complete: Proportion,
    /// Bundles whose imports stand in the groups and the order of PEP 8.
    pub imports_in_order: Proportion,
    pub lines: Lines,
}

/// Names that were resolved, against what CPython binds them to when upstream is imported.
#[derive(Debug, Serialize)]
pub struct Resolution {
    /// Different names in different definitions; one that many blocks need counts once.
    pub resolved: usize,
    /// Of those that could be compared, those that mean the same.
    pub accuracy: Proportion,
    pub different: Vec<Misresolved>,
    /// Why the others could not be compared.
    pub not_compared: Vec<Counted>,
}

/// A name that means something else than what it was resolved to.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Misresolved {
    /// Module in which the name stands.
    pub user: String,
    pub reference: String,
    /// `timm/layers/drop.py:12-20`, the statement that was chosen.
    pub chosen: String,
    pub detail: String,
}

/// How much of upstream's text is as it was.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Formatting {
    pub definitions: usize,
    /// Definitions that stand in their bundle to the byte, comments and blank lines included.
    pub identical: usize,
    pub lines: usize,
    /// Lines of the definitions that stand in their bundle to the byte.
    pub identical_lines: usize,
    /// Definitions whose upstream text is not at hand.
    pub unknown: usize,
    /// Bundles with every definition as it was.
    pub untouched_bundles: usize,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lines {
    pub median: Option<u32>,
    pub ninth_decile: Option<u32>,
    pub most: Option<u32>,
}

/// A bundle of the library with its record.
pub struct Bundle {
    pub record: BlockRecord,
    pub text: String,
}

/// What closures say that names mean, by the source in whose definitions they stand, each once.
pub type Lookups = BTreeMap<String, BTreeSet<Lookup>>;

/// Adds what the closure of a block says.
pub fn add_lookups(all: &mut Lookups, record: &BlockRecord) {
    for (source, lookup) in record.closure.iter().filter_map(lookup) {
        all.entry(source).or_default().insert(lookup);
    }
}

fn lookup(closed: &ClosureRecord) -> Option<(String, Lookup)> {
    let (source, user) = closed.needed_by.as_ref()?.split_once(':')?;
    let chosen = closed.dotted_path();
    let module = |path: &str| path.rsplit_once('.').map(|(module, _)| module.to_owned());
    let lookup = Lookup {
        user: module(user)?,
        reference: closed.reference.clone()?,
        module: module(chosen)?,
        lines: closed.lines,
    };
    Some((source.to_owned(), lookup))
}

/// Counts the answers.
pub fn resolution<'a>(answered: impl Iterator<Item = (&'a Lookup, &'a Answer)>) -> Resolution {
    let (mut resolved, mut same) = (0, 0);
    let mut different = Vec::new();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for (lookup, answer) in answered {
        resolved += 1;
        match answer.outcome {
            AnswerOutcome::Same => same += 1,
            AnswerOutcome::Different => different.push(misresolved(lookup, answer)),
            AnswerOutcome::Unknown => {
                *reasons.entry(answer.detail.split(':').next().unwrap_or_default()).or_default() += 1;
            }
        }
    }
    different.sort();
    let counted = |(name, count): (&str, usize)| Counted { name: name.to_owned(), count };
    Resolution {
        resolved,
        accuracy: Proportion::of(same, same + different.len()),
        different,
        not_compared: reasons.into_iter().map(counted).collect(),
    }
}

fn misresolved(lookup: &Lookup, answer: &Answer) -> Misresolved {
    let [first, last] = lookup.lines;
    Misresolved {
        user: lookup.user.clone(),
        reference: lookup.reference.clone(),
        chosen: format!("{}:{first}-{last}", lookup.module),
        detail: answer.detail.clone(),
    }
}

impl Formatting {
    /// Compares the definitions in a bundle with upstream's text, which `upstream` gives for a definition.
    pub fn add<'a>(&mut self, bundle: &Bundle, upstream: &dyn Fn(&ClosureRecord) -> Option<&'a str>) {
        let mut is_untouched = true;
        let kept: BTreeSet<&str> = bundle.text.lines().collect();
        for closed in &bundle.record.closure {
            let Some(text) = upstream(closed) else {
                self.unknown += 1;
                continue;
            };
            let [first, last] = closed.lines;
            let lines = (last + 1).saturating_sub(first) as usize;
            let definition: Vec<&str> = text.lines().skip(first.saturating_sub(1) as usize).take(lines).collect();
            let is_identical = holds(&bundle.text, &definition.join("\n"));
            self.definitions += 1;
            self.lines += lines;
            self.identical += usize::from(is_identical);
            self.identical_lines += definition.iter().filter(|line| kept.contains(*line)).count();
            is_untouched &= is_identical;
        }
        self.untouched_bundles += usize::from(is_untouched);
    }
}

/// Whether `text` has `part` as whole lines.
fn holds(text: &str, part: &str) -> bool {
    text.match_indices(part).any(|(start, _)| {
        let (before, after) = (&text[..start], &text[start + part.len()..]);
        (before.is_empty() || before.ends_with('\n')) && (after.is_empty() || after.starts_with('\n'))
    })
}

/// Whether the imports at the top of a bundle stand as PEP 8 has them: before everything else, and in groups, which are the
/// future, the standard library and third parties, with an empty line between them and none but those.
pub fn has_imports_in_order(text: &str) -> bool {
    let mut group = 0;
    let mut has_gap = true;
    let mut is_after_code = false;
    for line in lines_at_top(text) {
        match import_group(line) {
            None if line.is_empty() => has_gap = true,
            None => is_after_code = true,
            Some(own) if is_after_code || own < group || (own > group && !has_gap) => return false,
            Some(own) => (group, has_gap) = (own, false),
        }
    }
    true
}

/// The lines before upstream's text, which a comment announces, and before the first statement with a body. Comments are left
/// out, and lines that go on with a statement.
fn lines_at_top(text: &str) -> impl Iterator<Item = &str> {
    const BODIES: [&str; 4] = ["class ", "def ", "if ", "try:"];
    let code = text.lines().take_while(|line| !line.starts_with("# --- ")).filter(|line| !line.starts_with('#'));
    let mut depth = 0_i32;
    let first_lines = code.filter(move |line| {
        let count = |sign| i32::try_from(line.matches(sign).count()).unwrap_or(0);
        let goes_on = depth > 0;
        depth += count('(') - count(')');
        !goes_on
    });
    first_lines.take_while(|line| !BODIES.iter().any(|start| line.starts_with(start)))
}

/// The position of the group; none for what is no import.
fn import_group(line: &str) -> Option<u8> {
    let module = line.strip_prefix("import ").or_else(|| line.strip_prefix("from "))?;
    let root = module.split(['.', ',', ' ']).next().expect("splitting yields a part");
    Some(match root {
        "__future__" => 1,
        root if stdlib::is_module(root) => 2,
        _ => 3,
    })
}

/// The sizes of bundles, from the lines of each.
pub fn lines(mut all: Vec<u32>) -> Lines {
    all.sort_unstable();
    let at = |share: usize| all.get((all.len().saturating_sub(1) * share + 5) / 10).copied();
    Lines { median: at(5), ninth_decile: at(9), most: all.last().copied() }
}

/// Whether all names are resolved that upstream resolves.
pub fn is_complete(record: &BlockRecord) -> bool {
    record.unresolved.iter().all(|unresolved| unresolved.undefined_upstream)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_in_order_or_not() {
        let cases = [
            ("", true),
            ("# a header\n\nimport math\nfrom os import path\n\nimport torch\nfrom torch import nn\n\nx = 1\n", true),
            ("from __future__ import annotations\n\nimport math\n\nimport torch\n", true),
            ("import torch\n\nimport math\n", false),
            ("import math\nimport torch\n", false),
            ("from typing import (\n    List,\n    Tuple,\n)\n\nimport torch\n", true),
            ("import torch\n\n\nclass A:\n    pass\n\n\nimport math\n", true),
            ("import math\nfeature = __import__(\"wsgiref.util\")\nfrom typing import List\n\nimport torch\n", false),
            ("import torch\n\nalias = torch.nn\n\n\n# --- a/b.py ---\nimport math\n", true),
            ("import torch\n\nif torch.cuda.is_available():\n    import numpy\nimport math\n", true),
            ("import math\n\n# Replaces a.b: as it is\nimport torch\n", true),
            ("import torch\n\n# Replaces a.b: as it is\nimport math\n", false),
        ];
        for (text, expected) in cases {
            assert_eq!(has_imports_in_order(text), expected, "{text}");
        }
    }

    #[test]
    fn definitions_are_compared_to_the_byte() {
        let mut record = crate::findings::tests::library().remove(0);
        let closed = |lines| ClosureRecord {
            definition: "s:m.f".into(),
            path: "m.py".into(),
            lines,
            sha1: String::new(),
            swhid: String::new(),
            license: None,
            needed_by: None,
            reference: None,
            confidence: None,
        };
        let upstream = "import torch\n\ndef f(x):\n    return x  # as it is\n\ndef g(x):\n    return f(x)\n\nY = 1\n";
        record.closure = vec![closed([3, 4]), closed([6, 7]), closed([9, 9])];
        let text = "def f(x):\n    return x  # as it is\n\n\ndef g_1(x):\n    return f(x)\n\nMY = 1\n".to_owned();
        let mut found = Formatting::default();
        found.add(&Bundle { record, text }, &|_| Some(upstream));
        let expected =
            Formatting { definitions: 3, identical: 1, lines: 5, identical_lines: 3, unknown: 0, untouched_bundles: 0 };
        assert_eq!(found, expected);
    }

    #[test]
    fn names_are_looked_up_once_and_counted_by_the_answer() {
        let lookup = |reference: &str| Lookup {
            user: "a.b".into(),
            reference: reference.into(),
            module: "a.c".into(),
            lines: [1, 2],
        };
        let answer = |outcome, detail: &str| Answer { outcome, detail: detail.into() };
        let asked = [lookup("x"), lookup("y"), lookup("z")];
        let answers = [
            answer(AnswerOutcome::Same, ""),
            answer(AnswerOutcome::Different, "it is a.d.y"),
            answer(AnswerOutcome::Unknown, "not_global: it is bound while a function runs"),
        ];
        let found = resolution(asked.iter().zip(&answers));
        assert_eq!((found.resolved, found.accuracy.successes, found.accuracy.trials), (3, 1, 2));
        assert_eq!(found.different[0].chosen, "a.c:1-2");
        assert_eq!(found.not_compared, [Counted { name: "not_global".into(), count: 1 }]);
    }
}
