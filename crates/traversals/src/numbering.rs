//! Numbers for the vertices that a walk meets, dense from zero on: what a walk remembers of vertices lies in arrays.

use std::hash::{BuildHasher, RandomState};

use graph::VertexIdRef;

/// Multiplied with what is hashed; odd, with bits all over.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
const SLOTS_MIN: usize = 64;

/// The vertices that a walk met: the number of each, and its id by its number.
///
/// Invariant: numbers are given in order and never change; the key of number `n` ends where that of `n + 1` begins.
#[derive(Debug)]
pub struct Numbering {
    /// Ids as parts of keys, one behind another.
    keys: Vec<u8>,
    /// Where each ends.
    ends: Vec<u32>,
    /// Half of a hash, and the number plus one; zero: free. Of a power of two, at most half taken.
    slots: Vec<u64>,
    /// Unknown to clients, so that they cannot choose ids that collide.
    seed: u64,
}

impl Default for Numbering {
    fn default() -> Self {
        Self {
            keys: Vec::new(),
            ends: Vec::new(),
            slots: vec![0; SLOTS_MIN],
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
        self.keys.capacity() + 4 * self.ends.capacity() + 8 * self.slots.capacity()
    }

    /// The number of the vertex whose id is this part of a key; a new one if it has none. Cost: one hash of the bytes, and about two
    /// misses of the processor's cache.
    #[inline]
    pub(crate) fn number(&mut self, key: &[u8]) -> u32 {
        let hash = self.hash(key);
        let mask = self.slots.len() - 1;
        let mut slot = low_bits(hash) & mask;
        loop {
            let entry = self.slots.get(slot).copied().expect("a slot below the mask");
            if entry == 0 {
                break;
            }
            if entry >> 32 == hash >> 32 {
                let number = number_of(entry);
                if self.key(number) == key {
                    return number;
                }
            }
            slot = (slot + 1) & mask;
        }
        self.insert(slot, hash, key)
    }

    /// The number of a vertex that has one.
    pub(crate) fn find(&self, key: &[u8]) -> Option<u32> {
        let hash = self.hash(key);
        let mask = self.slots.len() - 1;
        let mut slot = low_bits(hash) & mask;
        loop {
            let entry = self.slots.get(slot).copied().expect("a slot below the mask");
            if entry == 0 {
                return None;
            }
            if entry >> 32 == hash >> 32 && self.key(number_of(entry)) == key {
                return Some(number_of(entry));
            }
            slot = (slot + 1) & mask;
        }
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

    fn insert(&mut self, slot: usize, hash: u64, key: &[u8]) -> u32 {
        let number =
            u32::try_from(self.ends.len()).expect("fewer vertices than the memory of a walk has bytes");
        self.keys.extend_from_slice(key);
        self.ends.push(u32::try_from(self.keys.len()).expect("fewer bytes than a walk may have"));
        *self.slots.get_mut(slot).expect("a slot below the mask") = entry_of(hash, number);
        if self.ends.len() * 2 > self.slots.len() {
            self.grow();
        }
        number
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        let mut slots = vec![0_u64; mask + 1];
        for number in 0..self.ends.len() {
            let number = u32::try_from(number).expect("numbers are of four bytes");
            let hash = self.hash(self.key(number));
            let mut slot = low_bits(hash) & mask;
            while slots.get(slot).is_some_and(|taken| *taken != 0) {
                slot = (slot + 1) & mask;
            }
            *slots.get_mut(slot).expect("a slot below the mask") = entry_of(hash, number);
        }
        self.slots = slots;
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

#[inline]
fn entry_of(hash: u64, number: u32) -> u64 {
    hash & !u64::from(u32::MAX) | (u64::from(number) + 1)
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the low half is the number")]
fn number_of(entry: u64) -> u32 {
    (entry as u32) - 1
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
