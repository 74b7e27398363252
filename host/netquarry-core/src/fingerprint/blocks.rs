//! A [`BlockSet`] over codes, which computes what is asked for and keeps it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use super::archive::{Archive, ArchiveKey, Part};
use super::banding::{self, Keys};
use super::canonical;
use super::clusters::{self, Clustering, FingerprintedBlocks};
use super::memo::Memo;
use super::minhash::{self, Signature};
use super::region;
use super::shelf::{Shelf, ShelvedSet, ShelvedStructure, ShelvedSummary, Structured, Words, bytes_of};
use super::shingles::Shingles;
use super::statement::Rule;
use super::statements::{self, Passages, Placed, Statements};
use super::structure::{self, StructureIndex};
use super::tokens::{NormalisedTokens, class_tokens, code_tokens, normalised_tokens, region_tokens};
use crate::dedup::{
    Banding, BlockSet, BlockSummary, CanonicalView, Code, Criterion, Follower, Hashing, KernelError, Normalisation,
    Shingling, SimilarStructures, Structure,
};

/// Codes are read and tokens made anew whenever they are asked for. Sets of shingles, keys of bands and structures are made
/// once and kept on a [`Shelf`], with the summaries; in memory are some 25 bytes for each of those, and within bounds what was
/// read of the statements that the codes consist of. What an [`Archive`] has is not computed at all. What concerns many
/// blocks runs on the current rayon pool, whose threads need a stack of [`crate::syntax::PARSER_STACK_BYTES`], as the
/// calling thread does.
pub struct CodeBlocks {
    blocks: Vec<Arc<CodeBlock>>,
    /// How many of them are left.
    left: u32,
    common: Arc<Common>,
}

/// What the blocks have in common.
struct Common {
    statements: Statements,
    shelf: Arc<dyn Shelf>,
    archive: Arc<dyn Archive>,
}

struct CodeBlock {
    position: u32,
    summary: ShelvedSummary,
    code: Code,
    shingles: Memo<Shingling, ShelvedSet>,
    keys: Memo<(Shingling, Banding), Words>,
    structure: OnceLock<ShelvedStructure>,
    /// Something was computed of it.
    is_computed: AtomicBool,
    /// Something of it was in the archive.
    is_known: AtomicBool,
}

/// The views of the canonical form that have few tokens.
const SMALL_VIEWS: [CanonicalView; 4] =
    [CanonicalView::Digest, CanonicalView::Operations, CanonicalView::ReachedOperations, CanonicalView::Flow];

/// How strategies ask for these.
const SMALL: [Shingling; 4] = {
    let [digest, operations, reached, flow] = SMALL_VIEWS;
    [alone(digest), alone(operations), alone(reached), alone(flow)]
};

const fn alone(view: CanonicalView) -> Shingling {
    Shingling { normalisation: Normalisation::Canonical(view), width: 1 }
}

/// What is compared of a code.
enum Compared {
    InPassages(Passages),
    /// Of a code that cannot be read statement by statement.
    AtOnce(Shingles),
}

impl Compared {
    fn shingles(&self) -> Cow<'_, Shingles> {
        match self {
            Self::InPassages(passages) => Cow::Owned(passages.shingles()),
            Self::AtOnce(shingles) => Cow::Borrowed(shingles),
        }
    }

    fn signature(&self, hashing: Hashing) -> Signature {
        match self {
            Self::InPassages(passages) => passages.signature(hashing),
            Self::AtOnce(shingles) => minhash::signature(shingles, hashing),
        }
    }
}

impl CodeBlocks {
    /// Numbers the blocks in the order in which they come. What is computed of them goes to the shelf, and to the archive for
    /// the next time.
    pub fn new(
        blocks: impl IntoIterator<Item = (BlockSummary, Code)>,
        shelf: Arc<dyn Shelf>,
        archive: Arc<dyn Archive>,
    ) -> Self {
        let block = |(position, (summary, code))| CodeBlock {
            position,
            summary: ShelvedSummary::put(&*shelf, &summary),
            code,
            shingles: Memo::default(),
            keys: Memo::default(),
            structure: OnceLock::new(),
            is_computed: AtomicBool::new(false),
            is_known: AtomicBool::new(false),
        };
        let blocks: Vec<Arc<CodeBlock>> = (0..).zip(blocks).map(block).map(Arc::new).collect();
        let left = u32::try_from(blocks.len()).expect("blocks are numbered with 32 bits");
        Self { blocks, left, common: Arc::new(Common { statements: Statements::default(), shelf, archive }) }
    }

    /// The same blocks, numbered anew: those of which `is_left` says so, and behind them the others. What was computed for
    /// them is shared.
    pub fn with_left(&self, is_left: impl Fn(u32) -> bool) -> Self {
        let numbered = (0..).zip(&self.blocks);
        let (left, removed): (Vec<_>, Vec<_>) = numbered.partition(|(number, _)| is_left(*number));
        let count = u32::try_from(left.len()).expect("blocks are numbered with 32 bits");
        let blocks = left.into_iter().chain(removed).map(|(_, block)| Arc::clone(block)).collect();
        Self { blocks, left: count, common: Arc::clone(&self.common) }
    }

    /// Pairs of members that connect whatever candidates of at least this similarity connect, directly or through others; as
    /// few of them as possible.
    pub fn links(&self, members: &[u32], shingling: Shingling, banding: Banding, similarity: f64) -> Vec<(u32, u32)> {
        clusters::links(self, members, shingling, banding, similarity)
    }

    /// Of how many blocks all that was asked for so far, and that is something, was in the archive.
    pub fn known(&self) -> usize {
        let is_known = |block: &&Arc<CodeBlock>| {
            block.is_known.load(Ordering::Relaxed) && !block.is_computed.load(Ordering::Relaxed)
        };
        self.blocks.iter().filter(is_known).count()
    }

    fn block(&self, block: u32) -> &CodeBlock {
        &self.blocks[block as usize]
    }

    fn block_structure(&self, block: u32) -> ShelvedStructure {
        self.block(block).structure(&self.common)
    }
}

impl FingerprintedBlocks for CodeBlocks {
    fn shelf(&self) -> &dyn Shelf {
        &*self.common.shelf
    }

    fn shingles(&self, block: u32, shingling: Shingling) -> ShelvedSet {
        self.block(block).shingles(shingling, &self.common)
    }

    fn keys(&self, members: &[u32], shingling: Shingling, banding: Banding, bands: Range<usize>) -> Vec<Keys> {
        let of_member = |member: &u32| {
            let mut keys = Keys::default();
            let all = self.block(*member).keys(shingling, banding, &self.common);
            all.get(self.shelf(), bands.start, &mut keys[..bands.len()]);
            keys
        };
        members.par_iter().map(of_member).collect()
    }
}

impl CodeBlock {
    fn shingles(&self, shingling: Shingling, common: &Common) -> ShelvedSet {
        self.known_shingles(shingling, common)
            .unwrap_or_else(|| self.keep_shingles(shingling, &self.compared(shingling, common).shingles(), common))
    }

    /// Those that were computed, by this run or an earlier one.
    fn known_shingles(&self, shingling: Shingling, common: &Common) -> Option<ShelvedSet> {
        self.shingles.find(&shingling).or_else(|| {
            if SMALL.contains(&shingling)
                && let Some(views) = self.find_archived(Part::Views, common)
                && let Ok(hashes) = postcard::from_bytes::<Vec<Vec<u8>>>(&views)
            {
                self.put_views(&hashes, common);
                return self.shingles.find(&shingling);
            }
            let hashes = self.find_archived(Part::Shingles(shingling), common)?;
            Some(self.shingles.get(shingling, || ShelvedSet::put(&*common.shelf, &hashes)))
        })
    }

    fn keep_shingles(&self, shingling: Shingling, shingles: &Shingles, common: &Common) -> ShelvedSet {
        self.shingles.get(shingling, || {
            let hashes = bytes_of(shingles.hashes());
            let set = ShelvedSet::put(&*common.shelf, &hashes);
            self.keep_computed(Part::Shingles(shingling), hashes, common);
            set
        })
    }

    fn summary(&self, common: &Common) -> BlockSummary {
        self.summary.get(&*common.shelf)
    }

    fn find_archived(&self, part: Part, common: &Common) -> Option<Vec<u8>> {
        if !common.archive.remembers() {
            return None;
        }
        let found = common.archive.find(ArchiveKey::new(&self.summary(common), part));
        self.is_known.fetch_or(found.is_some(), Ordering::Relaxed);
        found
    }

    /// What comes of a code or of a name that could not be read is nobody's.
    fn keep_computed(&self, part: Part, bytes: Vec<u8>, common: &Common) {
        self.is_computed.store(true, Ordering::Relaxed);
        if common.archive.remembers() {
            let key = ArchiveKey::new(&self.summary(common), part);
            if !common.shelf.has_failed() {
                common.archive.keep(key, bytes);
            }
        }
    }

    fn compared(&self, shingling: Shingling, common: &Common) -> Compared {
        let statements = &common.statements;
        let width = shingling.width as usize;
        let code = &*self.code.read();
        let name = &*self.summary(common).name;
        let by_statement = match shingling.normalisation {
            Normalisation::Canonical(view) => {
                let read = statements.canonical(code).unwrap_or_default();
                canonical::Block::new(&read, name).map(|block| {
                    self.keep_views(&block, common);
                    Compared::AtOnce(Shingles::new(&block.view(view), width))
                })
            }
            Normalisation::NnDup => self.placed(code, common).map(|placed| region(code, &placed, width, statements)),
            Normalisation::Code => self.placed(code, common).map(|placed| bound(name, &placed, width)),
            Normalisation::Class => self.placed(code, common).map(|placed| {
                let is_it = |definition: &_| region::is_class(definition, name);
                match statements::last_definition(&placed, is_it) {
                    Some(lines) => class(name, region::lines(code, lines), width, statements),
                    None => bound(name, &placed, width),
                }
            }),
        };
        let at_once = || Compared::AtOnce(Shingles::new(&tokens(name, code, shingling.normalisation), width));
        by_statement.unwrap_or_else(at_once)
    }

    /// Keeps the views that are small: reading the code takes most of the time.
    fn keep_views(&self, block: &canonical::Block<'_>, common: &Common) {
        if self.known_shingles(SMALL[0], common).is_none() {
            let hashes = SMALL_VIEWS.map(|view| bytes_of(Shingles::new(&block.view(view), 1).hashes()));
            self.put_views(&hashes, common);
            self.keep_computed(Part::Views, postcard::to_stdvec(&hashes.to_vec()).expect("these are vectors"), common);
        }
    }

    fn put_views(&self, hashes: &[Vec<u8>], common: &Common) {
        for (shingling, hashes) in SMALL.into_iter().zip(hashes) {
            self.shingles.get(shingling, || ShelvedSet::put(&*common.shelf, hashes));
        }
    }

    /// The statements of the code, if it can be read by them.
    fn placed(&self, code: &str, common: &Common) -> Option<Vec<Placed>> {
        let placed = common.statements.read(code).filter(|placed| statements::all_parse(placed))?;
        // What was read for one kernel serves the others.
        self.structure.get_or_init(|| {
            self.archived_structure(common).unwrap_or_else(|| {
                let outline = statements::outline(&placed).unwrap_or_default();
                self.keep_structure(&structure::structure_of(&outline), common)
            })
        });
        Some(placed)
    }

    fn signature(&self, shingling: Shingling, hashing: Hashing, common: &Common) -> Signature {
        match self.known_shingles(shingling, common) {
            Some(known) => minhash::signature(&known.get(&*common.shelf), hashing),
            None => {
                let compared = self.compared(shingling, common);
                self.keep_shingles(shingling, &compared.shingles(), common);
                compared.signature(hashing)
            }
        }
    }

    fn keys(&self, shingling: Shingling, banding: Banding, common: &Common) -> Words {
        self.keys.get((shingling, banding), || {
            let part = Part::Keys(shingling, banding);
            let keys = self.find_archived(part, common).unwrap_or_else(|| {
                let signature = self.signature(shingling, banding.hashing, common);
                let keys = bytes_of(&banding::keys(&signature, banding));
                self.keep_computed(part, keys.clone(), common);
                keys
            });
            Words::put(&*common.shelf, &keys)
        })
    }

    fn structure(&self, common: &Common) -> ShelvedStructure {
        *self.structure.get_or_init(|| {
            if let Some(known) = self.archived_structure(common) {
                return known;
            }
            let code = &*self.code.read();
            let structure = match common.statements.read(code).and_then(|placed| statements::outline(&placed)) {
                Some(outline) => structure::structure_of(&outline),
                None => structure::structure(code),
            };
            self.keep_structure(&structure, common)
        })
    }

    fn archived_structure(&self, common: &Common) -> Option<ShelvedStructure> {
        let known = self.find_archived(Part::Structure, common).and_then(Structured::read)?;
        Some(ShelvedStructure::put(&*common.shelf, &known))
    }

    fn keep_structure(&self, structure: &Structure, common: &Common) -> ShelvedStructure {
        let structured = Structured::new(structure);
        let shelved = ShelvedStructure::put(&*common.shelf, &structured);
        self.keep_computed(Part::Structure, structured.text, common);
        shelved
    }
}

fn class(name: &str, text: &str, width: usize, statements: &Statements) -> Compared {
    match statements.read(text).filter(|placed| statements::all_parse(placed)) {
        Some(placed) => bound(name, &placed, width),
        None => Compared::AtOnce(Shingles::new(&code_tokens(text, name), width)),
    }
}

fn bound(name: &str, placed: &[Placed], width: usize) -> Compared {
    let locals = statements::locals(placed);
    let rule = Rule::Bound { block: name, locals: &locals };
    Compared::InPassages(Passages::new(placed, &rule, width))
}

fn tokens(name: &str, code: &str, normalisation: Normalisation) -> NormalisedTokens {
    match normalisation {
        Normalisation::NnDup => normalised_tokens(code),
        Normalisation::Code => code_tokens(code, name),
        Normalisation::Class => class_tokens(code, name),
        Normalisation::Canonical(view) => {
            let statements = canonical::statements(code).unwrap_or_default();
            let block = canonical::Block::new(&statements, name);
            block.map_or_else(|| canonical::without_definitions(code, name, view), |block| block.view(view))
        }
    }
}

fn region(code: &str, placed: &[Placed], width: usize, statements: &Statements) -> Compared {
    let read = |text: &str| match statements.read(text) {
        Some(placed) => statements::outline(&placed),
        None => region::parsed(text),
    };
    let region = region::model_region(code, statements::outline(placed), read);
    match statements.read(&region.text) {
        Some(placed) => {
            let rule = Rule::Untelling { declared: &region.declared };
            Compared::InPassages(Passages::new(&placed, &rule, width))
        }
        None => Compared::AtOnce(Shingles::new(&region_tokens(&region), width)),
    }
}

impl BlockSet for CodeBlocks {
    fn len(&self) -> u32 {
        self.left
    }

    fn total(&self) -> u32 {
        u32::try_from(self.blocks.len()).expect("blocks are numbered with 32 bits")
    }

    fn position(&self, block: u32) -> u32 {
        self.block(block).position
    }

    fn summary(&self, block: u32) -> BlockSummary {
        self.block(block).summary(&self.common)
    }

    fn code(&self, block: u32) -> String {
        self.block(block).code.read().to_string()
    }

    fn tokens(&self, block: u32, normalisation: Normalisation) -> Vec<String> {
        let block = self.block(block);
        tokens(&block.summary(&self.common).name, &block.code.read(), normalisation).iter().map(str::to_owned).collect()
    }

    fn shingle_count(&self, block: u32, shingling: Shingling) -> u32 {
        let count = self.shingles(block, shingling).len();
        u32::try_from(count).expect("a block has fewer shingles than bytes")
    }

    fn first_equals(&self, members: &[u32], shingling: Shingling) -> Vec<u32> {
        let digest = |member: &u32| self.shingles(*member, shingling).digest(self.shelf());
        let digests: Vec<[u8; 16]> = members.par_iter().map(digest).collect();
        let mut first = HashMap::new();
        digests.iter().zip(members).map(|(digest, member)| *first.entry(digest).or_insert(*member)).collect()
    }

    fn signature(&self, block: u32, shingling: Shingling, hashing: Hashing) -> Vec<u32> {
        self.block(block).signature(shingling, hashing, &self.common).into_vec()
    }

    fn candidate_pairs(
        &self,
        members: &[u32],
        shingling: Shingling,
        banding: Banding,
    ) -> Result<Vec<(u32, u32)>, KernelError> {
        let keys = |bands| self.keys(members, shingling, banding, bands);
        let pairs = banding::candidate_pairs(banding, keys, banding::MOST_PAIRS)?;
        Ok(pairs.into_iter().map(|(first, second)| (members[first], members[second])).collect())
    }

    fn candidate_groups(&self, members: &[u32], shingling: Shingling, banding: Banding) -> Vec<Vec<u32>> {
        let keys = |bands| self.keys(members, shingling, banding, bands);
        let groups = banding::candidate_groups(members.len(), banding, keys);
        groups.into_iter().map(|group| group.into_iter().map(|place| members[place]).collect()).collect()
    }

    fn leaders(&self, order: &[u32], criteria: &[Criterion], banding: Banding) -> Vec<Follower> {
        Clustering::new(self, order, criteria).leaders(banding)
    }

    fn similar_groups(&self, members: &[u32], criteria: &[Criterion]) -> Vec<Vec<u32>> {
        Clustering::new(self, members, criteria).groups()
    }

    fn jaccard(&self, block: u32, others: &[u32], shingling: Shingling) -> Vec<f64> {
        let own = self.shingles(block, shingling).get(self.shelf());
        others.par_iter().map(|other| self.shingles(*other, shingling).jaccard(self.shelf(), &own)).collect()
    }

    fn structure(&self, block: u32) -> Structure {
        self.block_structure(block).get(self.shelf())
    }

    fn structure_digests(&self, members: &[u32]) -> Vec<[u8; 32]> {
        members.par_iter().map(|member| self.block_structure(*member).sha256(self.shelf())).collect()
    }

    fn structural_jaccard(&self, block: u32, others: &[u32]) -> Vec<f64> {
        let own = self.structure(block);
        others.par_iter().map(|other| structure::structural_jaccard(&own, &self.structure(*other))).collect()
    }

    fn structure_index(&self, members: &[u32], threshold: f64) -> Box<dyn SimilarStructures> {
        Box::new(StructureIndex::new(members, threshold, |member| self.structure(member)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::archive::Forgetful;
    use super::super::banding::NN_DUP;
    use super::super::shelf::InMemory;
    use super::*;
    use crate::dedup::HashFamily;

    const SHINGLING: Shingling = Shingling { normalisation: Normalisation::NnDup, width: 10 };

    fn class(name: &str, layers: u32, comment: &str) -> String {
        let layers =
            (0..layers).map(|layer| format!("        self.l{layer} = nn.Linear({layer}, dim={layer})  {comment}\n"));
        format!("class {name}(nn.Module):\n    def __init__(self):\n{}", layers.collect::<String>())
    }

    fn blocks(codes: impl IntoIterator<Item = String>) -> CodeBlocks {
        named("", codes)
    }

    fn named(name: &str, codes: impl IntoIterator<Item = String>) -> CodeBlocks {
        let blocks = codes.into_iter().map(|code| {
            let summary =
                BlockSummary { name: name.to_owned(), characters: code.len() as u64, ..BlockSummary::default() };
            (summary, Code::from(Arc::from(code)))
        });
        CodeBlocks::new(blocks, Arc::new(InMemory::default()), Arc::new(Forgetful))
    }

    #[test]
    fn copies_with_other_comments_are_candidates_and_equal() {
        let unrelated = "class C(nn.Module):\n    def forward(self, x):\n        return F.relu(x) * self.scale + 1\n";
        let blocks = blocks([class("A", 30, ""), unrelated.to_owned(), class("A", 30, "# copied"), class("B", 30, "")]);
        let pairs = blocks.candidate_pairs(&[0, 1, 2, 3], SHINGLING, NN_DUP).expect("there are few");
        assert!(pairs.contains(&(0, 2)) && !pairs.iter().any(|(first, second)| [*first, *second].contains(&1)));
        let similarities = blocks.jaccard(0, &[0, 1, 2], SHINGLING);
        assert_eq!((similarities[0], similarities[2]), (1.0, 1.0));
        assert!(similarities[1] < 0.1);
        assert_eq!(blocks.first_equals(&[0, 1, 2, 3], SHINGLING), [0, 1, 0, 3]);
        assert_eq!(blocks.first_equals(&[1, 2], SHINGLING), [1, 2]);
        // The name of the class is a token and no call.
        assert!(blocks.jaccard(0, &[3], SHINGLING)[0] < 1.0);
        let digests = blocks.structure_digests(&[0, 1, 2, 3]);
        assert!(digests[0] == digests[2] && digests[0] == digests[3] && digests[0] != digests[1]);
        let (similar, _) = blocks.structure_index(&[0, 1, 3], 0.9).similar(&[0, 1, 3], usize::MAX);
        assert_eq!(similar.iter().map(|pair| (pair.first, pair.second)).collect::<Vec<_>>(), [(0, 3), (3, 0)]);
    }

    /// One thread and several find the same, whoever computes first.
    #[test]
    fn results_do_not_depend_on_threads() {
        let codes = || (0..40).map(|number| class("A", 20 + number / 4, ""));
        let all: Vec<u32> = (0..40).collect();
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let blocks = blocks(codes());
            pool.install(|| {
                let pairs = blocks.candidate_pairs(&all, SHINGLING, NN_DUP).expect("there are few");
                (
                    pairs,
                    blocks.structure_digests(&all),
                    blocks.structure_index(&all, 0.9).similar(&all, usize::MAX).0,
                    blocks.signature(7, SHINGLING, NN_DUP.hashing),
                    blocks.candidate_groups(&all, SHINGLING, NN_DUP),
                )
            })
        };
        let single = on(1);
        assert!(!single.0.is_empty() && !single.2.is_empty());
        assert_eq!(single, on(4));
    }

    #[test]
    fn what_was_removed_comes_behind_what_is_left_and_keeps_what_was_computed() {
        let blocks = blocks([class("A", 3, ""), class("B", 9, ""), class("C", 5, "")]);
        let before = blocks.shingles(2, SHINGLING);
        let left = blocks.with_left(|number| number != 1);
        assert_eq!((left.len(), left.total()), (2, 3));
        assert_eq!([0, 1, 2].map(|number| left.code(number)), [0, 2, 1].map(|number| blocks.code(number)));
        assert_eq!([0, 1, 2].map(|number| left.with_left(|number| number > 0).position(number)), [2, 1, 0]);
        assert_eq!(left.shingles(1, SHINGLING).place(), before.place());
    }

    /// Statement by statement the same comes out as from the whole code, for the kernels that are written for one code.
    #[test]
    fn reading_statement_by_statement_changes_nothing() {
        let docstrings = "'one'\n\n'two'\nimport a; 'three'\nx = 1\n'four'\nif x:\n    'five'\n'six'\n";
        let helpers = "def helper(x):\n    y = x.y\n    return y\n@helper\nclass Block(nn.Module):\n    def forward(self, x):\n        return helper(x).helper\n";
        let foreign = "class B(Base):\n    def helper(self):\n        'only'\n    def other(self): pass\n";
        let codes = [
            docstrings.to_owned(),
            helpers.to_owned(),
            format!("{foreign}{helpers}"),
            format!("{helpers}\n# between\n\n{foreign}{}", class("Block", 9, "# why")),
            format!("if x:\n    class Block(Base):\n        def f(a): return [b for b in a]\n{docstrings}"),
            "'doc'.join(x)\ny\n".to_owned(),
            "def f(:\n".to_owned(),
            "class Block(nn.Module):\r\n    x = 1\n".to_owned(),
            String::new(),
        ];
        let shinglings = Normalisation::ALL.into_iter().flat_map(|each| [(each, 1), (each, 4), (each, 10)]);
        for (code, (normalisation, width)) in
            codes.iter().flat_map(|code| shinglings.clone().map(move |each| (code, each)))
        {
            let blocks = named("Block", [code.clone()]);
            let shingling = Shingling { normalisation, width };
            let whole = Shingles::new(&tokens("Block", code, normalisation), width as usize);
            assert_eq!(blocks.shingles(0, shingling).get(blocks.shelf()), whole, "{code}");
            for family in HashFamily::ALL {
                let hashing = Hashing { family, permutations: 128 };
                let compared = blocks.block(0).compared(shingling, &blocks.common);
                for signature in [compared.signature(hashing), blocks.signature(0, shingling, hashing).into()] {
                    assert_eq!(signature, minhash::signature(&whole, hashing), "{code}");
                }
            }
            assert_eq!(blocks.structure(0), structure::structure(code), "{code}");
        }
    }
}
