//! Whether code may be handed on with a dataset, by the licence that its record has.

use spdx::{Expression, LicenseReq, ParseMode};

/// Licences that OSI has approved, that ask for changes or combined works to be passed on under their own terms, and that
/// `spdx` does not mark as copyleft. The names of their families, which a version or a variant may follow.
const RECIPROCAL: [&str; 32] = [
    "APL",
    "APSL",
    "CAL",
    "CATOSL",
    "CERN-OHL-S",
    "CERN-OHL-W",
    "CPAL",
    "CUA-OPL",
    "EPL",
    "Frameworx",
    "IPL",
    "LPL",
    "LPPL",
    "LiLiQ-R",
    "LiLiQ-Rplus",
    "Motosoto",
    "NASA",
    "NGPL",
    "NPOSL",
    "Nokia",
    "OCLC",
    "OFL",
    "OLFL",
    "OSET-PL",
    "QPL",
    "RPL",
    "RPSL",
    "RSCPL",
    "SPL",
    "SimPL",
    "Sleepycat",
    "Watcom",
];

/// Of which blocks the code goes into an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum CodePolicy {
    /// Those whose licence is known and can be satisfied by permissive licences alone.
    #[default]
    Permissive,
    /// All, whatever their licence: for use among yourselves.
    All,
    /// None: the records only.
    None,
}

impl CodePolicy {
    /// As it stands on the command line and in exports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Permissive => "permissive",
            Self::All => "all",
            Self::None => "none",
        }
    }

    /// The policy that is called so.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Permissive, Self::All, Self::None].into_iter().find(|policy| policy.name() == name)
    }

    /// Why code under this licence is left out; none where it goes in.
    pub fn refusal(self, license: Option<&str>) -> Option<String> {
        match self {
            Self::All => None,
            Self::None => Some("no code was asked for".to_owned()),
            Self::Permissive => refusal(license),
        }
    }
}

/// Whether a licence allows to hand code on, changed or not, under terms that leave the rest of a work alone: it is on the
/// list of SPDX, OSI has approved it, and it is no copyleft. An exception only ever permits more.
pub fn is_permissive(license: &LicenseReq) -> bool {
    license.license.id().is_some_and(|id| id.is_osi_approved() && !id.is_copyleft() && !is_reciprocal(id.name))
}

fn is_reciprocal(name: &str) -> bool {
    RECIPROCAL
        .iter()
        .any(|family| name.strip_prefix(family).is_some_and(|rest| rest.is_empty() || rest.starts_with('-')))
}

fn refusal(license: Option<&str>) -> Option<String> {
    let Some(license) = license else { return Some("its licence is not known".to_owned()) };
    match Expression::parse_mode(license, ParseMode::STRICT) {
        Ok(expression) if expression.evaluate(is_permissive) => None,
        Ok(_) => Some(format!("{license} takes more than permissive licences")),
        Err(_) => Some(format!("`{license}` is no SPDX expression")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissive_licences_let_code_in() {
        let cases = [
            (Some("MIT"), true),
            (Some("Apache-2.0 AND BSD-3-Clause AND MIT"), true),
            (Some("GPL-3.0-only OR MIT"), true),
            (Some("Apache-2.0 WITH LLVM-exception"), true),
            (Some("GPL-3.0-only AND MIT"), false),
            (Some("AGPL-3.0-only"), false),
            (Some("MPL-2.0"), false),
            // `spdx` marks neither as copyleft.
            (Some("EPL-2.0"), false),
            (Some("CERN-OHL-S-2.0"), false),
            (Some("CERN-OHL-P-2.0"), true),
            (Some("CC-BY-NC-4.0"), false),
            (Some("LicenseRef-BSD"), false),
            (Some("MIT AND LicenseRef-NVIDIA"), false),
            (Some("see LICENSE"), false),
            (None, false),
        ];
        for (license, goes_in) in cases {
            assert_eq!(CodePolicy::Permissive.refusal(license).is_none(), goes_in, "{license:?}");
            assert_eq!(CodePolicy::All.refusal(license), None);
            assert!(CodePolicy::None.refusal(license).is_some());
        }
    }

    #[test]
    fn families_are_of_licences_that_there_are() {
        for family in RECIPROCAL {
            let is_there = |license: &spdx::License| {
                license.name.strip_prefix(family).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
            };
            assert!(spdx::identifiers::LICENSES.iter().any(is_there), "{family}");
        }
    }
}
