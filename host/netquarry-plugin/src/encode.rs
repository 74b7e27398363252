//! From what a compiler makes to a component of this contract.
//!
//! `build.rs` includes this file too.

use wit_component::ComponentEncoder;

use crate::api_version::{self, ApiVersion};
use crate::sections::{self, Malformed, PREAMBLE_BYTES};

/// Why no component can be made of a module.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    #[error("its sections are damaged, or it is no WebAssembly module")]
    Malformed,
    #[error("{0}")]
    Component(String),
}

/// The component of a core module that was built with the SDK, with the version of the contract in it. The same module gives
/// the same bytes.
///
/// # Errors
///
/// Where the bytes are no module, or the module does not fit the world that it says it does.
pub fn component(module: &[u8]) -> Result<Vec<u8>, EncodeError> {
    let module = of_one_world(module).map_err(|Malformed| EncodeError::Malformed)?;
    let encoder = ComponentEncoder::default().module(&module).map(|encoder| encoder.validate(true));
    let encoded = encoder.and_then(|mut encoder| encoder.encode());
    let mut component = encoded.map_err(|error| EncodeError::Component(format!("{error:#}")))?;
    api_version::stamp(&mut component, ApiVersion::CURRENT);
    Ok(component)
}

/// The module with the type of the world that it exports alone.
///
/// The SDK has bindings for all four worlds, and the linker keeps the types of all their imports. The type of the
/// exported world is complete in itself; it is the only one without this mark of `wit-bindgen`'s.
fn of_one_world(module: &[u8]) -> Result<Vec<u8>, Malformed> {
    const TYPE: &str = "component-type:wit-bindgen:";
    const MARK: &str = "-with-all-of-its-exports-removed:";
    let mut kept = module.get(..PREAMBLE_BYTES).ok_or(Malformed)?.to_vec();
    for section in sections::sections(module)? {
        let name = section.custom.map(|(name, _)| String::from_utf8_lossy(name));
        if !name.is_some_and(|name| name.starts_with(TYPE) && name.contains(MARK)) {
            kept.extend_from_slice(&module[section.range]);
        }
    }
    Ok(kept)
}
