//! From a text to its top-level statements, each of which can be read by itself.

use super::tokenizer::{Token, TokenKind, tokenize};

/// A statement that stands in no other one, from its first decorator to the end of its last line. What stands between two
/// of them is comments and empty lines. In the fragments of files that NN-DUP puts together it may be indented; what
/// follows deeper than it counts as a part of it, as it does to the tokenizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece<'t> {
    pub(super) text: &'t str,
    /// The 0-based number of the line in which it starts.
    pub(super) first_line: u32,
    /// A string that it starts with is no docstring to NN-DUP, because an empty line stands before it.
    pub(super) keeps_string: bool,
}

/// The top-level statements of a text; `None` where they may mean something else by themselves than all together: where
/// lines end in other ways than `\n`, where the text says how it is encoded, or where it is not made of whole tokens. That
/// each of them is Python is for the caller to see.
pub(super) fn statements(text: &str) -> Option<Vec<Piece<'_>>> {
    if has_special(text) || text.lines().take(2).any(|line| line.contains("coding")) {
        return None;
    }
    let mut split = Split { text, pieces: Vec::new(), open: None };
    let mut place = Place { starts_line: true, previous: TokenKind::Indent };
    for token in tokenize(text).ok()? {
        match token.kind {
            TokenKind::Error => return None,
            TokenKind::Comment => continue,
            TokenKind::LineBreak | TokenKind::Indent | TokenKind::Dedent => {}
            TokenKind::Newline => {
                split.open.as_mut()?.end = token.end;
                place.starts_line = true;
            }
            TokenKind::Name | TokenKind::Number | TokenKind::String | TokenKind::Operator => {
                if place.starts_line && split.is_outermost(token)? {
                    split.statement(token, place.previous)?;
                }
                split.open.as_mut()?.end = token.end;
                place.starts_line = false;
            }
        }
        place.previous = token.kind;
    }
    split.close();
    Some(split.pieces)
}

fn has_special(text: &str) -> bool {
    // Most texts have nothing beyond ASCII, and bytes are looked at faster than characters.
    match text.is_ascii() {
        true => text.bytes().any(|byte| is_special(char::from(byte))),
        false => text.contains(is_special),
    }
}

/// Ends a line for someone, or is refused or taken off by someone.
fn is_special(character: char) -> bool {
    let ends_a_line =
        matches!(character, '\r' | '\x0b' | '\x0c' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}');
    ends_a_line || matches!(character, '\0' | '\u{feff}')
}

struct Place {
    /// The next token is the first one of a line of code.
    starts_line: bool,
    previous: TokenKind,
}

struct Split<'t> {
    text: &'t str,
    pieces: Vec<Piece<'t>>,
    open: Option<Open>,
}

struct Open {
    /// Of its line.
    start: usize,
    end: usize,
    column: usize,
    first_line: usize,
    keeps_string: bool,
    /// Its last line so far is a decorator's.
    is_decorated: bool,
}

impl Split<'_> {
    /// Whether a line that starts with this token is no part of the statement that is open; `None` where that depends on
    /// how wide tabs are.
    fn is_outermost(&self, token: Token) -> Option<bool> {
        let column = token.start - token.line_start;
        let outermost = self.open.as_ref().map(|open| open.column);
        if column > 0 && outermost != Some(0) && self.text[token.line_start..token.start].contains('\t') {
            return None;
        }
        Some(outermost.is_none_or(|outermost| column <= outermost))
    }

    /// Takes the first token of such a line; `None` where it goes on with what is not there.
    fn statement(&mut self, token: Token, previous: TokenKind) -> Option<()> {
        let word = &self.text[token.start..token.end];
        let is_decorated = word == "@";
        if matches!(word, "else" | "elif" | "except" | "finally")
            || self.open.as_ref().is_some_and(|open| open.is_decorated)
        {
            self.open.as_mut()?.is_decorated = is_decorated;
            return Some(());
        }
        self.close();
        let keeps_string =
            token.kind == TokenKind::String && !matches!(previous, TokenKind::Indent | TokenKind::Newline);
        let Token { line_start: start, end, .. } = token;
        let column = token.start - start;
        self.open = Some(Open { start, end, column, first_line: token.first_line, keeps_string, is_decorated });
        Some(())
    }

    fn close(&mut self) {
        let Some(Open { start, end, first_line, keeps_string, .. }) = self.open.take() else { return };
        let first_line = u32::try_from(first_line).expect("a text has fewer than 2^32 lines");
        self.pieces.push(Piece { text: &self.text[start..end], first_line, keeps_string });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Option<Vec<&str>> {
        Some(statements(text)?.into_iter().map(|piece| piece.text).collect())
    }

    #[test]
    fn statements_are_whole_and_what_stands_between_them_is_left_out() {
        let text = "import a  # why\n\n# --- b.py ---\n@first\n# on top\n@second(\n1)\ndef f():\n    '''\nx = 1\n'''\n\n    # end\ntry:\n    pass\nfinally:\n    pass\nx = [\n1]; y = \\\n2";
        let expected = [
            "import a  # why\n",
            "@first\n# on top\n@second(\n1)\ndef f():\n    '''\nx = 1\n'''\n",
            "try:\n    pass\nfinally:\n    pass\n",
            "x = [\n1]; y = \\\n2",
        ];
        assert_eq!(texts(text).unwrap(), expected);
        assert_eq!(statements(text).unwrap()[2].first_line, 13);
    }

    #[test]
    fn fragments_may_be_indented() {
        let text = "        @a\n        def f():\n            pass\n\nclass A:\n    pass\n\n    def g(): pass\nx\n";
        let expected =
            ["        @a\n        def f():\n            pass\n", "class A:\n    pass\n\n    def g(): pass\n", "x\n"];
        assert_eq!(texts(text).unwrap(), expected);
    }

    #[test]
    fn a_string_behind_an_empty_line_is_no_docstring() {
        let keeps = |text| statements(text).unwrap().iter().map(|piece| piece.keeps_string).collect::<Vec<_>>();
        assert_eq!(keeps("'a'\n'b'\n\n'c'\n"), [false, false, true]);
        assert_eq!(keeps("# first\n'a'\nif x:\n    y\n'b'\n"), [true, false, true]);
    }

    #[test]
    fn what_cannot_be_split_is_not() {
        for text in
            ["\tx = 1\n", "else:\n    x\n", "x = (1", "x = $1\n", "x\r\n", "x = 1\x0c\n", "# coding: utf-8\nx\n"]
        {
            assert_eq!(texts(text), None, "{text:?}");
        }
        assert_eq!(texts("# nothing\n\n"), Some(Vec::new()));
    }
}
