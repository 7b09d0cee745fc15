//! Writes rows and compact bodies.

use jiff::tz::TimeZone;
use lang_json::{Buffer as _, Commas, ObjectWriter};
use model_series::{ABSENT, Points};

use super::flag_runs::FlagRuns;
use crate::wire::number::{put, write_number};
use crate::wire::time::ZoneWriter;
use crate::wire::{SeriesHead, Shape, Tail, WireError};

/// The text between the value and the end of a row, for each flag.
const ENDS: [&[u8; 32]; 9] = [
    &end(b",\"Flag\":\"NoValue\"}"),
    &end(b",\"Flag\":\"Accounted\"}"),
    &end(b",\"Flag\":\"ManuallyReplaced\"}"),
    &end(b",\"Flag\":\"Valid\"}"),
    &end(b",\"Flag\":\"Schedule\"}"),
    &end(b",\"Flag\":\"Estimated\"}"),
    &end(b",\"Flag\":\"Faulty\"}"),
    &end(b",\"Flag\":\"Interpolated\"}"),
    &end(b",\"Flag\":\"Missing\"}"),
];

/// The text, and in the last byte its length.
#[expect(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "made and checked by the compiler"
)]
const fn end<const N: usize>(text: &[u8; N]) -> [u8; 32] {
    let mut out = [0; 32];
    let mut at = 0;
    while at < N {
        out[at] = text[at];
        at += 1;
    }
    out[31] = N as u8;
    out
}

/// Appends JSON to a buffer; knows nothing of the series before, so that clones can work side by side.
#[derive(Clone)]
pub(crate) struct JsonWriter {
    compact: bool,
    times: ZoneWriter,
    /// Of the series begun: the commas between its points, and (compact) the flags so far.
    commas: Commas,
    flags: FlagRuns,
}

impl JsonWriter {
    pub(crate) fn new(compact: bool, zone: &TimeZone) -> Self {
        Self { compact, times: ZoneWriter::new(zone), commas: Commas::default(), flags: FlagRuns::default() }
    }

    /// The text before and after the series of a body.
    pub(crate) fn frame(shape: Shape) -> (&'static [u8], &'static [u8]) {
        match shape {
            Shape::Single => (b"", b""),
            Shape::Bulk => (b"{\"TimeSeries\":[", b"]}"),
        }
    }

    pub(crate) fn begin_series(&mut self, out: &mut Vec<u8>, head: &SeriesHead<'_>) {
        self.commas = Commas::default();
        self.flags.clear();
        let mut number = itoa::Buffer::new();
        // The object is open until the points and flags of the series are written.
        let mut series = ObjectWriter::begin(out);
        let id = series.literal("\"ID\":");
        id.put("\"");
        id.put(number.format(head.id));
        id.put("\"");
        series.string("Name", head.name);
        series.string("Unit", head.unit);
        if let Some((name, multiplier)) = head.interval {
            let mut interval = ObjectWriter::begin(series.literal("\"Interval\":"));
            interval.string("Value", name);
            interval.raw("Multiplier", number.format(multiplier));
            interval.end();
        }
        series.string("TimeZone", head.zone);
        if !self.compact {
            series.literal("\"Data\":").put("[");
        }
    }

    pub(crate) fn points(&mut self, out: &mut Vec<u8>, points: &Points) {
        if points.is_empty() {
            return;
        }
        if self.compact { self.slots(out, points) } else { self.rows(out, points) }
    }

    fn rows(&mut self, out: &mut Vec<u8>, points: &Points) {
        out.reserve(points.len() * 80);
        let columns = points.times.iter().zip(&points.values).zip(&points.flags);
        self.commas.next(out);
        for ((time, value), flag) in columns {
            put(out, b"{\"From\":\"", 9);
            self.times.write(out, *time);
            put(out, b"\",\"Value\":", 10);
            if *flag & ABSENT == 0 {
                write_number(out, *value);
            } else {
                put(out, b"null", 4);
            }
            match ENDS.get(usize::from(*flag & !ABSENT)) {
                Some(end @ [.., length]) => put(out, end, usize::from(*length)),
                None => out.push(b'}'),
            }
            // One comma too many, taken back, costs less than a question at each row (4 percent of its time).
            out.push(b',');
        }
        out.pop();
    }

    fn slots(&mut self, out: &mut Vec<u8>, points: &Points) {
        out.reserve(points.len() * 12);
        if let Some(start) = points.times.first().filter(|_| !self.commas.any()) {
            out.extend_from_slice(b",\"Start\":\"");
            self.times.write(out, *start);
            out.extend_from_slice(b"\",\"Values\":[");
        }
        self.commas.next(out);
        for (value, flag) in points.values.iter().zip(&points.flags) {
            if *flag & ABSENT == 0 {
                write_number(out, *value);
            } else {
                put(out, b"null", 4);
            }
            out.push(b',');
        }
        out.pop();
        self.flags.extend(&points.flags);
    }

    /// Ends the points; answers what must follow before the series is written.
    pub(crate) fn end_points(&mut self, out: &mut Vec<u8>) -> Tail {
        if self.compact && !self.commas.any() {
            // No point, so no start either: an empty series reads back as such.
            out.extend_from_slice(b",\"Data\":[");
        }
        out.push(b']');
        if !self.flags.is_needed() {
            out.push(b'}');
            return Tail::Nothing;
        }
        out.extend_from_slice(b",\"Flags\":[");
        if self.flags.is_overflowed() { Tail::FlagsAgain } else { Tail::Flags }
    }

    /// Writes flags until about `bytes_max` bytes were written; answers whether some are left, and ends the series if none
    /// are.
    pub(crate) fn flags(&mut self, out: &mut Vec<u8>, bytes_max: usize) -> bool {
        let more = self.flags.write(out, bytes_max);
        if !more {
            out.extend_from_slice(b"]}");
        }
        more
    }

    /// Writes the flags of slots that were written before.
    pub(crate) fn flags_again(&mut self, out: &mut Vec<u8>, flags: &[u8]) {
        self.flags.write_again(out, flags);
    }

    /// Ends the series behind flags that were written again.
    pub(crate) fn end_flags(&mut self, out: &mut Vec<u8>) -> Result<(), WireError> {
        if !self.flags.is_complete() {
            return Err(WireError::new("the series has other slots than it had a moment ago: read it again"));
        }
        out.extend_from_slice(b"]}");
        Ok(())
    }

    /// Ends a series whose points, all of them, are these.
    pub(crate) fn end_series(&mut self, out: &mut Vec<u8>, points: &Points) {
        match self.end_points(out) {
            Tail::Nothing => {}
            Tail::Flags => {
                self.flags(out, usize::MAX);
            }
            Tail::FlagsAgain => {
                self.flags_again(out, &points.flags);
                out.extend_from_slice(b"]}");
            }
        }
    }
}
