//! Whole numbers in groups of 128, each bit-packed as wide as its own numbers need.
//!
//! A group holds either differences from number to number, less the smallest of them, or the numbers
//! themselves, less the smallest; whichever is narrower. All arithmetic wraps, so that every `i64` comes back.
//!
//! A group: one byte (width; the high bit: numbers themselves), the smallest as a zigzag varint (of the
//! numbers: as the distance from the last one), of the very first group of differences the first number, then
//! the bits. A full group of up to 24 bits a difference, or 32 a number, lies as `bitpacking` lays it (SIMD);
//! wider ones and the last, shorter group lie as [`bits::pack`] lays them.

use bitpacking::{BitPacker as _, BitPacker4x};

use super::Malformed;
use super::bits::{self, width_of};
use super::cursor::{Cursor, put_zigzag};

/// Numbers in a full group.
pub(super) const GROUP: usize = BitPacker4x::BLOCK_LEN;

/// In the first byte of a group: the numbers themselves, not differences.
const NUMBERS: u8 = 0x80;

/// Differences up to here are summed up by SIMD: 128 of them stay below 2^32.
const SUMMED_WIDTH_MAX: u32 = 24;

/// Inside this distance of zero differences fit into 32 bits too.
const NARROW: i64 = 1 << 30;

/// Packs all of `values`.
pub(super) fn pack(values: &[i64], out: &mut Vec<u8>) {
    let mut packer = Packer::new();
    let (groups, tail) = values.as_chunks();
    for group in groups {
        packer.group(group, out);
    }
    packer.tail(tail, out);
}

/// Unpacks `count` numbers and gives them to `sink`, a group at a time.
pub(super) fn unpack(
    cursor: &mut Cursor<'_>,
    count: usize,
    mut sink: impl FnMut(&[i64]),
) -> Result<(), Malformed> {
    let mut unpacker = Unpacker::new();
    let mut group = [0; GROUP];
    for _ in 0..count / GROUP {
        unpacker.group(cursor, &mut group, |number| number)?;
        sink(&group);
    }
    let tail = group.get_mut(..count % GROUP).unwrap_or_default();
    unpacker.tail(cursor, tail, |number| number)?;
    sink(tail);
    Ok(())
}

/// Packs group by group.
pub(super) struct Packer {
    simd: BitPacker4x,
    last: Option<i64>,
}

impl Packer {
    pub(super) fn new() -> Self {
        Self { simd: BitPacker4x::new(), last: None }
    }

    /// The last number packed.
    pub(super) fn last(&self) -> Option<i64> {
        self.last
    }

    /// Packs a full group.
    pub(super) fn group(&mut self, values: &[i64; GROUP], out: &mut Vec<u8>) {
        let spread = narrow(values, self.last).map_or_else(
            || Spread::of(values.iter().copied(), self.last),
            |values| Spread::of(values.iter().copied(), self.last.map(low_32_signed)),
        );
        let before = self.header(&spread, values, out);
        if spread.as_numbers() {
            if spread.width > u32::BITS {
                pack_numbers(values, &spread, out);
            } else {
                let low = low_32(spread.low);
                let packed = values.map(|value| low_32(value).wrapping_sub(low));
                let packed_to = grow(out, spread.width);
                self.simd.compress(&packed, packed_to, low_8(spread.width));
            }
        } else if spread.difference_width > SUMMED_WIDTH_MAX {
            pack_differences(values, before, &spread, out);
        } else {
            let step = low_32(spread.difference_low);
            let mut offset = low_32(before);
            let packed = values.map(|value| {
                offset = offset.wrapping_add(step);
                low_32(value).wrapping_sub(offset)
            });
            let packed_to = grow(out, spread.difference_width);
            self.simd.compress_sorted(0, &packed, packed_to, low_8(spread.difference_width));
        }
    }

    /// Packs the last group, of less than 128 numbers or none.
    pub(super) fn tail(&mut self, values: &[i64], out: &mut Vec<u8>) {
        if values.is_empty() {
            return;
        }
        let spread = Spread::of(values.iter().copied(), self.last);
        let before = self.header(&spread, values, out);
        if spread.as_numbers() {
            pack_numbers(values, &spread, out);
        } else {
            pack_differences(values, before, &spread, out);
        }
    }

    /// Writes what stands before the bits; returns the number before the first one.
    fn header(&mut self, spread: &Spread, values: &[i64], out: &mut Vec<u8>) -> i64 {
        let before = self.last;
        self.last = values.last().copied();
        if spread.as_numbers() {
            out.push(low_8(spread.width) | NUMBERS);
            put_zigzag(out, spread.low.wrapping_sub(before.unwrap_or(0)));
            return before.unwrap_or(0);
        }
        out.push(low_8(spread.difference_width));
        put_zigzag(out, spread.difference_low);
        before.unwrap_or_else(|| {
            let first = values.first().copied().unwrap_or(0);
            put_zigzag(out, first);
            first.wrapping_sub(spread.difference_low)
        })
    }
}

fn pack_numbers(values: &[i64], spread: &Spread, out: &mut Vec<u8>) {
    let distances = values.iter().map(|value| value.wrapping_sub(spread.low).cast_unsigned());
    bits::pack(distances, spread.width, out);
}

fn pack_differences(values: &[i64], mut before: i64, spread: &Spread, out: &mut Vec<u8>) {
    let differences = values.iter().map(|value| {
        let difference = value.wrapping_sub(before);
        before = *value;
        difference.wrapping_sub(spread.difference_low).cast_unsigned()
    });
    bits::pack(differences, spread.difference_width, out);
}

/// Room for 128 numbers of `width` bits at the end of `out`.
fn grow(out: &mut Vec<u8>, width: u32) -> &mut [u8] {
    let before = out.len();
    out.resize(before + bits::packed_len(GROUP, width), 0);
    out.get_mut(before..).unwrap_or_default()
}

/// How wide the numbers and the differences of a group are.
struct Spread {
    low: i64,
    width: u32,
    difference_low: i64,
    difference_width: u32,
}

impl Spread {
    fn as_numbers(&self) -> bool {
        self.width < self.difference_width
    }

    /// Of numbers, and of their differences, the first of which counts only if there is a number `before`.
    #[inline]
    fn of<T: Whole>(values: impl Iterator<Item = T> + Clone, before: Option<T>) -> Self {
        let first = values.clone().next().unwrap_or_default();
        let (mut low, mut high) = (first, first);
        for value in values.clone() {
            low = low.min(value);
            high = high.max(value);
        }
        let mut differences = values.clone().skip(1).zip(values).map(|(value, before)| value.less(before));
        let start =
            before.map(|before| first.less(before)).or_else(|| differences.next()).unwrap_or_default();
        let (mut difference_low, mut difference_high) = (start, start);
        for difference in differences {
            difference_low = difference_low.min(difference);
            difference_high = difference_high.max(difference);
        }
        Self {
            low: low.into(),
            width: width_between(low.into(), high.into()),
            difference_low: difference_low.into(),
            difference_width: width_between(difference_low.into(), difference_high.into()),
        }
    }
}

fn width_between(low: i64, high: i64) -> u32 {
    width_of(high.wrapping_sub(low).cast_unsigned())
}

/// `i64`, or `i32` where the numbers allow it: four lanes instead of one.
trait Whole: Copy + Default + Ord + Into<i64> {
    fn less(self, other: Self) -> Self;
}

impl Whole for i64 {
    fn less(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }
}

impl Whole for i32 {
    fn less(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }
}

/// The numbers in 32 bits, if they and the one before lie closer to zero than [`NARROW`].
fn narrow(values: &[i64; GROUP], before: Option<i64>) -> Option<[i32; GROUP]> {
    let outside = |value: i64| value.wrapping_add(NARROW).cast_unsigned();
    let all = values.iter().fold(outside(before.unwrap_or(0)), |all, value| all | outside(*value));
    (all < 2 * NARROW.cast_unsigned()).then(|| values.map(low_32_signed))
}

/// Unpacks group by group.
pub(super) struct Unpacker {
    simd: BitPacker4x,
    last: Option<i64>,
}

impl Unpacker {
    pub(super) fn new() -> Self {
        Self { simd: BitPacker4x::new(), last: None }
    }

    /// Unpacks a full group, each number turned into what is wanted of it on the way.
    #[inline]
    pub(super) fn group<T>(
        &mut self,
        cursor: &mut Cursor<'_>,
        out: &mut [T; GROUP],
        turn: impl Fn(i64) -> T,
    ) -> Result<(), Malformed> {
        let header = Header::read(cursor, self.last)?;
        if header.width > if header.numbers { u32::BITS } else { SUMMED_WIDTH_MAX } {
            return self.slowly(&header, cursor, out, turn);
        }
        let mut packed = [0; GROUP];
        if header.width > 0 {
            let bytes = cursor.take(bits::packed_len(GROUP, header.width))?;
            if header.numbers {
                self.simd.decompress(bytes, &mut packed, low_8(header.width));
            } else {
                self.simd.decompress_sorted(0, bytes, &mut packed, low_8(header.width));
            }
        }
        let step = if header.numbers { 0 } else { header.low };
        self.last = packed.last().map(|packed| {
            let steps = step.wrapping_mul(GROUP as i64);
            header.base.wrapping_add(steps).wrapping_add(i64::from(*packed))
        });
        let mut base = header.base;
        for (value, packed) in out.iter_mut().zip(packed) {
            base = base.wrapping_add(step);
            *value = turn(base.wrapping_add(i64::from(packed)));
        }
        Ok(())
    }

    /// Unpacks the last group, of less than 128 numbers.
    pub(super) fn tail<T>(
        &mut self,
        cursor: &mut Cursor<'_>,
        out: &mut [T],
        turn: impl Fn(i64) -> T,
    ) -> Result<(), Malformed> {
        if out.is_empty() {
            return Ok(());
        }
        let header = Header::read(cursor, self.last)?;
        self.slowly(&header, cursor, out, turn)
    }

    fn slowly<T>(
        &mut self,
        header: &Header,
        cursor: &mut Cursor<'_>,
        out: &mut [T],
        turn: impl Fn(i64) -> T,
    ) -> Result<(), Malformed> {
        let mut packed = [0; GROUP];
        let packed = packed.get_mut(..out.len()).ok_or(Malformed)?;
        bits::unpack(cursor, header.width, packed)?;
        let mut base = header.base;
        let mut last = base;
        for (value, packed) in out.iter_mut().zip(packed) {
            last = base.wrapping_add(packed.cast_signed());
            if !header.numbers {
                last = last.wrapping_add(header.low);
                base = last;
            }
            *value = turn(last);
        }
        self.last = Some(last);
        Ok(())
    }
}

/// What stands before the bits of a group.
struct Header {
    numbers: bool,
    width: u32,
    /// The smallest number, or the smallest difference.
    low: i64,
    /// The smallest number, or the number before the first one.
    base: i64,
}

impl Header {
    fn read(cursor: &mut Cursor<'_>, last: Option<i64>) -> Result<Self, Malformed> {
        let byte = cursor.byte()?;
        let numbers = byte & NUMBERS != 0;
        let width = u32::from(byte & !NUMBERS);
        if width > u64::BITS {
            return Err(Malformed);
        }
        let low = cursor.zigzag()?;
        let base = match last {
            _ if numbers => last.unwrap_or(0).wrapping_add(low),
            Some(last) => last,
            None => cursor.zigzag()?.wrapping_sub(low),
        };
        Ok(Self { numbers, width, low, base })
    }
}

#[expect(clippy::cast_possible_truncation, reason = "differences are taken modulo 2^32")]
fn low_32(value: i64) -> u32 {
    value as u32
}

#[expect(clippy::cast_possible_truncation, reason = "only for numbers that fit")]
fn low_32_signed(value: i64) -> i32 {
    value as i32
}

#[expect(clippy::cast_possible_truncation, reason = "a width is at most 64")]
fn low_8(width: u32) -> u8 {
    width as u8
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(values: &[i64]) -> usize {
        let mut bytes = Vec::new();
        pack(values, &mut bytes);
        let mut cursor = Cursor::new(&bytes);
        let mut back = Vec::new();
        unpack(&mut cursor, values.len(), |group| back.extend_from_slice(group)).unwrap();
        assert!(cursor.is_empty());
        assert_eq!(back, values);
        bytes.len()
    }

    #[test]
    fn regular_numbers_cost_a_header_a_group() {
        assert_eq!(check(&[7; 1280]), 10 * 2 + 1);
        let counter: Vec<i64> = (0..1280).map(|at| 5_000_000 + 1_000 * at).collect();
        assert!(check(&counter) <= 10 * 3 + 4);
    }

    #[test]
    fn noise_is_kept_as_numbers() {
        let noise: Vec<i64> = (0..1280_i64).map(|at| (at * 7_919 % 1_000) + 1_000_000).collect();
        assert!(check(&noise) <= 10 * (160 + 6));
    }

    #[test]
    fn the_ends_of_all_numbers_wrap() {
        let ends: Vec<i64> = (0..300).map(|at| if at % 2 == 0 { i64::MIN } else { i64::MAX }).collect();
        check(&ends);
        check(&[]);
        check(&[i64::MIN]);
    }

    proptest! {
        #[test]
        fn any_numbers_come_back(
            shift in 0_u32..64,
            scale in 0_i64..100_000,
            values in prop::collection::vec(any::<i64>(), 0..400),
        ) {
            check(&values);
            check(&values.iter().map(|value| value >> shift).collect::<Vec<_>>());
            let sums = values.iter().zip(0_i64..).map(|(value, at)| (value >> shift).wrapping_add(at * scale));
            check(&sums.collect::<Vec<_>>());
        }

        #[test]
        fn never_panics_on_noise(count in 0_usize..400, bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            let mut seen = 0;
            let read = unpack(&mut Cursor::new(&bytes), count, |group| seen += group.len());
            prop_assert!(seen <= count && (read.is_err() || seen == count));
        }
    }
}
