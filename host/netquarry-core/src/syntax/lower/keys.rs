//! Short strings that may be keys: of a registry, or of what a configuration names.

use rustpython_parser::ast::{self, Ranged};

use super::Lowerer;
use super::calls::{is_identifier, string_constant};
use crate::facts::{KeyPlace, KeyString};

const LONGEST_KEY: usize = 96;

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
        for (key, value) in dictionary.keys.iter().zip(&dictionary.values) {
            if let Some(key) = key {
                self.note_named_key(key, value);
            }
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
                let is_key = !text.is_empty() && text.len() <= LONGEST_KEY && !text.contains(char::is_whitespace);
                if is_key {
                    let range = self.text.original_range(value.range().into());
                    self.draft.statement.keys.push(KeyString { range, place, value: text.as_str().into() });
                }
            }
            ast::Expr::List(list) => list.elts.iter().for_each(|element| self.note_keys(place, element)),
            ast::Expr::Tuple(tuple) => tuple.elts.iter().for_each(|element| self.note_keys(place, element)),
            ast::Expr::IfExp(conditional) => {
                self.note_keys(place, &conditional.body);
                self.note_keys(place, &conditional.orelse);
            }
            _ => {}
        }
    }
}
