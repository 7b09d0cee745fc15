//! Doors for fuzzing: readers of stored rows, which are private. Not part of the API.

use crate::audit_rows::{AuditPart, Outline};
use crate::codec::{Block, Encoding, Malformed, encode_block};
use crate::index::{Entry, Index, PageRef, put_entries, read_entries};
use crate::keys;
use crate::layer::{EncodedLayer, encode_layer, name_layer};
use crate::points::{Points, TimeRange};
use crate::state::State;
use store::wire::Reader;

/// Bytes of a key that a row of kind 3 begins with: first time and ordinal of a part.
const PART_KEY_BYTES: usize = 16;

/// Reads a stored row of this kind (0 state, 1 page of the index, 2 layer, 3 part of an audited write, its key before it, 4 what an
/// audited write touched), and writes and reads again what was read.
///
/// # Panics
///
/// If what is written again is refused, or means something else.
pub fn read_stored(kind: u8, bytes: &[u8]) {
    let again = |bytes: &[u8]| match kind % 5 {
        0 => State::parse(bytes).map(|state| state.to_bytes()),
        1 => page(bytes),
        2 => layer(bytes),
        3 => part(bytes),
        _ => Outline::parse(bytes).map(|outline| outline.to_bytes()),
    };
    let Ok(written) = again(bytes) else { return };
    assert_eq!(again(&written), Ok(written.clone()), "what is written is read");
}

fn page(bytes: &[u8]) -> Result<Vec<u8>, Malformed> {
    let mut reader = Reader::new(bytes);
    let entries = read_entries(&mut reader)?;
    reader.end()?;
    let mut written = Vec::new();
    put_entries(&mut written, &entries);
    Ok(written)
}

/// Layers are never written as they are read: what is asked of one is asked.
fn layer(bytes: &[u8]) -> Result<Vec<u8>, Malformed> {
    let layer = EncodedLayer::parse(bytes)?;
    let range = TimeRange { from: -1_000, to: 1_000_000 };
    let _ = (layer.outline(1), layer.meets(range));
    let points = layer.decode(range)?.points;
    assert_eq!((points.values.len(), points.flags.len()), (points.times.len(), points.times.len()));
    assert!(points.times.iter().all(|time| range.contains(*time)), "points of the range alone");
    Ok(bytes.to_vec())
}

fn part(bytes: &[u8]) -> Result<Vec<u8>, Malformed> {
    let (key, value) = bytes.split_at_checked(PART_KEY_BYTES).ok_or(Malformed)?;
    let part = AuditPart::parse(key, value)?;
    let _ = (part.sequence(), EncodedLayer::parse(part.layer).is_ok(), keys::when_of_written(key));
    Ok(bytes.to_vec())
}

/// A stored row of each kind that [`read_stored`] knows, its kind before it.
///
/// # Panics
///
/// Never: what it makes is sound.
pub fn stored_examples() -> Vec<Vec<u8>> {
    let mut points = Points::default();
    (0..40).for_each(|at: u8| points.push(i64::from(at) * 60, f64::from(at), at % 3));
    let block = encode_block(&points, Encoding::Hot);
    let summary = Block::parse(&block).expect("what is encoded is a block").summary();
    let entry = Entry { generation: 7, step: 60, summary };
    let clears = [TimeRange { from: -50, to: -10 }];

    let mut state = State::new();
    (state.sequence, state.generation, state.mark, state.untidy) = (3, 9, Some(5), Some((1, 2)));
    (state.audited, state.overlay_next) = (true, 4);
    let page = PageRef { first: -900, last: -100, generation: 2, entries: 70 };
    state.index = Index { pages: vec![page], tail: vec![entry] };
    let overlaid = EncodedLayer::parse(&encode_layer(&clears, &points, Encoding::Raw, 16))
        .expect("what is encoded is a layer")
        .outline(3);
    let with_overlays = State { overlays: overlaid, ..state.clone() };

    let mut entries = Vec::new();
    put_entries(&mut entries, &[entry]);
    let layer = encode_layer(&clears, &points, Encoding::Cold, 16);
    // A key; then: written 1, lasting 9, 40 points, the end of its write, and the layer.
    let part = [&[0; PART_KEY_BYTES][..], &[2, 9, 40, 1], &layer].concat();
    let outline = vec![40, 1, 2, 30];
    let rows = [
        (0, state.to_bytes()),
        (0, with_overlays.to_bytes()),
        (1, entries),
        (2, layer),
        (2, name_layer(&clears, &[entry])),
        (3, part),
        (4, outline),
    ];
    rows.into_iter().map(|(kind, row)| [&[kind], row.as_slice()].concat()).collect()
}
