//! Names of instances of history.

use std::fmt;
use std::str::FromStr;

/// Names an instance of the history: when it was written, and a tag of its entity, attribute and dataset.
/// Written `urn:ngsi-ld:Instance:` with 24 hexadecimal digits.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct InstanceId {
    /// When the instance was written, in nanoseconds.
    pub time: i64,
    /// Tells its entity, attribute and dataset from others.
    pub tag: u32,
}

/// What comes before the digits of an instance id.
const INSTANCE_PREFIX: &str = "urn:ngsi-ld:Instance:";

impl InstanceId {
    /// Appends it, as it is displayed. Cost: tens of nanoseconds.
    pub fn write(&self, out: &mut String) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let number = u128::from(self.time.cast_unsigned()) << 32 | u128::from(self.tag);
        let digit = |place: usize| {
            let shifted = number >> (4 * (23 - place));
            let nibble = usize::try_from(shifted & 0xf).expect("four bits");
            *DIGITS.get(nibble).expect("one of sixteen")
        };
        let digits: [u8; 24] = std::array::from_fn(digit);
        out.push_str(INSTANCE_PREFIX);
        out.push_str(std::str::from_utf8(&digits).expect("digits are ASCII"));
    }
}

impl fmt::Display for InstanceId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::with_capacity(INSTANCE_PREFIX.len() + 24);
        self.write(&mut text);
        formatter.write_str(&text)
    }
}

/// A text that names no instance.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("no id of an instance")]
pub struct InstanceIdError;

impl FromStr for InstanceId {
    type Err = InstanceIdError;

    fn from_str(text: &str) -> Result<Self, InstanceIdError> {
        let digits = text
            .strip_prefix(INSTANCE_PREFIX)
            .filter(|digits| digits.len() == 24 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let (time, tag) = digits.and_then(|digits| digits.split_at_checked(16)).ok_or(InstanceIdError)?;
        let time = u64::from_str_radix(time, 16).map_err(|_| InstanceIdError)?.cast_signed();
        let tag = u32::from_str_radix(tag, 16).map_err(|_| InstanceIdError)?;
        Ok(Self { time, tag })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instance_ids_are_read_as_they_are_written() {
        for (time, tag, digits) in [
            (0, 0, "000000000000000000000000"),
            (0x0123_4567_89ab_cdef, 0xdead_beef, "0123456789abcdefdeadbeef"),
            (-1, 1, "ffffffffffffffff00000001"),
        ] {
            let id = InstanceId { time, tag };
            let text = format!("urn:ngsi-ld:Instance:{digits}");
            assert_eq!(id.to_string(), text);
            assert_eq!(text.parse(), Ok(id));
        }
    }

    #[test]
    fn other_texts_are_no_instance_ids() {
        for digits in
            ["", "0123", "0123456789abcdefdeadbeef0", "0123456789abcdefdeadbeeg", "+123456789abcdefdeadbeef"]
        {
            let text = format!("urn:ngsi-ld:Instance:{digits}");
            assert_eq!(text.parse::<InstanceId>(), Err(InstanceIdError), "{text}");
        }
        assert_eq!("0123456789abcdefdeadbeef".parse::<InstanceId>(), Err(InstanceIdError));
    }
}
