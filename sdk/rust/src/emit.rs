//! Emitters, which describe blocks in a form of their own.

use crate::Plugin;
pub use crate::bindings::spec_emitter::netquarry::plugin::records::{
    Block, Dependency, Emitted, Failure, File, Outcome, Parameter, ParameterKind, Provenance, Tensor,
};
pub use crate::discovery::Category;

/// A plugin of the kind `spec-emitter`.
pub trait SpecEmitter: Plugin {
    /// The files of one block.
    ///
    /// # Errors
    ///
    /// A sentence; it fails the block.
    fn emit_block(&self, block: &Block) -> Result<Vec<File>, String>;

    /// The files about all blocks that were emitted, in the order of their identities.
    ///
    /// # Errors
    ///
    /// A sentence; the run is then without these files.
    fn emit_index(&self, blocks: &[Emitted]) -> Result<Vec<File>, String> {
        let _ = blocks;
        Ok(Vec::new())
    }
}
