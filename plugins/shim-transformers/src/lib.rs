//! What static analysis cannot see in transformers.
//!
//! Each rule states a property of the library's code that makes leaving something out or replacing it right. None is
//! about a single model.

mod rules;

use netquarry_sdk::shim::{Replacement, RepoShim, Rule, Tables};
use netquarry_sdk::{ConfigurationError, NoConfiguration, Plugin, Refusal};

use rules::{DROPPED_BASES, DROPPED_DECORATORS, DROPPED_MEMBERS, NAMED_TABLES, REPLACED, UNREAD_ANNOTATIONS};

pub struct Transformers;

impl Plugin for Transformers {
    const NAME: &str = "shim-transformers";
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    const DOCUMENTATION: &str = include_str!("../README.md");
    const EXAMPLES: &[(&str, &str)] = &[("base-for-the-hub", include_str!("../examples/base-for-the-hub.json"))];
    type Configuration = NoConfiguration;

    fn new(_: NoConfiguration) -> Result<Self, ConfigurationError> {
        Ok(Self)
    }
}

impl RepoShim for Transformers {
    fn tables(&self) -> Result<Tables, Refusal> {
        let members = DROPPED_MEMBERS.iter().flat_map(|(class, names, why)| {
            names.iter().map(move |name| Rule { path: format!("{class}.{name}"), why: (*why).to_owned() })
        });
        Ok(Tables {
            packages: vec!["transformers".to_owned()],
            dropped_decorators: DROPPED_DECORATORS.map(Rule::from).to_vec(),
            postponed_annotations: UNREAD_ANNOTATIONS.map(Rule::from).to_vec(),
            named_tables: NAMED_TABLES.map(Rule::from).to_vec(),
            dropped_members: members.collect(),
            dropped_bases: DROPPED_BASES.map(Rule::from).to_vec(),
            replaced_definitions: REPLACED.map(Replacement::from).to_vec(),
            ..Tables::default()
        })
    }
}

netquarry_sdk::export!(Transformers as RepoShim);
