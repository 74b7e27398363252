//! Normalised tokens: what is left of a code when formatting, comments, docstrings, and names and values that say
//! nothing about its architecture are gone.

use std::collections::BTreeSet;
use std::ops::Range;

use super::region::{self, Region};
use super::tokenizer::{Token, TokenKind, tokenize};
use crate::syntax;

/// How the names of layers start. NN-DUP also lists thirty-two names; each of them starts so, or has a capital letter
/// behind its first, which is reason enough to keep a name.
const KEPT_PREFIXES: [&str; 24] = [
    "Conv",
    "Batch",
    "Layer",
    "Group",
    "Instance",
    "Max",
    "Avg",
    "Adaptive",
    "Dropout",
    "Linear",
    "Flatten",
    "LSTM",
    "GRU",
    "Multihead",
    "Transformer",
    "Upsample",
    "SE",
    "Squeeze",
    "Sequential",
    "Module",
    "Fractal",
    "ResNet",
    "Dense",
    "VGG",
];

/// The hard keywords of CPython 3.11.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
    "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// Normalised tokens in order, in one text with a blank between two: no token contains one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NormalisedTokens {
    joined: String,
    /// Where each token ends.
    ends: Vec<u32>,
}

impl NormalisedTokens {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|token| self.slice(token, 1))
    }

    /// `count` tokens from the number `first` on, with blanks between them.
    pub fn slice(&self, first: usize, count: usize) -> &str {
        let start = if first == 0 { 0 } else { self.ends[first - 1] as usize + 1 };
        &self.joined[start..self.ends[first + count - 1] as usize]
    }

    pub(super) fn push(&mut self, token: &str) {
        if !self.ends.is_empty() {
            self.joined.push(' ');
        }
        self.joined.push_str(token);
        self.ends.push(u32::try_from(self.joined.len()).expect("the code of a block is under 4 GiB"));
    }
}

/// The tokens that NN-DUP compares: of the code's `Module` classes and the functions that they call, or of all of it
/// where there is none. Keywords, operators, declared names and names of layers stay; other names become `ID`, numbers
/// `NUM` and strings `STR`. None where the code breaks off in a string or in brackets, or is indented inconsistently.
///
/// Needs a stack of [`crate::syntax::PARSER_STACK_BYTES`].
pub fn normalised_tokens(code: &str) -> NormalisedTokens {
    region_tokens(&region::model_region(code, region::parsed(code), region::parsed))
}

pub(super) fn region_tokens(Region { text: region, declared }: &Region<'_>) -> NormalisedTokens {
    let text = without_comments_and_docstrings(region, false);
    tokens_of(&text, |kind, token| match kind {
        TokenKind::Name if is_telling(token) || declared.contains(token) => token,
        TokenKind::Name => "ID",
        TokenKind::Number => "NUM",
        TokenKind::String => "STR",
        _ => token,
    })
}

/// The tokens of the whole code of the block `name`, without comments and docstrings. The block's name, and names that
/// functions bind for themselves, become `ID` where they are not attributes, so that a copy under another name has the
/// same tokens; all else stays as it is. None where it cannot be read, as for [`normalised_tokens`].
///
/// Needs a stack of [`crate::syntax::PARSER_STACK_BYTES`].
pub fn code_tokens(code: &str, name: &str) -> NormalisedTokens {
    let locals = local_names(code);
    let is_renamed = |token: &str| token == name || locals.contains(token);
    tokens_of(&without_comments_and_docstrings(code, false), renaming(is_renamed))
}

/// Likewise those of the class `name`, the last one of that name; those of the whole code where it has no such class.
///
/// Needs a stack of [`crate::syntax::PARSER_STACK_BYTES`].
pub fn class_tokens(code: &str, name: &str) -> NormalisedTokens {
    let outline = region::parsed(code).unwrap_or_default();
    code_tokens(region::class(code, &outline, name).unwrap_or(code), name)
}

/// The names that functions, lambdas and comprehensions of a code bind for themselves.
fn local_names(code: &str) -> BTreeSet<Box<str>> {
    syntax::facts(code.as_bytes()).function_locals()
}

/// Writes `ID` for the names of which `is_renamed` says so, but for attributes.
fn renaming<'t>(is_renamed: impl Fn(&str) -> bool) -> impl FnMut(TokenKind, &'t str) -> &'t str {
    let mut is_attribute = false;
    move |kind, token| {
        let renamed = kind == TokenKind::Name && !is_attribute && is_renamed(token);
        is_attribute = token == ".";
        if renamed { "ID" } else { token }
    }
}

fn tokens_of<'t>(text: &'t str, mut written: impl FnMut(TokenKind, &'t str) -> &'t str) -> NormalisedTokens {
    let mut normalised = NormalisedTokens::default();
    for (kind, range) in telling(text).into_iter().flatten() {
        normalised.push(written(kind, &text[range]));
    }
    normalised
}

/// The tokens that are compared and where they stand; `None` where the text breaks off.
pub(super) fn telling(text: &str) -> Option<impl Iterator<Item = (TokenKind, Range<usize>)>> {
    let is_telling = |token: &Token| match token.kind {
        TokenKind::Name | TokenKind::Operator | TokenKind::Number | TokenKind::String => true,
        TokenKind::Comment
        | TokenKind::Newline
        | TokenKind::LineBreak
        | TokenKind::Indent
        | TokenKind::Dedent
        | TokenKind::Error => false,
    };
    let tokens = tokenize(text).ok()?.into_iter().filter(is_telling);
    Some(tokens.map(|token| (token.kind, token.start..token.end)))
}

/// Whether a name says something about an architecture wherever it stands.
pub(super) fn is_telling(name: &str) -> bool {
    KEYWORDS.contains(&name)
        || name.chars().skip(1).any(char::is_uppercase)
        || KEPT_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// The text without comments and without strings that start a statement directly behind a line with code or a new
/// indentation (after an empty line they stay). Blanks fill the place of what was cut out of a line. Where the text
/// cannot be tokenized, everything behind a `#` goes, in strings too. `is_behind_line` says that an empty line stands before
/// the text.
pub(super) fn without_comments_and_docstrings(text: &str, is_behind_line: bool) -> String {
    let Ok(tokens) = tokenize(text) else { return without_hashes(text) };
    let mut out = String::with_capacity(text.len());
    let mut previous = if is_behind_line { TokenKind::LineBreak } else { TokenKind::Indent };
    // Where the last token that stayed ended.
    let (mut end, mut last_line) = (0, None);
    for token in tokens {
        if token.kind == TokenKind::Comment {
            continue;
        }
        let starts_statement = matches!(previous, TokenKind::Indent | TokenKind::Newline);
        previous = token.kind;
        if token.kind == TokenKind::String && starts_statement {
            continue;
        }
        let gap_start = if last_line == Some(token.first_line) { end } else { token.line_start };
        out.extend(text[gap_start..token.start].chars().map(|_| ' '));
        out.push_str(&text[token.start..token.end]);
        (end, last_line) = (token.end, Some(token.last_line));
    }
    out
}

fn without_hashes(text: &str) -> String {
    let lines = text.split('\n').map(|line| line.split_once('#').map_or(line, |(code, _)| code));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: &str, expected: &str) {
        assert_eq!(normalised_tokens(code).iter().collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn names_stay_where_they_say_something() {
        check("x = nn.Conv2d(in_channels, 3, bias=False)\n", "ID = ID . Conv2d ( ID , NUM , ID = False )");
        check("def helper(myValue, SElf, _Upper, Upper): pass", "def helper ( myValue , SElf , _Upper , ID ) : pass");
        check("async def later(): await x", "async def ID ( ) : await ID");
    }

    #[test]
    fn docstrings_and_comments_go() {
        check("class A:\n    'documented'\n    x = 'kept'  # not this\n", "class A : ID = STR");
        check("'first'\nx = 1\n'''behind\ncode'''\n", "ID = NUM");
    }

    #[test]
    fn a_string_behind_an_empty_line_stays() {
        check("x = 1\n\n'kept'\n", "ID = NUM STR");
        check("def f():\n    pass\n'kept'\n", "def f ( ) : pass STR");
    }

    #[test]
    fn broken_code_has_tokens_as_far_as_it_can() {
        check("x = (1", "");
        check("if x:\n    y\n  z\n", "");
        check("x = 'open\ny = $1\n", "ID = ID ID = NUM");
        check("x = ²3 # '''\n'''", "");
        check("", "");
    }

    #[test]
    fn a_class_is_compared_by_itself_and_under_any_name() {
        let code = "def f(): pass\nclass Small(Base):\n    'documented'\n    def g(self): return super(Small, self).g(self.x)\nx = 1\n";
        let tokens = class_tokens(code, "Small");
        let expected = "class ID ( Base ) : def g ( ID ) : return super ( ID , ID ) . g ( ID . x )";
        assert_eq!(tokens.iter().collect::<Vec<_>>().join(" "), expected);
        assert_eq!(class_tokens(&code.replace("Small", "Tiny").replace("self", "this"), "Tiny"), tokens);
        assert_eq!(class_tokens(code, "Missing"), code_tokens(code, "Missing"));
    }

    #[test]
    fn runs_of_tokens_are_slices() {
        let tokens = normalised_tokens("a + 1 - b");
        assert_eq!((tokens.len(), tokens.slice(0, 5)), (5, "ID + NUM - ID"));
        assert_eq!((tokens.slice(2, 1), tokens.slice(1, 3)), ("NUM", "+ NUM -"));
    }
}
