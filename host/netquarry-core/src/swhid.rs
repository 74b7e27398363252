//! Software Heritage identifiers (ISO/IEC 18670), by which a file can be found again wherever it is archived.

use std::fmt::Write as _;

use sha1::{Digest, Sha1};

/// The identifier of a file's content, `swh:1:cnt:` and the SHA-1 of the content framed as a blob of git's.
pub fn of_content(bytes: &[u8]) -> String {
    let mut hasher = Sha1::new();
    hasher.update(format!("blob {}\0", bytes.len()));
    hasher.update(bytes);
    let mut identifier = "swh:1:cnt:".to_owned();
    for byte in hasher.finalize() {
        write!(identifier, "{byte:02x}").expect("a string takes everything");
    }
    identifier
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn known_contents() {
        assert_eq!(of_content(b""), "swh:1:cnt:e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(of_content(b"hello world\n"), "swh:1:cnt:3b18e512dba79e4c8300dd08aeb37f8e728b8dad");
    }

    /// Git itself is the oracle.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the oracle is another program")]
    fn as_git_hashes_objects() {
        for content in [b"".as_slice(), b"x = 1\n", b"\0\xff\r\n", &[b'a'; 100_000]] {
            let mut git = Command::new("git")
                .args(["hash-object", "--no-filters", "--stdin"])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .expect("there is a git");
            git.stdin.take().expect("it is piped").write_all(content).expect("git reads it all");
            let output = git.wait_with_output().expect("git ends");
            let hash = String::from_utf8(output.stdout).expect("hexadecimal digits");
            assert_eq!(of_content(content), format!("swh:1:cnt:{}", hash.trim()));
        }
    }
}
