//! Components made by hand, to misbehave in ways that no compiler's output does.

use netquarry_plugin::api_version::{self, ApiVersion};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// A component written in the WebAssembly text format, in the layout of the canonical ABI.
///
/// Addresses below 1,024 hold the texts of the description, 1,024 the description itself, and from 2,048 on the body of
/// a test may put what it likes. What the host passes in is allocated from 65,536 on.
pub(crate) struct Guest {
    pub(crate) world: &'static str,
    /// The number of the case in the enumeration `kind`.
    pub(crate) kind: u8,
    pub(crate) name: &'static str,
    /// Imports beyond the log.
    pub(crate) imports: &'static str,
    /// The body of `configure`; returns the address of a `result<_, configuration-error>`.
    pub(crate) configure: &'static str,
    /// Everything else in the module: data, helpers and the exports of the world.
    pub(crate) module: String,
}

/// Accepts every configuration: address 3,000 holds zeros.
const ACCEPT: &str = "i32.const 3000";

impl Guest {
    /// A discovery rule with this body of `discover`, which finds address and number of the classes in `$classes` and
    /// `$count` and returns the address of a `result<list<proposal>, string>`.
    pub(crate) fn discovery_rule(body: &str) -> Self {
        let module = format!(
            r#"(func (export "discover") (param $classes i32) (param $count i32) (result i32) (local $i i32)
                {body})"#
        );
        Self { world: "discovery-rule", kind: 0, name: "hostile-rule", imports: "", configure: ACCEPT, module }
    }

    /// An emitter that returns one file with this path for every block.
    pub(crate) fn emitter(path: &str) -> Self {
        let length = path.len();
        // A result with a list of one file, whose content is empty.
        let module = format!(
            r#"(data (i32.const 2048) "{path}")
               (data (i32.const 2816) "\00\00\00\00\20\0b\00\00\01\00\00\00")
               (func (export "emit-block") (param i32) (result i32)
                 (i32.store (i32.const 2848) (i32.const 2048))
                 (i32.store (i32.const 2852) (i32.const {length}))
                 i32.const 2816)
               (func (export "emit-index") (param i32 i32) (result i32) i32.const 3000)"#
        );
        Self { world: "spec-emitter", kind: 3, name: "hostile-emitter", imports: "", configure: ACCEPT, module }
    }

    /// The component with its version section.
    pub(crate) fn component(&self) -> Vec<u8> {
        let mut component = self.unstamped("");
        api_version::stamp(&mut component, ApiVersion::CURRENT);
        component
    }

    /// The component with a further WIT document that defines its world `test:guest/guest`, where one is given.
    pub(crate) fn unstamped(&self, document: &str) -> Vec<u8> {
        let mut module = wat::parse_str(self.text()).expect("the text is WebAssembly");
        let mut resolve = Resolve::default();
        let wit = concat!(env!("CARGO_MANIFEST_DIR"), "/../../wit");
        let (package, _) = resolve.push_path(wit).expect("the contract parses");
        let world = match document {
            "" => resolve.select_world(&[package], Some(self.world)),
            document => {
                let package = resolve.push_str("guest.wit", document).expect("the document parses");
                resolve.select_world(&[package], None)
            }
        };
        let world = world.expect("there is such a world");
        embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).expect("a module takes sections");
        let encoder = ComponentEncoder::default().module(&module).expect("the module has the types of its world");
        encoder.validate(true).encode().expect("the module fits its world")
    }

    fn text(&self) -> String {
        let Self { kind, name, imports, configure, module, .. } = self;
        let length = name.len();
        format!(
            r#"(module
                (import "netquarry:plugin/log@0.1.0" "log" (func $log (param i32 i32 i32)))
                {imports}
                (memory (export "memory") 2)
                (data (i32.const 0) "{name}")
                (data (i32.const 100) "1.2.3")
                (data (i32.const 200) "A test.")
                (data (i32.const 300) "{{}}")
                (global $next (mut i32) (i32.const 65536))
                (func (export "cabi_realloc") (param i32 i32 i32) (param $size i32) (result i32) (local $start i32)
                    (local.set $start (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
                    (global.set $next (i32.add (local.get $start) (local.get $size)))
                    (block $enough
                        (br_if $enough (i32.le_u (global.get $next) (i32.mul (memory.size) (i32.const 65536))))
                        (drop (memory.grow (i32.add (i32.div_u (local.get $size) (i32.const 65536)) (i32.const 1)))))
                    local.get $start)
                (func (export "describe") (result i32)
                    (i32.store (i32.const 1024) (i32.const 0))
                    (i32.store (i32.const 1028) (i32.const {length}))
                    (i32.store (i32.const 1032) (i32.const 100))
                    (i32.store (i32.const 1036) (i32.const 5))
                    (i32.store8 (i32.const 1040) (i32.const {kind}))
                    (i32.store (i32.const 1044) (i32.const 200))
                    (i32.store (i32.const 1048) (i32.const 7))
                    (i32.store (i32.const 1052) (i32.const 300))
                    (i32.store (i32.const 1056) (i32.const 2))
                    i32.const 1024)
                (func (export "examples") (result i32) i32.const 3000)
                (func (export "configure") (param i32 i32) (result i32) {configure})
                {module})"#
        )
    }
}
