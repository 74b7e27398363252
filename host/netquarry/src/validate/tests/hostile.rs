//! Bundles that try to get out, to take more than is theirs, or to lie, and benign ones among them that do what looks
//! like it: one file of `hostile/` each.
//!
//! They have the keys of all cases, and these: `layer` says what stops it; `effect` what would be there if nothing did;
//! `passes_through` why it has a verdict that it should not have, or an effect that nothing stops; `without_layer` what
//! it comes to, as `failure` or `level` say it, on a machine that lacks the layer which stops it; `benign: yes` stands in
//! a control. `seconds` and `processor_seconds` are the limits of one that takes as much as it gets.
//!
//! A bundle is run from a copy, in which `CANARY_FOLDER` stands for a folder out of its reach, `CANARY_NAME` for a name
//! that nothing else on the machine has, `CANARY_PORT` for a port on which somebody listens and `CANARY_FREE_PORT` for
//! one on which nobody does. After each, the host looks for itself whether anything happened, whatever the verdict says.

use std::any::Any;
use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::process::{Command, Stdio};
use std::time::Instant;

use tempfile::TempDir;

use super::*;

const LAYERS: [&str; 7] = ["landlock", "seccomp", "rlimits", "private-scratch", "worker", "host", "none"];
const EFFECTS: [&str; 7] = ["file", "installed", "connection", "listener", "processes", "worker", "bytes"];

/// The control that runs after each bundle: what comes out of it has the number of its worker for a shape.
const BYSTANDER: &str = "tells_its_worker";

const SECRET: &str = "nobody-is-to-read-this";

/// As they come out in this sandbox.
fn hostile_cases_in(sandbox: &Sandbox) -> Vec<Case> {
    let mut cases = read_cases("hostile");
    for case in &mut cases {
        let outcome = case.keys.remove("without_layer");
        if let Some(outcome) = outcome.filter(|_| !sandbox.has(&case.keys["layer"])) {
            case.keys.retain(|key, _| !["failure", "level", "message"].contains(&key.as_str()));
            let (key, value) = outcome.split_once(": ").expect("as `failure` or `level` say it");
            case.keys.insert(key.to_owned(), value.to_owned());
            if key == "level" {
                case.keys.insert("passes_through".to_owned(), format!("there is no {} here", case.keys["layer"]));
            }
        }
    }
    cases
}

pub(super) fn hostile_cases() -> Vec<Case> {
    hostile_cases_in(sandbox())
}

#[test]
#[expect(clippy::print_stdout, reason = "what a test prints is for whoever runs it")]
fn hostile_bundles_get_their_verdicts_and_nothing_else() {
    let cases = hostile_cases();
    let count = |key: &str| cases.iter().filter(|case| case.keys.contains_key(key)).count();
    let (benign, through) = (count("benign"), count("passes_through"));
    println!("{} hostile bundles, {through} of which get through, and {benign} benign ones", cases.len() - benign);
    println!("the tier is {}, by {}", sandbox().tier().name(), sandbox().layers.join(", "));
    assert!(cases.len() >= 90, "there are {} cases", cases.len());
    assert_eq!(sandbox().tier(), Tier::Confined);
    assert!(sandbox().layers.iter().any(|layer| layer == "capabilities"), "root is as any other user");
    for case in &cases {
        let is_known =
            |key: &str, known: &[&str]| case.keys.get(key).is_none_or(|value| known.contains(&value.as_str()));
        assert!(case.keys.contains_key("layer") && is_known("layer", &LAYERS), "{}: what stops it?", case.name);
        assert!(is_known("effect", &EFFECTS), "{}: what must not be there?", case.name);
    }
    let mut groups: BTreeMap<[Option<&String>; 2], Vec<&Case>> = BTreeMap::new();
    for case in &cases {
        groups.entry(["seconds", "processor_seconds"].map(|key| case.keys.get(key))).or_default().push(case);
    }
    let complaints = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for (limits, cases) in &groups {
            scope.spawn(|| complaints.lock().unwrap().extend(run_in_sight(cases, *limits, sandbox(), false)));
        }
    });
    let complaints = complaints.into_inner().unwrap();
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn what_only_a_private_scratch_folder_stops_is_gone_with_the_bundle_elsewhere() {
    let shared = shared_scratch();
    let mut cases = hostile_cases_in(&shared);
    cases.retain(|case| case.keys["layer"] == "private-scratch");
    assert!(cases.iter().filter(|case| case.keys.contains_key("passes_through")).count() >= 4);
    // A disk takes its time for thousands of files.
    let processor_seconds = "20".to_owned();
    let limits = [None, Some(&processor_seconds)];
    let complaints = run_in_sight(&cases.iter().collect::<Vec<_>>(), limits, &shared, false);
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

/// The children that meet a challenge run the bundle again, and may write a larger file than others.
#[test]
fn hostile_bundles_that_run_do_nothing_else_in_a_challenge() {
    let mut cases = hostile_cases();
    cases.retain(|case| case.keys.get("level").is_some_and(|level| ["forward", "backward"].contains(&level.as_str())));
    assert!(cases.len() >= 30, "{} bundles run", cases.len());
    let complaints = run_in_sight(&cases.iter().collect::<Vec<_>>(), [None, None], sandbox(), true);
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn what_happens_outside_is_noticed() {
    let noticed = |happen: &dyn Fn(&Outside) -> Box<dyn Any>| {
        let outside = Outside::new();
        assert_eq!(outside.traces(), [""; 0]);
        let _kept = happen(&outside);
        outside.traces().join(", ")
    };
    let in_folder = |outside: &Outside, name: &str| outside.folder.path().join(name);
    let write = |name: &'static str| noticed(&|outside| Box::new(fs::write(in_folder(outside, name), "x")));
    assert!(write("planted").ends_with("planted is not as it was"));
    assert!(write("victim").ends_with("victim is not as it was"));
    let remove = noticed(&|outside| Box::new(fs::remove_file(in_folder(outside, "victim"))));
    assert!(remove.ends_with("victim is not as it was"));
    let connect = noticed(&|outside| Box::new(TcpStream::connect(("127.0.0.1", outside.port)).unwrap()));
    assert_eq!(connect, "there was a connection: Ok(())");
    let local = noticed(&|outside| Box::new(UnixStream::connect(in_folder(outside, "stream")).unwrap()));
    assert_eq!(local, "there was a local connection: Ok(())");
    let datagram = noticed(&|outside| {
        Box::new(UnixDatagram::unbound().unwrap().send_to(b"x", in_folder(outside, "datagrams")).unwrap())
    });
    assert_eq!(datagram, "there was a local datagram: Ok(())");
    let listen = noticed(&|outside| Box::new(TcpListener::bind(("127.0.0.1", outside.free_port)).unwrap()));
    assert!(listen.starts_with("somebody listens: "), "{listen}");

    let name = Outside::new().name;
    let worker = Serving { process: "another".into(), folder: "no worker's".into(), content: BTreeSet::new() };
    assert_eq!(worker.others(&name), [""; 0].map(PathBuf::from));
    let mut process = Command::new("sh").args(["-c", "read line", &name]).stdin(Stdio::piped()).spawn().unwrap();
    // A program that has just been started has no command line yet.
    let is_seen = (0..100).any(|_| {
        thread::sleep(Duration::from_millis(20));
        worker.others(&name).len() == 1
    });
    assert!(is_seen);
    process.kill().unwrap();
    process.wait().unwrap();
}

/// Runs the bundles one after another, each followed by the bystander; returns what is wrong, in sentences.
#[expect(clippy::print_stdout, reason = "what a test prints is for whoever runs it")]
fn run_in_sight(
    cases: &[&Case],
    [seconds, processor_seconds]: [Option<&String>; 2],
    sandbox: &Sandbox,
    challenges: bool,
) -> Vec<String> {
    let number = |text: &String| text.parse().unwrap();
    let options = Options { level: Level::Backward, challenges, ..options() };
    let mut options = Options { jobs: 1, sandbox: sandbox.clone(), ..options };
    if challenges {
        options.limits = Limits { cpu_seconds: 30, memory_bytes: 2 << 30, ..options.limits };
    }
    options.limits.wall = seconds.map_or(options.limits.wall, |text| Duration::from_secs(number(text)));
    options.limits.cpu_seconds = processor_seconds.map_or(options.limits.cpu_seconds, number);
    let outside = Outside::new();
    let bystander = outside.copy(&Case::read(folder("hostile").join(format!("{BYSTANDER}.py"))));
    let jobs = cases.iter().flat_map(|case| {
        let next = Job { id: format!("what runs after {}", case.name), ..bystander.clone() };
        [outside.copy(case), next]
    });
    let by_name: BTreeMap<&str, &Case> = cases.iter().map(|case| (case.name.as_str(), *case)).collect();
    let watch = Mutex::new(Watch { worker: None, complaints: Vec::new(), before: Instant::now() });
    let jobs: Vec<Job> = [bystander.clone()].into_iter().chain(jobs).collect();
    let statistics = validate(jobs, environment(), &options, &|job, verdict| {
        let mut watch = watch.lock().unwrap();
        let Some(case) = by_name.get(job.id.as_str()).filter(|_| watch.worker.is_some()) else {
            return watch.answers(job, &verdict);
        };
        watch.complaints.extend(case.complaint(&verdict).map(|complaint| format!("{}: {complaint}", case.name)));
        if serde_json::to_string(&verdict).unwrap().contains(SECRET) {
            watch.complaints.push(format!("{}: its verdict has what nobody is to read", case.name));
        }
        let worker = watch.worker.as_ref().expect("the bystander came first");
        let traces = outside.traces().into_iter().chain(worker.traces(&outside.name));
        let traces: Vec<String> = traces.map(|trace| format!("{}: {trace}", case.name)).collect();
        watch.complaints.extend(traces);
        println!("{:6.2} s {}", watch.before.elapsed().as_secs_f64(), case.name);
        watch.before = Instant::now();
    });
    let mut complaints = watch.into_inner().unwrap().complaints;
    let statistics = statistics.unwrap();
    // A challenge has one of its own.
    if statistics.workers_started != 1 + u64::from(challenges) || statistics.workers_lost != 0 {
        complaints.push(format!("{} workers were started", statistics.workers_started));
    }
    // A second until the hard limit, and another for the kernel to notice.
    let most = (options.limits.cpu_seconds + 2) as f64;
    if statistics.cpu_quantile(1.0) > most {
        complaints.push(format!("one took {} seconds of processor time", statistics.cpu_quantile(1.0)));
    }
    if statistics.child_peak_bytes > statistics.worker_peak_bytes + 2 * options.limits.memory_bytes {
        complaints.push(format!("one took {} bytes of memory", statistics.child_peak_bytes));
    }
    complaints
}

/// What is known while bundles run.
struct Watch {
    worker: Option<Serving>,
    complaints: Vec<String>,
    before: Instant,
}

impl Watch {
    /// Hears the bystander.
    fn answers(&mut self, job: &Job, verdict: &Verdict) {
        let Some(number) = verdict.evidence.forward_outputs.first().map(|output| output.shape[0]) else {
            return self.complaints.push(format!("{}: nothing comes out of it: {verdict:#?}", job.id));
        };
        let number = number.to_string();
        match &self.worker {
            Some(worker) if worker.process != number => self.complaints.push(format!("{}: by another worker", job.id)),
            Some(_) => {}
            None => self.worker = Some(Serving::new(number)),
        }
    }
}

/// The worker that all the bundles of a group share.
struct Serving {
    /// By the name that it has in `/proc`.
    process: String,
    /// Which stands in the command line of the worker, and so of each process that is forked from it.
    folder: String,
    /// What lies there while nothing runs.
    content: BTreeSet<PathBuf>,
}

impl Serving {
    fn new(process: String) -> Self {
        let words = fs::read_to_string(Path::new("/proc").join(&process).join("cmdline")).unwrap();
        let folder = words.trim_end_matches('\0').rsplit('\0').next().unwrap().to_owned();
        let content = content(Path::new(&folder));
        Self { process, folder, content }
    }

    fn traces(&self, name: &str) -> Vec<String> {
        let mut traces = Vec::new();
        if content(Path::new(&self.folder)) != self.content {
            traces.push(format!("in the worker's folder there are {:?}", content(Path::new(&self.folder))));
        }
        // What was killed takes a moment to be gone.
        let mut left = Vec::new();
        for _ in 0..20 {
            left = self.others(name);
            if left.is_empty() {
                return traces;
            }
            thread::sleep(Duration::from_millis(100));
        }
        traces.push(format!("there are processes: {left:?}"));
        traces
    }

    /// The processes that are forked from a worker, or whose command line has the name.
    fn others(&self, name: &str) -> Vec<PathBuf> {
        let processes = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
        let is_other = |path: &PathBuf| {
            // Most end while this looks.
            let read = |file| String::from_utf8_lossy(&fs::read(path.join(file)).unwrap_or_default()).into_owned();
            let words = read("cmdline");
            // Workers are our own children, and challenges have another one than bundles.
            let is_ours = || read("status").contains(&format!("\nPPid:\t{}\n", std::process::id()));
            words.contains(name) || words.contains(&self.folder) && !is_ours()
        };
        processes.filter(is_other).collect()
    }
}

fn content(folder: &Path) -> BTreeSet<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// What lies outside of the sandbox, for bundles to get at.
struct Outside {
    bundles: TempDir,
    folder: TempDir,
    name: String,
    port: u16,
    free_port: u16,
    stream: TcpListener,
    datagrams: UdpSocket,
    local_stream: UnixListener,
    local_datagrams: UnixDatagram,
    watched: Vec<PathBuf>,
    files: BTreeMap<PathBuf, Vec<i64>>,
}

impl Outside {
    fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("canary-").tempdir().unwrap();
        fs::write(folder.path().join("secret"), SECRET).unwrap();
        fs::write(folder.path().join("victim"), "it stays as it is").unwrap();
        let stream = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        stream.set_nonblocking(true).unwrap();
        let port = stream.local_addr().unwrap().port();
        let datagrams = UdpSocket::bind(("127.0.0.1", port)).unwrap();
        datagrams.set_nonblocking(true).unwrap();
        let local_stream = UnixListener::bind(folder.path().join("stream")).unwrap();
        local_stream.set_nonblocking(true).unwrap();
        let local_datagrams = UnixDatagram::bind(folder.path().join("datagrams")).unwrap();
        local_datagrams.set_nonblocking(true).unwrap();
        let free_port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        let installed = environment().prefixes.iter().map(|prefix| prefix.join("numpy")).filter(|path| path.exists());
        let watched: Vec<PathBuf> = [folder.path().to_owned()].into_iter().chain(installed).collect();
        Self {
            bundles: TempDir::new().unwrap(),
            name: folder.path().file_name().unwrap().to_string_lossy().into_owned(),
            files: snapshot(&watched),
            folder,
            port,
            free_port,
            stream,
            datagrams,
            local_stream,
            local_datagrams,
            watched,
        }
    }

    /// The bundle with the names of what lies outside in it.
    fn copy(&self, case: &Case) -> Job {
        let names = [
            ("CANARY_FOLDER", self.folder.path().to_string_lossy().into_owned()),
            ("CANARY_NAME", self.name.clone()),
            ("CANARY_PORT", self.port.to_string()),
            ("CANARY_FREE_PORT", self.free_port.to_string()),
        ];
        let text = fs::read_to_string(&case.job.file).unwrap();
        let text = names.iter().fold(text, |text, (name, meaning)| text.replace(name, meaning));
        let file = self.bundles.path().join(case.job.file.file_name().unwrap());
        fs::write(&file, text).unwrap();
        Job { file, ..case.job.clone() }
    }

    /// What is not as it was, or came, in words.
    fn traces(&self) -> Vec<String> {
        let now = snapshot(&self.watched);
        let changed = now.keys().chain(self.files.keys()).filter(|path| now.get(*path) != self.files.get(*path));
        let changed: BTreeSet<&PathBuf> = changed.collect();
        let mut traces: Vec<String> =
            changed.iter().map(|path| format!("{} is not as it was", path.display())).collect();
        let mut buffer = [0; 16];
        let came = [
            ("a connection", self.stream.accept().map(|_| ())),
            ("a datagram", self.datagrams.recv(&mut buffer).map(|_| ())),
            ("a local connection", self.local_stream.accept().map(|_| ())),
            ("a local datagram", self.local_datagrams.recv(&mut buffer).map(|_| ())),
        ];
        for (what, outcome) in came {
            if !matches!(&outcome, Err(error) if error.kind() == ErrorKind::WouldBlock) {
                traces.push(format!("there was {what}: {outcome:?}"));
            }
        }
        let port = format!(":{:04X}", self.free_port);
        for table in ["tcp", "tcp6", "udp", "udp6", "unix"] {
            let table = fs::read_to_string(Path::new("/proc/net").join(table)).unwrap_or_default();
            let listens = |line: &&str| {
                let local = line.split_whitespace().nth(1).unwrap_or_default();
                local.ends_with(&port) || line.ends_with(&format!("@{}", self.name))
            };
            traces.extend(table.lines().filter(listens).map(|line| format!("somebody listens: {line}")));
        }
        for folder in ["/dev/shm", "/dev/mqueue"] {
            if Path::new(folder).join(&self.name).exists() {
                traces.push(format!("something was left in {folder}"));
            }
        }
        traces
    }
}

/// What changes in a file's record when the file does, by path.
fn snapshot(folders: &[PathBuf]) -> BTreeMap<PathBuf, Vec<i64>> {
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    let record = |path: PathBuf| {
        let data = path.symlink_metadata().unwrap();
        // Folders of compiled modules come and go.
        let is_file = !data.is_dir() || !path.ends_with("__pycache__");
        is_file.then(|| (path, vec![data.ino() as i64, data.size() as i64, data.ctime(), data.ctime_nsec()]))
    };
    files.filter_map(record).collect()
}
