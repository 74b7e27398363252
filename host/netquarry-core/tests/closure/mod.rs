//! Closures and bundles of small trees of files, held against CPython.
//!
//! A case is a section of a Markdown file in `cases/`: files in fences, each after its path; `Target:` names the block;
//! `Check:` is an expression that must give the same value with the upstream class and with the bundle's; `Definitions:`
//! lists everything that the closure may hold; a fence after `shim` holds the tables of a shim; `Unresolved:` lists
//! the names that must be reported, and no others may be; `Undefined upstream:` those of them that upstream
//! leaves undefined itself, `Because:` what is said about them, `Unknown keys:` the keys that no registry of the closure
//! has, `Left out:` what is recorded as left out by a rule. A fence after `answers` holds what the shim answers about
//! expressions that its tables mark as dynamic. A file below `site-packages/` is installed and no part of the corpus.
//! The text of every bundle is a snapshot beside the cases.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use netquarry_core::bundle::{self, Bundle};
use netquarry_core::closure::{self, Dynamics, Rules, Target};
use netquarry_core::dynamic::{DynamicAnswer, DynamicQuestion};
use netquarry_core::index::{FileId, Index, IndexedSource, Variable};
use netquarry_core::source::{ContentDigest, Source, SourceFile};
use netquarry_core::syntax;

#[derive(Debug, Default)]
struct Case {
    title: String,
    files: BTreeMap<String, String>,
    installed: BTreeMap<String, String>,
    target: String,
    check: Option<String>,
    definitions: Option<Vec<String>>,
    unresolved: Vec<String>,
    undefined_upstream: Vec<String>,
    /// The messages of the unresolved names.
    because: Option<Vec<String>>,
    left_out: Option<Vec<String>>,
    /// `type=BN`
    unknown_keys: Vec<String>,
    /// The tables of a shim, as JSON.
    shim: Option<String>,
    /// The shim's answers by the expression that it is asked about, as JSON.
    answers: Option<String>,
}

/// A shim that knows its answers by heart.
struct Answers {
    answers: HashMap<String, DynamicAnswer>,
    texts: Vec<Arc<str>>,
}

impl Dynamics for Answers {
    fn answer(&self, _plugin: &str, question: &DynamicQuestion) -> DynamicAnswer {
        self.answers.get(&question.expression).unwrap_or_else(|| panic!("no answer about {question:?}")).clone()
    }

    fn text(&self, file: FileId) -> Arc<str> {
        self.texts[file.0 as usize].clone()
    }
}

fn cases(markdown: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut path = None;
    let mut fence: Option<String> = None;
    for line in markdown.lines() {
        if let Some(body) = &mut fence {
            if line == "```" {
                let path: String = path.take().expect("a fence follows the path of its file");
                let case = cases.last_mut().expect("a file belongs to a case");
                let body = fence.take().expect("just seen");
                match path.as_str() {
                    "shim" => case.shim = Some(body),
                    "answers" => case.answers = Some(body),
                    path => match path.strip_prefix("site-packages/") {
                        Some(path) => drop(case.installed.insert(path.to_owned(), body)),
                        None => drop(case.files.insert(path.to_owned(), body)),
                    },
                }
            } else {
                body.push_str(line);
                body.push('\n');
            }
            continue;
        }
        if let Some(title) = line.strip_prefix("## ") {
            cases.push(Case { title: title.to_owned(), ..Case::default() });
        } else if line.starts_with("```") {
            fence = Some(String::new());
        } else if let Some(named) = line.strip_prefix('`').and_then(|rest| rest.strip_suffix("`:")) {
            path = Some(named.to_owned());
        } else if let Some((key, value)) = line.split_once(": `") {
            let case = cases.last_mut().expect("a key belongs to a case");
            let value = value.strip_suffix('`').expect("values stand in back quotes");
            let list = || value.split("`, `").map(str::to_owned).collect();
            match key {
                "Target" => case.target = value.to_owned(),
                "Check" => case.check = Some(value.to_owned()),
                "Definitions" => case.definitions = Some(list()),
                "Undefined upstream" => case.undefined_upstream = list(),
                "Because" => case.because = Some(list()),
                "Unknown keys" => case.unknown_keys = list(),
                "Left out" => case.left_out = Some(list()),
                "Unresolved" => case.unresolved = list(),
                _ => panic!("`{key}` is no key of a case"),
            }
        }
    }
    cases
}

fn assemble(case: &Case) -> (Bundle, Vec<String>) {
    let mut texts: Vec<Arc<str>> = Vec::new();
    let files = case.files.iter().map(|(path, text)| {
        texts.push(text.as_str().into());
        let module = path.strip_suffix(".py").expect("Python files").replace('/', ".");
        let module = module.strip_suffix(".__init__").unwrap_or(&module).to_owned();
        let digest = ContentDigest::of(text.as_bytes());
        let file = SourceFile { path: path.clone(), module: Some(module), digest, bytes: text.len() as u64 };
        let facts = syntax::facts(text.as_bytes());
        assert_eq!(facts.diagnostics, [], "{path} of `{}`", case.title);
        (file, Arc::new(facts))
    });
    let source = Source::local("case");
    let index = Index::build(vec![IndexedSource { source, files: files.collect() }], &[]);
    let target = index
        .classes()
        .find_map(|(definition, class)| {
            let variable = Variable { file: definition.file, name: class.name };
            (index.variable_path(variable) == format!("case:{}", case.target))
                .then_some(Target { definition, variable })
        })
        .unwrap_or_else(|| panic!("`{}` has no class `{}`", case.title, case.target));
    let tables = case.shim.iter().map(|shim| serde_json::from_str(shim).expect("the tables of a shim")).collect();
    let mut rules = Rules::new(tables);
    if let Some(answers) = &case.answers {
        let answers = serde_json::from_str(answers).expect("answers by expression");
        rules = rules.with_dynamics(Arc::new(Answers { answers, texts: texts.clone() }));
    }
    let closed = closure::close(&index, &rules, target);
    let definitions = closed.definitions.keys().map(|definition| index.definition_path(*definition));
    let definitions = definitions.map(|path| path.trim_start_matches("case:").to_owned()).collect();
    let bundle = bundle::assemble(&index, &closed, &|file: FileId| texts[file.0 as usize].clone());
    (bundle, definitions)
}

fn write<'files>(folder: &Path, files: impl Iterator<Item = (&'files String, &'files String)>) {
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("inside of the folder")).expect("a new folder");
        fs::write(path, text).expect("a new file");
    }
}

/// The value of `expression` where the class is a global, as CPython prints it.
fn evaluate(folder: &Path, module: &str, class: &str, expression: &str) -> String {
    let script = "import importlib, sys\n\
                  sys.path.insert(0, sys.argv[1])\n\
                  module = importlib.import_module(sys.argv[2])\n\
                  print(repr(eval(sys.argv[4], {sys.argv[3]: getattr(module, sys.argv[3])})))";
    let output = Command::new("python3")
        .args(["-I", "-B", "-c", script])
        .arg(folder)
        .args([module, class, expression])
        .output()
        .expect("python3 is on PATH");
    if output.status.success() {
        String::from_utf8(output.stdout).expect("UTF-8")
    } else {
        format!("{}\n{}", output.status, String::from_utf8_lossy(&output.stderr))
    }
}

fn check(case: &Case) -> Result<(), String> {
    let (bundle, definitions) = assemble(case);
    let name = case.title.to_lowercase().replace(|char: char| !char.is_ascii_alphanumeric(), "_");
    insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "bundles", omit_expression => true }, {
        insta::assert_snapshot!(name, bundle.text);
    });
    let unknown = bundle.unknown_keys.iter().map(|key| format!("{}={}", key.field, key.key));
    let unknown: Vec<String> = unknown.collect();
    if unknown != case.unknown_keys {
        return Err(format!("unknown keys are {unknown:?}, not {:?}", case.unknown_keys));
    }
    let undefined = bundle.unresolved.iter().filter(|unresolved| unresolved.undefined_upstream);
    let undefined: Vec<&str> = undefined.map(|unresolved| unresolved.name.as_str()).collect();
    if !undefined.iter().all(|name| case.undefined_upstream.iter().any(|expected| expected == name))
        || !case.undefined_upstream.iter().all(|expected| undefined.contains(&expected.as_str()))
    {
        return Err(format!("undefined upstream are {undefined:?}, not {:?}", case.undefined_upstream));
    }
    let mut unresolved: Vec<&str> = bundle.unresolved.iter().map(|unresolved| unresolved.name.as_str()).collect();
    unresolved.sort_unstable();
    unresolved.dedup();
    if unresolved != case.unresolved {
        return Err(format!("unresolved are {unresolved:?}, not {:?}", case.unresolved));
    }
    let messages: Vec<&String> = bundle.unresolved.iter().map(|unresolved| &unresolved.message).collect();
    if let Some(expected) = &case.because
        && messages != expected.iter().collect::<Vec<_>>()
    {
        return Err(format!("the unresolved names come with {messages:?}"));
    }
    let left_out = bundle.replaced.iter().filter(|record| record.by.is_empty()).map(|record| record.what.clone());
    if let Some(expected) = &case.left_out
        && left_out.clone().ne(expected.iter().cloned())
    {
        return Err(format!("left out are {:?}", left_out.collect::<Vec<_>>()));
    }
    if let Some(expected) = &case.definitions {
        let mut expected = expected.clone();
        expected.sort();
        let mut definitions = definitions;
        definitions.sort();
        if definitions != expected {
            return Err(format!("the closure holds {definitions:?}"));
        }
    }
    let Some(expression) = &case.check else { return Ok(()) };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let upstream = folder.path().join("upstream");
    let bundled = folder.path().join("bundle");
    write(&upstream, case.files.iter().chain(&case.installed));
    write(&bundled, case.installed.iter().chain([(&"block.py".to_owned(), &bundle.text)]));
    let (module, class) = case.target.rsplit_once('.').expect("a target is a class in a module");
    let expected = evaluate(&upstream, module, class, expression).replace(module, "MODULE");
    let ours = evaluate(&bundled, "block", class, expression).replace("block", "MODULE");
    if expected == ours && !expected.starts_with("exit status") {
        Ok(())
    } else {
        Err(format!("upstream gives {expected}and the bundle {ours}from\n{}", bundle.text))
    }
}

#[test]
fn bundles_behave_as_upstream_does() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/closure/cases");
    let mut failures = Vec::new();
    let mut count = 0;
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("the cases").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    for file in files {
        for case in cases(&fs::read_to_string(&file).expect("a case file")) {
            count += 1;
            if let Err(message) = check(&case) {
                failures.push(format!("## {} ({})\n{message}", case.title, file.display()));
            }
        }
    }
    assert!(count > 25, "the cases are found");
    assert!(failures.is_empty(), "{} of {count} cases:\n\n{}", failures.len(), failures.join("\n\n"));
}
