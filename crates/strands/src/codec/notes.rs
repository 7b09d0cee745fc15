//! The notes of a block: the strings in use, then for each point its place among them.

use std::collections::HashMap;

use bytes::Bytes;

use super::{Malformed, integers};
use crate::points::Notes;
use store::wire::{Reader, put_varint};

/// No column.
pub(super) const NONE: u8 = 0;
/// One string for all.
const SAME: u8 = 1;
/// Length and place of each run.
const RUNS: u8 = 2;
/// Places as packed integers; strings that are all different cost two bytes a group.
const PACKED: u8 = 3;

/// Appends strings and places (empty, or one for each point); returns the number of the codec.
///
/// # Panics
///
/// If a place lies outside the dictionary.
pub(super) fn encode(dictionary: &[Bytes], places: &[u32], out: &mut Vec<u8>) -> u8 {
    if places.is_empty() {
        return NONE;
    }
    let (used, places) = in_use(dictionary, places);
    put_varint(out, used.len() as u64);
    used.iter().for_each(|note| put_varint(out, note.len() as u64));
    used.iter().for_each(|note| out.extend_from_slice(note));
    if used.len() == 1 {
        return SAME;
    }
    let mut runs = Vec::new();
    for run in places.chunk_by(|one, next| one == next) {
        put_varint(&mut runs, run.len() as u64);
        let place = run.first().expect("a run of one at least");
        put_varint(&mut runs, place.cast_unsigned());
    }
    let mut packed = Vec::new();
    integers::pack(&places, &mut packed);
    let (codec, bytes) = if runs.len() <= packed.len() { (RUNS, runs) } else { (PACKED, packed) };
    out.extend_from_slice(&bytes);
    codec
}

/// The strings that `places` use, each once, in order of first use, and the places among those.
fn in_use<'a>(dictionary: &'a [Bytes], places: &[u32]) -> (Vec<&'a Bytes>, Vec<i64>) {
    let mut used: Vec<&Bytes> = Vec::new();
    let mut names: HashMap<&Bytes, i64> = HashMap::new();
    let mut renamed = vec![None; dictionary.len()];
    let places = places.iter().map(|place| {
        let place = *place as usize;
        let name = renamed.get_mut(place).expect("places lie inside the dictionary");
        *name.get_or_insert_with(|| {
            let note = dictionary.get(place).expect("as many names as strings");
            *names.entry(note).or_insert_with(|| {
                used.push(note);
                i64::try_from(used.len() - 1).expect("no more than there are points")
            })
        })
    });
    let places = places.collect();
    (used, places)
}

/// Reads the column of `count` points.
pub(super) fn decode(codec: u8, cursor: &mut Reader<'_>, count: usize) -> Result<Notes, Malformed> {
    if codec == NONE {
        return Ok(Notes::default());
    }
    let dictionary = read_dictionary(cursor, count)?;
    let known = |place: u64| {
        let place = u32::try_from(place).map_err(|_| Malformed)?;
        if (place as usize) < dictionary.len() { Ok(place) } else { Err(Malformed) }
    };
    let mut places = Vec::with_capacity(count);
    match codec {
        SAME => places.resize(count, known(0)?),
        RUNS => {
            while places.len() < count {
                let len = cursor.length(count - places.len())?;
                if len == 0 {
                    return Err(Malformed);
                }
                places.resize(places.len() + len, known(cursor.varint()?)?);
            }
        }
        PACKED => {
            let mut all_known = Ok(());
            integers::unpack(cursor, count, |group| {
                for place in group {
                    match known(place.cast_unsigned()) {
                        Ok(place) => places.push(place),
                        Err(malformed) => all_known = Err(malformed),
                    }
                }
            })?;
            all_known?;
        }
        _ => return Err(Malformed),
    }
    Ok(Notes { dictionary, places })
}

/// The strings share one allocation.
fn read_dictionary(cursor: &mut Reader<'_>, count: usize) -> Result<Vec<Bytes>, Malformed> {
    let entries = cursor.length(count.min(cursor.rest().len()))?;
    let mut lens = Vec::with_capacity(entries);
    for _ in 0..entries {
        lens.push(cursor.length(cursor.rest().len())?);
    }
    let total = lens.iter().try_fold(0_usize, |sum, len| sum.checked_add(*len)).ok_or(Malformed)?;
    let mut strings = Bytes::copy_from_slice(cursor.take(total)?);
    Ok(lens.into_iter().map(|len| strings.split_to(len)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(notes: &[&'static str], codec: u8, len_max: usize) {
        let mut all = Notes::default();
        all.place_of(&Bytes::from_static(b"unused"));
        for note in notes {
            let place = all.place_of(&Bytes::from_static(note.as_bytes()));
            all.places.push(place);
        }
        let mut bytes = Vec::new();
        assert_eq!(encode(&all.dictionary, &all.places, &mut bytes), codec);
        assert!(bytes.len() <= len_max, "{} bytes", bytes.len());
        let back = decode(codec, &mut Reader::new(&bytes), notes.len()).unwrap();
        let texts: Vec<&[u8]> = (0..notes.len()).map(|at| back.get(at)).collect();
        assert_eq!(texts, notes.iter().map(|note| note.as_bytes()).collect::<Vec<_>>());
        assert!(!back.dictionary.contains(&Bytes::from_static(b"unused")));
    }

    #[test]
    fn each_pattern_gets_its_codec() {
        check(&[], NONE, 0);
        check(&["kWh"; 300], SAME, 5);
        let mut runs = ["kWh"; 300];
        runs[50] = "";
        check(&runs, RUNS, 6 + 7);
        let mixed: Vec<&str> = (0..300).map(|at| ["on", "off", "out"][at * at % 3]).collect();
        check(&mixed, PACKED, 12 + 300 / 4 + 8);
        let all: Vec<&str> = (0..100).map(|at| &"abcdefghijklmnopqrstuvwxyz"[at % 26..]).take(26).collect();
        check(&all, PACKED, 1 + 26 + 351 + 3);
    }

    #[test]
    fn places_beyond_the_dictionary_are_malformed() {
        let check = |codec, bytes: &[u8]| assert!(decode(codec, &mut Reader::new(bytes), 3).is_err());
        check(SAME, &[0]);
        check(RUNS, &[1, 1, b'a', 3, 1]);
        check(RUNS, &[2, 200, 1, b'a', 3, 0]);
        check(RUNS, &[4, 0, 0, 0, 0, 3, 0]);
    }
}
