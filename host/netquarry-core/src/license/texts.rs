//! Licences by their texts: what of the SPDX corpus stands in a text, word for word but for small changes.
//!
//! The corpus and the measure are those of the crate `spdx`, which has them from askalono: the overlap of pairs of words
//! (Dice's coefficient), in [0, 1]. A text that two licences fit equally well is none of them.

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

/// What the corpus is compared with, once for the process: it takes a fifth of a second to unpack.
static CORPUS: LazyLock<Store> = LazyLock::new(|| Store::load_inline().expect("the crate can read what it ships"));

/// The licence that the whole of a text is: a licence file with nothing else of weight in it.
pub(super) fn of_whole(text: &str) -> Option<String> {
    let data = TextData::new(text);
    let best = best(&data)?;
    (best.score >= NEARLY_ALL).then(|| best.identifier(text))
}

/// The licences whose texts, or the notices that they prescribe for heads of files, stand somewhere in the text.
pub(super) fn within(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut data = TextData::new(text);
    for _ in 0..MOST_TEXTS {
        let Some(best) = best(&data) else { break };
        let (part, score) = data.optimize_bounds(best.text);
        if score < ENOUGH {
            break;
        }
        let (start, end) = part.lines_view();
        let lines = text.lines().skip(start).take(end - start);
        found.insert(best.identifier(&lines.collect::<Vec<_>>().join("\n")));
        data = part.white_out();
    }
    found
}

/// A licence of the corpus with how near its text is.
struct Best<'c> {
    name: &'c str,
    kind: LicenseType,
    text: &'c TextData,
    score: f32,
}

impl Best<'_> {
    /// Licences of GNU have the same text whether or not later versions are granted, which is up to the notice. Without
    /// one that grants them they are not.
    fn identifier(&self, text: &str) -> String {
        let Some(family) = family(self.name) else { return self.name.to_owned() };
        let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        let words = words.collect::<Vec<_>>().join(" ").to_lowercase();
        let is_granted = matches!(self.kind, LicenseType::Header) && words.contains("any later version");
        format!("{family}-{}", if is_granted { "or-later" } else { "only" })
    }
}

/// `GPL-3.0` of `GPL-3.0-or-later` and of `GPL-3.0-only`.
fn family(name: &str) -> Option<&str> {
    name.strip_suffix("-or-later").or_else(|| name.strip_suffix("-only"))
}

/// The one licence of the corpus that is nearest; `None` where several are.
fn best(text: &TextData) -> Option<Best<'static>> {
    let mut best: Vec<Best<'static>> = Vec::new();
    for (name, entry) in CORPUS.iter() {
        let original = [(LicenseType::Original, &entry.original)];
        let alternates = entry.alternates.iter().map(|text| (LicenseType::Alternate, text));
        let headers = entry.headers.iter().map(|text| (LicenseType::Header, text));
        for (kind, known) in original.into_iter().chain(alternates).chain(headers) {
            let score = known.match_score(text);
            let most = best.first().map_or(0.0, |best| best.score);
            if score > most {
                best.clear();
            }
            if score >= most && score > 0.0 {
                best.push(Best { name, kind, text: known, score });
            }
        }
    }
    // The corpus has no order of its own.
    best.sort_by_key(|best| best.name);
    let key = |best: &Best<'_>| family(best.name).unwrap_or(best.name).to_owned();
    let is_one = best.windows(2).all(|pair| key(&pair[0]) == key(&pair[1]));
    best.into_iter().next().filter(|_| is_one)
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

    const GPL: &str = "This program is free software: you can redistribute it and/or modify it under the terms of the GNU \
        General Public License as published by the Free Software Foundation, either version 3 of the License, or (at your \
        option) any later version.\n\nThis program is distributed in the hope that it will be useful, but WITHOUT ANY \
        WARRANTY; without even the implied warranty of MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE. See the GNU \
        General Public License for more details.\n\nYou should have received a copy of the GNU General Public License along \
        with this program. If not, see <https://www.gnu.org/licenses/>.\n";

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
    fn later_versions_are_for_the_notice_to_grant() {
        assert_eq!(within(GPL), ["GPL-3.0-or-later".to_owned()].into());
        let text = TextData::new("");
        let whole = Best { name: "GPL-3.0-or-later", kind: LicenseType::Original, text: &text, score: 1.0 };
        assert_eq!(whole.identifier("either version 3 or any later version"), "GPL-3.0-only");
    }
}
