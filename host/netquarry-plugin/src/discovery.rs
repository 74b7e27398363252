//! Calls of discovery rules.

use std::ops::Range;

use netquarry_core::discovery::{Ancestor, BaseClass, CandidateProposal, ClassDescription, MethodDescription};
use netquarry_core::record::Category;
use rayon::prelude::*;
use serde_json::json;

use crate::bindings::discovery_rule::netquarry::plugin::classes;
use crate::bindings::discovery_rule::{DiscoveryRule as Instance, DiscoveryRulePre};
use crate::call::{State, Task};
use crate::error::{CallError, PluginIdentity};
use crate::kept::{CallOutcome, KeptCall, KeptError};
use crate::plugin::{Call, ConfiguredCaller, Keepsake, accepted};
use crate::tape::Tape;

/// A discovery rule with its configuration.
#[derive(Clone)]
pub struct DiscoveryRule {
    caller: ConfiguredCaller,
    instances: DiscoveryRulePre<State>,
}

/// What a rule chose, and what it could not judge.
#[derive(Debug, Default)]
pub struct Discovery {
    /// In the order of the classes.
    pub proposals: Vec<CandidateProposal>,
    /// One for each class at which the rule failed, or for a run of classes where there were too many to look further.
    pub failures: Vec<CallError>,
}

/// A batch ends with the first module that takes it to this size, ...
const BATCH: usize = 256;
/// ... and within a module at this one.
const LARGEST_BATCH: usize = 1000;
/// Failing classes of one batch that are told from their neighbours.
const ISOLATED_FAILURES: usize = 8;

impl DiscoveryRule {
    pub(crate) fn new(caller: ConfiguredCaller, instances: DiscoveryRulePre<State>) -> Self {
        Self { caller, instances }
    }

    pub fn plugin(&self) -> &PluginIdentity {
        self.caller.plugin()
    }

    /// Judges all classes, in batches of whole modules where the classes are sorted by module, on all threads of the
    /// current rayon pool. A batch that fails is divided until the class at fault is found; the others are judged all
    /// the same.
    pub fn discover(&self, classes: &[ClassDescription]) -> Discovery {
        let judge = |batch: Range<usize>| {
            let (mut isolated, mut discovery) = (0, Discovery::default());
            self.judge(classes, batch, &mut isolated, &mut discovery);
            discovery
        };
        let judged: Vec<Discovery> = batches(classes).into_par_iter().map(judge).collect();
        let mut all = Discovery::default();
        for Discovery { proposals, failures } in judged {
            all.proposals.extend(proposals);
            all.failures.extend(failures);
        }
        all
    }

    fn judge(&self, classes: &[ClassDescription], range: Range<usize>, isolated: &mut usize, into: &mut Discovery) {
        let is_last = range.len() == 1 || *isolated >= ISOLATED_FAILURES;
        match self.ask(classes, range.clone(), is_last) {
            Ok(proposals) => into.proposals.extend(proposals),
            Err(error) if is_last => {
                *isolated += 1;
                into.failures.push(error);
            }
            Err(_) => {
                let middle = range.start + range.len() / 2;
                self.judge(classes, range.start..middle, isolated, into);
                self.judge(classes, middle..range.end, isolated, into);
            }
        }
    }

    /// A call that fails is kept where it is the last word on its classes.
    fn ask(
        &self,
        classes: &[ClassDescription],
        range: Range<usize>,
        is_last: bool,
    ) -> Result<Vec<CandidateProposal>, CallError> {
        let item = label(&classes[range.clone()]);
        let records: Vec<_> = classes[range.clone()].iter().map(classes::ClassDescription::from).collect();
        let call = Call {
            task: Task { stage: DISCOVER, item: &item, source: common_source(&classes[range.clone()]) },
            world: &self.instances,
            ask: &|instance: &Instance, store| {
                accepted(instance.call_discover(store, &records), |answer| proposals(classes, range.clone(), answer))
            },
        };
        if !is_last {
            let answer = self.caller.call(&call);
            if answer.is_err() {
                self.caller.forgive(call.task);
            }
            return answer;
        }
        let arguments = &|| vec![json!(records)];
        self.caller.call_or_keep(&call, &Keepsake { function: "discover", arguments, blocks: 0 })
    }

    pub(crate) fn replay(&self, kept: &KeptCall, answers: Tape) -> Result<CallOutcome, KeptError> {
        let records: Vec<classes::ClassDescription> = kept.argument()?;
        let call = Call {
            task: Task { stage: DISCOVER, item: &kept.item, source: "" },
            world: &self.instances,
            ask: &|instance: &Instance, store| {
                accepted(instance.call_discover(store, &records), |answer| {
                    let proposed = answer.iter().map(|proposal| proposal.index);
                    check(proposed, records.len(), |index| records[index].path.clone())?;
                    Ok(json!(answer))
                })
            },
        };
        Ok(self.caller.replay(&call, answers))
    }
}

const DISCOVER: &str = "discover";

/// Runs of whole modules, each of a good size for one call.
fn batches(classes: &[ClassDescription]) -> Vec<Range<usize>> {
    let mut batches = Vec::new();
    let mut start = 0;
    for end in 1..=classes.len() {
        let module_ends = classes.get(end).is_none_or(|next| next.module != classes[end - 1].module);
        let size = end - start;
        if (module_ends && size >= BATCH) || size == LARGEST_BATCH || end == classes.len() {
            batches.push(start..end);
            start = end;
        }
    }
    batches
}

/// The source that all of the classes are from; empty where they are from several.
fn common_source(classes: &[ClassDescription]) -> &str {
    let first = classes.first().map_or("", |class| class.source.as_str());
    if classes.iter().all(|class| class.source == first) { first } else { "" }
}

/// The classes, for an error.
fn label(classes: &[ClassDescription]) -> String {
    match classes {
        [] => "no class".to_owned(),
        [class] => format!("{}:{}", class.source, class.path),
        [first, .., last] => {
            format!("{} classes, {}:{} to {}:{}", classes.len(), first.source, first.path, last.source, last.path)
        }
    }
}

fn proposals(
    all: &[ClassDescription],
    range: Range<usize>,
    answer: Vec<classes::Proposal>,
) -> Result<Vec<CandidateProposal>, String> {
    let given = &all[range.clone()];
    check(answer.iter().map(|proposal| proposal.index), given.len(), |index| given[index].path.clone())?;
    let converted = |classes::Proposal { index, category, reason }| {
        let index = range.start + index as usize;
        CandidateProposal { index, qualified_name: all[index].path.clone(), category: category.into(), reason }
    };
    let mut proposals: Vec<_> = answer.into_iter().map(converted).collect();
    proposals.sort_by_key(|proposal| proposal.index);
    Ok(proposals)
}

/// Refuses proposals of classes that were not given, and of one twice.
fn check(proposed: impl Iterator<Item = u32>, given: usize, path: impl Fn(usize) -> String) -> Result<(), String> {
    let mut seen = vec![false; given];
    for index in proposed {
        match seen.get_mut(index as usize) {
            None => return Err(format!("it proposes the class at {index} of a list of {given}")),
            Some(true) => return Err(format!("it proposes {} twice", path(index as usize))),
            Some(first) => *first = true,
        }
    }
    Ok(())
}

impl classes::Host for State {}

impl From<&ClassDescription> for classes::ClassDescription {
    fn from(class: &ClassDescription) -> Self {
        Self {
            name: class.name.clone(),
            path: class.path.clone(),
            module: class.module.clone(),
            source: class.source.clone(),
            file: class.file.clone(),
            bases: class.bases.iter().map(classes::BaseClass::from).collect(),
            metaclass: class.metaclass.clone(),
            ancestors: class.ancestors.iter().map(classes::Ancestor::from).collect(),
            methods: class.methods.iter().map(classes::Method::from).collect(),
            decorators: class.decorators.clone(),
            attributes: class.attributes.clone(),
            references: class.references.clone(),
            summary: class.summary.clone(),
            conditional: class.conditional,
            subclassed: class.subclassed,
        }
    }
}

impl From<&BaseClass> for classes::BaseClass {
    fn from(base: &BaseClass) -> Self {
        Self { written: base.written.clone(), resolved: base.resolved.clone() }
    }
}

impl From<&Ancestor> for classes::Ancestor {
    fn from(ancestor: &Ancestor) -> Self {
        let methods = ancestor.methods.iter().map(classes::Method::from).collect();
        Self { path: ancestor.path.clone(), external: ancestor.external, methods }
    }
}

impl From<&MethodDescription> for classes::Method {
    fn from(method: &MethodDescription) -> Self {
        Self {
            name: method.name.clone(),
            parameters: method.parameters.clone(),
            decorators: method.decorators.clone(),
            stub: method.is_stub,
        }
    }
}

impl From<classes::Category> for Category {
    fn from(category: classes::Category) -> Self {
        match category {
            classes::Category::Attention => Self::Attention,
            classes::Category::Convolution => Self::Convolution,
            classes::Category::TransformerBlock => Self::TransformerBlock,
            classes::Category::Pooling => Self::Pooling,
            classes::Category::Normalisation => Self::Normalisation,
            classes::Category::Loss => Self::Loss,
            classes::Category::Architecture => Self::Architecture,
            classes::Category::Utility => Self::Utility,
        }
    }
}

impl From<Category> for classes::Category {
    fn from(category: Category) -> Self {
        match category {
            Category::Attention => Self::Attention,
            Category::Convolution => Self::Convolution,
            Category::TransformerBlock => Self::TransformerBlock,
            Category::Pooling => Self::Pooling,
            Category::Normalisation => Self::Normalisation,
            Category::Loss => Self::Loss,
            Category::Architecture => Self::Architecture,
            Category::Utility => Self::Utility,
        }
    }
}
