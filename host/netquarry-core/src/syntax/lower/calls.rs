//! Calls, and the few functions whose string arguments name things.

use rustpython_parser::ast::{self, Ranged};

use super::{Context, Lookup, Lowerer};
use crate::facts::{Access, Call, MutationKind, Role};
use crate::syntax::text::Span;

impl Lowerer<'_> {
    pub(super) fn call(&mut self, call: &ast::ExprCall, role: Role) {
        let role = if role == Role::Decorator { Role::Decorator } else { Role::Callee };
        if is_dotted_name(&call.func) {
            let callee = self.text.original(call.func.start().into());
            let range = self.text.original_range(call.range.into());
            self.draft.statement.calls.push(Call { callee, range, statement_in: None });
        }
        self.keys_of_call(call);
        if let (ast::Expr::Attribute(method), Some(_)) = (&*call.func, self.context.function)
            && method.attr.as_str() == "setdefault"
        {
            // Whoever keeps the result may change what hangs there: `kinds = TABLE.setdefault(name, {})`.
            self.mutation(&call.func, MutationKind::Method);
        }
        self.expression(&call.func, role);
        let context = Context { in_arguments: true, in_annotation: false, ..self.context };
        self.within(context, |lowerer| {
            for argument in &call.args {
                lowerer.expression(argument, Role::Argument);
            }
            for keyword in &call.keywords {
                if let Some(name) = &keyword.arg {
                    lowerer.names.identifier(name);
                }
                lowerer.expression(&keyword.value, Role::Argument);
            }
        });
        for argument in type_strings(call) {
            self.quoted_annotation(argument);
        }
    }

    /// A statement that is a call changes the object whose method it calls, or what its strings name.
    pub(super) fn call_statement(&mut self, call: &ast::ExprCall) {
        if let ast::Expr::Attribute(_) = &*call.func {
            self.mutation(&call.func, MutationKind::Method);
        }
        if self.set_attribute(call) || self.context.in_function {
            return;
        }
        for argument in &call.args {
            let Some(span) = string_constant(argument).and_then(|constant| self.string_content(constant)) else {
                continue;
            };
            let content = self.text.slice(span);
            if is_identifier(content) {
                let root = self.names.identifier(content);
                self.changes(root, Vec::new(), MutationKind::Quoted);
                self.note_use(root, span, Access::Load, Role::Argument, Lookup::QuotedIfBound);
            }
        }
    }

    /// `setattr(Foo, "bar", x)` is `Foo.bar = x`.
    fn set_attribute(&mut self, call: &ast::ExprCall) -> bool {
        let is_setter =
            matches!(&*call.func, ast::Expr::Name(name) if matches!(name.id.as_str(), "setattr" | "delattr"));
        let (true, [object, name, ..]) = (is_setter, call.args.as_slice()) else {
            return false;
        };
        let Some(ast::Constant::Str(name)) = string_constant(name).map(|constant| &constant.value) else {
            return false;
        };
        let before = self.draft.mutations.len();
        self.mutation(object, MutationKind::Attribute);
        if let Some(mutation) = self.draft.mutations.get_mut(before)
            && mutation.kind == MutationKind::Attribute
        {
            mutation.path.push(self.names.identifier(name));
        }
        true
    }

    /// The text of the key in `globals()["name"]`.
    pub(super) fn globals_key(&self, subscript: &ast::ExprSubscript) -> Option<Span> {
        let ast::Expr::Call(call) = &*subscript.value else {
            return None;
        };
        let is_globals = matches!(&*call.func, ast::Expr::Name(name) if name.id.as_str() == "globals");
        let key = string_constant(&subscript.slice).filter(|_| is_globals && call.args.is_empty())?;
        self.string_content(key).filter(|span| is_identifier(self.text.slice(*span)))
    }

    /// Where the content of a string literal stands; `None` where the text spells it in another way, by escapes or in
    /// several parts.
    pub(super) fn string_content(&self, constant: &ast::ExprConstant) -> Option<Span> {
        let ast::Constant::Str(value) = &constant.value else {
            return None;
        };
        let span = Span::from(constant.range);
        let literal = self.text.slice(span);
        let quoted = literal.trim_start_matches(['r', 'R', 'u', 'U']);
        let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| quoted.starts_with(quote))?;
        let content = quoted.strip_prefix(quote)?.strip_suffix(quote)?;
        if content != value || content.contains('\\') {
            return None;
        }
        let before = u32::try_from(literal.len() - quoted.len() + quote.len()).expect("files are under 4 GiB");
        let start = span.start + before;
        Some(Span { start, end: start + u32::try_from(content.len()).expect("files are under 4 GiB") })
    }
}

pub(super) fn string_constant(expression: &ast::Expr) -> Option<&ast::ExprConstant> {
    match expression {
        ast::Expr::Constant(constant) if constant.value.is_str() => Some(constant),
        _ => None,
    }
}

fn is_dotted_name(expression: &ast::Expr) -> bool {
    match expression {
        ast::Expr::Name(_) => true,
        ast::Expr::Attribute(attribute) => is_dotted_name(&attribute.value),
        _ => false,
    }
}

pub(super) fn is_identifier(text: &str) -> bool {
    let starts = text.chars().next().is_some_and(|first| first == '_' || first.is_alphabetic());
    starts && text.chars().all(|character| character == '_' || character.is_alphanumeric())
}

/// The string arguments that are types: `cast("Foo", x)`, `TypeVar("T", "Foo", bound="Foo")`, `NewType("N", "Foo")`.
fn type_strings(call: &ast::ExprCall) -> Vec<&ast::ExprConstant> {
    let name = match &*call.func {
        ast::Expr::Name(name) => name.id.as_str(),
        ast::Expr::Attribute(attribute) => attribute.attr.as_str(),
        _ => return Vec::new(),
    };
    let arguments: &[ast::Expr] = match name {
        "cast" => call.args.get(..1).unwrap_or_default(),
        "TypeVar" | "NewType" => call.args.get(1..).unwrap_or_default(),
        _ => return Vec::new(),
    };
    let is_bound = |keyword: &&ast::Keyword| keyword.arg.as_ref().is_some_and(|name| name.as_str() == "bound");
    let bounds = call.keywords.iter().filter(is_bound).map(|keyword| &keyword.value);
    arguments.iter().chain(bounds).filter_map(string_constant).collect()
}
