//! Blocks of points, numbers, and what the catalogue of series stores.

use model_series::testing;
use store::wire::{Reader, put_bytes, put_varint, put_zigzag};
use store::{Cursor, TenantName};
use strands::{Block, Encoding, Points, encode_block};

use crate::Target;

/// A sealed block.
pub(crate) const BLOCK: Target = Target { name: "block", run: block, seeds: blocks };
/// Points, bit for bit through every encoding.
pub(crate) const BLOCK_OF_POINTS: Target = Target {
    name: "block_of_points",
    run: block_of_points,
    seeds: || vec![(0..=255).collect(), vec![1; 40]],
};
/// Numbers and texts of stored values.
pub(crate) const NUMBERS: Target = Target { name: "stored_numbers", run: numbers, seeds: number_seeds };
/// What the catalogue stores: the first byte says what.
pub(crate) const CATALOGUE: Target =
    Target { name: "catalogue", run: catalogue, seeds: testing::stored_examples };
/// A change record of series.
pub(crate) const SERIES_CHANGES: Target = Target {
    name: "series_changes",
    run: series_changes,
    seeds: || vec![vec![1; 50], vec![4, 1, 0, 0, 0, 9, 1, 1]],
};
/// Cursors of the feed, and names of tenants.
pub(crate) const CURSOR: Target =
    Target { name: "cursor", run: cursor, seeds: || vec![vec![7; 16], b"openiot".to_vec()] };

/// Strictly ascending times, and values whose bits are the input's.
fn points(bytes: &[u8]) -> Points {
    let mut points = Points::default();
    let mut time = i64::from(bytes.first().copied().unwrap_or_default()) * 1_000_003;
    for chunk in bytes.chunks(9) {
        let (step, value) = chunk.split_first().expect("a chunk has a byte");
        time += i64::from(*step) + 1;
        let value = match value.first_chunk() {
            Some(bits) if step % 3 == 0 => f64::from_le_bytes(*bits),
            // Decimals, as meters give them.
            _ => f64::from(value.first().copied().unwrap_or_default()) / 4.0 - 7.0,
        };
        points.push(time, value, step % 5);
    }
    points
}

fn blocks() -> Vec<Vec<u8>> {
    let bytes: Vec<u8> = (0..=255).collect();
    let encodings = [Encoding::Raw, Encoding::Hot, Encoding::Cold];
    encodings.iter().map(|encoding| encode_block(&points(&bytes), *encoding)).collect()
}

fn block(bytes: &[u8]) {
    let Ok(block) = Block::parse(bytes) else { return };
    let _ = block.summary();
    let mut points = Points::default();
    if block.decode_into(&mut points).is_ok() {
        assert_eq!((points.values.len(), points.flags.len()), (points.times.len(), points.times.len()));
    }
}

fn block_of_points(bytes: &[u8]) {
    let bytes = bytes.get(..bytes.len().min(2_000)).unwrap_or_default();
    let points = points(bytes);
    if points.is_empty() {
        return;
    }
    let bits = |points: &Points| points.values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    for encoding in [Encoding::Raw, Encoding::Hot, Encoding::Cold] {
        let stored = encode_block(&points, encoding);
        let block = Block::parse(&stored).expect("what is encoded is a block");
        let mut decoded = Points::default();
        block.decode_into(&mut decoded).expect("what is encoded is decoded");
        assert_eq!(decoded.times, points.times, "{encoding:?}");
        assert_eq!(bits(&decoded), bits(&points), "{encoding:?}");
        assert_eq!(decoded.flags, points.flags, "{encoding:?}");
    }
}

fn number_seeds() -> Vec<Vec<u8>> {
    let mut seed = vec![0, 1, 2, 3, 4, 5, 6, 7];
    put_varint(&mut seed, u64::MAX);
    put_zigzag(&mut seed, i64::MIN);
    put_bytes(&mut seed, b"text");
    vec![seed]
}

fn numbers(bytes: &[u8]) {
    let mut reader = Reader::new(bytes);
    // The first byte of each step says what is read next.
    while let Ok(step) = reader.byte() {
        let before = reader.rest();
        let is_read = match step % 8 {
            0 => reader.varint().map(|number| {
                let mut again = Vec::new();
                put_varint(&mut again, number);
                assert!(again.len() <= before.len() - reader.rest().len(), "the shortest form is written");
                assert_eq!(Reader::new(&again).varint().ok(), Some(number));
            }),
            1 => reader.zigzag().map(|number| {
                let mut again = Vec::new();
                put_zigzag(&mut again, number);
                assert_eq!(Reader::new(&again).zigzag().ok(), Some(number));
            }),
            2 => reader.bytes().map(drop),
            3 => reader.text().map(drop),
            4 => reader.count().map(|count| assert!(count <= before.len())),
            5 => reader.length(100).map(|length| assert!(length <= 100)),
            6 => reader.varint_u32().map(drop),
            _ => reader.f64().map(drop),
        };
        if is_read.is_err() {
            return;
        }
    }
    assert!(reader.end().is_ok());
}

fn catalogue(bytes: &[u8]) {
    let Some((kind, stored)) = bytes.split_first() else { return };
    testing::read_stored(*kind, stored);
}

fn series_changes(bytes: &[u8]) {
    let _ = testing::count_changes(bytes);
}

fn cursor(bytes: &[u8]) {
    if let Some(bytes) = bytes.first_chunk::<16>() {
        assert_eq!(Cursor::from_bytes(*bytes).to_bytes(), *bytes);
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(name) = TenantName::new(text) {
        assert_eq!(TenantName::new(name.as_str()).as_ref(), Ok(&name));
    }
}
