//! Stage 7, first half: which of the promoted blocks stand for others.

use std::collections::HashMap;
use std::sync::Arc;

use netquarry_core::dedup::{BlockSet, BlockSummary, Code, Decisions, Removal, Restoration};
use netquarry_core::fingerprint::blocks::CodeBlocks;
use netquarry_core::record::{DedupDecision, DedupOutcome};
use netquarry_plugin::DedupStrategy;
use rayon::prelude::*;
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
    pub accuracy: Option<f64>,
    /// Without the header of a bundle.
    pub code: Code,
}

/// What came out of the stage.
pub struct Curated {
    /// By block; every contender has one.
    pub decisions: HashMap<String, DedupDecision>,
    pub course: StageCourse,
}

/// What the strategies have decided so far, by the places of the contenders.
#[derive(Default)]
struct Decided {
    removed: HashMap<usize, Removed>,
    restored: HashMap<usize, Restored>,
}

struct Removed {
    survivor: usize,
    reason: String,
    similarity: Option<f64>,
    plugin: Arc<str>,
}

struct Restored {
    reason: String,
    plugin: Arc<str>,
}

/// Asks the strategies one after the other; each sees what the ones before it have kept, and behind that what they have
/// removed. One that fails decides nothing.
pub fn curate(
    pool: &rayon::ThreadPool,
    console: &Console,
    strategies: &[DedupStrategy],
    contenders: &[Contender],
) -> Curated {
    let watch = Stopwatch::start(Stage::Curate);
    let summaries: Vec<BlockSummary> = pool.install(|| contenders.par_iter().map(summary).collect());
    let all = CodeBlocks::new(summaries.into_iter().zip(contenders.iter().map(|block| block.code.clone())));
    let mut decided = Decided::default();
    for strategy in strategies {
        let is_left = |place: usize| !decided.removed.contains_key(&place);
        // Numbered as the strategy sees them, with all that was computed for the ones before it.
        let (mut places, removed): (Vec<usize>, Vec<usize>) = (0..contenders.len()).partition(|place| is_left(*place));
        places.extend(removed);
        let blocks: Arc<dyn BlockSet> = Arc::new(all.with_left(|number| is_left(number as usize)));
        match pool.install(|| strategy.run(&blocks)) {
            Ok(decisions) => {
                let plugin = format!("{} {}", strategy.plugin().name, strategy.plugin().version);
                decided.take(&plugin, &places, decisions);
            }
            Err(error) => console.warn(&Problem::from(&error)),
        }
    }
    let decisions =
        (0..).zip(contenders).map(|(place, block)| (block.block.clone(), decided.decision(place, contenders)));
    let decisions = decisions.collect();
    let elapsed = human_seconds(watch.elapsed().as_secs_f64());
    let what = format!(
        "{} among {} in {elapsed}",
        human_things(decided.removed.len(), "duplicate"),
        human_things(contenders.len(), "block")
    );
    console.status("Found", &what);
    Curated { decisions, course: watch.stop("block", contenders.len(), 0) }
}

impl Decided {
    /// `places` are those of the blocks by the numbers that the strategy knows them under.
    fn take(&mut self, plugin: &str, places: &[usize], decisions: Decisions) {
        let plugin: Arc<str> = plugin.into();
        for Removal { block, survivor, reason, similarity } in decisions.removals {
            let removed =
                Removed { survivor: places[survivor as usize], reason, similarity, plugin: Arc::clone(&plugin) };
            self.removed.insert(places[block as usize], removed);
        }
        for Restoration { block, reason } in decisions.restorations {
            let place = places[block as usize];
            self.removed.remove(&place);
            self.restored.insert(place, Restored { reason, plugin: Arc::clone(&plugin) });
        }
    }

    /// With the survivor that is in the library: the one that a block lost to may have lost to another one later.
    fn decision(&self, place: usize, contenders: &[Contender]) -> DedupDecision {
        let Some(Removed { survivor, reason, similarity, plugin }) = self.removed.get(&place) else {
            let restored = self.restored.get(&place);
            return DedupDecision {
                decision: DedupOutcome::Kept,
                reason: restored.map(|restored| restored.reason.clone()),
                survivor: None,
                similarity: None,
                plugin: restored.map(|restored| restored.plugin.to_string()),
            };
        };
        let mut last = *survivor;
        while let Some(next) = self.removed.get(&last) {
            last = next.survivor;
        }
        DedupDecision {
            decision: DedupOutcome::Removed,
            reason: Some(reason.clone()),
            survivor: Some(contenders[last].block.clone()),
            similarity: *similarity,
            plugin: Some(plugin.to_string()),
        }
    }
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
        accuracy: block.accuracy,
        characters: code.chars().count() as u64,
        sha256: Sha256::digest(code.as_bytes()).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contender(name: &str) -> Contender {
        let code = Code::from(Arc::from(""));
        Contender {
            block: name.into(),
            name: name.into(),
            source: String::new(),
            priority: 1,
            level: 3,
            accuracy: None,
            code,
        }
    }

    fn removal(block: u32, survivor: u32) -> Decisions {
        let removal = Removal { block, survivor, reason: "exact".to_owned(), similarity: Some(1.0) };
        Decisions { removals: vec![removal], restorations: Vec::new() }
    }

    #[test]
    fn the_survivor_that_is_named_is_in_the_library() {
        let contenders = ["a", "b", "c"].map(contender);
        let mut decided = Decided::default();
        decided.take("one 1.0", &[0, 1, 2], removal(0, 1));
        // What is left is numbered anew.
        decided.take("two 1.0", &[1, 2, 0], removal(0, 1));
        let survivor = |place| decided.decision(place, &contenders).survivor;
        assert_eq!([0, 1, 2].map(survivor), [Some("c".to_owned()), Some("c".to_owned()), None]);
    }

    #[test]
    fn what_is_restored_is_kept_and_survives_others() {
        let contenders = ["a", "b", "c"].map(contender);
        let mut decided = Decided::default();
        decided.take("one 1.0", &[0, 1, 2], removal(0, 1));
        decided.take("one 1.0", &[1, 2, 0], removal(1, 0));
        let restorations = vec![Restoration { block: 1, reason: "rescue".to_owned() }];
        decided.take("two 1.0", &[1, 0, 2], Decisions { removals: Vec::new(), restorations });
        let decision = decided.decision(0, &contenders);
        assert_eq!((decision.decision, decision.reason.as_deref()), (DedupOutcome::Kept, Some("rescue")));
        assert_eq!(decision.plugin.as_deref(), Some("two 1.0"));
        assert_eq!(decided.decision(2, &contenders).survivor.as_deref(), Some("b"));
    }
}
