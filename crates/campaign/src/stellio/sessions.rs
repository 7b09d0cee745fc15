//! The users of the suite: one request each time round, drawn from the user's own sequence. A few requests and
//! answers are collected for [`super::checks`], which looks at them after the loop.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::draws::Draws;
use crate::scenario::{Call, Expect, Request, Scenario, Seat, Session};

use super::payload::{self, MomentClock, Values};
use super::rows::{Kind, PastForm};
use super::sets::{self, Id, Set};
use super::{ENTITIES, HEADERS, PAGE_ENTITIES, TEMPORAL};

/// The first entities of a set, whose last updates are remembered.
pub const TRACKED_ENTITIES: usize = 16;

/// The numeric attributes that queries ask for, and which of a member's values are theirs.
pub const READINGS: [(&str, std::ops::Range<usize>); 3] =
    [("ammonium", 0..2), ("dissolvedOxygen", 2..3), ("waterTemperature", 3..5)];

/// The texts that queries ask for besides, as sent (percent-encoded) and as meant. All match every entity.
const TEXTS: [&str; 3] = [
    "name%3D%3D%22Name+of+my+entity%22",
    "description%3D%3D%22A+short+description+of+my+entity%22",
    "stationCode%3D%3D%22BSS002JAWM%22",
];

/// A user that keeps this many bytes of answers keeps no more: those of the past may have tens of megabytes.
const SAMPLE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The methods by which the past is aggregated.
pub const METHODS: [&str; 8] = ["totalCount", "distinctCount", "sum", "avg", "min", "max", "stddev", "sumsq"];

/// What a query asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    /// The index of the type.
    pub kind: usize,
    /// The index in [`READINGS`].
    pub reading: usize,
    /// The reading must be greater.
    pub over: u64,
    /// The index of the relationship's target, if one was asked for.
    pub target: Option<usize>,
}

/// What of the past was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AskedPast {
    /// The index of the entity; `None`: all of them.
    pub entity: Option<usize>,
    /// The index in [`READINGS`] of the one attribute asked for; `None`: all of them.
    pub reading: Option<usize>,
    /// The form of the answer.
    pub form: PastForm,
    /// The index in [`METHODS`], for aggregates.
    pub method: usize,
}

/// Something to look at after the loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sample {
    /// An entity was created under this id.
    Created(Id),
    /// A query was answered so.
    Queried(Asked, Vec<u8>),
    /// The entity of this index was answered so.
    Got(usize, Vec<u8>),
    /// The past was answered so; whether only a part of it came (status 206).
    Evolved(AskedPast, bool, Vec<u8>),
    /// A user's last update of the entity of this index; only the third value for partial updates.
    Updated(usize, Values, Kind),
}

/// A row's requests.
#[derive(Debug)]
pub struct Requests<'a> {
    /// What the users do.
    pub kind: Kind,
    /// What they do it to.
    pub set: &'a Set,
    /// Tells the runs of one row apart, so that none creates what another created.
    pub run: u64,
    /// Samples each user keeps; 0: none.
    pub samples_per_user: usize,
    /// A user keeps each so-manyth answer.
    pub sample_every: u64,
    /// Where the samples go when a user is done.
    pub samples: Mutex<Vec<Sample>>,
}

impl Requests<'_> {
    /// The samples of all users that are done.
    pub fn take_samples(&self) -> Vec<Sample> {
        std::mem::take(&mut self.samples.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Scenario for Requests<'_> {
    fn headers(&self) -> &str {
        HEADERS
    }

    fn session(&self, seat: Seat) -> Box<dyn Session + '_> {
        let stream = (self.run << 32) | seat.user as u64;
        Box::new(User {
            requests: self,
            draws: Draws::new(seat.seed ^ 0x0055_5345_5253, stream),
            clock: MomentClock::new(),
            calls: 0,
            pending: None,
            kept: Vec::new(),
            kept_bytes: 0,
            updated: HashMap::new(),
        })
    }
}

struct User<'a> {
    requests: &'a Requests<'a>,
    draws: Draws,
    clock: MomentClock,
    calls: u64,
    /// What to keep, with the body still missing, if the request under way is to be a sample.
    pending: Option<Sample>,
    kept: Vec<Sample>,
    kept_bytes: usize,
    updated: HashMap<usize, Values>,
}

impl Session for User<'_> {
    fn next(&mut self, request: &mut Request) -> Option<Call> {
        let requests = self.requests;
        let sampled = self.kept.len() < requests.samples_per_user
            && self.kept_bytes < SAMPLE_BYTES_MAX
            && self.calls.is_multiple_of(requests.sample_every.max(1));
        self.calls += 1;
        let (sample, expects) = match requests.kind {
            Kind::Create => (self.create(request), Expect::Status(201)),
            Kind::PartialUpdate | Kind::Update => {
                self.update(request);
                (None, Expect::Status(204))
            }
            Kind::Get => (self.get(request), Expect::Status(200)),
            Kind::QueryValue => (self.query(request, false), Expect::Status(200)),
            Kind::QueryRelationship => (self.query(request, true), Expect::Status(200)),
            Kind::TemporalAggregated
            | Kind::TemporalNormalized
            | Kind::TemporalValues
            | Kind::TemporalQueryAggregated
            | Kind::TemporalQueryNormalized
            | Kind::TemporalQueryValues => (self.evolution(request), Expect::WholeOrPart),
        };
        self.pending = sample.filter(|_| sampled);
        Some(Call { expects, ..Call::expecting(200) })
    }

    fn answered(&mut self, answer: Option<(u16, &[u8])>) {
        let (Some(sample), Some((status, body))) = (self.pending.take(), answer) else { return };
        self.kept_bytes += body.len();
        self.kept.push(match sample {
            Sample::Queried(asked, _) => Sample::Queried(asked, body.to_vec()),
            Sample::Got(index, _) => Sample::Got(index, body.to_vec()),
            Sample::Evolved(asked, ..) => Sample::Evolved(asked, status == 206, body.to_vec()),
            other => other,
        });
    }
}

impl User<'_> {
    fn create(&mut self, request: &mut Request) -> Option<Sample> {
        let id = sets::id(&mut self.draws);
        request.start("POST");
        request.path.extend_from_slice(ENTITIES.as_bytes());
        payload::template_entity(&mut request.body, &id);
        Some(Sample::Created(id))
    }

    fn update(&mut self, request: &mut Request) {
        let index = self.entity(request, "PATCH");
        let values: Values = if self.requests.kind == Kind::Update {
            request.path.extend_from_slice(b"/attrs");
            let values = std::array::from_fn(|_| self.draws.hundred());
            payload::fragment(&mut request.body, &values, self.clock.now());
            values
        } else {
            request.path.extend_from_slice(b"/attrs/dissolvedOxygen");
            let value = self.draws.hundred();
            payload::partial(&mut request.body, &value, self.clock.now());
            [value; 5]
        };
        if index < TRACKED_ENTITIES && self.requests.samples_per_user > 0 {
            self.updated.insert(index, values);
        }
    }

    fn get(&mut self, request: &mut Request) -> Option<Sample> {
        Some(Sample::Got(self.entity(request, "GET"), Vec::new()))
    }

    fn evolution(&mut self, request: &mut Request) -> Option<Sample> {
        let (form, by_query) = self.requests.kind.past()?;
        let set = self.requests.set;
        let drawn = self.draws.index(if by_query { READINGS.len() } else { set.shape.entities });
        let method = self.draws.index(METHODS.len());
        request.start("GET");
        let path = &mut request.path;
        path.extend_from_slice(TEMPORAL.as_bytes());
        if by_query {
            path.extend_from_slice(b"?type=");
            path.extend_from_slice(set.type_name(0).as_bytes());
            path.extend_from_slice(b"&attrs=");
            path.extend_from_slice(READINGS.get(drawn).map_or("", |(name, _)| name).as_bytes());
            path.extend_from_slice(b"&limit=");
            path.extend_from_slice(itoa::Buffer::new().format(PAGE_ENTITIES).as_bytes());
            path.push(b'&');
        } else {
            path.push(b'/');
            path.extend_from_slice(&set.id(drawn));
            path.push(b'?');
        }
        path.extend_from_slice(b"timerel=after&timeAt=2023-01-01T00%3A00%3A00Z");
        match form {
            PastForm::Normalized => {}
            PastForm::Values => path.extend_from_slice(b"&options=temporalValues"),
            PastForm::Aggregated => {
                path.extend_from_slice(b"&aggrMethods=");
                path.extend_from_slice(METHODS.get(method).map_or("", |name| *name).as_bytes());
                path.extend_from_slice(b"&aggrPeriodDuration=PT1S&options=aggregatedValues");
            }
        }
        let (entity, reading) = ((!by_query).then_some(drawn), by_query.then_some(drawn));
        Some(Sample::Evolved(AskedPast { entity, reading, form, method }, false, Vec::new()))
    }

    /// Starts a request for a random entity of the set.
    fn entity(&mut self, request: &mut Request, method: &'static str) -> usize {
        let index = self.draws.index(self.requests.set.shape.entities);
        request.start(method);
        request.path.extend_from_slice(ENTITIES.as_bytes());
        request.path.push(b'/');
        request.path.extend_from_slice(&self.requests.set.id(index));
        index
    }

    fn query(&mut self, request: &mut Request, by_target: bool) -> Option<Sample> {
        let set = self.requests.set;
        let kind = self.draws.index(set.shape.types);
        let reading = self.draws.index(READINGS.len());
        let over = self.draws.below(101);
        let drawn = if by_target { self.draws.index(sets::TARGETS) } else { self.draws.index(TEXTS.len()) };
        request.start("GET");
        let path = &mut request.path;
        path.extend_from_slice(ENTITIES.as_bytes());
        path.extend_from_slice(b"?type=");
        path.extend_from_slice(set.type_name(kind).as_bytes());
        path.extend_from_slice(b"&q=");
        path.extend_from_slice(READINGS.get(reading).map_or("", |(name, _)| name).as_bytes());
        path.extend_from_slice(b"%3E");
        path.extend_from_slice(itoa::Buffer::new().format(over).as_bytes());
        path.extend_from_slice(b"%3B");
        if by_target {
            path.extend_from_slice(b"servesDataset%3D%3D");
            for byte in set.target(drawn).bytes() {
                if byte == b':' {
                    path.extend_from_slice(b"%3A");
                } else {
                    path.push(byte);
                }
            }
        } else {
            path.extend_from_slice(TEXTS.get(drawn).map_or("", |text| *text).as_bytes());
        }
        path.extend_from_slice(b"&limit=");
        path.extend_from_slice(itoa::Buffer::new().format(PAGE_ENTITIES).as_bytes());
        Some(Sample::Queried(Asked { kind, reading, over, target: by_target.then_some(drawn) }, Vec::new()))
    }
}

impl Drop for User<'_> {
    fn drop(&mut self) {
        let kind = self.requests.kind;
        let mut samples = self.requests.samples.lock().unwrap_or_else(PoisonError::into_inner);
        samples.append(&mut self.kept);
        samples.extend(self.updated.drain().map(|(index, values)| Sample::Updated(index, values, kind)));
    }
}

#[cfg(test)]
mod tests {
    use super::super::sets::SetShape;
    use super::*;

    fn check(kind: Kind, expected: &str) {
        let set = Set::new(SetShape { entities: 100, types: 5, instances: 0 }, 42);
        let requests = Requests {
            kind,
            set: &set,
            run: 0,
            samples_per_user: 2,
            sample_every: 1,
            samples: Mutex::default(),
        };
        let mut session = requests.session(Seat { user: 0, seed: 42 });
        let mut request = Request::new("h", "");
        for _ in 0..20 {
            session.next(&mut request).unwrap();
            session.answered(Some((200, b"body")));
            let line = format!("{} {}", request.method, String::from_utf8(request.path.clone()).unwrap());
            let pattern = regex_lite(expected);
            assert!(pattern(&line), "{line} is not like {expected}");
        }
        drop(session);
        let samples = requests.take_samples();
        let kept = samples.iter().filter(|sample| !matches!(sample, Sample::Updated(..))).count();
        let updates = matches!(kind, Kind::Update | Kind::PartialUpdate);
        assert_eq!(kept, if updates { 0 } else { 2 });
        assert_eq!(samples.len() > kept, updates);
    }

    /// Matches `*` by any run of characters that a draw may give.
    fn regex_lite(expected: &str) -> impl Fn(&str) -> bool {
        let parts: Vec<String> = expected.split('*').map(str::to_owned).collect();
        move |line| {
            let mut rest = line;
            let mut parts = parts.iter();
            let first = parts.next().unwrap();
            let Some(after) = rest.strip_prefix(first.as_str()) else { return false };
            rest = after;
            for part in parts {
                if part.is_empty() {
                    return rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-:%+".contains(&byte));
                }
                let Some(at) = rest.find(part.as_str()) else { return false };
                rest = &rest[at + part.len()..];
            }
            rest.is_empty()
        }
    }

    #[test]
    fn requests_are_those_of_the_suite() {
        check(Kind::Create, "POST /ngsi-ld/v1/entities");
        check(Kind::PartialUpdate, "PATCH /ngsi-ld/v1/entities/urn:ngsi-ld:Entity:*/attrs/dissolvedOxygen");
        check(Kind::Update, "PATCH /ngsi-ld/v1/entities/urn:ngsi-ld:Entity:*/attrs");
        check(Kind::Get, "GET /ngsi-ld/v1/entities/urn:ngsi-ld:Entity:*");
        check(
            Kind::TemporalAggregated,
            "GET /ngsi-ld/v1/temporal/entities/urn:ngsi-ld:Entity:*?timerel=after&timeAt=2023-01-01T00%3A00%3A00Z\
             &aggrMethods=*&aggrPeriodDuration=PT1S&options=aggregatedValues",
        );
        check(
            Kind::TemporalNormalized,
            "GET /ngsi-ld/v1/temporal/entities/urn:ngsi-ld:Entity:*?timerel=after&timeAt=2023-01-01T00%3A00%3A00Z",
        );
        check(
            Kind::TemporalQueryValues,
            "GET /ngsi-ld/v1/temporal/entities?type=*&attrs=*&limit=30&timerel=after&timeAt=2023-01-01T00%3A00%3A00Z\
             &options=temporalValues",
        );
        check(
            Kind::TemporalQueryAggregated,
            "GET /ngsi-ld/v1/temporal/entities?type=*&attrs=*&limit=30&timerel=after&timeAt=2023-01-01T00%3A00%3A00Z\
             &aggrMethods=*&aggrPeriodDuration=PT1S&options=aggregatedValues",
        );
        check(Kind::QueryValue, "GET /ngsi-ld/v1/entities?type=*&q=*%3E*%3B*%3D%3D%22*%22&limit=30");
        check(
            Kind::QueryRelationship,
            "GET /ngsi-ld/v1/entities?type=*&q=*%3E*%3BservesDataset%3D%3Durn%3Angsi-ld%3ARelation%3A*&limit=30",
        );
    }

    #[test]
    fn runs_and_users_differ_and_repeat() {
        let set = Set::new(SetShape { entities: 0, types: 0, instances: 0 }, 42);
        let first = |run, user| {
            let samples = Mutex::default();
            let kind = Kind::Create;
            let requests = Requests { kind, set: &set, run, samples_per_user: 0, sample_every: 1, samples };
            let mut request = Request::new("h", "");
            requests.session(Seat { user, seed: 42 }).next(&mut request).unwrap();
            request.body
        };
        assert_eq!(first(0, 0), first(0, 0));
        assert_ne!(first(0, 0), first(1, 0));
        assert_ne!(first(0, 0), first(0, 1));
    }
}
