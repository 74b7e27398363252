//! The tokenizer of CPython 3.11's `tokenize` module, which is not the one of its parser: it is written with regular
//! expressions, reads any text line by line, and gives most of what it does not understand as error tokens.
//!
//! The normalisation tokenizes text that comments and docstrings were cut out of, and fragments of files; so the broken
//! cases are ordinary ones here, and are what they are there. One case differs: `\w` is taken as Rust's alphanumeric
//! characters without combining marks, which agrees with Python's but for a few enclosed letters that no identifier
//! has.

use unicode_normalization::char::is_combining_mark;

/// A token, as byte offsets into the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The offset at which the line starts in which the token starts.
    pub(crate) line_start: usize,
    /// 0-based numbers of the lines in which the token starts and ends; lines end at `\n` only.
    pub(crate) first_line: usize,
    pub(crate) last_line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Name,
    Number,
    String,
    Operator,
    Comment,
    /// The end of a statement.
    Newline,
    /// Any other end of a line: `NL`.
    LineBreak,
    Indent,
    Dedent,
    Error,
}

/// The text ends inside a string or brackets, or a line returns to an indentation that was never there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TokenizeError;

/// The tokens of `text`, without the empty ones at its end (`NEWLINE` of an unfinished line, `DEDENT`, `ENDMARKER`).
pub(crate) fn tokenize(text: &str) -> Result<Vec<Token>, TokenizeError> {
    let mut tokenizer = Tokenizer { indents: vec![0], ..Tokenizer::default() };
    for line in text.split_inclusive('\n') {
        match tokenizer.line(line)? {
            Continue::NextLine => {}
            Continue::Stop => return Ok(tokenizer.tokens),
        }
        tokenizer.line_start += line.len();
        tokenizer.line_number += 1;
    }
    let open = tokenizer.open_string.is_some() || tokenizer.brackets != 0 || tokenizer.continued;
    if open { Err(TokenizeError) } else { Ok(tokenizer.tokens) }
}

#[derive(Default)]
struct Tokenizer {
    tokens: Vec<Token>,
    line_start: usize,
    line_number: usize,
    /// Columns, with tabs expanded, of the blocks around the current line.
    indents: Vec<usize>,
    /// Open brackets; negative after too many closing ones, which also keeps statements from ending.
    brackets: i64,
    /// The last line ended with a backslash.
    continued: bool,
    open_string: Option<OpenString>,
    /// Set by a string in single quotes that goes on after a backslash, and unset where one ends properly: not, as in
    /// CPython, where one breaks off.
    needs_backslash: bool,
}

enum Continue {
    NextLine,
    /// A last line of blanks only ends the text.
    Stop,
}

/// A string that goes on in the next line.
struct OpenString {
    start: usize,
    line_start: usize,
    first_line: usize,
    quotes: Quotes,
}

#[derive(Clone, Copy)]
struct Quotes {
    character: u8,
    triple: bool,
}

impl Tokenizer {
    fn line(&mut self, line: &str) -> Result<Continue, TokenizeError> {
        let mut position = 0;
        if let Some(open) = &self.open_string {
            let Some(end) = end_of_string(line, 0, open.quotes) else {
                if self.needs_backslash && !line.ends_with("\\\n") && !line.ends_with("\\\r\n") {
                    self.finish_string(TokenKind::Error, line.len());
                }
                return Ok(Continue::NextLine);
            };
            self.finish_string(TokenKind::String, end);
            self.needs_backslash = false;
            position = end;
        } else if self.brackets == 0 && !self.continued {
            match self.start_of_statement(line)? {
                StatementStart::At(start) => position = start,
                StatementStart::BlankLine => return Ok(Continue::NextLine),
                StatementStart::EndOfText => return Ok(Continue::Stop),
            }
        }
        self.continued = false;
        while position < line.len() {
            position = self.token(line, position);
        }
        Ok(Continue::NextLine)
    }

    fn start_of_statement(&mut self, line: &str) -> Result<StatementStart, TokenizeError> {
        let (start, column) = indentation(line);
        let Some(first) = line.as_bytes().get(start) else { return Ok(StatementStart::EndOfText) };
        if matches!(first, b'#' | b'\r' | b'\n') {
            let comment = if *first == b'#' { line[start..].trim_end_matches(['\r', '\n']).len() } else { 0 };
            if comment > 0 {
                self.push(TokenKind::Comment, start, start + comment);
            }
            self.push(TokenKind::LineBreak, start + comment, line.len());
            return Ok(StatementStart::BlankLine);
        }
        let innermost = |indents: &[usize]| *indents.last().expect("column 0 is never taken off");
        if column > innermost(&self.indents) {
            self.indents.push(column);
            self.push(TokenKind::Indent, 0, start);
        }
        while column < innermost(&self.indents) {
            if !self.indents.contains(&column) {
                return Err(TokenizeError);
            }
            self.indents.pop();
            self.push(TokenKind::Dedent, start, start);
        }
        Ok(StatementStart::At(start))
    }

    /// Reads the token behind `position` and returns where it ends; the end of the line where a string goes on.
    fn token(&mut self, line: &str, position: usize) -> usize {
        let bytes = line.as_bytes();
        let blanks = bytes[position..].iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\x0c')).count();
        let start = position + blanks;
        let rest = &line[start..];
        let Some(first) = rest.chars().next() else { return start };
        if let Some(length) = escaped_line_break(rest) {
            self.continued = true;
            return start + length;
        }
        if first == '#' {
            let length = rest.find(['\r', '\n']).unwrap_or(rest.len());
            return self.push(TokenKind::Comment, start, start + length);
        }
        if let Some(length) = plain_name_length(rest) {
            return self.push(TokenKind::Name, start, start + length);
        }
        if let Some((prefix, quotes)) = opening_quotes(rest)
            && quotes.triple
        {
            let inside = start + prefix + 3;
            return match end_of_string(line, inside, quotes) {
                Some(end) => self.push(TokenKind::String, start, end),
                None => self.open_string(line, start, quotes),
            };
        }
        if let Some(length) = number_length(rest) {
            return self.push(TokenKind::Number, start, start + length);
        }
        if let Some(length) = line_break(rest) {
            let kind = if self.brackets > 0 { TokenKind::LineBreak } else { TokenKind::Newline };
            return self.push(kind, start, start + length);
        }
        if let Some(length) = operator_length(rest) {
            match first {
                '(' | '[' | '{' => self.brackets += 1,
                ')' | ']' | '}' => self.brackets -= 1,
                _ => {}
            }
            return self.push(TokenKind::Operator, start, start + length);
        }
        if let Some((prefix, quotes)) = opening_quotes(rest) {
            match end_in_line(line, start + prefix + 1, quotes.character) {
                Some(LineString::Closed(end)) => return self.push(TokenKind::String, start, end),
                Some(LineString::GoesOn) => {
                    self.needs_backslash = true;
                    return self.open_string(line, start, quotes);
                }
                None => {}
            }
        }
        if continues_word(first) {
            let length = rest.find(|character| !continues_word(character)).unwrap_or(rest.len());
            // `²` continues a word and starts none: CPython takes it for an operator.
            let starts_name = first == '_' || first.is_alphabetic();
            let kind = if starts_name { TokenKind::Name } else { TokenKind::Operator };
            return self.push(kind, start, start + length);
        }
        // The blanks before it become error tokens too, one by one.
        let width = line[position..].chars().next().map_or(0, char::len_utf8);
        self.push(TokenKind::Error, position, position + width)
    }

    fn push(&mut self, kind: TokenKind, start: usize, end: usize) -> usize {
        let (line_start, line) = (self.line_start, self.line_number);
        let (start, end_of_token) = (line_start + start, line_start + end);
        self.tokens.push(Token { kind, start, end: end_of_token, line_start, first_line: line, last_line: line });
        end
    }

    fn open_string(&mut self, line: &str, start: usize, quotes: Quotes) -> usize {
        self.open_string = Some(OpenString {
            start: self.line_start + start,
            line_start: self.line_start,
            first_line: self.line_number,
            quotes,
        });
        line.len()
    }

    fn finish_string(&mut self, kind: TokenKind, end: usize) {
        let OpenString { start, line_start, first_line, .. } =
            self.open_string.take().expect("called with an open string");
        let end = self.line_start + end;
        self.tokens.push(Token { kind, start, end, line_start, first_line, last_line: self.line_number });
    }
}

enum StatementStart {
    At(usize),
    BlankLine,
    EndOfText,
}

/// The length of the blanks at the start of a line and the column to which they lead.
fn indentation(line: &str) -> (usize, usize) {
    let mut column = 0;
    for (index, byte) in line.bytes().enumerate() {
        match byte {
            b' ' => column += 1,
            b'\t' => column = (column / 8 + 1) * 8,
            b'\x0c' => column = 0,
            _ => return (index, column),
        }
    }
    (line.len(), column)
}

/// The length of a name of ASCII letters, which most tokens are; `None` where it may be the prefix of a string, or goes on
/// beyond ASCII.
fn plain_name_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    bytes.first().filter(|byte| **byte == b'_' || byte.is_ascii_alphabetic())?;
    let continues = |byte: &u8| *byte == b'_' || byte.is_ascii_alphanumeric();
    let length = bytes.iter().position(|byte| !continues(byte)).unwrap_or(bytes.len());
    match bytes.get(length) {
        Some(b'\'' | b'"') => None,
        Some(next) if !next.is_ascii() => None,
        _ => Some(length),
    }
}

fn continues_word(character: char) -> bool {
    match character.is_ascii() {
        true => character == '_' || character.is_ascii_alphanumeric(),
        false => character.is_alphanumeric() && !is_combining_mark(character),
    }
}

fn line_break(text: &str) -> Option<usize> {
    if text.starts_with('\n') { Some(1) } else { text.starts_with("\r\n").then_some(2) }
}

fn escaped_line_break(text: &str) -> Option<usize> {
    line_break(text.strip_prefix('\\')?).map(|length| length + 1)
}

/// The length of a string's prefix, which may be empty, and the quotes behind it.
fn opening_quotes(text: &str) -> Option<(usize, Quotes)> {
    let bytes = text.as_bytes();
    let prefix = bytes.iter().take(3).position(|byte| matches!(byte, b'\'' | b'"'))?;
    let valid = matches!(
        bytes[..prefix],
        [] | [b'b' | b'B' | b'r' | b'R' | b'u' | b'U' | b'f' | b'F']
            | [b'b' | b'B' | b'f' | b'F', b'r' | b'R']
            | [b'r' | b'R', b'b' | b'B' | b'f' | b'F']
    );
    let character = bytes[prefix];
    let triple = bytes[prefix..].starts_with(&[character; 3]);
    valid.then_some((prefix, Quotes { character, triple }))
}

/// Where in `line` a string ends that is open at `position`. No line break can be escaped here: CPython looks at one
/// line at a time.
fn end_of_string(line: &str, position: usize, quotes: Quotes) -> Option<usize> {
    let bytes = line.as_bytes();
    let mut position = position;
    while let Some(byte) = bytes.get(position) {
        if *byte == b'\\' {
            match bytes.get(position + 1) {
                None | Some(b'\n') => return None,
                Some(_) => position += 2,
            }
        } else if *byte == quotes.character && !quotes.triple {
            return Some(position + 1);
        } else if *byte == quotes.character && bytes[position..].starts_with(&[quotes.character; 3]) {
            return Some(position + 3);
        } else {
            position += 1;
        }
    }
    None
}

enum LineString {
    Closed(usize),
    /// The line ends with a backslash.
    GoesOn,
}

/// How a string in single quotes ends that starts in this line; `None` where it is not a string.
fn end_in_line(line: &str, position: usize, quote: u8) -> Option<LineString> {
    let bytes = line.as_bytes();
    let mut position = position;
    while let Some(byte) = bytes.get(position) {
        match byte {
            b'\\' if escaped_line_break(&line[position..]).is_some() => return Some(LineString::GoesOn),
            b'\\' => position += 2,
            b'\n' => return None,
            _ if *byte == quote => return Some(LineString::Closed(position + 1)),
            _ => position += 1,
        }
    }
    None
}

fn number_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let digits = digits(bytes, 0, u8::is_ascii_digit);
    let point = digits.unwrap_or(0);
    let fraction = match bytes.get(point) {
        Some(b'.') => match self::digits(bytes, point + 1, u8::is_ascii_digit) {
            Some(end) => Some(end),
            // `1.` is a number, `.` is none.
            None => digits.map(|end| end + 1),
        },
        _ => None,
    };
    let mantissa = fraction.or(digits)?;
    let exponent = exponent(bytes, mantissa);
    let end = exponent.unwrap_or(mantissa);
    if matches!(bytes.get(end), Some(b'j' | b'J')) {
        return Some(end + 1);
    }
    if fraction.is_some() || exponent.is_some() {
        return Some(end);
    }
    Some(integer_length(bytes))
}

fn exponent(bytes: &[u8], start: usize) -> Option<usize> {
    if !matches!(bytes.get(start), Some(b'e' | b'E')) {
        return None;
    }
    let sign = usize::from(matches!(bytes.get(start + 1), Some(b'+' | b'-')));
    digits(bytes, start + 1 + sign, u8::is_ascii_digit)
}

/// The length of the integer at the start of `bytes`, which start with a digit.
fn integer_length(bytes: &[u8]) -> usize {
    let radix_digits = |is_digit: fn(&u8) -> bool| digits_with_leading_underscore(bytes, 2, is_digit);
    let prefixed = match bytes {
        [b'0', b'x' | b'X', ..] => radix_digits(u8::is_ascii_hexdigit),
        [b'0', b'b' | b'B', ..] => radix_digits(|byte| matches!(byte, b'0' | b'1')),
        [b'0', b'o' | b'O', ..] => radix_digits(|byte| matches!(byte, b'0'..=b'7')),
        _ => None,
    };
    let is_digit: fn(&u8) -> bool = if bytes[0] == b'0' { |byte| *byte == b'0' } else { u8::is_ascii_digit };
    prefixed.or_else(|| digits(bytes, 0, is_digit)).expect("starts with a digit")
}

/// The end of `digit (_? digit)*` from `start` on.
fn digits(bytes: &[u8], start: usize, is_digit: fn(&u8) -> bool) -> Option<usize> {
    bytes.get(start).filter(|byte| is_digit(byte))?;
    Some(more_digits(bytes, start + 1, is_digit))
}

/// The end of `(_? digit)+` from `start` on.
fn digits_with_leading_underscore(bytes: &[u8], start: usize, is_digit: fn(&u8) -> bool) -> Option<usize> {
    let end = more_digits(bytes, start, is_digit);
    (end > start).then_some(end)
}

fn more_digits(bytes: &[u8], start: usize, is_digit: fn(&u8) -> bool) -> usize {
    let mut end = start;
    loop {
        let underscore = usize::from(bytes.get(end) == Some(&b'_'));
        match bytes.get(end + underscore) {
            Some(byte) if is_digit(byte) => end += underscore + 1,
            _ => return end,
        }
    }
}

fn operator_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (first, second, third) = (*bytes.first()?, bytes.get(1).copied(), bytes.get(2).copied());
    let doubled = second == Some(first);
    match first {
        b'*' | b'/' | b'<' | b'>' if doubled => Some(if third == Some(b'=') { 3 } else { 2 }),
        b'.' if doubled && third == Some(b'.') => Some(3),
        b'-' if second == Some(b'>') => Some(2),
        b'!' => (second == Some(b'=')).then_some(2),
        b'%' | b'&' | b'*' | b'+' | b'-' | b'/' | b':' | b'<' | b'=' | b'>' | b'@' | b'^' | b'|' => {
            Some(if second == Some(b'=') { 2 } else { 1 })
        }
        b'(' | b')' | b',' | b'.' | b';' | b'[' | b']' | b'{' | b'}' | b'~' => Some(1),
        _ => None,
    }
}
