//! Statements as canonical tokens.

use std::collections::{HashMap, HashSet};

use rustpython_parser::ast::{self, Arguments, Constant, Expr, Pattern, Stmt};

use super::bindings::{self, Bindings};
use super::{CANONICAL_NUMBER, CanonicalKind as Kind, CanonicalTokens, parts, strip};
use crate::syntax::names::normalized;

/// Keyword arguments whose numbers say where, not how much.
const AXES: [&str; 8] = ["dim", "dims", "axis", "axes", "start_dim", "end_dim", "dim0", "dim1"];

/// What gets such a number by its place too: layers of torch that work along an axis.
const ALONG_AXES: [&str; 7] = ["Softmax", "LogSoftmax", "Softmin", "GLU", "Flatten", "Unflatten", "CosineSimilarity"];

pub(super) fn tokens(statement: &Stmt) -> CanonicalTokens {
    let mut writer = Writer { is_whole: parts::is_definition(statement), ..Writer::default() };
    writer.statement(statement);
    writer.tokens
}

/// An expression outside of every function, as one text.
pub(super) fn text(expression: &Expr) -> Box<str> {
    let mut writer = Writer::default();
    writer.expression(expression, Numbers::Constant);
    writer.tokens.iter().map(|(_, text)| text).collect::<Vec<_>>().join(" ").into()
}

#[derive(Default)]
struct Writer {
    /// A definition at the top level comes next.
    is_whole: bool,
    tokens: CanonicalTokens,
    scopes: Vec<Scope>,
    /// The classes around.
    classes: Vec<Class>,
    /// The number of the next local name of the outermost function.
    next_local: u32,
}

struct Class {
    name: Box<str>,
    /// What it binds on `self`.
    attributes: HashMap<Box<str>, u32>,
}

enum Scope {
    /// A function, lambda or comprehension.
    Function(HashMap<Box<str>, Local>),
    /// Its names are attributes, and keep their names.
    Class(HashSet<Box<str>>),
}

enum Local {
    /// It gets its number where it comes first.
    Unnumbered,
    Number(u32),
    /// It stands for this path.
    Imported(Box<str>),
}

/// What a name means where it stands.
enum Meaning {
    Local(u32),
    Path(Box<str>),
    Member,
    Global,
}

/// Whether numbers are constants that copies differ in, or say which axis, element or case is meant.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Numbers {
    Constant,
    Telling,
}

impl Writer {
    fn fixed(&mut self, text: &str) {
        self.tokens.push(Kind::Fixed, text);
    }

    fn statements(&mut self, body: &[Stmt]) {
        self.fixed("{");
        body.iter().for_each(|statement| self.statement(statement));
        self.fixed("}");
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::FunctionDef(node) => {
                self.defined(&node.name);
                self.function("def", &node.decorator_list, &node.args, &node.body);
            }
            Stmt::AsyncFunctionDef(node) => {
                self.defined(&node.name);
                self.function("async def", &node.decorator_list, &node.args, &node.body);
            }
            Stmt::ClassDef(node) => {
                self.defined(&node.name);
                self.class(node);
            }
            Stmt::Assign(node) => {
                self.fixed("=");
                self.expression(&node.value, Numbers::Constant);
                self.all(&node.targets);
            }
            Stmt::AugAssign(node) => {
                self.tokens.push(Kind::Operator, operator(node.op));
                self.fixed("=");
                self.expression(&node.value, Numbers::Constant);
                self.one(&node.target);
            }
            Stmt::For(node) => self.loop_over("for", [&*node.iter, &*node.target], &node.body, &node.orelse),
            Stmt::AsyncFor(node) => {
                self.loop_over("async for", [&*node.iter, &*node.target], &node.body, &node.orelse);
            }
            Stmt::While(node) => self.loop_over("while", [&*node.test], &node.body, &node.orelse),
            Stmt::If(node) => self.loop_over("if", [&*node.test], &node.body, &node.orelse),
            Stmt::With(node) => self.with("with", &node.items, &node.body),
            Stmt::AsyncWith(node) => self.with("async with", &node.items, &node.body),
            Stmt::Match(node) => {
                self.fixed("match");
                self.one(&node.subject);
                for case in &node.cases {
                    self.fixed("case");
                    self.pattern(&case.pattern);
                    case.guard.iter().for_each(|guard| self.one(guard));
                    self.statements(&case.body);
                }
            }
            Stmt::Try(node) => self.try_statement(&node.body, &node.handlers, [&node.orelse, &node.finalbody]),
            Stmt::TryStar(node) => self.try_statement(&node.body, &node.handlers, [&node.orelse, &node.finalbody]),
            Stmt::Return(node) => {
                self.word("return", node.value.as_deref());
            }
            Stmt::Delete(node) => {
                self.fixed("del");
                self.all(&node.targets);
            }
            // With which message does not matter.
            Stmt::Raise(_) => self.fixed("raise"),
            Stmt::Break(_) => self.fixed("break"),
            Stmt::Continue(_) => self.fixed("continue"),
            Stmt::Expr(node) => {
                self.fixed(";");
                self.one(&node.value);
            }
            Stmt::TypeAlias(node) => {
                self.fixed("type");
                self.one(&node.value);
            }
            Stmt::Import(_) | Stmt::ImportFrom(_) => self.import(statement),
            // They say where names are bound.
            Stmt::Global(_) | Stmt::Nonlocal(_) => {}
            // Nothing of them is left.
            Stmt::AnnAssign(_) | Stmt::Assert(_) | Stmt::Pass(_) => {}
        }
    }

    /// In a function, names stand for what they import; one at the top level that stands in another statement is one of
    /// its cases.
    fn import(&mut self, statement: &Stmt) {
        if self.scopes.is_empty() {
            for (name, path) in bindings::of(std::slice::from_ref(statement)).imports {
                self.fixed("import");
                self.fixed(&path);
                self.tokens.push(Kind::Global, &name);
            }
        }
    }

    fn loop_over<const COUNT: usize>(&mut self, word: &str, heads: [&Expr; COUNT], body: &[Stmt], otherwise: &[Stmt]) {
        self.fixed(word);
        heads.into_iter().for_each(|head| self.one(head));
        self.statements(body);
        self.otherwise("else", otherwise);
    }

    fn otherwise(&mut self, word: &str, body: &[Stmt]) {
        if !body.is_empty() {
            self.fixed(word);
            self.statements(body);
        }
    }

    fn with(&mut self, word: &str, items: &[ast::WithItem], body: &[Stmt]) {
        self.fixed(word);
        for item in items {
            self.one(&item.context_expr);
            if let Some(target) = &item.optional_vars {
                self.word("as", Some(target));
            }
        }
        self.statements(body);
    }

    fn try_statement(&mut self, body: &[Stmt], handlers: &[ast::ExceptHandler], rest: [&Vec<Stmt>; 2]) {
        self.fixed("try");
        self.statements(body);
        for ast::ExceptHandler::ExceptHandler(handler) in handlers {
            self.fixed("except");
            handler.type_.iter().for_each(|error| self.one(error));
            handler.name.iter().for_each(|name| self.name(name));
            self.statements(&handler.body);
        }
        self.otherwise("else", rest[0]);
        self.otherwise("finally", rest[1]);
    }

    fn pattern(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::MatchValue(node) => self.one(&node.value),
            Pattern::MatchSingleton(node) => self.constant(&node.value, Numbers::Telling),
            Pattern::MatchSequence(_) => self.fixed("[]"),
            Pattern::MatchMapping(node) => {
                self.fixed("{}");
                self.all(&node.keys);
                node.rest.iter().for_each(|name| self.name(name));
            }
            Pattern::MatchClass(node) => {
                self.one(&node.cls);
                node.kwd_attrs.iter().for_each(|name| self.fixed(name));
            }
            Pattern::MatchStar(node) => {
                self.fixed("*");
                node.name.iter().for_each(|name| self.name(name));
            }
            Pattern::MatchAs(node) => {
                self.fixed("as");
                node.name.iter().for_each(|name| self.name(name));
            }
            Pattern::MatchOr(_) => self.fixed("|"),
        }
        self.fixed("(");
        parts::inner_patterns(pattern).into_iter().for_each(|inner| self.pattern(inner));
        self.fixed(")");
    }

    /// The name of a nested definition; that of one at the top level is no part of what it is.
    fn defined(&mut self, name: &str) {
        if !self.is_whole {
            self.name(name);
        }
        self.is_whole = false;
    }

    fn class(&mut self, node: &ast::StmtClassDef) {
        self.fixed("class");
        self.decorators(&node.decorator_list);
        self.fixed("(");
        self.all(&node.bases);
        self.keywords(&node.keywords, Numbers::Telling);
        self.fixed(")");
        let Bindings { names, imports } = bindings::of(&node.body);
        let members = names.into_iter().chain(imports.into_iter().map(|(name, _)| name)).collect();
        let attributes = own_attributes(&node.body, &members);
        self.classes.push(Class { name: normalized(&node.name).into(), attributes });
        self.scopes.push(Scope::Class(members));
        let (mut methods, others): (Vec<&Stmt>, Vec<&Stmt>) =
            node.body.iter().partition(|member| method_name(member).is_some());
        methods.sort_by_key(|method| method_name(method));
        self.fixed("{");
        others.into_iter().chain(methods).for_each(|member| self.statement(member));
        self.fixed("}");
        self.scopes.pop();
        self.classes.pop();
    }

    fn function(&mut self, word: &str, decorators: &[Expr], arguments: &Arguments, body: &[Stmt]) {
        self.fixed(word);
        self.decorators(decorators);
        self.parameters(arguments);
        let Bindings { names, imports } = bindings::of(body);
        let names = names.into_iter().map(|name| (name, Local::Unnumbered));
        let imports = imports.into_iter().map(|(name, path)| (name, Local::Imported(path)));
        self.inside(arguments, names.chain(imports).collect(), |writer| writer.statements(body));
    }

    fn decorators(&mut self, decorators: &[Expr]) {
        for decorator in decorators {
            self.fixed("@");
            self.one(decorator);
        }
    }

    /// How many there are of which kind, and their defaults.
    fn parameters(&mut self, arguments: &Arguments) {
        let Arguments { posonlyargs, args, vararg, kwonlyargs, kwarg, .. } = arguments;
        self.fixed("(");
        posonlyargs.iter().chain(args).for_each(|argument| self.parameter(argument));
        if vararg.is_some() || !kwonlyargs.is_empty() {
            self.fixed(if vararg.is_some() { "*_" } else { "*" });
        }
        kwonlyargs.iter().for_each(|argument| self.parameter(argument));
        if kwarg.is_some() {
            self.fixed("**");
        }
        self.fixed(")");
    }

    fn parameter(&mut self, parameter: &ast::ArgWithDefault) {
        self.fixed("_");
        if let Some(default) = &parameter.default {
            self.fixed("=");
            self.expression(default, Numbers::Constant);
        }
    }

    /// Writes the body of a function with these locals besides its parameters.
    fn inside(&mut self, arguments: &Arguments, mut locals: HashMap<Box<str>, Local>, body: impl FnOnce(&mut Self)) {
        let is_outermost = !self.scopes.iter().any(|scope| matches!(scope, Scope::Function(_)));
        if is_outermost {
            self.next_local = 0;
        }
        let Arguments { posonlyargs, args, vararg, kwonlyargs, kwarg, .. } = arguments;
        let named = posonlyargs.iter().chain(args).map(|argument| &argument.def);
        let parameters = named
            .chain(vararg.as_deref())
            .chain(kwonlyargs.iter().map(|argument| &argument.def))
            .chain(kwarg.as_deref());
        for parameter in parameters {
            locals.insert(normalized(&parameter.arg).into(), Local::Number(self.next_local));
            self.next_local += 1;
        }
        self.scopes.push(Scope::Function(locals));
        body(self);
        self.scopes.pop();
    }

    fn all(&mut self, expressions: &[Expr]) {
        expressions.iter().for_each(|expression| self.one(expression));
    }

    fn one(&mut self, expression: &Expr) {
        self.expression(expression, Numbers::Telling);
    }

    fn expression(&mut self, expression: &Expr, numbers: Numbers) {
        match expression {
            Expr::Name(_) | Expr::Attribute(_) => self.path(expression),
            Expr::Constant(node) => self.constant(&node.value, numbers),
            Expr::Call(node) => self.call(node),
            Expr::BoolOp(node) => {
                let operator = if node.op == ast::BoolOp::And { "and" } else { "or" };
                self.tokens.push(Kind::Operator, operator);
                self.several("(", &node.values, ")", Numbers::Telling);
            }
            Expr::BinOp(node) => {
                self.tokens.push(Kind::Operator, operator(node.op));
                self.expression(&node.left, Numbers::Constant);
                self.expression(&node.right, numbers_of_right(node.op));
            }
            Expr::UnaryOp(node) => {
                self.tokens.push(Kind::Operator, unary_operator(node.op));
                self.expression(&node.operand, numbers);
            }
            Expr::Compare(node) => {
                node.ops.iter().for_each(|compared| self.tokens.push(Kind::Operator, comparison(*compared)));
                self.one(&node.left);
                self.all(&node.comparators);
            }
            Expr::NamedExpr(node) => {
                self.fixed(":=");
                self.one(&node.value);
                self.one(&node.target);
            }
            Expr::Lambda(node) => {
                self.fixed("lambda");
                self.parameters(&node.args);
                self.inside(&node.args, HashMap::new(), |writer| writer.one(&node.body));
            }
            Expr::IfExp(node) => {
                self.fixed("if else");
                self.one(&node.test);
                self.expression(&node.body, numbers);
                self.expression(&node.orelse, numbers);
            }
            Expr::Dict(node) => {
                self.fixed("{");
                for (key, value) in node.keys.iter().zip(&node.values) {
                    match key {
                        Some(key) => self.one(key),
                        None => self.fixed("**"),
                    }
                    self.expression(value, numbers);
                }
                self.fixed("}");
            }
            Expr::Set(node) => self.several("set {", &node.elts, "}", numbers),
            Expr::List(node) => self.several("[", &node.elts, "]", numbers),
            Expr::Tuple(node) => self.several("(", &node.elts, ")", numbers),
            Expr::ListComp(node) => self.comprehension("[", &node.generators, [&*node.elt]),
            Expr::SetComp(node) => self.comprehension("{", &node.generators, [&*node.elt]),
            Expr::GeneratorExp(node) => self.comprehension("(", &node.generators, [&*node.elt]),
            Expr::DictComp(node) => self.comprehension("{:", &node.generators, [&*node.key, &*node.value]),
            Expr::Await(node) => self.word("await", Some(&node.value)),
            Expr::Yield(node) => self.word("yield", node.value.as_deref()),
            Expr::YieldFrom(node) => self.word("yield from", Some(&node.value)),
            Expr::FormattedValue(node) => self.word("%", Some(&node.value)),
            Expr::JoinedStr(node) => self.several("f(", &node.values, ")", Numbers::Telling),
            Expr::Subscript(node) => {
                self.fixed("[]");
                self.expression(&node.value, numbers);
                self.one(&node.slice);
            }
            Expr::Starred(node) => {
                self.fixed("*");
                self.expression(&node.value, numbers);
            }
            Expr::Slice(node) => {
                self.fixed("slice");
                for bound in [&node.lower, &node.upper, &node.step] {
                    match bound {
                        Some(bound) => self.one(bound),
                        None => self.fixed("_"),
                    }
                }
            }
        }
    }

    fn several(&mut self, open: &str, elements: &[Expr], close: &str, numbers: Numbers) {
        self.fixed(open);
        elements.iter().for_each(|element| self.expression(element, numbers));
        self.fixed(close);
    }

    fn word(&mut self, word: &str, value: Option<&Expr>) {
        self.fixed(word);
        match value {
            Some(value) => self.one(value),
            None => self.fixed("_"),
        }
    }

    fn comprehension<const COUNT: usize>(
        &mut self,
        open: &str,
        generators: &[ast::Comprehension],
        elements: [&Expr; COUNT],
    ) {
        self.fixed(open);
        let mut locals = HashMap::new();
        for generator in generators {
            parts::each(&generator.target, &mut |target| {
                if let Expr::Name(node) = target {
                    locals.insert(normalized(&node.id).into(), Local::Unnumbered);
                }
            });
        }
        // The first one is evaluated outside.
        generators.iter().take(1).for_each(|generator| self.one(&generator.iter));
        self.scopes.push(Scope::Function(locals));
        for (number, generator) in generators.iter().enumerate() {
            self.fixed("for");
            if number > 0 {
                self.one(&generator.iter);
            }
            self.one(&generator.target);
            for condition in &generator.ifs {
                self.fixed("if");
                self.one(condition);
            }
        }
        elements.into_iter().for_each(|element| self.one(element));
        self.scopes.pop();
        self.fixed("end");
    }

    fn call(&mut self, node: &ast::ExprCall) {
        let called = parts::last_name(&node.func);
        self.tokens.push(Kind::Call, called);
        self.one(&node.func);
        self.fixed("(");
        // `super(Block, self)` is `super()`.
        if !self.classes.last().is_some_and(|class| strip::is_own_super(node, &class.name)) {
            let numbers = numbers_of_arguments(called);
            node.args.iter().for_each(|argument| self.expression(argument, numbers));
            self.keywords(&node.keywords, Numbers::Constant);
        }
        self.fixed(")");
    }

    fn keywords(&mut self, keywords: &[ast::Keyword], numbers: Numbers) {
        for (name, value) in sorted(keywords) {
            self.fixed(&format!("{name}="));
            self.expression(value, numbers_of_keyword(name, numbers));
        }
    }

    fn constant(&mut self, constant: &Constant, numbers: Numbers) {
        match constant {
            Constant::None => self.fixed("None"),
            Constant::Bool(true) => self.fixed("True"),
            Constant::Bool(false) => self.fixed("False"),
            Constant::Ellipsis => self.fixed("..."),
            Constant::Str(text) => self.tokens.push(Kind::String, text),
            Constant::Bytes(bytes) => {
                self.fixed("b");
                self.tokens.push(Kind::String, &String::from_utf8_lossy(bytes));
            }
            Constant::Int(value) => {
                let digits = value.to_string();
                self.fixed(integer(&digits, numbers));
            }
            Constant::Float(_) | Constant::Complex { .. } => self.fixed(CANONICAL_NUMBER),
            Constant::Tuple(values) => values.iter().for_each(|value| self.constant(value, numbers)),
        }
    }

    /// A name, or what has an attribute.
    fn path(&mut self, expression: &Expr) {
        if let Some(dotted) = parts::dotted(expression) {
            let (root, rest) = dotted.split_once('.').map_or((&*dotted, None), |(root, rest)| (root, Some(rest)));
            match (self.meaning(root), rest) {
                (Meaning::Global, _) => return self.tokens.push(Kind::Global, &dotted),
                (Meaning::Path(path), rest) => {
                    let rest = rest.map(|rest| format!(".{rest}")).unwrap_or_default();
                    return self.fixed(&format!("{path}{rest}"));
                }
                (Meaning::Local(_) | Meaning::Member, _) => {}
            }
        }
        match expression {
            Expr::Attribute(node) => {
                self.one(&node.value);
                self.attribute(&node.value, &normalized(&node.attr));
            }
            Expr::Name(node) => self.name(&node.id),
            _ => unreachable!("it is a name or has an attribute"),
        }
    }

    fn attribute(&mut self, object: &Expr, name: &str) {
        let is_self = match object {
            Expr::Name(node) => matches!(self.meaning(&normalized(&node.id)), Meaning::Local(0)),
            _ => false,
        };
        let own = self.classes.last().and_then(|class| class.attributes.get(name)).filter(|_| is_self);
        let kind = own.map_or(Kind::Attribute, |number| Kind::OwnAttribute(*number));
        self.tokens.push(kind, name);
    }

    /// A name by itself.
    fn name(&mut self, name: &str) {
        let name = normalized(name);
        match self.meaning(&name) {
            Meaning::Local(number) => self.tokens.push(Kind::Local(number), ""),
            Meaning::Path(path) => self.fixed(&path),
            Meaning::Member => self.fixed(&name),
            Meaning::Global => self.tokens.push(Kind::Global, &name),
        }
    }

    fn meaning(&mut self, name: &str) -> Meaning {
        for (around, scope) in self.scopes.iter_mut().rev().enumerate() {
            match scope {
                Scope::Class(names) if around == 0 && names.contains(name) => return Meaning::Member,
                Scope::Class(_) => {}
                Scope::Function(locals) => match locals.get_mut(name) {
                    Some(Local::Number(number)) => return Meaning::Local(*number),
                    Some(Local::Imported(path)) => return Meaning::Path(path.clone()),
                    Some(local @ Local::Unnumbered) => {
                        let number = self.next_local;
                        self.next_local += 1;
                        *local = Local::Number(number);
                        return Meaning::Local(number);
                    }
                    None => {}
                },
            }
        }
        Meaning::Global
    }
}

/// Of the right operand: which power, and how many parts.
pub(super) fn numbers_of_right(operator: ast::Operator) -> Numbers {
    match operator {
        ast::Operator::FloorDiv | ast::Operator::Mod | ast::Operator::Pow => Numbers::Telling,
        _ => Numbers::Constant,
    }
}

/// Of what is given by its place to what has this last name: what makes an object gets widths.
pub(super) fn numbers_of_arguments(called: &str) -> Numbers {
    let constructs = called.trim_start_matches('_').starts_with(char::is_uppercase) || called == "dict";
    if constructs && !takes_axes(called) { Numbers::Constant } else { Numbers::Telling }
}

/// Whether what has this last name is told by its place which axis it works along.
pub(super) fn takes_axes(called: &str) -> bool {
    ALONG_AXES.contains(&called)
}

/// Of a keyword argument, where that of others is `numbers`.
pub(super) fn numbers_of_keyword(name: &str, numbers: Numbers) -> Numbers {
    if AXES.contains(&name) { Numbers::Telling } else { numbers }
}

/// Keyword arguments by their names; `**` for what is unpacked.
pub(super) fn sorted(keywords: &[ast::Keyword]) -> Vec<(&str, &Expr)> {
    let named = keywords.iter().map(|keyword| (keyword.arg.as_deref().unwrap_or("**"), &keyword.value));
    let mut named: Vec<(&str, &Expr)> = named.collect();
    named.sort_by_key(|(name, _)| *name);
    named
}

/// What stands for an integer.
pub(super) fn integer(digits: &str, numbers: Numbers) -> &str {
    if numbers == Numbers::Telling || ["0", "1"].contains(&digits) { digits } else { CANONICAL_NUMBER }
}

pub(super) fn method_name(member: &Stmt) -> Option<&str> {
    match member {
        Stmt::FunctionDef(node) => Some(&node.name),
        Stmt::AsyncFunctionDef(node) => Some(&node.name),
        _ => None,
    }
}

/// What methods bind on their first parameter, in the order of the constructor, the forward pass and the others by name,
/// but for names that are members of the class too.
fn own_attributes(body: &[Stmt], members: &HashSet<Box<str>>) -> HashMap<Box<str>, u32> {
    let mut methods: Vec<(&str, &Arguments, &[Stmt])> = body
        .iter()
        .filter_map(|member| match member {
            Stmt::FunctionDef(node) => Some((node.name.as_str(), &*node.args, &node.body[..])),
            Stmt::AsyncFunctionDef(node) => Some((node.name.as_str(), &*node.args, &node.body[..])),
            _ => None,
        })
        .collect();
    methods.sort_by_key(|(name, ..)| (*name != "__init__", *name != "forward", *name));
    let mut own = HashMap::new();
    for (_, arguments, body) in methods {
        let Some(this) = arguments.posonlyargs.iter().chain(&arguments.args).next() else { continue };
        let is_self = |object: &Expr| matches!(object, Expr::Name(node) if node.id == this.def.arg);
        parts::each_in(body, &mut |expression| {
            if let Expr::Attribute(node) = expression
                && parts::is_bound(node.ctx)
                && is_self(&node.value)
                && !members.contains(&*normalized(&node.attr))
            {
                let next = u32::try_from(own.len()).expect("a class has fewer attributes than bytes");
                own.entry(normalized(&node.attr).into()).or_insert(next);
            }
        });
    }
    own
}

pub(super) fn operator(operator: ast::Operator) -> &'static str {
    match operator {
        ast::Operator::Add => "+",
        ast::Operator::Sub => "-",
        ast::Operator::Mult => "*",
        ast::Operator::MatMult => "@",
        ast::Operator::Div => "/",
        ast::Operator::Mod => "%",
        ast::Operator::Pow => "**",
        ast::Operator::LShift => "<<",
        ast::Operator::RShift => ">>",
        ast::Operator::BitOr => "|",
        ast::Operator::BitXor => "^",
        ast::Operator::BitAnd => "&",
        ast::Operator::FloorDiv => "//",
    }
}

pub(super) fn unary_operator(operator: ast::UnaryOp) -> &'static str {
    match operator {
        ast::UnaryOp::Invert => "~",
        ast::UnaryOp::Not => "not",
        ast::UnaryOp::UAdd => "+x",
        ast::UnaryOp::USub => "-x",
    }
}

pub(super) fn comparison(comparison: ast::CmpOp) -> &'static str {
    match comparison {
        ast::CmpOp::Eq => "==",
        ast::CmpOp::NotEq => "!=",
        ast::CmpOp::Lt => "<",
        ast::CmpOp::LtE => "<=",
        ast::CmpOp::Gt => ">",
        ast::CmpOp::GtE => ">=",
        ast::CmpOp::Is => "is",
        ast::CmpOp::IsNot => "is not",
        ast::CmpOp::In => "in",
        ast::CmpOp::NotIn => "not in",
    }
}
