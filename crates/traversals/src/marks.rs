//! What a walk remembers of each vertex, by its number.

/// A set of vertices: a bit each.
#[derive(Debug, Default)]
pub(crate) struct VertexSet {
    words: Vec<u64>,
}

impl VertexSet {
    /// Whether the vertex was not in it before. Cost: an index; now and then room for more.
    #[inline]
    pub(crate) fn insert(&mut self, vertex: u32) -> bool {
        let (word, bit) = (vertex as usize / 64, 1_u64 << (vertex % 64));
        if word >= self.words.len() {
            self.words.resize((word + 1).next_power_of_two(), 0);
        }
        let word = self.words.get_mut(word).expect("there is room for it");
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    #[inline]
    pub(crate) fn contains(&self, vertex: u32) -> bool {
        let (word, bit) = (vertex as usize / 64, 1_u64 << (vertex % 64));
        // What lies beyond was never inserted.
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    pub(crate) fn bytes(&self) -> usize {
        8 * self.words.capacity()
    }
}

/// A value of each vertex; of one that was given none, the first.
#[derive(Debug)]
pub(crate) struct PerVertex<T> {
    values: Vec<T>,
    first: T,
}

impl<T: Copy> PerVertex<T> {
    pub(crate) fn new(first: T) -> Self {
        Self { values: Vec::new(), first }
    }

    #[inline]
    pub(crate) fn get(&self, vertex: u32) -> T {
        self.values.get(vertex as usize).copied().unwrap_or(self.first)
    }

    #[inline]
    pub(crate) fn set(&mut self, vertex: u32, value: T) {
        *self.slot(vertex) = value;
    }

    #[inline]
    pub(crate) fn slot(&mut self, vertex: u32) -> &mut T {
        let at = vertex as usize;
        if at >= self.values.len() {
            self.values.resize((at + 1).next_power_of_two(), self.first);
        }
        self.values.get_mut(at).expect("there is room for it")
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of::<T>() * self.values.capacity()
    }
}

/// Marks vertices round by round; a new round begins with none marked, at no cost.
#[derive(Debug)]
pub(crate) struct RoundMarks {
    rounds: PerVertex<u32>,
    round: u32,
}

impl Default for RoundMarks {
    fn default() -> Self {
        Self { rounds: PerVertex::new(0), round: 1 }
    }
}

impl RoundMarks {
    pub(crate) fn begin_round(&mut self) {
        self.round = self.round.checked_add(1).expect("fewer rounds than a walk has steps");
    }

    /// Whether the vertex was not marked in this round before.
    #[inline]
    pub(crate) fn insert(&mut self, vertex: u32) -> bool {
        let mark = self.rounds.slot(vertex);
        let is_new = *mark != self.round;
        *mark = self.round;
        is_new
    }

    pub(crate) fn bytes(&self) -> usize {
        self.rounds.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_of_their_vertex_and_round() {
        let (mut set, mut marks) = (VertexSet::default(), RoundMarks::default());
        for vertex in [0, 63, 64, 1_000] {
            assert!(!set.contains(vertex));
            assert!(set.insert(vertex) && !set.insert(vertex) && set.contains(vertex));
            assert!(marks.insert(vertex) && !marks.insert(vertex));
        }
        assert!(!set.contains(1) && !set.contains(100_000));
        marks.begin_round();
        assert!(marks.insert(64) && marks.insert(65) && !marks.insert(64));
        let mut values = PerVertex::new(-1);
        values.set(7, 3);
        *values.slot(9) += 1;
        assert_eq!([0, 7, 9, 100].map(|vertex| values.get(vertex)), [-1, 3, 0, -1]);
    }
}
