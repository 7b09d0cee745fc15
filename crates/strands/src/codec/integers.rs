//! Whole numbers in groups of 128, each bit-packed as wide as its own numbers need.
//!
//! A group holds differences from number to number, less the smallest of them; or the numbers themselves, less the
//! smallest; or, of numbers that follow a curve, the differences of differences, less the smallest; whichever is
//! narrower. All arithmetic wraps, so that every `i64` comes back.
//!
//! A group: one byte (width; the high bit: numbers themselves; from 65 on: differences of differences, of a width less
//! by 65), the smallest as a zigzag varint (of the numbers: as the distance from the last one), of differences of
//! differences the difference to begin with, of the very first group of either differences the first number, then
//! the bits. A full group of up to 24 bits a difference, or 32 a number, lies as `bitpacking` lays it (SIMD);
//! wider ones and the last, shorter group lie as [`bits::pack`] lays them. Only full groups hold differences of
//! differences, and of at most 24 bits.

use bitpacking::{BitPacker as _, BitPacker4x};

use super::Malformed;
use super::bits::{self, width_of};
use store::wire::{Reader, put_zigzag};

/// Numbers in a full group.
pub(super) const GROUP: usize = BitPacker4x::BLOCK_LEN;

/// In the first byte of a group: the numbers themselves, not differences.
const NUMBERS: u8 = 0x80;

/// The first byte of a group of differences of differences that take no bits.
const CURVED: u32 = 65;

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
    cursor: &mut Reader<'_>,
    count: usize,
    mut sink: impl FnMut(&[i64]),
) -> Result<(), Malformed> {
    let mut unpacker = Unpacker::new();
    let mut group = [0; GROUP];
    for _ in 0..count / GROUP {
        unpacker.group(cursor, &mut group, |number| number)?;
        sink(&group);
    }
    let tail = group.get_mut(..count % GROUP).expect("less than a group");
    unpacker.tail(cursor, tail, |number| number)?;
    sink(tail);
    Ok(())
}

/// Unpacks as many numbers as `out` takes, each times `factor`, plus `offset`.
pub(super) fn unpack_scaled(
    cursor: &mut Reader<'_>,
    factor: i64,
    offset: i64,
    out: &mut [i64],
) -> Result<(), Malformed> {
    let mut unpacker = Unpacker::new();
    let (groups, tail) = out.as_chunks_mut();
    for group in groups {
        unpacker.scaled_group(cursor, factor, offset, group)?;
    }
    unpacker.tail(cursor, tail, |number| number.wrapping_mul(factor).wrapping_add(offset))
}

/// Passes over `count` numbers. Cost: a look at the head of each group.
pub(super) fn skip(cursor: &mut Reader<'_>, count: usize) -> Result<(), Malformed> {
    let mut last = None;
    let mut left = count;
    while left > 0 {
        let len = left.min(GROUP);
        let header = Header::read(cursor, last)?;
        if len < GROUP && matches!(header.form, Form::Curve { .. }) {
            return Err(Malformed);
        }
        cursor.take(bits::packed_len(len, header.width))?;
        last = Some(0);
        left -= len;
    }
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
        let (spread, curve) = narrow(values, self.last).map_or_else(
            || measure(values, self.last),
            |values| measure(&values, self.last.map(low_32_signed)),
        );
        if let Some(curve) = curve {
            return self.curved_group(values, &curve, out);
        }
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

    /// Packs a full group as differences of differences.
    fn curved_group(&mut self, values: &[i64; GROUP], curve: &Curve, out: &mut Vec<u8>) {
        out.push(low_8(CURVED + curve.width));
        put_zigzag(out, curve.low);
        put_zigzag(out, curve.slope);
        let before = self.last.unwrap_or_else(|| {
            let [first, ..] = *values;
            put_zigzag(out, first);
            first.wrapping_sub(curve.slope).wrapping_sub(curve.low)
        });
        self.last = values.last().copied();
        let (low, mut offset, mut before) = (low_32(curve.low), low_32(curve.slope), low_32(before));
        let packed = values.map(|value| {
            let difference = low_32(value).wrapping_sub(before);
            before = low_32(value);
            offset = offset.wrapping_add(low);
            difference.wrapping_sub(offset)
        });
        let packed_to = grow(out, curve.width);
        self.simd.compress_sorted(0, &packed, packed_to, low_8(curve.width));
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

    /// Writes what comes before the bits; returns the number before the first one.
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
            let first = *values.first().expect("a group has numbers");
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
    out.get_mut(before..).expect("grown from there")
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
        let first = values.clone().next().expect("a group has numbers");
        let (mut low, mut high) = (first, first);
        for value in values.clone() {
            low = low.min(value);
            high = high.max(value);
        }
        let mut differences = values.clone().skip(1).zip(values).map(|(value, before)| value.less(before));
        // One number alone has no difference, which counts as none.
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

/// Differences of differences of a full group.
struct Curve {
    low: i64,
    width: u32,
    /// The difference to begin with: less the smallest, it gives that of the first number from the one before.
    slope: i64,
}

impl Curve {
    /// The difference of the first number counts only if there is a number `before`.
    #[inline]
    fn of<T: Whole>(values: &[T; GROUP], before: Option<T>) -> Self {
        let mut differences = [T::default(); GROUP];
        let neighbours = values.iter().skip(1).zip(values);
        for (difference, (value, last)) in differences.iter_mut().skip(1).zip(neighbours) {
            *difference = value.less(*last);
        }
        if let (Some(before), Some(first), [start, ..]) = (before, values.first(), &mut differences) {
            *start = first.less(before);
        }
        let skipped = usize::from(before.is_none());
        let [one, two, three, ..] = differences;
        let start = if before.is_some() { two.less(one) } else { three.less(two) };
        let (mut low, mut high) = (start, start);
        let known = differences.iter().skip(skipped);
        for (difference, last) in known.clone().skip(1).zip(known) {
            let bend = difference.less(*last);
            low = low.min(bend);
            high = high.max(bend);
        }
        let (low, high): (i64, i64) = (low.into(), high.into());
        let slope = if before.is_some() { one.into() } else { two.into().wrapping_sub(low) };
        Self { low, width: width_between(low, high), slope: slope.wrapping_sub(low) }
    }
}

/// How wide a full group is; and its differences of differences, if nothing is narrower.
fn measure<T: Whole>(values: &[T; GROUP], before: Option<T>) -> (Spread, Option<Curve>) {
    let spread = Spread::of(values.iter().copied(), before);
    // Where numbers do not even follow a line, they follow no curve: noise costs no look.
    let may_curve = spread.difference_width < spread.width && spread.difference_width <= SUMMED_WIDTH_MAX;
    let curve = may_curve.then(|| Curve::of(values, before));
    let curve = curve.filter(|curve| curve.width < spread.difference_width);
    (spread, curve)
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
        cursor: &mut Reader<'_>,
        out: &mut [T; GROUP],
        turn: impl Fn(i64) -> T,
    ) -> Result<(), Malformed> {
        let Some((base, step, packed)) = self.begin(cursor, out, &turn)? else { return Ok(()) };
        let mut base = base;
        for (value, packed) in out.iter_mut().zip(packed) {
            base = base.wrapping_add(step);
            *value = turn(base.wrapping_add(i64::from(packed)));
        }
        Ok(())
    }

    /// The same, each number times `factor`, plus `offset`: base and step are multiplied once, and what was packed takes 32 bits,
    /// as a factor mostly does. (Processors multiply numbers of 64 bits one by one.)
    fn scaled_group(
        &mut self,
        cursor: &mut Reader<'_>,
        factor: i64,
        offset: i64,
        out: &mut [i64; GROUP],
    ) -> Result<(), Malformed> {
        let turn = |number: i64| number.wrapping_mul(factor).wrapping_add(offset);
        let Ok(narrow) = u32::try_from(factor) else {
            return self.group(cursor, out, turn);
        };
        let Some((base, step, packed)) = self.begin(cursor, out, turn)? else { return Ok(()) };
        let (mut base, step) = (turn(base), step.wrapping_mul(factor));
        for (value, packed) in out.iter_mut().zip(packed) {
            base = base.wrapping_add(step);
            *value = base.wrapping_add((u64::from(packed) * u64::from(narrow)).cast_signed());
        }
        Ok(())
    }

    /// Reads a full group as far as all its users go alike: the number to begin with, what is added from number to number,
    /// and what on top of that to each. `None`: it was wide or curved, and is in `out`.
    #[inline]
    fn begin<T>(
        &mut self,
        cursor: &mut Reader<'_>,
        out: &mut [T; GROUP],
        turn: impl Fn(i64) -> T,
    ) -> Result<Option<(i64, i64, [u32; GROUP])>, Malformed> {
        let header = Header::read(cursor, self.last)?;
        if header.is_wide() {
            return self.slowly(&header, cursor, out, turn).map(|()| None);
        }
        if let Form::Curve { slope } = header.form {
            return self.curve(&header, slope, cursor, out, turn).map(|()| None);
        }
        let packed = self.bits(&header, cursor)?;
        let step = if header.form == Form::Numbers { 0 } else { header.low };
        self.last = packed.last().map(|packed| {
            let steps = step.wrapping_mul(GROUP as i64);
            header.base.wrapping_add(steps).wrapping_add(i64::from(*packed))
        });
        Ok(Some((header.base, step, packed)))
    }

    /// A group of differences of differences that begin with `slope`.
    fn curve<T>(
        &mut self,
        header: &Header,
        mut slope: i64,
        cursor: &mut Reader<'_>,
        out: &mut [T; GROUP],
        turn: impl Fn(i64) -> T,
    ) -> Result<(), Malformed> {
        let mut base = header.base;
        for (value, packed) in out.iter_mut().zip(self.bits(header, cursor)?) {
            slope = slope.wrapping_add(header.low);
            base = base.wrapping_add(slope.wrapping_add(i64::from(packed)));
            *value = turn(base);
        }
        self.last = Some(base);
        Ok(())
    }

    /// What the bits of a full group hold: numbers, or the sums of differences.
    #[inline]
    fn bits(&self, header: &Header, cursor: &mut Reader<'_>) -> Result<[u32; GROUP], Malformed> {
        let mut packed = [0; GROUP];
        if header.width > 0 {
            let bytes = cursor.take(bits::packed_len(GROUP, header.width))?;
            if header.form == Form::Numbers {
                self.simd.decompress(bytes, &mut packed, low_8(header.width));
            } else {
                self.simd.decompress_sorted(0, bytes, &mut packed, low_8(header.width));
            }
        }
        Ok(packed)
    }

    /// Unpacks the last group, of less than 128 numbers.
    pub(super) fn tail<T>(
        &mut self,
        cursor: &mut Reader<'_>,
        out: &mut [T],
        turn: impl Fn(i64) -> T,
    ) -> Result<(), Malformed> {
        if out.is_empty() {
            return Ok(());
        }
        let header = Header::read(cursor, self.last)?;
        if matches!(header.form, Form::Curve { .. }) {
            return Err(Malformed);
        }
        self.slowly(&header, cursor, out, turn)
    }

    fn slowly<T>(
        &mut self,
        header: &Header,
        cursor: &mut Reader<'_>,
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
            if header.form != Form::Numbers {
                last = last.wrapping_add(header.low);
                base = last;
            }
            *value = turn(last);
        }
        self.last = Some(last);
        Ok(())
    }
}

/// What the bits of a group are.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Form {
    Numbers,
    Differences,
    /// Differences of differences, and the difference to begin with.
    Curve {
        slope: i64,
    },
}

/// What comes before the bits of a group.
struct Header {
    form: Form,
    width: u32,
    /// The smallest number, or the smallest difference (of differences).
    low: i64,
    /// The smallest number, or the number before the first one.
    base: i64,
}

impl Header {
    fn read(cursor: &mut Reader<'_>, last: Option<i64>) -> Result<Self, Malformed> {
        let byte = cursor.byte()?;
        let numbers = byte & NUMBERS != 0;
        let width = u32::from(byte & !NUMBERS);
        let low = cursor.zigzag()?;
        if let Some(width) = width.checked_sub(CURVED) {
            if numbers || width > SUMMED_WIDTH_MAX {
                return Err(Malformed);
            }
            let slope = cursor.zigzag()?;
            let base = match last {
                Some(last) => last,
                None => cursor.zigzag()?.wrapping_sub(slope).wrapping_sub(low),
            };
            return Ok(Self { form: Form::Curve { slope }, width, low, base });
        }
        let base = match last {
            _ if numbers => last.unwrap_or(0).wrapping_add(low),
            Some(last) => last,
            None => cursor.zigzag()?.wrapping_sub(low),
        };
        let form = if numbers { Form::Numbers } else { Form::Differences };
        Ok(Self { form, width, low, base })
    }

    /// Whether a full group is too wide for SIMD.
    fn is_wide(&self) -> bool {
        self.width > if self.form == Form::Numbers { u32::BITS } else { SUMMED_WIDTH_MAX }
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
mod tests;
