//! From what packaging metadata or a licence text says to an SPDX identifier, where that has exactly one answer.

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
        Some(text) if text.contains('\n') || text.len() > 100 => of_text(text).map(str::to_owned),
        Some(text) => Some(text.to_owned()),
        None => named.first().map(|name| name.rsplit(" :: ").next().expect("splitting yields a part").to_owned()),
    }
}

/// `BSD` in the metadata and the three clauses in the text: the text says which BSD.
pub(crate) fn refined(stated: Option<String>, text: Option<&str>) -> Option<String> {
    let of_text = text.and_then(of_text);
    match (stated, of_text) {
        (None, of_text) => of_text.map(str::to_owned),
        (Some(stated), Some(of_text)) => {
            let family = stated.split([' ', '-']).next().expect("splitting yields a part");
            let identifier = stated.contains(|letter: char| letter.is_ascii_digit());
            let same_family = of_text.split('-').next() == Some(family);
            Some(if same_family && !identifier { of_text.to_owned() } else { stated })
        }
        (stated, None) => stated,
    }
}

fn of_classifier(key: &str) -> Option<&'static str> {
    CLASSIFIERS.iter().find(|(name, _)| *name == key).map(|(_, identifier)| *identifier)
}

/// The licence of a whole licence text, by phrases that only it has. A text of two licences has no single answer.
pub(crate) fn of_text(text: &str) -> Option<&'static str> {
    let words = text.to_lowercase();
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let has = |phrase: &str| words.contains(phrase);
    let bsd = has("redistribution and use in source and binary forms");
    let endorsement = has("neither the name") || has("may be used to endorse or promote");
    let found: Vec<_> = [
        ("Apache-2.0", has("apache license version 2.0")),
        (
            "MIT",
            has("permission is hereby granted, free of charge")
                && has("the above copyright notice and this permission"),
        ),
        ("BSD-3-Clause", bsd && endorsement),
        ("BSD-2-Clause", bsd && !endorsement),
        ("AGPL-3.0-only", words.starts_with("gnu affero general public license version 3")),
        ("GPL-3.0-only", words.starts_with("gnu general public license version 3")),
        ("GPL-2.0-only", words.starts_with("gnu general public license version 2")),
        ("LGPL-3.0-only", words.starts_with("gnu lesser general public license version 3")),
        ("MPL-2.0", words.starts_with("mozilla public license version 2.0")),
        ("CC-BY-NC-4.0", has("attribution-noncommercial 4.0 international")),
    ]
    .into_iter()
    .filter(|(_, matches)| *matches)
    .collect();
    match found[..] {
        [(identifier, _)] => Some(identifier),
        _ => None,
    }
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
        let text = "Redistribution and use in source and binary forms ... Neither the name of";
        let refine = |stated: Option<&str>| refined(stated.map(str::to_owned), Some(text));
        assert_eq!(refine(Some("BSD")).as_deref(), Some("BSD-3-Clause"));
        assert_eq!(refine(Some("BSD License")).as_deref(), Some("BSD-3-Clause"));
        assert_eq!(refine(Some("BSD-2-Clause")).as_deref(), Some("BSD-2-Clause"));
        assert_eq!(refine(Some("MIT")).as_deref(), Some("MIT"));
        assert_eq!(refine(None).as_deref(), Some("BSD-3-Clause"));
    }

    #[test]
    fn licence_texts() {
        let mit = "MIT License\n\nPermission is hereby granted, free of\n charge, to any person ... The above copyright notice \
                   and this permission notice shall be included";
        assert_eq!(of_text(mit), Some("MIT"));
        let apache =
            "                                 Apache License\n                           Version 2.0, January 2004";
        assert_eq!(of_text(apache), Some("Apache-2.0"));
        assert_eq!(of_text(&format!("{mit}\n{apache}")), None);
        assert_eq!(of_text("All rights reserved"), None);
    }
}
