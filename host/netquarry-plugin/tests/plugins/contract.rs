//! The contract that is published.

use std::fs;
use std::path::Path;

use netquarry_plugin::api_version::ApiVersion;
use wit_component::WitPrinter;
use wit_parser::Resolve;

/// What of the contract binds: all but the comments.
fn binding() -> String {
    let mut resolve = Resolve::default();
    let wit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit");
    let (package, _) = resolve.push_path(wit).expect("the contract parses");
    let mut printer = WitPrinter::default();
    printer.emit_docs(false);
    printer.print(&resolve, package, &[]).expect("it can be printed");
    printer.output.to_string()
}

/// A component of a version must fit every host of that version: a change wants a version of its own, in `wit/`, in
/// `api_version.rs` and in the SDKs. Of a version that is new, `NETQUARRY_BLESS` has the file written.
#[test]
fn a_published_contract_stands_still() {
    let file = format!("tests/plugins/published/{}.wit", ApiVersion::CURRENT);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&file);
    if std::env::var_os("NETQUARRY_BLESS").is_some() && !path.exists() {
        fs::write(&path, binding()).expect("the folder is there");
    }
    let published = fs::read_to_string(path).unwrap_or_else(|error| panic!("{file}: {error}"));
    assert_eq!(binding(), published, "the contract changed without a new version");
}
