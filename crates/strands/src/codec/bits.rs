//! Numbers of up to 64 bits, packed without gaps: what the 128-at-a-time packer does not take.

use super::Malformed;
use store::wire::Reader;

/// How many bits `value` needs.
pub(super) fn width_of(value: u64) -> u32 {
    u64::BITS - value.leading_zeros()
}

/// How many bytes `count` numbers of `width` bits take.
pub(super) fn packed_len(count: usize, width: u32) -> usize {
    (count * width as usize).div_ceil(8)
}

/// Appends the low `width` bits of each value (the others must be zero), lowest bit first.
pub(super) fn pack(values: impl Iterator<Item = u64>, width: u32, out: &mut Vec<u8>) {
    let mut waiting = 0_u128;
    let mut bits = 0;
    for value in values {
        debug_assert!(width_of(value) <= width, "the value fits");
        waiting |= u128::from(value) << bits;
        bits += width;
        if bits >= u64::BITS {
            out.extend(waiting.to_le_bytes().iter().take(8));
            waiting >>= u64::BITS;
            bits -= u64::BITS;
        }
    }
    out.extend(waiting.to_le_bytes().iter().take(bits.div_ceil(8) as usize));
}

/// Reads what [`pack`] wrote. `width` is at most 64.
pub(super) fn unpack(cursor: &mut Reader<'_>, width: u32, out: &mut [u64]) -> Result<(), Malformed> {
    let (words, last) = cursor.take(packed_len(out.len(), width))?.as_chunks::<8>();
    let mut padded = [0; 8];
    for (to, from) in padded.iter_mut().zip(last) {
        *to = *from;
    }
    let mut words = words.iter().chain(std::iter::once(&padded)).map(|word| u64::from_le_bytes(*word));
    let mask = u64::MAX.checked_shr(u64::BITS - width).unwrap_or(0);
    let mut waiting = 0_u128;
    let mut bits = 0;
    for value in out {
        if bits < width {
            waiting |= u128::from(words.next().unwrap_or(0)) << bits;
            bits += u64::BITS;
        }
        *value = low_half(waiting) & mask;
        waiting >>= width;
        bits -= width;
    }
    Ok(())
}

#[expect(clippy::cast_possible_truncation, reason = "the low half is what is wanted")]
fn low_half(value: u128) -> u64 {
    value as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_comes_back() {
        for width in 0..=64 {
            for count in [0, 1, 2, 7, 8, 9, 63, 127] {
                let mask = u64::MAX.checked_shr(64 - width).unwrap_or(0);
                let values: Vec<u64> =
                    (1..=count).map(|at: u64| at.wrapping_mul(0x9e37_79b9_7f4a_7c15) & mask).collect();
                let mut bytes = Vec::new();
                pack(values.iter().copied(), width, &mut bytes);
                assert_eq!(bytes.len(), packed_len(values.len(), width));
                let mut back = vec![0; values.len()];
                unpack(&mut Reader::new(&bytes), width, &mut back).unwrap();
                assert_eq!(back, values, "{width} bits");
                if let Some((_, cut)) = bytes.split_last() {
                    assert_eq!(unpack(&mut Reader::new(cut), width, &mut back), Err(Malformed));
                }
            }
        }
    }
}
