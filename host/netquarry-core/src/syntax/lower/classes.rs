//! Classes.

use rustpython_parser::ast::{self, Ranged};

use super::{Context, Lowerer, length};
use crate::facts::{BindingKind, ClassFacts, Guard, Member, Operand, Role, ScopeId, ScopeKind, Suite, Symbol};
use crate::syntax::scopes::MODULE;
use crate::syntax::text::Span;

impl Lowerer<'_> {
    pub(super) fn class(&mut self, class: &ast::StmtClassDef) {
        let span = Span::from(class.range);
        let name_span = self.text.definition_name(span.start);
        self.binding_at(span.end, |lowerer| {
            lowerer.bind(&class.name, name_span, BindingKind::Class);
        });
        let outer = self.context;
        if let Some(scope) = self.open_type_parameters(span, &class.type_params) {
            self.context.scope = scope;
        }
        for base in &class.bases {
            self.expression(base, Role::Base);
        }
        for keyword in &class.keywords {
            self.expression(&keyword.value, Role::Base);
        }
        let inner = std::mem::replace(&mut self.context, outer);
        self.decorators(&class.decorator_list);
        self.context = inner;
        let scope = self.open_scope(ScopeKind::Class, &class.name, span);
        let collects = outer.scope == MODULE;
        let name = self.names.identifier(&class.name);
        let context = Context {
            scope,
            in_arguments: false,
            class: Some(name),
            collecting: collects.then_some(scope),
            ..self.context
        };
        // The number that the suite is about to get.
        let suite = Suite { id: self.suites + 1, length: length(&class.body) };
        self.within(context, |lowerer| lowerer.guarded_suite(Guard::Class, &class.body));
        self.context = outer;
        if collects {
            let facts = self.class_facts(class, name_span, scope, suite);
            self.draft.statement.classes.push(facts);
        }
    }

    fn class_facts(&mut self, class: &ast::StmtClassDef, name_span: Span, scope: ScopeId, suite: Suite) -> ClassFacts {
        let methods = std::mem::take(&mut self.draft.methods);
        let is_attribute = |name: &Symbol| {
            let entry = self.scopes.entry(scope, *name);
            let is_bound = entry.is_some_and(|entry| entry.is_bound() && !entry.declared_global);
            is_bound && methods.iter().all(|method| method.name != *name)
        };
        let attributes = self.scopes.scope(scope).symbols.iter().copied().filter(is_attribute).collect();
        let span = self.decorated_span(class.range.into(), &class.decorator_list);
        ClassFacts {
            name: self.mangled(&class.name),
            name_range: self.text.original_range(name_span),
            range: self.text.original_range(span),
            bases: class.bases.iter().map(|base| self.operand(base)).collect(),
            keywords: self.class_keywords(&class.keywords),
            decorators: self.decorator_facts(&class.decorator_list),
            methods,
            attributes,
            members: self.members(&class.body),
            suite,
            docstring: self.docstring(&class.body),
            conditional: self.context.conditional,
        }
    }

    fn members(&mut self, body: &[ast::Stmt]) -> Vec<Member> {
        // Of the statement, which has parentheses that the string itself may stand in.
        let statement = body.first().filter(|_| self.docstring(body).is_some());
        let range = statement.map(|statement| self.text.original_range(statement.range().into()));
        let documentation = range.map(|range| Member { name: self.names.identifier("__doc__"), range });
        documentation.into_iter().chain(body.iter().filter_map(|statement| self.member(statement))).collect()
    }

    fn member(&mut self, statement: &ast::Stmt) -> Option<Member> {
        let (name, span) = match statement {
            ast::Stmt::FunctionDef(method) => {
                (&*method.name, self.decorated_span(method.range.into(), &method.decorator_list))
            }
            ast::Stmt::AsyncFunctionDef(method) => {
                (&*method.name, self.decorated_span(method.range.into(), &method.decorator_list))
            }
            ast::Stmt::AnnAssign(assignment) => (name_of(&assignment.target)?, assignment.range.into()),
            ast::Stmt::Assign(assignment) => match assignment.targets.as_slice() {
                [target] => (name_of(target)?, assignment.range.into()),
                _ => return None,
            },
            _ => return None,
        };
        Some(Member { name: self.names.identifier(name), range: self.text.original_range(span) })
    }

    /// `**options` has no name and is left out.
    fn class_keywords(&mut self, keywords: &[ast::Keyword]) -> Vec<(Symbol, Operand)> {
        let named = keywords.iter().filter_map(|keyword| keyword.arg.as_ref().map(|name| (name, &keyword.value)));
        named.map(|(name, value)| (self.names.identifier(name), self.operand(value))).collect()
    }

    fn operand(&mut self, expression: &ast::Expr) -> Operand {
        let path = match expression {
            ast::Expr::Call(call) => &*call.func,
            ast::Expr::Subscript(subscript) => &*subscript.value,
            other => other,
        };
        Operand { path: self.dotted(path), range: self.text.original_range(expression.range().into()) }
    }

    /// The symbol of a name or of a dotted path.
    pub(super) fn dotted(&mut self, expression: &ast::Expr) -> Option<Symbol> {
        if let ast::Expr::Name(name) = expression {
            return Some(self.mangled(&name.id));
        }
        let mut parts = Vec::new();
        let mut current = expression;
        while let ast::Expr::Attribute(attribute) = current {
            parts.push(attribute.attr.as_str());
            current = &attribute.value;
        }
        let ast::Expr::Name(root) = current else {
            return None;
        };
        parts.push(&root.id);
        parts.reverse();
        Some(self.names.identifier(&parts.join(".")))
    }
}

fn name_of(target: &ast::Expr) -> Option<&str> {
    match target {
        ast::Expr::Name(name) => Some(name.id.as_str()),
        _ => None,
    }
}
