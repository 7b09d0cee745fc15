//! The points of these tests: daily curves with noise, three decimals, and runs of flags. Each point is a function
//! of seed, series, place and version; nothing is stored.

use std::f64::consts::TAU;

use super::rows::{Pattern, Row};
use super::tally::{Flag, Tally};

/// Steps of the table of the sine.
const SINE_STEPS: usize = 1_024;
/// The first point: 2026-01-01T00:00:00Z.
pub const START: i64 = 1_767_225_600;
/// Characters of a time, as in `2026-01-01T00:00:00Z`.
pub const TIME_BYTES: usize = 20;

/// A set of series on one raster.
#[derive(Debug, Clone)]
pub struct Data {
    prefix: String,
    seed: u64,
    /// Points of each series.
    pub values: usize,
    /// Seconds from one point to the next.
    pub step: i64,
    /// How many series there are.
    pub series: usize,
    times: Vec<[u8; TIME_BYTES]>,
    /// The sine of a day at each place, in 1/32768.
    curve: Vec<i32>,
}

impl Data {
    /// The `series` of `row`, all named with `prefix`, that follow from `seed`. Cost: one raster.
    pub fn new(row: &Row, series: usize, prefix: &str, seed: u64) -> Self {
        let step = i64::from(row.minutes) * 60;
        let per_day = usize::try_from(86_400 / step.max(1)).unwrap_or(1).max(1);
        let sine = |place: usize| {
            let turn = (place % per_day) as f64 / per_day as f64;
            let grain = (turn * SINE_STEPS as f64).floor() / SINE_STEPS as f64;
            #[expect(clippy::cast_possible_truncation, reason = "at most 32767")]
            let value = ((grain * TAU).sin() * 32_767.0) as i32;
            value
        };
        Self {
            prefix: prefix.to_owned(),
            seed: mix(seed ^ 0x5345_5249_4553),
            values: row.values,
            step,
            series,
            times: (0..=row.values).map(|place| time_text(START + step * place as i64)).collect(),
            curve: (0..row.values).map(sine).collect(),
        }
    }

    /// Appends the name of series `index`.
    pub fn name(&self, index: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(self.prefix.as_bytes());
        out.extend_from_slice(itoa::Buffer::new().format(index).as_bytes());
    }

    /// The name of series `index`.
    pub fn name_text(&self, index: usize) -> String {
        format!("{}{index}", self.prefix)
    }

    /// The time of the point at `place`; at `values`, the end of the range.
    pub fn time_text(&self, place: usize) -> [u8; TIME_BYTES] {
        *self.times.get(place).expect("a place of the raster, or its end")
    }

    /// The time of the point at `place`, in seconds since 1970.
    pub fn time(&self, place: usize) -> i64 {
        START + self.step * place as i64
    }

    /// Points of all series.
    pub fn points(&self) -> u64 {
        self.series as u64 * self.values as u64
    }

    /// How many points a day has.
    pub fn per_day(&self) -> usize {
        usize::try_from(86_400 / self.step.max(1)).unwrap_or(1).max(1)
    }

    /// What makes series `index`.
    pub fn one(&self, index: usize) -> Series<'_> {
        let seed = mix(self.seed ^ (index as u64).wrapping_mul(0xD1B5_4A32_D192_ED03));
        let base = 22_000 + low(seed, 0x7FFF);
        let amplitude = 2_000 + low(seed >> 15, 0x3FFF);
        let place = |bits: u32| low(seed >> bits, 0xFFFF).cast_unsigned() as usize % self.values.max(1);
        let length = |bits: u32| 4 + low(seed >> bits, 31).cast_unsigned() as usize;
        let run = |held: bool, start: usize, length: usize| {
            if held { start..(start + length).min(self.values) } else { 0..0 }
        };
        Series {
            data: self,
            seed,
            base,
            amplitude,
            estimated: run(seed >> 62 == 0, place(30), length(46)),
            missing: run(seed >> 60 & 3 == 0, place(40), length(54) / 4),
        }
    }

    /// What reading series `index` whole must give, if the point at a place was last written in the version that
    /// `versions` names. Cost: one pass over its points.
    pub fn expected(&self, index: usize, versions: &Versions) -> Tally {
        let series = self.one(index);
        let mut tally = Tally::of(self.name_text(index).as_bytes());
        for place in 0..self.values {
            let (milli, flag) = series.point(place, versions.at(place));
            tally.at(self.time(place));
            tally.add(milli.map(i64::from));
            tally.flag(place as u64 + 1, flag.code());
        }
        tally
    }
}

/// One series.
#[derive(Debug, Clone)]
pub struct Series<'a> {
    data: &'a Data,
    seed: u64,
    base: i32,
    amplitude: i32,
    estimated: std::ops::Range<usize>,
    missing: std::ops::Range<usize>,
}

impl Series<'_> {
    /// The point at `place` in `version`: thousandths from 1,000 to 99,999, or none. Later versions are all valid.
    #[inline]
    pub fn point(&self, place: usize, version: u32) -> (Option<i32>, Flag) {
        if version == 0 && self.missing.contains(&place) {
            return (None, Flag::Missing);
        }
        let sine = *self.data.curve.get(place).expect("a place of the raster");
        let noise = mix(self.seed ^ (place as u64 >> 2) ^ (u64::from(version) << 40)) >> ((place & 3) * 16);
        let noise = low(noise, 0xFF);
        let milli = self.base + ((self.amplitude * (sine >> 4)) >> 11) + noise;
        let flag =
            if version == 0 && self.estimated.contains(&place) { Flag::Estimated } else { Flag::Valid };
        (Some(milli), flag)
    }

    #[cfg(test)]
    pub(super) fn missing_is_empty(&self) -> bool {
        self.missing.is_empty()
    }

    /// Whether all flags of `version` are valid ones.
    pub fn is_valid(&self, version: u32) -> bool {
        version > 0 || (self.estimated.is_empty() && self.missing.is_empty())
    }
}

/// In which version each place of a raster was written last.
#[derive(Debug, Clone, Default)]
pub struct Versions {
    last: Vec<u32>,
}

impl Versions {
    /// Notes that the places of `picked` were written in `version`.
    pub fn write(&mut self, picked: &[usize], version: u32) {
        for place in picked {
            if self.last.len() <= *place {
                self.last.resize(place + 1, 0);
            }
            if let Some(last) = self.last.get_mut(*place) {
                *last = version;
            }
        }
    }

    fn at(&self, place: usize) -> u32 {
        self.last.get(place).copied().unwrap_or(0)
    }
}

/// The places of a raster that an overwrite of `percent` of each day takes, in order.
pub fn picked(data: &Data, percent: usize, pattern: Pattern) -> Vec<usize> {
    let per_day = data.per_day();
    let held = |place: &usize| match pattern {
        Pattern::Contiguous => (place % per_day) * 100 < percent * per_day,
        Pattern::Scattered => (place + 1) * percent / 100 > place * percent / 100,
    };
    (0..data.values).filter(held).collect()
}

/// The low bits of `bits` that `mask`, which is less than 2^31, lets through.
#[inline]
fn low(bits: u64, mask: u32) -> i32 {
    i32::try_from(bits & u64::from(mask)).expect("masked below 2^31")
}

#[inline]
fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// `2026-01-01T00:00:00Z` for seconds since 1970.
pub fn time_text(seconds: i64) -> [u8; TIME_BYTES] {
    let text = jiff::Timestamp::from_second(seconds).expect("a time of this century").to_string();
    text.as_bytes().try_into().expect("whole seconds of a year of four digits")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::hakom) fn data(values: usize, series: usize) -> Data {
        let mut row = crate::hakom::tests::selected("H-SW").rows.remove(0);
        row.values = values;
        Data::new(&row, series, "s.", 42)
    }

    #[test]
    fn points_follow_from_the_seed_and_stay_in_range() {
        let data = data(2_976, 200);
        let mut flags = [0_u32; 3];
        let mut sums = std::collections::HashSet::new();
        for index in 0..200 {
            let series = data.one(index);
            for place in 0..2_976 {
                let (milli, flag) = series.point(place, 0);
                assert!(milli.is_none_or(|milli| (1_000..100_000).contains(&milli)), "{milli:?}");
                assert_eq!(milli.is_none(), flag == Flag::Missing);
                flags[usize::try_from(flag.code()).unwrap()] += 1;
                assert_eq!(series.point(place, 0), data.one(index).point(place, 0));
            }
            sums.insert(data.expected(index, &Versions::default()).sum);
        }
        assert!(flags[0] > 580_000 && flags[1] > 400 && flags[2] > 40, "{flags:?}");
        assert_eq!(sums.len(), 200, "no two series are alike");
        let (one, two) = (data.one(1).point(7, 0), data.one(1).point(7, 1));
        assert_ne!(one, two);
    }

    #[test]
    fn times_are_on_the_raster() {
        let data = data(96, 1);
        assert_eq!(&data.time_text(0), b"2026-01-01T00:00:00Z");
        assert_eq!(&data.time_text(95), b"2026-01-01T23:45:00Z");
        assert_eq!(&data.time_text(96), b"2026-01-02T00:00:00Z");
        assert_eq!(data.time(96) - data.time(0), 86_400);
    }

    #[test]
    fn shares_of_a_day_are_picked() {
        let data = data(192, 1);
        let first = picked(&data, 25, Pattern::Contiguous);
        assert_eq!(first, (0..24).chain(96..120).collect::<Vec<_>>());
        let some = picked(&data, 25, Pattern::Scattered);
        assert_eq!((some.len(), some[0], some[1]), (48, 3, 7));
        assert_eq!(picked(&data, 75, Pattern::Scattered).len(), 144);
        assert_eq!(picked(&data, 100, Pattern::Contiguous).len(), 192);
    }

    #[test]
    fn expectations_know_the_last_version() {
        let data = data(192, 3);
        let mut versions = Versions::default();
        let before = data.expected(1, &versions);
        versions.write(&picked(&data, 50, Pattern::Contiguous), 1);
        let after = data.expected(1, &versions);
        assert_eq!(before.points, after.points);
        assert_ne!(before.sum, after.sum);
        assert!(after.differs_from(&before).is_some());
    }
}
