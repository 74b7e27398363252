//! What was computed is not computed again.

use std::sync::{Arc, Mutex};

/// Values by the parameters that they were computed with: hardly ever more than a few.
pub(super) struct Memo<K, V> {
    values: Mutex<Vec<(K, Arc<V>)>>,
}

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self { values: Mutex::default() }
    }
}

impl<K: PartialEq, V> Memo<K, V> {
    /// Two threads that ask for the same value at once may both compute it; the first one stays.
    pub(super) fn get(&self, key: K, compute: impl FnOnce() -> V) -> Arc<V> {
        if let Some(value) = self.find(&key) {
            return value;
        }
        let value = Arc::new(compute());
        let mut values = self.values.lock().expect("no panic while it is held");
        if let Some((_, first)) = values.iter().find(|(known, _)| *known == key) {
            return Arc::clone(first);
        }
        values.push((key, Arc::clone(&value)));
        value
    }

    pub(super) fn find(&self, key: &K) -> Option<Arc<V>> {
        let values = self.values.lock().expect("no panic while it is held");
        values.iter().find(|(known, _)| known == key).map(|(_, value)| Arc::clone(value))
    }
}
