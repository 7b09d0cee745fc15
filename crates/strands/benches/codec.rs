//! Size and speed of blocks on one core, beside the figures the codec was planned with.
//!
//! `cargo bench -p strands --bench codec -- [load|integers|random|history ...]`
//!
//! Every row: 2,976 points a block (a month of quarter hours), whole blocks with header, flags, times and checksum.
//! Prints bytes a point, and million points a second: written (with summary), read (with checksum), and read when
//! the checksum has been checked before. The best of several turns counts.

#![expect(clippy::unwrap_used, reason = "a measuring program: a panic is its answer")]

use std::io::Write as _;
use std::time::{Duration, Instant};

use bytes::Bytes;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use strands::{Block, Encoding, Points, encode_block};

/// Points in a block.
const POINTS: usize = 2_976;
/// Different blocks, read and written in turn: more than the caches near the core hold.
const BLOCKS: usize = 64;
/// Short, so that on a shared machine some turn is not interrupted.
const TURN: Duration = Duration::from_millis(10);
const TURNS: usize = 50;

/// What the plan measured of values alone: bytes a value, million values a second written and read.
const PLANNED: [(&str, f64, f64, f64); 4] = [
    ("plan: raw f64", 8.00, 3_350.0, 3_757.0),
    ("plan: decimals, deltas, bits", 1.55, 247.0, 953.0),
    ("plan: decimals, pco level 8", 1.41, 12.0, 225.0),
    ("plan: pco on f64, level 4", 1.51, 27.0, 159.0),
];

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with("--")).collect();
    say(&format!(
        "{:<34} {:>9} {:>12} {:>12} {:>12}",
        "row", "B/point", "write M/s", "read M/s", "checked M/s"
    ));
    for (name, size, written, read) in PLANNED {
        row(name, size, [written, read, read]);
    }
    let mut random = StdRng::seed_from_u64(3);
    for (name, make) in [
        ("load", load as fn(&mut StdRng) -> Points),
        ("integers", integers),
        ("random", random_doubles),
        ("history", history),
    ] {
        if wanted.is_empty() || wanted.iter().any(|it| it == name) {
            let blocks: Vec<Points> = (0..BLOCKS).map(|_| make(&mut random)).collect();
            for encoding in [Encoding::Raw, Encoding::Hot, Encoding::Cold] {
                measure(&format!("{name}, {encoding:?}").to_lowercase(), &blocks, encoding);
            }
        }
    }
}

fn measure(name: &str, blocks: &[Points], encoding: Encoding) {
    let encoded: Vec<Vec<u8>> = blocks.iter().map(|points| encode_block(points, encoding)).collect();
    let bytes: usize = encoded.iter().map(Vec::len).sum();
    let written = fastest(|| {
        for points in blocks {
            std::hint::black_box(encode_block(points, encoding));
        }
    });
    let mut out = Points::default();
    let read = fastest(|| {
        for block in &encoded {
            out.clear();
            Block::parse(block).unwrap().decode_into(&mut out).unwrap();
            std::hint::black_box(&out);
        }
    });
    let parsed: Vec<Block<'_>> = encoded.iter().map(|block| Block::parse(block).unwrap()).collect();
    let decoded = fastest(|| {
        for block in &parsed {
            out.clear();
            block.decode_into(&mut out).unwrap();
            std::hint::black_box(&out);
        }
    });
    row(name, bytes as f64 / (POINTS * blocks.len()) as f64, [written, read, decoded]);
}

/// Million points a second of the best turn.
fn fastest(mut pass: impl FnMut()) -> f64 {
    let mut best: f64 = 0.0;
    for _ in 0..TURNS {
        let start = Instant::now();
        let mut passes = 0;
        while start.elapsed() < TURN {
            pass();
            passes += 1;
        }
        best = best.max((passes * BLOCKS * POINTS) as f64 / start.elapsed().as_secs_f64() / 1e6);
    }
    best
}

fn row(name: &str, size: f64, [written, read, decoded]: [f64; 3]) {
    say(&format!("{name:<34} {size:>9.2} {written:>12.0} {read:>12.0} {decoded:>12.0}"));
}

fn say(line: &str) {
    writeln!(std::io::stdout().lock(), "{line}").unwrap();
}

fn month(mut value: impl FnMut(usize) -> f64) -> Points {
    let mut points = Points::default();
    let mut time = 1_767_225_600_000_000_000;
    for at in 0..POINTS {
        points.push(time, value(at), 3);
        time += 900_000_000_000;
    }
    points
}

/// Kilowatts with 3 decimals: the swing of a day, and noise.
fn load(random: &mut StdRng) -> Points {
    let base = random.random_range(50.0..100.0);
    month(|at| {
        let day = (at as f64 * std::f64::consts::TAU / 96.0).sin();
        let value: f64 = base * (1.0 + 0.4 * day) + random.random_range(-1.0..1.0);
        (value * 1e3).round() / 1e3
    })
}

/// A meter's reading in whole watt hours.
fn integers(random: &mut StdRng) -> Points {
    let mut reading = 1e6;
    month(|_| {
        reading += f64::from(random.random_range(0..400_u32));
        reading
    })
}

/// No decimals, no pattern.
fn random_doubles(random: &mut StdRng) -> Points {
    month(|_| random.random())
}

/// Readings of a sensor about once a minute, recorded a little later, with a note.
fn history(random: &mut StdRng) -> Points {
    let mut points = month(|_| f64::from(random.random_range(180..260_u32)) / 10.0);
    let mut observed = 1_767_225_600_000_000_000;
    for time in &mut points.times {
        observed += 60_000_000_000 + random.random_range(-2_000_i64..2_000) * 1_000_000;
        *time = observed + random.random_range(5_000..90_000_i64) * 1_000;
        points.observed.push(observed);
    }
    let place = points.notes.place_of(&Bytes::from_static(b"CEL"));
    points.notes.places = vec![place; points.len()];
    points
}
