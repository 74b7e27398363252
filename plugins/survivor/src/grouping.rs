//! Groups of blocks that belong together, directly or through others.

use std::collections::BTreeMap;

/// Blocks that are joined pair by pair.
#[derive(Clone, Debug)]
pub struct Groups {
    parents: Vec<u32>,
}

impl Groups {
    /// `count` blocks, each in a group of its own.
    pub fn new(count: u32) -> Self {
        Self { parents: (0..count).collect() }
    }

    pub fn join(&mut self, first: u32, second: u32) {
        let (first, second) = (self.root(first), self.root(second));
        // The smaller number is the root, so that it does not matter in which order pairs are joined.
        self.parents[first.max(second) as usize] = first.min(second);
    }

    pub fn are_joined(&mut self, first: u32, second: u32) -> bool {
        self.root(first) == self.root(second)
    }

    /// The groups of two and more among `members`, by their smallest member; members are ascending.
    pub fn of(&mut self, members: &[u32]) -> Vec<Vec<u32>> {
        let mut groups: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for member in members {
            groups.entry(self.root(*member)).or_default().push(*member);
        }
        groups.into_values().filter(|group| group.len() > 1).collect()
    }

    fn root(&mut self, block: u32) -> u32 {
        let mut root = block;
        while self.parents[root as usize] != root {
            let grandparent = self.parents[self.parents[root as usize] as usize];
            self.parents[root as usize] = grandparent;
            root = grandparent;
        }
        root
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_transitive_and_sorted() {
        let mut groups = Groups::new(6);
        groups.join(5, 3);
        groups.join(1, 5);
        groups.join(4, 2);
        assert_eq!(groups.of(&[0, 1, 2, 3, 4, 5]), [vec![1, 3, 5], vec![2, 4]]);
        assert_eq!(groups.of(&[0, 1, 2, 5]), [vec![1, 5]]);
        assert!(groups.are_joined(1, 3) && !groups.are_joined(0, 1));
    }
}
