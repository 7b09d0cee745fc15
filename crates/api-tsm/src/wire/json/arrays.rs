//! The arrays of a series: `Data`, `Values` and `Flags`; their elements are the points.

use lang_json::Reader;

use super::cursor::Cursor;
use super::document::{After, JsonReader, Next, State};
use super::row::{Dense, Frame, Spaced, read_exact_row, read_flag, read_row, read_value};
use crate::wire::gather::over_limit;
use crate::wire::number::read_decimal;
use crate::wire::{NO_POINT, WireError, flags};

impl JsonReader {
    pub(super) fn rows(&mut self, cursor: &mut Cursor<'_>) -> Result<bool, WireError> {
        self.exact_rows::<Dense>(cursor);
        self.exact_rows::<Spaced>(cursor);
        match self.next_item(cursor, b']')? {
            Next::Wait => Ok(false),
            Next::Closed => {
                self.leave(State::Series);
                Ok(true)
            }
            Next::Item => {
                let Some(text) = self.value(cursor)? else { return Ok(false) };
                let row = read_row(&mut self.times, text, self.limits.depth_max);
                let row = row.map_err(|refusal| self.malformed(cursor, refusal))?;
                self.count()?;
                let (time, value, flag) = row;
                self.entry.rows.push(time, value, flag);
                cursor.at += text.len();
                self.after = After::Item;
                Ok(true)
            }
        }
    }

    /// Takes rows of the exact shape while they come, if an item is due.
    fn exact_rows<F: Frame>(&mut self, cursor: &mut Cursor<'_>) {
        if self.after == After::Item {
            return;
        }
        let mut rest = cursor.rest();
        let mut room = self.limits.points_max - self.points;
        while room > 0
            && let Some(((time, value, flag), behind)) = read_exact_row::<F>(&mut self.times, rest)
        {
            self.entry.rows.push(time, value, flag);
            room -= 1;
            if let Some(behind) = behind.strip_prefix(F::NEXT) {
                rest = behind;
                self.after = After::Comma;
            } else {
                rest = behind;
                self.after = After::Item;
                break;
            }
        }
        self.points = self.limits.points_max - room;
        cursor.move_to(rest);
    }

    pub(super) fn values(&mut self, cursor: &mut Cursor<'_>) -> Result<bool, WireError> {
        if self.after != After::Item {
            self.exact_values(cursor)?;
        }
        match self.next_item(cursor, b']')? {
            Next::Wait => Ok(false),
            Next::Closed => {
                self.leave(State::Series);
                Ok(true)
            }
            Next::Item => {
                let Some(text) = self.value(cursor)? else { return Ok(false) };
                let mut reader = Reader::new(text, 1);
                let value = read_value(&mut reader).and_then(|value| Ok(reader.end().map(|()| value)?));
                let value = value.map_err(|refusal| self.malformed(cursor, refusal))?;
                self.count()?;
                self.entry.push_slot(value);
                cursor.at += text.len();
                self.after = After::Item;
                Ok(true)
            }
        }
    }

    /// Takes plain decimals and `null` while each is followed by a comma. An item must be due.
    fn exact_values(&mut self, cursor: &mut Cursor<'_>) -> Result<(), WireError> {
        let mut rest = cursor.rest();
        loop {
            let (value, behind) = if let Some((value, length)) = read_decimal(rest) {
                (Some(value), rest.get(length..))
            } else {
                (None, rest.strip_prefix(b"null"))
            };
            let Some(behind) = behind.and_then(|behind| behind.strip_prefix(b",")) else { break };
            self.count()?;
            self.entry.push_slot(value);
            self.after = After::Comma;
            rest = behind.strip_prefix(b" ").unwrap_or(behind);
        }
        cursor.move_to(rest);
        Ok(())
    }

    pub(super) fn flags(&mut self, cursor: &mut Cursor<'_>) -> Result<bool, WireError> {
        if self.after != After::Item {
            self.exact_flags(cursor);
        }
        match self.next_item(cursor, b']')? {
            Next::Wait => Ok(false),
            Next::Closed => {
                self.leave(State::Series);
                Ok(true)
            }
            Next::Item => {
                let Some(text) = self.value(cursor)? else { return Ok(false) };
                let mut reader = Reader::new(text, 1);
                let flag = read_flag(&mut reader).and_then(|flag| Ok(reader.end().map(|()| flag)?));
                let flag = flag.map_err(|refusal| self.malformed(cursor, refusal))?;
                over_limit(self.entry.flags.len() + 1, self.limits.points_max, "flags", "write_points_max")?;
                self.entry.flags.push(flag.unwrap_or(NO_POINT));
                cursor.at += text.len();
                self.after = After::Item;
                Ok(true)
            }
        }
    }

    /// Takes the commonest flag while it comes. An item must be due.
    fn exact_flags(&mut self, cursor: &mut Cursor<'_>) {
        let mut rest = cursor.rest();
        while self.entry.flags.len() < self.limits.points_max {
            let Some(behind) = rest.strip_prefix(b"\"Valid\",") else { break };
            self.entry.flags.push(flags::VALID);
            self.after = After::Comma;
            rest = behind.strip_prefix(b" ").unwrap_or(behind);
        }
        cursor.move_to(rest);
    }
}
