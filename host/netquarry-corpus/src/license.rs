//! From what packaging metadata or a licence text says to an SPDX identifier, where that has exactly one answer.

use netquarry_core::license;

/// Trove classifiers with one meaning. `BSD License` and `GNU General Public License (GPL)` have several and are not here.
const CLASSIFIERS: [(&str, &str); 13] = [
    ("Apache Software License", "Apache-2.0"),
    ("MIT License", "MIT"),
    ("MIT No Attribution License (MIT-0)", "MIT-0"),
    ("ISC License (ISCL)", "ISC"),
    ("Mozilla Public License 2.0 (MPL 2.0)", "MPL-2.0"),
    ("The Unlicense (Unlicense)", "Unlicense"),
    ("GNU General Public License v2 (GPLv2)", "GPL-2.0-only"),
    ("GNU General Public License v3 (GPLv3)", "GPL-3.0-only"),
    ("GNU General Public License v3 or later (GPLv3+)", "GPL-3.0-or-later"),
    ("GNU Affero General Public License v3", "AGPL-3.0-only"),
    ("GNU Affero General Public License v3 or later (AGPLv3+)", "AGPL-3.0-or-later"),
    ("GNU Lesser General Public License v3 (LGPLv3)", "LGPL-3.0-only"),
    ("Python Software Foundation License", "PSF-2.0"),
];

/// The licence that metadata states: its expression, else its classifiers, else its free text. A short free text
/// is kept as written; a whole licence text in that field is mapped by its words.
pub(crate) fn stated(expression: Option<&str>, statement: Option<&str>, classifiers: &[String]) -> Option<String> {
    if let Some(expression) = expression {
        return Some(expression.to_owned());
    }
    let named: Vec<_> = classifiers.iter().filter_map(|text| text.strip_prefix("License :: ")).collect();
    let names = named.iter().map(|name| name.strip_prefix("OSI Approved :: ").unwrap_or(name));
    let mapped: Option<Vec<_>> = names.map(of_classifier).collect();
    if let Some(mapped) = mapped.filter(|mapped| !mapped.is_empty()) {
        return Some(mapped.join(" AND "));
    }
    let statement = statement.map(str::trim).filter(|text| !text.is_empty());
    match statement {
        Some(text) if text.contains('\n') || text.len() > 100 => license::of_text(text),
        Some(text) => Some(text.to_owned()),
        None => named.first().map(|name| name.rsplit(" :: ").next().expect("splitting yields a part").to_owned()),
    }
}

/// `BSD` in the metadata and the three clauses in the text: the text says which BSD. It is read only where the metadata
/// leaves something open. Of a family that the metadata names, it may also hold the licences of what was bundled.
pub(crate) fn refined(stated: Option<String>, text: Option<&str>) -> Option<String> {
    let Some(stated) = stated else { return text.and_then(license::of_text) };
    let names_one = license::expression(&stated).is_some() || stated.contains(|letter: char| letter.is_ascii_digit());
    let family = stated.split([' ', '-']).next().expect("splitting yields a part").to_owned();
    let Some(text) = text.filter(|_| !names_one) else { return Some(stated) };
    let of_family = |found: &String| found.split('-').next() == Some(&*family);
    match license::of_text(text) {
        Some(whole) => Some(if of_family(&whole) { whole } else { stated }),
        None => {
            let found: Vec<String> = license::in_text(text).into_iter().filter(of_family).collect();
            Some(if let [one] = &found[..] { one.clone() } else { stated })
        }
    }
}

fn of_classifier(key: &str) -> Option<&'static str> {
    CLASSIFIERS.iter().find(|(name, _)| *name == key).map(|(_, identifier)| *identifier)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stated_licences() {
        let classifiers = |names: &[&str]| names.iter().map(|name| format!("License :: {name}")).collect::<Vec<_>>();
        let apache = classifiers(&["OSI Approved :: Apache Software License"]);
        assert_eq!(stated(Some("MIT OR Apache-2.0"), Some("x"), &apache).as_deref(), Some("MIT OR Apache-2.0"));
        assert_eq!(stated(None, Some("whatever"), &apache).as_deref(), Some("Apache-2.0"));
        assert_eq!(stated(None, Some(&"word ".repeat(30)), &[]), None);
        assert_eq!(stated(None, Some("BSD"), &[]).as_deref(), Some("BSD"));
        let bsd = classifiers(&["OSI Approved :: BSD License"]);
        assert_eq!(stated(None, None, &bsd).as_deref(), Some("BSD License"));
        assert_eq!(stated(None, Some("BSD-3-Clause"), &bsd).as_deref(), Some("BSD-3-Clause"));
        assert_eq!(stated(None, None, &[]), None);
    }

    #[test]
    fn a_text_says_which_licence_of_a_family() {
        let text = "Redistribution and use in source and binary forms, with or without modification, are permitted provided \
            that the following conditions are met:\n\n1. Redistributions of source code must retain the above copyright \
            notice, this list of conditions and the following disclaimer.\n\n2. Redistributions in binary form must \
            reproduce the above copyright notice, this list of conditions and the following disclaimer in the documentation \
            and/or other materials provided with the distribution.\n\n3. Neither the name of the copyright holder nor the \
            names of its contributors may be used to endorse or promote products derived from this software without specific \
            prior written permission.\n\nTHIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS \"AS IS\" AND \
            ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND \
            FITNESS FOR A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR CONTRIBUTORS BE LIABLE \
            FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO, \
            PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER \
            CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR \
            OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.\n";
        let refine = |stated: Option<&str>| refined(stated.map(str::to_owned), Some(text));
        assert_eq!(refine(Some("BSD")).as_deref(), Some("BSD-3-Clause"));
        assert_eq!(refine(Some("BSD License")).as_deref(), Some("BSD-3-Clause"));
        assert_eq!(refine(Some("BSD-2-Clause")).as_deref(), Some("BSD-2-Clause"));
        assert_eq!(refine(Some("MIT")).as_deref(), Some("MIT"));
        assert_eq!(refine(None).as_deref(), Some("BSD-3-Clause"));
        let among_others =
            format!("This product has parts of others.\n{}\n{text}", "They are under other terms.\n".repeat(40));
        assert_eq!(refined(Some("BSD".to_owned()), Some(&among_others)).as_deref(), Some("BSD-3-Clause"));
        assert_eq!(refined(None, Some(&among_others)), None);
    }
}
