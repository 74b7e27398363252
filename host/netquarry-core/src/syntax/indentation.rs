//! Statements, deeper in a block.

use rustpython_parser::lexer::lex;
use rustpython_parser::{Mode, Tok};

/// The lines of `text` with `indentation` before each, but for empty lines and those that start inside of a string,
/// whose value that would change. Text that Python cannot read is indented up to where it cannot be read.
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

#[cfg(test)]
mod tests {
    use super::indented;

    #[test]
    fn strings_keep_their_value() {
        let text = "def f():\n    \"\"\"Two\n    lines\"\"\"\n\n    return f'''{1}\n''', (\n1)\nx = 'a' \\\n  'b'\n";
        let expected = "  def f():\n      \"\"\"Two\n    lines\"\"\"\n\n      return f'''{1}\n''', (\n  1)\n  x = 'a' \\\n    'b'\n";
        assert_eq!(indented(text, "  "), expected);
    }
}
