//! Times in the zone of a series, and the date-times that clients may send.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use lang_time::{LeapSecond, LocalOffset, Offsets, Rules, TimeReader, TimeWriter};

use super::number::shorten;

/// RFC 3339 (section 5.6), where a blank may be written for the `T`, too. A leap second is the second before it.
const RULES: Rules = Rules {
    separators: b"Tt ",
    comma: false,
    fraction_digits_max: 9,
    offsets: Offsets::Rfc3339,
    leap_second: LeapSecond::Before,
};

/// Writes times in the local time of a zone.
#[derive(Clone)]
pub(crate) struct ZoneWriter {
    zone: TimeZone,
    times: TimeWriter,
}

impl ZoneWriter {
    pub(crate) fn new(zone: &TimeZone) -> Self {
        Self { zone: zone.clone(), times: TimeWriter::default() }
    }

    /// Appends a time: `2026-01-01T00:00:00Z`, with as many digits of a second as it needs (3, 6 or 9).
    #[inline]
    pub(crate) fn write(&mut self, out: &mut Vec<u8>, time: i64) {
        self.times.write(out, time, |second| offset_at(&self.zone, second));
    }
}

/// What the zone has added to UTC at a second since 1970.
#[cold]
fn offset_at(zone: &TimeZone, second: i64) -> LocalOffset {
    let at = Timestamp::from_second(second).expect("64 bits of nanoseconds are within the library's years");
    let until = zone.following(at).next().map_or(i64::MAX, |next| next.timestamp().as_second());
    LocalOffset { east_seconds: zone.to_offset(at).seconds(), until }
}

/// Reads a text that is a time and nothing else: nanoseconds since 1970. Cost: a few nanoseconds while the date stays.
///
/// # Errors
///
/// See [`read_time`].
pub(crate) fn read_cached(times: &mut TimeReader, text: &str) -> Result<i64, String> {
    match times.read(text.as_bytes()) {
        Some((time, length)) if length == text.len() => Ok(time),
        _ => read_time(text),
    }
}

/// Any time with `Z` or an offset: nanoseconds since 1970.
///
/// # Errors
///
/// What is wrong, for the client: `text` is no date-time, or outside of the years 1678 to 2261.
pub(crate) fn read_time(text: &str) -> Result<i64, String> {
    let time = lang_time::parse(text.as_bytes(), &RULES).ok_or_else(|| {
        let got = shorten(text);
        format!("{got:?} is not a date-time such as 2026-01-01T00:00:00Z or 2026-01-01T00:00:00+01:00")
    })?;
    time.nanoseconds()
        .ok_or_else(|| format!("the time {} is outside of the years 1678 to 2261", shorten(text)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn oracle(text: &str) -> Option<i64> {
        i64::try_from(text.parse::<Timestamp>().ok()?.as_nanosecond()).ok()
    }

    fn written(writer: &mut ZoneWriter, time: i64) -> String {
        let mut out = Vec::new();
        writer.write(&mut out, time);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn times_out_of_range_are_refused() {
        assert!(read_time("9999-01-01T00:00:00Z").unwrap_err().contains("outside"));
        assert!(read_time("2026-01-01T00:00:00").unwrap_err().contains("not a date-time"));
        assert_eq!(
            read_time("2026-01-01T00:00:00.123456789+01:00"),
            Ok(oracle("2025-12-31T23:00:00.123456789Z").unwrap())
        );
    }

    #[test]
    fn only_what_rfc_3339_has_is_a_time() {
        let check = |text: &str, is_time: bool| {
            assert_eq!(read_time(text).is_ok(), is_time, "{text}");
            assert_eq!(read_cached(&mut TimeReader::default(), text).is_ok(), is_time, "{text}");
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
        let mut writer = ZoneWriter::new(&TimeZone::get("Europe/Berlin").unwrap());
        for text in [
            "2026-03-29T01:45:00+01:00",
            "2026-03-29T03:00:00+02:00",
            "2026-10-25T02:45:00+02:00",
            "2026-10-25T02:00:00+01:00",
            "2026-10-25T02:45:00.500+01:00",
            "1880-01-01T00:00:00Z",
        ] {
            assert_eq!(written(&mut writer, read_time(text).unwrap()), text);
        }
    }

    #[test]
    fn a_leap_second_is_the_second_before_it() {
        assert_eq!(read_time("2016-12-31T23:59:60.5Z"), read_time("2016-12-31T23:59:59.5Z"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases((5_000 * ProptestConfig::default().cases).div_ceil(256)))]
        #[test]
        fn times_read_back(times in prop::collection::vec((any::<i64>(), 0_u32..13), 1..8), zone in 0_usize..4) {
            let zone = ["UTC", "Europe/Berlin", "America/St_Johns", "Asia/Kathmandu"][zone];
            let mut writer = ZoneWriter::new(&TimeZone::get(zone).unwrap());
            let mut reader = TimeReader::default();
            for (time, zeros) in times {
                let time = time / 10_i64.pow(zeros) * 10_i64.pow(zeros);
                let text = written(&mut writer, time);
                prop_assert_eq!(read_cached(&mut reader, &text), Ok(time), "{}", text);
                prop_assert_eq!(oracle(&text), Some(time));
            }
        }
    }
}
