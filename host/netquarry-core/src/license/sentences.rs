//! What heads of files say about their licence in a sentence of their own: no corpus of licence texts has these.

use std::collections::BTreeSet;

/// Sentences that name a licence without any of [`INTRODUCTIONS`], or two, as words; and the licence that is meant.
const FIXED: [(&str, &str); 4] = [
    (
        "dual licensed under the terms of the apache license version 2.0 and the bsd license",
        "Apache-2.0 OR LicenseRef-BSD",
    ),
    ("agpl-3.0 license", "AGPL-3.0-only"),
    ("creative commons attribution-noncommercial 4.0", "CC-BY-NC-4.0"),
    ("creative commons attribution-noncommercial-sharealike 4.0", "CC-BY-NC-SA-4.0"),
];

/// Behind these comes the name of a licence, then `license`, then a version where there is one.
const INTRODUCTIONS: [&str; 6] = [
    "licensed under the",
    "available under the",
    "released under the",
    "distributed under the",
    "under the terms of the",
    "original license",
];

/// Behind these comes who has to be asked, up to `is`.
const PROHIBITIONS: [&str; 1] = ["without an express license agreement from"];

/// No name of a licence has more words.
const LONGEST_NAME: usize = 5;

/// Words that stand where a name would and are none: `licensed under the same license`.
const NO_NAMES: [&str; 9] =
    ["above", "accompanying", "applicable", "conditions", "following", "original", "same", "such", "terms"];

/// Between `general public license` and the end of the part that says which version is meant.
const GNU_NOTICE: usize = 40;

/// The licences that a notice names, as statements.
pub(super) fn named_in(notice: &str) -> BTreeSet<String> {
    // A sentence does not depend on how it is punctuated, nor on where its lines end.
    let trimmed = |word: &str| word.trim_matches(|letter: char| !letter.is_ascii_alphanumeric()).to_owned();
    let mut words: Vec<String> = notice.split_whitespace().map(trimmed).filter(|word| !word.is_empty()).collect();
    let mut found = of_gnu(&words);
    for (sentence, license) in FIXED {
        while let Some(start) = position(&words, sentence) {
            words.drain(start..start + sentence.split(' ').count());
            found.insert(license.to_owned());
        }
    }
    found.extend(INTRODUCTIONS.iter().flat_map(|phrase| behind(&words, phrase).filter_map(name)));
    found.extend(PROHIBITIONS.iter().flat_map(|phrase| behind(&words, phrase).filter_map(rights_holder)));
    found
}

/// Whether two words are one but for the case and the way in which the British spell.
fn is_same(word: &str, other: &str) -> bool {
    word.eq_ignore_ascii_case(other) || (other == "license" && word.eq_ignore_ascii_case("licence"))
}

fn begins(words: &[String], phrase: &str) -> bool {
    let mut words = words.iter();
    phrase.split(' ').all(|wanted| words.next().is_some_and(|word| is_same(word, wanted)))
}

fn position(words: &[String], phrase: &str) -> Option<usize> {
    (0..words.len()).find(|start| begins(&words[*start..], phrase))
}

/// What follows a phrase, wherever it stands.
fn behind<'w>(words: &'w [String], phrase: &'w str) -> impl Iterator<Item = &'w [String]> {
    let length = phrase.split(' ').count();
    (0..words.len()).map(|start| &words[start..]).filter(|rest| begins(rest, phrase)).map(move |rest| &rest[length..])
}

/// `Apache 2.0` of `Apache License, Version 2.0`. None where a file is pointed at (`the BSD license found in LICENSE`), and
/// for the licences of GNU, whose notices say more.
fn name(words: &[String]) -> Option<String> {
    let end = words.iter().take(LONGEST_NAME + 1).position(|word| is_same(word, "license"))?;
    let (name, rest) = (&words[..end], &words[end + 1..]);
    let is_name = |word: &String| !NO_NAMES.contains(&word.to_lowercase().as_str());
    let points_at_a_file = rest.first().is_some_and(|word| is_same(word, "found"));
    let is_gnu = name.last().is_some_and(|word| is_same(word, "public")) && position(name, "general").is_some();
    if name.is_empty() || !name.iter().all(is_name) || points_at_a_file || is_gnu {
        return None;
    }
    let rest = rest.strip_prefix(&rest[..usize::from(begins(rest, "version"))])?;
    let version = rest.first().filter(|word| word.chars().all(|letter| letter.is_ascii_digit() || letter == '.'));
    Some(name.iter().chain(version).cloned().collect::<Vec<_>>().join(" "))
}

fn rights_holder(words: &[String]) -> Option<String> {
    let end = words.iter().take(LONGEST_NAME + 1).position(|word| is_same(word, "is")).filter(|end| *end > 0)?;
    Some(words[..end].join(" "))
}

/// The licences of GNU whose notices these words have, as GNU words them: which licence, which version, and whether later
/// ones may be chosen.
fn of_gnu(words: &[String]) -> BTreeSet<String> {
    const NAME: &str = "general public license";
    let starts = (0..words.len()).filter(|start| begins(&words[*start..], NAME));
    starts
        .filter_map(|start| {
            let family = match start.checked_sub(1).map(|before| words[before].to_lowercase()) {
                Some(before) if before == "affero" => "AGPL",
                Some(before) if before == "lesser" || before == "library" => "LGPL",
                _ => "GPL",
            };
            let rest = &words[start + NAME.split(' ').count()..];
            let rest = &rest[..rest.len().min(GNU_NOTICE)];
            // Others speak of the licence and do not grant it.
            position(rest, "published by the free software foundation").filter(|place| *place < GNU_NOTICE / 2)?;
            Some(of_gnu_family(family, rest))
        })
        .collect()
}

fn of_gnu_family(family: &str, rest: &[String]) -> String {
    let number = |place: usize| {
        let number = rest.get(place + 1)?.trim_start_matches('v');
        number.starts_with(|letter: char| letter.is_ascii_digit()).then_some((place, number))
    };
    let versions = (0..rest.len()).filter(|place| is_same(&rest[*place], "version"));
    match versions.filter_map(number).next() {
        Some((place, number)) => {
            let number = if number.contains('.') { number.to_owned() } else { format!("{number}.0") };
            let is_later = position(&rest[place..], "any later version").is_some();
            format!("{family}-{number}-{}", if is_later { "or-later" } else { "only" })
        }
        None => format!("LicenseRef-{family}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_behind_introductions() {
        for (notice, expected) in [
            ("Licensed under the Apache License, Version 2.0 (the \"License\");", &["Apache 2.0"][..]),
            ("Licensed under the Apache 2.0 license.", &["Apache 2.0"]),
            ("you may use it under the terms of the Apache License, Version 2.0", &["Apache 2.0"]),
            ("This work is licensed under the MIT\n  License.", &["MIT"]),
            ("Licensed under the terms of the MIT license", &["MIT"]),
            ("released under the BSD 3-Clause License", &["BSD 3-Clause"]),
            ("This work is made available under the Somebody Source Code License-NC.", &[]),
            ("This work is made available under the Somebody Source Code License.", &["Somebody Source Code"]),
            ("Original licence: SOME License 1.0", &["SOME 1.0"]),
            (
                "distribution of this software without an express license agreement from SOMEBODY CORPORATION is \
                 strictly prohibited.",
                &["SOMEBODY CORPORATION"],
            ),
            ("This source code is licensed under the license found in the LICENSE file", &[]),
            ("This source code is licensed under the BSD license found in the LICENSE file", &[]),
            ("licensed under the same license as the code of theirs", &[]),
            (
                "This file is dual licensed under the terms of the Apache License, Version\n2.0, and the BSD License.",
                &["Apache-2.0 OR LicenseRef-BSD"],
            ),
            ("Somebody 🚀 AGPL-3.0 License - https://example.org/license", &["AGPL-3.0-only"]),
        ] {
            assert_eq!(named_in(notice), expected.iter().map(|name| (*name).to_owned()).collect(), "{notice}");
        }
    }

    /// As the licences themselves tell whoever uses them to word it, with the differences that there are between them.
    #[test]
    fn notices_of_gnu() {
        let notice = |name: &str, mark: &str, version: &str| {
            format!(
                "This program is free software{mark} you can redistribute it and/or modify\n\
                 it under the terms of the {name} as published by\n\
                 the Free Software Foundation{mark} {version}.\n\n\
                 This program is distributed in the hope that it will be useful,\n\
                 but WITHOUT ANY WARRANTY; without even the implied warranty of\n\
                 MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the\n{name} for more details.\n\n\
                 You should have received a copy of the {name}\n\
                 along with this program; if not, write to the Free Software Foundation, Inc.\n"
            )
        };
        let later =
            |version| format!("either version {version} of the License, or\n(at your option) any later version");
        for (name, mark, version, expected) in [
            ("GNU General Public License", ";", later("2"), "GPL-2.0-or-later"),
            ("GNU General Public License", ":", later("3"), "GPL-3.0-or-later"),
            ("GNU General Public License", ",", "version 3 of the License".to_owned(), "GPL-3.0-only"),
            ("GNU General Public License", ";", "version 2".to_owned(), "GPL-2.0-only"),
            ("GNU General Public License version 2", ";", String::new(), "GPL-2.0-only"),
            ("GNU General Public License", ";", String::new(), "LicenseRef-GPL"),
            ("GNU Lesser General Public License", ";", later("2.1"), "LGPL-2.1-or-later"),
            ("GNU Lesser General Public License", ",", later("3"), "LGPL-3.0-or-later"),
            ("GNU Library General Public License", ";", later("2"), "LGPL-2.0-or-later"),
            ("GNU Affero General Public License", ",", later("3"), "AGPL-3.0-or-later"),
        ] {
            let text = notice(name, mark, &version);
            assert_eq!(named_in(&text), [expected.to_owned()].into(), "{text}");
            let head: String = text.lines().map(|line| format!("# {line}\n")).collect();
            assert_eq!(super::super::of_header(&head).as_deref(), Some(expected), "{head}");
        }
        let mention = "It is compatible with the GNU General Public License, which it does not use.";
        assert_eq!(named_in(mention), BTreeSet::new());
    }
}
