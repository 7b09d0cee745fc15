//! Values against types: which text a type takes (RFC 7950, section 9), its canonical form, and what JSON may spell it as
//! (RFC 7951, section 6). Ranges, lengths, patterns and identities are checked; whether a reference points at anything is not.

mod describe;
mod names;
mod numbers;
mod instance;

use std::borrow::Cow;
use std::ops::RangeInclusive;

use crate::schema::{ModuleId, Schema};
use crate::tree::{Value, ValueKind};
use crate::types::{Type, TypeKind};

/// A value as it was written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Scalar<'a> {
    /// Text that does not tell what it is, as of XML.
    Text(&'a str),
    /// A string of JSON, without quotes and escapes.
    String(&'a str),
    /// A number of JSON, as it is spelt.
    Number(&'a str),
    /// `true` or `false` of JSON.
    Boolean(bool),
    /// `[null]` of JSON.
    Empty,
}

/// Which scalars of JSON a type takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kinds {
    /// Those of RFC 7951: a number for at most 32 bits, a string for 64.
    Rfc7951,
    /// All whose text is right, as CPS takes them.
    Lenient,
}

/// What the prefixes of names in a value stand for.
#[derive(Clone, Copy)]
pub enum Prefixes<'a> {
    /// Names of modules (RFC 7951, 6.8); a name without one is of the module of its leaf.
    Modules,
    /// The same, and the prefixes that modules give themselves.
    Lenient,
    /// The namespaces of XML that are in scope; of no prefix (`""`) the default one.
    Xml(&'a dyn Fn(&str) -> Option<ModuleId>),
}

/// How the values of a leaf are read.
#[derive(Clone, Copy)]
pub struct ValueRules<'a> {
    /// Which the type is of.
    pub schema: &'a Schema,
    /// The module of the leaf.
    pub module: ModuleId,
    /// What prefixes of identities and paths stand for.
    pub prefixes: Prefixes<'a>,
    /// Which scalars of JSON are right.
    pub kinds: Kinds,
}

/// A value that its type does not take.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{value} is not {expected}")]
pub struct TypeError {
    /// As it was written, cut if it is long.
    pub value: Box<str>,
    /// What would be right.
    pub expected: Box<str>,
}

impl Type {
    /// The canonical form of a value of this type. Cost: linear in the value and, for enumerations, in their names; the only
    /// allocation is the value's.
    ///
    /// # Errors
    ///
    /// A value that the type does not take, with what it would take.
    pub fn check(&self, scalar: Scalar<'_>, rules: &ValueRules<'_>) -> Result<Value, TypeError> {
        accept(self, scalar, rules).ok_or_else(|| TypeError {
            value: describe::scalar(scalar),
            expected: describe::expected_of(scalar, self, rules).into(),
        })
    }
}

fn accept(type_: &Type, scalar: Scalar<'_>, rules: &ValueRules<'_>) -> Option<Value> {
    let json = |wanted: Wanted| text_of(scalar, wanted, rules.kinds);
    let (kind, text) = match type_.resolved().kind() {
        TypeKind::Integer { width, ranges } => {
            let (kind, wanted) = match width.is_long() {
                true => (ValueKind::LongInteger, Wanted::String),
                false => (ValueKind::Integer, Wanted::Number),
            };
            (kind, numbers::integer(&number_of(scalar, json(wanted)?)?, *width, ranges)?)
        }
        TypeKind::Decimal { fraction_digits, ranges } => {
            let text = number_of(scalar, json(Wanted::String)?)?;
            (ValueKind::Decimal, numbers::decimal(&text, *fraction_digits, ranges)?)
        }
        TypeKind::String { lengths, patterns } => {
            let text = json(Wanted::String)?;
            let is_right = is_legal(text)
                && has_length(lengths, || text.chars().count())
                && patterns.iter().all(|pattern| pattern.allows(text));
            (ValueKind::Text, is_right.then(|| text.into())?)
        }
        TypeKind::Boolean => (ValueKind::Boolean, boolean(json(Wanted::Boolean)?)?),
        TypeKind::Enumeration(names) => {
            let text = json(Wanted::String)?;
            (ValueKind::Text, names.iter().any(|(name, _)| **name == *text).then(|| text.into())?)
        }
        TypeKind::Bits(names) => (ValueKind::Text, bits(json(Wanted::String)?, names)?),
        TypeKind::Binary { lengths } => (ValueKind::Text, binary(json(Wanted::String)?, lengths)?),
        TypeKind::Identity(bases) => {
            (ValueKind::Identity, names::identity(json(Wanted::String)?, bases, rules)?)
        }
        TypeKind::Empty => (ValueKind::Empty, json(Wanted::Empty)?.is_empty().then(Box::default)?),
        TypeKind::InstanceIdentifier { .. } => {
            (ValueKind::Text, instance::path(json(Wanted::String)?, rules)?)
        }
        TypeKind::Union(members) => return union(members, scalar, rules),
        // Resolved above.
        TypeKind::Leafref(_) => return None,
    };
    Some(Value { kind, text })
}

/// Of several members that would take the text, the first that takes the scalar as RFC 7951 spells it; else the first.
fn union(members: &[Type], scalar: Scalar<'_>, rules: &ValueRules<'_>) -> Option<Value> {
    let first = |rules: &ValueRules<'_>| members.iter().find_map(|member| accept(member, scalar, rules));
    let spelt = first(&ValueRules { kinds: Kinds::Rfc7951, ..*rules });
    match rules.kinds {
        Kinds::Rfc7951 => spelt,
        Kinds::Lenient => spelt.or_else(|| first(rules)),
    }
}

/// The scalar of JSON that RFC 7951 has for a type.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Wanted {
    String,
    Number,
    Boolean,
    Empty,
}

/// The text of a scalar, if it is of the right kind or the kind does not matter.
fn text_of(scalar: Scalar<'_>, wanted: Wanted, kinds: Kinds) -> Option<&str> {
    let (kind, text) = match scalar {
        Scalar::Text(text) => return Some(text),
        Scalar::String(text) => (Wanted::String, text),
        Scalar::Number(text) => (Wanted::Number, text),
        Scalar::Boolean(true) => (Wanted::Boolean, "true"),
        Scalar::Boolean(false) => (Wanted::Boolean, "false"),
        // No other type has a text for it.
        Scalar::Empty => return (wanted == Wanted::Empty).then_some(""),
    };
    (kind == wanted || kinds == Kinds::Lenient).then_some(text)
}

/// The text of a number: JSON may spell one with a fraction or an exponent that comes to nothing.
fn number_of<'a>(scalar: Scalar<'_>, text: &'a str) -> Option<Cow<'a, str>> {
    match scalar {
        Scalar::Number(_) => numbers::written_out(text),
        _ => Some(Cow::Borrowed(text)),
    }
}

fn boolean(text: &str) -> Option<Box<str>> {
    matches!(text, "true" | "false").then(|| text.into())
}

/// No control characters but those of white space (RFC 7950, section 14, `yang-char`).
fn is_legal(text: &str) -> bool {
    text.bytes().all(|byte| byte >= b' ' || matches!(byte, b'\t' | b'\n' | b'\r'))
}

/// Whether a length is allowed; it is counted only if some are not.
fn has_length(lengths: &[RangeInclusive<u64>], count: impl FnOnce() -> usize) -> bool {
    lengths.is_empty() || {
        let count = count() as u64;
        lengths.iter().any(|range| range.contains(&count))
    }
}

/// Names in any order, each at most once; canonical: in the order of their positions.
fn bits(text: &str, names: &[(Box<str>, u32)]) -> Option<Box<str>> {
    let mut set = Vec::new();
    for word in text.split_ascii_whitespace() {
        let index = names.iter().position(|(name, _)| **name == *word)?;
        set.push(index);
    }
    set.sort_unstable();
    let is_unique = set.windows(2).all(|pair| pair.first() != pair.last());
    let words: Vec<&str> =
        set.iter().filter_map(|index| names.get(*index)).map(|(name, _)| &**name).collect();
    is_unique.then(|| words.join(" ").into())
}

/// Base64 (RFC 4648, section 4), which may have a line break after every 64 characters; canonical: without.
fn binary(text: &str, lengths: &[RangeInclusive<u64>]) -> Option<Box<str>> {
    const LINE: usize = 64;
    let breaks = text.as_bytes().get(LINE) == Some(&b'\n');
    let joined: Box<str> = if breaks {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((line, after)) = rest.split_at_checked(LINE).filter(|(_, after)| !after.is_empty()) {
            out.push_str(line);
            rest = after.strip_prefix('\n')?;
        }
        out.push_str(rest);
        out.into()
    } else {
        text.into()
    };
    let digits = joined.trim_end_matches('=');
    let padding = joined.len() - digits.len();
    let is_base64 = joined.len().is_multiple_of(4)
        && padding <= 2
        && digits.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'));
    (is_base64 && has_length(lengths, || joined.len() / 4 * 3 - padding)).then_some(joined)
}

#[cfg(test)]
mod tests;
