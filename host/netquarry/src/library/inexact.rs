//! Digests of files in which the arithmetic of a machine does not show.

use std::io::{self, Write};

use sha2::{Digest, Sha256};

/// What stands in the place of a number that does not count.
const LEFT_OUT: &[u8] = b"*";

/// Hashes JSON, one document or one on each line: its bytes, but for numbers that are no integers. A number outside of
/// strings that has a `.`, an `e` or an `E` is hashed as `*`; what stands in strings is text, and counts as it is.
#[derive(Default)]
pub struct JsonHash {
    hash: Sha256,
    place: Place,
    /// The bytes of a number so far.
    number: Vec<u8>,
}

#[derive(Clone, Copy, Default)]
enum Place {
    #[default]
    Between,
    String,
    /// Behind a `\` in a string.
    Escape,
    Number,
}

impl JsonHash {
    /// SHA-256 of what was written.
    pub fn finish(mut self) -> [u8; 32] {
        self.end_number();
        self.hash.finalize().into()
    }

    fn end_number(&mut self) {
        let is_integer = !self.number.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
        self.hash.update(if is_integer { &self.number } else { LEFT_OUT });
        self.number.clear();
    }

    fn take(&mut self, byte: u8) {
        match (self.place, byte) {
            (Place::Number, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-') => return self.number.push(byte),
            (Place::Between, b'0'..=b'9' | b'-') => {
                self.place = Place::Number;
                return self.number.push(byte);
            }
            (Place::Number, _) => {
                self.end_number();
                self.place = if byte == b'"' { Place::String } else { Place::Between };
            }
            (Place::Between, b'"') | (Place::Escape, _) => self.place = Place::String,
            (Place::String, b'"') => self.place = Place::Between,
            (Place::String, b'\\') => self.place = Place::Escape,
            (Place::Between | Place::String, _) => {}
        }
        self.hash.update([byte]);
    }
}

impl Write for JsonHash {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        bytes.iter().for_each(|byte| self.take(*byte));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However the bytes are cut into pieces.
    fn digest(text: &str) -> [u8; 32] {
        let whole = |size: usize| {
            let mut hash = JsonHash::default();
            text.as_bytes().chunks(size).for_each(|piece| hash.write_all(piece).expect("it takes everything"));
            hash.finish()
        };
        assert_eq!(whole(1), whole(3));
        whole(1)
    }

    #[test]
    fn numbers_that_are_no_integers_do_not_count() {
        let json = |number: &str| format!("{{\"a\\\"1.5\": [{number}, -3, true], \"e\": null}}\n{number}");
        let fractions = ["0.1", "0.30000000000000004", "-1e-7", "2E+9", "1.0"];
        for number in fractions {
            assert_eq!(digest(&json(number)), digest(&json("0.5")), "{number}");
        }
        for number in ["1", "-0", "null", "\"0.5\"", "[0.5, 0.5]"] {
            assert_ne!(digest(&json(number)), digest(&json("0.5")), "{number}");
        }
    }

    #[test]
    fn all_else_counts() {
        let json = r#"{"name": "a 1.5", "shape": [2, 64], "mean": 0.25}"#;
        for other in [
            json.replace("a 1.5", "a 1.6"),
            json.replace("64", "65"),
            json.replace("mean", "variance"),
            json.replace(", ", ","),
            json.replace("0.25", ""),
        ] {
            assert_ne!(digest(json), digest(&other), "{other}");
        }
        assert_eq!(digest("[1, 2]"), <[u8; 32]>::from(Sha256::digest("[1, 2]")));
    }
}
