//! What two copies of a network may differ in: annotations, documentation, checks, messages, initial weights, registries.

use rustpython_parser::ast::{self, Arguments, Expr, Stmt};

use super::{liveness, parts};
use crate::syntax::names::normalized;

/// The first names of what warns.
const WARNING_MODULE: &str = "warnings";

/// The last names of methods of loggers, and of functions that warn.
const MESSAGES: [&str; 6] = ["warn", "warning", "warning_once", "deprecation_warning", "info", "debug"];

/// The last part of the name of `torch.nn.init`, and of the modules that code bases have for the like.
const INITIALISING_MODULE: &str = "init";

/// The methods that initialise weights, by the conventions of PyTorch and of what is built on it.
const INITIALISING_METHODS: [&str; 6] =
    ["init_weights", "_init_weights", "init_weight", "_init_weight", "reset_parameters", "_reset_parameters"];

/// The functions of `torch.nn.init`, which are also imported by themselves.
const INITIALISERS: [&str; 14] = [
    "uniform_",
    "normal_",
    "trunc_normal_",
    "constant_",
    "ones_",
    "zeros_",
    "eye_",
    "dirac_",
    "xavier_uniform_",
    "xavier_normal_",
    "kaiming_uniform_",
    "kaiming_normal_",
    "orthogonal_",
    "sparse_",
];

/// Methods that describe an object to people.
const DESCRIBING_METHODS: [&str; 3] = ["__repr__", "__str__", "extra_repr"];

/// The statements without what does not change the network.
pub(super) fn stripped(body: Vec<Stmt>) -> Vec<Stmt> {
    body.into_iter().flat_map(statement).collect()
}

/// What is left of a statement: itself, nothing, or what stands in it.
fn statement(mut statement: Stmt) -> Vec<Stmt> {
    if is_beside_the_point(&statement) {
        return Vec::new();
    }
    for body in parts::bodies_mut(&mut statement) {
        *body = stripped(std::mem::take(body));
    }
    match statement {
        Stmt::FunctionDef(mut node) => {
            node.decorator_list.retain(|decorator| !is_registration(decorator));
            liveness::sweep(&mut node.body);
            vec![Stmt::FunctionDef(node)]
        }
        Stmt::AsyncFunctionDef(mut node) => {
            node.decorator_list.retain(|decorator| !is_registration(decorator));
            liveness::sweep(&mut node.body);
            vec![Stmt::AsyncFunctionDef(node)]
        }
        Stmt::ClassDef(mut node) => {
            node.decorator_list.retain(|decorator| !is_registration(decorator));
            node.body.retain(is_telling_member);
            vec![Stmt::ClassDef(node)]
        }
        Stmt::AnnAssign(node) => match node.value {
            Some(value) => {
                let targets = vec![*node.target];
                vec![Stmt::Assign(ast::StmtAssign { range: node.range, targets, value, type_comment: None })]
            }
            None => Vec::new(),
        },
        Stmt::If(_) if binds_in_passing(&statement) => vec![statement],
        Stmt::If(node) => if_statement(node),
        Stmt::For(node) if node.body.is_empty() && node.orelse.is_empty() => Vec::new(),
        Stmt::With(mut node) => {
            node.items.retain(|item| !is_about_warnings(&item.context_expr));
            if node.items.is_empty() || node.body.is_empty() { node.body } else { vec![Stmt::With(node)] }
        }
        Stmt::Try(node) if node.body.is_empty() => [node.orelse, node.finalbody].concat(),
        other => vec![other],
    }
}

/// A branch that only raises is a check.
fn if_statement(mut node: ast::StmtIf) -> Vec<Stmt> {
    let only_raises = |body: &[Stmt]| body.iter().all(Stmt::is_raise_stmt);
    if only_raises(&node.orelse) {
        node.orelse.clear();
    }
    match (only_raises(&node.body), node.orelse.is_empty()) {
        (false, _) => vec![Stmt::If(node)],
        (true, true) => Vec::new(),
        (true, false) if !node.body.is_empty() => node.orelse,
        (true, false) => {
            let operand = std::mem::replace(&mut node.test, Box::new(none(node.range)));
            let negated = ast::ExprUnaryOp { range: node.range, op: ast::UnaryOp::Not, operand };
            node.test = Box::new(Expr::UnaryOp(negated));
            node.body = std::mem::take(&mut node.orelse);
            vec![Stmt::If(node)]
        }
    }
}

fn none(range: rustpython_parser::text_size::TextRange) -> Expr {
    Expr::Constant(ast::ExprConstant { range, value: ast::Constant::None, kind: None })
}

fn is_beside_the_point(statement: &Stmt) -> bool {
    if binds_in_passing(statement) {
        return false;
    }
    match statement {
        Stmt::Pass(_) | Stmt::Assert(_) => true,
        Stmt::Expr(node) => match &*node.value {
            Expr::Constant(_) => true,
            Expr::Call(call) => is_message(&call.func) || is_initialisation(&call.func),
            _ => false,
        },
        _ => false,
    }
}

/// Whether an expression of the statement binds a name with `:=`.
fn binds_in_passing(statement: &Stmt) -> bool {
    let mut found = false;
    for head in parts::heads(statement) {
        parts::each(head, &mut |expression| found |= expression.is_named_expr_expr());
    }
    found
}

fn is_message(function: &Expr) -> bool {
    let Some(path) = parts::dotted(function) else { return false };
    match path.rsplit_once('.') {
        None => path == "print",
        Some((object, name)) => object == WARNING_MODULE || MESSAGES.contains(&name),
    }
}

fn is_about_warnings(expression: &Expr) -> bool {
    let Expr::Call(call) = expression else { return false };
    parts::dotted(&call.func).is_some_and(|path| path.starts_with("warnings."))
}

fn is_initialisation(function: &Expr) -> bool {
    let Some(path) = parts::dotted(function) else { return false };
    match path.rsplit_once('.') {
        None => INITIALISERS.contains(&&*path) || path.ends_with("_init"),
        Some((object, name)) => {
            // `nn.init.zeros_`, not `self.init.append`.
            let is_module = object.rsplit('.').next() == Some(INITIALISING_MODULE) && name.ends_with('_');
            is_module || INITIALISING_METHODS.contains(&name)
        }
    }
}

/// `@MODELS.register_module()`, `@register_model`
fn is_registration(decorator: &Expr) -> bool {
    parts::last_name(decorator).starts_with("register")
}

fn is_telling_member(member: &Stmt) -> bool {
    let Stmt::FunctionDef(method) = member else { return true };
    let name = method.name.as_str();
    !INITIALISING_METHODS.contains(&name) && !DESCRIBING_METHODS.contains(&name)
}

/// Whether a method hands all that it gets to the same method of a base, and does nothing else.
pub(super) fn only_forwards(method: &ast::StmtFunctionDef, class: &str) -> bool {
    let [statement] = &method.body[..] else { return false };
    if !method.decorator_list.is_empty() {
        return false;
    }
    let value = match statement {
        Stmt::Expr(node) if method.name.as_str() == "__init__" => &node.value,
        Stmt::Return(ast::StmtReturn { value: Some(value), .. }) => value,
        _ => return false,
    };
    let Expr::Call(call) = &**value else { return false };
    let Expr::Attribute(function) = &*call.func else { return false };
    let is_super = matches!(&*function.value, Expr::Call(call) if is_own_super(call, class));
    is_super && function.attr == method.name && hands_on(&method.args, call)
}

/// `super()`, or `super(Block, self)` in the class `Block`.
pub(super) fn is_own_super(call: &ast::ExprCall, class: &str) -> bool {
    let is_super = matches!(&*call.func, Expr::Name(function) if function.id.as_str() == "super");
    is_super
        && match &call.args[..] {
            [] => true,
            [Expr::Name(first), Expr::Name(_)] => *normalized(&first.id) == *class,
            _ => false,
        }
}

/// Whether the arguments of a call are the parameters but for `self`, each in its place or by its name.
fn hands_on(parameters: &Arguments, call: &ast::ExprCall) -> bool {
    let Arguments { posonlyargs, args, vararg, kwonlyargs, kwarg, .. } = parameters;
    if !posonlyargs.is_empty() {
        return false;
    }
    let named: Vec<&str> = args.iter().skip(1).map(|argument| argument.def.arg.as_str()).collect();
    let is_name = |expression: &Expr, name: &str| matches!(expression, Expr::Name(node) if node.id.as_str() == name);
    let is_own = |parameter: &Option<Box<ast::Arg>>, expression: &Expr| {
        parameter.as_ref().is_some_and(|parameter| is_name(expression, &parameter.arg))
    };
    let mut handed: Vec<&str> = Vec::new();
    let (mut rest, mut keywords) = (vararg.is_none(), kwarg.is_none());
    for (place, argument) in call.args.iter().enumerate() {
        match argument {
            Expr::Starred(node) if is_own(vararg, &node.value) => rest = true,
            Expr::Name(node) if named.get(place) == Some(&node.id.as_str()) => handed.push(node.id.as_str()),
            _ => return false,
        }
    }
    for keyword in &call.keywords {
        match &keyword.arg {
            Some(name) if is_name(&keyword.value, name) => handed.push(name.as_str()),
            None if is_own(kwarg, &keyword.value) => keywords = true,
            _ => return false,
        }
    }
    let wanted = named.into_iter().chain(kwonlyargs.iter().map(|argument| argument.def.arg.as_str()));
    rest && keywords && wanted.into_iter().all(|name| handed.contains(&name))
}
