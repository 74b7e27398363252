//! Who vouches for a component: minisign signatures over its bytes.
//!
//! The trusted comment, which the signature covers, names plugin, version and digest, so that the signature of one
//! version cannot stand for another.

use minisign_verify::Signature;

/// A minisign public key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey {
    id: String,
    text: String,
    key: minisign_verify::PublicKey,
}

/// What the caller puts up with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Nothing runs that nobody has signed.
    SignedOnly,
    /// Where a registry has no keys its digests are enough. A registry with keys is held to them all the same.
    AllowUnsigned,
}

/// Who vouches for a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Voucher {
    /// It is part of the program.
    BuiltIn,
    /// The key with this identifier has signed it.
    Key(String),
    /// Nobody: the registry has no keys.
    Nobody,
}

/// Why nobody vouches for a component.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrustError {
    #[error(
        "{plugin} is not signed, and its registry has the keys {}: do not use it; ask whoever runs the registry to sign it",
        keys.join(", ")
    )]
    NotSigned { plugin: String, keys: Vec<String> },
    #[error(
        "{plugin} comes from a registry without keys, so nobody vouches for it: if you trust the place itself, allow that for \
         this plugin with --allow-unsigned, or for the registry with `allow-unsigned = true` in the configuration; or give the \
         registry's `keys` there"
    )]
    Unsigned { plugin: String },
    #[error("the signature of {plugin} cannot be read: {why}; ask whoever runs the registry for a minisign signature")]
    Malformed { plugin: String, why: String },
    #[error(
        "{plugin} is signed by the key {signer}, which is not among those trusted ({}): do not use it unless you know that \
         key, and then add it to the `keys` of the registry",
        keys.join(", ")
    )]
    OtherKey { plugin: String, signer: String, keys: Vec<String> },
    #[error("the signature of {plugin} does not fit its bytes: do not use it, and tell whoever runs the registry")]
    Invalid { plugin: String },
    #[error(
        "the signature of {plugin} is for something else: it says {found:?}, and {expected:?} is wanted; do not use it, and \
         tell whoever runs the registry"
    )]
    OtherSubject { plugin: String, found: String, expected: String },
}

impl PublicKey {
    /// From the base64 text of a key, or the two lines of a key file.
    ///
    /// # Errors
    /// If it is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        let line = text.trim().lines().last().unwrap_or_default().trim();
        let refuse = |why: &str| format!("{line:?} is not a minisign public key: {why}");
        let key = minisign_verify::PublicKey::from_base64(line).map_err(|error| refuse(&error.to_string()))?;
        let bytes = minisign::PublicKey::from_base64(line).map_err(|error| refuse(&error.to_string()))?;
        Ok(Self { id: key_id(bytes.keynum()), text: line.to_owned(), key })
    }

    /// As minisign shows it: sixteen hexadecimal digits.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// As an index and the configuration have it.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// The identifier of a key, from the eight bytes in which keys and signatures have it.
pub(crate) fn key_id(number: &[u8]) -> String {
    number.iter().rev().map(|byte| format!("{byte:02X}")).collect()
}

/// What the trusted comment of a version's signature says.
pub fn trusted_comment(name: &str, version: &str, sha256: &str) -> String {
    format!("netquarry {name} {version} sha256:{sha256}")
}

/// What a signature should be of.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    pub name: &'a str,
    pub version: &'a str,
    pub component: &'a [u8],
}

/// Who vouches for the component of a third party. `keys` are those of its registry.
///
/// # Errors
/// If nobody does as `trust` wants it.
pub fn verify(
    subject: Subject<'_>,
    signature: Option<&str>,
    keys: &[PublicKey],
    trust: Trust,
) -> Result<Voucher, TrustError> {
    let plugin = format!("{} {}", subject.name, subject.version);
    if keys.is_empty() {
        return match trust {
            Trust::AllowUnsigned => Ok(Voucher::Nobody),
            Trust::SignedOnly => Err(TrustError::Unsigned { plugin }),
        };
    }
    let identifiers = || keys.iter().map(|key| key.id.clone()).collect();
    let Some(text) = signature else {
        return Err(TrustError::NotSigned { plugin, keys: identifiers() });
    };
    let malformed = |why: String| TrustError::Malformed { plugin: plugin.clone(), why };
    let signature = Signature::decode(text).map_err(|error| malformed(error.to_string()))?;
    let signer = minisign::SignatureBox::from_string(text).map_err(|error| malformed(error.to_string()))?;
    let signer = key_id(signer.keynum());
    let mut candidates = keys.iter().filter(|key| key.id == signer).peekable();
    if candidates.peek().is_none() {
        return Err(TrustError::OtherKey { plugin, signer, keys: identifiers() });
    }
    if !candidates.any(|key| key.key.verify(subject.component, &signature, false).is_ok()) {
        return Err(TrustError::Invalid { plugin });
    }
    let expected = trusted_comment(subject.name, subject.version, &crate::digest::sha256(subject.component));
    let found = signature.trusted_comment();
    if found != expected {
        return Err(TrustError::OtherSubject { plugin, found: found.to_owned(), expected });
    }
    Ok(Voucher::Key(signer))
}
