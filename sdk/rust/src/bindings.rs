//! What `wit-bindgen` makes of the four worlds. What the worlds share is generated once, with the first.

/// The world `discovery-rule`.
pub mod discovery_rule {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "discovery-rule",
        additional_derives: [PartialEq, serde::Serialize, serde::Deserialize],
        generate_unused_types: true,
        pub_export_macro: true,
        default_bindings_module: "netquarry_sdk::bindings::discovery_rule",
    });
}

/// The world `repo-shim`.
#[expect(clippy::too_many_arguments, reason = "the bindings flatten a record into the arguments of one function")]
pub mod repo_shim {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "repo-shim",
        with: {
            "netquarry:plugin/types@0.1.0": crate::bindings::discovery_rule::netquarry::plugin::types,
            "netquarry:plugin/log@0.1.0": crate::bindings::discovery_rule::netquarry::plugin::log,
        },
        additional_derives: [PartialEq, serde::Serialize, serde::Deserialize],
        generate_unused_types: true,
        pub_export_macro: true,
        default_bindings_module: "netquarry_sdk::bindings::repo_shim",
    });
}

/// The world `dedup-strategy`.
pub mod dedup_strategy {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "dedup-strategy",
        with: {
            "netquarry:plugin/types@0.1.0": crate::bindings::discovery_rule::netquarry::plugin::types,
            "netquarry:plugin/log@0.1.0": crate::bindings::discovery_rule::netquarry::plugin::log,
        },
        additional_derives: [PartialEq, serde::Serialize, serde::Deserialize],
        generate_unused_types: true,
        pub_export_macro: true,
        default_bindings_module: "netquarry_sdk::bindings::dedup_strategy",
    });
}

/// The world `spec-emitter`.
pub mod spec_emitter {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "spec-emitter",
        with: {
            "netquarry:plugin/types@0.1.0": crate::bindings::discovery_rule::netquarry::plugin::types,
            "netquarry:plugin/log@0.1.0": crate::bindings::discovery_rule::netquarry::plugin::log,
            "netquarry:plugin/classes@0.1.0": crate::bindings::discovery_rule::netquarry::plugin::classes,
        },
        additional_derives: [PartialEq, serde::Serialize, serde::Deserialize],
        generate_unused_types: true,
        pub_export_macro: true,
        default_bindings_module: "netquarry_sdk::bindings::spec_emitter",
    });
}
