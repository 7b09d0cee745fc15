//! Points on their way in: columns for each series, put into time order at the end.

use std::collections::HashMap;

use jiff::Timestamp;
use model_series::{NAME_BYTES_MAX, Points};

use super::number::shorten;
use super::{Given, ReadLimits, SeriesName, Shape, Timing, WireError};

/// The points of one series as they come.
#[derive(Debug, Default)]
pub(crate) struct Building {
    pub(crate) name: Option<SeriesName>,
    pub(crate) points: Points,
    /// Whether a point came that was not later than the one before it.
    disordered: bool,
}

impl Building {
    /// Room for as many points as another series had.
    pub(crate) fn with_room(name: Option<SeriesName>, points: usize) -> Self {
        let points = Points {
            times: Vec::with_capacity(points),
            values: Vec::with_capacity(points),
            flags: Vec::with_capacity(points),
            ..Points::default()
        };
        Self { name, points, disordered: false }
    }

    #[inline]
    pub(crate) fn push(&mut self, time: i64, value: f64, flag: u8) {
        self.disordered |= self.points.times.last().is_some_and(|last| *last >= time);
        self.points.times.push(time);
        self.points.values.push(value);
        self.points.flags.push(flag);
    }

    /// Appends times; their values and flags are the caller's to append.
    pub(crate) fn extend_times(&mut self, times: &[i64]) {
        let before = self.points.times.last().copied();
        let disordered = times.first().is_some_and(|first| before.is_some_and(|last| last >= *first))
            || times
                .iter()
                .zip(times.get(1..).unwrap_or_default())
                .fold(false, |found, (a, b)| found | (a >= b));
        self.disordered |= disordered;
        self.points.times.extend_from_slice(times);
    }

    /// An error about the point at `position`.
    pub(crate) fn refuse(&self, position: usize, reason: String) -> WireError {
        WireError { series: self.series_text(), position: Some(position), reason, is_limit: false }
    }

    fn series_text(&self) -> Option<String> {
        self.name.as_ref().map(|(SeriesName::Name(text) | SeriesName::Id(text))| text.to_string())
    }

    /// Puts the points into time order.
    ///
    /// # Errors
    ///
    /// If a time is there twice.
    pub(crate) fn finish(mut self) -> Result<Given, WireError> {
        let order = if self.disordered { self.sort()? } else { Vec::new() };
        Ok(Given { series: self.name, timing: Timing::Each, points: self.points, order })
    }

    fn sort(&mut self) -> Result<Vec<u32>, WireError> {
        let count = u32::try_from(self.points.len()).map_err(|_| WireError::new("too many points"))?;
        let times = std::mem::take(&mut self.points.times);
        let time = |place: u32| *times.get(place as usize).expect("the place of one of these points");
        let mut order: Vec<u32> = (0..count).collect();
        order.sort_by_key(|place| time(*place));
        for (first, second) in order.iter().zip(order.iter().skip(1)) {
            if time(*first) == time(*second) {
                let at = Timestamp::from_nanosecond(i128::from(time(*first)));
                let at = at.map_or_else(|_| time(*first).to_string(), |at| at.to_string());
                let reason = format!("the time {at} is given twice, at {first} and at {second}");
                return Err(self.refuse(*second as usize, reason));
            }
        }
        let Points { values, flags, .. } = &mut self.points;
        *values = in_order(&order, values);
        *flags = in_order(&order, flags);
        self.points.times = order.iter().map(|place| time(*place)).collect();
        Ok(order)
    }
}

/// A column of points in another order.
fn in_order<T: Copy>(order: &[u32], column: &[T]) -> Vec<T> {
    let at = |place: &u32| *column.get(*place as usize).expect("columns are of one length");
    order.iter().map(at).collect()
}

/// The series of a body whose rows name them one by one, in any mixture.
#[derive(Debug)]
pub(crate) struct Gather {
    pub(crate) series: Vec<Building>,
    places: HashMap<Box<str>, usize>,
    /// The names of the one series that the address names; `None` in a body of many.
    addressed: Option<Vec<Box<str>>>,
    limits: ReadLimits,
    pub(crate) points: usize,
}

impl Gather {
    pub(crate) fn new(shape: Shape, limits: ReadLimits) -> Self {
        let addressed = (shape == Shape::Single).then(Vec::new);
        Self { series: Vec::new(), places: HashMap::new(), addressed, limits, points: 0 }
    }

    /// Says what the one series of the body may be called.
    pub(crate) fn address(&mut self, names: &[&str]) {
        if let Some(addressed) = &mut self.addressed {
            *addressed = names.iter().copied().map(Box::from).collect();
        }
    }

    /// Whether a name (or none: an empty cell) means the series of the address; `None` in a body of many.
    pub(crate) fn is_addressed(&self, name: &str) -> Option<bool> {
        let addressed = self.addressed.as_ref()?;
        Some(name.is_empty() || addressed.iter().any(|one| **one == *name))
    }

    /// Refuses the point that comes at `position` for naming another series than the address does.
    pub(crate) fn refuse_other(name: &str, position: usize) -> WireError {
        let reason = format!("the point is of series {:?}, the address names another", shorten(name));
        WireError { series: None, position: Some(position), reason, is_limit: false }
    }

    /// Counts points before they are taken.
    pub(crate) fn count(&mut self, more: usize) -> Result<(), WireError> {
        self.points = self.points.saturating_add(more);
        over_limit(self.points, self.limits.points_max, "points", "write_points_max")
    }

    /// Refuses more names in a dictionary than a body may have series.
    pub(crate) fn check_names(&self, count: usize) -> Result<(), WireError> {
        over_limit(count, self.limits.series_max, "series in a dictionary", "request_series_max")
    }

    /// The place of the series of this name (`None`: the one that the address names), new at its first mention.
    pub(crate) fn place(&mut self, mut name: Option<&str>) -> Result<usize, WireError> {
        if let Some(given) = name
            && let Some(is_addressed) = self.is_addressed(given)
        {
            if !is_addressed {
                let position = self.series.first().map_or(0, |series| series.points.len());
                return Err(Self::refuse_other(given, position));
            }
            name = None;
        }
        // Only the series of the address has no name, and only in a body of one series.
        let key = name.unwrap_or("");
        if let Some(place) = self.places.get(key) {
            return Ok(*place);
        }
        if key.len() > NAME_BYTES_MAX {
            return Err(WireError::new(format!("a series has a name of at most {NAME_BYTES_MAX} bytes")));
        }
        let place = self.series.len();
        over_limit(place + 1, self.limits.series_max, "series", "request_series_max")?;
        let room = self.series.last().map_or(0, |last| last.points.len());
        let name = name.map(|name| SeriesName::Name(name.into()));
        self.series.push(Building::with_room(
            name,
            room.min(self.limits.points_max - self.points.min(self.limits.points_max)),
        ));
        self.places.insert(key.into(), place);
        Ok(place)
    }

    pub(crate) fn finish(self) -> Result<Vec<Given>, WireError> {
        self.series.into_iter().map(Building::finish).collect()
    }
}

/// Refuses a count beyond its limit, which has this name.
pub(crate) fn over_limit(count: usize, max: usize, what: &str, name: &str) -> Result<(), WireError> {
    if count <= max {
        return Ok(());
    }
    Err(WireError::new(format!("more than {max} {what} ({name})")).of_limit())
}
