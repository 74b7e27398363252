//! Statements, deeper in a block.

use rustpython_parser::lexer::lex;
use rustpython_parser::{Mode, Tok};

use crate::source::TextRange;

/// The lines of `text`, which Python can read, with `indentation` before each, but for empty lines and those that start
/// inside of a string, whose value that would change.
pub fn indented(text: &str, indentation: &str) -> String {
    let strings: Vec<(usize, usize)> = lex(text, Mode::Module)
        .map_while(Result::ok)
        .filter(|(token, _)| matches!(token, Tok::String { .. }))
        .map(|(_, range)| (usize::from(range.start()), usize::from(range.end())))
        .collect();
    let mut strings = strings.into_iter().peekable();
    let mut indented = String::with_capacity(text.len() + text.len() / 8);
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        while strings.next_if(|(_, end)| *end <= start).is_some() {}
        let is_in_string = strings.peek().is_some_and(|(begin, _)| *begin < start);
        if !is_in_string && !line.trim().is_empty() {
            indented.push_str(indentation);
        }
        indented.push_str(line);
        start += line.len();
    }
    indented
}

/// Where the annotation stands in `name: annotation` and in `name: annotation = value`, the colon included and without
/// the space before the equals sign; `None` where there is none.
pub fn annotation_of_assignment(statement: &str) -> Option<TextRange> {
    let mut tokens = lex(statement, Mode::Module).map_while(Result::ok);
    let in_parentheses = |token: &Tok| matches!(token, Tok::Lpar | Tok::Rpar | Tok::Name { .. });
    let (colon, range) = tokens.find(|(token, _)| !in_parentheses(token))?;
    if colon != Tok::Colon {
        return None;
    }
    let mut depth = 0_u32;
    let mut end = range.end();
    for (token, range) in tokens {
        match token {
            Tok::Equal | Tok::Newline if depth == 0 => break,
            Tok::Lpar | Tok::Lsqb | Tok::Lbrace => depth += 1,
            Tok::Rpar | Tok::Rsqb | Tok::Rbrace => depth = depth.saturating_sub(1),
            _ => {}
        }
        end = range.end();
    }
    Some(TextRange::new(range.start().into(), end.into()))
}

#[cfg(test)]
mod tests {
    use super::{annotation_of_assignment, indented};

    #[test]
    fn annotations_of_assignments_are_found() {
        let found = |text: &'static str| annotation_of_assignment(text).map(|range| range.slice(text));
        assert_eq!(found("x: int = 1"), Some(": int"));
        assert_eq!(found("x : dict[str, Callable[..., int]]=d"), Some(": dict[str, Callable[..., int]]"));
        assert_eq!(found("(x): \"List[int]\""), Some(": \"List[int]\""));
        assert_eq!(found("x = {1: 2}"), None);
        assert_eq!(found("x[1:2] = y"), None);
    }

    #[test]
    fn strings_keep_their_value() {
        let text = "def f():\n    \"\"\"Two\n    lines\"\"\"\n\n    return f'''{1}\n''', (\n1)\nx = 'a' \\\n  'b'\n";
        let expected = "  def f():\n      \"\"\"Two\n    lines\"\"\"\n\n      return f'''{1}\n''', (\n  1)\n  x = 'a' \\\n    'b'\n";
        assert_eq!(indented(text, "  "), expected);
    }
}
