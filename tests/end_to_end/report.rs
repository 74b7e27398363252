//! What the program tells about a library as a whole.

use super::library::made;

#[test]
fn failures_are_grouped_by_their_root_with_the_way_to_it() {
    let shown = made().mine(&["report", "failures"]).succeeded();
    insta::assert_snapshot!(shown.stdout);
}

#[test]
fn failures_are_there_for_programs_too() {
    let json = made().mine(&["report", "failures", "out", "--format", "json"]).succeeded().json();
    assert_eq!((json["candidates"].as_u64(), json["failed"].as_u64()), (Some(8), Some(2)));
    let roots: Vec<&str> =
        json["groups"].as_array().unwrap().iter().map(|group| group["root"].as_str().unwrap()).collect();
    assert_eq!(roots, ["no_such_distribution", "width_that_nobody_binds"]);
    let example = &json["groups"][0]["example"];
    assert_eq!(example["upstream"], "small/troubled.py:3");
    assert_eq!(example["chain"][0]["definition"], "small:small.troubled.NeedsDistribution");
}

#[test]
fn a_library_is_audited_against_its_sources() {
    let playground = made();
    let shown = playground.mine(&["audit", "--quiet"]).succeeded();
    insta::assert_snapshot!(shown.stdout);
    let json = playground.mine(&["audit", "out", "--format", "json", "--quiet"]).succeeded().json();
    assert_eq!(json["resolution"]["accuracy"]["rate"], 1.0);
    assert_eq!(json["formatting"]["unknown"], 0);
}
