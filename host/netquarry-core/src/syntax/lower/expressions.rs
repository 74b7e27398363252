//! Expressions.

use rustpython_parser::ast::{self, Ranged};

use super::{Context, Lookup, Lowerer, Use};
use crate::facts::{Access, Assigns, Attribute, BindingKind, Evaluation, Role, ScopeKind};
use crate::syntax::text::Span;

impl Lowerer<'_> {
    /// An expression of which nothing is known but whether it is inside an argument.
    pub(super) fn value(&mut self, expression: &ast::Expr) {
        self.expression(expression, self.plain_role());
    }

    pub(super) fn optional_value(&mut self, expression: Option<&ast::Expr>) {
        if let Some(expression) = expression {
            self.value(expression);
        }
    }

    fn plain_role(&self) -> Role {
        if self.context.in_arguments { Role::Argument } else { Role::Value }
    }

    fn values(&mut self, expressions: &[ast::Expr]) {
        expressions.iter().for_each(|expression| self.value(expression));
    }

    /// `role` is that of the object which the expression gives, and so of the name from which it is read.
    pub(super) fn expression(&mut self, expression: &ast::Expr, role: Role) {
        match expression {
            ast::Expr::Name(_) | ast::Expr::Attribute(_) => self.attribute(expression, role, Assigns::Nothing),
            ast::Expr::Call(call) => self.call(call, role),
            ast::Expr::Subscript(subscript) => self.subscript(subscript, role),
            ast::Expr::Constant(constant) => self.constant(constant),
            ast::Expr::BoolOp(operation) => {
                operation.values.iter().for_each(|value| self.expression(value, role));
            }
            ast::Expr::NamedExpr(named) => self.walrus(named, role),
            ast::Expr::BinOp(operation) => {
                self.value(&operation.left);
                self.value(&operation.right);
            }
            ast::Expr::UnaryOp(operation) => self.value(&operation.operand),
            ast::Expr::Lambda(lambda) => self.lambda(lambda),
            ast::Expr::IfExp(conditional) => {
                self.value(&conditional.test);
                self.expression(&conditional.body, role);
                self.expression(&conditional.orelse, role);
            }
            ast::Expr::Dict(dict) => {
                self.keys_of_dictionary(dict);
                dict.keys.iter().flatten().for_each(|key| self.value(key));
                self.values(&dict.values);
            }
            ast::Expr::Set(set) => self.values(&set.elts),
            ast::Expr::List(list) => self.values(&list.elts),
            ast::Expr::Tuple(tuple) => self.values(&tuple.elts),
            ast::Expr::ListComp(comprehension) => {
                self.comprehension(
                    "listcomp",
                    comprehension.range.into(),
                    &comprehension.generators,
                    &[&comprehension.elt],
                );
            }
            ast::Expr::SetComp(comprehension) => {
                self.comprehension(
                    "setcomp",
                    comprehension.range.into(),
                    &comprehension.generators,
                    &[&comprehension.elt],
                );
            }
            ast::Expr::GeneratorExp(comprehension) => {
                self.comprehension(
                    "genexpr",
                    comprehension.range.into(),
                    &comprehension.generators,
                    &[&comprehension.elt],
                );
            }
            ast::Expr::DictComp(comprehension) => {
                self.comprehension(
                    "dictcomp",
                    comprehension.range.into(),
                    &comprehension.generators,
                    &[&comprehension.value, &comprehension.key],
                );
            }
            ast::Expr::Await(await_) => self.expression(&await_.value, role),
            ast::Expr::Yield(yield_) => self.optional_value(yield_.value.as_deref()),
            ast::Expr::YieldFrom(yield_) => self.value(&yield_.value),
            ast::Expr::Compare(comparison) => {
                self.value(&comparison.left);
                self.values(&comparison.comparators);
            }
            ast::Expr::FormattedValue(formatted) => {
                self.value(&formatted.value);
                self.optional_value(formatted.format_spec.as_deref());
            }
            ast::Expr::JoinedStr(joined) => self.values(&joined.values),
            ast::Expr::Starred(starred) => self.expression(&starred.value, role),
            ast::Expr::Slice(slice) => {
                self.optional_value(slice.lower.as_deref());
                self.optional_value(slice.upper.as_deref());
                self.optional_value(slice.step.as_deref());
            }
        }
    }

    fn constant(&mut self, constant: &ast::ExprConstant) {
        if self.context.in_annotation {
            self.quoted_annotation(constant);
        } else {
            self.key_by_itself(constant);
        }
    }

    /// A name and the attributes that are read off it, and what of that is assigned to.
    pub(super) fn attribute(&mut self, expression: &ast::Expr, role: Role, assigns: Assigns) {
        let start = self.attributes.len();
        let mut current = expression;
        while let ast::Expr::Attribute(attribute) = current {
            let name = self.names.identifier(&attribute.attr);
            let end = self.text.original(attribute.end().into());
            self.attributes.push(Attribute { name, end });
            current = &attribute.value;
        }
        if let ast::Expr::Name(name) = current {
            self.attributes[start..].reverse();
            let index = |position: usize| u32::try_from(position).expect("a file has fewer attributes than bytes");
            self.read(name, (index(start), index(self.attributes.len())), assigns, role);
        } else {
            self.attributes.truncate(start);
            self.expression(current, role);
        }
    }

    fn read(&mut self, name: &ast::ExprName, path: (u32, u32), assigns: Assigns, role: Role) {
        let symbol = self.mangled(&name.id);
        let scope = self.context.scope;
        let kind = self.scopes.scope(scope).kind;
        if self.records() {
            self.scopes.entry_mut(scope, symbol).referenced = true;
            // The zero-argument form finds its class through this cell.
            if name.id.as_str() == "super" && is_function(kind) {
                self.scopes.entry_mut(scope, self.class_cell).referenced = true;
            }
        }
        let start = Span::from(name.range).start;
        let is_bound =
            || self.scopes.entry(scope, symbol).and_then(|entry| entry.bound_from).is_some_and(|at| at <= start);
        let lookup = if self.context.quoted {
            Lookup::Quoted
        } else if kind == ScopeKind::Class && !is_bound() {
            Lookup::BeforeBinding
        } else {
            Lookup::Scopes
        };
        self.draft.uses.push(Use {
            name: symbol,
            span: name.range.into(),
            path,
            assigns,
            scope,
            access: Access::Load,
            evaluation: self.context.evaluation,
            role,
            lookup,
        });
    }

    fn subscript(&mut self, subscript: &ast::ExprSubscript, role: Role) {
        self.expression(&subscript.value, role);
        if let Some(span) = self.globals_key(subscript) {
            let name = self.names.identifier(self.text.slice(span));
            self.note_use(name, span, Access::Load, role, Lookup::QuotedGlobals);
        } else {
            self.type_arguments(subscript);
        }
    }

    fn walrus(&mut self, named: &ast::ExprNamedExpr, role: Role) {
        let ast::Expr::Name(target) = &*named.target else {
            unreachable!("only names stand before a walrus");
        };
        let scope = self.context.scope;
        let symbol = self.mangled(&target.id);
        let host = if self.records() { self.scopes.hoist(scope, symbol) } else { scope };
        self.expression(&named.value, role);
        if self.records() {
            self.scopes.entry_mut(scope, symbol).assigned = true;
            let end = Span::from(named.range).end;
            let entry = self.scopes.entry_mut(host, symbol);
            entry.binders += 1;
            entry.bound_from.get_or_insert(end);
        }
        self.bind_global(symbol, host, target.range.into(), BindingKind::Capture);
    }

    fn lambda(&mut self, lambda: &ast::ExprLambda) {
        self.defaults(&lambda.args);
        let scope = self.open_scope(ScopeKind::Lambda, "lambda", lambda.range.into());
        let context = Context { scope, evaluation: lazy(self.context.evaluation), in_function: true, ..self.context };
        self.within(context, |lowerer| {
            lowerer.parameters(&lambda.args);
            lowerer.value(&lambda.body);
        });
    }

    /// The first iterable is evaluated outside.
    fn comprehension(&mut self, name: &str, span: Span, generators: &[ast::Comprehension], elements: &[&ast::Expr]) {
        let [first, rest @ ..] = generators else {
            unreachable!("a comprehension has a `for`");
        };
        self.value(&first.iter);
        let scope = self.open_scope(ScopeKind::Comprehension, name, span);
        self.within(Context { scope, ..self.context }, |lowerer| {
            let iterator = lowerer.names.intern(".0");
            lowerer.scopes.entry_mut(scope, iterator).parameter = true;
            lowerer.target(&first.target, BindingKind::Capture);
            let value = lowerer.first_of(&first.iter);
            lowerer.note_local_values(&first.target, value);
            lowerer.values(&first.ifs);
            for generator in rest {
                lowerer.target(&generator.target, BindingKind::Capture);
                let value = lowerer.first_of(&generator.iter);
                lowerer.note_local_values(&generator.target, value);
                lowerer.value(&generator.iter);
                lowerer.values(&generator.ifs);
            }
            elements.iter().for_each(|element| lowerer.value(element));
        });
    }
}

/// How the body of a function or lambda is evaluated that is defined under `outer`.
pub(super) fn lazy(outer: Evaluation) -> Evaluation {
    if outer == Evaluation::Never { Evaluation::Never } else { Evaluation::Lazy }
}

/// Whether `symtable` calls a scope a function.
fn is_function(kind: ScopeKind) -> bool {
    matches!(kind, ScopeKind::Function | ScopeKind::Lambda | ScopeKind::Comprehension)
}
