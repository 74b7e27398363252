//! How much of a pack has arrived: gix counts, and a thread of ours tells.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use gix::progress::{Id, MessageLevel, Step, StepShared, UNKNOWN, Unit};
use gix::{Count, NestedProgress, Progress};

use crate::progress::{FetchEvent, Reporter};

/// The identifier under which gix counts the bytes of a pack.
const PACK_BYTES: Id = *b"BWRB";

const INTERVAL: Duration = Duration::from_millis(100);

/// Runs `transfer`, which counts into what it is given, and tells about the bytes while it runs.
pub(super) fn watched<T>(reporter: Reporter<'_>, transfer: impl FnOnce(Counter) -> T) -> T {
    let counter = Counter { id: UNKNOWN, steps: StepShared::default(), pack_bytes: Arc::default() };
    let bytes = Arc::clone(&counter.pack_bytes);
    let (ended, end) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut told = 0;
            // The channel is closed when the transfer has ended.
            while end.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                let bytes = bytes.load(Ordering::Relaxed) as u64;
                if bytes != told {
                    told = bytes;
                    reporter.tell(FetchEvent::Received { bytes, total: None });
                }
            }
        });
        let result = transfer(counter);
        drop(ended);
        result
    })
}

/// Counts the bytes of the pack, wherever in the tree of gix's progress they are counted.
pub(super) struct Counter {
    id: Id,
    steps: StepShared,
    pack_bytes: Arc<AtomicUsize>,
}

impl Counter {
    fn child(&self, id: Id) -> Self {
        let pack_bytes = Arc::clone(&self.pack_bytes);
        let steps = if id == PACK_BYTES { Arc::clone(&pack_bytes) } else { StepShared::default() };
        Self { id, steps, pack_bytes }
    }
}

impl Count for Counter {
    fn set(&self, step: Step) {
        self.steps.store(step, Ordering::Relaxed);
    }

    fn step(&self) -> Step {
        self.steps.load(Ordering::Relaxed)
    }

    fn inc_by(&self, step: Step) {
        self.steps.fetch_add(step, Ordering::Relaxed);
    }

    fn counter(&self) -> StepShared {
        Arc::clone(&self.steps)
    }
}

impl Progress for Counter {
    fn init(&mut self, _max: Option<Step>, _unit: Option<Unit>) {}

    fn set_name(&mut self, _name: String) {}

    fn name(&self) -> Option<String> {
        None
    }

    fn id(&self) -> Id {
        self.id
    }

    fn message(&self, _level: MessageLevel, _message: String) {}
}

impl NestedProgress for Counter {
    type SubProgress = Self;

    fn add_child(&mut self, _name: impl Into<String>) -> Self {
        self.child(UNKNOWN)
    }

    fn add_child_with_id(&mut self, _name: impl Into<String>, id: Id) -> Self {
        self.child(id)
    }
}
