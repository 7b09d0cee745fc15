//! Texts made of several values, as HugeGraph splices them: ids of vertices with primary keys, sort values of edges.
//!
//! Parts are joined by a separator; a separator inside a part has a backtick before it. What is beyond the original: a backtick that would be read as
//! such a mark is doubled, so that different parts never give the same text.

use std::borrow::Cow;

use smallvec::SmallVec;

/// What stands for an empty value in a spliced text.
pub const EMPTY_VALUE: &str = "\u{2}";
/// Between the number of a label and the values of its primary keys.
const ID_SEPARATOR: char = ':';
/// Between two values.
const NAME_SEPARATOR: char = '!';
/// Before a separator that is part of a value.
const ESCAPE: char = '`';
/// The digits of numbers, in the order of their bytes.
const DIGITS: &[u8; 64] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~";
/// Says how many digits follow.
const LENGTHS: &[u8; 16] = b"0123456789ABCDEF";

/// Appends parts with a separator between them, escaped.
pub(super) fn put_joined(
    out: &mut String,
    separator: char,
    parts: impl IntoIterator<Item = impl AsRef<str>>,
) {
    for (index, part) in parts.into_iter().enumerate() {
        if index > 0 {
            double_last_escapes(out);
            out.push(separator);
        }
        put_escaped(out, separator, part.as_ref());
    }
}

/// Appends a part. Cost: a copy, where it has no separator.
fn put_escaped(out: &mut String, separator: char, part: &str) {
    let mut rest = part;
    while let Some((before, behind)) = rest.split_once(separator) {
        out.push_str(before);
        double_last_escapes(out);
        out.push(ESCAPE);
        out.push(separator);
        rest = behind;
    }
    out.push_str(rest);
}

/// Doubles the escapes at the end of a text, which a separator follows.
fn double_last_escapes(out: &mut String) {
    let kept = out.trim_end_matches(ESCAPE).len();
    for _ in kept..out.len() {
        out.push(ESCAPE);
    }
}

/// Splits a text that [`put_joined`] made, into its parts. Cost: an allocation for each part with an escape; else none for up to five.
pub(super) fn split_joined(text: &str, separator: char) -> SmallVec<[Cow<'_, str>; 5]> {
    let (mut parts, mut part, mut rest) = (SmallVec::new(), Cow::Borrowed(""), text);
    while let Some((before, behind)) = rest.split_once(separator) {
        let plain = before.trim_end_matches(ESCAPE);
        let escapes = before.len() - plain.len();
        append(&mut part, plain);
        if escapes > 0 {
            part.to_mut().extend(std::iter::repeat_n(ESCAPE, escapes / 2));
        }
        if escapes % 2 == 1 {
            part.to_mut().push(separator);
        } else {
            parts.push(std::mem::take(&mut part));
        }
        rest = behind;
    }
    append(&mut part, rest);
    parts.push(part);
    parts
}

/// Appends to a text, which is borrowed where it was empty.
fn append<'a>(text: &mut Cow<'a, str>, more: &'a str) {
    if text.is_empty() {
        *text = Cow::Borrowed(more);
    } else if !more.is_empty() {
        text.to_mut().push_str(more);
    }
}

/// The text of several values of a vertex or edge (primary keys, sort keys), each as text. Cost: that of one without a separator none.
pub fn join_names<'a>(values: impl IntoIterator<Item: Into<Cow<'a, str>>>) -> Cow<'a, str> {
    let mut values = values.into_iter().map(Into::into).peekable();
    let first = values.next();
    match first {
        None => Cow::Borrowed(""),
        Some(only) if values.peek().is_none() && !only.contains(NAME_SEPARATOR) => only,
        Some(first) => {
            let mut text = String::new();
            put_joined(&mut text, NAME_SEPARATOR, std::iter::once(first).chain(values));
            text.into()
        }
    }
}

/// The id of a vertex of a label with primary keys, of the text of their values ([`join_names`]). Cost: an allocation, of the room that it needs
/// where no separator is escaped.
pub fn primary_key_id(label: u32, names: &str) -> String {
    let mut number = itoa::Buffer::new();
    let number = number.format(label);
    let mut id = String::with_capacity(number.len() + 1 + names.len());
    id.push_str(number);
    id.push(ID_SEPARATOR);
    put_escaped(&mut id, ID_SEPARATOR, names);
    id
}

/// A whole number as a text that sorts as the numbers do: how many digits, then the digits; negative ones have a zero before.
pub fn number_as_text(number: i64) -> String {
    let mut rest = number.cast_unsigned() & i64::MAX.cast_unsigned();
    let mut digits = [0; 11];
    let mut begin = digits.len();
    loop {
        begin -= 1;
        let digit = usize::try_from(rest % 64).expect("less than 64");
        *digits.get_mut(begin).expect("63 bits have eleven digits at most") =
            *DIGITS.get(digit).expect("a digit");
        rest /= 64;
        if rest == 0 {
            break;
        }
    }
    let digits = digits.get(begin..).expect("begins within the digits");
    let mut text = String::with_capacity(digits.len() + 2);
    if number < 0 {
        text.push('0');
    }
    text.push(char::from(*LENGTHS.get(digits.len()).expect("eleven digits at most")));
    text.extend(digits.iter().map(|digit| char::from(*digit)));
    text
}

/// A float as a whole number in its order: what [`number_as_text`] takes.
pub fn sortable_f64(number: f64) -> i64 {
    let bits = number.to_bits().cast_signed();
    bits ^ ((bits >> 63) & i64::MAX)
}

/// A float of single precision as a whole number in its order.
pub fn sortable_f32(number: f32) -> i64 {
    let bits = number.to_bits().cast_signed();
    i64::from(bits ^ ((bits >> 31) & i32::MAX))
}
