//! Text to syntax tree, or to a diagnostic that says why not.

use rustpython_parser::lexer::Lexer;
use rustpython_parser::text_size::TextSize;
use rustpython_parser::{Mode, Parse, ParseError, ast, parse_tokens};

use super::soft_keywords::SoftKeywords;
use super::text::Text;
use super::{depth, diagnostic, rewrite};
use crate::facts::{Diagnostic, DiagnosticKind};

pub(super) struct Module<'a> {
    pub(super) text: Text<'a>,
    pub(super) body: ast::Suite,
}

pub(super) fn parse(original: &str) -> Result<Module<'_>, Diagnostic> {
    let text = Text::new(original);
    depth::check(text.as_str())?;
    match suite(text.as_str()).or_else(|error| rewritten_suite(text.as_str()).ok_or(error)) {
        Ok(body) => Ok(Module { text, body }),
        Err(error) => Err(syntax_error(&text, &error)),
    }
}

fn suite(text: &str) -> Result<ast::Suite, ParseError> {
    let tokens = SoftKeywords::new(Lexer::new(text.chars(), TextSize::default()));
    match parse_tokens(tokens, Mode::Module, "")? {
        ast::Mod::Module(module) => Ok(module.body),
        _ => unreachable!("a module was asked for"),
    }
}

/// What the parser rejects though CPython does not, in other spellings.
fn rewritten_suite(text: &str) -> Option<ast::Suite> {
    let indented = rewrite::indentation(text)?;
    if let Ok(body) = suite(&indented) {
        return Some(body);
    }
    let rewritten = rewrite::formatted_strings(&indented)?;
    depth::check(&rewritten).ok()?;
    suite(&rewritten).ok()
}

/// An expression inside a string literal, with the places that it has in the text. Like CPython, which reads it as the
/// whole of a text of its own, this allows line breaks and leading blanks, as if there were parentheses.
pub(super) fn parse_expression(expression: &str, start: u32) -> Option<ast::Expr> {
    depth::check(expression).ok()?;
    let parenthesised = format!("({expression})");
    ast::Expr::parse_starts_at(&parenthesised, "", start.checked_sub(1)?.into()).ok()
}

fn syntax_error(text: &Text<'_>, error: &ParseError) -> Diagnostic {
    let offset = u32::from(error.offset).min(u32::try_from(text.as_str().len()).expect("files are under 4 GiB"));
    let line = text.line(offset);
    let source_line = text.as_str().lines().nth(line as usize - 1).unwrap_or_default();
    if is_python_two(source_line) {
        let message = format!("the file is written for Python 2: `{}`", source_line.trim());
        diagnostic(DiagnosticKind::PythonTwo, message, Some(line))
    } else {
        diagnostic(DiagnosticKind::Syntax, error.error.to_string(), Some(line))
    }
}

/// Whether a line in which parsing stopped is a statement that only Python 2 has.
fn is_python_two(line: &str) -> bool {
    let line = line.trim();
    let statement = |keyword: &str| {
        line.strip_prefix(keyword)
            .and_then(|rest| rest.strip_prefix([' ', '\t', '"', '\'']))
            .is_some_and(|rest| !rest.trim_start().starts_with(['=', '(', '.', '[', ',']))
    };
    let clause = |keyword: &str| line.strip_prefix(keyword).is_some_and(|rest| rest.contains(','));
    statement("print")
        || statement("exec")
        || line == "print"
        || clause("except ")
        || clause("raise ")
        || line.contains("<>")
        || line.contains('`')
        || line.contains("ur\"")
        || line.contains("ur'")
}
