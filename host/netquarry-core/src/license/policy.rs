//! Which licences a user takes: the lists of `[licenses]`, and what they mean for a licence expression.
//!
//! The lists hold single licences as SPDX names them, with an exception where there is one (`Apache-2.0 WITH
//! LLVM-exception`), references of one's own (`LicenseRef-NVIDIA`), and [`UNKNOWN`] for blocks whose licence is not known.
//! As with cargo-deny, each is listed by itself: there are no patterns, and a licence with an exception is another one
//! than the licence without.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spdx::{Expression, LicenseReq, Licensee};

use super::expression;

/// How a licence that is not known is listed, as SPDX has it.
pub const UNKNOWN: &str = "NOASSERTION";

/// What a policy says about a licence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    #[default]
    Allow,
    /// Held back until the user has decided.
    Ask,
    Deny,
}

/// A licence that can stand in a list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct ListedLicense(String);

/// Why something cannot stand in a list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotListable {
    #[error(
        "`{0}` is no licence that SPDX knows: lists have identifiers of https://spdx.org/licenses, `LicenseRef-...` as \
         the manifest has it, or `NOASSERTION` for what is not known; there are no patterns"
    )]
    Unknown(String),
    #[error("`{0}` is an expression of several licences: list each of them by itself")]
    Several(String),
    #[error(
        "`{0}` does not say whether later versions are meant, which are licences of their own: list `{0}-only`, `{0}-or-later` or both"
    )]
    Versions(String),
}

impl ListedLicense {
    /// As the manifest spells it.
    pub fn name(&self) -> &str {
        &self.0
    }

    fn satisfies(&self, requirement: &LicenseReq) -> bool {
        Licensee::parse(&self.0).is_ok_and(|licensee| licensee.satisfies(requirement))
    }
}

impl std::str::FromStr for ListedLicense {
    type Err = NotListable;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == UNKNOWN {
            return Ok(Self(text.to_owned()));
        }
        let Some(canonical) = expression(text) else { return Err(NotListable::Unknown(text.to_owned())) };
        if canonical.strip_suffix("-only") == Some(text) {
            return Err(NotListable::Versions(text.to_owned()));
        }
        let count = Expression::parse(&canonical).map_or(0, |expression| expression.requirements().count());
        if count == 1 { Ok(Self(canonical)) } else { Err(NotListable::Several(text.to_owned())) }
    }
}

/// The lists, and what holds for everything else. No licence is in two lists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Policy {
    pub allow: BTreeSet<ListedLicense>,
    pub ask: BTreeSet<ListedLicense>,
    pub deny: BTreeSet<ListedLicense>,
    pub default: Rule,
}

/// Why a block is held back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeldBack {
    pub decision: Decision,
    /// The licences that are denied, or that the user has yet to decide about; sorted.
    pub licenses: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// No choice that the licence leaves goes without a denied one.
    Denied,
    /// With the licences that the user has yet to decide about it would do.
    Asked,
}

impl Policy {
    /// Whether it holds nothing back, whatever the licence.
    pub fn is_open(&self) -> bool {
        self.default == Rule::Allow && self.ask.is_empty() && self.deny.is_empty()
    }

    /// Allows licences, whatever was said about them before.
    #[must_use]
    pub fn allowing(mut self, licenses: impl IntoIterator<Item = ListedLicense>) -> Self {
        for license in licenses {
            self.ask.remove(&license);
            self.deny.remove(&license);
            self.allow.insert(license);
        }
        self
    }

    /// A licence that two lists have.
    pub fn contradiction(&self) -> Option<&ListedLicense> {
        let twice = |license: &&ListedLicense| self.ask.contains(*license) || self.deny.contains(*license);
        let in_both = || self.ask.intersection(&self.deny).next();
        self.allow.iter().find(twice).or_else(in_both)
    }

    /// What holds a block of this licence back; `None` where nothing does. Of `A OR B` one has to be allowed, of `A AND B`
    /// both.
    pub fn holds_back(&self, license: Option<&str>) -> Option<HeldBack> {
        let Some(expression) = license.and_then(|license| Expression::parse(license).ok()) else {
            let decision = self::decision(self.of_unknown())?;
            return Some(HeldBack { decision, licenses: vec![UNKNOWN.to_owned()] });
        };
        let at_most = |rule: Rule| expression.evaluate(|requirement| self.rule(requirement) <= rule);
        let decision = match () {
            () if at_most(Rule::Allow) => return None,
            () if at_most(Rule::Ask) => Decision::Asked,
            () => Decision::Denied,
        };
        let at_fault = |rule: Rule| self::decision(rule) == Some(decision);
        let requirements = expression.requirements().map(|each| &each.req);
        let licenses: BTreeSet<String> =
            requirements.filter(|each| at_fault(self.rule(each))).map(ToString::to_string).collect();
        Some(HeldBack { decision, licenses: licenses.into_iter().collect() })
    }

    fn of_unknown(&self) -> Rule {
        let unknown = ListedLicense(UNKNOWN.to_owned());
        match () {
            () if self.deny.contains(&unknown) => Rule::Deny,
            () if self.ask.contains(&unknown) => Rule::Ask,
            () if self.allow.contains(&unknown) => Rule::Allow,
            () => self.default,
        }
    }

    /// The very licence counts first, whatever the list; then one that may be chosen in its place (`Apache-2.0` where
    /// upstream says `Apache-1.1+`), where that is allowed.
    fn rule(&self, requirement: &LicenseReq) -> Rule {
        let name = ListedLicense(requirement.to_string());
        match () {
            () if self.deny.contains(&name) => Rule::Deny,
            () if self.ask.contains(&name) => Rule::Ask,
            () if self.allow.iter().any(|license| *license == name || license.satisfies(requirement)) => Rule::Allow,
            () => self.default,
        }
    }
}

/// What a rule makes of a licence that nothing else can take the place of.
fn decision(rule: Rule) -> Option<Decision> {
    match rule {
        Rule::Allow => None,
        Rule::Ask => Some(Decision::Asked),
        Rule::Deny => Some(Decision::Denied),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(names: &str) -> BTreeSet<ListedLicense> {
        names.split(", ").filter(|name| !name.is_empty()).map(|name| name.parse().expect(name)).collect()
    }

    fn policy(allow: &str, ask: &str, deny: &str, default: Rule) -> Policy {
        Policy { allow: listed(allow), ask: listed(ask), deny: listed(deny), default }
    }

    fn told(policy: &Policy, license: &str) -> String {
        match policy.holds_back((license != "unknown").then_some(license)) {
            None => "allowed".to_owned(),
            Some(HeldBack { decision, licenses }) => format!("{decision:?}: {}", licenses.join(", ")),
        }
    }

    #[test]
    fn one_of_several_or_all_of_them() {
        let policy = policy("MIT, Apache-2.0", "GPL-3.0-only, NOASSERTION", "AGPL-3.0-only", Rule::Allow);
        for (license, expected) in [
            ("MIT", "allowed"),
            ("BSD-3-Clause AND MIT", "allowed"),
            ("AGPL-3.0-only", "Denied: AGPL-3.0-only"),
            ("AGPL-3.0-only OR MIT", "allowed"),
            ("AGPL-3.0-only AND MIT", "Denied: AGPL-3.0-only"),
            ("AGPL-3.0-only AND GPL-3.0-only", "Denied: AGPL-3.0-only"),
            ("AGPL-3.0-only OR GPL-3.0-only", "Asked: GPL-3.0-only"),
            ("(AGPL-3.0-only OR GPL-3.0-only) AND MIT", "Asked: GPL-3.0-only"),
            ("AGPL-3.0-or-later", "allowed"),
            ("unknown", "Asked: NOASSERTION"),
        ] {
            assert_eq!(told(&policy, license), expected, "{license}");
        }
    }

    #[test]
    fn what_is_not_listed_is_as_the_default_has_it() {
        let policy = policy("Apache-2.0, LicenseRef-NVIDIA", "", "", Rule::Deny);
        for (license, expected) in [
            ("Apache-2.0", "allowed"),
            ("LicenseRef-NVIDIA AND Apache-2.0", "allowed"),
            ("Apache-2.0 WITH LLVM-exception", "Denied: Apache-2.0 WITH LLVM-exception"),
            ("Apache-1.1+", "allowed"),
            ("LicenseRef-BSD", "Denied: LicenseRef-BSD"),
            ("MIT AND Zlib", "Denied: MIT, Zlib"),
            ("unknown", "Denied: NOASSERTION"),
        ] {
            assert_eq!(told(&policy, license), expected, "{license}");
        }
        assert!(Policy::default().is_open());
        assert_eq!(told(&Policy::default(), "unknown"), "allowed");
    }

    #[test]
    fn who_allows_a_licence_takes_it_off_the_other_lists() {
        let policy = policy("", "GPL-3.0-only", "AGPL-3.0-only", Rule::Ask);
        let policy = policy.allowing(listed("GPL-3.0-only, AGPL-3.0-only"));
        assert_eq!(told(&policy, "AGPL-3.0-only AND GPL-3.0-only"), "allowed");
        assert_eq!(told(&policy, "MIT"), "Asked: MIT");
        assert_eq!(policy.contradiction(), None);
    }

    #[test]
    fn lists_have_single_licences() {
        assert_eq!("GPL-2.0+".parse::<ListedLicense>().expect("it is one").name(), "GPL-2.0-or-later");
        for text in ["", "apache", "GPL-*", "*", "BSD"] {
            assert_eq!(text.parse::<ListedLicense>(), Err(NotListable::Unknown(text.to_owned())));
        }
        assert_eq!("MIT OR ISC".parse::<ListedLicense>(), Err(NotListable::Several("MIT OR ISC".to_owned())));
        assert_eq!("GPL-3.0".parse::<ListedLicense>(), Err(NotListable::Versions("GPL-3.0".to_owned())));
        let twice = policy("MIT, ISC", "Zlib", "ISC", Rule::Allow);
        assert_eq!(twice.contradiction().map(ListedLicense::name), Some("ISC"));
    }
}
