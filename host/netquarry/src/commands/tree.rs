//! A closure as a tree: every definition under the one that needed it first, with the reason.

use netquarry_core::record::{ClosureRecord, Confidence};

/// The tree, indented by two. `faint` styles what is said beside a name.
pub(super) fn render(closure: &[ClosureRecord], faint: impl Fn(&str) -> String) -> String {
    let mut tree = Tree { closure, faint, shown: vec![false; closure.len()], text: String::new() };
    let is_root = |index: &usize| closure[*index].needed_by.is_none();
    let (roots, others): (Vec<usize>, Vec<usize>) = (0..closure.len()).partition(is_root);
    // Statements that bear the name of another one are needed by that name; nothing is left out for it.
    for index in roots.into_iter().chain(others) {
        if !tree.shown[index] {
            tree.branch(index, "  ", Place::Root);
        }
    }
    tree.text
}

struct Tree<'a, F> {
    closure: &'a [ClosureRecord],
    faint: F,
    shown: Vec<bool>,
    text: String,
}

/// Where a definition stands among those that the same one needs.
#[derive(Clone, Copy)]
enum Place {
    Root,
    Between,
    Last,
}

impl<F: Fn(&str) -> String> Tree<'_, F> {
    fn branch(&mut self, index: usize, indent: &str, place: Place) {
        self.shown[index] = true;
        let record = &self.closure[index];
        let (branch_mark, below) = match place {
            Place::Root => ("", ""),
            Place::Between => ("├─ ", "│  "),
            Place::Last => ("└─ ", "   "),
        };
        let reason = (self.faint)(&reason(record));
        self.text.push_str(&format!("{indent}{branch_mark}{}  {reason}\n", name(record)));
        let children: Vec<usize> = (0..self.closure.len())
            .filter(|child| !self.shown[*child])
            .filter(|child| self.closure[*child].needed_by.as_deref() == Some(&record.definition))
            .collect();
        // Marked before any of them is shown, so that none appears again below a sibling of the same name.
        for child in &children {
            self.shown[*child] = true;
        }
        let indent = format!("{indent}{below}");
        for (position, child) in children.iter().enumerate() {
            let place = if position + 1 == children.len() { Place::Last } else { Place::Between };
            self.branch(*child, &indent, place);
        }
    }
}

/// `timm.layers.drop.drop_path` without the source, which stands in the provenance.
fn name(record: &ClosureRecord) -> &str {
    record.dotted_path()
}

fn reason(record: &ClosureRecord) -> String {
    let [first, last] = record.lines;
    let place = format!("{}:{first}-{last}", record.path);
    let by = match record.confidence {
        None => return place,
        // The usual way needs no words, and no name where it is the definition's own.
        Some(Confidence::DirectImport) => "",
        Some(Confidence::QualifiedName) => ", through attributes of a module",
        Some(Confidence::Heuristic) => ", by a rule that can be wrong",
    };
    let own = name(record).rsplit('.').next();
    match record.reference.as_deref().filter(|reference| Some(*reference) != own) {
        Some(reference) => format!("{place}, as `{reference}`{by}"),
        None => format!("{place}{by}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(definition: &str, needed_by: Option<&str>) -> ClosureRecord {
        ClosureRecord {
            definition: format!("s:m.{definition}"),
            path: "m.py".to_owned(),
            lines: [1, 2],
            sha1: String::new(),
            swhid: String::new(),
            license: None,
            needed_by: needed_by.map(|name| format!("s:m.{name}")),
            reference: needed_by.map(|_| definition.to_owned()),
            confidence: needed_by.map(|_| Confidence::DirectImport),
        }
    }

    #[test]
    fn every_definition_stands_once_under_what_needed_it() {
        let closure = [
            record("Block", None),
            record("helper", Some("Block")),
            record("Base", Some("Block")),
            record("deep", Some("helper")),
            record("lost", Some("gone")),
        ];
        insta::assert_snapshot!(render(&closure, str::to_owned));
    }
}
