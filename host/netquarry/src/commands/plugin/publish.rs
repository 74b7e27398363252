//! `netquarry plugin publish`, `yank`, `keygen` and `vendor`: the folder of a registry.

use std::env::VarError;
use std::fs;
use std::path::Path;

use netquarry_plugin::Plugin;
use netquarry_plugin::api_version::ApiVersion;
use netquarry_registry::index::{IndexKey, Permission};
use netquarry_registry::publish::{self, Order, Published, Submission};
use netquarry_registry::signing;
use netquarry_registry::trust::{PublicKey, Subject};
use netquarry_registry::vendor;
use serde_json::json;

use super::{component, pack, shelf};
use crate::arguments::{PluginInitArguments, PluginKeygenArguments, PluginPublishArguments, PluginYankArguments};
use crate::authoring::project::Terms;
use crate::commands::Ending;
use crate::configuration::Settings;
use crate::console::{Console, Format};
use crate::driver::registries;
use crate::problem::Problem;
use crate::quantity::human_things;

/// The password of a secret key.
const PASSWORD: &str = "NETQUARRY_KEY_PASSWORD";

pub(super) fn publish(
    arguments: &PluginPublishArguments,
    settings: &Settings,
    console: &Console,
) -> Result<Ending, Problem> {
    let component = component::open(&arguments.target, arguments.offline, settings, console)?;
    let golden = pack::packed(&component, &arguments.target)?.text();
    let bytes = fs::read(&component.path).map_err(|error| Problem::io("read", &component.path, error))?;
    let identity = component.plugin.identity();
    let signature = match &arguments.sign {
        Some(key) => {
            let secret = fs::read_to_string(key).map_err(|error| Problem::io("read the secret key", key, error))?;
            let subject = Subject { name: &identity.name, version: &identity.version, component: &bytes };
            Some(signing::sign(subject, &secret, password()?.as_deref())?)
        }
        None => None,
    };
    let (wit, permissions) = (wit(), permissions(&component.plugin));
    let asked = Terms { license: arguments.license.clone(), repository: arguments.repository.clone() };
    let Terms { license, repository } = asked.or_declared(component.project.as_ref())?;
    let (license, repository) = (stated("license", license)?, stated("repository", repository)?);
    let about = About { license: &license, repository: &repository, wit: &wit, permissions: &permissions };
    let submission = submission(&component.plugin, &bytes, Some(&golden), signature.as_deref(), about);
    let order = if arguments.older { Order::Any } else { Order::NewestOnly };
    let published = publish::publish(&arguments.registry, &submission, order)?;
    let (name, version) = (&identity.name, &identity.version);
    match console.format {
        Format::Json => {
            let (is_new, signed_now) = (published == Published::New, published == Published::Signed);
            let told = json!({
                "name": name,
                "version": version,
                "sha256": identity.digest,
                "new": is_new,
                "signed_now": signed_now,
            });
            console.print_json(&told)?;
        }
        Format::Human => {
            let what = match published {
                Published::New => "",
                Published::AlreadyThere => ", which was there already",
                Published::Signed => ", which is signed now",
            };
            console.status("Published", &format!("{name} {version} in {}{what}", arguments.registry.display()));
        }
    }
    Ok(Ending::Done)
}

/// What has to be said of a version, on the command line or in a manifest.
fn stated(field: &str, text: Option<String>) -> Result<String, Problem> {
    text.ok_or_else(|| {
        Problem::new(format!("Nothing says the {field} of the plugin"))
            .help(format!("name it with --{field}, or in its Cargo.toml or pyproject.toml"))
    })
}

/// The password of a secret key; none where the variable is missing or empty, as those are that a CI does not know.
fn password() -> Result<Option<String>, Problem> {
    match std::env::var(PASSWORD) {
        Ok(password) => Ok(Some(password).filter(|password| !password.is_empty())),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err(Problem::new(format!("{PASSWORD} is not UTF-8"))
            .help("set it to a password in UTF-8, or leave it out for a key without one")),
    }
}

/// What is said of a version beside what the component says.
#[derive(Clone, Copy)]
pub(super) struct About<'a> {
    pub(super) license: &'a str,
    pub(super) repository: &'a str,
    /// On which hosts it runs.
    pub(super) wit: &'a str,
    pub(super) permissions: &'a [Permission],
}

/// The hosts on which a component runs that this program has built and tried.
pub(super) fn wit() -> String {
    format!("^{}", ApiVersion::CURRENT)
}

/// What a plugin asks for, as a registry has it.
pub(super) fn permissions(plugin: &Plugin) -> Vec<Permission> {
    plugin.description().permissions.iter().map(|permission| Permission::from(&permission.right)).collect()
}

/// The version that a component would be in a registry.
pub(super) fn submission<'a>(
    plugin: &'a Plugin,
    bytes: &'a [u8],
    golden: Option<&'a str>,
    signature: Option<&'a str>,
    about: About<'a>,
) -> Submission<'a> {
    let (identity, description) = (plugin.identity(), plugin.description());
    let summary = description.documentation.lines().next().unwrap_or_default();
    Submission {
        name: &identity.name,
        version: &identity.version,
        kind: description.kind,
        summary: summary.trim_start_matches('#').trim(),
        license: about.license,
        repository: about.repository,
        wit: about.wit,
        permissions: about.permissions,
        component: bytes,
        golden: golden.map(str::as_bytes),
        signature,
    }
}

pub(super) fn yank(arguments: &PluginYankArguments, console: &Console) -> Result<Ending, Problem> {
    // The command line has either a reason or --undo.
    let PluginYankArguments { name, version, registry, reason, undo: _ } = arguments;
    let verb = match reason {
        Some(reason) => {
            publish::yank(registry, name, version, reason)?;
            "Yanked"
        }
        None => {
            publish::unyank(registry, name, version)?;
            "Restored"
        }
    };
    match console.format {
        Format::Json => console.print_json(&json!({"name": name, "version": version, "yanked": reason}))?,
        Format::Human => console.status(verb, &format!("{name} {version}")),
    }
    Ok(Ending::Done)
}

/// A registry without plugins, whose versions have to be signed where it has keys.
pub(super) fn init(arguments: &PluginInitArguments, console: &Console) -> Result<Ending, Problem> {
    let key = |path: &std::path::PathBuf| -> Result<IndexKey, Problem> {
        let text = fs::read_to_string(path).map_err(|error| Problem::io("read the public key", path, error))?;
        let key = PublicKey::parse(&text)
            .map_err(|error| Problem::new(format!("`{}` has no public key", path.display())).because(error))?;
        Ok(IndexKey { comment: None, key: key.text().to_owned() })
    };
    let keys = arguments.keys.iter().map(key).collect::<Result<Vec<_>, _>>()?;
    let index = publish::init(&arguments.registry, &arguments.name, keys)?;
    let PluginInitArguments { registry, name, .. } = arguments;
    match console.format {
        Format::Json => {
            let keys: Vec<&str> = index.keys.iter().map(|key| key.key.as_str()).collect();
            console.print_json(&json!({"name": name, "folder": registry, "keys": keys}))?;
        }
        Format::Human => console.status("Created", &format!("the registry `{name}` in {}", registry.display())),
    }
    Ok(Ending::Done)
}

/// A pair of keys: `netquarry.key`, which nobody else should see, and `netquarry.pub`.
pub(super) fn keygen(arguments: &PluginKeygenArguments, console: &Console) -> Result<Ending, Problem> {
    let key = signing::generate(password()?.as_deref())?;
    let [secret, public] = ["netquarry.key", "netquarry.pub"].map(|name| arguments.folder.join(name));
    for path in [&secret, &public] {
        if path.exists() {
            return Err(Problem::new(format!("`{}` is there already", path.display())).help("name another folder"));
        }
    }
    fs::create_dir_all(&arguments.folder).map_err(|error| Problem::io("make the folder", &arguments.folder, error))?;
    write_secret(&secret, &key.secret).map_err(|error| Problem::io("write", &secret, error))?;
    fs::write(&public, &key.public).map_err(|error| Problem::io("write", &public, error))?;
    match console.format {
        Format::Json => console.print_json(&json!({"id": key.id, "secret": secret, "public": public}))?,
        Format::Human => {
            let (secret, public) = (secret.display(), public.display());
            console.status("Created", &format!("the key {}: {secret} and {public}", key.id));
        }
    }
    Ok(Ending::Done)
}

/// A file that only this user reads.
fn write_secret(path: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;

    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}

/// Copies all that is locked into a folder, which is a registry of its own.
pub(super) fn vendor(folder: &Path, settings: &Settings, console: &Console) -> Result<Ending, Problem> {
    let notify = shelf::told(console);
    let catalog = registries::catalog(settings, &notify)?;
    let index = vendor::vendor(&catalog, &registries::lock(settings)?, folder)?;
    match console.format {
        Format::Json => {
            let plugins: Vec<&String> = index.plugins.keys().collect();
            console.print_json(&json!({"folder": folder, "plugins": plugins}))?;
        }
        Format::Human => {
            let plugins = human_things(index.plugins.len(), "plugin");
            console.status("Vendored", &format!("{plugins} into {}", folder.display()));
        }
    }
    Ok(Ending::Done)
}
