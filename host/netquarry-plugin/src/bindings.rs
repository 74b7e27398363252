//! What `wasmtime` makes of the worlds. What they share is generated once.

/// The world `base`, which every plugin exports.
pub(crate) mod base {
    wasmtime::component::bindgen!({
        path: "../../wit",
        world: "base",
        imports: { default: trappable },
        additional_derives: [serde::Serialize, serde::Deserialize],
    });
}

pub(crate) mod discovery_rule {
    wasmtime::component::bindgen!({
        path: "../../wit",
        world: "discovery-rule",
        imports: { default: trappable },
        additional_derives: [serde::Serialize, serde::Deserialize],
        with: {
            "netquarry:plugin/types@0.1.0": crate::bindings::base::netquarry::plugin::types,
            "netquarry:plugin/log@0.1.0": crate::bindings::base::netquarry::plugin::log,
        },
    });
}

pub(crate) mod repo_shim {
    wasmtime::component::bindgen!({
        path: "../../wit",
        world: "repo-shim",
        imports: { default: trappable },
        additional_derives: [serde::Serialize, serde::Deserialize],
        with: {
            "netquarry:plugin/types@0.1.0": crate::bindings::base::netquarry::plugin::types,
            "netquarry:plugin/log@0.1.0": crate::bindings::base::netquarry::plugin::log,
            "netquarry:plugin/index.code-index": crate::shim::IndexHandle,
        },
    });
}

pub(crate) mod dedup_strategy {
    wasmtime::component::bindgen!({
        path: "../../wit",
        world: "dedup-strategy",
        imports: { default: trappable },
        additional_derives: [serde::Serialize, serde::Deserialize],
        with: {
            "netquarry:plugin/types@0.1.0": crate::bindings::base::netquarry::plugin::types,
            "netquarry:plugin/log@0.1.0": crate::bindings::base::netquarry::plugin::log,
            "netquarry:plugin/blocks.block-set": crate::dedup::BlockSetHandle,
            "netquarry:plugin/blocks.structure-index": crate::dedup::StructureIndexHandle,
        },
    });
}

pub(crate) mod spec_emitter {
    wasmtime::component::bindgen!({
        path: "../../wit",
        world: "spec-emitter",
        imports: { default: trappable },
        additional_derives: [serde::Serialize, serde::Deserialize],
        with: {
            "netquarry:plugin/types@0.1.0": crate::bindings::base::netquarry::plugin::types,
            "netquarry:plugin/log@0.1.0": crate::bindings::base::netquarry::plugin::log,
            "netquarry:plugin/classes@0.1.0": crate::bindings::discovery_rule::netquarry::plugin::classes,
        },
    });
}
