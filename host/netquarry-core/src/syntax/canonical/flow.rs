//! What functions give and do, as a graph of values: no names of variables, no order of statements that do not depend on each
//! other, no intermediate results.
//!
//! Each name stands for the value that was last assigned to it; behind a branch for one or the other, behind a loop for what it
//! was or what the body makes of it. An attribute that the constructor binds stands for what is bound, so that layers are what
//! they are made by, options and order included. What a loop assigns is in its body what an earlier turn has left. Values that
//! are changed through another name are not followed.

use std::collections::HashMap;

use rustpython_parser::ast::{self, Arguments, Constant, Expr, Stmt};

use super::parts;
use super::strip;
use super::write::{self, Numbers};
use super::{CANONICAL_NUMBER, CanonicalFlow, CanonicalKind as Kind, FlowResult, bindings};
use crate::syntax::names::normalized;

/// What is called to have the same values in another container, or as another object.
const COPYING: [&str; 4] = ["list", "tuple", "deepcopy", "copy"];

/// Keyword arguments that say where and how precisely values are kept.
const KEEPING: [&str; 2] = ["device", "dtype"];

/// Among so many branches, what follows an `if` is not made part of it.
const MOST_NESTED: usize = 64;

/// A list or a tuple.
const SEQUENCE: &str = "(,)";

/// What stands for the parameters of a constructor: one of its own, and those that take what is left.
const PARAMETERS: [&str; 3] = ["_", "*_", "**_"];

pub(super) fn flow(statement: &Stmt) -> CanonicalFlow {
    let mut builder = Builder::default();
    builder.top_level(statement);
    builder.flow
}

/// What a node is, its text, and its operands.
type Content = (Kind, Box<str>, Box<[u32]>);

/// What names and attributes of the first parameter stand for.
#[derive(Clone, Default)]
struct State {
    names: HashMap<Box<str>, u32>,
    attributes: HashMap<Box<str>, u32>,
}

#[derive(Default)]
struct Builder {
    flow: CanonicalFlow,
    /// The nodes that are there.
    known: HashMap<Content, u32>,
    /// Of each node whether something is called to have it.
    is_called: Vec<bool>,
    state: State,
    /// What the function around does, in order.
    effects: Vec<u32>,
    /// The first parameter of the method around.
    this: Option<u32>,
    class: Box<str>,
    /// The method around is a constructor: from which of its parameters a value comes does not matter.
    in_constructor: bool,
    next_parameter: u32,
    /// In how many branches that hold what follows.
    depth: usize,
}

impl Builder {
    fn node(&mut self, kind: Kind, text: &str, operands: &[u32]) -> u32 {
        let key = (kind, Box::from(text), Box::from(operands));
        if let Some(node) = self.known.get(&key) {
            return *node;
        }
        let node = self.flow.push(kind, text, operands);
        let calls = kind == Kind::Call || operands.iter().any(|operand| self.is_called[*operand as usize]);
        self.is_called.push(calls);
        self.known.insert(key, node);
        node
    }

    fn fixed(&mut self, text: &str, operands: &[u32]) -> u32 {
        self.node(Kind::Fixed, text, operands)
    }

    fn top_level(&mut self, statement: &Stmt) {
        match statement {
            Stmt::FunctionDef(node) => self.alone(&node.decorator_list, &node.args, &node.body),
            Stmt::AsyncFunctionDef(node) => self.alone(&node.decorator_list, &node.args, &node.body),
            Stmt::ClassDef(node) => self.class(node),
            _ => {
                self.statement(statement);
                let State { names, .. } = std::mem::take(&mut self.state);
                let effects = std::mem::take(&mut self.effects);
                names.into_values().chain(effects).for_each(|value| self.result("", value));
            }
        }
    }

    /// A function of no class. One that computes nothing makes no network.
    fn alone(&mut self, decorators: &[Expr], arguments: &Arguments, body: &[Stmt]) {
        let function = self.function(decorators, arguments, body);
        if self.flow.iter().any(|(kind, ..)| matches!(kind, Kind::Call | Kind::Operator)) {
            self.result("", function);
        }
    }

    fn result(&mut self, method: &str, node: u32) {
        self.flow.results.push(FlowResult { method: method.into(), node });
    }

    fn class(&mut self, node: &ast::StmtClassDef) {
        self.class = normalized(&node.name).into();
        let (methods, others): (Vec<&Stmt>, Vec<&Stmt>) = node.body.iter().partition(|member| is_function(member));
        others.into_iter().for_each(|member| self.statement(member));
        let State { names, .. } = std::mem::take(&mut self.state);
        let mut members: Vec<(&Box<str>, &u32)> = names.iter().collect();
        members.sort_unstable();
        for (name, value) in members {
            let member = self.fixed(&format!("{name} ="), &[*value]);
            self.result("", member);
        }
        for effect in std::mem::take(&mut self.effects) {
            self.result("", effect);
        }
        let mut attributes = names.clone();
        // Other methods read what the constructor has bound.
        let (constructors, others): (Vec<&Stmt>, Vec<&Stmt>) =
            methods.into_iter().partition(|method| write::method_name(method) == Some("__init__"));
        for (is_constructor, method) in constructors
            .into_iter()
            .map(|method| (true, method))
            .chain(others.into_iter().map(|method| (false, method)))
        {
            let Some((name, decorators, arguments, body)) = parts_of_function(method) else { continue };
            self.state = State { names: HashMap::new(), attributes: attributes.clone() };
            self.in_constructor = is_constructor;
            self.this = Some(self.fixed("self", &[]));
            let function = self.function(decorators, arguments, body);
            self.result(name, function);
            if is_constructor {
                attributes = std::mem::take(&mut self.state.attributes);
                let mut made: Vec<u32> = attributes
                    .iter()
                    .filter(|(name, value)| names.get(*name) != Some(*value) && self.is_called[**value as usize])
                    .map(|(_, value)| *value)
                    .collect();
                made.sort_unstable();
                made.into_iter().for_each(|value| self.result(name, value));
            }
        }
    }

    /// What a function gives and does. Attributes stay as it leaves them.
    fn function(&mut self, decorators: &[Expr], arguments: &Arguments, body: &[Stmt]) -> u32 {
        let decorators: Vec<u32> = decorators.iter().map(|decorator| self.one(decorator)).collect();
        let names = self.state.names.clone();
        let effects = std::mem::take(&mut self.effects);
        let parameters = self.next_parameter;
        self.parameters(arguments);
        for (name, path) in bindings::of(body).imports {
            let imported = self.fixed(&path, &[]);
            self.state.names.insert(name, imported);
        }
        self.statements(body);
        self.next_parameter = parameters;
        self.state.names = names;
        let effects = std::mem::replace(&mut self.effects, effects);
        let function = self.fixed("def", &effects);
        if decorators.is_empty() { function } else { self.fixed("@", &[&decorators[..], &[function]].concat()) }
    }

    fn parameters(&mut self, arguments: &Arguments) {
        let Arguments { posonlyargs, args, vararg, kwonlyargs, kwarg, .. } = arguments;
        let is_method = self.next_parameter == 0 && self.this.is_some();
        let [one, many, by_name] = PARAMETERS;
        let named = posonlyargs.iter().chain(args).chain(kwonlyargs).map(|argument| (&argument.def, one));
        let rest = [(vararg, many), (kwarg, by_name)];
        let rest = rest.into_iter().filter_map(|(argument, kind)| Some((&**argument.as_ref()?, kind)));
        for (place, (parameter, kind)) in named.chain(rest).enumerate() {
            let value = match self.this {
                Some(this) if is_method && place == 0 => this,
                _ if is_method && self.in_constructor => self.fixed(kind, &[]),
                _ => self.node(Kind::Local(self.next_parameter), kind, &[]),
            };
            self.next_parameter += 1;
            self.state.names.insert(normalized(&parameter.arg).into(), value);
        }
    }

    fn statements(&mut self, body: &[Stmt]) {
        self.all_of(&[body]);
    }

    /// Several bodies, one behind the other. Where only one branch of an `if` goes on, what follows belongs to it:
    /// `if a: return b` and `return c` are `if a: return b` and `else: return c`.
    fn all_of(&mut self, bodies: &[&[Stmt]]) {
        for (number, body) in bodies.iter().enumerate() {
            for (place, statement) in body.iter().enumerate() {
                let Stmt::If(node) = statement else {
                    self.statement(statement);
                    continue;
                };
                let [ends, otherwise_ends] = [&node.body, &node.orelse].map(|body| body.last().is_some_and(leaves));
                if ends == otherwise_ends || self.depth == MOST_NESTED {
                    self.statement(statement);
                    continue;
                }
                let rest = [&[&body[place + 1..]], &bodies[number + 1..]].concat();
                let [then, otherwise] = [&node.body[..], &node.orelse[..]];
                let test = self.one(&node.test);
                self.depth += 1;
                match ends {
                    true => self.branches(test, &[&[then], &[&[otherwise], &rest[..]].concat()]),
                    false => self.branches(test, &[&[&[then], &rest[..]].concat(), &[otherwise]]),
                }
                self.depth -= 1;
                return;
            }
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::FunctionDef(node) => {
                let function = self.inner_function(&node.decorator_list, &node.args, &node.body);
                self.name_is(&node.name, function);
            }
            Stmt::AsyncFunctionDef(node) => {
                let function = self.inner_function(&node.decorator_list, &node.args, &node.body);
                self.name_is(&node.name, function);
            }
            Stmt::ClassDef(node) => {
                let bases: Vec<u32> = node.bases.iter().map(|base| self.one(base)).collect();
                let state = self.state.clone();
                let effects = std::mem::take(&mut self.effects);
                self.statements(&node.body);
                let members = self.changed_names(&state).into_iter().map(|(_, value)| value);
                let members: Vec<u32> = bases.into_iter().chain(members).collect();
                self.effects = effects;
                self.state = state;
                let class = self.fixed("class", &members);
                self.name_is(&node.name, class);
            }
            Stmt::Assign(node) => {
                let value = self.expression(&node.value, Numbers::Constant);
                node.targets.iter().for_each(|target| self.bind(target, value));
            }
            Stmt::AugAssign(node) => {
                let old = self.one(&node.target);
                let value = self.expression(&node.value, self.unless_constructing(write::numbers_of_right(node.op)));
                let new = self.node(Kind::Operator, write::operator(node.op), &[old, value]);
                self.bind(&node.target, new);
            }
            Stmt::AnnAssign(node) => {
                if let Some(value) = &node.value {
                    let value = self.expression(value, Numbers::Constant);
                    self.bind(&node.target, value);
                }
            }
            Stmt::For(node) => self.for_loop(&node.iter, &node.target, &node.body, &node.orelse),
            Stmt::AsyncFor(node) => self.for_loop(&node.iter, &node.target, &node.body, &node.orelse),
            Stmt::While(node) => {
                let test = self.one(&node.test);
                self.repeated("while", test, None, &node.body);
                self.statements(&node.orelse);
            }
            Stmt::If(node) => {
                let test = self.one(&node.test);
                self.branches(test, &[&[&node.body], &[&node.orelse]]);
            }
            Stmt::With(node) => self.with(&node.items, &node.body),
            Stmt::AsyncWith(node) => self.with(&node.items, &node.body),
            Stmt::Match(node) => {
                let subject = self.one(&node.subject);
                let bodies: Vec<[&[Stmt]; 1]> = node.cases.iter().map(|case| [&case.body[..]]).collect();
                let mut heads =
                    parts::heads(statement).into_iter().skip(1).map(|head| self.one(head)).collect::<Vec<_>>();
                heads.insert(0, subject);
                let subject = self.fixed("match", &heads);
                self.branches(subject, &bodies.iter().map(|body| &body[..]).collect::<Vec<_>>());
            }
            Stmt::Try(_) | Stmt::TryStar(_) => {
                let heads: Vec<u32> = parts::heads(statement).into_iter().map(|head| self.one(head)).collect();
                let tried = self.fixed("try", &heads);
                let bodies: Vec<[&[Stmt]; 1]> = parts::bodies(statement).into_iter().map(|body| [&body[..]]).collect();
                self.branches(tried, &bodies.iter().map(|body| &body[..]).collect::<Vec<_>>());
            }
            Stmt::Return(node) => {
                let value = node.value.as_deref().map(|value| self.one(value));
                let given = self.fixed("return", value.as_slice());
                self.effects.push(given);
            }
            Stmt::Raise(_) => self.does("raise"),
            Stmt::Break(_) => self.does("break"),
            Stmt::Continue(_) => self.does("continue"),
            Stmt::Expr(node) => self.evaluated(&node.value),
            Stmt::Delete(_)
            | Stmt::TypeAlias(_)
            | Stmt::Import(_)
            | Stmt::ImportFrom(_)
            | Stmt::Global(_)
            | Stmt::Nonlocal(_)
            | Stmt::Assert(_)
            | Stmt::Pass(_) => {}
        }
    }

    fn does(&mut self, word: &str) {
        let effect = self.fixed(word, &[]);
        self.effects.push(effect);
    }

    /// A function in another one. What it stores on `self` it may store at any time.
    fn inner_function(&mut self, decorators: &[Expr], arguments: &Arguments, body: &[Stmt]) -> u32 {
        let attributes = self.state.attributes.clone();
        self.next_parameter += 1;
        let function = self.function(decorators, arguments, body);
        self.next_parameter -= 1;
        self.state.attributes = attributes;
        function
    }

    /// An expression whose value nobody takes.
    fn evaluated(&mut self, expression: &Expr) {
        let value = self.one(expression);
        let Expr::Call(call) = expression else {
            if self.is_called[value as usize] {
                self.effects.push(value);
            }
            return;
        };
        if self.in_constructor && is_super_constructor(call) {
            return self.constructs_base(call);
        }
        let changes = match &*call.func {
            Expr::Attribute(function) => self.changes(&function.value, value),
            _ => false,
        };
        if !changes {
            self.effects.push(value);
        }
    }

    /// Whether what is called a method of is a variable or an attribute of `self`, which stands for what the call makes of it
    /// from now on.
    fn changes(&mut self, object: &Expr, call: u32) -> bool {
        let changed = self.fixed("changed", &[call]);
        match object {
            Expr::Name(node) => {
                let name = normalized(&node.id);
                match self.state.names.get(&*name) {
                    Some(old) if Some(*old) != self.this => {
                        let is_parameter = self.is_parameter(*old);
                        self.state.names.insert(name.into(), changed);
                        !is_parameter
                    }
                    _ => false,
                }
            }
            Expr::Attribute(node) if Some(self.one(&node.value)) == self.this => {
                self.state.attributes.insert(normalized(&node.attr).into(), changed);
                self.in_constructor
            }
            Expr::Attribute(node) => self.changes(&node.value, call),
            Expr::Subscript(node) => self.changes(&node.value, call),
            _ => false,
        }
    }

    /// What a constructor hands on of its parameters as they are says nothing.
    fn constructs_base(&mut self, call: &ast::ExprCall) {
        let mut given: Vec<u32> =
            call.args.iter().map(|argument| self.expression(argument, Numbers::Constant)).collect();
        given.extend(self.keywords(&call.keywords));
        let handed_on = PARAMETERS.map(|kind| self.fixed(kind, &[]));
        given.retain(|value| {
            let (_, _, operands) = self.flow.node(*value);
            !handed_on.contains(value) && !operands.first().is_some_and(|operand| handed_on.contains(operand))
        });
        if !given.is_empty() {
            let effect = self.fixed("super", &given);
            self.effects.push(effect);
        }
    }

    fn for_loop(&mut self, iterated: &Expr, target: &Expr, body: &[Stmt], otherwise: &[Stmt]) {
        let iterated = self.one(iterated);
        self.repeated("for", iterated, Some(target), body);
        self.statements(otherwise);
    }

    fn repeated(&mut self, word: &str, head: u32, target: Option<&Expr>, body: &[Stmt]) {
        let before = self.state.clone();
        for name in bindings::of(body).names {
            if let Some(value) = before.names.get(&name) {
                let carried = self.fixed("carried", &[head, *value]);
                self.state.names.insert(name, carried);
            }
        }
        let outer = std::mem::take(&mut self.effects);
        if let Some(target) = target {
            let item = self.fixed("item", &[head]);
            self.bind(target, item);
        }
        self.statements(body);
        let mut effects = std::mem::replace(&mut self.effects, outer);
        if !effects.is_empty() {
            effects.insert(0, head);
            let effect = self.fixed(word, &effects);
            self.effects.push(effect);
        }
        let after = self.state.clone();
        self.state = self.joined(word, head, &[before, after]);
    }

    /// One of several branches runs, or some do; each has bodies one behind the other.
    fn branches(&mut self, head: u32, branches: &[&[&[Stmt]]]) {
        let before = self.state.clone();
        let (mut all_effects, mut states) = (vec![head], Vec::new());
        for bodies in branches {
            self.state = before.clone();
            let outer = std::mem::take(&mut self.effects);
            self.all_of(bodies);
            let effects = std::mem::replace(&mut self.effects, outer);
            let effects = self.fixed("branch", &effects);
            all_effects.push(effects);
            states.push(std::mem::take(&mut self.state));
        }
        let nothing = self.fixed("branch", &[]);
        if all_effects[1..].iter().any(|effects| *effects != nothing) {
            let effect = self.fixed("if", &all_effects);
            self.effects.push(effect);
        }
        self.state = self.joined("if", head, &states);
    }

    /// What each name stands for where one of these states is.
    fn joined(&mut self, word: &str, head: u32, states: &[State]) -> State {
        let names: Vec<_> = states.iter().map(|state| &state.names).collect();
        let attributes: Vec<_> = states.iter().map(|state| &state.attributes).collect();
        State { names: self.either(word, head, &names), attributes: self.either(word, head, &attributes) }
    }

    fn either(&mut self, word: &str, head: u32, maps: &[&HashMap<Box<str>, u32>]) -> HashMap<Box<str>, u32> {
        let mut joined: HashMap<Box<str>, u32> = HashMap::new();
        for name in maps.iter().flat_map(|map| map.keys()) {
            if joined.contains_key(name) {
                continue;
            }
            let values: Vec<Option<u32>> = maps.iter().map(|map| map.get(name).copied()).collect();
            let value = match values[..] {
                [Some(first), ..] if values.iter().all(|value| *value == Some(first)) => first,
                _ => {
                    let unbound = self.fixed("unbound", &[]);
                    let values = values.into_iter().map(|value| value.unwrap_or(unbound));
                    let operands: Vec<u32> = std::iter::once(head).chain(values).collect();
                    self.fixed(word, &operands)
                }
            };
            joined.insert(name.clone(), value);
        }
        joined
    }

    fn with(&mut self, items: &[ast::WithItem], body: &[Stmt]) {
        let mut entered = Vec::new();
        for item in items {
            let context = self.one(&item.context_expr);
            entered.push(context);
            if let Some(target) = &item.optional_vars {
                self.bind(target, context);
            }
        }
        let outer = std::mem::take(&mut self.effects);
        self.statements(body);
        entered.extend(std::mem::replace(&mut self.effects, outer));
        let effect = self.fixed("with", &entered);
        self.effects.push(effect);
    }

    fn changed_names(&self, before: &State) -> Vec<(Box<str>, u32)> {
        let changed = self.state.names.iter().filter(|(name, value)| before.names.get(*name) != Some(*value));
        let mut changed: Vec<(Box<str>, u32)> = changed.map(|(name, value)| (name.clone(), *value)).collect();
        changed.sort_unstable();
        changed
    }

    fn name_is(&mut self, name: &str, value: u32) {
        self.state.names.insert(normalized(name).into(), value);
    }

    fn bind(&mut self, target: &Expr, value: u32) {
        match target {
            Expr::Name(node) => self.name_is(&node.id, value),
            Expr::Tuple(ast::ExprTuple { elts, .. }) | Expr::List(ast::ExprList { elts, .. }) => {
                let is_starred = elts.iter().any(Expr::is_starred_expr);
                let parts = self.elements(value).filter(|parts| parts.len() == elts.len() && !is_starred);
                let parts: Option<Vec<u32>> = parts.map(<[u32]>::to_vec);
                for (place, target) in elts.iter().enumerate() {
                    let part = match &parts {
                        Some(parts) => parts[place],
                        None => self.fixed(&format!("part {place} of {}", elts.len()), &[value]),
                    };
                    self.bind(target, part);
                }
            }
            Expr::Starred(node) => self.bind(&node.value, value),
            Expr::Attribute(node) if Some(self.one(&node.value)) == self.this => {
                self.state.attributes.insert(normalized(&node.attr).into(), value);
                if !self.in_constructor {
                    let effect = self.fixed("set", &[value]);
                    self.effects.push(effect);
                }
            }
            Expr::Attribute(node) => {
                let object = self.one(&node.value);
                let stored = self.node(Kind::Attribute, &normalized(&node.attr), &[object, value]);
                self.stored(&node.value, stored);
            }
            Expr::Subscript(node) => {
                let (object, key) = (self.one(&node.value), self.one(&node.slice));
                let stored = self.fixed("stored", &[object, key, value]);
                self.stored(&node.value, stored);
            }
            _ => {}
        }
    }

    fn stored(&mut self, object: &Expr, stored: u32) {
        if !self.changes(object, stored) {
            self.effects.push(stored);
        }
    }

    fn one(&mut self, expression: &Expr) -> u32 {
        self.expression(expression, Numbers::Telling)
    }

    fn all(&mut self, expressions: &[Expr], numbers: Numbers) -> Vec<u32> {
        expressions.iter().map(|expression| self.expression(expression, numbers)).collect()
    }

    fn expression(&mut self, expression: &Expr, numbers: Numbers) -> u32 {
        match expression {
            Expr::Name(_) | Expr::Attribute(_) => self.path(expression),
            Expr::Constant(node) => self.constant(&node.value, numbers),
            Expr::Call(node) => self.call(node),
            Expr::BoolOp(node) => {
                let values = self.all(&node.values, Numbers::Telling);
                self.node(Kind::Operator, if node.op == ast::BoolOp::And { "and" } else { "or" }, &values)
            }
            Expr::BinOp(node) => {
                let left = self.expression(&node.left, Numbers::Constant);
                let right = self.expression(&node.right, self.unless_constructing(write::numbers_of_right(node.op)));
                self.node(Kind::Operator, write::operator(node.op), &[left, right])
            }
            Expr::UnaryOp(node) => {
                let operand = self.expression(&node.operand, numbers);
                self.node(Kind::Operator, write::unary_operator(node.op), &[operand])
            }
            Expr::Compare(node) => {
                let mut operands = vec![self.one(&node.left)];
                operands.extend(self.all(&node.comparators, self.unless_constructing(Numbers::Telling)));
                let compared: Vec<&str> = node.ops.iter().map(|compared| write::comparison(*compared)).collect();
                self.node(Kind::Operator, &compared.join(" "), &operands)
            }
            Expr::NamedExpr(node) => {
                let value = self.one(&node.value);
                self.bind(&node.target, value);
                value
            }
            Expr::Lambda(node) => {
                let names = self.state.names.clone();
                let parameters = self.next_parameter;
                self.next_parameter += 1;
                self.parameters(&node.args);
                let body = self.one(&node.body);
                self.next_parameter = parameters;
                self.state.names = names;
                self.fixed("lambda", &[body])
            }
            Expr::IfExp(node) => {
                let test = self.one(&node.test);
                let [body, otherwise] = [&node.body, &node.orelse].map(|value| self.expression(value, numbers));
                self.fixed("if", &[test, body, otherwise])
            }
            Expr::Dict(node) => {
                let mut operands = Vec::with_capacity(2 * node.values.len());
                for (key, value) in node.keys.iter().zip(&node.values) {
                    operands.push(match key {
                        Some(key) => self.one(key),
                        None => self.fixed("**", &[]),
                    });
                    operands.push(self.expression(value, numbers));
                }
                self.fixed("{}", &operands)
            }
            Expr::Set(node) => {
                let elements = self.all(&node.elts, numbers);
                self.fixed("set", &elements)
            }
            Expr::List(ast::ExprList { elts, .. }) | Expr::Tuple(ast::ExprTuple { elts, .. }) => {
                let elements = self.all(elts, numbers);
                self.sequence(&elements)
            }
            Expr::ListComp(node) => self.comprehension(&node.generators, [&*node.elt]),
            Expr::SetComp(node) => self.comprehension(&node.generators, [&*node.elt]),
            Expr::GeneratorExp(node) => self.comprehension(&node.generators, [&*node.elt]),
            Expr::DictComp(node) => self.comprehension(&node.generators, [&*node.key, &*node.value]),
            Expr::Await(node) => {
                let value = self.one(&node.value);
                self.fixed("await", &[value])
            }
            Expr::Yield(node) => {
                let value = node.value.as_deref().map(|value| self.one(value));
                self.yielded("yield", value.as_slice())
            }
            Expr::YieldFrom(node) => {
                let value = self.one(&node.value);
                self.yielded("yield from", &[value])
            }
            Expr::FormattedValue(node) => {
                let value = self.one(&node.value);
                self.fixed("%", &[value])
            }
            Expr::JoinedStr(node) => {
                let values = self.all(&node.values, Numbers::Telling);
                self.fixed("f", &values)
            }
            Expr::Subscript(node) => {
                let (value, key) = (self.expression(&node.value, numbers), self.one(&node.slice));
                self.fixed("[]", &[value, key])
            }
            Expr::Starred(node) => {
                let value = self.expression(&node.value, numbers);
                self.fixed("*", &[value])
            }
            Expr::Slice(node) => {
                let bounds = [&node.lower, &node.upper, &node.step].map(|bound| match bound {
                    Some(bound) => self.one(bound),
                    None => self.fixed("_:", &[]),
                });
                self.fixed("slice", &bounds)
            }
        }
    }

    /// A list or a tuple.
    fn sequence(&mut self, elements: &[u32]) -> u32 {
        self.fixed(SEQUENCE, elements)
    }

    fn elements(&self, node: u32) -> Option<&[u32]> {
        let (kind, text, elements) = self.flow.node(node);
        (kind == Kind::Fixed && text == SEQUENCE).then_some(elements)
    }

    /// The dotted name that a node stands for.
    fn global(&self, node: u32) -> Option<&str> {
        let (kind, text, _) = self.flow.node(node);
        (kind == Kind::Global).then_some(text)
    }

    fn is_parameter(&self, node: u32) -> bool {
        let (kind, text, _) = self.flow.node(node);
        matches!(kind, Kind::Local(_)) || (kind == Kind::Fixed && PARAMETERS.contains(&text))
    }

    fn yielded(&mut self, word: &str, value: &[u32]) -> u32 {
        let yielded = self.fixed(word, value);
        self.effects.push(yielded);
        yielded
    }

    fn comprehension<const COUNT: usize>(
        &mut self,
        generators: &[ast::Comprehension],
        elements: [&Expr; COUNT],
    ) -> u32 {
        let names = self.state.names.clone();
        let mut operands = Vec::new();
        for generator in generators {
            let iterated = self.one(&generator.iter);
            let item = self.fixed("item", &[iterated]);
            self.bind(&generator.target, item);
            operands.push(iterated);
            operands.extend(self.all(&generator.ifs, Numbers::Telling));
        }
        operands.extend(elements.map(|element| self.one(element)));
        self.state.names = names;
        self.fixed("comprehension", &operands)
    }

    fn call(&mut self, node: &ast::ExprCall) -> u32 {
        if strip::is_own_super(node, &self.class) {
            return self.fixed("super", &[]);
        }
        let called = parts::last_name(&node.func);
        if let [only] = &node.args[..]
            && COPYING.contains(&called)
            && node.keywords.is_empty()
        {
            return self.one(only);
        }
        let numbers = match write::takes_axes(called) {
            // In a constructor too.
            true => Numbers::Telling,
            false => self.unless_constructing(write::numbers_of_arguments(called)),
        };
        let mut operands = vec![self.one(&node.func)];
        operands.extend(self.all(&node.args, numbers));
        operands.extend(self.keywords(&node.keywords));
        self.node(Kind::Call, "", &operands)
    }

    /// What a constructor computes and compares is how wide and how deep something is.
    fn unless_constructing(&self, numbers: Numbers) -> Numbers {
        if self.in_constructor { Numbers::Constant } else { numbers }
    }

    fn keywords(&mut self, keywords: &[ast::Keyword]) -> Vec<u32> {
        let told = write::sorted(keywords).into_iter().filter(|(name, _)| !KEEPING.contains(name));
        told.map(|(name, value)| {
            let value = self.expression(value, write::numbers_of_keyword(name, Numbers::Constant));
            self.fixed(&format!("{name}="), &[value])
        })
        .collect()
    }

    fn constant(&mut self, constant: &Constant, numbers: Numbers) -> u32 {
        match constant {
            Constant::None => self.fixed("None", &[]),
            Constant::Bool(true) => self.fixed("True", &[]),
            Constant::Bool(false) => self.fixed("False", &[]),
            Constant::Ellipsis => self.fixed("...", &[]),
            Constant::Str(text) => self.node(Kind::String, text, &[]),
            Constant::Bytes(bytes) => self.node(Kind::String, &String::from_utf8_lossy(bytes), &[]),
            Constant::Int(value) => self.fixed(write::integer(&value.to_string(), numbers), &[]),
            Constant::Float(_) | Constant::Complex { .. } => self.fixed(CANONICAL_NUMBER, &[]),
            Constant::Tuple(values) => {
                let elements: Vec<u32> = values.iter().map(|value| self.constant(value, numbers)).collect();
                self.sequence(&elements)
            }
        }
    }

    /// A name, or what has an attribute.
    fn path(&mut self, expression: &Expr) -> u32 {
        match expression {
            Expr::Name(node) => {
                let name = normalized(&node.id);
                match self.state.names.get(&*name) {
                    Some(value) => *value,
                    None => self.node(Kind::Global, &name, &[]),
                }
            }
            Expr::Attribute(node) => {
                let name = normalized(&node.attr);
                let object = self.one(&node.value);
                if Some(object) == self.this
                    && let Some(value) = self.state.attributes.get(&*name)
                {
                    return *value;
                }
                match self.global(object).map(|global| format!("{global}.{name}")) {
                    Some(dotted) => self.node(Kind::Global, &dotted, &[]),
                    None => self.node(Kind::Attribute, &name, &[object]),
                }
            }
            _ => unreachable!("it is a name or has an attribute"),
        }
    }
}

/// Whether nothing that follows runs.
fn leaves(statement: &Stmt) -> bool {
    matches!(statement, Stmt::Return(_) | Stmt::Raise(_) | Stmt::Break(_) | Stmt::Continue(_))
}

fn is_function(member: &Stmt) -> bool {
    write::method_name(member).is_some()
}

fn parts_of_function(member: &Stmt) -> Option<(&str, &[Expr], &Arguments, &[Stmt])> {
    match member {
        Stmt::FunctionDef(node) => Some((&node.name, &node.decorator_list, &node.args, &node.body)),
        Stmt::AsyncFunctionDef(node) => Some((&node.name, &node.decorator_list, &node.args, &node.body)),
        _ => None,
    }
}

/// `super().__init__(...)`
fn is_super_constructor(call: &ast::ExprCall) -> bool {
    let Expr::Attribute(function) = &*call.func else { return false };
    let is_super = |object: &Expr| match object {
        Expr::Call(call) => parts::last_name(&call.func) == "super",
        _ => false,
    };
    &*function.attr == "__init__" && is_super(&function.value)
}
