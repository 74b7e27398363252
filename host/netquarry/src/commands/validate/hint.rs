//! What gives a file the package that it misses.

use std::path::Path;

use netquarry_core::record::{BlockRecord, InstalledDistribution};

use crate::configuration::{FILE_NAME, Settings};
use crate::environment::{Environment, Layer};
use crate::library::distribution_name::{distribution_name, normalised};

/// Whether a process with these layers has a distribution, whatever that provides.
pub(super) fn has(environment: &Environment, layers: &[Layer], distribution: &str) -> bool {
    let name = normalised(distribution);
    environment.distributions.contains_key(&name) || layers.iter().any(|layer| normalised(&layer.pin.name) == name)
}

/// What gives `file` the `package` that it misses, in one line. `is_there` says of a distribution whether the file has it.
pub(super) fn hint(
    package: Option<&str>,
    record: Option<&BlockRecord>,
    file: &Path,
    is_there: &dyn Fn(&str) -> bool,
    settings: &Settings,
) -> String {
    let table = format!("[validate.requirements] in {FILE_NAME}");
    let entry = package.map(|package| format!(": {package} = \"DISTRIBUTION\"")).unwrap_or_default();
    let what = package.map_or("what is missing".to_owned(), |package| format!("`{package}`"));
    let interpreter = "or an interpreter that has it, with --python";
    let forbidden = "which --no-install or `install = false` keeps from being installed";
    if let Some(record) = record {
        let provides =
            |it: &&InstalledDistribution| package.is_some_and(|package| it.provides.iter().any(|each| each == package));
        let lost = record.installed.iter().find(|it| provides(it) && !is_there(&it.name));
        return match lost {
            Some(it) if !settings.install => {
                format!("the bundle's record names {} {}, {forbidden}", it.name, it.version)
            }
            Some(it) => format!("the bundle's record names {} {}, which cannot be installed", it.name, it.version),
            None => format!(
                "a bundle has what its record names, and `netquarry run` makes it anew with {what} under {table}{entry}; \
                 {interpreter}"
            ),
        };
    }
    let is_beside = |package: &str| {
        let folder = file.parent().unwrap_or(Path::new(""));
        folder.join(format!("{package}.py")).is_file() || folder.join(package).is_dir()
    };
    match package.and_then(|package| settings.requirements.get(package)) {
        None if package.is_some_and(is_beside) => format!(
            "{what} lies beside `{}`, and a file is validated on its own: `netquarry extract` lifts a class out with all that \
             it needs, with `--source` or a corpus for a folder of yours",
            file.display()
        ),
        None => {
            format!("name what provides {what} in a file with --requirements, or under {table}{entry}; {interpreter}")
        }
        Some(requirement) if !settings.install => format!("{table} names `{requirement}` for {what}, {forbidden}"),
        Some(requirement) if is_there(distribution_name(requirement)) => {
            format!("`{requirement}`, which {table} names, does not provide {what}; name another{entry}; {interpreter}")
        }
        Some(requirement) => {
            format!(
                "`{requirement}`, which {table} names for {what}, cannot be installed; name another{entry}; {interpreter}"
            )
        }
    }
}
