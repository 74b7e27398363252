//! What bundles need beside the environment: from the names that they import to requirements that a package index can
//! fulfil, by what the metadata of the corpus declares. Nothing is guessed: a name that nobody declares stays missing.

pub mod declared;
pub mod mapping;
