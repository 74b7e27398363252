//! File names of bundles: importable as Python modules and unique whatever the case of letters.

use std::collections::{BTreeMap, HashMap};

use sha2::{Digest, Sha256};

use super::folder::hexadecimal;

/// What a file name is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedBlock<'a> {
    /// `timm:timm.layers.drop.DropPath`
    pub block: &'a str,
    /// `DropPath`
    pub name: &'a str,
}

/// The stem of every block's file: `DropPath` where no other block bears that name, in whatever case of letters, and
/// `Bottleneck__timm_models_resnet` for each of those that share one. The stems depend on the whole set, so callers pass
/// all candidates of the corpus, not the ones that happen to be promoted.
pub fn file_stems(blocks: &[NamedBlock<'_>]) -> BTreeMap<String, String> {
    let mut bearers: HashMap<String, usize> = HashMap::new();
    for block in blocks {
        *bearers.entry(block.name.to_lowercase()).or_default() += 1;
    }
    let stem = |block: &NamedBlock<'_>| match bearers[&block.name.to_lowercase()] {
        1 if is_plain(block.name) => block.name.to_owned(),
        _ => qualified_stem(block),
    };
    let mut stems: BTreeMap<String, String> =
        blocks.iter().map(|block| (block.block.to_owned(), stem(block))).collect();

    // `a.b_c` and `a_b.c` give one stem; a class may even be called what another one's qualified stem is.
    let mut taken: HashMap<String, usize> = HashMap::new();
    for stem in stems.values() {
        *taken.entry(stem.to_lowercase()).or_default() += 1;
    }
    for (block, stem) in &mut stems {
        if taken[&stem.to_lowercase()] > 1 {
            *stem = apart(stem, block);
        }
    }
    stems
}

/// The stem with a digest of the block's identity, for one that is taken already.
pub fn apart(stem: &str, block: &str) -> String {
    format!("{stem}__{}", short_digest(block))
}

/// `Bottleneck__timm_models_resnet` for `timm:timm.models.resnet.Bottleneck`; the source is named where the module does
/// not begin with it: `Bottleneck__yolov5_models_common`.
fn qualified_stem(block: &NamedBlock<'_>) -> String {
    let (source, path) = block.block.split_once(':').unwrap_or(("", block.block));
    let module = path.strip_suffix(block.name).unwrap_or(path).trim_end_matches('.');
    let place = match module.split('.').next() {
        Some(package) if package == source => module.to_owned(),
        _ => format!("{source}.{module}"),
    };
    format!("{}__{}", identifier(block.name), identifier(place.trim_matches('.')))
}

/// ASCII letters, digits and underscores, and no digit in front.
fn identifier(text: &str) -> String {
    let mut identifier: String =
        text.chars().map(|character| if character.is_ascii_alphanumeric() { character } else { '_' }).collect();
    if identifier.starts_with(|first: char| first.is_ascii_digit()) {
        identifier.insert(0, '_');
    }
    identifier
}

/// Whether a class name can be a file's: ASCII, and not the name of something that a script beside the file would import
/// or that some file systems keep for themselves.
fn is_plain(name: &str) -> bool {
    const RESERVED: [&str; 4] = ["aux", "con", "nul", "prn"];
    identifier(name) == name
        && !netquarry_core::stdlib::is_module(name)
        && !["torch", "torchvision", "numpy"].contains(&name)
        && !RESERVED.contains(&name.to_lowercase().as_str())
}

fn short_digest(text: &str) -> String {
    hexadecimal(&Sha256::digest(text.as_bytes())[..4])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stems(blocks: &[(&str, &str)]) -> Vec<String> {
        let blocks: Vec<_> = blocks.iter().map(|(block, name)| NamedBlock { block, name }).collect();
        let stems = file_stems(&blocks);
        blocks.iter().map(|block| stems[block.block].clone()).collect()
    }

    #[test]
    fn a_name_that_one_block_bears_is_the_file_name() {
        assert_eq!(stems(&[("timm:timm.layers.drop.DropPath", "DropPath")]), ["DropPath"]);
    }

    #[test]
    fn blocks_that_share_a_name_are_told_apart_by_their_modules() {
        let stems = stems(&[
            ("timm:timm.models.resnet.Bottleneck", "Bottleneck"),
            ("yolov5:models.common.Bottleneck", "Bottleneck"),
            ("yolov7:models.common.Bottleneck", "Bottleneck"),
            ("timm:timm.models.hrnet.BottleNeck", "BottleNeck"),
        ]);
        assert_eq!(
            stems,
            [
                "Bottleneck__timm_models_resnet",
                "Bottleneck__yolov5_models_common",
                "Bottleneck__yolov7_models_common",
                "BottleNeck__timm_models_hrnet",
            ]
        );
    }

    #[test]
    fn stems_are_unique_even_where_qualified_names_meet() {
        let stems = stems(&[("a:a.b_c.Block", "Block"), ("a:a_b.c.Block", "Block"), ("a:a.b.c.Block", "Block")]);
        let unique: std::collections::BTreeSet<_> = stems.iter().map(|stem| stem.to_lowercase()).collect();
        assert_eq!(unique.len(), 3, "{stems:?}");
    }

    #[test]
    fn names_that_would_shadow_a_module_or_a_device_are_qualified() {
        assert_eq!(
            stems(&[("a:m.queue", "queue"), ("a:m.Con", "Con"), ("a:m.Größe", "Größe")]),
            ["queue__a_m", "Con__a_m", "Gr__e__a_m"]
        );
    }
}
