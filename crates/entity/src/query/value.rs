//! Comparing stored values, as canonical JSON text, with the operands of a query.

use std::borrow::Cow;
use std::cmp::Ordering;

use regex::Regex;
use smallvec::SmallVec;
use store::Timestamp;

use super::values::ValueSet;
use super::wanted::Wanted;
use super::{Comparison, Operand};

/// Longer lists of operands are hashed.
const LISTED_MAX: usize = 8;

/// What a path leads to.
#[derive(Clone, Copy, Debug)]
pub enum Target<'a> {
    /// A stored value: canonical JSON text.
    Json(&'a str),
    /// The same, of a kind in which `{"@value": …}` is an object like any other.
    Plain(&'a str),
    /// What a Relationship points to: a URI, or several.
    Link(&'a str),
    /// A time beside the value.
    Time(Timestamp),
    /// A text beside the value, as it is.
    Text(&'a str),
}

/// A comparison, made ready; negation is the caller's.
#[derive(Clone, Debug)]
pub(super) enum Test {
    Any(SmallVec<[Wanted; 1]>),
    /// The same, of many.
    Among(Box<ValueSet>),
    Order(Comparison, Wanted),
    Between(Wanted, Wanted),
    Pattern(Regex),
    /// A comparison that nothing satisfies, such as an order between several operands.
    Never,
}

impl Test {
    /// The comparison, and whether it is a negated one.
    pub(super) fn new(comparison: Comparison, operand: &Operand) -> (Self, bool) {
        let negated = matches!(comparison, Comparison::NotEqual | Comparison::NotMatch);
        let test = match (comparison, operand) {
            (_, Operand::Pattern(pattern)) => Self::Pattern(pattern.clone()),
            (Comparison::Equal | Comparison::NotEqual, Operand::Values(values)) => {
                let wanted = values.iter().map(Wanted::new);
                if values.len() > LISTED_MAX {
                    Self::Among(Box::new(ValueSet::new(wanted)))
                } else {
                    Self::Any(wanted.collect())
                }
            }
            (Comparison::Equal | Comparison::NotEqual, Operand::Range(low, high)) => {
                Self::Between(Wanted::new(low), Wanted::new(high))
            }
            (Comparison::Match | Comparison::NotMatch, _) | (_, Operand::Range(..)) => Self::Never,
            (_, Operand::Values(values)) => match values.as_slice() {
                [value] => Self::Order(comparison, Wanted::new(value)),
                _ => Self::Never,
            },
        };
        (test, negated)
    }

    /// Whether what a path leads to, or any element of it, satisfies this. Cost: some ten nanoseconds
    /// a scalar, and no allocation unless a text has escapes.
    pub(super) fn holds(&self, target: Target<'_>) -> bool {
        match target {
            Target::Json(text) => each_scalar(text, true, &mut |scalar| self.holds_scalar(scalar)),
            Target::Plain(text) => each_scalar(text, false, &mut |scalar| self.holds_scalar(scalar)),
            Target::Link(_) if matches!(self, Self::Order(..) | Self::Pattern(_)) => false,
            Target::Link(text) => each_scalar(text, false, &mut |scalar| self.holds_scalar(scalar)),
            Target::Time(found) => match self {
                Self::Among(values) => values.holds_time(found),
                _ => self.decide(|wanted| wanted.order_time(found)),
            },
            Target::Text(found) => match self {
                Self::Pattern(pattern) => pattern.is_match(found),
                Self::Among(values) => values.holds_text(found),
                _ => self.decide(|wanted| wanted.order_text(found)),
            },
        }
    }

    /// Whether the comparison says anything of what a path leads to: a pattern does of texts alone.
    pub(super) fn applies(&self, target: Target<'_>) -> bool {
        let is_text = &mut |scalar: &str| scalar.starts_with('"');
        match (self, target) {
            (Self::Pattern(_), Target::Json(text)) => each_scalar(text, true, is_text),
            (Self::Pattern(_), Target::Plain(text)) => each_scalar(text, false, is_text),
            (Self::Pattern(_), Target::Link(_) | Target::Time(_)) => false,
            _ => true,
        }
    }

    fn holds_scalar(&self, scalar: &str) -> bool {
        match self {
            Self::Any(wanted) => wanted.iter().any(|wanted| wanted.equals(scalar)),
            Self::Among(values) => values.holds_scalar(scalar),
            Self::Pattern(pattern) => {
                lang_json::string_value(scalar).is_some_and(|text| pattern.is_match(&text))
            }
            _ => self.decide(|wanted| wanted.order(scalar)),
        }
    }

    fn decide(&self, order: impl Fn(&Wanted) -> Option<Ordering>) -> bool {
        match self {
            Self::Any(wanted) => wanted.iter().any(|wanted| order(wanted) == Some(Ordering::Equal)),
            Self::Order(comparison, wanted) => order(wanted).is_some_and(|found| match comparison {
                Comparison::Less => found.is_lt(),
                Comparison::LessEqual => found.is_le(),
                Comparison::Greater => found.is_gt(),
                Comparison::GreaterEqual => found.is_ge(),
                _ => false,
            }),
            Self::Between(low, high) => {
                order(low).is_some_and(Ordering::is_ge) && order(high).is_some_and(Ordering::is_le)
            }
            Self::Among(_) | Self::Pattern(_) | Self::Never => false,
        }
    }
}

/// Shows `see` every scalar that a stored value holds for comparing, until it says so: the value
/// itself, elements of an array, and in both places the `@value` of a typed value (if `typed`).
/// Objects and arrays deeper down are no scalars. `index.rs` indexes the same ones.
pub(super) fn each_scalar(text: &str, typed: bool, see: &mut dyn FnMut(&str) -> bool) -> bool {
    match text.as_bytes().first() {
        Some(b'[') => lang_json::elements(text).any(|element| scalar(element, typed).is_some_and(&mut *see)),
        _ => scalar(text, typed).is_some_and(see),
    }
}

fn scalar(text: &str, typed: bool) -> Option<&str> {
    match text.as_bytes().first()? {
        b'[' => None,
        b'{' if typed => lang_json::member(text, "@value").filter(|text| !text.starts_with(['{', '['])),
        b'{' => None,
        _ => Some(text),
    }
}

/// The values at `path` inside of a JSON value, any element where arrays lie on the way.
pub(super) fn each_at(text: &str, path: &[Box<str>], see: &mut dyn FnMut(&str) -> bool) -> bool {
    let Some((name, rest)) = path.split_first() else {
        return see(text);
    };
    match text.as_bytes().first() {
        Some(b'{') => lang_json::member(text, name).is_some_and(|value| each_at(value, rest, see)),
        Some(b'[') => lang_json::elements(text).any(|element| each_at(element, path, see)),
        _ => false,
    }
}

/// The texts of a LanguageProperty: of the language `tag`, or of any (`*`).
pub(super) fn each_language(text: &str, tag: &str, see: &mut dyn FnMut(&str) -> bool) -> bool {
    lang_json::members(text)
        .any(|(language, value)| (tag == "*" || language.eq_ignore_ascii_case(tag)) && see(value))
}

/// The characters of a text scalar.
pub(super) fn text_of(scalar: &str) -> Option<Cow<'_, str>> {
    lang_json::string_value(scalar)
}
