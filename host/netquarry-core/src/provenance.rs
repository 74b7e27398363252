//! Where code is from, in a form that still means the same when this program and its corpora are gone.

use crate::record::SourceRecord;
use crate::source::{Source, SourceKind};
use crate::swhid::{CoreSwhid, ObjectType, Qualifiers, Swhid};

/// The URL by which an archive knows the origin of a source: the repository, or the project's page on PyPI, as Software
/// Heritage has it. None for a folder, which nobody else can find.
pub fn origin(source: &Source) -> Option<String> {
    match source.kind {
        SourceKind::Git => source.url.clone(),
        SourceKind::Pypi => source.distribution.as_ref().map(|name| format!("https://pypi.org/project/{name}/")),
        SourceKind::Local => None,
    }
}

/// The commit of a git source.
pub fn revision(source: &Source) -> Option<CoreSwhid> {
    CoreSwhid::of_git(ObjectType::Revision, source.commit.as_deref()?)
}

/// The root folder of a git source. Of an archive none is claimed: only what is needed of it was kept.
pub fn directory(source: &Source) -> Option<CoreSwhid> {
    CoreSwhid::of_git(ObjectType::Directory, source.tree.as_deref()?)
}

/// Lines of a file with where they were found. `lines` are 1-based and inclusive; a single line is written once.
pub fn definition(source: &Source, content: CoreSwhid, path: &str, lines: [u32; 2]) -> Swhid {
    let [first, last] = lines;
    let qualifiers = Qualifiers {
        origin: origin(source),
        visit: None,
        anchor: revision(source).or_else(|| directory(source)),
        path: Some(format!("/{path}")),
        lines: Some((first, (last != first).then_some(last))),
    };
    Swhid { core: content, qualifiers }
}

/// What a record says about a source by itself. The copyright and the licence files are those of what is used of it.
pub fn source_record(source: &Source, copyright: Vec<String>, license_files: Vec<String>) -> SourceRecord {
    SourceRecord {
        name: source.name.clone(),
        kind: source.kind,
        version: source.version.clone(),
        commit: source.commit.clone(),
        distribution: source.distribution.clone(),
        url: source.url.clone(),
        origin: origin(source),
        revision: revision(source).map(|swhid| swhid.to_string()),
        directory: directory(source).map(|swhid| swhid.to_string()),
        license: source.license.as_deref().map(crate::license::stated),
        copyright,
        license_files,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(kind: SourceKind) -> Source {
        Source {
            name: "timm".to_owned(),
            kind,
            version: Some("1.0.31".to_owned()),
            commit: None,
            tree: None,
            url: Some("https://host/timm.git".to_owned()),
            license: Some("Apache 2.0 License".to_owned()),
            distribution: Some("timm".to_owned()),
        }
    }

    #[test]
    fn definitions_say_as_much_as_is_known() {
        let content = CoreSwhid::of_content(b"");
        let told = |source: &Source, lines| {
            let swhid = definition(source, content, "timm/a;b.py", lines).to_string();
            swhid.strip_prefix(&content.to_string()).expect("it begins so").to_owned()
        };
        let (commit, tree) = ("9".repeat(40), "a".repeat(40));
        let folder = Source { commit: Some("abc123".to_owned()), ..source(SourceKind::Local) };
        let git = Source { commit: Some(commit.clone()), tree: Some(tree), ..source(SourceKind::Git) };
        assert_eq!(told(&folder, [1, 1]), ";path=/timm/a%3Bb.py;lines=1");
        assert_eq!(
            told(&source(SourceKind::Pypi), [2, 3]),
            ";origin=https://pypi.org/project/timm/;path=/timm/a%3Bb.py;lines=2-3"
        );
        assert_eq!(
            told(&git, [2, 3]),
            format!(";origin=https://host/timm.git;anchor=swh:1:rev:{commit};path=/timm/a%3Bb.py;lines=2-3")
        );
        assert_eq!(source_record(&git, Vec::new(), Vec::new()).license.as_deref(), Some("Apache-2.0"));
    }
}
