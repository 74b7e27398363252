//! Codes as sequences of statements, of which most were seen before.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use sha1::{Digest, Sha1};

use super::canonical;
use super::minhash::{self, Signature};
use super::shingles::{self, Shingles};
use super::split::{self, Piece};
use super::statement::{Rule, Statement, StatementShingles};
use super::tokens::NormalisedTokens;
use crate::dedup::Hashing;
use crate::syntax::{self, CanonicalStatement, Outline, OutlineDefinition};

/// The statements that were read last, by their text.
///
/// A statement takes about [`SIZE_FACTOR`] times its text. When half of [`CAPACITY`] has come in since the last time, what
/// nobody asked for since then is forgotten: their memory does not grow with the number of codes.
#[derive(Default)]
pub(super) struct Statements {
    known: Mutex<Generations<Statement>>,
    canonical: Mutex<Generations<[CanonicalStatement]>>,
}

const CAPACITY: usize = 24 << 20;
const SIZE_FACTOR: usize = 12;
/// Of a statement without text.
const LEAST_SIZE: usize = 1 << 10;

struct Generations<T: ?Sized> {
    young: HashMap<Key, Arc<T>>,
    old: HashMap<Key, Arc<T>>,
    /// Of the young ones, in bytes.
    size: usize,
}

impl<T: ?Sized> Default for Generations<T> {
    fn default() -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), size: 0 }
    }
}

/// The SHA-1 of the text, and [`Piece::keeps_string`].
type Key = ([u8; 20], bool);

/// A statement where it stands.
pub(super) struct Placed {
    pub(super) statement: Arc<Statement>,
    /// The 0-based number of the line in which it starts.
    first_line: u32,
}

impl Statements {
    /// The statements of a code or of a fragment; `None` where it has to be read as a whole.
    ///
    /// Needs a stack of [`crate::syntax::PARSER_STACK_BYTES`].
    pub(super) fn read(&self, code: &str) -> Option<Vec<Placed>> {
        let placed =
            |piece: Piece<'_>| Some(Placed { statement: self.statement(piece)?, first_line: piece.first_line });
        split::statements(code)?.into_iter().map(placed).collect()
    }

    /// The statements of a code in canonical form; `None` where it does not parse.
    ///
    /// Needs a stack of [`crate::syntax::PARSER_STACK_BYTES`].
    pub(super) fn canonical(&self, code: &str) -> Option<Vec<Arc<[CanonicalStatement]>>> {
        let pieces = split::statements(code);
        let read = pieces.and_then(|pieces| pieces.into_iter().map(|piece| self.canonical_statement(piece)).collect());
        read.or_else(|| canonical::statements(code))
    }

    fn canonical_statement(&self, piece: Piece<'_>) -> Option<Arc<[CanonicalStatement]>> {
        let (key, size) = (key(piece), size(piece));
        let known = self.canonical.lock().expect("no panic while it is held").find(&key, size);
        if known.is_some() {
            return known;
        }
        let statement = syntax::canonical(piece.text).ok()?.into();
        self.canonical.lock().expect("no panic while it is held").add(key, &statement, size);
        Some(statement)
    }

    fn statement(&self, piece: Piece<'_>) -> Option<Arc<Statement>> {
        let (key, size) = (key(piece), size(piece));
        let known = self.known.lock().expect("no panic while it is held").find(&key, size);
        if known.is_some() {
            return known;
        }
        let statement = Arc::new(Statement::read(piece)?);
        self.known.lock().expect("no panic while it is held").add(key, &statement, size);
        Some(statement)
    }
}

fn key(piece: Piece<'_>) -> Key {
    (Sha1::digest(piece.text).into(), piece.keeps_string)
}

fn size(piece: Piece<'_>) -> usize {
    LEAST_SIZE + SIZE_FACTOR * piece.text.len()
}

impl<T: ?Sized> Generations<T> {
    fn find(&mut self, key: &Key, size: usize) -> Option<Arc<T>> {
        if let Some(statement) = self.young.get(key) {
            return Some(Arc::clone(statement));
        }
        let statement = self.old.remove(key)?;
        self.add(*key, &statement, size);
        Some(statement)
    }

    fn add(&mut self, key: Key, statement: &Arc<T>, size: usize) {
        if self.size + size > CAPACITY / 2 {
            self.old = std::mem::take(&mut self.young);
            self.size = 0;
        }
        self.size += size;
        self.young.insert(key, Arc::clone(statement));
    }
}

/// Whether all of them are Python, and so is the code that they are.
pub(super) fn all_parse(statements: &[Placed]) -> bool {
    statements.iter().all(|placed| placed.statement.parsed.is_some())
}

/// The outline of a code, from those of its statements; `None` where it does not parse.
pub(super) fn outline(statements: &[Placed]) -> Option<Outline> {
    let mut whole = Outline::default();
    for Placed { statement, first_line } in statements {
        let Outline { definitions, calls } = &statement.parsed.as_ref()?.outline;
        let before = whole.calls.len();
        let definition = |own: &OutlineDefinition| OutlineDefinition {
            lines: own.lines.map(|line| line + first_line),
            calls: own.calls.start + before..own.calls.end + before,
            ..own.clone()
        };
        whole.definitions.extend(definitions.iter().map(definition));
        whole.calls.extend(calls.iter().cloned());
    }
    Some(whole)
}

/// The lines of the last definition of which `is_it` says so.
pub(super) fn last_definition(statements: &[Placed], is_it: impl Fn(&OutlineDefinition) -> bool) -> Option<[u32; 2]> {
    statements.iter().rev().find_map(|Placed { statement, first_line }| {
        let definitions = &statement.parsed.as_ref()?.outline.definitions;
        let definition = definitions.iter().rfind(|definition| is_it(definition))?;
        Some(definition.lines.map(|line| line + first_line))
    })
}

/// The names that functions of a code bind for themselves.
pub(super) fn locals(statements: &[Placed]) -> HashSet<&str> {
    let parsed = statements.iter().filter_map(|placed| placed.statement.parsed.as_ref());
    parsed.flat_map(|parsed| &parsed.locals).map(|local| &**local).collect()
}

/// The shingles of a code: those that lie in its statements, and those across the borders between two.
pub(super) struct Passages {
    inside: Vec<Arc<StatementShingles>>,
    across: Shingles,
}

impl Passages {
    /// # Panics
    /// `width` is 0.
    pub(super) fn new(statements: &[Placed], rule: &Rule<'_>, width: usize) -> Self {
        assert!(width > 0, "a shingle has a token at least");
        let mut inside = Vec::new();
        let mut across = Vec::new();
        // The last tokens so far: one less than a shingle has.
        let mut tail: Vec<&str> = Vec::new();
        for Placed { statement, .. } in statements {
            let (variant, count) = (statement.variant(rule, width), statement.token_count());
            let rim = count.min(width - 1);
            let mut border = NormalisedTokens::default();
            tail.iter().for_each(|token| border.push(token));
            (0..rim).for_each(|number| border.push(statement.written(number, &variant)));
            if border.len() >= width {
                across.extend(shingles::hashes(&border, width));
            }
            tail.extend((count - rim..count).map(|number| statement.written(number, &variant)));
            tail.drain(..tail.len().saturating_sub(width - 1));
            if count >= width {
                inside.push(statement.shingles(variant));
            }
        }
        if inside.is_empty() && across.is_empty() {
            let mut all = NormalisedTokens::default();
            tail.iter().for_each(|token| all.push(token));
            across.extend(shingles::hashes(&all, width));
        }
        Self { inside, across: Shingles::of_hashes(across) }
    }

    /// All of them.
    pub(super) fn shingles(&self) -> Shingles {
        let sets = self.inside.iter().map(|inside| &inside.shingles).chain([&self.across]);
        Shingles::of_hashes(sets.flat_map(Shingles::hashes).copied().collect())
    }

    /// The least values of a union are the least ones of its parts.
    pub(super) fn signature(&self, hashing: Hashing) -> Signature {
        let mut signature = minhash::signature(&self.across, hashing);
        for inside in &self.inside {
            let inside = inside.signature(hashing);
            signature.iter_mut().zip(inside.iter()).for_each(|(least, value)| *least = (*least).min(*value));
        }
        signature
    }
}
