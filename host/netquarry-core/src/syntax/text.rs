//! The text that the parser reads, and where its places are in the text of the file.
//!
//! The parser counts a `\r\n` in a string as one byte, which moves everything behind it in an f-string, so it is given
//! text with `\n` only. Trees do not say where names stand that are not expressions (`def name`, `except E as name`);
//! they are found here, by reading on from a place that the tree does give.

use std::borrow::Cow;

use rustpython_parser::text_size::TextRange as ParserRange;

use crate::source::TextRange;

pub(super) struct Text<'a> {
    text: Cow<'a, str>,
    /// The offsets in `text` of the line feeds before each of which a carriage return was taken out.
    removed: Vec<u32>,
}

impl<'a> Text<'a> {
    pub(super) fn new(original: &'a str) -> Self {
        if !original.contains('\r') {
            return Self { text: Cow::Borrowed(original), removed: Vec::new() };
        }
        let mut text = String::with_capacity(original.len());
        let mut removed = Vec::new();
        let mut characters = original.chars().peekable();
        while let Some(character) = characters.next() {
            if character != '\r' {
                text.push(character);
            } else if characters.peek() == Some(&'\n') {
                removed.push(offset(text.len()));
            } else {
                text.push('\n');
            }
        }
        Self { text: Cow::Owned(text), removed }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// A place of the parser's in the text of the file.
    pub(super) fn original(&self, offset: u32) -> u32 {
        let before = self.removed.partition_point(|removed| *removed < offset);
        offset + u32::try_from(before).expect("files are under 4 GiB")
    }

    pub(super) fn original_range(&self, range: Span) -> TextRange {
        TextRange::new(self.original(range.start), self.original(range.end))
    }

    pub(super) fn slice(&self, span: Span) -> &str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// 1-based.
    pub(super) fn line(&self, offset: u32) -> u32 {
        let before = &self.text.as_bytes()[..offset as usize];
        1 + u32::try_from(before.iter().filter(|byte| **byte == b'\n').count()).expect("files are under 4 GiB")
    }

    /// The first place from `start` on that is not white space, a line continuation or a comment.
    pub(super) fn skip_trivia(&self, start: u32) -> u32 {
        let bytes = self.text.as_bytes();
        let mut position = start as usize;
        while let Some(byte) = bytes.get(position) {
            match byte {
                b' ' | b'\t' | b'\n' | b'\x0c' | b'\\' => position += 1,
                b'#' => position += bytes[position..].iter().take_while(|byte| **byte != b'\n').count(),
                _ => break,
            }
        }
        offset(position)
    }

    /// Skips trivia and any of the given characters.
    pub(super) fn skip(&self, start: u32, characters: &[u8]) -> u32 {
        let mut position = self.skip_trivia(start);
        while self.text.as_bytes().get(position as usize).is_some_and(|byte| characters.contains(byte)) {
            position = self.skip_trivia(position + 1);
        }
        position
    }

    /// The identifier or keyword that starts at `start`, empty if none does.
    pub(super) fn identifier_at(&self, start: u32) -> Span {
        let rest = &self.text[start as usize..];
        let length = rest.find(|character| !continues_identifier(character)).unwrap_or(rest.len());
        Span { start, end: start + offset(length) }
    }

    /// The identifier that ends at `end`.
    pub(super) fn identifier_before(&self, end: u32) -> Span {
        let before = &self.text[..end as usize];
        let length = before.chars().rev().take_while(|character| continues_identifier(*character));
        Span { start: end - offset(length.map(char::len_utf8).sum()), end }
    }

    /// The name in a `def`, `async def` or `class` that starts at `start`.
    pub(super) fn definition_name(&self, start: u32) -> Span {
        let mut word = self.identifier_at(start);
        while matches!(self.slice(word), "async" | "def" | "class") {
            word = self.identifier_at(self.skip_trivia(word.end));
        }
        word
    }

    /// The `@` before a decorator, which can be separated from it by parentheses and comments.
    pub(super) fn decorator_start(&self, decorator: u32) -> u32 {
        let mut end = decorator;
        loop {
            let found = self.text[..end as usize].rfind('@').expect("a decorator follows an `@`");
            let line = self.text[..found].rfind('\n').map_or(0, |newline| newline + 1);
            let starts_line = self.text[line..found].trim_start_matches([' ', '\t', '\x0c']).is_empty();
            if starts_line && self.skip(offset(found) + 1, b"(") == decorator {
                return offset(found);
            }
            end = offset(found);
        }
    }

    /// The start of the comment lines directly above `start`, but behind `limit`; `start` where there are none or where
    /// something else stands before it in its line.
    pub(super) fn leading_comments(&self, start: u32, limit: u32) -> u32 {
        let text = &self.text[limit as usize..start as usize];
        let Some(mut line_start) = text.rfind('\n').map(|newline| newline + 1).or((limit == 0).then_some(0)) else {
            return start;
        };
        if !text[line_start..].trim().is_empty() {
            return start;
        }
        let mut first = start;
        while line_start > 0 {
            let above = &text[..line_start - 1];
            // The first line behind `limit` may be the rest of the line in which the statement before ends.
            let above_start = match above.rfind('\n') {
                Some(newline) => newline + 1,
                None if limit == 0 => 0,
                None => break,
            };
            if !above[above_start..].trim_start().starts_with('#') {
                break;
            }
            line_start = above_start;
            first = limit + offset(above_start);
        }
        first
    }
}

/// A range in the text that the parser reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl From<ParserRange> for Span {
    fn from(range: ParserRange) -> Self {
        Self { start: range.start().into(), end: range.end().into() }
    }
}

fn continues_identifier(character: char) -> bool {
    character == '_' || character.is_alphanumeric() || !character.is_ascii()
}

fn offset(length: usize) -> u32 {
    u32::try_from(length).expect("files are under 4 GiB")
}
