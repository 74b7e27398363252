//! The export macro and what it expands to.

use std::panic;
use std::sync::Once;

use crate::plugin::{Plugin, configured};
use crate::{ConfigurationError, Description, Example, Kind, Permission, log};

/// Exports a plugin as a component: `netquarry_sdk::export!(MyRule as DiscoveryRule)`. The second name is the trait of
/// the plugin's kind. Expands to nothing where the crate is not built for WebAssembly.
#[macro_export]
macro_rules! export {
    ($plugin:path as DiscoveryRule) => {
        $crate::__export!($plugin, discovery_rule, DiscoveryRule, {
            fn discover(
                classes: ::std::vec::Vec<$crate::discovery::ClassDescription>,
            ) -> ::std::result::Result<::std::vec::Vec<$crate::discovery::Proposal>, $crate::Refusal> {
                with_plugin(|plugin| $crate::discovery::DiscoveryRule::discover(plugin, &classes))
            }
        });
    };
    ($plugin:path as RepoShim) => {
        $crate::__export!($plugin, repo_shim, RepoShim, {
            fn tables() -> ::std::result::Result<$crate::shim::Tables, $crate::Refusal> {
                with_plugin($crate::shim::RepoShim::tables)
            }

            fn answer_dynamic(
                question: $crate::shim::Question,
                index: &$crate::bindings::repo_shim::CodeIndex,
            ) -> ::std::result::Result<$crate::shim::Answer, $crate::Refusal> {
                with_plugin(|plugin| $crate::shim::RepoShim::answer(plugin, &question, index))
            }
        });
    };
    ($plugin:path as DedupStrategy) => {
        $crate::__export!($plugin, dedup_strategy, DedupStrategy, {
            fn deduplicate(
                blocks: &$crate::bindings::dedup_strategy::BlockSet,
            ) -> ::std::result::Result<$crate::dedup::Decisions, $crate::Refusal> {
                with_plugin(|plugin| $crate::dedup::DedupStrategy::deduplicate(plugin, blocks))
            }
        });
    };
    ($plugin:path as SpecEmitter) => {
        $crate::__export!($plugin, spec_emitter, SpecEmitter, {
            fn emit_block(
                block: $crate::emit::Block,
            ) -> ::std::result::Result<$crate::emit::Emission, $crate::Refusal> {
                with_plugin(|plugin| $crate::emit::SpecEmitter::emit_block(plugin, &block))
            }

            fn emit_index(
                blocks: ::std::vec::Vec<$crate::emit::Emitted>,
            ) -> ::std::result::Result<::std::vec::Vec<$crate::emit::File>, $crate::Refusal> {
                with_plugin(|plugin| $crate::emit::SpecEmitter::emit_index(plugin, &blocks))
            }
        });
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __export {
    ($plugin:path, $world:ident, $kind:ident, { $($functions:item)* }) => {
        #[cfg(target_family = "wasm")]
        const _: () = {
            struct Component;

            ::std::thread_local! {
                // An instance is configured once, before it is asked for anything else.
                static PLUGIN: ::std::cell::OnceCell<$plugin> = const { ::std::cell::OnceCell::new() };
            }

            fn with_plugin<T>(answer: impl FnOnce(&$plugin) -> T) -> T {
                PLUGIN.with(|plugin| answer(plugin.get().expect("the host configures an instance before it calls it")))
            }

            impl $crate::bindings::$world::Guest for Component {
                fn describe() -> $crate::Description {
                    $crate::export::describe::<$plugin>($crate::Kind::$kind)
                }

                fn examples() -> ::std::vec::Vec<$crate::Example> {
                    $crate::export::examples::<$plugin>()
                }

                fn configure(json: ::std::string::String) -> ::std::result::Result<(), $crate::ConfigurationError> {
                    let configured = $crate::export::configure(&json)?;
                    PLUGIN.with(|plugin| plugin.set(configured)).ok().expect("the host configures an instance once");
                    ::std::result::Result::Ok(())
                }

                $($functions)*
            }

            $crate::bindings::$world::export!(Component with_types_in $crate::bindings::$world);
        };
    };
}

/// What the exported `describe` answers.
pub fn describe<P: Plugin>(kind: Kind) -> Description {
    log_panics();
    let schema = schemars::schema_for!(P::Configuration);
    Description {
        name: P::NAME.to_owned(),
        version: P::VERSION.to_owned(),
        kind,
        documentation: P::DOCUMENTATION.to_owned(),
        configuration_schema: schema.as_value().to_string(),
        permissions: P::READS_FILES.iter().map(read_files).collect(),
    }
}

fn read_files((scope, why): &(&str, &str)) -> Permission {
    Permission { name: "read-files".to_owned(), scope: (*scope).to_owned(), why: (*why).to_owned() }
}

/// What the exported `examples` answers.
pub fn examples<P: Plugin>() -> Vec<Example> {
    log_panics();
    let example =
        |(name, document): &(&str, &str)| Example { name: (*name).to_owned(), document: (*document).to_owned() };
    P::EXAMPLES.iter().map(example).collect()
}

/// What the exported `configure` does.
///
/// # Errors
///
/// As [`configured`].
pub fn configure<P: Plugin>(json: &str) -> Result<P, ConfigurationError> {
    log_panics();
    configured(json)
}

/// Makes panics readable: without a hook the host only sees that the instance executed `unreachable`.
fn log_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| panic::set_hook(Box::new(|panic| log::error(&panic.to_string()))));
}
