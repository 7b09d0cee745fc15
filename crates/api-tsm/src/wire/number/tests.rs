//! Numbers beside those of other libraries.

use proptest::prelude::*;

use super::*;

fn written(value: f64) -> String {
    let mut out = Vec::new();
    write_number(&mut out, value);
    String::from_utf8(out).unwrap()
}

fn check_written(value: f64) {
    let text = written(value);
    assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits(), "{text}");
    let mut oracle = zmij::Buffer::new();
    let oracle = oracle.format_finite(value);
    assert!(text.len() <= oracle.len(), "{text} is longer than {oracle}");
    assert!(serde_json::from_str::<serde_json::Number>(&text).is_ok(), "{text}");
}

/// Whatever the fast reader takes, it takes as the standard library would.
fn check_read(text: &str) -> bool {
    let padded = format!("{text},                 ");
    let Some((value, length)) = read_decimal(padded.as_bytes()) else { return false };
    // What follows a number is its reader's to judge, unless it could go on.
    let (text, behind) = text.split_at(length);
    assert!(
        !behind.starts_with(|next: char| next.is_ascii_digit() || ".eE".contains(next)),
        "{text}{behind}"
    );
    assert!(serde_json::from_str::<serde_json::Number>(text).is_ok(), "{text} is no JSON");
    assert_eq!(value.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
    behind.is_empty()
}

#[test]
fn known_numbers_are_written_short() {
    for (value, text) in [
        (0.0, "0"),
        (-0.0, "-0.0"),
        (5.0, "5"),
        (-5.0, "-5"),
        (1.5, "1.5"),
        (0.001, "0.001"),
        (-0.125, "-0.125"),
        (1.005, "1.005"),
        (123.45, "123.45"),
        (1234.567, "1234.567"),
        (999_999_999_999.999, "999999999999.999"),
        (0.0001, "0.0001"),
        (f64::NAN, "null"),
        (f64::NEG_INFINITY, "null"),
    ] {
        assert_eq!(written(value), text);
    }
    for value in [f64::MAX, f64::MIN_POSITIVE, 5e-324, 0.1 + 0.2, 1e15, 1e16, 1e22, 2f64.powi(53), -1e300] {
        check_written(value);
    }
}

#[test]
fn the_fast_reader_takes_decimals_and_nothing_else() {
    for text in [
        "0",
        "-0",
        "-0.0",
        "1",
        "1.5",
        "0.001",
        "-12.25",
        "123456789012345",
        "1234567.1234567",
        "0.0000000000001",
    ] {
        assert!(check_read(text), "{text}");
    }
    for text in [
        "",
        "-",
        ".5",
        "1.",
        "01",
        "00",
        "-01.5",
        "1e5",
        "1.5e3",
        "1.2.3",
        "NaN",
        "1234567890123456",
        "--1",
        "+1",
    ] {
        assert!(!check_read(text), "{text}");
    }
    assert_eq!(read_decimal(b"1.5,"), None, "too near the end");
}

#[test]
fn numbers_beyond_doubles_are_refused() {
    assert!(read_number("1e999").unwrap_err().contains("beyond"));
    assert!(read_number("-inf").unwrap_err().contains("not finite"));
    assert!(read_number("NaN").unwrap_err().contains("not finite"));
    assert!(read_number("x").is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((20_000 * ProptestConfig::default().cases).div_ceil(256)))]
    #[test]
    fn any_double_is_written_as_it_is(bits in any::<u64>()) {
        let value = f64::from_bits(bits);
        if value.is_finite() { check_written(value); }
    }

    #[test]
    fn decimals_are_written_shortest(n in -2_000_000_000_000_000_i64..2_000_000_000_000_000, places in 0_i32..6) {
        check_written(n as f64 / 10f64.powi(places));
        check_written((n % 1_000_000) as f64 / 10f64.powi(places));
    }

    #[test]
    fn decimals_are_read_as_they_are(text in "-?(0|[1-9][0-9]{0,9})(\\.[0-9]{1,9})?") {
        check_read(&text);
    }

    #[test]
    fn noise_is_read_rightly_or_not_at_all(text in "[-0-9.eE+x]{0,18}") {
        check_read(&text);
    }
}
