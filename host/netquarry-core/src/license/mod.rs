//! Licences as SPDX expressions: what a text states, what the head of a file states, and what holds for several
//! definitions together.
//!
//! Nothing is guessed. A name that several licences bear (`BSD`, `GPL`) becomes a reference of its own,
//! `LicenseRef-BSD`, which is valid in an expression and says no more than upstream did.

pub mod copyright;
pub mod policy;
mod sentences;
mod texts;

use std::collections::BTreeSet;

use spdx::expression::{ExprNode, Operator};
use spdx::{Expression, ParseMode};

/// Names that `spdx` takes for one licence of a family, or for the wrong one (`gnu gpl v2` for version 3).
const AMBIGUOUS: [&str; 7] = ["agpl", "bsd", "gnu gpl v2", "gnu gpl v3", "gpl", "lgpl", "mpl"];

/// Words that say nothing about which licence it is.
const FILLERS: [&str; 6] = ["the", "license", "licence", "version", "software", "public"];

/// The SPDX expression in its canonical form: identifiers as SPDX spells them, deprecated ones of GNU replaced,
/// operands sorted and each once. `None` where `text` is not an expression.
pub fn expression(text: &str) -> Option<String> {
    parsed(text).map(|term| term.to_string())
}

/// What a short statement in packaging metadata means, as an expression: `Apache License, Version 2.0` is `Apache-2.0`.
/// A statement that does not say which licence it means becomes a `LicenseRef-` of its own words.
pub fn stated(statement: &str) -> String {
    meant(statement).to_string()
}

/// The licence that the head of a file states: its comments and its docstring, before any code. A tag of SPDX counts
/// alone; otherwise everything does that [`of_notice`] finds in them, for a file of parts under two licences is under
/// both. `None` where it states none, or points at a file (`the license found in the LICENSE file`).
pub fn of_header(text: &str) -> Option<String> {
    of_header_by(text, of_notice)
}

/// The same with a way of one's own to get at the answers of [`of_notice`], which takes milliseconds and is asked the
/// same of thousands of files.
pub fn of_header_by(text: &str, of_notice: impl Fn(&str) -> Option<String>) -> Option<String> {
    let head = head(text);
    let tags = head.lines().filter_map(|line| line.split_once("SPDX-License-Identifier:"));
    let tagged: BTreeSet<Term> = tags.map(|(_, tag)| meant(tag.trim_end_matches(['"', '\'', '*', '/', ' ']))).collect();
    if !tagged.is_empty() {
        return Some(Term::join(Operator::And, tagged).to_string());
    }
    let found = notices(head).into_iter().filter_map(|notice| of_notice(&notice));
    let found: BTreeSet<Term> = found.map(|license| meant(&license)).collect();
    (!found.is_empty()).then(|| Term::join(Operator::And, found).to_string())
}

/// What a notice states, by the texts of licences and by the sentences that heads of files have instead.
pub fn of_notice(notice: &str) -> Option<String> {
    let named = sentences::named_in(notice);
    let found: BTreeSet<Term> = texts::within(notice).iter().chain(&named).map(|statement| meant(statement)).collect();
    (!found.is_empty()).then(|| Term::join(Operator::And, found).to_string())
}

/// The licence that a licence file is. `None` where it is none that SPDX knows, or has several, of which it may leave the
/// choice or demand all.
pub fn of_text(text: &str) -> Option<String> {
    texts::of_whole(text)
}

/// Every licence whose text stands in a file.
pub fn in_text(text: &str) -> BTreeSet<String> {
    texts::within(text)
}

/// The licence of something that is made of parts under all of these. `None` where there are no parts or where the
/// licence of one is not known.
pub fn conjunction<'l>(licenses: impl IntoIterator<Item = Option<&'l str>>) -> Option<String> {
    let terms: BTreeSet<Term> = licenses.into_iter().map(|license| license.map(meant)).collect::<Option<_>>()?;
    (!terms.is_empty()).then(|| Term::join(Operator::And, terms).to_string())
}

/// An expression without regard to the order in which it was written. The operands of an `Any` are not `Any`
/// themselves, and those of an `All` not `All`; both have two at least.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Term {
    License(String),
    Any(BTreeSet<Self>),
    All(BTreeSet<Self>),
}

impl Term {
    fn join(operator: Operator, terms: impl IntoIterator<Item = Self>) -> Self {
        let mut operands = BTreeSet::new();
        for term in terms {
            match (operator, term) {
                (Operator::And, Self::All(inner)) | (Operator::Or, Self::Any(inner)) => operands.extend(inner),
                (Operator::And | Operator::Or, term) => _ = operands.insert(term),
            }
        }
        match operator {
            _ if operands.len() == 1 => operands.pop_first().expect("it has one"),
            Operator::And => Self::All(operands),
            Operator::Or => Self::Any(operands),
        }
    }
}

impl std::fmt::Display for Term {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (operands, separator) = match self {
            Self::License(license) => return formatter.write_str(license),
            Self::Any(operands) => (operands, " OR "),
            Self::All(operands) => (operands, " AND "),
        };
        // Alone in brackets where it stands inside the other: readers need not know that AND binds tighter.
        let texts = operands.iter().map(|operand| match operand {
            Self::License(license) => license.clone(),
            Self::Any(_) | Self::All(_) => format!("({operand})"),
        });
        let mut texts: Vec<String> = texts.collect();
        texts.sort_unstable();
        formatter.write_str(&texts.join(separator))
    }
}

fn parsed(text: &str) -> Option<Term> {
    let exact_names = ParseMode { allow_imprecise_license_names: false, ..ParseMode::LAX };
    Expression::parse_mode(text, exact_names).ok()?;
    let canonical = Expression::canonicalize(text).ok()?;
    let expression = Expression::parse(canonical.as_deref().unwrap_or(text)).ok()?;
    let mut stack = Vec::new();
    for node in expression.iter() {
        match node {
            ExprNode::Req(requirement) => stack.push(Term::License(requirement.req.to_string())),
            ExprNode::Op(operator) => {
                let operands = [stack.pop()?, stack.pop()?];
                stack.push(Term::join(*operator, operands));
            }
        }
    }
    stack.pop()
}

fn meant(statement: &str) -> Term {
    let statement = statement.trim();
    parsed(statement).or_else(|| named(statement)).unwrap_or_else(|| Term::License(reference(statement)))
}

/// The one licence that is called so, in other letters or other words.
fn named(statement: &str) -> Option<Term> {
    let words = statement.to_lowercase().replace(',', " ");
    let words: Vec<&str> = words.split_whitespace().filter(|word| !FILLERS.contains(word)).collect();
    let (name, identifier) = (words.join(" "), words.join("-"));
    let exact = spdx::identifiers::LICENSES.iter().find(|license| license.name.eq_ignore_ascii_case(&identifier));
    if let Some(license) = exact {
        return parsed(license.name);
    }
    if AMBIGUOUS.contains(&name.as_str()) {
        return None;
    }
    let (license, length) = spdx::imprecise_license_id(&name)?;
    if length == name.len() { parsed(license.name) } else { None }
}

/// A reference may contain letters, digits, dots and hyphens of ASCII.
fn reference(statement: &str) -> String {
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || letter == '.';
    let words: Vec<&str> = statement.split(|letter| !is_allowed(letter)).filter(|word| !word.is_empty()).collect();
    if words.is_empty() { "LicenseRef-unknown".to_owned() } else { format!("LicenseRef-{}", words.join("-")) }
}

/// The comments and the docstring of a head, each as a text, where they may state a licence. Marks of comments and lines
/// about copyright, which differ from file to file, are left out.
fn notices(head: &str) -> Vec<String> {
    let is_comment = |line: &&str| line.trim().is_empty() || line.trim_start().starts_with('#');
    let comments: Vec<&str> = head.lines().take_while(is_comment).collect();
    let rest: Vec<&str> = head.lines().skip(comments.len()).collect();
    let notice = |lines: Vec<&str>| {
        let lines = lines.into_iter().map(|line| line.trim().trim_start_matches('#').trim());
        lines
            .filter(|line| !copyright::is_statement(line) || line.to_lowercase().contains("licen"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let states = |notice: &String| {
        let words = notice.to_lowercase();
        ["licen", "creative commons", "permission is hereby", "redistribution and use"]
            .iter()
            .any(|word| words.contains(word))
    };
    [notice(comments), notice(rest)].into_iter().filter(states).collect()
}

/// The lines before the first code: comments, empty lines, and a docstring.
fn head(text: &str) -> &str {
    let mut docstring: Option<&str> = None;
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        match docstring {
            Some(quotes) => {
                if trimmed.contains(quotes) {
                    docstring = None;
                }
            }
            None if trimmed.is_empty() || trimmed.starts_with('#') => {}
            None => {
                let unprefixed = trimmed.trim_start_matches(['r', 'R', 'u', 'U']);
                let Some(quotes) = [r#"""""#, "'''"].into_iter().find(|quotes| unprefixed.starts_with(quotes)) else {
                    break;
                };
                if !unprefixed[quotes.len()..].contains(quotes) {
                    docstring = Some(quotes);
                }
            }
        }
        end += line.len();
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_have_one_form() {
        for (text, canonical) in [
            ("MIT", "MIT"),
            ("MIT OR Apache-2.0", "Apache-2.0 OR MIT"),
            ("MIT/Apache-2.0", "Apache-2.0 OR MIT"),
            ("MIT AND (Apache-2.0 OR MIT) AND MIT", "(Apache-2.0 OR MIT) AND MIT"),
            ("MIT OR MIT", "MIT"),
            ("GPL-3.0", "GPL-3.0-only"),
            ("GPL-2.0+", "GPL-2.0-or-later"),
            ("(Apache-2.0 WITH LLVM-exception) AND BSD-3-Clause", "Apache-2.0 WITH LLVM-exception AND BSD-3-Clause"),
            ("MIT AND LicenseRef-NVIDIA", "LicenseRef-NVIDIA AND MIT"),
            ("MIT AND Zlib OR ISC", "(MIT AND Zlib) OR ISC"),
        ] {
            assert_eq!(expression(text).as_deref(), Some(canonical), "{text}");
            assert_eq!(expression(canonical).as_deref(), Some(canonical), "{canonical}");
        }
        for text in ["", "BSD", "apache 2.0", "MIT AND", "see LICENSE"] {
            assert_eq!(expression(text), None, "{text}");
        }
    }

    /// The statements of the distributions of the paper's repositories on PyPI, and their like.
    #[test]
    fn statements() {
        for (statement, expected) in [
            ("Apache 2.0 License", "Apache-2.0"),
            ("Apache License 2.0", "Apache-2.0"),
            ("Apache License, Version 2.0", "Apache-2.0"),
            ("Apache Software License 2.0", "Apache-2.0"),
            ("apache-2.0", "Apache-2.0"),
            ("Apache", "Apache-2.0"),
            ("The MIT License", "MIT"),
            ("BSD 3-Clause License", "BSD-3-Clause"),
            ("AGPL-3.0", "AGPL-3.0-only"),
            ("GPL v3", "GPL-3.0-only"),
            ("GNU GPL v2", "LicenseRef-GNU-GPL-v2"),
            ("BSD", "LicenseRef-BSD"),
            ("GPL", "LicenseRef-GPL"),
            ("Apple Sample Code License (2024)", "LicenseRef-Apple-Sample-Code-License-2024"),
            ("©", "LicenseRef-unknown"),
        ] {
            assert_eq!(stated(statement), expected, "{statement}");
            assert!(expression(expected).is_some(), "{expected}");
        }
    }

    #[test]
    fn what_heads_of_files_state() {
        let apache =
            "# Copyright 2024\n#\n# Licensed under the Apache License, Version 2.0 (the \"License\");\n\nimport os\n";
        let cases = [
            (apache, Some("Apache-2.0")),
            ("#!/usr/bin/env python\n# SPDX-License-Identifier: MIT OR Apache-2.0\n", Some("Apache-2.0 OR MIT")),
            ("\"\"\"A module.\n\nLicensed under the MIT\n  License.\n\"\"\"\nimport os\n", Some("MIT")),
            ("# Licensed under the MIT License\n'''SPDX-License-Identifier: ISC'''\n", Some("ISC")),
            ("# Ultralytics 🚀 AGPL-3.0 License - https://ultralytics.com/license\n", Some("AGPL-3.0-only")),
            (
                "# Licensed under the MIT License\n# parts: Licensed under the Apache License, Version 2.0\n",
                Some("Apache-2.0 AND MIT"),
            ),
            ("# This source code is licensed under the license found in the\n# LICENSE file\n", None),
            ("import os\n# Licensed under the MIT License\n", None),
            ("\"\"\"A module.\"\"\"\nx = 1\n# Licensed under the MIT License\n", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(of_header(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn all_parts_together() {
        let conjunction = |licenses: &[Option<&str>]| conjunction(licenses.iter().copied());
        assert_eq!(conjunction(&[Some("MIT"), Some("Apache 2.0"), Some("MIT")]).as_deref(), Some("Apache-2.0 AND MIT"));
        assert_eq!(
            conjunction(&[Some("BSD-3-Clause"), Some("MIT OR Apache-2.0")]).as_deref(),
            Some("(Apache-2.0 OR MIT) AND BSD-3-Clause")
        );
        assert_eq!(conjunction(&[Some("MIT AND ISC"), Some("ISC")]).as_deref(), Some("ISC AND MIT"));
        assert_eq!(conjunction(&[Some("BSD"), Some("MIT")]).as_deref(), Some("LicenseRef-BSD AND MIT"));
        assert_eq!(conjunction(&[Some("MIT"), None]), None);
        assert_eq!(conjunction(&[]), None);
    }
}
