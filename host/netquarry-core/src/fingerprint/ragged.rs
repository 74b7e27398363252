//! Lists of different lengths in two pieces of memory.

/// Lists of numbers, one behind the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ragged {
    items: Vec<u32>,
    /// Where each list ends.
    ends: Vec<usize>,
}

impl Ragged {
    pub(super) fn push(&mut self, list: impl IntoIterator<Item = u32>) {
        self.items.extend(list);
        self.ends.push(self.items.len());
    }

    /// How many lists there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The list at a place.
    pub(super) fn get(&self, list: usize) -> &[u32] {
        &self.items[self.start(list)..self.ends[list]]
    }

    pub(super) fn get_mut(&mut self, list: usize) -> &mut [u32] {
        let start = self.start(list);
        &mut self.items[start..self.ends[list]]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len()).map(|list| self.get(list))
    }

    /// For each number below `count` the places of the lists that have it, ascending.
    pub(super) fn inverted(&self, count: usize) -> Self {
        let mut ends = vec![0; count];
        self.items.iter().for_each(|item| ends[*item as usize] += 1);
        let mut start = 0;
        for end in &mut ends {
            start += std::mem::replace(end, start);
        }
        // Until they are filled the lists end where they start.
        let mut items = vec![0; self.items.len()];
        for (list, number) in self.iter().zip(0..) {
            for item in list {
                let end = &mut ends[*item as usize];
                items[*end] = number;
                *end += 1;
            }
        }
        Self { items, ends }
    }

    fn start(&self, list: usize) -> usize {
        list.checked_sub(1).map_or(0, |before| self.ends[before])
    }
}

impl<L: IntoIterator<Item = u32>> FromIterator<L> for Ragged {
    fn from_iter<I: IntoIterator<Item = L>>(lists: I) -> Self {
        let mut ragged = Self::default();
        lists.into_iter().for_each(|list| ragged.push(list));
        ragged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_turn_around() {
        let lists: Ragged = [vec![3, 1], vec![], vec![1], vec![4, 3]].into_iter().collect();
        assert_eq!((lists.len(), lists.get(0), lists.get(1)), (4, &[3, 1][..], &[][..]));
        let inverted = lists.inverted(6);
        let expected: Ragged = [vec![], vec![0, 2], vec![], vec![0, 3], vec![3], vec![]].into_iter().collect();
        assert_eq!(inverted, expected);
        assert_eq!(inverted.inverted(4).iter().map(<[u32]>::len).collect::<Vec<_>>(), [2, 0, 1, 2]);
        assert_eq!(Ragged::default().inverted(0), Ragged::default());
    }
}
