//! What was computed is not computed again.

use std::sync::Mutex;

/// Values by the parameters that they were computed with: hardly ever more than a few.
pub(super) struct Memo<K, V> {
    values: Mutex<Vec<(K, V)>>,
}

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self { values: Mutex::default() }
    }
}

impl<K: PartialEq, V: Clone> Memo<K, V> {
    /// Two threads that ask for the same value at once may both compute it; the first one stays.
    pub(super) fn get(&self, key: K, compute: impl FnOnce() -> V) -> V {
        if let Some(value) = self.find(&key) {
            return value;
        }
        let value = compute();
        let mut values = self.values.lock().expect("no panic while it is held");
        if let Some((_, first)) = values.iter().find(|(known, _)| *known == key) {
            return first.clone();
        }
        // There are as many of these as blocks.
        values.reserve_exact(1);
        values.push((key, value.clone()));
        value
    }

    pub(super) fn find(&self, key: &K) -> Option<V> {
        let values = self.values.lock().expect("no panic while it is held");
        values.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone())
    }
}
