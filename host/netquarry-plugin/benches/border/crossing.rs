//! What crosses the border, by guests that do nothing with it: a call of the host, a batch of classes, a block.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use netquarry_core::dedup::{BlockSet, BlockSummary, Code};
use netquarry_core::fingerprint::archive::Forgetful;
use netquarry_core::fingerprint::blocks::CodeBlocks;
use netquarry_core::fingerprint::shelf::InMemory;
use netquarry_plugin::{AskedBlock, Kind, Plugin};
use serde_json::{Value, json};

use self::guest::Guest;
use super::{Material, host, least, native};

#[path = "../../tests/plugins/guest.rs"]
mod guest;

/// So often a strategy asks the host for the length of its set.
const CALLS: u32 = 1_000_000;

/// Prints what each crossing takes, and which part that is of the stages of the run that made the library.
pub(crate) fn report(material: &Material, library: Option<&Path>) {
    println!("\n{:<24} {:>8} {:>12} {:>12} {:>12}", "crossing", "items", "all", "each", "as JSON");
    host_calls();
    let classes = classes(material);
    let blocks = blocks(material);
    let Some(stages) = library.and_then(stages) else { return };
    for (stage, crossing) in [("discover", classes), ("emit", blocks)] {
        if let Some(seconds) = seconds_of(&stages, stage) {
            println!("{:.1}% of the {:.0} ms of `{stage}`", 1e2 * crossing / seconds, 1e3 * seconds);
        }
    }
}

/// The least call there is, from a guest and back to it.
fn host_calls() {
    let asking = format!(
        "(local.set $i (i32.const {CALLS}))
         (loop $again
            (drop (call $len (local.get $set)))
            (br_if $again (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))
         (call $release) (i32.const 3000)"
    );
    let [asks, idle] = [asking.as_str(), "(call $release) (i32.const 3000)"].map(|body| {
        let strategy = plugin(Kind::DedupStrategy, &Guest::at_items(body)).dedup_strategy(&json!({}));
        let strategy = strategy.expect("it accepts an empty configuration");
        let set = set_of_three();
        strategy.run(&set).expect("it answers");
        least(|| drop(strategy.run(&set)))
    });
    row("a call of the host", CALLS as usize, asks - idle, None);
}

/// In batches, as the stage `discover` has them.
fn classes(material: &Material) -> f64 {
    let rule = plugin(Kind::DiscoveryRule, &Guest::default()).discovery_rule(&json!({}));
    let rule = rule.expect("it accepts an empty configuration");
    let bytes: usize = material.classes.iter().map(|class| json_bytes(&json!(native::class(class)))).sum();
    let seconds = least(|| drop(rule.discover(&material.classes)));
    row("classes in batches", material.classes.len(), seconds, Some(bytes));
    seconds
}

/// One by one, with their bundles, as the stage `emit` has them.
fn blocks(material: &Material) -> f64 {
    let emitter = plugin(Kind::SpecEmitter, &Guest::default()).spec_emitter(&json!({}));
    let emitter = emitter.expect("it accepts an empty configuration");
    let blocks = material.emitted().map(|(record, code)| native::block(record, code));
    let bytes: usize = blocks.map(|block| json_bytes(&json!(block))).sum();
    let converting = least(|| material.asked().for_each(drop)) - least(|| material.parts().for_each(drop));
    let asked: Vec<AskedBlock> = material.asked().collect();
    let seconds = converting + least(|| asked.iter().for_each(|block| drop(emitter.ask(block))));
    row("blocks", material.records.len(), seconds, Some(bytes));
    seconds
}

fn row(crossing: &str, items: usize, seconds: f64, bytes: Option<usize>) {
    let each = 1e6 * seconds / items as f64;
    let rate = bytes.map(|bytes| format!("{:.0} MB/s", bytes as f64 / 1e6 / seconds)).unwrap_or_default();
    println!("{crossing:<24} {items:>8} {:>9.2} ms {each:>9.2} us {rate:>12}", 1e3 * seconds);
}

fn json_bytes(value: &Value) -> usize {
    value.to_string().len()
}

fn plugin(kind: Kind, guest: &Guest) -> Plugin {
    host().load(&guest.built(kind)).expect("it behaves")
}

fn set_of_three() -> Arc<dyn BlockSet> {
    let block = |number: u64| {
        let summary = BlockSummary { id: number.to_string(), ..BlockSummary::default() };
        (summary, Code::from(Arc::from("")))
    };
    Arc::new(CodeBlocks::new((0..3).map(block), Arc::new(InMemory::default()), Arc::new(Forgetful)))
}

/// What the run that made a library says of its stages.
fn stages(library: &Path) -> Option<Value> {
    let record: Value = serde_json::from_str(&fs::read_to_string(library.join("run.json")).ok()?).ok()?;
    Some(record["course"]["stages"].clone())
}

/// Processor time.
fn seconds_of(stages: &Value, stage: &str) -> Option<f64> {
    let found = stages.as_array()?.iter().find(|found| found["stage"] == stage)?;
    found["cpu_seconds"].as_f64()
}
