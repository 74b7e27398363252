//! `match` statements.

use rustpython_parser::ast::{self, Ranged};

use super::{Context, Lowerer};
use crate::facts::{BindingKind, Guard};
use crate::syntax::text::Span;

impl Lowerer<'_> {
    pub(super) fn match_statement(&mut self, statement: &ast::StmtMatch) {
        self.value(&statement.subject);
        let context = Context { conditional: true, ..self.context };
        self.within(context, |lowerer| {
            for case in &statement.cases {
                lowerer.pattern(&case.pattern);
                lowerer.optional_value(case.guard.as_deref());
                lowerer.guarded_suite(Guard::Match, &case.body);
            }
        });
    }

    fn pattern(&mut self, pattern: &ast::Pattern) {
        match pattern {
            ast::Pattern::MatchValue(pattern) => self.value(&pattern.value),
            ast::Pattern::MatchSingleton(_) => {}
            ast::Pattern::MatchSequence(pattern) => self.patterns(&pattern.patterns),
            ast::Pattern::MatchMapping(pattern) => {
                pattern.keys.iter().for_each(|key| self.value(key));
                self.patterns(&pattern.patterns);
                if let Some(rest) = &pattern.rest {
                    let span = self.rest_name(pattern);
                    self.bind(rest, span, BindingKind::Capture);
                }
            }
            ast::Pattern::MatchClass(pattern) => {
                self.value(&pattern.cls);
                self.patterns(&pattern.patterns);
                for attribute in &pattern.kwd_attrs {
                    self.names.identifier(attribute);
                }
                self.patterns(&pattern.kwd_patterns);
            }
            ast::Pattern::MatchStar(pattern) => self.capture(pattern.name.as_ref(), pattern.range.into()),
            ast::Pattern::MatchAs(pattern) => {
                if let Some(inner) = &pattern.pattern {
                    self.pattern(inner);
                }
                self.capture(pattern.name.as_ref(), pattern.range.into());
            }
            ast::Pattern::MatchOr(pattern) => self.patterns(&pattern.patterns),
        }
    }

    fn patterns(&mut self, patterns: &[ast::Pattern]) {
        patterns.iter().for_each(|pattern| self.pattern(pattern));
    }

    /// A pattern that ends in the name it binds.
    fn capture(&mut self, name: Option<&ast::Identifier>, pattern: Span) {
        if let Some(name) = name {
            let span = self.text.identifier_before(pattern.end);
            self.bind(name, span, BindingKind::Capture);
        }
    }

    /// The `rest` of `{"key": value, **rest}`.
    fn rest_name(&self, pattern: &ast::PatternMatchMapping) -> Span {
        let before = match pattern.patterns.last() {
            Some(last) => last.end().into(),
            None => Span::from(pattern.range).start + 1,
        };
        self.text.identifier_at(self.text.skip(before, b"),*"))
    }
}
