//! The JSON body as it comes: a machine over its outer structure that takes one whole item at a time.
//!
//! Between items the machine is in a [`State`]; the bytes of an incomplete item wait in `rest`. Points take the fast paths of
//! `row` and `number` where the text is as most clients write it, and `lang_json` otherwise.

use lang_json::Reader;
use lang_time::TimeReader;

use super::cursor::Cursor;
use super::entry::Entry;
use super::extent::value_length;
use super::row::Refusal;
use crate::wire::gather::{Building, over_limit};
use crate::wire::time::read_cached;
use crate::wire::{Given, ReadLimits, Shape, WireError};

/// Which part of the body the next item belongs to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum State {
    /// Before everything.
    Top,
    /// A member of the object around a bulk body.
    Wrapper,
    /// A series of `TimeSeries`.
    List,
    /// A member of a series.
    Series,
    /// A row of `Data`.
    Rows,
    /// An element of `Values`.
    Values,
    /// An element of `Flags`.
    Flags,
    /// After everything.
    End,
}

/// What came before the next item.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum After {
    /// The bracket that opened the container.
    Open,
    /// An item: a comma or the closing bracket must come.
    Item,
    /// A comma: an item must come.
    Comma,
}

/// What comes next in a container.
pub(super) enum Next {
    /// An item begins.
    Item,
    /// The container ended.
    Closed,
    /// More bytes are needed to know.
    Wait,
}

/// Reads rows and compact bodies, single and bulk.
pub(crate) struct JsonReader {
    shape: Shape,
    pub(super) limits: ReadLimits,
    /// Bytes of an unfinished item, the offset in the body at which they begin, and how many there must be before it is
    /// worth looking again: twice as many each time, so that tiny chunks cost no more than large ones.
    rest: Vec<u8>,
    base: usize,
    wanted: usize,
    state: State,
    pub(super) after: After,
    /// Whether the list of series is in an object.
    wrapped: bool,
    pub(super) entry: Entry,
    done: Vec<Given>,
    pub(super) points: usize,
    pub(super) times: TimeReader,
}

impl JsonReader {
    pub(crate) fn new(shape: Shape, limits: ReadLimits) -> Self {
        Self {
            shape,
            limits,
            rest: Vec::new(),
            base: 0,
            wanted: 0,
            state: State::Top,
            after: After::Open,
            wrapped: false,
            entry: Entry::default(),
            done: Vec::new(),
            points: 0,
            times: TimeReader::default(),
        }
    }

    pub(crate) fn feed(&mut self, chunk: &[u8]) -> Result<(), WireError> {
        if self.rest.is_empty() {
            let used = self.parse(chunk)?;
            self.rest.extend_from_slice(chunk.get(used..).expect("no more is used than there is"));
        } else {
            self.rest.extend_from_slice(chunk);
            if self.rest.len() < self.wanted.min(self.limits.item_bytes_max) {
                return Ok(());
            }
            self.parse_rest()?;
        }
        self.check_item(0, self.rest.len())?;
        self.wanted = self.rest.len() * 2;
        Ok(())
    }

    /// Points, series, and bytes that wait.
    pub(crate) fn held(&self) -> (usize, usize, usize) {
        (self.points, self.done.len(), self.rest.len())
    }

    fn parse_rest(&mut self) -> Result<(), WireError> {
        let mut rest = std::mem::take(&mut self.rest);
        let used = self.parse(&rest)?;
        rest.drain(..used);
        self.rest = rest;
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<Vec<Given>, WireError> {
        self.parse_rest()?;
        if self.state != State::End {
            let reason = format!("the JSON text ends early, at byte {}", self.base + self.rest.len());
            return Err(WireError { series: self.label(), position: None, reason, is_limit: false });
        }
        Ok(self.done)
    }

    /// Takes all whole items of `bytes`, which begin at `base`; gives how many bytes they are.
    fn parse(&mut self, bytes: &[u8]) -> Result<usize, WireError> {
        let mut cursor = Cursor { bytes, at: 0 };
        while self.step(&mut cursor)? {}
        self.base += cursor.at;
        Ok(cursor.at)
    }

    /// Takes what comes next; `false` if that needs more bytes.
    fn step(&mut self, cursor: &mut Cursor<'_>) -> Result<bool, WireError> {
        match self.state {
            State::Top => self.top(cursor),
            State::Wrapper => self.wrapper(cursor),
            State::List => self.list(cursor),
            State::Series => self.member(cursor),
            State::Rows => self.rows(cursor),
            State::Values => self.values(cursor),
            State::Flags => self.flags(cursor),
            State::End => match cursor.peek() {
                None => Ok(false),
                Some(_) => Err(self.unexpected(cursor, "nothing more")),
            },
        }
    }

    fn label(&self) -> Option<String> {
        let inside = matches!(self.state, State::Series | State::Rows | State::Values | State::Flags);
        self.entry.label(self.shape).filter(|_| inside)
    }

    /// The position of the next point, where points come.
    fn position(&self) -> Option<usize> {
        match self.state {
            State::Rows => Some(self.entry.rows.points.len()),
            State::Values => Some(self.entry.slots()),
            State::Flags => Some(self.entry.flags.len()),
            _ => None,
        }
    }

    fn refuse(&self, reason: String) -> WireError {
        WireError { series: self.label(), position: self.position(), reason, is_limit: false }
    }

    fn unexpected(&self, cursor: &Cursor<'_>, expected: &str) -> WireError {
        self.refuse(format!("{expected} expected in JSON at byte {}", self.base + cursor.at))
    }

    pub(super) fn malformed(&self, cursor: &Cursor<'_>, refusal: Refusal) -> WireError {
        match refusal {
            Refusal::Malformed(error) => {
                let limit = if error.problem == lang_json::Problem::Depth { " (depth_max)" } else { "" };
                self.refuse(format!("{} at byte {}{limit}", error.problem, self.base + cursor.at + error.at))
            }
            Refusal::Reason(reason) => self.refuse(reason),
        }
    }

    /// Goes into a container whose bracket is next.
    fn enter(&mut self, cursor: &mut Cursor<'_>, state: State) {
        cursor.at += 1;
        self.state = state;
        self.after = After::Open;
    }

    /// Goes back to the container around the one that just ended.
    pub(super) fn leave(&mut self, state: State) {
        self.state = state;
        self.after = After::Item;
    }

    /// Passes a comma, and finds whether an item or the end of the container comes.
    pub(super) fn next_item(&mut self, cursor: &mut Cursor<'_>, close: u8) -> Result<Next, WireError> {
        loop {
            match (cursor.peek(), self.after) {
                (None, _) => return Ok(Next::Wait),
                (Some(byte), After::Open | After::Item) if byte == close => {
                    cursor.at += 1;
                    return Ok(Next::Closed);
                }
                (Some(b','), After::Item) => {
                    cursor.at += 1;
                    self.after = After::Comma;
                }
                (Some(_), After::Item) => return Err(self.unexpected(cursor, "a comma or the end")),
                (Some(_), After::Open | After::Comma) => return Ok(Next::Item),
            }
        }
    }

    /// Refuses an item that reaches from `start` to `end` of the bytes received (and perhaps further) if that is too far:
    /// wherever the body is cut, the same items are refused.
    fn check_item(&self, start: usize, end: usize) -> Result<(), WireError> {
        let max = self.limits.item_bytes_max;
        if end - start <= max {
            return Ok(());
        }
        let reason =
            format!("an item of more than {max} bytes at byte {} (write_item_bytes_max)", self.base + start);
        Err(self.refuse(reason).of_limit())
    }

    /// The text of the value that is next, once it is whole.
    pub(super) fn value<'a>(&self, cursor: &Cursor<'a>) -> Result<Option<&'a str>, WireError> {
        self.value_of(cursor, cursor.at)
    }

    /// The same where the item begins before its value, at `start`.
    fn value_of<'a>(&self, cursor: &Cursor<'a>, start: usize) -> Result<Option<&'a str>, WireError> {
        let rest = cursor.rest();
        let Some(value) = value_length(rest).and_then(|length| rest.get(..length)) else {
            return Ok(None);
        };
        self.check_item(start, cursor.at + value.len())?;
        match std::str::from_utf8(value) {
            Ok(text) => Ok(Some(text)),
            Err(error) => {
                let at = self.base + cursor.at + error.valid_up_to();
                Err(self.refuse(format!("the text is not UTF-8 at byte {at}")))
            }
        }
    }

    /// The name of the member that is next, and where its value begins, once that is there.
    fn key(&self, cursor: &Cursor<'_>) -> Result<Option<(String, usize)>, WireError> {
        if cursor.rest().first() != Some(&b'"') {
            return Err(self.unexpected(cursor, "a member"));
        }
        let Some(text) = self.value(cursor)? else { return Ok(None) };
        let name = Reader::new(text, 1).string().map_err(|error| self.malformed(cursor, error.into()))?;
        let mut after = Cursor { bytes: cursor.bytes, at: cursor.at + text.len() };
        let next = after.peek();
        self.check_item(cursor.at, after.at)?;
        match next {
            None => return Ok(None),
            Some(b':') => after.at += 1,
            Some(_) => return Err(self.unexpected(&after, "a colon")),
        }
        let next = after.peek();
        self.check_item(cursor.at, after.at)?;
        Ok(next.map(|_| (name.into_owned(), after.at)))
    }

    fn top(&mut self, cursor: &mut Cursor<'_>) -> Result<bool, WireError> {
        match (cursor.peek(), self.shape) {
            (None, _) => return Ok(false),
            (Some(b'{'), Shape::Single) => {
                self.entry = Entry::new(0);
                self.enter(cursor, State::Series);
            }
            (Some(b'{'), Shape::Bulk) => self.enter(cursor, State::Wrapper),
            (Some(b'['), Shape::Bulk) => self.enter(cursor, State::List),
            (Some(_), Shape::Single) => return Err(self.unexpected(cursor, "an object")),
            (Some(_), Shape::Bulk) => {
                return Err(self.unexpected(cursor, "an object with TimeSeries, or an array,"));
            }
        }
        Ok(true)
    }

    fn wrapper(&mut self, cursor: &mut Cursor<'_>) -> Result<bool, WireError> {
        match self.next_item(cursor, b'}')? {
            Next::Wait => return Ok(false),
            Next::Closed if !self.wrapped => return Err(self.refuse("the body has no TimeSeries".to_owned())),
            Next::Closed => self.leave(State::End),
            Next::Item => {
                let Some((name, at)) = self.key(cursor)? else { return Ok(false) };
                if name != "TimeSeries" {
                    return self.pass_over(cursor, at);
                }
                cursor.at = at;
                if self.wrapped || cursor.peek() != Some(b'[') {
                    return Err(self.unexpected(cursor, "one array TimeSeries"));
                }
                self.wrapped = true;
                self.enter(cursor, State::List);
            }
        }
        Ok(true)
    }

    /// Skips the value at `at`, which is not used.
    fn pass_over(&mut self, cursor: &mut Cursor<'_>, at: usize) -> Result<bool, WireError> {
        let value = Cursor { bytes: cursor.bytes, at };
        let Some(text) = self.value_of(&value, cursor.at)? else { return Ok(false) };
        let mut reader = Reader::new(text, self.limits.depth_max);
        reader.skip().and_then(|()| reader.end()).map_err(|error| self.malformed(&value, error.into()))?;
        cursor.at = at + text.len();
        self.after = After::Item;
        Ok(true)
    }

    fn list(&mut self, cursor: &mut Cursor<'_>) -> Result<bool, WireError> {
        match self.next_item(cursor, b']')? {
            Next::Wait => return Ok(false),
            Next::Closed => self.leave(if self.wrapped { State::Wrapper } else { State::End }),
            Next::Item => {
                if cursor.peek() != Some(b'{') {
                    return Err(self.unexpected(cursor, "a series"));
                }
                over_limit(self.done.len() + 1, self.limits.series_max, "series", "request_series_max")?;
                self.entry = Entry::new(self.done.len());
                self.enter(cursor, State::Series);
            }
        }
        Ok(true)
    }

    fn member(&mut self, cursor: &mut Cursor<'_>) -> Result<bool, WireError> {
        match self.next_item(cursor, b'}')? {
            Next::Wait => Ok(false),
            Next::Closed => {
                let entry = std::mem::take(&mut self.entry);
                self.done.push(entry.finish(self.shape)?);
                self.leave(if self.shape == Shape::Single { State::End } else { State::List });
                Ok(true)
            }
            Next::Item => {
                let Some((name, at)) = self.key(cursor)? else { return Ok(false) };
                self.named_member(cursor, &name, at)
            }
        }
    }

    fn named_member(&mut self, cursor: &mut Cursor<'_>, name: &str, at: usize) -> Result<bool, WireError> {
        let (seen, state) = match name {
            "Data" => (&mut self.entry.has_rows, State::Rows),
            "Values" => (&mut self.entry.has_values, State::Values),
            "Flags" => (&mut self.entry.has_flags, State::Flags),
            "ID" | "Name" | "Start" => return self.text_member(cursor, name, at),
            _ => return self.pass_over(cursor, at),
        };
        if std::mem::replace(seen, true) {
            return Err(self.refuse(format!("{name} is given twice")));
        }
        cursor.at = at;
        if cursor.peek() != Some(b'[') {
            return Err(self.unexpected(cursor, &format!("an array {name}")));
        }
        if state == State::Rows {
            // As much room as the series before had points: together never more than there were points.
            let room = self.done.last().map_or(0, |last| last.points.times.len());
            self.entry.rows = Building::with_room(None, room);
        }
        self.enter(cursor, state);
        Ok(true)
    }

    /// Reads a member that names the series, or its start.
    fn text_member(&mut self, cursor: &mut Cursor<'_>, name: &str, at: usize) -> Result<bool, WireError> {
        let value = Cursor { bytes: cursor.bytes, at };
        let Some(text) = self.value_of(&value, cursor.at)? else { return Ok(false) };
        let mut reader = Reader::new(text, 1);
        let number = name == "ID" && text.starts_with(|first: char| first.is_ascii_digit());
        let found = if number { reader.number().map(str::to_owned) } else { reader.string().map(Into::into) };
        let found = found.and_then(|found| reader.end().map(|()| found));
        let found = found.map_err(|error| self.malformed(&value, error.into()))?;
        let twice = match name {
            "ID" => self.entry.id.replace(found.into()).is_some(),
            "Name" => self.entry.name.replace(found.into()).is_some(),
            _ => {
                let start = read_cached(&mut self.times, &found).map_err(|reason| self.refuse(reason))?;
                self.entry.start.replace(start).is_some()
            }
        };
        if twice {
            return Err(self.refuse(format!("{name} is given twice")));
        }
        cursor.at = at + text.len();
        self.after = After::Item;
        Ok(true)
    }

    /// Counts a point before it is taken.
    #[inline]
    pub(super) fn count(&mut self) -> Result<(), WireError> {
        self.points += 1;
        if self.points > self.limits.points_max {
            return over_limit(self.points, self.limits.points_max, "points", "write_points_max");
        }
        Ok(())
    }
}
