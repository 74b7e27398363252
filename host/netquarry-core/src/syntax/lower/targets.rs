//! What statements assign to and delete.

use rustpython_parser::ast;

use super::{Context, Lookup, Lowerer, MutationCandidate};
use crate::facts::{Access, Assigns, BindingKind, MutationKind, Role, Symbol};
use crate::syntax::scopes::MODULE;

impl Lowerer<'_> {
    pub(super) fn target(&mut self, target: &ast::Expr, kind: BindingKind) {
        match target {
            ast::Expr::Name(name) => {
                self.bind(&name.id, name.range.into(), kind);
            }
            ast::Expr::Tuple(tuple) => tuple.elts.iter().for_each(|element| self.target(element, kind)),
            ast::Expr::List(list) => list.elts.iter().for_each(|element| self.target(element, kind)),
            ast::Expr::Starred(starred) => self.target(&starred.value, kind),
            ast::Expr::Attribute(_) => {
                self.mutation(target, MutationKind::Attribute);
                self.attribute(target, Role::Value, Assigns::Path);
            }
            ast::Expr::Subscript(subscript) => {
                if self.global_item(subscript, kind) {
                    return;
                }
                self.key_of_item(&subscript.slice);
                let is_own = kind != BindingKind::Deletion && is_own_item(subscript);
                self.mutation(target, if is_own { MutationKind::OwnItem } else { MutationKind::Item });
                match &*subscript.value {
                    object @ (ast::Expr::Name(_) | ast::Expr::Attribute(_)) => {
                        self.attribute(object, Role::Value, Assigns::Item);
                    }
                    object => self.expression(object, Role::Value),
                }
                self.value(&subscript.slice);
            }
            // CPython rejects any other target.
            other => self.value(other),
        }
    }

    /// `globals()["name"] = value` binds a global by a string.
    fn global_item(&mut self, subscript: &ast::ExprSubscript, kind: BindingKind) -> bool {
        let Some(span) = self.globals_key(subscript) else {
            return false;
        };
        self.value(&subscript.value);
        let name = self.names.identifier(self.text.slice(span));
        if self.context.in_function {
            let access = match kind {
                BindingKind::Deletion => Access::Delete,
                _ => Access::Store,
            };
            self.note_use(name, span, access, Role::Value, Lookup::QuotedGlobals);
        } else {
            self.bind_global(name, MODULE, span, kind);
        }
        true
    }

    /// Notes that running the statement, or calling its function, changes what `expression` is read off.
    pub(super) fn mutation(&mut self, expression: &ast::Expr, kind: MutationKind) {
        let mut chain = Chain::default();
        let Some(root) = self.chain(expression, &mut chain) else {
            return;
        };
        // What hangs behind a subscript or a call changes an item, or what a method gave.
        let kind = match kind {
            MutationKind::Attribute | MutationKind::Item | MutationKind::OwnItem if chain.called => {
                MutationKind::Method
            }
            MutationKind::Attribute | MutationKind::Method if chain.subscripted => MutationKind::Item,
            kind => kind,
        };
        self.changes(root, chain.path, kind);
    }

    /// What methods and lambdas change when they are called, nobody is told.
    pub(super) fn changes(&mut self, root: Symbol, path: Vec<Symbol>, kind: MutationKind) {
        let Context { scope, function, in_function, .. } = self.context;
        if function.is_some() || !in_function {
            self.draft.mutations.push(MutationCandidate { root, path, kind, scope, function });
        }
    }

    /// The name at the root of a chain of attributes, subscripts and method calls. `None` where there is none, or where
    /// the root itself is called: `make().x = 1` changes whatever `make` returns.
    fn chain(&mut self, expression: &ast::Expr, chain: &mut Chain) -> Option<Symbol> {
        match expression {
            ast::Expr::Name(name) => Some(self.mangled(&name.id)),
            ast::Expr::Attribute(attribute) => {
                let root = self.chain(&attribute.value, chain)?;
                if !chain.subscripted && !chain.called {
                    let name = self.names.identifier(&attribute.attr);
                    chain.path.push(name);
                }
                Some(root)
            }
            ast::Expr::Subscript(subscript) => {
                let root = self.chain(&subscript.value, chain)?;
                chain.subscripted |= !chain.called;
                Some(root)
            }
            ast::Expr::Call(call) => {
                let root = self.chain(&call.func, chain)?;
                if chain.path.is_empty() && !chain.subscripted {
                    return None;
                }
                chain.called |= !chain.subscripted;
                Some(root)
            }
            _ => None,
        }
    }
}

/// `TABLE[__name__]`
pub(super) fn is_own_item(subscript: &ast::ExprSubscript) -> bool {
    matches!(&*subscript.slice, ast::Expr::Name(name) if name.id.as_str() == "__name__")
}

#[derive(Default)]
struct Chain {
    /// The attributes read off the root directly.
    path: Vec<Symbol>,
    /// The path ends at a subscript.
    subscripted: bool,
    /// The path ends at a call.
    called: bool,
}
