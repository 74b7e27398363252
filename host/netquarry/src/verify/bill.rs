//! The checks of a bill of materials: by the rules of CycloneDX, by its own serial number, and beside the library.

use std::fs;
use std::path::Path;

use cyclonedx_bom::models::bom::Bom;
use cyclonedx_bom::validation::Validate as _;
use serde_json::Value;

use super::library::unreadable;
use super::{Check, Report};
use crate::export::blocks::{place, sha256};
use crate::export::sbom;
use crate::problem::Problem;

/// Checks the bill in a file. Where files that it names lie in the same folder, they are compared with its digests.
///
/// # Errors
/// It is no JSON.
pub fn verify(path: &Path) -> Result<Report, Problem> {
    let text = fs::read(path).map_err(|error| Problem::io("read", path, error))?;
    let bill: Value = serde_json::from_slice(&text).map_err(|error| {
        Problem::new(format!("`{}` is no JSON", path.display()))
            .because(error)
            .help("name a bill of materials in CycloneDX's JSON, as `netquarry export sbom` writes it")
    })?;
    let mut report = Report::default();
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    rules(&bill, &name, &mut report);
    if sbom::is_ours(&bill) && bill["serialNumber"].as_str() != Some(&sbom::serial_number(&bill)) {
        let what = "Its serial number is that of another content: it was changed after it was written";
        report.find(Check::ChangedFile, &name, None, what);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    files(&bill, folder, &mut report);
    Ok(report)
}

fn rules(bill: &Value, name: &str, report: &mut Report) {
    report.count("components", bill["components"].as_array().map_or(0, Vec::len));
    match Bom::parse_json_value(bill.clone()) {
        Ok(bom) => {
            let result = bom.validate();
            if !result.passed() {
                let errors: Vec<String> = result.errors().map(|(field, error)| format!("{field}: {error:?}")).collect();
                report.find(Check::Bill, name, None, format!("It breaks a rule of CycloneDX: {}", errors.join("; ")));
            }
        }
        Err(error) => report.find(Check::Bill, name, None, format!("It is no CycloneDX: {error}")),
    }
}

/// Files beside the bill, where the folder is a library.
fn files(bill: &Value, folder: &Path, report: &mut Report) {
    if !crate::library::manifest::is_in(folder) {
        return;
    }
    let components = bill["components"].as_array().into_iter().flatten();
    for component in components.filter(|component| component["type"] == "file") {
        let (Some(file), Some(block)) = (component["name"].as_str(), component["bom-ref"].as_str()) else { continue };
        let hashes = component["hashes"].as_array().into_iter().flatten();
        let expected = hashes.filter(|hash| hash["alg"] == "SHA-256").find_map(|hash| hash["content"].as_str());
        let (Some(expected), Some(path)) = (expected, place(folder, file)) else { continue };
        report.count("files", 1);
        match fs::read(path) {
            Ok(bytes) if sha256(&bytes) == expected => {}
            Ok(_) => report.find(Check::ChangedFile, file, Some(block), "It has another digest than the bill says"),
            Err(error) => unreadable(report, file, Some(block), &error),
        }
    }
}
