//! What a user should hear of although all went well in the end.

use std::fmt;
use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Something failed that may pass, and is tried again.
    Retrying { why: String },
    /// A place did not give what was wanted, and another was asked.
    Elsewhere { why: String, instead: String },
    /// A file of the cache was not what it should be, and is fetched anew.
    DamagedCache { path: PathBuf, why: String },
    /// A version that nobody should use is used because it is locked.
    Yanked { plugin: String, reason: String },
    /// Other registries have a plugin of this name too.
    AlsoIn { name: String, taken: String, others: Vec<String> },
    /// A registry that comes later in order could not be asked whether it has the name too.
    NotAsked { registry: String, why: String },
}

/// Hears notices as they come up.
pub type Notify<'a> = &'a dyn Fn(&Notice);

impl fmt::Display for Notice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Retrying { why } => write!(formatter, "{why}; it is tried again"),
            Self::Elsewhere { why, instead } => write!(formatter, "{why}; taken from {instead} instead"),
            Self::DamagedCache { path, why } => {
                write!(formatter, "{} is damaged ({why}); it is fetched anew", path.display())
            }
            Self::Yanked { plugin, reason } => {
                write!(formatter, "{plugin} was yanked: {reason}; it is used because it is locked, update it")
            }
            Self::AlsoIn { name, taken, others } => {
                let others = others.join(", ");
                write!(
                    formatter,
                    "`{name}` is taken from the registry `{taken}`; others have one of that name: {others}"
                )
            }
            Self::NotAsked { registry, why } => {
                write!(formatter, "the registry `{registry}`, which comes later in order, could not be asked: {why}")
            }
        }
    }
}
