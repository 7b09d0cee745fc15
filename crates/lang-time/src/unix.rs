//! A point in time as a number.

/// A point in time, as nanoseconds since 1970-01-01T00:00:00Z without leap seconds. Wider than 64 bits of nanoseconds, so
/// that it takes all of [`UnixTime::from_micros`] and every date-time of the years 0 to 9999.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct UnixTime {
    pub(crate) seconds: i64,
    /// Below 1,000,000,000; also before 1970 they are added to the seconds.
    pub(crate) nanoseconds: u32,
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the remainder of a division is below the divisor, and not negative"
)]
impl UnixTime {
    /// So many microseconds after 1970 (negative: before).
    #[inline]
    pub const fn from_micros(micros: i64) -> Self {
        let nanoseconds = micros.rem_euclid(1_000_000) as u32 * 1_000;
        Self { seconds: micros.div_euclid(1_000_000), nanoseconds }
    }

    /// So many nanoseconds after 1970 (negative: before).
    #[inline]
    pub const fn from_nanoseconds(nanoseconds: i64) -> Self {
        let seconds = nanoseconds.div_euclid(1_000_000_000);
        Self { seconds, nanoseconds: nanoseconds.rem_euclid(1_000_000_000) as u32 }
    }

    /// Microseconds since 1970; digits below are cut off, towards the past.
    #[inline]
    pub const fn micros(self) -> i64 {
        // The last second of `from_micros(i64::MIN)` alone is beyond i64 before its fraction is added.
        self.seconds.wrapping_mul(1_000_000).wrapping_add(self.nanoseconds as i64 / 1_000)
    }

    /// Nanoseconds since 1970; `None` outside of 1677-09-21 to 2262-04-11.
    #[inline]
    pub fn nanoseconds(self) -> Option<i64> {
        i64::try_from(i128::from(self.seconds) * 1_000_000_000 + i128::from(self.nanoseconds)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for number in [0, 1, -1, 999_999_999, -999_999_999, 1_767_225_600_123_456_789, i64::MIN, i64::MAX] {
            assert_eq!(UnixTime::from_micros(number).micros(), number);
            assert_eq!(UnixTime::from_nanoseconds(number).nanoseconds(), Some(number));
            assert_eq!(UnixTime::from_nanoseconds(number).micros(), number.div_euclid(1_000));
        }
        assert_eq!(UnixTime::from_micros(i64::MAX).nanoseconds(), None);
    }
}
