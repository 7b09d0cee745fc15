//! Random times of zones with and without summer time, beside another library.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::*;
use crate::TimeReader;

fn offset_at(zone: &TimeZone, second: i64) -> LocalOffset {
    let at = Timestamp::from_second(second).unwrap();
    let until = zone.following(at).next().map_or(i64::MAX, |next| next.timestamp().as_second());
    LocalOffset { east_seconds: zone.to_offset(at).seconds(), until }
}

fn written(writer: &mut TimeWriter, zone: &TimeZone, time: i64) -> String {
    let mut out = b"x".to_vec();
    writer.write(&mut out, time, |second| offset_at(zone, second));
    String::from_utf8(out).unwrap().split_off(1)
}

fn oracle(text: &str) -> i64 {
    i64::try_from(text.parse::<Timestamp>().unwrap().as_nanosecond()).unwrap()
}

#[test]
fn offsets_change_where_the_zone_changes_them() {
    let berlin = TimeZone::get("Europe/Berlin").unwrap();
    let mut writer = TimeWriter::default();
    for text in [
        "2026-03-29T01:45:00+01:00",
        "2026-03-29T03:00:00+02:00",
        "2026-10-25T02:45:00+02:00",
        "2026-10-25T02:00:00+01:00",
        "2026-10-25T02:45:00.500+01:00",
        "2026-10-25T00:00:00+02:00",
    ] {
        assert_eq!(written(&mut writer, &berlin, oracle(text)), text);
    }
}

#[test]
fn broken_minutes_are_written_in_utc() {
    let berlin = TimeZone::get("Europe/Berlin").unwrap();
    let text = "1880-01-01T00:00:00Z";
    assert_eq!(written(&mut TimeWriter::default(), &berlin, oracle(text)), text, "local mean time");
}

#[test]
fn offset_of_zero_is_z() {
    let london = TimeZone::get("Europe/London").unwrap();
    for text in ["2026-01-01T00:00:00Z", "2026-07-01T00:00:00+01:00"] {
        assert_eq!(written(&mut TimeWriter::default(), &london, oracle(text)), text);
    }
}

proptest! {
    #[test]
    fn times_read_back(times in prop::collection::vec((any::<i64>(), 0_u8..4), 1..8), zone in 0_usize..4) {
        let zone = ["UTC", "Europe/Berlin", "America/St_Johns", "Asia/Kathmandu"][zone];
        let zone = TimeZone::get(zone).unwrap();
        let (mut writer, mut reader) = (TimeWriter::default(), TimeReader::default());
        for (time, precision) in times {
            let time = match precision {
                0 => time,
                1 => time / SECOND * SECOND,
                2 => time / 1_000_000 * 1_000_000,
                _ => time % (400 * DAY_SECONDS * SECOND) / (900 * SECOND) * (900 * SECOND),
            };
            let text = written(&mut writer, &zone, time);
            prop_assert_eq!(oracle(&text), time, "{}", text);
            if let Some(found) = reader.read(text.as_bytes()) {
                prop_assert_eq!(found, (time, text.len()));
            }
        }
    }
}
