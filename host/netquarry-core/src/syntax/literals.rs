//! String literals of an expression.

use rustpython_parser::lexer::lex;
use rustpython_parser::{Mode, Parse, StringKind, Tok, ast};

/// The values of the plain string literals in an expression, in the order of the text. What stands inside f-strings and
/// what does not parse is left out; literals that stand side by side count as they are written.
pub fn string_literals(expression: &str) -> Vec<String> {
    let literals = lex(expression, Mode::Expression).map_while(Result::ok).filter_map(|(token, range)| {
        let is_plain = matches!(token, Tok::String { kind, .. }
            if matches!(kind, StringKind::String | StringKind::RawString | StringKind::Unicode));
        is_plain.then(|| ast::Constant::parse(&expression[range], "").ok()).flatten()
    });
    literals.filter_map(|literal| literal.str()).collect()
}
