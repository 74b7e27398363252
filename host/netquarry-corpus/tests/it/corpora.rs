//! Corpus files: shipped ones, those of the reference implementation, and wrong ones.

use std::path::Path;

use netquarry_corpus::corpus::{FetchPolicy, Location, schema};
use netquarry_corpus::load::{CorpusError, load, load_file, load_targets, parse};
use netquarry_corpus::shipped;

#[test]
fn the_schema_is_the_committed_one() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora/schema.json");
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, schema()).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap();
    assert_eq!(schema(), committed, "set UPDATE_SCHEMA=1 and run the test again to write {}", path.display());
}

#[test]
fn shipped_corpora_load_and_survive_a_round_trip() {
    assert_eq!(shipped::names(), ["quickstart", "paper-pypi", "paper"]);
    for name in shipped::names() {
        let corpus = load(name).unwrap();
        assert_eq!(corpus.name, name);
        assert_eq!(parse(&serde_json::to_string(&corpus).unwrap(), name).unwrap(), corpus);
        for source in &corpus.sources {
            let pinned = match &source.location {
                Location::Pypi(location) => location.version.is_some(),
                Location::Git(_) | Location::Local(_) => true,
            };
            assert!(pinned, "{name}: {} has no version", source.name);
        }
    }
    assert_eq!(load("paper").unwrap().sources.len(), 22);
    let quickstart = load("quickstart").unwrap();
    assert_eq!(quickstart.discovery_rule.as_deref(), Some("discover-nn-module-deep"));
}

#[test]
fn scopes_of_the_paper_keep_what_they_name() {
    let corpus = load("paper-pypi").unwrap();
    let contains = |source: &str, path: &str| corpus.source(source).unwrap().scope.matcher().contains_file(path);
    assert!(contains("torch", "torch/nn/modules/conv.py"));
    assert!(contains("torch", "torch/nn/functional.py"));
    assert!(!contains("torch", "torch/fx/graph.py"));
    assert!(contains("yolov5", "yolov5/models/common.py"));
    assert!(contains("transformers", "transformers/models/bert/modeling_bert.py"));
    assert!(!contains("transformers", "transformers/models/gpt2/modeling_gpt2.py"));
    assert!(!contains("mmdet", "mmdet/models/tests/x.py"));
}

#[test]
fn the_configuration_of_the_reference_is_a_corpus() {
    let text = r#"{
        "some/vision": {"url": "https://example.org/vision.git", "priority": 2, "paths": ["vision/models", "hub.py"],
                        "description": "Models"},
        "other/dino": {"url": "https://example.org/dino.git", "paths": ["vision_transformer", "utils/"]},
        "third/bare": {"url": "https://example.org/bare.git", "priority": 1}
    }"#;
    let corpus = parse(text, "config/repo_config.json").unwrap();
    assert_eq!((corpus.name.as_str(), corpus.discovery_rule.as_deref()), ("repo_config", Some("discover-nn-module")));
    let names: Vec<_> = corpus.by_priority().iter().map(|source| source.name.as_str()).collect();
    assert_eq!(names, ["third/bare", "some/vision", "other/dino"]);
    let matcher = corpus.source("other/dino").unwrap().scope.matcher();
    assert!(matcher.contains_file("vision_transformer.py") && matcher.contains_file("utils/x.py"));
    assert!(!matcher.contains_file("main_dino.py") && !matcher.contains_file("utils/tests/x.py"));
    assert!(corpus.source("third/bare").unwrap().scope.matcher().contains_file("anything.py"));
    let error = parse(&text.replace("\"paths\": [\"vision", "\"path\": [\"vision"), "repo_config.json").unwrap_err();
    assert!(error.to_string().contains("`some/vision.path`: unknown field `path`"), "{error}");
}

#[test]
fn block_names_of_the_reference_are_targets() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nn_block_names.json");
    std::fs::write(&path, r#"["Bottleneck", " DropPath ", "", "Bottleneck", "A2C2f"]"#).unwrap();
    assert_eq!(load_targets(&path).unwrap(), ["Bottleneck", "DropPath", "A2C2f"]);
    std::fs::write(&path, r#"["Bottleneck", 3]"#).unwrap();
    let error = load_targets(&path).unwrap_err();
    assert!(error.to_string().ends_with("`[1]`: invalid type: integer `3`, expected a string"), "{error}");
    let error = load_file(&path).unwrap_err();
    assert!(error.to_string().contains("this is a list, not a corpus"), "{error}");
}

/// The corpus with `change` made to its only source.
fn with_source(change: &str) -> String {
    format!(r#"{{"name": "mine", "sources": [{{"name": "a", {change}}}]}}"#)
}

#[test]
fn errors_name_file_place_and_what_to_do() {
    let pypi = |fields: &str| with_source(&format!(r#""location": {{"pypi": {{{fields}}}}}"#));
    let git = |fields: &str| with_source(&format!(r#""location": {{"git": {{{fields}}}}}"#));
    let good = r#""location": {"pypi": {"project": "timm"}}"#;
    let cases = [
        ("{".to_owned(), "mine.json:1:1: this is not JSON: EOF while parsing an object"),
        ("{} {}".to_owned(), "mine.json:1:4: this is not JSON: trailing characters"),
        (r#"{"name": "x"}"#.to_owned(), "mine.json: top level: missing field `sources`"),
        (r#"{"name": "x", "sources": []}"#.to_owned(), "mine.json: `sources`: the corpus has no sources"),
        (r#"{"name": " ", "sources": []}"#.to_owned(), "mine.json: `name`: ` ` is empty"),
        (
            pypi(r#""projet": "timm""#),
            "mine.json: `sources[0].location.pypi.projet`: unknown field `projet`, expected one of",
        ),
        (
            pypi(r#""project": "timm", "version": ">=1""#),
            "mine.json: `sources[0].location.pypi.version`: `>=1` is not a version",
        ),
        (pypi(r#""project": "../x""#), "mine.json: `sources[0].location.pypi.project`: `../x` is not the name"),
        (
            git(r#""url": "git@github.com:a/b""#),
            "mine.json: `sources[0].location.git.url`: `git@github.com:a/b` is not a URL",
        ),
        (
            git(r#""url": "https://x", "revision": "a..b""#),
            "mine.json: `sources[0].location.git.revision`: `a..b` is not",
        ),
        (with_source(r#""location": {"svn": {}}"#), "mine.json: `sources[0].location"),
        (with_source(&format!(r#"{good}, "priority": -1"#)), "mine.json: `sources[0].priority`: invalid value"),
        (
            with_source(&format!(r#"{good}, "fetch": "often""#)),
            "mine.json: `sources[0].fetch`: unknown variant `often`",
        ),
        (
            with_source(&format!(r#"{good}, "scope": {{"include": ["ok", "../up"]}}"#)),
            "mine.json: `sources[0].scope.include[1]`: path pattern `../up` leaves the source",
        ),
        (
            with_source(&format!(r#"{good}, "scope": {{"symbols": {{"include": ["a["]}}}}"#)),
            "mine.json: `sources[0].scope.symbols.include[0]`: symbol pattern `a[`",
        ),
        (
            format!(r#"{{"name": "x", "sources": [{{"name": "a", {good}}}, {{"name": "a", {good}}}]}}"#),
            "mine.json: `sources[1].name`: `a` is also the name of `sources[0]`",
        ),
        (
            format!(r#"{{"name": "x", "sources": [{{"name": "a:b", {good}}}]}}"#),
            "mine.json: `sources[0].name`: `a:b` cannot be",
        ),
    ];
    for (text, expected) in cases {
        let error = parse(&text, "mine.json").unwrap_err();
        assert!(error.to_string().starts_with(expected), "{text}\n{error}\n{expected}");
        assert!(!error.hint().is_empty());
    }
}

#[test]
fn files_that_are_not_there() {
    let error = load("quickstrat").unwrap_err();
    assert!(matches!(error, CorpusError::Unknown { .. }));
    assert!(error.to_string().contains("(quickstart, paper-pypi, paper)"), "{error}");
    let error = load("no/such.json").unwrap_err();
    assert!(error.to_string().starts_with("cannot read the corpus file no/such.json"), "{error}");
}

#[test]
fn a_local_path_starts_at_the_corpus_file_and_replaces_a_source() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.json");
    let text = r#"{"$schema": "x", "name": "mine", "keep_imports": ["transformers"], "targets": ["DropPath"], "sources": [
        {"name": "a", "location": {"local": {"path": "code"}}, "fetch": "always"},
        {"name": "b", "location": {"pypi": {"project": "timm"}}, "scope": {"include": ["timm/layers"]}}]}"#;
    std::fs::write(&path, text).unwrap();
    let mut corpus = load(path.to_str().unwrap()).unwrap();
    let Location::Local(local) = &corpus.sources[0].location else { panic!("{:?}", corpus.sources[0].location) };
    assert_eq!(local.place(), folder.path().join("code"));
    assert_eq!(local.path, Path::new("code"), "records name it as it is written");
    assert_eq!(corpus.sources[0].fetch, FetchPolicy::Always);
    corpus.replace_source("b", Path::new("/copy")).unwrap();
    assert_eq!(corpus.sources[1].location.distribution(), Some("timm"));
    assert!(matches!(&corpus.sources[1].location, Location::Local(local) if local.path == Path::new("/copy")));
    assert!(!corpus.sources[1].scope.is_everything());
    let error = corpus.replace_source("c", Path::new("/copy")).unwrap_err();
    assert_eq!(error.to_string(), "corpus `mine` has no source `c`; its sources are a, b");
}
