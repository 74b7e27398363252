//! What plugins cost in a run, as `run.json` keeps it.

use std::fmt;

use netquarry_plugin::{CostEntry, Meter};
use serde::{Deserialize, Serialize};

use crate::quantity::human_count;

/// Costs of one plugin at one kind of work on one source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PluginCost {
    pub plugin: String,
    pub version: String,
    /// SHA-256 of the component.
    pub sha256: String,
    /// What it was asked to do: `describe`, `discover`, `emit`.
    pub stage: String,
    /// Empty for work on none, or on several at once.
    pub source: String,
    pub calls: u64,
    /// Those of them that gave no result, and whose work no other call did.
    pub failed: u64,
    /// About one unit per instruction of the component.
    pub fuel: u64,
    /// Wall time of all threads together, that of the host's functions included.
    pub seconds: f64,
    /// Bytes of linear memory, the most that one call had.
    pub peak_memory: usize,
    /// Calls of the host's functions.
    pub host_calls: u64,
}

impl From<CostEntry> for PluginCost {
    fn from(CostEntry { plugin, stage, source, cost }: CostEntry) -> Self {
        Self {
            plugin: plugin.name,
            version: plugin.version,
            sha256: plugin.digest,
            stage: stage.to_owned(),
            source,
            calls: cost.calls,
            failed: cost.failed,
            fuel: cost.fuel,
            seconds: cost.time.as_secs_f64(),
            peak_memory: cost.peak_memory,
            host_calls: cost.host_calls,
        }
    }
}

/// Calls of one plugin at one kind of work that gave no result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailedCalls {
    pub plugin: String,
    pub version: String,
    /// As in [`PluginCost::stage`].
    pub stage: String,
    pub failed: u64,
    /// All of them, those that gave a result too.
    pub calls: u64,
}

impl FailedCalls {
    /// Those among these costs, in the order of plugins and stages.
    pub fn among(costs: &[PluginCost]) -> Vec<Self> {
        let failed = of_all_sources(costs).into_iter().filter(|cost| cost.failed > 0);
        let failed = failed.map(|PluginCost { plugin, version, stage, failed, calls, .. }| Self {
            plugin,
            version,
            stage,
            failed,
            calls,
        });
        failed.collect()
    }
}

impl fmt::Display for FailedCalls {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plugin, version, stage, failed, calls } = self;
        let count = |count: u64| human_count(usize::try_from(count).unwrap_or(usize::MAX));
        let which = match calls {
            1 => "its only call".to_owned(),
            _ => format!("{} of {} calls", count(*failed), count(*calls)),
        };
        write!(formatter, "{plugin} {version} failed in {which} ({stage})")
    }
}

/// Those of all calls that a host has made so far, but for what it asked of components before it knew their names.
pub fn measured(meter: &Meter) -> Vec<PluginCost> {
    meter.entries().into_iter().filter(|entry| entry.plugin.is_named()).map(PluginCost::from).collect()
}

/// The costs of a library to which more was done: work that was done anew counts as it went the last time.
pub fn renewed(earlier: Vec<PluginCost>, now: Vec<PluginCost>) -> Vec<PluginCost> {
    let is_same = |one: &PluginCost, other: &PluginCost| one.plugin == other.plugin && one.stage == other.stage;
    let kept = earlier.into_iter().filter(|cost| !now.iter().any(|again| is_same(cost, again)));
    let mut costs: Vec<PluginCost> = kept.collect();
    costs.extend(now);
    let place =
        |cost: &PluginCost| (cost.plugin.clone(), cost.version.clone(), cost.stage.clone(), cost.source.clone());
    costs.sort_by_cached_key(place);
    costs
}

/// Without the differences between sources, in the order of plugins and stages.
pub fn of_all_sources(costs: &[PluginCost]) -> Vec<PluginCost> {
    let mut joined: Vec<PluginCost> = Vec::new();
    for cost in costs {
        let same = |other: &&mut PluginCost| other.sha256 == cost.sha256 && other.stage == cost.stage;
        match joined.iter_mut().find(same) {
            Some(other) => {
                other.calls += cost.calls;
                other.failed += cost.failed;
                other.fuel = other.fuel.saturating_add(cost.fuel);
                other.seconds += cost.seconds;
                other.peak_memory = other.peak_memory.max(cost.peak_memory);
                other.host_calls += cost.host_calls;
            }
            None => joined.push(PluginCost { source: String::new(), ..cost.clone() }),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_call(stage: &str, source: &str) -> PluginCost {
        PluginCost {
            plugin: "emit-x".to_owned(),
            version: "0.1.0".to_owned(),
            sha256: "0".repeat(64),
            stage: stage.to_owned(),
            source: source.to_owned(),
            calls: 1,
            failed: 0,
            fuel: 1,
            seconds: 0.5,
            peak_memory: 1,
            host_calls: 2,
        }
    }

    #[test]
    fn sources_are_joined_by_plugin_and_stage() {
        let cost =
            |stage: &str, source: &str, fuel, peak_memory| PluginCost { fuel, peak_memory, ..one_call(stage, source) };
        let joined =
            of_all_sources(&[cost("configure", "", 1, 1), cost("emit", "timm", 5, 9), cost("emit", "torch", 7, 8)]);
        let expected = PluginCost { calls: 2, seconds: 1.0, host_calls: 4, ..cost("emit", "", 12, 9) };
        assert_eq!(joined, [cost("configure", "", 1, 1), expected]);
    }

    #[test]
    fn work_that_was_done_anew_counts_as_it_went_the_last_time() {
        let cost = |stage: &str, source: &str, failed| PluginCost { failed, ..one_call(stage, source) };
        let earlier = vec![cost("emit", "timm", 1), cost("emit", "torch", 0), cost("tell", "", 1)];
        let renewed = renewed(earlier, vec![cost("emit", "timm", 0)]);
        assert_eq!(renewed, [cost("emit", "timm", 0), cost("tell", "", 1)]);
    }

    #[test]
    fn calls_that_failed_are_told_by_plugin_and_work() {
        let cost = |stage: &str, source: &str, failed, calls| PluginCost { failed, calls, ..one_call(stage, source) };
        let costs = [cost("emit", "timm", 2, 1_000), cost("emit", "torch", 0, 63), cost("index", "", 1, 1)];
        let told: Vec<String> = FailedCalls::among(&costs).iter().map(ToString::to_string).collect();
        let expected =
            ["emit-x 0.1.0 failed in 2 of 1,063 calls (emit)", "emit-x 0.1.0 failed in its only call (index)"];
        assert_eq!(told, expected);
        assert!(FailedCalls::among(&costs[1..2]).is_empty());
    }
}
