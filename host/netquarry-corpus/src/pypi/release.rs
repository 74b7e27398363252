//! Which file of which version to take.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::str::FromStr;

use pep440_rs::Version;

use super::http::without_credentials;
use super::page::{IndexFile, ProjectPage};
use crate::corpus::{ArchivePreference, PypiLocation};
use crate::failure::FetchFailure;

/// How many versions an error lists.
const LISTED: usize = 5;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Release {
    /// As the file's name has it.
    pub(crate) version: String,
    pub(crate) archive: Archive,
    pub(crate) file: IndexFile,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Archive {
    Wheel,
    TarSdist,
    ZipSdist,
}

/// PEP 503: runs of `-`, `_` and `.` are one `-`, letters are lower case.
pub(crate) fn normalised(project: &str) -> String {
    let words = project.split(['-', '_', '.']).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_lowercase()
}

/// The file to take from a page.
///
/// A pure wheel comes first; any other wheel has the same code, so one of a fixed platform is taken and not the one that fits
/// this machine: the same corpus gives the same snapshot everywhere.
pub(crate) fn choose(location: &PypiLocation, page: &ProjectPage) -> Result<Release, FetchFailure> {
    let releases = releases(&location.project, page);
    let (version, files) = match &location.version {
        Some(text) => {
            let version = Version::from_str(text).expect("checked when the corpus was read");
            match releases.get_key_value(&version) {
                Some(found) => found,
                None => return Err(no_such_version(location, page, &version, &releases)),
            }
        }
        None => match newest(&releases) {
            Some(found) => found,
            None => return Err(no_releases(location, page)),
        },
    };
    let ranked = files.iter().filter_map(|file| Some((rank(&file.name, location.prefer)?, *file)));
    match ranked.min_by(|left, right| (left.0, &left.1.name).cmp(&(right.0, &right.1.name))) {
        Some((_, file)) => Ok(Release {
            version: version.to_string(),
            archive: archive_of(&file.name).expect("only archives have a rank"),
            file: file.clone(),
        }),
        None => Err(FetchFailure::NoUsableFile {
            project: location.project.clone(),
            version: version.to_string(),
            files: files.iter().map(|file| file.name.clone()).collect(),
        }),
    }
}

/// The files of each version whose names belong to the project.
type Releases<'page> = BTreeMap<Version, Vec<&'page IndexFile>>;

fn releases<'page>(project: &str, page: &'page ProjectPage) -> Releases<'page> {
    let project = normalised(project);
    let mut releases = Releases::new();
    for file in &page.files {
        if let Some(version) = version_of(&file.name, &project) {
            releases.entry(version).or_default().push(file);
        }
    }
    releases
}

/// The newest final release that is not withdrawn, else the newest at all.
fn newest<'map, 'page>(releases: &'map Releases<'page>) -> Option<(&'map Version, &'map Vec<&'page IndexFile>)> {
    let usable = |files: &[&IndexFile]| files.iter().any(|file| !file.yanked && archive_of(&file.name).is_some());
    let mut offered = releases.iter().rev().filter(|(_, files)| usable(files));
    let newest = offered.clone().next();
    offered.find(|(version, _)| !version.any_prerelease()).or(newest)
}

/// The newest final wheel that is not withdrawn, else the newest at all; of several for one version a pure one, or that
/// of a fixed platform.
pub(crate) fn newest_wheel<'page>(project: &str, page: &'page ProjectPage) -> Option<&'page IndexFile> {
    let mut releases = releases(project, page);
    for files in releases.values_mut() {
        files.retain(|file| archive_of(&file.name) == Some(Archive::Wheel) && !file.yanked);
    }
    releases.retain(|_, files| !files.is_empty());
    let (_, files) = newest(&releases)?;
    let rank = |file: &&&IndexFile| (rank(&file.name, ArchivePreference::Wheel), file.name.clone());
    files.iter().min_by_key(rank).copied()
}

fn no_releases(location: &PypiLocation, page: &ProjectPage) -> FetchFailure {
    FetchFailure::NoSuchProject { project: location.project.clone(), index: without_credentials(&page.url) }
}

fn no_such_version(
    location: &PypiLocation,
    page: &ProjectPage,
    wanted: &Version,
    releases: &Releases<'_>,
) -> FetchFailure {
    if releases.is_empty() {
        return no_releases(location, page);
    }
    FetchFailure::NoSuchVersion {
        project: location.project.clone(),
        version: wanted.to_string(),
        index: without_credentials(&page.url),
        nearest: nearest(wanted, releases.keys()).iter().map(ToString::to_string).collect(),
    }
}

/// The versions around the wanted one, in order.
fn nearest<'page>(wanted: &Version, known: impl Iterator<Item = &'page Version>) -> Vec<&'page Version> {
    let known: Vec<_> = known.collect();
    let place = known.partition_point(|version| *version < wanted);
    let start = place.saturating_sub(LISTED.div_ceil(2)).min(known.len().saturating_sub(LISTED));
    known.into_iter().skip(start).take(LISTED).collect()
}

/// The archive that a file is by its name; `None` for eggs, installers and the like.
pub(crate) fn archive_of(name: &str) -> Option<Archive> {
    let name = name.to_ascii_lowercase();
    let archives = [
        (".whl", Archive::Wheel),
        (".tar.gz", Archive::TarSdist),
        (".tgz", Archive::TarSdist),
        (".zip", Archive::ZipSdist),
    ];
    archives.into_iter().find(|(suffix, _)| name.ends_with(suffix)).map(|(_, archive)| archive)
}

fn version_of(name: &str, normalised_project: &str) -> Option<Version> {
    let stem = match archive_of(name)? {
        Archive::Wheel => {
            // name-version(-build)?-python-abi-platform.whl
            let mut parts = name.split('-');
            let project = parts.next()?;
            let version = parts.next()?;
            return (normalised(project) == normalised_project).then(|| Version::from_str(version).ok()).flatten();
        }
        Archive::TarSdist => name.strip_suffix(".tar.gz").or(name.strip_suffix(".tgz"))?,
        Archive::ZipSdist => name.strip_suffix(".zip")?,
    };
    // Old sdists have `-` in the project's name.
    let splits = stem.match_indices('-').map(|(index, _)| stem.split_at(index));
    let mut matching = splits.filter(|(project, _)| normalised(project) == normalised_project);
    matching.find_map(|(_, version)| Version::from_str(&version[1..]).ok())
}

/// Smaller is better; `None` for what cannot be read.
fn rank(name: &str, prefer: ArchivePreference) -> Option<(bool, u32, u32, Reverse<u32>)> {
    let archive = archive_of(name)?;
    let preferred = match prefer {
        ArchivePreference::Wheel => archive == Archive::Wheel,
        ArchivePreference::Sdist => archive != Archive::Wheel,
    };
    if archive != Archive::Wheel {
        return Some((!preferred, u32::from(archive == Archive::ZipSdist), 0, Reverse(0)));
    }
    let tags: Vec<_> = name.trim_end_matches(".whl").rsplit('-').take(3).collect();
    let [platform, _abi, python] = tags[..] else { return None };
    Some((!preferred, platform_rank(platform), python_rank(python), Reverse(python_minor(python))))
}

fn platform_rank(platform: &str) -> u32 {
    let linux = platform.contains("linux");
    match platform {
        "any" => 0,
        _ if linux && platform.ends_with("x86_64") => 1,
        _ if linux => 2,
        _ if platform.contains("macosx") => 3,
        _ => 4,
    }
}

/// Wheels for CPython 3.11, whose semantics the rest of the program has, come before those for other versions.
fn python_rank(python: &str) -> u32 {
    match python {
        _ if python.contains("py3") => 0,
        "cp311" => 1,
        _ if python.ends_with('t') => 3,
        _ => 2,
    }
}

fn python_minor(python: &str) -> u32 {
    python.strip_prefix("cp3").and_then(|minor| minor.trim_end_matches('t').parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use reqwest::Url;

    use super::*;

    fn page(names: &[&str]) -> ProjectPage {
        let url = Url::parse("https://index.test/simple/x/").unwrap();
        let file = |name: &&str| IndexFile {
            name: name.trim_end_matches('!').to_owned(),
            url: url.join(name).unwrap(),
            sha256: None,
            yanked: name.ends_with('!'),
            size: None,
        };
        ProjectPage { files: names.iter().map(file).collect(), url: url.clone() }
    }

    fn chosen(
        project: &str,
        version: Option<&str>,
        prefer: ArchivePreference,
        names: &[&str],
    ) -> Result<String, String> {
        let location = PypiLocation { project: project.to_owned(), version: version.map(str::to_owned), prefer };
        choose(&location, &page(names)).map(|release| release.file.name).map_err(|failure| failure.to_string())
    }

    #[test]
    fn the_best_file_of_a_version() {
        use ArchivePreference::{Sdist, Wheel};
        let torch = [
            "torch-2.15.0-cp313-cp313-manylinux_2_28_x86_64.whl",
            "torch-2.15.0-cp311-cp311-win_amd64.whl",
            "torch-2.15.0-cp311-cp311-manylinux_2_28_x86_64.whl",
            "torch-2.15.0-cp311-cp311-manylinux_2_28_aarch64.whl",
        ];
        assert_eq!(chosen("torch", Some("2.15"), Wheel, &torch).as_deref(), Ok(torch[2]));
        let timm = ["timm-1.0.31.tar.gz", "timm-1.0.31-py3-none-any.whl", "timm-1.0.3.zip"];
        assert_eq!(chosen("timm", Some("1.0.31"), Wheel, &timm).as_deref(), Ok(timm[1]));
        assert_eq!(chosen("timm", Some("1.0.31"), Sdist, &timm).as_deref(), Ok(timm[0]));
        assert_eq!(chosen("timm", Some("1.0.3"), Wheel, &timm).as_deref(), Ok(timm[2]));
        let old = ["segment-anything-1.0.tar.gz", "segment-anything-extra-2.0.tar.gz"];
        assert_eq!(chosen("Segment_Anything", None, Wheel, &old).as_deref(), Ok(old[0]));
    }

    #[test]
    fn the_newest_version_is_final_and_offered() {
        let names =
            ["x-1.0.tar.gz", "x-1.10.tar.gz", "x-1.9.tar.gz", "x-2.0rc1.tar.gz", "x-1.11.tar.gz!", "x-1.12.exe"];
        assert_eq!(chosen("x", None, ArchivePreference::Wheel, &names).as_deref(), Ok("x-1.10.tar.gz"));
        assert_eq!(chosen("x", Some("1.11"), ArchivePreference::Wheel, &names).as_deref(), Ok("x-1.11.tar.gz"));
        assert_eq!(chosen("x", None, ArchivePreference::Wheel, &["x-2.0rc1.zip"]).as_deref(), Ok("x-2.0rc1.zip"));
    }

    #[test]
    fn the_newest_wheel_may_be_older_than_the_newest_sdist() {
        let wheel = |names: &[&str]| newest_wheel("x", &page(names)).map(|file| file.name.clone());
        assert_eq!(wheel(&["x-2.tar.gz", "x-1-py3-none-any.whl"]).as_deref(), Some("x-1-py3-none-any.whl"));
        assert_eq!(wheel(&["x-2-py3-none-any.whl!", "x-2.tar.gz"]), None);
        let two = ["x-1-cp311-cp311-win_amd64.whl", "x-1-cp311-cp311-manylinux1_x86_64.whl"];
        assert_eq!(wheel(&two).as_deref(), Some(two[1]));
    }

    #[test]
    fn what_is_missing_is_said() {
        let names: Vec<_> = (0..9).map(|minor| format!("x-1.{minor}.tar.gz")).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let message = chosen("x", Some("1.5.1"), ArchivePreference::Wheel, &names).unwrap_err();
        let index = "the index https://index.test/simple/x/";
        assert_eq!(message, format!("{index} has no version 1.5.1 of `x`; nearest: 1.3, 1.4, 1.5, 1.6, 1.7"));
        let message = chosen("x", Some("9"), ArchivePreference::Wheel, &names).unwrap_err();
        assert!(message.ends_with("nearest: 1.4, 1.5, 1.6, 1.7, 1.8"), "{message}");
        let message = chosen("y", Some("1"), ArchivePreference::Wheel, &names).unwrap_err();
        assert_eq!(message, format!("{index} has no project `y`"));
    }

    #[test]
    fn names_normalise() {
        assert_eq!(normalised("Torch__Geometric.x"), "torch-geometric-x");
    }
}
