//! Reads CSV: a header that names the columns in any order, then a line for each point.

use lang_time::TimeReader;

use super::record::{fields, record_length};
use crate::wire::gather::Gather;
use crate::wire::number::{read_decimal, read_number, shorten};
use crate::wire::time::read_cached;
use crate::wire::{Given, NO_VALUE, ReadLimits, Shape, WireError, flags};

/// The positions of the columns in a record.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Columns {
    series: Option<usize>,
    time: usize,
    value: usize,
    flag: Option<usize>,
    count: usize,
}

/// The order in which Twinfold writes, and most others.
const USUAL: Columns = Columns { series: Some(0), time: 1, value: 2, flag: Some(3), count: 4 };

/// Reads lines of points.
pub(crate) struct CsvReader {
    shape: Shape,
    limits: ReadLimits,
    /// Bytes of an unfinished line, and how many there must be before it is worth looking again.
    rest: Vec<u8>,
    wanted: usize,
    /// The number of the line that comes next, from 1.
    line: usize,
    columns: Option<Columns>,
    times: TimeReader,
    /// The series of the record before: its place, its field as written, with the comma, and how many lines one has.
    place: usize,
    name: Vec<u8>,
    lines: usize,
    gather: Gather,
}

impl CsvReader {
    pub(crate) fn new(shape: Shape, limits: ReadLimits) -> Self {
        Self {
            shape,
            limits,
            rest: Vec::new(),
            wanted: 0,
            line: 1,
            columns: None,
            times: TimeReader::default(),
            place: 0,
            name: Vec::new(),
            lines: 1,
            gather: Gather::new(shape, limits),
        }
    }

    /// See [`Gather::address`].
    pub(crate) fn address(&mut self, names: &[&str]) {
        self.gather.address(names);
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
        self.check_length(self.rest.len())?;
        self.wanted = self.rest.len() * 2;
        Ok(())
    }

    /// Points, series, and bytes that wait.
    pub(crate) fn held(&self) -> (usize, usize, usize) {
        (self.gather.points, self.gather.series.len(), self.rest.len())
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
        if !self.rest.is_empty() {
            // The last line needs no line break.
            let mut last = std::mem::take(&mut self.rest);
            last.push(b'\n');
            if self.parse(&last)? < last.len() {
                return Err(self.refuse("a quoted field without end"));
            }
        }
        if self.columns.is_none() {
            return Err(self.refuse("no header"));
        }
        self.gather.finish()
    }

    /// The place of the series of this name.
    fn find_place(&mut self, name: Option<&str>) -> Result<usize, WireError> {
        let line = self.line;
        self.gather
            .place(name)
            .map_err(|error| WireError { reason: format!("{}, in line {line}", error.reason), ..error })
    }

    fn refuse(&self, reason: &str) -> WireError {
        WireError::new(format!("{reason}, in line {}", self.line))
    }

    /// Refuses a line of more bytes than there may be: the same lines wherever the body is cut.
    fn check_length(&self, bytes: usize) -> Result<(), WireError> {
        let max = self.limits.item_bytes_max;
        if bytes <= max {
            return Ok(());
        }
        Err(self.refuse(&format!("more than {max} bytes (write_item_bytes_max)")).of_limit())
    }

    /// Takes all whole lines; gives how many bytes they are.
    fn parse(&mut self, bytes: &[u8]) -> Result<usize, WireError> {
        let mut rest = bytes;
        loop {
            if self.columns == Some(USUAL) {
                rest = self.exact_lines(rest)?;
            }
            let Some((record, behind)) = record_length(rest).and_then(|length| rest.split_at_checked(length))
            else {
                return Ok(bytes.len() - rest.len());
            };
            self.record(record)?;
            self.lines = record.iter().filter(|byte| **byte == b'\n').count();
            self.line += self.lines;
            rest = behind;
        }
    }

    /// Takes lines of the usual columns while they come.
    fn exact_lines<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], WireError> {
        let mut rest = bytes;
        loop {
            let same = !self.name.is_empty() && rest.starts_with(&self.name);
            let length = if same { Some(self.name.len()) } else { plain_name(rest) };
            let Some(length) = length else { break };
            let Some((name, points)) = rest.split_at_checked(length) else { break };
            let Some((time, value, flag, behind)) = exact_point(&mut self.times, points) else { break };
            self.check_length(rest.len() - behind.len())?;
            if !same && !self.turn_to(name)? {
                break;
            }
            self.gather.count(1)?;
            if let Some(series) = self.gather.series.get_mut(self.place) {
                series.push(time, value, flag);
            }
            self.line += self.lines;
            rest = behind;
        }
        Ok(rest)
    }

    /// Goes to the series of a plain field, which ends with its comma; `false` if that is no text.
    fn turn_to(&mut self, field: &[u8]) -> Result<bool, WireError> {
        let Some(name) = field.strip_suffix(b",").and_then(|name| std::str::from_utf8(name).ok()) else {
            return Ok(false);
        };
        self.place = self.find_place(Some(name))?;
        self.name.clear();
        self.name.extend_from_slice(field);
        self.lines = 1;
        Ok(true)
    }

    fn record(&mut self, record: &[u8]) -> Result<(), WireError> {
        self.check_length(record.len())?;
        let text = std::str::from_utf8(record).map_err(|_| self.refuse("the text is not UTF-8"))?;
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        if text.is_empty() {
            return Ok(());
        }
        let Some(columns) = self.columns else {
            self.columns = Some(self.header(text.trim_start_matches('\u{feff}'))?);
            return Ok(());
        };
        let fields = fields(text).map_err(|reason| self.refuse(reason))?;
        if fields.len() != columns.count {
            let reason = format!("{} fields, where the header has {}", fields.len(), columns.count);
            return Err(self.refuse(&reason));
        }
        let field = |place: usize| &**fields.get(place).expect("as many fields as columns");
        self.place = self.find_place(columns.series.map(field))?;
        self.name.clear();
        if columns == USUAL {
            let written = if text.starts_with('"') { quoted_length(text) } else { field(0).len() };
            let name = text.get(..written + 1).expect("a comma follows the first of several fields");
            self.name.extend_from_slice(name.as_bytes());
        }
        let flag = columns.flag.map(field).filter(|flag| !flag.is_empty());
        self.point(field(columns.time), field(columns.value), flag)
    }

    fn point(&mut self, time: &str, value: &str, flag: Option<&str>) -> Result<(), WireError> {
        self.gather.count(1)?;
        let line = self.line;
        let series = self.gather.series.get_mut(self.place).expect("the series was just found");
        let position = series.points.len();
        let refuse = |reason: String| format!("{reason}, in line {line}");
        let read = || -> Result<_, String> {
            let time = read_cached(&mut self.times, time)?;
            let value = if value.is_empty() { None } else { Some(read_number(value)?) };
            let flag = flag
                .map(|flag| flags::number(flag).ok_or_else(|| format!("{:?} is not a flag", shorten(flag))));
            Ok((time, value, flag.transpose()?))
        };
        let (time, value, flag) = { read }().map_err(|reason| series.refuse(position, refuse(reason)))?;
        series.push(time, value.unwrap_or(NO_VALUE), flags::flag_byte(flag, value.is_none()));
        Ok(())
    }

    fn header(&self, text: &str) -> Result<Columns, WireError> {
        let (mut series, mut time, mut value, mut flag) = (None, None, None, None);
        let names = fields(text).map_err(|reason| self.refuse(reason))?;
        for (place, name) in names.iter().enumerate() {
            let slot = match &**name {
                "series" => &mut series,
                "time" => &mut time,
                "value" => &mut value,
                "flag" => &mut flag,
                other => {
                    let reason =
                        format!("the columns are series, time, value and flag, not {:?}", shorten(other));
                    return Err(self.refuse(&reason));
                }
            };
            if slot.replace(place).is_some() {
                return Err(self.refuse(&format!("the column {name} is there twice")));
            }
        }
        if self.shape == Shape::Bulk && series.is_none() {
            return Err(self.refuse("there is no column series"));
        }
        let needed = |column: Option<usize>, name: &str| {
            column.ok_or_else(|| self.refuse(&format!("there is no column {name}")))
        };
        Ok(Columns {
            series,
            time: needed(time, "time")?,
            value: needed(value, "value")?,
            flag,
            count: names.len(),
        })
    }
}

/// The length of the quoted field at the start of a record that is known to be well-formed.
fn quoted_length(text: &str) -> usize {
    let mut quoted = false;
    let end = text.bytes().position(|byte| {
        quoted ^= byte == b'"';
        byte == b',' && !quoted
    });
    end.unwrap_or(text.len())
}

/// The length of the field at the start of a line, with its comma, if it is not quoted.
fn plain_name(bytes: &[u8]) -> Option<usize> {
    let end = bytes.iter().position(|byte| matches!(byte, b',' | b'"' | b'\n'))?;
    (bytes.get(end) == Some(&b',')).then_some(end + 1)
}

/// Reads the rest of a line, `time,decimal,flag`; gives the point and what follows.
#[inline]
fn exact_point<'a>(times: &mut TimeReader, bytes: &'a [u8]) -> Option<(i64, f64, u8, &'a [u8])> {
    let (time, length) = times.read(bytes)?;
    let rest = bytes.get(length..)?.strip_prefix(b",")?;
    let (value, length) = read_decimal(rest)?;
    let rest = rest.get(length..)?.strip_prefix(b",")?;
    let (flag, rest) = match rest.strip_prefix(b"Valid") {
        Some(rest) => (flags::VALID, rest),
        None => (0_u8..)
            .zip(flags::NAMES)
            .find_map(|(number, name)| Some((number, rest.strip_prefix(name.as_bytes())?)))?,
    };
    let rest = rest.strip_prefix(b"\r").unwrap_or(rest).strip_prefix(b"\n")?;
    Some((time, value, flag, rest))
}
