//! The entities a row runs on. Nothing is stored: entity number `n` of a set follows from the seed, so the
//! generator and the checks agree on a hundred thousand entities without holding one.

use crate::draws::Draws;
use crate::executors::Limits;
use crate::scenario::{Call, Request, Scenario, Seat, Session};

use super::payload::{self, Value, Values};
use super::{ENTITIES, HEADERS};

/// Relationship targets of a set; the count was not published, this is the example's.
pub const TARGETS: usize = 10;
/// Entities of one request when a set is created by batches.
pub const BATCH_ENTITIES: usize = 500;
/// Bytes of an entity's id.
pub const ID_BYTES: usize = 55;

/// An entity's id, `urn:ngsi-ld:Entity:` and a UUID.
pub type Id = [u8; ID_BYTES];

/// What a set is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SetShape {
    /// How many entities.
    pub entities: usize,
    /// Of how many types; 0: template entities, all of one type and with one value.
    pub types: usize,
    /// Updates of all readings of each entity, one after the other: its past.
    pub instances: usize,
}

/// A set of entities, all of them functions of the seed.
#[derive(Debug, Clone)]
pub struct Set {
    /// What it is made of.
    pub shape: SetShape,
    seed: u64,
    types: Vec<String>,
    targets: Vec<String>,
}

/// An entity of a set of several types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// The index of its type.
    pub kind: usize,
    /// The index of its relationship's target.
    pub target: usize,
    /// Its readings.
    pub values: Values,
}

impl Set {
    /// The set of `shape` that follows from `seed`. Cost: its types and targets only.
    pub fn new(shape: SetShape, seed: u64) -> Self {
        // Sets of other shapes have other entities: a server that goes on running may get one after the other.
        let sizes = [shape.entities, shape.types, shape.instances];
        let stream = sizes
            .iter()
            .fold(0x0054_5950_4553, |stream: u64, size| stream.wrapping_mul(0x0100_0000_01B3) ^ *size as u64);
        let mut names = Draws::new(seed, stream);
        let seed = names.draw();
        let letter =
            |draws: &mut Draws| char::from(b'a' + u8::try_from(draws.below(26)).expect("less than 26"));
        let types = (0..shape.types).map(|_| (0..10).map(|_| letter(&mut names)).collect()).collect();
        let targets = (0..TARGETS)
            .map(|_| format!("urn:ngsi-ld:Relation:{}", String::from_utf8_lossy(&names.uuid())))
            .collect();
        Self { shape, seed, types, targets }
    }

    /// The id of entity `index`.
    pub fn id(&self, index: usize) -> Id {
        id(&mut Draws::new(self.seed, 2 * index as u64))
    }

    /// What entity `index` holds, for sets of several types.
    pub fn member(&self, index: usize) -> Member {
        let mut draws = Draws::new(self.seed, 2 * index as u64 + 1);
        let kind = draws.index(self.types.len());
        let target = draws.index(self.targets.len());
        Member { kind, target, values: std::array::from_fn(|_| draws.hundred()) }
    }

    /// The value that all readings of entity `index` have in its update `instance`.
    pub fn instance(&self, index: usize, instance: usize) -> Value {
        Draws::new(self.seed ^ 0x0049_4E53_5441, (index as u64) << 32 | instance as u64).hundred()
    }

    /// The name of type `index`.
    pub fn type_name(&self, index: usize) -> &str {
        self.types.get(index).map_or("Entity", String::as_str)
    }

    /// The IRI of relationship target `index`.
    pub fn target(&self, index: usize) -> &str {
        self.targets.get(index).map_or("", String::as_str)
    }

    /// Appends entity `index` as JSON.
    pub fn entity(&self, index: usize, out: &mut Vec<u8>) {
        let id = self.id(index);
        if self.types.is_empty() {
            payload::template_entity(out, &id);
        } else {
            let member = self.member(index);
            let name = (&id[..], self.type_name(member.kind).as_bytes());
            payload::valued_entity(out, name, &member.values, self.target(member.target).as_bytes());
        }
    }
}

/// A fresh id.
pub fn id(draws: &mut Draws) -> Id {
    let mut id = *b"urn:ngsi-ld:Entity:00000000-0000-4000-8000-000000000000";
    if let Some(place) = id.last_chunk_mut::<36>() {
        *place = draws.uuid();
    }
    id
}

/// Creates a set: one user, one request after the other, as published, or in batches.
#[derive(Debug, Clone, Copy)]
pub struct Loading<'a> {
    /// What to create.
    pub set: &'a Set,
    /// Entities a request; 1: by `POST /entities`.
    pub batch: usize,
}

impl Loading<'_> {
    /// How many requests it takes.
    pub fn requests(&self) -> u64 {
        self.set.shape.entities.div_ceil(self.batch.max(1)) as u64
    }

    /// The loop ends with the set.
    pub fn limits(&self) -> Limits {
        Limits { iterations: Some(self.requests()), duration: None }
    }
}

impl Scenario for Loading<'_> {
    fn headers(&self) -> &str {
        HEADERS
    }

    fn session(&self, _seat: Seat) -> Box<dyn Session + '_> {
        Box::new(LoadingSession { loading: *self, next: 0 })
    }
}

struct LoadingSession<'a> {
    loading: Loading<'a>,
    next: usize,
}

impl Session for LoadingSession<'_> {
    fn next(&mut self, request: &mut Request) -> Option<Call> {
        let Loading { set, batch } = self.loading;
        if self.next >= set.shape.entities {
            return None;
        }
        request.start("POST");
        if batch <= 1 {
            request.path.extend_from_slice(ENTITIES.as_bytes());
            set.entity(self.next, &mut request.body);
            self.next += 1;
        } else {
            request.path.extend_from_slice(b"/ngsi-ld/v1/entityOperations/create");
            let end = (self.next + batch).min(set.shape.entities);
            for index in self.next..end {
                request.body.push(if index == self.next { b'[' } else { b',' });
                set.entity(index, &mut request.body);
            }
            request.body.push(b']');
            self.next = end;
        }
        Some(Call::expecting(201))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(entities: usize, types: usize) -> Set {
        Set::new(SetShape { entities, types, instances: 0 }, 42)
    }

    fn bodies(loading: &Loading<'_>) -> Vec<serde_json::Value> {
        let mut session = loading.session(Seat { user: 0, seed: 0 });
        let mut request = Request::new("h", "");
        let mut bodies = Vec::new();
        while session.next(&mut request).is_some() {
            bodies.push(serde_json::from_slice(&request.body).unwrap());
        }
        bodies
    }

    #[test]
    fn a_set_follows_from_its_seed() {
        let entity = |set: &Set, index| {
            let mut out = Vec::new();
            set.entity(index, &mut out);
            out
        };
        assert_eq!(entity(&set(10, 5), 3), entity(&set(10, 5), 3));
        assert_ne!(entity(&set(10, 5), 3), entity(&set(10, 5), 4));
        assert_ne!(set(10, 0).id(0), Set::new(SetShape { entities: 10, types: 0, instances: 0 }, 43).id(0));
        // Two sets on one server must not share ids.
        assert_ne!(set(10, 5).id(0), set(11, 5).id(0));
    }

    #[test]
    fn sequential_and_batch_create_the_same_entities() {
        let set = set(1_201, 5);
        let one_by_one = bodies(&Loading { set: &set, batch: 1 });
        let loading = Loading { set: &set, batch: BATCH_ENTITIES };
        let batches = bodies(&loading);
        assert_eq!((one_by_one.len(), batches.len() as u64), (1_201, loading.requests()));
        let joined: Vec<_> = batches.iter().flat_map(|batch| batch.as_array().unwrap().clone()).collect();
        assert_eq!(one_by_one, joined);
        let ids: std::collections::HashSet<_> =
            joined.iter().map(|entity| entity["id"].to_string()).collect();
        assert_eq!(ids.len(), 1_201);
        let types: std::collections::HashSet<_> =
            joined.iter().map(|entity| entity["type"].to_string()).collect();
        assert_eq!(types.len(), 5);
        assert!(types.iter().all(|name| name.len() == 12), "ten letters in quotes: {types:?}");
    }

    #[test]
    fn sets_of_other_shapes_have_other_entities() {
        let shape = SetShape { entities: 10, types: 0, instances: 5 };
        let others = [
            SetShape { entities: 11, ..shape },
            SetShape { types: 5, ..shape },
            SetShape { instances: 6, ..shape },
        ];
        for other in others {
            assert_ne!(Set::new(shape, 42).id(0), Set::new(other, 42).id(0), "{other:?}");
        }
    }

    #[test]
    fn a_set_without_types_is_of_template_entities() {
        let bodies = bodies(&Loading { set: &set(3, 0), batch: 1 });
        assert!(
            bodies
                .iter()
                .all(|entity| entity["type"] == "Entity" && entity["dissolvedOxygen"]["value"] == 8.9)
        );
    }
}
