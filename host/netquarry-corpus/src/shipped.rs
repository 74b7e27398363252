//! The corpora that come with the program.

/// Name and text of every shipped corpus, the default one first.
const SHIPPED: [(&str, &str); 3] = [
    ("quickstart", include_str!("../corpora/quickstart.json")),
    ("paper-pypi", include_str!("../corpora/paper-pypi.json")),
    ("paper", include_str!("../corpora/paper.json")),
];

/// The names of the shipped corpora, the default one first.
pub fn names() -> Vec<&'static str> {
    SHIPPED.iter().map(|(name, _)| *name).collect()
}

/// The JSON text of a shipped corpus.
pub fn text(name: &str) -> Option<&'static str> {
    SHIPPED.iter().find(|(shipped, _)| *shipped == name).map(|(_, text)| *text)
}
