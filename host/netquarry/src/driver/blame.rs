//! What the stages before validation know about a failure and the exception does not tell.

use netquarry_core::facts::{FileFacts, ImportForm, ImportStatement};
use netquarry_core::record::ClosureRecord;
use netquarry_core::source::lines_of;
use netquarry_core::verdict::{Failure, FailureClass, Level, Outcome, Verdict};

use super::assemble::BundleFile;
use super::index::Indexed;
use crate::explain;
use crate::problem::Problem;
use crate::spool::Spool;

/// Says more about the failure of a bundle, where more is known.
pub(super) fn blame(
    spool: &Spool,
    indexed: &Indexed,
    bundle: &BundleFile,
    verdict: &mut Verdict,
) -> Result<(), Problem> {
    blame_cycles(bundle, verdict);
    if let Some(failure) = verdict.failure.as_mut().filter(|failure| is_untraced_import(failure)) {
        blame_imports(indexed, &spool.value(bundle.details)?.closure, failure);
    }
    Ok(())
}

/// A name that is missing because definitions need each other while they run is no unresolved name.
fn blame_cycles(bundle: &BundleFile, verdict: &mut Verdict) {
    let Some(cycle) = bundle.bundle.cycles.first() else { return };
    let has_run = verdict.outcome(Level::Execute) != Outcome::Failed;
    let Some(failure) = &mut verdict.failure else { return };
    if failure.class == FailureClass::UnresolvedName && !has_run {
        failure.class = FailureClass::ImportCycle;
        failure.message = format!("{}; these need each other while they run: {}", failure.message, cycle.join(" -> "));
    }
}

fn is_untraced_import(failure: &Failure) -> bool {
    failure.upstream.is_none() && explain::missing_module(&failure.message).is_some()
}

/// The imports of a bundle stand at its top, away from the files that they are from: one that fails is traced to the
/// first file of the closure that has it.
fn blame_imports(indexed: &Indexed, closure: &[ClosureRecord], failure: &mut Failure) {
    let Some(module) = explain::missing_module(&failure.message) else { return };
    let files = indexed.index.files().filter(|(_, file)| {
        let digest = file.file.digest.to_string();
        closure.iter().any(|record| record.path == file.file.path && record.sha1 == digest)
    });
    failure.upstream = files.into_iter().find_map(|(id, file)| {
        let import = imports(&file.facts).find(|import| names_module(&file.facts, import, module))?;
        let text = &indexed.texts.get(id).ok()?.text;
        let [line, _] = lines_of(text, import.range);
        Some(format!("{}:{line}", file.file.path))
    });
}

fn imports(facts: &FileFacts) -> impl Iterator<Item = &ImportStatement> {
    facts.statements.iter().flat_map(|statement| &statement.imports)
}

/// Whether the statement imports `module` or something below it.
fn names_module(facts: &FileFacts, import: &ImportStatement, module: &str) -> bool {
    let is_meant = |name: &str| name == module || name.strip_prefix(module).is_some_and(|rest| rest.starts_with('.'));
    match import.form {
        ImportForm::Module => import.names.iter().any(|imported| is_meant(facts.name(imported.name))),
        ImportForm::From { level: 0, module: Some(from) } | ImportForm::Star { level: 0, module: Some(from) } => {
            is_meant(facts.name(from))
        }
        ImportForm::From { .. } | ImportForm::Star { .. } => false,
    }
}
