//! `netquarry plugin`: the whole life of a plugin.

mod add;
mod build;
mod check;
mod component;
mod diff;
mod list;
mod new;
mod order;
mod pack;
mod publish;
mod replay;
mod search;
mod shelf;
mod test;
mod verify;

use netquarry_plugin::cases::Case;

use super::Ending;
use crate::arguments::PluginCommand;
use crate::configuration::Settings;
use crate::console::Console;
use crate::problem::Problem;

pub(super) fn plugin(command: &PluginCommand, settings: &Settings, console: &Console) -> Result<Ending, Problem> {
    match command {
        PluginCommand::New(new) => new::new(new, console),
        PluginCommand::Build(build) => build::build(build, settings, console),
        PluginCommand::Test(test) => test::test(test, settings, console),
        PluginCommand::Pack(pack) => pack::pack(pack, settings, console),
        PluginCommand::Verify(verify) => verify::verify(verify, settings, console),
        PluginCommand::Diff(diff) => diff::diff(diff, settings, console),
        PluginCommand::Replay(replay) => replay::replay(replay, settings, console),
        PluginCommand::Schema { kind } => {
            console.print_json(&Case::schema((*kind).into()))?;
            Ok(Ending::Done)
        }
        PluginCommand::Add(add) => add::add(add, settings, console),
        PluginCommand::Remove { name } => add::remove(name, settings, console),
        PluginCommand::Update(update) => add::update(update, settings, console),
        PluginCommand::List(_) => list::list(settings, console),
        PluginCommand::Search { words } => search::search(words, settings, console),
        PluginCommand::Info { name } => search::info(name, settings, console),
        PluginCommand::Vendor { folder } => publish::vendor(folder, settings, console),
        PluginCommand::Init(init) => publish::init(init, console),
        PluginCommand::Publish(publish) => publish::publish(publish, settings, console),
        PluginCommand::Yank(yank) => publish::yank(yank, console),
        PluginCommand::Check(check) => check::check(check, settings, console),
        PluginCommand::Keygen(keygen) => publish::keygen(keygen, console),
    }
}
