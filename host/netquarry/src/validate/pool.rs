//! Spreads jobs over workers, replaces workers that are spent or lost, and tries again where the block may not be at
//! fault.

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Seek as _};
use std::mem;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use netquarry_core::syntax::PARSER_STACK_BYTES;
use netquarry_core::verdict::{Level, Outcome, Verdict};
use serde::{Deserialize, Serialize};

use super::access::{Access, Grant};
use super::challenge;
use super::follow::Run;
use super::harvest::{self, Harvest, Harvests, Suggestion};
use super::lookup::{Answer, Questions};
use super::memory::Memory;
use super::observation::{Observation, unfinished};
use super::parity::{self, Parity, Question, Side};
use super::protocol::{Challenge, ChildJob, Event, Part, Settings, Task};
use super::scratch::Scratch;
use super::scrub::Places;
use super::upstream::{Reached, Tree};
use super::worker::{Ground, Worker, WorkerLost};
use super::{Job, Limits, Options, Upstream, ValidateError, filter, judge, program, taint};
use crate::environment::{Environment, Layer};

/// How many children one worker has at a time. Forking is its only work and takes some ten milliseconds, so that a
/// machine with many cores needs more than one.
const CHILDREN_AT_ONCE: usize = 8;
/// After how many children a worker is replaced, so that whatever it may gather over time stays bounded.
const CHILDREN_IN_A_LIFE: u64 = 2000;
/// How many upstreams are kept within reach. Jobs come source by source, and those of one source may differ in what is
/// installed for them.
const TREES: usize = 3;
/// How much any other task than climbing alone may report: a line for each entry of the state dictionary, and the values of one of them.
const LONG_REPORT_BYTES: usize = 16 << 20;
/// How large the file of a model's graph may be: that of a model of 250 million parameters.
const GRAPH_BYTES: u64 = 1 << 30;

/// What validation took. Figures differ from run to run and belong to no verdict.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkerStatistics {
    pub verdicts: u64,
    /// Children that were run a second time.
    pub retries: u64,
    pub workers_started: u64,
    pub workers_lost: u64,
    /// Processor time of every child, its fork included, ascending.
    pub cpu_seconds: Vec<f64>,
    /// The largest resident size of a worker that has imported torch, and of a child, shared pages included.
    pub worker_peak_bytes: u64,
    /// Of a worker that exports models.
    #[serde(default)]
    pub exporter_peak_bytes: u64,
    pub child_peak_bytes: u64,
}

impl WorkerStatistics {
    /// Adds what further validation took.
    pub fn add(&mut self, next: Self) {
        self.verdicts += next.verdicts;
        self.retries += next.retries;
        self.workers_started += next.workers_started;
        self.workers_lost += next.workers_lost;
        self.cpu_seconds.extend(next.cpu_seconds);
        self.cpu_seconds.sort_by(f64::total_cmp);
        self.worker_peak_bytes = self.worker_peak_bytes.max(next.worker_peak_bytes);
        self.exporter_peak_bytes = self.exporter_peak_bytes.max(next.exporter_peak_bytes);
        self.child_peak_bytes = self.child_peak_bytes.max(next.child_peak_bytes);
    }

    /// The processor time that a share of the children stays below: 0.5 for the median. Zero if there were none.
    pub fn cpu_quantile(&self, share: f64) -> f64 {
        let last = self.cpu_seconds.len().saturating_sub(1);
        let index = (last as f64 * share.clamp(0.0, 1.0)).round() as usize;
        self.cpu_seconds.get(index).copied().unwrap_or(0.0)
    }
}

pub(super) fn run<I: Iterator<Item = Job> + Send>(
    jobs: I,
    environment: &Environment,
    options: &Options,
    on_verdict: &(dyn Fn(&Job, Verdict) + Sync),
) -> Result<WorkerStatistics, ValidateError> {
    options.sandbox.check(options.level, options.allow_weak_sandbox)?;
    let folder = program::write()?;
    let slots = options.jobs.max(1);
    let pool = Pool::new(environment, options, folder.path());
    let jobs = Mutex::new(Some(jobs));
    // The first error empties the queue, so that the other slots end with what they are at.
    let error = Mutex::new(None);
    let work = |slot: usize| {
        loop {
            let next = jobs.lock().expect("no job panics").as_mut().and_then(Iterator::next);
            let Some(job) = next else { return };
            match pool.verdict(&job, &pool.places[slot / CHILDREN_AT_ONCE]) {
                Ok(verdict) => on_verdict(&job, verdict),
                Err(reason) => {
                    jobs.lock().expect("no job panics").take();
                    error.lock().expect("nothing panics here").get_or_insert(reason);
                }
            }
        }
    };
    thread::scope(|scope| {
        for slot in 0..slots {
            // It parses the text of bundles.
            let thread = thread::Builder::new().stack_size(PARSER_STACK_BYTES);
            thread.spawn_scoped(scope, move || work(slot)).expect("a thread can be started");
        }
    });
    if let Some(reason) = error.into_inner().expect("nothing panics here") {
        return Err(reason);
    }
    let mut statistics = pool.statistics.into_inner().expect("nothing panics here");
    statistics.cpu_seconds.sort_by(f64::total_cmp);
    Ok(statistics)
}

struct Pool<'a> {
    environment: &'a Environment,
    options: &'a Options,
    folder: &'a Path,
    access: Access,
    filters: Vec<String>,
    importer_filters: Vec<String>,
    places: Vec<Place>,
    harvests: Harvests,
    memory: Memory,
    statistics: Mutex<WorkerStatistics>,
}

/// The workers of some slots: one of each warmth, once it is needed.
#[derive(Default)]
struct Place {
    plain: Mutex<Option<Shared>>,
    compiler: Mutex<Option<Shared>>,
    exporter: Mutex<Option<Shared>>,
    /// The one that was used last at the end.
    trees: Mutex<Vec<Arc<Tree>>>,
}

impl Place {
    fn worker(&self, warmth: Warmth) -> &Mutex<Option<Shared>> {
        match warmth {
            Warmth::Cold | Warmth::Torch => &self.plain,
            Warmth::Compiler => &self.compiler,
            Warmth::Exporter => &self.exporter,
        }
    }
}

/// What a worker imports before it forks. Where bundles climb it is no more than a bundle imports itself, so that none finds
/// a module loaded that it forgot to import.
#[derive(Clone, Copy)]
enum Warmth {
    /// Nothing: neither parsing nor compiling needs it.
    Cold,
    Torch,
    /// Also what `torch.compile` and `torch.compiler` import when they are first used, which takes a second.
    Compiler,
    /// Also what exporting a model takes, which is two seconds.
    Exporter,
}

impl Warmth {
    fn of(job: &Job, level: Level) -> Self {
        if level < Level::Execute {
            return Self::Cold;
        }
        // A file that cannot be read is for the worker to complain about.
        let text = fs::read_to_string(&job.file).unwrap_or_default();
        let compiles = ["torch.compile", "torch._dynamo"].iter().any(|name| text.contains(name));
        if compiles { Self::Compiler } else { Self::Torch }
    }

    fn modules(self) -> &'static [&'static str] {
        match self {
            Self::Cold => &[],
            Self::Torch => &["torch"],
            Self::Compiler => &["torch", "torch._dynamo"],
            Self::Exporter => &["torch", "torch.export"],
        }
    }
}

/// A worker that several slots use. Who has lost or used it up takes it out of its place; it ends with its last user.
#[derive(Clone)]
struct Shared {
    worker: Arc<Worker>,
    children: Arc<AtomicU64>,
}

impl Shared {
    /// The worker, for one child more.
    fn child(self) -> Arc<Worker> {
        self.children.fetch_add(1, Ordering::Relaxed);
        self.worker
    }
}

/// One run of a job, and the paths under which the child knew its files.
pub(super) struct Attempted {
    pub(super) run: Run,
    pub(super) file: String,
    pub(super) scratch: String,
}

/// Has upstream's names looked up, module after module; in words, why there is no answer.
pub(super) fn look_up(
    questions: &[Questions],
    environment: &Environment,
    options: &Options,
    on_answers: &(dyn Fn() + Sync),
) -> Result<Vec<Result<Vec<Answer>, String>>, ValidateError> {
    options.sandbox.check(options.level, options.allow_weak_sandbox)?;
    let folder = program::write()?;
    let pool = Pool::new(environment, options, folder.path());
    let answer = |questions| {
        let answers = pool.answers(questions, &pool.places[0]);
        on_answers();
        answers
    };
    questions.iter().map(answer).collect()
}

impl<'a> Pool<'a> {
    fn new(environment: &'a Environment, options: &'a Options, folder: &'a Path) -> Self {
        let slots = options.jobs.max(1);
        // What lies in a private scratch folder lies in memory.
        let scratch = if options.sandbox.has("private-scratch") { options.limits.file_bytes } else { 0 };
        Self {
            environment,
            options,
            folder,
            access: Access::new(environment),
            filters: filter::programs(),
            importer_filters: filter::importer_programs(),
            places: (0..slots.div_ceil(CHILDREN_AT_ONCE)).map(|_| Place::default()).collect(),
            harvests: Harvests::default(),
            memory: options.memory_bytes.map_or_else(Memory::of_machine, Memory::new).beside(scratch),
            statistics: Mutex::default(),
        }
    }

    fn answers(&self, questions: &Questions, place: &Place) -> Result<Result<Vec<Answer>, String>, ValidateError> {
        let job = upstream_job(&questions.upstream);
        let task = Task::LookUp(&questions.lookups);
        let attempted = match self.run_upstream(&job, &questions.upstream, place, task)? {
            Ok(attempted) => attempted,
            Err(WorkerLost(_)) => return Ok(Err("the Python worker ended while it looked".to_owned())),
        };
        let told = attempted.run.events.iter().find_map(|event| match event {
            Event::Answers { answers } if !attempted.run.forged => Some(answers.clone()),
            _ => None,
        });
        let places = judge::places(&job, self.environment, &attempted);
        let silence = || places.scrub(&judge::told_ending(&attempted.run, self.options));
        Ok(told.ok_or_else(silence))
    }

    /// What upstream's module gives to its classes; nothing where that cannot be found out.
    fn harvest(&self, upstream: &Upstream, place: &Place) -> Result<Harvest, ValidateError> {
        let outcome = self.run_upstream(&upstream_job(upstream), upstream, place, Task::Harvest(&upstream.module))?;
        Ok(match outcome {
            Ok(attempted) if !attempted.run.forged => harvest::of(&attempted.run.events),
            Ok(_) | Err(WorkerLost(_)) => Harvest::new(),
        })
    }

    /// Runs a task where upstream's module is, as far as that can be imported: what cannot is for the child to say.
    fn run_upstream(
        &self,
        job: &Job,
        upstream: &Upstream,
        place: &Place,
        task: Task<'_>,
    ) -> Result<Result<Attempted, WorkerLost>, ValidateError> {
        let tree = match self.tree(place, upstream)? {
            Ok(tree) => tree,
            Err(lost) => return Ok(Err(lost)),
        };
        let Reached { worker, .. } = tree.reach(&upstream.module);
        let outcome = self.run(job, &worker, task)?;
        if outcome.is_err() {
            self.forget(place, Warmth::Torch, &worker);
        }
        Ok(outcome)
    }

    /// Runs the job, a second time where its environment may have been at fault.
    fn verdict(&self, job: &Job, place: &Place) -> Result<Verdict, ValidateError> {
        let warmth = Warmth::of(job, self.options.level);
        let mut attempt = 1;
        let mut lost = false;
        loop {
            let outcome = match lost {
                // The job may be what ended the worker. In a worker of its own it can do that to nobody else.
                true => self.run(job, &self.start(warmth)?, Task::Climb(None))?,
                false => self.run_shared(job, place.worker(warmth), warmth, None)?,
            };
            let (verdict, again) = match outcome {
                Ok(attempted) => {
                    let verdict = judge::verdict(job, &attempted, self.environment, self.options);
                    let mut verdict = self.with_arguments_of_upstream(job, place, warmth, verdict)?;
                    self.challenge(job, place, warmth, &mut verdict)?;
                    self.compare(job, place, warmth, &mut verdict)?;
                    let transient = verdict.failure.as_ref().is_some_and(|failure| failure.class.is_transient());
                    (verdict, transient && attempt < self.options.attempts)
                }
                // However few attempts there are: it may have been another job.
                Err(WorkerLost(error)) => {
                    // Not in the verdict: which end notices first is a matter of chance.
                    tracing::warn!(block = job.id, %error, "a Python worker was lost");
                    self.statistics(|statistics| statistics.workers_lost += 1);
                    (judge::lost(), !mem::replace(&mut lost, true))
                }
            };
            if !again {
                self.statistics(|statistics| statistics.verdicts += 1);
                return Ok(taint::with_signs_of_text(job, verdict));
            }
            self.statistics(|statistics| statistics.retries += 1);
            thread::sleep(self.options.back_off * 2_u32.saturating_pow(attempt - 1));
            attempt += 1;
        }
    }

    /// Where no arguments were found and upstream is at hand, the verdict with those that upstream itself gives.
    fn with_arguments_of_upstream(
        &self,
        job: &Job,
        place: &Place,
        warmth: Warmth,
        verdict: Verdict,
    ) -> Result<Verdict, ValidateError> {
        let wanting = harvest::wanting(job, &verdict).filter(|_| self.options.level >= Level::Parity);
        let Some(upstream) = wanting else { return Ok(verdict) };
        let harvest = self.harvests.of(upstream, || self.harvest(upstream, place))?;
        let Some(suggestion) = harvest.get(&job.class_name) else { return Ok(verdict) };
        // A worker that is lost with it costs the suggestion.
        let Ok(attempted) = self.run_shared(job, place.worker(warmth), warmth, Some(suggestion))? else {
            return Ok(verdict);
        };
        let suggested = judge::verdict(job, &attempted, self.environment, self.options);
        Ok(harvest::better(verdict, suggested, suggestion))
    }

    /// Challenges the block where that was asked for and there is a forward pass.
    fn challenge(&self, job: &Job, place: &Place, warmth: Warmth, verdict: &mut Verdict) -> Result<(), ValidateError> {
        let is_wanted = self.options.challenges && self.options.level >= Level::Backward;
        if !is_wanted || verdict.outcome(Level::Forward) != Outcome::Passed {
            return Ok(());
        }
        let graph = tempfile::tempfile_in(self.folder);
        let graph = graph.map_err(|source| program::io_error("make a file in", self.folder, source))?;
        let ask = |part, numbers: &[u32]| {
            let warmth = if part == Part::Export { Warmth::Exporter } else { warmth };
            let evidence = &verdict.evidence;
            let challenge = Challenge {
                part,
                constructor: &evidence.constructor_arguments,
                forward: &evidence.forward_arguments,
                numbers,
                graph: (part != Part::Answer).then_some(&graph),
            };
            self.told_by_bundle(job, place, warmth, Task::Challenge(&challenge))
        };
        let met = challenge::meet([random_number(), random_number()], &ask)?;
        challenge::enter(verdict, met);
        Ok(())
    }

    /// What a child tells that has the bundle, or what another made of it; in words, why nothing came of it.
    fn told_by_bundle(
        &self,
        job: &Job,
        place: &Place,
        warmth: Warmth,
        task: Task<'_>,
    ) -> Result<Result<Observation, String>, ValidateError> {
        let reach = |lost| {
            let worker = match lost {
                false => self.shared(place.worker(warmth), warmth)?.child(),
                true => Arc::new(self.start(warmth)?),
            };
            Ok(Ok(Reached { worker, failure: None }))
        };
        let told = self.told(job, place, warmth, task, &reach)?;
        Ok(told.map_err(|reason| unfinished(&reason)))
    }

    /// What a child of the worker that `reach` gives tells; in words, why nothing came of it. It is asked again where time
    /// ran out or it was killed, since the machine may have been slow or short of memory, and once where its worker was
    /// lost. The job may be what ended that worker: `reach(true)` has to give it one of its own, where it can do that to
    /// nobody else.
    fn told(
        &self,
        job: &Job,
        place: &Place,
        warmth: Warmth,
        task: Task<'_>,
        reach: &dyn Fn(bool) -> Result<Result<Reached, WorkerLost>, ValidateError>,
    ) -> Result<Result<Observation, String>, ValidateError> {
        let mut attempts = self.options.attempts.max(2);
        let mut lost = false;
        loop {
            let (worker, failure) = match reach(lost)? {
                Ok(Reached { worker, failure }) => (Some(worker), failure),
                Err(WorkerLost(_)) => (None, None),
            };
            if let Some(exception) = failure {
                let places = Places::new(judge::outside(job, self.environment));
                return Ok(Ok(Observation::not_imported(exception.without_places(&places))));
            }
            let outcome = match &worker {
                Some(worker) => self.run(job, worker, task)?.ok(),
                None => None,
            };
            match outcome {
                Some(attempted) if attempted.run.ending.status == 0 && !attempted.run.forged => {
                    let places = judge::places(job, self.environment, &attempted);
                    return Ok(Ok(Observation::of(&attempted.run.events, &places)));
                }
                Some(attempted) if attempts > 1 && (attempted.run.timed_out || attempted.run.ending.status < 0) => {}
                Some(attempted) => return Ok(Err(judge::told_ending(&attempted.run, self.options))),
                None => {
                    tracing::warn!(block = job.id, "a Python worker was lost");
                    self.statistics(|statistics| statistics.workers_lost += 1);
                    worker.iter().for_each(|worker| self.forget(place, warmth, worker));
                    if mem::replace(&mut lost, true) {
                        return Ok(Err("the Python worker ended while it ran this".to_owned()));
                    }
                }
            }
            attempts = attempts.saturating_sub(1);
        }
    }

    /// Compares the block with upstream's where that was asked for and there is an instance to compare.
    fn compare(&self, job: &Job, place: &Place, warmth: Warmth, verdict: &mut Verdict) -> Result<(), ValidateError> {
        if self.options.level < Level::Parity || verdict.outcome(Level::Construct) != Outcome::Passed {
            return Ok(());
        }
        let parity = match &job.upstream {
            Some(upstream) => {
                let ask = |question: &Question<'_>| self.replay(job, upstream, place, warmth, question);
                parity::compare(upstream, verdict, &ask)?
            }
            None => Parity::no_upstream(),
        };
        parity::enter(verdict, parity);
        Ok(())
    }

    /// One side of a comparison in a process of its own; in words, why nothing came of it.
    fn replay(
        &self,
        job: &Job,
        upstream: &Upstream,
        place: &Place,
        warmth: Warmth,
        question: &Question<'_>,
    ) -> Result<Result<Observation, String>, ValidateError> {
        let reach = |lost| self.replayer(question.side, upstream, place, warmth, lost);
        self.told(job, place, warmth, Task::Replay(&question.replay), &reach)
    }

    /// The worker that replays one side, one of the job's own where one was `lost`.
    fn replayer(
        &self,
        side: Side,
        upstream: &Upstream,
        place: &Place,
        warmth: Warmth,
        lost: bool,
    ) -> Result<Result<Reached, WorkerLost>, ValidateError> {
        let whole = |worker| Reached { worker, failure: None };
        let tree = match (side, lost) {
            (Side::Bundle, false) => return Ok(Ok(whole(self.shared(place.worker(warmth), warmth)?.child()))),
            (Side::Bundle, true) => return Ok(Ok(whole(Arc::new(self.start(warmth)?)))),
            (Side::Upstream, false) => self.tree(place, upstream)?,
            (Side::Upstream, true) => self.grow(upstream, &Arc::new(self.start(Warmth::Torch)?))?.map(Arc::new),
        };
        let reached = tree.map(|tree| tree.reach(&upstream.module));
        if let Ok(reached) = &reached {
            let peak = reached.worker.peak_bytes;
            self.statistics(|statistics| statistics.worker_peak_bytes = statistics.worker_peak_bytes.max(peak));
        }
        Ok(reached)
    }

    fn forget(&self, place: &Place, warmth: Warmth, lost: &Arc<Worker>) {
        let is_lost = |shared: &Shared| Arc::ptr_eq(&shared.worker, lost);
        place.worker(warmth).lock().expect("nothing panics here").take_if(|current| is_lost(current));
        place.trees.lock().expect("nothing panics here").retain(|tree| !tree.has(lost));
    }

    /// The tree of this upstream, a new one where there is none yet or its time is over.
    fn tree(&self, place: &Place, upstream: &Upstream) -> Result<Result<Arc<Tree>, WorkerLost>, ValidateError> {
        let mut trees = place.trees.lock().expect("nothing panics here");
        trees.retain(|tree| !tree.is_spent());
        let tree = match trees.iter().position(|tree| tree.is_for(upstream)) {
            Some(position) => trees.remove(position),
            None => {
                let plain = self.shared(&place.plain, Warmth::Torch)?.child();
                match self.grow(upstream, &plain)? {
                    Ok(tree) => Arc::new(tree),
                    Err(lost) => {
                        place.plain.lock().expect("nothing panics here").take_if(|it| Arc::ptr_eq(&it.worker, &plain));
                        return Ok(Err(lost));
                    }
                }
            }
        };
        trees.push(Arc::clone(&tree));
        let surplus = trees.len().saturating_sub(TREES);
        let gone: Vec<_> = trees.drain(..surplus).collect();
        mem::drop(trees);
        // Ending processes takes a moment, for which nobody else has to wait.
        mem::drop(gone);
        Ok(Ok(tree))
    }

    fn grow(&self, upstream: &Upstream, worker: &Arc<Worker>) -> Result<Result<Tree, WorkerLost>, ValidateError> {
        let folder = self.scratch(self.folder)?;
        // They look up their own processes there: how many threads they have, and how much memory.
        let processes = PathBuf::from("/proc");
        let read = places_of(upstream).chain([processes]).collect();
        let ruleset = self.access.ruleset(&Grant { read, write: folder.path().to_owned() })?;
        let tree = Tree::new(upstream, worker, &self.importer_filters, Ground { folder, ruleset });
        Ok(tree.map_err(|reason| WorkerLost(io::Error::other(reason))))
    }

    fn scratch(&self, folder: &Path) -> Result<Scratch, ValidateError> {
        Scratch::new(folder).map_err(|source| program::io_error("make a folder in", folder, source))
    }

    fn run_shared(
        &self,
        job: &Job,
        place: &Mutex<Option<Shared>>,
        warmth: Warmth,
        suggested: Option<&Suggestion>,
    ) -> Result<Result<Attempted, WorkerLost>, ValidateError> {
        let worker = self.shared(place, warmth)?.child();
        let outcome = self.run(job, &worker, Task::Climb(suggested))?;
        if outcome.is_err() {
            place.lock().expect("nothing panics here").take_if(|current| Arc::ptr_eq(&current.worker, &worker));
        }
        Ok(outcome)
    }

    fn shared(&self, place: &Mutex<Option<Shared>>, warmth: Warmth) -> Result<Shared, ValidateError> {
        let mut current = place.lock().expect("nothing panics here");
        current.take_if(|shared| shared.children.load(Ordering::Relaxed) >= CHILDREN_IN_A_LIFE);
        if let Some(shared) = &*current {
            return Ok(shared.clone());
        }
        let shared = Shared { worker: Arc::new(self.start(warmth)?), children: Arc::default() };
        Ok(current.insert(shared).clone())
    }

    fn start(&self, warmth: Warmth) -> Result<Worker, ValidateError> {
        let (limits, filters) = (&self.options.limits, &self.filters);
        let settings = Settings {
            warm: warmth.modules(),
            limits,
            landlock: &self.access.protections,
            filters,
            own_process: filter::OWN_PROCESS,
            namespaces: self.options.sandbox.has("namespaces"),
            private_scratch: self.options.sandbox.has("private-scratch"),
            scratch_rights: self.access.scratch_rights,
            required: &self.options.sandbox.layers,
        };
        let worker = Worker::start(self.environment, self.folder, &settings)?;
        self.statistics(|statistics| {
            statistics.workers_started += 1;
            let peak = match warmth {
                Warmth::Exporter => &mut statistics.exporter_peak_bytes,
                Warmth::Cold | Warmth::Torch | Warmth::Compiler => &mut statistics.worker_peak_bytes,
            };
            *peak = worker.peak_bytes.max(*peak);
        });
        Ok(worker)
    }

    /// Runs the job with as much memory as most need, and where it is short of it with all that it may have.
    fn run(&self, job: &Job, worker: &Worker, task: Task<'_>) -> Result<Result<Attempted, WorkerLost>, ValidateError> {
        let most = self.memory.most(self.options.limits.memory_bytes);
        let first = if task.hides_shortage() { most } else { self.memory.first(most, self.options.jobs) };
        if first < most {
            let outcome = self.run_within(job, worker, task, first, true)?;
            if !outcome.as_ref().is_ok_and(|attempted| attempted.run.is_short()) {
                return Ok(outcome);
            }
            tracing::debug!(block = job.id, "it runs once more, with more memory");
        }
        self.run_within(job, worker, task, most, false)
    }

    /// Runs the job once, in a scratch folder that is there for this one run.
    fn run_within(
        &self,
        job: &Job,
        worker: &Worker,
        task: Task<'_>,
        memory_bytes: u64,
        may_have_more: bool,
    ) -> Result<Result<Attempted, WorkerLost>, ValidateError> {
        let _share = self.memory.take(memory_bytes);
        if let Some(graph) = task.challenge().and_then(Challenge::to_be_written) {
            let emptied = graph.set_len(0).and_then(|()| (&*graph).rewind());
            emptied.map_err(|source| program::io_error("empty a file in", self.folder, source))?;
        }
        // Upstream is nothing that upstream could not import, and its worker has its layers on the path already.
        let (blocked, operators, layers) = if task.meets_upstream() {
            (&[][..], &[][..], Vec::new())
        } else {
            (&job.blocked_packages[..], &job.operator_packages[..], paths(&job.layers))
        };
        let limits = Limits {
            report_bytes: match task {
                Task::Climb(_) if !self.options.studies => self.options.limits.report_bytes,
                Task::Climb(_) | Task::Replay(_) | Task::Challenge(_) | Task::LookUp(_) | Task::Harvest(_) => {
                    LONG_REPORT_BYTES
                }
            },
            file_bytes: match task.part() {
                Some(Part::Export) => self.options.limits.file_bytes.max(GRAPH_BYTES),
                _ => self.options.limits.file_bytes,
            },
            ..self.options.limits.clone()
        };
        let scratch = self.scratch(&worker.folder)?;
        let file = std::path::absolute(&job.file);
        let file = file.map_err(|source| program::io_error("find", &job.file, source))?;
        let read = match &job.upstream {
            Some(upstream) if task.meets_upstream() => places_of(upstream).collect(),
            _ if task.part() == Some(Part::Graph) => job.layers.iter().map(|layer| layer.path.clone()).collect(),
            _ => job.layers.iter().map(|layer| layer.path.clone()).chain([file.clone()]).collect(),
        };
        let ruleset = self.access.ruleset(&Grant { read, write: scratch.path().to_owned() })?;
        let file = file.to_string_lossy().into_owned();
        let scratch_path = scratch.path().to_string_lossy().into_owned();
        let outcome = worker.run(
            &ChildJob {
                token: &token(),
                file: &file,
                class_name: &job.class_name,
                level: self.options.level.name(),
                blocked_packages: blocked,
                operator_packages: operators,
                layers,
                arguments: job.arguments.as_ref(),
                suggested: task.suggested(),
                sites: &job.sites,
                scratch: &scratch_path,
                memory_bytes,
                may_have_more,
                file_bytes: limits.file_bytes,
                studies: self.options.studies,
                replay: task.replay(),
                challenge: task.challenge(),
                lookups: task.lookups(),
                harvest: task.harvest(),
                probe: None,
            },
            ruleset.as_ref().map(AsFd::as_fd),
            &limits,
        );
        if let Ok(run) = &outcome {
            self.statistics(|statistics| {
                statistics.cpu_seconds.push(run.ending.cpu_seconds);
                statistics.child_peak_bytes = statistics.child_peak_bytes.max(run.ending.peak_bytes);
            });
        }
        Ok(outcome.map(|run| Attempted { run, file, scratch: scratch_path }))
    }

    fn statistics(&self, change: impl FnOnce(&mut WorkerStatistics)) {
        change(&mut self.statistics.lock().expect("nothing panics here"));
    }
}

/// What is asked of a module of upstream itself, and of no bundle.
fn upstream_job(upstream: &Upstream) -> Job {
    Job {
        id: upstream.module.clone(),
        file: PathBuf::from(&upstream.module),
        class_name: upstream.class_name.clone(),
        blocked_packages: Vec::new(),
        operator_packages: Vec::new(),
        layers: Arc::default(),
        arguments: None,
        sites: Arc::default(),
        line_map: Vec::new(),
        upstream: Some(upstream.clone()),
    }
}

/// Where upstream and what is installed for it lie.
fn places_of(upstream: &Upstream) -> impl Iterator<Item = PathBuf> {
    upstream.paths.iter().cloned().chain(upstream.layers.iter().map(|layer| layer.path.clone()))
}

fn paths(layers: &[Layer]) -> Vec<&Path> {
    layers.iter().map(|layer| layer.path.as_path()).collect()
}

/// A word that a bundle cannot guess. It keeps out a report by accident or by a bundle that tries blindly, not one by a
/// bundle that looks for the word in its own process.
pub(super) fn token() -> String {
    let random = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}

fn random_number() -> u32 {
    // Any half of it is as random as the other.
    RandomState::new().build_hasher().finish() as u32
}
