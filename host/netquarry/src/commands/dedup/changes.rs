//! What other decisions change in a library, beside those that it was made with.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf, absolute};

use netquarry_core::record::{DedupDecision, DedupOutcome};
use serde::Serialize;
use serde_json::{Value, json};

use crate::commands::listing::{DuplicateRow, Row};
use crate::configuration::Settings;
use crate::console::Console;
use crate::models::Decided;
use crate::quantity::{human_count, human_things};
use crate::table::{Align, Columns, HEADING, STRONG, Table};

/// Everything that changes, and how many blocks each strategy removes.
#[derive(Debug, Serialize)]
pub(super) struct Changes {
    library: PathBuf,
    /// Whether the library is as the decisions have it now; else this is what would be.
    pub(super) applied: bool,
    /// Promoted blocks, duplicates included.
    blocks: usize,
    kept: BeforeAfter,
    /// Sorted by strategy and reason.
    removed: Vec<Removals>,
    /// Blocks that were kept and no longer are, sorted as all that follow.
    goes: Vec<Change>,
    /// Blocks that were duplicates and are kept.
    returns: Vec<Change>,
    /// Blocks of which something else of the decision differs: the survivor, the reason, the similarity, the strategy. Its
    /// version alone is no difference.
    differs: Vec<Change>,
    /// The strategies that failed, with their versions: what they would have removed is among `returns`.
    pub(super) failed: Vec<String>,
    /// Why bundles of the library could not be read: they were compared with no other.
    pub(super) unreadable: Vec<String>,
    /// What netquarry.toml has to say for a run to decide so, where it says otherwise.
    pub(super) configuration: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
struct BeforeAfter {
    before: usize,
    after: usize,
}

/// How many blocks a strategy removes for a reason.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Removals {
    /// Its name, without its version.
    strategy: String,
    reason: String,
    #[serde(flatten)]
    blocks: BeforeAfter,
}

/// A block about which is decided otherwise. Both have the form of `dedup` in a record of the manifest; there is nothing before
/// for a block that `extract` added.
#[derive(Debug, Serialize)]
struct Change {
    block: String,
    before: Option<DedupDecision>,
    after: DedupDecision,
}

impl Changes {
    /// Between what the library has decided and `decisions`.
    pub(super) fn between(library: &Path, decided: &Decided, decisions: &BTreeMap<String, DedupDecision>) -> Self {
        let mut changes = Self {
            library: library.to_owned(),
            applied: false,
            blocks: decisions.len(),
            kept: BeforeAfter::default(),
            removed: Vec::new(),
            goes: Vec::new(),
            returns: Vec::new(),
            differs: Vec::new(),
            failed: Vec::new(),
            unreadable: Vec::new(),
            configuration: None,
        };
        let mut removals: BTreeMap<(String, String), BeforeAfter> = BTreeMap::new();
        for (block, after) in decisions {
            let before = decided.get(block).cloned().flatten();
            let was_removed = before.as_ref().filter(|decision| is_removal(decision));
            let is_removed = Some(after).filter(|decision| is_removal(decision));
            match was_removed {
                Some(decision) => removals.entry(key(decision)).or_default().before += 1,
                None => changes.kept.before += 1,
            }
            match is_removed {
                Some(decision) => removals.entry(key(decision)).or_default().after += 1,
                None => changes.kept.after += 1,
            }
            let list = match (was_removed, is_removed) {
                (None, Some(_)) => &mut changes.goes,
                (Some(_), None) => &mut changes.returns,
                _ if before.as_ref().map(whatever_the_version) != Some(whatever_the_version(after)) => {
                    &mut changes.differs
                }
                _ => continue,
            };
            list.push(Change { block: block.clone(), before, after: after.clone() });
        }
        let removal = |((strategy, reason), blocks)| Removals { strategy, reason, blocks };
        changes.removed = removals.into_iter().map(removal).collect();
        changes
    }

    /// Whether the library is as the decisions have it already.
    pub(super) fn is_empty(&self) -> bool {
        self.goes.is_empty() && self.returns.is_empty() && self.differs.is_empty()
    }

    /// For people.
    pub(super) fn human(&self, console: &Console) -> String {
        let BeforeAfter { before, after } = self.kept;
        let blocks = human_things(self.blocks, "block");
        if self.is_empty() {
            let would = if self.applied { "changed" } else { "would change" };
            return format!("Nothing {would}: {} of {blocks} are kept\n", human_count(before));
        }
        let (now, then) = if self.applied { ("before", "now") } else { ("now", "then") };
        let mut table = Table::new(&[
            ("strategy", Align::Left),
            ("reason", Align::Left),
            (now, Align::Right),
            (then, Align::Right),
        ]);
        let cells = |first: &str, second: &str, counted: BeforeAfter| {
            vec![first.to_owned(), second.to_owned(), human_count(counted.before), human_count(counted.after)]
        };
        for Removals { strategy, reason, blocks } in &self.removed {
            table.row(cells(strategy, reason, *blocks));
        }
        table.total(cells(&format!("kept of {blocks}"), "", BeforeAfter { before, after }));
        let mut text = table.render(|style| console.out_style(style));
        let will = |future: &'static str, past: &'static str| if self.applied { past } else { future };
        self.list(&mut text, console, will("Would go", "Went"), &self.goes, |change| Some(&change.after));
        self.list(&mut text, console, will("Would come back", "Came back"), &self.returns, |change| {
            change.before.as_ref()
        });
        self.list(&mut text, console, "Decided otherwise", &self.differs, |change| Some(&change.after));
        text
    }

    /// A heading and a table with the decision that `shown` picks of each.
    fn list<'c>(
        &self,
        text: &mut String,
        console: &Console,
        heading: &str,
        changes: &'c [Change],
        shown: impl Fn(&'c Change) -> Option<&'c DedupDecision>,
    ) {
        if changes.is_empty() {
            return;
        }
        let strong = console.out_style(STRONG);
        let rows: Vec<Vec<String>> = changes.iter().map(|change| row(&change.block, shown(change)).cells()).collect();
        let mut columns = Columns::new(DuplicateRow::COLUMNS);
        rows.iter().for_each(|row| columns.measure(row));
        let _ = write!(text, "\n{strong}{heading}: {}{strong:#}\n", human_things(changes.len(), "block"));
        text.push_str(&columns.heading(console.out_style(HEADING)));
        rows.iter().for_each(|row| text.push_str(&columns.line(row, anstyle::Style::new())));
    }
}

fn is_removal(decision: &DedupDecision) -> bool {
    decision.decision == DedupOutcome::Removed
}

/// The strategy of a decision, without its version, and its reason.
fn key(decision: &DedupDecision) -> (String, String) {
    let strategy = decision.plugin.as_deref().map(name_of).expect("a strategy has removed it");
    (strategy.to_owned(), decision.reason.clone().expect("for a reason"))
}

fn whatever_the_version(decision: &DedupDecision) -> DedupDecision {
    DedupDecision { plugin: decision.plugin.as_deref().map(|plugin| name_of(plugin).to_owned()), ..decision.clone() }
}

/// The name of a plugin that is given as `NAME VERSION`.
fn name_of(plugin: &str) -> &str {
    plugin.split_once(' ').map_or(plugin, |(name, _)| name)
}

fn row(block: &str, decision: Option<&DedupDecision>) -> DuplicateRow {
    DuplicateRow {
        block: block.to_owned(),
        reason: decision.and_then(|decision| decision.reason.clone()),
        similarity: decision.and_then(|decision| decision.similarity),
        survivor: decision.and_then(|decision| decision.survivor.clone()),
    }
}

/// The lines of netquarry.toml by which a run decides as `asked` does, where `configured` says otherwise; none where it does
/// not. They say all that there is to say of a strategy, since an option that goes cannot be said beside the others.
pub(super) fn lines_for_configuration(configured: &Settings, asked: &Settings) -> Option<String> {
    let mut document = serde_json::Map::new();
    if asked.plugins.dedup != configured.plugins.dedup {
        let strategies: Vec<String> = asked.plugins.dedup.iter().map(|name| from_anywhere(name)).collect();
        document.insert("plugins".to_owned(), json!({ "dedup": strategies }));
    }
    let is_new = |(plugin, options): &(&String, &Value)| {
        asked.plugins.dedup.contains(plugin) && configured.plugin_options.get(*plugin) != Some(options)
    };
    let new = asked.plugin_options.iter().filter(is_new);
    let new: serde_json::Map<String, Value> = new.map(|(plugin, options)| (plugin.clone(), options.clone())).collect();
    if !new.is_empty() {
        document.insert("plugin".to_owned(), Value::Object(new));
    }
    let text = || toml::to_string(&document).expect("options come from TOML, or are texts and lists of them");
    (!document.is_empty()).then(text)
}

/// The name of a plugin, or the path of its component as it can be given in any folder.
fn from_anywhere(plugin: &str) -> String {
    match plugin.ends_with(".wasm") {
        true => absolute(plugin).map_or_else(|_| plugin.to_owned(), |path| path.to_string_lossy().into_owned()),
        false => plugin.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn removed(reason: &str, survivor: &str) -> DedupDecision {
        DedupDecision {
            decision: DedupOutcome::Removed,
            reason: Some(reason.to_owned()),
            survivor: Some(survivor.to_owned()),
            like: None,
            similarity: Some(0.9),
            plugin: Some(format!("dedup-{reason} 0.1.0")),
        }
    }

    fn kept() -> DedupDecision {
        let decision = DedupOutcome::Kept;
        DedupDecision { decision, reason: None, survivor: None, like: None, similarity: None, plugin: None }
    }

    #[test]
    fn blocks_go_come_back_and_change_their_survivor() {
        let before = [
            ("a", Some(kept())),
            ("b", Some(removed("exact", "a"))),
            ("c", Some(removed("lexical", "a"))),
            ("d", Some(kept())),
            ("e", None),
            ("f", Some(removed("lexical", "d"))),
        ];
        let after = [
            ("a", kept()),
            ("b", removed("exact", "a")),
            ("c", kept()),
            ("d", removed("lexical", "a")),
            ("e", kept()),
            ("f", removed("lexical", "a")),
        ];
        let decided = before.into_iter().map(|(block, decision)| (block.to_owned(), decision)).collect();
        let decisions = after.into_iter().map(|(block, decision)| (block.to_owned(), decision)).collect();
        let changes = Changes::between(Path::new("out"), &decided, &decisions);
        let blocks = |changes: &[Change]| changes.iter().map(|change| change.block.clone()).collect::<Vec<_>>();
        assert_eq!(blocks(&changes.goes), ["d"]);
        assert_eq!(blocks(&changes.returns), ["c"]);
        assert_eq!(blocks(&changes.differs), ["e", "f"]);
        assert_eq!(changes.kept, BeforeAfter { before: 3, after: 3 });
        let removals: Vec<(&str, BeforeAfter)> =
            changes.removed.iter().map(|removals| (removals.strategy.as_str(), removals.blocks)).collect();
        let [one, two] = [1, 2].map(|count| BeforeAfter { before: count, after: count });
        assert_eq!(removals, [("dedup-exact", one), ("dedup-lexical", two)]);
    }
}
