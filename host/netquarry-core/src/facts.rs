//! What one Python file says, read without looking at any other file.
//!
//! [`crate::syntax`] makes these facts from text; everything behind it works on facts and never sees a syntax tree. They
//! are kept in the store under the digest of the file, so they name nothing outside the file: no path, no module name.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::source::TextRange;

/// Changes whenever the meaning or the layout of the facts does: stored facts of another version are made anew.
pub const FACTS_VERSION: u32 = 13;

/// An index into [`FileFacts::symbols`]: a name, or a dotted path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Symbol(pub u32);

/// An index into [`FileFacts::scopes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ScopeId(pub u32);

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileFacts {
    /// Every identifier of the file (attributes, parameters and keywords included) and the dotted paths of the facts,
    /// each once.
    pub symbols: Vec<Box<str>>,
    /// Top-level statements in source order; the unit of the closure. An expression statement that is only a string
    /// (a docstring) is left out.
    pub statements: Vec<Statement>,
    /// Scope 0 is the module's.
    pub scopes: Vec<Scope>,
    /// `from __future__ import annotations` stands in the file.
    pub future_annotations: bool,
    pub exports: Exports,
    /// Why there are no statements, or what was passed over. A file with diagnostics is normal input.
    pub diagnostics: Vec<Diagnostic>,
}

impl FileFacts {
    pub fn name(&self, symbol: Symbol) -> &str {
        &self.symbols[symbol.0 as usize]
    }

    /// Whether the module may have a global `name` once it has run: it may where anything computes the names that it binds.
    pub fn may_bind(&self, name: &str) -> bool {
        // `modules` is that of `sys`.
        const COMPUTING: [&str; 8] = ["__dict__", "eval", "exec", "globals", "locals", "modules", "setattr", "vars"];
        let imports = self.statements.iter().flat_map(|statement| &statement.imports);
        let bindings = self.statements.iter().flat_map(|statement| &statement.bindings).map(|binding| binding.name);
        let references = self.statements.iter().flat_map(|statement| &statement.references);
        // `global name` in a function.
        let stored = references.filter(|reference| reference.access == Access::Store).map(|reference| reference.name);
        !self.diagnostics.is_empty()
            || imports.into_iter().any(|import| matches!(import.form, ImportForm::Star { .. }))
            || bindings.chain(stored).any(|symbol| self.name(symbol) == name)
            || self.symbols.iter().any(|symbol| COMPUTING.contains(&&**symbol))
    }

    /// The names that functions, lambdas and comprehensions bind for themselves.
    pub fn function_locals(&self) -> BTreeSet<Box<str>> {
        let is_function = |scope: &&Scope| !matches!(scope.kind, ScopeKind::Module | ScopeKind::Class);
        let locals = self.scopes.iter().filter(is_function).flat_map(|scope| &scope.locals);
        locals.map(|local| self.name(*local).into()).collect()
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diagnostic {
    pub kind: DiagnosticKind,
    pub message: String,
    /// 1-based.
    pub line: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DiagnosticKind {
    Syntax,
    /// A print statement or the like: the file is written for Python 2.
    PythonTwo,
    Encoding,
    TooLarge,
    TooDeep,
}

/// The value of `__all__`, as far as it can be read off.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Exports {
    /// Whether the file assigns `__all__` at all.
    pub declared: bool,
    /// Names from literals, in order.
    pub names: Vec<Symbol>,
    /// Dotted paths whose own `__all__` is added: `layers` in `__all__ += layers.__all__`.
    pub all_of: Vec<Symbol>,
    /// Something else is added at run time, which cannot be read off.
    pub dynamic: bool,
}

/// A scope in the sense of CPython's `symtable`. Comprehensions have scopes of their own, as in CPython 3.11.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scope {
    pub kind: ScopeKind,
    pub parent: Option<ScopeId>,
    /// The whole `def`, `class`, `lambda` or comprehension.
    pub range: TextRange,
    /// Names bound in this scope and local to it (parameters and imports included; names declared `global` or
    /// `nonlocal` are not), mangled as Python does, sorted by text. To the module belong those that functions declare
    /// `global`.
    pub locals: Vec<Symbol>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ScopeKind {
    Module,
    Class,
    Function,
    Lambda,
    Comprehension,
    /// Around a function, class or type alias that has type parameters, as in CPython 3.12.
    TypeParameters,
}

/// A top-level statement: a *definition* where it binds names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Statement {
    /// From the first decorator's `@` to the end of the last token, without the line's end. Two simple statements on
    /// one line (`a = 1; b = 2`) are two statements.
    pub range: TextRange,
    /// The start of the comment lines that stand directly above, with no empty line between; `range.start` if none.
    pub leading_comments: u32,
    pub kind: StatementKind,
    /// The global names that running the statement binds, in source order; nested blocks included, function bodies not.
    pub bindings: Vec<Binding>,
    /// Import statements at any depth, function bodies included.
    pub imports: Vec<ImportStatement>,
    /// Uses of global names and of locally imported names, sorted by position. A name that the module itself does not
    /// bind (a builtin, a star-imported or undefined name) is a global name all the same.
    pub references: Vec<Reference>,
    /// Global objects that running the statement changes.
    pub mutations: Vec<Mutation>,
    /// Global objects that a call of one of [`Statement::functions`] may change.
    pub effects: Vec<Effect>,
    /// Calls of dotted names, at any depth, in no particular order.
    pub calls: Vec<Call>,
    /// Short strings that may be the key of something, at any depth. Sorted by position.
    pub keys: Vec<KeyString>,
    /// The dictionaries in braces, at any depth, in which a short string stands behind another: `{"type": "BN"}`. In no
    /// particular order.
    pub configurations: Vec<TextRange>,
    /// The expressions of all annotations that `from __future__ import annotations` would keep from being evaluated:
    /// of parameters and results of functions at any depth, of names and attributes in module and class bodies.
    /// Sorted by position; an annotation that already is a string literal is left out.
    pub annotations: Vec<TextRange>,
    /// Classes that the statement binds to a global name: itself, or those in the blocks of a compound statement.
    pub classes: Vec<ClassFacts>,
    /// Likewise functions.
    pub functions: Vec<FunctionFacts>,
    /// The dictionary that an assignment binds a global name to, where all its keys are written out as strings.
    pub dictionary: Option<Dictionary>,
    /// What names of functions and comprehensions at any depth stand for, where that is written out. Sorted by scope.
    pub local_values: Vec<LocalValue>,
}

/// A parameter's default, the value of an assignment, or what a loop or comprehension begins with. Nothing else binds the
/// name, and no statement in sight fills what it stands for, as `layers.append(block)` and `plan["width"] = 3` do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalValue {
    /// The function's or comprehension's.
    pub scope: ScopeId,
    pub name: Symbol,
    pub value: WrittenValue,
    /// The names of functions and comprehensions that the expression uses, each with the scope that binds it; without
    /// those that it binds itself.
    pub needs: Box<[(Symbol, ScopeId)]>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenValue {
    /// The text of an expression.
    pub range: TextRange,
    /// It is the first of what the expression iterates over: `for name in range(4)`.
    pub first: bool,
    /// The way to it in what is taken apart: `[1, 0]` in `other, (name, another) = pair`.
    pub places: Box<[u32]>,
}

impl WrittenValue {
    /// As an expression of the file's `text`.
    pub fn expression(&self, text: &str) -> String {
        // A tuple may stand there without its brackets, and an expression of several lines without those around it.
        let whole = format!("({})", self.range.slice(text));
        let whole = if self.first { format!("next(iter({whole}))") } else { whole };
        self.places.iter().fold(whole, |whole, place| format!("tuple({whole})[{place}]"))
    }
}

/// `{"relu": ReLU, "gelu": GELU}`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dictionary {
    /// In source order.
    pub entries: Vec<DictionaryEntry>,
    /// Where the closing brace stands.
    pub end: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DictionaryEntry {
    pub key: Box<str>,
    /// From the key's start to the value's end.
    pub range: TextRange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum StatementKind {
    Class,
    Function,
    Import,
    Assign,
    AugAssign,
    Expression,
    Delete,
    If,
    /// `if __name__ == "__main__":`: binds nothing and is never part of a closure.
    MainGuard,
    Try,
    With,
    /// `for` and `while`.
    Loop,
    Match,
    /// `pass`, `assert`, `raise`, `global` and whatever else.
    Other,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Binding {
    pub name: Symbol,
    /// The identifier, or the content of the string in `globals()["x"] = 1`; for an import the whole alias (`a.b as c`).
    pub range: TextRange,
    pub kind: BindingKind,
    /// It stands in a block that may not run (`if`, `try`, a loop, a `match` case).
    pub conditional: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BindingKind {
    Class,
    Function,
    Assignment,
    /// `x: int` without a value: declares and binds nothing at run time.
    Declaration,
    /// `x += 1`: needs what was bound before.
    Augmented,
    /// By `imports[import].names[name]` of the same statement; `name` is 0 for a star import, which is bound under `*`.
    Import {
        import: u32,
        name: u32,
    },
    /// A loop variable, `with ... as`, `except ... as`, walrus or pattern.
    Capture,
    /// `del x`: unbinds.
    Deletion,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImportStatement {
    pub range: TextRange,
    pub form: ImportForm,
    /// Empty for a star import.
    pub names: Vec<ImportedName>,
    /// The scope in which the names are bound: scope 0 also for `global x; import x` in a function.
    pub scope: ScopeId,
    /// The scope in which the statement stands.
    pub stands_in: ScopeId,
    /// From outside in: what the statement stands under, within the innermost function or, outside of functions, the module.
    pub guards: Vec<Guard>,
    /// The block that holds the statement.
    pub suite: Suite,
}

impl ImportStatement {
    /// The modules that it names in full; a relative import names none. `facts` are those of its file.
    pub fn absolute_modules<'facts>(&'facts self, facts: &'facts FileFacts) -> Vec<&'facts str> {
        match self.form {
            ImportForm::Module => self.names.iter().map(|name| facts.name(name.name)).collect(),
            ImportForm::From { level: 0, module } | ImportForm::Star { level: 0, module } => {
                module.map(|module| facts.name(module)).into_iter().collect()
            }
            ImportForm::From { .. } | ImportForm::Star { .. } => Vec::new(),
        }
    }

    /// The name that one of its names is bound to: `a` for `import a.b`. `facts` are those of its file.
    pub fn local_name<'facts>(&self, imported: &ImportedName, facts: &'facts FileFacts) -> &'facts str {
        match (imported.alias, self.form) {
            (Some(alias), _) => facts.name(alias),
            (None, ImportForm::Module) => {
                facts.name(imported.name).split('.').next().expect("split yields at least one part")
            }
            (None, ImportForm::From { .. } | ImportForm::Star { .. }) => facts.name(imported.name),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ImportForm {
    /// `import a.b, c as d`
    Module,
    /// `from ..a import b`: level 2, module `a`; `from . import b`: level 1, no module.
    From { level: u32, module: Option<Symbol> },
    /// `from a import *`
    Star { level: u32, module: Option<Symbol> },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImportedName {
    /// `a.b` in `import a.b as c`, `b` in `from a import b as c`.
    pub name: Symbol,
    /// `c` in both.
    pub alias: Option<Symbol>,
    /// The whole alias, `a.b as c`.
    pub range: TextRange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Guard {
    /// The body of `if` or `elif`, or the `else` of an `if`.
    If,
    /// The body of `if TYPE_CHECKING` (or `typing.TYPE_CHECKING`): never runs.
    TypeChecking,
    /// The body of a `try` of which a handler would catch an ImportError (bare, `Exception`, `ImportError`,
    /// `ModuleNotFoundError`, alone or in a tuple).
    TryImport,
    /// The body of any other `try`.
    Try,
    /// An exception handler.
    Handler,
    /// The `else` or `finally` of a `try`.
    TryRest,
    With,
    Loop,
    Match,
    /// A class body, nested or top-level.
    Class,
}

/// A use of a name that is looked up in the module's globals, or was imported inside a function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// The name that is looked up: `_Foo__helper` where the text says `__helper` inside class `Foo`.
    pub name: Symbol,
    /// The identifier in the text.
    pub range: TextRange,
    /// The attributes read off it directly: `[b, c]` for `a.b.c`, each with the end of the expression up to there.
    pub path: Vec<Attribute>,
    /// What of the expression with its whole path is assigned to, augmented or deleted.
    pub assigns: Assigns,
    /// The innermost scope in which the reference stands.
    pub scope: ScopeId,
    pub binding: ReferenceBinding,
    pub access: Access,
    pub evaluation: Evaluation,
    pub role: Role,
    /// The identifier stands inside a string literal: a quoted annotation, `fx.wrap("name")`, `globals()["name"]`.
    /// Only literals without escapes or implicit concatenation are read, so that `range` is exact.
    pub quoted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Assigns {
    Nothing,
    /// The last attribute: `cfg.FLAG = x`. The path is not empty.
    Path,
    /// An item: `cfg.TABLE["x"] = y`, `TABLE["x"] = y`.
    Item,
}

/// A call of what a dotted name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The start of the callee's text, and of its reference where that is a global name.
    pub callee: u32,
    /// The whole call, arguments included.
    pub range: TextRange,
    /// The block that holds the call, where it is a statement by itself.
    pub statement_in: Option<Suite>,
}

/// A short string without spaces: a literal or, where it may be a key and at module level, what is put together of literals
/// and of the names that the file binds to them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyString {
    pub range: TextRange,
    pub place: KeyPlace,
    pub value: Box<str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum KeyPlace {
    /// `"BN"` in `register("BN")`, also in a list or tuple there.
    Positional,
    /// By the keyword or the literal key before it: `type` in `dict(type="BN")`, `{"type": "BN"}`,
    /// `options["type"] = "BN"` and `options.setdefault("type", "BN")`.
    Named(Symbol),
    /// `"BN"` in `TABLE["BN"] = BatchNorm`
    Item,
    /// Anywhere else.
    Value,
    /// The name at the start of an operator's schema: `scale` in `define("scale(Tensor x, float s) -> Tensor")`.
    Schema,
}

/// A block of statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Suite {
    /// Identifies it within the file.
    pub id: u32,
    /// The number of statements in it: one that stands alone cannot simply be left out.
    pub length: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attribute {
    pub name: Symbol,
    /// The end of the text of the expression up to and including this attribute.
    pub end: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ReferenceBinding {
    /// The module's globals, then builtins.
    Module,
    /// A name bound in an enclosing function or class by `imports[import].names[name]` of the same statement, the first
    /// import of it that binds the name. `exclusive` where nothing else binds the name there.
    LocalImport { import: u32, name: u32, exclusive: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Access {
    Load,
    /// By a function that declares the name `global`: part of the state of the module. The identifiers in the `global`
    /// statement itself are references of this kind too, so that a rename reaches them.
    Store,
    Delete,
}

/// When a reference is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Evaluation {
    /// When the statement runs: module and class bodies, decorators, bases, defaults, comprehensions at that level.
    Eager,
    /// When a function or lambda of the statement is called.
    Lazy,
    /// With the statement, in an annotation: only where the file is without `from __future__ import annotations`.
    EagerAnnotation,
    /// In an annotation of a function that is nested in another: when that one is called, under the same condition.
    LazyAnnotation,
    /// Not by running code: the annotation of a local variable, a quoted type, a block under `TYPE_CHECKING`.
    Never,
}

/// What the surrounding expression does with a reference; whatever is not `Value` may call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Role {
    Value,
    /// `f` in `f(x)`, `m.f` in `m.f(x)`.
    Callee,
    /// Anywhere inside the arguments of a call.
    Argument,
    /// The decorator itself, or the callee of one that is called.
    Decorator,
    /// A base class, or a keyword such as `metaclass=`.
    Base,
}

/// Running the statement changes a global object that an earlier statement bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mutation {
    pub root: Symbol,
    /// The attributes read off the root directly, up to and with the one that is assigned or called: `[weight, data]`
    /// for `Foo.weight.data = x`, `[table]` for `Foo.table["x"].y = x`.
    pub path: Vec<Symbol>,
    pub kind: MutationKind,
}

/// Calling a function may change a global object: in its own body, or in that of a function within it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// The global name of the function.
    pub function: Symbol,
    pub mutation: Mutation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MutationKind {
    /// `Foo.bar = x`, `Foo.bar += x`, `del Foo.bar`; the attribute is the last of `path`.
    Attribute,
    /// `TABLE["x"] = x`, `del TABLE["x"]`
    Item,
    /// `TABLE[__name__] = x`: the item that is the module's own.
    OwnItem,
    /// `NAMES.append(x)`: the statement is a call of a method whose result nobody keeps; the method is the last of `path`.
    Method,
    /// `@foo.register` over a function or class; the method is the last of `path`.
    Decorator,
    /// `fx.wrap("name")`: a string argument of a call statement that equals a global name of the module.
    Quoted,
    /// `global COUNT; COUNT = x` in a function: only of an [`Effect`].
    Rebinding,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassFacts {
    pub name: Symbol,
    pub name_range: TextRange,
    /// With decorators.
    pub range: TextRange,
    pub bases: Vec<Operand>,
    /// `metaclass=ABCMeta` and the like.
    pub keywords: Vec<(Symbol, Operand)>,
    pub decorators: Vec<Decorator>,
    pub methods: Vec<FunctionFacts>,
    /// Other names that the class body binds.
    pub attributes: Vec<Symbol>,
    /// The statements of the class body itself that bind one name, in source order.
    pub members: Vec<Member>,
    /// The block that the class body is.
    pub suite: Suite,
    pub docstring: Option<TextRange>,
    pub conditional: bool,
}

/// A method or an attribute, by the statement that binds it: `size: int = 1`, or a `def` with its decorators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// As written, without mangling.
    pub name: Symbol,
    pub range: TextRange,
}

/// An expression in a place where usually a dotted name stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operand {
    /// `nn.Module`; of a call or a subscript, the path of what is called or subscripted; `None` for anything else.
    pub path: Option<Symbol>,
    pub range: TextRange,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decorator {
    /// The dotted path without the call: `MODELS.register_module` in `@MODELS.register_module(name="x")`.
    pub path: Option<Symbol>,
    /// The expression, without the `@`.
    pub range: TextRange,
    pub called: bool,
    /// String literals among the arguments, with their keyword.
    pub strings: Vec<(Option<Symbol>, Box<str>)>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionFacts {
    pub name: Symbol,
    pub name_range: TextRange,
    /// With decorators.
    pub range: TextRange,
    pub parameters: Vec<Parameter>,
    pub decorators: Vec<Decorator>,
    pub returns: Option<TextRange>,
    pub docstring: Option<TextRange>,
    pub is_async: bool,
    /// The body only raises NotImplementedError, passes, or is a docstring or `...`.
    pub is_stub: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    pub name: Symbol,
    pub kind: ParameterKind,
    pub annotation: Option<TextRange>,
    pub default: Option<TextRange>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ParameterKind {
    PositionalOnly,
    PositionalOrKeyword,
    /// `*args`
    Variadic,
    KeywordOnly,
    /// `**kwargs`
    VariadicKeyword,
}
