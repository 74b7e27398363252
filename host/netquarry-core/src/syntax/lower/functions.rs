//! Functions: their scopes, and their facts where the module or a class of it has them.

use rustpython_parser::ast::{self, Ranged};

use super::expressions::lazy;
use super::{Context, Lowerer, is_docstring, is_string};
use crate::facts::{
    BindingKind, Decorator, FunctionFacts, MutationKind, Parameter, ParameterKind, Role, ScopeId, ScopeKind,
};
use crate::source::TextRange;
use crate::syntax::scopes::MODULE;
use crate::syntax::text::Span;

/// What `def` and `async def` have in common.
struct Function<'a> {
    span: Span,
    name: &'a ast::Identifier,
    arguments: &'a ast::Arguments,
    body: &'a [ast::Stmt],
    decorators: &'a [ast::Expr],
    returns: Option<&'a ast::Expr>,
    type_parameters: &'a [ast::TypeParam],
    is_async: bool,
}

impl<'a> Function<'a> {
    fn new(statement: &'a ast::Stmt) -> Self {
        match statement {
            ast::Stmt::FunctionDef(function) => Self {
                span: function.range.into(),
                name: &function.name,
                arguments: &function.args,
                body: &function.body,
                decorators: &function.decorator_list,
                returns: function.returns.as_deref(),
                type_parameters: &function.type_params,
                is_async: false,
            },
            ast::Stmt::AsyncFunctionDef(function) => Self {
                span: function.range.into(),
                name: &function.name,
                arguments: &function.args,
                body: &function.body,
                decorators: &function.decorator_list,
                returns: function.returns.as_deref(),
                type_parameters: &function.type_params,
                is_async: true,
            },
            _ => unreachable!("the caller passes functions"),
        }
    }
}

impl Lowerer<'_> {
    pub(super) fn function(&mut self, statement: &ast::Stmt) {
        let function = Function::new(statement);
        let name_span = self.text.definition_name(function.span.start);
        self.binding_at(function.span.end, |lowerer| {
            lowerer.bind(function.name, name_span, BindingKind::Function);
        });
        self.collect_function(&function, name_span);
        self.defaults(function.arguments);
        let outer = self.context;
        if let Some(scope) = self.open_type_parameters(function.span, function.type_parameters) {
            self.context.scope = scope;
        }
        self.annotations(&function);
        let inner = std::mem::replace(&mut self.context, outer);
        self.decorators(function.decorators);
        self.context = inner;
        if outer.scope == MODULE {
            self.context.function = Some(self.mangled(function.name));
        }
        self.function_body(&function);
        self.context = outer;
    }

    fn function_body(&mut self, function: &Function<'_>) {
        let scope = self.open_scope(ScopeKind::Function, function.name, function.span);
        let context = Context {
            scope,
            evaluation: lazy(self.context.evaluation),
            in_function: true,
            in_arguments: false,
            ..self.context
        };
        let guards = std::mem::take(&mut self.guards);
        self.within(context, |lowerer| {
            lowerer.parameters(function.arguments);
            lowerer.suite(function.body);
        });
        self.guards = guards;
    }

    fn collect_function(&mut self, function: &Function<'_>, name_span: Span) {
        let scope = self.context.scope;
        if scope == MODULE {
            let facts = self.function_facts(function, name_span);
            self.draft.statement.functions.push(facts);
        } else if self.context.collecting == Some(scope) {
            let facts = self.function_facts(function, name_span);
            self.draft.methods.push(facts);
        }
    }

    fn function_facts(&mut self, function: &Function<'_>, name_span: Span) -> FunctionFacts {
        let span = self.decorated_span(function.span, function.decorators);
        FunctionFacts {
            name: self.mangled(function.name),
            name_range: self.text.original_range(name_span),
            range: self.text.original_range(span),
            parameters: self.parameter_facts(function.arguments),
            decorators: self.decorator_facts(function.decorators),
            returns: function.returns.map(|returns| self.range(returns)),
            docstring: self.docstring(function.body),
            is_async: function.is_async,
            is_stub: is_stub(function.body),
        }
    }

    fn parameter_facts(&mut self, arguments: &ast::Arguments) -> Vec<Parameter> {
        let mut parameters = Vec::new();
        let mut add = |argument: &ast::Arg, default: Option<&ast::Expr>, kind| {
            parameters.push(Parameter {
                name: self.names.mangled(&argument.arg, self.context.class),
                kind,
                annotation: argument.annotation.as_deref().map(|annotation| self.range(annotation)),
                default: default.map(|default| self.range(default)),
            });
        };
        for argument in &arguments.posonlyargs {
            add(&argument.def, argument.default.as_deref(), ParameterKind::PositionalOnly);
        }
        for argument in &arguments.args {
            add(&argument.def, argument.default.as_deref(), ParameterKind::PositionalOrKeyword);
        }
        if let Some(argument) = &arguments.vararg {
            add(argument, None, ParameterKind::Variadic);
        }
        for argument in &arguments.kwonlyargs {
            add(&argument.def, argument.default.as_deref(), ParameterKind::KeywordOnly);
        }
        if let Some(argument) = &arguments.kwarg {
            add(argument, None, ParameterKind::VariadicKeyword);
        }
        parameters
    }

    pub(super) fn defaults(&mut self, arguments: &ast::Arguments) {
        for argument in all_with_defaults(arguments) {
            self.optional_value(argument.default.as_deref());
        }
    }

    fn annotations(&mut self, function: &Function<'_>) {
        let arguments = function.arguments;
        let positional = arguments.posonlyargs.iter().chain(&arguments.args).map(|argument| &argument.def);
        let variadic = arguments.vararg.iter().chain(&arguments.kwarg).map(|argument| &**argument);
        let keyword = arguments.kwonlyargs.iter().map(|argument| &argument.def);
        let parameters = positional.chain(variadic).chain(keyword);
        let annotations = parameters.filter_map(|argument| argument.annotation.as_deref()).chain(function.returns);
        for annotation in annotations {
            self.draft_annotation(annotation);
            self.annotation(annotation);
        }
    }

    pub(super) fn parameters(&mut self, arguments: &ast::Arguments) {
        for argument in all_with_defaults(arguments) {
            self.parameter(&argument.def);
            if let Some(default) = &argument.default {
                let value = self.written(default);
                self.note_local_value(&argument.def.arg, value);
            }
        }
        for argument in arguments.vararg.iter().chain(&arguments.kwarg) {
            self.parameter(argument);
        }
    }

    fn parameter(&mut self, argument: &ast::Arg) {
        let symbol = self.mangled(&argument.arg);
        let entry = self.scopes.entry_mut(self.context.scope, symbol);
        entry.parameter = true;
        entry.binders += 1;
    }

    /// The scope that type parameters have around a function, class or alias, as CPython 3.12 has it.
    pub(super) fn open_type_parameters(&mut self, span: Span, parameters: &[ast::TypeParam]) -> Option<ScopeId> {
        if parameters.is_empty() {
            return None;
        }
        let scope = self.open_scope(ScopeKind::TypeParameters, "type parameters", span);
        self.within(Context { scope, ..self.context }, |lowerer| {
            for parameter in parameters {
                let (name, bound) = match parameter {
                    ast::TypeParam::TypeVar(parameter) => (&parameter.name, parameter.bound.as_deref()),
                    ast::TypeParam::ParamSpec(parameter) => (&parameter.name, None),
                    ast::TypeParam::TypeVarTuple(parameter) => (&parameter.name, None),
                };
                lowerer.bind(name, parameter.range().into(), BindingKind::Assignment);
                // Bounds are evaluated when somebody asks for them.
                let context = Context { evaluation: lazy(lowerer.context.evaluation), ..lowerer.context };
                lowerer.within(context, |lowerer| lowerer.optional_value(bound));
            }
        });
        Some(scope)
    }

    pub(super) fn decorators(&mut self, decorators: &[ast::Expr]) {
        for decorator in decorators {
            let path = match decorator {
                ast::Expr::Call(call) => &*call.func,
                other => other,
            };
            if let (ast::Expr::Attribute(_), false) = (path, self.context.in_function) {
                self.mutation(path, MutationKind::Decorator);
            }
            self.expression(decorator, Role::Decorator);
        }
    }

    pub(super) fn decorator_facts(&mut self, decorators: &[ast::Expr]) -> Vec<Decorator> {
        let decorator = |decorator: &ast::Expr| {
            let call = match decorator {
                ast::Expr::Call(call) => Some(call),
                _ => None,
            };
            let path = call.map_or(decorator, |call| &call.func);
            Decorator {
                path: self.dotted(path),
                range: self.range(decorator),
                called: call.is_some(),
                strings: call.map(|call| self.string_arguments(call)).unwrap_or_default(),
            }
        };
        decorators.iter().map(decorator).collect()
    }

    fn string_arguments(&mut self, call: &ast::ExprCall) -> Vec<(Option<crate::facts::Symbol>, Box<str>)> {
        let positional = call.args.iter().map(|argument| (None, argument));
        let keywords = call.keywords.iter().map(|keyword| (keyword.arg.as_ref(), &keyword.value));
        positional
            .chain(keywords)
            .filter_map(|(name, value)| match value {
                ast::Expr::Constant(ast::ExprConstant { value: ast::Constant::Str(text), .. }) => {
                    Some((name.map(|name| self.names.identifier(name)), text.as_str().into()))
                }
                _ => None,
            })
            .collect()
    }

    pub(super) fn range(&self, expression: &ast::Expr) -> TextRange {
        self.text.original_range(expression.range().into())
    }

    pub(super) fn docstring(&self, body: &[ast::Stmt]) -> Option<TextRange> {
        match body.first() {
            Some(ast::Stmt::Expr(statement)) if is_string(&statement.value) => Some(self.range(&statement.value)),
            _ => None,
        }
    }
}

fn all_with_defaults(arguments: &ast::Arguments) -> impl Iterator<Item = &ast::ArgWithDefault> {
    arguments.posonlyargs.iter().chain(&arguments.args).chain(&arguments.kwonlyargs)
}

/// Whether a body does nothing but raise NotImplementedError.
fn is_stub(body: &[ast::Stmt]) -> bool {
    body.iter().all(|statement| match statement {
        ast::Stmt::Pass(_) => true,
        ast::Stmt::Expr(expression) => {
            is_docstring(statement)
                || matches!(&*expression.value, ast::Expr::Constant(constant) if constant.value.is_ellipsis())
        }
        ast::Stmt::Raise(raise) => {
            let exception = match raise.exc.as_deref() {
                Some(ast::Expr::Call(call)) => Some(&*call.func),
                exception => exception,
            };
            matches!(exception, Some(ast::Expr::Name(name)) if name.id.as_str() == "NotImplementedError")
        }
        _ => false,
    })
}
