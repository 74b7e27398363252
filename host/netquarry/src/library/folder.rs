//! Writing into an output folder: only into one that is ours, each file whole or not at all, and nothing that has not
//! changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use super::bundles::BundleFolder;
use super::run_record::{self, Contents, PROGRAM, RunRecord, State};
use crate::folder_lock::{FolderLock, Locked};
use crate::problem::Problem;
use crate::spool::{Spool, Spooled};

/// The files of a library by path relative to its folder, `/` between the parts.
pub type Files<'a> = BTreeMap<String, Content<'a>>;

/// Where the files of spec emitters lie, a folder for each emitter.
pub const SPECS: &str = "specs/";

/// How files are called until they are whole.
const BEGUN: &str = ".netquarry-";

/// What a file is to hold.
pub enum Content<'a> {
    Bytes(Vec<u8>),
    /// What lies in the spool, and is read when it is written.
    Spooled {
        spool: &'a Spool,
        bytes: Spooled<[u8]>,
    },
    /// What this writes, piece by piece: for a file that is too large to be held in memory.
    Written(Box<Writing<'a>>),
}

impl Content<'_> {
    /// Writes all that the file is to hold.
    ///
    /// # Errors
    /// `out` does not take it, or it cannot be read back from the spool.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Bytes(bytes) => out.write_all(bytes),
            Self::Spooled { spool, bytes } => out.write_all(&spool.bytes(*bytes).map_err(io::Error::other)?),
            Self::Written(write) => write(out),
        }
    }
}

/// Writes all that a file is to hold.
type Writing<'a> = dyn Fn(&mut dyn Write) -> io::Result<()> + 'a;

/// The folder that may be a file's library, and the file's path there.
pub fn place_of_bundle(file: &Path) -> Option<(PathBuf, PathBuf)> {
    let file = fs::canonicalize(file).ok()?;
    let folder = file.parent()?;
    let kind = BundleFolder::named(folder.file_name()?.to_str()?)?;
    Some((folder.parent()?.to_owned(), Path::new(kind.name()).join(file.file_name()?)))
}

/// A folder that this program may write to. Holds a lock as long as it lives, so that two runs do not mix.
#[derive(Debug)]
pub struct OutputFolder {
    path: PathBuf,
    _lock: FolderLock,
}

/// What writing changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Changes {
    pub written: usize,
    /// As it should be already.
    pub unchanged: usize,
    pub removed: usize,
}

impl OutputFolder {
    /// Opens `path` for writing: a new or empty folder, or one that holds such contents already. A new one is not made
    /// yet. Locks are kept in `locks`.
    pub fn open(path: &Path, contents: Contents, locks: &Path) -> Result<Self, Problem> {
        refuse_foreign(path, contents)?;
        let lock = FolderLock::try_take(path, Locked::Library, locks);
        let Some(lock) = lock.map_err(|problem| problem.help("choose another folder with --out"))? else {
            return Err(Problem::new(format!("Another netquarry is writing to `{}`", path.display()))
                .help("wait until it has ended, or choose another folder with --out"));
        };
        Ok(Self { path: path.to_owned(), _lock: lock })
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The record of the last run; `None` for a new folder, and for one whose record another version wrote in another
    /// form.
    pub fn run_record(&self) -> Option<RunRecord> {
        RunRecord::read(&self.path).ok().flatten()
    }

    /// Whether every file that `record` lists is there as it was written.
    pub fn is_intact(&self, record: &RunRecord) -> bool {
        record
            .files
            .iter()
            .all(|(path, digest)| digest_of_file(&self.path.join(path)).is_ok_and(|present| present == *digest))
    }

    /// Makes the folder where it is not there: one that cannot be made is found out before any of the work is done.
    pub fn make(&self) -> Result<(), Problem> {
        fs::create_dir_all(&self.path).map_err(|error| {
            Problem::io("make the output folder", &self.path, error).help("choose another folder with --out")
        })
    }

    /// Marks the folder as being written to, so that whatever happens it is known to be ours.
    pub fn begin(&self, record: &RunRecord) -> Result<(), Problem> {
        self.make()?;
        let (extracted, files) =
            self.run_record().map(|earlier| (earlier.extracted, earlier.files)).unwrap_or_default();
        self.write_record(&RunRecord { state: State::Unfinished, key: None, extracted, files, ..record.clone() })
    }

    /// Makes `files` the contents of the library: writes what is new or different, then takes away what an earlier run
    /// wrote and this one did not. Files that no run wrote are left alone.
    pub fn write(&self, files: &Files<'_>, record: RunRecord) -> Result<Changes, Problem> {
        self.write_meanwhile(State::Unfinished, files, record)
    }

    /// Likewise for a library whose bundles stay what they are and only move. New files are put in their places before old
    /// ones go, so that the manifest has all of its bundles whenever this ends early.
    pub fn rewrite(&self, files: &Files<'_>, record: RunRecord) -> Result<Changes, Problem> {
        self.write_meanwhile(State::Redeciding, files, record)
    }

    /// `meanwhile` is the state that the folder is in until all is done.
    fn write_meanwhile(&self, meanwhile: State, files: &Files<'_>, mut record: RunRecord) -> Result<Changes, Problem> {
        let earlier = self.run_record().map(|earlier| earlier.files).unwrap_or_default();
        self.remove_leftovers(files.keys().chain(earlier.keys()))?;
        let staged = files.iter().map(|(path, content)| Ok((path.as_str(), self.stage(path, content)?)));
        let staged = staged.collect::<Result<Vec<_>, Problem>>()?;
        let digests: BTreeMap<String, String> =
            staged.iter().map(|(path, staged)| ((*path).to_owned(), staged.digest())).collect();
        let mut either = earlier.clone();
        either.extend(digests.iter().map(|(path, digest)| (path.clone(), digest.clone())));
        self.write_record(&RunRecord { state: meanwhile, key: None, files: either, ..record.clone() })?;

        let mut changes = Changes::default();
        for (path, staged) in staged {
            match self.place_if_different(path, staged)? {
                true => changes.written += 1,
                false => changes.unchanged += 1,
            }
        }
        // Two paths that differ in the case of letters only are one file on some systems: compare without it.
        let kept: BTreeSet<String> = files.keys().map(|path| path.to_lowercase()).collect();
        for path in earlier.keys().filter(|path| !kept.contains(&path.to_lowercase())) {
            changes.removed += usize::from(self.remove(path)?);
        }
        record.files = digests;
        self.write_record(&record)?;
        Ok(changes)
    }

    fn write_record(&self, record: &RunRecord) -> Result<(), Problem> {
        let mut text = serde_json::to_string_pretty(record).expect("the record has string keys");
        text.push('\n');
        self.replace(run_record::FILE_NAME, text.as_bytes())
    }

    /// Makes the content ready to be put in its place. What is not in memory is written beside its place now, because
    /// its digest has to be known before anything changes.
    fn stage<'c>(&self, relative: &str, content: &'c Content<'_>) -> Result<Staged<'c>, Problem> {
        let write = match content {
            Content::Bytes(bytes) => return Ok(Staged::Here(bytes)),
            Content::Spooled { spool, bytes } => {
                let digest = hexadecimal(&Sha256::digest(spool.bytes(*bytes)?));
                return Ok(Staged::Spooled { spool, bytes: *bytes, digest });
            }
            Content::Written(write) => write,
        };
        let path = self.path.join(relative);
        let staged = in_its_folder(&path).and_then(|file| {
            let mut out = Hashing { into: BufWriter::new(file), hash: Sha256::new() };
            write(&mut out)?;
            let digest = hexadecimal(&out.hash.finalize());
            Ok(Staged::Beside { file: out.into.into_inner()?, digest })
        });
        staged.map_err(|error| Problem::io("write", &path, error))
    }

    fn place_if_different(&self, relative: &str, staged: Staged<'_>) -> Result<bool, Problem> {
        let path = self.path.join(relative);
        match staged {
            Staged::Here(bytes) if fs::read(&path).is_ok_and(|present| present == bytes) => return Ok(false),
            Staged::Here(bytes) => self.replace(relative, bytes)?,
            Staged::Beside { digest, .. } | Staged::Spooled { digest, .. }
                if digest_of_file(&path).is_ok_and(|present| present == digest) =>
            {
                return Ok(false);
            }
            Staged::Spooled { spool, bytes, .. } => self.replace(relative, &spool.bytes(bytes)?)?,
            Staged::Beside { file, .. } => {
                file.persist(&path).map_err(|error| Problem::io("write", &path, error.error))?;
            }
        }
        Ok(true)
    }

    /// Writes beside the place and renames, so that a reader sees the old file or the new one.
    fn replace(&self, relative: &str, bytes: &[u8]) -> Result<(), Problem> {
        let path = self.path.join(relative);
        let written = in_its_folder(&path).and_then(|mut file| {
            file.write_all(bytes)?;
            file.persist(&path).map_err(|error| error.error)?;
            Ok(())
        });
        written.map_err(|error| Problem::io("write", &path, error))
    }

    /// Removes what a run left beside these paths that was killed while it wrote. No run is writing now: the lock is ours.
    fn remove_leftovers<'p>(&self, paths: impl Iterator<Item = &'p String>) -> Result<(), Problem> {
        let mut folders: BTreeSet<PathBuf> =
            paths.filter_map(|path| Some(self.path.join(path).parent()?.to_owned())).collect();
        folders.insert(self.path.clone());
        for entry in folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten() {
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            if is_file && is_leftover(&entry.file_name().to_string_lossy()) {
                fs::remove_file(entry.path()).map_err(|error| Problem::io("remove", &entry.path(), error))?;
            }
        }
        Ok(())
    }

    /// Removes a file and the folders that it leaves empty; whether it was there.
    fn remove(&self, relative: &str) -> Result<bool, Problem> {
        let path = self.path.join(relative);
        match fs::remove_file(&path) {
            Ok(()) => {
                let folders = path.ancestors().skip(1).take_while(|folder| *folder != self.path);
                for folder in folders {
                    if fs::remove_dir(folder).is_err() {
                        break;
                    }
                }
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(Problem::io("remove", &path, error)),
        }
    }
}

/// Content that only has to be put in its place.
enum Staged<'c> {
    Here(&'c [u8]),
    Spooled { spool: &'c Spool, bytes: Spooled<[u8]>, digest: String },
    Beside { file: NamedTempFile, digest: String },
}

impl Staged<'_> {
    fn digest(&self) -> String {
        match self {
            Self::Here(bytes) => hexadecimal(&Sha256::digest(bytes)),
            Self::Beside { digest, .. } | Self::Spooled { digest, .. } => digest.clone(),
        }
    }
}

/// As `beside`, where the folder may have to be made.
fn in_its_folder(path: &Path) -> io::Result<NamedTempFile> {
    fs::create_dir_all(path.parent().expect("a file of the library lies in its folder"))?;
    beside(path)
}

/// Writes a report, whole or not at all.
///
/// # Errors
/// It cannot be written there.
pub fn write_whole(path: &Path, text: &str) -> Result<(), Problem> {
    let written = report_beside(path).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.persist(path).map_err(|error| error.error)
    });
    written.map(drop).map_err(|error| Problem::io("write the report", path, error))
}

/// A new file in the folder of a report. That may be the folder of a library: no run there takes it for what it has left.
pub fn report_beside(path: &Path) -> io::Result<NamedTempFile> {
    new_file_beside(path, ".netquarry-report-")
}

fn beside(path: &Path) -> io::Result<NamedTempFile> {
    new_file_beside(path, BEGUN)
}

/// A new file in the folder of `path`, to be put in its place once it is whole.
fn new_file_beside(path: &Path, prefix: &str) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    tempfile::Builder::new().prefix(prefix).permissions(Permissions::from_mode(0o666)).tempfile_in(folder)
}

/// Passes on what is written, and hashes it.
struct Hashing<W> {
    into: W,
    hash: Sha256,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.into.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.into.flush()
    }
}

fn digest_of_file(path: &Path) -> io::Result<String> {
    let mut hashing = Hashing { into: io::sink(), hash: Sha256::new() };
    io::copy(&mut File::open(path)?, &mut hashing)?;
    Ok(hexadecimal(&hashing.hash.finalize()))
}

/// What a run had begun: the prefix, and what makes the name another one each time.
fn is_leftover(name: &str) -> bool {
    name.strip_prefix(BEGUN).is_some_and(|rest| !rest.contains('-'))
}

/// A folder that holds anything is ours only if its `run.json` says so, and is written to by what made it only.
fn refuse_foreign(path: &Path, contents: Contents) -> Result<(), Problem> {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Problem::io("look into the output folder", path, error)),
    };
    let holds_something = entries.flatten().any(|entry| !is_leftover(&entry.file_name().to_string_lossy()));
    let record = fs::read(path.join(run_record::FILE_NAME)).ok();
    let mark = record.and_then(|text| serde_json::from_slice::<Mark>(&text).ok());
    match mark.filter(|mark| mark.program == PROGRAM) {
        Some(mark) if mark.contents != contents => {
            let held = match mark.contents {
                Contents::Library => "a library of blocks",
                Contents::Deduplicated => "what `netquarry dedup` kept",
            };
            Err(Problem::new(format!("`{}` holds {held}, which this command would replace", path.display()))
                .help("choose another folder with --out"))
        }
        None if holds_something => {
            Err(Problem::new(format!("`{}` is not an output folder of netquarry", path.display()))
                .because("it holds files, and no run.json of netquarry beside them")
                .help("choose another folder with --out, or empty this one if nothing in it is needed"))
        }
        _ => Ok(()),
    }
}

/// As much of a `run.json` as every version writes.
#[derive(serde::Deserialize)]
struct Mark {
    program: String,
    #[serde(default)]
    contents: Contents,
}

/// Lower-case hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn files(pairs: &[(&str, &str)]) -> Files<'static> {
        pairs.iter().map(|(path, text)| ((*path).to_owned(), Content::Bytes(text.as_bytes().to_vec()))).collect()
    }

    fn written(text: &'static str) -> Content<'static> {
        Content::Written(Box::new(|out| out.write_all(text.as_bytes())))
    }

    fn finished() -> RunRecord {
        RunRecord { state: State::Finished, key: Some("key".to_owned()), ..RunRecord::begin(Vec::new(), 1) }
    }

    fn open(base: &Path) -> Result<OutputFolder, Problem> {
        OutputFolder::open(&base.join("out"), Contents::Library, &base.join("locks"))
    }

    #[test]
    fn a_library_is_not_replaced_by_what_a_deduplication_kept() {
        let base = tempfile::tempdir().unwrap();
        let folder = open(base.path()).unwrap();
        folder.write(&files(&[("blocks/A.py", "a")]), finished()).unwrap();
        drop(folder);
        let deduplicated =
            OutputFolder::open(&base.path().join("out"), Contents::Deduplicated, &base.path().join("locks"));
        let problem = deduplicated.expect_err("the folder is a library");
        assert_eq!(problem.help_text(), Some("choose another folder with --out"));
        // A process that another test is about to start may hold the lock for a moment.
        let is_free = (0..100).any(|_| {
            open(base.path()).is_ok() || {
                std::thread::sleep(Duration::from_millis(20));
                false
            }
        });
        assert!(is_free, "a library takes the place of a library");
    }

    #[test]
    fn what_a_killed_run_left_is_removed() {
        let base = tempfile::tempdir().unwrap();
        let folder = open(base.path()).unwrap();
        folder.write(&files(&[("blocks/A.py", "a"), ("specs/neutral/B.json", "b")]), finished()).unwrap();
        // In the folder itself, in one that stays and in one that goes.
        let left = ["", "blocks/", "specs/neutral/"].map(|place| base.path().join(format!("out/{place}{BEGUN}w4AOGa")));
        left.iter().for_each(|path| fs::write(path, "half").unwrap());
        folder.write(&files(&[("blocks/A.py", "a")]), finished()).unwrap();
        assert!(left.iter().all(|path| !path.exists()) && !base.path().join("out/specs").exists());
    }

    #[test]
    fn a_second_write_changes_what_changed_and_removes_what_went() {
        let base = tempfile::tempdir().unwrap();
        let folder = open(base.path()).unwrap();
        folder.begin(&RunRecord::begin(Vec::new(), 1)).unwrap();
        let first = files(&[("blocks/A.py", "a"), ("specs/neutral/B.json", "b"), ("manifest.jsonl", "1")]);
        assert_eq!(folder.write(&first, finished()).unwrap(), Changes { written: 3, unchanged: 0, removed: 0 });
        fs::write(base.path().join("out/blocks/own.py"), "the user's").unwrap();

        let second = files(&[("blocks/A.py", "a"), ("manifest.jsonl", "2")]);
        assert_eq!(folder.write(&second, finished()).unwrap(), Changes { written: 1, unchanged: 1, removed: 1 });
        assert!(!base.path().join("out/specs").exists(), "an empty folder is left");
        assert!(base.path().join("out/blocks/own.py").exists(), "a file that no run wrote was removed");
        let record = folder.run_record().expect("the record is there");
        assert_eq!((record.state, record.key.as_deref()), (State::Finished, Some("key")));
        assert!(folder.is_intact(&record));
        fs::write(base.path().join("out/blocks/A.py"), "changed").unwrap();
        assert!(!folder.is_intact(&record));
    }

    #[test]
    fn what_is_written_piece_by_piece_is_a_file_like_any_other() {
        let base = tempfile::tempdir().unwrap();
        let folder = open(base.path()).unwrap();
        let write = |text| folder.write(&Files::from([("manifest.jsonl".to_owned(), written(text))]), finished());
        for (text, changes) in [
            ("1", Changes { written: 1, unchanged: 0, removed: 0 }),
            ("1", Changes { written: 0, unchanged: 1, removed: 0 }),
            ("2", Changes { written: 1, unchanged: 0, removed: 0 }),
        ] {
            assert_eq!(write(text).unwrap(), changes);
            assert_eq!(fs::read_to_string(base.path().join("out/manifest.jsonl")).unwrap(), text);
            assert!(folder.is_intact(&folder.run_record().expect("the record is there")));
        }
        assert_eq!(fs::read_dir(base.path().join("out")).unwrap().count(), 2, "the manifest and run.json");
    }

    #[test]
    fn a_folder_that_is_not_ours_is_refused_and_untouched() {
        let base = tempfile::tempdir().unwrap();
        fs::create_dir(base.path().join("out")).unwrap();
        fs::write(base.path().join("out/thesis.tex"), "years of work").unwrap();
        let problem = open(base.path()).expect_err("the folder is not ours");
        assert!(problem.help_text().expect("there is advice").contains("--out"));
        assert_eq!(fs::read_dir(base.path().join("out")).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_found_out_at_once() {
        let base = tempfile::tempdir().unwrap();
        fs::write(base.path().join("file"), "").unwrap();
        let beneath = OutputFolder { path: base.path().join("file/out"), ..open(base.path()).unwrap() };
        let problem = beneath.make().expect_err("a file is no folder");
        assert!(problem.to_string().starts_with("Could not make the output folder"), "{problem}");
        drop(beneath);
        open(base.path()).unwrap().make().unwrap();
        assert_eq!(fs::read_dir(base.path().join("out")).unwrap().count(), 0);
    }

    #[test]
    fn a_link_to_nothing_is_refused() {
        let base = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("nowhere", base.path().join("out")).unwrap();
        for path in ["out", "out/", "out/below"] {
            let path = base.path().join(path);
            let problem = OutputFolder::open(&path, Contents::Library, &base.path().join("locks")).unwrap_err();
            let cause = std::error::Error::source(&problem).expect("there is a cause").to_string();
            assert!(cause.ends_with("out` is a link to nothing"), "{cause}");
        }
        fs::create_dir(base.path().join("nowhere")).unwrap();
        open(base.path()).expect("the link leads somewhere now");
    }

    #[test]
    fn two_runs_do_not_write_to_one_folder() {
        let base = tempfile::tempdir().unwrap();
        let first = open(base.path()).unwrap();
        first.begin(&RunRecord::begin(Vec::new(), 1)).unwrap();
        assert!(open(base.path()).expect_err("it is locked").to_string().starts_with("Another netquarry"));
        drop(first);
        open(base.path()).expect("the lock went with its holder");
    }

    #[test]
    fn written_files_are_readable_by_others_as_far_as_the_mask_lets_them() {
        let base = tempfile::tempdir().unwrap();
        let folder = open(base.path()).unwrap();
        folder.write(&files(&[("blocks/A.py", "a")]), finished()).unwrap();
        let mode = fs::metadata(base.path().join("out/blocks/A.py")).unwrap().permissions().mode();
        fs::write(base.path().join("plain"), "").unwrap();
        assert_eq!(mode, fs::metadata(base.path().join("plain")).unwrap().permissions().mode());
    }
}
