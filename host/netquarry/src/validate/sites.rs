//! Arguments that others pass to a block's class.

use std::collections::BTreeMap;

use netquarry_core::record::BlockRecord;
use netquarry_core::verdict::CALL_SITE_ARGUMENTS;
use serde::Serialize;

/// A call of the class, or a configuration that names it; which of its arguments can be had without the code around it
/// is for the child to say, which can parse it and has the bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Site {
    /// `Block(width, heads=8)`
    pub text: Box<str>,
    /// The key of a configuration that names the class: `type` in `dict(type="Block", heads=8)`.
    pub naming: Option<Box<str>>,
    /// The names in it that are global where it stands; with an expression, those that stand for it there.
    pub names: BTreeMap<Box<str>, Option<String>>,
    /// Likewise the names in these expressions.
    pub further: BTreeMap<Box<str>, Option<String>>,
    /// How often it stands somewhere.
    pub count: u32,
    /// Of the first: `pack/models/net.py:120`.
    pub place: String,
}

impl Site {
    /// The one that a record says its arguments to be from; as they are in the record, they need no other.
    pub fn of_record(record: &BlockRecord) -> Option<Self> {
        let place = record.evidence.notes.iter().find_map(|note| note.strip_prefix(CALL_SITE_ARGUMENTS))?;
        let arguments = record.evidence.constructor_arguments.iter().map(|(name, value)| format!("{name}={value}"));
        let text = format!("{}({})", record.name, arguments.collect::<Vec<_>>().join(", "));
        let words = text.split(|character: char| !character.is_alphanumeric() && character != '_');
        Some(Self {
            names: words.map(|word| (word.into(), None)).collect(),
            further: BTreeMap::new(),
            text: text.into(),
            naming: None,
            count: 1,
            place: place.trim_start_matches(": ").to_owned(),
        })
    }
}
