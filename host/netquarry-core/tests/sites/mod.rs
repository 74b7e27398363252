//! Where a corpus constructs its classes: the folders of `corpus/` are its sources, and a snapshot lists the sites of all
//! classes in them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use netquarry_core::index::{Index, IndexedSource, Meaning, Site, Variable};
use netquarry_core::source::{ContentDigest, Source, SourceFile, lines_of};
use netquarry_core::syntax;

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the corpus can be read");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("the corpus can be read").path()).collect();
    paths.sort();
    paths.into_iter().flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

fn source(name: &str, folder: &Path) -> IndexedSource {
    let file = |path: PathBuf| {
        let bytes = fs::read(&path).expect("the corpus can be read");
        let path = path.strip_prefix(folder).expect("it lies below").to_str().expect("names are plain").to_owned();
        let stem = path.trim_end_matches(".py").trim_end_matches("/__init__");
        let module = (!stem.starts_with("configs/")).then(|| stem.replace('/', "."));
        let file = SourceFile { path, module, digest: ContentDigest::of(&bytes), bytes: bytes.len() as u64 };
        (file, Arc::new(syntax::facts(&bytes)))
    };
    let files = files_below(folder).into_iter().map(file).collect();
    // Others can import it.
    let source = Source { distribution: Some(name.to_owned()), ..Source::local(name) };
    IndexedSource { source, files }
}

fn told(index: &Index, folder: &Path, site: &Site) -> String {
    let file = index.file(site.file);
    let text = fs::read_to_string(folder.join(&index.source(file.source).name).join(&file.file.path));
    let text = text.expect("the corpus can be read");
    let [line, _] = lines_of(&text, site.range);
    let naming = site.naming.map_or(String::new(), |naming| format!(", by `{}`", file.facts.name(naming)));
    let listed = |names: &BTreeMap<Box<str>, Meaning>| {
        let names = names.iter().map(|(name, meaning)| match meaning {
            Meaning::AtHand(path) => format!("{name} is {path}"),
            Meaning::Bound(binder) => format!("{name} by `{}`", index.statement(*binder).range.slice(&text)),
            Meaning::Itself => name.to_string(),
        });
        names.collect::<Vec<_>>().join(", ")
    };
    let local: Vec<_> =
        site.local.iter().map(|(name, value)| format!("{name} by `{}`", value.expression(&text))).collect();
    let local = if local.is_empty() { String::new() } else { format!("; around: {}", local.join(", ")) };
    let further = if site.further.is_empty() { String::new() } else { format!("; behind: {}", listed(&site.further)) };
    let lines = site.range.slice(&text).lines().map(str::trim).collect::<Vec<_>>().join(" ");
    format!("{}:{line}{naming}: {lines}; global: {}{local}{further}", file.file.path, listed(&site.names))
}

#[test]
fn sites_of_all_classes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sites/corpus");
    let sources = ["annex", "tower"].map(|name| source(name, &folder.join(name)));
    let index = Index::build(sources.into(), &[]);
    let classes: BTreeSet<Variable> =
        index.classes().map(|(definition, class)| Variable { file: definition.file, name: class.name }).collect();
    let sites = index.sites(&classes);
    let mut output = String::new();
    for (class, sites) in &sites {
        writeln!(output, "{}", index.variable_path(*class)).expect("a string takes everything");
        for site in sites {
            writeln!(output, "    {}", told(&index, &folder, site)).expect("a string takes everything");
        }
    }
    insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => ".", omit_expression => true }, {
        insta::assert_snapshot!("sites", output);
    });
    // Whoever asks for one class alone is told the same.
    for (class, sites) in sites {
        assert_eq!(index.sites(&BTreeSet::from([class])), [(class, sites)].into());
    }
}
