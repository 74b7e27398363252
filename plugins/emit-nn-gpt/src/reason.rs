//! Why a block has no chat record, or one less.

use serde::{Deserialize, Serialize};

/// Each is something at which readers of the records drop or cut one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reason {
    /// The code has more characters than the configuration allows.
    TooLong,
    /// It has a run of three backticks, at which readers end the code.
    CodeFence,
    /// It has what chat templates put between messages: `<|im_end|>`.
    ChatMarker,
    /// It is not read by the parser.
    ParseFail,
    /// No class has a base that is written `Module`.
    NoNnModule,
    /// The class has no `forward` of its own.
    NoForward,
    /// The body of `forward` holds nothing that could be filled in.
    NothingToFill,
}
