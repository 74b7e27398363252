//! Archives made by the tests.

use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A zip archive of these members, deflated.
pub(crate) fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in members {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A wheel of `name` 1.0 with these members, metadata and `RECORD`.
pub(crate) fn wheel(name: &str, members: &[(&str, &[u8])]) -> Vec<u8> {
    use base64::Engine;
    let encode = |bytes: &[u8]| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(Sha256::digest(bytes));
    let info = format!("{name}-1.0.dist-info");
    let metadata = format!("Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\nLicense: MIT\nRequires-Dist: torch\n");
    let metadata_path = format!("{info}/METADATA");
    let mut all = members.to_vec();
    all.push((&metadata_path, metadata.as_bytes()));
    let lines = all.iter().map(|(path, bytes)| format!("{path},sha256={},{}\n", encode(bytes), bytes.len()));
    let record: String = lines.collect();
    let record_path = format!("{info}/RECORD");
    all.push((&record_path, record.as_bytes()));
    zip(&all)
}

/// A member of a tar archive.
pub(crate) enum Member<'test> {
    File(&'test str, &'test [u8]),
    Link(&'test str, &'test str),
    HardLink(&'test str, &'test str),
    Device(&'test str),
    Folder(&'test str),
}

/// A `.tar.gz` of these members, their names exactly as given.
pub(crate) fn tar_gz(members: &[Member<'_>]) -> Vec<u8> {
    let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for member in members {
        let (name, kind, content, target) = match member {
            Member::File(name, content) => (name, tar::EntryType::Regular, *content, None),
            Member::Link(name, target) => (name, tar::EntryType::Symlink, &[][..], Some(target)),
            Member::HardLink(name, target) => (name, tar::EntryType::Link, &[][..], Some(target)),
            Member::Device(name) => (name, tar::EntryType::Char, &[][..], None),
            Member::Folder(name) => (name, tar::EntryType::Directory, &[][..], None),
        };
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        // `set_path` would refuse the names that these tests are about.
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        if let Some(target) = target {
            header.as_old_mut().linkname[..target.len()].copy_from_slice(target.as_bytes());
        }
        header.set_cksum();
        builder.append(&header, content).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}
