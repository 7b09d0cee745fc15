//! Layers: what a write does to the points below it. Overlay rows, audited writes and the edits of one write are all
//! layers, and layers over layers are one layer again. Pure.

use std::collections::BinaryHeap;
use std::ops::Range;

use crate::codec::{Block, Encoding, Malformed, Summary, encode_part};
use crate::error::Error;
use crate::index::{Entry, balanced, put_entries, read_entries};
use crate::points::{Points, TimeRange};
use crate::state::Overlays;
use crate::strand::Edit;
use store::wire::{Reader, put_varint};

/// The form of an encoded layer; another than these two is refused.
const FORMAT: u8 = 1;
/// The form of one whose points lie in rows of their own (spill.rs).
const FORMAT_SPILLED: u8 = 2;

/// First nothing is left in the cleared ranges, then the points replace those of equal times.
///
/// Invariant: clears ascend, are not empty and neither overlap nor touch.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Layer {
    pub(crate) clears: Vec<TimeRange>,
    pub(crate) points: Points,
}

impl Layer {
    /// Edits in order, as one.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if times do not ascend, columns differ in length, or points lie outside of the range they
    /// replace.
    pub(crate) fn of_edits(edits: Vec<Edit>) -> Result<Self, Error> {
        let mut layers = Vec::with_capacity(edits.len());
        for edit in edits {
            let (clear, points) = match edit {
                Edit::Put(points) => (None, points),
                Edit::Delete(range) => (Some(range), Points::default()),
                Edit::Replace(range, points) => (Some(range), points),
            };
            check_points(&points, clear)?;
            let clears = clear.filter(|range| !range.is_empty()).into_iter().collect();
            layers.push(Self { clears, points });
        }
        match layers.pop() {
            None => Ok(Self::default()),
            Some(only) if layers.is_empty() => Ok(only),
            Some(last) => {
                layers.push(last);
                Ok(compose(&layers))
            }
        }
    }

    /// The first and last time touched.
    pub(crate) fn bounds(&self) -> Option<(i64, i64)> {
        let points =
            self.points.times.first().zip(self.points.times.last()).map(|(first, last)| (*first, *last));
        let clears =
            self.clears.first().zip(self.clears.last()).map(|(first, last)| (first.from, last.to - 1));
        match (points, clears) {
            (Some(points), Some(clears)) => Some((points.0.min(clears.0), points.1.max(clears.1))),
            (points, clears) => points.or(clears),
        }
    }

    /// Whether it touches an instant of `first..=last` that a block spanning them may hold a point at.
    pub(crate) fn touches(&self, first: i64, last: i64) -> bool {
        let at = self.points.times.partition_point(|time| *time < first);
        self.points.times.get(at).is_some_and(|time| *time <= last) || self.clears_in(first, last)
    }

    fn clears_in(&self, first: i64, last: i64) -> bool {
        let at = self.clears.partition_point(|range| range.to <= first);
        self.clears.get(at).is_some_and(|range| range.from <= last)
    }

    /// Whether one cleared range spans all of `first..=last`.
    pub(crate) fn clears_all(&self, first: i64, last: i64) -> bool {
        let at = self.clears.partition_point(|range| range.to <= last);
        self.clears.get(at).is_some_and(|range| range.from <= first)
    }
}

/// An encoded layer: clears, then points in blocks of at most `block_points_max`.
pub(crate) fn encode_layer(
    clears: &[TimeRange],
    points: &Points,
    encoding: Encoding,
    block_points_max: usize,
) -> Vec<u8> {
    let parts = balanced(points.len(), block_points_max).map(|places| encode_part(points, places, encoding));
    join_layer(clears, &parts.collect::<Vec<_>>())
}

/// An encoded layer of points that are encoded.
pub(crate) fn join_layer(clears: &[TimeRange], parts: &[impl AsRef<[u8]>]) -> Vec<u8> {
    let bytes: usize = parts.iter().map(|part| part.as_ref().len() + 4).sum();
    let mut out = Vec::with_capacity(8 + 16 * clears.len() + bytes);
    out.push(FORMAT);
    put_clears(&mut out, clears);
    put_varint(&mut out, parts.len() as u64);
    for part in parts {
        put_varint(&mut out, part.as_ref().len() as u64);
        out.extend_from_slice(part.as_ref());
    }
    out
}

/// An encoded layer of points that lie in rows of their own, which `parts` name.
pub(crate) fn name_layer(clears: &[TimeRange], parts: &[Entry]) -> Vec<u8> {
    let mut out = Vec::with_capacity(8 + 16 * clears.len() + 80 * parts.len());
    out.push(FORMAT_SPILLED);
    put_clears(&mut out, clears);
    put_entries(&mut out, parts);
    out
}

fn put_clears(out: &mut Vec<u8>, clears: &[TimeRange]) {
    put_varint(out, clears.len() as u64);
    for range in clears {
        out.extend_from_slice(&range.from.to_le_bytes());
        out.extend_from_slice(&range.to.to_le_bytes());
    }
}

/// Refuses columns that break the invariant of [`Points`], and points outside of `range`.
fn check_points(points: &Points, range: Option<TimeRange>) -> Result<(), Error> {
    let len = points.len();
    let fits = |column: usize| column == len || column == 0;
    let whole = points.values.len() == len
        && points.flags.len() == len
        && fits(points.observed.len())
        && fits(points.notes.places.len());
    if !whole {
        return Err(Error::Invalid("points with columns of different lengths".into()));
    }
    if !points.times.is_sorted_by(|left, right| left < right) {
        return Err(Error::Invalid("points whose times do not ascend".into()));
    }
    if points.times.last() == Some(&i64::MAX) {
        return Err(Error::Invalid("a point at the end of time".into()));
    }
    let (Some(first), Some(last), Some(range)) = (points.times.first(), points.times.last(), range) else {
        return Ok(());
    };
    if range.contains(*first) && range.contains(*last) {
        return Ok(());
    }
    Err(Error::Invalid(format!("a point outside of the replaced range {} to {}", range.from, range.to)))
}

/// An encoded layer, its head read.
#[derive(Clone, Debug)]
pub(crate) struct EncodedLayer<'a> {
    clears: Vec<TimeRange>,
    parts: Vec<Block<'a>>,
    /// Names of parts that lie in rows of their own.
    pub(crate) spilled: Vec<Entry>,
}

impl<'a> EncodedLayer<'a> {
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        let format = reader.byte()?;
        if format != FORMAT && format != FORMAT_SPILLED {
            return Err(Malformed);
        }
        let count = reader.count()?;
        let mut clears = Vec::with_capacity(count.min(bytes.len() / 16));
        for _ in 0..count {
            let (from, rest) = reader.take(16)?.split_first_chunk().ok_or(Malformed)?;
            let to = rest.first_chunk().ok_or(Malformed)?;
            clears.push(TimeRange { from: i64::from_le_bytes(*from), to: i64::from_le_bytes(*to) });
        }
        let sound = clears.iter().all(|range| !range.is_empty());
        if !sound || !clears.is_sorted_by(|left, right| left.to < right.from) {
            return Err(Malformed);
        }
        let (mut parts, mut spilled) = (Vec::new(), Vec::new());
        if format == FORMAT_SPILLED {
            spilled = read_entries(&mut reader)?;
        } else {
            let count = reader.count()?;
            parts.reserve(count);
            for _ in 0..count {
                let len = reader.count()?;
                parts.push(Block::parse(reader.take(len)?)?);
            }
        }
        reader.end()?;
        Ok(Self { clears, parts, spilled })
    }

    /// What of it lies in `range`, but for points that lie in rows of their own. Cost: parts that lie outside are not decoded.
    pub(crate) fn decode(&self, range: TimeRange) -> Result<Layer, Malformed> {
        let mut points = Points::default();
        for part in &self.parts {
            decode_range(part, range, &mut points)?;
        }
        let clip =
            |clear: &TimeRange| TimeRange { from: clear.from.max(range.from), to: clear.to.min(range.to) };
        let clears = self.clears.iter().map(clip).filter(|clear| !clear.is_empty()).collect();
        Ok(Layer { clears, points })
    }

    /// What is known of it as an overlay of this ordinal; `None` if it does nothing. Nothing is decoded.
    pub(crate) fn outline(&self, ordinal: u64) -> Option<Overlays> {
        let (mut first, mut last, mut points) = (i64::MAX, i64::MIN, 0);
        for summary in self.summaries() {
            points += u64::from(summary.count);
            (first, last) = (first.min(summary.first), last.max(summary.last));
        }
        for clear in &self.clears {
            (first, last) = (first.min(clear.from), last.max(clear.to - 1));
        }
        let (clears, spilled) = (!self.clears.is_empty(), !self.spilled.is_empty());
        let overlays = Overlays { first_ordinal: ordinal, points, clears, first, last, spilled };
        (first <= last).then_some(overlays)
    }

    /// Of all parts, wherever they lie.
    fn summaries(&self) -> impl Iterator<Item = Summary> {
        let spilled = self.spilled.iter().map(|entry| entry.summary);
        self.parts.iter().map(Block::summary).chain(spilled)
    }

    /// Whether it touches an instant of the range.
    pub(crate) fn meets(&self, range: TimeRange) -> bool {
        let cleared = self.clears.iter().any(|clear| clear.from < range.to && range.from < clear.to);
        let spans = |part: Summary| part.first < range.to && range.from <= part.last;
        cleared || self.summaries().any(spans)
    }
}

/// Appends the points of a block that lie in `range`.
pub(crate) fn decode_range(block: &Block<'_>, range: TimeRange, out: &mut Points) -> Result<(), Malformed> {
    let summary = block.summary();
    if summary.last < range.from || summary.first >= range.to {
        return Ok(());
    }
    if range.contains(summary.first) && range.contains(summary.last) {
        return block.decode_into(out);
    }
    let mut all = Points::default();
    block.decode_into(&mut all)?;
    let places = all.range_of(range);
    out.extend_from_range(&all, places);
    Ok(())
}

/// Layers, oldest first, as one. Cost: a sort of all points, linear where they are in order already, and of all clears.
pub(crate) fn compose(layers: &[Layer]) -> Layer {
    let mut refs: Vec<(i64, u32, u32)> =
        Vec::with_capacity(layers.iter().map(|layer| layer.points.len()).sum());
    for (age, layer) in (0_u32..).zip(layers) {
        refs.extend((0_u32..).zip(&layer.points.times).map(|(place, time)| (*time, age, place)));
    }
    // Stable, so that of equal times the newest comes last.
    refs.sort_by_key(|point| point.0);
    let mut clears: Vec<(u32, TimeRange)> = (0_u32..)
        .zip(layers)
        .flat_map(|(age, layer)| layer.clears.iter().map(move |clear| (age, *clear)))
        .collect();
    clears.sort_unstable_by_key(|(_, clear)| clear.from);
    let mut sweep = Sweep { clears: &clears, open: BinaryHeap::new() };
    let mut points = Points::default();
    let mut run: Option<(u32, Range<usize>)> = None;
    for (at, point) in refs.iter().enumerate() {
        let is_replaced = refs.get(at + 1).is_some_and(|next| next.0 == point.0);
        if is_replaced || sweep.newest(point.0).is_some_and(|age| age > point.1) {
            continue;
        }
        let place = point.2 as usize;
        match &mut run {
            Some((age, places)) if *age == point.1 && places.end == place => places.end += 1,
            _ => {
                flush(layers, run.replace((point.1, place..place + 1)), &mut points);
            }
        }
    }
    flush(layers, run, &mut points);
    Layer { clears: union(clears.into_iter().map(|(_, clear)| clear).collect()), points }
}

/// Cleared ranges along the times of ascending points.
struct Sweep<'a> {
    /// With their ages, ascending; those that may begin later.
    clears: &'a [(u32, TimeRange)],
    /// Age and end of those that began; the newest on top, where it has not ended.
    open: BinaryHeap<(u32, i64)>,
}

impl Sweep<'_> {
    /// The age of the newest clear of a time. Cost: each clear goes in and out once.
    fn newest(&mut self, time: i64) -> Option<u32> {
        while let Some(((age, clear), rest)) = self.clears.split_first().filter(|(it, _)| it.1.from <= time) {
            self.open.push((*age, clear.to));
            self.clears = rest;
        }
        while self.open.peek().is_some_and(|(_, to)| *to <= time) {
            self.open.pop();
        }
        self.open.peek().map(|(age, _)| *age)
    }
}

fn flush(layers: &[Layer], run: Option<(u32, Range<usize>)>, out: &mut Points) {
    if let Some((age, places)) = run
        && let Some(layer) = layers.get(age as usize)
    {
        out.extend_from_range(&layer.points, places);
    }
}

/// The same instants as few ascending ranges.
fn union(mut ranges: Vec<TimeRange>) -> Vec<TimeRange> {
    ranges.sort_unstable_by_key(|range| range.from);
    let mut union: Vec<TimeRange> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match union.last_mut() {
            Some(last) if range.from <= last.to => last.to = last.to.max(range.to),
            _ => union.push(range),
        }
    }
    union
}

/// Appends `below` with `layer` over it, both within `range`. Cost: runs of points are copied at once.
pub(crate) fn merge_into(below: &Points, layer: &Layer, range: TimeRange, out: &mut Points) {
    let Range { start: mut at, end } = below.range_of(range);
    let Range { start: mut over, end: over_end } = layer.points.range_of(range);
    let time_over = |place: usize| *layer.points.times.get(place).expect("before the end of the range");
    let time_below = |place: usize| below.times.get(place).copied().filter(|_| place < end);
    while over < over_end {
        let next = time_over(over);
        let rest = below.times.get(at..end).expect("inside the range");
        let stop = match rest.first() {
            Some(first) if *first < next => at + rest.partition_point(|time| *time < next),
            _ => at,
        };
        copy_uncleared(below, at..stop, &layer.clears, out);
        at = stop;
        // On through the layer, passing over what it replaces, until a point of below comes first.
        let from = over;
        loop {
            if time_below(at) == Some(time_over(over)) {
                at += 1;
            }
            over += 1;
            if over == over_end || time_below(at).is_some_and(|time| time < time_over(over)) {
                break;
            }
        }
        out.extend_from_range(&layer.points, from..over);
    }
    copy_uncleared(below, at..end, &layer.clears, out);
}

/// Appends the points at `places` that no range clears.
fn copy_uncleared(points: &Points, places: Range<usize>, clears: &[TimeRange], out: &mut Points) {
    let mut at = places.start;
    let time = |place: usize| points.times.get(place).copied().filter(|_| place < places.end);
    let first = time(at).map_or(clears.len(), |first| clears.partition_point(|clear| clear.to <= first));
    for clear in clears.get(first..).expect("a place in the list") {
        let rest = points.times.get(at..places.end).expect("inside the places");
        let stop = at + rest.partition_point(|time| *time < clear.from);
        out.extend_from_range(points, at..stop);
        let rest = points.times.get(stop..places.end).expect("inside the places");
        at = stop + rest.partition_point(|time| *time < clear.to);
        if at == places.end {
            return;
        }
    }
    out.extend_from_range(points, at..places.end);
}

#[cfg(test)]
mod tests;
