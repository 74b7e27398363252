//! Blocks in canonical form, with all that they reach.
//!
//! What a block is depends on the definitions of its code that it names, and on what these name. Each of them gets a
//! number in the order in which it is reached, so that neither names nor what else the code holds matter.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::tokens::{NormalisedTokens, code_tokens};
use crate::dedup::CanonicalView;
use crate::syntax::{
    self, CANONICAL_NUMBER, CanonicalClass, CanonicalFlow, CanonicalKind as Kind, CanonicalMethod, CanonicalStatement,
    CanonicalTokens,
};

/// The last names of bases outside of the code that leave the attributes of a class alone.
const NEUTRAL_BASES: [&str; 3] = ["Module", "object", "ABC"];

/// What asks for attributes by names that are values.
const REFLECTING: [&str; 12] = [
    "getattr",
    "setattr",
    "hasattr",
    "delattr",
    "vars",
    "locals",
    "__dict__",
    "_modules",
    "_parameters",
    "_buffers",
    "get_submodule",
    "state_dict",
];

/// What `torch.nn.Module` itself reads.
const OF_MODULES: [&str; 3] = ["training", "forward", "call_super_init"];

/// What is called for a type, a length or a copy says nothing about a network.
const PLAIN_CALLS: [&str; 7] = ["super", "isinstance", "len", "list", "tuple", "dict", "deepcopy"];

/// A SHA-256.
type Digested = [u8; 32];

/// The statements of a code that is read at once; `None` where it does not parse.
pub(super) fn statements(code: &str) -> Option<Vec<Arc<[CanonicalStatement]>>> {
    Some(vec![syntax::canonical(code).ok()?.into()])
}

/// What stands for the canonical form of a code without definitions: its tokens, or their digest; where there are none either,
/// the digest of the code, so that no two of the kind are alike.
pub(super) fn without_definitions(code: &str, name: &str, view: CanonicalView) -> NormalisedTokens {
    let tokens = code_tokens(code, name);
    let text = if tokens.is_empty() { code } else { tokens.slice(0, tokens.len()) };
    if view != CanonicalView::Digest && !tokens.is_empty() {
        return tokens;
    }
    let mut digest = NormalisedTokens::default();
    digest.push(&hexadecimal(&Sha256::digest(text)));
    digest
}

fn hexadecimal(digest: &[u8]) -> String {
    digest.iter().fold(String::with_capacity(2 * digest.len()), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

/// A block of a code with these statements.
pub(super) struct Block<'s> {
    definitions: Definitions<'s>,
    /// The names of its definitions.
    names: Vec<&'s str>,
}

impl<'s> Block<'s> {
    /// The definition of that name, or all definitions where there is none; `None` where there are none at all.
    pub(super) fn new(statements: &'s [Arc<[CanonicalStatement]>], name: &str) -> Option<Self> {
        let definitions = Definitions::new(statements);
        let names = match definitions.by_name.contains_key(name) {
            true => vec![definitions.forwarded(name)],
            false => definitions.names.clone(),
        };
        (!names.is_empty()).then_some(Self { definitions, names })
    }

    pub(super) fn view(&self, view: CanonicalView) -> NormalisedTokens {
        let Self { definitions, names } = self;
        match view {
            CanonicalView::Tokens => definitions.tokens(names),
            CanonicalView::Operations => definitions.operations(names),
            CanonicalView::ReachedOperations => definitions.operations(&definitions.reach(names).names),
            CanonicalView::Flow => definitions.flow(names),
            CanonicalView::Digest => {
                let mut tokens = NormalisedTokens::default();
                tokens.push(&definitions.digest(names));
                tokens
            }
        }
    }
}

/// Each of them, as often as it is there: `+/1`, `+/2`.
fn counted(found: Vec<String>) -> NormalisedTokens {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    found.into_iter().for_each(|each| *counts.entry(each).or_default() += 1);
    let mut tokens = NormalisedTokens::default();
    for (each, count) in counts {
        (1..=count).for_each(|number| tokens.push(&format!("{each}/{number}")));
    }
    tokens
}

/// The statements of a code, by what they bind, and after that change. Names that are asked about are defined in it.
struct Definitions<'s> {
    /// What is bound, in order.
    names: Vec<&'s str>,
    by_name: HashMap<&'s str, Vec<&'s CanonicalStatement>>,
    imports: HashMap<&'s str, &'s str>,
}

/// What a global name means.
enum Meaning<'m> {
    /// What the code defines under this name, and the attributes behind it.
    Definition(&'m str, &'m str),
    Path(String),
}

/// What a block reaches, itself first, and the place of each.
struct Reach<'s> {
    names: Vec<&'s str>,
    numbers: HashMap<&'s str, usize>,
}

impl<'s> Definitions<'s> {
    fn new(statements: &'s [Arc<[CanonicalStatement]>]) -> Self {
        let mut definitions = Self { names: Vec::new(), by_name: HashMap::new(), imports: HashMap::new() };
        for statement in statements.iter().flat_map(|statements| &**statements) {
            for name in &statement.bound {
                let statements = definitions.by_name.entry(name).or_default();
                if statements.is_empty() {
                    definitions.names.push(name);
                }
                statements.push(statement);
            }
            for name in &statement.changed {
                if let Some(statements) = definitions.by_name.get_mut(&**name) {
                    statements.push(statement);
                }
            }
            for (name, path) in &statement.imports {
                definitions.imports.insert(name, path);
            }
        }
        definitions
    }

    /// The SHA-256 of all that the block reaches, as hexadecimal digits. Attributes that classes bind on `self` count by
    /// their numbers where no base outside of the code and nothing else that is reached could ask for their names.
    fn digest(&self, block: &[&'s str]) -> String {
        let reach = self.reach(block);
        let known = self.attributes_by_name(&reach);
        let mut hash = Sha256::new();
        let mut update = |tag: u8, text: &str| {
            hash.update([tag]);
            hash.update(text);
            hash.update([0]);
        };
        for name in &reach.names {
            update(b'D', "");
            for statement in &self.by_name[name] {
                let are_numbered = statement.class.as_ref().is_some_and(|class| self.is_neutral(class, 0));
                for (kind, text) in self.written(statement).iter() {
                    match kind {
                        Kind::Fixed => update(b'F', text),
                        Kind::Operator => update(b'O', text),
                        Kind::Call => update(b'C', ""),
                        Kind::Local(number) => update(b'L', &number.to_string()),
                        Kind::OwnAttribute(number)
                            if are_numbered && known.as_ref().is_some_and(|known| !known.contains(text)) =>
                        {
                            update(b'N', &number.to_string());
                        }
                        Kind::OwnAttribute(_) | Kind::Attribute => update(b'A', text),
                        Kind::String => update(b'S', text),
                        Kind::Global => match self.meaning(text) {
                            Meaning::Definition(name, rest) => update(b'#', &format!("{}.{rest}", reach.numbers[name])),
                            Meaning::Path(path) => update(b'F', &path),
                        },
                    }
                }
            }
        }
        hexadecimal(&hash.finalize())
    }

    /// The tokens of the block itself: local names are `L`, definitions of the code `#`, attributes that the class binds
    /// `A` with their numbers.
    fn tokens(&self, block: &[&str]) -> NormalisedTokens {
        let mut tokens = NormalisedTokens::default();
        let statements = block.iter().flat_map(|name| &self.by_name[name]);
        for (kind, text) in statements.flat_map(|statement| self.written(statement).iter()) {
            match kind {
                Kind::Fixed | Kind::Operator | Kind::Attribute | Kind::String => tokens.push(text),
                Kind::Call => tokens.push("call"),
                Kind::Local(_) => tokens.push("L"),
                Kind::OwnAttribute(number) => tokens.push(&format!("A{number}")),
                Kind::Global => match self.meaning(text) {
                    Meaning::Definition(_, rest) => tokens.push(&format!("#{rest}")),
                    Meaning::Path(path) => tokens.push(&path),
                },
            }
        }
        tokens
    }

    /// What the definitions call and compute, each as often as they do so: `Conv2d/1`, `Conv2d/2`, `+/1`. Of attributes that
    /// a class binds on `self` how often each of them is called, since a layer that is called twice is one, and what bases
    /// outside of the code bring by their names.
    fn operations(&self, names: &[&str]) -> NormalisedTokens {
        let mut found = Vec::new();
        for statement in names.iter().flat_map(|name| &self.by_name[name]) {
            let tokens: Vec<(Kind, &str)> = self.written(statement).iter().collect();
            let mut own: BTreeMap<u32, u32> = BTreeMap::new();
            for (place, (kind, text)) in tokens.iter().enumerate() {
                let operation = match (kind, &tokens[place + 1..]) {
                    (Kind::Operator, _) => (*text).to_owned(),
                    (Kind::Call, [(Kind::Local(_), _), (Kind::OwnAttribute(number), _), (Kind::Fixed, "("), ..]) => {
                        *own.entry(*number).or_default() += 1;
                        continue;
                    }
                    (Kind::Call, behind) => self.called(text, behind),
                    _ => continue,
                };
                found.extend(Some(operation).filter(|operation| !PLAIN_CALLS.contains(&operation.as_str())));
            }
            found.extend(own.into_values().map(|count| format!("A*{count}")));
            found.extend(self.foreign_bases(statement).map(|base| format!("base {base}")));
        }
        counted(found)
    }

    /// The last names of bases outside of the code that bring more than every module has.
    fn foreign_bases(&self, statement: &'s CanonicalStatement) -> impl Iterator<Item = String> {
        let bases = statement.class.iter().flat_map(|class| &class.bases).flatten();
        let foreign = bases.filter_map(|base| match self.meaning(base) {
            Meaning::Definition(..) => None,
            Meaning::Path(path) => path.rsplit('.').next().map(str::to_owned),
        });
        foreign.filter(|base| !NEUTRAL_BASES.contains(&base.as_str()))
    }

    /// What each function of the definitions gives and does, and the defaults that choose what it computes.
    fn flow(&self, names: &[&str]) -> NormalisedTokens {
        let mut found = Vec::new();
        for statement in names.iter().flat_map(|name| &self.by_name[name]) {
            let digests = self.digests(&statement.flow);
            let forwarding = statement.class.as_ref().filter(|class| self.forwards(class));
            let methods = forwarding.map_or(&[][..], |class| &class.methods);
            let is_left_out = |name: &str| methods.iter().any(|method| method.only_forwards && *method.name == *name);
            let results = statement.flow.results.iter().filter(|result| !is_left_out(&result.method));
            found.extend(results.map(|result| hexadecimal(&digests[result.node as usize])));
            let methods = statement.class.iter().flat_map(|class| &class.methods);
            found.extend(methods.filter(|method| !is_left_out(&method.name)).flat_map(telling_defaults));
        }
        counted(found)
    }

    /// A digest of each value of a flow and of all that it is computed from. What the code defines, and what it imports,
    /// counts by its last name.
    fn digests(&self, flow: &CanonicalFlow) -> Vec<Digested> {
        let mut digests: Vec<Digested> = Vec::new();
        for (kind, text, operands) in flow.iter() {
            let (tag, text) = match kind {
                Kind::Fixed => (b'F', text.to_owned()),
                Kind::Operator => (b'O', text.to_owned()),
                Kind::Call => (b'C', String::new()),
                Kind::Local(number) => (b'L', format!("{number}{text}")),
                Kind::OwnAttribute(_) | Kind::Attribute => (b'A', text.to_owned()),
                Kind::String => (b'S', text.to_owned()),
                Kind::Global => {
                    let path = match self.meaning(text) {
                        Meaning::Definition(..) => text.to_owned(),
                        Meaning::Path(path) => path,
                    };
                    (b'G', path.rsplit('.').next().unwrap_or_default().to_owned())
                }
            };
            let mut hash = Sha256::new();
            hash.update([tag]);
            hash.update(text);
            hash.update([0]);
            operands.iter().for_each(|operand| hash.update(digests[*operand as usize]));
            digests.push(hash.finalize().into());
        }
        digests
    }

    /// What is called, whose last name and tokens these are; locals without their names.
    fn called(&self, last_name: &str, tokens: &[(Kind, &str)]) -> String {
        match tokens {
            [(Kind::Local(_), _), (Kind::Fixed, "("), ..] => "L".to_owned(),
            // One flips to the side and one upside down: what the code calls its definitions tells them apart.
            [(Kind::Global, name), ..] => match self.meaning(name) {
                Meaning::Definition(..) => last_name.to_owned(),
                Meaning::Path(path) => path.rsplit('.').next().unwrap_or_default().to_owned(),
            },
            [(Kind::Fixed, path), (Kind::Fixed, "("), ..] => path.rsplit('.').next().unwrap_or_default().to_owned(),
            _ => last_name.to_owned(),
        }
    }

    fn reach(&self, block: &[&'s str]) -> Reach<'s> {
        let numbers = block.iter().copied().zip(0..).collect();
        let mut reach = Reach { names: block.to_vec(), numbers };
        let mut next = 0;
        while let Some(name) = reach.names.get(next) {
            next += 1;
            for (kind, text) in self.by_name[name].iter().flat_map(|statement| self.written(statement).iter()) {
                if kind == Kind::Global
                    && let Meaning::Definition(name, _) = self.meaning(text)
                {
                    let (name, _) = self.by_name.get_key_value(name).expect("it is defined");
                    if !reach.numbers.contains_key(name) {
                        reach.numbers.insert(name, reach.names.len());
                        reach.names.push(name);
                    }
                }
            }
        }
        reach
    }

    fn meaning<'m>(&'m self, dotted: &'m str) -> Meaning<'m> {
        let (root, rest) = dotted.split_once('.').unwrap_or((dotted, ""));
        if self.by_name.contains_key(root) {
            return Meaning::Definition(self.forwarded(root), rest);
        }
        match (self.imports.get(root), rest) {
            (Some(path), "") => Meaning::Path((*path).to_owned()),
            (Some(path), rest) => Meaning::Path(format!("{path}.{rest}")),
            (None, _) => Meaning::Path(dotted.to_owned()),
        }
    }

    /// The class that a class which adds nothing to it stands for.
    fn forwarded(&self, name: &str) -> &'s str {
        let (mut name, mut statements) = self.by_name.get_key_value(name).expect("the code defines it");
        // A class that is its own base is none, but may be written.
        for _ in 0..self.by_name.len() {
            let [CanonicalStatement { class: Some(class), .. }] = statements[..] else { break };
            let [Some(base)] = &class.bases[..] else { break };
            if !class.is_empty || !self.forwards(class) {
                break;
            }
            let Some(found) = self.by_name.get_key_value(&**base) else { break };
            (name, statements) = found;
        }
        name
    }

    /// Whether the methods of a class that only forward have the defaults of what they forward to, as far as these are no
    /// plain numbers: else they do what it does only when they are asked to.
    fn forwards(&self, class: &CanonicalClass) -> bool {
        class.methods.iter().filter(|method| method.only_forwards).all(|method| {
            let mut telling = method.defaults.iter().filter(|(_, default)| **default != *CANONICAL_NUMBER).peekable();
            telling.peek().is_none() || {
                let of_base = self.inherited(class, &method.name).map_or(&[][..], |method| &method.defaults);
                telling.all(|default| of_base.contains(default))
            }
        })
    }

    /// The method that a class inherits under this name from a base in the code.
    fn inherited(&self, class: &CanonicalClass, name: &str) -> Option<&'s CanonicalMethod> {
        let mut seen: Vec<&str> = Vec::new();
        let mut waiting: Vec<&str> = class.bases.iter().rev().flatten().map(|base| &**base).collect();
        while let Some(base) = waiting.pop() {
            let Some((base, statements)) = self.by_name.get_key_value(base).filter(|(base, _)| !seen.contains(*base))
            else {
                continue;
            };
            seen.push(base);
            let Some(class) = statements.iter().rev().find_map(|statement| statement.class.as_ref()) else { continue };
            if let Some(own) = class.methods.iter().find(|method| &*method.name == name) {
                return Some(own);
            }
            waiting.extend(class.bases.iter().rev().flatten().map(|base| &**base));
        }
        None
    }

    /// The tokens of a statement, without methods that change nothing.
    fn written(&self, statement: &'s CanonicalStatement) -> &'s CanonicalTokens {
        let class = statement.class.as_ref().filter(|class| self.forwards(class));
        class.and_then(|class| class.without_forwarding.as_ref()).unwrap_or(&statement.tokens)
    }

    /// The attributes that something asks for by name, or may: those that two classes bind too, since one may inherit from
    /// the other. `None` where something asks for names that it makes up.
    fn attributes_by_name(&self, reach: &Reach<'s>) -> Option<HashSet<&'s str>> {
        let mut known: HashSet<&str> = OF_MODULES.into();
        let mut bound: HashMap<&str, usize> = HashMap::new();
        for (number, statement) in reach.names.iter().flat_map(|name| &self.by_name[name]).enumerate() {
            let tokens: Vec<(Kind, &str)> = self.written(statement).iter().collect();
            for (place, (kind, text)) in tokens.iter().enumerate() {
                match kind {
                    Kind::Attribute if REFLECTING.contains(text) => return None,
                    Kind::Attribute | Kind::String => drop(known.insert(text)),
                    Kind::Global => known.extend(text.split('.').skip(1)),
                    Kind::Call if REFLECTING.contains(text) && !has_literal_name(&tokens[place..]) => return None,
                    Kind::OwnAttribute(_) if *bound.entry(text).or_insert(number) != number => {
                        known.insert(text);
                    }
                    _ => {}
                }
            }
        }
        Some(known)
    }

    /// Whether all bases of a class, and theirs, are known to ask for none of its attributes, or are in the code.
    fn is_neutral(&self, class: &CanonicalClass, depth: usize) -> bool {
        // Deeper than there are classes is a class that is its own base.
        depth <= self.by_name.len()
            && class.bases.iter().all(|base| {
                base.as_deref().is_some_and(|base| match self.by_name.get(base) {
                    Some(statements) => statements.iter().all(|statement| {
                        statement.class.as_ref().is_some_and(|class| self.is_neutral(class, depth + 1))
                    }),
                    None => NEUTRAL_BASES.contains(&base.rsplit('.').next().unwrap_or_default()),
                })
            })
    }
}

/// The defaults of parameters that choose what is computed: layers, strings and switches, but no numbers, nor how weights begin.
/// What a dotted name means is told by its end.
fn telling_defaults(method: &CanonicalMethod) -> impl Iterator<Item = String> {
    let is_beside_the_point = |name: &str| {
        name.starts_with("init") || name.ends_with("init") || ["pretrained", "device", "dtype"].contains(&name)
    };
    let is_telling =
        |token: &str| !["None", CANONICAL_NUMBER, "-x", "+x"].contains(&token) && token.contains(char::is_alphabetic);
    let telling = method
        .defaults
        .iter()
        .filter(move |(name, default)| !is_beside_the_point(name) && default.split(' ').any(is_telling));
    telling.map(|(_, default)| format!("{}={}", method.name, default.rsplit('.').next().unwrap_or_default()))
}

/// Whether the call with which these tokens begin has a string for its second argument: `getattr(self, "norm")`.
fn has_literal_name(tokens: &[(Kind, &str)]) -> bool {
    matches!(tokens, [_, (Kind::Global, _), (Kind::Fixed, "("), (Kind::Local(_), _), (Kind::String, _), ..])
}
