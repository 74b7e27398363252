//! The options of `register`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::pipeline::PipelineArguments;

const REGISTER_EXAMPLES: &str = "\
Examples:
  netquarry register mine.py --spec out/specs/emit-neutral-spec/blocks/DropPath.json
  netquarry register mine.py:MyDropPath --spec DropPath.json --models lemur --license MIT

The file is validated as `netquarry validate` does, with the arguments that the spec has, and what is seen is compared with \
what the spec says: outputs, sizes that work, batch independence, types, devices, training mode. The number of parameters is \
the implementation's own affair.

Exit status: 0 nothing differs; 1 something does; 2 it could not be compared.";

#[derive(Debug, Args)]
#[command(after_help = REGISTER_EXAMPLES)]
pub struct RegisterArguments {
    /// A Python file, or FILE:CLASS for one of its classes.
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,

    /// The spec that it implements, as `emit-neutral-spec` writes it.
    #[arg(long, value_name = "FILE.json", value_hint = ValueHint::FilePath)]
    pub spec: PathBuf,

    /// Write a model for LEMUR into this folder, where nothing differs.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub models: Option<PathBuf>,

    /// The SPDX expression of the file's own licence, for the header of the model.
    #[arg(long, value_name = "EXPRESSION", requires = "models")]
    pub license: Option<String>,

    /// Install what a file lists, one requirement a line; may be given several times.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub requirements: Vec<PathBuf>,

    /// The library that the spec is of, with whose block the text is compared [default: out].
    #[arg(long, short, value_name = "DIR", env = "NETQUARRY_OUT", value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,

    /// A Python interpreter that has torch (or NETQUARRY_PYTHON), instead of an environment of NetQuarry's own.
    #[arg(long, value_name = "FILE")]
    pub python: Option<PathBuf>,
}

impl RegisterArguments {
    /// The same as arguments of the pipeline.
    pub fn pipeline(&self) -> PipelineArguments {
        PipelineArguments { out: self.out.clone(), python: self.python.clone(), ..PipelineArguments::default() }
    }
}
