//! Calls of deduplication strategies, and the blocks as they see them.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use netquarry_core::dedup::{
    Banding, BlockSet, BlockSummary, Criterion, Decisions, Follower, Hashing, KernelError, Removal, Restoration,
    Shingling, SimilarPair, SimilarStructures, Structure,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use wasmtime::Store;
use wasmtime::component::Resource;

use crate::bindings::base::netquarry::plugin::types::Refusal;
use crate::bindings::dedup_strategy::netquarry::plugin::blocks;
use crate::bindings::dedup_strategy::{DedupStrategy as Instance, DedupStrategyPre};
use crate::cache::hexadecimal;
use crate::call::{State, Task};
use crate::error::{CallError, Misuse, PluginIdentity};
use crate::kept::{CallOutcome, KeptCall, KeptError};
use crate::plugin::{Call, ConfiguredCaller, Keepsake, accepted};
use crate::tape::Tape;

/// A deduplication strategy with its configuration.
#[derive(Clone)]
pub struct DedupStrategy {
    caller: ConfiguredCaller,
    options: Map<String, Value>,
    instances: DedupStrategyPre<State>,
}

/// The blocks behind the resource `block-set`.
#[expect(unreachable_pub, reason = "the generated bindings export it from their own module")]
pub struct BlockSetHandle(
    /// None where everything that is asked has been asked before, and the tape has the answers.
    Option<Arc<dyn BlockSet>>,
);

/// So many structure indexes a call may hold: they are in the host's memory.
const MOST_STRUCTURE_INDEXES: usize = 4;

/// What is behind the resource `structure-index`.
#[expect(unreachable_pub, reason = "the generated bindings export it from their own module")]
pub struct StructureIndexHandle {
    /// By which the tape knows it: equal ones have the same.
    name: String,
    /// None where the tape has the answers.
    index: Option<Arc<dyn SimilarStructures>>,
    /// How many structures are in it.
    members: usize,
}

/// So many pairs and no more are looked for in one call of `similar`: they are in the host's memory, and a plugin asks again.
const MOST_SIMILAR_PAIRS: u32 = 1 << 20;

impl DedupStrategy {
    pub(crate) fn new(
        caller: ConfiguredCaller,
        options: Map<String, Value>,
        instances: DedupStrategyPre<State>,
    ) -> Self {
        Self { caller, options, instances }
    }

    /// What it was configured with, and the defaults of the rest.
    pub fn options(&self) -> &Map<String, Value> {
        &self.options
    }

    pub fn plugin(&self) -> &PluginIdentity {
        self.caller.plugin()
    }

    /// Which blocks go, sorted, and which come back, in that order; the survivor of one that goes stays.
    ///
    /// # Errors
    ///
    /// Where the call fails, or the answer names blocks that do not exist, a block twice, a survivor that goes too, or
    /// brings back what is there. Nothing is then decided.
    pub fn run(&self, blocks: &Arc<dyn BlockSet>) -> Result<Decisions, CallError> {
        let item = format!("{} blocks", blocks.len());
        let call = Call {
            task: Task { stage: DEDUPLICATE, item: &item, source: "" },
            world: &self.instances,
            ask: &|instance: &Instance, store| {
                accepted(deduplicate(instance, store, BlockSetHandle(Some(Arc::clone(blocks)))), |answer| {
                    decisions(blocks.len(), blocks.total(), answer)
                })
            },
        };
        let arguments = &|| vec![json!({"len": blocks.len(), "total": blocks.total()})];
        let keepsake = Keepsake { function: "deduplicate", arguments, blocks: blocks.total() };
        self.caller.for_blocks(blocks.total()).call_or_keep(&call, &keepsake)
    }

    pub(crate) fn replay(&self, kept: &KeptCall, answers: Tape) -> Result<CallOutcome, KeptError> {
        let Numbers { len, total } = kept.argument()?;
        let call = Call {
            task: Task { stage: DEDUPLICATE, item: &kept.item, source: "" },
            world: &self.instances,
            ask: &|instance: &Instance, store| {
                accepted(deduplicate(instance, store, BlockSetHandle(None)), |answer| {
                    let told = json!(answer);
                    decisions(len, total, answer).map(|_| told)
                })
            },
        };
        Ok(self.caller.for_blocks(kept.blocks).replay(&call, answers))
    }
}

const DEDUPLICATE: &str = "deduplicate";

/// How many blocks a strategy was asked about.
#[derive(Deserialize)]
struct Numbers {
    len: u32,
    total: u32,
}

/// Asks an instance, for which the blocks are there as long as the call lasts.
fn deduplicate(
    instance: &Instance,
    store: &mut Store<State>,
    blocks: BlockSetHandle,
) -> wasmtime::Result<Result<blocks::Decisions, Refusal>> {
    let handle = store.data_mut().resources.push(blocks)?;
    let borrow = Resource::new_borrow(handle.rep());
    instance.call_deduplicate(store, borrow)
}

fn decisions(len: u32, total: u32, answer: blocks::Decisions) -> Result<Decisions, String> {
    let removals = removals(len, answer.removals)?;
    Ok(Decisions { removals, restorations: restorations(len..total, answer.restorations)? })
}

fn restorations(removed: Range<u32>, answer: Vec<blocks::Restoration>) -> Result<Vec<Restoration>, String> {
    if let Some(other) = answer.iter().find(|restoration| !removed.contains(&restoration.block)) {
        let Range { start, end } = removed;
        let reason = match end.checked_sub(start) {
            None | Some(0) => "nothing was removed".to_owned(),
            Some(_) => format!("those that were removed are {start} to {}", end - 1),
        };
        return Err(format!("it restores block {}, and {reason}", other.block));
    }
    let mut seen = BTreeSet::new();
    if let Some(twice) = answer.iter().find(|restoration| !seen.insert(restoration.block)) {
        return Err(format!("it restores block {} twice", twice.block));
    }
    let converted = |blocks::Restoration { block, reason }| Restoration { block, reason };
    Ok(answer.into_iter().map(converted).collect())
}

fn removals(count: u32, answer: Vec<blocks::Removal>) -> Result<Vec<Removal>, String> {
    let mut goes = vec![false; usize::try_from(count).expect("addresses have at least 32 bits")];
    for removal in &answer {
        let slot = usize::try_from(removal.block).ok().and_then(|block| goes.get_mut(block));
        let slot =
            slot.ok_or_else(|| format!("it removes block {}, and there is no such one among {count}", removal.block))?;
        if std::mem::replace(slot, true) {
            return Err(format!("it removes block {} twice", removal.block));
        }
    }
    for removal in &answer {
        match usize::try_from(removal.survivor).ok().and_then(|survivor| goes.get(survivor)) {
            Some(false) => {}
            Some(true) => {
                return Err(format!("block {}, the survivor of {}, goes too", removal.survivor, removal.block));
            }
            None => {
                return Err(format!("it keeps block {}, and there is no such one among {count}", removal.survivor));
            }
        }
        if removal.similarity.is_some_and(|similarity| !(0.0..=1.0).contains(&similarity)) {
            return Err(format!("the similarity of block {} is not between 0 and 1", removal.block));
        }
    }
    let converted = |removal: blocks::Removal| {
        let blocks::Removal { block, survivor, reason, similarity } = removal;
        Removal { block, survivor, reason, similarity }
    };
    let mut removals: Vec<Removal> = answer.into_iter().map(converted).collect();
    removals.sort_by_key(|removal| removal.block);
    Ok(removals)
}

/// Kernels say in words what they do not offer; a number out of range is a mistake in the plugin, and traps.
type Kernel<T> = wasmtime::Result<Result<T, String>>;

impl State {
    /// Answers a question about the blocks.
    fn of_blocks<A: Serialize, R: Serialize + DeserializeOwned>(
        &self,
        handle: &Resource<BlockSetHandle>,
        function: &'static str,
        arguments: A,
        answer: impl FnOnce(&dyn BlockSet) -> wasmtime::Result<R>,
    ) -> wasmtime::Result<R> {
        let BlockSetHandle(blocks) = self.resources.get(handle)?;
        self.host_call(function, arguments, || answer(&**blocks.as_ref().ok_or_else(replayed)?))
    }
}

/// A replayed call has come to where an answer of the host is wanted that it has not kept.
fn replayed() -> wasmtime::Error {
    misuse("there are no blocks behind a replayed call".to_owned())
}

/// Refuses members that are not ascending, or are no blocks.
fn check_members(members: &[u32], blocks: &dyn BlockSet) -> wasmtime::Result<()> {
    if let Some(last) = members.last() {
        check_block(*last, blocks.total())?;
    }
    match members.windows(2).find(|pair| pair[0] >= pair[1]) {
        Some(pair) => Err(misuse(format!("members are not ascending: {} stands before {}", pair[0], pair[1]))),
        None => Ok(()),
    }
}

/// Refuses an order in which a block comes twice.
fn check_order(order: &[u32], count: u32) -> wasmtime::Result<()> {
    let mut seen = vec![false; count as usize];
    order.iter().try_for_each(|block| {
        check_block(*block, count)?;
        let is_new = !std::mem::replace(&mut seen[*block as usize], true);
        is_new.then_some(()).ok_or_else(|| misuse(format!("block {block} comes twice in an order")))
    })
}

fn check_block(block: u32, count: u32) -> wasmtime::Result<()> {
    if block < count { Ok(()) } else { Err(misuse(format!("there is no block {block} among {count}"))) }
}

/// Refuses a list that names some block more than once for its mere length: what it asks for is bounded by the blocks.
fn check_count(asked: usize, count: usize) -> wasmtime::Result<()> {
    if asked <= count { Ok(()) } else { Err(misuse(format!("it names {asked} blocks, and {count} is the most"))) }
}

fn misuse(message: String) -> wasmtime::Error {
    wasmtime::Error::new(Misuse(message))
}

fn shingling(shingling: &blocks::Shingling) -> Result<Shingling, KernelError> {
    let normalisation = shingling.normalisation.parse()?;
    if shingling.width == 0 {
        return Err(KernelError::Width);
    }
    Ok(Shingling { normalisation, width: shingling.width })
}

fn hashing(hashing: &blocks::Hashing) -> Result<Hashing, KernelError> {
    Hashing { family: hashing.family.parse()?, permutations: hashing.permutations }.check()
}

fn banding(banding: &blocks::Banding) -> Result<Banding, KernelError> {
    let hashing = hashing(&banding.hashing)?;
    Banding { hashing, bands: banding.bands, rows: banding.rows }.check()
}

/// What the candidates among blocks are found with.
fn candidates(options: &blocks::Shingling, bands: &blocks::Banding) -> Result<(Shingling, Banding), KernelError> {
    let banding = banding(bands)?;
    Ok((shingling(options)?, banding))
}

fn criteria(options: &[blocks::Criterion]) -> Result<Vec<Criterion>, KernelError> {
    let criterion = |criterion: &blocks::Criterion| {
        Ok(Criterion { shingling: shingling(&criterion.shingling)?, similarity: criterion.similarity })
    };
    let criteria = options.iter().map(criterion).collect::<Result<Vec<_>, _>>()?;
    Criterion::check(&criteria)?;
    Ok(criteria)
}

/// Runs a kernel with checked options.
fn kernel<T>(result: Result<T, KernelError>) -> Kernel<T> {
    Ok(result.map_err(|error| error.to_string()))
}

impl blocks::Host for State {}

impl blocks::HostBlockSet for State {
    fn len(&mut self, handle: Resource<BlockSetHandle>) -> wasmtime::Result<u32> {
        self.of_blocks(&handle, "block-set.len", (), |blocks| Ok(blocks.len()))
    }

    fn total(&mut self, handle: Resource<BlockSetHandle>) -> wasmtime::Result<u32> {
        self.of_blocks(&handle, "block-set.total", (), |blocks| Ok(blocks.total()))
    }

    fn positions(&mut self, handle: Resource<BlockSetHandle>) -> wasmtime::Result<Vec<u32>> {
        self.of_blocks(&handle, "block-set.positions", (), |blocks| {
            Ok((0..blocks.total()).map(|block| blocks.position(block)).collect())
        })
    }

    fn summaries(
        &mut self,
        handle: Resource<BlockSetHandle>,
        start: u32,
        count: u32,
    ) -> wasmtime::Result<Vec<blocks::BlockSummary>> {
        self.of_blocks(&handle, "block-set.summaries", (start, count), |blocks| {
            let end = start.saturating_add(count).min(blocks.total());
            Ok((start..end).map(|block| blocks.summary(block).into()).collect())
        })
    }

    fn code(&mut self, handle: Resource<BlockSetHandle>, block: u32) -> wasmtime::Result<String> {
        self.of_blocks(&handle, "block-set.code", (block,), |blocks| {
            check_block(block, blocks.total())?;
            Ok(blocks.code(block))
        })
    }

    fn tokens(&mut self, handle: Resource<BlockSetHandle>, block: u32, normalisation: String) -> Kernel<Vec<String>> {
        self.of_blocks(&handle, "block-set.tokens", (block, &normalisation), |blocks| {
            check_block(block, blocks.total())?;
            kernel(normalisation.parse().map(|normalisation| blocks.tokens(block, normalisation)))
        })
    }

    fn shingle_count(
        &mut self,
        handle: Resource<BlockSetHandle>,
        block: u32,
        options: blocks::Shingling,
    ) -> Kernel<u32> {
        self.of_blocks(&handle, "block-set.shingle-count", (block, &options), |blocks| {
            check_block(block, blocks.total())?;
            kernel(shingling(&options).map(|options| blocks.shingle_count(block, options)))
        })
    }

    fn first_equals(
        &mut self,
        handle: Resource<BlockSetHandle>,
        members: Vec<u32>,
        options: blocks::Shingling,
    ) -> Kernel<Vec<u32>> {
        self.of_blocks(&handle, "block-set.first-equals", (&members, &options), |blocks| {
            check_members(&members, blocks)?;
            kernel(shingling(&options).map(|options| blocks.first_equals(&members, options)))
        })
    }

    fn signature(
        &mut self,
        handle: Resource<BlockSetHandle>,
        block: u32,
        options: blocks::Shingling,
        signing: blocks::Hashing,
    ) -> Kernel<Vec<u32>> {
        self.of_blocks(&handle, "block-set.signature", (block, &options, &signing), |blocks| {
            check_block(block, blocks.total())?;
            let options = hashing(&signing).and_then(|hashing| Ok((shingling(&options)?, hashing)));
            kernel(options.map(|(options, hashing)| blocks.signature(block, options, hashing)))
        })
    }

    fn candidate_pairs(
        &mut self,
        handle: Resource<BlockSetHandle>,
        members: Vec<u32>,
        options: blocks::Shingling,
        banding: blocks::Banding,
    ) -> Kernel<Vec<blocks::Pair>> {
        self.of_blocks(&handle, "block-set.candidate-pairs", (&members, &options, &banding), |blocks| {
            check_members(&members, blocks)?;
            let options = candidates(&options, &banding);
            let pairs = options.and_then(|(options, banding)| blocks.candidate_pairs(&members, options, banding));
            let pair = |(first, second)| blocks::Pair { first, second };
            kernel(pairs.map(|pairs| pairs.into_iter().map(pair).collect()))
        })
    }

    fn candidate_groups(
        &mut self,
        handle: Resource<BlockSetHandle>,
        members: Vec<u32>,
        options: blocks::Shingling,
        banding: blocks::Banding,
    ) -> Kernel<Vec<Vec<u32>>> {
        self.of_blocks(&handle, "block-set.candidate-groups", (&members, &options, &banding), |blocks| {
            check_members(&members, blocks)?;
            let options = candidates(&options, &banding);
            kernel(options.map(|(options, banding)| blocks.candidate_groups(&members, options, banding)))
        })
    }

    fn leaders(
        &mut self,
        handle: Resource<BlockSetHandle>,
        order: Vec<u32>,
        options: Vec<blocks::Criterion>,
        bands: blocks::Banding,
    ) -> Kernel<Vec<blocks::Follower>> {
        self.of_blocks(&handle, "block-set.leaders", (&order, &options, &bands), |blocks| {
            check_order(&order, blocks.total())?;
            let options = banding(&bands).and_then(|banding| Ok((criteria(&options)?, banding)));
            let followers = options.map(|(criteria, banding)| blocks.leaders(&order, &criteria, banding));
            kernel(followers.map(|followers| followers.into_iter().map(Into::into).collect()))
        })
    }

    fn similar_groups(
        &mut self,
        handle: Resource<BlockSetHandle>,
        members: Vec<u32>,
        options: Vec<blocks::Criterion>,
    ) -> Kernel<Vec<Vec<u32>>> {
        self.of_blocks(&handle, "block-set.similar-groups", (&members, &options), |blocks| {
            check_members(&members, blocks)?;
            kernel(criteria(&options).map(|criteria| blocks.similar_groups(&members, &criteria)))
        })
    }

    fn jaccard(
        &mut self,
        handle: Resource<BlockSetHandle>,
        block: u32,
        others: Vec<u32>,
        options: blocks::Shingling,
    ) -> Kernel<Vec<f64>> {
        self.of_blocks(&handle, "block-set.jaccard", (block, &others, &options), |blocks| {
            check_block(block, blocks.total())?;
            check_count(others.len(), blocks.total() as usize)?;
            others.iter().try_for_each(|other| check_block(*other, blocks.total()))?;
            kernel(shingling(&options).map(|options| blocks.jaccard(block, &others, options)))
        })
    }

    fn structure(&mut self, handle: Resource<BlockSetHandle>, block: u32) -> wasmtime::Result<blocks::Structure> {
        self.of_blocks(&handle, "block-set.structure", (block,), |blocks| {
            check_block(block, blocks.total())?;
            Ok(blocks.structure(block).into())
        })
    }

    fn structure_digests(
        &mut self,
        handle: Resource<BlockSetHandle>,
        members: Vec<u32>,
    ) -> wasmtime::Result<Vec<String>> {
        self.of_blocks(&handle, "block-set.structure-digests", (&members,), |blocks| {
            check_members(&members, blocks)?;
            Ok(blocks.structure_digests(&members).iter().map(|digest| hexadecimal(digest)).collect())
        })
    }

    fn structural_jaccard(
        &mut self,
        handle: Resource<BlockSetHandle>,
        block: u32,
        others: Vec<u32>,
    ) -> wasmtime::Result<Vec<f64>> {
        self.of_blocks(&handle, "block-set.structural-jaccard", (block, &others), |blocks| {
            check_block(block, blocks.total())?;
            check_count(others.len(), blocks.total() as usize)?;
            others.iter().try_for_each(|other| check_block(*other, blocks.total()))?;
            Ok(blocks.structural_jaccard(block, &others))
        })
    }

    /// What a tape has of it is the name of the index.
    fn structure_index(
        &mut self,
        handle: Resource<BlockSetHandle>,
        members: Vec<u32>,
        threshold: f64,
    ) -> wasmtime::Result<Resource<StructureIndexHandle>> {
        if self.structure_indexes == MOST_STRUCTURE_INDEXES {
            return Err(misuse(format!("it holds {MOST_STRUCTURE_INDEXES} structure indexes, and may have no more")));
        }
        let mut index: Option<Arc<dyn SimilarStructures>> = None;
        let name = self.of_blocks(&handle, "block-set.structure-index", (&members, threshold), |blocks| {
            check_members(&members, blocks)?;
            if !(0.0..=1.0).contains(&threshold) {
                return Err(misuse(KernelError::Similarity(threshold).to_string()));
            }
            index = Some(blocks.structure_index(&members, threshold).into());
            Ok(name_of(&members, threshold))
        })?;
        self.structure_indexes += 1;
        Ok(self.resources.push(StructureIndexHandle { name, index, members: members.len() })?)
    }

    fn drop(&mut self, handle: Resource<BlockSetHandle>) -> wasmtime::Result<()> {
        self.resources.delete(handle)?;
        Ok(())
    }
}

/// A name for what an index is made of.
fn name_of(members: &[u32], threshold: f64) -> String {
    let mut digest = Sha256::new();
    members.iter().for_each(|member| digest.update(member.to_le_bytes()));
    digest.update(threshold.to_le_bytes());
    hexadecimal(&digest.finalize()[..8])
}

impl blocks::HostStructureIndex for State {
    fn similar(
        &mut self,
        handle: Resource<StructureIndexHandle>,
        blocks: Vec<u32>,
        most: u32,
    ) -> wasmtime::Result<blocks::SimilarBlocks> {
        let StructureIndexHandle { name, index, members } = self.resources.get(&handle)?;
        self.host_call("structure-index.similar", (name, &blocks, most), || {
            let index = index.as_ref().ok_or_else(replayed)?;
            check_count(blocks.len(), *members)?;
            if let Some(stranger) = blocks.iter().find(|block| !index.contains(**block)) {
                return Err(misuse(format!("block {stranger} is not among those that the index was made of")));
            }
            let converted =
                |SimilarPair { first, second, similarity }| blocks::SimilarPair { first, second, similarity };
            let (pairs, looked_up) = index.similar(&blocks, most.min(MOST_SIMILAR_PAIRS) as usize);
            let looked_up = u32::try_from(looked_up).expect("no more than were asked for");
            Ok(blocks::SimilarBlocks { pairs: pairs.into_iter().map(converted).collect(), looked_up })
        })
    }

    fn drop(&mut self, handle: Resource<StructureIndexHandle>) -> wasmtime::Result<()> {
        self.resources.delete(handle)?;
        self.structure_indexes -= 1;
        Ok(())
    }
}

impl From<Follower> for blocks::Follower {
    fn from(follower: Follower) -> Self {
        let Follower { block, leader, similarity } = follower;
        Self { block, leader, similarity }
    }
}

impl From<BlockSummary> for blocks::BlockSummary {
    fn from(summary: BlockSummary) -> Self {
        let BlockSummary { id, name, source, priority, level, accuracy, characters, sha256 } = summary;
        Self { id, name, source, priority, level, accuracy, characters, sha256: hexadecimal(&sha256) }
    }
}

impl From<Structure> for blocks::Structure {
    fn from(structure: Structure) -> Self {
        let Structure { sha256, calls, call_counts, hyperparameters } = structure;
        Self { sha256: hexadecimal(&sha256), calls, call_counts, hyperparameters }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_block_comes_twice_in_an_order() {
        let refusal = |order: &[u32]| check_order(order, 3).err().map(|error| error.to_string());
        assert_eq!(refusal(&[2, 0, 1]), None);
        assert_eq!(refusal(&[]), None);
        assert_eq!(refusal(&[1, 0, 1]).as_deref(), Some("block 1 comes twice in an order"));
        assert_eq!(refusal(&[3]).as_deref(), Some("there is no block 3 among 3"));
    }
}
