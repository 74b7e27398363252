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
use netquarry_core::record::BlockRecord;
use netquarry_core::source::SourceKind;
use purl::GenericPurlBuilder;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::blocks::{self, Block};
use super::tally::{self, Tally};
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
    /// The kinds of sources that have blocks.
    kinds: BTreeMap<String, SourceKind>,
    /// The names of distributions that blocks import, by normalised name.
    requirements: BTreeMap<String, String>,
    /// What each block depends on, by reference.
    dependencies: BTreeMap<String, BTreeSet<String>>,
}

impl Parts {
    fn add(&mut self, Block { record, .. }: &Block) {
        self.tally.add(record, None);
        self.kinds.insert(record.source.name.clone(), record.source.kind);
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

    fn listed(&self, role: Role, name: &str) -> Option<&Required> {
        self.required.iter().find(|each| each.role == role && normalised(&each.name) == normalised(name))
    }

    fn source(&self, name: &str) -> Component {
        let tally = &self.tally.sources[name];
        let listed = self.listed(Role::Source, name);
        let of_list = || listed.and_then(|listed| listed.version.clone());
        let version = tally.version.clone().or_else(|| tally.commit.clone()).or_else(of_list);
        let url = listed.and_then(|listed| listed.url.as_deref());
        let kind = self.kinds.get(name).copied();
        let swhid = listed.and_then(|listed| listed.swhid.clone());
        let stated = listed.and_then(|listed| listed.license.as_deref()).map(license::stated);
        let of_definitions = license::conjunction(tally.licenses.iter().map(|license| Some(license.as_str())));
        let properties = [
            Some(("netquarry:role", "source".to_owned())),
            kind.map(|kind| ("netquarry:kind", kind.name().to_owned())),
            swhid.map(|swhid| ("netquarry:swhid", swhid)),
            of_definitions.map(|license| ("netquarry:licenses-of-definitions", license)),
        ];
        Component {
            version: version.as_deref().map(NormalizedString::new),
            purl: purl_of_source(name, version.as_deref(), kind, url),
            licenses: stated.as_deref().map(licenses),
            external_references: url.and_then(|url| reference(kind, url)),
            properties: Some(properties_of(properties.into_iter().flatten())),
            ..Component::new(Classification::Library, name, "", Some(source_reference(name)))
        }
    }

    fn requirement(&self, name: &str) -> Component {
        let listed = self.listed(Role::Requirement, name);
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

fn reference(kind: Option<SourceKind>, url: &str) -> Option<ExternalReferences> {
    let kind = match kind {
        Some(SourceKind::Local) => return None,
        Some(SourceKind::Git) => ExternalReferenceType::Vcs,
        Some(SourceKind::Pypi) | None => ExternalReferenceType::Distribution,
    };
    let url = Uri::try_from(url.to_owned()).ok()?;
    Some(ExternalReferences(vec![ExternalReference::new(kind, Reference::Url(url))]))
}

/// Of a source that has blocks, or else of one of which only helpers are there, by what its URL looks like.
fn purl_of_source(name: &str, version: Option<&str>, kind: Option<SourceKind>, url: Option<&str>) -> Option<Purl> {
    match kind {
        Some(SourceKind::Git) => purl_of_repository(name, version?, url),
        Some(SourceKind::Local) => None,
        Some(SourceKind::Pypi) => purl_of_distribution(project(url).unwrap_or(name), version),
        None => project(url).and_then(|name| purl_of_distribution(name, version)),
    }
}

/// `timm` of `https://pypi.org/simple/timm/`: a corpus may call a source otherwise.
fn project(url: Option<&str>) -> Option<&str> {
    let (_, project) = url?.trim_end_matches('/').rsplit_once("/simple/")?;
    (!project.is_empty() && !project.contains('/')).then_some(project)
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

    #[test]
    fn sources_and_distributions_have_package_urls() {
        let of = |name, version, kind, url| purl_of_source(name, version, kind, url).map(|purl| purl.to_string());
        let pypi = Some(SourceKind::Pypi);
        assert_eq!(
            of("vision", Some("0.29.2"), pypi, Some("https://pypi.org/simple/torchvision/")).as_deref(),
            Some("pkg:pypi/torchvision@0.29.2")
        );
        assert_eq!(
            of("timm", Some("1"), None, Some("https://pypi.org/simple/timm/")).as_deref(),
            Some("pkg:pypi/timm@1")
        );
        let git = Some(SourceKind::Git);
        assert_eq!(
            of("yolov5", Some("abc"), git, Some("https://github.com/Ultralytics/yolov5.git")).as_deref(),
            Some("pkg:github/ultralytics/yolov5@abc")
        );
        let elsewhere = of("net", Some("abc"), git, Some("https://example.org/net.git")).expect("it has one");
        assert!(elsewhere.starts_with("pkg:generic/net@abc?vcs_url=git%2Bhttps"), "{elsewhere}");
        assert_eq!(of("mine", None, Some(SourceKind::Local), Some("/tmp/mine")), None);
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
