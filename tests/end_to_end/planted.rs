//! Copies that are planted among the classes of a package, and edits that make another network.

use std::path::Path;

use netquarry_tests::packages::unpacked;
use netquarry_tests::planted::{Planted, SAME};

use crate::support::{PROGRAM, Playground};

#[test]
fn planted_copies_are_found_and_other_networks_stay() {
    let playground = Playground::new();
    let timm = unpacked(Path::new(env!("CARGO_TARGET_TMPDIR")), &["timm==1.0.31"]).join("timm");
    let planted = Planted::new(&timm, &playground.path("")).unwrap();
    let kinds = planted.deduplicated(Path::new(PROGRAM), "default", &playground.path("")).unwrap();
    let (same, other): (Vec<_>, Vec<_>) = kinds.iter().partition(|(kind, _)| kind.starts_with(SAME));
    assert!(same.len() == 5 && other.len() == 7, "{kinds:?}");
    for (kind, copies) in other {
        assert!(copies.planted >= 20 && copies.merged.is_empty(), "{kind}: {:?} of {}", copies.merged, copies.planted);
    }
    for (kind, copies) in same {
        let found = copies.merged.len();
        // Not all: an axis may be among the constants, and a renamed parameter be given by its name.
        assert!(copies.planted >= 50 && 20 * found >= 19 * copies.planted, "{kind}: {found} of {}", copies.planted);
    }
}
