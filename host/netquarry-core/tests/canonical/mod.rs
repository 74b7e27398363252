//! Pairs of codes that are the same network in canonical form, and pairs that are not.
//!
//! A case is a file in `cases/equal/` or `cases/different/`, which holds both codes with a line `# ---` between them. The block
//! is called `Block` in both. Those in `cases/other_operations/` do not call and compute the same; those in `cases/same_flow/`
//! and `cases/other_flow/` do, of the same values or not.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use netquarry_core::dedup::{BlockSet, BlockSummary, CanonicalView, Code, Normalisation, Shingling};
use netquarry_core::fingerprint::archive::Forgetful;
use netquarry_core::fingerprint::blocks::CodeBlocks;
use netquarry_core::fingerprint::shelf::InMemory;
use netquarry_core::syntax::PARSER_STACK_BYTES;

pub(crate) const BORDER: &str = "# ---\n";

/// Whether the blocks of the two codes have the same canonical form.
fn are_equal(codes: [&str; 2]) -> bool {
    are_equal_in(CanonicalView::Digest, codes)
}

fn are_equal_in(view: CanonicalView, codes: [&str; 2]) -> bool {
    let summary = BlockSummary {
        id: String::new(),
        name: "Block".to_owned(),
        source: String::new(),
        priority: 0,
        level: 0,
        accuracy: None,
        characters: 0,
        sha256: [0; 32],
    };
    let codes = codes.map(|code| (summary.clone(), Code::from(Arc::from(code))));
    let blocks = CodeBlocks::new(codes, Arc::new(InMemory::default()), Arc::new(Forgetful));
    let shingling = Shingling { normalisation: Normalisation::Canonical(view), width: 1 };
    blocks.first_equals(&[0, 1], shingling) == [0, 0]
}

fn check(folder: &str, view: CanonicalView, expected: bool) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/canonical/cases").join(folder);
    let mut wrong = Vec::new();
    for entry in fs::read_dir(&folder).expect("the cases are there") {
        let path = entry.expect("it can be read").path();
        let text = fs::read_to_string(&path).expect("it can be read");
        let (first, second) = text.split_once(BORDER).unwrap_or_else(|| panic!("{} has one code", path.display()));
        assert!(are_equal([first, first]) && are_equal([second, second]), "{} is no Python", path.display());
        let computes_other = view == CanonicalView::Flow && !are_equal_in(CanonicalView::Operations, [first, second]);
        if are_equal_in(view, [first, second]) != expected || computes_other {
            wrong.push(path);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// On a thread whose stack is large enough for the parser.
pub(crate) fn with_stack(test: fn()) {
    let thread = thread::Builder::new().stack_size(PARSER_STACK_BYTES).spawn(test).expect("a thread can be started");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn two_ways_to_write_a_network_are_equal() {
    with_stack(|| check("equal", CanonicalView::Digest, true));
}

#[test]
fn other_networks_are_different() {
    with_stack(|| check("different", CanonicalView::Digest, false));
}

#[test]
fn what_is_computed_of_what_is_told() {
    with_stack(|| {
        check("same_flow", CanonicalView::Flow, true);
        check("other_flow", CanonicalView::Flow, false);
    });
}

#[test]
fn what_is_called_and_computed_tells_networks_apart() {
    with_stack(|| check("other_operations", CanonicalView::Operations, false));
}

#[test]
fn broken_code_is_equal_to_itself_only() {
    with_stack(|| {
        assert!(are_equal(["class Block(:\n", "class Block(:\n"]));
        assert!(!are_equal(["class Block(:\n", "class Block[:\n"]));
        assert!(!are_equal(["print a - b\n", "print b - a\n"]));
        assert!(are_equal(["x[1]", "x [1]  # the same"]));
    });
}
