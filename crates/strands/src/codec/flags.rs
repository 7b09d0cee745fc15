//! Bytes that repeat: the flags of a block.

use super::Malformed;
use super::bits::{self, width_of};
use store::wire::{Reader, put_varint};

/// One byte for all.
const SAME: u8 = 0;
/// Length and flag of each run.
const RUNS: u8 = 1;
/// A list of the different flags, then for each point its place in it, bit-packed.
const PLACES: u8 = 2;
/// A byte each.
const BYTES: u8 = 3;

/// Different flags up to here are worth a list.
const LISTED_MAX: usize = 16;

/// Bytes compared at once while a run goes on.
const STRIDE: usize = 32;

/// Appends flags; returns the number of the codec.
pub(super) fn encode(flags: &[u8], out: &mut Vec<u8>) -> u8 {
    let before = out.len();
    let first = flags.first().copied().unwrap_or(0);
    if run_len(flags, first) == flags.len() {
        out.push(first);
        return SAME;
    }
    let mut listed: Vec<u8> = Vec::new();
    let mut rest = flags;
    while let Some(flag) = rest.first().copied() {
        let (run, after) = rest.split_at(run_len(rest, flag));
        put_varint(out, run.len() as u64);
        out.push(flag);
        if !listed.contains(&flag) {
            listed.push(flag);
        }
        rest = after;
    }
    let width = if listed.len() > LISTED_MAX { u8::BITS } else { width_of(listed.len() as u64 - 1) };
    let packed_len = 1 + listed.len() + bits::packed_len(flags.len(), width);
    if out.len() - before <= packed_len.min(flags.len()) {
        return RUNS;
    }
    out.truncate(before);
    if listed.len() > LISTED_MAX || packed_len >= flags.len() {
        out.extend_from_slice(flags);
        return BYTES;
    }
    put_varint(out, listed.len() as u64);
    out.extend_from_slice(&listed);
    let place = |flag: &u8| listed.iter().position(|it| it == flag).expect("all flags were listed");
    bits::pack(flags.iter().map(|flag| place(flag) as u64), width, out);
    PLACES
}

/// How many bytes in front are `flag`.
fn run_len(flags: &[u8], flag: u8) -> usize {
    let (strides, _) = flags.as_chunks::<STRIDE>();
    let whole = strides.iter().take_while(|stride| **stride == [flag; STRIDE]).count() * STRIDE;
    whole + flags.iter().skip(whole).take_while(|it| **it == flag).count()
}

/// Appends `count` flags of a codec to `out`; on an error, perhaps a part of them.
pub(super) fn decode(
    codec: u8,
    cursor: &mut Reader<'_>,
    count: usize,
    out: &mut Vec<u8>,
) -> Result<(), Malformed> {
    match codec {
        SAME => out.resize(out.len() + count, cursor.byte()?),
        RUNS => {
            let mut left = count;
            while left > 0 {
                let len = cursor.length(left)?;
                if len == 0 {
                    return Err(Malformed);
                }
                out.resize(out.len() + len, cursor.byte()?);
                left -= len;
            }
        }
        PLACES => {
            let listed_len = cursor.length(LISTED_MAX)?;
            let listed = cursor.take(listed_len)?;
            let width = width_of((listed_len as u64).saturating_sub(1));
            let mut places = vec![0; count];
            bits::unpack(cursor, width, &mut places)?;
            for place in places {
                let flag = usize::try_from(place).ok().and_then(|place| listed.get(place));
                out.push(*flag.ok_or(Malformed)?);
            }
        }
        BYTES => out.extend_from_slice(cursor.take(count)?),
        _ => return Err(Malformed),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(flags: &[u8], codec: u8, len: usize) {
        let mut bytes = Vec::new();
        assert_eq!((encode(flags, &mut bytes), bytes.len()), (codec, len));
        let mut back = Vec::new();
        decode(codec, &mut Reader::new(&bytes), flags.len(), &mut back).unwrap();
        assert_eq!(back, flags);
    }

    #[test]
    fn each_pattern_gets_its_codec() {
        check(&[3; 2_976], SAME, 1);
        let mut runs = vec![3; 2_976];
        runs[100..140].fill(8);
        runs[2_000..2_001].fill(5);
        check(&runs, RUNS, 2 + 2 + 3 + 2 + 3);
        let mixed: Vec<u8> = (0..800_u32).map(|at| if at * at % 7 == 1 { 0x88 } else { 3 }).collect();
        check(&mixed, PLACES, 1 + 2 + 100);
        let all: Vec<u8> = (0..=255).collect();
        check(&all, BYTES, 256);
    }

    #[test]
    fn runs_must_end_with_the_points() {
        let check = |codec, bytes: &[u8]| {
            assert_eq!(decode(codec, &mut Reader::new(bytes), 5, &mut Vec::new()), Err(Malformed));
        };
        check(RUNS, &[6, 3]);
        check(RUNS, &[0, 3, 5, 3]);
        check(RUNS, &[3, 3]);
        check(PLACES, &[3, 1, 2, 3, 0xff, 0xff]);
        check(BYTES, &[1, 2, 3, 4]);
        check(9, &[1, 2, 3, 4, 5]);
    }
}
