//! The arguments of the commands that hand a library on, and of the one that checks what was handed on.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::pipeline::PipelineArguments;
use crate::export::terms::CodePolicy;

const PARQUET_EXAMPLES: &str = "\
Examples:
  netquarry export parquet --out blocks.parquet    The blocks of the library in out/
  netquarry export parquet library --out blocks.parquet --code none
  netquarry export parquet --out blocks.parquet --format json | jq .with_code";

const DATASET_EXAMPLES: &str = "\
Examples:
  netquarry export dataset --out dataset           The library in out/, with the code of permissive licences
  netquarry export dataset library --out dataset --code all
  netquarry verify dataset

The folder can be uploaded as it is: `hf upload my/blocks dataset . --repo-type dataset`.";

const SBOM_EXAMPLES: &str = "\
Examples:
  netquarry export sbom > library.cdx.json         CycloneDX 1.5 of the library in out/
  netquarry export sbom library --out library/sbom.cdx.json
  netquarry export sbom | jq '.components[] | select(.purl) | .purl'";

const VERIFY_EXAMPLES: &str = "\
Examples:
  netquarry verify                                 The library in out/
  netquarry verify dataset                         What `netquarry export dataset` wrote
  netquarry verify blocks.parquet
  netquarry verify library/sbom.cdx.json           Its blocks, too, where they lie beside it
  netquarry verify --verdicts --python ../venv/bin/python
  netquarry verify --format json | jq '.findings[] | [.check, .place]'

Exit status: 0 nothing found; 1 there are findings; 2 could not do it. Warnings are no findings.";

/// What a library is handed on as.
#[derive(Debug, Subcommand)]
pub enum ExportCommand {
    /// One table of the promoted blocks, in Apache Parquet.
    #[command(after_help = PARQUET_EXAMPLES)]
    Parquet(TableArguments),
    /// A folder as Hugging Face's `datasets` loads it: tables for training, validation and testing, and a card.
    #[command(after_help = DATASET_EXAMPLES)]
    Dataset(DatasetArguments),
    /// A software bill of materials, in CycloneDX: blocks, sources, distributions, licences, digests.
    #[command(after_help = SBOM_EXAMPLES)]
    Sbom(SbomArguments),
}

#[derive(Debug, Args)]
pub struct TableArguments {
    #[command(flatten)]
    pub input: LibraryInput,

    #[command(flatten)]
    pub code: CodeArguments,

    /// The file that is written.
    #[arg(long, short, value_name = "FILE.parquet", value_hint = ValueHint::FilePath)]
    pub out: PathBuf,
}

#[derive(Debug, Args)]
pub struct DatasetArguments {
    #[command(flatten)]
    pub input: LibraryInput,

    #[command(flatten)]
    pub code: CodeArguments,

    /// The folder that is written.
    #[arg(long, short, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: PathBuf,
}

#[derive(Debug, Args)]
pub struct SbomArguments {
    #[command(flatten)]
    pub input: LibraryInput,

    /// The file that is written [default: standard output].
    #[arg(long, short, value_name = "FILE.cdx.json", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
}

/// The library that is exported: `--out` is where to.
#[derive(Debug, Args)]
pub struct LibraryInput {
    /// The folder of the library [default: out].
    #[arg(value_hint = ValueHint::DirPath, env = "NETQUARRY_OUT")]
    pub library: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct CodeArguments {
    /// Whose code goes in: of blocks whose licence can be satisfied by licences that OSI has approved and that are no
    /// copyleft, of all, or of none. What is left out is null, with the reason beside it.
    #[arg(long, value_enum, default_value_t, hide_possible_values = false)]
    pub code: CodePolicy,
}

#[derive(Debug, Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub struct VerifyArguments {
    /// A library, a dataset, a table (.parquet) or a bill of materials (.json) [default: out].
    #[arg(value_hint = ValueHint::AnyPath, env = "NETQUARRY_OUT")]
    pub path: Option<PathBuf>,

    /// Validate the bundles of a library again, all up to the highest level that any of them was tried at, and compare the
    /// outcomes that their records have.
    #[arg(long)]
    pub verdicts: bool,

    /// A Python interpreter that has torch (or NETQUARRY_PYTHON), for --verdicts.
    #[arg(long, value_name = "FILE", requires = "verdicts")]
    pub python: Option<PathBuf>,

    /// Blocks that are validated at the same time [default: one per core].
    #[arg(long, short, value_name = "N", requires = "verdicts", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
}

impl VerifyArguments {
    /// The same as arguments of the pipeline, for a library. Verifying fetches nothing: sources are compared with as far as
    /// the cache has them.
    pub fn pipeline(&self) -> PipelineArguments {
        PipelineArguments {
            out: self.path.clone(),
            python: self.python.clone(),
            jobs: self.jobs,
            offline: !self.verdicts,
            ..PipelineArguments::default()
        }
    }
}
