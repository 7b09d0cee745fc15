//! The key page of the catalogue: every row, how its key is built, and how it is read back.
//!
//! ```text
//! partition                     row                         value
//! catalogue/{repository}/{of number}  d number              definition (encode.rs), stamped
//!                                     E number              nothing              series with a retention
//!                                     f number              numbers, stamped     the formulas that refer to a series
//!                                     x number              time, stamped        a series being removed: its number is not free
//! catalogue/{repository}/{of name}    n name                number, stamped      finds by name, in order
//!                                     A attribute 00 name   number               finds by attribute, in order of names
//!                                     V attribute 00 value 00 name   number      finds by attribute and value
//!                                     Q unit 00 name        number               finds by unit
//!                                     C unit 00 name        number               finds formulas that convert to a unit
//! catalogue/{repository}/0            u                     units, stamped       all of them in one row
//!                                     t name                attribute type, stamped
//!                                     h name                hook, stamped
//!                                     k name                when a hook was made, stamped
//!                                     i                     the intent under way (intent.rs), stamped
//! catalogue/{repository}/{each}       p                     how far intents were carried out here, stamped
//! intents/{repository}/0              w write id, piece     a piece of an intent; fresh rows
//! series/{repository}/{number} (of strands)           points: see `strands/src/keys.rs`
//! blocks/{repository}/{hash}   (of strands)           their blocks
//! ```
//!
//! A repository is part of a tenant: the store's directory of tenants names it, gives it a number of its own, and keeps its
//! description, time of creation and number of buckets (`repositories.rs`).
//!
//! The bucket of a row follows from its key: low bits of the number, or of the hash of the name, which is the number that a new
//! series is given if it is free. So all rows of a series that was never renamed are in one, and those of most commits.
//!
//! Numbers are four bytes, big-endian. Names hold no zero, so that 00 ends them; the name of the series is always the
//! tail of an index key, so that rows that agree in all before it come in order of names. Values of attributes are
//! cut at [`VALUE_BYTES_MAX`] bytes: what they find is looked up and checked.

use bytes::Bytes;
use store::key::{i64_of_ordered, ordered_i64};
use store::{Model, Partition, Range, Space, SpaceKind, Tenant, WriteId, bucket_of};
use xxhash_rust::xxh3::xxh3_64;

/// Whose change records these are.
pub(crate) const MODEL: Model = Model { id: 2, name: "series" };
/// Definitions and all that is known of series but points.
pub(crate) const CATALOGUE: Space = Space { id: 34, kind: SpaceKind::Commit, name: "catalogue" };
/// What goes ahead of intents.
pub(crate) const INTENTS: Space = Space { id: 37, kind: SpaceKind::Append, name: "intents" };
/// Points of series.
pub(crate) const SERIES: Space = Space { id: 32, kind: SpaceKind::Commit, name: "series" };

/// The part of an attribute's value that is in a key.
const VALUE_BYTES_MAX: usize = 255;

const DEFINITION: u8 = b'd';
const NAME: u8 = b'n';
const ATTRIBUTE: u8 = b'A';
const VALUE: u8 = b'V';
const UNIT: u8 = b'Q';
const FORMULA_UNIT: u8 = b'C';
const RETENTION: u8 = b'E';
const USERS: u8 = b'f';
const REMOVAL: u8 = b'x';
const UNITS: u8 = b'u';
const ATTRIBUTE_TYPE: u8 = b't';
const HOOK: u8 = b'h';
const HOOK_REGISTRATION: u8 = b'k';
const INTENT: u8 = b'i';
const PROGRESS: u8 = b'p';
const PIECE: u8 = b'w';

/// A bucket of the catalogue of a repository.
pub(crate) fn catalogue_partition(tenant: &Tenant, bucket: u32) -> Partition {
    Partition { tenant: tenant.clone(), space: CATALOGUE, bucket }
}

/// Where intents of a repository lie.
pub(crate) fn intents_partition(tenant: &Tenant) -> Partition {
    Partition { tenant: tenant.clone(), space: INTENTS, bucket: 0 }
}

/// The bucket of a row, of `buckets`.
pub(crate) fn bucket_of_key(key: &[u8], buckets: u32) -> u32 {
    let of_name = |name: &[u8]| bucket_of(name, buckets);
    match key.split_first() {
        Some((&(DEFINITION | RETENTION | USERS | REMOVAL), _)) => {
            number_of_key(key).map_or(0, |number| bucket_of_number(number, buckets))
        }
        Some((&NAME, name)) => of_name(name),
        Some((&(ATTRIBUTE | VALUE | UNIT | FORMULA_UNIT), rest)) => {
            of_name(rest.rsplit(|byte| *byte == 0).next().expect("a split has a part"))
        }
        // Of the whole repository.
        _ => 0,
    }
}

/// The bucket of what is known by a number.
pub(crate) fn bucket_of_number(number: u32, buckets: u32) -> u32 {
    number & buckets.saturating_sub(1)
}

/// Whether the row is one that definitions in all buckets lean on.
pub(crate) fn is_master_data(key: &[u8]) -> bool {
    matches!(key.first(), Some(&(UNITS | ATTRIBUTE_TYPE)))
}

/// Where the points of a series live.
pub(crate) fn series_partition(tenant: &Tenant, number: u32) -> Partition {
    Partition { tenant: tenant.clone(), space: SERIES, bucket: number }
}

/// The number that a name is given if it is free. Stored data depends on it: it never changes.
pub(crate) fn home_number(name: &str) -> u32 {
    let [_, _, _, _, low @ ..] = xxh3_64(name.as_bytes()).to_be_bytes();
    u32::from_be_bytes(low)
}

fn numbered(kind: u8, number: u32) -> [u8; 5] {
    let [a, b, c, d] = number.to_be_bytes();
    [kind, a, b, c, d]
}

fn named(kind: u8, name: &str) -> Bytes {
    [&[kind], name.as_bytes()].concat().into()
}

/// Row `d`, on the stack: it is looked up for every series of a request.
pub(crate) fn definition_array(number: u32) -> [u8; 5] {
    numbered(DEFINITION, number)
}

/// Row `d`.
pub(crate) fn definition(number: u32) -> Bytes {
    Bytes::copy_from_slice(&numbered(DEFINITION, number))
}

/// Row `n`.
pub(crate) fn name(name: &str) -> Bytes {
    named(NAME, name)
}

/// Row `E`.
pub(crate) fn retention(number: u32) -> Bytes {
    Bytes::copy_from_slice(&numbered(RETENTION, number))
}

/// Row `f`.
pub(crate) fn users(number: u32) -> Bytes {
    Bytes::copy_from_slice(&numbered(USERS, number))
}

/// Row `x`.
pub(crate) fn removal(number: u32) -> Bytes {
    Bytes::copy_from_slice(&numbered(REMOVAL, number))
}

/// Row `u`.
pub(crate) fn units() -> Bytes {
    Bytes::from_static(&[UNITS])
}

/// Row `t`.
pub(crate) fn attribute_type(name: &str) -> Bytes {
    named(ATTRIBUTE_TYPE, name)
}

/// Row `h`.
pub(crate) fn hook(name: &str) -> Bytes {
    named(HOOK, name)
}

/// Row `k`.
pub(crate) fn hook_registration(name: &str) -> Bytes {
    named(HOOK_REGISTRATION, name)
}

/// Row `i`.
pub(crate) fn intent() -> Bytes {
    Bytes::from_static(&[INTENT])
}

/// Row `p`.
pub(crate) fn progress() -> Bytes {
    Bytes::from_static(&[PROGRESS])
}

/// A piece of the intent that this commit stored.
pub(crate) fn piece(intent: WriteId, piece: u32) -> Bytes {
    [&[PIECE], &intent.0.to_be_bytes()[..], &piece.to_be_bytes()].concat().into()
}

/// An index by which series are found in order of names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Index<'a> {
    /// Rows `n`.
    Names,
    /// Rows `A`.
    Attribute(&'a str),
    /// Rows `V`.
    Value(&'a str, &'a str),
    /// Rows `Q`.
    Unit(&'a str),
    /// Rows `C`.
    FormulaUnit(&'a str),
}

impl Index<'_> {
    /// What comes before the series' name.
    pub(crate) fn head(self) -> Vec<u8> {
        match self {
            Self::Names => vec![NAME],
            Self::Attribute(attribute) => [&[ATTRIBUTE], attribute.as_bytes(), &[0]].concat(),
            Self::Value(attribute, value) => {
                let value = cut(value);
                [&[VALUE], attribute.as_bytes(), &[0], value.as_bytes(), &[0]].concat()
            }
            Self::Unit(unit) => [&[UNIT], unit.as_bytes(), &[0]].concat(),
            Self::FormulaUnit(unit) => [&[FORMULA_UNIT], unit.as_bytes(), &[0]].concat(),
        }
    }

    /// The key of the series' row.
    pub(crate) fn key(self, name: &str) -> Bytes {
        let mut key = self.head();
        key.extend_from_slice(name.as_bytes());
        key.into()
    }

    /// Rows of series whose names begin with `prefix`, from behind the name `after`.
    pub(crate) fn range(self, prefix: &str, after: Option<&str>) -> Range {
        let head = self.head();
        let mut range = Range::prefix([&head, prefix.as_bytes()].concat());
        if let Some(after) = after {
            let behind: Bytes = [&head, after.as_bytes(), &[0]].concat().into();
            range.start = range.start.max(behind);
        }
        range
    }
}

/// The part of a value that is in a key: whole characters, no zero.
fn cut(value: &str) -> &str {
    let value = value.split('\0').next().expect("a split has a part");
    value.split_at(value.floor_char_boundary(VALUE_BYTES_MAX)).0
}

/// All attribute types, by name.
pub(crate) fn attribute_types() -> Range {
    Range::prefix(vec![ATTRIBUTE_TYPE])
}

/// All hooks, by name.
pub(crate) fn hooks() -> Range {
    Range::prefix(vec![HOOK])
}

/// All series with a retention.
pub(crate) fn retentions() -> Range {
    Range::prefix(vec![RETENTION])
}

/// All definitions.
pub(crate) fn definitions() -> Range {
    Range::prefix(vec![DEFINITION])
}

/// All series being removed.
pub(crate) fn removals() -> Range {
    Range::prefix(vec![REMOVAL])
}

/// The name at the end of a key with this much before it.
pub(crate) fn name_of_key(key: &[u8], head: usize) -> Option<&str> {
    std::str::from_utf8(key.get(head..)?).ok()
}

/// The number in a key of row `d`, `E`, `f` or `x`.
pub(crate) fn number_of_key(key: &[u8]) -> Option<u32> {
    number_of_value(key.get(1..)?)
}

/// The number that an index row holds.
pub(crate) fn number_of_value(value: &[u8]) -> Option<u32> {
    value.try_into().ok().map(u32::from_be_bytes)
}

/// What an index row holds.
pub(crate) fn value_of_number(number: u32) -> Bytes {
    Bytes::copy_from_slice(&number.to_be_bytes())
}

/// The name of the strand of a quotation: its issue time, in an order that keeps that of time.
pub(crate) fn quotation(issued: i64) -> Bytes {
    Bytes::copy_from_slice(&ordered_i64(issued))
}

/// The issue time of the quotation whose strand has this name.
pub(crate) fn issued_of(strand: &[u8]) -> Option<i64> {
    strand.try_into().ok().map(i64_of_ordered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_names_never_change() {
        assert_eq!(home_number("Load North"), 3_276_192_667);
        assert_eq!(home_number(""), 0x38d3_94c2);
    }

    #[test]
    fn rows_of_a_series_that_was_not_renamed_are_in_one_bucket() {
        for buckets in [1, 4, 64, 1 << 31] {
            for name in ["Load North", "", "s 17"] {
                let number = home_number(name);
                let index = [
                    Index::Names.key(name),
                    Index::Attribute("Region").key(name),
                    Index::Value("Region", "North").key(name),
                    Index::Unit("kW").key(name),
                    Index::FormulaUnit("kW").key(name),
                ];
                let numbered = [definition(number), retention(number), users(number), removal(number)];
                for key in index.iter().chain(&numbered) {
                    assert_eq!(bucket_of_key(key, buckets), bucket_of_number(number, buckets), "{key:?}");
                }
                // The next number that may be free is in the same.
                let next = number.wrapping_add(buckets);
                assert_eq!(bucket_of_number(next, buckets), bucket_of_number(number, buckets));
            }
            for key in [units(), attribute_type("Region"), hook("h"), hook_registration("h"), intent()] {
                assert_eq!(bucket_of_key(&key, buckets), 0);
            }
        }
    }

    #[test]
    fn quotations_come_in_order_of_time() {
        let issued = [i64::MIN, -1, 0, 1, 1_700_000_000_000_000_000, i64::MAX];
        assert!(issued.map(quotation).is_sorted());
        assert_eq!(issued.map(|issued| issued_of(&quotation(issued))), issued.map(Some));
    }

    #[test]
    fn ranges_hold_what_has_the_prefix_and_is_behind() {
        let index = Index::Value("Region", "North");
        let inside = |name: &str, range: &Range| {
            let key = index.key(name);
            range.start <= key && range.end.as_ref().is_none_or(|end| key < *end)
        };
        let range = index.range("load", None);
        assert!(inside("load", &range) && inside("load 1", &range) && !inside("loa", &range));
        let range = index.range("load", Some("load 1"));
        assert!(!inside("load 1", &range) && inside("load 10", &range) && !inside("lob", &range));
        let range = index.range("", Some("a"));
        assert!(!inside("a", &range) && inside("a ", &range));
        assert_eq!(name_of_key(&index.key("x y"), index.head().len()), Some("x y"));
        assert_eq!(cut(&"ü".repeat(200)).len(), 254);
    }
}
