//! Packaging metadata, read without running anything: `METADATA` and `PKG-INFO` (RFC 822 headers), `pyproject.toml`
//! and `setup.cfg`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::license;

/// What the packaging metadata of a source states; empty where it states nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DistributionMetadata {
    /// The name of the distribution as written, `torch_geometric`.
    pub name: Option<String>,
    pub version: Option<String>,
    /// An SPDX expression where the metadata has one or what it says has exactly one meaning; else as written.
    pub license: Option<String>,
    /// `Requires-Dist`: PEP 508 requirements as written, extras included.
    pub requires: Vec<String>,
    /// What project files list for an extra: its name, and a PEP 508 requirement. Built metadata has them in
    /// `requires`, with a marker.
    #[serde(default)]
    pub optional: Vec<(String, String)>,
    pub requires_python: Option<String>,
    /// The packages and modules that importing starts from, sorted.
    pub top_level: Vec<String>,
    /// Label and URL, as written.
    pub project_urls: Vec<(String, String)>,
}

/// The files that metadata is read from, those that exist.
#[derive(Clone, Debug, Default)]
pub(crate) struct MetadataFiles {
    /// `METADATA` of a wheel or `PKG-INFO` of an sdist.
    pub(crate) core: Option<String>,
    pub(crate) top_level: Option<String>,
    pub(crate) pyproject: Option<String>,
    pub(crate) setup_cfg: Option<String>,
    /// The licence text nearest to the root.
    pub(crate) license: Option<String>,
}

impl MetadataFiles {
    /// Built metadata wins over what a project file declares; the licence text speaks where both
    /// are silent or vague.
    pub(crate) fn read(&self, modules: &BTreeMap<String, String>) -> DistributionMetadata {
        let mut metadata = self.core.as_deref().map(core_metadata).unwrap_or_default();
        if let Some(text) = &self.pyproject {
            metadata.fill(pyproject(text));
        }
        if let Some(text) = &self.setup_cfg {
            metadata.fill(setup_cfg(text));
        }
        metadata.license = license::refined(metadata.license, self.license.as_deref());
        metadata.top_level = match &self.top_level {
            Some(text) => text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect(),
            None => modules.values().filter_map(|module| module.split('.').next()).map(str::to_owned).collect(),
        };
        metadata.top_level.sort();
        metadata.top_level.dedup();
        metadata
    }
}

impl DistributionMetadata {
    fn fill(&mut self, other: Self) {
        self.name = self.name.take().or(other.name);
        self.version = self.version.take().or(other.version);
        self.license = self.license.take().or(other.license);
        self.requires_python = self.requires_python.take().or(other.requires_python);
        if self.requires.is_empty() {
            self.requires = other.requires;
            self.optional = other.optional;
        }
        if self.project_urls.is_empty() {
            self.project_urls = other.project_urls;
        }
    }
}

/// The core metadata format: headers up to the first empty line; lines that start with white space continue the one before.
fn core_metadata(text: &str) -> DistributionMetadata {
    let mut metadata = DistributionMetadata::default();
    let (mut expression, mut statement, mut classifiers) = (None, None, Vec::new());
    for (key, value) in headers(text) {
        // `UNKNOWN` is what old build tools wrote for nothing.
        if value.is_empty() || value == "UNKNOWN" {
            continue;
        }
        match key.to_ascii_lowercase().as_str() {
            "name" => metadata.name = Some(value),
            "version" => metadata.version = Some(value),
            "license-expression" => expression = Some(value),
            "license" => statement = Some(value),
            "classifier" => classifiers.push(value),
            "requires-dist" => metadata.requires.push(value),
            "requires-python" => metadata.requires_python = Some(value),
            "home-page" => metadata.project_urls.push(("Homepage".to_owned(), value)),
            "project-url" => metadata.project_urls.extend(labelled_url(&value)),
            // The format grows, and whatever else it says does not concern us.
            _ => {}
        }
    }
    metadata.license = license::stated(expression.as_deref(), statement.as_deref(), &classifiers);
    metadata
}

fn headers(text: &str) -> Vec<(String, String)> {
    let mut headers: Vec<(String, String)> = Vec::new();
    for line in text.lines().take_while(|line| !line.is_empty()) {
        match headers.last_mut() {
            Some((_, value)) if line.starts_with([' ', '\t']) => {
                value.push('\n');
                value.push_str(line.trim());
            }
            _ => headers
                .extend(line.split_once(':').map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))),
        }
    }
    headers
}

fn labelled_url(value: &str) -> Option<(String, String)> {
    value.split_once(',').map(|(label, url)| (label.trim().to_owned(), url.trim().to_owned()))
}

/// PEP 621. What is `dynamic` is not known without running the build backend, and stays unknown.
fn pyproject(text: &str) -> DistributionMetadata {
    let Ok(document) = text.parse::<toml::Table>() else { return DistributionMetadata::default() };
    let Some(project) = document.get("project").and_then(toml::Value::as_table) else {
        return DistributionMetadata::default();
    };
    let string = |key: &str| project.get(key).and_then(toml::Value::as_str).map(str::to_owned);
    let strings = |key: &str| -> Vec<String> {
        let values = project.get(key).and_then(toml::Value::as_array);
        values.into_iter().flatten().filter_map(|value| value.as_str().map(str::to_owned)).collect()
    };
    let urls = project.get("urls").and_then(toml::Value::as_table);
    let extras = project.get("optional-dependencies").and_then(toml::Value::as_table);
    let of_extra = |(extra, list): (&String, &toml::Value)| -> Vec<(String, String)> {
        let list = list.as_array().into_iter().flatten().filter_map(toml::Value::as_str);
        list.map(|requirement| (extra.clone(), requirement.to_owned())).collect()
    };
    let statement = project.get("license").and_then(|license| license.get("text")).and_then(toml::Value::as_str);
    DistributionMetadata {
        name: string("name"),
        version: string("version"),
        license: license::stated(string("license").as_deref(), statement, &strings("classifiers")),
        requires: strings("dependencies"),
        optional: extras.into_iter().flatten().flat_map(of_extra).collect(),
        requires_python: string("requires-python"),
        top_level: Vec::new(),
        project_urls: (urls.into_iter().flatten())
            .filter_map(|(label, url)| url.as_str().map(|url| (label.clone(), url.to_owned())))
            .collect(),
    }
}

/// The declarative metadata of setuptools; values such as `attr: package.__version__` would need code to run.
fn setup_cfg(text: &str) -> DistributionMetadata {
    let sections = crate::ini::parse(text);
    let value = |section: &str, key: &str| {
        let value = sections.get(section).and_then(|entries| entries.get(key))?;
        (!value.is_empty() && !value.starts_with("attr:") && !value.starts_with("file:")).then(|| value.clone())
    };
    let lines = |section: &str, key: &str| -> Vec<String> {
        let text = value(section, key).unwrap_or_default();
        text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
    };
    let optional = sections.get("options.extras_require").into_iter().flatten().flat_map(|(extra, text)| {
        let requirements = text.lines().map(str::trim).filter(|line| !line.is_empty());
        requirements.map(|requirement| (extra.clone(), requirement.to_owned())).collect::<Vec<_>>()
    });
    DistributionMetadata {
        name: value("metadata", "name"),
        version: value("metadata", "version"),
        license: license::stated(None, value("metadata", "license").as_deref(), &lines("metadata", "classifiers")),
        requires: lines("options", "install_requires"),
        optional: optional.collect(),
        requires_python: value("options", "python_requires"),
        top_level: Vec::new(),
        project_urls: value("metadata", "url").map(|url| ("Homepage".to_owned(), url)).into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_licence_text_in_the_headers_does_not_end_them() {
        let text = "Name: x\r\nLicense: MIT License\r\n        \r\n        Permission is granted\r\n\
                    Requires-Dist: einops\r\n\r\nRequires-Dist: not a header\r\n";
        let metadata = core_metadata(text);
        assert_eq!(metadata.requires, ["einops"]);
    }

    #[test]
    fn core_metadata_as_wheels_have_it() {
        let text = "Metadata-Version: 2.4\nName: torch_geometric\nVersion: 2.8.1\nLicense-Expression: MIT\n\
                    Requires-Dist: numpy\nRequires-Dist: torch>=2; extra == \"full\"\nRequires-Python: >=3.10\n\
                    Project-URL: Homepage, https://pyg.org\nSummary: one\n two\n\nName: not a header\n";
        let metadata = MetadataFiles { core: Some(text.to_owned()), ..MetadataFiles::default() };
        let modules = [("a/b.py", "a.b"), ("c.py", "c")].map(|(path, module)| (path.to_owned(), module.to_owned()));
        let metadata = metadata.read(&modules.into());
        assert_eq!(metadata.name.as_deref(), Some("torch_geometric"));
        assert_eq!(metadata.license.as_deref(), Some("MIT"));
        assert_eq!(metadata.requires, ["numpy", "torch>=2; extra == \"full\""]);
        assert_eq!(metadata.requires_python.as_deref(), Some(">=3.10"));
        assert_eq!(metadata.project_urls, [("Homepage".to_owned(), "https://pyg.org".to_owned())]);
        assert_eq!(metadata.top_level, ["a", "c"]);
    }

    #[test]
    fn project_files_speak_where_nothing_was_built() {
        let files = MetadataFiles {
            pyproject: Some(
                "[project]\nname = \"x\"\ndependencies = [\"torch\"]\nlicense = {text = \"BSD-3-Clause\"}\n\
                 [project.optional-dependencies]\nimages = [\"opencv-python>=4\"]"
                    .into(),
            ),
            setup_cfg: Some("[metadata]\nname = y\nversion = 1.2\n[options]\ninstall_requires =\n    numpy\n".into()),
            top_level: Some("b\na\n".into()),
            ..MetadataFiles::default()
        };
        let metadata = files.read(&BTreeMap::new());
        assert_eq!(metadata.name.as_deref(), Some("x"));
        assert_eq!(metadata.version.as_deref(), Some("1.2"));
        assert_eq!(metadata.license.as_deref(), Some("BSD-3-Clause"));
        assert_eq!(metadata.requires, ["torch"]);
        assert_eq!(metadata.optional, [("images".to_owned(), "opencv-python>=4".to_owned())]);
        assert_eq!(metadata.top_level, ["a", "b"]);
    }

    #[test]
    fn broken_metadata_is_no_metadata() {
        let files = MetadataFiles {
            core: Some("\u{0}garbage without colon\n more".into()),
            pyproject: Some("[project\nname=".into()),
            setup_cfg: Some("= =\n[\n".into()),
            ..MetadataFiles::default()
        };
        assert_eq!(files.read(&BTreeMap::new()), DistributionMetadata::default());
    }
}
