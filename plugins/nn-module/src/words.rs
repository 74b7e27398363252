//! The words of a name.

/// The words of a name in CamelCase or snake_case, in lower case. A digit begins a word of its own that takes the
/// letters behind it along: `LayerNorm2d` has `layer`, `norm` and `2d`; `SEModule` has `se` and `module`. Two
/// abbreviations that end in a capital by custom, `ViT` and `RoI`, are words.
pub fn words(name: &str) -> Vec<String> {
    let characters: Vec<char> = name.replace("ViT", "Vit").replace("RoI", "Roi").chars().collect();
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    for (index, &character) in characters.iter().enumerate() {
        let previous = index.checked_sub(1).map(|previous| characters[previous]);
        let next = characters.get(index + 1).copied();
        if previous.is_some_and(|previous| begins_word(previous, character, next)) || !character.is_alphanumeric() {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        }
        if character.is_alphanumeric() {
            word.extend(character.to_lowercase());
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

/// Whether a word begins with `character`.
fn begins_word(previous: char, character: char, next: Option<char>) -> bool {
    if character.is_numeric() {
        return !previous.is_numeric();
    }
    if previous.is_numeric() {
        return character.is_uppercase();
    }
    // `SEModule`: the last of several capitals begins the next word.
    let ends_acronym = previous.is_uppercase() && next.is_some_and(char::is_lowercase);
    character.is_uppercase() && (previous.is_lowercase() || ends_acronym)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fall_into_words() {
        let cases: [(&str, &[&str]); 11] = [
            ("LayerNorm2d", &["layer", "norm", "2d"]),
            ("SEModule", &["se", "module"]),
            ("create_conv2d", &["create", "conv", "2d"]),
            ("SwinTransformerBlockV2", &["swin", "transformer", "block", "v", "2"]),
            ("EvoNorm2dS0a", &["evo", "norm", "2d", "s", "0a"]),
            ("_DenseBlock", &["dense", "block"]),
            ("FasterRCNN", &["faster", "rcnn"]),
            ("MultiScaleRoIAlign", &["multi", "scale", "roi", "align"]),
            ("RepViTBlock", &["rep", "vit", "block"]),
            ("PReLU", &["p", "re", "lu"]),
            ("", &[]),
        ];
        for (name, expected) in cases {
            assert_eq!(words(name), expected, "{name}");
        }
    }
}
