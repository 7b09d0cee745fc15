//! Where a row lies in one sorted map of all partitions: the key layout shared by the engines.
//!
//! `tenant: 1 to 5 bytes` `space: u8` `bucket: u32 big-endian` `row key`
//!
//! The tenant is the number of its life: below [`LONG_NUMBER`] one byte; else how many bytes follow, less one, added to
//! [`LONG_NUMBER`], and the number in as few as it needs, big-endian. The first byte says where the number ends, so no
//! partition's rows lie among another's; and places are in the order of the numbers.

use smallvec::SmallVec;

use crate::operation::prefix_end;
use crate::{Partition, Range, RangeRef};

/// A row's place; on the stack for all usual keys.
pub type PlaceBytes = SmallVec<[u8; 128]>;

/// Bytes between the tenant's number and the row key.
const FIXED_BYTES: usize = 5;
/// Numbers from here on take more than one byte.
const LONG_NUMBER: u8 = 0xF8;

/// The place of one row. Cost: one copy of its key.
#[inline]
pub fn place(partition: &Partition, key: &[u8]) -> PlaceBytes {
    let number = partition.tenant.number();
    let [one, two, three, four] = partition.bucket.to_be_bytes();
    let mut bytes = PlaceBytes::new();
    match u8::try_from(number) {
        // Of most tenants the head is made in one piece.
        Ok(short) if short < LONG_NUMBER => {
            bytes.extend_from_slice(&[short, partition.space.id, one, two, three, four]);
        }
        _ => {
            put_number(&mut bytes, number);
            bytes.extend_from_slice(&[partition.space.id, one, two, three, four]);
        }
    }
    bytes.extend_from_slice(key);
    bytes
}

/// First place and first place behind a range of a partition; `None` if the range is empty.
pub fn bounds(partition: &Partition, range: &Range) -> Option<(PlaceBytes, PlaceBytes)> {
    bounds_of(RangeRef { partition, start: &range.start, end: range.end.as_deref() })
}

/// The same of a range where it lies.
pub fn bounds_of(range: RangeRef<'_>) -> Option<(PlaceBytes, PlaceBytes)> {
    let start = place(range.partition, range.start);
    let end = match range.end {
        Some(end) => place(range.partition, end),
        None => prefix_end(&place(range.partition, &[]))?.as_ref().into(),
    };
    (start < end).then_some((start, end))
}

/// How many bytes of a place stand before the row key.
#[inline]
pub fn head_bytes(partition: &Partition) -> usize {
    let number = partition.tenant.number();
    FIXED_BYTES + if number < u32::from(LONG_NUMBER) { 1 } else { 1 + long_bytes(number) }
}

/// First place and first place behind all rows of a tenant.
pub fn bounds_of_tenant(number: u32) -> (PlaceBytes, PlaceBytes) {
    let mut start = PlaceBytes::new();
    put_number(&mut start, number);
    // A number's first byte is never the last one there is.
    let end = prefix_end(&start).expect("the first byte of a number is not the last there is");
    (start, end.as_ref().into())
}

fn put_number(bytes: &mut PlaceBytes, number: u32) {
    match u8::try_from(number) {
        Ok(short) if short < LONG_NUMBER => bytes.push(short),
        _ => {
            let long = long_bytes(number);
            bytes.push(LONG_NUMBER + u8::try_from(long - 1).expect("a number of at most four bytes"));
            bytes.extend_from_slice(
                number.to_be_bytes().get(4 - long..).expect("a number of at most four bytes"),
            );
        }
    }
}

/// How many bytes a number needs, at least one.
fn long_bytes(number: u32) -> usize {
    (4 - number.leading_zeros() as usize / 8).max(1)
}

/// Whether a row is found by scans only ([`crate::Write`]). Engines keep no book of such rows, and no filters.
#[inline]
pub fn is_scanned(key: &[u8]) -> bool {
    key.first().is_some_and(u8::is_ascii_uppercase)
}

/// Whether the row at a place is read by its key.
#[inline]
pub fn is_point(place: &[u8]) -> bool {
    let Some(first) = place.first() else { return false };
    let long = first.checked_sub(LONG_NUMBER).map_or(0, |more| usize::from(more) + 1);
    place.get(1 + long + FIXED_BYTES..).is_some_and(|key| !is_scanned(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{tenant, things};

    #[test]
    fn places_are_in_the_order_of_numbers_and_within_the_bounds_of_their_tenant() {
        let numbers = [0, 1, 0xF7, 0xF8, 0xFF, 0x100, 0xFFFF, 0x1_0000, 0x00FF_FFFF, 0x0100_0000, u32::MAX];
        let mut before = PlaceBytes::new();
        for number in numbers {
            let (start, end) = bounds_of_tenant(number);
            for bucket in [0, u32::MAX] {
                for key in [&b""[..], b"k", b"\xff\xff"] {
                    let partition = Partition { tenant: tenant(number), ..things(bucket) };
                    let place = place(&partition, key);
                    assert!(before < place && start <= place && place < end, "{number} {key:?}");
                    assert_eq!(&place[head_bytes(&partition)..], key);
                    assert!(is_point(&place));
                    before = place;
                }
            }
        }
        let scanned = |number| place(&Partition { tenant: tenant(number), ..things(0) }, b"T");
        assert!(numbers.iter().all(|number| !is_point(&scanned(*number))));
    }
}
