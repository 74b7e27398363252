//! `run.json`: what may differ between two equal runs, and the mark by which an output folder is known to be ours.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use netquarry_core::verdict::{Level, Tier};
use netquarry_corpus::load;
use serde::{Deserialize, Serialize};

use super::costs::PluginCost;
use super::reproduction::{Ingredients, Results};
use crate::configuration::Settings;
use crate::course::Course;
use crate::problem::Problem;

/// Its name in the output folder.
pub const FILE_NAME: &str = "run.json";

/// Stands in every `run.json` and nowhere else.
pub const PROGRAM: &str = "netquarry";

/// What the folder holds. One kind never takes the place of the other: each would remove what it does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Contents {
    /// Blocks with a manifest.
    #[default]
    Library,
    /// The models that a deduplication kept, with its decisions.
    Deduplicated,
}

/// How far the files of the folder can be trusted to belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Begun and not ended: `files` lists what it may have written.
    Unfinished,
    /// It was whole and is being decided about anew. Every bundle that its manifest names is there, whether that is the one
    /// before or the one after, so that `dedup run --apply` can go on.
    Redeciding,
    /// The files are what one whole run left.
    Finished,
    /// Single blocks were added to it afterwards.
    Extended,
}

/// What `run.json` says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunRecord {
    pub program: String,
    pub version: String,
    #[serde(default)]
    pub contents: Contents,
    pub state: State,
    /// Everything that the outputs depend on, as one digest: an equal run would write the same files.
    pub key: Option<String>,
    /// RFC 3339, UTC.
    pub started: String,
    pub ended: Option<String>,
    pub machine: Machine,
    /// The command line, without the program's name.
    pub arguments: Vec<String>,
    /// What the blocks were taken from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<CorpusOrigin>,
    /// How blocks were validated and described.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manner: Option<Manner>,
    /// The interpreter and torch that the blocks were validated with.
    pub environment: Option<serde_json::Value>,
    /// When each source was fetched, RFC 3339, by its name; what lies on this machine is read when the run starts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub retrieved: BTreeMap<String, String>,
    /// What was installed beside it, `name==version` sorted: each bundle has those of its own record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub installed: Vec<String>,
    /// The protections that were in force while foreign code ran.
    pub sandbox: Vec<String>,
    /// What they amount to, for the block that had the least of them; `None` where none ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    pub course: Course,
    /// What the files were made of, and what was made of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ingredients: Option<Ingredients>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results: Option<Results>,
    /// What the calls of plugins took, sorted by plugin, stage and source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<PluginCost>,
    /// The blocks that `extract` has added since the last whole run, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extracted: Vec<String>,
    /// SHA-256 of every file that the run wrote, by path relative to the folder.
    pub files: BTreeMap<String, String>,
}

/// The corpus of a run, so that another command can take the same one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CorpusOrigin {
    /// A shipped corpus or a JSON file, as it was given.
    pub corpus: String,
    /// Local folders in the place of its sources, as they were given.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sources: BTreeMap<String, PathBuf>,
    /// The working folder that the paths are relative to.
    pub folder: PathBuf,
}

impl CorpusOrigin {
    /// That of the library in a folder, as it is named in the working folder `seen_from`; none where there is no library,
    /// and where an earlier version made it.
    pub fn of_library(library: &Path, seen_from: &Path) -> Result<Option<Self>, Problem> {
        let origin = RunRecord::read(library)?.and_then(|record| record.origin);
        Ok(origin.map(|origin| origin.seen_from(seen_from)))
    }

    /// Whether the other one is of the same corpus, by whatever path.
    pub fn is_of_corpus_of(&self, other: &Self) -> bool {
        let place = |origin: &Self| match load::names_a_file(&origin.corpus) {
            true => {
                let path = origin.folder.join(&origin.corpus);
                std::fs::canonicalize(&path).unwrap_or(path)
            }
            false => PathBuf::from(&origin.corpus),
        };
        place(self) == place(other)
    }

    /// With paths that are good in another working folder. In the same one they stay as they are, for records name local
    /// sources by them.
    fn seen_from(self, folder: &Path) -> Self {
        if self.folder == folder {
            return self;
        }
        let corpus = match load::names_a_file(&self.corpus) {
            true => self.folder.join(&self.corpus).to_string_lossy().into_owned(),
            false => self.corpus,
        };
        let sources = self.sources.into_iter().map(|(name, path)| (name, self.folder.join(path))).collect();
        Self { corpus, sources, folder: folder.to_owned() }
    }
}

/// What a run was asked for that a block which is added later should have as well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manner {
    pub level: Level,
    pub gate: Level,
    /// By name, or by file.
    pub emitters: Vec<String>,
}

impl Manner {
    /// What these settings ask for.
    pub fn of(settings: &Settings) -> Self {
        Self { level: settings.level, gate: settings.gate, emitters: settings.plugins.emit.clone() }
    }
}

/// Where a run took place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    pub operating_system: String,
    pub architecture: String,
    pub cores: usize,
    pub threads: usize,
}

impl Machine {
    /// This machine, with so many threads in use.
    pub fn this(threads: usize) -> Self {
        Self {
            operating_system: std::env::consts::OS.to_owned(),
            architecture: std::env::consts::ARCH.to_owned(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            threads,
        }
    }
}

impl RunRecord {
    /// The record in a folder; none where there is none of ours.
    ///
    /// # Errors
    /// It cannot be read, or is not as this version writes it.
    pub fn read(folder: &Path) -> Result<Option<Self>, Problem> {
        let path = folder.join(FILE_NAME);
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Problem::io("read", &path, error)),
        };
        let document: serde_json::Result<serde_json::Value> = serde_json::from_slice(&text);
        if document.as_ref().is_ok_and(|document| document["program"] != PROGRAM) {
            return Ok(None);
        }
        document.and_then(serde_json::from_value).map(Some).map_err(|error| {
            Problem::new(format!("`{}` is damaged or was written by another version", path.display()))
                .because(error)
                .help("name the corpus with --corpus; `netquarry run` makes the library anew")
        })
    }

    /// The interpreter that the blocks were validated with; none where none was needed.
    pub fn python(&self) -> Option<PathBuf> {
        self.environment.as_ref()?["python"].as_str().map(PathBuf::from)
    }

    /// The record of a run that begins now.
    pub fn begin(arguments: Vec<String>, threads: usize) -> Self {
        Self {
            program: PROGRAM.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            contents: Contents::Library,
            state: State::Unfinished,
            key: None,
            started: now(),
            ended: None,
            machine: Machine::this(threads),
            arguments,
            origin: None,
            manner: None,
            environment: None,
            retrieved: BTreeMap::new(),
            installed: Vec::new(),
            sandbox: Vec::new(),
            tier: None,
            course: Course::default(),
            ingredients: None,
            results: None,
            costs: Vec::new(),
            extracted: Vec::new(),
            files: BTreeMap::new(),
        }
    }
}

/// The present moment in RFC 3339, to the second.
pub fn now() -> String {
    jiff::Timestamp::now().round(jiff::Unit::Second).expect("seconds are a unit of time").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corpus_is_found_from_another_folder() {
        let origin = |corpus: &str| CorpusOrigin {
            corpus: corpus.to_owned(),
            sources: [("timm".to_owned(), PathBuf::from("../timm"))].into(),
            folder: PathBuf::from("/project"),
        };
        assert_eq!(origin("mine.json").seen_from(Path::new("/project")), origin("mine.json"));
        let elsewhere = origin("mine.json").seen_from(Path::new("/"));
        assert_eq!(elsewhere.corpus, "/project/mine.json");
        assert_eq!(elsewhere.sources["timm"], Path::new("/project/../timm"));
        assert_eq!(origin("paper").seen_from(Path::new("/")).corpus, "paper");
        // As it is where a corpus is loaded, a separator makes it a file.
        assert_eq!(origin("corpora/mine").seen_from(Path::new("/")).corpus, "/project/corpora/mine");
    }

    #[test]
    fn a_corpus_is_the_same_by_whatever_path() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("mine.json"), "").unwrap();
        std::fs::create_dir(folder.path().join("below")).unwrap();
        let origin = |corpus: &str, below: &str| CorpusOrigin {
            corpus: corpus.to_owned(),
            sources: BTreeMap::new(),
            folder: folder.path().join(below),
        };
        let mine = origin("mine.json", "");
        let whole = folder.path().join("mine.json").display().to_string();
        for same in [origin("./mine.json", ""), origin("../mine.json", "below"), origin(&whole, "below")] {
            assert!(mine.is_of_corpus_of(&same), "{same:?}");
        }
        for other in [origin("mine.json", "below"), origin("other.json", ""), origin("paper", "")] {
            assert!(!mine.is_of_corpus_of(&other), "{other:?}");
        }
    }

    #[test]
    fn a_record_of_ours_that_cannot_be_read_is_no_missing_one() {
        let folder = tempfile::tempdir().unwrap();
        let read = || RunRecord::read(folder.path());
        assert!(read().unwrap().is_none());
        let write = |text: &str| std::fs::write(folder.path().join(FILE_NAME), text).unwrap();
        write("{\"program\": \"another\"}");
        assert!(read().unwrap().is_none());
        for text in ["{\"program\": \"netquarry\", \"state\": \"finished\"}", "{\"program\": \"netq"] {
            write(text);
            let problem = read().expect_err("it is damaged");
            assert!(problem.help_text().expect("there is advice").contains("--corpus"), "{problem}");
        }
        write(&serde_json::to_string(&RunRecord::begin(Vec::new(), 1)).unwrap());
        assert_eq!(read().unwrap().expect("it is whole").state, State::Unfinished);
    }
}
