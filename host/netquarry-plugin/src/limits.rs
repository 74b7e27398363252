//! What one call of a plugin may use.

use std::time::Duration;

use wasmtime::ResourceLimiter;

use crate::plugin::Kind;

/// The budget of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// About one unit per instruction, so the same on every machine.
    pub fuel: u64,
    /// Bytes, all linear memories and tables of the component together.
    pub memory: usize,
    /// Bytes that one function of the plugin may return, or pass to one function of the host.
    pub transfer: usize,
    /// A watchdog on wall time, for what fuel does not count. Far above what fuel allows, since a loaded machine is
    /// slow. A kernel of the host that is at work is not interrupted, however long it takes.
    pub deadline: Duration,
    /// What a strategy gets on top for each block that it looks at, in one call for all of them.
    pub per_block: PerBlock,
}

/// What one block more allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerBlock {
    /// As in [`Limits::fuel`].
    pub fuel: u64,
    /// Bytes.
    pub memory: usize,
    pub deadline: Duration,
}

impl Limits {
    /// The limits that hold where nobody sets others. Fuel of a billion is about a second.
    pub fn of(kind: Kind) -> Self {
        const BILLION: u64 = 1_000_000_000;
        const MEBIBYTE: usize = 1 << 20;
        let (fuel, memory, seconds) = match kind {
            Kind::DiscoveryRule | Kind::RepoShim | Kind::SpecEmitter => (2 * BILLION, 256 * MEBIBYTE, 120),
            Kind::DedupStrategy => (200 * BILLION, 1024 * MEBIBYTE, 1800),
        };
        let per_block = match kind {
            Kind::DiscoveryRule | Kind::RepoShim | Kind::SpecEmitter => PerBlock::default(),
            // A summary takes 300 bytes.
            Kind::DedupStrategy => PerBlock { fuel: 1_000_000, memory: 1024, deadline: Duration::from_millis(5) },
        };
        Self { fuel, memory, transfer: 128 * MEBIBYTE, deadline: Duration::from_secs(seconds), per_block }
    }

    /// Those of a call about so many blocks.
    #[must_use]
    pub fn for_blocks(self, count: u32) -> Self {
        let Self { fuel, memory, transfer, deadline, per_block } = self;
        Self {
            fuel: fuel.saturating_add(per_block.fuel.saturating_mul(u64::from(count))),
            memory: memory.saturating_add(per_block.memory.saturating_mul(count as usize)),
            transfer,
            deadline: deadline.saturating_add(per_block.deadline.saturating_mul(count)),
            per_block,
        }
    }
}

/// Refuses memory beyond the limit, and remembers that it did.
#[derive(Debug)]
pub(crate) struct Allowance {
    limit: usize,
    used: usize,
    /// The size that was refused.
    pub(crate) refused: Option<usize>,
}

impl Allowance {
    /// What an element of a table takes: an address.
    const ELEMENT_BYTES: usize = 8;
    /// Far more instances, tables and memories than a component of a compiler has.
    const ITEMS: usize = 100;

    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, used: 0, refused: None }
    }

    /// Bytes; memories and tables never shrink.
    pub(crate) fn used(&self) -> usize {
        self.used
    }

    fn grow(&mut self, bytes: usize) -> wasmtime::Result<bool> {
        let used = self.used.saturating_add(bytes);
        if used > self.limit {
            self.refused = Some(used);
            // A guest that is only told "no" would go on and fail somewhere else, with a worse message.
            return Err(wasmtime::Error::msg("the memory limit is reached"));
        }
        self.used = used;
        Ok(true)
    }
}

impl ResourceLimiter for Allowance {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        self.grow(desired.saturating_sub(current))
    }

    fn table_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        self.grow(desired.saturating_sub(current).saturating_mul(Self::ELEMENT_BYTES))
    }

    fn instances(&self) -> usize {
        Self::ITEMS
    }

    fn tables(&self) -> usize {
        Self::ITEMS
    }

    fn memories(&self) -> usize {
        Self::ITEMS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_strategies_get_more_for_more_blocks() {
        let rule = Limits::of(Kind::DiscoveryRule);
        assert_eq!(rule.for_blocks(1_000_000), rule);
        let strategy = Limits::of(Kind::DedupStrategy);
        let million = strategy.for_blocks(1_000_000);
        assert!(million.fuel > strategy.fuel && million.deadline > strategy.deadline);
        // A component has no more than 4 GiB.
        assert!((strategy.memory + 1..4 << 30).contains(&million.memory));
        assert_eq!(million.transfer, strategy.transfer);
        assert_eq!(strategy.for_blocks(0), strategy);
        let endless = Limits { fuel: u64::MAX, ..strategy };
        assert_eq!(endless.for_blocks(u32::MAX).fuel, u64::MAX);
    }
}
