//! Blocks as image classifiers in the form of LEMUR's models.

use std::collections::BTreeMap;

use netquarry_sdk::emit::{Block, Emission, Emitted, File, SpecEmitter};
use netquarry_sdk::{ConfigurationError, Plugin};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod arguments;
mod evidence;
mod model;
pub mod name;
mod python;
pub mod refusal;
pub mod wrapping;

use crate::evidence::Record;
use crate::refusal::Refusal;
use crate::wrapping::{Plan, Rule};

pub const FORMAT: &str = "netquarry-lemur/1";

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Configuration {
    /// Blocks below this level of validation (5 to 7) become no model: the wrapper is made by what a forward pass showed.
    #[schemars(range(min = 5, max = 7))]
    pub minimum_level: u8,
    /// What the names of models begin with, before a hyphen: letters and digits.
    pub prefix: String,
    /// Blocks with more parameters become no model.
    pub maximum_parameters: u64,
    /// Nor do those whose recorded forward pass took more operations, where that is known.
    pub maximum_flops: u64,
    /// Nor do those whose inputs have more numbers for each sample.
    pub maximum_input_elements: u64,
    /// The distributions that are there where the models are trained; a block that needs another becomes no model.
    pub distributions: Vec<String>,
}

impl Default for Configuration {
    /// The distributions are those of which a model of LEMUR may make use: nn-dataset 2.2.11 requires them.
    fn default() -> Self {
        let distributions = [
            "accelerate",
            "diffusers",
            "einops",
            "ftfy",
            "matplotlib",
            "numpy",
            "pandas",
            "pillow",
            "requests",
            "scikit-learn",
            "scipy",
            "torch",
            "torchvision",
            "tqdm",
            "transformers",
        ];
        Self {
            minimum_level: 5,
            prefix: "rag".to_owned(),
            maximum_parameters: 200_000_000,
            maximum_flops: 200_000_000_000,
            maximum_input_elements: 1 << 22,
            distributions: distributions.map(str::to_owned).to_vec(),
        }
    }
}

pub struct Lemur {
    configuration: Configuration,
}

/// What the index is to know of a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    Model { name: String, rule: Rule },
    Refused(Refusal),
}

impl Plugin for Lemur {
    const NAME: &str = "emit-lemur";
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    const DOCUMENTATION: &str = include_str!("../README.md");
    const EXAMPLES: &[(&str, &str)] = &[("two-blocks", include_str!("../examples/two-blocks.json"))];
    type Configuration = Configuration;

    fn new(configuration: Configuration) -> Result<Self, ConfigurationError> {
        let refuse = |pointer: &str, message: &str| {
            Err(ConfigurationError { pointer: pointer.to_owned(), message: message.to_owned() })
        };
        let prefix = &configuration.prefix;
        if !(5..=7).contains(&configuration.minimum_level) {
            refuse("/minimum_level", "of blocks below level 5 no forward pass is known, and levels go to 7")
        } else if prefix.is_empty() || !prefix.chars().all(|each| each.is_ascii_alphanumeric()) {
            refuse("/prefix", "LEMUR splits names at underscores and hyphens: use letters and digits only")
        } else {
            Ok(Self { configuration })
        }
    }
}

impl SpecEmitter for Lemur {
    fn emit_block(&self, block: &Block) -> Result<Emission, netquarry_sdk::Refusal> {
        let record: Record = serde_json::from_str(&block.manifest_record)
            .map_err(|error| format!("the record of the block: {error}"))?;
        let (files, entry) = match Plan::of(block, &record, &self.configuration) {
            Ok(plan) => {
                let (name, text) = self.model(block, &plan);
                let path = format!("nn/{name}.py");
                (vec![File::whole(path, text)], Entry::Model { name, rule: plan.rule })
            }
            Err(refusal) => (Vec::new(), Entry::Refused(refusal)),
        };
        let entry = serde_json::to_string(&entry).map_err(|error| error.to_string())?;
        Ok(Emission { files, entry: Some(entry) })
    }

    fn emit_index(&self, blocks: &[Emitted]) -> Result<Vec<File>, netquarry_sdk::Refusal> {
        let mut index = Index { format: FORMAT, counts: Counts::default(), models: Vec::new(), refused: Vec::new() };
        for block in blocks {
            index.add(block)?;
        }
        let mut content = serde_json::to_vec_pretty(&index).map_err(|error| error.to_string())?;
        content.push(b'\n');
        Ok(vec![File::whole("index.json", content)])
    }
}

impl Lemur {
    fn model(&self, block: &Block, plan: &Plan) -> (String, String) {
        let code = block.code.as_deref().expect("there is no plan for a block without a text");
        let text = model::text(block, code, plan);
        (format!("{}-{}", self.configuration.prefix, name::digest(&text)), text)
    }
}

/// All blocks of a run, sorted by identity: those that became models, and why the others did not.
#[derive(Serialize)]
struct Index<'a> {
    format: &'a str,
    counts: Counts,
    models: Vec<IndexedModel<'a>>,
    refused: Vec<RefusedBlock<'a>>,
}

#[derive(Default, Serialize)]
struct Counts {
    blocks: usize,
    models: usize,
    by_rule: BTreeMap<Rule, usize>,
    by_refusal: BTreeMap<Refusal, usize>,
}

#[derive(Serialize)]
struct IndexedModel<'a> {
    id: &'a str,
    category: &'a str,
    model: String,
    rule: Rule,
    path: &'a str,
}

#[derive(Serialize)]
struct RefusedBlock<'a> {
    id: &'a str,
    category: &'a str,
    reason: Refusal,
}

impl<'a> Index<'a> {
    fn add(&mut self, block: &'a Emitted) -> Result<(), String> {
        let entry = block.entry.as_deref().ok_or_else(|| format!("{} came without an entry", block.id))?;
        let entry: Entry =
            serde_json::from_str(entry).map_err(|error| format!("the entry of {}: {error}", block.id))?;
        let (id, category) = (block.id.as_str(), block.category.name());
        self.counts.blocks += 1;
        match entry {
            Entry::Model { name, rule } => {
                let path = block.paths.first().ok_or_else(|| format!("{id} came without its model"))?;
                self.counts.models += 1;
                *self.counts.by_rule.entry(rule).or_default() += 1;
                self.models.push(IndexedModel { id, category, model: name, rule, path });
            }
            Entry::Refused(reason) => {
                *self.counts.by_refusal.entry(reason).or_default() += 1;
                self.refused.push(RefusedBlock { id, category, reason });
            }
        }
        Ok(())
    }
}

netquarry_sdk::export!(Lemur as SpecEmitter);

#[cfg(test)]
mod tests;
