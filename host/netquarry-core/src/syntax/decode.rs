//! Source bytes to text, as CPython's tokenizer reads them: byte-order mark, coding cookie (PEP 263), UTF-8.

use std::borrow::Cow;

use encoding_rs::Encoding;

use super::{MAX_FILE_BYTES, diagnostic};
use crate::facts::{Diagnostic, DiagnosticKind};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The text of a Python file: its byte-order mark is gone, line ends are as they are.
///
/// # Errors
/// A file that is too large, that names an encoding which is unknown, or that is not in the encoding it names (UTF-8
/// where it names none).
pub fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, Diagnostic> {
    if bytes.len() > MAX_FILE_BYTES {
        let message = format!("the file has {} bytes; the limit is {MAX_FILE_BYTES}", bytes.len());
        return Err(diagnostic(DiagnosticKind::TooLarge, message, None));
    }
    let (bytes, marked) = match bytes.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => (rest, true),
        None => (bytes, false),
    };
    let Some((cookie, line)) = cookie(bytes) else {
        return utf8(bytes);
    };
    let name = normalized(cookie);
    if name == "utf-8" {
        return utf8(bytes);
    }
    let error = |message| Err(diagnostic(DiagnosticKind::Encoding, message, Some(line)));
    if marked {
        return error(format!("the file starts with a UTF-8 byte-order mark and names the encoding `{cookie}`"));
    }
    // WHATWG's labels, which `Encoding::for_label` knows, mean Windows-1252 by these two.
    match name.as_str() {
        "iso-8859-1" => return Ok(bytes.iter().map(|byte| char::from(*byte)).collect::<String>().into()),
        "ascii" if bytes.is_ascii() => return utf8(bytes),
        "ascii" => return error("the file names the encoding `ascii` and has other bytes".to_owned()),
        _ => {}
    }
    let Some(encoding) = Encoding::for_label(name.as_bytes()) else {
        return error(format!("the encoding `{cookie}` is unknown"));
    };
    match encoding.decode_without_bom_handling_and_without_replacement(bytes) {
        Some(text) => Ok(text),
        None => error(format!("the file is not in the encoding `{cookie}` that it names")),
    }
}

fn utf8(bytes: &[u8]) -> Result<Cow<'_, str>, Diagnostic> {
    std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let message = "the file is not UTF-8 and names no other encoding";
        diagnostic(DiagnosticKind::Encoding, message, u32::try_from(line).ok())
    })
}

/// The encoding that a comment in the first two lines names, with the number of its line. The second line counts only
/// where the first is empty or a comment.
fn cookie(bytes: &[u8]) -> Option<(&str, u32)> {
    let mut lines = bytes.split(|byte| matches!(byte, b'\n' | b'\r'));
    let first = lines.next()?;
    if let Some(cookie) = cookie_in(first) {
        return Some((cookie, 1));
    }
    let is_blank = first.trim_ascii_start().first().is_none_or(|byte| *byte == b'#');
    // Between a carriage return and its line feed `split` sees an empty line.
    let second = if bytes.get(first.len()..).is_some_and(|rest| rest.starts_with(b"\r\n")) {
        lines.nth(1)
    } else {
        lines.next()
    };
    is_blank.then_some(second?).and_then(cookie_in).map(|cookie| (cookie, 2))
}

/// PEP 263: `^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)`.
fn cookie_in(line: &[u8]) -> Option<&str> {
    let start = line.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\x0c'))?;
    if line[start] != b'#' {
        return None;
    }
    let mut rest = &line[start..];
    loop {
        let found = rest.windows(6).position(|window| window == b"coding")?;
        rest = &rest[found + 6..];
        let Some(after) = rest.strip_prefix(b":").or_else(|| rest.strip_prefix(b"=")) else {
            continue;
        };
        let after = &after[after.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()..];
        let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        let length = after.iter().take_while(is_name).count();
        if length > 0 {
            return std::str::from_utf8(&after[..length]).ok();
        }
    }
}

/// The names that CPython's tokenizer treats as one, and Python's aliases that WHATWG does not have.
fn normalized(cookie: &str) -> String {
    let name = cookie.to_ascii_lowercase().replace('_', "-");
    let is = |base: &str| name == base || name.strip_prefix(base).is_some_and(|rest| rest.starts_with('-'));
    if is("utf-8") || matches!(name.as_str(), "utf8" | "u8" | "cp65001") {
        "utf-8".to_owned()
    } else if is("latin-1") || is("iso-8859-1") || is("iso-latin-1") || matches!(name.as_str(), "latin1" | "l1") {
        "iso-8859-1".to_owned()
    } else if matches!(name.as_str(), "us-ascii" | "646") {
        "ascii".to_owned()
    } else if let Some(number) = name.strip_prefix("cp125") {
        format!("windows-125{number}")
    } else {
        match name.as_str() {
            "cp932" | "ms932" => "windows-31j".to_owned(),
            "cp936" => "gbk".to_owned(),
            "cp949" => "euc-kr".to_owned(),
            "cp866" => "ibm866".to_owned(),
            _ => name,
        }
    }
}
