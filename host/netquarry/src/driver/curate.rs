//! Stage 7, first half: which of the promoted blocks stand for others.

use std::collections::HashMap;
use std::sync::Arc;

use netquarry_core::dedup::{BlockSet, BlockSummary, Code};
use netquarry_core::fingerprint::blocks::CodeBlocks;
use netquarry_core::record::{DedupDecision, DedupOutcome};
use netquarry_plugin::DedupStrategy;
use sha2::{Digest, Sha256};

use crate::console::Console;
use crate::course::{Stage, StageCourse, Stopwatch};
use crate::problem::Problem;
use crate::quantity::{human_seconds, human_things};

/// A block as strategies see it.
#[derive(Clone, Debug)]
pub struct Contender {
    pub block: String,
    pub name: String,
    pub source: String,
    /// Of the source in the corpus: 1 comes first.
    pub priority: u32,
    pub level: u8,
    /// Without the header of a bundle.
    pub code: Code,
}

/// What came out of the stage.
pub struct Curated {
    /// By block; every contender has one.
    pub decisions: HashMap<String, DedupDecision>,
    pub course: StageCourse,
}

/// Asks the strategies one after the other; each sees what the ones before it have kept. One that fails removes nothing.
pub fn curate(
    pool: &rayon::ThreadPool,
    console: &Console,
    strategies: &[DedupStrategy],
    contenders: &[Contender],
) -> Curated {
    let watch = Stopwatch::start(Stage::Curate);
    let mut alive: Vec<&Contender> = contenders.iter().collect();
    let mut blocks = Arc::new(CodeBlocks::new(alive.iter().map(|block| (summary(block), block.code.clone()))));
    let mut removed: HashMap<String, DedupDecision> = HashMap::new();
    for strategy in strategies {
        let shown: Arc<dyn BlockSet> = blocks.clone();
        let removals = match pool.install(|| strategy.run(&shown)) {
            Ok(removals) => removals,
            Err(error) => {
                console.warn(&Problem::from(&error));
                continue;
            }
        };
        let plugin = format!("{} {}", strategy.plugin().name, strategy.plugin().version);
        for removal in &removals {
            let decision = DedupDecision {
                decision: DedupOutcome::Removed,
                reason: Some(removal.reason.clone()),
                survivor: Some(alive[removal.survivor as usize].block.clone()),
                similarity: removal.similarity,
                plugin: Some(plugin.clone()),
            };
            removed.insert(alive[removal.block as usize].block.clone(), decision);
        }
        // The next strategy sees what is left, with all that was computed about it.
        let gone = |number: u32| removed.contains_key(&alive[number as usize].block);
        blocks = Arc::new(blocks.filtered(|number| !gone(number)));
        alive.retain(|block| !removed.contains_key(&block.block));
    }
    let decisions = contenders.iter().map(|block| (block.block.clone(), decision(&block.block, &removed))).collect();
    let elapsed = human_seconds(watch.elapsed().as_secs_f64());
    let what = format!(
        "{} among {} in {elapsed}",
        human_things(removed.len(), "duplicate"),
        human_things(contenders.len(), "block")
    );
    console.status("Found", &what);
    Curated { decisions, course: watch.stop("block", contenders.len(), 0) }
}

/// The decision on `block`, with the survivor that is in the library: the one that it lost to may have lost to another
/// one later.
fn decision(block: &str, removed: &HashMap<String, DedupDecision>) -> DedupDecision {
    let Some(decision) = removed.get(block) else {
        return DedupDecision {
            decision: DedupOutcome::Kept,
            reason: None,
            survivor: None,
            similarity: None,
            plugin: None,
        };
    };
    let mut survivor = decision.survivor.as_ref();
    while let Some(next) = survivor.and_then(|name| removed.get(name)) {
        survivor = next.survivor.as_ref();
    }
    DedupDecision { survivor: survivor.cloned(), ..decision.clone() }
}

fn summary(block: &Contender) -> BlockSummary {
    let code = block.code.read();
    BlockSummary {
        id: block.block.clone(),
        name: block.name.clone(),
        source: block.source.clone(),
        // A corpus counts from the most urgent one, strategies prefer the greatest.
        priority: -i32::try_from(block.priority).unwrap_or(i32::MAX),
        level: block.level,
        accuracy: None,
        characters: code.chars().count() as u64,
        sha256: Sha256::digest(code.as_bytes()).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost_to(survivor: &str) -> DedupDecision {
        DedupDecision {
            decision: DedupOutcome::Removed,
            reason: Some("exact".to_owned()),
            survivor: Some(survivor.to_owned()),
            similarity: Some(1.0),
            plugin: None,
        }
    }

    #[test]
    fn the_survivor_that_is_named_is_in_the_library() {
        let removed = HashMap::from([("a".to_owned(), lost_to("b")), ("b".to_owned(), lost_to("c"))]);
        assert_eq!(decision("a", &removed).survivor.as_deref(), Some("c"));
        assert_eq!(decision("b", &removed).survivor.as_deref(), Some("c"));
        assert_eq!(decision("c", &removed).decision, DedupOutcome::Kept);
    }
}
