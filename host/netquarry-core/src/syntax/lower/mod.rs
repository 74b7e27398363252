//! One walk over a syntax tree, from which the facts and the symbol table are made.
//!
//! The walk visits every node kind in the order in which CPython's `symtable` does. What a name means is known only
//! when the scopes around it are complete, so uses, mutations and quoted names are first noted as candidates; `finish`
//! keeps those that mean globals.

mod annotations;
mod calls;
mod classes;
mod compound;
mod exports;
mod expressions;
mod finish;
mod functions;
mod imports;
mod keys;
mod patterns;
mod statements;
mod targets;

use std::collections::HashMap;

use rustpython_parser::ast::{self, Ranged};

use super::names::Names;
use super::parse::Module;
use super::scopes::{self, MODULE, ScopeNode, ScopeTree, SymbolTable};
use super::text::{Span, Text};
use crate::facts::{
    Access, Assigns, Attribute, Binding, BindingKind, Evaluation, Exports, FileFacts, FunctionFacts, Guard, LocalValue,
    MutationKind, Role, ScopeId, ScopeKind, Statement, StatementKind, Suite, Symbol, WrittenValue,
};
use crate::source::TextRange;

pub(super) fn facts(module: &Module<'_>) -> FileFacts {
    let mut lowerer = Lowerer::new(&module.text);
    lowerer.module(&module.body);
    finish::facts(lowerer)
}

pub(super) fn symbol_table(module: &Module<'_>) -> Vec<SymbolTable> {
    let mut lowerer = Lowerer::new(&module.text);
    lowerer.module(&module.body);
    scopes::symbol_tables(&lowerer.scopes, &lowerer.names, lowerer.class_cell)
}

struct Lowerer<'a> {
    text: &'a Text<'a>,
    names: Names,
    scopes: ScopeTree,
    /// `__class__`
    class_cell: Symbol,
    future_annotations: bool,
    exports: Exports,
    context: Context,
    /// What the walk stands under, within the innermost function.
    guards: Vec<Guard>,
    suites: u32,
    /// The strings to which module-level names are bound, as far as the walk has come.
    constants: HashMap<Box<str>, String>,
    /// The attributes of all uses, which keep indices into it.
    attributes: Vec<Attribute>,
    draft: Draft,
    finished: Vec<Draft>,
}

/// How the place that the walk has reached is evaluated. Saved and restored around whatever changes it.
#[derive(Clone, Copy)]
struct Context {
    scope: ScopeId,
    evaluation: Evaluation,
    /// In the body of a function or lambda: the statement can run without this.
    in_function: bool,
    /// The function of the module, bound to a global name, in whose body this is.
    function: Option<Symbol>,
    /// Anywhere inside the arguments of a call.
    in_arguments: bool,
    /// In a block that may not run, of those around the scope too.
    conditional: bool,
    /// `symtable` sees what stands here.
    recorded: bool,
    /// In an annotation, where string literals are types.
    in_annotation: bool,
    /// In a string literal.
    quoted: bool,
    /// The innermost class, whose name mangles private names.
    class: Option<Symbol>,
    /// Where the statement ends that binds what is being bound: what it reads it reads before.
    binds_from: Option<u32>,
    /// The class body whose methods are collected.
    collecting: Option<ScopeId>,
    suite: Suite,
}

/// A top-level statement on the way, with the candidates whose names have not been looked up yet.
struct Draft {
    statement: Statement,
    uses: Vec<Use>,
    mutations: Vec<MutationCandidate>,
    /// Methods of the class whose body is being walked.
    methods: Vec<FunctionFacts>,
    /// Those of names that may be bound elsewhere too.
    local_values: Vec<LocalValue>,
}

struct Use {
    name: Symbol,
    span: Span,
    /// The range of its path in [`Lowerer::attributes`].
    path: (u32, u32),
    assigns: Assigns,
    scope: ScopeId,
    access: Access,
    evaluation: Evaluation,
    role: Role,
    lookup: Lookup,
}

/// How a candidate's name is looked up.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lookup {
    /// Through the scopes.
    Scopes,
    /// Through the scopes, in a class body that has not bound the name so far: should it do so later, Python finds the
    /// global one still.
    ///
    /// ```python
    /// class Net:
    ///     depth = depth
    /// ```
    BeforeBinding,
    /// Through the scopes, by text in a string literal.
    Quoted,
    /// In the globals: the name is declared `global`.
    Globals,
    /// In the globals by a string literal: `globals()["name"]`.
    QuotedGlobals,
    /// In the globals, by a string literal that means a global only if the module has one of that name.
    QuotedIfBound,
}

struct MutationCandidate {
    root: Symbol,
    path: Vec<Symbol>,
    kind: MutationKind,
    scope: ScopeId,
    /// The function of the module in whose body it stands.
    function: Option<Symbol>,
}

impl<'a> Lowerer<'a> {
    fn new(text: &'a Text<'a>) -> Self {
        let mut names = Names::default();
        let class_cell = names.intern("__class__");
        let top = names.intern("top");
        let whole = Span { start: 0, end: u32::try_from(text.as_str().len()).expect("files are under 4 GiB") };
        Self {
            text,
            names,
            scopes: ScopeTree::new(top, whole),
            class_cell,
            future_annotations: false,
            exports: Exports::default(),
            context: Context {
                scope: MODULE,
                evaluation: Evaluation::Eager,
                in_function: false,
                function: None,
                in_arguments: false,
                conditional: false,
                recorded: true,
                in_annotation: false,
                quoted: false,
                class: None,
                binds_from: None,
                collecting: None,
                suite: Suite { id: 0, length: 0 },
            },
            guards: Vec::new(),
            suites: 0,
            constants: HashMap::new(),
            attributes: Vec::new(),
            draft: Draft::new(Span { start: 0, end: 0 }, 0, text),
            finished: Vec::new(),
        }
    }

    fn module(&mut self, body: &[ast::Stmt]) {
        self.future_annotations = imports::future_annotations(body);
        self.context.suite.length = length(body);
        let mut limit = 0;
        for statement in body {
            let span = self.statement_span(statement);
            let end = span.end;
            if !is_docstring(statement) {
                let draft = Draft::new(span, limit, self.text);
                self.draft = draft;
                self.draft.statement.kind = statements::kind(statement);
                self.statement(statement);
                self.settle_keys();
                let draft = std::mem::replace(&mut self.draft, Draft::new(span, limit, self.text));
                self.finished.push(draft);
            }
            limit = end;
        }
    }

    /// A statement's range with its decorators.
    fn statement_span(&self, statement: &ast::Stmt) -> Span {
        let decorators = match statement {
            ast::Stmt::FunctionDef(function) => &function.decorator_list,
            ast::Stmt::AsyncFunctionDef(function) => &function.decorator_list,
            ast::Stmt::ClassDef(class) => &class.decorator_list,
            _ => return statement.range().into(),
        };
        self.decorated_span(statement.range().into(), decorators)
    }

    fn decorated_span(&self, span: Span, decorators: &[ast::Expr]) -> Span {
        match decorators.first() {
            Some(first) => Span { start: self.text.decorator_start(Span::from(first.range()).start), end: span.end },
            None => span,
        }
    }

    /// Binds something that is there when `end` is reached.
    fn binding_at(&mut self, end: u32, bind: impl FnOnce(&mut Self)) {
        let outer = self.context.binds_from.replace(end);
        bind(self);
        self.context.binds_from = outer;
    }

    /// Walks with another context, which the old one replaces again.
    fn within(&mut self, context: Context, walk: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.context, context);
        walk(self);
        self.context = outer;
    }

    /// Walks a suite under a guard.
    fn guarded_suite(&mut self, guard: Guard, body: &[ast::Stmt]) {
        if !body.is_empty() {
            self.guards.push(guard);
            self.suite(body);
            self.guards.pop();
        }
    }

    /// Walks a suite that may not run.
    fn conditional_suite(&mut self, guard: Guard, body: &[ast::Stmt]) {
        self.within(Context { conditional: true, ..self.context }, |lowerer| lowerer.guarded_suite(guard, body));
    }

    fn suite(&mut self, body: &[ast::Stmt]) {
        self.suites += 1;
        let suite = Suite { id: self.suites, length: length(body) };
        let outer = std::mem::replace(&mut self.context.suite, suite);
        for statement in body {
            self.statement(statement);
        }
        self.context.suite = outer;
    }

    /// Opens a scope inside the current one.
    fn open_scope(&mut self, kind: ScopeKind, name: &str, span: Span) -> ScopeId {
        let name = self.names.identifier(name);
        let parent = self.context.scope;
        let detached = !self.context.recorded || self.scopes.scope(parent).detached;
        let node = ScopeNode { kind, name, parent: Some(parent), span, symbols: Vec::new(), detached };
        self.scopes.push(node)
    }

    fn in_class_body(&self) -> bool {
        self.scopes.scope(self.context.scope).kind == ScopeKind::Class
    }

    fn mangled(&mut self, name: &str) -> Symbol {
        self.names.mangled(name, self.context.class)
    }

    /// Whether entries of the current scope come from here.
    fn records(&self) -> bool {
        self.context.recorded || self.scopes.scope(self.context.scope).detached
    }

    /// Binds `name` in the current scope. At module level, and in class bodies that declare it `global`, that is a
    /// binding of the statement; in functions that declare it so, a use.
    fn bind(&mut self, name: &str, span: Span, kind: BindingKind) -> Symbol {
        let symbol = self.mangled(name);
        let scope = self.context.scope;
        if self.records() {
            let entry = self.scopes.entry_mut(scope, symbol);
            entry.assigned = true;
            if kind == BindingKind::Declaration {
                entry.annotated = true;
            } else {
                entry.binders += 1;
                entry.bound_from.get_or_insert(self.context.binds_from.unwrap_or(span.end));
            }
        }
        self.bind_global(symbol, scope, span, kind);
        symbol
    }

    /// Notes what the names of a function in `target` are bound to, should nothing else bind them.
    fn note_local_values(&mut self, target: &ast::Expr, value: WrittenValue) {
        match target {
            ast::Expr::Name(name) => self.note_local_value(&name.id, value),
            ast::Expr::Tuple(ast::ExprTuple { elts, .. }) | ast::Expr::List(ast::ExprList { elts, .. }) => {
                let plain = elts.iter().take_while(|element| !element.is_starred_expr());
                for (place, element) in (0..).zip(plain) {
                    let places = value.places.iter().copied().chain([place]).collect();
                    self.note_local_values(element, WrittenValue { places, ..value });
                }
            }
            _ => {}
        }
    }

    fn note_local_value(&mut self, name: &str, value: WrittenValue) {
        let scope = self.context.scope;
        if matches!(self.scopes.scope(scope).kind, ScopeKind::Function | ScopeKind::Comprehension) {
            let name = self.mangled(name);
            self.draft.local_values.push(LocalValue { scope, name, value, needs: Box::default() });
        }
    }

    fn written(&self, value: &ast::Expr) -> WrittenValue {
        let range = self.text.original_range(value.range().into());
        WrittenValue { range, first: false, places: Box::default() }
    }

    fn first_of(&self, iterable: &ast::Expr) -> WrittenValue {
        WrittenValue { first: true, ..self.written(iterable) }
    }

    /// Notes that a global is bound here, if `name` is one in `scope`.
    fn bind_global(&mut self, name: Symbol, scope: ScopeId, span: Span, kind: BindingKind) {
        if !self.is_global(scope, name) {
            return;
        }
        self.constants.remove(self.names.get(name));
        if !self.context.in_function {
            let range = self.text.original_range(span);
            let conditional = self.context.conditional;
            self.draft.statement.bindings.push(Binding { name, range, kind, conditional });
        } else if kind != BindingKind::Declaration {
            let access = if kind == BindingKind::Deletion { Access::Delete } else { Access::Store };
            self.note_use(name, span, access, Role::Value, Lookup::Globals);
            self.changes(name, Vec::new(), MutationKind::Rebinding);
        }
    }

    /// Whether binding `name` in `scope` binds a global.
    fn is_global(&self, scope: ScopeId, name: Symbol) -> bool {
        scope == MODULE || self.scopes.entry(scope, name).is_some_and(|entry| entry.declared_global)
    }

    fn note_use(&mut self, name: Symbol, span: Span, access: Access, role: Role, lookup: Lookup) {
        self.draft.uses.push(Use {
            name,
            span,
            path: (0, 0),
            assigns: Assigns::Nothing,
            scope: self.context.scope,
            access,
            evaluation: self.context.evaluation,
            role,
            lookup,
        });
    }
}

impl Draft {
    fn new(span: Span, limit: u32, text: &Text<'_>) -> Self {
        let leading = text.leading_comments(span.start, limit);
        Self {
            statement: empty_statement(text.original_range(span), text.original(leading), StatementKind::Other),
            uses: Vec::new(),
            mutations: Vec::new(),
            methods: Vec::new(),
            local_values: Vec::new(),
        }
    }
}

fn empty_statement(range: TextRange, leading_comments: u32, kind: StatementKind) -> Statement {
    Statement {
        range,
        leading_comments,
        kind,
        bindings: Vec::new(),
        imports: Vec::new(),
        references: Vec::new(),
        mutations: Vec::new(),
        effects: Vec::new(),
        calls: Vec::new(),
        keys: Vec::new(),
        configurations: Vec::new(),
        annotations: Vec::new(),
        classes: Vec::new(),
        functions: Vec::new(),
        dictionary: None,
        local_values: Vec::new(),
    }
}

fn is_docstring(statement: &ast::Stmt) -> bool {
    matches!(statement, ast::Stmt::Expr(statement) if is_string(&statement.value))
}

fn is_string(expression: &ast::Expr) -> bool {
    matches!(expression, ast::Expr::Constant(constant) if constant.value.is_str())
}

fn length(body: &[ast::Stmt]) -> u32 {
    u32::try_from(body.len()).expect("a file has fewer statements than bytes")
}
