//! Operands of a query, made ready for comparing with stored values.

use std::cmp::Ordering;

use store::Timestamp;

use super::Scalar;
use super::moment::parse_moment;

/// An operand, made ready for comparing.
#[derive(Clone, Debug)]
pub(super) enum Wanted {
    Number(f64),
    /// Plain, and as canonical JSON; and the time it denotes, for members that are times.
    Text {
        plain: Box<str>,
        json: Box<str>,
        time: Option<Timestamp>,
    },
    Bool(bool),
    Time(Timestamp),
    Null,
}

impl Wanted {
    pub(super) fn new(scalar: &Scalar) -> Self {
        match scalar {
            Scalar::Number(number) => Self::Number(*number),
            Scalar::Text(text) | Scalar::TimeText(text) => Self::Text {
                plain: text.clone(),
                json: lang_json::string_to(text).into(),
                time: parse_moment(text),
            },
            Scalar::Bool(bool) => Self::Bool(*bool),
            Scalar::Time(time) => Self::Time(*time),
            Scalar::Null => Self::Null,
        }
    }

    /// Whether a scalar, as canonical text, equals this.
    pub(crate) fn equals(&self, scalar: &str) -> bool {
        match self {
            Self::Text { json, .. } => scalar == &**json,
            Self::Bool(bool) => scalar == if *bool { "true" } else { "false" },
            Self::Null => scalar == "null",
            Self::Number(_) | Self::Time(_) => self.order(scalar) == Some(Ordering::Equal),
        }
    }

    /// How a scalar, as canonical text, lies to this; `None` where their types differ or have no order.
    pub(crate) fn order(&self, scalar: &str) -> Option<Ordering> {
        match self {
            Self::Number(number) => parse_number(scalar)?.partial_cmp(number),
            Self::Text { plain, .. } => Some(lang_json::string_value(scalar)?.as_ref().cmp(plain)),
            Self::Time(time) => Some(parse_moment(&lang_json::string_value(scalar)?)?.cmp(time)),
            Self::Bool(_) | Self::Null => None,
        }
    }

    pub(crate) fn order_time(&self, found: Timestamp) -> Option<Ordering> {
        match self {
            Self::Time(time) | Self::Text { time: Some(time), .. } => Some(found.cmp(time)),
            _ => None,
        }
    }

    pub(crate) fn order_text(&self, found: &str) -> Option<Ordering> {
        match self {
            Self::Text { plain, .. } => Some(found.cmp(plain)),
            _ => None,
        }
    }
}

/// A number of canonical text; numbers compare by value, in double precision.
pub(super) fn parse_number(scalar: &str) -> Option<f64> {
    matches!(scalar.as_bytes().first()?, b'-' | b'0'..=b'9').then(|| scalar.parse().ok()).flatten()
}
