//! How a run went on this machine: time, processor, memory, caches. All that two equal runs may differ in.

use std::time::{Duration, Instant};

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
    /// Processor time per bundle.
    pub median_cpu_seconds: f64,
    /// Nine of ten bundles took less.
    pub ninth_decile_cpu_seconds: f64,
    pub bundles: u64,
    pub retries: u64,
    pub workers_started: u64,
    pub workers_lost: u64,
    /// The most that one worker has had, in bytes.
    pub worker_peak: u64,
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
    [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN]
        .into_iter()
        .map(|who| {
            let usage = usage(who);
            duration(usage.ru_utime) + duration(usage.ru_stime)
        })
        .sum()
}

/// The most memory that this process has had at once, in bytes.
pub fn peak_memory() -> u64 {
    let reported = u64::try_from(usage(libc::RUSAGE_SELF).ru_maxrss).expect("a size is not negative");
    // Linux reports kibibytes, macOS bytes.
    if cfg!(target_os = "macos") { reported } else { reported * 1024 }
}

fn usage(who: libc::c_int) -> libc::rusage {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a whole rusage, and all-zero bytes are a valid one if the call fails.
    unsafe {
        libc::getrusage(who, usage.as_mut_ptr());
        usage.assume_init()
    }
}

fn duration(time: libc::timeval) -> Duration {
    let seconds = u64::try_from(time.tv_sec).expect("a time span is not negative");
    let micros = u64::try_from(time.tv_usec).expect("a time span is not negative");
    Duration::from_secs(seconds) + Duration::from_micros(micros)
}

/// `0.3 s`, `12.4 s`, `3 min 20 s`.
pub fn human_seconds(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 0.095 => format!("{:.2} s", seconds),
        seconds if seconds < 99.95 => format!("{seconds:.1} s"),
        seconds => {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time span in seconds")]
            let whole = seconds.round() as u64;
            format!("{} min {:02} s", whole / 60, whole % 60)
        }
    }
}

/// `9.1 MB`, in powers of ten.
#[expect(clippy::cast_precision_loss, reason = "for people")]
pub fn human_bytes(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

/// `1 block`, `1,034 blocks`
pub fn human_things(count: usize, singular: &str) -> String {
    let ending = match count {
        1 => "",
        _ if singular.ends_with('s') => "es",
        _ => "s",
    };
    format!("{} {singular}{ending}", human_count(count))
}

/// `1,034`
pub fn human_count(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(human_count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(
            [0.04, 0.3, 12.34, 99.96, 200.0].map(human_seconds),
            ["0.04 s", "0.3 s", "12.3 s", "1 min 40 s", "3 min 20 s"]
        );
        assert_eq!([human_things(1, "block"), human_things(2, "class")], ["1 block", "2 classes"]);
        assert_eq!([12, 9_100_000].map(human_bytes), ["12 B", "9.1 MB"]);
    }

    #[test]
    fn this_process_has_used_memory_and_time() {
        assert!(peak_memory() > 1_000_000);
        let watch = Stopwatch::start(Stage::Index);
        let course = watch.stop("file", 3, 1);
        assert!(course.wall_seconds >= 0.0 && course.items == 3);
    }
}
