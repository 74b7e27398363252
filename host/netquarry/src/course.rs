//! How a run went on this machine: time, processor, memory, caches. All that two equal runs may differ in.

use std::time::{Duration, Instant};

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};
use serde::{Deserialize, Serialize};

/// The stages, as they are named everywhere; the two halves of the seventh apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    Fetch,
    Index,
    Discover,
    Resolve,
    Assemble,
    /// Waiting for a Python environment, where one had to be made.
    Prepare,
    Validate,
    Curate,
    Emit,
}

impl Stage {
    /// As it stands in records and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fetch => "fetch",
            Self::Index => "index",
            Self::Discover => "discover",
            Self::Resolve => "resolve",
            Self::Assemble => "assemble",
            Self::Prepare => "prepare",
            Self::Validate => "validate",
            Self::Curate => "curate",
            Self::Emit => "emit",
        }
    }
}

/// What a run took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Course {
    pub stages: Vec<StageCourse>,
    pub wall_seconds: f64,
    /// Of this process and its children.
    pub cpu_seconds: f64,
    /// Of this process, in bytes.
    pub peak_memory: u64,
    /// `None` where every verdict came out of the cache.
    pub validation: Option<ValidationCourse>,
}

/// What running the bundles took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ValidationCourse {
    /// Processor time of a process that ran a bundle. There is one for the levels up to the sixth, and there are more where
    /// it is compared or challenged.
    pub median_cpu_seconds: f64,
    /// Nine of ten processes took less.
    pub ninth_decile_cpu_seconds: f64,
    pub bundles: u64,
    pub retries: u64,
    pub workers_started: u64,
    pub workers_lost: u64,
    /// The most that one worker has had, in bytes.
    pub worker_peak: u64,
    /// The same of those that export models; 0 where none was.
    #[serde(default)]
    pub exporter_peak: u64,
    /// The most that one bundle has had, in bytes.
    pub bundle_peak: u64,
}

/// What one stage took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageCourse {
    pub stage: Stage,
    /// What it worked on: file, block, bundle.
    pub unit: String,
    pub items: usize,
    /// Items whose result came out of a cache.
    pub cached: usize,
    pub wall_seconds: f64,
    /// Of this process, children that ended included, while the stage ran; what ran beside it is in it too.
    pub cpu_seconds: f64,
}

impl StageCourse {
    /// Adds another part of the same stage, which ran after this one.
    pub fn add(&mut self, next: &Self) {
        self.items += next.items;
        self.cached += next.cached;
        self.wall_seconds += next.wall_seconds;
        self.cpu_seconds += next.cpu_seconds;
    }
}

/// Measures one stage.
#[derive(Debug)]
pub struct Stopwatch {
    stage: Stage,
    started: Instant,
    cpu: Duration,
}

impl Stopwatch {
    /// Starts now.
    pub fn start(stage: Stage) -> Self {
        Self { stage, started: Instant::now(), cpu: cpu_time() }
    }

    /// Since the start.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// What it took from the start to now. `unit` is singular.
    pub fn stop(self, unit: &str, items: usize, cached: usize) -> StageCourse {
        StageCourse {
            stage: self.stage,
            unit: unit.to_owned(),
            items,
            cached,
            wall_seconds: self.started.elapsed().as_secs_f64(),
            cpu_seconds: cpu_time().saturating_sub(self.cpu).as_secs_f64(),
        }
    }
}

/// Measures a whole run.
#[derive(Debug)]
pub struct Clock {
    started: Instant,
    cpu: Duration,
}

impl Clock {
    /// Starts now.
    pub fn start() -> Self {
        Self { started: Instant::now(), cpu: cpu_time() }
    }

    /// What it took from the start to now, of these stages.
    pub fn course(&self, stages: Vec<StageCourse>, validation: Option<ValidationCourse>) -> Course {
        Course {
            stages,
            validation,
            wall_seconds: self.started.elapsed().as_secs_f64(),
            cpu_seconds: cpu_time().saturating_sub(self.cpu).as_secs_f64(),
            peak_memory: peak_memory(),
        }
    }
}

/// Processor time of this process and of its children that have ended, in user and kernel mode.
pub fn cpu_time() -> Duration {
    [UsageWho::RUSAGE_SELF, UsageWho::RUSAGE_CHILDREN]
        .into_iter()
        .map(usage)
        .map(|usage| duration(usage.user_time()) + duration(usage.system_time()))
        .sum()
}

/// The most memory that this process has had at once, in bytes.
pub fn peak_memory() -> u64 {
    let kibibytes = u64::try_from(usage(UsageWho::RUSAGE_SELF).max_rss()).expect("a size is not negative");
    kibibytes * 1024
}

fn usage(who: UsageWho) -> Usage {
    getrusage(who).expect("it fails for processes that do not exist only")
}

fn duration(time: TimeVal) -> Duration {
    let microseconds = u64::try_from(time.num_microseconds()).expect("a time span is not negative");
    Duration::from_micros(microseconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_used_memory_and_time() {
        assert!(peak_memory() > 1_000_000);
        let watch = Stopwatch::start(Stage::Index);
        let course = watch.stop("file", 3, 1);
        assert!(course.wall_seconds >= 0.0 && course.items == 3);
    }
}
