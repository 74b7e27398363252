//! The program; see the library of this package for everything it does.

use std::process::ExitCode;

use clap::Parser;
use netquarry::arguments::Arguments;
use netquarry::commands;

fn main() -> ExitCode {
    ExitCode::from(commands::main(Arguments::parse()))
}
