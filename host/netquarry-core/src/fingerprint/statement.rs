//! One top-level statement, with all that fingerprints want to know about it.
//!
//! Bundles of one repository are made of the same statements. What is found out about one is kept, so that it is found
//! out once for all of them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::memo::Memo;
use super::minhash::{self, Signature};
use super::shingles::Shingles;
use super::split::Piece;
use super::tokenizer::TokenKind;
use super::tokens::{self, NormalisedTokens};
use crate::dedup::Hashing;
use crate::syntax::{self, Outline};

pub(super) struct Statement {
    /// `None` where it is not Python by itself.
    pub(super) parsed: Option<Parsed>,
    /// Without comments and docstrings.
    text: Box<str>,
    tokens: Box<[Token]>,
    names: Box<[Name]>,
    shingles: Memo<Variant, Arc<StatementShingles>>,
}

pub(super) struct Parsed {
    /// Its lines are counted from its own first one.
    pub(super) outline: Outline,
    /// The names that functions bind for themselves.
    pub(super) locals: BTreeSet<Box<str>>,
}

/// A token of [`Statement::text`].
struct Token {
    start: u32,
    end: u32,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    /// The number of the name, and whether it stands behind a dot.
    Name {
        number: u32,
        is_attribute: bool,
    },
    Number,
    String,
    Operator,
}

/// A name that stands in a statement, each once.
struct Name {
    text: Box<str>,
    /// It stands somewhere without a dot before it.
    is_bare: bool,
    /// It says something about an architecture, whatever it means.
    is_telling: bool,
}

/// Which names are written as `ID`.
pub(super) enum Rule<'r> {
    /// The block's own, and those that functions of the code bind for themselves, unless they are attributes.
    Bound { block: &'r str, locals: &'r HashSet<&'r str> },
    /// Those that say nothing; numbers and strings say nothing either.
    Untelling { declared: &'r BTreeSet<Box<str>> },
}

/// What decides about the shingles of a statement.
#[derive(PartialEq)]
pub(super) struct Variant {
    is_bound: bool,
    width: usize,
    /// For each name whether it is written as `ID`.
    as_identifier: Box<[bool]>,
}

/// The shingles that lie in one statement.
pub(super) struct StatementShingles {
    pub(super) shingles: Shingles,
    signatures: Memo<Hashing, Arc<Signature>>,
}

impl StatementShingles {
    pub(super) fn signature(&self, hashing: Hashing) -> Arc<Signature> {
        self.signatures.get(hashing, || Arc::new(minhash::signature(&self.shingles, hashing)))
    }
}

impl Statement {
    /// `None` where its tokens are none any more without docstrings.
    ///
    /// Needs a stack of [`crate::syntax::PARSER_STACK_BYTES`].
    pub(super) fn read(piece: Piece<'_>) -> Option<Self> {
        let parsed = syntax::outline_and_locals(piece.text).ok();
        let parsed = parsed.map(|(outline, locals)| Parsed { outline, locals });
        let text = tokens::without_comments_and_docstrings(piece.text, piece.keeps_string).into_boxed_str();
        let mut reading = Reading::default();
        for (kind, range) in tokens::telling(&text)? {
            reading.token(&text, kind, range);
        }
        let Reading { tokens, names, .. } = reading;
        Some(Self { parsed, tokens: tokens.into(), names: names.into(), text, shingles: Memo::default() })
    }

    pub(super) fn token_count(&self) -> usize {
        self.tokens.len()
    }

    pub(super) fn variant(&self, rule: &Rule<'_>, width: usize) -> Variant {
        let as_identifier = |name: &Name| match rule {
            Rule::Bound { block, locals } => name.is_bare && (&*name.text == *block || locals.contains(&*name.text)),
            Rule::Untelling { declared } => !name.is_telling && !declared.contains(&name.text),
        };
        let is_bound = matches!(rule, Rule::Bound { .. });
        Variant { is_bound, width, as_identifier: self.names.iter().map(as_identifier).collect() }
    }

    /// The token of that number as it is compared.
    pub(super) fn written(&self, number: usize, variant: &Variant) -> &str {
        let Token { start, end, kind } = &self.tokens[number];
        let own = &self.text[*start as usize..*end as usize];
        match kind {
            Kind::Name { is_attribute: true, .. } if variant.is_bound => own,
            Kind::Name { number, .. } if variant.as_identifier[*number as usize] => "ID",
            Kind::Number if !variant.is_bound => "NUM",
            Kind::String if !variant.is_bound => "STR",
            Kind::Name { .. } | Kind::Number | Kind::String | Kind::Operator => own,
        }
    }

    /// The shingles that lie in the statement, which has so many tokens at least.
    pub(super) fn shingles(&self, variant: Variant) -> Arc<StatementShingles> {
        if let Some(known) = self.shingles.find(&variant) {
            return known;
        }
        let mut tokens = NormalisedTokens::default();
        (0..self.tokens.len()).for_each(|number| tokens.push(self.written(number, &variant)));
        let shingles = Shingles::new(&tokens, variant.width);
        self.shingles.get(variant, || Arc::new(StatementShingles { shingles, signatures: Memo::default() }))
    }
}

#[derive(Default)]
struct Reading {
    tokens: Vec<Token>,
    names: Vec<Name>,
    numbers: HashMap<Box<str>, u32>,
    is_behind_dot: bool,
}

impl Reading {
    fn token(&mut self, text: &str, kind: TokenKind, range: std::ops::Range<usize>) {
        let own = &text[range.clone()];
        let is_attribute = std::mem::replace(&mut self.is_behind_dot, own == ".");
        let kind = match kind {
            TokenKind::Name => Kind::Name { number: self.name(own, is_attribute), is_attribute },
            TokenKind::Number => Kind::Number,
            TokenKind::String => Kind::String,
            _ => Kind::Operator,
        };
        let [start, end] = [range.start, range.end].map(|at| u32::try_from(at).expect("a code is under 4 GiB"));
        self.tokens.push(Token { start, end, kind });
    }

    fn name(&mut self, text: &str, is_attribute: bool) -> u32 {
        let number = self.numbers.get(text).copied().unwrap_or_else(|| {
            let number = u32::try_from(self.names.len()).expect("a code is under 4 GiB");
            self.names.push(Name { text: text.into(), is_bare: false, is_telling: tokens::is_telling(text) });
            self.numbers.insert(text.into(), number);
            number
        });
        self.names[number as usize].is_bare |= !is_attribute;
        number
    }
}
