//! From the text of one file to its [`FileFacts`]; the only module that knows the parser.
//!
//! Text is decoded as CPython decodes it ([`decode`](mod@decode)), checked for depth, parsed, and walked once. The walk
//! records what each scope does with each name, as CPython's `symtable` does, and what every statement binds, uses,
//! imports and changes; when it has seen the whole file, [`scopes`] says which uses mean globals. No function here
//! fails on bad input: a file that cannot be read has no statements and a diagnostic.
//!
//! Syntax trees are walked recursively. [`MAX_DEPTH`] bounds the recursion, and every caller has to bring a stack of
//! [`PARSER_STACK_BYTES`]: for a rayon pool, `ThreadPoolBuilder::stack_size`.

mod canonical;
mod decode;
mod depth;
mod indentation;
mod literals;
mod lower;
mod names;
mod outline;
mod parse;
mod rewrite;
mod scopes;
mod soft_keywords;
mod text;

use std::collections::BTreeSet;

use crate::facts::{Diagnostic, DiagnosticKind, FileFacts};

pub use canonical::{
    CANONICAL_NUMBER, CanonicalClass, CanonicalFlow, CanonicalKind, CanonicalMethod, CanonicalStatement,
    CanonicalTokens, canonical,
};
pub use decode::decode;
pub use indentation::{annotation_of_assignment, indented};
pub use literals::string_literals;
pub use outline::{ArgumentValue, Outline, OutlineCall, OutlineDefinition, OutlineKind, outline};
pub use scopes::{Classification, SymbolEntry, SymbolTable, TableKind};

/// The stack that a thread needs to call anything in this module: [`MAX_DEPTH`] levels in an unoptimised build.
pub const PARSER_STACK_BYTES: usize = 64 << 20;

/// Files above this size are not read. The largest Python files that people write by hand are a tenth of it.
pub const MAX_FILE_BYTES: usize = 16 << 20;

/// The deepest nesting of expressions and blocks that is parsed, as `depth` counts it, which is up to three times what
/// there is. CPython 3.11 itself gives up at 3,000 levels.
pub const MAX_DEPTH: u32 = 10_000;

/// The facts of a file with the given bytes. Offsets are into the text that [`decode`] makes of them.
pub fn facts(bytes: &[u8]) -> FileFacts {
    match decode(bytes).and_then(|text| parse::parse(&text).map(|module| lower::facts(&module))) {
        Ok(facts) => facts,
        Err(diagnostic) => FileFacts { diagnostics: vec![diagnostic], ..FileFacts::default() },
    }
}

/// The outline of a text, and the names that its functions bind for themselves.
///
/// # Errors
/// The text does not parse.
pub fn outline_and_locals(text: &str) -> Result<(Outline, BTreeSet<Box<str>>), Diagnostic> {
    let module = parse::parse(text)?;
    Ok((outline::of_module(&module), lower::facts(&module).function_locals()))
}

/// All scopes of a text, as CPython's `symtable` shows them, in the order in which it lists them (parents before their
/// children). Made by the same walk as [`facts`], for comparison with CPython.
pub fn symbol_table(text: &str) -> Result<Vec<SymbolTable>, Diagnostic> {
    parse::parse(text).map(|module| lower::symbol_table(&module))
}

fn diagnostic(kind: DiagnosticKind, message: impl Into<String>, line: Option<u32>) -> Diagnostic {
    Diagnostic { kind, message: message.into(), line }
}
