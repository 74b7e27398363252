//! Which `match`, `case` and `type` are keywords.
//!
//! The parser's own rule takes `match[0]: int = 1` for a `match` statement. CPython tries both readings; this decides
//! by what can stand where, which comes to the same.

use std::collections::VecDeque;

use rustpython_parser::Tok;
use rustpython_parser::lexer::LexResult;

/// Turns soft keywords into names where they are names.
pub(super) struct SoftKeywords<I> {
    tokens: I,
    /// Tokens that were looked at before their turn.
    ahead: VecDeque<LexResult>,
    starts_line: bool,
    /// The open blocks: whether each is that of a `match` statement.
    blocks: Vec<bool>,
    /// The line that is being read opens the block of a `match` statement.
    opens_match: bool,
}

impl<I: Iterator<Item = LexResult>> SoftKeywords<I> {
    pub(super) fn new(tokens: I) -> Self {
        Self { tokens, ahead: VecDeque::new(), starts_line: true, blocks: Vec::new(), opens_match: false }
    }

    /// The line ends in a colon that does not follow directly; no other statement that starts with a name does.
    fn is_match_statement(&mut self) -> bool {
        let is_line_end = |token: &LexResult| matches!(token, Ok((Tok::Newline, _)) | Err(_));
        while !self.ahead.iter().any(is_line_end) {
            match self.tokens.next() {
                Some(token) => self.ahead.push_back(token),
                None => return false,
            }
        }
        let length = self.ahead.iter().position(is_line_end).expect("the end of the line was read");
        length > 1 && matches!(self.ahead[length - 1], Ok((Tok::Colon, _)))
    }

    /// A name follows, which no expression has.
    fn is_type_statement(&mut self) -> bool {
        if self.ahead.is_empty() {
            self.ahead.extend(self.tokens.next());
        }
        matches!(self.ahead.front(), Some(Ok((Tok::Name { .. } | Tok::Match | Tok::Case | Tok::Type, _))))
    }
}

impl<I: Iterator<Item = LexResult>> Iterator for SoftKeywords<I> {
    type Item = LexResult;

    fn next(&mut self) -> Option<LexResult> {
        let (token, range) = match self.ahead.pop_front().or_else(|| self.tokens.next())? {
            Ok(token) => token,
            Err(error) => return Some(Err(error)),
        };
        let starts_line = std::mem::replace(&mut self.starts_line, false);
        let name = match token {
            Tok::Match if starts_line && self.is_match_statement() => {
                self.opens_match = true;
                None
            }
            Tok::Match => Some("match"),
            Tok::Case if starts_line && self.blocks.last() == Some(&true) => None,
            Tok::Case => Some("case"),
            Tok::Type if starts_line && self.is_type_statement() => None,
            Tok::Type => Some("type"),
            Tok::Newline => {
                self.starts_line = true;
                None
            }
            Tok::Indent => {
                self.starts_line = true;
                self.blocks.push(std::mem::take(&mut self.opens_match));
                None
            }
            Tok::Dedent => {
                self.starts_line = true;
                self.blocks.pop();
                None
            }
            _ => None,
        };
        let token = name.map_or(token, |name| Tok::Name { name: name.to_owned() });
        Some(Ok((token, range)))
    }
}
