//! What fingerprints compare: the definitions and calls of a text, without names resolved and without scopes.
//!
//! Nodes are visited as `ast.NodeVisitor.generic_visit` visits them, in the order of `ast._fields`, because the order of
//! calls is part of a fingerprint. It is not the order of the text: decorators come after the body that they decorate,
//! `b if a else c` starts with `a`, a dictionary gives all keys before its values.

use std::ops::Range;

use rustpython_parser::ast::{self, Constant, Expr, Pattern, Stmt};

use super::names::normalized;
use super::parse::{self, Module};
use super::text::{Span, Text};
use crate::facts::Diagnostic;

/// The definitions and calls of a text, in the order in which they are visited.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outline {
    /// Classes and functions at any depth.
    pub definitions: Vec<OutlineDefinition>,
    /// Calls of a name or of an attribute; a call of anything else (`f()()`) is passed over, its parts are not.
    pub calls: Vec<OutlineCall>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct OutlineDefinition {
    pub kind: OutlineKind,
    pub name: Box<str>,
    /// 1-based and inclusive, from `class` or `def` to the last token. Lines end as they do for CPython's parser: at
    /// `\n`, `\r\n` or `\r`.
    pub lines: [u32; 2],
    /// The calls inside, decorators included: a range of [`Outline::calls`].
    pub calls: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutlineKind {
    Class {
        /// The last part of each base that is a name or an attribute: `Module` for `nn.Module`.
        bases: Vec<Box<str>>,
    },
    Function,
    AsyncFunction,
}

#[derive(Clone, Debug, PartialEq)]
pub struct OutlineCall {
    /// The last part of what is called: `Conv2d` for `nn.Conv2d(...)`.
    pub name: Box<str>,
    /// A name is called, not an attribute.
    pub is_bare: bool,
    /// Keyword arguments in order; `**rest` is passed over.
    pub keywords: Vec<(Box<str>, ArgumentValue)>,
}

/// The value of a keyword argument, as far as it is written out.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgumentValue {
    /// A literal integer, float or truth value without a sign, as the nearest finite float.
    Number(f64),
    Tuple(Vec<Self>),
    /// Anything else, numbers beyond the range of floats included.
    Other,
}

/// Reads a text.
///
/// # Errors
/// The text does not parse.
pub fn outline(text: &str) -> Result<Outline, Diagnostic> {
    Ok(of_module(&parse::parse(text)?))
}

pub(super) fn of_module(module: &Module<'_>) -> Outline {
    let mut walk = Walk { lines: LineStarts::new(&module.text), outline: Outline::default() };
    walk.statements(&module.body);
    walk.outline
}

/// The offsets at which the lines of the parser's text start.
struct LineStarts(Vec<u32>);

impl LineStarts {
    fn new(text: &Text<'_>) -> Self {
        let newlines = text.as_str().bytes().zip(1_u32..).filter(|(byte, _)| *byte == b'\n').map(|(_, next)| next);
        Self(std::iter::once(0).chain(newlines).collect())
    }

    /// 1-based.
    fn line(&self, offset: u32) -> u32 {
        u32::try_from(self.0.partition_point(|start| *start <= offset)).expect("files are under 4 GiB")
    }
}

struct Walk {
    lines: LineStarts,
    outline: Outline,
}

impl Walk {
    /// Records a definition and visits what belongs to it.
    fn definition(&mut self, kind: OutlineKind, name: &str, span: Span, inside: impl FnOnce(&mut Self)) {
        let number = self.outline.definitions.len();
        let first_call = self.outline.calls.len();
        self.outline.definitions.push(OutlineDefinition {
            kind,
            name: normalized(name).into(),
            lines: [self.lines.line(span.start), self.lines.line(span.end)],
            calls: first_call..first_call,
        });
        inside(self);
        self.outline.definitions[number].calls.end = self.outline.calls.len();
    }

    fn statements(&mut self, statements: &[Stmt]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::FunctionDef(node) => {
                self.definition(OutlineKind::Function, &node.name, node.range.into(), |walk| {
                    walk.function(&node.args, &node.body, &node.decorator_list, node.returns.as_deref());
                });
            }
            Stmt::AsyncFunctionDef(node) => {
                self.definition(OutlineKind::AsyncFunction, &node.name, node.range.into(), |walk| {
                    walk.function(&node.args, &node.body, &node.decorator_list, node.returns.as_deref());
                });
            }
            Stmt::ClassDef(node) => {
                let bases = node.bases.iter().filter_map(last_part).map(Into::into).collect();
                self.definition(OutlineKind::Class { bases }, &node.name, node.range.into(), |walk| {
                    walk.expressions(&node.bases);
                    walk.keywords(&node.keywords);
                    walk.statements(&node.body);
                    walk.expressions(&node.decorator_list);
                });
            }
            Stmt::Return(node) => self.optional(node.value.as_deref()),
            Stmt::Delete(node) => self.expressions(&node.targets),
            Stmt::Assign(node) => {
                self.expressions(&node.targets);
                self.expression(&node.value);
            }
            Stmt::TypeAlias(node) => self.expression(&node.value),
            Stmt::AugAssign(node) => self.each([&*node.target, &*node.value]),
            Stmt::AnnAssign(node) => {
                self.each([&*node.target, &*node.annotation]);
                self.optional(node.value.as_deref());
            }
            Stmt::For(node) => self.loop_over(&node.target, &node.iter, &node.body, &node.orelse),
            Stmt::AsyncFor(node) => self.loop_over(&node.target, &node.iter, &node.body, &node.orelse),
            Stmt::While(node) => self.branches(&node.test, &node.body, &node.orelse),
            Stmt::If(node) => self.branches(&node.test, &node.body, &node.orelse),
            Stmt::With(node) => self.with(&node.items, &node.body),
            Stmt::AsyncWith(node) => self.with(&node.items, &node.body),
            Stmt::Match(node) => self.match_statement(node),
            Stmt::Raise(node) => self.each(node.exc.as_deref().into_iter().chain(node.cause.as_deref())),
            Stmt::Try(node) => self.try_statement(&node.body, &node.handlers, &node.orelse, &node.finalbody),
            Stmt::TryStar(node) => self.try_statement(&node.body, &node.handlers, &node.orelse, &node.finalbody),
            Stmt::Assert(node) => {
                self.expression(&node.test);
                self.optional(node.msg.as_deref());
            }
            Stmt::Expr(node) => self.expression(&node.value),
            Stmt::Import(_)
            | Stmt::ImportFrom(_)
            | Stmt::Global(_)
            | Stmt::Nonlocal(_)
            | Stmt::Pass(_)
            | Stmt::Break(_)
            | Stmt::Continue(_) => {}
        }
    }

    fn function(&mut self, arguments: &ast::Arguments, body: &[Stmt], decorators: &[Expr], returns: Option<&Expr>) {
        self.arguments(arguments);
        self.statements(body);
        self.expressions(decorators);
        self.optional(returns);
    }

    fn arguments(&mut self, arguments: &ast::Arguments) {
        let positional = || arguments.posonlyargs.iter().chain(&arguments.args);
        let keyword_only = &arguments.kwonlyargs;
        self.each(positional().filter_map(|argument| argument.def.annotation.as_deref()));
        self.each(arguments.vararg.iter().filter_map(|argument| argument.annotation.as_deref()));
        self.each(keyword_only.iter().filter_map(|argument| argument.def.annotation.as_deref()));
        self.each(keyword_only.iter().filter_map(|argument| argument.default.as_deref()));
        self.each(arguments.kwarg.iter().filter_map(|argument| argument.annotation.as_deref()));
        self.each(positional().filter_map(|argument| argument.default.as_deref()));
    }

    fn loop_over(&mut self, target: &Expr, iterable: &Expr, body: &[Stmt], otherwise: &[Stmt]) {
        self.each([target, iterable]);
        self.statements(body);
        self.statements(otherwise);
    }

    fn branches(&mut self, test: &Expr, body: &[Stmt], otherwise: &[Stmt]) {
        self.expression(test);
        self.statements(body);
        self.statements(otherwise);
    }

    fn with(&mut self, items: &[ast::WithItem], body: &[Stmt]) {
        for item in items {
            self.expression(&item.context_expr);
            self.optional(item.optional_vars.as_deref());
        }
        self.statements(body);
    }

    fn match_statement(&mut self, node: &ast::StmtMatch) {
        self.expression(&node.subject);
        for case in &node.cases {
            self.pattern(&case.pattern);
            self.optional(case.guard.as_deref());
            self.statements(&case.body);
        }
    }

    fn pattern(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::MatchValue(node) => self.expression(&node.value),
            Pattern::MatchSequence(node) => node.patterns.iter().for_each(|inner| self.pattern(inner)),
            Pattern::MatchMapping(node) => {
                self.expressions(&node.keys);
                node.patterns.iter().for_each(|inner| self.pattern(inner));
            }
            Pattern::MatchClass(node) => {
                self.expression(&node.cls);
                node.patterns.iter().chain(&node.kwd_patterns).for_each(|inner| self.pattern(inner));
            }
            Pattern::MatchAs(node) => node.pattern.iter().for_each(|inner| self.pattern(inner)),
            Pattern::MatchOr(node) => node.patterns.iter().for_each(|inner| self.pattern(inner)),
            Pattern::MatchSingleton(_) | Pattern::MatchStar(_) => {}
        }
    }

    fn try_statement(&mut self, body: &[Stmt], handlers: &[ast::ExceptHandler], otherwise: &[Stmt], finally: &[Stmt]) {
        self.statements(body);
        for ast::ExceptHandler::ExceptHandler(handler) in handlers {
            self.optional(handler.type_.as_deref());
            self.statements(&handler.body);
        }
        self.statements(otherwise);
        self.statements(finally);
    }

    fn expressions(&mut self, expressions: &[Expr]) {
        self.each(expressions);
    }

    fn optional(&mut self, expression: Option<&Expr>) {
        self.each(expression);
    }

    fn each<'e>(&mut self, expressions: impl IntoIterator<Item = &'e Expr>) {
        for expression in expressions {
            self.expression(expression);
        }
    }

    fn expression(&mut self, expression: &Expr) {
        match expression {
            Expr::BoolOp(node) => self.expressions(&node.values),
            Expr::NamedExpr(node) => self.each([&*node.target, &*node.value]),
            Expr::BinOp(node) => self.each([&*node.left, &*node.right]),
            Expr::UnaryOp(node) => self.expression(&node.operand),
            Expr::Lambda(node) => {
                self.arguments(&node.args);
                self.expression(&node.body);
            }
            Expr::IfExp(node) => self.each([&*node.test, &*node.body, &*node.orelse]),
            Expr::Dict(node) => {
                self.each(node.keys.iter().flatten());
                self.expressions(&node.values);
            }
            Expr::Set(node) => self.expressions(&node.elts),
            Expr::ListComp(node) => self.comprehension([&*node.elt], &node.generators),
            Expr::SetComp(node) => self.comprehension([&*node.elt], &node.generators),
            Expr::DictComp(node) => self.comprehension([&*node.key, &*node.value], &node.generators),
            Expr::GeneratorExp(node) => self.comprehension([&*node.elt], &node.generators),
            Expr::Await(node) => self.expression(&node.value),
            Expr::Yield(node) => self.optional(node.value.as_deref()),
            Expr::YieldFrom(node) => self.expression(&node.value),
            Expr::Compare(node) => {
                self.expression(&node.left);
                self.expressions(&node.comparators);
            }
            Expr::Call(node) => self.call(node),
            Expr::FormattedValue(node) => {
                self.expression(&node.value);
                self.optional(node.format_spec.as_deref());
            }
            Expr::JoinedStr(node) => self.expressions(&node.values),
            Expr::Attribute(node) => self.expression(&node.value),
            Expr::Subscript(node) => self.each([&*node.value, &*node.slice]),
            Expr::Starred(node) => self.expression(&node.value),
            Expr::List(node) => self.expressions(&node.elts),
            Expr::Tuple(node) => self.expressions(&node.elts),
            Expr::Slice(node) => {
                self.each([&node.lower, &node.upper, &node.step].into_iter().filter_map(Option::as_deref));
            }
            Expr::Constant(_) | Expr::Name(_) => {}
        }
    }

    fn comprehension<'e>(&mut self, elements: impl IntoIterator<Item = &'e Expr>, generators: &[ast::Comprehension]) {
        self.each(elements);
        for generator in generators {
            self.each([&generator.target, &generator.iter]);
            self.expressions(&generator.ifs);
        }
    }

    fn call(&mut self, node: &ast::ExprCall) {
        if let Some(name) = last_part(&node.func) {
            let keywords = node.keywords.iter().filter_map(|keyword| {
                let name = normalized(keyword.arg.as_ref()?);
                Some((name.into(), argument_value(&keyword.value)))
            });
            self.outline.calls.push(OutlineCall {
                name: name.into(),
                is_bare: node.func.is_name_expr(),
                keywords: keywords.collect(),
            });
        }
        self.expression(&node.func);
        self.expressions(&node.args);
        self.keywords(&node.keywords);
    }

    fn keywords(&mut self, keywords: &[ast::Keyword]) {
        self.each(keywords.iter().map(|keyword| &keyword.value));
    }
}

fn last_part(expression: &Expr) -> Option<std::borrow::Cow<'_, str>> {
    match expression {
        Expr::Attribute(node) => Some(normalized(&node.attr)),
        Expr::Name(node) => Some(normalized(&node.id)),
        _ => None,
    }
}

fn argument_value(expression: &Expr) -> ArgumentValue {
    match expression {
        Expr::Tuple(node) => ArgumentValue::Tuple(node.elts.iter().map(argument_value).collect()),
        Expr::Constant(node) => match number(&node.value) {
            Some(number) if number.is_finite() => ArgumentValue::Number(number),
            _ => ArgumentValue::Other,
        },
        _ => ArgumentValue::Other,
    }
}

fn number(constant: &Constant) -> Option<f64> {
    match constant {
        Constant::Bool(value) => Some(f64::from(u8::from(*value))),
        Constant::Float(value) => Some(*value),
        // Through its digits, which is rounded correctly, as it is in CPython.
        Constant::Int(value) => Some(value.to_string().parse().expect("an integer is a number")),
        Constant::None
        | Constant::Str(_)
        | Constant::Bytes(_)
        | Constant::Tuple(_)
        | Constant::Complex { .. }
        | Constant::Ellipsis => None,
    }
}
