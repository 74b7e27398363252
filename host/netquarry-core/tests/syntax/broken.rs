//! Input that cannot be read, or only just.

use std::thread;

use netquarry_core::facts::{Diagnostic, DiagnosticKind};
use netquarry_core::syntax::{self, MAX_DEPTH, MAX_FILE_BYTES, PARSER_STACK_BYTES, string_literals};

fn diagnostic(bytes: &[u8]) -> Option<Diagnostic> {
    let facts = syntax::facts(bytes);
    assert!(
        facts.diagnostics.is_empty() || facts.statements.is_empty(),
        "a file that cannot be read has no statements"
    );
    facts.diagnostics.into_iter().next()
}

fn kind(bytes: &[u8]) -> Option<(DiagnosticKind, Option<u32>)> {
    diagnostic(bytes).map(|diagnostic| (diagnostic.kind, diagnostic.line))
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    use DiagnosticKind::{Encoding, PythonTwo, Syntax, TooLarge};
    let cases: &[(&[u8], DiagnosticKind, Option<u32>)] = &[
        (b"x = 1\nx = = 2\n", Syntax, Some(2)),
        (b"x = (\n\n\n", Syntax, Some(4)),
        (b"if x:\n    y\n  z\n", Syntax, Some(3)),
        (b"x = '''\n", Syntax, Some(2)),
        (b"x = 1\0\n", Syntax, Some(1)),
        (b"import os\nprint 'hello'\n", PythonTwo, Some(2)),
        (b"print\nprint \"a\", b\n", PythonTwo, Some(2)),
        (b"try:\n    pass\nexcept ValueError, error:\n    pass\n", PythonTwo, Some(3)),
        (b"raise ValueError, 'message'\n", PythonTwo, Some(1)),
        (b"exec 'code'\n", PythonTwo, Some(1)),
        (b"x = `1`\n", PythonTwo, Some(1)),
        (b"x <> y\n", PythonTwo, Some(1)),
        (b"x = ur'a'\n", PythonTwo, Some(1)),
        (b"x = 1\ny = '\xe9'\n", Encoding, Some(2)),
        (b"# coding: utf-8\ny = '\xe9'\n", Encoding, Some(2)),
        (b"# coding: klingon\n", Encoding, Some(1)),
        (b"# a comment\n# coding: ascii\ny = '\xe9'\n", Encoding, Some(2)),
        (b"\xef\xbb\xbf# coding: latin-1\n", Encoding, Some(1)),
    ];
    for (bytes, expected, line) in cases {
        assert_eq!(kind(bytes), Some((*expected, *line)), "{}", String::from_utf8_lossy(bytes));
    }
    assert_eq!(kind(&vec![b'#'; MAX_FILE_BYTES + 1]), Some((TooLarge, None)));
    assert_eq!(kind(&vec![b'#'; MAX_FILE_BYTES]), None);
}

#[test]
fn encodings_are_those_that_the_file_names() {
    let cases: &[(&[u8], &str)] = &[
        (b"\xef\xbb\xbfx = 1", "x = 1"),
        (b"\xef\xbb\xbf# -*- coding: UTF_8 -*-\n", "# -*- coding: UTF_8 -*-\n"),
        (b"# coding: latin-1\n\xe9\x85", "# coding: latin-1\n\u{e9}\u{85}"),
        (
            b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n\x85",
            "#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n\u{2026}",
        ),
        (b"\r\n# coding=koi8-r\r\n\xc1", "\r\n# coding=koi8-r\r\n\u{430}"),
        (b"# coding: gbk\n\xc4\xe3", "# coding: gbk\n\u{4f60}"),
        (b"# coding: euc-jp\n\xa4\xa2", "# coding: euc-jp\n\u{3042}"),
        (b"# coding: iso-8859-15\n\xa4", "# coding: iso-8859-15\n\u{20ac}"),
        // Only comments name an encoding, and only in the first two lines.
        (b"x = 1\n# coding: gbk\n", "x = 1\n# coding: gbk\n"),
        (b"\n\n# coding: gbk\n\xc3\xa9", "\n\n# coding: gbk\n\u{e9}"),
        (b"x = 'coding: gbk'\n\xc3\xa9", "x = 'coding: gbk'\n\u{e9}"),
    ];
    for (bytes, text) in cases {
        assert_eq!(syntax::decode(bytes).as_deref(), Ok(*text));
    }
}

/// The parser is given other line ends than the file has; places are those in the file.
#[test]
fn places_are_right_whatever_the_line_ends() {
    let text = "# comment\n@decorate\ndef f(x: '''\nFoo'''):\n    return f\"\"\"\n{name}\n\"\"\"\nvalue = a.b.c\n";
    for line_end in ["\n", "\r\n", "\r"] {
        let text = text.replace('\n', line_end);
        let facts = syntax::facts(text.as_bytes());
        let statements: Vec<_> = facts.statements.iter().map(|statement| statement.range.slice(&text)).collect();
        let end = text.rfind(line_end).expect("the text has lines");
        let value = text.find("value").expect("the text has it");
        assert_eq!(
            statements,
            [&text[text.find('@').expect("the text has it")..value - line_end.len()], &text[value..end]]
        );
        let first = &facts.statements[0];
        assert_eq!(first.leading_comments, 0);
        let references = facts.statements.iter().flat_map(|statement| &statement.references);
        let names: Vec<_> = references.clone().map(|reference| reference.range.slice(&text)).collect();
        assert_eq!(names, ["decorate", "Foo", "name", "a"]);
        let ends = references.flat_map(|reference| &reference.path).map(|attribute| attribute.end as usize);
        assert_eq!(ends.collect::<Vec<_>>(), [end - 2, end]);
    }
}

/// Every way of nesting, with so many levels that it is only just allowed or only just not.
#[test]
fn whatever_is_parsed_is_walked_without_running_out_of_stack() {
    let limit = MAX_DEPTH as usize - 20;
    for (start, middle, end, cost) in [
        ("-", "1", "", 1),
        ("not ", "1", "", 1),
        ("(", "1", ")", 1),
        ("f(", "1", ")", 1),
        ("f[", "1", "]", 1),
        ("[", "1", "]", 1),
        ("{1: ", "1", "}", 2),
        ("lambda: ", "1", "", 2),
        ("a if b else ", "1", "", 2),
        ("[x for x in ", "y", "]", 3),
        ("(x := ", "y", ")", 3),
        ("a ** ", "1", "", 2),
        ("", "f", "(1)", 1),
        ("", "f", ".a", 1),
        ("", "f", "[1]", 1),
        ("", "f", " + 1", 1),
        ("", "f", ".m(1)", 2),
    ] {
        let count = limit / cost;
        let expression = |count| format!("{}{middle}{}", start.repeat(count), end.repeat(count));
        assert_eq!(on_a_parser_stack(format!("x = {}\n", expression(count))), [], "{start} {end}");
        assert_eq!(on_a_parser_stack(format!("x: '{}'\n", expression(count))), [], "{start} {end} quoted");
        // In f-strings every bracket and every blank counts; and the parser reads some of these shapes in no f-string.
        let formatted = on_a_parser_stack(format!("x = f'{{ {} }}'\n", expression(count / 4)));
        assert!(!formatted.contains(&DiagnosticKind::TooDeep), "{start} {end} formatted");
        for text in [format!("x = {}\n", expression(2 * count)), format!("x = f'{{ {} }}'\n", expression(2 * count))] {
            assert_eq!(on_a_parser_stack(text), [DiagnosticKind::TooDeep], "{start} {end}");
        }
    }
    let chain = |count| format!("if x:\n    pass\n{}", "elif x:\n    pass\n".repeat(count));
    assert_eq!(on_a_parser_stack(chain(limit)), []);
    assert_eq!(on_a_parser_stack(chain(2 * limit)), [DiagnosticKind::TooDeep]);
}

fn on_a_parser_stack(text: String) -> Vec<DiagnosticKind> {
    let read =
        move || syntax::facts(text.as_bytes()).diagnostics.into_iter().map(|diagnostic| diagnostic.kind).collect();
    let thread = thread::Builder::new().stack_size(PARSER_STACK_BYTES).spawn(read).expect("a thread can be made");
    thread.join().expect("it does not panic")
}

#[test]
fn string_literals_of_an_expression() {
    let expression = r#"f("a", b='b\n', c=r"\c", d=f"{d}", e=b"e") + 'x' "y""#;
    assert_eq!(string_literals(expression), ["a", "b\n", "\\c", "x", "y"]);
}
