//! A software bill of materials in CycloneDX: the library, its blocks, the sources that their code is from and the
//! distributions that they import, with what depends on what.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cyclonedx_bom::external_models::uri::{Purl, Uri};
use cyclonedx_bom::models::bom::{Bom, SpecVersion, UrnUuid};
use cyclonedx_bom::models::component::{Classification, Component, Components, MimeType};
use cyclonedx_bom::models::dependency::{Dependencies, Dependency};
use cyclonedx_bom::models::external_reference::{
    ExternalReference, ExternalReferenceType, ExternalReferences, Uri as Reference,
};
use cyclonedx_bom::models::hash::{Hash, HashAlgorithm, HashValue, Hashes};
use cyclonedx_bom::models::license::{LicenseChoice, Licenses};
use cyclonedx_bom::models::metadata::Metadata;
use cyclonedx_bom::models::property::{Properties, Property};
use cyclonedx_bom::models::tool::Tools;
use cyclonedx_bom::prelude::NormalizedString;
use netquarry_core::license;
use netquarry_core::record::{BlockRecord, SourceRecord};
use netquarry_core::source::SourceKind;
use purl::GenericPurlBuilder;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::blocks::{self, Block};
use super::tally::{self, SourceTally, Tally};
use crate::library::distribution_name::{distribution_name, normalised};
use crate::library::required::{Basis, Required, Role};
use crate::problem::Problem;

/// The version of the specification that is written: the newest one that the crate knows.
const VERSION: SpecVersion = SpecVersion::V1_5;

/// The reference of the library itself.
const LIBRARY: &str = "netquarry-library";

/// Whether the bill is one that an export wrote, by the tool that it names.
const TOOL: &str = "netquarry";

/// A bill of materials as JSON text, and what is in it.
pub struct Bill {
    pub text: String,
    pub tally: Tally,
    pub components: usize,
}

/// The bill of a library. A block that cannot be read goes to `damaged` and is left out.
///
/// # Errors
/// There is no library, or the list of what it relies on cannot be read.
pub fn bill(library: &Path, damaged: &mut dyn FnMut(Problem)) -> Result<Bill, Problem> {
    let mut parts = Parts { required: blocks::required(library)?, ..Parts::default() };
    for block in blocks::blocks(library)? {
        match block {
            Ok(block) => parts.add(&block),
            Err(problem) => damaged(problem),
        }
    }
    let components = parts.components();
    let count = components.len();
    let text = with_serial_number(Bom {
        version: 1,
        serial_number: None,
        metadata: Some(metadata()),
        components: Some(Components(components)),
        dependencies: Some(Dependencies(parts.dependencies())),
        services: None,
        external_references: None,
        compositions: None,
        properties: None,
        vulnerabilities: None,
        signature: None,
        annotations: None,
        formulation: None,
        spec_version: VERSION,
    });
    Ok(Bill { text, tally: parts.tally, components: count })
}

/// The serial number that a bill of ours with this content has: equal contents have equal numbers. The number that stands
/// in it does not count.
pub fn serial_number(bill: &Value) -> String {
    let mut content = bill.clone();
    if let Some(fields) = content.as_object_mut() {
        fields.remove("serialNumber");
    }
    let digest = Sha256::digest(serde_json::to_vec(&content).expect("it is JSON"));
    let bytes: [u8; 16] = digest[..16].try_into().expect("a digest has 32 bytes");
    // Version 8 of a UUID is for what none of the others describes.
    uuid::Builder::from_custom_bytes(bytes).into_uuid().urn().to_string()
}

/// Whether an export wrote the bill, so that its serial number follows from its content.
pub fn is_ours(bill: &Value) -> bool {
    let tools = bill["metadata"]["tools"]["components"].as_array();
    tools.is_some_and(|tools| tools.iter().any(|tool| tool["name"] == TOOL))
}

fn with_serial_number(bom: Bom) -> String {
    let number = serial_number(&serde_json::from_str(&written(bom.clone())).expect("it was written as JSON"));
    let number = UrnUuid::new(number).expect("a UUID is one");
    written(Bom { serial_number: Some(number), ..bom }) + "\n"
}

fn written(bom: Bom) -> String {
    let mut text = Vec::new();
    bom.output_as_json(&mut text, VERSION).expect("what is written has no field of another version");
    String::from_utf8(text).expect("JSON is UTF-8")
}

fn metadata() -> Metadata {
    let tool = Component::new(Classification::Application, TOOL, env!("CARGO_PKG_VERSION"), None);
    let library =
        Component { version: None, ..Component::new(Classification::Library, LIBRARY, "", Some(LIBRARY.to_owned())) };
    Metadata {
        tools: Some(Tools::Object { services: None, components: Some(Components(vec![tool])) }),
        component: Some(library),
        ..Metadata::default()
    }
}

/// What a bill is put together from.
#[derive(Default)]
struct Parts {
    required: Vec<Required>,
    tally: Tally,
    blocks: Vec<Component>,
    /// The names of distributions that blocks import, by normalised name.
    requirements: BTreeMap<String, String>,
    /// What each block depends on, by reference.
    dependencies: BTreeMap<String, BTreeSet<String>>,
}

impl Parts {
    fn add(&mut self, Block { record, .. }: &Block) {
        self.tally.add_record(record);
        let mut needed: BTreeSet<String> = tally::sources(record).into_iter().map(source_reference).collect();
        for requirement in &record.requirements {
            let name = distribution_name(requirement);
            self.requirements.entry(normalised(name)).or_insert_with(|| name.to_owned());
            needed.insert(requirement_reference(name));
        }
        self.dependencies.insert(record.block.clone(), needed);
        self.blocks.push(block(record));
    }

    /// Blocks, then sources, then requirements, each sorted.
    fn components(&self) -> Vec<Component> {
        let sources = self.tally.sources.keys().map(|name| self.source(name));
        let requirements = self.requirements.values().map(|name| self.requirement(name));
        self.blocks.iter().cloned().chain(sources).chain(requirements).collect()
    }

    fn dependencies(&self) -> Vec<Dependency> {
        let on = |reference: &str, needed: Vec<String>| Dependency {
            dependency_ref: reference.to_owned(),
            dependencies: needed,
        };
        let all = self.dependencies.keys().cloned().collect();
        let of_blocks = self.dependencies.iter().map(|(block, needed)| on(block, needed.iter().cloned().collect()));
        let leaves = self.tally.sources.keys().map(|name| source_reference(name));
        let leaves = leaves.chain(self.requirements.values().map(|name| requirement_reference(name)));
        [on(LIBRARY, all)].into_iter().chain(of_blocks).chain(leaves.map(|leaf| on(&leaf, Vec::new()))).collect()
    }

    fn source(&self, name: &str) -> Component {
        let tally = &self.tally.sources[name];
        let SourceTally { licenses, record, .. } = tally;
        let record = record.as_ref();
        let swhid = record.and_then(|record| record.revision.clone());
        // Without those that are not known it would say too little.
        let of_definitions = license::conjunction(licenses.iter().map(Option::as_deref));
        let properties = [
            Some(("netquarry:role", "source".to_owned())),
            record.map(|record| ("netquarry:kind", record.kind.name().to_owned())),
            swhid.map(|swhid| ("netquarry:swhid", swhid)),
            of_definitions.map(|license| ("netquarry:licenses-of-definitions", license)),
        ];
        Component {
            version: tally.version().map(NormalizedString::new),
            purl: record.and_then(purl_of_source),
            licenses: record.and_then(|record| record.license.as_deref()).map(self::licenses),
            external_references: record.and_then(reference),
            properties: Some(properties_of(properties.into_iter().flatten())),
            ..Component::new(Classification::Library, name, "", Some(source_reference(name)))
        }
    }

    fn requirement(&self, name: &str) -> Component {
        let is_it = |each: &&Required| each.role == Role::Requirement && normalised(&each.name) == normalised(name);
        let listed = self.required.iter().find(is_it);
        let version = listed.and_then(|listed| listed.version.as_deref());
        // Nothing but the name of an import tells of an assumed one: there may be another distribution of that name.
        let basis = listed.and_then(|listed| listed.basis);
        let is_known = basis.is_some_and(|basis| basis != Basis::Assumed);
        // Versions of several blocks stand beside each other, and are none.
        let single = version.filter(|version| !version.contains(", "));
        let basis = basis.map(|basis| match basis {
            Basis::Installed => "installed",
            Basis::Declared => "declared",
            Basis::Assumed => "assumed",
        });
        let properties = [Some(("netquarry:role", "requirement")), basis.map(|basis| ("netquarry:basis", basis))]
            .into_iter()
            .flatten();
        let licenses = listed.and_then(|listed| listed.license.as_deref()).map(license::stated);
        Component {
            version: version.map(NormalizedString::new),
            purl: is_known.then(|| purl_of_distribution(name, single)).flatten(),
            licenses: licenses.as_deref().map(self::licenses),
            properties: Some(properties_of(properties.map(|(name, value)| (name, value.to_owned())))),
            ..Component::new(Classification::Library, name, "", Some(requirement_reference(name)))
        }
    }
}

fn block(record: &BlockRecord) -> Component {
    let file = record.bundle.as_deref().expect("a promoted block has a file");
    let sha256 = record.sha256.as_deref().expect("a promoted block has a file");
    let [first, last] = record.source.lines;
    let properties = [
        ("netquarry:role", "block".to_owned()),
        ("netquarry:category", record.category.name().to_owned()),
        ("netquarry:level", record.level.to_string()),
        ("netquarry:upstream", format!("{}:{first}-{last}", record.source.path)),
        ("netquarry:swhid", record.swhid.clone()),
    ];
    Component {
        version: None,
        mime_type: Some(MimeType("text/x-python".to_owned())),
        description: Some(NormalizedString::new(&record.block)),
        hashes: Some(Hashes(vec![Hash { alg: HashAlgorithm::SHA_256, content: HashValue(sha256.to_owned()) }])),
        licenses: record.license.as_deref().map(licenses),
        properties: Some(properties_of(properties)),
        ..Component::new(Classification::File, file, "", Some(record.block.clone()))
    }
}

fn licenses(expression: &str) -> Licenses {
    Licenses(vec![LicenseChoice::expression(expression)])
}

fn properties_of(properties: impl IntoIterator<Item = (&'static str, String)>) -> Properties {
    Properties(properties.into_iter().map(|(name, value)| Property::new(name, &value)).collect())
}

fn source_reference(name: &str) -> String {
    format!("source:{name}")
}

fn requirement_reference(name: &str) -> String {
    format!("requirement:{}", normalised(name))
}

fn reference(source: &SourceRecord) -> Option<ExternalReferences> {
    let kind = match source.kind {
        SourceKind::Local => return None,
        SourceKind::Git => ExternalReferenceType::Vcs,
        SourceKind::Pypi => ExternalReferenceType::Distribution,
    };
    let url = Uri::try_from(source.url.clone()?).ok()?;
    Some(ExternalReferences(vec![ExternalReference::new(kind, Reference::Url(url))]))
}

/// Of a distribution by its own name: a corpus may call it otherwise.
fn purl_of_source(source: &SourceRecord) -> Option<Purl> {
    match source.kind {
        SourceKind::Git => purl_of_repository(&source.name, source.commit.as_deref()?, source.url.as_deref()),
        SourceKind::Pypi => purl_of_distribution(source.distribution.as_deref()?, source.version.as_deref()),
        SourceKind::Local => None,
    }
}

fn purl_of_distribution(name: &str, version: Option<&str>) -> Option<Purl> {
    let builder = GenericPurlBuilder::new("pypi".to_owned(), normalised(name));
    built(match version {
        Some(version) => builder.with_version(version),
        None => builder,
    })
}

/// `pkg:github/OWNER/NAME@COMMIT`; of a repository elsewhere `pkg:generic/NAME@COMMIT?vcs_url=git+URL@COMMIT`.
fn purl_of_repository(name: &str, commit: &str, url: Option<&str>) -> Option<Purl> {
    let path = url.and_then(|url| url.strip_prefix("https://github.com/"));
    let path = path.map(|path| path.trim_end_matches('/').trim_end_matches(".git"));
    match path.and_then(|path| path.split_once('/')) {
        Some((owner, repository)) if !repository.contains('/') => built(
            GenericPurlBuilder::new("github".to_owned(), repository.to_lowercase())
                .with_namespace(owner.to_lowercase())
                .with_version(commit),
        ),
        _ => {
            let builder = GenericPurlBuilder::new("generic".to_owned(), name).with_version(commit);
            match url {
                Some(url) => built(builder.with_qualifier("vcs_url", format!("git+{url}@{commit}")).ok()?),
                None => built(builder),
            }
        }
    }
}

fn built(builder: GenericPurlBuilder<String>) -> Option<Purl> {
    builder.build().ok()?.to_string().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::tally::tests::{record, source};

    #[test]
    fn sources_and_distributions_have_package_urls() {
        let of = |kind, url| purl_of_source(&source("net", kind, url)).map(|purl| purl.to_string());
        let commit = "c".repeat(40);
        assert_eq!(
            of(SourceKind::Pypi, "https://pypi.org/simple/net/").as_deref(),
            Some("pkg:pypi/net-full@1.2"),
            "it is by the name of the distribution"
        );
        assert_eq!(
            of(SourceKind::Git, "https://github.com/Ultralytics/yolov5.git"),
            Some(format!("pkg:github/ultralytics/yolov5@{commit}"))
        );
        let elsewhere = of(SourceKind::Git, "https://example.org/net.git").expect("it has one");
        assert!(elsewhere.starts_with(&format!("pkg:generic/net@{commit}?vcs_url=git%2Bhttps")), "{elsewhere}");
        assert_eq!(of(SourceKind::Local, "/tmp/simple/mine"), None);
    }

    #[test]
    fn sources_are_what_records_say_of_them() {
        let mut parts = Parts::default();
        parts.add(&Block { record: record(), code: String::new() });
        let commit = "c".repeat(40);
        let expected = [
            "mine - - - kind=local licenses-of-definitions=MIT".to_owned(),
            "vision 1.2 pkg:pypi/vision-full@1.2 distribution:https://pypi.org/simple/vision/ kind=pypi \
             licenses-of-definitions=BSD-3-Clause"
                .to_owned(),
            // The licence of one of its definitions is not known.
            format!(
                "yolov5 1.2 pkg:github/ultralytics/yolov5@{commit} vcs:https://github.com/Ultralytics/yolov5.git \
                 kind=git swhid=swh:1:rev:{commit}"
            ),
        ];
        assert_eq!(["mine", "vision", "yolov5"].map(|name| line(&parts.source(name))), expected);
        assert_eq!(parts.tally.with_code, 0, "a bill has no code");
    }

    #[test]
    fn nothing_is_guessed_of_a_source_that_no_record_describes() {
        let mut record = record();
        record.sources.clear();
        let mut parts = Parts::default();
        parts.add(&Block { record, code: String::new() });
        assert_eq!(line(&parts.source("mine")), "mine - - - licenses-of-definitions=MIT");
    }

    /// Name, version, package URL, reference and properties of a source.
    fn line(source: &Component) -> String {
        let mut references = source.external_references.iter().flat_map(|references| &references.0);
        let reference = references.next().map(|each| format!("{}:{}", each.external_reference_type, each.url));
        let known = [
            source.version.as_ref().map(ToString::to_string),
            source.purl.as_ref().map(ToString::to_string),
            reference,
        ];
        let known = known.into_iter().map(|each| each.unwrap_or_else(|| "-".to_owned()));
        let properties = source
            .properties
            .iter()
            .flat_map(|properties| &properties.0)
            .map(|property| format!("{}={}", property.name.trim_start_matches("netquarry:"), property.value));
        let properties = properties.filter(|property| !property.starts_with("role="));
        [source.name.to_string()].into_iter().chain(known).chain(properties).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_serial_number_follows_from_the_content() {
        let bill = serde_json::json!({"bomFormat": "CycloneDX", "components": []});
        let number = serial_number(&bill);
        let numbered = serde_json::json!({"bomFormat": "CycloneDX", "serialNumber": number, "components": []});
        assert_eq!(serial_number(&numbered), number);
        assert_ne!(serial_number(&serde_json::json!({"bomFormat": "CycloneDX"})), number);
        assert!(number.starts_with("urn:uuid:") && number.as_bytes()[23] == b'8', "{number}");
    }
}
