//! Hubs: vertices with so many edges from other buckets that the rows that point at these are spread over several buckets, by the bucket of the source.
//!
//! How wide they are spread only doubles, and rows stay where they are: writers append to the newest width, readers look at all of it. The widths are a part of the state
//! of a graph (state.rs), so that they are known without a read.

use std::sync::Arc;

use bytes::Bytes;
use graph::{VertexId, keys};
use hashbrown::HashMap;

/// The most hubs of a graph: more stay as wide as they are.
pub(crate) const HUBS_MAX: usize = 10_000;
/// Bits of a life that say how wide the pointers were spread when it began.
const WIDTH_BITS: u32 = 4;
/// The widest that pointers are spread.
const WIDTH_MAX: u32 = 1 << ((1 << WIDTH_BITS) - 1);

/// Over how many buckets pointers at vertices are spread, where that is more than one.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Hubs(HashMap<Bytes, u32>);

impl Hubs {
    /// Those of vertices by their ids as parts of keys, with the widths as they are stored; `None`: one is damaged.
    pub(crate) fn of_stored(stored: impl IntoIterator<Item = (Bytes, Bytes)>) -> Option<Self> {
        let width_of = |value: &Bytes| match **value {
            [doublings] => 1_u32.checked_shl(doublings.into()).filter(|width| *width <= WIDTH_MAX),
            _ => None,
        };
        let read = |(key, value)| Some((key, width_of(&value)?));
        stored.into_iter().map(read).collect::<Option<_>>().map(Self)
    }

    /// As a width is stored: how often it doubled.
    pub(crate) fn to_stored(width: u32) -> Bytes {
        Bytes::from(vec![u8::try_from(width.trailing_zeros()).expect("bits of 32")])
    }

    /// The same with another width of a vertex; `None`: that is too wide for so many buckets, or one hub too many.
    pub(crate) fn with(&self, vertex_key: &[u8], width: u32, buckets: u32) -> Option<Self> {
        let is_new = !self.0.contains_key(vertex_key);
        if width > buckets.min(WIDTH_MAX) || (is_new && self.0.len() >= HUBS_MAX) {
            return None;
        }
        let mut widths = self.0.clone();
        widths.insert(Bytes::copy_from_slice(vertex_key), width);
        Some(Self(widths))
    }

    /// Over how many buckets the pointers at a vertex are spread. Cost: a look-up, if there are hubs.
    #[inline]
    pub(crate) fn width(hubs: Option<&Arc<Self>>, vertex_key: &[u8]) -> u32 {
        hubs.and_then(|hubs| hubs.0.get(vertex_key)).copied().unwrap_or(1)
    }

    /// The same by its id.
    pub(crate) fn width_of(hubs: Option<&Arc<Self>>, id: &VertexId) -> u32 {
        if hubs.is_none() { 1 } else { Self::width(hubs, &id.to_key()) }
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The life of an edge that is written while pointers at its target are spread so wide: of those that attempts of different widths append, one counts. Lives that differ
/// go on to differ, for they are counted in their low bits.
pub(crate) fn life_of_width(life: u64, width: u32) -> u64 {
    (life << WIDTH_BITS) | u64::from(width.trailing_zeros())
}

/// All buckets in which a pointer at a vertex of bucket `home` may lie, from a source of bucket `source`: it was written at this width, or before.
pub(crate) fn buckets_of_pointer((home, source): (u32, u32), width: u32, buckets: u32) -> Vec<u32> {
    let widths = (0..=width.trailing_zeros()).map(|doublings| 1 << doublings);
    let mut found: Vec<u32> =
        widths.map(|width| keys::bucket_of_pointer((home, source), width, buckets)).collect();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_stay_within_the_width_and_reach_all_of_it() {
        const BUCKETS: u32 = 16;
        for home in 0..BUCKETS {
            for width in (0..=4).map(|doublings| 1 << doublings) {
                let all = keys::buckets_of_pointers(home, width, BUCKETS);
                let all: std::collections::BTreeSet<u32> = all.collect();
                let mut reached = std::collections::BTreeSet::new();
                for source in 0..BUCKETS {
                    let places = buckets_of_pointer((home, source), width, BUCKETS);
                    assert_eq!(
                        places.first(),
                        Some(&home),
                        "the first rows lie where they lie without a hub"
                    );
                    assert!(places.iter().all(|place| all.contains(place)));
                    reached.insert(keys::bucket_of_pointer((home, source), width, BUCKETS));
                }
                assert_eq!((all.len(), &reached), (width as usize, &all));
            }
        }
    }

    #[test]
    fn widths_are_stored_and_bounded() {
        for width in [1, 2, 64, WIDTH_MAX] {
            let hubs = Hubs::default().with(b"a", width, WIDTH_MAX).unwrap();
            let stored = Hubs::of_stored([("a".into(), Hubs::to_stored(width))]);
            assert_eq!(stored.as_ref(), Some(&hubs));
            let lives = [7, 8].map(|life| life_of_width(life, width));
            assert!(
                lives[0] != lives[1] && lives[0] != life_of_width(7, if width == 1 { 2 } else { 1 }),
                "{width}"
            );
        }
        assert_eq!(Hubs::default().with(b"a", 8, 4), None);
        assert_eq!(Hubs::of_stored([("a".into(), Bytes::from_static(&[16]))]), None);
        assert_eq!(Hubs::of_stored([("a".into(), Bytes::new())]), None);
    }
}
