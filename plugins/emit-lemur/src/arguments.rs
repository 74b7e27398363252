//! What `forward` was given in validation, as text that gives it features of images.

use crate::refusal::Refusal;

/// Arguments of a call of `forward` in which features of images stand for random tensors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arguments {
    /// The Python text of the arguments; `features[0]` is the first of the `slots`, `samples` the size of the batch, and
    /// `x` the batch of images.
    pub(crate) text: String,
    /// The shapes that features have, with the batch that was seen.
    pub(crate) slots: Vec<Vec<u64>>,
    /// The first sizes of all other tensors.
    pub(crate) made: Vec<u64>,
    /// The integers outside of shapes.
    integers: Vec<u64>,
    /// How many tensors each list and each tuple has.
    pub(crate) sequences: Vec<u64>,
}

impl Arguments {
    /// Adds an argument, which is passed by the given keyword or by position.
    pub(crate) fn add(&mut self, keyword: Option<&str>, expression: &str) -> Result<(), Refusal> {
        if !self.text.is_empty() {
            self.text.push_str(", ");
        }
        if let Some(keyword) = keyword {
            self.text.push_str(keyword);
            self.text.push('=');
        }
        let mut reader = Reader { rest: expression, found: self };
        reader.value().filter(|()| reader.rest.trim().is_empty()).ok_or(Refusal::ArgumentNotUnderstood)
    }

    pub(crate) fn has_integer(&self, number: u64) -> bool {
        self.integers.contains(&number)
    }
}

/// Reads an expression and writes the text that stands for it; `None` where it is of no known form.
struct Reader<'a> {
    rest: &'a str,
    found: &'a mut Arguments,
}

impl Reader<'_> {
    fn value(&mut self) -> Option<()> {
        self.rest = self.rest.trim_start();
        match self.rest.chars().next()? {
            '(' => self.sequence(')'),
            '[' => self.sequence(']'),
            '{' => self.mapping(),
            '\'' | '"' => self.string(),
            first if first.is_ascii_digit() || "-.".contains(first) => self.number(),
            _ => self.word(),
        }
    }

    /// The tensors in it are counted where it holds nothing else.
    fn sequence(&mut self, close: char) -> Option<()> {
        let before = self.found.slots.len();
        self.copy(1);
        let mut items = 0;
        while !self.accepts(close) {
            if items > 0 && !(self.accepts(',')) {
                return None;
            }
            if self.accepts(close) {
                return Some(());
            }
            self.value()?;
            items += 1;
        }
        let tensors = self.found.slots.len() - before;
        if tensors > 0 && tensors == items {
            self.found.sequences.push(u64::try_from(tensors).ok()?);
        }
        Some(())
    }

    fn mapping(&mut self) -> Option<()> {
        self.copy(1);
        let mut is_first = true;
        while !self.accepts('}') {
            if !(is_first || self.accepts(',')) {
                return None;
            }
            is_first = false;
            self.rest = self.rest.trim_start();
            self.string()?;
            self.accepts(':').then_some(())?;
            self.value()?;
        }
        Some(())
    }

    /// One without escapes, in single or double quotes.
    fn string(&mut self) -> Option<()> {
        let quote = self.rest.chars().next().filter(|first| "'\"".contains(*first))?;
        let length = self.rest[1..].find([quote, '\\', '\n'])?;
        self.rest[length + 1..].starts_with(quote).then(|| self.copy(length + 2))
    }

    fn number(&mut self) -> Option<()> {
        let is_part = |character: char| character.is_ascii_alphanumeric() || "+-._".contains(character);
        let length = self.rest.find(|character| !is_part(character)).unwrap_or(self.rest.len());
        let text = &self.rest[..length];
        text.parse::<f64>().ok()?;
        self.found.integers.extend(text.parse::<u64>());
        self.copy(length);
        Some(())
    }

    fn word(&mut self) -> Option<()> {
        let is_part = |character: char| character.is_ascii_alphanumeric() || "._".contains(character);
        let length = self.rest.find(|character| !is_part(character)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(length);
        if matches!(word, "None" | "True" | "False") {
            self.copy(length);
            return Some(());
        }
        let (arguments, rest) = rest.strip_prefix('(').and_then(split_at_close)?;
        self.rest = rest;
        let Shape { sizes, dtype } = Shape::of(arguments)?;
        match (word, dtype) {
            ("torch.randn", None) => self.features(sizes, ""),
            // Numbers from 0 to 1, as the block was seen to take.
            ("torch.rand", None) => self.features(sizes, ".sigmoid()"),
            ("torch.zeros" | "torch.ones", dtype) => self.made(word, &sizes, dtype),
            _ => None,
        }
    }

    fn features(&mut self, sizes: Vec<u64>, change: &str) -> Option<()> {
        let number = self.found.slots.len();
        self.found.text.push_str(&format!("features[{number}]{change}"));
        self.found.slots.push(sizes);
        Some(())
    }

    /// A tensor of one value, as it was in validation but for the number of samples.
    fn made(&mut self, function: &str, sizes: &[u64], dtype: Option<&str>) -> Option<()> {
        let (first, others) = sizes.split_first()?;
        let sizes: String = others.iter().map(|size| format!(", {size}")).collect();
        let dtype = dtype.map(|dtype| format!("dtype=_netquarry_{dtype}, ")).unwrap_or_default();
        self.found.text.push_str(&format!("_netquarry_{function}((samples{sizes},), {dtype}device=x.device)"));
        self.found.made.push(*first);
        Some(())
    }

    fn accepts(&mut self, character: char) -> bool {
        self.rest = self.rest.trim_start();
        let accepts = self.rest.starts_with(character);
        if accepts {
            self.copy(character.len_utf8());
            if ",:".contains(character) {
                self.found.text.push(' ');
            }
        }
        accepts
    }

    fn copy(&mut self, bytes: usize) {
        let (copied, rest) = self.rest.split_at(bytes);
        self.found.text.push_str(copied);
        self.rest = rest;
    }
}

/// The text up to the bracket that closes what was opened before it, and what is behind that.
fn split_at_close(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0;
    for (position, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' if depth == 0 => return Some((&text[..position], &text[position + 1..])),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// What a function that makes a tensor is given: `(2, 64)` or `2, 64`, and perhaps a `dtype`.
struct Shape<'a> {
    sizes: Vec<u64>,
    /// `torch.bool`
    dtype: Option<&'a str>,
}

impl<'a> Shape<'a> {
    fn of(arguments: &'a str) -> Option<Self> {
        let (sizes, dtype) = match arguments.split_once("dtype=") {
            Some((sizes, dtype)) => (sizes, Some(dtype.trim())),
            None => (arguments, None),
        };
        let is_type = |dtype: &str| {
            let name = dtype.strip_prefix("torch.").unwrap_or_default();
            !name.is_empty() && name.chars().all(|character| character.is_ascii_alphanumeric())
        };
        if !dtype.is_none_or(is_type) {
            return None;
        }
        let sizes = sizes.trim().trim_end_matches(',').trim();
        let sizes = sizes.strip_prefix('(').and_then(|sizes| sizes.strip_suffix(')')).unwrap_or(sizes);
        let sizes = sizes.trim().trim_end_matches(',');
        let sizes: Option<Vec<u64>> = sizes.split(',').map(|size| size.trim().parse().ok()).collect();
        sizes.filter(|sizes| sizes.iter().all(|size| *size > 0)).map(|sizes| Self { sizes, dtype })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(expression: &str) -> Result<Arguments, Refusal> {
        let mut arguments = Arguments::default();
        arguments.add(None, expression).map(|()| arguments)
    }

    #[test]
    fn features_stand_for_random_tensors() {
        let cases = [
            ("torch.randn((2, 64, 8, 8))", "features[0]"),
            ("torch.randn(2, 64)", "features[0]"),
            ("torch.rand((2, 64,))", "features[0].sigmoid()"),
            ("[torch.randn((2, 3)), torch.randn((2, 4))]", "[features[0], features[1]]"),
            ("(torch.randn((2, 3)),)", "(features[0], )"),
            ("{'0': torch.randn((2, 3)), '1': None}", "{'0': features[0], '1': None}"),
            ("(8, 8)", "(8, 8)"),
            ("-1.5e-3", "-1.5e-3"),
            (
                "torch.ones((2, 64), dtype=torch.bool)",
                "_netquarry_torch.ones((samples, 64,), dtype=_netquarry_torch.bool, device=x.device)",
            ),
            (
                "torch.zeros(2, dtype=torch.long)",
                "_netquarry_torch.zeros((samples,), dtype=_netquarry_torch.long, device=x.device)",
            ),
        ];
        for (expression, text) in cases {
            assert_eq!(read(expression).map(|read| read.text), Ok(text.to_owned()), "{expression}");
        }
    }

    #[test]
    fn whatever_else_is_not_understood() {
        let cases = [
            "[torch.randn((2, 3))] * 2",
            "torch.randint(0, 8, (2, 3))",
            "torch.randn((2, 3), dtype=torch.float64)",
            "torch.randn((2, n))",
            "torch.randn((2, 3)).abs()",
            "torch.tensor([[1., 2.]])",
            "ImageList(torch.randn((2, 3)), None)",
            "{a: 1}",
            "[1, 2",
            "1 + 1",
            "x",
            "",
        ];
        for expression in cases {
            assert_eq!(read(expression), Err(Refusal::ArgumentNotUnderstood), "{expression}");
        }
    }

    #[test]
    fn keywords_and_facts_are_kept() {
        let mut arguments = read("[torch.randn((2, 3)), torch.randn((2, 3))]").expect("it is understood");
        arguments.add(Some("size"), "(2, 8)").expect("it is understood");
        assert_eq!(arguments.text, "[features[0], features[1]], size=(2, 8)");
        assert_eq!((arguments.sequences.as_slice(), arguments.slots.len()), ([2].as_slice(), 2));
        assert!(arguments.has_integer(2) && arguments.has_integer(8) && !arguments.has_integer(3));
    }
}
