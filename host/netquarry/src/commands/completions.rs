//! `netquarry completions SHELL`

use clap::CommandFactory;
use clap_complete::Shell;

use super::Ending;
use crate::arguments::Arguments;
use crate::console::Console;
use crate::problem::Problem;

pub(super) fn print(shell: Shell, console: &Console) -> Result<Ending, Problem> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "netquarry", &mut script);
    console.print(&String::from_utf8(script).expect("the program's own help is UTF-8"))?;
    Ok(Ending::Done)
}
