//! The licence of a bundle that holds code of several sources.

use std::collections::BTreeSet;

/// The SPDX expression under which all of the code may be used: `Apache-2.0 AND BSD-3-Clause`. `None` where one of the
/// sources does not say.
pub fn conjunction<'a>(licenses: impl Iterator<Item = Option<&'a str>>) -> Option<String> {
    let licenses: BTreeSet<&str> = licenses.map(|license| license.filter(|text| !text.trim().is_empty())).collect::<Option<_>>()?;
    let several = licenses.len() > 1;
    let parts = licenses.into_iter().map(|license| {
        let is_compound = license.contains(" OR ") || license.contains(" or ");
        let license = license.split_whitespace().collect::<Vec<_>>().join(" ");
        if several && is_compound { format!("({license})") } else { license }
    });
    let text = parts.collect::<Vec<_>>().join(" AND ");
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::conjunction;

    #[test]
    fn all_licences_hold_at_once() {
        let of = |licenses: &[Option<&'static str>]| conjunction(licenses.iter().copied());
        assert_eq!(of(&[Some("MIT"), Some("MIT")]).as_deref(), Some("MIT"));
        assert_eq!(
            of(&[Some("MIT OR Apache-2.0"), Some("BSD-3-Clause")]).as_deref(),
            Some("BSD-3-Clause AND (MIT OR Apache-2.0)")
        );
        assert_eq!(of(&[Some("MIT"), None]), None);
        assert_eq!(of(&[]), None);
    }
}
