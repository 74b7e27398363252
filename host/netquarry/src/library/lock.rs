//! What a verdict was reached with, as a file of pip's requirements that brings the same back.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::str::FromStr;

use netquarry_core::record::BlockRecord;
use pep440_rs::Version;
use serde::Deserialize;

use super::distribution_name::normalised;

/// The environment of a run, as `run.json` describes it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct LockedEnvironment {
    /// Of Python.
    pub version: String,
    pub digest: String,
    /// Versions by normalised distribution name.
    pub distributions: BTreeMap<String, String>,
}

/// The requirements, one a line, under comments that say what they are. Hashes are left out: pip wants one for each line
/// as soon as it finds one, and nobody has those of an environment that was there before.
pub fn requirements(record: &BlockRecord, environment: &LockedEnvironment) -> String {
    let LockedEnvironment { version, digest, distributions } = environment;
    let mut text = format!(
        "# What {} was validated with, to level {}.\n# Python {version}\n# Environment {digest}\n",
        record.block, record.level
    );
    let mut pins = distributions.clone();
    // What was installed for the block lies before the environment on the path.
    let installed = record.installed.iter().map(|it| (normalised(&it.name), it.version.clone()));
    pins.extend(installed);
    if pins.values().any(|version| version.contains('+')) {
        text.push_str(
            "# Versions with a `+` are not on PyPI: name the index that they are from with --extra-index-url.\n",
        );
    }
    for (name, version) in pins {
        match Version::from_str(&version) {
            Ok(_) => writeln!(text, "{name}=={version}"),
            Err(_) => writeln!(text, "# {name} {version}: no index can have this version"),
        }
        .expect("a string takes everything");
    }
    text
}

#[cfg(test)]
mod tests {
    use netquarry_core::record::InstalledDistribution;

    use super::*;

    #[test]
    fn a_lock_has_all_that_the_verdict_depends_on() {
        let mut record = crate::findings::tests::library().remove(1);
        record.installed = vec![InstalledDistribution {
            name: "Einops".to_owned(),
            version: "0.8.2".to_owned(),
            provides: vec!["einops".to_owned()],
        }];
        let distributions = [("torch", "2.15.0+cpu"), ("numpy", "2.4.6"), ("mine", "a-branch"), ("einops", "0.7")];
        let environment = LockedEnvironment {
            version: "3.11.7".to_owned(),
            digest: "0".repeat(64),
            distributions: distributions.map(|(name, version)| (name.to_owned(), version.to_owned())).into(),
        };
        insta::assert_snapshot!(requirements(&record, &environment), @r"
        # What timm:timm.layers.drop.DropPath was validated with, to level 5.
        # Python 3.11.7
        # Environment 0000000000000000000000000000000000000000000000000000000000000000
        # Versions with a `+` are not on PyPI: name the index that they are from with --extra-index-url.
        einops==0.8.2
        # mine a-branch: no index can have this version
        numpy==2.4.6
        torch==2.15.0+cpu
        ");
    }
}
