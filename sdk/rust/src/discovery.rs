//! Rules that choose the blocks among the classes of the sources.

pub use crate::bindings::discovery_rule::netquarry::plugin::classes::{
    Ancestor, BaseClass, Category, ClassDescription, Method, Proposal,
};
use crate::{Plugin, Refusal};

/// A plugin of the kind `discovery-rule`.
pub trait DiscoveryRule: Plugin {
    /// Judges a batch of classes. The reason of each proposal says what made the class a block and what put it into its
    /// category.
    ///
    /// # Errors
    ///
    /// It fails the whole batch. A class that the rule does not understand is better left out with a
    /// message in the log.
    fn discover(&self, classes: &[ClassDescription]) -> Result<Vec<Proposal>, Refusal>;
}

impl Category {
    /// The name that stands in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Attention => "attention",
            Self::Convolution => "convolution",
            Self::TransformerBlock => "transformer_block",
            Self::Pooling => "pooling",
            Self::Normalisation => "normalisation",
            Self::Loss => "loss",
            Self::Architecture => "architecture",
            Self::Utility => "utility",
        }
    }
}
