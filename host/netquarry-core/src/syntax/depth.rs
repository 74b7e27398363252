//! How deep a text nests, before it is parsed: trees are walked and dropped recursively.
//!
//! The depth of a tree is bounded from its tokens. Within one bracket, and between two commas of it, every operator and
//! every keyword can add a level at most; so can every `elif`, and every level of indentation. This counts more than
//! there is (`a and b and c` is one level to Python) and never less.

use super::{MAX_DEPTH, diagnostic};
use crate::facts::{Diagnostic, DiagnosticKind};

/// Fails where the text may nest deeper than [`MAX_DEPTH`].
pub(super) fn check(text: &str) -> Result<(), Diagnostic> {
    let mut scanner = Scanner { bytes: text.as_bytes(), ..Scanner::default() };
    match scanner.run() {
        Ok(()) => Ok(()),
        Err(TooDeep) => {
            let line = 1 + text.as_bytes()[..scanner.position].iter().filter(|byte| **byte == b'\n').count();
            let message = format!("expressions or blocks nest deeper than {MAX_DEPTH} levels");
            Err(diagnostic(DiagnosticKind::TooDeep, message, u32::try_from(line).ok()))
        }
    }
}

struct TooDeep;

#[derive(Default)]
struct Scanner<'a> {
    bytes: &'a [u8],
    position: usize,
    /// The levels that were counted in each open bracket when the next one opened.
    brackets: Vec<u32>,
    /// Levels in the innermost bracket since its last comma.
    level: u32,
    /// The sum of `brackets`.
    outer: u32,
    /// An `elif` is an `if` in the `else` of the one before: those since the last line that starts a top-level statement.
    elifs: u32,
}

impl Scanner<'_> {
    fn run(&mut self) -> Result<(), TooDeep> {
        while let Some(byte) = self.bytes.get(self.position).copied() {
            self.position += 1;
            match byte {
                b'#' => self.position += self.rest().iter().take_while(|byte| **byte != b'\n').count(),
                b'"' | b'\'' => self.string(byte)?,
                b'(' | b'[' | b'{' => {
                    self.deepen(1)?;
                    self.outer += self.level;
                    self.brackets.push(std::mem::take(&mut self.level));
                }
                b')' | b']' | b'}' => {
                    if let Some(level) = self.brackets.pop() {
                        self.outer -= level;
                        self.level = level;
                    }
                }
                b',' => self.level = 0,
                b'\n' if self.brackets.is_empty() => self.start_line(),
                b'\\' => self.position += 1,
                _ if byte == b'_' || byte.is_ascii_alphabetic() || !byte.is_ascii() => self.word()?,
                _ if byte.is_ascii_punctuation() => self.deepen(1)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn rest(&self) -> &[u8] {
        &self.bytes[self.position.min(self.bytes.len())..]
    }

    fn deepen(&mut self, levels: u32) -> Result<(), TooDeep> {
        self.level += levels;
        if self.outer + self.level + self.elifs > MAX_DEPTH { Err(TooDeep) } else { Ok(()) }
    }

    fn word(&mut self) -> Result<(), TooDeep> {
        let start = self.position - 1;
        let continues = |byte: &&u8| **byte == b'_' || byte.is_ascii_alphanumeric() || !byte.is_ascii();
        self.position += self.rest().iter().take_while(continues).count();
        match &self.bytes[start..self.position] {
            b"not" | b"lambda" | b"if" | b"else" | b"await" | b"yield" | b"for" | b"in" | b"is" | b"and" | b"or" => {
                self.deepen(1)
            }
            b"elif" => {
                self.elifs += 1;
                self.deepen(0)
            }
            _ => Ok(()),
        }
    }

    /// Every level of indentation takes at least one column. Blocks are few, so columns may stand for them.
    fn start_line(&mut self) {
        let columns = self.rest().iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        self.level = u32::try_from(columns).unwrap_or(MAX_DEPTH).min(MAX_DEPTH);
        let continues = [b"elif".as_slice(), b"else", b"#", b"\n"].iter().any(|start| self.rest().starts_with(start));
        if columns == 0 && !continues {
            self.elifs = 0;
        }
    }

    fn string(&mut self, quote: u8) -> Result<(), TooDeep> {
        let is_formatted = {
            let mut before = self.bytes[..self.position - 1].iter().rev().map(u8::to_ascii_lowercase);
            matches!((before.next(), before.next()), (Some(b'f'), _) | (Some(b'r'), Some(b'f')))
        };
        let triple = self.rest().starts_with(&[quote, quote]);
        if triple {
            self.position += 2;
        }
        let level = self.level;
        let mut braces = 0_u32;
        while let Some(byte) = self.bytes.get(self.position).copied() {
            self.position += 1;
            match byte {
                b'\\' => self.position += 1,
                b'\n' if !triple => break,
                b'{' if is_formatted => {
                    self.deepen(u32::from(braces > 0))?;
                    braces += 1;
                }
                b'}' => {
                    braces = braces.saturating_sub(1);
                    self.level = if braces == 0 { level } else { self.level };
                }
                _ if byte == quote && (!triple || self.rest().starts_with(&[quote, quote])) => {
                    self.position += if triple { 2 } else { 0 };
                    break;
                }
                _ if braces > 0 && (byte.is_ascii_punctuation() || byte == b' ') => self.deepen(1)?,
                _ => {}
            }
        }
        self.level = level;
        Ok(())
    }
}
