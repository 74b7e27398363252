//! Other spellings of what the parser does not read, of the same length, so that every place stays where it is.
//!
//! The parser rejects some indentation that mixes tabs and spaces, and some f-strings: those that are nested with the
//! same quotes (PEP 701), and triple-quoted strings inside. Files with them are rare, so this is tried when parsing
//! has failed.

/// Indentation in form feeds, which count nothing, and one space per level, in one line each.
///
/// Levels are found as CPython finds them, with tab stops at every eighth column. `None` where that fails, or where a
/// line has fewer characters than levels, which CPython rejects unless a backslash splits the indentation.
pub(super) fn indentation(text: &str) -> Option<String> {
    let source = text.as_bytes();
    let mut output = source.to_vec();
    let mut levels = vec![0];
    let mut position = 0;
    while position < source.len() {
        let Indentation { column, last_line, end } = Indentation::read(source, position)?;
        output[position..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        if !matches!(source.get(end), None | Some(b'\n' | b'#')) {
            let level = level(&mut levels, column)?;
            let padding = (end - last_line).checked_sub(level)?;
            output[last_line..last_line + padding].fill(b'\x0c');
        }
        position = logical_line_end(source, end);
    }
    String::from_utf8(output).ok()
}

/// What stands before the code of a logical line.
struct Indentation {
    column: usize,
    /// Where the last one begins of the lines that backslashes split it into.
    last_line: usize,
    end: usize,
}

impl Indentation {
    /// As CPython reads it: columns go on behind a backslash, and the first one that has blanks before it says where the
    /// code stands. `None` where a backslash ends the text.
    fn read(source: &[u8], start: usize) -> Option<Self> {
        let (mut column, mut split_at) = (0, 0);
        let (mut last_line, mut end) = (start, start);
        loop {
            match source[end..] {
                [b' ', ..] => column += 1,
                [b'\t', ..] => column = (column / 8 + 1) * 8,
                [b'\x0c', ..] => column = 0,
                [b'\\', b'\n'] => return None,
                [b'\\', b'\n', ..] => {
                    split_at = if split_at == 0 { column } else { split_at };
                    end += 1;
                    last_line = end + 1;
                }
                _ => return Some(Self { column: if split_at == 0 { column } else { split_at }, last_line, end }),
            }
            end += 1;
        }
    }
}

fn level(levels: &mut Vec<usize>, column: usize) -> Option<usize> {
    while levels.last().is_some_and(|last| *last > column) {
        levels.pop();
        if levels.last().is_some_and(|last| *last < column) {
            return None;
        }
    }
    if levels.last().is_some_and(|last| *last < column) {
        levels.push(column);
    }
    Some(levels.len() - 1)
}

/// Behind the line feed that ends the logical line.
fn logical_line_end(source: &[u8], start: usize) -> usize {
    let mut position = start;
    let mut brackets = 0_u32;
    while let Some(byte) = source.get(position) {
        match byte {
            b'\n' if brackets == 0 => return position + 1,
            b'(' | b'[' | b'{' => brackets += 1,
            b')' | b']' | b'}' => brackets = brackets.saturating_sub(1),
            b'\\' => position += 1,
            b'#' => {
                position = comment_end(source, position);
                continue;
            }
            b'"' | b'\'' => {
                position = plain_string_end(source, position);
                continue;
            }
            _ => {}
        }
        position += 1;
    }
    source.len()
}

fn comment_end(source: &[u8], start: usize) -> usize {
    start + source[start..].iter().take_while(|byte| **byte != b'\n').count()
}

/// Behind the string whose first quote is at `start`.
fn plain_string_end(source: &[u8], start: usize) -> usize {
    let quote = Quote::at(source, start);
    let mut position = start + quote.length;
    while position < source.len() {
        if quote.ends_at(source, position) {
            return position + quote.length;
        }
        position += if source[position] == b'\\' { 2 } else { 1 };
    }
    source.len()
}

#[derive(Clone, Copy)]
struct Quote {
    byte: u8,
    /// One or three.
    length: usize,
}

impl Quote {
    fn at(source: &[u8], start: usize) -> Self {
        let byte = source[start];
        let length = if source[start..].starts_with(&[byte; 3]) { 3 } else { 1 };
        Self { byte, length }
    }

    fn ends_at(self, source: &[u8], position: usize) -> bool {
        source[position..].starts_with(&[self.byte; 3][..self.length])
    }
}

/// F-strings with strings or comments inside as tuples of their expressions: `f"a {b['c']!r:>{d}}"` becomes
/// `(    b['c'],    d,  )`.
///
/// This loses what the string says, which nothing asks for, and keeps every expression where it stands. `None` where
/// there is no such f-string, or one does not end.
pub(super) fn formatted_strings(text: &str) -> Option<String> {
    let output = text.as_bytes().to_vec();
    let mut rewriter = Rewriter { source: text.as_bytes(), output, is_difficult: false, found: false };
    rewriter.code(0, false)?;
    if rewriter.found { String::from_utf8(rewriter.output).ok() } else { None }
}

struct Rewriter<'a> {
    source: &'a [u8],
    output: Vec<u8>,
    /// A field has been seen that the parser may not read, in the f-string at hand.
    is_difficult: bool,
    /// An f-string has been rewritten.
    found: bool,
}

impl Rewriter<'_> {
    fn byte(&self, position: usize) -> Option<u8> {
        self.source.get(position).copied()
    }

    fn blank(&mut self, start: usize, end: usize) {
        self.output[start..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    }

    /// Reads code: to the end of the text, or, in a field of an f-string, to what ends its expression.
    fn code(&mut self, start: usize, in_field: bool) -> Option<usize> {
        let mut position = start;
        let mut brackets = 0_u32;
        while let Some(byte) = self.byte(position) {
            let next = self.byte(position + 1);
            match byte {
                b'#' => {
                    self.is_difficult = true;
                    position = comment_end(self.source, position);
                    continue;
                }
                b'"' | b'\'' => {
                    position = self.strings(position, in_field || brackets > 0)?;
                    continue;
                }
                b'_' | b'a'..=b'z' | b'A'..=b'Z' | 0x80.. => {
                    let end = self.word_end(position);
                    position = match self.byte(end) {
                        Some(b'"' | b'\'') if is_prefix(&self.source[position..end]) => {
                            self.strings(position, in_field || brackets > 0)?
                        }
                        _ => end,
                    };
                    continue;
                }
                b'(' | b'[' | b'{' => brackets += 1,
                b'}' | b':' if in_field && brackets == 0 => return Some(position),
                b'!' | b'=' | b'<' | b'>' if next == Some(b'=') => position += 1,
                b'!' | b'=' if in_field && brackets == 0 => return Some(position),
                b')' | b']' | b'}' => brackets = brackets.saturating_sub(1),
                b'\\' => {
                    self.is_difficult = true;
                    position += 1;
                }
                _ => {}
            }
            position += 1;
        }
        (!in_field).then_some(position)
    }

    fn word_end(&self, start: usize) -> usize {
        let continues = |byte: &&u8| **byte == b'_' || byte.is_ascii_alphanumeric() || !byte.is_ascii();
        start + self.source[start..].iter().take_while(continues).count()
    }

    /// String literals that stand side by side are one expression.
    fn strings(&mut self, start: usize, in_brackets: bool) -> Option<usize> {
        self.is_difficult = false;
        let mut end = self.string(start)?;
        while let Some(next) = self.next_string(end, in_brackets) {
            self.blank(end, next);
            end = self.string(next)?;
        }
        if self.is_difficult {
            self.output[start] = b'(';
            self.output[end - 1] = b')';
            self.found = true;
        } else {
            self.output[start..end].copy_from_slice(&self.source[start..end]);
        }
        // To an f-string around, this is a string inside.
        self.is_difficult = true;
        Some(end)
    }

    /// Where the next string literal starts, if nothing stands between.
    fn next_string(&self, start: usize, in_brackets: bool) -> Option<usize> {
        let mut position = start;
        loop {
            match self.byte(position)? {
                b' ' | b'\t' | b'\x0c' => position += 1,
                b'\\' => position += 2,
                b'\n' if in_brackets => position += 1,
                b'#' if in_brackets => position = comment_end(self.source, position),
                _ => break,
            }
        }
        let end = self.word_end(position);
        let is_string = matches!(self.byte(end)?, b'"' | b'\'') && is_prefix(&self.source[position..end]);
        is_string.then_some(position)
    }

    /// Blanks a string literal but for the expressions in it. Returns its end.
    fn string(&mut self, start: usize) -> Option<usize> {
        let quotes = self.word_end(start);
        if self.source[start..quotes].iter().any(|byte| matches!(byte, b'f' | b'F')) {
            let quote = Quote::at(self.source, quotes);
            self.blank(start, quotes + quote.length);
            self.formatted_text(quotes + quote.length, Some(quote))
        } else {
            let end = plain_string_end(self.source, quotes);
            self.blank(start, end);
            Some(end)
        }
    }

    /// The text of an f-string, to behind its quotes; or, without `quote`, that of a format specification, to its `}`.
    fn formatted_text(&mut self, start: usize, quote: Option<Quote>) -> Option<usize> {
        let mut position = start;
        loop {
            let byte = self.byte(position)?;
            let next = self.byte(position + 1);
            let length = match (byte, next) {
                _ if quote.is_some_and(|quote| quote.ends_at(self.source, position)) => {
                    let length = quote.map_or(0, |quote| quote.length);
                    self.blank(position, position + length);
                    return Some(position + length);
                }
                (b'}', _) if quote.is_none() => return Some(position),
                (b'{', Some(b'{')) if quote.is_some() => 2,
                (b'{', _) => {
                    position = self.field(position)?;
                    continue;
                }
                (b'\\', Some(b'N')) if self.byte(position + 2) == Some(b'{') => {
                    1 + self.source[position..].iter().position(|byte| *byte == b'}')?
                }
                (b'\\', Some(next)) if !matches!(next, b'{' | b'}') => 2,
                _ => 1,
            };
            self.blank(position, position + length);
            position += length;
        }
    }

    /// `{expression=!r:specification}`, to behind the closing brace.
    fn field(&mut self, start: usize) -> Option<usize> {
        self.output[start] = b' ';
        let end = self.code(start + 1, true)?;
        let has_comma = self.source[start..end].trim_ascii_end().ends_with(b",");
        self.output[end] = if has_comma { b' ' } else { b',' };
        let mut position = end;
        while self.byte(position)? != b'}' {
            let next =
                if self.byte(position)? == b':' { self.formatted_text(position + 1, None)? } else { position + 1 };
            if position > end {
                self.output[position] = b' ';
            }
            position = next;
        }
        if position > end {
            self.output[position] = b' ';
        }
        Some(position + 1)
    }
}

fn is_prefix(word: &[u8]) -> bool {
    word.len() <= 2 && word.iter().all(|byte| matches!(byte.to_ascii_lowercase(), b'b' | b'f' | b'r' | b'u'))
}
