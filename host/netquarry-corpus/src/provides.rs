//! What a distribution can be imported as, from the list of files in its newest wheel: a few kilobytes of it are transferred.

use std::collections::BTreeSet;
use std::io::{BufReader, Read, Seek};

use zip::ZipArchive;

use crate::cache::{self, Cache};
use crate::failure::FetchFailure;
use crate::fetch::{Demand, FetchOptions};
use crate::progress::Reporter;
use crate::pypi::configuration::IndexConfiguration;
use crate::pypi::http::{Client, without_credentials};
use crate::pypi::page::{self, IndexFile};
use crate::pypi::ranges::RangeReader;
use crate::pypi::{self, release};

/// The top-level packages and modules that the project provides. None where the index has no wheel of it. The answer is
/// kept: what a distribution is imported as hardly ever changes.
///
/// # Errors
/// If the index cannot be asked, or a wheel is broken; with [`FetchOptions::offline`] also where nobody asked before.
pub fn provides(project: &str, options: &FetchOptions) -> Result<BTreeSet<String>, FetchFailure> {
    let cache = Cache::open(&options.cache)?;
    let request = cache::file_name(&format!("provides {}", release::normalised(project)));
    let demand = if options.offline { Demand::CacheOnly("the network is switched off") } else { Demand::IfMissing };
    let reporter = Reporter { source_name: project, progress: &() };
    let make = || {
        let names = ask(project, &cache, options, reporter)?;
        cache.remember(&request, &names)?;
        Ok(names)
    };
    cache.find_or_make(demand, &request, reporter, || cache.answer(&request), make)
}

fn ask(
    project: &str,
    cache: &Cache,
    options: &FetchOptions,
    reporter: Reporter<'_>,
) -> Result<BTreeSet<String>, FetchFailure> {
    let configuration = match &options.index {
        Some(configuration) => configuration.clone(),
        None => IndexConfiguration::of_pip(&|name| std::env::var(name).ok())?,
    };
    let client = Client::new(&configuration, options.back_off, reporter)?;
    for page in page::project_pages(project, &configuration, &client) {
        let page = match page {
            Err(FetchFailure::NoSuchProject { .. }) => continue,
            page => page?,
        };
        if let Some(wheel) = release::newest_wheel(project, &page) {
            return of_wheel(wheel, &client, cache, options);
        }
    }
    Ok(BTreeSet::new())
}

fn of_wheel(
    wheel: &IndexFile,
    client: &Client<'_>,
    cache: &Cache,
    options: &FetchOptions,
) -> Result<BTreeSet<String>, FetchFailure> {
    if !wheel.is_local()
        && let Some(reader) = RangeReader::open(client, &wheel.url)?
    {
        return listed(reader, wheel);
    }
    let partial = cache.partial()?;
    let archive = pypi::download(wheel, client, &options.limits, &partial.path().join("wheel"))?;
    let reader = archive.reopen().map_err(FetchFailure::io("read", archive.path()))?;
    listed(BufReader::new(reader), wheel)
}

fn listed(reader: impl Read + Seek, wheel: &IndexFile) -> Result<BTreeSet<String>, FetchFailure> {
    let broken = |error: zip::result::ZipError| FetchFailure::BrokenArchive {
        archive: without_credentials(&wheel.url),
        why: error.to_string(),
    };
    let archive = ZipArchive::new(reader).map_err(broken)?;
    let names: Vec<_> = archive.file_names().filter_map(Result::ok).collect();
    Ok(top_level(names.iter().map(AsRef::as_ref)).collect())
}

/// The names that the files of a wheel can be imported by: packages, namespaces, modules and compiled modules.
fn top_level<'a>(paths: impl Iterator<Item = &'a str>) -> impl Iterator<Item = String> {
    paths.filter_map(|path| {
        let path = installed(path)?;
        let is_code = [".py", ".so", ".pyd"].iter().any(|extension| path.ends_with(extension));
        let (first, is_folder) = match path.split_once('/') {
            Some((folder, _)) => (folder, true),
            None => (path, false),
        };
        // `_cffi.cpython-311-x86_64-linux-gnu.so` is imported as `_cffi`.
        let name = if is_folder { first } else { first.split('.').next().expect("splitting yields a part") };
        let is_name = !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
        (is_code && is_name).then(|| name.to_owned())
    })
}

/// Where a member of a wheel comes to lie among the installed packages; `None` for one that lies elsewhere.
fn installed(path: &str) -> Option<&str> {
    let Some((folder, inner)) = path.split_once('/') else { return Some(path) };
    if folder.ends_with(".dist-info") {
        return None;
    }
    if folder.ends_with(".data") {
        return inner.strip_prefix("purelib/").or_else(|| inner.strip_prefix("platlib/"));
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_wheels_say_what_can_be_imported() {
        let cases: [(&[&str], &[&str]); 5] = [
            (&["cv2/__init__.py", "cv2/cv2.abi3.so", "opencv_python-5.0.dist-info/RECORD"], &["cv2"]),
            (&["six.py", "six-1.0.dist-info/METADATA"], &["six"]),
            (&["_cffi_backend.cpython-311-x86_64-linux-gnu.so", "cffi/api.py"], &["_cffi_backend", "cffi"]),
            (&["google/protobuf/any_pb2.py", "x.libs/libz.so", "README.md", "docs/a.txt"], &["google"]),
            (&["x-1.0.data/purelib/x/a.py", "x-1.0.data/scripts/run.py", "x-1.0.data/platlib/y.so"], &["x", "y"]),
        ];
        for (paths, expected) in cases {
            let names: BTreeSet<String> = top_level(paths.iter().copied()).collect();
            assert_eq!(names.iter().map(String::as_str).collect::<Vec<_>>(), expected);
        }
    }
}
