//! The order in which methods are looked up, held against CPython's on made-up hierarchies.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Arc;

use netquarry_core::index::{Base, Index, IndexedSource};
use netquarry_core::source::{ContentDigest, Source, SourceFile};
use netquarry_core::syntax;

/// Makes the same class statements every time: eight to a hierarchy, each with up to three bases among those before it.
fn hierarchies(count: u32) -> Vec<String> {
    let mut state: u32 = 1;
    let mut below = |bound: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % bound
    };
    let mut statements = Vec::new();
    for hierarchy in 0..count {
        for class in 0..8 {
            let mut bases: Vec<String> = Vec::new();
            for _ in 0..below(4).min(class) {
                let base = format!("H{hierarchy}C{}", below(class));
                if !bases.contains(&base) {
                    bases.push(base);
                }
            }
            statements.push(format!("class H{hierarchy}C{class}({}): pass", bases.join(", ")));
        }
    }
    statements
}

/// The orders of the classes that CPython accepts, with all that they derive from.
fn orders_of_python(statements: &[String]) -> BTreeMap<String, String> {
    let script = "import sys\n\
                  names = {}\n\
                  for line in sys.argv[1].splitlines():\n\
                  \x20   try:\n\
                  \x20       exec(line, names)\n\
                  \x20   except (TypeError, NameError):\n\
                  \x20       pass\n\
                  for name, value in names.items():\n\
                  \x20   if isinstance(value, type):\n\
                  \x20       print(name, *[parent.__name__ for parent in value.__mro__[:-1]])";
    let output =
        Command::new("python3").args(["-I", "-c", script]).arg(statements.join("\n")).output().expect("python3");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.lines().filter_map(|line| line.split_once(' ')).map(|(name, order)| (name.into(), order.into())).collect()
}

fn index(text: &str) -> Index {
    let source = Source::local("made-up");
    let digest = ContentDigest::of(text.as_bytes());
    let file = SourceFile { path: "a.py".to_owned(), module: Some("a".to_owned()), digest, bytes: text.len() as u64 };
    let files = vec![(file, Arc::new(syntax::facts(text.as_bytes())))];
    Index::build(vec![IndexedSource { source, files }], &[])
}

#[test]
fn lineages_are_in_the_order_of_cpython() {
    let statements = hierarchies(300);
    let index = index(&statements.join("\n"));
    let expected = orders_of_python(&statements);
    assert!(expected.len() > 1_500, "CPython accepts most of the hierarchies: {}", expected.len());
    let mut compared = 0;
    for (definition, class) in index.classes() {
        let facts = &index.file(definition.file).facts;
        let Some(expected) = expected.get(facts.name(class.name)) else { continue };
        let names: Vec<&str> = index
            .lineage(definition, class)
            .iter()
            .map(|base| match base {
                Base::Class(_, class) => facts.name(class.name),
                Base::Other { .. } => panic!("all classes are in the index"),
            })
            .collect();
        assert_eq!(names.join(" "), *expected, "{}", facts.name(class.name));
        compared += 1;
    }
    assert_eq!(compared, expected.len());
}
