//! Under which dotted name each file is imported.

use std::collections::{BTreeMap, BTreeSet};

use netquarry_core::module;

/// How the files of a source are laid out.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Layout<'spec> {
    /// As installed: paths are relative to `site-packages`, but for `<name>.data/purelib` and `platlib` of a wheel.
    SitePackages,
    /// As developed: imports start from the root, from `src`, or from wherever the corpus says.
    Repository { import_roots: Option<&'spec [String]> },
    /// The root is itself a package of this name.
    Package { name: &'spec str },
}

/// Where imports start and what they can reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Modules {
    /// Sorted; `.` is the root.
    pub(crate) roots: Vec<String>,
    /// The dotted name by path, for the files that have one.
    pub(crate) names: BTreeMap<String, String>,
}

/// `paths` are relative to the root of the source, with forward slashes.
pub(crate) fn name_modules(paths: &[&str], layout: Layout<'_>) -> Modules {
    let (mut roots, prefix) = match layout {
        Layout::SitePackages => (wheel_roots(paths), None),
        Layout::Repository { import_roots: Some(given) } => (given.iter().map(|root| normalised(root)).collect(), None),
        Layout::Repository { import_roots: None } => (repository_roots(paths), None),
        Layout::Package { name } => (vec![String::new()], Some(name)),
    };
    roots.sort();
    roots.dedup();
    let names =
        paths.iter().filter_map(|path| Some(((*path).to_owned(), module_name(path, &roots, prefix)?))).collect();
    let shown = |root: String| if root.is_empty() { ".".to_owned() } else { root };
    Modules { roots: roots.into_iter().map(shown).collect(), names }
}

fn normalised(root: &str) -> String {
    let segments = root.split('/').filter(|segment| !segment.is_empty() && *segment != ".");
    segments.collect::<Vec<_>>().join("/")
}

/// PEP 427: what lies in `purelib` and `platlib` is moved up when a wheel is installed.
fn wheel_roots(paths: &[&str]) -> Vec<String> {
    let mut roots = vec![String::new()];
    for path in paths {
        let mut segments = path.split('/');
        if let (Some(data), Some(scheme @ ("purelib" | "platlib"))) = (segments.next(), segments.next())
            && data.ends_with(".data")
        {
            roots.push(format!("{data}/{scheme}"));
        }
    }
    roots
}

/// Folders beside the root from which projects import their own code: the `src` layout, and the `lib` and `python` folders
/// that scripts put on `sys.path`. Such a folder is no package itself and directly holds one. The root always counts, as
/// scripts that are run there import from it.
fn repository_roots(paths: &[&str]) -> Vec<String> {
    let packages: BTreeSet<_> = paths.iter().filter_map(|path| path.strip_suffix("/__init__.py")).collect();
    let holds_package =
        |root: &str| packages.iter().any(|package| package.rsplit_once('/').is_some_and(|(holder, _)| holder == root));
    let mut roots = vec![String::new()];
    for root in ["src", "lib", "python"] {
        if !packages.contains(root) && holds_package(root) {
            roots.push(root.to_owned());
        }
    }
    roots
}

/// The name that the innermost root around the file gives it.
fn module_name(path: &str, roots: &[String], prefix: Option<&str>) -> Option<String> {
    let beneath =
        |root: &&String| root.is_empty() || path.strip_prefix(root.as_str()).is_some_and(|rest| rest.starts_with('/'));
    let root = roots.iter().filter(beneath).max_by_key(|root| root.len())?;
    let inner = path.strip_prefix(root.as_str())?.trim_start_matches('/');
    module::name(prefix, inner)
}
