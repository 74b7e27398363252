//! Every scope, every definition and every use of a global, compared with CPython.

use std::fs;
use std::path::{Path, PathBuf};

use netquarry_corpus::fetch::{FetchOptions, fetch};
use netquarry_corpus::load::load;
use netquarry_tests::oracle::{Report, compare, python_files};
use netquarry_tests::packages::python;

use super::{FOLDERS, standard_library};

fn check(files: &[PathBuf]) -> Report {
    let scratch = tempfile::tempdir().expect("a temporary folder can be made");
    let report = compare(&python(), files, scratch.path()).expect("the oracle answers");
    let lines: Vec<_> = report
        .disagreements
        .iter()
        .map(|disagreement| {
            format!("{}: {}: {}", disagreement.path.display(), disagreement.check, disagreement.explanation)
        })
        .collect();
    assert!(lines.is_empty(), "{} disagreements of {:?}:\n{}", lines.len(), report.counts, lines.join("\n"));
    report
}

/// The library's files, without what is installed beside it. Its tests have every strange text that anybody thought of.
fn library_files() -> Vec<PathBuf> {
    let mut files = python_files(&standard_library(&python())).expect("the standard library can be read");
    files.retain(|file| file.components().all(|part| part.as_os_str() != "site-packages"));
    files
}

#[test]
fn the_standard_library() {
    let report = check(&library_files());
    assert!(report.counts["accepted"] > 500 && report.counts["scopes"] > 20_000, "{:?}", report.counts);
}

/// Line ends that the library does not have.
#[test]
fn the_standard_library_with_other_line_ends() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let texts = library_files().into_iter().filter_map(|file| fs::read_to_string(file).ok());
    let with_strings = texts.filter(|text| text.contains("f\"\"\"") || text.contains("f'''") || text.contains("\\\n"));
    let mut files = Vec::new();
    for (number, text) in with_strings.take(150).enumerate() {
        let path = folder.path().join(format!("{number}.py"));
        let line_end = if number % 3 == 0 { "\r" } else { "\r\n" };
        fs::write(&path, text.replace('\n', line_end)).expect("a file can be written");
        files.push(path);
    }
    let report = check(&files);
    assert!(report.counts["accepted"] > 50, "{:?}", report.counts);
}

#[test]
fn the_quickstart_corpus() {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("corpus-cache");
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let options = FetchOptions::new(cache);
    for spec in &load("quickstart").expect("the corpus is shipped").sources {
        let snapshot = fetch(spec, &options, &()).expect("the index answers");
        snapshot.materialise(&folder.path().join(&spec.name)).expect("files can be written");
    }
    let report = check(&python_files(folder.path()).expect("the folder can be read"));
    assert!(report.counts["accepted"] > 400, "{:?}", report.counts);
}

#[test]
fn folders_of_the_environment() {
    let Some(folders) = std::env::var_os(FOLDERS) else {
        return;
    };
    let folders = std::env::split_paths(&folders);
    let files: Vec<_> = folders.flat_map(|folder| python_files(&folder).expect("the folder can be read")).collect();
    check(&files);
}

/// Texts in encodings and layouts that hardly any file has.
#[test]
fn strange_texts() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("oracles/texts");
    let mut files = python_files(&cases).expect("the cases can be read");
    let encoded: [(&str, &[u8]); 8] = [
        ("mark", b"\xef\xbb\xbfx = y\ndef f(): return x\n"),
        ("latin", b"# coding: latin-1\n\xe9 = '\xe9'; f(\xe9)\n"),
        ("windows", b"# coding: cp1252\nx = '\x80'; f(x)\n"),
        ("chinese", b"# -*- coding: gbk -*-\nx = '\xc4\xe3'; f(x)\n"),
        ("japanese", b"\n# coding=euc-jp\n\xa4\xa2 = 1; f(\xa4\xa2)\n"),
        ("form_feeds", b"x = 1\n\x0c\ndef f():\n \x0c  return x\n\x0cdef g(): return f\n"),
        ("tabs", b"if x:\n  \ty = 1\n  \tif y:\n  \t  z(y)\n \t \n  \tw(z)\n"),
        ("no_end", b"class C:\n    def f(self): return g"),
    ];
    for (name, bytes) in encoded {
        let path = folder.path().join(format!("{name}.py"));
        fs::write(&path, bytes).expect("a file can be written");
        files.push(path);
    }
    let report = check(&files);
    assert_eq!(report.counts["accepted"], files.len() as u64, "CPython accepts all of them");
}
