//! Components made by hand, to misbehave in ways that no compiler's output does.

use netquarry_plugin::Kind;
use netquarry_plugin::api_version::{self, ApiVersion};
use serde::Deserialize;
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::{PackageId, Resolve, WorldId};

/// A plugin of any kind in the WebAssembly text format, in the layout of the canonical ABI. What a field has takes the place
/// of what a plugin does that behaves: a body is the inside of a function, and leaves what the function returns.
///
/// It works on items, each with a name: classes, names that are asked about, blocks; a strategy on whole sets of blocks. It
/// does well with all of them and does `item` with those whose names begin with B, and with sets of three blocks.
///
/// Addresses below 1,024 hold texts: at 0 the name, at 100 the version, at 200 `A test.`, at 300 `{}`, at 400 `index.txt`.
/// The description is at 1,024, answers are from 2,048 on, zeros from 3,000 to 3,200, and what the host passes in comes from
/// 65,536 on. The rest is free.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Guest {
    /// The world of which it has the exports, where that is not the one of its kind.
    pub(crate) world: Option<String>,
    /// The number that it gives for its kind, where that is not the true one.
    pub(crate) claims: Option<u8>,
    pub(crate) name: Option<String>,
    /// Pages of memory at the start.
    pub(crate) pages: Option<u32>,
    /// Imports of the module beyond those of the template.
    pub(crate) imports: String,
    /// What else is in the module: data, tables, helpers.
    pub(crate) module: String,
    /// Stands before what the allocator does otherwise; the parameters are `$old`, `$old_size`, `$align` and `$size`.
    pub(crate) realloc: String,
    pub(crate) describe: Option<String>,
    pub(crate) examples: Option<String>,
    pub(crate) configure: Option<String>,
    /// The function about items. A rule has `$classes` and `$count`, a shim `$name`, `$length` and `$index`, a strategy `$set`,
    /// an emitter `$block`; each has a local `$i`. `$release` lets a handle go that the call came with, as it has to before an
    /// answer; shims and strategies have `$drop` for any handle.
    pub(crate) item: Option<String>,
    pub(crate) tables: Option<String>,
    /// Has `$blocks` and `$count`.
    pub(crate) emit_index: Option<String>,
    /// A WIT document with one world, which takes the place of the contract's.
    pub(crate) wit: Option<String>,
    /// What stands in the sections with the version of the contract; `\ff` is the byte 255.
    pub(crate) api: Option<Vec<String>>,
    /// The text of a component that takes the place of everything but the sections.
    pub(crate) component: Option<String>,
    /// The bytes of a file that takes the place of everything.
    pub(crate) bytes: Option<String>,
}

impl Guest {
    /// One that has this body for items, and behaves otherwise.
    pub(crate) fn at_items(body: &str) -> Self {
        Self { item: Some(body.to_owned()), ..Self::default() }
    }

    /// The bytes of the component.
    pub(crate) fn built(&self, kind: Kind) -> Vec<u8> {
        if let Some(bytes) = &self.bytes {
            return unescaped(bytes);
        }
        let mut component = match &self.component {
            Some(text) => wat::parse_str(text).expect("the text is a component"),
            None => self.encoded(kind),
        };
        match &self.api {
            None => api_version::stamp(&mut component, ApiVersion::CURRENT),
            Some(sections) => sections.iter().for_each(|content| append_section(&mut component, &unescaped(content))),
        }
        component
    }

    fn encoded(&self, kind: Kind) -> Vec<u8> {
        let text = self.text(kind);
        let mut module = wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut resolve = Resolve::default();
        let contract = concat!(env!("CARGO_MANIFEST_DIR"), "/../../wit");
        let (package, _) = resolve.push_path(contract).expect("the contract parses");
        let world = self.world_of(kind, &mut resolve, package);
        embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).expect("a module takes sections");
        let encoder = ComponentEncoder::default().module(&module).expect("the module has the types of its world");
        encoder.validate(true).encode().unwrap_or_else(|error| panic!("{error:?}\n{text}"))
    }

    fn world_of(&self, kind: Kind, resolve: &mut Resolve, contract: PackageId) -> WorldId {
        let world = match &self.wit {
            None => resolve.select_world(&[contract], Some(self.world.as_deref().unwrap_or(kind.name()))),
            Some(document) => {
                let package = resolve.push_str("guest.wit", document).expect("the document parses");
                resolve.select_world(&[package], None)
            }
        };
        world.expect("there is such a world")
    }

    fn text(&self, kind: Kind) -> String {
        let Self { imports, module, realloc, .. } = self;
        let number = self.claims.unwrap_or(match kind {
            Kind::DiscoveryRule => 0,
            Kind::RepoShim => 1,
            Kind::DedupStrategy => 2,
            Kind::SpecEmitter => 3,
        });
        let name = self.name.as_deref().unwrap_or("hostile");
        let (length, pages) = (unescaped(name).len(), self.pages.unwrap_or(2));
        let zeros = "(i32.const 3000)".to_owned();
        let description = format!(
            "(i32.store (i32.const 1024) (i32.const 0)) (i32.store (i32.const 1028) (i32.const {length}))
             (i32.store (i32.const 1032) (i32.const 100)) (i32.store (i32.const 1036) (i32.const 5))
             (i32.store8 (i32.const 1040) (i32.const {number}))
             (i32.store (i32.const 1044) (i32.const 200)) (i32.store (i32.const 1048) (i32.const 7))
             (i32.store (i32.const 1052) (i32.const 300)) (i32.store (i32.const 1056) (i32.const 2))
             (i32.const 1024)"
        );
        let describe = self.describe.as_ref().unwrap_or(&description);
        let examples = self.examples.as_ref().unwrap_or(&zeros);
        let configure = self.configure.as_ref().unwrap_or(&zeros);
        let (kind_imports, functions) = match (&self.world, kind) {
            (Some(_), _) => (String::new(), String::new()),
            (None, Kind::DiscoveryRule) => (String::new(), self.rule()),
            (None, Kind::RepoShim) => (handle_imports("index", "code-index"), self.shim(&zeros)),
            (None, Kind::DedupStrategy) => {
                let len = r#"(import "netquarry:plugin/blocks@0.1.0" "[method]block-set.len" (func $len (param i32) (result i32)))"#;
                (handle_imports("blocks", "block-set") + len, self.strategy())
            }
            (None, Kind::SpecEmitter) => (String::new(), self.emitter()),
        };
        format!(
            r#"(module
            (import "netquarry:plugin/log@0.1.0" "log" (func $log (param i32 i32 i32)))
            {kind_imports}
            {imports}
            (memory (export "memory") {pages})
            (data (i32.const 0) "{name}")
            (data (i32.const 100) "1.2.3")
            (data (i32.const 200) "A test.")
            (data (i32.const 300) "{{}}")
            (data (i32.const 400) "index.txt")
            (global $next (mut i32) (i32.const 65536))
            (global $handle (mut i32) (i32.const 0))
            (func (export "cabi_realloc") (param $old i32) (param $old_size i32) (param $align i32) (param $size i32)
                (result i32) (local $start i32)
                {realloc}
                (local.set $start (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
                (global.set $next (i32.add (local.get $start) (local.get $size)))
                (block $enough
                    (br_if $enough (i32.le_u (global.get $next) (i32.mul (memory.size) (i32.const 65536))))
                    (drop (memory.grow (i32.add (i32.div_u (local.get $size) (i32.const 65536)) (i32.const 1)))))
                (local.get $start))
            (func $begins_with_b (param $text i32) (result i32) (i32.eq (i32.load8_u (local.get $text)) (i32.const 66)))
            (func (export "describe") (result i32) (local $i i32) {describe})
            (func (export "examples") (result i32) (local $i i32) {examples})
            (func (export "configure") (param $json i32) (param $length i32) (result i32) (local $i i32) {configure})
            {functions}
            {module})"#
        )
    }

    /// The body for items, and the test whether it is meant for this one.
    fn item(&self, test: &'static str) -> (&str, &'static str) {
        self.item.as_deref().map_or(("unreachable", "(i32.const 0)"), |body| (body, test))
    }

    /// Proposes every class, for the reason `A test.`
    fn rule(&self) -> String {
        let name = "(call $begins_with_b
            (i32.load (i32.add (local.get $classes) (i32.mul (local.get $i) (i32.const 116)))))";
        let (item, is_meant) = self.item(name);
        format!(
            r#"
            (func $release)
            (func $item (param $classes i32) (param $count i32) (result i32) (local $i i32) {item})
            (func (export "discover") (param $classes i32) (param $count i32) (result i32) (local $i i32) (local $to i32)
                (local.set $to (i32.const 8192))
                (block $judged (loop $next
                    (br_if $judged (i32.eq (local.get $i) (local.get $count)))
                    (if {is_meant} (then (return (call $item (local.get $classes) (local.get $count)))))
                    (i32.store (local.get $to) (local.get $i))
                    (i32.store offset=8 (local.get $to) (i32.const 200))
                    (i32.store offset=12 (local.get $to) (i32.const 7))
                    (local.set $to (i32.add (local.get $to) (i32.const 16)))
                    (local.set $i (i32.add (local.get $i) (i32.const 1)))
                    (br $next)))
                (i32.store (i32.const 2052) (i32.const 8192))
                (i32.store (i32.const 2056) (local.get $count))
                (i32.const 2048))"#
        )
    }

    /// Tells empty tables, and knows nothing of any name.
    fn shim(&self, zeros: &String) -> String {
        let tables = self.tables.as_ref().unwrap_or(zeros);
        let (item, is_meant) = self.item("(call $begins_with_b (local.get $name))");
        format!(
            r#"
            (func (export "tables") (result i32) (local $i i32) {tables})
            (func $release (call $drop (global.get $handle)))
            (func $item (param $name i32) (param $length i32) (param $index i32) (result i32) (local $i i32) {item})
            (func (export "answer-dynamic") (param $name i32) (param $length i32) (param i32 i32 i32 i32 i32 i32)
                (param $index i32) (result i32)
                (global.set $handle (local.get $index))
                (if {is_meant}
                    (then (return (call $item (local.get $name) (local.get $length) (local.get $index)))))
                (call $release)
                (i32.store (i32.const 2052) (i32.const 1))
                (i32.store (i32.const 2056) (i32.const 200))
                (i32.store (i32.const 2060) (i32.const 7))
                (i32.const 2048))"#
        )
    }

    /// Removes the last block of a set for the sake of the first, for the reason `A test.`
    fn strategy(&self) -> String {
        let (item, is_meant) = self.item("(i32.eq (local.get $count) (i32.const 3))");
        format!(
            r#"
            (func $release (call $drop (global.get $handle)))
            (func $item (param $set i32) (result i32) (local $i i32) {item})
            (func (export "deduplicate") (param $set i32) (result i32) (local $count i32)
                (local.set $count (call $len (local.get $set)))
                (global.set $handle (local.get $set))
                (if {is_meant} (then (return (call $item (local.get $set)))))
                (call $release)
                (i32.store (i32.const 2112) (i32.sub (local.get $count) (i32.const 1)))
                (i32.store (i32.const 2120) (i32.const 200))
                (i32.store (i32.const 2124) (i32.const 7))
                (i32.store (i32.const 2052) (i32.const 2112))
                (i32.store (i32.const 2056) (i32.gt_u (local.get $count) (i32.const 1)))
                (i32.const 2048))"#
        )
    }

    /// Writes a file for each block, which is called as the block is, and an index. `$file` answers with one file of a path.
    fn emitter(&self) -> String {
        let (item, is_meant) = self.item("(call $begins_with_b (i32.load offset=8 (local.get $block)))");
        let listed = "(i32.store (i32.const 3404) (i32.const 3420)) (i32.store (i32.const 3408) (i32.const 1))
             (i32.store (i32.const 3420) (i32.const 400)) (i32.store (i32.const 3424) (i32.const 9))
             (i32.store (i32.const 3428) (i32.const 200)) (i32.store (i32.const 3432) (i32.const 7))
             (i32.const 3400)";
        let index = self.emit_index.as_deref().unwrap_or(listed);
        format!(
            r#"
            (func $file (param $path i32) (param $length i32) (result i32)
                (i32.store (i32.const 2112) (local.get $path))
                (i32.store (i32.const 2116) (local.get $length))
                (i32.store (i32.const 2120) (i32.const 200))
                (i32.store (i32.const 2124) (i32.const 7))
                (i32.store (i32.const 2052) (i32.const 2112))
                (i32.store (i32.const 2056) (i32.const 1))
                (i32.const 2048))
            (func $release)
            (func $item (param $block i32) (result i32) (local $i i32) {item})
            (func (export "emit-block") (param $block i32) (result i32)
                (if {is_meant} (then (return (call $item (local.get $block)))))
                (call $file (i32.load offset=8 (local.get $block)) (i32.load offset=12 (local.get $block))))
            (func (export "emit-index") (param $blocks i32) (param $count i32) (result i32) (local $i i32) {index})"#
        )
    }
}

/// What a handle of a resource of the contract takes.
fn handle_imports(interface: &str, resource: &str) -> String {
    let interface = format!("netquarry:plugin/{interface}@0.1.0");
    format!(r#"(import "{interface}" "[resource-drop]{resource}" (func $drop (param i32)))"#)
}

fn append_section(component: &mut Vec<u8>, content: &[u8]) {
    let name = api_version::SECTION;
    let length = 1 + name.len() + content.len();
    assert!(name.len() < 128 && length < 128, "each length is one byte");
    component.extend([0, u8::try_from(length).expect("it is small"), u8::try_from(name.len()).expect("it is small")]);
    component.extend(name.as_bytes());
    component.extend(content);
}

/// The bytes of a text in which `\ff` is the byte 255.
fn unescaped(text: &str) -> Vec<u8> {
    let mut parts = text.split('\\');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2).expect("two digits stand behind a backslash");
        bytes.push(u8::from_str_radix(digits, 16).expect("they are hexadecimal"));
        bytes.extend(rest.as_bytes());
    }
    bytes
}
