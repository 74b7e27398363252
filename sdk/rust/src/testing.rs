//! Stand-ins for the host's side, for the native tests of a plugin.

use std::collections::{BTreeMap, BTreeSet};

use crate::Refusal;
use crate::dedup::{
    Banding, BlockSummary, Blocks, Criterion, Follower, Hashing, Pair, Shingling, SimilarBlocks, SimilarPair,
    SimilarStructures, Structure,
};

/// Blocks in memory, with kernels that are simple to foresee: tokens are what blanks separate, every pair of members is
/// a candidate, and the structure consists of the words that end in `(`.
#[derive(Clone, Debug, Default)]
pub struct MemoryBlocks {
    blocks: Vec<(BlockSummary, String)>,
    /// How many of the last ones were removed.
    removed: u32,
    /// Of those that have another than their number.
    positions: BTreeMap<u32, u32>,
}

impl MemoryBlocks {
    /// Adds a block and returns its summary, to be changed where a test wants it to. The digest is the code itself.
    pub fn add(&mut self, name: &str, code: &str) -> &mut BlockSummary {
        let summary = BlockSummary {
            id: format!("test:{name}"),
            name: name.to_owned(),
            source: "test".to_owned(),
            priority: 0,
            level: 3,
            accuracy: None,
            characters: u64::try_from(code.chars().count()).expect("lengths fit into 64 bits"),
            sha256: code.to_owned(),
        };
        self.blocks.push((summary, code.to_owned()));
        &mut self.blocks.last_mut().expect("one was added").0
    }

    /// Says that so many of the last ones were removed by earlier strategies.
    pub fn remove_last(&mut self, count: u32) {
        self.removed = count;
    }

    /// Says which number a block had before any strategy removed one; no two blocks may have had the same.
    pub fn move_to(&mut self, block: u32, position: u32) {
        self.positions.insert(block, position);
    }

    fn text(&self, block: u32) -> &str {
        &self.blocks[block as usize].1
    }

    fn shingles(&self, block: u32, width: u32) -> BTreeSet<Vec<&str>> {
        let tokens: Vec<&str> = self.text(block).split_whitespace().collect();
        let width = (width as usize).min(tokens.len()).max(1);
        tokens.windows(width).map(<[&str]>::to_vec).collect()
    }

    fn similarity(&self, first: u32, second: u32, shingling: &Shingling) -> f64 {
        let [first, second] = [first, second].map(|block| self.shingles(block, shingling.width));
        jaccard(&first, &second).unwrap_or(1.0)
    }

    fn are_alike(&self, first: u32, second: u32, criteria: &[Criterion]) -> bool {
        criteria.iter().all(|criterion| self.similarity(first, second, &criterion.shingling) >= criterion.similarity)
    }
}

fn jaccard<T: Ord>(first: &BTreeSet<T>, second: &BTreeSet<T>) -> Option<f64> {
    let union = first.union(second).count();
    (union > 0).then(|| first.intersection(second).count() as f64 / union as f64)
}

fn pairs(members: &[u32]) -> impl Iterator<Item = (u32, u32)> {
    members.iter().enumerate().flat_map(|(index, first)| members[index + 1..].iter().map(|second| (*first, *second)))
}

impl Blocks for MemoryBlocks {
    fn count(&self) -> u32 {
        self.total() - self.removed
    }

    fn total(&self) -> u32 {
        u32::try_from(self.blocks.len()).expect("a test has few blocks")
    }

    fn positions(&self) -> Vec<u32> {
        (0..self.total()).map(|block| self.positions.get(&block).copied().unwrap_or(block)).collect()
    }

    fn summaries(&self, start: u32, count: u32) -> Vec<BlockSummary> {
        self.blocks.iter().skip(start as usize).take(count as usize).map(|(summary, _)| summary.clone()).collect()
    }

    fn code(&self, block: u32) -> String {
        self.text(block).to_owned()
    }

    fn tokens(&self, block: u32, _: &str) -> Result<Vec<String>, Refusal> {
        Ok(self.text(block).split_whitespace().map(str::to_owned).collect())
    }

    fn shingle_count(&self, block: u32, shingling: &Shingling) -> Result<u32, Refusal> {
        Ok(u32::try_from(self.shingles(block, shingling.width).len()).expect("a test has few tokens"))
    }

    fn first_equals(&self, members: &[u32], shingling: &Shingling) -> Result<Vec<u32>, Refusal> {
        let shingles = |member: u32| self.shingles(member, shingling.width);
        let is_equal = |member: u32| move |other: &&u32| shingles(**other) == shingles(member);
        Ok(members.iter().filter_map(|member| members.iter().find(is_equal(*member)).copied()).collect())
    }

    fn signature(&self, _: u32, _: &Shingling, hashing: &Hashing) -> Result<Vec<u32>, Refusal> {
        Ok(vec![0; hashing.permutations as usize])
    }

    fn candidate_pairs(&self, members: &[u32], _: &Shingling, _: &Banding) -> Result<Vec<Pair>, Refusal> {
        Ok(pairs(members).map(|(first, second)| Pair { first, second }).collect())
    }

    fn candidate_groups(&self, members: &[u32], _: &Shingling, _: &Banding) -> Result<Vec<Vec<u32>>, Refusal> {
        Ok(if members.len() > 1 { vec![members.to_vec()] } else { Vec::new() })
    }

    fn leaders(&self, order: &[u32], criteria: &[Criterion], _: &Banding) -> Result<Vec<Follower>, Refusal> {
        let mut leaders: Vec<u32> = Vec::new();
        let mut followers = Vec::new();
        for block in order {
            match leaders.iter().find(|leader| self.are_alike(**leader, *block, criteria)) {
                Some(leader) => {
                    let similarity = self.similarity(*leader, *block, &criteria[0].shingling);
                    followers.push(Follower { block: *block, leader: *leader, similarity });
                }
                None => leaders.push(*block),
            }
        }
        Ok(followers)
    }

    fn similar_groups(&self, members: &[u32], criteria: &[Criterion]) -> Result<Vec<Vec<u32>>, Refusal> {
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for member in members {
            let is_near = |group: &Vec<u32>| group.iter().any(|other| self.are_alike(*other, *member, criteria));
            let (near, mut apart): (Vec<_>, Vec<_>) = groups.into_iter().partition(is_near);
            let mut group: Vec<u32> = near.into_iter().flatten().collect();
            group.push(*member);
            group.sort_unstable();
            apart.push(group);
            groups = apart;
        }
        groups.retain(|group| group.len() > 1);
        groups.sort_unstable();
        Ok(groups)
    }

    fn jaccard(&self, block: u32, others: &[u32], shingling: &Shingling) -> Result<Vec<f64>, Refusal> {
        Ok(others.iter().map(|other| self.similarity(block, *other, shingling)).collect())
    }

    fn structure(&self, block: u32) -> Structure {
        let calls: Vec<String> =
            self.text(block).split_whitespace().filter_map(|word| word.strip_suffix('(')).map(str::to_owned).collect();
        let mut counts: BTreeMap<&String, u32> = BTreeMap::new();
        for call in &calls {
            *counts.entry(call).or_default() += 1;
        }
        let call_counts = counts.into_iter().map(|(name, count)| (name.clone(), count)).collect();
        Structure { sha256: calls.join(" "), calls, call_counts, hyperparameters: Vec::new() }
    }

    fn structure_digests(&self, members: &[u32]) -> Vec<String> {
        members.iter().map(|member| self.structure(*member).sha256).collect()
    }

    fn structural_jaccard(&self, block: u32, others: &[u32]) -> Vec<f64> {
        let features = |block| -> BTreeSet<_> { self.structure(block).call_counts.into_iter().collect() };
        others.iter().map(|other| jaccard(&features(block), &features(*other)).unwrap_or(0.0)).collect()
    }

    fn structure_index<'a>(&'a self, members: &[u32], threshold: f64) -> Box<dyn SimilarStructures + 'a> {
        Box::new(MemoryStructures { blocks: self, members: members.to_vec(), threshold })
    }
}

struct MemoryStructures<'a> {
    blocks: &'a MemoryBlocks,
    members: Vec<u32>,
    threshold: f64,
}

impl SimilarStructures for MemoryStructures<'_> {
    /// Stops behind the block with which there are `most` pairs.
    fn similar(&self, blocks: &[u32], most: u32) -> SimilarBlocks {
        let (mut pairs, mut looked_up) = (Vec::new(), 0);
        for first in blocks {
            let others: Vec<u32> = self.members.iter().copied().filter(|other| other != first).collect();
            let found = others.iter().zip(self.blocks.structural_jaccard(*first, &others));
            let near = found.filter(|(_, similarity)| *similarity >= self.threshold);
            pairs.extend(near.map(|(second, similarity)| SimilarPair { first: *first, second: *second, similarity }));
            looked_up += 1;
            if pairs.len() >= most as usize {
                break;
            }
        }
        SimilarBlocks { pairs, looked_up }
    }
}
