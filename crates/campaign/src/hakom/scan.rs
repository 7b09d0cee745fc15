//! Scans JSON answers as they arrive, in either form, into one [`Tally`] a series. Nothing is built; the exact shape
//! that our server writes takes a fast way, any other JSON of the same meaning a slower one.

use serde::Deserialize;

use super::series::TIME_BYTES;
use super::tally::{Flag, Tally};

/// What may be unfinished at the end of a part: a member's name, a number, one point.
const TOKEN_BYTES_MAX: usize = 4 * 1024;
/// Bytes of the next part that finish what the last one left.
const SEAM_BYTES: usize = 512;

/// `2026-01-01T`
const DAY_BYTES: usize = 11;

/// Where in the answer the scan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Between,
    Rows,
    Values,
    Flags,
}

/// A scan under way.
#[derive(Debug)]
pub struct Scanner {
    place: Place,
    carry: Vec<u8>,
    tallies: Vec<Tally>,
    current: Tally,
    /// Whether the current series already had points or flags.
    begun: bool,
    flags_seen: u64,
    /// The last day met, as `2026-01-01T`, and its first second.
    day: ([u8; DAY_BYTES], i64),
    fault: Option<String>,
}

/// How a step went: so many bytes are done, or more are needed.
enum Step {
    Done(usize),
    More,
}

/// A point in a shape that the fast way does not know.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Point {
    from: String,
    value: Option<f64>,
    #[serde(default)]
    flag: Option<String>,
}

impl Scanner {
    /// A scan of an answer that has not begun.
    pub fn new() -> Self {
        Self {
            place: Place::Between,
            carry: Vec::new(),
            tallies: Vec::new(),
            current: Tally::default(),
            begun: false,
            flags_seen: 0,
            day: ([0; DAY_BYTES], 0),
            fault: None,
        }
    }

    /// Takes the next part. Cost: some 10 ns a point.
    pub fn part(&mut self, mut bytes: &[u8]) {
        while !self.carry.is_empty() && !bytes.is_empty() && self.fault.is_none() {
            let mut seam = std::mem::take(&mut self.carry);
            let before = seam.len();
            let (more, rest) = bytes.split_at(bytes.len().min(SEAM_BYTES));
            seam.extend_from_slice(more);
            let done = self.scan(&seam);
            if done >= before {
                bytes = skip(bytes, done - before);
            } else {
                seam.drain(..done);
                self.carry = seam;
                bytes = rest;
            }
            if self.carry.len() > TOKEN_BYTES_MAX {
                self.fault = Some("a token does not end".to_owned());
            }
        }
        if self.fault.is_none() && !bytes.is_empty() {
            let done = self.scan(bytes);
            self.carry.extend_from_slice(skip(bytes, done));
        }
    }

    /// The tallies of all series, in the order of the answer.
    ///
    /// # Errors
    ///
    /// In words, if the answer was not one of series or ended within one.
    pub fn finish(mut self) -> Result<Vec<Tally>, String> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        if self.place != Place::Between {
            return Err("the answer ends within a series".to_owned());
        }
        self.close_series();
        Ok(self.tallies)
    }

    /// Scans as far as it can; how many bytes are done.
    fn scan(&mut self, bytes: &[u8]) -> usize {
        let mut done = 0;
        while let Some(rest) = bytes.get(done..).filter(|rest| !rest.is_empty()) {
            let step = match self.place {
                Place::Between => self.between(rest),
                Place::Rows => self.rows(rest),
                Place::Values => self.values(rest),
                Place::Flags => self.flags(rest),
            };
            match step {
                Ok(Step::Done(bytes)) => done += bytes,
                Ok(Step::More) => break,
                Err(fault) => {
                    self.fault = Some(fault);
                    return bytes.len();
                }
            }
        }
        done
    }

    /// Looks for the next member's name, and what it begins.
    fn between(&mut self, bytes: &[u8]) -> Result<Step, String> {
        let Some(open) = memchr::memchr(b'"', bytes) else { return Ok(Step::Done(bytes.len())) };
        let text = skip(bytes, open + 1);
        let Some(length) = string_end(text) else { return Ok(more(bytes, open)) };
        let name = head(text, length);
        let behind = skip(text, length + 1);
        let after = open + length + 2;
        let Some((colon, rest)) = token(behind) else { return Ok(more(bytes, open)) };
        if colon != b':' {
            return Ok(Step::Done(after));
        }
        let Some((first, value)) = token(rest) else { return Ok(more(bytes, open)) };
        let value_at = bytes.len() - value.len();
        let place = match name {
            b"Data" => Place::Rows,
            b"Values" => Place::Values,
            b"Flags" => Place::Flags,
            b"Name" | b"ID" | b"Start" if first == b'"' => {
                let Some(end) = string_end(value) else { return Ok(more(bytes, open)) };
                self.member(name, head(value, end));
                return Ok(Step::Done(value_at + end + 1));
            }
            _ => return Ok(Step::Done(value_at - 1)),
        };
        if first == b'[' {
            self.place = place;
            self.begun = true;
            return Ok(Step::Done(value_at));
        }
        Ok(Step::Done(value_at - 1))
    }

    fn member(&mut self, name: &[u8], value: &[u8]) {
        if name == b"Start" {
            self.current.first = seconds(value);
            return;
        }
        if self.begun {
            self.close_series();
        }
        if name == b"Name" {
            self.current.name = super::tally::hash(value);
        }
    }

    fn close_series(&mut self) {
        if self.begun {
            self.tallies.push(self.current);
            self.current = Tally::default();
            self.flags_seen = 0;
            self.begun = false;
        }
    }

    /// Points as objects, up to the end of the bytes or of the array.
    fn rows(&mut self, bytes: &[u8]) -> Result<Step, String> {
        let mut rest = bytes;
        loop {
            match rest.first() {
                Some(b',' | b' ' | b'\n' | b'\r' | b'\t') => rest = skip(rest, 1),
                Some(b']') => {
                    self.place = Place::Between;
                    return Ok(Step::Done(bytes.len() - rest.len() + 1));
                }
                Some(b'{') => {
                    let Some(length) = self.point(rest)? else { break };
                    rest = skip(rest, length);
                }
                Some(other) => return Err(format!("{:?} where a point must be", char::from(*other))),
                None => break,
            }
        }
        Ok(more(bytes, bytes.len() - rest.len()))
    }

    /// One point; its bytes, or `None` if it is not whole.
    #[inline]
    fn point(&mut self, bytes: &[u8]) -> Result<Option<usize>, String> {
        match point(bytes) {
            Some(Quick { time, milli, code, length }) => {
                self.note(time, milli, code);
                Ok(Some(length))
            }
            None => self.point_slowly(bytes),
        }
    }

    #[inline]
    fn note(&mut self, time: [u8; TIME_BYTES], milli: Option<i64>, code: u64) {
        let second = self.second(&time);
        self.current.at(second);
        self.current.add(milli);
        self.current.flag(self.current.points, code);
    }

    /// The seconds since 1970 of `2026-01-01T00:00:00Z`; of something else a number that no point has.
    #[inline]
    fn second(&mut self, time: &[u8; TIME_BYTES]) -> i64 {
        let [.., a, b, _, c, d, _, e, f, _] = time;
        let two = |tens: &u8, ones: &u8| i64::from(*tens) * 10 + i64::from(*ones) - 11 * i64::from(b'0');
        if time.first_chunk() != Some(&self.day.0) {
            self.day = day(time);
        }
        self.day.1 + two(a, b) * 3_600 + two(c, d) * 60 + two(e, f)
    }

    #[cold]
    fn point_slowly(&mut self, bytes: &[u8]) -> Result<Option<usize>, String> {
        let Some(end) = memchr::memchr(b'}', bytes) else { return Ok(None) };
        let text = head(bytes, end + 1);
        let point: Point = serde_json::from_slice(text)
            .map_err(|error| format!("no point: {error}: {}", String::from_utf8_lossy(text)))?;
        let from = seconds(point.from.as_bytes()).ok_or_else(|| format!("no time: {}", point.from))?;
        let code = point.flag.as_deref().map_or(0, |flag| Flag::code_of(flag.as_bytes()));
        self.current.at(from);
        match point.value {
            None => self.current.add(None),
            Some(value) => self.current.add_float(value),
        }
        self.current.flag(self.current.points, code);
        Ok(Some(end + 1))
    }

    /// Values as an array, up to the end of the bytes or of the array.
    fn values(&mut self, bytes: &[u8]) -> Result<Step, String> {
        let mut rest = bytes;
        loop {
            match rest.first() {
                Some(b',' | b' ' | b'\n' | b'\r' | b'\t') => rest = skip(rest, 1),
                Some(b']') => {
                    self.place = Place::Between;
                    return Ok(Step::Done(bytes.len() - rest.len() + 1));
                }
                Some(_) => {
                    let Some(length) = self.value(rest)? else { break };
                    rest = skip(rest, length);
                }
                None => break,
            }
        }
        Ok(more(bytes, bytes.len() - rest.len()))
    }

    #[inline]
    fn value(&mut self, bytes: &[u8]) -> Result<Option<usize>, String> {
        if let Some((milli, length)) = thousandths(bytes) {
            self.current.add(milli);
            return Ok(Some(length));
        }
        let Some(end) = memchr::memchr2(b',', b']', bytes) else { return Ok(None) };
        let text = head(bytes, end);
        let value: Option<f64> = serde_json::from_slice(text)
            .map_err(|_| format!("no value: {}", String::from_utf8_lossy(text)))?;
        match value {
            Some(value) => self.current.add_float(value),
            None => self.current.add(None),
        }
        Ok(Some(end))
    }

    /// Flags as an array, up to the end of the bytes or of the array.
    fn flags(&mut self, bytes: &[u8]) -> Result<Step, String> {
        let mut rest = bytes;
        loop {
            match rest.first() {
                Some(b',' | b' ' | b'\n' | b'\r' | b'\t') => rest = skip(rest, 1),
                Some(b']') => {
                    self.place = Place::Between;
                    return Ok(Step::Done(bytes.len() - rest.len() + 1));
                }
                Some(b'"') => {
                    let text = skip(rest, 1);
                    let Some(end) = string_end(text) else { break };
                    self.flags_seen += 1;
                    let code = Flag::code_of(head(text, end));
                    self.current.flag(self.flags_seen, code);
                    rest = skip(text, end + 1);
                }
                Some(b'n') if rest.len() >= 4 => {
                    self.flags_seen += 1;
                    rest = skip(rest, 4);
                }
                Some(b'n') | None => break,
                Some(other) => return Err(format!("{:?} where a flag must be", char::from(*other))),
            }
        }
        Ok(more(bytes, bytes.len() - rest.len()))
    }
}

/// `bytes` behind the first `count`, which were scanned.
#[inline]
fn skip(bytes: &[u8], count: usize) -> &[u8] {
    bytes.get(count..).expect("what was scanned lies within the bytes")
}

/// The first `count` of `bytes`, which were scanned.
#[inline]
fn head(bytes: &[u8], count: usize) -> &[u8] {
    bytes.get(..count).expect("what was scanned lies within the bytes")
}

impl Default for Scanner {
    fn default() -> Self {
        Self::new()
    }
}

/// `done` bytes are done and the rest is not whole.
fn more(bytes: &[u8], done: usize) -> Step {
    if done > 0 || bytes.is_empty() { Step::Done(done) } else { Step::More }
}

struct Quick {
    time: [u8; TIME_BYTES],
    milli: Option<i64>,
    code: u64,
    length: usize,
}

/// A point exactly as `{"From":"2026-01-01T00:00:00Z","Value":1.5,"Flag":"Valid"}`; `None`: not whole, or not so.
#[inline]
fn point(bytes: &[u8]) -> Option<Quick> {
    let rest = bytes.strip_prefix(b"{\"From\":\"")?;
    let (time, rest) = rest.split_first_chunk::<TIME_BYTES>()?;
    if time.last() != Some(&b'Z') {
        return None;
    }
    let rest = rest.strip_prefix(b"\",\"Value\":")?;
    let (milli, length) = thousandths(rest)?;
    let rest = rest.get(length..)?;
    if let Some(rest) = rest.strip_prefix(b",\"Flag\":\"Valid\"}") {
        return Some(Quick { time: *time, milli, code: 0, length: bytes.len() - rest.len() });
    }
    let text = rest.strip_prefix(b",\"Flag\":\"")?;
    let end = string_end(text)?;
    let rest = text.get(end + 1..)?.strip_prefix(b"}")?;
    let code = Flag::code_of(text.get(..end)?);
    Some(Quick { time: *time, milli, code, length: bytes.len() - rest.len() })
}

/// The number at the start of `bytes`, in thousandths, or none for `null`, and its length. `None`: its end is not
/// there yet, or it is not that simple.
#[inline]
fn thousandths(bytes: &[u8]) -> Option<(Option<i64>, usize)> {
    if bytes.starts_with(b"null") {
        return Some((None, 4));
    }
    let (negative, digits) = match bytes.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, bytes),
    };
    let mut value: i64 = 0;
    let mut places: Option<u32> = None;
    for (at, byte) in digits.iter().enumerate() {
        match byte {
            b'0'..=b'9' => {
                if at > 16 || places == Some(3) {
                    return None;
                }
                value = value * 10 + i64::from(byte - b'0');
                places = places.map(|places| places + 1);
            }
            b'.' if places.is_none() => places = Some(0),
            b',' | b']' | b'}' if at > 0 => {
                let value = value * POWERS.get(3_usize.checked_sub(places.unwrap_or(0) as usize)?)?;
                let length = bytes.len() - digits.len() + at;
                return Some((Some(if negative { -value } else { value }), length));
            }
            _ => return None,
        }
    }
    None
}

const POWERS: [i64; 4] = [1, 10, 100, 1_000];

/// The first byte that is no white space, and what follows it.
fn token(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let rest = bytes.trim_ascii_start();
    rest.split_first().map(|(first, rest)| (*first, rest))
}

/// Where the string that `text` begins within ends.
fn string_end(text: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + memchr::memchr2(b'"', b'\\', text.get(from..)?)?;
        if text.get(at) == Some(&b'"') {
            return Some(at);
        }
        from = at + 2;
    }
}

/// The day of `time` as it is written, and its first second.
#[cold]
fn day(time: &[u8; TIME_BYTES]) -> ([u8; DAY_BYTES], i64) {
    let text = *time.first_chunk().expect("a time is longer than its day");
    let midnight = [&text[..], b"00:00:00Z"].concat();
    (text, seconds(&midnight).unwrap_or(i64::from(i32::MIN)))
}

/// Seconds since 1970 of a time as text.
fn seconds(text: &[u8]) -> Option<i64> {
    let time: jiff::Timestamp = std::str::from_utf8(text).ok()?.parse().ok()?;
    Some(time.as_second())
}

#[cfg(test)]
mod tests {
    use super::super::bodies::{self, Pieces};
    use super::super::series::Versions;
    use super::super::series::tests::data;
    use super::*;

    fn scan(text: &[u8], part: usize) -> Result<Vec<Tally>, String> {
        let mut scanner = Scanner::new();
        for part in text.chunks(part) {
            scanner.part(part);
        }
        scanner.finish()
    }

    /// A bulk answer of three series as our server writes it.
    fn answer(compact: bool) -> (Vec<u8>, Vec<Tally>) {
        let data = data(192, 300);
        let flagged = (0..300).find(|index| !data.one(*index).missing_is_empty()).unwrap();
        let pieces = Pieces::new(&data, (0..192).collect());
        let mut text = b"{\"TimeSeries\":[".to_vec();
        let mut expected = Vec::new();
        for (place, index) in [0, flagged, 2].into_iter().enumerate() {
            let mut one = Vec::new();
            if compact {
                bodies::compact(&mut one, &data, (index, 0));
            } else {
                bodies::rows(&mut one, &data, &pieces, (index, 0));
            }
            let one = String::from_utf8(one).unwrap();
            let head = format!(
                "{{\"ID\":\"{index}\",\"Unit\":\"kWh\",\"Interval\":{{\"Value\":\"Minute\",\"Multiplier\":15}},"
            );
            text.extend_from_slice(if place > 0 { b"," } else { b"" });
            text.extend_from_slice(one.replacen('{', &head, 1).as_bytes());
            let mut tally = data.expected(index, &Versions::default());
            if compact {
                (tally.last, tally.moments) = (None, 0);
            }
            expected.push(tally);
        }
        text.extend_from_slice(b"]}");
        (text, expected)
    }

    #[test]
    fn both_forms_are_scanned_whatever_the_parts() {
        for compact in [false, true] {
            let (text, expected) = answer(compact);
            for part in [1, 2, 3, 7, 39, 64, 500, 511, 512, 513, 4_096, text.len()] {
                assert_eq!(scan(&text, part).as_ref(), Ok(&expected), "compact {compact}, parts of {part}");
            }
        }
    }

    #[test]
    fn other_spellings_of_the_same_mean_the_same() {
        let one = br#"{"TimeSeries":[{"Name":"a","Data":[{"From":"2026-01-01T00:00:00Z","Value":1.5,"Flag":"Valid"},{"From":"2026-01-01T00:15:00Z","Value":null,"Flag":"Missing"},{"From":"2026-01-01T00:30:00Z","Value":2,"Flag":"Estimated"}]}]}"#;
        let two = br#" { "TimeSeries" : [ { "Name" : "a" , "Data" : [ { "Flag":"Valid", "Value":1.5e0 , "From":"2026-01-01T01:00:00+01:00" } ,
            {"From":"2026-01-01T00:15:00.000Z","Value":null,"Flag":"Missing"}, {"From":"2026-01-01T00:30:00Z","Value":2.000,"Flag":"Estimated"} ] } ] } "#;
        let expected = scan(one, 1_000).unwrap();
        assert_eq!((expected.len(), expected[0].points, expected[0].sum), (1, 3, 3_500));
        for part in [1, 5, 1_000] {
            assert_eq!(scan(two, part).unwrap(), expected);
        }
        let three = br#"{"Name":"a","Start":"2026-01-01T00:00:00Z","Values":[1.5, null ,2],"Flags":["Valid","Missing","Estimated"]}"#;
        let found = scan(three, 3).unwrap();
        assert_eq!(Tally { last: None, moments: 0, ..expected[0] }, found[0]);
    }

    #[test]
    fn values_of_more_than_three_places_are_told() {
        let text = br#"{"Name":"a","Start":"2026-01-01T00:00:00Z","Values":[1.5001,1.1e1,-3.25,0.1234567890123456789]}"#;
        let found = scan(text, 1_000).unwrap();
        assert_eq!((found[0].points, found[0].inexact), (4, 2));
        assert_eq!(found[0].sum, 1_500 + 11_000 - 3_250 + 123);
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        let broken: [&[u8]; 4] = [
            br#"{"Name":"a","Data":[{"From":"2026-01-01T00:00:00Z","Value":1.5}"#,
            br#"{"Name":"a","Data":[17]}"#,
            br#"{"Name":"a","Data":[{"Value":1.5}]}"#,
            br#"{"Name":"a","Values":["x"]}"#,
        ];
        for text in broken {
            for part in [1, 1_000] {
                assert!(scan(text, part).is_err(), "{}", String::from_utf8_lossy(text));
            }
        }
        assert_eq!(scan(b"{}", 1), Ok(Vec::new()));
        assert_eq!(scan(b"", 1), Ok(Vec::new()));
    }
}
