//! The requirements that a source declares, read and never executed.

use std::collections::BTreeSet;
use std::str::FromStr;

use netquarry_core::source::{self, SourceKind};
use netquarry_corpus::snapshot::Snapshot;
use pep508_rs::{MarkerEnvironment, MarkerTree, Requirement, VerbatimUrl, VersionOrUrl};

use crate::library::distribution_name::normalised;

/// A requirement that holds in this environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// Normalised: `opencv-python`.
    pub name: String,
    /// As an index can fulfil it, without its marker: `opencv-python>=4.7.0`.
    pub requirement: String,
    /// Needed for an extra only, or for work on the source itself.
    pub is_optional: bool,
}

/// What a source says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub name: String,
    /// The normalised name of the distribution that it is.
    pub distribution: Option<String>,
    /// `timm==1.0.31`; `None` where no index has the source.
    pub requirement: Option<String>,
    /// The packages that importing starts from.
    pub packages: BTreeSet<String>,
    /// In the order in which they are declared.
    pub declared: Vec<Declared>,
}

/// Reads what a source declares. A file that cannot be read declares nothing.
pub fn of(snapshot: &Snapshot, markers: &MarkerEnvironment) -> Source {
    let source = &snapshot.source;
    let metadata = &snapshot.metadata;
    let mut declared: Vec<Declared> = metadata.requires.iter().filter_map(|text| read(text, markers)).collect();
    let of_extras = metadata.optional.iter().filter_map(|(_, text)| read(text, markers));
    declared.extend(of_extras.map(|declared| Declared { is_optional: true, ..declared }));
    // An sdist of an old setuptools states none, though it may have the files that its `setup.py` reads them from.
    if source.kind != SourceKind::Pypi || declared.is_empty() {
        declared.extend(requirement_files(snapshot, markers));
    }
    let requirement = match (&source.distribution, &source.version) {
        (Some(name), Some(version)) if source.kind == SourceKind::Pypi => Some(format!("{name}=={version}")),
        _ => None,
    };
    let modules = snapshot.files.iter().filter_map(|file| file.module.as_deref());
    Source {
        name: source.name.clone(),
        distribution: source.distribution.as_deref().map(normalised),
        requirement,
        packages: modules.filter_map(|module| module.split('.').next()).map(str::to_owned).collect(),
        declared,
    }
}

/// The normalised name of the distribution that a source is, where an index has it: elsewhere, there may be another one
/// of that name.
pub fn distribution(source: &source::Source) -> Option<String> {
    source.distribution.as_deref().filter(|_| source.kind == SourceKind::Pypi).map(normalised)
}

/// The normalised names of all distributions that a source declares, wherever and for whatever they are needed.
pub fn names(snapshot: &Snapshot) -> BTreeSet<String> {
    let listed = files(snapshot).into_iter().flat_map(|path| lines_of(snapshot, path));
    stated(snapshot).into_iter().chain(listed).filter_map(|text| name(&text)).collect()
}

/// The requirements that the metadata of a source states, word for word: PEP 508, with their markers. What a project file
/// lists for an extra has it as its marker, as built metadata does.
pub fn stated(snapshot: &Snapshot) -> Vec<String> {
    let metadata = &snapshot.metadata;
    let of_extra = |(extra, text): &(String, String)| match text.split_once(';') {
        Some((requirement, marker)) => format!("{requirement}; ({}) and extra == \"{extra}\"", marker.trim()),
        None => format!("{text}; extra == \"{extra}\""),
    };
    metadata.requires.iter().cloned().chain(metadata.optional.iter().map(of_extra)).collect()
}

fn name(text: &str) -> Option<String> {
    Some(normalised(parsed(text)?.name.as_ref()))
}

/// A requirement that an index can fulfil. One that names a place instead of a version asks for what lies there, and not
/// for what an index has by that name.
fn parsed(text: &str) -> Option<Requirement<VerbatimUrl>> {
    let requirement = Requirement::from_str(text.trim()).ok()?;
    (!matches!(requirement.version_or_url, Some(VersionOrUrl::Url(_)))).then_some(requirement)
}

/// One requirement, where it holds with or without extras.
fn read(text: &str, markers: &MarkerEnvironment) -> Option<Declared> {
    let requirement = parsed(text)?;
    let always = requirement.evaluate_markers(markers, &[]);
    let with_extras = requirement.marker.clone().simplify_extras_with(|_| true).evaluate(markers, &[]);
    (always || with_extras).then(|| Declared {
        name: normalised(requirement.name.as_ref()),
        requirement: Requirement { marker: MarkerTree::TRUE, ..requirement }.to_string(),
        is_optional: !always,
    })
}

/// `requirements.txt` of the root is what a repository needs; its likes and those in a folder `requirements` are for more.
fn requirement_files(snapshot: &Snapshot, markers: &MarkerEnvironment) -> Vec<Declared> {
    let of_file = |path: &str| {
        let is_main = path == "requirements.txt";
        let declared = lines_of(snapshot, path).into_iter().filter_map(|line| read(&line, markers));
        declared.map(move |line| Declared { is_optional: line.is_optional || !is_main, ..line }).collect::<Vec<_>>()
    };
    files(snapshot).into_iter().flat_map(of_file).collect()
}

/// The paths of the files that pip reads requirements from, the main one first.
fn files(snapshot: &Snapshot) -> Vec<&str> {
    let paths = snapshot.data.iter().map(|file| file.path.as_str());
    let mut paths: Vec<&str> = paths.filter(|path| is_requirement_file(path)).collect();
    paths.sort_by_key(|path| (*path != "requirements.txt", *path));
    paths
}

fn lines_of(snapshot: &Snapshot, path: &str) -> Vec<String> {
    let text = snapshot.read_path(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    listed(&text.unwrap_or_default())
}

fn is_requirement_file(path: &str) -> bool {
    match path.split_once('/') {
        None => path.starts_with("requirements") && path.ends_with(".txt"),
        Some((folder, file)) => folder == "requirements" && !file.contains('/') && file.ends_with(".txt"),
    }
}

/// The requirements in a file of pip's; its options and paths are passed over.
fn listed(text: &str) -> Vec<String> {
    let line = |line: &str| {
        // A comment, then options of the one requirement, such as its digests.
        let line = line.split(" #").next().expect("splitting yields a part");
        let line = line.split(" --").next().expect("splitting yields a part").trim();
        (!line.starts_with(['#', '-'])).then(|| line.to_owned())
    };
    text.replace("\\\n", " ").lines().filter_map(line).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn markers() -> MarkerEnvironment {
        let markers = serde_json::json!({
            "implementation_name": "cpython", "implementation_version": "3.11.7", "os_name": "posix",
            "platform_machine": "x86_64", "platform_python_implementation": "CPython", "platform_release": "6.1",
            "platform_system": "Linux", "platform_version": "#1", "python_full_version": "3.11.7",
            "python_version": "3.11", "sys_platform": "linux",
        });
        serde_json::from_value(markers).expect("the markers are complete")
    }

    fn shown(declared: &Declared) -> String {
        format!("{}{}", declared.requirement, if declared.is_optional { " (optional)" } else { "" })
    }

    #[test]
    fn requirements_hold_where_their_markers_do() {
        let cases = [
            ("opencv-python!=4.13.0.90,>=4.7.0", Some("opencv-python>=4.7.0,!=4.13.0.90")),
            ("opencv-python (!=4.5.5.*,>=4.2.0.32)", Some("opencv-python>=4.2.0.32,!=4.5.5.*")),
            ("numpy>=1.23.0; platform_system != \"Darwin\"", Some("numpy>=1.23.0")),
            ("regex; sys_platform == \"win32\"", None),
            ("regex; sys_platform == \"win32\" and extra == \"all\"", None),
            ("PyYAML ; extra == 'all'", Some("pyyaml (optional)")),
            ("a[b]>1; (extra == 'x' or extra == 'y') and python_version < '3.12'", Some("a[b]>1 (optional)")),
            ("clip @ git+https://github.com/a/b.git", None),
            ("not a requirement", None),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text, &markers()).as_ref().map(shown).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn what_lies_elsewhere_is_not_declared_by_its_name() {
        assert_eq!(name("Clip_X[all]>=1; extra == 'all'").as_deref(), Some("clip-x"));
        assert_eq!(name("clip @ git+https://github.com/a/b.git"), None);
    }

    #[test]
    fn a_source_is_the_distribution_of_its_name_where_an_index_has_it() {
        let source = |kind| source::Source {
            name: "vision".to_owned(),
            kind,
            version: None,
            commit: None,
            tree: None,
            url: None,
            license: None,
            distribution: Some("Torch_Vision".to_owned()),
        };
        assert_eq!(distribution(&source(SourceKind::Pypi)).as_deref(), Some("torch-vision"));
        assert_eq!(distribution(&source(SourceKind::Local)), None);
    }

    #[test]
    fn options_of_requirement_files_are_passed_over() {
        let text = "# core\n-r base.txt\ntorch>=2  # the newest\n--index-url https://x\n\nPillow\n./local\nx; python_version<'3'\n\
                    einops==0.8.2 \\\n    --hash=sha256:00 \\\n    --hash=sha256:11\n";
        let declared = listed(text).into_iter().filter_map(|line| read(&line, &markers()));
        let lines: Vec<String> = declared.map(|declared| shown(&declared)).collect();
        assert_eq!(lines, ["torch>=2", "pillow", "einops==0.8.2"]);
        for (path, expected) in [
            ("requirements.txt", true),
            ("requirements-dev.txt", true),
            ("requirements/optional.txt", true),
            ("docs/requirements.txt", false),
            ("notes.txt", false),
        ] {
            assert_eq!(is_requirement_file(path), expected, "{path}");
        }
    }
}
