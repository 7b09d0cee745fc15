//! Times as text (RFC 3339): written and read with the day kept, so that most points cost a few instructions.

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};

use super::number::{put, shorten};

const SECOND: i64 = 1_000_000_000;
const DAY_SECONDS: i64 = 86_400;

/// `2026-01-01T00:00:00`
const CIVIL: usize = 19;
/// `2026-01-01T00:00:00+01:00`
const LONGEST: usize = 25;

/// Renders times in a zone: the text of the last time is kept, and patched while the day stays.
#[derive(Clone)]
pub(crate) struct TimeWriter {
    zone: TimeZone,
    /// The text of the last whole second, its offset included.
    text: [u8; 32],
    length: usize,
    /// The seconds for which the date and the offset of `text` hold, and the seconds of the local day at `from`.
    from: i64,
    to: i64,
    from_of_day: i64,
}

impl TimeWriter {
    pub(crate) fn new(zone: &TimeZone) -> Self {
        Self { zone: zone.clone(), text: [0; 32], length: 0, from: 0, to: 0, from_of_day: 0 }
    }

    /// Appends a time: `2026-01-01T00:00:00Z`, with as many digits of a second as it needs (3, 6 or 9).
    #[inline]
    pub(crate) fn write(&mut self, out: &mut Vec<u8>, time: i64) {
        let seconds = time.div_euclid(SECOND);
        let rest = time.rem_euclid(SECOND);
        self.turn_to(seconds);
        if rest == 0 {
            put(out, &self.text, self.length);
        } else {
            self.write_fraction(out, rest);
        }
    }

    fn write_fraction(&self, out: &mut Vec<u8>, rest: i64) {
        let digits = format!("{rest:09}");
        let digits = digits.strip_suffix("000000").or(digits.strip_suffix("000")).unwrap_or(&digits);
        put(out, &self.text, CIVIL);
        out.push(b'.');
        out.extend_from_slice(digits.as_bytes());
        out.extend_from_slice(
            self.text.get(CIVIL..self.length).expect("an offset stands behind the seconds"),
        );
    }

    /// Makes `text` say `seconds`.
    #[inline]
    fn turn_to(&mut self, seconds: i64) {
        if !(self.from <= seconds && seconds < self.to) {
            self.turn_day(seconds);
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within a day")]
        let of_day = (seconds - self.from + self.from_of_day) as u32;
        let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
        let clock = [two(hour), two(minute), two(second)];
        if let Some(place) = self.text.get_mut(11..CIVIL).and_then(|place| place.first_chunk_mut::<8>()) {
            let [[a, b], [c, d], [e, f]] = clock;
            *place = [a, b, b':', c, d, b':', e, f];
        }
    }

    /// Renders date and offset anew, and finds out until when they hold.
    #[cold]
    fn turn_day(&mut self, seconds: i64) {
        let at = Timestamp::from_second(seconds).unwrap_or(if seconds < 0 {
            Timestamp::MIN
        } else {
            Timestamp::MAX
        });
        let offset = self.zone.to_offset(at);
        // Offsets of broken minutes (before standard time) cannot be written; such times are in UTC.
        let plain = i64::from(offset.seconds()) % 60 == 0;
        let offset = if plain { offset } else { Offset::UTC };
        let civil = offset.to_datetime(at);
        let changes = self.zone.following(at).next().map_or(i64::MAX, |next| next.timestamp().as_second());
        self.from_of_day = (seconds + i64::from(offset.seconds())).rem_euclid(DAY_SECONDS);
        self.from = seconds;
        self.to = (seconds + DAY_SECONDS - self.from_of_day).min(changes);
        let mut text = format!("{:04}-{:02}-{:02}T00:00:00", civil.year(), civil.month(), civil.day());
        if offset == Offset::UTC {
            text.push('Z');
        } else {
            let minutes = offset.seconds().unsigned_abs() / 60;
            let sign = if offset.seconds() < 0 { '-' } else { '+' };
            text.push_str(&format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60));
        }
        self.length = text.len().min(LONGEST);
        for (place, byte) in self.text.iter_mut().zip(text.bytes()) {
            *place = byte;
        }
    }
}

/// Two digits of a number below 100.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "below 10 each")]
fn two(number: u32) -> [u8; 2] {
    [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8]
}

/// Reads times: the last date and the last offset are kept and compared as text.
#[derive(Clone, Debug)]
pub(crate) struct TimeReader {
    /// `2026-01-01T`, and the time at which it begins in UTC.
    date: [u8; 11],
    midnight: i64,
    /// `+01:00`, in nanoseconds.
    offset_text: [u8; 6],
    offset: i64,
}

impl Default for TimeReader {
    fn default() -> Self {
        Self { date: *b"1970-01-01T", midnight: 0, offset_text: *b"+00:00", offset: 0 }
    }
}

impl TimeReader {
    /// Reads a time of whole seconds at the start of `bytes` and gives its length; `None` leaves it to [`read_time`].
    #[inline(always)]
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Option<(i64, usize)> {
        let (date, rest) = bytes.split_first_chunk::<11>()?;
        if *date != self.date {
            self.midnight = midnight(date)?;
            self.date = *date;
        }
        let (clock, rest) = rest.split_first_chunk::<8>()?;
        // Years of nanoseconds fit: `midnight` checked the year.
        let local = self.midnight + clock_seconds(clock)? * SECOND;
        if rest.first() == Some(&b'Z') {
            return Some((local, CIVIL + 1));
        }
        let (text, _) = rest.split_first_chunk::<6>()?;
        if *text != self.offset_text {
            self.offset = offset_nanoseconds(text)?;
            self.offset_text = *text;
        }
        Some((local - self.offset, LONGEST))
    }

    /// Reads a text that is a time and nothing else.
    ///
    /// # Errors
    ///
    /// The reason, if it is none.
    pub(crate) fn read_whole(&mut self, text: &str) -> Result<i64, String> {
        match self.read(text.as_bytes()) {
            Some((time, length)) if length == text.len() => Ok(time),
            _ => read_time(text),
        }
    }
}

/// Any time with offset or `Z`.
///
/// # Errors
///
/// The reason, if `text` is none, or outside of 1677 to 2262.
pub(crate) fn read_time(text: &str) -> Result<i64, String> {
    let wrong = || {
        format!("{:?} is no time such as 2026-01-01T00:00:00Z or 2026-01-01T00:00:00+01:00", shorten(text))
    };
    // The library takes more: names of zones in brackets, offsets of 25 hours, or of seconds.
    if !is_rfc_3339(text.as_bytes()) {
        return Err(wrong());
    }
    let time: Timestamp = text.parse().map_err(|_| wrong())?;
    i64::try_from(time.as_nanosecond())
        .map_err(|_| format!("the time {} is outside of the years 1678 to 2261", shorten(text)))
}

/// Whether a text has the shape of a time in RFC 3339 (section 5.6), with an offset that there can be. A blank may stand for
/// the `T`.
fn is_rfc_3339(text: &[u8]) -> bool {
    let Some((civil, rest)) = text.split_first_chunk::<CIVIL>() else { return false };
    let shaped = civil.iter().zip(b"0000-00-00T00:00:00").all(|(byte, shape)| match shape {
        b'0' => byte.is_ascii_digit(),
        b'T' => matches!(byte, b'T' | b't' | b' '),
        other => byte == other,
    });
    let rest = match rest.split_first() {
        Some((b'.', fraction)) => {
            let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
            fraction.get(digits..).filter(|_| digits > 0)
        }
        _ => Some(rest),
    };
    let is_offset = match rest {
        Some([b'Z' | b'z']) => true,
        Some(rest) => rest.try_into().is_ok_and(|offset: &[u8; 6]| offset_nanoseconds(offset).is_some()),
        None => false,
    };
    shaped && is_offset
}

/// Seconds of `12:30:00`.
#[inline(always)]
fn clock_seconds(clock: &[u8; 8]) -> Option<i64> {
    const COLONS: u64 = 0x0000_3a00_003a_0000;
    const ZEROS: u64 = 0x3030_0030_3000_3030;
    const NINES: u64 = 0x7676_0076_7600_7676;
    let word = u64::from_le_bytes(*clock);
    let digits = word ^ (COLONS | ZEROS);
    // A digit is 0 to 9 and a colon 0 after this; anything else is larger.
    if (digits & 0x8080_ff80_80ff_8080) | ((digits & 0x7f7f_007f_7f00_7f7f) + NINES) & 0x8080_0080_8000_8080
        != 0
    {
        return None;
    }
    let pairs = digits.wrapping_mul(10) + (digits >> 8);
    let part = |shift: u32| (pairs >> shift & 0xff).cast_signed();
    let (hour, minute, second) = (part(0), part(24), part(48));
    (hour < 24 && minute < 60 && second < 60).then(|| hour * 3600 + minute * 60 + second)
}

fn digits<const N: usize>(text: [u8; N]) -> Option<i64> {
    text.iter()
        .try_fold(0, |number, byte| byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0')))
}

/// When `2026-01-01T` begins in UTC, in nanoseconds; years 1700 to 2199.
fn midnight(date: &[u8; 11]) -> Option<i64> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T'] = *date else { return None };
    let (year, month, day) = (digits([y1, y2, y3, y4])?, digits([m1, m2])?, digits([d1, d2])?);
    if !(1700..2200).contains(&year) {
        return None;
    }
    let date =
        jiff::civil::Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?)
            .ok()?;
    Some(days_since_1970(date) * DAY_SECONDS * SECOND)
}

/// Days from 1970-01-01 to a date, by years that begin in March (their leap day is the last).
fn days_since_1970(date: jiff::civil::Date) -> i64 {
    let (month, day) = (i64::from(date.month()), i64::from(date.day()));
    let year = i64::from(date.year()) - i64::from(month < 3);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year / 4 - year / 100 + year / 400 + of_year - 719_468
}

fn offset_nanoseconds(text: &[u8; 6]) -> Option<i64> {
    let [sign, h1, h2, b':', m1, m2] = *text else { return None };
    let (hour, minute) = (digits([h1, h2])?, digits([m1, m2])?);
    let seconds = (hour < 24 && minute < 60).then_some(hour * 3600 + minute * 60)?;
    match sign {
        b'+' => Some(seconds * SECOND),
        b'-' => Some(-seconds * SECOND),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn oracle(text: &str) -> Option<i64> {
        i64::try_from(text.parse::<Timestamp>().ok()?.as_nanosecond()).ok()
    }

    fn written(writer: &mut TimeWriter, time: i64) -> String {
        let mut out = Vec::new();
        writer.write(&mut out, time);
        String::from_utf8(out).unwrap()
    }

    fn check_fast(text: &str, fast: bool) {
        let found = TimeReader::default().read(text.as_bytes());
        assert_eq!(found.is_some(), fast, "{text}");
        if let Some((time, length)) = found {
            assert_eq!(length, text.len());
            assert_eq!(Some(time), oracle(text), "{text}");
        }
    }

    #[test]
    fn the_fast_reader_knows_its_limits() {
        for text in [
            "2026-01-01T00:00:00Z",
            "2024-02-29T23:59:59Z",
            "2026-03-29T03:15:00+02:00",
            "1969-12-31T23:59:59-08:30",
            "1700-03-01T00:00:00Z",
            "2199-12-31T23:59:59-23:59",
        ] {
            check_fast(text, true);
        }
        for text in [
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-01-00T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:60:00Z",
            "2026-01-01T00:00:60Z",
            "2026-01-01T00:00:00",
            "2026-01-01T00:00:00.5Z",
            "2026-01-01 00:00:00Z",
            "2026-01-01T00.00.00Z",
            "2026-01-01T0:000:00Z",
            "2026-01-01T00:00:00+1:000",
            "9999-01-01T00:00:00Z",
        ] {
            check_fast(text, false);
        }
    }

    #[test]
    fn times_out_of_range_are_refused() {
        assert!(read_time("9999-01-01T00:00:00Z").unwrap_err().contains("outside"));
        assert!(read_time("2026-01-01T00:00:00").unwrap_err().contains("no time"));
        assert_eq!(
            read_time("2026-01-01T00:00:00.123456789+01:00"),
            Ok(oracle("2025-12-31T23:00:00.123456789Z").unwrap())
        );
    }

    #[test]
    fn only_what_rfc_3339_has_is_a_time() {
        let check = |text: &str, is_time: bool| {
            assert_eq!(read_time(text).is_ok(), is_time, "{text}");
            assert_eq!(TimeReader::default().read_whole(text).is_ok(), is_time, "{text}");
        };
        for text in [
            "2026-01-01T00:00:00Z",
            "2026-01-01t00:00:00.123456789z",
            "2026-01-01 00:00:00+23:59",
            "2026-01-01T00:00:00.5-23:59",
        ] {
            check(text, true);
        }
        for text in [
            "2026-01-01T00:00:00+24:00",
            "2026-01-01T00:00:00+25:00",
            "2026-01-01T00:00:00-01:60",
            "2026-01-01T00:00:00+01:00:30",
            "2026-01-01T00:00:00+01:00[Europe/Berlin]",
            "2026-01-01T00:00:00Z[UTC]",
            "2026-01-01T00:00:00[Europe/Berlin]",
            "2026-01-01T00:00:00+01:00[u-ca=iso8601]",
            "2026-01-01T00:00:00+01",
            "2026-01-01T00:00:00+0100",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00,5Z",
            "+002026-01-01T00:00:00Z",
            "2026-01-01T00:00Z",
            "20260101T000000Z",
            "2026-01-01",
            "",
        ] {
            check(text, false);
        }
    }

    #[test]
    fn offsets_change_where_the_zone_changes_them() {
        let berlin = TimeZone::get("Europe/Berlin").unwrap();
        let mut writer = TimeWriter::new(&berlin);
        for text in [
            "2026-03-29T01:45:00+01:00",
            "2026-03-29T03:00:00+02:00",
            "2026-10-25T02:45:00+02:00",
            "2026-10-25T02:00:00+01:00",
            "2026-10-25T02:45:00.5+01:00",
            "2026-10-25T00:00:00+02:00",
        ] {
            let expected = text.replace(".5+", ".500+");
            assert_eq!(written(&mut writer, oracle(text).unwrap()), expected);
        }
        assert!(
            written(&mut writer, oracle("1880-01-01T00:00:00Z").unwrap()).ends_with("00:00:00Z"),
            "local mean time"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases((5_000 * ProptestConfig::default().cases).div_ceil(256)))]
        #[test]
        fn times_read_back(times in prop::collection::vec((any::<i64>(), 0_u8..4), 1..8), zone in 0_usize..4) {
            let zone = ["UTC", "Europe/Berlin", "America/St_Johns", "Asia/Kathmandu"][zone];
            let mut writer = TimeWriter::new(&TimeZone::get(zone).unwrap());
            let mut reader = TimeReader::default();
            for (time, precision) in times {
                let time = match precision {
                    0 => time,
                    1 => time / SECOND * SECOND,
                    2 => time / 1_000_000 * 1_000_000,
                    _ => time % (400 * DAY_SECONDS * SECOND) / (900 * SECOND) * (900 * SECOND),
                };
                let text = written(&mut writer, time);
                prop_assert_eq!(reader.read_whole(&text), Ok(time), "{}", text);
                prop_assert_eq!(oracle(&text), Some(time));
            }
        }

        #[test]
        fn noise_is_read_as_the_oracle_does_or_left_to_it(text in "[0-9]{4}-[0-3][0-9]-[0-3][0-9][T ][0-9:/;]{8}(Z|[+-][0-9:]{5})?") {
            let mut reader = TimeReader::default();
            if let Some((time, length)) = reader.read(text.as_bytes()) {
                prop_assert_eq!(length, text.len());
                prop_assert_eq!(Some(time), oracle(&text));
            }
        }
    }
}
