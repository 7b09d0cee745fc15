//! Writes the stream: each piece is a dictionary of its series' names and one batch for at most 64 Ki points, which need
//! nothing of the pieces before. Columns go to the wire as they lie in memory.

use arrow_buffer::ToByteSlice;
use arrow_ipc::writer::{DictionaryTracker, IpcDataGenerator, IpcWriteOptions};
use model_series::{ABSENT, Points};

use super::message::{END, Layout, pad, write_description};
use super::schema;
use crate::wire::{SeriesHead, flags};

/// Points in a batch.
const BATCH_POINTS_MAX: usize = 64 * 1024;
/// Series in a batch: their numbers must fit in 16 bits.
const BATCH_SERIES_MAX: usize = 0x7fff;
/// Numbers of the dictionaries, as the schema counts them.
const SERIES_DICTIONARY: i64 = 0;
const FLAG_DICTIONARY: i64 = 1;

/// Columns of a part of a series' points.
#[derive(Clone, Copy)]
struct Part<'a> {
    times: &'a [i64],
    values: &'a [f64],
    flags: &'a [u8],
}

/// Appends an Arrow stream to a buffer.
#[derive(Clone, Default)]
pub(crate) struct ArrowWriter {
    /// The series' numbers of one part.
    keys: Vec<i16>,
}

impl ArrowWriter {
    /// Schema and dictionaries; a reader wants to see one of each before the first batch.
    pub(crate) fn begin(out: &mut Vec<u8>) {
        let mut tracker = DictionaryTracker::new(false);
        let schema = schema::written();
        let generator = IpcDataGenerator::default();
        let message = generator.schema_to_bytes_with_dictionary_tracker(
            &schema,
            &mut tracker,
            &IpcWriteOptions::default(),
        );
        write_description(out, &message.ipc_message);
        write_dictionary(out, SERIES_DICTIONARY, &[]);
        write_dictionary(out, FLAG_DICTIONARY, &flags::NAMES);
    }

    pub(crate) fn end(out: &mut Vec<u8>) {
        out.extend_from_slice(&END);
    }

    /// Appends the points of some series, in batches.
    pub(crate) fn render(&mut self, out: &mut Vec<u8>, series: &[(SeriesHead<'_>, &Points)]) {
        self.render_named(out, series.iter().map(|(head, points)| (head.name, *points)));
    }

    /// Appends some points of a series.
    pub(crate) fn render_part(&mut self, out: &mut Vec<u8>, name: &str, points: &Points) {
        self.render_named(out, std::iter::once((name, points)));
    }

    fn render_named<'a>(&mut self, out: &mut Vec<u8>, series: impl Iterator<Item = (&'a str, &'a Points)>) {
        let mut names = Vec::new();
        let mut parts: Vec<(i16, Part<'_>)> = Vec::new();
        let mut room = BATCH_POINTS_MAX;
        for (name, points) in series {
            let columns = points.times.chunks(BATCH_POINTS_MAX).zip(points.values.chunks(BATCH_POINTS_MAX));
            for ((times, values), flags) in columns.zip(points.flags.chunks(BATCH_POINTS_MAX)) {
                if times.len() > room || names.len() >= BATCH_SERIES_MAX {
                    self.write_batch(out, &names, &parts);
                    names.clear();
                    parts.clear();
                    room = BATCH_POINTS_MAX;
                }
                room -= times.len();
                let key = i16::try_from(names.len()).expect("a batch has fewer series than an i16 counts");
                names.push(name);
                parts.push((key, Part { times, values, flags }));
            }
        }
        if !parts.is_empty() {
            self.write_batch(out, &names, &parts);
        }
    }

    fn write_batch(&mut self, out: &mut Vec<u8>, names: &[&str], parts: &[(i16, Part<'_>)]) {
        write_dictionary(out, SERIES_DICTIONARY, names);
        let rows = parts.iter().map(|(_, part)| part.times.len()).sum::<usize>();
        let nulls = parts.iter().map(|(_, part)| absent(part.flags)).sum::<usize>();
        let mut layout = Layout::default();
        for (bytes_each, nulls) in [(2, 0), (8, 0), (8, nulls), (1, 0)] {
            layout.column(rows, nulls);
            layout.buffer(if nulls == 0 { 0 } else { rows.div_ceil(8) });
            layout.buffer(rows * bytes_each);
        }
        out.reserve(rows * 20 + 1024);
        layout.write(out, rows, None);
        for (key, part) in parts {
            self.keys.clear();
            self.keys.resize(part.times.len(), *key);
            out.extend_from_slice(self.keys.to_byte_slice());
        }
        pad(out, rows * 2);
        for (_, part) in parts {
            out.extend_from_slice(part.times.to_byte_slice());
        }
        if nulls > 0 {
            write_validity(out, parts.iter().flat_map(|(_, part)| part.flags));
            pad(out, rows.div_ceil(8));
        }
        for (_, part) in parts {
            out.extend_from_slice(part.values.to_byte_slice());
        }
        for (_, part) in parts {
            // What no reader ever took cannot be named: it is written as the worst.
            out.extend(part.flags.iter().map(|flag| (flag & !ABSENT).min(8)));
        }
        pad(out, rows);
    }
}

/// How many of the points have no value.
fn absent(flags: &[u8]) -> usize {
    flags.iter().map(|flag| usize::from(flag >> 7)).sum()
}

/// A bit for each point: whether it has a value.
fn write_validity<'a>(out: &mut Vec<u8>, flags: impl Iterator<Item = &'a u8>) {
    let (mut bits, mut count) = (0_u8, 0);
    for flag in flags {
        bits |= u8::from(flag & ABSENT == 0) << count;
        count += 1;
        if count == 8 {
            out.push(bits);
            (bits, count) = (0, 0);
        }
    }
    if count > 0 {
        out.push(bits);
    }
}

/// A dictionary of texts, in place of the one that had its number before.
fn write_dictionary(out: &mut Vec<u8>, number: i64, texts: &[&str]) {
    let bytes = texts.iter().map(|text| text.len()).sum::<usize>();
    let mut layout = Layout::default();
    layout.column(texts.len(), 0);
    layout.buffer(0);
    layout.buffer((texts.len() + 1) * 4);
    layout.buffer(bytes);
    layout.write(out, texts.len(), Some(number));
    let mut offset = 0_u32;
    out.extend_from_slice(&offset.to_le_bytes());
    for text in texts {
        offset += u32::try_from(text.len()).expect("names of one batch have less than 4 GiB");
        out.extend_from_slice(&offset.to_le_bytes());
    }
    pad(out, (texts.len() + 1) * 4);
    for text in texts {
        out.extend_from_slice(text.as_bytes());
    }
    pad(out, bytes);
}
