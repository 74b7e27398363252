//! Annotations, and the names inside string literals that stand for types.

use rustpython_parser::ast::{self, Ranged};

use super::{Context, Lowerer, is_string};
use crate::facts::Evaluation;
use crate::syntax::parse::parse_expression;

/// Generic types of `typing` that people subscript with strings outside of annotations: `Alias = Optional["Foo"]`.
const GENERICS: [&str; 17] = [
    "Callable",
    "ClassVar",
    "Dict",
    "Final",
    "FrozenSet",
    "Iterable",
    "Iterator",
    "List",
    "Mapping",
    "Optional",
    "Sequence",
    "Set",
    "Tuple",
    "Type",
    "TypeGuard",
    "Union",
    "Unpack",
];

impl Lowerer<'_> {
    /// With `from __future__ import annotations`, `symtable` does not see what stands in annotations.
    pub(super) fn annotation(&mut self, annotation: &ast::Expr) {
        let context = Context {
            evaluation: annotated(self.context.evaluation),
            recorded: self.context.recorded && !self.future_annotations,
            in_annotation: true,
            ..self.context
        };
        self.within(context, |lowerer| lowerer.value(annotation));
    }

    /// Notes the place of an annotation that Python evaluates.
    pub(super) fn draft_annotation(&mut self, annotation: &ast::Expr) {
        if !is_string(annotation) {
            let range = self.text.original_range(annotation.range().into());
            self.draft.statement.annotations.push(range);
        }
    }

    /// A string literal in an annotation names types, and stands for code that runs on demand only.
    pub(super) fn quoted_annotation(&mut self, constant: &ast::ExprConstant) {
        let Some(span) = self.string_content(constant) else {
            return;
        };
        let Some(expression) = parse_expression(self.text.slice(span), span.start) else {
            return;
        };
        let context = Context {
            evaluation: Evaluation::Never,
            recorded: false,
            in_annotation: true,
            quoted: true,
            // Private names are mangled in code, not in strings.
            class: None,
            ..self.context
        };
        self.within(context, |lowerer| lowerer.value(&expression));
    }

    /// The arguments of a generic type: in `Literal["a"]` and behind the first of `Annotated[int, "a"]` strings are
    /// only strings.
    pub(super) fn type_arguments(&mut self, subscript: &ast::ExprSubscript) {
        let name = match &*subscript.value {
            ast::Expr::Name(name) => name.id.as_str(),
            ast::Expr::Attribute(attribute) => attribute.attr.as_str(),
            _ => "",
        };
        let plain = Context { in_annotation: false, ..self.context };
        let types = Context { in_annotation: true, ..self.context };
        match (name, &*subscript.slice) {
            ("Literal", slice) => self.within(plain, |lowerer| lowerer.value(slice)),
            ("Annotated", ast::Expr::Tuple(arguments)) => {
                for (index, argument) in arguments.elts.iter().enumerate() {
                    let context = if index == 0 { self.context } else { plain };
                    self.within(context, |lowerer| lowerer.value(argument));
                }
            }
            (_, slice) if GENERICS.contains(&name) => self.within(types, |lowerer| lowerer.value(slice)),
            (_, slice) => self.value(slice),
        }
    }
}

/// How an annotation is evaluated that stands under `outer`.
pub(super) fn annotated(outer: Evaluation) -> Evaluation {
    match outer {
        Evaluation::Eager | Evaluation::EagerAnnotation => Evaluation::EagerAnnotation,
        Evaluation::Lazy | Evaluation::LazyAnnotation => Evaluation::LazyAnnotation,
        Evaluation::Never => Evaluation::Never,
    }
}
