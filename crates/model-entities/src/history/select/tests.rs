//! Any page of a history is that of a plain list of its instances, sorted and cut.

use std::collections::BTreeMap;

use entity::{Attribute, Draft, Error, Instance, Kind, Operation, TermId};
use entity::{HistoryRequest, InstanceId, TimeProperty, TimeSpan};
use proptest::prelude::*;
use smallvec::smallvec;

use crate::TenantEntities;
use crate::history::tests::tenant;
use crate::write::{tests::run, tests::store};
use store::Timestamp;

const ID: &str = "urn:x:1";
const NAMES: [TermId; 2] = [TermId(10), TermId(11)];

/// An instance as the test knows it, by attribute and the time of its first write.
#[derive(Clone, Copy, Debug)]
struct Plain {
    created: i64,
    modified: i64,
    observed: Option<i64>,
    is_removal: bool,
}

type PlainHistory = BTreeMap<(TermId, i64), Plain>;
/// What a read is to show, by attribute and the time of the first write; and the part of the span it was cut to.
type Page = (Vec<(TermId, i64)>, Option<TimeSpan>);

#[derive(Clone, Debug)]
enum Step {
    /// Writes to the history: so many instances of an attribute, observed about then, `step` apart (or never).
    Past {
        name: usize,
        count: u8,
        observed: Option<(i16, i8)>,
    },
    /// A write of the entity itself.
    Update {
        name: usize,
        observed: Option<i16>,
    },
    Remove {
        name: usize,
    },
    /// Changes the instance at this place, counted modulo their number.
    Patch {
        place: usize,
        observed: i16,
    },
    Fold,
}

fn step() -> impl Strategy<Value = Step> {
    let observed = || prop::option::weighted(0.8, -200..200_i16);
    prop_oneof![
        3 => (0..2_usize, 1..120_u8, prop::option::weighted(0.8, (-200..200_i16, -3..4_i8)))
            .prop_map(|(name, count, observed)| Step::Past { name, count, observed }),
        4 => (0..2_usize, observed()).prop_map(|(name, observed)| Step::Update { name, observed }),
        1 => (0..2_usize).prop_map(|name| Step::Remove { name }),
        2 => (any::<usize>(), -200..200_i16).prop_map(|(place, observed)| Step::Patch { place, observed }),
        2 => Just(Step::Fold),
    ]
}

fn draft(name: TermId, observed: impl Iterator<Item = Option<i64>>) -> Draft {
    let instance = |observed: Option<i64>| Instance {
        observed_at: observed.map(Timestamp),
        ..Instance::new(Kind::Property, "7")
    };
    let attributes = vec![Attribute { name, instances: observed.map(instance).collect() }];
    Draft { id: ID.into(), types: smallvec![TermId(1)], attributes, ..Draft::default() }
}

/// A trial: the entity, and what is known of its history. The clock stands far behind all times observed.
struct Trial {
    entities: TenantEntities,
    history: PlainHistory,
    living: BTreeMap<TermId, i64>,
    clock: i64,
}

impl Trial {
    async fn carry_out(&mut self, step: &Step) {
        self.clock += 10;
        let now = Timestamp(self.clock);
        match step {
            Step::Past { name, count, observed } => {
                let name = NAMES[*name];
                let at = |place: i64| observed.map(|(at, step)| i64::from(at) + place * i64::from(step));
                let all = (0..i64::from(*count)).map(at);
                self.entities.write_history(ID, &draft(name, all.clone()), now).await.unwrap();
                for (place, observed) in (1..).zip(all) {
                    let plain = Plain { created: now.0, modified: now.0, observed, is_removal: false };
                    self.history.insert((name, now.0 * 1000 + place), plain);
                }
            }
            Step::Update { name, observed } => {
                let name = NAMES[*name];
                let observed = observed.map(i64::from);
                let operation = Operation::UpsertUpdate(draft(name, [observed].into_iter()));
                self.entities.apply(ID, operation, now).await.unwrap();
                let created = *self.living.entry(name).or_insert(now.0);
                let plain = Plain { created, modified: now.0, observed, is_removal: false };
                self.history.insert((name, now.0 * 1000), plain);
            }
            Step::Remove { name } => {
                let name = NAMES[*name];
                if self.living.remove(&name).is_some() {
                    let operation =
                        Operation::DeleteAttribute { name, instances: entity::Instances::Default };
                    self.entities.apply(ID, operation, now).await.unwrap();
                    let plain = Plain { created: now.0, modified: now.0, observed: None, is_removal: true };
                    self.history.insert((name, now.0 * 1000), plain);
                }
            }
            Step::Patch { place, observed } => {
                let values = self.history.iter_mut().filter(|(_, plain)| !plain.is_removal);
                let mut values: Vec<_> = values.collect();
                if values.is_empty() {
                    return;
                }
                let place = place % values.len();
                let ((name, time), plain) = &mut values[place];
                let tag = entity::history::note::tag_of(ID, *name, None);
                let patch = Instance {
                    kind: None,
                    observed_at: Some(Timestamp((*observed).into())),
                    ..Instance::new(Kind::Property, "8")
                };
                let id = InstanceId { time: *time, tag };
                self.entities.patch_instance(ID, *name, id, &patch, now).await.unwrap();
                (plain.modified, plain.observed) = (now.0, Some((*observed).into()));
            }
            Step::Fold => drop(self.entities.fold_history(ID).await.unwrap()),
        }
    }

    async fn check(&self, request: &HistoryRequest) {
        let found = match (self.entities.read_history(ID, request).await, self.expected(request)) {
            (Ok(None), _) => return assert!(self.history.is_empty()),
            (Ok(Some(found)), Some(_)) => found,
            (Err(Error::Limit(_)), None) => return,
            (found, expected) => panic!("{request:?}: {found:?}, {expected:?} expected"),
        };
        let shown: Vec<(TermId, i64)> = found
            .attributes
            .iter()
            .flat_map(|one| one.instances().map(|instance| (one.attribute(), instance.instance_id().time)))
            .collect();
        let (expected, covered) = self.expected(request).unwrap();
        assert!(shown == expected, "{request:?}: {} shown, {} expected", shown.len(), expected.len());
        assert_eq!(found.covered, covered, "{request:?}");
    }

    /// All instances of an attribute, sorted by the time asked for, then by when they were written; the first or last of
    /// them; and of all those, the part of the span that fits. `None`: too many of an attribute are of the same time.
    fn expected(&self, request: &HistoryRequest) -> Option<Page> {
        let time_of = |plain: &Plain| match request.time {
            TimeProperty::ObservedAt => plain.observed,
            TimeProperty::ModifiedAt => Some(plain.modified),
            TimeProperty::CreatedAt => Some(plain.created).filter(|_| !plain.is_removal),
            TimeProperty::DeletedAt => Some(plain.modified).filter(|_| plain.is_removal),
        };
        let mut all: Vec<(TermId, i64, i64)> = Vec::new();
        let mut left_out = Vec::new();
        for name in NAMES {
            let of_name = self.history.iter().filter(|((held, _), _)| *held == name);
            let mut of_name: Vec<(i64, i64)> =
                of_name.filter_map(|((_, time), plain)| Some((time_of(plain)?, *time))).collect();
            of_name.retain(|(at, _)| request.span.contains(Timestamp(*at)));
            of_name.sort_unstable();
            if let Some(last_n) = request.last_n {
                of_name.drain(..of_name.len().saturating_sub(last_n));
            }
            // One more than fits is looked at.
            let most = request.instances_max + 1;
            if of_name.len() >= most {
                left_out
                    .push(of_name[if request.last_n.is_some() { of_name.len() - most } else { most - 1 }].0);
            }
            all.extend(of_name.into_iter().map(|(at, time)| (name, at, time)));
        }
        let mut times: Vec<i64> = all.iter().map(|(_, at, _)| *at).collect();
        times.sort_unstable();
        let covered = if times.len() > request.instances_max { part(&times, request) } else { None };
        let shown = covered.unwrap_or(request.span);
        if left_out.iter().any(|at| shown.contains(Timestamp(*at))) {
            return None;
        }
        if let Some(covered) = covered {
            all.retain(|(_, at, _)| covered.contains(Timestamp(*at)));
        }
        Some((all.into_iter().map(|(name, _, time)| (name, time)).collect(), covered))
    }
}

/// The first instants (or the last) whose instances fit, if there are more: at least one, and at least one behind the begin of
/// the span.
fn part(times: &[i64], request: &HistoryRequest) -> Option<TimeSpan> {
    let mut instants = times.to_vec();
    instants.dedup();
    let fits = |wanted: &dyn Fn(i64) -> bool| {
        times.iter().filter(|time| wanted(**time)).count() <= request.instances_max
    };
    if request.last_n.is_some() {
        let fitting = instants.iter().copied().find(|from| fits(&|time| time >= *from));
        let from = fitting.or(instants.last().copied())?;
        let below = instants.iter().rev().find(|time| **time < from)?;
        // What lies between two instants belongs to the part.
        let from = if fitting.is_some() { below + 1 } else { from };
        return Some(TimeSpan { from: Timestamp(from), ..request.span });
    }
    let on = |time: &&i64| **time > request.span.from.0;
    let (least, rest) = (*instants.iter().find(on)?, instants.iter().rev());
    let last = rest.filter(on).copied().find(|last| fits(&|time| time <= *last));
    let beyond = *instants.iter().find(|time| **time > last.unwrap_or(least))?;
    let to = if last.is_some() { beyond } else { least + 1 };
    Some(TimeSpan { to: Timestamp(to), ..request.span })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((48 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn pages_are_those_of_a_plain_list(
        steps in prop::collection::vec(step(), 1..24),
        asked in prop::collection::vec(
            (0..4_usize, prop::option::of(-150..150_i64), prop::option::of(-150..150_i64),
             prop::option::of(0..150_usize), prop_oneof![1..200_usize, Just(100_000)]),
            24,
        ),
    ) {
        run(async {
            let entities = tenant(&store()).await;
            let (history, living) = (PlainHistory::new(), BTreeMap::new());
            let mut trial = Trial { entities, history, living, clock: 0 };
            for step in &steps {
                trial.carry_out(step).await;
            }
            for (time, from, to, last_n, instances_max) in asked {
                let time = [
                    TimeProperty::ObservedAt,
                    TimeProperty::ModifiedAt,
                    TimeProperty::CreatedAt,
                    TimeProperty::DeletedAt,
                ][time];
                let span = TimeSpan {
                    from: from.map_or(TimeSpan::ALL.from, Timestamp),
                    to: to.map_or(TimeSpan::ALL.to, Timestamp),
                };
                let request = HistoryRequest { time, span, last_n, ..HistoryRequest::all(instances_max) };
                trial.check(&request).await;
            }
        });
    }
}
