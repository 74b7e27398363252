//! Code that touches what could make it lie to the validator, found in its text.
//!
//! A bundle runs in one process with what judges it: through a frame, the collector or an attribute of torch it can
//! reach the judge. What stands in the text no code can talk its way out of at run time. It can still hide: in names
//! that it puts together, behind `exec`, in a compiled extension. So a sign is a fact, and none is no promise.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::facts::{
    Access, Assigns, BindingKind, Evaluation, FileFacts, ImportForm, ImportStatement, Reference, ReferenceBinding,
    Role, StatementKind, Symbol,
};
use crate::fingerprint::tokenizer::{TokenKind, tokenize};
use crate::source::{TextRange, lines_of};
use crate::stdlib;
use crate::verdict::TaintReason;
use crate::verdict::TaintReason::{Collector, Exit, Frames, Memory, Modules, Signals, Torch, Tracing};

/// A use in a text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sign {
    /// 1-based; `None` where it stands in a place that is not told.
    pub line: Option<u32>,
    pub reason: TaintReason,
    /// The dotted path of what is used; `.f_back` for an attribute of whatever object; `"f_back"` for a string.
    pub what: String,
}

/// How much of what is used under a path counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Breadth {
    /// This one, wherever its module is known by name.
    One,
    /// This one, and whatever else has its last name: no other thing is called so. A string that is this name counts
    /// too, for `getattr(sys, "_getframe")`.
    Name,
    /// Everything in this module, and the module itself where it is handed on.
    Module,
}

use Breadth::{Module, Name, One};

/// Whatever uses one of these is marked.
const USES: [(&str, Breadth, TaintReason); 69] = [
    ("sys._getframe", Name, Frames),
    ("sys._getframemodulename", Name, Frames),
    ("sys._current_frames", Name, Frames),
    ("sys._current_exceptions", Name, Frames),
    ("inspect.currentframe", Name, Frames),
    ("inspect.getouterframes", Name, Frames),
    ("inspect.getinnerframes", Name, Frames),
    ("inspect.stack", One, Frames),
    ("inspect.trace", One, Frames),
    ("logging.currentframe", One, Frames),
    ("traceback.walk_stack", Name, Frames),
    ("traceback.walk_tb", Name, Frames),
    // Of frames, and of what has one.
    ("frame.f_back", Name, Frames),
    ("frame.f_builtins", Name, Frames),
    ("frame.f_globals", Name, Frames),
    ("frame.f_locals", Name, Frames),
    ("frame.f_trace", Name, Tracing),
    ("traceback.tb_frame", Name, Frames),
    ("generator.gi_frame", Name, Frames),
    ("coroutine.cr_frame", Name, Frames),
    ("generator.ag_frame", Name, Frames),
    ("gc", Module, Collector),
    ("gc.get_referrers", Name, Collector),
    ("gc.get_referents", Name, Collector),
    ("sys.settrace", Name, Tracing),
    ("sys.setprofile", Name, Tracing),
    ("sys.gettrace", Name, Tracing),
    ("sys.getprofile", Name, Tracing),
    ("sys.monitoring", One, Tracing),
    ("sys.addaudithook", Name, Tracing),
    ("threading.settrace_all_threads", Name, Tracing),
    ("threading.setprofile_all_threads", Name, Tracing),
    ("threading.settrace", One, Tracing),
    ("threading.setprofile", One, Tracing),
    ("signal.alarm", One, Signals),
    ("signal.pidfd_send_signal", Name, Signals),
    ("signal.pthread_kill", Name, Signals),
    ("signal.pthread_sigmask", Name, Signals),
    ("signal.raise_signal", Name, Signals),
    ("signal.set_wakeup_fd", Name, Signals),
    ("signal.setitimer", Name, Signals),
    ("signal.siginterrupt", Name, Signals),
    ("signal.signal", One, Signals),
    ("_signal", Module, Signals),
    ("faulthandler", Module, Signals),
    ("os.kill", One, Signals),
    ("os.killpg", Name, Signals),
    ("ctypes", Module, Memory),
    ("_ctypes", Module, Memory),
    ("cffi", Module, Memory),
    ("_cffi_backend", Module, Memory),
    ("numpy.ctypeslib", Module, Memory),
    ("builtins.__builtins__", Name, Modules),
    ("sys.meta_path", One, Modules),
    ("sys.path_hooks", Name, Modules),
    ("sys.path_importer_cache", Name, Modules),
    ("sys.modules.__delitem__", One, Modules),
    ("sys.modules.__setitem__", One, Modules),
    ("sys.modules.clear", One, Modules),
    ("sys.modules.pop", One, Modules),
    ("sys.modules.popitem", One, Modules),
    ("sys.modules.setdefault", One, Modules),
    ("sys.modules.update", One, Modules),
    // The validator itself.
    ("netquarry_worker", Module, Modules),
    ("os._exit", One, Exit),
    ("os.abort", One, Exit),
    ("atexit", Module, Exit),
    ("posix._exit", One, Exit),
    ("posix.kill", One, Signals),
];

/// What of the modules above changes nothing and shows nothing but numbers.
const HARMLESS: [&str; 6] =
    ["gc.collect", "gc.get_count", "gc.get_stats", "gc.get_threshold", "gc.is_tracked", "gc.isenabled"];

/// Whatever assigns to one of these, to an attribute or to an item of it is marked.
const WRITES: [(&str, TaintReason); 3] = [("sys.modules", Modules), ("builtins", Modules), ("torch", Torch)];

/// Switches that are there to be set.
const SETTINGS: [&str; 5] = [
    "torch.backends",
    "torch._dynamo.config",
    "torch._functorch.config",
    "torch._inductor.config",
    "torch.multiprocessing.sharing_strategy",
];

/// Modules of the standard library whose attributes programs set, as their documentation says. Setting those of any
/// other changes it for everybody.
const SETTABLE: [&str; 3] = ["sys", "warnings", "logging"];

/// Functions that assign to an attribute of their first argument.
const SETTERS: [&str; 4] =
    ["builtins.setattr", "builtins.delattr", "builtins.object.__setattr__", "builtins.type.__setattr__"];

/// Functions whose first argument names a module.
const IMPORTERS: [&str; 3] = ["builtins.__import__", "importlib.import_module", "importlib.__import__"];

/// What the text of a file, of which `facts` are known, uses of all this; sorted, each line and thing once.
pub fn signs(text: &str, facts: &FileFacts) -> Vec<Sign> {
    let mut search = Search {
        text,
        facts,
        imported: imported(facts),
        bound: facts.statements.iter().flat_map(|it| &it.bindings).map(|binding| binding.name).collect(),
        stars: stars(facts),
        named: USES
            .into_iter()
            .filter(|(_, breadth, _)| *breadth == Name)
            .map(|(path, _, reason)| (last(path), reason))
            .collect(),
        signs: BTreeSet::new(),
        told: HashSet::new(),
    };
    for statement in facts.statements.iter().filter(|statement| statement.kind != StatementKind::MainGuard) {
        for (at, reference) in statement.references.iter().enumerate() {
            search.reference(&statement.imports, reference);
            if reference.role == Role::Callee {
                search.call(&statement.imports, reference, statement.references.get(at + 1));
            }
        }
        for key in &statement.keys {
            let is_named = |part: &str| search.named.get(part).copied();
            if let Some(reason) = key.value.split('.').find_map(is_named) {
                search.note(key.range, reason, format!("{:?}", &*key.value));
            } else if first(&key.value) == "netquarry_worker" {
                search.note(key.range, Modules, format!("{:?}", &*key.value));
            }
        }
        for call in &statement.calls {
            let callee = statement.references.iter().find(|reference| reference.range.start == call.callee);
            let imports = callee.is_some_and(|callee| {
                search.paths(&statement.imports, callee).iter().any(|path| IMPORTERS.contains(&path.as_str()))
            });
            let keys = statement.keys.iter().filter(|key| imports && call.range.contains(key.range));
            for key in keys {
                let module = USES.iter().find(|(path, breadth, _)| *breadth == Module && starts_with(&key.value, path));
                if let Some((_, _, reason)) = module {
                    search.note(key.range, *reason, format!("{:?}", &*key.value));
                }
            }
        }
    }
    search.attributes();
    search.signs.into_iter().collect()
}

struct Search<'a> {
    text: &'a str,
    facts: &'a FileFacts,
    /// What the module's imports bind to a name, as dotted paths.
    imported: HashMap<Symbol, Vec<String>>,
    /// The names that statements of the module bind.
    bound: HashSet<Symbol>,
    /// Modules of which everything is imported.
    stars: Vec<&'a str>,
    /// Names that count wherever they are read.
    named: HashMap<&'static str, TaintReason>,
    signs: BTreeSet<Sign>,
    /// The ends of attributes that were told with their paths.
    told: HashSet<u32>,
}

impl Search<'_> {
    fn note(&mut self, range: TextRange, reason: TaintReason, what: String) {
        self.signs.insert(Sign { line: Some(lines_of(self.text, range)[0]), reason, what });
    }

    /// The dotted paths that a reference with all its attributes may stand for.
    fn paths(&self, imports: &[ImportStatement], reference: &Reference) -> Vec<String> {
        let roots = match reference.binding {
            ReferenceBinding::LocalImport { import, name, .. } => {
                path_of_import(&imports[import as usize], name, self.facts).into_iter().collect()
            }
            ReferenceBinding::Module => self.imported.get(&reference.name).cloned().unwrap_or_else(|| {
                let name = self.facts.name(reference.name);
                let is_builtin = stdlib::is_builtin(name) || name == "__builtins__";
                let modules = self.stars.iter().copied().chain(is_builtin.then_some("builtins"));
                let modules = modules.filter(|_| !self.bound.contains(&reference.name));
                modules.map(|module| format!("{module}.{name}")).collect()
            }),
        };
        let attributes = reference.path.iter().map(|attribute| self.facts.name(attribute.name));
        let attributes: String = attributes.flat_map(|name| [".", name]).collect();
        roots.into_iter().map(|root| root + &attributes).collect()
    }

    fn reference(&mut self, imports: &[ImportStatement], reference: &Reference) {
        let never_runs = reference.evaluation == Evaluation::Never || reference.quoted;
        if never_runs || reference.access == Access::Delete {
            return;
        }
        for path in self.paths(imports, reference) {
            if let Some((reason, what)) = used(&path) {
                self.told.extend(reference.path.iter().map(|attribute| attribute.end));
                self.note(reference.range, reason, what);
            } else if reference.assigns != Assigns::Nothing
                && let Some(reason) = written(&path, reference.assigns)
            {
                self.note(reference.range, reason, path);
            }
        }
    }

    /// `setattr(torch.nn.Module, "forward", forward)`
    fn call(&mut self, imports: &[ImportStatement], callee: &Reference, argument: Option<&Reference>) {
        let Some(argument) = argument else { return };
        let between = TextRange::new(end(callee), argument.range.start).slice(self.text);
        let is_empty = |line: &str| line.trim().is_empty() || line.trim().starts_with('#');
        let is_first = between.strip_prefix('(').is_some_and(|rest| rest.lines().all(is_empty));
        let is_whole = self.text[end(argument) as usize..].trim_start().starts_with(',');
        let sets = || self.paths(imports, callee).iter().any(|path| SETTERS.contains(&path.as_str()));
        if !is_first || !is_whole || !sets() {
            return;
        }
        for path in self.paths(imports, argument) {
            if let Some(reason) = written(&path, Assigns::Path) {
                self.note(argument.range, reason, path);
            }
        }
    }

    /// Names that count, read off whatever object.
    fn attributes(&mut self) {
        let symbols = self.facts.symbols.iter().filter_map(|symbol| self.named.get_key_value(&**symbol));
        let mut wanted: HashMap<&str, TaintReason> = symbols.map(|(name, reason)| (*name, *reason)).collect();
        if wanted.is_empty() {
            return;
        }
        let tokens = tokenize(self.text).unwrap_or_default();
        let mut before = "";
        let mut seen = HashSet::new();
        for token in &tokens {
            let text = &self.text[token.start..token.end];
            if matches!(token.kind, TokenKind::Comment | TokenKind::LineBreak) {
                continue;
            }
            if let Some((name, reason)) = wanted.get_key_value(text) {
                seen.insert(*name);
                let range = TextRange::new(offset(token.start), offset(token.end));
                if before == "." && !self.told.contains(&range.end) && !self.never_runs(range) {
                    let sign =
                        Sign { line: Some(lines_of(self.text, range)[0]), reason: *reason, what: format!(".{name}") };
                    self.signs.insert(sign);
                }
            }
            before = text;
        }
        // What stands inside a formatted string is no token.
        wanted.retain(|name, _| !seen.contains(name));
        let hidden = wanted.into_iter().map(|(name, reason)| Sign { line: None, reason, what: format!(".{name}") });
        let told: HashSet<String> = self.signs.iter().map(|sign| format!(".{}", last(&sign.what))).collect();
        self.signs.extend(hidden.filter(|sign| !told.contains(&sign.what)));
    }

    fn never_runs(&self, range: TextRange) -> bool {
        let statements = self.facts.statements.iter();
        let mut guards = statements.filter(|statement| statement.kind == StatementKind::MainGuard);
        guards.any(|guard| guard.range.contains(range))
    }
}

/// Why using what a path stands for counts, and the part of the path that does.
fn used(path: &str) -> Option<(TaintReason, String)> {
    if HARMLESS.iter().any(|harmless| starts_with(path, harmless)) {
        return None;
    }
    let (used, breadth, reason) =
        USES.into_iter().filter(|(used, ..)| starts_with(path, used)).max_by_key(|it| it.0.len())?;
    let parts = used.split('.').count() + usize::from(breadth == Module);
    Some((reason, path.split('.').take(parts).collect::<Vec<_>>().join(".")))
}

/// Why assigning to what a path stands for counts.
fn written(path: &str, assigns: Assigns) -> Option<TaintReason> {
    if SETTINGS.iter().any(|setting| starts_with(path, setting)) {
        return None;
    }
    let root = first(path);
    let of_standard_library = || {
        let is_written = assigns == Assigns::Path && stdlib::is_module(root) && !SETTABLE.contains(&root);
        is_written.then_some(Modules)
    };
    let named = WRITES.iter().find(|(written, _)| starts_with(path, written));
    named.map(|(_, reason)| *reason).or_else(of_standard_library)
}

/// Whether a dotted path is another one or goes on from there.
fn starts_with(path: &str, opening: &str) -> bool {
    path.strip_prefix(opening).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn first(path: &str) -> &str {
    path.split('.').next().expect("split yields at least one part")
}

fn last(path: &str) -> &str {
    path.rsplit('.').next().expect("split yields at least one part")
}

/// The end of a name with all its attributes.
fn end(reference: &Reference) -> u32 {
    reference.path.last().map_or(reference.range.end, |attribute| attribute.end)
}

fn offset(position: usize) -> u32 {
    u32::try_from(position).expect("files are below 4 GiB")
}

/// What the imports of a module bind its global names to.
fn imported(facts: &FileFacts) -> HashMap<Symbol, Vec<String>> {
    let mut imported: HashMap<Symbol, Vec<String>> = HashMap::new();
    for statement in &facts.statements {
        for binding in &statement.bindings {
            if let BindingKind::Import { import, name } = binding.kind
                && let Some(path) = path_of_import(&statement.imports[import as usize], name, facts)
            {
                imported.entry(binding.name).or_default().push(path);
            }
        }
    }
    imported
}

fn stars(facts: &FileFacts) -> Vec<&str> {
    let imports = facts.statements.iter().flat_map(|statement| &statement.imports);
    let stars = imports.filter(|import| matches!(import.form, ImportForm::Star { .. }));
    stars.flat_map(|import| import.absolute_modules(facts)).collect()
}

/// What an import binds to one of its names: `os.path` for `path` in `from os import path`. `None` for a relative import.
fn path_of_import(import: &ImportStatement, name: u32, facts: &FileFacts) -> Option<String> {
    let imported = import.names.get(name as usize)?;
    let name = facts.name(imported.name);
    match import.form {
        ImportForm::Module if imported.alias.is_some() => Some(name.to_owned()),
        ImportForm::Module => Some(first(name).to_owned()),
        ImportForm::From { level: 0, module } => Some(format!("{}.{name}", facts.name(module?))),
        ImportForm::From { .. } | ImportForm::Star { .. } => None,
    }
}

#[cfg(test)]
mod tests;
