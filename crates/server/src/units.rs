//! Switches, sizes, spans and the durability of the store, as settings spell them.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use clap::ValueEnum;

/// On or off.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Switch {
    /// Yes.
    On,
    /// No.
    Off,
}

/// A number of bytes: `65536`, `64KiB`, `64MiB`, `1GiB`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct ByteCount(pub(crate) u64);

/// A span of time: `100ms`, `30s`, `5m`, `2h`, `30d`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Span(pub(crate) Duration);

/// When a write is acknowledged.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Durability {
    /// When it is on disk.
    Sync,
    /// At once; the log is synced so often, and a crash of the machine may lose that much.
    Interval(Duration),
}

/// How much of a disk is to be free.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum FreeSpace {
    /// As much as suits the disk.
    Auto,
    /// So many bytes; 0: nothing.
    Bytes(ByteCount),
}

const BYTE_UNITS: [(&str, u64); 4] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];
const SPAN_UNITS: [(&str, u64); 5] =
    [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
const INTERVAL_DEFAULT: Duration = Duration::from_millis(100);

impl ByteCount {
    /// The same, where sizes are counted in `usize`.
    pub(crate) fn as_usize(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

/// A whole number and its unit.
fn parse_with_unit(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let (_, factor) = units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit.trim()))?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

impl FromStr for ByteCount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let count = text.parse().ok().or_else(|| parse_with_unit(text, &BYTE_UNITS));
        count.map(Self).ok_or_else(|| "a size is a whole number of B, KiB, MiB or GiB, like 64MiB".to_owned())
    }
}

impl FromStr for FreeSpace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            _ => text.parse().map(Self::Bytes).map_err(|error| format!("either auto, or a size: {error}")),
        }
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let millis = parse_with_unit(text, &SPAN_UNITS);
        let span = millis.map(|millis| Self(Duration::from_millis(millis)));
        span.ok_or_else(|| "a span is a whole number of ms, s, m, h or d, like 30s".to_owned())
    }
}

impl FromStr for Durability {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let interval = match text {
            "sync" => return Ok(Self::Sync),
            "interval" => INTERVAL_DEFAULT,
            _ => {
                let span =
                    text.strip_prefix("interval:").ok_or("either sync, or interval like interval:100ms")?;
                span.parse::<Span>()?.0
            }
        };
        if interval.is_zero() {
            Err("an interval of 0 is sync: say so".to_owned())
        } else {
            Ok(Self::Interval(interval))
        }
    }
}

impl fmt::Display for Durability {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sync => formatter.write_str("sync (acknowledged when on disk)"),
            Self::Interval(span) => write!(
                formatter,
                "interval:{}ms (acknowledged before it is on disk; a crash of the machine may lose that much)",
                span.as_millis()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let check =
            |text: &str, expected| assert_eq!(text.parse::<ByteCount>().ok().map(|size| size.0), expected);
        check("0", Some(0));
        check("1000", Some(1000));
        check("64MiB", Some(64 << 20));
        check("2 gib", Some(2 << 30));
        check("7B", Some(7));
        check("", None);
        check("MiB", None);
        check("1.5MiB", None);
        check("-1", None);
        check("99999999999GiB", None);
    }

    #[test]
    fn spans() {
        let check = |text: &str, expected| {
            assert_eq!(text.parse::<Span>().ok().map(|span| span.0.as_millis()), expected);
        };
        check("100ms", Some(100));
        check("30s", Some(30_000));
        check("5m", Some(300_000));
        check("2h", Some(7_200_000));
        check("30", None);
        check("s", None);
    }

    #[test]
    fn durabilities() {
        let check = |text: &str, expected| assert_eq!(text.parse::<Durability>().ok(), expected);
        check("sync", Some(Durability::Sync));
        check("interval", Some(Durability::Interval(Duration::from_millis(100))));
        check("interval:1s", Some(Durability::Interval(Duration::from_secs(1))));
        check("interval:0ms", None);
        check("async", None);
    }
}
