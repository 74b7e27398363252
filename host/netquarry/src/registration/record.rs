//! An implementation as a record, in which emitters see it.

use std::collections::BTreeSet;
use std::path::Path;

use netquarry_core::record::{BlockRecord, RecordSource};
use netquarry_core::source::{ContentDigest, SourceKind};
use netquarry_core::swhid::CoreSwhid;
use netquarry_core::verdict::{Level, Verdict};
use sha2::{Digest as _, Sha256};

use super::spec::Spec;
use crate::library::folder::hexadecimal;
use crate::library::requirements;

/// A class of a file, and what validation said of it.
pub struct Implementation<'a> {
    pub file: &'a Path,
    pub class: String,
    pub code: &'a str,
    /// The top-level packages that the file imports, torch among them or not.
    pub packages: &'a BTreeSet<String>,
    pub verdict: Verdict,
}

/// The record of an implementation of this spec: of a block of its own, and of its own licence.
pub fn of(spec: &Spec, implementation: Implementation<'_>, license: Option<&str>) -> BlockRecord {
    let Implementation { file, class, code, packages, verdict } = implementation;
    let lines = u32::try_from(code.lines().count()).expect("a file has fewer than 2^32 lines");
    let level = verdict.level();
    let levels = Level::ALL.into_iter().map(|level| (level.name().to_owned(), verdict.outcome(level))).collect();
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    BlockRecord {
        block: format!("local:{class}"),
        name: class,
        category: spec.category,
        discovered_by: format!("it implements the spec of {}", spec.id),
        source: RecordSource {
            name: "local".to_owned(),
            kind: SourceKind::Local,
            priority: 1,
            version: None,
            commit: None,
            path: name.clone(),
            lines: [1, lines.max(1)],
            sha1: ContentDigest::of(code.as_bytes()).to_string(),
        },
        bundle: Some(format!("blocks/{name}")),
        sha256: Some(hexadecimal(&Sha256::digest(code))),
        lines: Some(lines),
        requirements: requirements::of(packages.iter().map(String::as_str)),
        assumed_requirements: Vec::new(),
        installed: Vec::new(),
        operator_imports: Vec::new(),
        unresolved: Vec::new(),
        unknown_keys: Vec::new(),
        replaced: Vec::new(),
        edits: Vec::new(),
        closure: Vec::new(),
        constructor: Vec::new(),
        forward: Vec::new(),
        level,
        levels,
        failure: verdict.failure,
        evidence: verdict.evidence,
        structure: verdict.structure,
        tainted: verdict.tainted,
        protections: verdict.protections,
        tier: verdict.tier,
        dedup: None,
        swhid: CoreSwhid::of_content(code.as_bytes()).to_string(),
        license: license.map(str::to_owned),
        license_policy: None,
        sources: Vec::new(),
        imports: packages.iter().cloned().collect(),
    }
}
