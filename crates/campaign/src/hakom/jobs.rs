//! What the users of a row do: each works off its own run of neighbouring requests, one after the other.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::scenario::{Call, Expect, Request, Scenario, Seat, Session};

use super::REPOSITORY;
use super::arrow;
use super::bodies::{self, Pieces};
use super::rows::Form;
use super::scan::Scanner;
use super::series::Data;
use super::tally::Tally;

/// Series of one request that defines them.
const DEFINITIONS: usize = 500;

/// What one request read: its first series, and the tally of each, or in words why there is none.
pub type Found = (usize, Result<Vec<Tally>, String>);

/// What the requests of a job do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Define the series, compressed or not.
    Define {
        /// The switch of their definitions.
        compression: bool,
    },
    /// Write the places of [`Job::pieces`] in a version.
    Write {
        /// The version.
        version: u32,
    },
    /// Read all points.
    Read,
}

/// A job: requests dealt out to users.
#[derive(Debug)]
pub struct Job<'a> {
    /// The points.
    pub data: &'a Data,
    /// What to do.
    pub task: Task,
    /// What writes take.
    pub pieces: &'a Pieces,
    /// How points travel.
    pub form: Form,
    /// Series of a request; 1: by the single route.
    pub request_series: usize,
    /// Users that share the work.
    pub users: usize,
    /// Whether answers are scanned: not those of the floor.
    pub scans: bool,
    /// What was read, by the first series of the request.
    pub found: Mutex<Vec<Found>>,
    headers: String,
}

impl<'a> Job<'a> {
    /// A job of `users` on all series of `data`.
    pub fn new(
        data: &'a Data,
        task: Task,
        pieces: &'a Pieces,
        form: Form,
        (request_series, users): (usize, usize),
    ) -> Self {
        let defines = matches!(task, Task::Define { .. });
        let request_series = if defines { DEFINITIONS } else { request_series.max(1) };
        let form = if defines { Form::Rows } else { form };
        // Bulk reads are asked for in JSON, whatever the answer.
        let sends = if task == Task::Read { Form::Rows } else { form };
        let headers = format!("Content-Type: {}\r\nAccept: {}\r\n", sends.media_type(), form.media_type());
        let found = Mutex::default();
        Self { data, task, pieces, form, request_series, users: users.max(1), scans: true, found, headers }
    }

    /// How many requests the whole job has.
    pub fn requests(&self) -> usize {
        self.data.series.div_ceil(self.request_series)
    }

    /// What was read, in the order of the series.
    pub fn take_found(&self) -> Vec<Found> {
        let mut found = std::mem::take(&mut *self.found.lock().unwrap_or_else(PoisonError::into_inner));
        found.sort_by_key(|(first, _)| *first);
        found
    }

    fn series_of(&self, request: usize) -> Range<usize> {
        let first = request * self.request_series;
        first..(first + self.request_series).min(self.data.series)
    }

    fn draft(&self, series: Range<usize>, request: &mut Request) {
        match self.task {
            Task::Define { compression } => self.define(series, compression, request),
            Task::Write { version } => self.write(series, version, request),
            Task::Read if self.request_series == 1 => self.read_single(series.start, request),
            Task::Read => self.read_many(series, request),
        }
    }

    fn define(&self, series: Range<usize>, compression: bool, request: &mut Request) {
        request.start("POST");
        request.path.extend_from_slice(REPOSITORY.as_bytes());
        request.path.extend_from_slice(b"/timeseriescollections/definition");
        let minutes = self.data.step / 60;
        let body = &mut request.body;
        body.push(b'[');
        for index in series.clone() {
            if index > series.start {
                body.push(b',');
            }
            body.extend_from_slice(b"{\"Name\":\"");
            self.data.name(index, body);
            let rest = format!(
                "\",\"Type\":\"Begin\",\"Interval\":{{\"Value\":\"Minute\",\"Multiplier\":{minutes}}},\
                 \"TimeZone\":\"UTC\",\"Compression\":{compression}}}"
            );
            body.extend_from_slice(rest.as_bytes());
        }
        body.push(b']');
    }

    fn write(&self, series: Range<usize>, version: u32, request: &mut Request) {
        request.start("PUT");
        request.path.extend_from_slice(REPOSITORY.as_bytes());
        if self.request_series == 1 {
            self.single_path(series.start, &mut request.path);
        } else {
            request.path.extend_from_slice(b"/timeseriescollections/data");
        }
        let body = &mut request.body;
        if self.form == Form::Arrow {
            // It fails only if this crate's columns do not fit together, which a test excludes; the server then
            // refuses the empty body, and the row shows it.
            if arrow::stream(body, self.data, &self.pieces.picked, series, version).is_err() {
                body.clear();
            }
            return;
        }
        if self.request_series == 1 {
            self.write_one(body, series.start, version);
            return;
        }
        body.extend_from_slice(b"{\"TimeSeries\":[");
        for index in series.clone() {
            if index > series.start {
                body.push(b',');
            }
            self.write_one(body, index, version);
        }
        body.extend_from_slice(b"]}");
    }

    fn write_one(&self, body: &mut Vec<u8>, index: usize, version: u32) {
        if self.form == Form::Compact {
            bodies::compact(body, self.data, (index, version));
        } else {
            bodies::rows(body, self.data, self.pieces, (index, version));
        }
    }

    fn single_path(&self, index: usize, path: &mut Vec<u8>) {
        path.extend_from_slice(b"/timeseries/");
        self.data.name(index, path);
        path.extend_from_slice(b"/data");
    }

    fn read_single(&self, index: usize, request: &mut Request) {
        request.start("GET");
        request.path.extend_from_slice(REPOSITORY.as_bytes());
        self.single_path(index, &mut request.path);
        request.path.extend_from_slice(b"?from=");
        request.path.extend_from_slice(&self.data.time_text(0));
        request.path.extend_from_slice(b"&to=");
        request.path.extend_from_slice(&self.data.time_text(self.data.values));
        if self.form == Form::Compact {
            request.path.extend_from_slice(b"&form=compact");
        }
    }

    fn read_many(&self, series: Range<usize>, request: &mut Request) {
        request.start("POST");
        request.path.extend_from_slice(REPOSITORY.as_bytes());
        request.path.extend_from_slice(b"/timeseriescollections/data");
        let body = &mut request.body;
        body.extend_from_slice(b"{\"Names\":[");
        for index in series.clone() {
            body.extend_from_slice(if index > series.start { b",\"" } else { b"\"" });
            self.data.name(index, body);
            body.push(b'"');
        }
        body.extend_from_slice(b"],\"From\":\"");
        body.extend_from_slice(&self.data.time_text(0));
        body.extend_from_slice(b"\",\"To\":\"");
        body.extend_from_slice(&self.data.time_text(self.data.values));
        body.push(b'"');
        if self.form == Form::Compact {
            body.extend_from_slice(b",\"Form\":\"compact\"");
        }
        body.push(b'}');
    }
}

impl Scenario for Job<'_> {
    fn headers(&self) -> &str {
        &self.headers
    }

    fn session(&self, seat: Seat) -> Box<dyn Session + '_> {
        let requests = self.requests();
        let share = |user: usize| requests * user / self.users;
        let next = share(seat.user);
        let end = share(seat.user + 1).min(requests);
        Box::new(User { job: self, next, end, answer: Scan::None, first: 0, found: Vec::new() })
    }
}

/// How an answer is looked at as it arrives.
enum Scan {
    None,
    Json(Box<Scanner>),
    Arrow(Box<arrow::Reader>),
}

struct User<'a> {
    job: &'a Job<'a>,
    next: usize,
    end: usize,
    answer: Scan,
    /// The first series of the request under way.
    first: usize,
    found: Vec<Found>,
}

impl Session for User<'_> {
    fn next(&mut self, request: &mut Request) -> Option<Call> {
        if self.next >= self.end {
            return None;
        }
        let series = self.job.series_of(self.next);
        self.next += 1;
        self.first = series.start;
        self.job.draft(series, request);
        let reads = self.job.task == Task::Read;
        self.answer = match self.job.form {
            _ if !reads || !self.job.scans => Scan::None,
            Form::Rows | Form::Compact => Scan::Json(Box::default()),
            Form::Arrow => Scan::Arrow(Box::default()),
        };
        let expects = if reads { Expect::Status(200) } else { Expect::Success };
        Some(Call { expects, streams: reads, ..Call::expecting(200) })
    }

    fn part(&mut self, bytes: &[u8]) {
        match &mut self.answer {
            Scan::None => {}
            Scan::Json(scanner) => scanner.part(bytes),
            Scan::Arrow(reader) => reader.part(bytes),
        }
    }

    fn answered(&mut self, answer: Option<(u16, &[u8])>) {
        let found = match std::mem::replace(&mut self.answer, Scan::None) {
            Scan::None => return,
            _ if answer.is_none() => return,
            Scan::Json(scanner) => scanner.finish(),
            Scan::Arrow(reader) => reader.finish(),
        };
        self.found.push((self.first, found));
    }
}

impl Drop for User<'_> {
    fn drop(&mut self) {
        self.job.found.lock().unwrap_or_else(PoisonError::into_inner).append(&mut self.found);
    }
}

#[cfg(test)]
mod tests {
    use super::super::series::tests::data;
    use super::*;

    /// The requests of all users of a job of ten series.
    fn requests(task: Task, form: Form, shape: (usize, usize)) -> Vec<(String, String)> {
        let data = data(4, 10);
        let pieces = Pieces::new(&data, (0..4).collect());
        let job = Job::new(&data, task, &pieces, form, shape);
        let mut all = Vec::new();
        for user in 0..job.users {
            let mut session = job.session(Seat { user, seed: 0 });
            let mut request = Request::new("h", "");
            while session.next(&mut request).is_some() {
                let line = format!("{} {}", request.method, String::from_utf8_lossy(&request.path));
                all.push((line, String::from_utf8_lossy(&request.body).into_owned()));
            }
        }
        all
    }

    #[test]
    fn requests_are_those_of_the_api() {
        let base = "/tsm/v1/repositories/default";
        let all = requests(Task::Read, Form::Compact, (10, 1));
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].0, format!("POST {base}/timeseriescollections/data"));
        assert!(all[0].1.starts_with("{\"Names\":[\"s.0\",\"s.1\","), "{}", all[0].1);
        assert!(all[0].1.ends_with(
            "\"s.9\"],\"From\":\"2026-01-01T00:00:00Z\",\"To\":\"2026-01-01T01:00:00Z\",\"Form\":\"compact\"}"
        ));
        let all = requests(Task::Read, Form::Rows, (1, 3));
        assert_eq!(all.len(), 10);
        assert_eq!(
            all[7].0,
            format!("GET {base}/timeseries/s.7/data?from=2026-01-01T00:00:00Z&to=2026-01-01T01:00:00Z")
        );
        let all = requests(Task::Write { version: 0 }, Form::Rows, (4, 2));
        assert_eq!(all.len(), 3);
        assert_eq!(all[0].0, format!("PUT {base}/timeseriescollections/data"));
        assert!(
            all[2].1.starts_with("{\"TimeSeries\":[{\"Name\":\"s.8\",\"Data\":[{\"From\":"),
            "{}",
            all[2].1
        );
        let all = requests(Task::Write { version: 0 }, Form::Compact, (1, 1));
        assert_eq!(all[9].0, format!("PUT {base}/timeseries/s.9/data"));
        assert!(all[9].1.contains("\"Values\":["));
        let all = requests(Task::Define { compression: false }, Form::Arrow, (1, 1));
        assert_eq!(
            (all.len(), all[0].0.as_str()),
            (1, "POST /tsm/v1/repositories/default/timeseriescollections/definition")
        );
        let definitions: serde_json::Value = serde_json::from_str(&all[0].1).unwrap();
        assert_eq!(definitions[9]["Name"], "s.9");
        assert_eq!(definitions[0]["Compression"], false);
    }
}
