//! How often arguments are found, for three hundred blocks of timm and torchvision that were drawn once at random.

use super::support::Playground;

/// The blocks, one a line.
const SAMPLE: &str = include_str!("cases/fixed_sample.txt");
/// Of the sample: how many are to be constructed and how many to run forward, with real tensors.
const CONSTRUCTED: usize = 279;
const RUN_FORWARD: usize = 264;

/// `cargo test --release -p netquarry --test end_to_end -- --ignored --nocapture arguments`
#[test]
#[ignore = "it mines all of timm and torchvision, which takes a quarter of an hour"]
#[expect(clippy::print_stdout, reason = "the figures are for whoever runs it")]
fn arguments_are_found_for_most_of_a_fixed_sample() {
    let playground = Playground::new();
    playground.mine(&["run", "--corpus", "quickstart", "--level", "parity", "--quiet"]).succeeded();
    let manifest = playground.manifest("out");
    let passed = |level: &str| {
        let blocks = SAMPLE.lines().map(|block| manifest.get(block).unwrap_or_else(|| panic!("{block} is no block")));
        blocks.filter(|record| record["levels"][level] == "passed").count()
    };
    let (constructed, run_forward, equal) = (passed("construct"), passed("forward"), passed("parity"));
    let all = SAMPLE.lines().count();
    println!("of {all}: {constructed} constructed, {run_forward} run forward, {equal} as upstream");
    assert_eq!(all, 300);
    assert!(constructed >= CONSTRUCTED, "{constructed} constructed");
    assert!(run_forward >= RUN_FORWARD, "{run_forward} run forward");
}
