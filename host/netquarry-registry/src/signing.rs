//! Making keys and signatures, for those who publish.

use std::io::Cursor;

use minisign::{KeyPair, SecretKeyBox};

use crate::trust::{Subject, key_id, trusted_comment};

/// A new key, as the texts of two files.
pub struct NewKey {
    /// Keep it to yourself.
    pub secret: String,
    /// The file `minisign.pub`; its second line goes into the `keys` of a registry.
    pub public: String,
    pub id: String,
}

#[derive(Debug, thiserror::Error)]
pub enum SignError {
    #[error("the key cannot be made: {0}")]
    Generate(String),
    #[error(
        "the secret key is protected by a password, or is no minisign secret key ({0}): give the password, or the file that \
         minisign made"
    )]
    Locked(String),
    #[error(
        "the secret key does not open with this password ({0}): check both; a key without a password is given none"
    )]
    Password(String),
    #[error("{plugin} cannot be signed: {why}")]
    Sign { plugin: String, why: String },
}

/// # Errors
/// If the system gives no randomness or no memory.
pub fn generate(password: Option<&str>) -> Result<NewKey, SignError> {
    let failure = |error: minisign::PError| SignError::Generate(error.to_string());
    let pair = match password {
        Some(password) => KeyPair::generate_encrypted_keypair(Some(password.to_owned())),
        None => KeyPair::generate_unencrypted_keypair(),
    }
    .map_err(failure)?;
    Ok(NewKey {
        secret: pair.sk.to_box(None).map_err(failure)?.into_string(),
        public: pair.pk.to_box().map_err(failure)?.into_string(),
        id: key_id(pair.pk.keynum()),
    })
}

/// The text of a signature, with the trusted comment that is checked. `secret_key` is the text of a minisign secret key
/// file; without a password it must not be protected by one.
///
/// # Errors
/// If the key cannot be read or opened.
pub fn sign(subject: Subject<'_>, secret_key: &str, password: Option<&str>) -> Result<String, SignError> {
    let file = SecretKeyBox::from(secret_key.to_owned());
    // The library would ask on the terminal where it is given no password for a protected key; it is never let.
    let key = match password {
        Some(password) => {
            let key = file.into_secret_key(Some(password.to_owned()));
            key.map_err(|error| SignError::Password(error.to_string()))?
        }
        None => file.into_unencrypted_secret_key().map_err(|error| SignError::Locked(error.to_string()))?,
    };
    let comment = trusted_comment(subject.name, subject.version, &crate::digest::sha256(subject.component));
    let signature = minisign::sign(None, &key, Cursor::new(subject.component), Some(&comment), None);
    let signature = signature.map_err(|error| SignError::Sign {
        plugin: format!("{} {}", subject.name, subject.version),
        why: error.to_string(),
    })?;
    Ok(signature.into_string())
}
