//! Stage 3: the classes that discovery rules take for blocks.

use std::collections::{BTreeMap, HashSet};

use netquarry_core::closure::Target;
use netquarry_core::discovery::{CandidateProposal, ClassDescription};
use netquarry_core::index::{DescribedClass, FileId};
use netquarry_core::record::Category;
use netquarry_corpus::scope::{PathPattern, ScopeMatcher};
use netquarry_plugin::DiscoveryRule;
use rayon::prelude::*;

use super::context::Context;
use super::fetch::Fetched;
use super::for_sources::ForSources;
use super::index::Indexed;
use super::plugins::report_failures;
use super::select;
use crate::course::{Stage, StageCourse, Stopwatch};
use crate::library::names::{NamedBlock, file_stems};
use crate::problem::Problem;
use crate::quantity::{human_seconds, human_things};

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
    pub course: StageCourse,
}

/// Shows the classes that are in scope to the rules, in their order: the first one that takes a class has it.
pub fn discover(
    context: &Context<'_>,
    fetched: &Fetched,
    indexed: &Indexed,
    rules: &[ForSources<DiscoveryRule>],
) -> Result<Discovered, Problem> {
    let watch = Stopwatch::start(Stage::Discover);
    tell_unknown_sources(context, fetched);
    let classes = describe(context, fetched, indexed);
    let descriptions: Vec<ClassDescription> = classes.iter().map(|class| class.description.clone()).collect();
    let mut chosen: BTreeMap<usize, (Category, String)> = BTreeMap::new();
    for rule in rules {
        let plugin = format!("{} {}", rule.all().plugin().name, rule.all().plugin().version);
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
    Ok(Discovered { candidates, course })
}

/// The classes that are in the scope of their source, by source, file and place. A file that cannot be read any more
/// costs its own classes and is told.
fn describe(context: &Context<'_>, fetched: &Fetched, indexed: &Indexed) -> Vec<DescribedClass> {
    let matchers: Vec<ScopeMatcher> = fetched.sources.iter().map(|source| source.spec.scope.matcher()).collect();
    let subclassed: HashSet<_> = indexed.index.subclassed();
    let in_scope: Vec<FileId> = indexed
        .index
        .files()
        .filter(|(_, file)| matchers[file.source.0 as usize].contains_file(&file.file.path))
        .filter(|(_, file)| file.facts.statements.iter().any(|statement| !statement.classes.is_empty()))
        .map(|(id, _)| id)
        .collect();
    tell_empty_scopes(context, fetched, indexed, &matchers);
    let of_file = |file: FileId| -> Result<Vec<DescribedClass>, String> {
        let matcher = &matchers[indexed.index.file(file).source.0 as usize];
        let text = &indexed.texts.get(file)?.text;
        let classes = indexed.index.describe(file, text, &subclassed).into_iter();
        Ok(classes.filter(|class| matcher.contains_symbol(&class.description.path)).collect())
    };
    let described: Vec<_> = context.pool.install(|| in_scope.into_par_iter().map(of_file).collect());
    let (mut classes, mut unreadable) = (Vec::new(), Vec::new());
    for file in described {
        match file {
            Ok(described) => classes.extend(described),
            Err(reason) => unreadable.push(reason),
        }
    }
    if let Some(first) = unreadable.first() {
        let count = human_things(unreadable.len(), "file");
        context.console.caution(&format!("The classes of {count} are left out, which changed or went: {first}"));
    }
    classes
}

/// Options for a source that the corpus does not have are a slip of whoever wrote them.
fn tell_unknown_sources(context: &Context<'_>, fetched: &Fetched) {
    let is_known = |name: &String| fetched.corpus.source(name).is_some();
    for name in context.settings.source_options.keys().filter(|name| !is_known(name)) {
        let corpus = &fetched.corpus.name;
        context.console.caution(&format!("[for-source.{name}] is about no source of the corpus `{corpus}`"));
    }
}

/// A scope in which no file lies is a slip of whoever wrote it.
fn tell_empty_scopes(context: &Context<'_>, fetched: &Fetched, indexed: &Indexed, matchers: &[ScopeMatcher]) {
    for (position, (source, matcher)) in fetched.sources.iter().zip(matchers).enumerate() {
        let mut files = indexed.index.files().filter(|(_, file)| file.source.0 as usize == position).peekable();
        if files.peek().is_some() && !files.any(|(_, file)| matcher.contains_file(&file.file.path)) {
            let scope = &source.spec.scope;
            let patterns =
                |patterns: &[PathPattern]| patterns.iter().cloned().map(String::from).collect::<Vec<_>>().join(", ");
            context.console.caution(&format!(
                "No file of the source `{}` lies in its scope (include: {}; exclude: {})",
                source.spec.name,
                patterns(&scope.include),
                patterns(&scope.exclude)
            ));
        }
    }
}

/// The proposals of one rule, over all classes; those of a source that has options of its own by these. What it could not
/// judge is reported and left out.
fn ask(
    context: &Context<'_>,
    rule: &ForSources<DiscoveryRule>,
    classes: &[ClassDescription],
) -> Vec<CandidateProposal> {
    let own: Vec<(&str, &DiscoveryRule)> = rule.own().collect();
    if own.is_empty() {
        return judged(context, rule.all(), classes);
    }
    let has_own = |class: &ClassDescription| own.iter().any(|(source, _)| *source == class.source);
    let mut proposals = of_some(context, rule.all(), classes, |class| !has_own(class));
    for (source, rule) in &own {
        proposals.extend(of_some(context, rule, classes, |class| class.source == *source));
    }
    proposals
}

/// The proposals of a rule over some of the classes.
fn of_some(
    context: &Context<'_>,
    rule: &DiscoveryRule,
    classes: &[ClassDescription],
    is_meant: impl Fn(&ClassDescription) -> bool,
) -> Vec<CandidateProposal> {
    let (positions, meant): (Vec<usize>, Vec<ClassDescription>) =
        classes.iter().cloned().enumerate().filter(|(_, class)| is_meant(class)).unzip();
    let placed = |proposal: CandidateProposal| CandidateProposal { index: positions[proposal.index], ..proposal };
    judged(context, rule, &meant).into_iter().map(placed).collect()
}

fn judged(context: &Context<'_>, rule: &DiscoveryRule, classes: &[ClassDescription]) -> Vec<CandidateProposal> {
    let discovery = context.pool.install(|| rule.discover(classes));
    report_failures(context.console, &discovery.failures);
    discovery.proposals
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
