//! What calls of plugins take: time, fuel, memory, calls of the host.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use crate::error::PluginIdentity;

/// What some calls took together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    pub calls: u64,
    /// Those of them that gave no result, and whose work no other call did.
    pub failed: u64,
    /// About one unit per instruction, so the same on every machine.
    pub fuel: u64,
    /// Wall time, that of the host's functions included; all threads together.
    pub time: Duration,
    /// The most bytes of linear memory that one call had.
    pub peak_memory: usize,
    /// Calls of the host's functions.
    pub host_calls: u64,
}

impl Cost {
    fn add(&mut self, other: Self) {
        let Self { calls, failed, fuel, time, peak_memory, host_calls } = other;
        self.calls += calls;
        self.failed += failed;
        self.fuel = self.fuel.saturating_add(fuel);
        self.time = self.time.saturating_add(time);
        self.peak_memory = self.peak_memory.max(peak_memory);
        self.host_calls += host_calls;
    }
}

/// Costs of one plugin at one kind of work on one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CostEntry {
    pub plugin: PluginIdentity,
    /// As in [`crate::CallError::stage`].
    pub stage: &'static str,
    /// The name of the source; empty for work on none, or on several at once.
    pub source: String,
    pub cost: Cost,
}

/// Adds up what the calls of all plugins of a host take.
#[derive(Debug, Default)]
pub struct Meter(Mutex<BTreeMap<(PluginIdentity, &'static str, String), Cost>>);

impl Meter {
    pub(crate) fn add(&self, plugin: &PluginIdentity, stage: &'static str, source: &str, cost: Cost) {
        let key = (plugin.clone(), stage, source.to_owned());
        self.0.lock().expect("no panic while it is held").entry(key).or_default().add(cost);
    }

    /// A call of these that was counted as failed is so no more.
    pub(crate) fn forgive(&self, plugin: &PluginIdentity, stage: &'static str, source: &str) {
        let mut costs = self.0.lock().expect("no panic while it is held");
        let cost = costs.get_mut(&(plugin.clone(), stage, source.to_owned())).expect("the call was counted");
        cost.failed = cost.failed.checked_sub(1).expect("it was counted as failed");
    }

    /// Everything so far, sorted by plugin, stage and source.
    pub fn entries(&self) -> Vec<CostEntry> {
        let costs = self.0.lock().expect("no panic while it is held");
        let entry = |((plugin, stage, source), cost): (&(PluginIdentity, &'static str, String), &Cost)| CostEntry {
            plugin: plugin.clone(),
            stage,
            source: source.clone(),
            cost: *cost,
        };
        costs.iter().map(entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_add_up_and_memory_is_the_most() {
        let plugin =
            |name: &str| PluginIdentity { name: name.to_owned(), version: "1.0.0".to_owned(), digest: String::new() };
        let cost = |fuel, peak_memory| Cost { calls: 1, fuel, peak_memory, ..Cost::default() };
        let meter = Meter::default();
        meter.add(&plugin("b"), "emit", "timm", cost(5, 100));
        meter.add(&plugin("b"), "emit", "timm", cost(7, 60));
        meter.add(&plugin("a"), "emit", "", cost(1, 1));
        let entries = meter.entries();
        let told: Vec<_> = entries.iter().map(|entry| (entry.plugin.name.as_str(), entry.source.as_str())).collect();
        assert_eq!(told, [("a", ""), ("b", "timm")]);
        assert_eq!(entries[1].cost, Cost { calls: 2, ..cost(12, 100) });
        meter.add(&plugin("b"), "emit", "timm", Cost { failed: 1, ..cost(0, 0) });
        meter.forgive(&plugin("b"), "emit", "timm");
        assert_eq!(meter.entries()[1].cost, Cost { calls: 3, ..cost(12, 100) });
    }
}
