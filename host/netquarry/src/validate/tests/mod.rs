//! Bundles with what must come of them: one file of `cases/` each.
//!
//! A case starts with comment lines `# key: value`. `failure: CLASS at LEVEL` or `level: LEVEL` (the highest one
//! passed, with nothing failed) is needed; `or` is another outcome that is as good, where chance decides which of two limits
//! is met first; `message`, `note`, `upstream`, `constructor` and `output` are compared where
//! they are given; `tainted` are the marks that it has to have, each with where it was seen (`frames text, torch both`),
//! and a case without it has to have none; `blocked` and `operators` are lists of packages; `sites` are calls and
//! configurations of the class, each behind its place, and `naming` is the key by which configurations name it;
//! `loses_worker` is there where the bundle has its worker ended, and `stops_worker` where it has it stopped.

mod challenge;
mod hostile;
mod study;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use netquarry_core::shim::BlockArguments;
use netquarry_core::source::ContentDigest;
use netquarry_core::verdict::{FailureClass, Level, Outcome, Tier, UpstreamOrigin, Verdict};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use self::hostile::hostile_cases;
use super::{
    Job, Limits, LineSpan, Options, Sandbox, Site, Upstream, ValidateError, WorkerStatistics, probe, validate,
};
use crate::environment::{self, Environment, Layer, Pin, Request};

/// One environment for all tests: the one that the variables name, or one that is made once and kept.
fn environment() -> &'static Environment {
    // What cannot be made is not tried by each test anew.
    static ENVIRONMENT: OnceLock<Result<Environment, String>> = OnceLock::new();
    let prepared = ENVIRONMENT.get_or_init(|| {
        let cache = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/netquarry-test-cache");
        environment::prepare(&Request::from_variables(None, cache), &|_| {}).map_err(|error| format!("{error:?}"))
    });
    prepared.as_ref().expect("an environment can be made")
}

fn options() -> Options {
    let limits =
        Limits { wall: Duration::from_secs(120), cpu_seconds: 2, memory_bytes: 256 << 20, ..Limits::default() };
    let options = Options::new(Level::Forward, sandbox().clone());
    Options { jobs: 2, studies: false, limits, attempts: 1, back_off: Duration::from_millis(10), ..options }
}

/// Tried once for all tests.
fn sandbox() -> &'static Sandbox {
    static SANDBOX: OnceLock<Sandbox> = OnceLock::new();
    SANDBOX.get_or_init(|| probe(environment()).unwrap())
}

/// What there is where scratch folders lie on a disk that all have together.
fn shared_scratch() -> Sandbox {
    let mut sandbox = sandbox().clone();
    sandbox.layers.retain(|layer| layer != "private-scratch");
    sandbox
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
        let sites = keys.get("sites").into_iter().flat_map(|sites| sites.split("; "));
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let job = Job {
            id: name.clone(),
            class_name: "Block".into(),
            blocked_packages: list("blocked"),
            operator_packages: list("operators"),
            layers: Arc::default(),
            arguments: None,
            sites: sites.map(|site| read_site(site, &keys)).collect(),
            upstream: None,
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
        let class = failure.map(|failure| failure.class.name().to_owned());
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
        if self.keys.get("or") == Some(&outcome) {
            return None;
        }
        if Some(&outcome) != expected.as_ref() {
            return Some(format!("expected {expected:?}, came out as {outcome:?}: {verdict:#?}"));
        }
        let arguments = verdict.evidence.constructor_arguments.iter().map(|(name, value)| format!("{name}={value}"));
        let inputs = verdict.evidence.forward_arguments.iter().map(|(name, value)| format!("{name}={value}"));
        let found: [(&str, Vec<String>); 6] = [
            ("message", failure.iter().map(|failure| failure.message.clone()).collect()),
            ("upstream", failure.and_then(|failure| failure.upstream.clone()).into_iter().collect()),
            ("note", verdict.evidence.notes.clone()),
            ("constructor", vec![arguments.collect::<Vec<_>>().join(", ")]),
            ("input", vec![inputs.collect::<Vec<_>>().join(", ")]),
            ("output", verdict.evidence.forward_outputs.iter().map(|output| format!("{:?}", output.shape)).collect()),
        ];
        let tainted = verdict.evidence.tainted.iter().map(|taint| {
            let seen = serde_json::to_value(taint.seen).unwrap();
            format!("{} {}", taint.reason.name(), seen.as_str().unwrap())
        });
        let tainted = tainted.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ");
        if tainted != self.keys.get("tainted").map_or("", String::as_str) || verdict.tainted == tainted.is_empty() {
            return Some(format!("tainted: {tainted}: {:#?}", verdict.evidence.tainted));
        }
        let missing = found.iter().find(|(key, values)| {
            self.keys.get(*key).is_some_and(|expected| !values.iter().any(|value| value.contains(expected.as_str())))
        })?;
        Some(format!("no {} with {:?} in {:?}", missing.0, self.keys[missing.0], missing.1))
    }
}

/// `net.py Block(width, act=nn.GELU)`: what begins with a capital letter is global there, and `nn` is torch's. The key
/// `assignments` says what the file binds: `NORM = [width]; width = 64`.
/// The words of a call site that need no capital letter to be global.
const GLOBAL: [&str; 8] = ["dict", "functools", "iter", "len", "max", "next", "nn", "range"];

fn read_site(site: &str, keys: &BTreeMap<String, String>) -> Site {
    let (place, text) = site.split_once(' ').unwrap();
    let words = text.split(|character: char| !character.is_alphanumeric() && character != '_');
    let is_global = |word: &&str| word.starts_with(|first: char| first.is_uppercase()) || GLOBAL.contains(word);
    let assignments = keys.get("assignments").into_iter().flat_map(|assignments| assignments.split("; "));
    let assigned: BTreeMap<&str, &str> = assignments.map(|each| each.split_once(" = ").unwrap()).collect();
    let value = |word: &str| match word {
        "nn" => Some("torch.nn".to_owned()),
        word => assigned.get(word).map(|value| (*value).to_owned()),
    };
    Site {
        text: text.into(),
        naming: keys.get("naming").map(|naming| naming.as_str().into()),
        names: words.filter(is_global).map(|word| (word.into(), value(word))).collect(),
        further: assigned.keys().map(|word| ((*word).into(), value(word))).collect(),
        count: 1,
        place: place.to_owned(),
    }
}

fn cases() -> Vec<Case> {
    read_cases("cases")
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/validate").join(name)
}

fn read_cases(name: &str) -> Vec<Case> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder(name)).unwrap().map(|entry| entry.unwrap().path()).collect();
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

/// Cases that cost nothing beside themselves.
fn calm_cases() -> Vec<Case> {
    let special = ["loses_worker", "stops_worker"];
    cases().into_iter().filter(|case| !special.iter().any(|key| case.keys.contains_key(*key))).collect()
}

/// Ends or stops the workers that bundles ask for: those whose numbers stand in files of these names in scratch folders
/// that can be seen from outside. A bundle can do no such thing itself.
struct Accomplice {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Workers that were stopped, with their children, and how many of these have ended since. They are of one test, and the
/// accomplice of any test may see them.
static STOPPED: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());
static ENDED_ALONE: AtomicU64 = AtomicU64::new(0);

/// What the kernel says a process does: `T` for one that is stopped, `Z` for one that has ended and was not waited for.
fn state(process: &str) -> Option<char> {
    let status = fs::read_to_string(Path::new("/proc").join(process).join("stat")).ok()?;
    status.rsplit_once(") ")?.1.chars().next()
}

impl Accomplice {
    const END: &str = "end-this-worker";
    const STOP: &str = "stop-this-worker";

    fn new() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_over);
        let thread = thread::spawn(move || {
            while !seen.load(Ordering::Relaxed) {
                Self::end_workers(&std::env::temp_dir(), "netquarry-worker-");
                // Nobody but a worker that goes on can take the number off a child that has ended.
                STOPPED.lock().unwrap().retain(|(worker, child)| {
                    let has_ended = state(worker) == Some('T') && state(child) == Some('Z');
                    ENDED_ALONE.fetch_add(has_ended.into(), Ordering::Relaxed);
                    !has_ended
                });
                thread::sleep(Duration::from_millis(20));
            }
        });
        Self { is_over, thread: Some(thread) }
    }

    fn end_workers(folder: &Path, prefix: &str) {
        // Any of them can be gone a moment later.
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if !entry.file_name().to_string_lossy().starts_with(prefix) {
                continue;
            }
            let folder = entry.path();
            if let Ok(number) = fs::read_to_string(folder.join(Self::END)) {
                _ = fs::remove_file(folder.join(Self::END));
                _ = kill(Pid::from_raw(number.parse().unwrap()), Signal::SIGKILL);
            }
            if let Ok(numbers) = fs::read_to_string(folder.join(Self::STOP)) {
                _ = fs::remove_file(folder.join(Self::STOP));
                let (worker, child) = numbers.split_once(' ').unwrap();
                _ = kill(Pid::from_raw(worker.parse().unwrap()), Signal::SIGSTOP);
                STOPPED.lock().unwrap().push((worker.to_owned(), child.to_owned()));
            }
            Self::end_workers(&folder, "scratch-");
        }
    }
}

impl Drop for Accomplice {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

fn jobs(cases: &[Case]) -> Vec<Job> {
    cases.iter().map(|case| case.job.clone()).collect()
}

fn assert_as_named(cases: &[Case], verdicts: &BTreeMap<String, Verdict>) {
    let complaint = |case: &Case| Some(format!("{}: {}", case.name, case.complaint(&verdicts[&case.name])?));
    let complaints: Vec<String> = cases.iter().filter_map(complaint).collect();
    assert!(complaints.is_empty(), "{} of {} cases:\n{}", complaints.len(), cases.len(), complaints.join("\n"));
}

#[test]
fn every_case_has_the_verdict_that_it_names() {
    let cases = calm_cases();
    let (verdicts, statistics) = run(jobs(&cases), &options());
    assert_as_named(&cases, &verdicts);
    assert_eq!(statistics.workers_lost, 0, "no case takes its worker with it");
    assert_eq!(statistics.verdicts, cases.len() as u64);
    assert_eq!(statistics.cpu_seconds.len(), cases.len());
}

#[test]
fn the_host_ends_what_does_not_end_by_itself() {
    let cases: Vec<Case> = hostile_cases().into_iter().filter(|case| case.name == "sleeps").collect();
    assert_eq!(cases.len(), 1);
    for case in &cases {
        let mut options = Options { attempts: 2, ..options() };
        options.limits.wall = Duration::from_secs(case.keys["seconds"].parse().unwrap());
        let (verdicts, statistics) = run(vec![case.job.clone()], &options);
        assert_as_named(std::slice::from_ref(case), &verdicts);
        assert_eq!(statistics.retries, 1, "the machine may have been slow, so that it is tried again");
    }
}

#[test]
fn a_lost_worker_costs_nobody_else() {
    let mut cases = cases();
    cases.retain(|case| case.keys.contains_key("loses_worker") || case.name == "forward_convolution");
    let bystander = cases.iter().find(|case| case.name == "forward_convolution").unwrap().job.clone();
    let mut jobs = jobs(&cases);
    jobs.extend((0..20).map(|number| Job { id: format!("bystander {number}"), ..bystander.clone() }));
    let _accomplice = Accomplice::new();
    let (mut verdicts, statistics) = run(jobs, &Options { jobs: 4, sandbox: shared_scratch(), ..options() });
    assert_as_named(&cases, &verdicts);
    verdicts.retain(|name, _| name.starts_with("bystander"));
    assert!(verdicts.values().all(|verdict| verdict.level() == Level::Forward as u8), "{verdicts:#?}");
    assert!(statistics.workers_lost >= 2, "the culprit loses the shared worker and then its own");
}

#[test]
fn a_child_is_ended_in_time_whatever_its_worker_does() {
    let case = cases().into_iter().find(|case| case.keys.contains_key("stops_worker")).unwrap();
    let _accomplice = Accomplice::new();
    let mut options = Options { sandbox: shared_scratch(), ..options() };
    options.limits.wall = Duration::from_secs(4);
    let (verdicts, statistics) = run(vec![case.job.clone()], &options);
    assert_as_named(&[case], &verdicts);
    assert_eq!(statistics.workers_lost, 2, "neither answers");
    assert_eq!(ENDED_ALONE.load(Ordering::Relaxed), 2);
}

#[test]
fn verdicts_do_not_depend_on_how_much_memory_the_others_leave() {
    let names = ["forward_convolution", "takes_more_than_its_share", "takes_tokens_of_a_grid"];
    let cases: Vec<Case> = cases().into_iter().filter(|case| names.contains(&case.name.as_str())).collect();
    let options = Options { level: Level::Backward, jobs: 8, ..options() };
    let (plenty, statistics) = run(jobs(&cases), &options);
    let children = statistics.cpu_seconds.len();
    let (little, statistics) = run(jobs(&cases), &Options { memory_bytes: Some(300 << 20), ..options });
    assert_eq!(plenty, little);
    assert!(statistics.cpu_seconds.len() > children, "what was short of memory ran once more");
    assert_eq!(little["takes_more_than_its_share"].outcome(Level::Forward), Outcome::Passed);
}

#[test]
fn verdicts_do_not_depend_on_the_number_of_workers_or_on_the_order() {
    let mut jobs = jobs(&calm_cases());
    // The copies of hostile bundles differ; those that name nothing outside need none.
    let is_plain = |case: &&Case| {
        let names = fs::read_to_string(&case.job.file).unwrap().contains("CANARY");
        !names && ["landlock", "seccomp"].contains(&case.keys["layer"].as_str())
    };
    jobs.extend(hostile_cases().iter().filter(is_plain).map(|case| case.job.clone()));
    let (one, _) = run(jobs.clone(), &Options { jobs: 1, ..options() });
    jobs.reverse();
    let (many, statistics) = run(jobs, &Options { jobs: 9, ..options() });
    assert_eq!(one, many);
    assert_eq!(statistics.workers_started, 2, "a worker has eight children at once");
}

#[test]
fn arguments_that_are_given_are_used_and_their_failure_counts() {
    let case = cases().into_iter().find(|case| case.name == "forward_convolution").unwrap();
    let given = |constructor: &[(&str, &str)], forward: &[(&str, &str)]| {
        let map =
            |pairs: &[(&str, &str)]| pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let arguments = BlockArguments { path: String::new(), constructor: map(constructor), forward: map(forward) };
        let job = Job { arguments: Some(arguments), ..case.job.clone() };
        run(vec![job], &options()).0.remove(&case.name).unwrap()
    };
    let verdict = given(&[("in_channels", "1 + 1"), ("out_channels", "6")], &[("x", "torch.zeros(1, 2, 5, 5)")]);
    assert_eq!(verdict.level(), Level::Forward as u8);
    assert_eq!(verdict.evidence.constructor_arguments["in_channels"], "1 + 1");
    assert_eq!(verdict.evidence.forward_outputs[0].shape, [1, 6, 5, 5]);
    assert_eq!(verdict.evidence.parameters, Some(2 * 6 * 9 + 6));
    let verdict = given(&[("in_channels", "2"), ("out_channels", "6")], &[("x", "torch.zeros(1, 3, 5, 5)")]);
    assert_eq!(verdict.outcome(Level::Forward), Outcome::Failed);
    assert_eq!(verdict.failure.unwrap().class, FailureClass::RuntimeError);
}

#[test]
fn a_level_that_was_not_asked_for_stays_unknown() {
    let case = cases().into_iter().find(|case| case.name == "forward_convolution").unwrap();
    for level in [Level::Parse, Level::Compile, Level::Execute, Level::Construct] {
        let (verdicts, _) = run(vec![case.job.clone()], &Options { level, ..options() });
        let verdict = &verdicts[&case.name];
        assert_eq!(verdict.level(), level as u8);
        assert_eq!(verdict.outcomes.len(), Level::ALL.len());
        assert!(Level::ALL[level as usize..].iter().all(|above| verdict.outcome(*above) == Outcome::Unknown));
    }
}

/// A bundle of `parity_cases/` with the class of the same name below `upstream/` there. Its first line says what has to come
/// of comparing them; a second one may hold the state in which upstream is compared.
struct ParityCase {
    expected: String,
    job: Job,
}

impl ParityCase {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        let mut lines = text.lines();
        let expected = lines.next().and_then(|line| line.strip_prefix("# parity: ")).unwrap();
        let state = lines.next().and_then(|line| line.strip_prefix("# state: ")).map(str::to_owned);
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let folder = path.with_file_name("upstream");
        let package = if folder.join("pack").join(format!("{name}.py")).exists() { "pack" } else { "liar" };
        let file = fs::read(folder.join(package).join(format!("{name}.py"))).unwrap();
        let upstream = Upstream {
            module: format!("{package}.{name}"),
            class_name: "Block".into(),
            sha1: ContentDigest::of(&file).to_string(),
            origin: UpstreamOrigin::Snapshot,
            state,
            paths: vec![folder],
            layers: Arc::default(),
            identity: String::new(),
        };
        let job = Job {
            id: name,
            class_name: "Block".into(),
            blocked_packages: vec![package.into()],
            operator_packages: Vec::new(),
            layers: Arc::default(),
            arguments: None,
            sites: Arc::default(),
            line_map: Vec::new(),
            upstream: Some(upstream),
            file: path.to_owned(),
        };
        Self { expected: expected.to_owned(), job }
    }

    fn came_out(verdict: &Verdict) -> String {
        let note = || verdict.evidence.notes.iter().find_map(|note| note.strip_prefix("parity_unknown: "));
        match verdict.outcome(Level::Parity) {
            Outcome::Passed => "passed".to_owned(),
            Outcome::Failed => {
                let failure = verdict.failure.as_ref().unwrap();
                assert_eq!(failure.class, FailureClass::ParityMismatch);
                format!("failed: {}", failure.message)
            }
            Outcome::Unknown => format!("unknown: {}", note().unwrap_or("without a reason")),
            Outcome::NotApplicable => "not applicable".to_owned(),
        }
    }
}

/// The case that has the process ended which has its module.
const LOSES_WORKER: &str = "upstream_loses_its_worker";

fn parity_cases() -> Vec<ParityCase> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/validate/parity_cases");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    paths.map(|path| ParityCase::read(&path)).collect()
}

fn assert_as_compared(cases: &[ParityCase], verdicts: &BTreeMap<String, Verdict>) {
    let complaints: Vec<String> = cases
        .iter()
        .map(|case| (case, ParityCase::came_out(&verdicts[&case.job.id])))
        .filter(|(case, outcome)| !outcome.starts_with(&case.expected))
        .map(|(case, outcome)| format!("{}: expected {}, came out as {outcome}", case.job.id, case.expected))
        .collect();
    assert!(complaints.is_empty(), "{} of {} cases:\n{}", complaints.len(), cases.len(), complaints.join("\n"));
}

#[test]
fn bundles_are_compared_with_their_upstream_classes() {
    let mut cases = parity_cases();
    cases.retain(|case| case.job.id != LOSES_WORKER);
    let jobs = cases.iter().map(|case| case.job.clone()).collect();
    let (verdicts, statistics) = run(jobs, &Options { level: Level::Parity, ..options() });
    assert_eq!(statistics.workers_lost, 0);
    assert_as_compared(&cases, &verdicts);
}

#[test]
fn a_worker_that_is_lost_in_a_comparison_costs_nobody_else() {
    let mut cases = parity_cases();
    cases.retain(|case| [LOSES_WORKER, "the_same"].contains(&case.job.id.as_str()));
    let bystander = cases.iter().find(|case| case.job.id == "the_same").unwrap().job.clone();
    let mut jobs: Vec<Job> = cases.iter().map(|case| case.job.clone()).collect();
    jobs.extend((0..12).map(|number| Job { id: format!("bystander {number}"), ..bystander.clone() }));
    let _accomplice = Accomplice::new();
    let (mut verdicts, statistics) = run(jobs, &Options { level: Level::Parity, jobs: 4, ..options() });
    assert_as_compared(&cases, &verdicts);
    verdicts.retain(|name, _| name.starts_with("bystander"));
    assert_eq!(verdicts.len(), 12);
    assert!(verdicts.values().all(|verdict| verdict.outcome(Level::Parity) == Outcome::Passed), "{verdicts:#?}");
    assert!(statistics.workers_lost >= 2, "the culprit loses the shared worker and then its own");
}

#[test]
fn another_file_than_the_bundles_own_is_another_upstream() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/validate/parity_cases");
    let ParityCase { mut job, .. } = ParityCase::read(&folder.join("the_same.py"));
    job.upstream.as_mut().unwrap().sha1 = "00".into();
    let (verdicts, _) = run(vec![job], &Options { level: Level::Parity, ..options() });
    let notes = &verdicts["the_same"].evidence.notes;
    assert!(notes[0].starts_with("parity_unknown: other_upstream: "), "{notes:?}");
}

#[test]
fn this_machine_confines_and_verdicts_say_so() {
    assert_eq!(sandbox().tier(), Tier::Confined, "only {:?} hold", sandbox().layers);
    let case = cases().into_iter().find(|case| case.name == "forward_convolution").unwrap();
    let (verdicts, _) = run(vec![case.job], &options());
    assert_eq!(verdicts[&case.name].protections, sandbox().layers);
    assert_eq!(verdicts[&case.name].tier, Some(Tier::Confined));
}

#[test]
fn foreign_code_runs_in_a_weak_sandbox_only_where_that_is_allowed() {
    let case = cases().into_iter().find(|case| case.name == "forward_convolution").unwrap();
    let weak = Sandbox { layers: vec!["process-group".into(), "rlimits".into()] };
    let weak = Options { sandbox: weak, ..options() };
    let error = validate([case.job.clone()], environment(), &weak, &|_, _| panic!("nothing runs")).unwrap_err();
    assert!(matches!(error, ValidateError::WeakSandbox { .. }), "{error}");
    let (verdicts, _) = run(vec![case.job], &Options { allow_weak_sandbox: true, ..weak.clone() });
    assert_eq!(verdicts[&case.name].level(), Level::Forward as u8);
    assert_eq!(verdicts[&case.name].tier, Some(Tier::Limited));
    assert_ne!(weak.digest(), options().digest());
}

#[test]
fn a_child_that_cannot_be_confined_runs_nothing() {
    let case = cases().into_iter().find(|case| case.name == "forward_convolution").unwrap();
    let mut options = options();
    options.sandbox.layers.push("a-wall-that-nobody-builds".into());
    let (verdicts, _) = run(vec![case.job], &options);
    let failure = verdicts[&case.name].failure.as_ref().unwrap();
    assert_eq!(failure.class, FailureClass::Harness);
    assert!(failure.message.contains("a-wall-that-nobody-builds"), "{failure:?}");
}

#[test]
fn gradients_reach_parameters_or_there_are_none() {
    let outcome = |name: &str| {
        let case = cases().into_iter().find(|case| case.name == name).unwrap();
        let (verdicts, _) = run(vec![case.job], &Options { level: Level::Backward, ..options() });
        verdicts[name].outcome(Level::Backward)
    };
    assert_eq!(outcome("forward_convolution"), Outcome::Passed);
    assert_eq!(outcome("uses_operators"), Outcome::NotApplicable);
    assert_eq!(outcome("gradients_stay_away"), Outcome::Unknown);
}

#[test]
fn a_bundle_that_is_not_there_is_the_harnesss_fault() {
    let case = cases().into_iter().find(|case| case.name == "forward_convolution").unwrap();
    let job = Job { file: "nowhere.py".into(), ..case.job };
    let (verdicts, _) = run(vec![job], &options());
    assert_eq!(verdicts[&case.name].failure.as_ref().unwrap().class, FailureClass::Harness);
}

#[test]
fn an_interpreter_that_cannot_import_torch_ends_the_run_with_its_own_words() {
    let base = Environment { python: "/bin/false".into(), ..environment().clone() };
    let without_torch = Environment { python: python_without_torch(), ..environment().clone() };
    let error =
        |environment: &Environment| validate(jobs(&calm_cases()), environment, &options(), &|_, _| {}).unwrap_err();
    assert!(matches!(error(&base), ValidateError::NotReady { .. }));
    let ValidateError::NotReady { output, .. } = error(&without_torch) else { panic!("torch cannot be imported") };
    assert!(output.contains("No module named 'torch'"), "{output}");
    let missing = Environment { python: "/nowhere/python".into(), ..environment().clone() };
    assert!(matches!(error(&missing), ValidateError::NotStarted { .. }));
}

/// The interpreter that the environment was made with.
fn python_without_torch() -> PathBuf {
    let script = "import sys; print(sys._base_executable)";
    let output = std::process::Command::new(&environment().python).args(["-I", "-c", script]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().into()
}

/// A distribution in a folder of its own, as it is installed for a bundle.
fn layer(folder: &Path, name: &str, files: &[(&str, &str)]) -> Layer {
    let path = folder.join(name);
    for (file, text) in files {
        let file = path.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let packages = files.iter().map(|(file, _)| file.split(['/', '.']).next().unwrap().to_owned()).collect();
    Layer { pin: Pin { name: name.into(), version: "1.0".into(), sha256: None }, path, packages }
}

#[test]
fn a_bundle_sees_what_was_installed_for_it_and_never_its_own_source() {
    let folder = tempfile::tempdir().unwrap();
    let layers: Arc<[Layer]> = [
        layer(folder.path(), "helper", &[("helper.py", "VALUE = 1\n"), ("numpy/__init__.py", "raise RuntimeError\n")]),
        layer(folder.path(), "own", &[("own/__init__.py", ""), ("uses_own.py", "import own\n")]),
    ]
    .into();
    let own = folder.path().join("own/own/__init__.py").display().to_string();
    let opens = format!("open({own:?})");
    let find = "import importlib.machinery as m; m.SourceFileLoader('own', PATH).load_module()"
        .replace("PATH", &format!("{own:?}"));
    let cases = [
        ("with_layer", "from helper import VALUE", true, "passed"),
        ("without_layer", "import helper", false, "missing_distribution"),
        ("the_environment_comes_first", "import numpy; numpy.zeros(1)", true, "passed"),
        ("of_an_old_version", "from helper import NOTHING", true, "api_drift"),
        ("own_by_name", "import own", true, "unresolved_import"),
        ("own_behind_another", "import uses_own", true, "unresolved_import"),
        ("own_as_a_file", &opens, true, "policy_violation"),
        ("own_by_another_loader", &find, true, "policy_violation"),
        ("own_without_layer", "import own", false, "unresolved_import"),
    ];
    let jobs = cases.map(|(name, statement, has_layers, _)| {
        let file = folder.path().join(format!("{name}.py"));
        let text = format!("import torch\n{statement}\n\nclass Block(torch.nn.Module):\n    pass\n");
        fs::write(&file, text).unwrap();
        Job {
            id: name.into(),
            file,
            class_name: "Block".into(),
            blocked_packages: vec!["own".into()],
            operator_packages: Vec::new(),
            layers: if has_layers { Arc::clone(&layers) } else { Arc::default() },
            arguments: None,
            sites: Arc::default(),
            line_map: Vec::new(),
            upstream: None,
        }
    });
    let options = Options { level: Level::Execute, limits: Limits::default(), ..options() };
    let verdicts = Mutex::new(BTreeMap::new());
    let keep = |job: &Job, verdict: Verdict| _ = verdicts.lock().unwrap().insert(job.id.clone(), verdict);
    validate(jobs, environment(), &options, &keep).unwrap();
    let verdicts = verdicts.into_inner().unwrap();
    let came_out = |name: &str| verdicts[name].failure.as_ref().map_or("passed", |failure| failure.class.name());
    for (name, _, _, expected) in cases {
        assert_eq!(came_out(name), expected, "{name}: {:?}", verdicts[name].failure);
    }
}

#[test]
fn digests_tell_apart_what_a_verdict_depends_on() {
    let job = calm_cases().remove(0).job;
    let digest = job.digest("00");
    let upstream = |identity: &str| Upstream {
        module: "package.module".into(),
        class_name: "Block".into(),
        sha1: String::new(),
        origin: UpstreamOrigin::Installed,
        paths: Vec::new(),
        layers: Arc::default(),
        state: None,
        identity: identity.into(),
    };
    assert_eq!(digest, Job { id: "another".into(), ..job.clone() }.digest("00"));
    let others = [
        job.digest("01"),
        Job { class_name: "Other".into(), ..job.clone() }.digest("00"),
        Job { blocked_packages: vec!["timm".into()], ..job.clone() }.digest("00"),
        Job { line_map: Vec::new(), ..job.clone() }.digest("00"),
        Job { upstream: Some(upstream("one")), ..job.clone() }.digest("00"),
        Job { layers: [layer(Path::new("/nowhere"), "helper", &[])].into(), ..job.clone() }.digest("00"),
        Job { upstream: Some(upstream("another")), ..job.clone() }.digest("00"),
        Job { sites: [read_site("net.py Block(1)", &BTreeMap::new())].into(), ..job.clone() }.digest("00"),
    ];
    assert!(others.iter().all(|other| *other != digest));
    assert_ne!(others[4], others[6]);
    assert_ne!(options().digest(), Options { level: Level::Parse, ..options() }.digest());
    assert_eq!(options().digest(), Options { jobs: 7, ..options() }.digest());
}
