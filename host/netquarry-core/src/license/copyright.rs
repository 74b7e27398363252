//! Statements of copyright, as they stand in heads of files and licence texts: `Copyright 2020 Ross Wightman`.

use std::collections::BTreeSet;

use super::head;

/// Words that follow `copyright` where a licence speaks about it.
const TALK: [&str; 9] = ["and ", "holder", "law ", "laws ", "licen", "notice", "owner", "owned", "statement"];

/// What templates have in the place of a year or a name.
const PLACEHOLDERS: [&str; 6] = ["[yyyy]", "{yyyy}", "[year]", "<year>", "yyyy", "[name of"];

/// The statements in the head of a Python file: its comments and its docstring.
pub fn of_header(text: &str) -> BTreeSet<String> {
    of_text(head(text))
}

/// The statements in a text, each in one line without marks of comments. A name that stands in the line below its year is
/// not taken: nothing says where such a statement ends.
pub fn of_text(text: &str) -> BTreeSet<String> {
    text.lines().filter(|line| is_statement(line)).map(tidy).collect()
}

/// Whether somebody claims a copyright in this line: the word with a sign, a year or a name after it, or the sign with a
/// year.
pub(super) fn is_statement(line: &str) -> bool {
    let lower = line.to_lowercase();
    if PLACEHOLDERS.iter().any(|placeholder| lower.contains(placeholder)) {
        return false;
    }
    let after_word = lower.find("copyright").map(|start| &lower[start + "copyright".len()..]);
    let after_sign = ["(c)", "©"].iter().find_map(|sign| lower.split_once(sign)).map(|(_, rest)| rest.trim_start());
    let is_year = |text: &str| text.starts_with(|letter: char| letter.is_ascii_digit());
    match (after_word.map(str::trim_start), after_sign) {
        (Some(rest), _) if rest.starts_with("(c)") || rest.starts_with('©') => true,
        (Some(rest), _) if is_year(rest) => true,
        (Some(_), Some(rest)) if rest.starts_with("copyright") => true,
        // A name after the word at the beginning of the line, not the word in a sentence.
        (Some(rest), _) => {
            let begins = line.trim_start_matches(['#', '*', '/', '"', '\'', ' ', '\t']).starts_with("Copyright ");
            begins && !rest.is_empty() && !TALK.iter().any(|talk| rest.starts_with(talk))
        }
        (None, Some(rest)) => is_year(rest),
        (None, None) => false,
    }
}

fn tidy(line: &str) -> String {
    let marks = ['#', '*', '/', '"', '\'', ' ', '\t', '-', ';', '!'];
    line.trim_matches(marks).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_told_from_talk() {
        for (line, expected) in [
            ("# Copyright (c) OpenMMLab. All rights reserved.", Some("Copyright (c) OpenMMLab. All rights reserved.")),
            (
                "Hacked together by / Copyright 2020 Ross Wightman",
                Some("Hacked together by / Copyright 2020 Ross Wightman"),
            ),
            ("\"\"\" Copyright  2021 Somebody \"\"\"", Some("Copyright 2021 Somebody")),
            ("# Copyright The Lightning team.", Some("Copyright The Lightning team.")),
            ("   Copyright © 2019-present, X", Some("Copyright © 2019-present, X")),
            ("# (c) Meta Platforms, Inc. and affiliates.", None),
            (" * (c) 2024 Meta Platforms, Inc.", Some("(c) 2024 Meta Platforms, Inc.")),
            ("# (C) Copyright IBM Corp. 2024", Some("(C) Copyright IBM Corp. 2024")),
            ("   Copyright [yyyy] [name of copyright owner]", None),
            ("   The above copyright notice and this permission notice shall be included", None),
            ("   Copyright and License Information", None),
            ("   COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM", None),
            ("a copyright license to reproduce", None),
            ("(c) the third option", None),
            ("", None),
        ] {
            let found: Vec<String> = of_text(line).into_iter().collect();
            assert_eq!(found.first().map(String::as_str), expected, "{line}");
        }
    }

    #[test]
    fn only_the_head_of_a_file_counts() {
        let text = "# Copyright 2020 A\n\"\"\"Copyright 2021 B\"\"\"\nimport os\n# Copyright 2022 C\n";
        assert_eq!(of_header(text), ["Copyright 2020 A".to_owned(), "Copyright 2021 B".to_owned()].into());
    }
}
