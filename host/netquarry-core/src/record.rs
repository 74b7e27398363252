//! The records of the manifest: one per candidate block.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::facts::ParameterKind;
use crate::license::policy::HeldBack;
use crate::source::SourceKind;
use crate::structure::Structure;
use crate::verdict::{Evidence, Failure, Outcome, Tier};

/// The paper's categories of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    Attention,
    Convolution,
    TransformerBlock,
    Pooling,
    Normalisation,
    Loss,
    Architecture,
    Utility,
}

impl Category {
    /// As it stands in records: `transformer_block`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Attention => "attention",
            Self::Convolution => "convolution",
            Self::TransformerBlock => "transformer_block",
            Self::Pooling => "pooling",
            Self::Normalisation => "normalisation",
            Self::Loss => "loss",
            Self::Architecture => "architecture",
            Self::Utility => "utility",
        }
    }
}

/// How sure a resolution is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Bound in the same module, or by an import that names it.
    DirectImport,
    /// Through attributes of a module: `layers.drop.DropPath`.
    QualifiedName,
    /// By a rule that can be wrong: a shim's answer, a star import from a module that is not known.
    Heuristic,
}

impl Confidence {
    /// As it stands in records: `direct_import`.
    pub fn name(self) -> &'static str {
        match self {
            Self::DirectImport => "direct_import",
            Self::QualifiedName => "qualified_name",
            Self::Heuristic => "heuristic",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordSource {
    pub name: String,
    pub kind: SourceKind,
    /// In the corpus: 1 comes first.
    pub priority: u32,
    pub version: Option<String>,
    pub commit: Option<String>,
    pub path: String,
    /// 1-based, inclusive.
    pub lines: [u32; 2],
    /// SHA-1 of the file.
    pub sha1: String,
}

/// A source of which a bundle has something, so that a record says everything about it by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceRecord {
    /// As definitions name it: `timm` in `timm:timm.layers.drop.drop_path`.
    pub name: String,
    pub kind: SourceKind,
    pub version: Option<String>,
    pub commit: Option<String>,
    pub distribution: Option<String>,
    /// Where it was fetched from.
    pub url: Option<String>,
    /// By which an archive knows it; `None` for a folder.
    pub origin: Option<String>,
    /// `swh:1:rev:...`
    pub revision: Option<String>,
    /// `swh:1:dir:...` of its root.
    pub directory: Option<String>,
    /// SPDX expression of the whole source; `None` where unknown.
    pub license: Option<String>,
    /// What the heads of the files state of which the bundle has something, sorted.
    pub copyright: Vec<String>,
    /// The paths of the licence files that hold for these files, sorted.
    pub license_files: Vec<String>,
}

/// One definition in a bundle, with why it is there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClosureRecord {
    /// Source and dotted path: `timm:timm.layers.drop.drop_path`.
    pub definition: String,
    pub path: String,
    pub lines: [u32; 2],
    pub sha1: String,
    /// Of the file, with its source, its path and these lines: `swh:1:cnt:...;origin=...;path=...;lines=...`.
    #[serde(default)]
    pub swhid: String,
    /// SPDX expression.
    pub license: Option<String>,
    /// The definition that needed it first; `None` for the block itself.
    pub needed_by: Option<String>,
    /// The name by which that one refers to it.
    pub reference: Option<String>,
    pub confidence: Option<Confidence>,
}

impl ClosureRecord {
    /// The source of the definition: `timm`.
    pub fn source(&self) -> &str {
        self.parts().0
    }

    /// Its dotted path there: `timm.layers.drop.drop_path`.
    pub fn dotted_path(&self) -> &str {
        self.parts().1
    }

    fn parts(&self) -> (&str, &str) {
        self.definition.split_once(':').unwrap_or(("", &self.definition))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct UnresolvedName {
    pub name: String,
    /// `timm/layers/x.py:12`
    pub upstream: String,
    /// Upstream itself leaves it undefined: no statement of the module binds it, or the source holds nothing of the
    /// package from which it is imported.
    pub undefined_upstream: bool,
    pub message: String,
}

/// A string in the place of a registry's key under which nothing is registered.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct UnknownKeyRecord {
    /// `type` in `dict(type="BN")`
    pub field: String,
    pub key: String,
    /// `timm/layers/x.py:12`
    pub upstream: String,
}

/// Something of upstream that a shim left out or replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReplacedRecord {
    pub what: String,
    pub by: String,
    pub why: String,
    pub plugin: String,
}

/// One edit of upstream's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EditRecord {
    /// `timm/layers/x.py:12`
    pub upstream: String,
    /// Of much that was left out, the first lines.
    pub before: String,
    /// How many lines `before` has, and those of them that are not shown.
    pub lines: u32,
    pub after: String,
    /// One of few sentences, which a library has hundreds of thousands of times.
    pub reason: Cow<'static, str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DedupOutcome {
    Kept,
    Removed,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DedupDecision {
    pub decision: DedupOutcome,
    /// `exact`, `lexical`, `structural_equal`, ...; a strategy's own word.
    pub reason: Option<String>,
    /// The block that stands for it.
    pub survivor: Option<String>,
    /// The block that it was found to be like, where another strategy removed that one for the survivor later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub like: Option<String>,
    /// In [0, 1], in the strategy's own measure.
    pub similarity: Option<f64>,
    /// Name and version of the strategy.
    pub plugin: Option<String>,
}

/// A parameter of a constructor or of `forward`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ParameterRecord {
    pub name: String,
    pub kind: ParameterKind,
    pub annotation: Option<String>,
    pub default: Option<String>,
}

/// A distribution that was installed for a bundle: required by it, or by another one that is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct InstalledDistribution {
    /// As its metadata has it: `opencv-python`.
    pub name: String,
    pub version: String,
    /// The packages that the bundle imports and for which it was installed; none where another distribution needs it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub provides: Vec<String>,
}

/// One line of `manifest.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlockRecord {
    /// Source and qualified name: `timm:timm.layers.drop.DropPath`.
    pub block: String,
    pub name: String,
    pub category: Category,
    /// The discovery rule that chose it and why.
    pub discovered_by: String,
    pub source: RecordSource,
    /// Relative to the output folder, below `blocks`, `duplicates` or `failed`; `None` where no bundle could be assembled.
    pub bundle: Option<String>,
    /// Of the bundle's bytes.
    pub sha256: Option<String>,
    pub lines: Option<u32>,
    /// PEP 508 requirements, sorted.
    pub requirements: Vec<String>,
    /// Those of `requirements` that are only assumed from the name of an import: no source of the bundle declares a
    /// distribution of this name, and no source of the corpus is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumed_requirements: Vec<String>,
    /// Distributions that were installed beside the environment for the bundle to be validated with, sorted by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub installed: Vec<InstalledDistribution>,
    /// Packages that the bundle imports for their compiled operators alone. Where one of them is a source of the bundle,
    /// nothing else of it can be imported while the bundle is validated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operator_imports: Vec<String>,
    pub unresolved: Vec<UnresolvedName>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_keys: Vec<UnknownKeyRecord>,
    pub replaced: Vec<ReplacedRecord>,
    pub edits: Vec<EditRecord>,
    pub closure: Vec<ClosureRecord>,
    pub constructor: Vec<ParameterRecord>,
    pub forward: Vec<ParameterRecord>,
    pub level: u8,
    pub levels: BTreeMap<String, Outcome>,
    pub failure: Option<Failure>,
    pub evidence: Evidence,
    /// What the instance is made of that was constructed.
    #[serde(default)]
    pub structure: Option<Structure>,
    pub tainted: bool,
    pub protections: Vec<String>,
    /// What the protections amount to; `None` where nothing ran.
    #[serde(default)]
    pub tier: Option<Tier>,
    pub dedup: Option<DedupDecision>,
    /// `swh:1:cnt:...` of the upstream file.
    pub swhid: String,
    /// SPDX expression, the conjunction over all definitions; `None` where unknown.
    pub license: Option<String>,
    /// Why the licence keeps the block out of the library; `None` where it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license_policy: Option<HeldBack>,
    /// The sources of which the closure has something, sorted by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SourceRecord>,
    /// The packages that the bundle imports, but for the standard library, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub imports: Vec<String>,
}

impl BlockRecord {
    /// Its line in the manifest, without the line's end.
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).expect("a record has string keys")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_records() {
        assert_eq!(
            serde_json::to_value(Category::TransformerBlock).expect("a name"),
            Category::TransformerBlock.name()
        );
        assert_eq!(serde_json::to_value(Confidence::Heuristic).expect("a name"), Confidence::Heuristic.name());
        assert_eq!(serde_json::to_value(SourceKind::Pypi).expect("a name"), SourceKind::Pypi.name());
        assert_eq!(serde_json::to_value(ParameterKind::KeywordOnly).expect("a name"), "keyword_only");
    }
}
