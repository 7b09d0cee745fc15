//! Random changes of bytes, for runs that no coverage guides.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Changes inputs at random; one seed gives the same changes everywhere.
#[derive(Debug)]
pub struct Mutator {
    random: StdRng,
}

/// Bytes that mean something to parsers.
const TURNING: &[&[u8]] = &[
    b"\"",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"(",
    b")",
    b"|",
    b";",
    b"==",
    b"~=",
    b"..",
    b"-",
    b"+",
    b".",
    b"0",
    b"1e999",
    b"-0",
    b"9223372036854775808",
    b"1e-400",
    b"null",
    b"@context",
    b"type",
    b"value",
    b"%",
    b"%ff",
    b"\0",
    b"\n",
    b"\r\n",
    b"\xff",
    b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f",
    b"2026-01-01T00:00:00Z",
    b"T24:00:00",
    b"\xc3\xa9",
    b"\xe2\x80\xa8",
    b"\xf0\x9f\x98\x80",
    b"*",
    b"#",
    b"?",
    b"/",
    b"urn:x:1",
];

/// These bytes, as a dictionary of libFuzzer.
pub fn dictionary() -> String {
    let mut lines = String::new();
    for word in TURNING {
        let bytes: String = word.iter().map(|byte| format!("\\x{byte:02x}")).collect();
        lines.extend(["\"", &bytes, "\"\n"]);
    }
    lines
}

/// Bytes of an input at most; longer ones are cut.
const BYTES_MAX: usize = 16 * 1024;

impl Mutator {
    /// Changes as this seed gives them.
    pub fn new(seed: u64) -> Self {
        Self { random: StdRng::seed_from_u64(seed) }
    }

    /// One of the inputs, changed in one to eight places.
    pub fn input(&mut self, inputs: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = self.one_of(inputs).cloned().unwrap_or_default();
        for _ in 0..self.random.random_range(1..=8) {
            self.change(&mut bytes, inputs);
        }
        bytes.truncate(BYTES_MAX);
        bytes
    }

    fn one_of<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        (!of.is_empty()).then(|| self.random.random_range(0..of.len())).and_then(|at| of.get(at))
    }

    /// A range of places, short more often than long.
    fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let from = self.random.random_range(0..=length);
        let longest = if self.random.random_bool(0.8) { 8 } else { length };
        let to = from.saturating_add(self.random.random_range(0..=longest)).min(length);
        from..to
    }

    fn change(&mut self, bytes: &mut Vec<u8>, inputs: &[Vec<u8>]) {
        let range = self.range(bytes.len());
        match self.random.random_range(0..8) {
            0 => {
                let bit = self.random.random_range(0..8);
                bytes.get_mut(range).into_iter().flatten().take(1).for_each(|byte| *byte ^= 1 << bit);
            }
            1 => {
                let new = self.random.random();
                bytes.get_mut(range).into_iter().flatten().take(1).for_each(|byte| *byte = new);
            }
            2 => drop(bytes.drain(range)),
            3 => {
                let copied = bytes.get(range).unwrap_or_default().to_vec();
                let at = self.random.random_range(0..=bytes.len());
                bytes.splice(at..at, copied);
            }
            4 => {
                let word = self.one_of(TURNING).copied().unwrap_or_default();
                bytes.splice(range.start..range.start, word.iter().copied());
            }
            5 => {
                let word = self.one_of(TURNING).copied().unwrap_or_default();
                bytes.splice(range, word.iter().copied());
            }
            6 => {
                // The end of another input behind the beginning of this one.
                let other = self.one_of(inputs).cloned().unwrap_or_default();
                let from = self.random.random_range(0..=other.len());
                bytes.truncate(range.start);
                bytes.extend(other.get(from..).unwrap_or_default());
            }
            _ => bytes.truncate(range.start),
        }
    }
}
