//! A list of ids, in order, as candidates.

use entity::keys;

use super::Candidate;

/// Why an id is found.
const PACKED: &str = "an id lies in the buffer of its list";

/// Ids packed into one buffer, sorted, each once.
#[derive(Debug, Default)]
pub(crate) struct IdList {
    bytes: Vec<u8>,
    ids: Vec<PackedId>,
    at: usize,
}

#[derive(Clone, Copy, Debug)]
struct PackedId {
    /// What follows the start that all ids share, as far as it goes: most ids compare by it alone.
    head: u64,
    partition: u32,
    start: u32,
    end: u32,
}

impl IdList {
    pub(crate) fn push(&mut self, partition: usize, id: &[u8]) {
        let offset =
            |bytes: &[u8]| u32::try_from(bytes.len()).expect("the ids of a list take less than 4 GiB");
        let start = offset(&self.bytes);
        self.bytes.extend_from_slice(id);
        let partition = u32::try_from(partition).expect("a tenant has fewer buckets");
        self.ids.push(PackedId { head: 0, partition, start, end: offset(&self.bytes) });
    }

    pub(crate) fn sort(&mut self) {
        let bytes = &self.bytes;
        let text = |id: &PackedId| bytes.get(id.start as usize..id.end as usize).expect(PACKED);
        let first = self.ids.first().map_or(&[][..], text);
        let shared = self.ids.iter().fold(first.len(), |shared, id| {
            first.iter().take(shared).zip(text(id)).take_while(|(one, other)| one == other).count()
        });
        for id in &mut self.ids {
            let rest = text(id).get(shared..).expect("all ids begin with what they share");
            // Shorter ids come first, as zeros do; ids hold none.
            let mut head = [0; 8];
            head.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            id.head = u64::from_be_bytes(head);
        }
        let order = |one: &PackedId, other: &PackedId| {
            one.head.cmp(&other.head).then_with(|| text(one).cmp(text(other)))
        };
        self.ids.sort_unstable_by(order);
        self.ids.dedup_by(|one, other| order(one, other).is_eq());
    }

    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    fn id(&self, at: usize) -> Option<&[u8]> {
        let PackedId { start, end, .. } = *self.ids.get(at)?;
        Some(self.bytes.get(start as usize..end as usize).expect(PACKED))
    }

    /// Passes over the ids up to this one, and answers how many they are.
    pub(crate) fn pass(&mut self, last: &[u8]) -> usize {
        let before = self.at;
        while self.id(self.at).is_some_and(|id| id <= last) {
            self.at += 1;
        }
        self.at - before
    }

    /// Whether this id is in the list; ids are asked for in order.
    pub(crate) fn holds(&mut self, wanted: &[u8]) -> bool {
        while self.id(self.at).is_some_and(|id| id < wanted) {
            self.at += 1;
        }
        self.id(self.at) == Some(wanted)
    }

    /// Whether no id is left.
    pub(crate) fn is_done(&self) -> bool {
        self.at >= self.ids.len()
    }

    pub(crate) fn next(&mut self, key: &mut Vec<u8>) -> Option<Candidate> {
        let PackedId { partition, start, end, .. } = *self.ids.get(self.at)?;
        self.at += 1;
        key.clear();
        key.push(keys::ENTITY);
        key.extend_from_slice(self.bytes.get(start as usize..end as usize).expect(PACKED));
        Some(Candidate { partition: partition as usize, entity: None })
    }
}
