//! What a type takes, in words, for errors.

use std::fmt::{Display, Write as _};
use std::ops::RangeInclusive;

use crate::schema::Schema;
use crate::types::{Type, TypeKind};

use super::{Kinds, Scalar, ValueRules};

/// Characters of a value that an error shows.
const SHOWN_MAX: usize = 80;
/// Names and members that an error lists.
const LISTED_MAX: usize = 20;

/// A scalar as JSON spells it, cut.
pub(super) fn scalar(scalar: Scalar<'_>) -> Box<str> {
    match scalar {
        Scalar::Text(text) | Scalar::String(text) => match text.char_indices().nth(SHOWN_MAX) {
            Some((end, _)) => format!("\"{}…\"", text.get(..end).unwrap_or(text)).into(),
            None => format!("\"{text}\"").into(),
        },
        Scalar::Number(text) => text.chars().take(SHOWN_MAX).collect::<String>().into(),
        Scalar::Boolean(value) => value.to_string().into(),
        Scalar::Empty => "[null]".into(),
    }
}

/// What would be right, and how long a value may be if patterns are not applied to this one because it is longer.
pub(super) fn expected_of(scalar: Scalar<'_>, type_: &Type, rules: &ValueRules<'_>) -> String {
    let mut out = expected(type_, rules.schema, rules.kinds);
    let length = match scalar {
        Scalar::Text(text) | Scalar::String(text) | Scalar::Number(text) => text.len(),
        Scalar::Boolean(_) | Scalar::Empty => 0,
    };
    if let Some(max) = pattern_bytes_max(type_).filter(|max| length > *max) {
        write!(out, "; patterns are applied to values of at most {max} bytes (PATTERN_WORK_MAX), this one has {length}")
            .expect(WRITES);
    }
    out
}

/// The bytes of the longest value that all patterns of a type are applied to, if it has any.
fn pattern_bytes_max(type_: &Type) -> Option<usize> {
    match type_.resolved().kind() {
        TypeKind::String { patterns, .. } => patterns.iter().map(|pattern| pattern.value_bytes_max()).min(),
        TypeKind::Union(members) => members.iter().filter_map(pattern_bytes_max).min(),
        _ => None,
    }
}

/// What would be right.
pub(super) fn expected(type_: &Type, schema: &Schema, kinds: Kinds) -> String {
    let mut out = String::new();
    let spelt = |spelling: &str| match kinds {
        Kinds::Rfc7951 => format!(" ({spelling} in JSON)"),
        Kinds::Lenient => String::new(),
    };
    match type_.resolved().kind() {
        TypeKind::Integer { width, ranges } => {
            out.push_str("an integer ");
            match ranges.is_empty() {
                true => push_ranges(&mut out, &[width.bounds()]),
                false => push_ranges(&mut out, ranges),
            }
            out.push_str(&spelt(if width.is_long() { "a string" } else { "a number" }));
        }
        TypeKind::Decimal { fraction_digits, ranges } => {
            write!(out, "a decimal number of at most {fraction_digits} fraction digits").expect(WRITES);
            if !ranges.is_empty() {
                out.push(' ');
                push_ranges(&mut out, &scaled(ranges, *fraction_digits));
            }
            out.push_str(&spelt("a string"));
        }
        TypeKind::String { lengths, patterns } => {
            out.push_str("a string");
            push_lengths(&mut out, lengths, "characters");
            for (index, pattern) in patterns.iter().enumerate() {
                let joint = if index == 0 { " that" } else { " and" };
                let verb = if pattern.is_inverted() { "does not match" } else { "matches" };
                write!(out, "{joint} {verb} \"{}\"", pattern.text()).expect(WRITES);
            }
        }
        TypeKind::Boolean => out.push_str("true or false"),
        TypeKind::Enumeration(names) => {
            out.push_str("one of ");
            push_names(&mut out, names.iter().map(|(name, _)| &**name));
        }
        TypeKind::Bits(names) => {
            out.push_str("a list, each at most once, of ");
            push_names(&mut out, names.iter().map(|(name, _)| &**name));
        }
        TypeKind::Binary { lengths } => {
            out.push_str("base64");
            push_lengths(&mut out, lengths, "octets");
        }
        TypeKind::Identity(bases) => {
            out.push_str("an identity derived from ");
            let names = bases.iter().filter_map(|base| schema.identities.get(*base as usize));
            let names: Vec<&str> = names.map(|(name, _)| &**name).collect();
            out.push_str(&names.join(" and "));
        }
        TypeKind::Empty => out.push_str("empty ([null] in JSON, nothing in XML)"),
        TypeKind::Union(members) => {
            let members: Vec<String> =
                members.iter().take(LISTED_MAX).map(|member| expected(member, schema, kinds)).collect();
            out.push_str(&members.join(", or "));
        }
        TypeKind::InstanceIdentifier { .. } => {
            out.push_str("a path to a node of the schema, with all keys of its lists");
        }
        // Resolved above.
        TypeKind::Leafref(leafref) => write!(out, "a value of {}", leafref.path).expect(WRITES),
    }
    out
}

const WRITES: &str = "writing to a string does not fail";

fn push_ranges<T: Display + PartialEq>(out: &mut String, ranges: &[RangeInclusive<T>]) {
    out.push_str("from ");
    for (index, range) in ranges.iter().enumerate() {
        let joint = if index == 0 { "" } else { ", or " };
        match range.start() == range.end() {
            true => write!(out, "{joint}{}", range.start()),
            false => write!(out, "{joint}{} to {}", range.start(), range.end()),
        }
        .expect(WRITES);
    }
}

fn push_lengths(out: &mut String, lengths: &[RangeInclusive<u64>], unit: &str) {
    if !lengths.is_empty() {
        out.push_str(" of ");
        let mut ranges = String::new();
        push_ranges(&mut ranges, lengths);
        out.push_str(ranges.trim_start_matches("from "));
        out.push(' ');
        out.push_str(unit);
    }
}

fn push_names<'a>(out: &mut String, names: impl Iterator<Item = &'a str>) {
    let names: Vec<&str> = names.collect();
    for (index, name) in names.iter().take(LISTED_MAX).enumerate() {
        write!(out, "{}\"{name}\"", if index == 0 { "" } else { ", " }).expect(WRITES);
    }
    if names.len() > LISTED_MAX {
        write!(out, " and {} more", names.len() - LISTED_MAX).expect(WRITES);
    }
}

/// The bounds with their point.
fn scaled(ranges: &[RangeInclusive<i64>], fraction_digits: u8) -> Vec<RangeInclusive<String>> {
    let shown = |scaled: i64| {
        let unit = 10_u64.pow(u32::from(fraction_digits).min(18));
        let sign = if scaled < 0 { "-" } else { "" };
        let (whole, fraction) = (scaled.unsigned_abs() / unit, scaled.unsigned_abs() % unit);
        let digits = format!("{fraction:0width$}", width = usize::from(fraction_digits));
        match digits.trim_end_matches('0') {
            "" => format!("{sign}{whole}.0"),
            digits => format!("{sign}{whole}.{digits}"),
        }
    };
    ranges.iter().map(|range| shown(*range.start())..=shown(*range.end())).collect()
}
