//! How much memory the children may take together: no more than the machine has.
//!
//! Most blocks need little, so that on a machine of many cores each child starts with a small share. One that runs short of
//! it is run once more with all that its limits allow, as soon as that is free: what comes out of a block depends on its
//! limits, and not on the machine or on what runs beside it.

use std::sync::{Condvar, Mutex};

use sysinfo::System;

/// The least share of its limit that a child starts with.
const LEAST_PART: u64 = 8;

/// Memory that children take and give back, in bytes.
#[derive(Debug)]
pub(super) struct Memory {
    all: u64,
    /// What a child may take beside what it asks for.
    beside: u64,
    free: Mutex<u64>,
    given_back: Condvar,
    /// Held by who waits for memory, so that one who waits for much is not overtaken for ever.
    turn: Mutex<()>,
}

/// What one child may take; it is given back with the value.
#[derive(Debug)]
pub(super) struct Share<'a> {
    memory: &'a Memory,
    bytes: u64,
}

impl Memory {
    pub(super) fn new(all: u64) -> Self {
        Self { all, beside: 0, free: Mutex::new(all), given_back: Condvar::new(), turn: Mutex::default() }
    }

    /// The same for children each of which may take so much beside what it asks for.
    pub(super) fn beside(self, bytes: u64) -> Self {
        Self { beside: bytes, ..self }
    }

    /// What the machine, or the control group that this process is in, has free now, but for a reserve.
    pub(super) fn of_machine() -> Self {
        let mut system = System::new();
        system.refresh_memory();
        let group = system.cgroup_limits().map_or(u64::MAX, |limits| limits.free_memory);
        let available = system.available_memory().min(group);
        Self::new(available - available / 10)
    }

    /// The most that one child can have where its limits allow `limit`.
    pub(super) fn most(&self, limit: u64) -> u64 {
        limit.min(self.all)
    }

    /// What a child starts with where so many run at once and one can have `most`.
    pub(super) fn first(&self, most: u64, children: usize) -> u64 {
        let part = self.all / children.max(1) as u64;
        part.saturating_sub(self.beside).clamp(most / LEAST_PART, most)
    }

    /// Waits until so much is free, and what goes beside it; no more than there is ever is.
    pub(super) fn take(&self, bytes: u64) -> Share<'_> {
        let bytes = (bytes + self.beside).min(self.all);
        let _turn = self.turn.lock().expect("nothing panics here");
        let free = self.free.lock().expect("nothing panics here");
        let mut free = self.given_back.wait_while(free, |free| *free < bytes).expect("nothing panics here");
        *free -= bytes;
        Share { memory: self, bytes }
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        *self.memory.free.lock().expect("nothing panics here") += self.bytes;
        self.memory.given_back.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn a_child_starts_with_an_equal_part_of_what_there_is() {
        // All that there is, the limit of one, how many run at once: what each starts with.
        let cases = [(100, 40, 2, 40), (100, 40, 5, 20), (100, 40, 50, 5), (30, 40, 1, 30), (30, 40, 0, 30)];
        for (all, limit, children, expected) in cases {
            let memory = Memory::new(all);
            assert_eq!(memory.first(memory.most(limit), children), expected, "{all} for {children}");
        }
    }

    #[test]
    fn what_goes_beside_it_is_taken_too() {
        let memory = Memory::new(100).beside(10);
        assert_eq!(memory.first(memory.most(40), 5), 10);
        let share = memory.take(40);
        assert_eq!(*memory.free.lock().unwrap(), 50);
        drop(share);
        let _all = memory.take(95);
        assert_eq!(*memory.free.lock().unwrap(), 0);
    }

    #[test]
    fn no_more_is_taken_than_there_is() {
        let memory = Memory::new(10);
        let taken = AtomicU64::new(0);
        thread::scope(|scope| {
            for number in 0..8_u64 {
                let (memory, taken) = (&memory, &taken);
                scope.spawn(move || {
                    for round in 0..50 {
                        let share = memory.take((number + round) % 12);
                        assert!(taken.fetch_add(share.bytes, Ordering::SeqCst) + share.bytes <= 10);
                        thread::yield_now();
                        taken.fetch_sub(share.bytes, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(*memory.free.lock().unwrap(), 10);
    }
}
