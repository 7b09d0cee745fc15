//! The pull reader over a whole text in memory, and the canonical form.

use std::borrow::Cow;

use crate::{ArrayWriter, Error, ObjectWriter, Problem, text, write_string};

/// The kind of a JSON value, known from its first byte.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// `"…"`
    String,
    /// `-1.5e3`
    Number,
    /// `true` or `false`
    Bool,
    /// `null`
    Null,
}

/// Reads one text from front to back; every value is visited once.
///
/// Objects: [`Reader::begin_object`], then [`Reader::next_key`] until `None`, reading exactly one
/// value after each key. Arrays: [`Reader::begin_array`], then [`Reader::next_element`] until
/// `false`, reading one value each time.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    depth_max: usize,
    fresh: bool,
}

impl<'a> Reader<'a> {
    /// A reader at the start of `text` that refuses more than `depth_max` nested containers.
    pub fn new(text: &'a str, depth_max: usize) -> Self {
        Self { text, at: 0, depth: 0, depth_max, fresh: false }
    }

    /// The offset of the next unread byte.
    pub fn position(&self) -> usize {
        self.at
    }

    /// An error at the current position.
    pub fn error(&self, problem: Problem) -> Error {
        Error { problem, at: self.at }
    }

    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// What is not read yet.
    fn rest(&self) -> &'a [u8] {
        self.bytes().get(self.at..).expect("no reader goes beyond the end of its text")
    }

    fn byte(&self) -> Option<u8> {
        self.bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.byte(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn slice(&self, from: usize, to: usize) -> Result<&'a str, Error> {
        self.text.get(from..to).ok_or_else(|| self.error(Problem::Unexpected))
    }

    fn problem(&self) -> Error {
        self.error(if self.byte().is_none() { Problem::End } else { Problem::Unexpected })
    }

    /// The kind of the next value, which stays unread.
    ///
    /// # Errors
    ///
    /// If no value can start here.
    pub fn peek(&mut self) -> Result<Kind, Error> {
        self.space();
        match self.byte() {
            Some(b'{') => Ok(Kind::Object),
            Some(b'[') => Ok(Kind::Array),
            Some(b'"') => Ok(Kind::String),
            Some(b'-' | b'0'..=b'9') => Ok(Kind::Number),
            Some(b't' | b'f') => Ok(Kind::Bool),
            Some(b'n') => Ok(Kind::Null),
            _ => Err(self.problem()),
        }
    }

    fn expect(&mut self, kind: Kind) -> Result<(), Error> {
        if self.peek()? == kind { Ok(()) } else { Err(self.error(Problem::Kind)) }
    }

    fn begin(&mut self, kind: Kind) -> Result<(), Error> {
        self.expect(kind)?;
        if self.depth >= self.depth_max {
            return Err(self.error(Problem::Depth));
        }
        self.depth += 1;
        self.at += 1;
        self.fresh = true;
        Ok(())
    }

    /// Enters an object.
    ///
    /// # Errors
    ///
    /// If the next value is no object, or one too many levels deep.
    pub fn begin_object(&mut self) -> Result<(), Error> {
        self.begin(Kind::Object)
    }

    /// Enters an array.
    ///
    /// # Errors
    ///
    /// If the next value is no array, or one too many levels deep.
    pub fn begin_array(&mut self) -> Result<(), Error> {
        self.begin(Kind::Array)
    }

    /// Whether another item follows in the container that ends with `close`.
    fn next(&mut self, close: u8) -> Result<bool, Error> {
        self.space();
        let fresh = std::mem::take(&mut self.fresh);
        match self.byte() {
            Some(byte) if byte == close => {
                self.at += 1;
                self.depth = self.depth.saturating_sub(1);
                return Ok(false);
            }
            Some(b',') if !fresh => {
                self.at += 1;
                self.space();
            }
            _ if fresh => {}
            _ => return Err(self.problem()),
        }
        if self.byte() == Some(close) {
            return Err(self.error(Problem::Unexpected));
        }
        Ok(true)
    }

    /// The name of the next member; its value is next. `None` leaves the object.
    ///
    /// # Errors
    ///
    /// If what follows is no member.
    pub fn next_key(&mut self) -> Result<Option<Cow<'a, str>>, Error> {
        if !self.next(b'}')? {
            return Ok(None);
        }
        let key = self.string()?;
        self.space();
        if self.byte() != Some(b':') {
            return Err(self.problem());
        }
        self.at += 1;
        Ok(Some(key))
    }

    /// Passes over the name of the next member if it is `name`, written without white space before or behind it; else nothing is read, and
    /// [`Reader::next_key`] is to be asked. For names that are likely, and need no escapes. Cost: a comparison.
    #[inline]
    pub fn take_key(&mut self, name: &str) -> bool {
        let rest = self.rest();
        let item = if self.fresh { Some(rest) } else { rest.strip_prefix(b",") };
        let behind = item.and_then(|item| item.strip_prefix(b"\""));
        let behind = behind.and_then(|item| item.strip_prefix(name.as_bytes())?.strip_prefix(b"\":"));
        let Some(behind) = behind else { return false };
        self.at += rest.len() - behind.len();
        self.fresh = false;
        true
    }

    /// Whether another element follows; `false` leaves the array.
    ///
    /// # Errors
    ///
    /// If what follows is no element.
    pub fn next_element(&mut self) -> Result<bool, Error> {
        self.next(b']')
    }

    /// The characters of a string, borrowed where it has no escapes.
    ///
    /// # Errors
    ///
    /// If the next value is no well-formed string.
    pub fn string(&mut self) -> Result<Cow<'a, str>, Error> {
        let (raw, escaped) = self.raw_string()?;
        if escaped {
            text::unescape(raw).ok_or(self.error(Problem::String)).map(Cow::Owned)
        } else {
            Ok(Cow::Borrowed(raw))
        }
    }

    /// The text between the quotes, and whether it has escapes (checked for form).
    fn raw_string(&mut self) -> Result<(&'a str, bool), Error> {
        self.expect(Kind::String)?;
        let start = self.at + 1;
        let mut at = start;
        let mut escaped = false;
        loop {
            match self.bytes().get(at) {
                None => {
                    // A backslash at the end skips what is not there.
                    self.at = self.text.len();
                    return Err(self.error(Problem::End));
                }
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    at += 2;
                }
                Some(byte) if *byte < 0x20 => {
                    self.at = at;
                    return Err(self.error(Problem::String));
                }
                Some(_) => at = text::plain_until(self.bytes(), at + 1),
            }
        }
        let raw = self.slice(start, at)?;
        self.at = at + 1;
        Ok((raw, escaped))
    }

    /// The digits of a number as they were written.
    ///
    /// # Errors
    ///
    /// If the next value is no well-formed number.
    pub fn number(&mut self) -> Result<&'a str, Error> {
        self.expect(Kind::Number)?;
        let start = self.at;
        let length = text::number_length(self.rest());
        let end = start + length.ok_or(self.error(Problem::Number))?;
        self.at = end;
        self.slice(start, end)
    }

    /// A number, as its digits, that a double can hold.
    ///
    /// # Errors
    ///
    /// If the next value is not a number, or one beyond the range of doubles.
    pub fn finite_number(&mut self) -> Result<&'a str, Error> {
        self.expect(Kind::Number)?;
        let beyond = self.error(Problem::Range);
        let digits = self.number()?;
        if text::is_finite(digits) { Ok(digits) } else { Err(beyond) }
    }

    /// A boolean.
    ///
    /// # Errors
    ///
    /// If the next value is neither `true` nor `false`.
    pub fn bool(&mut self) -> Result<bool, Error> {
        self.expect(Kind::Bool)?;
        if self.byte() == Some(b't') {
            self.word("true").map(|()| true)
        } else {
            self.word("false").map(|()| false)
        }
    }

    /// A `null`.
    ///
    /// # Errors
    ///
    /// If the next value is something else.
    pub fn null(&mut self) -> Result<(), Error> {
        self.expect(Kind::Null)?;
        self.word("null")
    }

    fn word(&mut self, word: &str) -> Result<(), Error> {
        if !self.rest().starts_with(word.as_bytes()) {
            return Err(self.error(Problem::Unexpected));
        }
        self.at += word.len();
        Ok(())
    }

    /// Passes over one value, checking it whole, and gives its text as it was written.
    ///
    /// # Errors
    ///
    /// If the value is malformed.
    pub fn raw(&mut self) -> Result<&'a str, Error> {
        self.space();
        let start = self.at;
        self.skip()?;
        self.slice(start, self.at)
    }

    /// Passes over one value, checking it whole.
    ///
    /// # Errors
    ///
    /// If the value is malformed.
    pub fn skip(&mut self) -> Result<(), Error> {
        match self.peek()? {
            Kind::Object => {
                self.begin_object()?;
                while self.next_key()?.is_some() {
                    self.skip()?;
                }
            }
            Kind::Array => {
                self.begin_array()?;
                while self.next_element()? {
                    self.skip()?;
                }
            }
            Kind::String => {
                let (raw, escaped) = self.raw_string()?;
                if escaped && text::unescape(raw).is_none() {
                    return Err(self.error(Problem::String));
                }
            }
            Kind::Number => drop(self.number()?),
            Kind::Bool => drop(self.bool()?),
            Kind::Null => self.null()?,
        }
        Ok(())
    }

    /// Reads one value and appends its canonical text to `out`.
    ///
    /// # Errors
    ///
    /// If the value is malformed, or holds a number beyond the range of doubles, which no reader of what is stored could
    /// compare; `out` may then hold a part of it.
    pub fn canonical(&mut self, out: &mut String) -> Result<(), Error> {
        match self.peek()? {
            Kind::Object => {
                self.begin_object()?;
                let mut object = ObjectWriter::begin(out);
                while let Some(name) = self.next_key()? {
                    self.canonical(object.member(&name))?;
                }
                object.end();
            }
            Kind::Array => {
                self.begin_array()?;
                let mut array = ArrayWriter::begin(out);
                while self.next_element()? {
                    self.canonical(array.item())?;
                }
                array.end();
            }
            Kind::String => {
                let (raw, escaped) = self.raw_string()?;
                if escaped {
                    let value = text::unescape(raw).ok_or(self.error(Problem::String))?;
                    write_string(out, &value);
                } else {
                    out.push('"');
                    out.push_str(raw);
                    out.push('"');
                }
            }
            Kind::Number => out.push_str(self.finite_number()?),
            Kind::Bool => out.push_str(if self.bool()? { "true" } else { "false" }),
            Kind::Null => {
                self.null()?;
                out.push_str("null");
            }
        }
        Ok(())
    }

    /// Checks that nothing but white space is left.
    ///
    /// # Errors
    ///
    /// If something follows.
    pub fn end(&mut self) -> Result<(), Error> {
        self.space();
        if self.byte().is_some() { Err(self.error(Problem::Trailing)) } else { Ok(()) }
    }
}

/// The canonical form of a whole text.
///
/// # Errors
///
/// If `text` is not one well-formed value of at most `depth_max` nested containers.
pub fn canonical(text: &str, depth_max: usize) -> Result<String, Error> {
    let mut out = String::with_capacity(text.len());
    let mut reader = Reader::new(text, depth_max);
    reader.canonical(&mut out)?;
    reader.end()?;
    Ok(out)
}

#[cfg(test)]
mod tests;
