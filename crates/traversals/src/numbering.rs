//! Numbers for the vertices that a walk meets, dense from zero on: what a walk remembers of vertices lies in arrays.

use std::hash::{BuildHasher, RandomState};

use graph::VertexIdRef;

/// Multiplied with what is hashed; odd, with bits all over.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
const SLOTS_MIN: usize = 64;
/// Keys of so many bytes lie in their slots: those of ids that are numbers.
const SHORT_BYTES: usize = 9;
/// What is above tells the first byte of a key that lies in its slot.
const START_MAX: u32 = u32::MAX - 256;

/// The vertices that a walk met: the number of each, and its id by its number.
///
/// Invariant: numbers are given in order and never change; the key of number `n` ends where that of `n + 1` begins. No key is the beginning of
/// another: ids in keys end themselves.
#[derive(Debug)]
pub struct Numbering {
    /// Ids as parts of keys, one behind another.
    keys: Vec<u8>,
    /// Where each ends.
    ends: Vec<u32>,
    /// Of a power of two, at most two in three taken.
    slots: Vec<Slot>,
    /// Unknown to clients, so that they cannot choose ids that collide.
    seed: u64,
}

/// What tells a key from others without a look at it, or nearly so.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Tag {
    /// Of a short key its last eight bytes, else a hash.
    bits: u64,
    /// Of a short key its first byte, above [`START_MAX`].
    short: Option<u32>,
}

/// A vertex in the table.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    bits: u64,
    /// Where its key begins, or the first byte of a short one.
    start: u32,
    /// Its number plus one; zero: free.
    taken: u32,
}

impl Default for Numbering {
    fn default() -> Self {
        Self {
            keys: Vec::new(),
            ends: Vec::new(),
            slots: vec![Slot::default(); SLOTS_MIN],
            seed: RandomState::new().hash_one(FACTOR),
        }
    }
}

impl Numbering {
    /// How many vertices have a number.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether none has.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.keys.capacity() + 4 * self.ends.capacity() + size_of::<Slot>() * self.slots.capacity()
    }

    /// The number of the vertex whose id is this part of a key; a new one if it has none. Cost: one hash of the bytes, and about one miss
    /// of the processor's cache, of an id that is no number two.
    #[inline]
    pub(crate) fn number(&mut self, key: &[u8]) -> u32 {
        let tag = self.tag(key);
        match self.look_up(key, tag) {
            Ok(number) => number,
            Err(slot) => self.insert(slot, tag, key),
        }
    }

    /// The number of a vertex that has one.
    #[inline]
    pub(crate) fn find(&self, key: &[u8]) -> Option<u32> {
        self.look_up(key, self.tag(key)).ok()
    }

    /// The id of a number as a part of a key.
    #[inline]
    pub fn key(&self, number: u32) -> &[u8] {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.end(before));
        self.keys.get(start..self.end(number)).expect("ends lie in order within the keys")
    }

    /// The id of a number.
    pub fn id(&self, number: u32) -> VertexIdRef<'_> {
        VertexIdRef::of_key(self.key(number)).expect("keys of stored rows, or made of ids")
    }

    #[inline]
    fn end(&self, number: usize) -> usize {
        self.ends.get(number).copied().expect("a number that was given") as usize
    }

    /// The number of a key, or the slot that is free for it.
    #[inline]
    fn look_up(&self, key: &[u8], tag: Tag) -> Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let mut at = self.home(tag) & mask;
        loop {
            let slot = self.slots.get(at).expect("a slot below the mask");
            let Some(number) = slot.taken.checked_sub(1) else { return Err(at) };
            if slot.bits == tag.bits {
                let is_same = match tag.short {
                    Some(first) => slot.start == first,
                    None => slot.start <= START_MAX && self.begins_at(slot.start, key),
                };
                if is_same {
                    return Ok(number);
                }
            }
            at = (at + 1) & mask;
        }
    }

    /// Whether the key that begins there is this one.
    #[inline]
    fn begins_at(&self, start: u32, key: &[u8]) -> bool {
        self.keys.get(start as usize..).is_some_and(|keys| keys.starts_with(key))
    }

    fn insert(&mut self, at: usize, tag: Tag, key: &[u8]) -> u32 {
        let number =
            u32::try_from(self.ends.len()).expect("fewer vertices than the memory of a walk has bytes");
        let start = u32::try_from(self.keys.len()).ok().filter(|start| *start <= START_MAX);
        let start = start.expect("fewer bytes than a walk may have");
        self.keys.extend_from_slice(key);
        self.ends.push(u32::try_from(self.keys.len()).expect("fewer bytes than a walk may have"));
        let slot = Slot { bits: tag.bits, start: tag.short.unwrap_or(start), taken: number + 1 };
        *self.slots.get_mut(at).expect("a slot below the mask") = slot;
        if self.ends.len() * 3 > self.slots.len() * 2 {
            self.grow();
        }
        number
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        let mut slots = vec![Slot::default(); mask + 1];
        for slot in self.slots.iter().filter(|slot| slot.taken > 0) {
            let short = (slot.start > START_MAX).then_some(slot.start);
            let mut at = self.home(Tag { bits: slot.bits, short }) & mask;
            while slots.get(at).is_some_and(|other| other.taken > 0) {
                at = (at + 1) & mask;
            }
            *slots.get_mut(at).expect("a slot below the mask") = *slot;
        }
        self.slots = slots;
    }

    #[inline]
    fn tag(&self, key: &[u8]) -> Tag {
        match key.split_first_chunk() {
            Some(([first], rest)) if key.len() == SHORT_BYTES => {
                let last = rest.first_chunk().expect("eight bytes behind the first");
                Tag { bits: u64::from_be_bytes(*last), short: Some(START_MAX + 1 + u32::from(*first)) }
            }
            _ => Tag { bits: self.hash(key), short: None },
        }
    }

    /// Where a key is looked for first.
    #[inline]
    fn home(&self, tag: Tag) -> usize {
        low_bits(match tag.short {
            Some(first) => fold(fold(self.seed ^ tag.bits) ^ u64::from(first)),
            None => tag.bits,
        })
    }

    #[inline]
    fn hash(&self, key: &[u8]) -> u64 {
        let (mut hash, mut rest) = (self.seed ^ key.len() as u64, key);
        while let Some((bytes, behind)) = rest.split_first_chunk() {
            hash = fold(hash ^ u64::from_le_bytes(*bytes));
            rest = behind;
        }
        let last = rest.iter().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
        fold(fold(hash ^ last) ^ FACTOR)
    }
}

/// Mixes all bits with all others.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the halves of the product are taken apart")]
fn fold(bits: u64) -> u64 {
    let product = u128::from(bits) * u128::from(FACTOR);
    product as u64 ^ (product >> 64) as u64
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the low bits are wanted")]
fn low_bits(hash: u64) -> usize {
    hash as usize
}

#[cfg(test)]
mod tests {
    use graph::VertexId;

    use super::*;

    #[test]
    fn a_vertex_has_one_number() {
        let mut numbering = Numbering::default();
        let ids: Vec<VertexId> = (0..10_000)
            .map(|n: i64| match n % 3 {
                0 => VertexId::Number(n),
                1 => VertexId::Text(format!("1:v{n}").into()),
                _ => VertexId::Uuid(u128::try_from(n).unwrap() << 64),
            })
            // As long as numbers, and with the same last bytes.
            .chain((0..1_000_u64).map(|n| VertexId::Text(format!("{n:07}").into())))
            .chain((1..1_000_i64).map(|n| VertexId::Number(-n)))
            .chain([0, i64::MIN].map(|sign| VertexId::Number(i64::from_be_bytes(*b"0000001\0") ^ sign)))
            .collect();
        for _ in 0..2 {
            for (expected, id) in ids.iter().enumerate() {
                assert_eq!(numbering.number(&id.to_key()) as usize, expected);
            }
        }
        assert_eq!(numbering.len(), ids.len());
        for (number, id) in (0_u32..).zip(&ids) {
            assert_eq!(numbering.id(number).into_owned(), *id);
            assert_eq!(numbering.find(&id.to_key()), Some(number));
        }
        assert_eq!(numbering.find(&VertexId::Number(1).to_key()), None);
    }
}
