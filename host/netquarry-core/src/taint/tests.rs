//! Files with the signs that are in them: each line that has some ends with a comment, `# frames sys._getframe`.

use super::signs;
use crate::syntax;

const CASES: [(&str, &str); 3] = [
    ("tainted", include_str!("cases/tainted.py")),
    ("stars", include_str!("cases/stars.py")),
    ("clean", include_str!("cases/clean.py")),
];

#[test]
fn every_line_has_the_signs_that_it_names() {
    for (name, text) in CASES {
        let facts = syntax::facts(text.as_bytes());
        assert!(facts.diagnostics.is_empty(), "{name}: {:?}", facts.diagnostics);
        let expected: Vec<String> = text
            .lines()
            .zip(1..)
            .filter_map(|(line, number)| Some((line.split_once("  # ")?.1, number)))
            .flat_map(|(signs, number): (&str, u32)| signs.split(", ").map(move |sign| format!("{number}: {sign}")))
            .collect();
        let signs = signs(text, &facts).into_iter();
        let mut found: Vec<(u32, String)> =
            signs.map(|sign| (sign.line.unwrap_or(0), format!("{} {}", sign.reason.name(), sign.what))).collect();
        found.sort();
        let found: Vec<String> = found.into_iter().map(|(line, sign)| format!("{line}: {sign}")).collect();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn what_stands_in_a_formatted_string_is_found_without_its_line() {
    let text = "def name(frame):\n    return f\"{frame.f_back}\"\n";
    let signs = signs(text, &syntax::facts(text.as_bytes()));
    assert_eq!(signs.len(), 1);
    assert_eq!((signs[0].line, signs[0].what.as_str()), (None, ".f_back"));
}

#[test]
fn a_text_that_cannot_be_read_has_no_signs() {
    let text = "import sys\nsys._getframe(\n";
    assert_eq!(signs(text, &syntax::facts(text.as_bytes())), []);
}
