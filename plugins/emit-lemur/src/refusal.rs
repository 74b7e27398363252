//! Why a block becomes no model.

use serde::{Deserialize, Serialize};

/// The names are those in `index.json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// Below the configured level of validation.
    BelowLevel,
    /// Code that could deceive the validator: its evidence is none.
    Tainted,
    /// It compares predictions with targets.
    Loss,
    /// It prepares data, by what the rule says that discovered it: no features go through it, and no gradient needs to.
    PreparesData,
    /// No gradient reached its parameters.
    NoGradient,
    /// A forward pass in training mode raised.
    RaisesInTraining,
    /// Nothing that `forward` takes is a floating-point tensor, so that no image can be behind it.
    NoTensorInput,
    /// An argument of `forward` is more than tensors of random numbers or of one value, literals, and lists, tuples and
    /// mappings of these.
    ArgumentNotUnderstood,
    /// A number among the arguments of `forward` is that of the samples, and may stand for it.
    ArgumentMayDependOnBatch,
    /// Its inputs and its output do not agree in a first axis that can only be that of the batch.
    BatchAxisUnknown,
    /// It was seen to fail, or to mix samples, with other numbers of samples.
    BatchDependent,
    /// It gives no floating-point tensor with features for each sample.
    NoFeatures,
    /// Its text uses a name that the model's file needs, `Net` or `supported_hyperparameters`, or defines one of Python's
    /// own that it needs.
    NameTaken,
    /// It needs a distribution that LEMUR has not.
    Requirement,
    /// It has more parameters, takes more operations or larger inputs than configured.
    TooLarge,
}
