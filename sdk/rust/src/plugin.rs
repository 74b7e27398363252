//! What every kind of plugin has in common.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::{ConfigurationError, Refusal};

/// What a plugin is, and how it is made from its configuration.
pub trait Plugin: Sized {
    /// Lower-case letters, digits and hyphens.
    const NAME: &str;
    /// A semantic version; `env!("CARGO_PKG_VERSION")` does well.
    const VERSION: &str;
    /// Markdown; the first line is a one-line summary.
    const DOCUMENTATION: &str;
    /// Cases that show what the plugin does, each with its name: `&[("drop", include_str!("../examples/drop.json"))]`.
    /// `netquarry plugin test` runs them and, with `--bless`, writes what comes out into them.
    const EXAMPLES: &[(&str, &str)] = &[];

    /// Files of sources that the plugin reads, by globs of their paths, each with the reason for the person who is to grant
    /// it, in one line: `&[("configs/*.yaml", "they name the heads of every model")]`. Only a shim has a function to read
    /// with, [`crate::shim::CodeIndex::read_file`].
    const READS_FILES: &[(&str, &str)] = &[];

    /// A struct with `#[serde(default, deny_unknown_fields)]`. Its JSON Schema is what the host shows to the user, and
    /// doc comments on its fields become descriptions there.
    type Configuration: DeserializeOwned + JsonSchema;

    /// Checks what the types of the configuration leave open; the error points to the value at fault.
    fn new(configuration: Self::Configuration) -> Result<Self, ConfigurationError>;
}

/// A sentence for which no case is made; most of what stops a plugin is so.
impl From<String> for Refusal {
    fn from(sentence: String) -> Self {
        Self::Other(sentence)
    }
}

impl From<&str> for Refusal {
    fn from(sentence: &str) -> Self {
        Self::Other(sentence.to_owned())
    }
}

/// The configuration of a plugin that has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoConfiguration {}

/// Reads a configuration and makes the plugin. This is what the host calls; tests of a plugin may too.
///
/// # Errors
///
/// The pointer leads to the value that is missing, unknown or of the wrong type.
pub fn configured<P: Plugin>(json: &str) -> Result<P, ConfigurationError> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let configuration = serde_path_to_error::deserialize(&mut deserializer)
        .map_err(|error| ConfigurationError { pointer: pointer(error.path()), message: error.inner().to_string() })?;
    deserializer.end().map_err(|error| ConfigurationError { pointer: String::new(), message: error.to_string() })?;
    P::new(configuration)
}

/// The path as a JSON pointer, RFC 6901.
fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;

    let segment = |segment: &Segment| match segment {
        Segment::Seq { index } => format!("/{index}"),
        Segment::Map { key } => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
        Segment::Enum { .. } | Segment::Unknown => String::new(),
    };
    path.iter().map(segment).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    struct Thresholds {
        thresholds: Vec<f64>,
        #[serde(rename = "a/b")]
        slashed: Option<u8>,
    }

    #[derive(Debug)]
    struct Strict;

    impl Plugin for Strict {
        const NAME: &str = "strict";
        const VERSION: &str = "0.1.0";
        const DOCUMENTATION: &str = "A test.";
        type Configuration = Thresholds;

        fn new(configuration: Thresholds) -> Result<Self, ConfigurationError> {
            match configuration.thresholds.iter().position(|threshold| !(0.0..=1.0).contains(threshold)) {
                Some(index) => Err(ConfigurationError {
                    pointer: format!("/thresholds/{index}"),
                    message: "a threshold is between 0 and 1".to_owned(),
                }),
                None => Ok(Self),
            }
        }
    }

    fn pointer_of_error(json: &str) -> String {
        configured::<Strict>(json).expect_err("the configuration is wrong").pointer
    }

    #[test]
    fn errors_point_into_the_configuration() {
        assert_eq!(pointer_of_error(r#"{"thresholds": [0.5, "high"]}"#), "/thresholds/1");
        assert_eq!(pointer_of_error(r#"{"thresholds": [0.5, 7]}"#), "/thresholds/1");
        assert_eq!(pointer_of_error(r#"{"a/b": -1}"#), "/a~1b");
        assert_eq!(pointer_of_error(r#"{"treshold": 1}"#), "/treshold");
        assert_eq!(pointer_of_error("{} {}"), "");
        assert_eq!(pointer_of_error("["), "");
    }

    #[test]
    fn an_empty_configuration_means_the_defaults() {
        assert!(configured::<Strict>("{}").is_ok());
    }
}
