//! Dates of the Gregorian calendar, also before it was introduced, and the days since 1970-01-01.

/// A calendar date of the years 0 to 9999.
///
/// Invariant: the month has that day.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

/// Days from 1 March of the year -400 to 1970-01-01; eras of 400 years begin on such a day.
const DAYS_BEFORE_1970: u32 = 719_468 + DAYS_OF_ERA;
/// Days in 400 years.
const DAYS_OF_ERA: u32 = 146_097;

impl Date {
    /// Reads `2026-01-01`. Cost: some nanoseconds.
    #[inline]
    pub fn parse(text: &[u8; 10]) -> Option<Self> {
        let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = *text else { return None };
        let year = two_digits(y1, y2)? * 100 + two_digits(y3, y4)?;
        let (month, day) = (two_digits(m1, m2)?, two_digits(d1, d2)?);
        if !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day) {
            return None;
        }
        let date = (u16::try_from(year), u8::try_from(month), u8::try_from(day));
        let (Ok(year), Ok(month), Ok(day)) = date else { unreachable!("at most four and two digits") };
        Some(Self { year, month, day })
    }

    /// The year, 0 to 9999.
    #[inline]
    pub fn year(self) -> u16 {
        self.year
    }

    /// The month, 1 to 12.
    #[inline]
    pub fn month(self) -> u8 {
        self.month
    }

    /// The day of the month, 1 to 31.
    #[inline]
    pub fn day(self) -> u8 {
        self.day
    }

    /// Days since 1970-01-01.
    #[inline]
    pub fn days_since_1970(self) -> i64 {
        let (month, day) = (u32::from(self.month), u32::from(self.day));
        // Years begin in March, so that the leap day is their last one.
        let year = u32::from(self.year) + 400 - u32::from(month <= 2);
        let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        let days = year * 365 + year / 4 - year / 100 + year / 400 + day_of_year;
        i64::from(days) - i64::from(DAYS_BEFORE_1970)
    }
}

/// The number of two decimal digits.
#[inline]
pub(crate) fn two_digits(tens: u8, ones: u8) -> Option<u32> {
    let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
    (tens < 10 && ones < 10).then(|| u32::from(tens) * 10 + u32::from(ones))
}

/// Two decimal digits of a number below 100.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "below 10 each")]
pub(crate) fn pair(number: u32) -> [u8; 2] {
    debug_assert!(number < 100, "{number} has more than two digits");
    [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8]
}

#[inline]
fn days_in(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Year, month and day of a day since 1970-01-01.
///
/// The calculation is that of Neri and Schneider, "Euclidean affine functions and their application to calendar
/// algorithms" (2022): unsigned numbers of 32 bits, and divisions by constants only.
///
/// # Panics
///
/// On days that are more than 290,000 years away: no [`UnixTime`](crate::UnixTime) has them.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the low half of a product")]
pub(crate) fn civil(days_since_1970: i64) -> (i64, u32, u32) {
    const ERAS: u32 = 800;
    let shifted = days_since_1970 + i64::from(DAYS_BEFORE_1970 + (ERAS - 1) * DAYS_OF_ERA);
    let day = u32::try_from(shifted).ok().filter(|day| *day < 2 * ERAS * DAYS_OF_ERA);
    let quarters = 4 * day.expect("within 292,000 years of 1970") + 3;
    let (century, day_of_century) = (quarters / DAYS_OF_ERA, quarters % DAYS_OF_ERA / 4);
    let product = 2_939_745 * u64::from(4 * day_of_century + 3);
    let (year_of_century, rest) = ((product >> 32) as u32, product as u32);
    let day_of_year = rest / 2_939_745 / 4;
    let month_and_day = 2_141 * day_of_year + 197_913;
    let (month, day) = (month_and_day >> 16, (month_and_day & 0xffff) / 2_141);
    // Months 13 and 14 are January and February of the next year.
    let next = u32::from(day_of_year >= 306);
    let year = i64::from(100 * century + year_of_century + next) - i64::from(ERAS * 400);
    (year, month - 12 * next, day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_ten_thousand_years_is_known() {
        let mut expected = jiff::civil::date(0, 1, 1);
        let first = -719_528;
        for days in first..first + 3_652_425 {
            let (year, month, day) = civil(days);
            let same = (i64::from(expected.year()), expected.month() as u32, expected.day() as u32);
            assert_eq!((year, month, day), same, "day {days}");
            let parts = (u16::try_from(year), u8::try_from(month), u8::try_from(day));
            let (Ok(year), Ok(month), Ok(day)) = parts else { panic!("day {days}") };
            assert_eq!(Date { year, month, day }.days_since_1970(), days);
            expected = expected.tomorrow().unwrap_or(expected);
        }
    }

    #[test]
    fn days_that_a_month_has_not_are_refused() {
        for text in [
            "2026-02-29",
            "1900-02-29",
            "2100-02-29",
            "2026-04-31",
            "2026-00-01",
            "2026-13-01",
            "2026-01-00",
            "2026-01-32",
            "+026-01-01",
            "2026/01/01",
            "2026-1-001",
            "2026-01-1 ",
        ] {
            assert_eq!(Date::parse(text.as_bytes().try_into().unwrap()), None, "{text}");
        }
        for text in ["2024-02-29", "2000-02-29", "0000-02-29", "9999-12-31"] {
            assert!(Date::parse(text.as_bytes().try_into().unwrap()).is_some(), "{text}");
        }
    }
}
