//! The values of a block: which codec they get, and the ones that are not packed decimals.

use super::{Encoding, Malformed, decimals, pcodec};
use store::wire::Reader;

/// Eight bytes each.
const RAW: u8 = 0;
/// See [`decimals`].
const DECIMALS: u8 = 1;
/// The integers of decimals through `pco`, then exponent and exceptions.
const SQUEEZED_DECIMALS: u8 = 2;
/// The doubles through `pco`.
const SQUEEZED: u8 = 3;

/// Levels of `pco`.
const LEVEL_HOT: usize = 4;
const LEVEL_COLD: usize = 8;

/// Values in the middle of a long block that tell whether `pco` is worth its time.
const SAMPLE: usize = 256;

/// Below this many values the tables of `pco` outweigh what it saves.
const SQUEEZED_MIN: usize = 16;

/// Whether the codec is one of `pco`.
pub(super) fn is_squeezed(codec: u8) -> bool {
    matches!(codec, SQUEEZED_DECIMALS | SQUEEZED)
}

/// Appends the values; returns the number of the codec.
pub(super) fn encode(values: &[f64], encoding: Encoding, out: &mut Vec<u8>) -> u8 {
    let before = out.len();
    let raw_len = size_of_val(values);
    let packed = encoding != Encoding::Raw && decimals::encode(values, out);
    let packed_len = if packed { out.len() - before } else { raw_len };
    let squeezed = match encoding {
        Encoding::Raw => None,
        _ if values.len() < SQUEEZED_MIN => None,
        Encoding::Hot if packed && packed_len < raw_len => None,
        Encoding::Hot => squeezed_hot(values),
        Encoding::Cold => squeezed_cold(values),
    };
    if let Some((codec, bytes)) = squeezed
        && bytes.len() < packed_len
    {
        out.truncate(before);
        out.extend_from_slice(&bytes);
        return codec;
    }
    if packed && packed_len < raw_len {
        return DECIMALS;
    }
    out.truncate(before);
    out.resize(before + raw_len, 0);
    let (places, _) = out.get_mut(before..).expect("grown from there").as_chunks_mut();
    for (place, value) in places.iter_mut().zip(values) {
        *place = value.to_le_bytes();
    }
    RAW
}

/// Doubles that are no decimals: raw ones are written and read so fast that `pco` has to save a fifth. (It saves a seventh
/// of doubles that are pure noise, whose exponents alone repeat.)
fn squeezed_hot(values: &[f64]) -> Option<(u8, Vec<u8>)> {
    let worth = |values: &[f64], bytes: &[u8]| bytes.len() < size_of_val(values) / 5 * 4;
    if values.len() > 2 * SAMPLE {
        let middle = values.len() / 2;
        let sample = values.get(middle..middle + SAMPLE)?;
        // Of so few values the tables are a larger share than of all: no fifth is asked for yet.
        if pcodec::compress(sample, LEVEL_HOT)?.len() >= size_of_val(sample) {
            return None;
        }
    }
    let bytes = pcodec::compress(values, LEVEL_HOT).filter(|bytes| worth(values, bytes))?;
    Some((SQUEEZED, behind_len(&bytes)))
}

/// Integers through `pco`; if not all values are decimals, the smaller of these and of the doubles.
fn squeezed_cold(values: &[f64]) -> Option<(u8, Vec<u8>)> {
    let mut all_decimals = false;
    let integers = decimals::integers(values).and_then(|(exponent, integers, exceptions)| {
        all_decimals = exceptions.is_empty();
        let mut bytes = behind_len(&pcodec::compress(&integers, LEVEL_COLD)?);
        bytes.push(exponent);
        exceptions.write(&mut bytes);
        Some((SQUEEZED_DECIMALS, bytes))
    });
    if all_decimals && integers.is_some() {
        return integers;
    }
    let doubles = pcodec::compress(values, LEVEL_COLD).map(|bytes| (SQUEEZED, behind_len(&bytes)));
    integers.into_iter().chain(doubles).min_by_key(|(_, bytes)| bytes.len())
}

fn behind_len(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 3);
    pcodec::put(bytes, &mut out);
    out
}

/// Appends `count` values of a codec to `out`.
pub(super) fn decode(
    codec: u8,
    cursor: &mut Reader<'_>,
    count: usize,
    out: &mut Vec<f64>,
) -> Result<(), Malformed> {
    if codec == RAW {
        let (values, _) = cursor.take(count * size_of::<f64>())?.as_chunks();
        out.extend(values.iter().map(|bytes| f64::from_le_bytes(*bytes)));
        return Ok(());
    }
    let before = out.len();
    out.resize(before + count, 0.0);
    let values = out.get_mut(before..).expect("grown from there");
    match codec {
        DECIMALS => decimals::decode(cursor, values),
        SQUEEZED_DECIMALS => {
            let mut integers = vec![0; count];
            pcodec::read(cursor, &mut integers)?;
            decimals::decode_integers(cursor, &integers, values)
        }
        SQUEEZED => pcodec::read(cursor, values),
        _ => Err(Malformed),
    }
}
