//! Stage 3: the classes that discovery rules take for blocks.

use std::collections::{BTreeMap, HashSet};

use netquarry_core::closure::Target;
use netquarry_core::discovery::{CandidateProposal, ClassDescription};
use netquarry_core::index::{DescribedClass, FileId};
use netquarry_core::record::Category;
use netquarry_corpus::scope::ScopeMatcher;
use netquarry_plugin::DiscoveryRule;
use rayon::prelude::*;

use super::context::Context;
use super::fetch::Fetched;
use super::index::Indexed;
use super::plugins::report_failures;
use super::select;
use crate::course::{Stage, StageCourse, Stopwatch, human_seconds, human_things};
use crate::library::names::{NamedBlock, file_stems};
use crate::problem::Problem;

/// A class that is going to be a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// `timm:timm.layers.drop.DropPath`
    pub block: String,
    /// `DropPath`
    pub name: String,
    pub category: Category,
    /// The rule that chose it and why.
    pub reason: String,
    pub target: Target,
    /// The name of its file, without the ending.
    pub stem: String,
    /// The priority of its source in the corpus: 1 comes first.
    pub priority: u32,
}

/// What came out of the stage.
#[derive(Clone, Debug)]
pub struct Discovered {
    /// Sorted by block.
    pub candidates: Vec<Candidate>,
    /// Classes that the rules were shown.
    pub classes: usize,
    pub course: StageCourse,
}

/// Classes that go to a rule in one piece of work for a thread.
const CHUNK: usize = 512;

/// Shows the classes that are in scope to the rules, in their order: the first one that takes a class has it.
pub fn discover(
    context: &Context<'_>,
    fetched: &Fetched,
    indexed: &Indexed,
    rules: &[DiscoveryRule],
) -> Result<Discovered, Problem> {
    let watch = Stopwatch::start(Stage::Discover);
    let classes = context.pool.install(|| describe(fetched, indexed));
    let descriptions: Vec<ClassDescription> = classes.iter().map(|class| class.description.clone()).collect();
    let mut chosen: BTreeMap<usize, (Category, String)> = BTreeMap::new();
    for rule in rules {
        let plugin = format!("{} {}", rule.plugin().name, rule.plugin().version);
        for proposal in ask(context, rule, &descriptions) {
            chosen
                .entry(proposal.index)
                .or_insert_with(|| (proposal.category, format!("{plugin}: {}", proposal.reason)));
        }
    }
    let mut candidates: BTreeMap<String, Candidate> = BTreeMap::new();
    for (position, (category, reason)) in chosen {
        let candidate = candidate(fetched, indexed, &classes[position], category, reason);
        // A class statement in both branches of an `if` is described twice and is one block.
        candidates.entry(candidate.block.clone()).or_insert(candidate);
    }
    let mut candidates: Vec<Candidate> = candidates.into_values().collect();
    name_files(&mut candidates);
    let candidates = select::targets(context, &fetched.corpus.targets, candidates)?;

    let elapsed = human_seconds(watch.elapsed().as_secs_f64());
    let what = format!(
        "{} among {} in {elapsed}",
        human_things(candidates.len(), "candidate"),
        human_things(classes.len(), "class")
    );
    context.console.status("Discovered", &what);
    let course = watch.stop("class", classes.len(), 0);
    Ok(Discovered { candidates, classes: classes.len(), course })
}

/// The classes that are in the scope of their source, by source, file and place.
fn describe(fetched: &Fetched, indexed: &Indexed) -> Vec<DescribedClass> {
    let matchers: Vec<ScopeMatcher> = fetched.sources.iter().map(|source| source.spec.scope.matcher()).collect();
    let subclassed: HashSet<_> = indexed.index.subclassed();
    let in_scope: Vec<FileId> = indexed
        .index
        .files()
        .filter(|(_, file)| matchers[file.source.0 as usize].contains_file(&file.file.path))
        .filter(|(_, file)| file.facts.statements.iter().any(|statement| !statement.classes.is_empty()))
        .map(|(id, _)| id)
        .collect();
    let described = in_scope.into_par_iter().flat_map_iter(|file| {
        let matcher = &matchers[indexed.index.file(file).source.0 as usize];
        // A file that cannot be read any more still has its facts; it only lacks what stands in its docstrings.
        let classes = match indexed.texts.get(file) {
            Ok(text) => indexed.index.describe(file, &text.text, &subclassed),
            Err(reason) => {
                tracing::warn!(path = indexed.index.file(file).file.path, reason, "the classes of a file are left out");
                Vec::new()
            }
        };
        classes.into_iter().filter(|class| matcher.contains_symbol(&class.description.path)).collect::<Vec<_>>()
    });
    described.collect()
}

/// The proposals of one rule, over all classes. What it could not judge is reported and left out.
fn ask(context: &Context<'_>, rule: &DiscoveryRule, classes: &[ClassDescription]) -> Vec<CandidateProposal> {
    let judged: Vec<_> = context.pool.install(|| classes.par_chunks(CHUNK).map(|chunk| rule.discover(chunk)).collect());
    let (mut proposals, mut failures) = (Vec::new(), Vec::new());
    for (chunk, discovery) in judged.into_iter().enumerate() {
        let shifted =
            |proposal: CandidateProposal| CandidateProposal { index: chunk * CHUNK + proposal.index, ..proposal };
        proposals.extend(discovery.proposals.into_iter().map(shifted));
        failures.extend(discovery.failures);
    }
    report_failures(context.console, &failures);
    proposals
}

fn candidate(
    fetched: &Fetched,
    indexed: &Indexed,
    class: &DescribedClass,
    category: Category,
    reason: String,
) -> Candidate {
    let description = &class.description;
    let source = indexed.index.file(class.definition.file).source;
    Candidate {
        block: format!("{}:{}", description.source, description.path),
        name: description.name.clone(),
        category,
        reason,
        target: Target { definition: class.definition, variable: class.variable },
        stem: String::new(),
        priority: fetched.sources[source.0 as usize].spec.priority,
    }
}

fn name_files(candidates: &mut [Candidate]) {
    let named: Vec<_> =
        candidates.iter().map(|candidate| NamedBlock { block: &candidate.block, name: &candidate.name }).collect();
    let stems = file_stems(&named);
    for candidate in candidates {
        candidate.stem = stems[&candidate.block].clone();
    }
}
