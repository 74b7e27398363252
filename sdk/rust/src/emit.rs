//! Emitters, which describe blocks in a form of their own.

pub use crate::bindings::spec_emitter::netquarry::plugin::records::{
    Block, Dependency, Emission, Emitted, Failure, File, Outcome, Parameter, ParameterKind, Placement, Provenance,
    Tensor,
};
pub use crate::discovery::Category;
use crate::{Plugin, Refusal};

/// A plugin of the kind `spec-emitter`.
pub trait SpecEmitter: Plugin {
    /// The files of one block, and what `emit_index` is to know of it.
    ///
    /// # Errors
    ///
    /// It fails the block.
    fn emit_block(&self, block: &Block) -> Result<Emission, Refusal>;

    /// The files about all blocks that were emitted, in the order of their identities.
    ///
    /// # Errors
    ///
    /// The run is then without these files.
    fn emit_index(&self, blocks: &[Emitted]) -> Result<Vec<File>, Refusal> {
        let _ = blocks;
        Ok(Vec::new())
    }
}

impl File {
    /// The only file of this path.
    pub fn whole(path: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), content: content.into(), placement: Placement::Whole }
    }

    /// A part of the file of this path, behind what the blocks before have put there.
    pub fn appended(path: impl Into<String>, content: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), content: content.into(), placement: Placement::Appended }
    }
}

impl Emission {
    /// These files, without an entry.
    pub fn of(files: Vec<File>) -> Self {
        Self { files, entry: None }
    }

    /// Neither files nor an entry.
    pub fn nothing() -> Self {
        Self::of(Vec::new())
    }
}
