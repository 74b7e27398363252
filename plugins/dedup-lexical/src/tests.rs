use netquarry_sdk::configured;
use netquarry_sdk::testing::MemoryBlocks;

use super::*;

/// `count` tokens, of which the first `changed` are not like those of the others.
fn code(count: usize, changed: usize) -> String {
    let token = |index: usize| if index < changed { format!("own{index}") } else { format!("t{index}") };
    (0..count).map(token).collect::<Vec<_>>().join(" ")
}

/// Each is a near-duplicate (0.90 or more) of its neighbours, and the ends are not of each other: 100 tokens, of which
/// 0, 3, 6 are changed.
fn chain() -> MemoryBlocks {
    let mut blocks = MemoryBlocks::default();
    blocks.add("first", &code(100, 0));
    blocks.add("middle", &code(100, 3)).level = 4;
    blocks.add("last", &code(100, 6));
    blocks.add("other", &code(100, 90));
    blocks
}

fn run(blocks: &MemoryBlocks, configuration: &str) -> Vec<(u32, u32)> {
    let lexical = configured::<Lexical>(configuration).expect("the configuration is right");
    let decisions = lexical.deduplicate(blocks).expect("it has no reason to fail");
    decisions.removals.iter().map(|removal| (removal.block, removal.survivor)).collect()
}

#[test]
fn the_best_block_removes_its_near_duplicates() {
    assert_eq!(run(&chain(), r#"{"floors": [], "threshold": 0.9, "shingle_width": 1}"#), [(0, 1), (2, 1)]);
}

#[test]
fn a_star_removes_nothing_beyond_the_threshold() {
    let by_order = r#"{"floors": [], "shingle_width": 1, "prefer": [], "threshold": 0.92}"#;
    assert_eq!(run(&chain(), by_order), [(1, 0)]);
}

#[test]
fn a_component_reaches_as_far_as_its_links() {
    let component = r#"{"floors": [], "shingle_width": 1, "prefer": [], "threshold": 0.92, "linkage": "component"}"#;
    assert_eq!(run(&chain(), component), [(1, 0), (2, 0)]);
    let two =
        r#"{"floors": [], "shingle_width": 1, "prefer": [], "threshold": 0.92, "linkage": "component", "keep": 2}"#;
    assert_eq!(run(&chain(), two), [(2, 1)], "the survivor is the most similar one");
}

#[test]
fn a_prefix_that_is_present_keeps_a_block() {
    let configuration = r#"{"floors": [], "threshold": 0.9, "shingle_width": 1, "prefer": [], "linkage": "component", "prefixes": ["la", "mid"]}"#;
    assert_eq!(run(&chain(), configuration), []);
}

#[test]
fn families_are_not_compared_with_each_other() {
    let mut blocks = MemoryBlocks::default();
    blocks.add("ResNetBlock", &code(100, 0));
    blocks.add("VGGBlock", &code(100, 0));
    blocks.add("Fractal1", &code(100, 0));
    blocks.add("Fractal2", &code(100, 3));
    assert_eq!(
        run(&blocks, r#"{"floors": [], "threshold": 0.9, "shingle_width": 1, "families": true, "prefer": []}"#),
        [(3, 2)]
    );
    let strict = r#"{"floors": [], "threshold": 0.9, "shingle_width": 1, "families": true, "prefer": [], "family_thresholds": {"fractal": 0.97}}"#;
    assert_eq!(run(&blocks, strict), []);
}

#[test]
fn near_duplicates_share_enough_else() {
    let with_floor = |similarity: f64| {
        format!(
            r#"{{"floors": [{{"normalisation": "flow", "similarity": {similarity}}}], "shingle_width": 2, "prefer": [], "threshold": 0.9}}"#
        )
    };
    // Of 100 tokens 3 are others, and of their pairs 3 or 4: 0.94 and 0.92 or more.
    let both = [(1, 0), (2, 1)];
    assert_eq!(run(&chain(), &with_floor(0.94)).first(), both.first());
    assert_eq!(run(&chain(), &with_floor(0.95)), []);
}

#[test]
fn components_stay_within_a_family_and_its_threshold() {
    let mut blocks = MemoryBlocks::default();
    blocks.add("Fractal1", &code(100, 0));
    blocks.add("ResNetBlock", &code(100, 3));
    blocks.add("Fractal2", &code(100, 6));
    blocks.add("ResNetOther", &code(100, 5));
    let of = |thresholds: &str| {
        format!(
            r#"{{"floors": [], "threshold": 0.88, "shingle_width": 1, "families": true, "prefer": [], "linkage": "component", "family_thresholds": {thresholds}}}"#
        )
    };
    assert_eq!(run(&blocks, &of("{}")), [(2, 0), (3, 1)]);
    assert_eq!(run(&blocks, &of(r#"{"fractal": 0.97}"#)), [(3, 1)]);
}

/// With two normalisations the similarity is that in which two blocks are least alike.
#[test]
fn a_removal_names_the_least_similarity() {
    let lexical = configured::<Lexical>(
        r#"{"floors": [], "shingle_width": 1, "prefer": [], "threshold": 0.9, "normalisations": ["code", "class"]}"#,
    );
    let decisions = lexical.expect("the configuration is right").deduplicate(&chain()).expect("it does not fail");
    let similarity = decisions.removals[0].similarity.expect("it has one");
    assert!((similarity - 97.0 / 103.0).abs() < 1e-9, "{similarity}");
}

#[test]
fn configurations_are_checked() {
    let pointer = |json| configured::<Lexical>(json).err().expect("the configuration is wrong").pointer;
    assert_eq!(pointer(r#"{"threshold": 1.5}"#), "/threshold");
    assert_eq!(pointer(r#"{"family_thresholds": {"vgg": -1}}"#), "/family_thresholds/vgg");
    assert_eq!(pointer(r#"{"keep": 0}"#), "/keep");
    assert_eq!(pointer(r#"{"linkage": "chain"}"#), "/linkage");
}
