//! The names in a Python text, without a parser.

/// Whether a text uses a name other than as an attribute: binds it, reads it, or has it as a keyword or parameter. Strings
/// and comments count where they could name it at run time: a string that is the name, and the text of an f-string.
pub(crate) fn occurrences(code: &str, name: &str) -> usize {
    Tokens { rest: code, after_dot: false }
        .filter(|token| match token {
            Token::Name { text, is_attribute } => *text == name && !is_attribute,
            Token::String { prefix, body } if prefix.contains(['f', 'F']) => words(body).any(|word| word == name),
            Token::String { body, .. } => *body == name,
        })
        .count()
}

/// Whether a text defines a class of this name at the top level.
pub(crate) fn defines_class(code: &str, name: &str) -> bool {
    let defines = |line: &str| {
        let rest = line.strip_prefix("class ").map(str::trim_start).and_then(|rest| rest.strip_prefix(name));
        rest.is_some_and(|rest| rest.trim_start().starts_with(['(', ':', '[']))
    };
    code.lines().any(defines)
}

/// Whether a text seems to give a name to something of its own at the top level: by a definition, an assignment or an import.
pub(crate) fn binds(code: &str, name: &str) -> bool {
    let mut is_inside_import = false;
    code.lines().any(|line| {
        let begins_import = line.starts_with("from ") || line.starts_with("import ");
        let is_import = begins_import || is_inside_import;
        is_inside_import = is_import && !line.contains(')') && (is_inside_import || line.contains('('));
        let rest = ["async def ", "def ", "class "].iter().find_map(|keyword| line.strip_prefix(keyword));
        let defines = rest.is_some_and(|rest| words(rest.trim_start()).next() == Some(name));
        let behind = line.strip_prefix(name).map_or("", str::trim_start);
        let assigns = behind.starts_with(':') || (behind.starts_with('=') && !behind.starts_with("=="));
        defines || assigns || (is_import && words(line).any(|word| word == name))
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character| !is_of_name(character))
}

fn is_of_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

enum Token<'a> {
    Name {
        text: &'a str,
        is_attribute: bool,
    },
    String {
        prefix: &'a str,
        /// As it is written, escapes included.
        body: &'a str,
    },
}

/// Goes over comments and operators, and never fails: a string without an end reaches to the end.
struct Tokens<'a> {
    rest: &'a str,
    after_dot: bool,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let first = self.rest.chars().next()?;
            match first {
                '#' => drop(self.take(self.rest.find('\n').unwrap_or(self.rest.len()))),
                '\'' | '"' => return Some(self.string("")),
                _ if is_of_name(first) => return Some(self.word()),
                _ => {
                    self.after_dot = first == '.' || (self.after_dot && first.is_whitespace());
                    self.take(first.len_utf8());
                }
            }
        }
    }
}

impl<'a> Tokens<'a> {
    /// A name, a number, or a string with a prefix.
    fn word(&mut self) -> Token<'a> {
        let length = self.rest.find(|character| !is_of_name(character)).unwrap_or(self.rest.len());
        let text = self.take(length);
        let is_prefix = text.len() <= 2 && text.chars().all(|each| "rRbBuUfFtT".contains(each));
        if is_prefix && self.rest.starts_with(['\'', '"']) {
            return self.string(text);
        }
        let is_attribute = std::mem::take(&mut self.after_dot);
        Token::Name { text, is_attribute }
    }

    fn string(&mut self, prefix: &'a str) -> Token<'a> {
        self.after_dot = false;
        let quote = &self.rest[..1];
        let triple = quote.repeat(3);
        let end = if self.rest.starts_with(&triple) { triple.as_str() } else { quote };
        self.take(end.len());
        let length = end_of_body(self.rest, end);
        let body = self.take(length);
        self.take(end.len().min(self.rest.len()));
        Token::String { prefix, body }
    }

    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        taken
    }
}

/// Where a string that has begun ends; a backslash takes what follows it into the string, in raw strings too.
fn end_of_body(text: &str, end: &str) -> usize {
    let mut is_escaped = false;
    for (position, character) in text.char_indices() {
        if is_escaped {
            is_escaped = false;
        } else if character == '\\' {
            is_escaped = true;
        } else if text[position..].starts_with(end) {
            return position;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_attributes_comments_and_strings() {
        let cases = [
            ("class Net(nn.Module):\n    pass\n", 1),
            ("super(Net, self)", 1),
            ("models.Net(), models. Net", 0),
            ("# Net\n'a Net'\n\"\"\"Net\n'\"\"\"", 0),
            ("globals()['Net']", 1),
            (r"'\'', Net, '\'Net'", 1),
            (r"r'\', Net'", 0),
            ("f'{Net}'", 1),
            ("Nets, _Net, Net2, 'x'Net", 1),
            ("x = '''unclosed Net", 0),
            ("Net = 1", 1),
        ];
        for (code, expected) in cases {
            assert_eq!(occurrences(code, "Net"), expected, "{code}");
        }
    }

    #[test]
    fn what_is_bound_at_the_top_level_is_found() {
        let binding = [
            "def max(x):\n    pass\n",
            "class max:\n",
            "max = 1\n",
            "max: int = 1\n",
            "from torch import min, max\n",
            "from torch import (\n    min,\n    max,\n)\n",
        ];
        for code in binding {
            assert!(binds(code, "max"), "{code}");
        }
        let others = ["max(1, 2)\n", "maximum = 1\n", "    max = 1\n", "max == 1\n", "from a import b\n    max\n"];
        for code in others {
            assert!(!binds(code, "max"), "{code}");
        }
    }

    #[test]
    fn a_class_is_defined_at_the_top_level_only() {
        assert!(defines_class("x = 1\nclass Net (nn.Module):\n", "Net"));
        assert!(!defines_class("class Nets:\n", "Net"));
        assert!(!defines_class("if x:\n    class Net:\n", "Net"));
    }
}
