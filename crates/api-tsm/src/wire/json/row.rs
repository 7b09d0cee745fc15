//! One row: the exact shape that most clients send, and any other that means the same.

use lang_json::{Kind, Reader};
use lang_time::TimeReader;

use crate::wire::NO_VALUE;
use crate::wire::flags;
use crate::wire::number::{read_decimal, read_number};
use crate::wire::time::read_cached;

/// A point as it was given: time, value, flag byte.
pub(crate) type Row = (i64, f64, u8);

/// The texts between the parts of a row.
pub(crate) trait Frame {
    const OPEN: &'static [u8];
    const VALUE: &'static [u8];
    const FLAG: &'static [u8];
    const NEXT: &'static [u8];
}

/// As `JSON.stringify`, serde and Twinfold write.
pub(crate) struct Dense;

impl Frame for Dense {
    const OPEN: &'static [u8] = b"{\"From\":\"";
    const VALUE: &'static [u8] = b"\",\"Value\":";
    const FLAG: &'static [u8] = b",\"Flag\":\"";
    const NEXT: &'static [u8] = b",";
}

/// As Python's `json.dumps` writes.
pub(crate) struct Spaced;

impl Frame for Spaced {
    const OPEN: &'static [u8] = b"{\"From\": \"";
    const VALUE: &'static [u8] = b"\", \"Value\": ";
    const FLAG: &'static [u8] = b", \"Flag\": \"";
    const NEXT: &'static [u8] = b", ";
}

/// Reads a row of exactly `{"From":"…","Value":…,"Flag":"…"}` at the start of `bytes`, with or without a space after
/// each comma and colon; gives it and what follows. `None` leaves it to [`read_row`].
#[inline(always)]
pub(crate) fn read_exact_row<'a, F: Frame>(
    times: &mut TimeReader,
    bytes: &'a [u8],
) -> Option<(Row, &'a [u8])> {
    let rest = bytes.strip_prefix(F::OPEN)?;
    let (time, length) = times.read(rest)?;
    let rest = rest.get(length..)?.strip_prefix(F::VALUE)?;
    if let Some((value, length)) = read_decimal(rest) {
        let (flag, rest) = read_end::<F>(rest.get(length..)?)?;
        return Some(((time, value, flag.unwrap_or(flags::VALID)), rest));
    }
    let (flag, rest) = read_end::<F>(rest.strip_prefix(b"null")?)?;
    Some(((time, NO_VALUE, flags::flag_byte(flag, true)), rest))
}

/// The flag, if there is one, and the end of the row.
#[inline(always)]
fn read_end<F: Frame>(bytes: &[u8]) -> Option<(Option<u8>, &[u8])> {
    let Some(rest) = bytes.strip_prefix(F::FLAG) else {
        return bytes.strip_prefix(b"}").map(|rest| (None, rest));
    };
    if let Some(rest) = rest.strip_prefix(b"Valid\"}") {
        return Some((Some(flags::VALID), rest));
    }
    read_other_flag(rest)
}

fn read_other_flag(bytes: &[u8]) -> Option<(Option<u8>, &[u8])> {
    (0_u8..).zip(flags::NAMES).find_map(|(number, name)| {
        let rest = bytes.strip_prefix(name.as_bytes())?.strip_prefix(b"\"}")?;
        Some((Some(number), rest))
    })
}

/// Why a row is refused: malformed text at an offset within it, or a reason.
#[derive(Debug)]
pub(crate) enum Refusal {
    Malformed(lang_json::Error),
    Reason(String),
}

impl From<lang_json::Error> for Refusal {
    fn from(error: lang_json::Error) -> Self {
        Self::Malformed(error)
    }
}

impl From<String> for Refusal {
    fn from(reason: String) -> Self {
        Self::Reason(reason)
    }
}

/// Reads a row in any layout and order of members.
pub(crate) fn read_row(times: &mut TimeReader, text: &str, depth_max: usize) -> Result<Row, Refusal> {
    let mut reader = Reader::new(text, depth_max);
    let (mut time, mut value, mut flag) = (None, None, None);
    reader.begin_object()?;
    while let Some(member) = reader.next_key()? {
        let twice = match &*member {
            "From" => time.replace(read_cached(times, &reader.string()?)?).is_some(),
            "Value" => value.replace(read_value(&mut reader)?).is_some(),
            "Flag" => flag.replace(read_flag(&mut reader)?).is_some(),
            other => return Err(Refusal::Reason(format!("a point has From, Value and Flag, not {other:?}"))),
        };
        if twice {
            return Err(Refusal::Reason(format!("{member} is given twice")));
        }
    }
    reader.end()?;
    let time = time.ok_or_else(|| "the point has no From".to_owned())?;
    let value = value.ok_or_else(|| "the point has no Value".to_owned())?;
    Ok((time, value.unwrap_or(NO_VALUE), flags::flag_byte(flag.flatten(), value.is_none())))
}

/// A number or `null`.
pub(crate) fn read_value(reader: &mut Reader<'_>) -> Result<Option<f64>, Refusal> {
    if reader.peek()? == Kind::Null {
        reader.null()?;
        return Ok(None);
    }
    Ok(Some(read_number(reader.number()?)?))
}

/// The name of a flag, its number as HAKOM TSM counts, or `null`.
pub(crate) fn read_flag(reader: &mut Reader<'_>) -> Result<Option<u8>, Refusal> {
    let kind = reader.peek()?;
    if kind == Kind::Null {
        reader.null()?;
        return Ok(None);
    }
    if kind == Kind::Number {
        let number = reader.number()?;
        let flag = flags::of_hakom(number);
        return flag.map(Some).ok_or_else(|| Refusal::Reason(format!("{number} is the number of no flag")));
    }
    let name = reader.string()?;
    match flags::number(&name) {
        Some(flag) => Ok(Some(flag)),
        None => Err(Refusal::Reason(format!("{name:?} is not a flag"))),
    }
}
