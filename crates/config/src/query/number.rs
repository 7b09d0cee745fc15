//! Numbers of leaves and conditions, compared exactly: all of 64 bits, and decimals of up to 18 digits behind the point.

/// Digits behind the point, as many as `decimal64` has at most (RFC 7950, 9.3).
const FRACTION_DIGITS: usize = 18;
/// Digits before the point that are told apart; a number with more is larger than any of a leaf.
const WHOLE_DIGITS: usize = 20;

/// A number in units of 10^-18.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Number(i128);

impl Number {
    /// The number of a text: a sign, digits, perhaps a point and digits. `None` if it is none, or finer than 10^-18.
    /// Cost: O(length).
    pub(super) fn of_text(text: &str) -> Option<Self> {
        let (is_negative, digits) = match text.as_bytes() {
            [b'-', ..] => (true, text.get(1..)?),
            [b'+', ..] => (false, text.get(1..)?),
            _ => (false, text),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
        let are_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !are_digits(whole) || !are_digits(fraction) {
            return None;
        }
        let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
        if fraction.len() > FRACTION_DIGITS {
            return None;
        }
        if whole.len() > WHOLE_DIGITS {
            return Some(Self(if is_negative { i128::MIN } else { i128::MAX }));
        }
        let fill = std::iter::repeat_n(b'0', FRACTION_DIGITS - fraction.len());
        let units = whole.bytes().chain(fraction.bytes()).chain(fill);
        let size = units.fold(0_i128, |number, digit| number * 10 + i128::from(digit - b'0'));
        Some(Self(if is_negative { -size } else { size }))
    }
}

#[cfg(test)]
mod tests {
    use super::Number;

    #[test]
    fn numbers_compare_by_value() {
        let ascending = [
            "-99999999999999999999999",
            "-9223372036854775808",
            "-9223372036854775807.9",
            "-10",
            "-9",
            "-0.000000000000000001",
            "0",
            "0.000000000000000001",
            "0.1",
            "0.25",
            "2",
            "10",
            "18446744073709551614",
            "18446744073709551614.5",
            "18446744073709551615",
            "123456789012345678901234567890",
        ];
        for (at, one) in ascending.iter().enumerate() {
            for (other_at, other) in ascending.iter().enumerate() {
                let (left, right) = (Number::of_text(one).unwrap(), Number::of_text(other).unwrap());
                assert_eq!(left.cmp(&right), at.cmp(&other_at), "{one} {other}");
            }
        }
        for same in ["2", "+2", "002", "2.0", "2.000000000000000000000"] {
            assert_eq!(Number::of_text(same), Number::of_text("2"), "{same}");
        }
        assert_eq!(Number::of_text("-0"), Number::of_text("0"));
        for none in ["", "-", "+", ".", "1.", ".5", "1e5", "0x1", "1 ", "--1", "1.0000000000000000001", "٣"]
        {
            assert_eq!(Number::of_text(none), None, "{none}");
        }
    }
}
