//! The format of `registry.json`: cases are edits of a valid one.

use std::path::Path;

use netquarry_registry::index::schema;
use netquarry_registry::parse::{IndexError, parse};
use netquarry_registry::settings::{Registries, RegistrySettings};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Cases {
    valid: Value,
    /// An edit each, and a part of the error, or nothing where the result is valid too.
    edits: Vec<Edit>,
    /// Whole texts.
    texts: Vec<Text>,
    /// Lists of `[[registries]]`, as TOML.
    settings: Vec<Text>,
}

#[derive(Deserialize)]
struct Edit {
    /// A JSON pointer.
    at: String,
    /// What stands there then; absent where it is taken out.
    value: Option<Value>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct Text {
    text: String,
    error: Option<String>,
}

fn cases() -> Cases {
    serde_json::from_str(include_str!("../cases/formats.json")).unwrap()
}

#[test]
fn edits_of_a_valid_index() {
    let cases = cases();
    parse(&cases.valid.to_string(), "r").expect("it is valid");
    for Edit { at, value, error } in &cases.edits {
        let mut document = cases.valid.clone();
        let (parent, key) = at.rsplit_once('/').unwrap();
        let parent = document.pointer_mut(parent).unwrap_or_else(|| panic!("{at} has no parent"));
        match (parent, value) {
            (Value::Object(map), Some(value)) => drop(map.insert(key.to_owned(), value.clone())),
            (Value::Object(map), None) => drop(map.remove(key).unwrap_or_else(|| panic!("{at} is not there"))),
            (Value::Array(list), Some(value)) => list.push(value.clone()),
            _ => panic!("{at} cannot be edited"),
        }
        check(&format!("{at}: {value:?}"), &document.to_string(), error.as_deref());
    }
}

#[test]
fn texts_that_are_no_index() {
    for Text { text, error } in &cases().texts {
        check(text, text, error.as_deref());
    }
}

fn check(case: &str, text: &str, error: Option<&str>) {
    match (parse(text, "https://example.org/registry.json"), error) {
        (Ok(_), None) => {}
        (Ok(_), Some(error)) => panic!("{case} is accepted, and should fail with {error:?}"),
        (Err(found), None) => panic!("{case} is refused: {found}"),
        (Err(found), Some(error)) => {
            let found = found.to_string();
            assert!(found.contains(error), "{case}: {error:?} is not in {found:?}");
            assert!(found.contains("https://example.org/registry.json"), "{case}: {found:?} does not name the file");
        }
    }
}

#[test]
fn another_format_is_told_apart_whatever_else_it_has() {
    let error = parse(r#"{"format": 7, "plugins": []}"#, "r").expect_err("it is refused");
    assert_eq!(error, IndexError::Format { file: "r".to_owned(), found: 7 });
}

#[test]
fn the_schema_in_the_repository_is_that_of_the_format() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../registry.schema.json");
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    if std::env::var_os("NETQUARRY_UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, schema()).unwrap();
        return;
    }
    assert!(committed == schema(), "run this test with NETQUARRY_UPDATE_SCHEMA=1 and commit registry.schema.json");
}

#[test]
fn registries_of_a_project() {
    #[derive(Deserialize)]
    struct Document {
        registries: Vec<RegistrySettings>,
    }
    for Text { text, error } in &cases().settings {
        let read = toml::from_str::<Document>(text).map_err(|error| error.to_string());
        let made = read.and_then(|document| {
            Registries::new(&document.registries, Path::new("/project")).map_err(|error| error.to_string())
        });
        match (made, error) {
            (Ok(_), None) => {}
            (Err(found), Some(error)) if found.contains(error) => {}
            (made, error) => panic!("{text}: {:?}, and {error:?} is expected", made.map(|_| "accepted")),
        }
    }
}
