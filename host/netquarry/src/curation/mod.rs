//! What deduplication leaves of models of any origin, as the files of a folder: what stays and on which side of a split, what
//! goes and why.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use netquarry_core::dedup::{BlockSet as _, BlockSummary};
use netquarry_core::record::DedupDecision;
use serde::Serialize;

use crate::driver::curate::{Contenders as _, Curated};
use crate::library::folder::{Content, Files};
use crate::models::Models;
use crate::report;
use crate::spool::{Spool, Spooled};

mod figures;
mod nn_dup;
mod python_json;
mod splits;
mod weights;

pub use figures::{Figures, Method, SweepPoint};
pub use splits::Split;
pub use weights::Upweight;

/// What became of each model, a line each.
pub const DECISIONS: &str = "decisions.jsonl";

/// How the files are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// `kept/` beside the decisions.
    Netquarry,
    /// The files of NN-DUP beside the decisions, as ChatPrep and NN-GPT read them.
    NnDup,
}

/// A deduplicated set of models, with what is written about it.
pub struct Curation<'a> {
    models: &'a Models,
    curated: &'a Curated,
    /// The places of the models that stay: those that came first, then those that were brought back.
    kept: Vec<usize>,
    /// Families of models that stay, by their places.
    families: Vec<Vec<usize>>,
    splits: BTreeMap<usize, Split>,
    weights: Option<BTreeMap<usize, f64>>,
    layout: Layout,
}

/// One line of [`DECISIONS`].
#[derive(Serialize)]
struct Decision {
    block: String,
    #[serde(flatten)]
    decision: DedupDecision,
    /// The first one of the models that stay and are alike.
    #[serde(skip_serializing_if = "Option::is_none")]
    family: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    split: Option<Split>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<f64>,
}

impl<'a> Curation<'a> {
    /// `curated` is what the strategies made of these models.
    pub fn new(models: &'a Models, curated: &'a Curated, layout: Layout, upweights: &[Upweight]) -> Self {
        let blocks = &curated.blocks;
        let (kept, families, splits) = match layout {
            Layout::Netquarry => {
                let kept = curated.kept();
                let families = splits::families(blocks, &kept);
                let splits = splits::by_digest(blocks, &families);
                (kept, families, splits)
            }
            Layout::NnDup => {
                let kept = nn_dup::in_order(curated);
                let families = splits::families_of_structure(blocks, &kept);
                let splits = splits::shuffled(&families);
                (kept, families, splits)
            }
        };
        let weight = |place: &usize| (*place, weights::weight(&blocks.summary(number(*place)).name, upweights));
        let weights = (!upweights.is_empty()).then(|| kept.iter().map(weight).collect());
        Self { models, curated, kept, families, splits, weights, layout }
    }

    /// Everything that is written. `title` says what was deduplicated.
    pub fn files<'f>(&'f self, spool: &'f Spool, title: &str, method: &Method<'_>) -> Files<'f> {
        let mut files = match self.layout {
            Layout::Netquarry => self.kept_files(spool),
            Layout::NnDup => nn_dup::files(self, spool),
        };
        let figures = self.figures();
        let report = match self.layout {
            Layout::Netquarry => "report.md",
            Layout::NnDup => "dedup_report.md",
        };
        let firsts = self.first_of_families();
        let decisions = move |to: &mut dyn Write| {
            self.write_decisions(&firsts, to)?;
            spool.check().map_err(io::Error::other)
        };
        files.insert(DECISIONS.to_owned(), Content::Written(Box::new(decisions)));
        let mut add = |name: &str, text: String| files.insert(name.to_owned(), Content::Bytes(text.into_bytes()));
        add(report, figures.markdown(title, method));
        add(report::FILE_NAME, report::html_of_deduplication(title, method, &figures));
        if let Some(weights) = &self.weights {
            add(weights::FILE_NAME, weights::csv(self.kept.iter().map(|place| self.weighted(*place, weights[place]))));
        }
        files
    }

    fn weighted(&self, place: usize, weight: f64) -> weights::Weighted {
        let BlockSummary { id, name, .. } = self.summary(place);
        let id = match self.layout {
            Layout::Netquarry => id,
            Layout::NnDup => nn_dup::id(self, place),
        };
        weights::Weighted { id, name, weight }
    }

    fn kept_files<'f>(&self, spool: &'f Spool) -> Files<'f> {
        let file = |place: &usize| {
            let path = self.models.head(*place).path;
            (format!("kept/{path}"), Content::Spooled { spool, bytes: self.file(*place) })
        };
        self.kept.iter().map(file).collect()
    }

    /// Writes a line for each model.
    fn write_decisions(&self, families: &BTreeMap<usize, usize>, to: &mut dyn Write) -> io::Result<()> {
        for place in 0..self.models.count() {
            let line = Decision {
                block: self.curated.identity(place),
                decision: self.curated.decision(place),
                family: families.get(&place).map(|first| self.curated.identity(*first)),
                split: self.splits.get(&place).copied(),
                weight: self.weights.as_ref().and_then(|weights| weights.get(&place)).copied(),
            };
            serde_json::to_writer(&mut *to, &line)?;
            to.write_all(b"\n")?;
        }
        Ok(())
    }

    /// For each model that stays the first one of its family.
    fn first_of_families(&self) -> BTreeMap<usize, usize> {
        let mut firsts = BTreeMap::new();
        for family in &self.families {
            let first = family.iter().min().expect("a family has a member");
            firsts.extend(family.iter().map(|place| (*place, *first)));
        }
        firsts
    }

    /// What there is to count.
    pub fn figures(&self) -> Figures {
        let decisions = (0..self.models.count()).map(|place| self.curated.decision(place));
        let family_is = match self.layout {
            Layout::Netquarry => "Models with half the same code or of equal structure",
            Layout::NnDup => "Models of equal structure",
        };
        let splits = self.splits.values().copied();
        Figures::of(self.models.unreadable.len(), decisions, &self.families, family_is, splits)
    }

    fn file(&self, place: usize) -> Spooled<[u8]> {
        self.models.file(place)
    }

    fn summary(&self, place: usize) -> BlockSummary {
        self.curated.blocks.summary(number(place))
    }
}

/// The number of the model at a place, as the kernels know it.
fn number(place: usize) -> u32 {
    u32::try_from(place).expect("models are numbered with 32 bits")
}

/// How the input is called in a title.
pub fn title(input: &Path) -> String {
    input.file_name().map_or_else(|| input.display().to_string(), |name| name.to_string_lossy().into_owned())
}
