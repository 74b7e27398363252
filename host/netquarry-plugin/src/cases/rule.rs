//! Cases of discovery rules.

use netquarry_core::discovery::{CandidateProposal, ClassDescription};
use netquarry_core::record::Category;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::repository::{self, Files};
use super::{Answered, Input};
use crate::asked::Sources;
use crate::discovery::DiscoveryRule;
use crate::plugin::Kind;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleInput {
    /// The texts of the files of a repository, by their paths.
    files: Files,
}

impl Input for RuleInput {
    const KIND: Kind = Kind::DiscoveryRule;
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RuleOutput {
    /// In the order of the files and of the classes in them.
    candidates: Vec<Candidate>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Candidate {
    /// `acme.heads.Head`
    path: String,
    category: Category,
    reason: String,
}

impl From<CandidateProposal> for Candidate {
    fn from(CandidateProposal { qualified_name, category, reason, .. }: CandidateProposal) -> Self {
        Self { path: qualified_name, category, reason }
    }
}

pub(super) fn run(rule: &DiscoveryRule, RuleInput { files }: &RuleInput) -> Answered<RuleOutput> {
    let Sources { index, texts, .. } = repository::sources(files);
    let subclassed = index.subclassed();
    let classes: Vec<ClassDescription> = index
        .files()
        .flat_map(|(file, _)| index.describe(file, &texts(file), &subclassed))
        .map(|class| class.description)
        .collect();
    let discovery = rule.discover(&classes);
    let output = RuleOutput { candidates: discovery.proposals.into_iter().map(Candidate::from).collect() };
    Answered { output, failures: discovery.failures }
}
