//! Writes the past of a set: update after update of all readings of each entity.

use jiff::{SignedDuration, Timestamp};

use crate::profile::Observed;
use crate::scenario::{Call, Request, Scenario, Seat, Session};

use super::payload::{self, Moment, MomentClock};
use super::sets::Set;
use super::{ENTITIES, HEADERS};

/// Users that write the instances of a temporal set at once, if it is not written as published.
pub(super) const INSTANCE_USERS: usize = 10;
/// Milliseconds from one update of an entity to the next, if they are spread: a hundred a second.
const SPREAD_MILLISECONDS: i64 = 10;

/// The updates of all entities of a set. With one user, one entity after the other, as published; with more, each
/// user has entities of its own and keeps their order.
#[derive(Debug, Clone, Copy)]
pub struct Instances<'a> {
    /// What is updated.
    pub set: &'a Set,
    /// How many users share the entities.
    pub users: usize,
    /// What the updates say of their time.
    pub observed: Observed,
    /// The latest of the spread times.
    pub until: Timestamp,
}

impl Instances<'_> {
    /// How many requests it takes.
    pub fn requests(&self) -> u64 {
        self.set.shape.entities as u64 * self.set.shape.instances as u64
    }

    /// When the spread update `instance` was observed.
    fn spread(&self, instance: usize) -> Timestamp {
        let before = self.set.shape.instances.saturating_sub(instance + 1);
        let ago = SignedDuration::from_millis(SPREAD_MILLISECONDS.saturating_mul(before as i64));
        self.until.checked_sub(ago).unwrap_or(self.until)
    }
}

impl Scenario for Instances<'_> {
    fn headers(&self) -> &str {
        HEADERS
    }

    fn session(&self, seat: Seat) -> Box<dyn Session + '_> {
        Box::new(Writer { instances: *self, entity: seat.user, instance: 0, clock: MomentClock::new() })
    }
}

struct Writer<'a> {
    instances: Instances<'a>,
    entity: usize,
    instance: usize,
    clock: MomentClock,
}

impl Session for Writer<'_> {
    fn next(&mut self, request: &mut Request) -> Option<Call> {
        let set = self.instances.set;
        if self.instance >= set.shape.instances {
            self.instance = 0;
            self.entity += self.instances.users.max(1);
        }
        if self.entity >= set.shape.entities || set.shape.instances == 0 {
            return None;
        }
        let moment: Moment = match self.instances.observed {
            Observed::Now => *self.clock.now(),
            Observed::Spread => *self.clock.at(self.instances.spread(self.instance)),
        };
        request.start("PATCH");
        request.path.extend_from_slice(ENTITIES.as_bytes());
        request.path.push(b'/');
        request.path.extend_from_slice(&set.id(self.entity));
        request.path.extend_from_slice(b"/attrs");
        payload::fragment(&mut request.body, &[set.instance(self.entity, self.instance); 5], &moment);
        self.instance += 1;
        Some(Call::expecting(204))
    }
}

#[cfg(test)]
mod tests {
    use super::super::sets::SetShape;
    use super::*;

    fn paths_and_times(users: usize, observed: Observed) -> Vec<(String, String)> {
        let set = Set::new(SetShape { entities: 3, types: 0, instances: 4 }, 42);
        let until = "2026-01-02T03:04:05.678Z".parse().unwrap();
        let instances = Instances { set: &set, users, observed, until };
        assert_eq!(instances.requests(), 12);
        let mut all = Vec::new();
        for user in 0..users {
            let mut session = instances.session(Seat { user, seed: 0 });
            let mut request = Request::new("h", "");
            while session.next(&mut request).is_some() {
                let body: serde_json::Value = serde_json::from_slice(&request.body).unwrap();
                let (one, other) = (&body["ammonium"][0], &body["waterTemperature"][1]);
                assert_eq!((&one["value"], &one["observedAt"]), (&other["value"], &other["observedAt"]));
                let path = String::from_utf8(request.path.clone()).unwrap();
                all.push((path, one["observedAt"].as_str().unwrap().to_owned()));
            }
        }
        all
    }

    #[test]
    fn every_entity_gets_its_updates_whoever_writes_them() {
        let paths = |users| {
            let mut paths: Vec<_> =
                paths_and_times(users, Observed::Now).into_iter().map(|(path, _)| path).collect();
            paths.sort();
            paths
        };
        assert_eq!(paths(1).len(), 12);
        assert_eq!(paths(1), paths(2));
        assert_eq!(paths(1), paths(5));
    }

    #[test]
    fn spread_times_end_at_the_given_moment() {
        let all = paths_and_times(1, Observed::Spread);
        let times: Vec<&str> = all.iter().take(4).map(|(_, time)| time.as_str()).collect();
        let seconds = ["05.648Z", "05.658Z", "05.668Z", "05.678Z"];
        assert!(times.iter().zip(seconds).all(|(time, end)| time.ends_with(end)), "{times:?}");
    }
}
