//! Numbers as people read them: times, sizes, counts.

/// `0.4 ms`, `0.04 s`, `0.3 s`, `12.4 s`, `3 min 20 s`.
pub fn human_seconds(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 0.00995 => format!("{:.1} ms", 1e3 * seconds),
        seconds if seconds < 0.095 => format!("{:.2} s", seconds),
        seconds if seconds < 99.95 => format!("{seconds:.1} s"),
        seconds => {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time span in seconds")]
            let whole = seconds.round() as u64;
            format!("{} min {:02} s", whole / 60, whole % 60)
        }
    }
}

/// `9.1 MB`, in powers of ten.
#[expect(clippy::cast_precision_loss, reason = "for people")]
pub fn human_bytes(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

/// `1 block`, `1,034 blocks`
pub fn human_things(count: usize, singular: &str) -> String {
    let (stem, ending) = match (count, singular.strip_suffix('y')) {
        (1, _) => (singular, ""),
        (_, Some(stem)) => (stem, "ies"),
        _ if singular.ends_with('s') => (singular, "es"),
        _ => (singular, "s"),
    };
    format!("{} {stem}{ending}", human_count(count))
}

/// `1,034`
pub fn human_count(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(human_count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(
            [0.0004, 0.04, 0.3, 12.34, 99.96, 200.0].map(human_seconds),
            ["0.4 ms", "0.04 s", "0.3 s", "12.3 s", "1 min 40 s", "3 min 20 s"]
        );
        let things = [(1, "block"), (1, "family"), (2, "class"), (3, "family"), (4, "pair")];
        let things = things.map(|(count, what)| human_things(count, what));
        assert_eq!(things, ["1 block", "1 family", "2 classes", "3 families", "4 pairs"]);
        assert_eq!([12, 9_100_000].map(human_bytes), ["12 B", "9.1 MB"]);
    }
}
