//! What of a source counts: globs over paths and patterns over the dotted names of classes.

use globset::{Glob, GlobBuilder, GlobMatcher};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Limits discovery to a part of a source. Without `include` everything is in; `exclude` wins over `include`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Scope {
    /// Files that count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<PathPattern>,
    /// Files that do not count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<PathPattern>,
    /// Classes that count.
    #[serde(skip_serializing_if = "SymbolScope::is_everything")]
    pub symbols: SymbolScope,
}

impl Scope {
    pub fn is_everything(&self) -> bool {
        *self == Self::default()
    }

    /// The scope, made ready for many questions.
    pub fn matcher(&self) -> ScopeMatcher {
        let paths = |patterns: &[PathPattern]| patterns.iter().flat_map(PathPattern::globs).collect();
        let symbols = |patterns: &[SymbolPattern]| patterns.iter().flat_map(SymbolPattern::globs).collect();
        ScopeMatcher {
            paths: Alternatives { include: paths(&self.include), exclude: paths(&self.exclude) },
            symbols: Alternatives { include: symbols(&self.symbols.include), exclude: symbols(&self.symbols.exclude) },
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SymbolScope {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<SymbolPattern>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<SymbolPattern>,
}

impl SymbolScope {
    fn is_everything(&self) -> bool {
        *self == Self::default()
    }
}

/// A path relative to the root of the source, with forward slashes. `torch/nn/functional` stands for the file
/// `torch/nn/functional.py` and for everything below a folder of that name; `*`, `?`, `[...]` and `{a,b}` match within one
/// segment, `**` across segments.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct PathPattern(String);

impl PathPattern {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn globs(&self) -> Vec<GlobMatcher> {
        let path = &self.0;
        let mut globs = vec![path.clone(), format!("{path}/**")];
        if !path.ends_with(".py") {
            globs.push(format!("{path}.py"));
        }
        globs.iter().map(|glob| compile(glob).expect("checked when the pattern was made").compile_matcher()).collect()
    }
}

impl TryFrom<String> for PathPattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let path = text.strip_prefix("./").unwrap_or(&text).trim_end_matches('/');
        if path.is_empty() {
            return Err("an empty path pattern matches nothing; leave it out".to_owned());
        }
        if path.starts_with('/') || path.split('/').any(|segment| segment == "..") {
            return Err(format!(
                "path pattern `{text}` leaves the source; write it relative to the root of the source"
            ));
        }
        match compile(path) {
            Ok(_) => Ok(Self(path.to_owned())),
            Err(error) => Err(format!("path pattern `{text}`: {}", error.kind())),
        }
    }
}

impl From<PathPattern> for String {
    fn from(pattern: PathPattern) -> Self {
        pattern.0
    }
}

/// A class or what holds it. Without a dot it is the bare name of a class (`DropPath`, `*Attention*`); with one it is a
/// qualified name or a prefix of it (`timm.layers`, `timm.models.*.Block`), in which `*` matches within one segment and
/// `**` across segments.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct SymbolPattern(String);

impl SymbolPattern {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Dots become slashes, so that a segment of a dotted name is a segment of a path to the glob.
    fn globs(&self) -> Vec<GlobMatcher> {
        let path = self.0.replace('.', "/");
        let globs = if path.contains('/') {
            [path.clone(), format!("{path}/**")]
        } else {
            [path.clone(), format!("**/{path}")]
        };
        globs.iter().map(|glob| compile(glob).expect("checked when the pattern was made").compile_matcher()).collect()
    }
}

impl TryFrom<String> for SymbolPattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.is_empty() || text.contains(|letter: char| letter == '/' || letter.is_whitespace()) {
            return Err(format!("`{text}` is no symbol pattern; write a class name, a dotted name or a glob over one"));
        }
        match compile(&text.replace('.', "/")) {
            Ok(_) => Ok(Self(text)),
            Err(error) => Err(format!("symbol pattern `{text}`: {}", error.kind())),
        }
    }
}

impl From<SymbolPattern> for String {
    fn from(pattern: SymbolPattern) -> Self {
        pattern.0
    }
}

fn compile(glob: &str) -> Result<Glob, globset::Error> {
    GlobBuilder::new(glob).literal_separator(true).build()
}

/// A [`Scope`] with its globs compiled.
#[derive(Clone, Debug)]
pub struct ScopeMatcher {
    paths: Alternatives,
    symbols: Alternatives,
}

impl ScopeMatcher {
    /// Whether the file at `path`, relative to the root of the source and with forward slashes, counts.
    pub fn contains_file(&self, path: &str) -> bool {
        self.paths.contain(path)
    }

    /// Whether the class of this qualified name (`timm.layers.drop.DropPath`) counts.
    pub fn contains_symbol(&self, qualified_name: &str) -> bool {
        self.symbols.contain(&qualified_name.replace('.', "/"))
    }
}

#[derive(Clone, Debug)]
struct Alternatives {
    include: Vec<GlobMatcher>,
    exclude: Vec<GlobMatcher>,
}

impl Alternatives {
    fn contain(&self, path: &str) -> bool {
        let any = |globs: &[GlobMatcher]| globs.iter().any(|glob| glob.is_match(path));
        (self.include.is_empty() || any(&self.include)) && !any(&self.exclude)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(patterns: &[&str]) -> Vec<PathPattern> {
        patterns.iter().map(|text| PathPattern::try_from((*text).to_owned()).unwrap()).collect()
    }

    fn symbols(patterns: &[&str]) -> Vec<SymbolPattern> {
        patterns.iter().map(|text| SymbolPattern::try_from((*text).to_owned()).unwrap()).collect()
    }

    #[test]
    fn a_plain_path_is_a_folder_or_a_module() {
        let scope =
            Scope { include: paths(&["torch/nn/functional", "timm/layers/", "./setup.py"]), ..Scope::default() };
        let matcher = scope.matcher();
        assert!(matcher.contains_file("torch/nn/functional.py"));
        assert!(matcher.contains_file("torch/nn/functional/relu.py"));
        assert!(matcher.contains_file("timm/layers/deep/drop.py"));
        assert!(matcher.contains_file("setup.py"));
        assert!(!matcher.contains_file("torch/nn/functional_extra.py"));
        assert!(!matcher.contains_file("other/timm/layers/drop.py"));
    }

    #[test]
    fn exclusion_wins_and_stars_stay_within_a_segment() {
        let scope = Scope {
            include: paths(&["src/*/models"]),
            exclude: paths(&["**/{test,tests}", "**/convert_*"]),
            ..Scope::default()
        };
        let matcher = scope.matcher();
        assert!(matcher.contains_file("src/a/models/x.py"));
        assert!(!matcher.contains_file("src/a/b/models/x.py"));
        assert!(!matcher.contains_file("src/a/models/tests/x.py"));
        assert!(!matcher.contains_file("src/a/models/convert_x.py"));
    }

    #[test]
    fn symbols_are_classes_prefixes_and_globs() {
        let symbols = SymbolScope {
            include: symbols(&["DropPath", "*Attention", "timm.layers", "timm.models.*.Block"]),
            exclude: symbols(&["timm.layers.mlp.**"]),
        };
        let matcher = Scope { symbols, ..Scope::default() }.matcher();
        assert!(matcher.contains_symbol("anywhere.DropPath"));
        assert!(matcher.contains_symbol("a.b.SelfAttention"));
        assert!(matcher.contains_symbol("timm.layers.norm.LayerNorm"));
        assert!(matcher.contains_symbol("timm.models.vit.Block"));
        assert!(!matcher.contains_symbol("timm.models.vit.Other"));
        assert!(!matcher.contains_symbol("timm.models.deep.vit.Block"));
        assert!(!matcher.contains_symbol("timm.layers.mlp.Mlp"));
        assert!(!matcher.contains_symbol("timm.layersmore.X"));
    }

    #[test]
    fn patterns_that_cannot_match_are_refused() {
        for text in ["", "/etc", "../x", "a/[b"] {
            assert!(PathPattern::try_from(text.to_owned()).is_err(), "{text}");
        }
        for text in ["", "a/b", "a b", "a.[b"] {
            assert!(SymbolPattern::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
