//! Licences by their texts: what of the SPDX corpus stands in a text, word for word but for small changes.
//!
//! The corpus and the measure are those of the crate `spdx`, which has them from askalono: the overlap of pairs of words
//! (Dice's coefficient), in [0, 1]. A text that two licences fit nearly as well is none of them.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use spdx::detection::{LicenseType, Store, TextData};

/// Below it, a text is another one. In 80 licence files and 2,417 heads of the files of fifteen distributions all parts
/// that are some licence have 0.945 at least; of what is none, the clauses of LLVM's licence come nearest, with 0.933.
const ENOUGH: f32 = 0.94;

/// Of a licence file so much is the text of the licence, and the rest names the product or the authors. Files with terms
/// of their own besides have 0.87 at most.
const NEARLY_ALL: f32 = 0.9;

/// More texts than this are in no file; it ends a search that would go round in circles.
const MOST_TEXTS: usize = 10;

/// By so much a licence is nearer than any other. MIT leads by 0.027 before the licence of JSON, which has a sentence more,
/// and Apache-2.0 by 0.017 before the one that Pixar made of it.
const LEAD: f32 = 0.01;

/// What texts are compared with, once for the process: it takes a fifth of a second to unpack.
static CORPUS: LazyLock<Store> = LazyLock::new(|| {
    let mut corpus = Store::load_inline().expect("the crate can read what it ships");
    // Many leave out the appendix, and what is left is nearer to Pixar's licence, which has none.
    let without_appendix = TextData::new(include_str!("../../../../LICENSE-APACHE"));
    corpus.add_variant("Apache-2.0", LicenseType::Alternate, without_appendix).expect("SPDX knows it");
    corpus
});

/// The licence that the whole of a text is: a licence file with nothing else of weight in it, and no other licence.
pub(super) fn of_whole(text: &str) -> Option<String> {
    let license = leading(&TextData::new(text)).filter(|best| best.score >= NEARLY_ALL)?.identifier()?;
    within(text).iter().all(|found| *found == license).then_some(license)
}

/// The licences whose texts, or the notices that they prescribe for heads of files, stand somewhere in the text.
pub(super) fn within(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut data = TextData::new(text);
    for _ in 0..MOST_TEXTS {
        let Some(nearest) = ranked(&data).into_iter().next() else { break };
        let (part, score) = data.optimize_bounds(nearest.text);
        if score < ENOUGH {
            break;
        }
        // Which of two similar ones it is shows only once the rest of the text is gone.
        found.extend(leading(&part).filter(|best| best.score >= ENOUGH).and_then(|best| best.identifier()));
        data = part.white_out();
    }
    found
}

/// A licence of the corpus with how near its text is.
struct Best {
    name: &'static str,
    kind: LicenseType,
    text: &'static TextData,
    score: f32,
}

impl Best {
    /// As an SPDX expression. Licences of GNU have the same text whether or not later versions are granted, which is up to
    /// the notice: without one they are not. `None` for a notice of GNU's: those of the GPL, the LGPL and the AGPL are nine
    /// tenths the same, and a sentence of each says which it is.
    fn identifier(&self) -> Option<String> {
        match (gnu_family(self.name), self.kind) {
            (None, _) => Some(self.name.to_owned()),
            (Some(_), LicenseType::Header) => None,
            (Some(family), LicenseType::Original | LicenseType::Alternate) => Some(format!("{family}-only")),
        }
    }
}

/// `GPL-3.0` of `GPL-3.0-or-later`, `GPL-3.0-only` and `GPL-3.0+`.
fn gnu_family(name: &str) -> Option<&str> {
    let is_gnu = ["GPL-", "LGPL-", "AGPL-"].iter().any(|family| name.starts_with(family));
    let suffix = ["-or-later", "-only", "+"].into_iter().find_map(|suffix| name.strip_suffix(suffix));
    is_gnu.then(|| suffix.unwrap_or(name))
}

/// The licence that is nearest, by a distance.
fn leading(text: &TextData) -> Option<Best> {
    let mut ranked = ranked(text).into_iter();
    let first = ranked.next()?;
    let key = |name: &'static str| gnu_family(name).unwrap_or(name);
    let next = ranked.find(|other| key(other.name) != key(first.name)).map_or(0.0, |other| other.score);
    (first.score - next >= LEAD).then_some(first)
}

/// The licences of the corpus that have anything in common with the text, the nearest first.
fn ranked(text: &TextData) -> Vec<Best> {
    let mut ranked = Vec::new();
    for (name, entry) in CORPUS.iter() {
        let original = [(LicenseType::Original, &entry.original)];
        let alternates = entry.alternates.iter().map(|text| (LicenseType::Alternate, text));
        let headers = entry.headers.iter().map(|text| (LicenseType::Header, text));
        let known = original.into_iter().chain(alternates).chain(headers);
        ranked.extend(known.map(|(kind, known)| Best { name, kind, text: known, score: known.match_score(text) }));
    }
    ranked.retain(|best| best.score > 0.0);
    // The corpus has no order of its own.
    ranked.sort_by(|left, right| right.score.total_cmp(&left.score).then_with(|| left.name.cmp(right.name)));
    ranked
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIT: &str = "Permission is hereby granted, free of charge, to any person obtaining a copy of this software and \
        associated documentation files (the \"Software\"), to deal in the Software without restriction, including without \
        limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the \
        Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:\n\n\
        The above copyright notice and this permission notice shall be included in all copies or substantial portions of \
        the Software.\n\nTHE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING \
        BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO \
        EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN \
        ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER \
        DEALINGS IN THE SOFTWARE.\n";

    #[test]
    fn whole_texts() {
        let own = |text: &str| of_whole(text);
        assert_eq!(own(&format!("Copyright (c) 2024 Somebody\n\n{MIT}")).as_deref(), Some("MIT"));
        assert_eq!(own(&format!("MIT License\n\n{MIT}")).as_deref(), Some("MIT"));
        // A licence with conditions of one's own is another one.
        let more =
            "The Software shall not be used by companies that sell weapons, nor in any product that is sold for \
                    money, unless the authors are paid a fee beforehand and agree in writing. "
                .repeat(4);
        assert_eq!(own(&format!("{MIT}\n{more}")), None);
        for text in ["", "All rights reserved.", "licensed under the licence in the LICENSE file"] {
            assert_eq!(own(text), None, "{text}");
        }
    }

    #[test]
    fn parts_of_texts() {
        let about = "A network of the third kind.\nIt has layers, and more layers, and a head.\n";
        assert_eq!(within(&format!("{about}\n{MIT}\n{about}")), ["MIT".to_owned()].into());
        assert_eq!(within(about), BTreeSet::new());
    }

    #[test]
    fn similar_licences_are_told_apart() {
        let apache = include_str!("../../../../LICENSE-APACHE");
        assert_eq!(of_whole(apache).as_deref(), Some("Apache-2.0"));
        let (begin, end) = MIT.split_once("\n\nTHE SOFTWARE IS").expect("it has three parts");
        let json = format!("{begin}\n\nThe Software shall be used for Good, not Evil.\n\nTHE SOFTWARE IS{end}");
        assert_eq!(of_whole(&json).as_deref(), Some("JSON"));
        assert_eq!(within(&json), ["JSON".to_owned()].into());
    }

    #[test]
    fn a_text_of_gnu_grants_no_later_versions_and_a_notice_is_left_to_its_sentence() {
        let identifier = |name, kind| {
            let text = CORPUS.get_original("MIT").expect("SPDX knows it");
            Best { name, kind, text, score: 1.0 }.identifier()
        };
        for name in ["GPL-3.0-or-later", "GPL-3.0-only", "GPL-3.0+", "GPL-3.0"] {
            assert_eq!(identifier(name, LicenseType::Original).as_deref(), Some("GPL-3.0-only"));
            assert_eq!(identifier(name, LicenseType::Header), None);
        }
        assert_eq!(identifier("Apache-2.0", LicenseType::Header).as_deref(), Some("Apache-2.0"));
    }
}
