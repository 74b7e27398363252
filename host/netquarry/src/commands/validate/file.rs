//! A Python file that was named, and the classes of it that are validated.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use netquarry_core::facts::{ClassFacts, Diagnostic, DiagnosticKind, FileFacts, ImportForm, ImportStatement};
use netquarry_core::record::BlockRecord;
use netquarry_core::syntax;
use sha2::{Digest as _, Sha256};

use super::library::own_packages;
use crate::console::Console;
use crate::driver::select;
use crate::library::folder::hexadecimal;
use crate::problem::Problem;
use crate::validate::{Job, LineSpan, Site};

/// `my/model.py` and `Encoder` of `my/model.py:Encoder`; a file whose own name has a colon is that file.
pub(super) fn parted(named: &Path) -> (PathBuf, Option<String>) {
    let text = named.to_string_lossy();
    match text.rsplit_once(".py:") {
        Some((path, class)) if !named.exists() => (PathBuf::from(format!("{path}.py")), Some(class.to_owned())),
        _ => (named.to_owned(), None),
    }
}

/// What there is to validate in a file.
pub(super) struct Named {
    /// One for each class.
    pub(super) jobs: Vec<Job>,
    /// The top-level packages that the file imports.
    pub(super) packages: BTreeSet<String>,
    /// Classes that may be modules and are not validated, where nobody said which ones are.
    pub(super) left: Vec<String>,
}

/// Reads a file. `class` is the one that is asked for; else it is that of the record, or those that the file is about.
pub(super) fn read(
    file: &Path,
    class: Option<String>,
    record: Option<&BlockRecord>,
    console: &Console,
) -> Result<Named, Problem> {
    let bytes = fs::read(file).map_err(|error| Problem::io("read", file, error).help("give files, not folders"))?;
    if let Some(record) = record
        && record.sha256.as_deref() != Some(&*hexadecimal(&Sha256::digest(&bytes)))
    {
        console.caution(&format!(
            "`{}` was changed since `netquarry` wrote it: its verdict is not that of the record",
            file.display()
        ));
    }
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let facts = facts(&bytes).map_err(|error| Problem::new("Could not start a thread to parse").because(error))?;
    let Chosen { classes, left } = match (class, record) {
        (Some(class), _) => Chosen::only(checked(file, &facts, class)?),
        (None, Some(record)) => Chosen::only(record.name.clone()),
        (None, None) => chosen(file, &facts, &stem)?,
    };
    if has_relative_import(&facts) {
        console.caution(&format!(
            "`{}` has relative imports, which fail in a file on its own; `netquarry extract` lifts a class out of its \
             package, with `--source` or a corpus for a folder of yours",
            file.display()
        ));
    }
    let path = fs::canonicalize(file).map_err(|error| Problem::io("find", file, error))?;
    let site = |class_name: &str| record.filter(|record| record.name == class_name).and_then(Site::of_record);
    let job = |class_name: String| Job {
        id: String::new(),
        file: path.clone(),
        blocked_packages: record.map(own_packages).unwrap_or_default(),
        layers: Arc::default(),
        operator_packages: record.map(|record| record.operator_imports.clone()).unwrap_or_default(),
        arguments: None,
        sites: site(&class_name).into_iter().collect(),
        class_name,
        // A verdict tells places by the lines of the file itself.
        line_map: vec![LineSpan {
            bundle_start: 1,
            bundle_end: u32::MAX,
            path: file.display().to_string(),
            upstream_start: 1,
        }],
        upstream: None,
    };
    Ok(Named { jobs: classes.into_iter().map(job).collect(), packages: packages(&facts), left })
}

/// The class that was asked for. One that the file clearly does not have is refused before anything runs.
fn checked(file: &Path, facts: &FileFacts, class: String) -> Result<String, Problem> {
    if facts.may_bind(&class) {
        return Ok(class);
    }
    let classes = classes(facts);
    if classes.is_empty() {
        return Err(no_class(file));
    }
    let names: Vec<&str> = classes.into_iter().map(|class| facts.name(class.name)).collect();
    let problem = Problem::new(format!("`{}` has no class `{class}`", file.display()));
    Err(match &select::similar(&class, names.iter().map(|name| (*name, *name)))[..] {
        [] => problem.help(format!("it has {}", some_of(&names))),
        similar => problem.help(format!("did you mean {}?", similar.join(", "))),
    })
}

/// `Encoder, Decoder and 3 more`
pub(super) fn some_of<S: AsRef<str>>(names: &[S]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<&str> = names.iter().take(SHOWN).map(AsRef::as_ref).collect();
    let more = names.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

fn no_class(file: &Path) -> Problem {
    Problem::new(format!("`{}` has no class in it", file.display())).help("give a file that defines an nn.Module class")
}

fn unreadable(file: &Path, Diagnostic { kind, message, line }: &Diagnostic) -> Problem {
    let line = line.map(|line| format!(" at line {line}")).unwrap_or_default();
    let problem =
        Problem::new(format!("`{}` cannot be read as Python{line}", file.display())).because(message.as_str());
    match kind {
        DiagnosticKind::Encoding => {
            problem.help("save it as UTF-8, or name its encoding in the first line: # -*- coding: latin-1 -*-")
        }
        DiagnosticKind::Syntax | DiagnosticKind::PythonTwo | DiagnosticKind::TooLarge | DiagnosticKind::TooDeep => {
            problem
        }
    }
}

fn imports(facts: &FileFacts) -> impl Iterator<Item = &ImportStatement> {
    facts.statements.iter().flat_map(|statement| &statement.imports)
}

/// The classes of a file that are tried, and those that may be modules and are not.
struct Chosen {
    classes: Vec<String>,
    left: Vec<String>,
}

impl Chosen {
    fn only(class: String) -> Self {
        Self { classes: vec![class], left: Vec::new() }
    }
}

/// The classes to try where none was named: the one that the file is named after, or else all that look like modules, or
/// else the last one.
fn chosen(file: &Path, facts: &FileFacts, stem: &str) -> Result<Chosen, Problem> {
    let classes = classes(facts);
    let (mut modules, mut others): (Vec<&str>, Vec<&str>) = Default::default();
    for class in &classes {
        let looks = Looks::of(facts, &classes, class);
        // An `if` may bind one name twice.
        let place = if looks.like_a_module() { &mut modules } else { &mut others };
        if (looks.like_a_module() || looks.is_named_so) && !place.contains(&facts.name(class.name)) {
            place.push(facts.name(class.name));
        }
    }
    // What others inherit from may well have no `forward`.
    let bases = classes.iter().flat_map(|class| &class.bases).filter_map(|base| base.path);
    let bases: BTreeSet<&str> = bases.map(|base| facts.name(base)).collect();
    others.retain(|class| !bases.contains(class));
    let named_after = classes.iter().map(|class| facts.name(class.name)).find(|class| names(stem).contains(class));
    let tried = match (named_after, classes.last()) {
        (Some(class), _) => vec![class],
        (None, _) if !modules.is_empty() => modules.clone(),
        (None, Some(last)) => vec![facts.name(last.name)],
        (None, None) => match facts.diagnostics.first() {
            None => return Err(no_class(file)),
            // What cannot be parsed has no classes either, and its verdict says why.
            Some(Diagnostic { kind: DiagnosticKind::Syntax | DiagnosticKind::PythonTwo, .. }) => vec![stem],
            Some(diagnostic) => return Err(unreadable(file, diagnostic)),
        },
    };
    let left = modules.iter().chain(&others).filter(|class| !tried.contains(class));
    let [classes, left] =
        [tried.clone(), left.copied().collect()].map(|classes| classes.into_iter().map(str::to_owned).collect());
    Ok(Chosen { classes, left })
}

/// What a class and those of its file that it inherits from look like.
#[derive(Default)]
struct Looks {
    /// One of them has a `forward`.
    runs: bool,
    /// One of them has a base from elsewhere that may be a module.
    is_derived: bool,
    /// One of them inherits from something that is called `Module`.
    is_named_so: bool,
    /// One of them inherits from a module of torch that has a `forward` itself.
    is_of_torch: bool,
}

impl Looks {
    fn of(facts: &FileFacts, classes: &[&ClassFacts], class: &ClassFacts) -> Self {
        // The last parts of the names of bases that make no module.
        const OTHERS: [&str; 9] =
            ["ABC", "Enum", "Function", "Generic", "NamedTuple", "Parameter", "Protocol", "TypedDict", "object"];
        let mut waiting = vec![class];
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let mut looks = Self::default();
        while let Some(class) = waiting.pop() {
            if !seen.insert(facts.name(class.name)) {
                continue;
            }
            looks.runs |= has_forward(facts, class);
            for base in class.bases.iter().filter_map(|base| base.path).map(|base| facts.name(base)) {
                let own = classes.iter().find(|other| facts.name(other.name) == base);
                waiting.extend(own);
                let last = base.rsplit('.').next().expect("split yields at least one part");
                let is_foreign = own.is_none() && !OTHERS.contains(&last);
                looks.is_derived |= is_foreign;
                looks.is_named_so |= is_foreign && last == "Module";
                let of_torch = base.starts_with("nn.") || base.starts_with("torch.nn.");
                looks.is_of_torch |= is_foreign && of_torch && last != "Module";
            }
        }
        looks
    }

    fn like_a_module(&self) -> bool {
        self.is_of_torch || (self.runs && self.is_derived)
    }
}

fn has_relative_import(facts: &FileFacts) -> bool {
    imports(facts).any(|import| match import.form {
        ImportForm::Module => false,
        ImportForm::From { level, .. } | ImportForm::Star { level, .. } => level > 0,
    })
}

/// The top-level packages that a file imports, wherever the import stands.
fn packages(facts: &FileFacts) -> BTreeSet<String> {
    let modules = imports(facts).flat_map(|import| import.absolute_modules(facts));
    modules.filter_map(|module| module.split('.').next()).map(str::to_owned).collect()
}

/// Parses on a thread of its own: the parser needs a larger stack than the main thread may have.
fn facts(bytes: &[u8]) -> io::Result<FileFacts> {
    std::thread::scope(|scope| {
        let parser = std::thread::Builder::new().stack_size(syntax::PARSER_STACK_BYTES);
        let thread = parser.spawn_scoped(scope, || syntax::facts(bytes))?;
        Ok(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// The names of a class after which a file of this stem would be named: bundles of one name are told apart by `__`.
fn names(stem: &str) -> [&str; 2] {
    [stem, stem.split("__").next().filter(|name| !name.is_empty()).unwrap_or(stem)]
}

fn classes(facts: &FileFacts) -> Vec<&ClassFacts> {
    facts.statements.iter().flat_map(|statement| &statement.classes).collect()
}

fn has_forward(facts: &FileFacts, class: &ClassFacts) -> bool {
    class.methods.iter().any(|method| facts.name(method.name) == "forward")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_of_a_file_can_be_named() {
        assert_eq!(parted(Path::new("my/net.py:Encoder")), (PathBuf::from("my/net.py"), Some("Encoder".to_owned())));
        assert_eq!(parted(Path::new("my/net.py")), (PathBuf::from("my/net.py"), None));
    }

    #[test]
    fn all_that_look_like_modules_are_tried() {
        let tried = |stem: &str, text: &str| {
            let chosen = chosen(Path::new("f.py"), &syntax::facts(text.as_bytes()), stem);
            chosen.map(|chosen| chosen.classes).map_err(|problem| problem.to_string())
        };
        let text = "class Plain:\n  def forward(self): pass\n\
                    class Old(object):\n  def forward(self): pass\n\
                    class Base(nn.Module): pass\n\
                    class Layers(torch.nn.Sequential): pass\n\
                    class Encoder(Base):\n  def forward(self, x): pass\n\
                    class Decoder(Encoder): pass\n\
                    class Swish(torch.autograd.Function):\n  def forward(x): pass\n\
                    class Scale(nn.Parameter): pass\n\
                    class Mixed(Plain, nn.Module): pass\n\
                    class Circle(Round): pass\nclass Round(Circle): pass\n\
                    if 1:\n  class Head(Base):\n    def forward(self): pass\n\
                    else:\n  class Head(Base):\n    async def forward(self): pass\n";
        assert_eq!(tried("models", text).unwrap(), ["Layers", "Encoder", "Decoder", "Mixed", "Head"]);
        assert_eq!(tried("Base", text).unwrap(), ["Base"]);
        assert_eq!(tried("Encoder__mine", text).unwrap(), ["Encoder"]);
        assert_eq!(tried("models", "class A: pass\nclass B: pass").unwrap(), ["B"]);
        assert_eq!(tried("models", "class A(:").unwrap(), ["models"]);
        assert!(tried("models", "x = 1").unwrap_err().contains("has no class"));
        let latin =
            chosen(Path::new("f.py"), &syntax::facts(b"# caf\xe9\nclass A: pass\n"), "f").map(|chosen| chosen.classes);
        assert!(latin.unwrap_err().to_string().contains("cannot be read as Python"));
    }

    #[test]
    fn modules_that_nobody_tries_are_known() {
        let left = |stem: &str, text: &str| {
            chosen(Path::new("f.py"), &syntax::facts(text.as_bytes()), stem).expect("it has classes").left
        };
        let text = "class Base(nn.Module): pass\n\
                    class Encoder(Base):\n  def forward(self, x): pass\n\
                    class Head(nn.Module):\n  def forward(self, x): pass\n\
                    class Loss(nn.Module):\n  def loss(self, x): pass\n\
                    class Error(Exception): pass\nclass Options: pass\n";
        assert_eq!(left("models", text), ["Loss"]);
        assert_eq!(left("Encoder", text), ["Head", "Loss"]);
        assert_eq!(left("models", "class A: pass\nclass B: pass"), [""; 0]);
    }

    #[test]
    fn a_class_is_refused_only_where_the_file_cannot_have_it() {
        let has = |text: &str| checked(Path::new("net.py"), &syntax::facts(text.as_bytes()), "Net".to_owned()).is_ok();
        for text in [
            "class Net: pass",
            "if True:\n    class Net: pass",
            "from a import Net",
            "from a import *",
            "Net = make()",
            "for Net in (A, B): pass",
            "def f():\n    global Net\n    class Net: pass\nf()",
            "globals()['N' + 'et'] = A",
            "import sys\nsys.modules[__name__].Net = A",
            "exec(text)",
            "class Net(:",
        ] {
            assert!(has(text), "{text}");
        }
        for text in ["class Other: pass", "def f():\n    class Net: pass", "import a as Nett", "print(Net)"] {
            assert!(!has(text), "{text}");
        }
    }
}
