//! The users of the rows: each writes numbers of its own, or reads some drawn from its own sequence. A few answers are
//! collected for [`super::checks`], which looks at them after the load.

use std::sync::{Mutex, PoisonError};

use campaign::draws::Draws;
use campaign::scenario::{Call, Request, Scenario, Seat, Session};

use super::rows::{Row, Work};
use super::stock::{Span, Stock};
use crate::rest::{HEADERS, encode};

/// A request and its answer, to be looked at after the load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// The first number of the request.
    pub number: u64,
    /// The body of the answer.
    pub body: Vec<u8>,
}

/// The requests of one load.
#[derive(Debug)]
pub struct Requests<'a> {
    /// What they do.
    pub work: Work,
    /// Elements of each.
    pub batch: u64,
    /// Whether the server is to look for the ends of edges.
    pub check_vertex: bool,
    /// What there is.
    pub stock: &'a Stock,
    /// Users that send them.
    pub users: usize,
    /// The first number that is written.
    pub base: u64,
    /// Numbers from here on are not written; `None`: as many as there is time for.
    pub until: Option<u64>,
    /// Tells the draws of one load from those of others.
    pub stream: u64,
    /// Samples each user keeps; 0: none.
    pub samples_per_user: usize,
    left: Mutex<(Vec<Sample>, Vec<u64>)>,
}

impl<'a> Requests<'a> {
    /// The requests of `row` by `users`.
    pub fn new(row: &Row, stock: &'a Stock, users: usize, stream: u64) -> Self {
        let written = if row.work.of_edges() { &stock.edges } else { &stock.vertices };
        Self {
            work: row.work,
            batch: row.batch,
            check_vertex: row.check_vertex,
            stock,
            users,
            base: written.end(),
            until: None,
            stream,
            samples_per_user: 0,
            left: Mutex::new((Vec::new(), vec![0; users])),
        }
    }

    /// What was written, and what is to be looked at.
    pub fn finish(self, uncertain: bool) -> (Span, Vec<Sample>) {
        let (samples, requests) = self.left.into_inner().unwrap_or_else(PoisonError::into_inner);
        (Span { base: self.base, batch: self.batch, requests, uncertain }, samples)
    }
}

impl Scenario for Requests<'_> {
    fn headers(&self) -> &str {
        HEADERS
    }

    fn session(&self, seat: Seat) -> Box<dyn Session + '_> {
        let stream = (self.stream << 32) | seat.user as u64;
        Box::new(User {
            requests: self,
            user: seat.user,
            draws: Draws::new(seat.seed ^ 0x4847, stream),
            sent: 0,
            number: 0,
            samples: Vec::new(),
        })
    }
}

struct User<'a> {
    requests: &'a Requests<'a>,
    user: usize,
    draws: Draws,
    sent: u64,
    /// The first number of the request under way.
    number: u64,
    samples: Vec<Sample>,
}

impl Session for User<'_> {
    fn next(&mut self, request: &mut Request) -> Option<Call> {
        let Requests { work, batch, base, users, stock, until, .. } = *self.requests;
        let number = match work {
            Work::VertexGet => self.draws.below(stock.preloaded.0),
            Work::EdgeGet => self.draws.below(stock.preloaded.1),
            _ => base + (self.sent * users as u64 + self.user as u64) * batch,
        };
        if !work.reads() && until.is_some_and(|until| number >= until) {
            return None;
        }
        self.number = number;
        self.draft(request);
        self.sent += 1;
        Some(Call::expecting(if self.requests.work.reads() { 200 } else { 201 }))
    }

    fn answered(&mut self, answer: Option<(u16, &[u8])>) {
        // The first answers, and then ever fewer: of a load whose length is not known.
        let due = self.sent.is_power_of_two() || self.sent.is_multiple_of(1_000);
        if !due || self.samples.len() >= self.requests.samples_per_user {
            return;
        }
        if let Some((_, body)) = answer {
            self.samples.push(Sample { number: self.number, body: body.to_vec() });
        }
    }
}

impl Drop for User<'_> {
    fn drop(&mut self) {
        let mut left = self.requests.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.0.append(&mut self.samples);
        if let Some(sent) = left.1.get_mut(self.user) {
            *sent = self.sent;
        }
    }
}

impl User<'_> {
    fn draft(&mut self, request: &mut Request) {
        let Requests { work, batch, stock, .. } = *self.requests;
        request.start(if work.reads() { "GET" } else { "POST" });
        request.path.extend_from_slice(stock.graph.as_bytes());
        match work {
            Work::Vertex => {
                request.path.extend_from_slice(b"/graph/vertices");
                stock.people.vertex(self.number, &mut request.body);
            }
            Work::Edge => {
                request.path.extend_from_slice(b"/graph/edges");
                stock.people.edge(&stock.label, self.number, &mut request.body);
            }
            Work::VertexBatch => {
                request.path.extend_from_slice(b"/graph/vertices/batch");
                let people = &stock.people;
                list(&mut request.body, self.number, batch, |number, out| people.vertex(number, out));
            }
            Work::EdgeBatch => {
                let check = self.requests.check_vertex;
                let path: &[u8] = if check { b"check_vertex=true" } else { b"check_vertex=false" };
                request.path.extend_from_slice(b"/graph/edges/batch?");
                request.path.extend_from_slice(path);
                let (people, label) = (&stock.people, &stock.label);
                list(&mut request.body, self.number, batch, |number, out| people.edge(label, number, out));
            }
            Work::VertexGet => {
                request.path.extend_from_slice(b"/graph/vertices/%22");
                let id = &mut request.body;
                stock.people.id(&stock.label, self.number, id);
                encode(id, &mut request.path);
                id.clear();
                request.path.extend_from_slice(b"%22");
            }
            Work::EdgeGet => {
                request.path.extend_from_slice(b"/graph/edges/");
                let id = &mut request.body;
                stock.edge_id(self.number, id);
                encode(id, &mut request.path);
                id.clear();
            }
        }
    }
}

/// Appends a JSON list of `count` elements from `first` on.
fn list(out: &mut Vec<u8>, first: u64, count: u64, element: impl Fn(u64, &mut Vec<u8>)) {
    out.push(b'[');
    for number in first..first + count {
        if number > first {
            out.push(b',');
        }
        element(number, out);
    }
    out.push(b']');
}

#[cfg(test)]
mod tests {
    use serde_json::Value as Json;

    use super::super::people::People;
    use super::*;
    use crate::hugegraph::tests::selected;

    fn drafts(row: &str, users: usize, each: u64) -> (Vec<(String, Vec<u8>)>, Span) {
        let mut stock = Stock::new(People::new(7, 1_000), "/graphs/hugegraph", "1".to_owned());
        stock.middle = ">1>1>>".to_owned();
        stock.preloaded = (1_000, 2_000);
        let mut requests = Requests::new(&selected(row).rows[0], &stock, users, 1);
        requests.until = Some(each * users as u64 * requests.batch);
        let mut all = Vec::new();
        for user in 0..users {
            let mut session = requests.session(Seat { user, seed: 7 });
            let mut request = Request::new("h", "");
            for _ in 0..each {
                assert!(session.next(&mut request).is_some());
                let line = format!("{} {}", request.method, String::from_utf8_lossy(&request.path));
                all.push((line, request.body.clone()));
            }
        }
        (all, requests.finish(false).0)
    }

    #[test]
    fn batches_write_every_number_once() {
        let (all, span) = drafts("HG-EB-32", 3, 4);
        assert_eq!((span.count(), span.end()), (6_000, 6_000));
        let mut ends = std::collections::HashSet::new();
        for (line, body) in &all {
            assert_eq!(line, "POST /graphs/hugegraph/graph/edges/batch?check_vertex=false");
            let body: Json = serde_json::from_slice(body).unwrap();
            for edge in body.as_array().unwrap() {
                assert!(ends.insert((edge["outV"].to_string(), edge["inV"].to_string())));
            }
        }
        assert_eq!(ends.len(), 6_000);
        let (all, _) = drafts("HG-EB-check-32", 1, 1);
        assert!(all[0].0.ends_with("check_vertex=true"));
        let (all, span) = drafts("HG-VB-32", 2, 3);
        assert_eq!((all.len(), span.count()), (6, 1_200));
    }

    #[test]
    fn reads_name_ids_as_urls_have_them() {
        let (all, _) = drafts("HG-VG-32", 1, 3);
        assert!(all.iter().all(|(line, body)| body.is_empty()
            && line.starts_with("GET /graphs/hugegraph/graph/vertices/%221%3A")
            && line.ends_with("%22")));
        let (all, _) = drafts("HG-EG-32", 1, 3);
        assert!(all.iter().all(|(line, _)| line.starts_with("GET /graphs/hugegraph/graph/edges/S1%3A")
            && line.contains("%3E1%3E1%3E%3ES1%3A")));
        let (all, _) = drafts("HG-V1-32,HG-E1-32", 1, 1);
        assert_eq!(all[0].0, "POST /graphs/hugegraph/graph/vertices");
    }
}
