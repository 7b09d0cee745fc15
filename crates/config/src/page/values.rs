//! Values that leaves below a page may have: a Bloom filter of each leaf page that a search by value has met. It is made of the page
//! when it is first asked for, lives and goes with the page in memory, and is never stored: so it costs writers nothing.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::label::NO_LABEL;
use crate::page::{Content, Page};
use crate::record::RawLeaves;

/// Bits of a value: with [`PROBES`] of them set, one of a hundred values that are not there seems to be.
const VALUE_BITS: usize = 10;
/// A set has at most this part of the bytes of its page: where values are many and short, each has fewer bits.
pub(crate) const VALUES_SHARE: usize = 8;
/// But for a few bytes, of a page of few values.
const WORDS_MIN: usize = 2;
const WORD_BYTES: usize = size_of::<u64>();
const PROBES: u64 = 4;

/// A set of values that may say yes too often, never no.
#[derive(Debug)]
pub(crate) struct ValueSet {
    /// As many as a power of two.
    words: Box<[u64]>,
}

/// What an entry must have that is looked for: for one of these ways each of some values, which may be spelt in several forms.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct ValueDemand {
    pub(crate) ways: Vec<Vec<Vec<u64>>>,
}

/// A value of the leaf that has this slot.
pub(crate) fn value_hash(slot: u32, text: &str) -> u64 {
    xxh3_64_with_seed(text.as_bytes(), u64::from(slot))
}

impl ValueSet {
    /// Of the records of a leaf page. Cost: a look at all of them.
    pub(super) fn of(page: &Page) -> Self {
        let (mut hashes, mut entries) = (Vec::new(), page.entries());
        while entries.next() {
            if entries.key().first() == Some(&NO_LABEL) {
                break;
            }
            let Content::Value(record) = entries.content() else {
                // A record with a page of its own may have anything.
                return Self { words: Box::new([u64::MAX]) };
            };
            for leaf in RawLeaves::new(record) {
                hashes.extend(leaf.values().map(|value| value_hash(leaf.slot, value.text)));
            }
        }
        hashes.sort_unstable();
        hashes.dedup();
        let wanted = (hashes.len() * VALUE_BITS).div_ceil(64).next_power_of_two();
        let most = (page.bytes().len() / VALUES_SHARE / WORD_BYTES).checked_ilog2().map_or(1, |log| 1 << log);
        let words = wanted.min(most.max(WORDS_MIN));
        let mut set = Self { words: vec![0; words].into() };
        hashes.into_iter().for_each(|hash| set.add(hash));
        set
    }

    fn add(&mut self, hash: u64) {
        for probe in 0..PROBES {
            let (at, bit) = self.bit(hash, probe);
            if let Some(word) = self.words.get_mut(at) {
                *word |= bit;
            }
        }
    }

    fn may_have(&self, hash: u64) -> bool {
        (0..PROBES).all(|probe| {
            let (at, bit) = self.bit(hash, probe);
            self.words.get(at).is_some_and(|word| word & bit != 0)
        })
    }

    /// One of the bits of a value: its word, and the bit there.
    fn bit(&self, hash: u64, probe: u64) -> (usize, u64) {
        let bits = self.words.len() as u64 * 64;
        let at = hash.wrapping_add((hash >> 32 | 1).wrapping_mul(probe)) & (bits - 1);
        (usize::try_from(at / 64).expect("a position in memory"), 1 << (at % 64))
    }
}

impl ValueDemand {
    /// Whether a record of the page may be one that is looked for.
    pub(crate) fn may_be_met(&self, set: &ValueSet) -> bool {
        let one_of = |values: &Vec<u64>| values.iter().any(|hash| set.may_have(*hash));
        self.ways.iter().any(|all| all.iter().all(one_of))
    }
}

#[cfg(test)]
mod tests {
    use lang_yang::ValueKind;

    use super::{VALUES_SHARE, ValueDemand, WORD_BYTES, value_hash};
    use crate::label::NO_LABEL;
    use crate::page::{Content, Page, PageBuilder, PageKind};
    use crate::record::{ValueRef, put_leaf};

    const SLOT: u32 = 3;

    /// A page of records with one leaf each, and an entry of the key index behind them.
    fn page(texts: impl Iterator<Item = String>) -> Page {
        let mut builder = PageBuilder::new(PageKind::Leaf);
        for (number, text) in (1_u8..).zip(texts) {
            let mut record = Vec::new();
            put_leaf(&mut record, SLOT, [ValueRef { kind: ValueKind::Text, text: &text }].into_iter());
            builder.push(&[1, number], Content::Value(&record));
        }
        builder.push(&[NO_LABEL, 1], Content::Value(&[1]));
        Page::trusted(builder.finish()).unwrap()
    }

    fn demand(ways: &[&[&[&str]]]) -> ValueDemand {
        let hashes = |some: &&[&str]| some.iter().map(|text| value_hash(SLOT, text)).collect();
        ValueDemand { ways: ways.iter().map(|all| all.iter().map(hashes).collect()).collect() }
    }

    #[test]
    fn a_set_has_all_values_of_its_page_and_few_others() {
        for count in [0, 1, 7, 100, 200] {
            let page = page((0..count).map(|number| format!("value {number}")));
            let set = page.values();
            assert!((0..count).all(|number| set.may_have(value_hash(SLOT, &format!("value {number}")))));
            let others =
                (0..10_000).filter(|number| set.may_have(value_hash(SLOT, &format!("other {number}"))));
            assert!(others.count() < 200, "{count} values");
            let of_other_leaf =
                (0..count).filter(|at| set.may_have(value_hash(SLOT + 1, &format!("value {at}"))));
            assert!(of_other_leaf.count() <= count / 10);
        }
    }

    #[test]
    fn a_set_of_many_short_values_is_small_and_has_them_all() {
        let mut builder = PageBuilder::new(PageKind::Leaf);
        let texts: Vec<String> = (0..2_000).map(|number| format!("{number:x}")).collect();
        for (number, texts) in (1_u8..).zip(texts.chunks(100)) {
            let mut record = Vec::new();
            let values = texts.iter().map(|text| ValueRef { kind: ValueKind::Text, text });
            put_leaf(&mut record, SLOT, values);
            builder.push(&[1, number], Content::Value(&record));
        }
        let page = Page::trusted(builder.finish()).unwrap();
        let set = page.values();
        assert!(
            page.bytes().len() < 12_000 && set.words.len() * WORD_BYTES <= page.bytes().len() / VALUES_SHARE
        );
        assert!(texts.iter().all(|text| set.may_have(value_hash(SLOT, text))));
        let others = (0..10_000).filter(|number| set.may_have(value_hash(SLOT, &format!("other {number}"))));
        assert!(others.count() < 3_000);
    }

    #[test]
    fn one_way_must_be_met_whole_each_value_in_some_form() {
        let page = page(["a", "b"].map(String::from).into_iter());
        let may = |ways: &[&[&[&str]]]| demand(ways).may_be_met(page.values());
        assert!(may(&[&[&["a"]]]) && may(&[&[&["x", "a"]]]) && may(&[&[&["a"], &["b"]]]));
        assert!(may(&[&[&["a"], &["x"]], &[&["b"]]]));
        assert!(!may(&[&[&["x"]]]) && !may(&[&[&["a"], &["x"]]]) && !may(&[]));
    }
}
