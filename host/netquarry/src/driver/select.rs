//! Blocks by name: bare (`DropPath`), partly qualified (`drop.DropPath`), qualified (`timm.layers.drop.DropPath`) or with
//! the source (`timm:timm.layers.drop.DropPath`).

use super::context::Context;
use super::discover::Candidate;
use crate::problem::Problem;
use crate::quantity::human_things;

/// Whether `name` means the block `block`.
pub fn means(name: &str, block: &str) -> bool {
    let (source, path) = block.split_once(':').unwrap_or(("", block));
    match name.split_once(':') {
        Some((wanted, rest)) => wanted == source && is_suffix(rest, path),
        None => is_suffix(name, path),
    }
}

/// Whether `suffix` is `path` or the last of its dotted parts.
fn is_suffix(suffix: &str, path: &str) -> bool {
    match path.strip_suffix(suffix) {
        Some(rest) => !suffix.is_empty() && (rest.is_empty() || rest.ends_with('.')),
        None => false,
    }
}

/// Whether `name` is a block's whole path, with or without its source.
pub fn is_whole(name: &str, block: &str) -> bool {
    block == name || block.split_once(':').is_some_and(|(_, path)| path == name)
}

/// The blocks that `name` means, the likeliest first: an exact path before a part of one, then by the priority of the
/// source, the depth of the module, and the name.
pub fn ranked<'a>(name: &str, candidates: &'a [Candidate]) -> Vec<&'a Candidate> {
    let mut found: Vec<&Candidate> = candidates.iter().filter(|candidate| means(name, &candidate.block)).collect();
    found.sort_by_cached_key(|candidate| {
        (!is_whole(name, &candidate.block), candidate.priority, depth(&candidate.block), candidate.block.clone())
    });
    found
}

/// How deep in its package a block lies: what lies higher up is likelier meant.
pub fn depth(block: &str) -> usize {
    let path = block.split_once(':').map_or(block, |(_, path)| path);
    path.matches('.').count()
}

/// The one that `name` means exactly, where it is a whole path that one block has.
pub fn exact<'a>(name: &str, ranked: &[&'a Candidate]) -> Option<&'a Candidate> {
    let mut whole = ranked.iter().filter(|candidate| is_whole(name, &candidate.block));
    match (whole.next(), whole.next(), ranked) {
        (Some(candidate), None, _) | (None, None, [candidate]) => Some(candidate),
        _ => None,
    }
}

/// Blocks with names that are near to one that nothing bears; `blocks` has the name and the whole path of each.
pub fn similar<'a>(name: &str, blocks: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    const ENOUGH: f64 = 0.84;
    const SHOWN: usize = 5;
    let last = name.rsplit(['.', ':']).next().unwrap_or(name).to_lowercase();
    let mut near: Vec<(f64, &str)> = blocks
        .map(|(name, block)| (strsim::jaro_winkler(&name.to_lowercase(), &last), block))
        .filter(|(similarity, _)| *similarity >= ENOUGH)
        .collect();
    near.sort_by(|(left_similarity, left), (right_similarity, right)| {
        let by_place = || (depth(left), left).cmp(&(depth(right), right));
        right_similarity.total_cmp(left_similarity).then_with(by_place)
    });
    near.into_iter().take(SHOWN).map(|(_, block)| block.to_owned()).collect()
}

/// Those candidates that the corpus is after; all of them where it names none.
pub fn targets(
    context: &Context<'_>,
    targets: &[String],
    candidates: Vec<Candidate>,
) -> Result<Vec<Candidate>, Problem> {
    if targets.is_empty() {
        return Ok(candidates);
    }
    let missing = targets.iter().filter(|target| !candidates.iter().any(|candidate| means(target, &candidate.block)));
    let missing: Vec<&str> = missing.map(String::as_str).collect();
    if !missing.is_empty() {
        context.console.caution(&format!(
            "{} of the corpus cannot be found: {}",
            human_things(missing.len(), "target"),
            missing.join(", ")
        ));
    }
    Ok(candidates
        .into_iter()
        .filter(|candidate| targets.iter().any(|target| means(target, &candidate.block)))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_names_that_are_equally_near_the_higher_ones_come_first() {
        let blocks =
            [("Bottleneck", "b-2.x:b.m.r.Bottleneck"), ("Bottleneck", "a:a.m.r.x.Bottleneck"), ("Mlp", "a:a.Mlp")];
        assert_eq!(similar("Bottelneck", blocks.into_iter()), ["b-2.x:b.m.r.Bottleneck", "a:a.m.r.x.Bottleneck"]);
    }

    #[test]
    fn names_mean_whole_dotted_parts() {
        let block = "timm:timm.layers.drop.DropPath";
        for name in ["DropPath", "drop.DropPath", "timm.layers.drop.DropPath", block, "timm:DropPath"] {
            assert!(means(name, block), "{name}");
        }
        for name in ["Path", "p.DropPath", "torchvision:DropPath", "droppath", ""] {
            assert!(!means(name, block), "{name}");
        }
    }
}
