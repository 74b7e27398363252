//! JSON as CPython's `json.dumps(value, indent=2)` writes it.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CharEscape, Formatter, PrettyFormatter};

pub(super) fn to_vec(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, Python::default());
    value.serialize(&mut serializer).expect("keys are text, and memory takes it all");
    bytes
}

/// CPython's `repr` of a finite number.
pub(super) fn float(value: f64) -> String {
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').expect("it has an exponent");
    let exponent: i32 = exponent.parse().expect("an exponent is a number");
    if value == 0.0 || (-4..16).contains(&exponent) {
        return format!("{value:?}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

#[derive(Default)]
struct Python(PrettyFormatter<'static>);

impl Formatter for Python {
    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(float(value).as_bytes())
    }

    /// Everything but the printable characters of ASCII is escaped.
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let is_plain = |character: char| matches!(character, ' '..='~');
        let mut rest = fragment;
        while let Some(at) = rest.find(|character| !is_plain(character)) {
            writer.write_all(&rest.as_bytes()[..at])?;
            let character = rest[at..].chars().next().expect("one was found");
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = &rest[at + character.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }

    fn write_char_escape<W: ?Sized + Write>(&mut self, writer: &mut W, escape: CharEscape) -> io::Result<()> {
        self.0.write_char_escape(writer, escape)
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_array(writer)
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// From CPython 3.11.
    #[test]
    fn text_and_numbers_are_those_of_python() {
        let value = json!({"naïve 😀\u{7f}\n\"": [0.9, 1.0, 1e-7, 123_456_789.125, -0.0], "": [], "o": {}, "n": null});
        let expected = "{\n  \"\": [],\n  \"n\": null,\n  \"na\\u00efve \\ud83d\\ude00\\u007f\\n\\\"\": [\n    0.9,\n    \
                        1.0,\n    1e-07,\n    123456789.125,\n    -0.0\n  ],\n  \"o\": {}\n}";
        assert_eq!(String::from_utf8(to_vec(&value)).unwrap(), expected);
    }

    #[test]
    fn exponents_are_those_of_python() {
        let numbers = [1e16, 1e15, 1e-4, 9.9e-5, 5e-324, 1.797_693_134_862_315_7e308, 1e22];
        let expected =
            ["1e+16", "1000000000000000.0", "0.0001", "9.9e-05", "5e-324", "1.7976931348623157e+308", "1e+22"];
        assert_eq!(numbers.map(float), expected);
    }
}
