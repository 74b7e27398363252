//! The options of `register`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use netquarry_core::license;

use super::pipeline::PipelineArguments;

const REGISTER_EXAMPLES: &str = "\
Examples:
  netquarry register mine.py --spec out/specs/emit-neutral-spec/blocks/DropPath.json
  netquarry register mine.py:MyDropPath --spec DropPath.json --models lemur --license MIT
  netquarry register mine.py --spec DropPath.json --models chat --emit emit-nn-gpt

The file is validated as `netquarry validate` does, with the arguments that the spec has, and what is seen is compared with \
what the spec says: outputs, sizes that work, batch independence, types, devices, training mode. The number of parameters is \
the implementation's own affair.

Exit status: 0 all that the spec says was seen, and nothing differs; 1 something differs, or could not be seen; \
2 it could not be compared.";

#[derive(Debug, Args)]
#[command(after_help = REGISTER_EXAMPLES)]
pub struct RegisterArguments {
    /// A Python file, or FILE:CLASS for one of its classes.
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,

    /// The spec that it implements, as `emit-neutral-spec` writes it.
    #[arg(long, value_name = "FILE.json", value_hint = ValueHint::FilePath)]
    pub spec: PathBuf,

    /// Write what the emitter makes of it, by default a model for LEMUR, into this folder, where all that the spec says
    /// was seen and nothing differs.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub models: Option<PathBuf>,

    /// What makes a model of it: a first-party plugin or the path of a component.
    #[arg(long, value_name = "PLUGIN", default_value = "emit-lemur", requires = "models")]
    pub emit: String,

    /// The SPDX expression of the file's own licence, for the header of the model.
    #[arg(long, value_name = "EXPRESSION", requires = "models", value_parser = spdx_expression)]
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

/// The expression in its canonical form.
fn spdx_expression(text: &str) -> Result<String, String> {
    license::expression(text).ok_or_else(|| "SPDX has no such expression; see https://spdx.org/licenses".to_owned())
}

impl RegisterArguments {
    /// The same as arguments of the pipeline.
    pub fn pipeline(&self) -> PipelineArguments {
        PipelineArguments { out: self.out.clone(), python: self.python.clone(), ..PipelineArguments::default() }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::RegisterArguments;
    use crate::arguments::{Arguments, Command};

    fn register(further: &[&str]) -> Result<RegisterArguments, clap::Error> {
        let words = ["netquarry", "register", "mine.py", "--spec", "DropPath.json"].iter().chain(further);
        match Arguments::try_parse_from(words)?.command {
            Command::Register(arguments) => Ok(arguments),
            other => panic!("`register` was parsed as {other:?}"),
        }
    }

    #[test]
    fn the_emitter_can_be_named_where_models_are_written() {
        assert_eq!(register(&[]).unwrap().emit, "emit-lemur");
        let named = register(&["--models", "chat", "--emit", "emit-nn-gpt"]).unwrap();
        assert_eq!(named.emit, "emit-nn-gpt");
        assert!(register(&["--emit", "emit-nn-gpt"]).is_err());
    }

    #[test]
    fn the_licence_is_an_expression_of_spdx() {
        let license = |text| register(&["--models", "lemur", "--license", text]).map(|it| it.license);
        assert_eq!(license("MIT OR Apache-2.0").unwrap().as_deref(), Some("Apache-2.0 OR MIT"));
        assert!(license("Foo").unwrap_err().to_string().contains("spdx.org"));
    }
}
