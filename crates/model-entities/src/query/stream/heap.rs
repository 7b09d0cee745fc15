//! A binary heap of numbers whose order lies elsewhere: in what the numbers stand for.

/// Invariant: none comes before the one at half its index. The order of those in it changes by its first one alone, which is
/// then sifted.
#[derive(Debug, Default)]
pub(super) struct Heap(Vec<usize>);

impl Heap {
    /// The first.
    pub(super) fn first(&self) -> Option<usize> {
        self.0.first().copied()
    }

    /// Holds these instead. Cost: linear.
    pub(super) fn fill(
        &mut self,
        numbers: impl Iterator<Item = usize>,
        is_before: impl Fn(usize, usize) -> bool,
    ) {
        self.0.clear();
        self.0.extend(numbers);
        for at in (0..self.0.len() / 2).rev() {
            self.sift(at, &is_before);
        }
    }

    /// Gives the first its place, after it moved back in the order. Cost: two comparisons for each level.
    pub(super) fn sift_first(&mut self, is_before: impl Fn(usize, usize) -> bool) {
        self.sift(0, &is_before);
    }

    /// Removes the first.
    pub(super) fn pop_first(&mut self, is_before: impl Fn(usize, usize) -> bool) {
        if !self.0.is_empty() {
            self.0.swap_remove(0);
            self.sift(0, &is_before);
        }
    }

    fn sift(&mut self, mut at: usize, is_before: &impl Fn(usize, usize) -> bool) {
        while let Some(number) = self.0.get(at).copied() {
            let child = |side: usize| Some((2 * at + side, self.0.get(2 * at + side).copied()?));
            let least = match (child(1), child(2)) {
                (Some(left), Some(right)) if is_before(right.1, left.1) => right,
                (Some(left), _) => left,
                (None, _) => return,
            };
            if !is_before(least.1, number) {
                return;
            }
            self.0.swap(at, least.0);
            at = least.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    use super::Heap;

    #[test]
    fn the_first_is_always_the_least() {
        let mut random = StdRng::seed_from_u64(7);
        for count in [0, 1, 2, 3, 10, 100] {
            let mut heap = Heap::default();
            let mut order: Vec<u32> = (0..count).map(|_| random.random_range(0..50)).collect();
            heap.fill(0..order.len(), |one, other| order[one] < order[other]);
            let mut left: Vec<usize> = (0..order.len()).collect();
            while let Some(first) = heap.first() {
                assert_eq!(Some(order[first]), left.iter().map(|at| order[*at]).min());
                if random.random_range(0..3) == 0 {
                    heap.pop_first(|one, other| order[one] < order[other]);
                    left.retain(|at| *at != first);
                } else {
                    order[first] += random.random_range(1..20);
                    if order[first] > 200 {
                        order[first] = u32::MAX;
                        heap.pop_first(|one, other| order[one] < order[other]);
                        left.retain(|at| *at != first);
                        continue;
                    }
                    heap.sift_first(|one, other| order[one] < order[other]);
                }
            }
            assert!(left.is_empty());
        }
    }
}
