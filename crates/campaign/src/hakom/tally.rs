//! What remains of a series that was read: counts and sums that only the right points in the right order give.

/// The flags that these tests write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flag {
    /// A good value.
    Valid,
    /// A value that somebody estimated.
    Estimated,
    /// No value.
    Missing,
}

impl Flag {
    /// As the API spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Valid => "Valid",
            Self::Estimated => "Estimated",
            Self::Missing => "Missing",
        }
    }

    /// The number under which the API stores it: its place from the best to the worst.
    pub fn number(self) -> u8 {
        match self {
            Self::Valid => 3,
            Self::Estimated => 5,
            Self::Missing => 8,
        }
    }

    /// What it adds to a tally.
    pub fn code(self) -> u64 {
        match self {
            Self::Valid => 0,
            Self::Estimated => 1,
            Self::Missing => 2,
        }
    }

    /// What the flag called `name` (none: valid) adds to a tally; one that is never written adds what no other does.
    pub fn code_of(name: &[u8]) -> u64 {
        match name {
            b"" | b"Valid" => 0,
            b"Estimated" => 1,
            b"Missing" => 2,
            _ => OTHER,
        }
    }

    /// What the flag of `number` adds to a tally.
    pub fn code_of_number(number: u8) -> u64 {
        match number {
            3 => 0,
            5 => 1,
            8 => 2,
            _ => OTHER,
        }
    }
}

const OTHER: u64 = 1 << 20;

/// Counts and sums of one series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// A hash of its name.
    pub name: u64,
    /// Points, those without a value included.
    pub points: u64,
    /// Points without a value.
    pub missing: u64,
    /// The sum of the values in thousandths: exact.
    pub sum: i64,
    /// The same with each value times its place, from 1: tells the order.
    pub weighted: i64,
    /// The sum of the codes of the flags, each times its place.
    pub flags: u64,
    /// Values that are no whole thousandths: none was written.
    pub inexact: u64,
    /// The time of the first point, in seconds since 1970.
    pub first: Option<i64>,
    /// The time of the last point, if the form tells it.
    pub last: Option<i64>,
    /// The sum of all times, each times its place, if the form tells them: no time in between may be off.
    pub moments: i64,
}

impl Tally {
    /// A series of this name without points.
    pub fn of(name: &[u8]) -> Self {
        Self { name: hash(name), ..Self::default() }
    }

    /// Notes the time of the point that is added next, in seconds since 1970.
    #[inline]
    pub fn at(&mut self, second: i64) {
        self.first = self.first.or(Some(second));
        self.last = Some(second);
        let place = self.points.cast_signed() + 1;
        self.moments = self.moments.wrapping_add(second.wrapping_mul(place));
    }

    /// Adds the next point: thousandths, or none.
    #[inline]
    pub fn add(&mut self, milli: Option<i64>) {
        self.points += 1;
        match milli {
            Some(milli) => {
                self.sum += milli;
                self.weighted = self.weighted.wrapping_add(milli.wrapping_mul(self.points.cast_signed()));
            }
            None => self.missing += 1,
        }
    }

    /// Adds the flag of the point at `place`, from 1.
    #[inline]
    pub fn flag(&mut self, place: u64, code: u64) {
        self.flags = self.flags.wrapping_add(place.wrapping_mul(code));
    }

    /// Adds the next point from a floating number, which must be a whole number of thousandths.
    #[inline]
    pub fn add_float(&mut self, value: f64) {
        // Half a thousandth and cutting off: rounding would call a function on older processors.
        let moved = value * 1_000.0 + 0.5_f64.copysign(value);
        #[expect(clippy::cast_possible_truncation, reason = "what does not fit is counted just below")]
        let thousandths = moved as i64;
        if thousandths as f64 / 1_000.0 != value {
            self.inexact += 1;
        }
        self.add(Some(thousandths));
    }

    /// What differs from `expected`, in words.
    pub fn differs_from(&self, expected: &Self) -> Option<String> {
        let parts: [(&str, i128, i128); 7] = [
            ("name (as hash)", self.name.into(), expected.name.into()),
            ("points", self.points.into(), expected.points.into()),
            ("points without value", self.missing.into(), expected.missing.into()),
            ("sum of values, in thousandths", self.sum.into(), expected.sum.into()),
            ("sum of values by place", self.weighted.into(), expected.weighted.into()),
            ("sum of flags by place", self.flags.into(), expected.flags.into()),
            ("values that are no thousandths", self.inexact.into(), expected.inexact.into()),
        ];
        if let Some((what, found, wanted)) = parts.into_iter().find(|(_, found, wanted)| found != wanted) {
            return Some(format!("{what}: {found}, expected {wanted}"));
        }
        if self.first != expected.first {
            return Some(format!("first time: {:?}, expected {:?}", self.first, expected.first));
        }
        if self.last.is_some() && self.last != expected.last {
            return Some(format!("last time: {:?}, expected {:?}", self.last, expected.last));
        }
        if self.last.is_some() && self.moments != expected.moments {
            return Some(format!("sum of times by place: {}, expected {}", self.moments, expected.moments));
        }
        None
    }
}

/// A hash of a name (FNV-1a): the same for the same bytes, everywhere.
pub fn hash(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(values: &[Option<i64>]) -> Tally {
        let mut tally = Tally::of(b"a");
        for (value, second) in values.iter().zip(60..) {
            tally.at(second);
            tally.add(*value);
        }
        tally
    }

    #[test]
    fn only_the_same_points_in_the_same_order_make_the_same_tally() {
        let right = tally(&[Some(1), None, Some(3)]);
        assert_eq!(tally(&[Some(1), None, Some(3)]).differs_from(&right), None);
        for wrong in [
            tally(&[Some(3), None, Some(1)]),
            tally(&[Some(1), Some(3)]),
            tally(&[Some(1), Some(0), Some(3)]),
            tally(&[None, Some(1), Some(3)]),
            Tally { name: 0, ..right },
            Tally { flags: 1, ..right },
            Tally { first: Some(1), ..right },
            Tally { last: Some(1), ..right },
            Tally { moments: 1, last: right.last, ..right },
        ] {
            assert!(wrong.differs_from(&right).is_some(), "{wrong:?}");
        }
    }

    #[test]
    fn floats_must_be_whole_thousandths() {
        let mut tally = Tally::default();
        for milli in [0, 1, 12_345, 99_999, 10_001] {
            tally.add_float(f64::from(milli) / 1_000.0);
        }
        assert_eq!((tally.sum, tally.inexact), (122_346, 0));
        tally.add_float(1.000_000_1);
        tally.add_float(f64::NAN);
        assert_eq!(tally.inexact, 2);
    }
}
