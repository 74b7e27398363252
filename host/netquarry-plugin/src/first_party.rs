//! The components that are built with the host.

/// A component inside of the program.
#[derive(Clone, Copy)]
pub struct EmbeddedComponent {
    pub name: &'static str,
    pub bytes: &'static [u8],
    /// Of the bytes, in lower-case hexadecimal digits.
    pub sha256: &'static str,
    /// The text of its golden pack, as it lies beside its source; `None` where none lies there.
    pub golden: Option<&'static str>,
}

static COMPONENTS: &[EmbeddedComponent] = include!(concat!(env!("OUT_DIR"), "/first_party.rs"));

/// All first-party components, sorted by name.
pub fn first_party() -> &'static [EmbeddedComponent] {
    COMPONENTS
}

/// The text of `registry.json` with the digests and sizes of the components that are in this program.
pub fn first_party_registry() -> &'static str {
    include_str!(concat!(env!("OUT_DIR"), "/registry.json"))
}
