//! What the files of the corpus pass to the blocks when they construct them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use netquarry_core::index::{self, Meaning};
use netquarry_core::source::lines_of;

use super::discover::Candidate;
use super::index::Indexed;
use crate::validate::Site;

/// A block that is constructed in more ways than this is constructed in most of them alike.
const MOST: usize = 32;
/// A longer call builds a whole network out of others.
const LONGEST: u32 = 2_000;

/// The sites of each candidate, in their order: each text once, those that stand most often first, and then in the order
/// of the files. A file that cannot be read any more has none.
pub(super) fn sites(indexed: &Indexed, candidates: &[Candidate]) -> Vec<Arc<[Site]>> {
    let classes: BTreeSet<_> = candidates.iter().map(|candidate| candidate.target.variable).collect();
    let mut found = indexed.index.sites(&classes);
    let of_candidate = |candidate: &Candidate| found.remove(&candidate.target.variable).unwrap_or_default();
    candidates.iter().map(of_candidate).map(|found| distinct(indexed, &found).into()).collect()
}

fn distinct(indexed: &Indexed, found: &[index::Site]) -> Vec<Site> {
    let mut sites: Vec<Site> = Vec::new();
    let mut known = HashMap::new();
    for site in found.iter().filter(|site| site.range.len() <= LONGEST) {
        let Ok(file) = indexed.texts.get(site.file) else { continue };
        let site = told(indexed, site, &file.text);
        let what = (site.text.clone(), site.naming.clone(), site.names.clone(), site.further.clone());
        let place = *known.entry(what).or_insert(sites.len());
        match sites.get_mut(place) {
            Some(same) => same.count += 1,
            None => sites.push(site),
        }
    }
    sites.sort_by_key(|site| Reverse(site.count));
    sites.truncate(MOST);
    sites
}

fn told(indexed: &Indexed, site: &index::Site, text: &str) -> Site {
    let file = indexed.index.file(site.file);
    let [line, _] = lines_of(text, site.range);
    let expression = |name: &str, meaning: &Meaning| match meaning {
        Meaning::Itself => None,
        Meaning::AtHand(path) => Some(path.clone()),
        Meaning::Bound(binder) => value(name, indexed.index.statement(*binder).range.slice(text)).map(str::to_owned),
    };
    let mentioned = mentioned(indexed, site, text);
    let expressions = |names: &BTreeMap<Box<str>, Meaning>| {
        let mut known: BTreeMap<_, _> =
            names.iter().map(|(name, meaning)| (name.clone(), expression(name, meaning))).collect();
        let local = site.local.iter().filter(|(_, value)| value.range.len() <= LONGEST);
        known.extend(local.map(|(name, value)| (name.clone(), Some(value.expression(text)))));
        known.retain(|name, _| mentioned.contains(&**name));
        known
    };
    Site {
        text: site.range.slice(text).into(),
        naming: site.naming.map(|naming| file.facts.name(naming).into()),
        names: expressions(&site.names),
        further: expressions(&site.further),
        count: 1,
        place: format!("{}:{line}", file.file.path),
    }
}

/// The words of a site, of what the names among them are bound to, and so on.
fn mentioned<'text>(indexed: &Indexed, site: &index::Site, text: &'text str) -> BTreeSet<&'text str> {
    let mut mentioned = BTreeSet::new();
    let mut waiting = vec![site.range];
    while let Some(range) = waiting.pop() {
        for word in range.slice(text).split(|character: char| !character.is_alphanumeric() && character != '_') {
            if !mentioned.insert(word) {
                continue;
            }
            let local = site.local.get(word).map(|value| value.range);
            let global = match site.names.get(word).or_else(|| site.further.get(word)) {
                Some(Meaning::Bound(binder)) => Some(indexed.index.statement(*binder).range),
                _ => None,
            };
            waiting.extend(local.into_iter().chain(global).filter(|range| range.len() <= LONGEST));
        }
    }
    mentioned
}

/// `64` in `width = 64`.
fn value<'text>(name: &str, assignment: &'text str) -> Option<&'text str> {
    let value = assignment.strip_prefix(name)?.trim_start().strip_prefix('=')?.trim();
    (value.len() <= LONGEST as usize).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::value;

    #[test]
    fn values_of_plain_assignments_are_read_off() {
        assert_eq!(value("width", "width = 64"), Some("64"));
        assert_eq!(value("width", "width=(\n    1,\n)"), Some("(\n    1,\n)"));
        for other in ["width: int = 64", "(width) = 64", "width += 64", "widths = [64]"] {
            assert_eq!(value("width", other), None, "{other}");
        }
    }
}
