//! Date-times (RFC 3339, ISO 8601) and durations (ISO 8601): text in, value out. No clock, no zones, no I/O.
//!
//! [`parse`] reads a date-time by the [`Rules`] of the standard at hand, and [`write`] writes one in UTC:
//!
//! ```
//! use lang_time::{Fraction, LeapSecond, Offsets, Rules, UnixTime, format, parse};
//!
//! const RULES: Rules = Rules {
//!     separators: b"Tt",
//!     comma: false,
//!     fraction_digits_max: 9,
//!     offsets: Offsets::Rfc3339,
//!     leap_second: LeapSecond::Refused,
//! };
//! let time = parse(b"2026-01-01T01:00:00.25+01:00", &RULES).expect("a date-time");
//! assert_eq!(time, UnixTime::from_micros(1_767_225_600_250_000));
//! assert_eq!(format(time, Fraction::Groups), "2026-01-01T00:00:00.250Z");
//! assert_eq!(parse(b"2026-02-29T00:00:00Z", &RULES), None);
//! ```
//!
//! Where texts hold many times, [`TimeReader`] and [`TimeWriter`] cache the date and the offset of the last one:
//!
//! ```
//! use lang_time::{LocalOffset, TimeReader, TimeWriter};
//!
//! let (time, length) = TimeReader::default().read(b"2026-01-01T00:15:00+01:00, 1.5").expect("a time of whole seconds");
//! assert_eq!(length, 25);
//! let mut out = Vec::new();
//! let always = LocalOffset { east_seconds: 3600, until: i64::MAX };
//! TimeWriter::default().write(&mut out, time, |_| always);
//! assert_eq!(out, b"2026-01-01T00:15:00+01:00");
//! ```
//!
//! [`Duration`] keeps the parts as they were written, because a month has no fixed length:
//!
//! ```
//! let duration = lang_time::Duration::parse("-P1DT90M").expect("a duration");
//! assert_eq!((duration.days, duration.minutes), (1, 90));
//! assert_eq!(duration.to_string(), "-P1DT90M");
//! ```
//!
//! Invariants: no text makes a reader panic; what a writer writes, its reader reads back as the same time.

mod date;
mod clock;
mod unix;
mod rules;
mod read;
mod write;
mod reader;
mod writer;
mod duration;

pub use clock::seconds_of_day;
pub use date::Date;
pub use duration::Duration;
pub use read::{parse, parse_fraction};
pub use reader::TimeReader;
pub use rules::{LeapSecond, Offsets, Rules};
pub use unix::UnixTime;
pub use write::{Fraction, format, write};
pub use writer::{LocalOffset, TimeWriter};
