//! Short strings that may be keys: of a registry, or of what a configuration names.

use std::collections::HashSet;
use std::iter;

use rustpython_parser::ast::{self, Ranged};

use super::Lowerer;
use super::calls::{is_identifier, string_constant};
use crate::facts::{Dictionary, DictionaryEntry, KeyPlace, KeyString, StatementKind};
use crate::source::TextRange;
use crate::syntax::names::normalized;
use crate::syntax::scopes::MODULE;
use crate::syntax::text::Span;

const LONGEST_KEY: usize = 96;

/// A schema may be put together of constants, and is longer than a key.
const LONGEST_CONSTANT: usize = 1024;

impl Lowerer<'_> {
    pub(super) fn keys_of_call(&mut self, call: &ast::ExprCall) {
        for argument in &call.args {
            self.note_keys(KeyPlace::Positional, argument);
        }
        for keyword in &call.keywords {
            if let Some(name) = &keyword.arg {
                let place = KeyPlace::Named(self.names.identifier(name));
                self.note_keys(place, &keyword.value);
            }
        }
        // `options.setdefault("type", "BN")`
        if let (ast::Expr::Attribute(_), [name, value]) = (&*call.func, call.args.as_slice()) {
            self.note_named_key(name, value);
        }
    }

    pub(super) fn keys_of_dictionary(&mut self, dictionary: &ast::ExprDict) {
        let before = self.draft.statement.keys.len();
        for (key, value) in dictionary.keys.iter().zip(&dictionary.values) {
            if let Some(key) = key {
                self.note_named_key(key, value);
            }
        }
        if self.draft.statement.keys.len() > before {
            let range = self.text.original_range(dictionary.range.into());
            self.draft.statement.configurations.push(range);
        }
    }

    pub(super) fn key_of_item(&mut self, slice: &ast::Expr) {
        self.note_keys(KeyPlace::Item, slice);
    }

    /// `options["type"] = "BN"`
    pub(super) fn keys_of_assignment(&mut self, targets: &[ast::Expr], value: &ast::Expr) {
        for target in targets {
            if let ast::Expr::Subscript(subscript) = target {
                self.note_named_key(&subscript.slice, value);
            }
        }
    }

    /// Any string, whatever becomes of it.
    pub(super) fn key_by_itself(&mut self, constant: &ast::ExprConstant) {
        if let ast::Constant::Str(text) = &constant.value
            && may_be_key(text)
        {
            let range = self.text.original_range(constant.range.into());
            self.draft.statement.keys.push(KeyString { range, place: KeyPlace::Value, value: text.as_str().into() });
        }
    }

    /// Leaves out strings by themselves that are noted with their place too.
    pub(super) fn settle_keys(&mut self) {
        let keys = &mut self.draft.statement.keys;
        let is_by_itself = |key: &KeyString| key.place == KeyPlace::Value;
        let placed: HashSet<TextRange> = keys.iter().filter(|key| !is_by_itself(key)).map(|key| key.range).collect();
        keys.retain(|key| !is_by_itself(key) || !placed.contains(&key.range));
    }

    /// The dictionary that the statement at hand binds to a name.
    pub(super) fn note_dictionary(&mut self, value: &ast::Expr) {
        let (ast::Expr::Dict(dictionary), StatementKind::Assign) = (value, self.draft.statement.kind) else { return };
        let opening = u32::from(dictionary.start()) + 1;
        let before = iter::once(opening).chain(dictionary.values.iter().map(|value| value.end().into()));
        let entries = dictionary.keys.iter().zip(&dictionary.values).zip(before).map(|((key, value), before)| {
            let key = string_constant(key.as_ref()?)?;
            let gap = self.text.slice(Span { start: before, end: key.start().into() });
            // The parentheses around a key are no part of its range.
            if without_comments(gap).any(|line| line.contains('(')) {
                return None;
            }
            let span = Span { start: key.start().into(), end: value.end().into() };
            let range = self.text.original_range(span);
            key.value.as_str().map(|key| DictionaryEntry { key: key.as_str().into(), range })
        });
        let entries: Option<Vec<DictionaryEntry>> = entries.collect();
        let end = self.range(value).end - 1;
        self.draft.statement.dictionary = entries.map(|entries| Dictionary { entries, end });
    }

    fn note_named_key(&mut self, name: &ast::Expr, value: &ast::Expr) {
        if let Some(ast::Constant::Str(name)) = string_constant(name).map(|constant| &constant.value)
            && is_identifier(name)
        {
            let place = KeyPlace::Named(self.names.identifier(name));
            self.note_keys(place, value);
        }
    }

    fn note_keys(&mut self, place: KeyPlace, value: &ast::Expr) {
        match value {
            ast::Expr::Constant(ast::ExprConstant { value: ast::Constant::Str(text), .. }) => {
                self.note_key(place, value, text);
            }
            ast::Expr::List(list) => list.elts.iter().for_each(|element| self.note_keys(place, element)),
            ast::Expr::Tuple(tuple) => tuple.elts.iter().for_each(|element| self.note_keys(place, element)),
            ast::Expr::IfExp(conditional) => {
                self.note_keys(place, &conditional.body);
                self.note_keys(place, &conditional.orelse);
            }
            computed => {
                if let Some(text) = self.computed_text(computed) {
                    self.note_key(place, computed, &text);
                }
            }
        }
    }

    fn note_key(&mut self, place: KeyPlace, value: &ast::Expr, text: &str) {
        let (place, text) = match schema_name(text) {
            Some(name) => (KeyPlace::Schema, name),
            None => (place, text),
        };
        if may_be_key(text) {
            let range = self.text.original_range(value.range().into());
            self.draft.statement.keys.push(KeyString { range, place, value: text.into() });
        }
    }

    /// The text of an expression that names string constants of the module.
    ///
    /// ```python
    /// NAMESPACE = "mylib"
    /// define(f"{NAMESPACE}::scale", "(Tensor x) -> Tensor")
    /// ```
    fn computed_text(&self, expression: &ast::Expr) -> Option<String> {
        if self.context.scope != MODULE || self.constants.is_empty() {
            return None;
        }
        self.constant_text(expression)
    }

    /// The text to which a name at module level is bound for certain, if `value` is one.
    pub(super) fn constant_bound(&self, value: &ast::Expr) -> Option<String> {
        let is_certain = self.context.scope == MODULE && !self.context.conditional;
        is_certain.then(|| self.constant_text(value)).flatten()
    }

    /// Notes the text to which a name was just bound; whatever else binds the name makes it unknown again.
    pub(super) fn note_constant(&mut self, name: &ast::ExprName, constant: Option<String>) {
        if let Some(text) = constant {
            self.constants.insert(normalized(&name.id).into(), text);
        }
    }

    /// The text to which an expression at module level evaluates, as far as the walk has come.
    fn constant_text(&self, expression: &ast::Expr) -> Option<String> {
        let text = match expression {
            ast::Expr::Constant(ast::ExprConstant { value: ast::Constant::Str(text), .. }) => text.clone(),
            ast::Expr::Name(name) => self.constants.get(&*normalized(&name.id))?.clone(),
            ast::Expr::BinOp(sum) if sum.op == ast::Operator::Add => {
                self.constant_text(&sum.left)? + &self.constant_text(&sum.right)?
            }
            ast::Expr::JoinedStr(joined) => {
                joined.values.iter().map(|part| self.constant_text(part)).collect::<Option<String>>()?
            }
            ast::Expr::FormattedValue(part)
                if part.format_spec.is_none() && part.conversion == ast::ConversionFlag::None =>
            {
                self.constant_text(&part.value)?
            }
            _ => return None,
        };
        (text.len() <= LONGEST_CONSTANT).then_some(text)
    }
}

fn may_be_key(text: &str) -> bool {
    !text.is_empty() && text.len() <= LONGEST_KEY && !text.contains(char::is_whitespace)
}

fn without_comments(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(|line| line.split('#').next().expect("split yields at least one part"))
}

/// The operator that a schema is about: `scale` in `scale(Tensor x) -> Tensor`.
fn schema_name(text: &str) -> Option<&str> {
    let (name, signature) = text.trim_start().split_once('(')?;
    let is_name = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | ':' | '.');
    (!name.is_empty() && name.chars().all(is_name) && signature.contains("->")).then_some(name)
}
