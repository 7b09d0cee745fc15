//! The key page of the catalogue: every row, how its key is built, and how it is read back.
//!
//! ```text
//! partition                    row                    value
//! catalogue/{repository}/0     d number               definition (encode.rs), stamped
//! catalogue/{repository}/0     n name                 number, stamped      finds by name, in order
//! catalogue/{repository}/0     A attribute 00 name    number               finds by attribute, in order of names
//! catalogue/{repository}/0     V attribute 00 value 00 name   number       finds by attribute and value
//! catalogue/{repository}/0     Q unit 00 name         number               finds by unit
//! catalogue/{repository}/0     C unit 00 name         number               finds formulas that convert to a unit
//! catalogue/{repository}/0     E number               nothing              series with a retention
//! catalogue/{repository}/0     f number               numbers, stamped     the formulas that refer to a series
//! catalogue/{repository}/0     x number               time, stamped        a series being removed: its number is not free
//! catalogue/{repository}/0     u                      units, stamped       all of them in one row
//! catalogue/{repository}/0     t name                 attribute type, stamped
//! catalogue/{repository}/0     h name                 hook, stamped
//! catalogue/{repository}/0     k name                 how far a hook was told, stamped
//! series/{repository}/{number} (of strands)           points: see `strand/keys.rs`
//! blocks/{repository}/{hash}   (of strands)           their blocks
//! ```
//!
//! A repository is part of a tenant: the store's directory of tenants names it, gives it a number of its own, and keeps its
//! description and time of creation (`repositories.rs`).
//!
//! Numbers are four bytes, big-endian. Names hold no zero, so that 00 ends them; the name of the series is always the
//! tail of an index key, so that rows that agree in all before it come in order of names. Values of attributes are
//! cut at [`VALUE_BYTES_MAX`] bytes: what they find is looked up and checked.

use bytes::Bytes;
use store::{Model, Partition, Range, Space, SpaceKind, Tenant};
use xxhash_rust::xxh3::xxh3_64;

/// Whose change records these are.
pub(crate) const MODEL: Model = Model { id: 2, name: "series" };
/// Definitions and all that is known of series but points.
pub(crate) const CATALOGUE: Space = Space { id: 34, kind: SpaceKind::Commit, name: "catalogue" };
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
const HOOK_STATE: u8 = b'k';

/// Where the catalogue of a repository lives.
pub(crate) fn catalogue_partition(tenant: &Tenant) -> Partition {
    Partition { tenant: tenant.clone(), space: CATALOGUE, bucket: 0 }
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
pub(crate) fn hook_state(name: &str) -> Bytes {
    named(HOOK_STATE, name)
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
    /// What stands before the series' name.
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
    let value = value.split('\0').next().unwrap_or_default();
    let mut end = value.len().min(VALUE_BYTES_MAX);
    while !value.is_char_boundary(end) {
        end -= 1;
    }
    value.get(..end).unwrap_or_default()
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

/// The part of `range` behind the row with this key.
pub(crate) fn after_key(range: &Range, key: &[u8]) -> Range {
    Range { start: [key, &[0]].concat().into(), end: range.end.clone() }
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
    Bytes::copy_from_slice(&(issued.cast_unsigned() ^ (1 << 63)).to_be_bytes())
}

/// The issue time of the quotation whose strand has this name.
pub(crate) fn issued_of(strand: &[u8]) -> Option<i64> {
    Some((u64::from_be_bytes(strand.try_into().ok()?) ^ (1 << 63)).cast_signed())
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
