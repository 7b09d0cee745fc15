//! The time of day: `12:30:00`.

/// Seconds in a day.
pub(crate) const DAY_SECONDS: i64 = 86_400;

/// The second of the day that `12:30:00` is; `None` if the text is no time of day, or says 24:00:00 or a leap second.
///
/// Cost: a nanosecond; all eight characters are checked at once.
#[inline(always)]
pub fn seconds_of_day(clock: &[u8; 8]) -> Option<i64> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_single_wrong_character_is_seen() {
        assert_eq!(seconds_of_day(b"23:59:59"), Some(86_399));
        assert_eq!(seconds_of_day(b"00:00:00"), Some(0));
        for position in 0..8 {
            for byte in 0..=255 {
                let mut clock = *b"11:11:11";
                clock[position] = byte;
                let text = String::from_utf8_lossy(&clock).into_owned();
                let expected =
                    text.parse::<jiff::civil::Time>().ok().filter(|_| clock.is_ascii() && byte > b'-');
                let expected = expected.map(|time| {
                    i64::from(time.hour()) * 3600 + i64::from(time.minute()) * 60 + i64::from(time.second())
                });
                assert_eq!(seconds_of_day(&clock), expected, "{text:?}");
            }
        }
        for text in [b"24:00:00", b"23:60:00", b"23:59:60", b"12.00.00", b"1:000:00", b"-1:00:00"] {
            assert_eq!(seconds_of_day(text), None);
        }
    }
}
