//! The parts of statements and expressions.

use rustpython_parser::ast::{self, Expr, ExprContext, Pattern, Stmt};

use crate::syntax::names::normalized;

/// The blocks of statements in a statement, in order; those of a definition too.
pub(super) fn bodies(statement: &Stmt) -> Vec<&Vec<Stmt>> {
    match statement {
        Stmt::FunctionDef(node) => vec![&node.body],
        Stmt::AsyncFunctionDef(node) => vec![&node.body],
        Stmt::ClassDef(node) => vec![&node.body],
        Stmt::For(node) => vec![&node.body, &node.orelse],
        Stmt::AsyncFor(node) => vec![&node.body, &node.orelse],
        Stmt::While(node) => vec![&node.body, &node.orelse],
        Stmt::If(node) => vec![&node.body, &node.orelse],
        Stmt::With(node) => vec![&node.body],
        Stmt::AsyncWith(node) => vec![&node.body],
        Stmt::Match(node) => node.cases.iter().map(|case| &case.body).collect(),
        Stmt::Try(node) => of_try(&node.body, &node.handlers, [&node.orelse, &node.finalbody]),
        Stmt::TryStar(node) => of_try(&node.body, &node.handlers, [&node.orelse, &node.finalbody]),
        _ => Vec::new(),
    }
}

fn of_try<'s>(body: &'s Vec<Stmt>, handlers: &'s [ast::ExceptHandler], rest: [&'s Vec<Stmt>; 2]) -> Vec<&'s Vec<Stmt>> {
    let handlers = handlers.iter().map(|ast::ExceptHandler::ExceptHandler(handler)| &handler.body);
    std::iter::once(body).chain(handlers).chain(rest).collect()
}

/// Those of [`bodies`], in the same order.
pub(super) fn bodies_mut(statement: &mut Stmt) -> Vec<&mut Vec<Stmt>> {
    match statement {
        Stmt::FunctionDef(node) => vec![&mut node.body],
        Stmt::AsyncFunctionDef(node) => vec![&mut node.body],
        Stmt::ClassDef(node) => vec![&mut node.body],
        Stmt::For(node) => vec![&mut node.body, &mut node.orelse],
        Stmt::AsyncFor(node) => vec![&mut node.body, &mut node.orelse],
        Stmt::While(node) => vec![&mut node.body, &mut node.orelse],
        Stmt::If(node) => vec![&mut node.body, &mut node.orelse],
        Stmt::With(node) => vec![&mut node.body],
        Stmt::AsyncWith(node) => vec![&mut node.body],
        Stmt::Match(node) => node.cases.iter_mut().map(|case| &mut case.body).collect(),
        Stmt::Try(node) => of_try_mut(&mut node.body, &mut node.handlers, [&mut node.orelse, &mut node.finalbody]),
        Stmt::TryStar(node) => of_try_mut(&mut node.body, &mut node.handlers, [&mut node.orelse, &mut node.finalbody]),
        _ => Vec::new(),
    }
}

fn of_try_mut<'s>(
    body: &'s mut Vec<Stmt>,
    handlers: &'s mut [ast::ExceptHandler],
    rest: [&'s mut Vec<Stmt>; 2],
) -> Vec<&'s mut Vec<Stmt>> {
    let handlers = handlers.iter_mut().map(|ast::ExceptHandler::ExceptHandler(handler)| &mut handler.body);
    std::iter::once(body).chain(handlers).chain(rest).collect()
}

pub(super) fn is_definition(statement: &Stmt) -> bool {
    matches!(statement, Stmt::FunctionDef(_) | Stmt::AsyncFunctionDef(_) | Stmt::ClassDef(_))
}

/// The expressions of a statement that stand in none of its [`bodies`], without annotations.
pub(super) fn heads(statement: &Stmt) -> Vec<&Expr> {
    match statement {
        Stmt::FunctionDef(node) => node.decorator_list.iter().chain(defaults(&node.args)).collect(),
        Stmt::AsyncFunctionDef(node) => node.decorator_list.iter().chain(defaults(&node.args)).collect(),
        Stmt::ClassDef(node) => {
            let keywords = node.keywords.iter().map(|keyword| &keyword.value);
            node.decorator_list.iter().chain(&node.bases).chain(keywords).collect()
        }
        Stmt::Return(node) => node.value.as_deref().into_iter().collect(),
        Stmt::Delete(node) => node.targets.iter().collect(),
        Stmt::Assign(node) => std::iter::once(&*node.value).chain(&node.targets).collect(),
        Stmt::AugAssign(node) => vec![&node.value, &node.target],
        Stmt::AnnAssign(node) => node.value.as_deref().into_iter().chain([&*node.target]).collect(),
        Stmt::For(node) => vec![&node.iter, &node.target],
        Stmt::AsyncFor(node) => vec![&node.iter, &node.target],
        Stmt::While(node) => vec![&node.test],
        Stmt::If(node) => vec![&node.test],
        Stmt::With(node) => of_items(&node.items),
        Stmt::AsyncWith(node) => of_items(&node.items),
        Stmt::Match(node) => {
            let mut heads = vec![&*node.subject];
            for case in &node.cases {
                of_pattern(&case.pattern, &mut heads);
                heads.extend(case.guard.as_deref());
            }
            heads
        }
        Stmt::Raise(node) => node.exc.as_deref().into_iter().chain(node.cause.as_deref()).collect(),
        Stmt::Try(node) => of_handlers(&node.handlers),
        Stmt::TryStar(node) => of_handlers(&node.handlers),
        Stmt::Assert(node) => std::iter::once(&*node.test).chain(node.msg.as_deref()).collect(),
        Stmt::Expr(node) => vec![&node.value],
        Stmt::TypeAlias(_)
        | Stmt::Import(_)
        | Stmt::ImportFrom(_)
        | Stmt::Global(_)
        | Stmt::Nonlocal(_)
        | Stmt::Pass(_)
        | Stmt::Break(_)
        | Stmt::Continue(_) => Vec::new(),
    }
}

fn of_items(items: &[ast::WithItem]) -> Vec<&Expr> {
    items.iter().flat_map(|item| std::iter::once(&item.context_expr).chain(item.optional_vars.as_deref())).collect()
}

fn of_handlers(handlers: &[ast::ExceptHandler]) -> Vec<&Expr> {
    handlers.iter().filter_map(|ast::ExceptHandler::ExceptHandler(handler)| handler.type_.as_deref()).collect()
}

fn of_pattern<'s>(pattern: &'s Pattern, heads: &mut Vec<&'s Expr>) {
    match pattern {
        Pattern::MatchValue(node) => heads.push(&node.value),
        Pattern::MatchMapping(node) => heads.extend(&node.keys),
        Pattern::MatchClass(node) => heads.push(&node.cls),
        _ => {}
    }
    inner_patterns(pattern).into_iter().for_each(|inner| of_pattern(inner, heads));
}

pub(super) fn inner_patterns(pattern: &Pattern) -> Vec<&Pattern> {
    match pattern {
        Pattern::MatchSequence(node) => node.patterns.iter().collect(),
        Pattern::MatchMapping(node) => node.patterns.iter().collect(),
        Pattern::MatchClass(node) => node.patterns.iter().chain(&node.kwd_patterns).collect(),
        Pattern::MatchAs(node) => node.pattern.as_deref().into_iter().collect(),
        Pattern::MatchOr(node) => node.patterns.iter().collect(),
        Pattern::MatchValue(_) | Pattern::MatchSingleton(_) | Pattern::MatchStar(_) => Vec::new(),
    }
}

/// The expressions directly in one.
pub(super) fn children(expression: &Expr) -> Vec<&Expr> {
    match expression {
        Expr::BoolOp(node) => node.values.iter().collect(),
        Expr::NamedExpr(node) => vec![&node.target, &node.value],
        Expr::BinOp(node) => vec![&node.left, &node.right],
        Expr::UnaryOp(node) => vec![&node.operand],
        Expr::Lambda(node) => defaults(&node.args).chain([&*node.body]).collect(),
        Expr::IfExp(node) => vec![&node.test, &node.body, &node.orelse],
        Expr::Dict(node) => node.keys.iter().flatten().chain(&node.values).collect(),
        Expr::Set(node) => node.elts.iter().collect(),
        Expr::ListComp(node) => in_comprehension(&node.generators, [&*node.elt]),
        Expr::SetComp(node) => in_comprehension(&node.generators, [&*node.elt]),
        Expr::GeneratorExp(node) => in_comprehension(&node.generators, [&*node.elt]),
        Expr::DictComp(node) => in_comprehension(&node.generators, [&*node.key, &*node.value]),
        Expr::Await(node) => vec![&node.value],
        Expr::Yield(node) => node.value.as_deref().into_iter().collect(),
        Expr::YieldFrom(node) => vec![&node.value],
        Expr::Compare(node) => std::iter::once(&*node.left).chain(&node.comparators).collect(),
        Expr::Call(node) => {
            let keywords = node.keywords.iter().map(|keyword| &keyword.value);
            std::iter::once(&*node.func).chain(&node.args).chain(keywords).collect()
        }
        Expr::FormattedValue(node) => std::iter::once(&*node.value).chain(node.format_spec.as_deref()).collect(),
        Expr::JoinedStr(node) => node.values.iter().collect(),
        Expr::Attribute(node) => vec![&node.value],
        Expr::Subscript(node) => vec![&node.value, &node.slice],
        Expr::Starred(node) => vec![&node.value],
        Expr::List(node) => node.elts.iter().collect(),
        Expr::Tuple(node) => node.elts.iter().collect(),
        Expr::Slice(node) => [&node.lower, &node.upper, &node.step].into_iter().filter_map(Option::as_deref).collect(),
        Expr::Constant(_) | Expr::Name(_) => Vec::new(),
    }
}

fn in_comprehension<'e>(
    generators: &'e [ast::Comprehension],
    elements: impl IntoIterator<Item = &'e Expr>,
) -> Vec<&'e Expr> {
    let in_generator =
        |generator: &'e ast::Comprehension| [&generator.iter, &generator.target].into_iter().chain(&generator.ifs);
    generators.iter().flat_map(in_generator).chain(elements).collect()
}

/// The defaults of parameters, in their order.
pub(super) fn defaults(arguments: &ast::Arguments) -> impl Iterator<Item = &Expr> {
    let ast::Arguments { posonlyargs, args, kwonlyargs, .. } = arguments;
    posonlyargs.iter().chain(args).chain(kwonlyargs).filter_map(|argument| argument.default.as_deref())
}

/// Shows an expression and all expressions in it.
pub(super) fn each<'e>(expression: &'e Expr, seen: &mut impl FnMut(&'e Expr)) {
    seen(expression);
    children(expression).into_iter().for_each(|child| each(child, seen));
}

/// Shows all expressions of the statements, and of those in them.
pub(super) fn each_in<'s>(body: &'s [Stmt], seen: &mut impl FnMut(&'s Expr)) {
    for statement in body {
        heads(statement).into_iter().for_each(|head| each(head, seen));
        bodies(statement).into_iter().for_each(|body| each_in(body, seen));
    }
}

/// `a.b.c` for a name with attributes behind it.
pub(super) fn dotted(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Name(node) => Some(normalized(&node.id).into_owned()),
        Expr::Attribute(node) => Some(format!("{}.{}", dotted(&node.value)?, normalized(&node.attr))),
        _ => None,
    }
}

/// The last name of what is called, or of what a decorator is; empty where it has none.
pub(super) fn last_name(expression: &Expr) -> &str {
    match expression {
        Expr::Name(node) => &node.id,
        Expr::Attribute(node) => &node.attr,
        Expr::Call(node) => last_name(&node.func),
        _ => "",
    }
}

pub(super) fn is_bound(context: ExprContext) -> bool {
    context != ExprContext::Load
}
