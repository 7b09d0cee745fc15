//! What reads are to answer, slot by slot: a list of points, a list of slots from civil dates, and nothing of the engine but
//! the names of what is asked for. Slow, and meant to be read beside the manual.

use std::collections::BTreeMap;

use jiff::civil::{DateTime, Time, Weekday, date};
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Span, Timestamp, ToSpan};

use crate::{Aggregation, Alignment, Gaps, Interval, IntervalUnit};

const HOUR: i64 = 3_600_000_000_000;
const DAY: i64 = 24 * HOUR;
/// The times that calendars are asked for: nothing is written beyond.
const YEAR_1701: i64 = -8_488_800_000_000_000_000;
const YEAR_2239: i64 = 8_488_800_000_000_000_000;
/// Flags, by their numbers.
const FAULTY: u8 = 6;
const INTERPOLATED: u8 = 7;
const MISSING: u8 = 8;

/// From and to, in nanoseconds.
pub(super) type Slot = (i64, i64);

/// A calendar: a zone, and when its days begin.
#[derive(Clone, Debug)]
pub(super) struct Calendar {
    pub(super) zone: TimeZone,
    pub(super) day_start_hours: i8,
}

fn nanoseconds(time: Timestamp) -> i64 {
    i64::try_from(time.as_nanosecond()).unwrap()
}

fn timestamp(time: i64) -> Timestamp {
    Timestamp::from_nanosecond(time.into()).unwrap()
}

impl Calendar {
    pub(super) fn new(zone: &str, day_start_hours: i8) -> Self {
        Self { zone: TimeZone::get(zone).unwrap(), day_start_hours }
    }

    /// When the clock first shows `wanted` or later.
    fn first_shown(&self, wanted: DateTime) -> i64 {
        let ambiguous = self.zone.to_ambiguous_timestamp(wanted);
        let time = match ambiguous.offset() {
            AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(wanted).unwrap(),
            AmbiguousOffset::Fold { before, .. } => before.to_timestamp(wanted).unwrap(),
            // The skip itself: the last change of the clock before what would have been the time.
            AmbiguousOffset::Gap { before, .. } => {
                let would_be = before.to_timestamp(wanted).unwrap();
                let until = would_be.checked_add(1.nanosecond()).unwrap();
                self.zone.preceding(until).next().unwrap().timestamp()
            }
        };
        nanoseconds(time)
    }

    fn day_start(&self) -> Time {
        Time::new(self.day_start_hours, 0, 0, 0).unwrap()
    }

    /// The civil beginnings of days around `from` and `to`, with some to spare.
    fn civil_days(&self, from: i64, to: i64, spare: i64) -> Vec<DateTime> {
        let first = timestamp(from).to_zoned(self.zone.clone()).date() - Span::new().days(spare);
        let last = timestamp(to).to_zoned(self.zone.clone()).date() + Span::new().days(spare);
        first
            .series(1.day())
            .take_while(|day| *day <= last)
            .map(|day| day.to_datetime(self.day_start()))
            .collect()
    }

    /// All slots that touch `from..=to`, and some more at both ends.
    pub(super) fn slots(&self, interval: Interval, (from, to): (i64, i64)) -> Vec<Slot> {
        let count = i64::from(interval.multiplier);
        let steps = |unit: i64| self.slots_within_days(unit * count, from, to);
        match interval.unit {
            IntervalUnit::Millisecond => steps(1_000_000),
            IntervalUnit::Second => steps(1_000_000_000),
            IntervalUnit::Minute => steps(HOUR / 60),
            IntervalUnit::Hour if count < 24 => steps(HOUR),
            IntervalUnit::Hour => self.slots_of_days(count / 24, date(1970, 1, 1), from, to),
            IntervalUnit::Day => self.slots_of_days(count, date(1970, 1, 1), from, to),
            IntervalUnit::Week => {
                let monday = date(1969, 12, 29);
                assert_eq!(monday.weekday(), Weekday::Monday);
                self.slots_of_days(7 * count, monday, from, to)
            }
            IntervalUnit::Month => self.slots_of_months(count, from, to),
            IntervalUnit::Quarter => self.slots_of_months(3 * count, from, to),
            IntervalUnit::Year => self.slots_of_months(12 * count, from, to),
        }
    }

    fn slots_of_days(&self, count: i64, anchor: jiff::civil::Date, from: i64, to: i64) -> Vec<Slot> {
        let days = self.civil_days(from, to, 2 * count + 2).into_iter();
        let is_first = |day: &DateTime| i64::from((day.date() - anchor).get_days()).rem_euclid(count) == 0;
        between(days.filter(is_first).map(|day| self.first_shown(day)))
    }

    fn slots_of_months(&self, count: i64, from: i64, to: i64) -> Vec<Slot> {
        let days = self.civil_days(from, to, 31 * (2 * count + 1)).into_iter();
        let is_first = |day: &DateTime| {
            let month = i64::from(day.year()) * 12 + i64::from(day.month()) - 1;
            day.day() == 1 && month % count == 0
        };
        between(days.filter(is_first).map(|day| self.first_shown(day)))
    }

    fn slots_within_days(&self, step: i64, from: i64, to: i64) -> Vec<Slot> {
        let mut slots = Vec::new();
        for day in self.civil_days(from, to, 2) {
            let next = day.date().tomorrow().unwrap().to_datetime(self.day_start());
            let (begin, end) = (self.first_shown(day), self.first_shown(next));
            let mut starts: Vec<i64> = match self.is_elapsed(day, begin, end, step) {
                true => (0..).map(|place| begin + place * step).take_while(|start| *start < end).collect(),
                false => (0..)
                    .map(|place| place * step)
                    .take_while(|local| *local < DAY)
                    .map(|local| self.first_shown(day.saturating_add(Span::new().nanoseconds(local))))
                    .take_while(|start| *start < end)
                    .collect(),
            };
            starts.push(end);
            slots.extend(between(starts.into_iter()));
        }
        slots
    }

    /// Whether the clock shows, all day, whole steps after the day's beginning wherever whole steps have gone by.
    fn is_elapsed(&self, day: DateTime, begin: i64, end: i64, step: i64) -> bool {
        let changes = self.zone.following(timestamp(begin)).map(|change| nanoseconds(change.timestamp()));
        let mut looks = changes.take_while(|change| *change < end).collect::<Vec<_>>();
        looks.push(begin);
        looks.into_iter().all(|time| {
            let offset = self.zone.to_offset(timestamp(time));
            let beginning = nanoseconds(offset.to_timestamp(day).unwrap());
            (time - beginning - (time - begin)) % step == 0
        })
    }
}

/// Slots from one boundary to the next; those that were skipped are none.
fn between(boundaries: impl Iterator<Item = i64>) -> Vec<Slot> {
    let boundaries: Vec<i64> = boundaries.collect();
    boundaries.windows(2).map(|pair| (pair[0], pair[1])).filter(|(from, to)| from < to).collect()
}

/// A unit: a name, the kind of its values, and the way to the first of its kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum UnitName {
    KiloWatt,
    KiloWattHour,
    MegaWattHour,
    Fahrenheit,
    Celsius,
}

impl UnitName {
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::KiloWatt => "kW",
            Self::KiloWattHour => "kWh",
            Self::MegaWattHour => "MWh",
            Self::Fahrenheit => "F",
            Self::Celsius => "C",
        }
    }

    fn is_amount(self) -> bool {
        matches!(self, Self::KiloWattHour | Self::MegaWattHour)
    }

    /// A value in another unit, of so many hours.
    fn told_in(self, value: f64, other: Self, hours: f64) -> f64 {
        let base = match self {
            Self::KiloWatt if other.is_amount() => value * hours,
            Self::KiloWattHour if other == Self::KiloWatt => value / hours,
            Self::MegaWattHour if other == Self::KiloWatt => value * 1_000.0 / hours,
            Self::MegaWattHour => value * 1_000.0,
            Self::Fahrenheit => (value - 32.0) * 0.5,
            Self::KiloWatt | Self::KiloWattHour | Self::Celsius => value,
        };
        match other {
            Self::MegaWattHour => base / 1_000.0,
            Self::Fahrenheit => base / 0.5 + 32.0,
            Self::KiloWatt | Self::KiloWattHour | Self::Celsius => base,
        }
    }

    /// Whether the length of slots counts between the two.
    fn is_by_hours(self, other: Self) -> bool {
        (self == Self::KiloWatt) != (other == Self::KiloWatt)
    }
}

/// A point as it was written: a value or none, and a flag.
pub(super) type Point = (Option<f64>, u8);

/// What became of a series, write by write.
#[derive(Clone, Debug)]
pub(super) enum Written {
    Put(BTreeMap<i64, Point>),
    /// All whose slots lie in the range; of left-aligned ones, begin in it.
    Delete(i64, i64),
}

/// A series: its definition, and what was written.
#[derive(Clone, Debug)]
pub(super) struct Series {
    pub(super) alignment: Alignment,
    pub(super) interval: Option<Interval>,
    pub(super) calendar: Calendar,
    pub(super) unit: UnitName,
    pub(super) written: Vec<Written>,
}

/// A read.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) interval: Option<Interval>,
    pub(super) calendar: Calendar,
    pub(super) unit: Option<UnitName>,
    pub(super) aggregation: Option<Aggregation>,
    pub(super) gaps: Gaps,
    /// After how many writes; all if none is given.
    pub(super) writes: Option<usize>,
    pub(super) from: Option<i64>,
    pub(super) to: Option<i64>,
}

/// A time that a point names, its value or none, its flag.
pub(super) type Row = (i64, Option<f64>, u8);

/// What a point stands for, and what it says.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    from: i64,
    to: i64,
    value: Option<f64>,
    flag: u8,
}

#[derive(Clone, Copy, Debug)]
struct Part {
    of: Stretch,
    length: i64,
    is_start: bool,
}

fn hours(length: i64) -> f64 {
    length as f64 / HOUR as f64
}

impl Series {
    /// The slot that a point at `time` names.
    fn slot_named(&self, slots: &[Slot], time: i64) -> Slot {
        let is_it =
            |slot: &&Slot| if self.alignment == Alignment::End { slot.1 == time } else { slot.0 == time };
        *slots.iter().find(is_it).expect("points are on the raster")
    }

    /// Whether a range selects a slot (or the time of a point that has none).
    fn selects(&self, (from, to): (i64, i64), slot: Slot) -> bool {
        match self.alignment {
            Alignment::End => from <= slot.0 && slot.1 <= to,
            Alignment::Begin | Alignment::Spontaneous => from <= slot.0 && slot.0 < to,
        }
    }

    /// What was there after so many writes.
    fn points(&self, writes: Option<usize>) -> BTreeMap<i64, Point> {
        let mut points = BTreeMap::new();
        for written in self.written.iter().take(writes.unwrap_or(usize::MAX)) {
            match written {
                Written::Put(put) => points.extend(put.iter().map(|(time, point)| (*time, *point))),
                Written::Delete(from, to) => {
                    let times: Vec<i64> = points.keys().copied().collect();
                    let slots = self.own_slots(&times);
                    for time in times {
                        let slot = match self.interval {
                            Some(_) => self.slot_named(&slots, time),
                            None => (time, time),
                        };
                        if self.selects((*from, *to), slot) {
                            points.remove(&time);
                        }
                    }
                }
            }
        }
        points
    }

    fn own_slots(&self, times: &[i64]) -> Vec<Slot> {
        match (self.interval, times.first(), times.last()) {
            (Some(interval), Some(first), Some(last)) => self.calendar.slots(interval, (*first, *last)),
            _ => Vec::new(),
        }
    }

    /// What points stand for; the last spontaneous one until `until`.
    fn stretches(&self, points: &BTreeMap<i64, Point>, until: i64) -> Vec<Stretch> {
        let times: Vec<i64> = points.keys().copied().collect();
        let slots = self.own_slots(&times);
        let stretch = |(place, (time, (value, flag))): (usize, (&i64, &Point))| {
            let (from, to) = match self.interval {
                Some(_) => self.slot_named(&slots, *time),
                None => (*time, times.get(place + 1).copied().unwrap_or(until.max(*time + 1))),
            };
            Stretch { from, to, value: *value, flag: *flag }
        };
        points.iter().enumerate().map(stretch).collect()
    }

    /// The rows of an answer.
    pub(super) fn read(&self, question: &Question) -> Vec<Row> {
        let points = self.points(question.writes);
        let Some(slots) = self.slots_of(question, &points) else {
            return self.read_without_slots(question, &points);
        };
        let Some((from, to)) = self.range_of(question, &points, &slots) else {
            return Vec::new();
        };
        let wanted: Vec<usize> =
            (0..slots.len()).filter(|place| self.selects((from, to), slots[*place])).collect();
        let (Some(first), Some(last)) = (wanted.first().copied(), wanted.last().copied()) else {
            return Vec::new();
        };
        // Gaps at the ends are filled from a hundred slots outside.
        let around = first.saturating_sub(100)..slots.len().min(last + 101);
        let made = |range: std::ops::Range<usize>, until: i64| -> Vec<(usize, Option<Point>)> {
            let stretches = self.stretches(&points, until);
            range.map(|place| (place, self.made(question, slots[place], &stretches))).collect()
        };
        let mut rows = made(first..last + 1, slots[last].1);
        let mut known = made(around.start..first, slots[first].0);
        known.extend(rows.iter().copied());
        known.extend(made(last + 1..around.end, slots[around.end - 1].1));
        let name =
            |place: usize| if self.alignment == Alignment::End { slots[place].1 } else { slots[place].0 };
        let known: Vec<(i64, f64)> =
            known.into_iter().filter_map(|(place, point)| Some((name(place), point?.0?))).collect();
        for (place, point) in &mut rows {
            fill(question.gaps, name(*place), &known, point);
        }
        rows.into_iter()
            .filter_map(|(place, point)| point.map(|(value, flag)| (name(place), value, flag)))
            .collect()
    }

    /// All slots that the answer, and what its gaps are filled from, may have; none for points without slots.
    fn slots_of(&self, question: &Question, points: &BTreeMap<i64, Point>) -> Option<Vec<Slot>> {
        let (interval, calendar) = match (question.interval, self.interval) {
            (Some(interval), _) => (interval, &question.calendar),
            (None, Some(interval)) => (interval, &self.calendar),
            (None, None) => return None,
        };
        // What points stand for may be much longer than the slots that are asked for.
        let stretches = self.stretches(points, i64::MIN);
        let ends = stretches.iter().flat_map(|stretch| [stretch.from, stretch.to]);
        let ends: Vec<i64> = ends.chain(question.from).chain(question.to).collect();
        let (Some(first), Some(last)) = (ends.iter().min(), ends.iter().max()) else {
            return Some(Vec::new());
        };
        // Enough for a hundred slots at each end, and for the slots that those cut.
        let length = calendar.slots(interval, (*first, *first)).iter().map(|slot| slot.1 - slot.0).max()?;
        let spare = 102 * length + 400 * DAY * i64::from(length > 20 * DAY);
        let within = |time: i64| time.clamp(YEAR_1701, YEAR_2239);
        let around = (within(first.saturating_sub(spare)), within(last.saturating_add(spare)));
        Some(calendar.slots(interval, around))
    }

    /// The range with ends; those that are not given are those of what points stand for.
    fn range_of(
        &self,
        question: &Question,
        points: &BTreeMap<i64, Point>,
        slots: &[Slot],
    ) -> Option<(i64, i64)> {
        let stretches = self.stretches(points, i64::MIN);
        if let (Some(from), Some(to)) = (question.from, question.to) {
            return Some((from, to));
        }
        let (begin, end) = (stretches.first()?.from, stretches.last()?.to);
        let touched: Vec<&Slot> = slots.iter().filter(|slot| slot.0 < end && begin < slot.1).collect();
        let from = question.from.unwrap_or(touched.first()?.0);
        let to = question.to.unwrap_or(touched.last()?.1);
        Some((from, to))
    }

    /// Points on no slots: each by itself.
    fn read_without_slots(&self, question: &Question, points: &BTreeMap<i64, Point>) -> Vec<Row> {
        let (from, to) = (question.from.unwrap_or(i64::MIN), question.to.unwrap_or(i64::MAX));
        let mut rows: Vec<Row> =
            points.range(from..to.max(from)).map(|(time, (value, flag))| (*time, *value, *flag)).collect();
        for (_, value, flag) in &mut rows {
            if question.aggregation == Some(Aggregation::Count) {
                (*value, *flag) = if value.is_some() { (Some(1.0), *flag) } else { (Some(0.0), MISSING) };
            } else if let (Some(value), Some(unit)) = (value.as_mut(), question.unit) {
                *value = self.unit.told_in(*value, unit, f64::NAN);
            }
        }
        let known: Vec<(i64, f64)> =
            rows.iter().filter_map(|(time, value, _)| Some((*time, (*value)?))).collect();
        for (time, value, flag) in &mut rows {
            let mut point = Some((*value, *flag));
            fill(question.gaps, *time, &known, &mut point);
            (*value, *flag) = point.unwrap();
        }
        rows
    }

    /// What a slot comes to; none if no point belongs to it.
    fn made(&self, question: &Question, slot: Slot, stretches: &[Stretch]) -> Option<Point> {
        let holds = self.interval.is_none();
        let unit = question.unit.unwrap_or(self.unit);
        let waits = holds && self.unit.is_by_hours(unit);
        let mut how = question.aggregation.unwrap_or({
            let rule = if waits { self.unit } else { unit };
            if rule.is_amount() { Aggregation::Sum } else { Aggregation::TimeWeightedMean }
        });
        let integrates = waits && !self.unit.is_amount();
        if integrates && how == Aggregation::Sum {
            how = Aggregation::TimeWeightedMean;
        }
        let converted = |stretch: &Stretch| {
            let value = stretch.value.map(|value| match waits || how == Aggregation::Count {
                true => value,
                false => self.unit.told_in(value, unit, hours(stretch.to - stretch.from)),
            });
            Stretch { value, ..*stretch }
        };
        let parts: Vec<Part> = stretches
            .iter()
            .filter(|stretch| stretch.from < slot.1 && slot.0 < stretch.to)
            .map(|stretch| Part {
                of: converted(stretch),
                length: stretch.to.min(slot.1) - stretch.from.max(slot.0),
                is_start: slot.0 <= stretch.from,
            })
            .collect();
        let (value, flag) = put_together(&parts, how, slot, holds)?;
        let covered: i64 = parts.iter().filter(|part| part.of.value.is_some()).map(|part| part.length).sum();
        let time = if integrates { covered } else { slot.1 - slot.0 };
        let value = value.map(|value| match waits && how != Aggregation::Count {
            true => self.unit.told_in(value, unit, hours(time)),
            false => value,
        });
        Some(if value.is_some_and(|value| !value.is_finite()) {
            (None, flag.max(FAULTY))
        } else {
            (value, flag)
        })
    }
}

/// The value and flag of a slot's parts.
fn put_together(parts: &[Part], how: Aggregation, slot: Slot, holds: bool) -> Option<Point> {
    let length = slot.1 - slot.0;
    // Of values that hold, sums and counts are of those that stand in the slot.
    let stands_only = holds && matches!(how, Aggregation::Sum | Aggregation::Count);
    let seen: Vec<Part> = parts.iter().copied().filter(|part| !stands_only || part.is_start).collect();
    if seen.is_empty() {
        return None;
    }
    let valued: Vec<(f64, Part)> = seen.iter().filter_map(|part| Some((part.of.value?, *part))).collect();
    let value = if how == Aggregation::Count {
        Some(valued.iter().filter(|(_, part)| part.is_start).count() as f64)
    } else {
        (!valued.is_empty()).then(|| value_of(&valued, how, holds))
    };
    let covered: i64 = valued.iter().map(|(_, part)| part.length).sum();
    let is_part_missing = if stands_only { valued.len() < seen.len() } else { covered < length };
    let worst = seen.iter().map(|part| part.of.flag).max().unwrap();
    let flag = match (value, &seen[..]) {
        // What one point is the whole of has its flag, also if it has no value.
        (None, [only]) if !stands_only && only.length == length => only.of.flag,
        _ if is_part_missing => MISSING,
        _ => worst,
    };
    Some((value, flag))
}

fn value_of(valued: &[(f64, Part)], how: Aggregation, holds: bool) -> f64 {
    let share = |part: &Part| part.length as f64 / (part.of.to - part.of.from) as f64;
    let values = || valued.iter().map(|(value, _)| *value);
    let starting: Vec<f64> =
        valued.iter().filter(|(_, part)| part.is_start).map(|(value, _)| *value).collect();
    match how {
        Aggregation::Sum if holds => values().sum(),
        Aggregation::Sum => valued.iter().map(|(value, part)| value * share(part)).sum(),
        Aggregation::Average if holds && starting.is_empty() => values().next_back().unwrap(),
        Aggregation::Average if holds => starting.iter().sum::<f64>() / starting.len() as f64,
        Aggregation::Average => {
            let shares: f64 = valued.iter().map(|(_, part)| share(part)).sum();
            valued.iter().map(|(value, part)| value * share(part)).sum::<f64>() / shares
        }
        Aggregation::TimeWeightedMean => {
            let time: f64 = valued.iter().map(|(_, part)| hours(part.length)).sum();
            valued.iter().map(|(value, part)| value * hours(part.length)).sum::<f64>() / time
        }
        Aggregation::Minimum => values().fold(f64::INFINITY, f64::min),
        Aggregation::Maximum => values().fold(f64::NEG_INFINITY, f64::max),
        Aggregation::First => values().next().unwrap(),
        Aggregation::Last => values().next_back().unwrap(),
        Aggregation::Count => unreachable!("counted before"),
    }
}

/// Fills a gap at `time` from what is known around it.
fn fill(gaps: Gaps, time: i64, known: &[(i64, f64)], point: &mut Option<Point>) {
    if gaps == Gaps::None {
        return;
    }
    let (value, _) = point.get_or_insert((None, MISSING));
    if value.is_some() {
        return;
    }
    let before = known.iter().rfind(|(at, _)| *at < time);
    let after = known.iter().find(|(at, _)| *at > time);
    let made = match (gaps, before, after) {
        (Gaps::Previous, Some((_, value)), _) => Some(*value),
        (Gaps::Linear, Some((begin, one)), Some((end, other))) => {
            let way = (time - begin) as f64 / (end - begin) as f64;
            Some(one * (1.0 - way) + other * way)
        }
        _ => None,
    };
    if let Some(made) = made {
        *point = Some((Some(made), INTERPOLATED));
    }
}

/// The sum of many answers.
pub(super) fn sum(answers: &[Vec<Row>]) -> Vec<Row> {
    let mut times: BTreeMap<i64, (Option<f64>, u8, usize)> = BTreeMap::new();
    for (time, value, flag) in answers.iter().flatten() {
        let (sum, worst, count) = times.entry(*time).or_insert((None, 0, 0));
        *worst = (*worst).max(*flag);
        if let Some(value) = value {
            (*sum, *count) = (Some(sum.unwrap_or(0.0) + value), *count + 1);
        }
    }
    let told = |(time, (sum, worst, count)): (i64, (Option<f64>, u8, usize))| {
        (time, sum, if count < answers.len() { MISSING } else { worst })
    };
    times.into_iter().map(told).collect()
}
