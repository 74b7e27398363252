//! `netquarry plugin new NAME --kind KIND`

use serde_json::json;

use crate::arguments::PluginNewArguments;
use crate::authoring::scaffold::{NewPlugin, default_folder};
use crate::commands::Ending;
use crate::console::{Console, Format};
use crate::problem::Problem;

pub(super) fn new(arguments: &PluginNewArguments, console: &Console) -> Result<Ending, Problem> {
    let PluginNewArguments { name, kind, language, path } = arguments;
    let plugin = NewPlugin { name: name.clone(), kind: (*kind).into(), language: *language };
    let folder = path.clone().unwrap_or_else(|| default_folder(name));
    plugin.write(&folder)?;
    match console.format {
        Format::Json => console.print_json(&json!({"name": name, "folder": folder}))?,
        Format::Human => {
            let folder = folder.display();
            console.status("Created", &format!("the {} `{name}` in {folder}", plugin.kind));
            console.status("Next", &format!("netquarry plugin test {folder}"));
        }
    }
    Ok(Ending::Done)
}
