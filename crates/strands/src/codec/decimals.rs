//! Doubles that are decimals with few digits, as whole numbers: `value == integer / 10^exponent`, bit for bit.
//!
//! The idea is that of ALP (Afroozeh, Kuffo, Boncz: "ALP: Adaptive Lossless floating-Point compression", 2023):
//! find one exponent for the block, keep what does not fit as exceptions. Dividing by an exact power of ten
//! rounds correctly, so every decimal of up to 15 digits that a program printed or parsed comes back.

use super::Malformed;
use super::integers::{GROUP, Packer, Unpacker};
use store::wire::{Reader, put_varint};

/// Powers of ten that doubles hold exactly and that leave room for a digit before the point.
const POWERS: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// 1.5 · 2^52: added to a double below 2^51 it rounds it to a whole number, which its low bits then show.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// The integers lie from −2^51 up to (not including) 2^51.
const INTEGER_BITS: u32 = 52;

/// Values looked at to find the exponent.
const SAMPLES: usize = 32;

/// One exception costs about as much as eight packed values.
const VALUES_PER_EXCEPTION: usize = 24;

/// Exponents tried on a block before it counts as no decimals.
const TRIES: usize = 3;

/// The power of ten of a block.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Exponent(usize);

impl Exponent {
    fn power(self) -> f64 {
        *POWERS.get(self.0).expect("exponents are places of the table")
    }

    fn byte(self) -> u8 {
        u8::try_from(self.0).expect("the table is short")
    }

    pub(super) fn read(cursor: &mut Reader<'_>) -> Result<Self, Malformed> {
        cursor.length(POWERS.len() - 1).map(Self)
    }

    /// The smallest exponent, from `self` on, that shows `value` as a whole number.
    fn raised_to(self, value: f64) -> Option<Self> {
        (self.0..POWERS.len()).map(Self).find(|exponent| exponent.integer(value).is_some())
    }

    fn integer(self, value: f64) -> Option<i64> {
        let (integers, exact) = self.scale(&[value]);
        if exact { integers.first().copied() } else { None }
    }

    /// Whole numbers for `values`, and whether all of them give their value back.
    #[inline]
    fn scale<const N: usize>(self, values: &[f64; N]) -> ([i64; N], bool) {
        let power = self.power();
        let mut wrong = 0;
        let integers = values.map(|value| {
            let rounded = value * power + ROUNDER;
            let integer = rounded.to_bits().wrapping_sub(ROUNDER.to_bits());
            let back = (rounded - ROUNDER) / power;
            let outside = integer.wrapping_add(1 << (INTEGER_BITS - 1)) >> INTEGER_BITS;
            wrong |= (back.to_bits() ^ value.to_bits()) | outside;
            integer.cast_signed()
        });
        (integers, wrong == 0)
    }

    /// The double of a whole number; any double for numbers beyond 2^51.
    #[inline]
    fn unscale(self, integer: i64) -> f64 {
        whole(integer) / self.power()
    }
}

/// `integer as f64`, but four at a time on processors that cannot convert so many at once.
#[inline]
fn whole(integer: i64) -> f64 {
    f64::from_bits(ROUNDER.to_bits().wrapping_add(integer.cast_unsigned())) - ROUNDER
}

/// A single value as exponent and integer, if it is a decimal.
pub(super) fn single(value: f64) -> Option<(u8, i64)> {
    let exponent = Exponent(0).raised_to(value)?;
    exponent.integer(value).map(|integer| (exponent.byte(), integer))
}

/// What [`single`] took apart.
pub(super) fn join(exponent: u8, integer: i64) -> Option<f64> {
    let exponent = usize::from(exponent);
    (exponent < POWERS.len()).then(|| Exponent(exponent).unscale(integer))
}

/// Values that are no decimals of the block's exponent: place and bits.
#[derive(Debug, Default)]
pub(super) struct Exceptions(Vec<(usize, u64)>);

impl Exceptions {
    /// How many a block bears.
    fn max(values: usize) -> usize {
        1 + values / VALUES_PER_EXCEPTION
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        put_varint(out, self.0.len() as u64);
        let mut next = 0;
        for (place, value) in &self.0 {
            put_varint(out, (place - next) as u64);
            put_varint(out, value.swap_bytes());
            next = place + 1;
        }
    }

    /// Reads exceptions into their places.
    pub(super) fn read(cursor: &mut Reader<'_>, values: &mut [f64]) -> Result<(), Malformed> {
        let count = cursor.length(values.len())?;
        let mut rest = values.iter_mut();
        for _ in 0..count {
            let distance = cursor.length(rest.len())?;
            let value = rest.nth(distance).ok_or(Malformed)?;
            *value = f64::from_bits(cursor.varint()?.swap_bytes());
        }
        Ok(())
    }
}

/// Packs `values` if nearly all are decimals; else leaves `out` as it was.
pub(super) fn encode(values: &[f64], out: &mut Vec<u8>) -> bool {
    let before = out.len();
    let packed = with_exponents(values, |exponent| {
        out.truncate(before);
        out.push(exponent.byte());
        pack(values, exponent, out)
    });
    match packed {
        Some(exceptions) => exceptions.write(out),
        None => out.truncate(before),
    }
    before < out.len()
}

/// The whole numbers of `values` if nearly all are decimals.
pub(super) fn integers(values: &[f64]) -> Option<(u8, Vec<i64>, Exceptions)> {
    let mut integers = Vec::with_capacity(values.len());
    let mut chosen = Exponent(0);
    let exceptions = with_exponents(values, |exponent| {
        chosen = exponent;
        integers.clear();
        let mut exceptions = Exceptions::default();
        for (at, value) in values.iter().enumerate() {
            let last = integers.last().copied();
            integers.push(exponent.integer(*value).unwrap_or_else(|| {
                exceptions.0.push((at, value.to_bits()));
                last.unwrap_or(0)
            }));
        }
        exceptions
    })?;
    Some((chosen.byte(), integers, exceptions))
}

/// Tries exponents, led by a sample and then by the exceptions, until few enough exceptions are left.
fn with_exponents(values: &[f64], mut attempt: impl FnMut(Exponent) -> Exceptions) -> Option<Exceptions> {
    let mut exponent = sampled(values.iter().step_by(values.len().div_ceil(SAMPLES).max(1)).copied())?;
    for _ in 0..TRIES {
        let exceptions = attempt(exponent);
        if exceptions.0.len() <= Exceptions::max(values.len()) {
            return Some(exceptions);
        }
        let step = exceptions.0.len().div_ceil(SAMPLES);
        let others = exceptions.0.iter().step_by(step).map(|(_, bits)| f64::from_bits(*bits));
        let next = sampled(others)?;
        if next == exponent {
            return None;
        }
        exponent = next;
    }
    None
}

/// The exponent that fits most of a sample; none if most of it is no decimal.
fn sampled(sample: impl Iterator<Item = f64>) -> Option<Exponent> {
    let mut exponent = Exponent(0);
    let mut balance = 0_i32;
    for value in sample {
        if let Some(higher) = exponent.raised_to(value) {
            exponent = higher;
            balance += 1;
        } else {
            balance -= 1;
            if balance < -4 {
                return None;
            }
        }
    }
    (balance > 0).then_some(exponent)
}

fn pack(values: &[f64], exponent: Exponent, out: &mut Vec<u8>) -> Exceptions {
    let mut packer = Packer::new();
    let mut exceptions = Exceptions::default();
    let (groups, tail) = values.as_chunks::<GROUP>();
    for (at, group) in groups.iter().enumerate() {
        let (mut integers, exact) = exponent.scale(group);
        if !exact {
            patch(group, exponent, &packer, at * GROUP, (&mut integers, &mut exceptions));
            if exceptions.0.len() > Exceptions::max(values.len()) {
                return exceptions;
            }
        }
        packer.group(&integers, out);
    }
    let mut integers = [0; GROUP];
    let integers = integers.get_mut(..tail.len()).expect("less than a group");
    patch(tail, exponent, &packer, groups.len() * GROUP, (integers, &mut exceptions));
    packer.tail(integers, out);
    exceptions
}

/// Scales one by one; an exception leaves the integer before it in its place, which packs well.
fn patch(
    values: &[f64],
    exponent: Exponent,
    packer: &Packer,
    start: usize,
    (integers, exceptions): (&mut [i64], &mut Exceptions),
) {
    let mut last = packer.last();
    for ((at, value), integer) in values.iter().enumerate().zip(integers) {
        *integer = exponent.integer(*value).unwrap_or_else(|| {
            exceptions.0.push((start + at, value.to_bits()));
            let next = || values.iter().find_map(|value| exponent.integer(*value));
            last.or_else(next).unwrap_or(0)
        });
        last = Some(*integer);
    }
}

/// Reads what [`encode`] wrote.
pub(super) fn decode(cursor: &mut Reader<'_>, out: &mut [f64]) -> Result<(), Malformed> {
    let exponent = Exponent::read(cursor)?;
    if exponent.0 == 0 {
        unpack(cursor, out, whole)?;
    } else {
        let power = exponent.power();
        unpack(cursor, out, |integer| whole(integer) / power)?;
    }
    Exceptions::read(cursor, out)
}

#[inline]
fn unpack(cursor: &mut Reader<'_>, out: &mut [f64], turn: impl Fn(i64) -> f64) -> Result<(), Malformed> {
    let mut unpacker = Unpacker::new();
    let (groups, tail) = out.as_chunks_mut::<GROUP>();
    for group in groups {
        unpacker.group(cursor, group, &turn)?;
    }
    unpacker.tail(cursor, tail, &turn)
}

/// The doubles of `integers` under the exponent that comes first in `cursor`; exceptions follow there.
pub(super) fn decode_integers(
    cursor: &mut Reader<'_>,
    integers: &[i64],
    out: &mut [f64],
) -> Result<(), Malformed> {
    let exponent = Exponent::read(cursor)?;
    for (value, integer) in out.iter_mut().zip(integers) {
        *value = exponent.unscale(*integer);
    }
    Exceptions::read(cursor, out)
}
