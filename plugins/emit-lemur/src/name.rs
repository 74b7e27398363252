//! The name that LEMUR gives to a model.

use md5::{Digest, Md5};

/// The digest of a model's code as LEMUR's `uuid4` computes it: MD5 in hexadecimal of the UTF-8 text without whitespace.
/// Two texts that differ in whitespace only are one model.
pub fn digest(code: &str) -> String {
    let text: String = code.chars().filter(|character| !is_space(*character)).collect();
    Md5::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What `\s` matches in a pattern of Python's `re` for text: Unicode's white space, and the four separators of ASCII, which
/// Unicode does not count.
fn is_space(character: char) -> bool {
    character.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&character)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// What LEMUR does, over a text that has every character.
    const ORACLE: &str = r"
import hashlib, re
code = ''.join(f'{n}:{chr(n)}' for n in range(0x110000) if not 0xD800 <= n < 0xE000)
print(hashlib.md5(re.sub('\\s', '', str(code)).encode()).hexdigest())
";

    #[test]
    fn python_computes_the_same_digest_of_all_characters() {
        let output = Command::new("python3").args(["-c", ORACLE]).output().expect("there is a python3");
        let expected = String::from_utf8(output.stdout).expect("it is text");
        let code: String = ('\0'..=char::MAX).map(|each| format!("{}:{each}", u32::from(each))).collect();
        assert_eq!(digest(&code), expected.trim());
    }

    #[test]
    fn comments_count_and_whitespace_does_not() {
        assert_eq!(digest("a = 1\n"), digest("a=1"));
        assert_ne!(digest("a = 1\n"), digest("a = 1  # one\n"));
    }
}
