//! Compiled components on disk.
//!
//! A compiled component is machine code that runs with the rights of this process, and the engine trusts it: a flipped
//! bit loads without complaint. So a file is loaded only if it lies in a folder that nobody but this user can write to,
//! belongs to this user, and bears a digest of its content that fits.

use std::fs::{self, DirBuilder, Metadata};
use std::hash::{Hash, Hasher};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use wasmtime::Engine;
use wasmtime::component::Component;

/// At the start of each file; then the digest, then the compiled component.
const MAGIC: &[u8; 8] = b"NQCWASM2";
const DIGEST_BYTES: usize = 32;

/// Compiled components of one engine, under the digests of the components.
pub(crate) struct CompiledCache {
    folder: PathBuf,
    /// The engine's compatibility hash: version, processor features and settings.
    engine: String,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum CacheError {
    #[error("{path}: {source}", path = .path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{path} is not a folder that this user alone can write to", path = .path.display())]
    NotPrivate { path: PathBuf },
}

impl CompiledCache {
    /// Opens the folder, making it first where it does not exist.
    pub(crate) fn open(folder: PathBuf, engine: &Engine) -> Result<Self, CacheError> {
        let failed = |source| CacheError::Io { path: folder.clone(), source };
        create_private(&folder).map_err(failed)?;
        let metadata = fs::symlink_metadata(&folder).map_err(failed)?;
        if !metadata.is_dir() || !is_private(&metadata) {
            return Err(CacheError::NotPrivate { path: folder });
        }
        let mut hasher = Blake3Hasher(blake3::Hasher::new());
        engine.precompile_compatibility_hash().hash(&mut hasher);
        let engine = hexadecimal(&hasher.0.finalize().as_bytes()[..16]);
        Ok(Self { folder, engine })
    }

    /// The compiled form of the component with this digest; nothing where the file is missing or is not to be trusted,
    /// and then it will be written anew.
    pub(crate) fn load(&self, engine: &Engine, component: &str) -> Option<Component> {
        let path = self.path(component);
        let metadata = fs::symlink_metadata(&path).ok()?;
        if !metadata.is_file() || !is_private(&metadata) {
            tracing::warn!("{} is not loaded: somebody else could have written it", path.display());
            return None;
        }
        let content = fs::read(&path).ok()?;
        let Some(compiled) = self.checked(component, &content) else {
            tracing::warn!("{} is damaged; the plugin is compiled anew", path.display());
            return None;
        };
        // SAFETY: `deserialize` wants bytes that `serialize` made. These lie in a folder and a file that this user
        // alone can write to, under the hash of an engine that is compatible with ours, and the digest that was written
        // with them fits. They are checked and used in memory, so the file cannot change in between.
        match unsafe { Component::deserialize(engine, compiled) } {
            Ok(component) => Some(component),
            Err(error) => {
                tracing::warn!("{} does not load, the plugin is compiled anew: {error:#}", path.display());
                None
            }
        }
    }

    /// Keeps a compiled component. The file appears whole or not at all, whoever else writes it at the same time.
    pub(crate) fn store(&self, component: &str, compiled: &[u8]) -> Result<(), CacheError> {
        let failed = |source| CacheError::Io { path: self.folder.clone(), source };
        let mut file = tempfile::NamedTempFile::new_in(&self.folder).map_err(failed)?;
        let digest = self.digest(component, compiled);
        for part in [MAGIC, digest.as_slice(), compiled] {
            file.write_all(part).map_err(failed)?;
        }
        file.persist(self.path(component)).map_err(|error| failed(error.error))?;
        Ok(())
    }

    fn path(&self, component: &str) -> PathBuf {
        self.folder.join(format!("{component}-{}.compiled", self.engine))
    }

    fn checked<'a>(&self, component: &str, content: &'a [u8]) -> Option<&'a [u8]> {
        let (digest, compiled) = content.strip_prefix(MAGIC)?.split_at_checked(DIGEST_BYTES)?;
        (digest == self.digest(component, compiled)).then_some(compiled)
    }

    /// Of the content together with what it was made from, so that no file can stand for another. Every start computes it of
    /// all plugins that it loads, so it is a BLAKE3: where the processor has no instructions for SHA-256, that took most of a start.
    fn digest(&self, component: &str, compiled: &[u8]) -> [u8; DIGEST_BYTES] {
        let mut hasher = blake3::Hasher::new();
        for part in [component.as_bytes(), self.engine.as_bytes(), compiled] {
            hasher.update(&u64::try_from(part.len()).expect("lengths fit into 64 bits").to_le_bytes());
            hasher.update(part);
        }
        hasher.finalize().into()
    }
}

fn create_private(folder: &Path) -> io::Result<()> {
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        result => result,
    }
}

/// Nobody but this user can write it.
#[cfg(unix)]
fn is_private(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;

    metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & 0o022 == 0
}

/// Elsewhere the folder inherits the rights of the user's profile.
#[cfg(not(unix))]
fn is_private(_: &Metadata) -> bool {
    true
}

/// BLAKE3 behind the interface of the standard library's hashes, whose own have but 64 bits.
struct Blake3Hasher(blake3::Hasher);

impl Hasher for Blake3Hasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        unreachable!("the digest is taken whole")
    }
}

/// Lower-case hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use wasmtime::Config;

    use super::*;

    #[test]
    fn what_another_engine_compiled_is_not_loaded() {
        let engine = |fuel: bool| {
            let mut config = Config::new();
            config.wasm_component_model(true).consume_fuel(fuel);
            Engine::new(&config).expect("this machine can run plugins")
        };
        let (ours, theirs) = (engine(true), engine(false));
        let folder = tempfile::TempDir::new().expect("there is room");
        let cache_of = |engine: &Engine| {
            CompiledCache::open(folder.path().join("plugins"), engine).expect("the folder can be made")
        };
        let (our_cache, their_cache) = (cache_of(&ours), cache_of(&theirs));
        let component = Component::new(&theirs, b"\0asm\x0d\0\x01\0").expect("an empty component");
        let compiled = component.serialize().expect("it can be kept");
        their_cache.store("digest", &compiled).expect("there is room");
        assert!(their_cache.load(&theirs, "digest").is_some());
        assert!(our_cache.load(&ours, "digest").is_none(), "it is kept under the name of its engine");
        fs::rename(their_cache.path("digest"), our_cache.path("digest")).expect("it can be moved");
        assert!(our_cache.load(&ours, "digest").is_none(), "its head is that of its engine");
        our_cache.store("digest", &compiled).expect("there is room");
        assert!(our_cache.load(&ours, "digest").is_none(), "the engine knows its own");
    }
}
