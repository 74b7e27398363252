//! Which pieces of upstream's text are facts about an interface, and not code.

/// Longer texts are code, whatever they consist of.
const LONGEST: usize = 120;

/// The text of an annotation, where it is made of names, brackets and alternatives only: `Optional[Tuple[int, ...]]`.
pub(crate) fn annotation(text: &str) -> Option<&str> {
    let plain = |c: char| c.is_alphanumeric() || "_.,[]|'\" ".contains(c);
    (text.len() <= LONGEST && !text.is_empty() && text.chars().all(plain)).then_some(text)
}

/// The text of a default, where it is a literal, a dotted name, or a tuple or list of these.
pub(crate) fn default(text: &str) -> Option<&str> {
    (text.len() <= LONGEST && Reader { rest: text }.reads_a_value_to_the_end()).then_some(text)
}

/// Reads a Python expression of the few forms that are let through.
struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn reads_a_value_to_the_end(mut self) -> bool {
        self.value() && self.rest.trim_start().is_empty()
    }

    fn value(&mut self) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.chars().next() {
            Some('(') => self.sequence('(', ')'),
            Some('[') => self.sequence('[', ']'),
            Some('{') => self.take("{}"),
            Some('\'' | '"') => self.string(),
            Some('-' | '+') => {
                self.skip(1);
                self.rest.starts_with(|c: char| c.is_ascii_digit() || c == '.') && self.word()
            }
            Some(first) if first.is_alphanumeric() || first == '_' || first == '.' => self.word(),
            _ => false,
        }
    }

    fn sequence(&mut self, open: char, close: char) -> bool {
        self.skip(open.len_utf8());
        loop {
            self.rest = self.rest.trim_start();
            if self.rest.starts_with(close) {
                self.skip(close.len_utf8());
                return true;
            }
            if !self.value() {
                return false;
            }
            self.rest = self.rest.trim_start();
            if self.rest.starts_with(',') {
                self.skip(1);
            } else if !self.rest.starts_with(close) {
                return false;
            }
        }
    }

    /// A name with dots, or a number: `nn.LayerNorm`, `None`, `1e-6`, `0x10`.
    fn word(&mut self) -> bool {
        let is_number = self.rest.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        let mut end = 0;
        let mut previous = ' ';
        for (position, character) in self.rest.char_indices() {
            let is_exponent_sign = is_number && matches!(character, '-' | '+') && matches!(previous, 'e' | 'E');
            if !(character.is_alphanumeric() || matches!(character, '_' | '.') || is_exponent_sign) {
                break;
            }
            end = position + character.len_utf8();
            previous = character;
        }
        self.skip(end);
        end > 0
    }

    /// A string without escapes, in single or double quotes.
    fn string(&mut self) -> bool {
        let quote = self.rest.chars().next().expect("the caller saw it");
        let body = &self.rest[1..];
        let Some(length) = body.find([quote, '\\', '\n']) else { return false };
        let is_closed = body[length..].starts_with(quote);
        let is_triple = length == 0 && body[1..].starts_with(quote);
        self.skip(length + 2);
        is_closed && !is_triple
    }

    fn take(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_names_are_facts() {
        let facts = [
            "None",
            "True",
            "0",
            "-1",
            "1e-6",
            "0.",
            ".5",
            "nn.LayerNorm",
            "'relu'",
            "\"same\"",
            "()",
            "(1, 2)",
            "(1,)",
            "[3, 4, 'x']",
            "((1, 2), nn.ReLU)",
            "{}",
            "''",
            "float",
            "1_000",
            "-1e+3",
        ];
        for fact in facts {
            assert_eq!(default(fact), Some(fact));
        }
    }

    #[test]
    fn expressions_are_code() {
        let long = "x".repeat(200);
        let code = [
            "partial(nn.LayerNorm, eps=1e-6)",
            "lambda x: x",
            "1 + 2",
            "a if b else c",
            "[x for x in y]",
            "{'a': 1}",
            "'a' 'b'",
            "'\\n'",
            "f(x)",
            "x[0]",
            "(1, f())",
            "",
            "-x",
            "'''doc'''",
            "'open",
            "not x",
            &long,
        ];
        for text in code {
            assert_eq!(default(text), None, "{text}");
        }
    }

    #[test]
    fn annotations_are_types_or_nothing() {
        assert!(annotation("Optional[Tuple[int, ...]]").is_some());
        assert!(annotation("int | None").is_some());
        assert!(annotation("'Tensor'").is_some());
        assert_eq!(annotation("f(x)"), None);
        assert_eq!(annotation("Literal['a\\n']"), None);
    }
}
