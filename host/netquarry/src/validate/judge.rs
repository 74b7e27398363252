//! From what a child reported and how it ended to a verdict.

use std::path::{Path, PathBuf};

use netquarry_core::verdict::{
    ARGUMENTS_NOT_FOUND, CALL_SITE_ARGUMENTS, Failure, FailureClass, Level, Outcome, Verdict,
};

use super::follow::Run;
use super::observation::Observation;
use super::pool::Attempted;
use super::protocol::{Event, Exception, LevelEvidence};
use super::scrub::{Places, SCRATCH};
use super::{Job, Options, classify, study, taint};
use crate::environment::Environment;

/// The levels that a child can report about.
const TRIED: [Level; 6] =
    [Level::Parse, Level::Compile, Level::Execute, Level::Construct, Level::Forward, Level::Backward];

/// The verdict on a job whose worker died with it.
pub(super) fn lost() -> Verdict {
    let message = "the Python worker ended while it ran this bundle".to_owned();
    let mut verdict = undecided();
    verdict.set(Level::Parse, Outcome::Failed);
    verdict.failure = Some(Failure { class: FailureClass::Harness, message, upstream: None, hint: None });
    verdict
}

pub(super) fn verdict(job: &Job, attempted: &Attempted, environment: &Environment, options: &Options) -> Verdict {
    let places = places(job, environment, attempted);
    let mut judge = Judge {
        job,
        attempted,
        environment,
        options,
        places,
        verdict: undecided(),
        call_site: None,
        next: 0,
        with_arguments: true,
        settled: false,
    };
    for event in &attempted.run.events {
        judge.hear(event);
    }
    if !judge.settled {
        judge.explain_silence(&attempted.run);
    }
    let note = judge.call_site.as_ref().map(|site| judge.scrub(&format!("{CALL_SITE_ARGUMENTS}: {site}")));
    judge.verdict.evidence.notes.extend(note);
    judge.verdict.evidence.notes.sort();
    let Judge { mut verdict, places, .. } = judge;
    if options.studies && verdict.outcome(Level::Construct) == Outcome::Passed {
        let told = Observation::of(&attempted.run.events, &places);
        study::enter(&mut verdict, told, &|| places.scrub(&told_ending(&attempted.run, options)));
    }
    verdict
}

fn undecided() -> Verdict {
    let mut verdict = Verdict::default();
    for level in Level::ALL {
        verdict.set(level, Outcome::Unknown);
    }
    verdict
}

struct Judge<'a> {
    job: &'a Job,
    attempted: &'a Attempted,
    environment: &'a Environment,
    options: &'a Options,
    places: Places,
    verdict: Verdict,
    /// Where others construct the class as the last instance was.
    call_site: Option<String>,
    /// The place in [`TRIED`] of the level that is being tried: all before it have passed.
    next: usize,
    /// Whether the last instance was made with arguments.
    with_arguments: bool,
    /// A level has failed or stayed undecided, or the last one has passed.
    settled: bool,
}

impl Judge<'_> {
    fn hear(&mut self, event: &Event) {
        match event {
            Event::Confined { protections } => {
                let sandbox = self.options.sandbox.and(protections);
                self.verdict.tier = Some(sandbox.tier());
                self.verdict.protections = sandbox.layers;
            }
            Event::Harness { exception } => self.fail(FailureClass::Harness, exception),
            Event::Done => {}
            Event::Passed { level, evidence } if self.expects(level) => {
                self.keep(evidence);
                self.climb(Outcome::Passed);
            }
            Event::Inapplicable { level } if self.expects(level) => self.climb(Outcome::NotApplicable),
            Event::Failed { level, exception } if self.expects(level) => {
                self.fail(classify::class(exception, self.job, self.environment), exception);
            }
            Event::Undecided { level, note, exception, guessed } if self.expects(level) => {
                self.undecided(note, exception.as_ref(), *guessed);
            }
            // Our own code reports one level after the other. Whatever is out of order is not heard, and the level that
            // it is about stays open.
            Event::Passed { .. } | Event::Failed { .. } | Event::Inapplicable { .. } | Event::Undecided { .. } => {}
            Event::Tainted { signs } => {
                let room = taint::MOST.saturating_sub(self.verdict.evidence.tainted.len());
                for sign in signs.iter().take(room) {
                    let what = self.scrub(&sign.what).chars().take(taint::LONGEST).collect();
                    self.verdict.evidence.tainted.push(taint::seen(self.job, sign.reason, what, sign.line));
                }
            }
            Event::Constructing { with_arguments } => self.with_arguments = *with_arguments,
            // These belong to other tasks.
            Event::Imported { .. }
            | Event::Leaves { .. }
            | Event::Values { .. }
            | Event::Answers { .. }
            | Event::Structure { .. }
            | Event::Layers { .. }
            | Event::Trial(_)
            | Event::Independence { .. }
            | Event::Dtype(_)
            | Event::Device { .. }
            | Event::Harvested { .. }
            | Event::Ready
            | Event::Counted { .. }
            | Event::Read { .. }
            | Event::Short
            | Event::Stopped { .. } => {}
        }
    }

    fn climb(&mut self, outcome: Outcome) {
        self.verdict.set(TRIED[self.next], outcome);
        self.settled = TRIED[self.next] == self.options.level || self.next + 1 == TRIED.len();
        self.next += 1;
    }

    fn expects(&self, level: &str) -> bool {
        !self.settled && TRIED[self.next].name() == level
    }

    fn keep(&mut self, found: &LevelEvidence) {
        let notes: Vec<_> = found.notes.iter().map(|note| self.scrub(note)).collect();
        let call_site = found.call_site.clone().filter(|place| self.is_site(place));
        let evidence = &mut self.verdict.evidence;
        if let Some(arguments) = &found.constructor_arguments {
            evidence.constructor_arguments.clone_from(arguments);
            self.call_site = call_site;
        }
        evidence.parameters = found.parameters.or(evidence.parameters);
        evidence.gradient = found.gradient.or(evidence.gradient);
        evidence.forward_arguments.extend(found.forward_arguments.clone());
        evidence.forward_inputs.extend(found.forward_inputs.iter().cloned());
        evidence.forward_outputs.extend(found.forward_outputs.iter().cloned());
        evidence.notes.extend(notes);
    }

    /// Whether the child can have taken arguments from there.
    fn is_site(&self, place: &str) -> bool {
        let is_docstring = place.strip_prefix("the docstring of ").is_some_and(|name| name == self.job.class_name);
        is_docstring || self.job.sites.iter().any(|site| site.place == place)
    }

    fn fail(&mut self, class: FailureClass, exception: &Exception) {
        let message = match exception.message.as_str() {
            "" => exception.class.clone(),
            message => format!("{}: {message}", exception.class),
        };
        self.fail_with(class, &message, self.place_of(exception));
    }

    /// The innermost line of the bundle at which it was raised, in terms of upstream's files.
    fn place_of(&self, exception: &Exception) -> Option<String> {
        let frames = exception.frames.iter().rev().filter(|frame| frame.file == self.attempted.file);
        frames.flat_map(|frame| self.job.upstream_place(frame.line)).next()
    }

    fn fail_with(&mut self, class: FailureClass, message: &str, upstream: Option<String>) {
        if self.settled {
            return;
        }
        self.verdict.set(TRIED[self.next], Outcome::Failed);
        self.verdict.failure = Some(Failure { class, message: self.scrub(message), upstream, hint: None });
        self.settled = true;
    }

    /// Arguments that are not found say nothing against the bundle, unless the first and plainest try already showed a
    /// fault that no argument could have caused.
    fn undecided(&mut self, note: &str, exception: Option<&Exception>, guessed: bool) {
        if let Some(exception) = exception {
            let class = classify::class(exception, self.job, self.environment);
            if classify::is_no_matter_of_arguments(class, guessed) {
                return self.fail(class, exception);
            }
        }
        let first = exception.map(|first| {
            let place = self.place_of(first).map(|place| format!(" at {place}")).unwrap_or_default();
            format!("; the first try{place}: {}: {}", first.class, first.message)
        });
        let note = format!("{ARGUMENTS_NOT_FOUND}: {}: {note}{}", TRIED[self.next].name(), first.unwrap_or_default());
        let note = self.scrub(&note);
        self.verdict.evidence.notes.push(note);
        self.settled = true;
    }

    /// The report stops before the level asked for: what became of the child tells why.
    fn explain_silence(&mut self, run: &Run) {
        let (class, message) = if run.forged {
            let message = "something other than the validator wrote to the report's descriptor";
            (FailureClass::PolicyViolation, message.to_owned())
        } else if self.verdict.protections.is_empty() {
            (FailureClass::Harness, "the child ended before it was confined".to_owned())
        } else {
            ending(run, self.options)
        };
        // An argument that was guessed too large takes more than a block can be blamed for.
        let guessed = self.job.arguments.is_none()
            && match TRIED[self.next] {
                Level::Construct => self.with_arguments,
                level => level > Level::Construct,
            };
        if guessed && !matches!(class, FailureClass::PolicyViolation | FailureClass::Harness) {
            let name = class.name();
            let level = TRIED[self.next].name();
            self.verdict
                .evidence
                .notes
                .push(format!("{ARGUMENTS_NOT_FOUND}: {level}: {name} with guessed arguments: {message}"));
            self.settled = true;
        } else {
            self.fail_with(class, &message, None);
        }
    }

    fn scrub(&self, message: &str) -> String {
        self.places.scrub(message)
    }
}

/// The places of files that differ between equal runs, as one run of the job knew them.
pub(super) fn places(job: &Job, environment: &Environment, attempted: &Attempted) -> Places {
    let name = job.file.file_name().unwrap_or(job.file.as_os_str()).to_string_lossy().into_owned();
    // What a bundle looks for beside itself lies nowhere that matters.
    let folder = Path::new(&attempted.file).parent().map(|folder| folder.to_string_lossy().into_owned());
    let own = [
        (folder.unwrap_or_default(), "<folder>".to_owned()),
        (attempted.file.clone(), name),
        (attempted.scratch.clone(), SCRATCH.to_owned()),
    ];
    Places::new(outside(job, environment).chain(own))
}

/// Those of them that every process of the job knows.
pub(super) fn outside<'a>(job: &'a Job, environment: &'a Environment) -> impl Iterator<Item = (String, String)> + 'a {
    let named = |path: &Path, name: &str| (path.to_string_lossy().into_owned(), name.to_owned());
    let layers = job.layers.iter().chain(job.upstream.iter().flat_map(|upstream| upstream.layers.iter()));
    let installed = environment.prefixes.iter().map(PathBuf::as_path).chain(layers.map(|layer| layer.path.as_path()));
    let upstream = job.upstream.iter().flat_map(|upstream| &upstream.paths);
    let installed = installed.map(move |path| named(path, "<environment>"));
    installed.chain(upstream.map(move |path| named(path, "<upstream>")))
}

/// In a few words, how a child ended that was to replay something.
pub(super) fn told_ending(run: &Run, options: &Options) -> String {
    if run.forged {
        return "something other than the validator wrote to the report's descriptor".to_owned();
    }
    ending(run, options).1
}

fn ending(run: &Run, options: &Options) -> (FailureClass, String) {
    let limits = &options.limits;
    let out_of_time = run.ending.cpu_seconds >= limits.cpu_seconds as f64;
    match run.ending.status {
        _ if run.timed_out => {
            (FailureClass::WallTime, format!("it did not end within {} seconds", limits.wall.as_secs()))
        }
        status if -status == libc::SIGXCPU || (-status == libc::SIGKILL && out_of_time) => {
            (FailureClass::CpuTime, format!("it took more than {} seconds of processor time", limits.cpu_seconds))
        }
        status if run.is_out_of_memory() => {
            (FailureClass::Memory, format!("the process was ended by signal {}, out of memory", -status))
        }
        status if status < 0 => (FailureClass::Crash, format!("the process was ended by {}", signal_name(-status))),
        status => (FailureClass::NoReport, format!("the process ended with status {status} before it reported")),
    }
}

/// `SIGSEGV`, or the number of a signal that has no name.
pub(super) fn signal_name(number: i32) -> String {
    nix::sys::signal::Signal::try_from(number).map_or_else(|_| format!("signal {number}"), |signal| signal.to_string())
}
