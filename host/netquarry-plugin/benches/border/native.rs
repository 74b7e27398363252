//! The host's side as the SDK's types, for calls of plugins without WebAssembly.

use std::collections::BTreeMap;

use netquarry_core::dedup::{Banding, BlockSet, Criterion, Hashing, Shingling, SimilarStructures};
use netquarry_core::discovery::{Ancestor, BaseClass, ClassDescription, MethodDescription};
use netquarry_core::facts;
use netquarry_core::record::{BlockRecord, Category, ClosureRecord, ParameterRecord, RecordSource};
use netquarry_core::source::SourceKind;
use netquarry_core::verdict::{self, Evidence, Level, TensorShape};
use netquarry_sdk::Refusal;
use netquarry_sdk::dedup::{self, BlockSummary, Follower, Pair, SimilarBlocks, SimilarPair, Structure};
use netquarry_sdk::discovery::{self, Method};
use netquarry_sdk::emit::{self, Dependency, Outcome, Parameter, ParameterKind, Provenance, Tensor};

/// The kernels of the host without the border.
pub(crate) struct Blocks<'a>(pub(crate) &'a dyn BlockSet);

fn hexadecimal(digest: [u8; 32]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn shingling(shingling: &dedup::Shingling) -> Shingling {
    Shingling { normalisation: shingling.normalisation.parse().expect("the host has it"), width: shingling.width }
}

fn hashing(hashing: &dedup::Hashing) -> Hashing {
    Hashing { family: hashing.family.parse().expect("the host has it"), permutations: hashing.permutations }
}

fn banding(banding: &dedup::Banding) -> Banding {
    Banding { hashing: hashing(&banding.hashing), bands: banding.bands, rows: banding.rows }
}

fn criteria(criteria: &[dedup::Criterion]) -> Vec<Criterion> {
    let criterion = |criterion: &dedup::Criterion| Criterion {
        shingling: shingling(&criterion.shingling),
        similarity: criterion.similarity,
    };
    criteria.iter().map(criterion).collect()
}

struct Structures(Box<dyn SimilarStructures>);

impl dedup::SimilarStructures for Structures {
    fn similar(&self, blocks: &[u32], most: u32) -> SimilarBlocks {
        let pair = |pair: netquarry_core::dedup::SimilarPair| SimilarPair {
            first: pair.first,
            second: pair.second,
            similarity: pair.similarity,
        };
        let (pairs, looked_up) = self.0.similar(blocks, most as usize);
        let looked_up = u32::try_from(looked_up).expect("no more than were asked for");
        SimilarBlocks { pairs: pairs.into_iter().map(pair).collect(), looked_up }
    }
}

impl dedup::Blocks for Blocks<'_> {
    fn count(&self) -> u32 {
        self.0.len()
    }

    fn total(&self) -> u32 {
        self.0.total()
    }

    fn positions(&self) -> Vec<u32> {
        (0..self.0.total()).map(|block| self.0.position(block)).collect()
    }

    fn summaries(&self, start: u32, count: u32) -> Vec<BlockSummary> {
        let end = start.saturating_add(count).min(self.0.total());
        let summary = |block| {
            let summary = self.0.summary(block);
            BlockSummary {
                id: summary.id,
                name: summary.name,
                source: summary.source,
                priority: summary.priority,
                level: summary.level,
                accuracy: summary.accuracy,
                characters: summary.characters,
                sha256: hexadecimal(summary.sha256),
            }
        };
        (start..end).map(summary).collect()
    }

    fn code(&self, block: u32) -> String {
        self.0.code(block)
    }

    fn tokens(&self, block: u32, normalisation: &str) -> Result<Vec<String>, Refusal> {
        Ok(self.0.tokens(block, normalisation.parse().expect("the host has it")))
    }

    fn shingle_count(&self, block: u32, options: &dedup::Shingling) -> Result<u32, Refusal> {
        Ok(self.0.shingle_count(block, shingling(options)))
    }

    fn first_equals(&self, members: &[u32], options: &dedup::Shingling) -> Result<Vec<u32>, Refusal> {
        Ok(self.0.first_equals(members, shingling(options)))
    }

    fn signature(&self, block: u32, options: &dedup::Shingling, signing: &dedup::Hashing) -> Result<Vec<u32>, Refusal> {
        Ok(self.0.signature(block, shingling(options), hashing(signing)))
    }

    fn candidate_pairs(
        &self,
        members: &[u32],
        options: &dedup::Shingling,
        bands: &dedup::Banding,
    ) -> Result<Vec<Pair>, Refusal> {
        let pairs = self.0.candidate_pairs(members, shingling(options), banding(bands)).expect("they fit into memory");
        Ok(pairs.into_iter().map(|(first, second)| Pair { first, second }).collect())
    }

    fn candidate_groups(
        &self,
        members: &[u32],
        options: &dedup::Shingling,
        bands: &dedup::Banding,
    ) -> Result<Vec<Vec<u32>>, Refusal> {
        Ok(self.0.candidate_groups(members, shingling(options), banding(bands)))
    }

    fn leaders(
        &self,
        order: &[u32],
        options: &[dedup::Criterion],
        bands: &dedup::Banding,
    ) -> Result<Vec<Follower>, Refusal> {
        let followers = self.0.leaders(order, &criteria(options), banding(bands));
        let converted = |follower: netquarry_core::dedup::Follower| Follower {
            block: follower.block,
            leader: follower.leader,
            similarity: follower.similarity,
        };
        Ok(followers.into_iter().map(converted).collect())
    }

    fn similar_groups(&self, members: &[u32], options: &[dedup::Criterion]) -> Result<Vec<Vec<u32>>, Refusal> {
        Ok(self.0.similar_groups(members, &criteria(options)))
    }

    fn jaccard(&self, block: u32, others: &[u32], options: &dedup::Shingling) -> Result<Vec<f64>, Refusal> {
        Ok(self.0.jaccard(block, others, shingling(options)))
    }

    fn structure(&self, block: u32) -> Structure {
        let structure = self.0.structure(block);
        Structure {
            sha256: hexadecimal(structure.sha256),
            calls: structure.calls,
            call_counts: structure.call_counts,
            hyperparameters: structure.hyperparameters,
        }
    }

    fn structure_digests(&self, members: &[u32]) -> Vec<String> {
        self.0.structure_digests(members).into_iter().map(hexadecimal).collect()
    }

    fn structural_jaccard(&self, block: u32, others: &[u32]) -> Vec<f64> {
        self.0.structural_jaccard(block, others)
    }

    fn structure_index<'a>(&'a self, members: &[u32], threshold: f64) -> Box<dyn dedup::SimilarStructures + 'a> {
        Box::new(Structures(self.0.structure_index(members, threshold)))
    }
}

fn method(method: &MethodDescription) -> Method {
    Method {
        name: method.name.clone(),
        parameters: method.parameters.clone(),
        decorators: method.decorators.clone(),
        stub: method.is_stub,
    }
}

pub(crate) fn class(class: &ClassDescription) -> discovery::ClassDescription {
    let base =
        |base: &BaseClass| discovery::BaseClass { written: base.written.clone(), resolved: base.resolved.clone() };
    let ancestor = |ancestor: &Ancestor| discovery::Ancestor {
        path: ancestor.path.clone(),
        external: ancestor.external,
        methods: ancestor.methods.iter().map(method).collect(),
    };
    discovery::ClassDescription {
        name: class.name.clone(),
        path: class.path.clone(),
        module: class.module.clone(),
        source: class.source.clone(),
        file: class.file.clone(),
        bases: class.bases.iter().map(base).collect(),
        metaclass: class.metaclass.clone(),
        ancestors: class.ancestors.iter().map(ancestor).collect(),
        methods: class.methods.iter().map(method).collect(),
        decorators: class.decorators.clone(),
        attributes: class.attributes.clone(),
        references: class.references.clone(),
        summary: class.summary.clone(),
        conditional: class.conditional,
        subclassed: class.subclassed,
    }
}

pub(crate) fn invented_class(number: usize) -> ClassDescription {
    let method = |name: &str| MethodDescription {
        name: name.to_owned(),
        parameters: vec!["self".to_owned(), "x".to_owned()],
        decorators: Vec::new(),
        is_stub: false,
    };
    let path = "torch.nn.Module".to_owned();
    let module = format!("invented.module{}", number / 8);
    let name = format!("Block{number}");
    ClassDescription {
        path: format!("{module}.{name}"),
        name,
        file: format!("invented/module{}.py", number / 8),
        module,
        source: "invented".to_owned(),
        bases: vec![BaseClass { written: Some("nn.Module".to_owned()), resolved: Some(path.clone()) }],
        metaclass: None,
        ancestors: vec![Ancestor { path, external: true, methods: Vec::new() }],
        methods: ["__init__", "forward", "extra_repr"].map(method).to_vec(),
        decorators: Vec::new(),
        attributes: Vec::new(),
        references: ["F.relu", "nn.BatchNorm2d", "nn.Conv2d", "nn.Module", "torch.Tensor"].map(str::to_owned).to_vec(),
        summary: Some("A block that nobody wrote.".to_owned()),
        conditional: false,
        subclassed: false,
    }
}

fn parameter(name: &str) -> ParameterRecord {
    ParameterRecord {
        name: name.to_owned(),
        kind: facts::ParameterKind::PositionalOrKeyword,
        annotation: Some("int".to_owned()),
        default: Some("1".to_owned()),
    }
}

pub(crate) fn record(class: &ClassDescription) -> BlockRecord {
    let source = RecordSource {
        name: class.source.clone(),
        kind: SourceKind::Local,
        priority: 1,
        version: None,
        commit: None,
        path: class.file.clone(),
        lines: [1, 100],
        sha1: "0".repeat(40),
    };
    BlockRecord {
        block: format!("{}:{}", class.source, class.path),
        name: class.name.clone(),
        category: Category::Utility,
        discovered_by: "the benchmark".to_owned(),
        source,
        bundle: Some(format!("blocks/{}.py", class.path)),
        sha256: Some("0".repeat(64)),
        lines: Some(100),
        requirements: vec!["torch".to_owned()],
        assumed_requirements: Vec::new(),
        installed: Vec::new(),
        operator_imports: Vec::new(),
        unresolved: Vec::new(),
        unknown_keys: Vec::new(),
        replaced: Vec::new(),
        edits: Vec::new(),
        closure: Vec::new(),
        constructor: ["channels", "kernel_size", "stride"].map(parameter).to_vec(),
        forward: vec![parameter("x")],
        level: 3,
        levels: BTreeMap::new(),
        failure: None,
        structure: None,
        evidence: Evidence::default(),
        tainted: false,
        protections: Vec::new(),
        tier: None,
        dedup: None,
        swhid: String::new(),
        license: None,
        license_policy: None,
        sources: Vec::new(),
        imports: Vec::new(),
    }
}

/// The record as the plugin gets it, as far as `emit-neutral-spec` looks at it.
pub(crate) fn block(record: &BlockRecord, code: Option<&str>) -> emit::Block {
    let parameter = |parameter: &ParameterRecord| Parameter {
        name: parameter.name.clone(),
        kind: match parameter.kind {
            facts::ParameterKind::PositionalOnly => ParameterKind::PositionalOnly,
            facts::ParameterKind::PositionalOrKeyword => ParameterKind::PositionalOrKeyword,
            facts::ParameterKind::Variadic => ParameterKind::Variadic,
            facts::ParameterKind::KeywordOnly => ParameterKind::KeywordOnly,
            facts::ParameterKind::VariadicKeyword => ParameterKind::VariadicKeyword,
        },
        annotation: parameter.annotation.clone(),
        default: parameter.default.clone(),
    };
    let tensor = |tensor: &TensorShape| {
        let TensorShape { name, shape, dtype } = tensor.clone();
        Tensor { name, shape, dtype }
    };
    let outcome = |level: Level| {
        let outcome = match record.levels.get(level.name())? {
            verdict::Outcome::Passed => Outcome::Passed,
            verdict::Outcome::Failed => Outcome::Failed,
            verdict::Outcome::Unknown => Outcome::Unknown,
            verdict::Outcome::NotApplicable => Outcome::NotApplicable,
        };
        Some((level.name().to_owned(), outcome))
    };
    emit::Block {
        id: record.block.clone(),
        name: record.name.clone(),
        category: category(record.category),
        provenance: provenance(record),
        license: record.license.clone(),
        bundle: record.bundle.clone(),
        sha256: record.sha256.clone(),
        code: code.map(str::to_owned),
        requirements: record.requirements.clone(),
        constructor_parameters: record.constructor.iter().map(parameter).collect(),
        forward_parameters: record.forward.iter().map(parameter).collect(),
        constructor_arguments: record.evidence.constructor_arguments.clone().into_iter().collect(),
        inputs: record.evidence.forward_inputs.iter().map(tensor).collect(),
        outputs: record.evidence.forward_outputs.iter().map(tensor).collect(),
        parameter_count: record.evidence.parameters,
        closure: record.closure.iter().map(dependency).collect(),
        level: record.level,
        outcomes: Level::ALL.into_iter().filter_map(outcome).collect(),
        failure: record.failure.as_ref().map(failure),
        manifest_record: record.to_line(),
    }
}

fn failure(failure: &verdict::Failure) -> emit::Failure {
    emit::Failure { class: failure.class.name().to_owned(), message: failure.message.clone() }
}

fn provenance(record: &BlockRecord) -> Provenance {
    let [first_line, last_line] = record.source.lines;
    Provenance {
        source: record.source.name.clone(),
        kind: record.source.kind.name().to_owned(),
        version: record.source.version.clone(),
        commit: record.source.commit.clone(),
        file: record.source.path.clone(),
        first_line,
        last_line,
        sha1: record.source.sha1.clone(),
        swhid: record.swhid.clone(),
    }
}

fn dependency(definition: &ClosureRecord) -> Dependency {
    Dependency {
        definition: definition.definition.clone(),
        needed_by: definition.needed_by.clone(),
        confidence: definition.confidence.map(|confidence| confidence.name().to_owned()),
        license: definition.license.clone(),
    }
}

fn category(category: Category) -> emit::Category {
    match category {
        Category::Attention => emit::Category::Attention,
        Category::Convolution => emit::Category::Convolution,
        Category::TransformerBlock => emit::Category::TransformerBlock,
        Category::Pooling => emit::Category::Pooling,
        Category::Normalisation => emit::Category::Normalisation,
        Category::Loss => emit::Category::Loss,
        Category::Architecture => emit::Category::Architecture,
        Category::Utility => emit::Category::Utility,
    }
}
