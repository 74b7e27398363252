//! Clusters of blocks, by what their sets of shingles have in common.

use std::cell::LazyCell;
use std::collections::{BTreeMap, HashMap};

use petgraph::unionfind::UnionFind;
use rayon::prelude::*;

use super::banding;
use super::blocks::CodeBlocks;
use super::prefixes::{Frequencies, first_shared, most_similar};
use super::ragged::Ragged;
use super::shelf::SetDigest;
use super::shingles::{Shingles, jaccard};
use crate::dedup::{Banding, Criterion, Follower, Shingling};

/// Blocks that are compared by criteria, by their places.
pub(super) struct Clustering<'a> {
    blocks: &'a CodeBlocks,
    members: &'a [u32],
    /// The first criterion.
    first: Criterion,
    /// What asks for equal sets.
    equal: Vec<Shingling>,
    /// The other criteria.
    open: Vec<Criterion>,
}

/// So many members that are not known to be different are all compared with each other.
const FEW: usize = 8;
/// So many buckets are looked at together.
const BATCH: usize = 4096;

impl<'a> Clustering<'a> {
    /// # Panics
    /// There is no criterion.
    pub(super) fn new(blocks: &'a CodeBlocks, members: &'a [u32], criteria: &[Criterion]) -> Self {
        let (equal, open): (Vec<_>, Vec<_>) = criteria.iter().partition(|criterion| criterion.similarity >= 1.0);
        let equal = equal.into_iter().map(|criterion: Criterion| criterion.shingling).collect();
        Self { blocks, members, first: criteria[0], equal, open }
    }

    /// [`crate::dedup::BlockSet::leaders`]
    pub(super) fn leaders(&self, banding: Banding) -> Vec<Follower> {
        let parts = self.parts();
        let followers = parts.par_iter().flat_map_iter(|part| self.leaders_of_part(part, banding));
        let mut followers: Vec<(usize, Follower)> = followers.collect();
        followers.par_sort_unstable_by_key(|(place, _)| *place);
        followers.into_iter().map(|(_, follower)| follower).collect()
    }

    /// [`crate::dedup::BlockSet::similar_groups`]
    pub(super) fn groups(&self) -> Vec<Vec<u32>> {
        let parts = self.parts();
        let links: Vec<(usize, usize)> = parts.par_iter().flat_map_iter(|part| self.links_of_part(part)).collect();
        let mut sets = UnionFind::<usize>::new(self.members.len());
        links.into_iter().for_each(|(first, second)| _ = sets.union(first, second));
        let groups = banding::groups(sets, self.members.len());
        groups.into_iter().map(|group| group.into_iter().map(|place| self.members[place]).collect()).collect()
    }

    /// The places of the members that have equal sets wherever a criterion asks for that; of two at least, ascending.
    fn parts(&self) -> Vec<Vec<usize>> {
        let mut parts = vec![0_u32; self.members.len()];
        for shingling in &self.equal {
            let mut numbers = HashMap::new();
            for (part, digest) in parts.iter_mut().zip(self.digests(*shingling)) {
                let next = u32::try_from(numbers.len()).expect("blocks are numbered with 32 bits");
                *part = *numbers.entry((*part, digest)).or_insert(next);
            }
        }
        let count = parts.iter().max().map_or(0, |last| *last as usize + 1);
        let by_part = parts.into_iter().map(|part| [part]).collect::<Ragged>().inverted(count);
        let several = by_part.iter().filter(|part| part.len() > 1);
        several.map(|part| part.iter().map(|place| *place as usize).collect()).collect()
    }

    fn digests(&self, shingling: Shingling) -> Vec<SetDigest> {
        self.members.par_iter().map(|member| self.digest(*member, shingling)).collect()
    }

    fn digest(&self, member: u32, shingling: Shingling) -> SetDigest {
        self.blocks.shingles(member, shingling).digest(self.blocks.shelf())
    }

    /// The followers of a part with their places.
    fn leaders_of_part(&self, part: &[usize], banding: Banding) -> Vec<(usize, Follower)> {
        let members: Vec<u32> = part.iter().map(|place| self.members[*place]).collect();
        let keys = |bands| self.blocks.keys(&members, self.first.shingling, banding, bands);
        let buckets = banding::all_buckets(banding, keys);
        let buckets_of = buckets.inverted(members.len());
        // By bucket and by the order of the members.
        let mut leaders: Vec<Vec<usize>> = vec![Vec::new(); buckets.len()];
        let mut sets = RecentSets::new(self);
        let mut followers = Vec::new();
        for (place, member) in members.iter().enumerate() {
            let own = buckets_of.get(place).iter().map(|bucket| *bucket as usize);
            let mut candidates: Vec<usize> = own.clone().flat_map(|bucket| &leaders[bucket]).copied().collect();
            candidates.sort_unstable();
            candidates.dedup();
            candidates.retain(|leader| self.may_be_alike(members[*leader], *member));
            match sets.first_alike(*member, candidates.iter().map(|leader| members[*leader])) {
                Some((leader, similarity)) => {
                    followers.push((part[place], Follower { block: *member, leader, similarity }));
                }
                None => own.for_each(|bucket| leaders[bucket].push(place)),
            }
        }
        followers
    }

    /// Pairs of places that connect what has enough in common in a part.
    fn links_of_part(&self, part: &[usize]) -> Vec<(usize, usize)> {
        let Some(narrowest) = self.open.iter().max_by(|first, second| first.similarity.total_cmp(&second.similarity))
        else {
            return part.windows(2).map(|pair| (pair[0], pair[1])).collect();
        };
        let mut links = Vec::new();
        let distinct = self.distinct(part, &mut links);
        let member = |place: usize| self.members[distinct[place]];
        let read = |place: usize| self.sets(member(place));
        let is_link = |first: &Vec<Shingles>, second: &Vec<Shingles>| self.alike(first, second).is_some();
        let mut connected = UnionFind::<usize>::new(distinct.len());
        let mut connect = |buckets: Vec<Vec<usize>>, is_new: &(dyn Fn(usize, usize, usize) -> bool + Sync)| {
            let is_possible = |bucket: usize, first: usize, second: usize| {
                is_new(bucket, first, second) && self.may_be_alike(member(first), member(second))
            };
            let found = connect(buckets, &mut connected, is_possible, read, is_link);
            links.extend(found.into_iter().map(|(first, second)| (distinct[first], distinct[second])));
        };
        if distinct.len() <= FEW || narrowest.similarity <= 0.0 {
            connect(vec![(0..distinct.len()).collect()], &|_, _, _| true);
            return links;
        }
        let prefixes = self.prefixes(&distinct, *narrowest);
        let mut entries: Vec<(u32, u32)> = (0..)
            .zip(prefixes.iter())
            .flat_map(|(place, prefix)| prefix.iter().map(move |element| (*element, place)))
            .collect();
        entries.par_sort_unstable();
        let buckets = entries.chunk_by(|first, second| first.0 == second.0).filter(|bucket| bucket.len() > 1);
        let buckets: Vec<&[(u32, u32)]> = buckets.collect();
        for batch in buckets.chunks(BATCH) {
            let is_new = |bucket: usize, first: usize, second: usize| {
                let (element, _) = batch[bucket][0];
                first_shared(prefixes.get(first), prefixes.get(second)) == Some(element)
            };
            let places = |bucket: &&[(u32, u32)]| bucket.iter().map(|(_, place)| *place as usize).collect();
            connect(batch.iter().map(places).collect(), &is_new);
        }
        links
    }

    /// The first ones of those that have equal sets by all criteria; the others are linked with them.
    fn distinct(&self, part: &[usize], links: &mut Vec<(usize, usize)>) -> Vec<usize> {
        let digests = |place: &usize| -> Vec<SetDigest> {
            let member = self.members[*place];
            self.open.iter().map(|criterion| self.digest(member, criterion.shingling)).collect()
        };
        let digests: Vec<Vec<SetDigest>> = part.par_iter().map(digests).collect();
        let mut first: HashMap<Vec<SetDigest>, usize> = HashMap::new();
        let mut distinct = Vec::new();
        for (place, digests) in part.iter().zip(digests) {
            match *first.entry(digests).or_insert(*place) {
                first if first == *place => distinct.push(first),
                first => links.push((first, *place)),
            }
        }
        distinct
    }

    /// The rarest shingles of the members at these places: where two have enough in common, they share one.
    fn prefixes(&self, places: &[usize], Criterion { shingling, similarity }: Criterion) -> Ragged {
        let set = |place: usize| self.blocks.shingles(self.members[place], shingling);
        let frequencies = Frequencies::of(places.iter().map(|place| set(*place).len()).sum());
        places.par_iter().for_each(|place| frequencies.count(&set(*place).get(self.blocks.shelf())));
        let prefix = |place: &usize| frequencies.prefix(&set(*place).get(self.blocks.shelf()), similarity);
        let batches = places.chunks(BATCH);
        let prefixes = batches.flat_map(|batch| batch.par_iter().map(prefix).collect::<Vec<Vec<u32>>>());
        prefixes.collect()
    }

    /// The sets of a block that are compared.
    fn sets(&self, block: u32) -> Vec<Shingles> {
        let shelf = self.blocks.shelf();
        self.open.iter().map(|criterion| self.blocks.shingles(block, criterion.shingling).get(shelf)).collect()
    }

    /// Whether the sizes of their sets allow that two blocks have enough in common.
    fn may_be_alike(&self, first: u32, second: u32) -> bool {
        self.open.iter().all(|Criterion { shingling, similarity }| {
            let [first, second] = [first, second].map(|block| self.blocks.shingles(block, *shingling).len());
            most_similar(first, second) >= *similarity
        })
    }

    /// How much two blocks with these sets have in common by the first criterion, if it is enough by all.
    fn alike(&self, first: &[Shingles], second: &[Shingles]) -> Option<f64> {
        let mut similarities = first.iter().zip(second).map(|(first, second)| jaccard(first, second)).zip(&self.open);
        let by_first = similarities.next().filter(|(found, least)| *found >= least.similarity);
        let by_first = if self.open.is_empty() { 1.0 } else { by_first?.0 };
        let is_enough = similarities.all(|(found, least)| found >= least.similarity);
        is_enough.then_some(if self.first.similarity >= 1.0 { 1.0 } else { by_first })
    }
}

/// Sets of blocks that are compared often, so that they need not be read again.
struct RecentSets<'a> {
    clustering: &'a Clustering<'a>,
    sets: HashMap<u32, Vec<Shingles>>,
    /// How many shingles there are in them.
    size: usize,
}

impl<'a> RecentSets<'a> {
    /// So many shingles are kept.
    const MOST: usize = 1 << 20;

    fn new(clustering: &'a Clustering<'a>) -> Self {
        Self { clustering, sets: HashMap::new(), size: 0 }
    }

    /// The first of the candidates that has enough in common with the member, and how much by the first criterion.
    fn first_alike(&mut self, member: u32, candidates: impl Iterator<Item = u32>) -> Option<(u32, f64)> {
        let own = LazyCell::new(|| self.clustering.sets(member));
        let mut first = None;
        for candidate in candidates {
            let sets = self.sets.entry(candidate).or_insert_with(|| {
                let sets = self.clustering.sets(candidate);
                self.size += sets.iter().map(|set| set.hashes().len()).sum::<usize>();
                sets
            });
            if let Some(similarity) = self.clustering.alike(&own, sets) {
                first = Some((candidate, similarity));
                break;
            }
        }
        if self.size > Self::MOST {
            (self.sets, self.size) = (HashMap::new(), 0);
        }
        first
    }
}

impl CodeBlocks {
    /// Pairs of members by which everything hangs together that candidates of at least this similarity connect, directly or
    /// through others; none is there that the others connect already.
    pub fn links(&self, members: &[u32], shingling: Shingling, banding: Banding, similarity: f64) -> Vec<(u32, u32)> {
        let set = |place: usize| self.shingles(members[place], shingling);
        let read = |place: usize| set(place).get(self.shelf());
        let is_link = |first: &Shingles, second: &Shingles| jaccard(first, second) >= similarity;
        let mut sets = UnionFind::<usize>::new(members.len());
        let mut links = Vec::new();
        for (bands, keys) in banding::passes(banding, |bands| self.keys(members, shingling, banding, bands)) {
            for band in 0..bands {
                let is_possible = |_, first, second| {
                    !banding::agree_before(&keys, band, first, second)
                        && most_similar(set(first).len(), set(second).len()) >= similarity
                };
                links.extend(connect(banding::buckets(&keys, band), &mut sets, is_possible, read, is_link));
            }
        }
        links.into_iter().map(|(first, second)| (members[first], members[second])).collect()
    }
}

/// The pairs in buckets that connect what nothing connects yet. `is_possible` says of a pair whether it may be a link and was
/// in no bucket before, by the place of this one; what `read` gives of two `is_link` compares.
fn connect<S>(
    buckets: Vec<Vec<usize>>,
    sets: &mut UnionFind<usize>,
    is_possible: impl Fn(usize, usize, usize) -> bool + Sync,
    read: impl Fn(usize) -> S + Sync,
    is_link: impl Fn(&S, &S) -> bool + Sync,
) -> Vec<(usize, usize)> {
    let before = &*sets;
    let links = |(number, bucket): (usize, Vec<usize>)| {
        links_of_bucket(&bucket, before, |first, second| is_possible(number, first, second), &read, &is_link)
    };
    let mut found: Vec<(usize, usize)> = buckets.into_par_iter().enumerate().flat_map_iter(links).collect();
    found.retain(|(first, second)| sets.union(*first, *second));
    found
}

/// The pairs in a bucket that connect what nothing connects yet. Each of its members is read once at most.
fn links_of_bucket<S>(
    bucket: &[usize],
    sets: &UnionFind<usize>,
    is_possible: impl Fn(usize, usize) -> bool,
    read: impl Fn(usize) -> S,
    is_link: impl Fn(&S, &S) -> bool,
) -> Vec<(usize, usize)> {
    let cells: Vec<LazyCell<S, _>> = bucket.iter().map(|place| LazyCell::new(|| read(*place))).collect();
    // By their positions in the bucket.
    let mut parts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    (0..bucket.len()).for_each(|member| parts.entry(sets.find(bucket[member])).or_default().push(member));
    let is_link = |first: usize, second: usize| {
        is_possible(bucket[first], bucket[second]) && is_link(&cells[first], &cells[second])
    };
    let mut links = Vec::new();
    let mut joined: Vec<Vec<usize>> = Vec::new();
    for mut part in parts.into_values() {
        let link_to = |others: &Vec<usize>| {
            part.iter().find_map(|first| {
                let second = others.iter().find(|second| is_link(*first, **second))?;
                Some((bucket[*first], bucket[*second]))
            })
        };
        let found: Vec<Option<(usize, usize)>> = joined.iter().map(link_to).collect();
        links.extend(found.iter().flatten());
        let mut is_linked = found.iter().map(Option::is_some);
        let (linked, apart): (Vec<_>, Vec<_>) =
            joined.into_iter().partition(|_| is_linked.next().expect("there is one for each"));
        joined = apart;
        part.extend(linked.into_iter().flatten());
        joined.push(part);
    }
    links
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::archive::Forgetful;
    use super::super::banding::NN_DUP;
    use super::super::shelf::InMemory;
    use super::*;
    use crate::dedup::{BlockSet as _, BlockSummary, CanonicalView, Code, Normalisation};

    const CODE: Shingling = Shingling { normalisation: Normalisation::Code, width: 3 };
    const BANDING: Banding = Banding { bands: 32, rows: 4, ..NN_DUP };
    const COUNT: u32 = 72;

    /// Of three kinds, with layers that grow, and some twice.
    fn blocks() -> CodeBlocks {
        let code = |number: u32| {
            let (kind, count) = (["A", "B", "C"][number as usize % 3], 2 + number / 3);
            let operation = if number % 4 == 0 { "self.sin(x)" } else { "self.cos(x)" };
            let layers = (0..count).map(|layer| format!("        self.l{layer} = nn.Linear({layer}, dim={layer})\n"));
            let layers: String = layers.collect();
            format!(
                "class {kind}(nn.Module):\n    def __init__(self):\n{layers}    def forward(self, x):\n        return {operation}\n"
            )
        };
        let block = |number: u32| {
            let code = code(if number % 7 == 6 { number - 1 } else { number });
            let name = code["class ".len()..][..1].to_owned();
            (BlockSummary { name, ..BlockSummary::default() }, Code::from(Arc::from(code)))
        };
        CodeBlocks::new((0..COUNT).map(block), Arc::new(InMemory::default()), Arc::new(Forgetful))
    }

    fn criteria() -> Vec<Vec<Criterion>> {
        let operations = Shingling { normalisation: Normalisation::Canonical(CanonicalView::Operations), width: 1 };
        let code = |similarity| Criterion { shingling: CODE, similarity };
        let operations = |similarity| Criterion { shingling: operations, similarity };
        let of_code = [0.0, 0.5, 0.9, 0.97, 1.0].map(|similarity| vec![code(similarity)]);
        let of_both = [(0.5, 1.0), (0.9, 0.9), (1.0, 0.8)]
            .map(|(of_code, of_operations)| vec![code(of_code), operations(of_operations)]);
        of_code.into_iter().chain(of_both).collect()
    }

    fn alike(blocks: &CodeBlocks, first: u32, second: u32, criteria: &[Criterion]) -> bool {
        let similarity = |shingling| blocks.jaccard(first, &[second], shingling)[0];
        criteria.iter().all(|criterion| similarity(criterion.shingling) >= criterion.similarity)
    }

    /// Against every leader before a block, in turn.
    #[test]
    fn leaders_are_those_of_brute_force() {
        let blocks = blocks();
        let order: Vec<u32> = (0..COUNT).filter(|number| number % 5 != 0).rev().collect();
        let ascending: Vec<u32> = order.iter().rev().copied().collect();
        let pairs = blocks.candidate_pairs(&ascending, CODE, BANDING);
        let mut counts = Vec::new();
        for criteria in criteria() {
            let mut leaders: Vec<u32> = Vec::new();
            let mut expected = Vec::new();
            for block in &order {
                let is_leader = |leader: &&u32| {
                    let pair = (**leader.min(&block), **leader.max(&block));
                    pairs.contains(&pair) && alike(&blocks, **leader, *block, &criteria)
                };
                match leaders.iter().find(is_leader) {
                    Some(leader) => {
                        let similarity = blocks.jaccard(*block, &[*leader], CODE)[0];
                        expected.push(Follower { block: *block, leader: *leader, similarity });
                    }
                    None => leaders.push(*block),
                }
            }
            assert_eq!(blocks.leaders(&order, &criteria, BANDING), expected, "{criteria:?}");
            counts.push(expected.len());
        }
        assert!(counts.iter().all(|count| (1..order.len()).contains(count)), "{counts:?}");
    }

    /// Against all pairs.
    #[test]
    fn groups_are_those_of_brute_force() {
        let blocks = blocks();
        let members: Vec<u32> = (0..COUNT).filter(|number| number % 5 != 0).collect();
        let mut counts = Vec::new();
        for criteria in criteria() {
            let mut sets = UnionFind::<usize>::new(members.len());
            for (first, second) in (0..members.len()).flat_map(|first| (0..first).map(move |second| (first, second))) {
                if alike(&blocks, members[first], members[second], &criteria) {
                    sets.union(first, second);
                }
            }
            let expected = banding::groups(sets, members.len());
            let groups = blocks.similar_groups(&members, &criteria);
            let places = |group: &Vec<u32>| -> Vec<usize> {
                group.iter().map(|member| members.binary_search(member).expect("it is one")).collect()
            };
            assert_eq!(groups.iter().map(places).collect::<Vec<_>>(), expected, "{criteria:?}");
            counts.push(groups.len());
        }
        assert!(counts.iter().all(|count| *count > 0) && counts.iter().any(|count| *count > 3), "{counts:?}");
    }

    /// What the links connect is what all similar pairs of candidates connect, and no link is too many.
    #[test]
    fn links_connect_what_similar_candidates_do() {
        let blocks = blocks();
        let members: Vec<u32> = (0..COUNT).filter(|number| number % 5 != 0).collect();
        let pairs = blocks.candidate_pairs(&members, CODE, BANDING);
        for similarity in [0.5, 0.9, 0.97] {
            let mut expected = UnionFind::<usize>::new(COUNT as usize);
            let criterion = [Criterion { shingling: CODE, similarity }];
            let alike: Vec<_> = pairs.iter().filter(|(a, b)| alike(&blocks, *a, *b, &criterion)).collect();
            alike.iter().for_each(|(first, second)| _ = expected.union(*first as usize, *second as usize));
            let links = blocks.links(&members, CODE, BANDING, similarity);
            let mut found = UnionFind::<usize>::new(COUNT as usize);
            assert!(links.iter().all(|(first, second)| found.union(*first as usize, *second as usize)), "{links:?}");
            assert!(!links.is_empty(), "{similarity}");
            let count = COUNT as usize;
            for (first, second) in (0..count).flat_map(|first| (0..first).map(move |second| (first, second))) {
                assert_eq!(found.equiv(first, second), expected.equiv(first, second), "{similarity}: {first} {second}");
            }
        }
    }
}
