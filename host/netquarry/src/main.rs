//! The program; see the library of this package for everything it does.

use std::process::ExitCode;

use clap::Parser;
use netquarry::arguments::Arguments;
use netquarry::commands;

/// Threads that make and drop millions of small texts wait for each other in the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(commands::main(Arguments::parse()))
}
