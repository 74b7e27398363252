//! Dictionaries that give classes something by their names: a block needs the entries that its own classes can ask for.

use std::collections::{BTreeSet, HashMap};

use super::{Closing, Rules};
use crate::facts::DictionaryEntry;
use crate::index::{DefinitionId, Index, Variable};
use crate::record::ReplacedRecord;
use crate::source::TextRange;

/// All dictionaries of an index that the rules are about.
#[derive(Debug, Default)]
pub(super) struct NamedTables {
    tables: HashMap<DefinitionId, Variable>,
    /// Of all of them.
    keys: BTreeSet<Box<str>>,
}

impl NamedTables {
    pub(super) fn gather(index: &Index, rules: &Rules) -> Self {
        let mut gathered = Self::default();
        if !rules.has_named_tables() {
            return gathered;
        }
        for (file, indexed) in index.files() {
            for (place, statement) in (0u32..).zip(&indexed.facts.statements) {
                let (Some(dictionary), [binding]) = (&statement.dictionary, &*statement.bindings) else { continue };
                let variable = Variable { file, name: binding.name };
                if rules.named_table(&index.variable_path(variable)).is_some() {
                    gathered.tables.insert(DefinitionId { file, statement: place }, variable);
                    gathered.keys.extend(dictionary.entries.iter().map(|entry| entry.key.clone()));
                }
            }
        }
        gathered
    }
}

impl Closing<'_> {
    /// The entries of a dictionary that nothing has asked for so far; none of any other definition.
    pub(super) fn leave_out_named_entries(&mut self, definition: DefinitionId) -> Vec<TextRange> {
        let left_out: Vec<TextRange> = self.entries_not_held(definition).map(|entry| entry.range).collect();
        if !left_out.is_empty() {
            self.named_tables.push(definition);
        }
        left_out
    }

    fn entries_not_held(&self, definition: DefinitionId) -> impl Iterator<Item = &DictionaryEntry> {
        let is_table = self.rules.named_tables(self.index).tables.contains_key(&definition);
        let dictionary = self.index.statement(definition).dictionary.as_ref().filter(|_| is_table);
        let entries = dictionary.into_iter().flat_map(|dictionary| &dictionary.entries);
        entries.filter(|entry| !self.held_keys.contains(&*entry.key))
    }

    /// Notes which keys a definition asks for: those in the names of its classes, and those that it holds as strings. A
    /// table does not ask for the keys of its own entries.
    pub(super) fn hold_keys(&mut self, definition: DefinitionId) {
        let index = self.index;
        let NamedTables { tables, keys } = self.rules.named_tables(index);
        if keys.is_empty() {
            return;
        }
        let statement = index.statement(definition);
        let own = statement.dictionary.iter().filter(|_| tables.contains_key(&definition));
        let own: BTreeSet<u32> = own.flat_map(|it| &it.entries).map(|entry| entry.range.start).collect();
        let facts = &index.file(definition.file).facts;
        let names = statement.classes.iter().map(|class| facts.name(class.name));
        let in_names = names.flat_map(|name| keys.iter().filter(move |key| name.contains(&***key)));
        let written = statement.keys.iter().filter(|key| !own.contains(&key.range.start));
        let written = written.filter_map(|key| keys.get(&key.value));
        self.held_keys.extend(in_names.chain(written).map(|key| &**key));
    }

    /// Notes which keys the text of a replacement holds as strings.
    pub(super) fn hold_keys_of_text(&mut self, text: &str) {
        let keys = &self.rules.named_tables(self.index).keys;
        let is_in_it = |key: &&str| ['"', '\''].iter().any(|quote| text.contains(&format!("{quote}{key}{quote}")));
        self.held_keys.extend(keys.iter().map(|key| &**key).filter(is_in_it));
    }

    /// Takes back the entries that were asked for since. Returns whether there were any.
    pub(super) fn enter_named_tables(&mut self) -> bool {
        let mut is_new = false;
        for definition in self.named_tables.clone() {
            let still_out: Vec<TextRange> = self.entries_not_held(definition).map(|entry| entry.range).collect();
            let closed = self.closure.definitions.get_mut(&definition).expect("it was followed");
            let before = std::mem::replace(&mut closed.cuts.entries, still_out.clone());
            for range in before.into_iter().filter(|range| !still_out.contains(range)) {
                is_new = true;
                self.follow_references_in(definition, range);
            }
        }
        is_new
    }

    /// What is left out in the end, a record for each table.
    pub(super) fn named_table_records(&self) -> Vec<ReplacedRecord> {
        let index = self.index;
        let record = |definition: &DefinitionId| {
            let path = index.variable_path(*self.rules.named_tables(index).tables.get(definition)?);
            let (rule, plugin) = self.rules.named_table(&path)?;
            let keys: Vec<&str> = self.entries_not_held(*definition).map(|entry| &*entry.key).collect();
            (!keys.is_empty()).then(|| ReplacedRecord {
                what: format!("the entries {} of {path}", keys.join(", ")),
                by: String::new(),
                why: rule.why.clone(),
                plugin: plugin.to_owned(),
            })
        };
        self.named_tables.iter().filter_map(record).collect()
    }
}
