//! The syntax tree of a text, and its nodes in the order in which CPython's `ast.NodeVisitor` comes to them.
//!
//! That is the order of `ast._fields`, not of the text: decorators come after the body that they decorate, `b if a else c`
//! starts with `a`, a dictionary gives all keys before its values.

use rustpython_parser::Parse;
use rustpython_parser::ast::{Arguments, Comprehension, ExceptHandler, Expr, Keyword, Pattern, Stmt, Suite};

/// The statements of a text; none where it does not parse.
pub(crate) fn parse(text: &str) -> Option<Suite> {
    Suite::parse(text, "").ok()
}

#[derive(Clone, Copy)]
pub(crate) enum Node<'t> {
    Statement(&'t Stmt),
    Expression(&'t Expr),
    Pattern(&'t Pattern),
}

/// All nodes under these statements, parents before what they consist of.
pub(crate) fn nodes(suite: &[Stmt]) -> impl Iterator<Item = Node<'_>> {
    let mut waiting: Vec<Node<'_>> = suite.iter().rev().map(Node::Statement).collect();
    std::iter::from_fn(move || {
        let node = waiting.pop()?;
        waiting.extend(parts(node).0.into_iter().rev());
        Some(node)
    })
}

/// The nodes of which one consists, in their order.
#[derive(Default)]
struct Parts<'t>(Vec<Node<'t>>);

fn parts(node: Node<'_>) -> Parts<'_> {
    let parts = Parts::default();
    match node {
        Node::Statement(statement) => of_statement(parts, statement),
        Node::Expression(expression) => of_expression(parts, expression),
        Node::Pattern(pattern) => of_pattern(parts, pattern),
    }
}

impl<'t> Parts<'t> {
    fn statements(mut self, statements: &'t [Stmt]) -> Self {
        self.0.extend(statements.iter().map(Node::Statement));
        self
    }

    /// One, several or none.
    fn expressions(mut self, expressions: impl IntoIterator<Item = &'t Expr>) -> Self {
        self.0.extend(expressions.into_iter().map(Node::Expression));
        self
    }

    fn expression(self, expression: &'t Expr) -> Self {
        self.expressions([expression])
    }

    fn patterns(mut self, patterns: impl IntoIterator<Item = &'t Pattern>) -> Self {
        self.0.extend(patterns.into_iter().map(Node::Pattern));
        self
    }

    fn keywords(self, keywords: &'t [Keyword]) -> Self {
        self.expressions(keywords.iter().map(|keyword| &keyword.value))
    }

    fn arguments(self, arguments: &'t Arguments) -> Self {
        let positional = || arguments.posonlyargs.iter().chain(&arguments.args);
        let keyword_only = &arguments.kwonlyargs;
        self.expressions(positional().filter_map(|argument| argument.def.annotation.as_deref()))
            .expressions(arguments.vararg.iter().filter_map(|argument| argument.annotation.as_deref()))
            .expressions(keyword_only.iter().filter_map(|argument| argument.def.annotation.as_deref()))
            .expressions(keyword_only.iter().filter_map(|argument| argument.default.as_deref()))
            .expressions(arguments.kwarg.iter().filter_map(|argument| argument.annotation.as_deref()))
            .expressions(positional().filter_map(|argument| argument.default.as_deref()))
    }

    fn handlers(self, handlers: &'t [ExceptHandler]) -> Self {
        handlers.iter().fold(self, |parts, ExceptHandler::ExceptHandler(handler)| {
            parts.expressions(handler.type_.as_deref()).statements(&handler.body)
        })
    }

    fn comprehensions(self, comprehensions: &'t [Comprehension]) -> Self {
        comprehensions.iter().fold(self, |parts, comprehension| {
            parts.expressions([&comprehension.target, &comprehension.iter]).expressions(&comprehension.ifs)
        })
    }
}

fn of_statement<'t>(parts: Parts<'t>, statement: &'t Stmt) -> Parts<'t> {
    match statement {
        Stmt::FunctionDef(node) => parts
            .arguments(&node.args)
            .statements(&node.body)
            .expressions(&node.decorator_list)
            .expressions(node.returns.as_deref()),
        Stmt::AsyncFunctionDef(node) => parts
            .arguments(&node.args)
            .statements(&node.body)
            .expressions(&node.decorator_list)
            .expressions(node.returns.as_deref()),
        Stmt::ClassDef(node) => parts
            .expressions(&node.bases)
            .keywords(&node.keywords)
            .statements(&node.body)
            .expressions(&node.decorator_list),
        Stmt::For(node) => {
            parts.expressions([&*node.target, &*node.iter]).statements(&node.body).statements(&node.orelse)
        }
        Stmt::AsyncFor(node) => {
            parts.expressions([&*node.target, &*node.iter]).statements(&node.body).statements(&node.orelse)
        }
        Stmt::While(node) => parts.expression(&node.test).statements(&node.body).statements(&node.orelse),
        Stmt::If(node) => parts.expression(&node.test).statements(&node.body).statements(&node.orelse),
        Stmt::With(node) => of_with(parts, &node.items).statements(&node.body),
        Stmt::AsyncWith(node) => of_with(parts, &node.items).statements(&node.body),
        Stmt::Match(node) => node.cases.iter().fold(parts.expression(&node.subject), |parts, case| {
            parts.patterns([&case.pattern]).expressions(case.guard.as_deref()).statements(&case.body)
        }),
        Stmt::Try(node) => {
            parts.statements(&node.body).handlers(&node.handlers).statements(&node.orelse).statements(&node.finalbody)
        }
        Stmt::TryStar(node) => {
            parts.statements(&node.body).handlers(&node.handlers).statements(&node.orelse).statements(&node.finalbody)
        }
        simple => of_simple_statement(parts, simple),
    }
}

fn of_with<'t>(parts: Parts<'t>, items: &'t [rustpython_parser::ast::WithItem]) -> Parts<'t> {
    items
        .iter()
        .fold(parts, |parts, item| parts.expression(&item.context_expr).expressions(item.optional_vars.as_deref()))
}

/// Of a statement that holds no others.
fn of_simple_statement<'t>(parts: Parts<'t>, statement: &'t Stmt) -> Parts<'t> {
    match statement {
        Stmt::Return(node) => parts.expressions(node.value.as_deref()),
        Stmt::Delete(node) => parts.expressions(&node.targets),
        Stmt::Assign(node) => parts.expressions(&node.targets).expression(&node.value),
        Stmt::TypeAlias(node) => parts.expression(&node.name).expression(&node.value),
        Stmt::AugAssign(node) => parts.expressions([&*node.target, &*node.value]),
        Stmt::AnnAssign(node) => {
            parts.expressions([&*node.target, &*node.annotation]).expressions(node.value.as_deref())
        }
        Stmt::Raise(node) => parts.expressions(node.exc.as_deref()).expressions(node.cause.as_deref()),
        Stmt::Assert(node) => parts.expression(&node.test).expressions(node.msg.as_deref()),
        Stmt::Expr(node) => parts.expression(&node.value),
        // Imports, declarations of scope and jumps consist of names at most.
        _ => parts,
    }
}

fn of_expression<'t>(parts: Parts<'t>, expression: &'t Expr) -> Parts<'t> {
    match expression {
        Expr::BoolOp(node) => parts.expressions(&node.values),
        Expr::NamedExpr(node) => parts.expressions([&*node.target, &*node.value]),
        Expr::BinOp(node) => parts.expressions([&*node.left, &*node.right]),
        Expr::UnaryOp(node) => parts.expression(&node.operand),
        Expr::Lambda(node) => parts.arguments(&node.args).expression(&node.body),
        Expr::IfExp(node) => parts.expressions([&*node.test, &*node.body, &*node.orelse]),
        Expr::Dict(node) => parts.expressions(node.keys.iter().flatten()).expressions(&node.values),
        Expr::Set(node) => parts.expressions(&node.elts),
        Expr::ListComp(node) => parts.expression(&node.elt).comprehensions(&node.generators),
        Expr::SetComp(node) => parts.expression(&node.elt).comprehensions(&node.generators),
        Expr::DictComp(node) => parts.expressions([&*node.key, &*node.value]).comprehensions(&node.generators),
        Expr::GeneratorExp(node) => parts.expression(&node.elt).comprehensions(&node.generators),
        Expr::Await(node) => parts.expression(&node.value),
        Expr::Yield(node) => parts.expressions(node.value.as_deref()),
        Expr::YieldFrom(node) => parts.expression(&node.value),
        Expr::Compare(node) => parts.expression(&node.left).expressions(&node.comparators),
        Expr::Call(node) => parts.expression(&node.func).expressions(&node.args).keywords(&node.keywords),
        Expr::FormattedValue(node) => parts.expression(&node.value).expressions(node.format_spec.as_deref()),
        Expr::JoinedStr(node) => parts.expressions(&node.values),
        Expr::Attribute(node) => parts.expression(&node.value),
        Expr::Subscript(node) => parts.expressions([&*node.value, &*node.slice]),
        Expr::Starred(node) => parts.expression(&node.value),
        Expr::List(node) => parts.expressions(&node.elts),
        Expr::Tuple(node) => parts.expressions(&node.elts),
        Expr::Slice(node) => {
            parts.expressions([&node.lower, &node.upper, &node.step].into_iter().filter_map(Option::as_deref))
        }
        Expr::Constant(_) | Expr::Name(_) => parts,
    }
}

fn of_pattern<'t>(parts: Parts<'t>, pattern: &'t Pattern) -> Parts<'t> {
    match pattern {
        Pattern::MatchValue(node) => parts.expression(&node.value),
        Pattern::MatchSequence(node) => parts.patterns(&node.patterns),
        Pattern::MatchMapping(node) => parts.expressions(&node.keys).patterns(&node.patterns),
        Pattern::MatchClass(node) => parts.expression(&node.cls).patterns(&node.patterns).patterns(&node.kwd_patterns),
        Pattern::MatchAs(node) => parts.patterns(node.pattern.as_deref()),
        Pattern::MatchOr(node) => parts.patterns(&node.patterns),
        Pattern::MatchSingleton(_) | Pattern::MatchStar(_) => parts,
    }
}
