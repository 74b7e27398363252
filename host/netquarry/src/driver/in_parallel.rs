//! Work that waits for pip and the index more than for a processor.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const AT_ONCE: usize = 4;

/// The results in the order of the items.
pub(super) fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new((0..items.len()).map(|_| None).collect::<Vec<Option<R>>>());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(items.len()) {
            scope.spawn(|| {
                while let Some((index, item)) = items.iter().enumerate().nth(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = work(item);
                    results.lock().expect("no panic while collecting")[index] = Some(result);
                }
            });
        }
    });
    let results = results.into_inner().expect("no panic while collecting");
    results.into_iter().map(|result| result.expect("every item was worked on")).collect()
}
