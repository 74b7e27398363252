//! Stage 7, first half: which of the promoted blocks stand for others.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use netquarry_core::dedup::{BlockSet, BlockSummary, Code, Decisions, Removal, Restoration};
use netquarry_core::fingerprint::archive::Archive;
use netquarry_core::fingerprint::blocks::CodeBlocks;
use netquarry_core::record::{DedupDecision, DedupOutcome};
use netquarry_plugin::{CallError, DedupStrategy, PluginIdentity};
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::console::Console;
use crate::course::{Stage, StageCourse, Stopwatch};
use crate::problem::Problem;
use crate::quantity::{human_count, human_seconds, human_things};
use crate::spool::Spool;

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

/// Blocks that need not be in memory.
pub trait Contenders: Sync {
    fn count(&self) -> usize;

    fn contender(&self, place: usize) -> Contender;
}

impl Contenders for [Contender] {
    fn count(&self) -> usize {
        self.len()
    }

    fn contender(&self, place: usize) -> Contender {
        self[place].clone()
    }
}

/// What kernels work with.
pub struct Kernels<'a> {
    /// Its threads have stacks of [`netquarry_core::syntax::PARSER_STACK_BYTES`].
    pub pool: &'a rayon::ThreadPool,
    /// For what they compute.
    pub spool: &'a Arc<Spool>,
    /// What they need not compute.
    pub archive: Arc<dyn Archive>,
}

/// What came out of the stage.
pub struct Curated {
    /// The contenders by their places, with what was computed for the strategies.
    pub blocks: Arc<CodeBlocks>,
    decided: Decided,
    /// The strategies that failed.
    pub failed: Vec<PluginIdentity>,
    pub course: StageCourse,
}

/// What the strategies have decided so far, by the places of the contenders.
#[derive(Clone, Default)]
struct Decided {
    removed: HashMap<usize, Removed>,
    restored: HashMap<usize, Restored>,
    /// The places of those that were brought back.
    order: Vec<usize>,
}

/// What a strategy had against a contender.
#[derive(Clone)]
pub struct Removed {
    /// Its place. It may have been removed itself by a later strategy.
    pub survivor: usize,
    pub reason: String,
    pub similarity: Option<f64>,
    plugin: Arc<str>,
}

#[derive(Clone)]
struct Restored {
    reason: String,
    plugin: Arc<str>,
    /// Why it had been removed.
    removed: Removed,
}

impl Curated {
    /// What became of the contender at a place.
    pub fn decision(&self, place: usize) -> DedupDecision {
        self.decided.decision(place, |place| self.identity(place))
    }

    /// What became of every contender, by its identity.
    pub fn decisions(&self) -> BTreeMap<String, DedupDecision> {
        (0..self.blocks.total() as usize).map(|place| (self.identity(place), self.decision(place))).collect()
    }

    /// The identity of the contender at a place.
    pub fn identity(&self, place: usize) -> String {
        self.blocks.summary(u32::try_from(place).expect("blocks are numbered with 32 bits")).id
    }

    /// The places of those that stay: as they came, and behind them those that were brought back, in that order.
    pub fn kept(&self) -> Vec<usize> {
        let Decided { removed, restored, .. } = &self.decided;
        let stays = |place: &usize| !removed.contains_key(place) && !restored.contains_key(place);
        (0..self.blocks.total() as usize).filter(stays).chain(self.restored().iter().copied()).collect()
    }

    /// The places of those that were brought back, in that order.
    pub fn restored(&self) -> &[usize] {
        &self.decided.order
    }

    /// The places of those that do not stay, ascending.
    pub fn duplicates(&self) -> impl Iterator<Item = usize> {
        let removed = &self.decided.removed;
        (0..self.blocks.total() as usize).filter(move |place| removed.contains_key(place))
    }

    /// The places of those that were removed, even if they were brought back later; in no order.
    pub fn removed(&self) -> impl Iterator<Item = (usize, &Removed)> {
        let Decided { removed, restored, .. } = &self.decided;
        let restored = restored.iter().map(|(place, restored)| (*place, &restored.removed));
        removed.iter().map(|(place, removed)| (*place, removed)).chain(restored)
    }
}

/// Asks the strategies one after the other; each sees what the ones before it have kept, and behind that what they have
/// removed. One that fails decides nothing.
pub fn curate(
    kernels: &Kernels<'_>,
    console: &Console,
    strategies: &[DedupStrategy],
    contenders: &(impl Contenders + ?Sized),
) -> Curated {
    let watch = Stopwatch::start(Stage::Curate);
    let mut contest = Contest::new(kernels, contenders);
    let mut failed = Vec::new();
    for strategy in strategies {
        if let Err(error) = contest.ask(kernels.pool, strategy) {
            console.warn(&Problem::from(&error));
            failed.push(strategy.plugin().clone());
        }
    }
    let Contest { blocks, decided } = contest;
    let elapsed = human_seconds(watch.elapsed().as_secs_f64());
    let known = blocks.known();
    let from_earlier = match known {
        0 => String::new(),
        known => format!("; {} of them known from earlier", human_count(known)),
    };
    let what = format!(
        "{} among {} in {elapsed}{from_earlier}",
        human_things(decided.removed.len(), "duplicate"),
        human_things(contenders.count(), "block"),
    );
    console.status("Found", &what);
    let course = watch.stop("block", contenders.count(), known);
    Curated { blocks, decided, failed, course }
}

/// Contenders, and what strategies have decided about them so far. Copies go separate ways and share what is computed.
#[derive(Clone)]
pub struct Contest {
    blocks: Arc<CodeBlocks>,
    decided: Decided,
}

impl Contest {
    pub fn new(kernels: &Kernels<'_>, contenders: &(impl Contenders + ?Sized)) -> Self {
        Self { blocks: Arc::new(blocks_of(kernels, contenders)), decided: Decided::default() }
    }

    /// # Errors
    /// The strategy failed, and nothing has changed.
    pub fn ask(&mut self, pool: &rayon::ThreadPool, strategy: &DedupStrategy) -> Result<(), CallError> {
        let removed = &self.decided.removed;
        let is_left = |place: usize| !removed.contains_key(&place);
        // Numbered as the strategy sees them, with all that was computed for the ones before it.
        let all = 0..self.blocks.total() as usize;
        let (mut places, gone): (Vec<usize>, Vec<usize>) = all.partition(|place| is_left(*place));
        places.extend(gone);
        let blocks: Arc<dyn BlockSet> = Arc::new(self.blocks.with_left(|number| is_left(number as usize)));
        let decisions = pool.install(|| strategy.run(&blocks))?;
        let plugin = format!("{} {}", strategy.plugin().name, strategy.plugin().version);
        self.decided.take(&plugin, &places, decisions);
        Ok(())
    }

    /// How many contenders are left.
    pub fn left(&self) -> usize {
        self.blocks.total() as usize - self.decided.removed.len()
    }
}

/// So many contenders are looked at together.
const CHUNK: usize = 4096;

/// The contenders as kernels see them, by their places.
pub fn blocks_of(kernels: &Kernels<'_>, contenders: &(impl Contenders + ?Sized)) -> CodeBlocks {
    let count = contenders.count();
    let block = |place: usize| summarised(contenders.contender(place));
    let chunk = |start: usize| -> Vec<(BlockSummary, Code)> {
        kernels.pool.install(|| (start..count.min(start + CHUNK)).into_par_iter().map(block).collect())
    };
    let blocks = (0..count).step_by(CHUNK).flat_map(chunk);
    CodeBlocks::new(blocks, Arc::<Spool>::clone(kernels.spool), Arc::clone(&kernels.archive))
}

impl Decided {
    /// `places` are those of the blocks by the numbers that the strategy knows them under.
    fn take(&mut self, plugin: &str, places: &[usize], decisions: Decisions) {
        let plugin: Arc<str> = plugin.into();
        for Removal { block, survivor, reason, similarity } in decisions.removals {
            let removed =
                Removed { survivor: places[survivor as usize], reason, similarity, plugin: Arc::clone(&plugin) };
            let place = places[block as usize];
            self.removed.insert(place, removed);
            if self.restored.remove(&place).is_some() {
                self.order.retain(|restored| *restored != place);
            }
        }
        for Restoration { block, reason } in decisions.restorations {
            let place = places[block as usize];
            if let Some(removed) = self.removed.remove(&place) {
                self.restored.insert(place, Restored { reason, plugin: Arc::clone(&plugin), removed });
                self.order.push(place);
            }
        }
    }

    /// With the survivor that is in the library: the one that a block lost to may have lost to another one later.
    fn decision(&self, place: usize, identity: impl Fn(usize) -> String) -> DedupDecision {
        let Some(Removed { survivor, reason, similarity, plugin }) = self.removed.get(&place) else {
            let restored = self.restored.get(&place);
            return DedupDecision {
                decision: DedupOutcome::Kept,
                reason: restored.map(|restored| restored.reason.clone()),
                survivor: None,
                like: None,
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
            survivor: Some(identity(last)),
            like: (last != *survivor).then(|| identity(*survivor)),
            similarity: *similarity,
            plugin: Some(plugin.to_string()),
        }
    }
}

fn summarised(contender: Contender) -> (BlockSummary, Code) {
    let Contender { block, name, source, priority, level, accuracy, code } = contender;
    let text = code.read();
    let summary = BlockSummary {
        id: block,
        name,
        source,
        // A corpus counts from the most urgent one, strategies prefer the greatest.
        priority: -i32::try_from(priority).unwrap_or(i32::MAX),
        level,
        accuracy,
        characters: text.chars().count() as u64,
        sha256: Sha256::digest(text.as_bytes()).into(),
    };
    (summary, code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(place: usize) -> String {
        ["a", "b", "c"][place].to_owned()
    }

    fn removal(block: u32, survivor: u32) -> Decisions {
        let removal = Removal { block, survivor, reason: "exact".to_owned(), similarity: Some(1.0) };
        Decisions { removals: vec![removal], restorations: Vec::new() }
    }

    #[test]
    fn the_survivor_that_is_named_is_in_the_library() {
        let mut decided = Decided::default();
        decided.take("one 1.0", &[0, 1, 2], removal(0, 1));
        // What is left is numbered anew.
        decided.take("two 1.0", &[1, 2, 0], removal(0, 1));
        let decisions = [0, 1, 2].map(|place| decided.decision(place, identity));
        let survivors = decisions.each_ref().map(|decision| decision.survivor.as_deref());
        assert_eq!(survivors, [Some("c"), Some("c"), None]);
        // The reason and the similarity are those of the one that it was found to be like.
        assert_eq!(decisions.map(|decision| decision.like), [Some("b".to_owned()), None, None]);
    }

    #[test]
    fn what_is_restored_is_kept_and_survives_others() {
        let mut decided = Decided::default();
        decided.take("one 1.0", &[0, 1, 2], removal(0, 1));
        decided.take("one 1.0", &[1, 2, 0], removal(1, 0));
        let restorations = vec![Restoration { block: 1, reason: "rescue".to_owned() }];
        decided.take("two 1.0", &[1, 0, 2], Decisions { removals: Vec::new(), restorations });
        let decision = decided.decision(0, identity);
        assert_eq!((decision.decision, decision.reason.as_deref()), (DedupOutcome::Kept, Some("rescue")));
        assert_eq!(decision.plugin.as_deref(), Some("two 1.0"));
        assert_eq!(decided.decision(2, identity).survivor.as_deref(), Some("b"));
    }
}
