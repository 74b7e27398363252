//! What is read of a neutral spec, and the Python expressions that its values stand for.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::problem::Problem;

/// The form that is understood.
const FORMAT: &str = "netquarry-neutral-spec/2";

/// A block, as far as an implementation of it can be held to it.
#[derive(Clone, Debug, Deserialize)]
pub struct Spec {
    pub id: String,
    pub category: netquarry_core::record::Category,
    pub constructor: Constructor,
    pub forward: Forward,
    pub instance: Option<Instance>,
    pub invariants: Invariants,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Constructor {
    pub example: BTreeMap<String, Value>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Forward {
    pub example: BTreeMap<String, Value>,
    pub outputs: Vec<Output>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Output {
    pub dtype: String,
    pub axes: Vec<OutputAxis>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct OutputAxis {
    pub size: u64,
    pub follows: Vec<Rule>,
    pub unexplained: bool,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Rule {
    pub input: String,
    pub axis: u32,
    pub times: u64,
    pub divided_by: u64,
    pub rounded: Option<Rounding>,
    pub plus: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rounding {
    Up,
    Down,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Instance {
    pub parameters: Option<u64>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Invariants {
    pub sizes: Vec<VariedAxes>,
    pub batch_independent: Option<bool>,
    pub deterministic: Option<bool>,
    pub training: Option<Training>,
    pub dtypes: BTreeMap<String, Option<Vec<String>>>,
    pub other_device: Option<bool>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct VariedAxes {
    pub axes: Vec<Axis>,
    pub works: Vec<Vec<u64>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Axis {
    pub input: String,
    pub axis: u32,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Training {
    pub raises: bool,
    pub output_differs: bool,
    pub state_changes: bool,
}

/// A value that an expression of Python's gives.
#[derive(Clone, Debug, PartialEq, Deserialize)]
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
    Name {
        name: String,
    },
    Tuple(Items),
    List(Items),
    Dict {
        length: usize,
        entries: Vec<Entry>,
    },
    Call {
        name: String,
        arguments: Vec<Value>,
        keywords: Vec<Keyword>,
    },
    /// Left out of the spec.
    Expression,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Items {
    pub length: usize,
    pub items: Vec<Value>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Entry {
    pub key: Value,
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Keyword {
    pub name: String,
    pub value: Value,
}

impl Spec {
    /// Reads a spec that `emit-neutral-spec` wrote.
    pub fn read(path: &Path) -> Result<Self, Problem> {
        let text = fs::read_to_string(path).map_err(|error| Problem::io("read the spec", path, error))?;
        let help = "give one of the files in specs/emit-neutral-spec/blocks of a library";
        let what = || format!("`{}` is no spec of a block", path.display());
        let json: serde_json::Value =
            serde_json::from_str(&text).map_err(|error| Problem::new(what()).because(error).help(help))?;
        match json.get("format").and_then(serde_json::Value::as_str) {
            Some(FORMAT) => {}
            Some(other) => {
                let problem = Problem::new(format!("`{}` is of the form `{other}`", path.display()));
                return Err(problem.help(format!("this version reads {FORMAT}: make the library anew")));
            }
            None => return Err(Problem::new(what()).help(help)),
        }
        serde_json::from_value(json).map_err(|error| Problem::new(what()).because(error).help(help))
    }
}

/// The Python expressions for all of the values; `None` where one of them was left out.
pub fn expressions(values: &BTreeMap<String, Value>) -> Option<BTreeMap<String, String>> {
    values.iter().map(|(name, value)| Some((name.clone(), value.expression()?))).collect()
}

impl Value {
    fn expression(&self) -> Option<String> {
        Some(match self {
            Self::None => "None".to_owned(),
            Self::Boolean { value } => if *value { "True" } else { "False" }.to_owned(),
            Self::Integer { value } => value.to_string(),
            // As Python writes it: with a point or an exponent.
            Self::Float { value } => format!("{value:?}"),
            // A string of JSON is one of Python's.
            Self::Text { value } => serde_json::to_string(value).expect("a text can be written"),
            Self::Name { name } => name.clone(),
            Self::Tuple(items) => match &items.expressions()?[..] {
                [one] => format!("({one},)"),
                all => format!("({})", all.join(", ")),
            },
            Self::List(items) => format!("[{}]", items.expressions()?.join(", ")),
            Self::Dict { length, entries } if *length == entries.len() => {
                let entry = |entry: &Entry| Some(format!("{}: {}", entry.key.expression()?, entry.value.expression()?));
                format!("{{{}}}", entries.iter().map(entry).collect::<Option<Vec<_>>>()?.join(", "))
            }
            Self::Call { name, arguments, keywords } => {
                let keyword = |keyword: &Keyword| Some(format!("{}={}", keyword.name, keyword.value.expression()?));
                let arguments = arguments.iter().map(Self::expression).chain(keywords.iter().map(keyword));
                format!("{name}({})", arguments.collect::<Option<Vec<_>>>()?.join(", "))
            }
            Self::Dict { .. } | Self::Expression => return None,
        })
    }
}

impl Items {
    fn expressions(&self) -> Option<Vec<String>> {
        let items = self.items.iter().map(Value::expression).collect::<Option<Vec<_>>>()?;
        (items.len() == self.length).then_some(items)
    }
}

impl Rule {
    /// What the axis of an output has where that of the input has this size; `None` for what no axis can have.
    pub fn applied(&self, size: u64) -> Option<u64> {
        let times = size.checked_mul(self.times)?;
        let divided = match self.rounded {
            Some(Rounding::Up) => times.div_ceil(self.divided_by.max(1)),
            Some(Rounding::Down) | None => times / self.divided_by.max(1),
        };
        divided.checked_add_signed(self.plus)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_become_expressions() {
        let integer = |value: i64| json!({"kind": "integer", "value": value});
        for (value, expected) in [
            (json!({"kind": "none"}), Some("None")),
            (json!({"kind": "boolean", "value": true}), Some("True")),
            (json!({"kind": "float", "value": 1e-6}), Some("1e-6")),
            (json!({"kind": "float", "value": 1.0}), Some("1.0")),
            (json!({"kind": "text", "value": "a\"b"}), Some(r#""a\"b""#)),
            (json!({"kind": "tuple", "length": 1, "items": [integer(-1)]}), Some("(-1,)")),
            (json!({"kind": "tuple", "length": 13, "items": []}), None),
            (json!({"kind": "list", "length": 2, "items": [integer(1), {"kind": "expression"}]}), None),
            (
                json!({"kind": "call", "name": "torch.randn", "arguments": [integer(2)],
                    "keywords": [{"name": "dtype", "value": {"kind": "name", "name": "torch.half"}}]}),
                Some("torch.randn(2, dtype=torch.half)"),
            ),
        ] {
            let read: Value = serde_json::from_value(value.clone()).expect("it is a value");
            assert_eq!(read.expression().as_deref(), expected, "{value}");
        }
    }

    #[test]
    fn rules_give_sizes() {
        let rule = |times, divided_by, rounded, plus| Rule {
            input: "x".to_owned(),
            axis: 0,
            times,
            divided_by,
            rounded,
            plus,
        };
        assert_eq!(rule(1, 32, Some(Rounding::Up), 0).applied(65), Some(3));
        assert_eq!(rule(1, 32, Some(Rounding::Down), 0).applied(65), Some(2));
        assert_eq!(rule(4, 2, None, 0).applied(3), Some(6));
        assert_eq!(rule(1, 1, None, -2).applied(1), None);
    }
}
