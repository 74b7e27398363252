//! Stage 6: the verdict on every bundle, from the store where it was reached before.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use netquarry_core::record::InstalledDistribution;
use netquarry_core::structure::Structure;
use netquarry_core::verdict::{FailureClass, Level, Verdict};
use netquarry_store::{StoreError, VerdictContext};

use super::Made;
use super::assemble::{Assembled, BundleFile};
use super::blame::blame;
use super::context::Context;
use super::discover::Candidate;
use super::fetch::FetchedSource;
use super::provision::{Provision, Want};
use super::sites::sites;
use super::upstream::Upstreams;
use crate::configuration::Settings;
use crate::course::{Stage, StageCourse, Stopwatch, ValidationCourse};
use crate::environment::Environment;
use crate::interrupt;
use crate::problem::Problem;
use crate::quantity::{human_count, human_seconds, human_things};
use crate::spool::{Spool, Spooled};
use crate::temporary::TemporaryFolder;
use crate::validate::{self, Job, Options, Site, Upstream, WorkerStatistics};

/// What came out of the stage.
pub struct Validated {
    /// One for each candidate, in their order; `None` where there is no bundle.
    pub verdicts: Vec<Option<Verdict>>,
    /// What is large of them: what each instance is made of.
    pub structures: Vec<Option<Spooled<Structure>>>,
    /// What was installed for each of them.
    pub installed: Vec<Vec<InstalledDistribution>>,
    /// Nothing is missing that could be there another time.
    pub is_final: bool,
    /// What running the bundles took; `None` where none had to run.
    pub workers: Option<ValidationCourse>,
    pub course: StageCourse,
}

/// A bundle that is to be validated.
struct Work {
    /// The position of the candidate.
    position: usize,
    /// But for its line map.
    job: Job,
    /// Under which its verdict is kept.
    key: String,
}

/// How bundles are validated under these settings, up to a level, on this machine.
///
/// # Errors
/// Python cannot be started to see what confines it here.
pub fn options(settings: &Settings, level: Level, environment: &Environment) -> Result<Options, Problem> {
    let options = Options::new(level, validate::probe(environment)?);
    let jobs = settings.jobs.unwrap_or(options.jobs);
    let mut limits = options.limits.clone();
    if let Some(seconds) = settings.timeout.map(u64::from) {
        limits.wall = Duration::from_secs(seconds);
        limits.cpu_seconds = (seconds / 4).max(1);
    }
    Ok(Options { jobs, limits, allow_weak_sandbox: settings.allow_weak_sandbox, ..options })
}

/// Reaches a verdict on every bundle. Verdicts are kept as they come, so that a later run goes on from there.
pub fn validate(
    context: &Context<'_>,
    environment: &Environment,
    sources: &[FetchedSource],
    made: &Made,
) -> Result<Validated, Problem> {
    let watch = Stopwatch::start(Stage::Validate);
    let options = options(context.settings, context.settings.level, environment)?;
    let scratch = TemporaryFolder::new("bundles")
        .map_err(|error| Problem::io("make a folder in", &std::env::temp_dir(), error))?;
    let upstreams = if options.level >= Level::Parity { Some(Upstreams::new(sources, environment)?) } else { None };
    let sites = match options.level {
        Level::Parse | Level::Compile | Level::Execute => vec![Arc::default(); made.candidates.len()],
        _ => context.pool.install(|| sites(&made.indexed, &made.candidates)),
    };
    let mut rounds = Rounds {
        context,
        environment,
        made,
        digests: (environment.digest(), options.digest()),
        options,
        folder: scratch.path(),
        upstreams,
        provision: Provision::new(context, environment, sources),
        wants: vec![Want::default(); made.candidates.len()],
        sites,
        verdicts: Verdicts::none(made.candidates.len()),
        ran: BTreeSet::new(),
        statistics: None,
    };
    let total = rounds.all()?;
    let Rounds { provision, wants, verdicts: Verdicts { mut verdicts, structures }, ran, statistics, .. } = rounds;
    for (position, verdict) in verdicts.iter_mut().enumerate() {
        if let (Some(verdict), Ok(bundle)) = (verdict, &made.assembled.bundles[position]) {
            blame(&context.spool, &made.indexed, bundle, verdict)?;
            provision.explain(&wants[position], bundle, verdict);
        }
    }
    let cached = total - ran.len();
    let elapsed = human_seconds(watch.elapsed().as_secs_f64());
    context.console.status(
        "Validated",
        &format!("{} in {elapsed}, {} from the cache", human_things(total, "bundle"), human_count(cached)),
    );
    Ok(Validated {
        verdicts,
        structures,
        installed: wants.iter().map(|want| provision.installed(want)).collect(),
        is_final: !provision.is_incomplete(),
        workers: statistics.as_ref().map(workers),
        course: watch.stop("bundle", total, cached),
    })
}

/// What was reached so far, for each candidate.
struct Verdicts {
    /// Without their structures.
    verdicts: Vec<Option<Verdict>>,
    structures: Vec<Option<Spooled<Structure>>>,
}

impl Verdicts {
    fn none(candidates: usize) -> Self {
        Self { verdicts: vec![None; candidates], structures: vec![None; candidates] }
    }

    fn enter(&mut self, spool: &Spool, position: usize, mut verdict: Verdict) -> Result<(), Problem> {
        let structure = verdict.structure.take();
        self.structures[position] = structure.map(|structure| spool.put_value(&structure)).transpose()?;
        self.verdicts[position] = Some(verdict);
        Ok(())
    }
}

/// Validation in rounds: each has the bundles that have missed something in the one before that could be had.
struct Rounds<'a> {
    context: &'a Context<'a>,
    environment: &'a Environment,
    made: &'a Made,
    options: Options,
    /// Of the environment and of the options.
    digests: (String, String),
    /// Where bundles are written to.
    folder: &'a Path,
    upstreams: Option<Upstreams<'a>>,
    provision: Provision<'a>,
    /// What each candidate's bundle wants, and what came of it.
    wants: Vec<Want>,
    /// Where others construct each of them.
    sites: Vec<Arc<[Site]>>,
    verdicts: Verdicts,
    /// Those whose verdict was not in the store, in one round at least.
    ran: BTreeSet<usize>,
    statistics: Option<WorkerStatistics>,
}

impl<'a> Rounds<'a> {
    /// Runs all rounds; the number of bundles.
    fn all(&mut self) -> Result<usize, Problem> {
        let bundles = self.made.assembled.bundles.iter().enumerate();
        let mut pending: Vec<usize> = bundles.filter(|(_, bundle)| bundle.is_ok()).map(|(at, _)| at).collect();
        let total = pending.len();
        for at in &pending {
            self.wants[*at] = self.provision.want(self.bundle(*at));
        }
        while !pending.is_empty() {
            self.provision.install(pending.iter().map(|at| &self.wants[*at]), self.upstreams.is_some())?;
            self.run(&pending)?;
            pending.retain(|at| {
                let bundle = self.made.assembled.bundles[*at].as_ref().expect("only bundles are validated");
                let verdict = self.verdicts.verdicts[*at].as_ref().expect("it was reached a moment ago");
                self.provision.extend(&mut self.wants[*at], bundle, verdict)
            });
        }
        Ok(total)
    }

    fn bundle(&self, at: usize) -> &'a BundleFile {
        self.made.assembled.bundles[at].as_ref().expect("only bundles are validated")
    }

    /// One round: from the store what is in there, the rest from Python.
    fn run(&mut self, pending: &[usize]) -> Result<(), Problem> {
        let context = self.context;
        let verdict_context = VerdictContext { environment: &self.digests.0, options: &self.digests.1 };
        let work = pending.iter().map(|at| self.work(*at)).collect::<Result<Vec<Work>, Problem>>()?;
        let count = work.len();
        let mut known = context.store.verdicts(verdict_context, work.iter().map(|work| work.key.as_str()))?;
        if context.settings.retry_failed {
            known.retain(|_, verdict| verdict.failure.is_none());
        }
        let mut waiting = Vec::new();
        for work in work {
            match known.get(&work.key) {
                Some(verdict) => self.verdicts.enter(&context.spool, work.position, verdict.clone())?,
                None => waiting.push(work),
            }
        }
        if waiting.is_empty() {
            return Ok(());
        }
        // An earlier round has written them already.
        if self.statistics.is_none() {
            self.upstreams.iter().try_for_each(Upstreams::write)?;
        }
        self.ran.extend(waiting.iter().map(|work| work.position));
        let keep = |key: &str, verdict: &Verdict| context.store.put_verdicts(verdict_context, [(key, verdict)]);
        let Made { candidates, assembled, .. } = self.made;
        let run = Run { candidates, assembled, environment: self.environment, options: &self.options, keep: &keep };
        let statistics = run.all(context, waiting, count, &mut self.verdicts)?;
        self.statistics.get_or_insert_default().add(statistics);
        Ok(())
    }

    fn work(&self, at: usize) -> Result<Work, Problem> {
        let (candidate, bundle, want) = (&self.made.candidates[at], self.bundle(at), &self.wants[at]);
        let upstream = self.upstreams.as_ref().and_then(|all| all.of(&self.made.indexed, candidate, bundle));
        let layers = self.provision.layers(want);
        let state = self.made.rules.upstream_state(&candidate.block).map(|(rule, _)| rule.statements.clone());
        let job = Job {
            id: candidate.block.clone(),
            file: self.folder.join(format!("{}.py", candidate.stem)),
            class_name: candidate.name.clone(),
            blocked_packages: bundle.own_packages.clone(),
            operator_packages: bundle.operator_packages.clone(),
            layers: Arc::clone(&layers),
            arguments: self.made.rules.arguments(&candidate.block).map(|(arguments, _)| arguments.clone()),
            sites: Arc::clone(&self.sites[at]),
            line_map: self.context.spool.value(bundle.line_map)?,
            upstream: upstream.map(|it| Upstream {
                layers: self.provision.upstream_layers(want, &layers),
                state,
                ..it
            }),
        };
        let key = job.digest(&bundle.sha256);
        // It is read again when the turn of the bundle comes.
        Ok(Work { position: at, job: Job { line_map: Vec::new(), ..job }, key })
    }
}

fn workers(statistics: &WorkerStatistics) -> ValidationCourse {
    ValidationCourse {
        median_cpu_seconds: statistics.cpu_quantile(0.5),
        ninth_decile_cpu_seconds: statistics.cpu_quantile(0.9),
        bundles: statistics.verdicts,
        retries: statistics.retries,
        workers_started: statistics.workers_started,
        workers_lost: statistics.workers_lost,
        worker_peak: statistics.worker_peak_bytes,
        exporter_peak: statistics.exporter_peak_bytes,
        bundle_peak: statistics.child_peak_bytes,
    }
}

/// What the validation of the bundles that wait has in common.
struct Run<'a> {
    candidates: &'a [Candidate],
    assembled: &'a Assembled,
    environment: &'a Environment,
    options: &'a Options,
    keep: &'a (dyn Fn(&str, &Verdict) -> Result<(), StoreError> + Sync),
}

impl Run<'_> {
    fn all(
        &self,
        context: &Context<'_>,
        waiting: Vec<Work>,
        total: usize,
        verdicts: &mut Verdicts,
    ) -> Result<WorkerStatistics, Problem> {
        let task = context.console.task("Validating", "bundles", total as u64);
        task.advance((total - waiting.len()) as u64);
        let by_id: std::collections::HashMap<String, (usize, String)> =
            waiting.iter().map(|work| (work.job.id.clone(), (work.position, work.key.clone()))).collect();
        let reached = Mutex::new((verdicts, None::<Problem>));
        let failed_to_write = |problem: Problem| {
            reached.lock().expect("no panic while collecting").1.get_or_insert(problem);
        };
        let has_failed = || reached.lock().expect("no panic while collecting").1.is_some();
        // Files are written when their turn comes, so that nothing waits for the last one.
        let jobs = waiting.into_iter().map_while(|work| {
            if interrupt::requested() || has_failed() {
                return None;
            }
            let bundle = self.assembled.bundles[work.position].as_ref().expect("only bundles are validated");
            match ready(&context.spool, work.job, bundle) {
                Ok(job) => Some(job),
                Err(problem) => {
                    failed_to_write(problem);
                    None
                }
            }
        });
        let on_verdict = |job: &Job, verdict: Verdict| {
            // What ends after an interrupt may have ended because of it.
            if interrupt::requested() {
                return;
            }
            let (position, key) = &by_id[&job.id];
            let is_ours = verdict.failure.as_ref().is_some_and(|failure| failure.class == FailureClass::Harness);
            if !is_ours && let Err(error) = (self.keep)(key, &verdict) {
                failed_to_write(error.into());
            }
            task.message(self.candidates[*position].name.clone());
            task.advance(1);
            // Nobody needs the file any more; the folder goes at the end in any case.
            let _ = fs::remove_file(&job.file);
            let entered =
                reached.lock().expect("no panic while collecting").0.enter(&context.spool, *position, verdict);
            if let Err(problem) = entered {
                failed_to_write(problem);
            }
        };
        let statistics = validate::validate(jobs, self.environment, self.options, &on_verdict)?;
        interrupt::check()?;
        match reached.into_inner().expect("no panic while collecting").1 {
            Some(problem) => Err(problem),
            None => Ok(statistics),
        }
    }
}

/// The job with its line map, and the bundle in its file.
fn ready(spool: &Spool, job: Job, bundle: &BundleFile) -> Result<Job, Problem> {
    let bytes = spool.bytes(bundle.text.as_bytes())?;
    fs::write(&job.file, bytes).map_err(|error| Problem::io("write", &job.file, error))?;
    Ok(Job { line_map: spool.value(bundle.line_map)?, ..job })
}
