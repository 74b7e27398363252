//! `__all__`.

use rustpython_parser::ast;

use super::Lowerer;
use crate::facts::Symbol;

impl Lowerer<'_> {
    /// Reads what a statement at module level does with `__all__`.
    pub(super) fn export_statement(&mut self, statement: &ast::Stmt) {
        match statement {
            ast::Stmt::Assign(assign) if assign.targets.iter().any(is_all) => {
                self.exports.names.clear();
                self.exports.all_of.clear();
                self.exported(&assign.value);
            }
            ast::Stmt::AnnAssign(assign) if is_all(&assign.target) => {
                if let Some(value) = &assign.value {
                    self.exported(value);
                }
            }
            ast::Stmt::AugAssign(assign) if is_all(&assign.target) => self.exported(&assign.value),
            ast::Stmt::Expr(expression) => {
                if let ast::Expr::Call(call) = &*expression.value {
                    self.export_call(call);
                }
            }
            _ => {}
        }
    }

    /// `__all__.append("name")`, `.extend(names)`, `.remove("name")`
    fn export_call(&mut self, call: &ast::ExprCall) {
        let ast::Expr::Attribute(method) = &*call.func else {
            return;
        };
        if !is_all(&method.value) {
            return;
        }
        self.exports.declared = true;
        match (method.attr.as_str(), call.args.as_slice()) {
            ("append", [name]) => self.exported_name(name),
            ("extend", [names]) => self.exported(names),
            ("remove", [name]) => match string(name) {
                Some(name) => {
                    let symbol = self.names.identifier(name);
                    self.exports.names.retain(|exported| *exported != symbol);
                }
                None => self.exports.dynamic = true,
            },
            ("sort", _) => {}
            _ => self.exports.dynamic = true,
        }
    }

    /// A list of names that is assigned or added to `__all__`.
    fn exported(&mut self, names: &ast::Expr) {
        self.exports.declared = true;
        match names {
            ast::Expr::List(list) => list.elts.iter().for_each(|name| self.exported_name(name)),
            ast::Expr::Tuple(tuple) => tuple.elts.iter().for_each(|name| self.exported_name(name)),
            ast::Expr::Set(set) => set.elts.iter().for_each(|name| self.exported_name(name)),
            ast::Expr::BinOp(sum) if sum.op == ast::Operator::Add => {
                self.exported(&sum.left);
                self.exported(&sum.right);
            }
            ast::Expr::Call(call) if call.args.len() == 1 && is_copy(&call.func) => self.exported(&call.args[0]),
            ast::Expr::Name(_) if is_all(names) => {}
            ast::Expr::Attribute(attribute) if attribute.attr.as_str() == "__all__" => {
                match self.dotted(&attribute.value) {
                    Some(module) => self.exports.all_of.push(module),
                    None => self.exports.dynamic = true,
                }
            }
            _ => self.exports.dynamic = true,
        }
    }

    fn exported_name(&mut self, name: &ast::Expr) {
        match name {
            // `[*layers.__all__, "name"]`
            ast::Expr::Starred(starred) => self.exported(&starred.value),
            name => match string(name) {
                Some(name) => {
                    let symbol: Symbol = self.names.identifier(name);
                    if !self.exports.names.contains(&symbol) {
                        self.exports.names.push(symbol);
                    }
                }
                None => self.exports.dynamic = true,
            },
        }
    }
}

fn is_all(expression: &ast::Expr) -> bool {
    matches!(expression, ast::Expr::Name(name) if name.id.as_str() == "__all__")
}

/// `list(names)` and the like, which change nothing.
fn is_copy(function: &ast::Expr) -> bool {
    matches!(function, ast::Expr::Name(name) if matches!(name.id.as_str(), "list" | "tuple" | "sorted" | "set"))
}

fn string(expression: &ast::Expr) -> Option<&str> {
    match expression {
        ast::Expr::Constant(ast::ExprConstant { value: ast::Constant::Str(text), .. }) => Some(text),
        _ => None,
    }
}
