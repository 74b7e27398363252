//! Clusters of blocks, by what their sets of shingles have in common.

use std::cell::{Cell, LazyCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::rc::Rc;

use petgraph::unionfind::UnionFind;
use rayon::prelude::*;

use super::banding::{self, Keys};
use super::prefixes::{Frequencies, first_shared, most_similar};
use super::ragged::Ragged;
use super::shelf::{SetDigest, Shelf, ShelvedSet};
use super::shingles::{Shingles, jaccard};
use crate::dedup::{Banding, Criterion, Follower, Shingling};

/// Blocks of which there are sets of shingles and keys of bands.
pub(super) trait FingerprintedBlocks: Sync {
    /// Where the sets lie.
    fn shelf(&self) -> &dyn Shelf;

    fn shingles(&self, block: u32, shingling: Shingling) -> ShelvedSet;

    /// For each member the keys of some bands.
    fn keys(&self, members: &[u32], shingling: Shingling, banding: Banding, bands: Range<usize>) -> Vec<Keys>;
}

/// Blocks that are compared by criteria, by their places.
pub(super) struct Clustering<'a> {
    blocks: &'a dyn FingerprintedBlocks,
    members: &'a [u32],
    /// The first of the criteria.
    first: Criterion,
    /// What asks for equal sets.
    equal: Vec<Shingling>,
    /// What asks for less than equal sets, and for more than nothing.
    thresholds: Vec<Criterion>,
}

/// Parts of so many different members at most are compared pair by pair.
const FEW: usize = 8;
/// So many buckets are looked at together.
const BATCH: usize = if cfg!(test) { 16 } else { 4096 };

impl<'a> Clustering<'a> {
    /// # Panics
    /// There is no criterion.
    pub(super) fn new(blocks: &'a dyn FingerprintedBlocks, members: &'a [u32], criteria: &[Criterion]) -> Self {
        let (equal, others): (Vec<_>, Vec<_>) = criteria.iter().partition(|criterion| criterion.similarity >= 1.0);
        let equal = equal.into_iter().map(|criterion: Criterion| criterion.shingling).collect();
        let thresholds = others.into_iter().filter(|criterion| criterion.similarity > 0.0).collect();
        Self { blocks, members, first: criteria[0], equal, thresholds }
    }

    /// [`crate::dedup::BlockSet::leaders`]
    pub(super) fn leaders(&self, banding: Banding) -> Vec<Follower> {
        let parts = self.parts();
        // In parallel, however few and large the parts are.
        parts.par_iter().flatten().for_each(|place| _ = self.sizes(self.members[*place]).count());
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
        let buckets = match self.first.similarity >= 1.0 {
            // Equal sets collide in every band.
            true => std::iter::once((0..).zip(&members).map(|(place, _)| place)).collect(),
            false => banding::all_buckets(banding, keys),
        };
        let buckets_of = buckets.inverted(members.len());
        // By bucket and by the order of the members.
        let mut leaders: Vec<Vec<usize>> = vec![Vec::new(); buckets.len()];
        let sets = RecentSets::new(|place: usize| self.sets(members[place]));
        let mut followers = Vec::new();
        for (place, member) in members.iter().enumerate() {
            let own = buckets_of.get(place).iter().map(|bucket| *bucket as usize);
            let mut candidates: Vec<usize> = own.clone().flat_map(|bucket| &leaders[bucket]).copied().collect();
            candidates.sort_unstable();
            candidates.dedup();
            let own_sets = LazyCell::new(|| sets.get(place));
            let is_leader = |leader: &usize| {
                self.may_be_alike(members[*leader], *member) && self.are_alike(&own_sets, &sets.get(*leader))
            };
            match candidates.into_iter().find(is_leader) {
                Some(leader) => {
                    let leader = members[leader];
                    let similarity = self.similarity(*member, leader);
                    followers.push((part[place], Follower { block: *member, leader, similarity }));
                }
                None => own.for_each(|bucket| leaders[bucket].push(place)),
            }
        }
        followers
    }

    /// By the first of the criteria.
    fn similarity(&self, first: u32, second: u32) -> f64 {
        let shelf = self.blocks.shelf();
        let [first, second] = [first, second].map(|block| self.blocks.shingles(block, self.first.shingling).get(shelf));
        jaccard(&first, &second)
    }

    /// Pairs of places that connect what has enough in common in a part.
    fn links_of_part(&self, part: &[usize]) -> Vec<(usize, usize)> {
        let by_similarity = |first: &&Criterion, second: &&Criterion| first.similarity.total_cmp(&second.similarity);
        let Some(strictest) = self.thresholds.iter().max_by(by_similarity) else {
            return part.windows(2).map(|pair| (pair[0], pair[1])).collect();
        };
        let mut links = Vec::new();
        let distinct = self.distinct(part, &mut links);
        let member = |place: usize| self.members[distinct[place]];
        let read = |place: usize| self.sets(member(place));
        let is_link = |first: &[Shingles], second: &[Shingles]| self.are_alike(first, second);
        let mut connected = UnionFind::<usize>::new(distinct.len());
        let mut connect_all = |buckets: Vec<Vec<usize>>, is_new: &(dyn Fn(usize, usize, usize) -> bool + Sync)| {
            let is_possible = |bucket: usize, first: usize, second: usize| {
                is_new(bucket, first, second) && self.may_be_alike(member(first), member(second))
            };
            let found = connect(buckets, &mut connected, is_possible, read, is_link);
            links.extend(found.into_iter().map(|(first, second)| (distinct[first], distinct[second])));
        };
        if distinct.len() <= FEW {
            connect_all(vec![(0..distinct.len()).collect()], &|_, _, _| true);
            return links;
        }
        let prefixes = self.prefixes(&distinct, *strictest);
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
            connect_all(batch.iter().map(places).collect(), &is_new);
        }
        links
    }

    /// The first ones of those that have equal sets by all criteria; the others are linked with them.
    fn distinct(&self, part: &[usize], links: &mut Vec<(usize, usize)>) -> Vec<usize> {
        let digests = |place: &usize| -> Vec<SetDigest> {
            let member = self.members[*place];
            self.thresholds.iter().map(|criterion| self.digest(member, criterion.shingling)).collect()
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
        self.thresholds.iter().map(|criterion| self.blocks.shingles(block, criterion.shingling).get(shelf)).collect()
    }

    /// How many shingles there are in each of them.
    fn sizes(&self, block: u32) -> impl Iterator<Item = usize> {
        self.thresholds.iter().map(move |criterion| self.blocks.shingles(block, criterion.shingling).len())
    }

    /// Whether the sizes of their sets allow that two blocks have enough in common.
    fn may_be_alike(&self, first: u32, second: u32) -> bool {
        let sizes = self.sizes(first).zip(self.sizes(second)).zip(&self.thresholds);
        sizes.into_iter().all(|((first, second), criterion)| most_similar(first, second) >= criterion.similarity)
    }

    /// Whether two blocks with these sets have enough in common.
    fn are_alike(&self, first: &[Shingles], second: &[Shingles]) -> bool {
        let pairs = first.iter().zip(second).zip(&self.thresholds);
        pairs.into_iter().all(|((first, second), criterion)| jaccard(first, second) >= criterion.similarity)
    }
}

/// Sets that are compared often, so that they need not be read again: those of some 10 MB.
struct RecentSets<R> {
    read: R,
    sets: RefCell<HashMap<usize, Rc<[Shingles]>>>,
    /// How many shingles there are in them; each set counts as one more.
    size: Cell<usize>,
}

impl<R: Fn(usize) -> Vec<Shingles>> RecentSets<R> {
    const MOST: usize = if cfg!(test) { 1 << 8 } else { 1 << 20 };

    fn new(read: R) -> Self {
        Self { read, sets: RefCell::default(), size: Cell::new(0) }
    }

    /// The sets of the member at a place.
    fn get(&self, place: usize) -> Rc<[Shingles]> {
        if let Some(sets) = self.sets.borrow().get(&place) {
            return Rc::clone(sets);
        }
        let read: Rc<[Shingles]> = (self.read)(place).into();
        let mut sets = self.sets.borrow_mut();
        let size = read.iter().map(|set| 1 + set.hashes().len()).sum::<usize>();
        if self.size.get() + size > Self::MOST {
            sets.clear();
            self.size.set(0);
        }
        self.size.update(|before| before + size);
        sets.insert(place, Rc::clone(&read));
        read
    }
}

/// Pairs of members that connect whatever candidates of at least this similarity connect, directly or through others; as few of
/// them as possible.
pub(super) fn links(
    blocks: &dyn FingerprintedBlocks,
    members: &[u32],
    shingling: Shingling,
    banding: Banding,
    similarity: f64,
) -> Vec<(u32, u32)> {
    let set = |place: usize| blocks.shingles(members[place], shingling);
    let read = |place: usize| vec![set(place).get(blocks.shelf())];
    let is_link = |first: &[Shingles], second: &[Shingles]| jaccard(&first[0], &second[0]) >= similarity;
    let mut sets = UnionFind::<usize>::new(members.len());
    let mut links = Vec::new();
    for (bands, keys) in banding::passes(banding, |bands| blocks.keys(members, shingling, banding, bands)) {
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

/// Unites what is linked in the buckets, and gives the pairs by which it did. A pair is only looked at where `is_possible`
/// says so of the bucket's place and the two, and nothing connects them yet; then `is_link` compares what `read` gives.
fn connect(
    buckets: Vec<Vec<usize>>,
    sets: &mut UnionFind<usize>,
    is_possible: impl Fn(usize, usize, usize) -> bool + Sync,
    read: impl Fn(usize) -> Vec<Shingles> + Sync,
    is_link: impl Fn(&[Shingles], &[Shingles]) -> bool + Sync,
) -> Vec<(usize, usize)> {
    let before = &*sets;
    let links = |(number, bucket): (usize, Vec<usize>)| {
        links_of_bucket(&bucket, before, |first, second| is_possible(number, first, second), &read, &is_link)
    };
    let mut found: Vec<(usize, usize)> = buckets.into_par_iter().enumerate().flat_map_iter(links).collect();
    found.retain(|(first, second)| sets.union(*first, *second));
    found
}

/// The pairs in a bucket that connect what nothing connects yet.
fn links_of_bucket(
    bucket: &[usize],
    sets: &UnionFind<usize>,
    is_possible: impl Fn(usize, usize) -> bool,
    read: impl Fn(usize) -> Vec<Shingles>,
    is_link: impl Fn(&[Shingles], &[Shingles]) -> bool,
) -> Vec<(usize, usize)> {
    let recent = RecentSets::new(read);
    // What is connected already, or was found to be on the way.
    let mut components: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    bucket.iter().for_each(|place| components.entry(sets.find(*place)).or_default().push(*place));
    let mut links = Vec::new();
    let mut joined: Vec<Vec<usize>> = Vec::new();
    for mut component in components.into_values() {
        let link_to = |others: &Vec<usize>| {
            component.iter().find_map(|first| {
                let own = LazyCell::new(|| recent.get(*first));
                let is_linked = |second: &&usize| is_possible(*first, **second) && is_link(&own, &recent.get(**second));
                Some((*first, *others.iter().find(is_linked)?))
            })
        };
        let found: Vec<Option<(usize, usize)>> = joined.iter().map(link_to).collect();
        links.extend(found.iter().flatten());
        let mut is_linked = found.iter().map(Option::is_some);
        let (linked, apart): (Vec<_>, Vec<_>) =
            joined.into_iter().partition(|_| is_linked.next().expect("there is one for each"));
        joined = apart;
        component.extend(linked.into_iter().flatten());
        joined.push(component);
    }
    links
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::archive::Forgetful;
    use super::super::banding::NN_DUP;
    use super::super::blocks::CodeBlocks;
    use super::super::shelf::InMemory;
    use super::*;
    use crate::dedup::{BlockSet as _, BlockSummary, CanonicalView, Code, Normalisation};

    const CODE: Shingling = Shingling { normalisation: Normalisation::Code, width: 3 };
    const BANDING: Banding = Banding { bands: 32, rows: 4, ..NN_DUP };
    const COUNT: u32 = 96;
    /// From here on blocks call nothing.
    const IDLE: u32 = 72;

    /// Of three kinds, with layers that grow, and some twice; then some that call and compute nothing.
    fn blocks() -> CodeBlocks {
        let code = |number: u32| {
            if number >= IDLE {
                let attributes = (0..number).map(|attribute| format!("    a{attribute} = None\n"));
                return format!("class A(nn.Module):\n{}", attributes.collect::<String>());
            }
            let (kind, count) = (["A", "B", "C"][number as usize % 3], 2 + number / 3);
            let operation = if number.is_multiple_of(4) { "self.sin(x)" } else { "self.cos(x)" };
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

    #[test]
    fn of_nothing_there_is_nothing() {
        let blocks = blocks();
        for members in [&[][..], &[3]] {
            for criteria in criteria() {
                assert_eq!(blocks.leaders(members, &criteria, BANDING), []);
                assert!(blocks.similar_groups(members, &criteria).is_empty());
            }
        }
    }

    /// Against every leader before a block, in turn.
    #[test]
    fn leaders_are_those_of_brute_force() {
        let blocks = blocks();
        let order: Vec<u32> = (0..COUNT).filter(|number| number % 5 != 0).rev().collect();
        let ascending: Vec<u32> = order.iter().rev().copied().collect();
        let pairs = blocks.candidate_pairs(&ascending, CODE, BANDING).expect("there are few");
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
        let pairs = blocks.candidate_pairs(&members, CODE, BANDING).expect("there are few");
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
