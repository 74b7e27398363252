//! Bundles with what must come of them: one file of `cases/` each.
//!
//! A case starts with comment lines `# key: value`. `failure: CLASS at LEVEL` or `level: LEVEL` (the highest one passed,
//! with nothing failed) is needed; `message`, `note`, `upstream`, `constructor` and `output` are compared where they are
//! given; `blocked` and `operators` are lists of packages; `seconds` is the wall clock's limit, where it matters.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use netquarry_core::verdict::{Level, Outcome, Verdict};

use super::{Job, Limits, LineSpan, Options, WorkerStatistics, validate};
use crate::environment::{self, Environment, Request};

/// One environment for all tests: the one that the variables name, or one that is made once and kept.
fn environment() -> &'static Environment {
    static ENVIRONMENT: OnceLock<Environment> = OnceLock::new();
    ENVIRONMENT.get_or_init(|| {
        let cache = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/netquarry-test-cache");
        environment::prepare(&Request::from_variables(None, cache), &|_| {}).expect("an environment can be made")
    })
}

fn options() -> Options {
    let limits =
        Limits { wall: Duration::from_secs(120), cpu_seconds: 2, memory_bytes: 256 << 20, ..Limits::default() };
    Options { level: Level::Forward, jobs: 2, limits, attempts: 1, back_off: Duration::from_millis(10) }
}

struct Case {
    name: String,
    keys: BTreeMap<String, String>,
    job: Job,
}

impl Case {
    fn read(path: PathBuf) -> Self {
        let text = fs::read_to_string(&path).unwrap();
        let header = text.lines().map_while(|line| line.strip_prefix("# ")?.split_once(": "));
        let keys: BTreeMap<String, String> = header.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        let list = |key: &str| keys.get(key).map_or(Vec::new(), |value| value.split(", ").map(str::to_owned).collect());
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let job = Job {
            id: name.clone(),
            class_name: "Block".into(),
            blocked_packages: list("blocked"),
            operator_packages: list("operators"),
            arguments: None,
            line_map: vec![LineSpan {
                bundle_start: 1,
                bundle_end: u32::MAX,
                path: "package/module.py".into(),
                upstream_start: 101,
            }],
            file: path,
        };
        Self { name, keys, job }
    }

    /// What is wrong with the verdict, in a sentence.
    fn complaint(&self, verdict: &Verdict) -> Option<String> {
        let failure = verdict.failure.as_ref();
        let class = failure.map(|failure| super::classify::name(failure.class));
        let outcome = match class {
            Some(class) => {
                let failed = Level::ALL.into_iter().find(|level| verdict.outcome(*level) == Outcome::Failed);
                format!("failure: {class} at {}", failed.map_or("no level", Level::name))
            }
            None => {
                let reached = Level::ALL.into_iter().rev().find(|level| *level as u8 == verdict.level());
                format!("level: {}", reached.map_or("none", Level::name))
            }
        };
        let expected = ["failure", "level"].iter().find_map(|key| Some(format!("{key}: {}", self.keys.get(*key)?)));
        if Some(&outcome) != expected.as_ref() {
            return Some(format!("expected {expected:?}, came out as {outcome:?}: {verdict:#?}"));
        }
        let arguments = verdict.evidence.constructor_arguments.iter().map(|(name, value)| format!("{name}={value}"));
        let found: [(&str, Vec<String>); 5] = [
            ("message", failure.iter().map(|failure| failure.message.clone()).collect()),
            ("upstream", failure.and_then(|failure| failure.upstream.clone()).into_iter().collect()),
            ("note", verdict.evidence.notes.clone()),
            ("constructor", vec![arguments.collect::<Vec<_>>().join(", ")]),
            ("output", verdict.evidence.forward_outputs.iter().map(|output| format!("{:?}", output.shape)).collect()),
        ];
        let missing = found.iter().find(|(key, values)| {
            self.keys.get(*key).is_some_and(|expected| !values.iter().any(|value| value.contains(expected.as_str())))
        })?;
        Some(format!("no {} with {:?} in {:?}", missing.0, self.keys[missing.0], missing.1))
    }
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/validate/cases");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "py"));
    paths.sort();
    paths.into_iter().map(Case::read).collect()
}

fn run(jobs: Vec<Job>, options: &Options) -> (BTreeMap<String, Verdict>, WorkerStatistics) {
    let verdicts = Mutex::new(BTreeMap::new());
    let statistics = validate(jobs, environment(), options, &|job, verdict| {
        let twice = verdicts.lock().unwrap().insert(job.id.clone(), verdict);
        assert!(twice.is_none(), "one verdict for {}", job.id);
    });
    (verdicts.into_inner().unwrap(), statistics.unwrap())
}

#[test]
fn every_case_has_the_verdict_that_it_names() {
    let cases = cases();
    let (timed, others): (Vec<_>, Vec<_>) = cases.iter().partition(|case| case.keys.contains_key("seconds"));
    let (mut verdicts, statistics) = run(others.iter().map(|case| case.job.clone()).collect(), &options());
    for case in timed {
        let mut options = options();
        options.limits.wall = Duration::from_secs(case.keys["seconds"].parse().unwrap());
        verdicts.extend(run(vec![case.job.clone()], &options).0);
    }
    let complaints: Vec<String> = cases
        .iter()
        .filter_map(|case| Some(format!("{}: {}", case.name, case.complaint(&verdicts[&case.name])?)))
        .collect();
    assert!(complaints.is_empty(), "{} of {} cases:\n{}", complaints.len(), cases.len(), complaints.join("\n"));
    assert_eq!(statistics.workers_lost, 0, "no case takes its worker with it");
    assert_eq!(statistics.verdicts, others.len() as u64);
}

#[test]
fn verdicts_do_not_depend_on_the_number_of_workers_or_on_the_order() {
    let jobs: Vec<Job> =
        cases().into_iter().filter(|case| !case.keys.contains_key("seconds")).map(|case| case.job).collect();
    let calm = jobs.iter().filter(|job| !job.id.contains("endless"));
    let forwards: Vec<Job> = calm.clone().cloned().collect();
    let backwards: Vec<Job> = calm.rev().cloned().collect();
    let (one, _) = run(forwards, &Options { jobs: 1, ..options() });
    let (many, statistics) = run(backwards, &Options { jobs: 9, ..options() });
    assert_eq!(one, many);
    assert_eq!(statistics.workers_started, 2, "a worker has eight children at once");
}
