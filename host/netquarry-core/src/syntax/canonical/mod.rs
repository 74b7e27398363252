//! Statements in canonical form: two ways to write the same network become the same tokens.
//!
//! What does not change the network is left out: comments, docstrings, annotations, checks and messages, how weights are
//! initialised, what enters a class into a registry ([`strip`]); and statements whose results nobody reads
//! ([`liveness`]). Of the rest, local names become numbers in the order in which they come, members of classes and
//! keyword arguments are sorted by name, numbers that are no axis, index or count become one ([`write`](mod@write)). What a
//! global name means is for the caller to say, who has all statements, and so is whether the attributes of a class may be
//! numbered too: each has its number and its name.
//!
//! Two statements with the same tokens, whose global names mean the same, are meant to compute the same but for constants and
//! initial weights. That is a rule of thumb and no proof: the names of parameters are left out, and what code does with
//! its own names (`locals()`) or when statements that bind nothing run is not looked at. Not so the other way round at all.

mod bindings;
mod flow;
mod liveness;
mod parts;
mod strip;
mod write;

use rustpython_parser::ast::{ArgWithDefault, Arguments, Stmt, StmtClassDef, StmtFunctionDef};

use super::names::normalized;
use super::parse;
use crate::facts::Diagnostic;

/// Stands for every number that is no axis, index or count.
pub const CANONICAL_NUMBER: &str = "NUM";

/// A top-level statement of which something is left.
#[derive(Clone, Debug, Default)]
pub struct CanonicalStatement {
    /// The global names that it binds otherwise than by imports.
    pub bound: Vec<Box<str>>,
    /// The global names of what it changes without binding a name: `TABLE["key"] = nn.ReLU`.
    pub changed: Vec<Box<str>>,
    /// The names that it imports, and the dotted path of each.
    pub imports: Vec<(Box<str>, Box<str>)>,
    pub class: Option<CanonicalClass>,
    pub tokens: CanonicalTokens,
    pub flow: CanonicalFlow,
}

#[derive(Clone, Debug)]
pub struct CanonicalClass {
    /// The dotted names of its bases; `None` for what is no name, and for keywords.
    pub bases: Vec<Option<Box<str>>>,
    pub methods: Vec<CanonicalMethod>,
    /// The tokens without the methods that only forward; `None` where there are no such methods.
    pub without_forwarding: Option<CanonicalTokens>,
    /// It has no members but methods that only forward.
    pub is_empty: bool,
}

#[derive(Clone, Debug)]
pub struct CanonicalMethod {
    pub name: Box<str>,
    /// The parameters that have one.
    pub defaults: Vec<(Box<str>, Box<str>)>,
    /// It hands all that it gets to the same method of a base, and does nothing else.
    pub only_forwards: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CanonicalKind {
    /// A keyword, a bracket, a constant, or the name of a member of a class.
    Fixed,
    Operator,
    /// A call, with the last name of what is called; that follows, and then its arguments in parentheses.
    Call,
    /// A name that a function binds, by its number in the outermost function.
    Local(u32),
    /// An attribute that a class binds on `self`, by its number in the class. Its text is its name.
    OwnAttribute(u32),
    /// Another attribute.
    Attribute,
    /// A global name, with the attributes behind it: `nn.Linear`.
    Global,
    /// A string, without quotes.
    String,
}

#[derive(Clone, Debug, Default)]
pub struct CanonicalTokens {
    text: String,
    /// What each token is, and where its text ends.
    tokens: Vec<(CanonicalKind, u32)>,
}

impl CanonicalTokens {
    pub fn iter(&self) -> impl Iterator<Item = (CanonicalKind, &str)> {
        let mut start = 0;
        self.tokens.iter().map(move |(kind, end)| {
            let text = &self.text[start..*end as usize];
            start = *end as usize;
            (*kind, text)
        })
    }

    fn push(&mut self, kind: CanonicalKind, text: &str) {
        self.text.push_str(text);
        self.tokens.push((kind, u32::try_from(self.text.len()).expect("a statement is under 4 GiB")));
    }
}

/// Values that functions compute, and what they are computed from.
#[derive(Clone, Debug, Default)]
pub struct CanonicalFlow {
    text: String,
    nodes: Vec<Node>,
    operands: Vec<u32>,
    /// What functions give and do, what constructors bind, and the members of a class.
    pub results: Vec<FlowResult>,
}

#[derive(Clone, Debug)]
pub struct FlowResult {
    /// The method of a class that it is of; empty for anything else.
    pub method: Box<str>,
    pub node: u32,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    kind: CanonicalKind,
    /// Where its text ends, and its operands.
    text: u32,
    operands: u32,
}

impl CanonicalFlow {
    /// What each value is, and the numbers of those that it is computed from, which come before it. What is called is
    /// the first operand of a call.
    pub fn iter(&self) -> impl Iterator<Item = (CanonicalKind, &str, &[u32])> {
        (0..self.count()).map(|number| self.node(number))
    }

    fn count(&self) -> u32 {
        u32::try_from(self.nodes.len()).expect("a statement is under 4 GiB")
    }

    fn node(&self, number: u32) -> (CanonicalKind, &str, &[u32]) {
        let number = number as usize;
        let start =
            number.checked_sub(1).map_or((0, 0), |before| (self.nodes[before].text, self.nodes[before].operands));
        let Node { kind, text, operands } = self.nodes[number];
        let (text_start, operands_start) = start;
        (
            kind,
            &self.text[text_start as usize..text as usize],
            &self.operands[operands_start as usize..operands as usize],
        )
    }

    fn push(&mut self, kind: CanonicalKind, text: &str, operands: &[u32]) -> u32 {
        let end = |length: usize| u32::try_from(length).expect("a statement is under 4 GiB");
        self.text.push_str(text);
        self.operands.extend(operands);
        self.nodes.push(Node { kind, text: end(self.text.len()), operands: end(self.operands.len()) });
        self.count() - 1
    }
}

/// The top-level statements of a text.
///
/// # Errors
/// The text does not parse.
pub fn canonical(text: &str) -> Result<Vec<CanonicalStatement>, Diagnostic> {
    Ok(strip::stripped(parse::parse(text)?.body).iter().map(statement).collect())
}

fn statement(statement: &Stmt) -> CanonicalStatement {
    let bindings::Bindings { names, imports } = bindings::of(std::slice::from_ref(statement));
    let class = match statement {
        Stmt::ClassDef(node) => Some(class(node)),
        _ => None,
    };
    let changed = bindings::changed(statement);
    CanonicalStatement {
        bound: names,
        changed,
        imports,
        class,
        tokens: write::tokens(statement),
        flow: flow::flow(statement),
    }
}

fn class(node: &StmtClassDef) -> CanonicalClass {
    let bases = node.bases.iter().map(|base| parts::dotted(base).map(Into::into));
    let name = normalized(&node.name);
    let mut rest = node.clone();
    rest.body.retain(|member| !matches!(member, Stmt::FunctionDef(method) if strip::only_forwards(method, &name)));
    CanonicalClass {
        bases: bases.chain(node.keywords.iter().map(|_| None)).collect(),
        methods: node.body.iter().filter_map(Stmt::as_function_def_stmt).map(|own| method(own, &name)).collect(),
        is_empty: rest.body.is_empty() && node.decorator_list.is_empty(),
        without_forwarding: (rest.body.len() < node.body.len()).then(|| write::tokens(&Stmt::ClassDef(rest))),
    }
}

fn method(node: &StmtFunctionDef, class: &str) -> CanonicalMethod {
    let Arguments { posonlyargs, args, kwonlyargs, .. } = &*node.args;
    let default = |argument: &ArgWithDefault| {
        let default = argument.default.as_deref()?;
        Some((argument.def.arg.as_str().into(), write::text(default)))
    };
    CanonicalMethod {
        name: node.name.as_str().into(),
        defaults: posonlyargs.iter().chain(args).chain(kwonlyargs).filter_map(default).collect(),
        only_forwards: strip::only_forwards(node, class),
    }
}
