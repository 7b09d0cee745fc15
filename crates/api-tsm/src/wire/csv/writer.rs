//! Writes CSV: a header, then a line for each point.

use jiff::tz::TimeZone;
use model_series::{ABSENT, Points};

use super::record::write_field;
use crate::wire::number::{put, write_number};
use crate::wire::time::ZoneWriter;
use crate::wire::{SeriesHead, flags};

/// Appends CSV to a buffer.
#[derive(Clone)]
pub(crate) struct CsvWriter {
    times: ZoneWriter,
    /// The first field of the series' lines, with its comma.
    name: Vec<u8>,
}

impl CsvWriter {
    pub(crate) fn new(zone: &TimeZone) -> Self {
        Self { times: ZoneWriter::new(zone), name: Vec::new() }
    }

    pub(crate) fn begin(out: &mut Vec<u8>) {
        out.extend_from_slice(b"series,time,value,flag\r\n");
    }

    pub(crate) fn begin_series(&mut self, head: &SeriesHead<'_>) {
        self.name.clear();
        write_field(&mut self.name, head.name);
        self.name.push(b',');
    }

    pub(crate) fn points(&mut self, out: &mut Vec<u8>, points: &Points) {
        out.reserve(points.len() * (self.name.len() + 56));
        let columns = points.times.iter().zip(&points.values).zip(&points.flags);
        for ((time, value), flag) in columns {
            out.extend_from_slice(&self.name);
            self.times.write(out, *time);
            out.push(b',');
            // A missing value is an empty field, not `null`.
            if *flag & ABSENT == 0 && value.is_finite() {
                write_number(out, *value);
            }
            out.push(b',');
            if *flag == flags::VALID {
                put(out, b"Valid\r\n", 7);
            } else {
                out.extend_from_slice(
                    flags::name(*flag).expect("only flags with a name are stored").as_bytes(),
                );
                put(out, b"\r\n", 2);
            }
        }
    }
}
