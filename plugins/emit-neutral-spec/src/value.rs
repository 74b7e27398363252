//! Python expressions as structured facts: what a parameter is by default, what was passed, of what type it is.
//!
//! A literal, a name and a call of these are facts about an interface. Whatever else an expression does is expression of
//! its author's, in both senses, and is left out; so is what is long.

use rustpython_parser::ast::{self, Constant, Expr};
use rustpython_parser::{Mode, parse};
use schemars::JsonSchema;
use serde::Serialize;

/// Longer texts are prose or code.
const LONGEST_TEXT: usize = 60;
/// Of sequences and mappings that have more, only the length is told.
const MOST_ITEMS: usize = 12;
/// Expressions that are made of more are left out.
const MOST_PARTS: usize = 48;
/// In bytes; longer expressions are not even read, for a number takes time by the square of its digits.
const LONGEST_EXPRESSION: usize = 10_000;

/// A value that Python code stands for.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Value {
    None,
    Boolean {
        value: bool,
    },
    Integer {
        value: i64,
    },
    Float {
        value: f64,
    },
    Text {
        value: String,
    },
    /// `torch.nn.LayerNorm`
    Name {
        name: String,
    },
    Tuple(Items),
    List(Items),
    Dict {
        length: usize,
        entries: Vec<Entry>,
    },
    /// `torch.randn(2, 3)`
    Call {
        name: String,
        arguments: Vec<Value>,
        keywords: Vec<Keyword>,
    },
    /// Something else, which is left out.
    Expression,
}

/// The items of a tuple or a list; none where there are too many to be told.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Items {
    pub length: usize,
    pub items: Vec<Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Entry {
    pub key: Value,
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Keyword {
    pub name: String,
    pub value: Value,
}

/// A type, as an annotation names it: `Optional[int]` is `Optional` of `int`, and `int | None` a `Union` of both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Type {
    pub name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<Type>,
}

impl Value {
    /// What the text of an expression stands for.
    pub fn of(text: &str) -> Self {
        expression(text).and_then(|body| Reader::default().value(&body)).unwrap_or(Self::Expression)
    }
}

impl Type {
    /// What the text of an annotation names; `None` where it does more than that.
    pub fn of(text: &str) -> Option<Self> {
        expression(text).and_then(|body| Reader::default().annotation(&body))
    }
}

fn expression(text: &str) -> Option<Box<Expr>> {
    if text.len() > LONGEST_EXPRESSION {
        return None;
    }
    match parse(text, Mode::Expression, "<expression>").ok()? {
        ast::Mod::Expression(ast::ModExpression { body, .. }) => Some(body),
        _ => None,
    }
}

/// Counts what it has read: `None` where that is too much, or not to be told.
#[derive(Default)]
struct Reader {
    parts: usize,
}

impl Reader {
    fn value(&mut self, expression: &Expr) -> Option<Value> {
        self.count()?;
        Some(match expression {
            Expr::Constant(constant) => of_constant(&constant.value)?,
            Expr::UnaryOp(ast::ExprUnaryOp { op: ast::UnaryOp::USub, operand, .. }) => match self.value(operand)? {
                Value::Integer { value } => Value::Integer { value: value.checked_neg()? },
                Value::Float { value } => Value::Float { value: -value },
                _ => return None,
            },
            Expr::Tuple(tuple) => Value::Tuple(self.items(&tuple.elts)?),
            Expr::List(list) => Value::List(self.items(&list.elts)?),
            Expr::Dict(dict) => self.dict(dict)?,
            Expr::Call(call) => self.call(call)?,
            other => Value::Name { name: dotted(other)? },
        })
    }

    fn items(&mut self, items: &[Expr]) -> Option<Items> {
        let length = items.len();
        let items = if length > MOST_ITEMS { &[] } else { items };
        Some(Items { length, items: items.iter().map(|item| self.value(item)).collect::<Option<_>>()? })
    }

    fn dict(&mut self, dict: &ast::ExprDict) -> Option<Value> {
        let length = dict.keys.len();
        let mut entries = Vec::new();
        for (key, value) in dict.keys.iter().zip(&dict.values).take_while(|_| length <= MOST_ITEMS) {
            entries.push(Entry { key: self.value(key.as_ref()?)?, value: self.value(value)? });
        }
        Some(Value::Dict { length, entries })
    }

    fn call(&mut self, call: &ast::ExprCall) -> Option<Value> {
        if call.args.len() + call.keywords.len() > MOST_ITEMS {
            return None;
        }
        let mut keywords = Vec::new();
        for keyword in &call.keywords {
            keywords.push(Keyword { name: keyword.arg.as_ref()?.to_string(), value: self.value(&keyword.value)? });
        }
        let arguments = call.args.iter().map(|argument| self.value(argument)).collect::<Option<_>>()?;
        Some(Value::Call { name: dotted(&call.func)?, arguments, keywords })
    }

    fn annotation(&mut self, expression: &Expr) -> Option<Type> {
        self.count()?;
        let plain = |name: &str| Type { name: name.to_owned(), arguments: Vec::new() };
        Some(match expression {
            Expr::Constant(constant) => match &constant.value {
                Constant::Str(text) if text.len() <= LONGEST_TEXT => {
                    return Type::of(text).or_else(|| Some(plain(text)));
                }
                Constant::Str(_) => return None,
                Constant::None => plain("None"),
                Constant::Ellipsis => plain("..."),
                Constant::Bool(value) => plain(if *value { "True" } else { "False" }),
                Constant::Int(value) => plain(&value.to_string()),
                _ => return None,
            },
            Expr::Subscript(subscript) => {
                let arguments = match &*subscript.slice {
                    Expr::Tuple(tuple) => &tuple.elts[..],
                    one => std::slice::from_ref(one),
                };
                Type { name: dotted(&subscript.value)?, arguments: self.annotations(arguments)? }
            }
            Expr::List(list) => Type { name: "list".to_owned(), arguments: self.annotations(&list.elts)? },
            Expr::BinOp(ast::ExprBinOp { left, op: ast::Operator::BitOr, right, .. }) => {
                let mut arguments = match self.annotation(left)? {
                    Type { name, arguments } if name == "Union" => arguments,
                    other => vec![other],
                };
                arguments.push(self.annotation(right)?);
                Type { name: "Union".to_owned(), arguments }
            }
            other => plain(&dotted(other)?),
        })
    }

    fn annotations(&mut self, expressions: &[Expr]) -> Option<Vec<Type>> {
        expressions.iter().map(|expression| self.annotation(expression)).collect()
    }

    fn count(&mut self) -> Option<()> {
        self.parts += 1;
        (self.parts <= MOST_PARTS).then_some(())
    }
}

fn of_constant(constant: &Constant) -> Option<Value> {
    Some(match constant {
        Constant::None => Value::None,
        Constant::Bool(value) => Value::Boolean { value: *value },
        // A larger one is a number all the same.
        Constant::Int(value) => match value.to_string().parse() {
            Ok(value) => Value::Integer { value },
            Err(_) => Value::Float { value: value.to_string().parse().ok()? },
        },
        Constant::Float(value) if value.is_finite() => Value::Float { value: *value },
        Constant::Str(value) if value.len() <= LONGEST_TEXT => Value::Text { value: value.clone() },
        _ => return None,
    })
}

/// The text of a name with dots; `None` for anything else.
fn dotted(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Name(name) => Some(name.id.to_string()),
        Expr::Attribute(attribute) => Some(format!("{}.{}", dotted(&attribute.value)?, attribute.attr)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    #[test]
    fn values_are_structured() {
        let integer = |value: i64| json!({"kind": "integer", "value": value});
        let cases: [(&str, Json); 11] = [
            ("None", json!({"kind": "none"})),
            ("True", json!({"kind": "boolean", "value": true})),
            ("-1", integer(-1)),
            ("1e-6", json!({"kind": "float", "value": 1e-6})),
            ("'relu'", json!({"kind": "text", "value": "relu"})),
            ("nn.LayerNorm", json!({"kind": "name", "name": "nn.LayerNorm"})),
            ("(1, 2)", json!({"kind": "tuple", "length": 2, "items": [integer(1), integer(2)]})),
            ("[]", json!({"kind": "list", "length": 0, "items": []})),
            (
                "{'a': 1}",
                json!({"kind": "dict", "length": 1, "entries": [{"key": {"kind": "text", "value": "a"}, "value": integer(1)}]}),
            ),
            (
                "torch.zeros(3, dtype=torch.long)",
                json!({"kind": "call", "name": "torch.zeros", "arguments": [integer(3)],
                    "keywords": [{"name": "dtype", "value": {"kind": "name", "name": "torch.long"}}]}),
            ),
            ("list(range(1, 2))", {
                let range =
                    json!({"kind": "call", "name": "range", "arguments": [integer(1), integer(2)], "keywords": []});
                json!({"kind": "call", "name": "list", "arguments": [range], "keywords": []})
            }),
        ];
        for (text, expected) in cases {
            assert_eq!(serde_json::to_value(Value::of(text)).expect("it has string keys"), expected, "{text}");
        }
    }

    #[test]
    fn what_is_code_or_long_is_left_out() {
        let long = format!("'{}'", "x".repeat(LONGEST_TEXT + 1));
        let nested = format!("{}1{}", "(".repeat(60), ",)".repeat(60));
        for text in ["lambda x: x", "a + b", "x if y else z", "f(*a)", "f(**a)", "x[0]", "2 *", "-x", &long, &nested] {
            assert_eq!(Value::of(text), Value::Expression, "{text}");
        }
        let many = Value::of(&format!("({})", "0, ".repeat(MOST_ITEMS + 1)));
        assert_eq!(many, Value::Tuple(Items { length: MOST_ITEMS + 1, items: Vec::new() }));
    }

    #[test]
    fn types_are_trees() {
        let told = |text: &str| Type::of(text).map(|read| serde_json::to_string(&read).expect("it has string keys"));
        for (text, expected) in [
            ("int", Some(r#"{"name":"int"}"#)),
            ("'Tensor'", Some(r#"{"name":"Tensor"}"#)),
            ("Optional[torch.Tensor]", Some(r#"{"name":"Optional","arguments":[{"name":"torch.Tensor"}]}"#)),
            ("tuple[int, ...]", Some(r#"{"name":"tuple","arguments":[{"name":"int"},{"name":"..."}]}"#)),
            (
                "int | str | None",
                Some(r#"{"name":"Union","arguments":[{"name":"int"},{"name":"str"},{"name":"None"}]}"#),
            ),
            ("Literal['same', 'valid']", Some(r#"{"name":"Literal","arguments":[{"name":"same"},{"name":"valid"}]}"#)),
            ("f(x)", None),
            ("lambda: 0", None),
        ] {
            assert_eq!(told(text).as_deref(), expected, "{text}");
        }
    }
}
