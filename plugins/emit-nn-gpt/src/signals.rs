//! What ChatPrep finds in a text and writes into `meta`, by its rules.

use std::collections::BTreeSet;

use rustpython_parser::ast::{Constant, Expr, ExprCall, Stmt, StmtClassDef};
use serde::Serialize;

use crate::syntax::{Node, nodes};

/// In the order in which ChatPrep writes them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Signals {
    /// Some class has a base that is written `Module` or `….Module`.
    pub(crate) has_module: bool,
    pub(crate) family: &'static str,
    /// The weights of convolutions and linear layers whose sizes are written out.
    pub(crate) param_estimate: u64,
    /// Of all classes at any depth; sorted.
    pub(crate) class_names: BTreeSet<String>,
    /// The last part of the name of what is called, in the order of a walk over the tree.
    pub(crate) calls: Vec<String>,
}

impl Signals {
    /// Of a text that parses into `suite`.
    pub(crate) fn of(text: &str, suite: &[Stmt]) -> Self {
        let mut signals = Self {
            has_module: false,
            family: "generic",
            param_estimate: 0,
            class_names: BTreeSet::new(),
            calls: Vec::new(),
        };
        for node in nodes(suite) {
            match node {
                Node::Statement(Stmt::ClassDef(class)) => signals.add_class(class),
                Node::Expression(Expr::Call(call)) => signals.add_call(call),
                _ => {}
            }
        }
        signals.family = family(&text.to_lowercase(), &signals.calls);
        signals
    }

    fn add_class(&mut self, class: &StmtClassDef) {
        self.class_names.insert(class.name.to_string());
        self.has_module |= class.bases.iter().any(|base| last_part(base) == Some("Module"));
    }

    fn add_call(&mut self, call: &ExprCall) {
        let Some(name) = last_part(&call.func) else { return };
        self.calls.push(name.to_owned());
        let weights = match name {
            "Conv2d" => convolution_weights(call),
            "Linear" => Some(integer(call, "in_features", 0).saturating_mul(integer(call, "out_features", 1))),
            _ => None,
        };
        self.param_estimate = self.param_estimate.saturating_add(weights.unwrap_or(0));
    }
}

/// `Conv2d` of `nn.Conv2d`; none of what is neither a name nor an attribute.
fn last_part(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Name(node) => Some(&node.id),
        Expr::Attribute(node) => Some(&node.attr),
        _ => None,
    }
}

/// The first family of which there is a sign. A word counts wherever it stands in the text, `add` in `padding` too.
fn family(lower_case: &str, calls: &[String]) -> &'static str {
    let is_written = |words: &[&str]| words.iter().any(|word| lower_case.contains(word));
    let is_called = |names: &[&str]| calls.iter().any(|call| names.contains(&call.as_str()));
    if is_written(&["fractalblock", "fractalunit", "fractal_fn"]) {
        "fractal"
    } else if is_called(&["MultiheadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer"]) {
        "transformer"
    } else if is_written(&["depthwise", "mobilenet"]) {
        "mobile"
    } else if is_written(&["residual", "basicblock", "bottleneck", "add", "identity"]) {
        "resnet"
    } else if is_written(&["dense"]) {
        "densenet"
    } else if is_called(&["MaxPool2d"]) {
        "vgg"
    } else {
        "generic"
    }
}

/// None where the kernel's size is a tuple that starts with something else than a number.
fn convolution_weights(call: &ExprCall) -> Option<u64> {
    let kernel = kernel_size(call)?;
    let channels = integer(call, "in_channels", 0).saturating_mul(integer(call, "out_channels", 1));
    Some(channels.saturating_mul(kernel).saturating_mul(kernel))
}

/// The argument of this name, or else at this position, where it is an integer that is written out; or else 0.
fn integer(call: &ExprCall, name: &str, position: usize) -> u64 {
    let keywords = keyword_values(call, name).filter_map(written_integer);
    keywords.chain(call.args.get(position).and_then(written_integer)).next().unwrap_or(0)
}

/// Of a tuple the first element; 3 where nothing is written out.
fn kernel_size(call: &ExprCall) -> Option<u64> {
    for value in keyword_values(call, "kernel_size").chain(call.args.get(2)) {
        match value {
            Expr::Tuple(tuple) if tuple.elts.first().is_some_and(Expr::is_constant_expr) => {
                return tuple.elts.first().and_then(written_number);
            }
            value => {
                if let Some(size) = written_integer(value) {
                    return Some(size);
                }
            }
        }
    }
    Some(3)
}

fn keyword_values<'c>(call: &'c ExprCall, name: &'c str) -> impl Iterator<Item = &'c Expr> {
    let is_asked_for = move |argument: &Option<rustpython_parser::ast::Identifier>| {
        argument.as_ref().is_some_and(|argument| argument.as_str() == name)
    };
    call.keywords.iter().filter(move |keyword| is_asked_for(&keyword.arg)).map(|keyword| &keyword.value)
}

/// A truth value is an integer in Python.
fn written_integer(expression: &Expr) -> Option<u64> {
    let Expr::Constant(constant) = expression else { return None };
    match &constant.value {
        Constant::Int(value) => Some(u64::try_from(value).unwrap_or(u64::MAX)),
        Constant::Bool(value) => Some(u64::from(*value)),
        _ => None,
    }
}

/// As `int` makes it of a number.
fn written_number(expression: &Expr) -> Option<u64> {
    let truncated = |constant: &Constant| match constant {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a literal has no sign, and is cut"
        )]
        Constant::Float(value) => Some(*value as u64),
        _ => None,
    };
    let Expr::Constant(constant) = expression else { return None };
    written_integer(expression).or_else(|| truncated(&constant.value))
}
