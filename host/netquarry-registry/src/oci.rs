//! Components in OCI registries, through `wasm-pkg-client`.
//!
//! A component is one layer of its artifact, and a layer is addressed by the SHA-256 of its bytes. That is what the index
//! pins, so the layer is asked for directly: whatever a tag says today changes nothing.

use std::str::FromStr;

/// `HOST[:PORT]/[FOLDER/]NAMESPACE/NAME[:TAG]`: where the layer of a component lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OciReference {
    pub(crate) host: String,
    /// Ends in `/` where it is not empty.
    pub(crate) prefix: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl FromStr for OciReference {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = |why: &str| format!("{text:?} is not an OCI reference such as ghcr.io/owner/name:1.0.0: {why}");
        let (host, rest) = text.split_once('/').ok_or_else(|| refuse("it has no repository"))?;
        let host_letter = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | ':');
        if host.is_empty() || !host.chars().all(host_letter) || !(host.contains(['.', ':']) || host == "localhost") {
            return Err(refuse("it does not begin with a host"));
        }
        let path = rest.split('@').next().unwrap_or(rest);
        let (path, tag) = path.split_once(':').map_or((path, None), |(path, tag)| (path, Some(tag)));
        let tag_letter = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_');
        if tag.is_some_and(|tag| tag.is_empty() || !tag.chars().all(tag_letter)) {
            return Err(refuse("its tag is none"));
        }
        let parts: Vec<&str> = path.split('/').collect();
        let [folders @ .., namespace, name] = parts.as_slice() else {
            return Err(refuse("its repository has fewer than two parts"));
        };
        let part_letter =
            |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "._-".contains(letter);
        let is_part = |part: &&str| {
            part.starts_with(|first: char| first.is_ascii_alphanumeric()) && part.chars().all(part_letter)
        };
        if !folders.iter().all(is_part) {
            return Err(refuse("a folder of its repository is not lower-case letters, digits, `.`, `_` and `-`"));
        }
        if !is_label(namespace) || !is_label(name) {
            return Err(refuse("the last two parts are words of lower-case letters and digits joined by hyphens"));
        }
        let prefix = folders.iter().map(|folder| format!("{folder}/")).collect();
        Ok(Self { host: host.to_owned(), prefix, namespace: (*namespace).to_owned(), name: (*name).to_owned() })
    }
}

/// As the component model has them: each word begins with a letter.
fn is_label(text: &str) -> bool {
    text.split('-').all(|word| {
        word.starts_with(|first: char| first.is_ascii_lowercase())
            && word.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit())
    })
}

#[cfg(feature = "oci")]
pub(crate) use client::pull;

/// Without the feature there is no client.
#[cfg(not(feature = "oci"))]
pub(crate) fn pull(_: &OciReference, _: &crate::digest::Pin, _: std::time::Duration) -> Result<Vec<u8>, String> {
    Err("this program was built without OCI registries (the cargo feature `oci`)".to_owned())
}

#[cfg(feature = "oci")]
mod client {
    use std::time::Duration;

    use futures_util::TryStreamExt;
    use wasm_pkg_client::{
        Client, Config, ContentDigest, CustomConfig, Error, PackageRef, RegistryMapping, RegistryMetadata, Release,
        Version,
    };

    use super::OciReference;
    use crate::digest::Pin;
    use crate::location::is_loopback;

    /// The bytes of the layer that `pin` names, no more than it promises. `patience` is for every answer by itself.
    pub(crate) fn pull(reference: &OciReference, pin: &Pin, patience: Duration) -> Result<Vec<u8>, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| format!("the client cannot be set up: {error}"))?;
        runtime.block_on(stream(reference, pin, patience))
    }

    async fn stream(reference: &OciReference, pin: &Pin, patience: Duration) -> Result<Vec<u8>, String> {
        let (client, package) = client(reference).map_err(|error| described(&error))?;
        let content_digest = ContentDigest::Sha256 { hex: pin.sha256.clone() };
        // No question is asked about a version: the digest says which bytes are meant.
        let release = Release { version: Version::new(0, 0, 0), content_digest };
        let slow = |_| format!("no answer within {} seconds", patience.as_secs());
        let content = tokio::time::timeout(patience, client.stream_content(&package, &release)).await.map_err(slow)?;
        let mut content = content.map_err(|error| described(&error))?;
        let mut bytes: Vec<u8> = Vec::new();
        loop {
            let chunk = tokio::time::timeout(patience, content.try_next()).await.map_err(slow)?;
            let Some(chunk) = chunk.map_err(|error| described(&error))? else { return Ok(bytes) };
            if (bytes.len() + chunk.len()) as u64 > pin.size {
                return Err(format!("it sends more than the {} bytes that are pinned", pin.size));
            }
            bytes.extend_from_slice(&chunk);
        }
    }

    /// A client that knows this one repository, and no configuration of the machine.
    fn client(reference: &OciReference) -> Result<(Client, PackageRef), Error> {
        let package: PackageRef = format!("{}:{}", reference.namespace, reference.name).parse()?;
        let metadata = serde_json::json!({
            "preferredProtocol": "oci",
            "oci": { "registry": reference.host, "namespacePrefix": reference.prefix },
        });
        let metadata: RegistryMetadata = serde_json::from_value(metadata).expect("in the client's own format");
        let registry: wasm_pkg_client::Registry = reference.host.parse()?;
        let mut config = Config::empty();
        let host = reference.host.rsplit_once(':').map_or(reference.host.as_str(), |(host, _)| host);
        if is_loopback(host) {
            let protocol = serde_json::json!({ "protocol": "http" });
            config.get_or_insert_registry_config_mut(&registry).set_backend_config("oci", protocol)?;
        }
        let mapping = RegistryMapping::Custom(CustomConfig { registry, metadata });
        config.set_package_registry_override(package.clone(), mapping);
        Ok((Client::new(config), package))
    }

    /// With what caused it: the outermost error says little.
    fn described(error: &(dyn std::error::Error + 'static)) -> String {
        crate::transfer::causes(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references() {
        let reference: OciReference = "ghcr.io/owner/plugins/shim-timm:1.0.0".parse().expect("a reference");
        let parts = [&reference.host, &reference.prefix, &reference.namespace, &reference.name];
        assert_eq!(parts, ["ghcr.io", "owner/", "plugins", "shim-timm"]);
        for text in ["localhost:5000/a/b", "127.0.0.1:80/a/b:1", "ghcr.io/o.w_n/x/a/b", "ghcr.io/a/b@sha256:00"] {
            assert!(text.parse::<OciReference>().is_ok(), "{text}");
        }
        for text in
            ["", "a", "a/b", "ghcr.io/a", "ghcr.io/a/b:", "ghcr.io/A/b", "ghcr.io/../a/b", "ghcr.io/a/1b", "a b.c/d/e"]
        {
            assert!(text.parse::<OciReference>().is_err(), "{text}");
        }
    }
}
