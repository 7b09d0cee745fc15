//! What the reader with a cached date takes and what it leaves, beside another library.

use proptest::prelude::*;

use super::*;

fn oracle(text: &str) -> Option<i64> {
    i64::try_from(text.parse::<jiff::Timestamp>().ok()?.as_nanosecond()).ok()
}

#[track_caller]
fn check(text: &str, taken: bool) {
    let found = TimeReader::default().read(text.as_bytes());
    assert_eq!(found.is_some(), taken, "{text}");
    if let Some((time, length)) = found {
        assert_eq!(length, text.len());
        assert_eq!(Some(time), oracle(text), "{text}");
    }
}

#[test]
fn takes_whole_seconds_and_leaves_the_rest() {
    for text in [
        "2026-01-01T00:00:00Z",
        "2024-02-29T23:59:59Z",
        "2026-03-29T03:15:00+02:00",
        "1969-12-31T23:59:59-08:30",
        "1700-03-01T00:00:00Z",
        "2199-12-31T23:59:59-23:59",
    ] {
        check(text, true);
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
        check(text, false);
    }
}

proptest! {
    #[test]
    fn what_is_cached_changes_nothing(texts in prop::collection::vec(
        "[0-9]{4}-[0-3][0-9]-[0-3][0-9][T ][0-9:/;]{8}(Z|[+-][0-9:]{5})?|202[0-9]-0[1-9]-[012][1-9]T[01][0-9]:[0-5][0-9]:[0-5][0-9](Z|[+-][01][0-9]:[0-5][0-9])", 1..6)
    ) {
        let mut reader = TimeReader::default();
        for text in texts {
            let found = reader.read(text.as_bytes());
            prop_assert_eq!(found, TimeReader::default().read(text.as_bytes()), "{}", text);
            if let Some((time, length)) = found {
                prop_assert_eq!(length, text.len());
                prop_assert_eq!(Some(time), oracle(&text));
            }
        }
    }
}
