//! Any page of a past is that of a plain list of its instances, sorted and cut.

use std::collections::BTreeMap;

use proptest::prelude::*;
use smallvec::smallvec;

use crate::history::tests::tenant;
use crate::history::{HistoryRequest, InstanceId, TimeProperty, TimeSpan};
use crate::write::tests::{run, store};
use crate::{Attribute, Draft, Instance, Kind, Operation, TenantEntities, TermId};
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

type PlainPast = BTreeMap<(TermId, i64), Plain>;

#[derive(Clone, Debug)]
enum Step {
    /// Writes to the past: so many instances of an attribute, observed about then, `step` apart (or never).
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

/// A trial: the entity, and what is known of its past. The clock stands far behind all times observed.
struct Trial {
    entities: TenantEntities,
    past: PlainPast,
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
                    self.past.insert((name, now.0 * 1000 + place), plain);
                }
            }
            Step::Update { name, observed } => {
                let name = NAMES[*name];
                let observed = observed.map(i64::from);
                let operation = Operation::UpsertUpdate(draft(name, [observed].into_iter()));
                self.entities.apply(ID, operation, now).await.unwrap();
                let created = *self.living.entry(name).or_insert(now.0);
                let plain = Plain { created, modified: now.0, observed, is_removal: false };
                self.past.insert((name, now.0 * 1000), plain);
            }
            Step::Remove { name } => {
                let name = NAMES[*name];
                if self.living.remove(&name).is_some() {
                    let operation = Operation::DeleteAttribute { name, instances: crate::Instances::Default };
                    self.entities.apply(ID, operation, now).await.unwrap();
                    let plain = Plain { created: now.0, modified: now.0, observed: None, is_removal: true };
                    self.past.insert((name, now.0 * 1000), plain);
                }
            }
            Step::Patch { place, observed } => {
                let values = self.past.iter_mut().filter(|(_, plain)| !plain.is_removal);
                let mut values: Vec<_> = values.collect();
                if values.is_empty() {
                    return;
                }
                let place = place % values.len();
                let ((name, time), plain) = &mut values[place];
                let tag = crate::history::note::tag_of(ID, *name, None);
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
        let Some(found) = self.entities.read_history(ID, request).await.unwrap() else {
            assert!(self.past.is_empty());
            return;
        };
        let shown: Vec<(TermId, i64)> = found
            .attributes
            .iter()
            .flat_map(|one| one.instances().map(|instance| (one.attribute(), instance.instance_id().time)))
            .collect();
        let (expected, covered) = self.expected(request);
        assert!(shown == expected, "{request:?}: {} shown, {} expected", shown.len(), expected.len());
        assert_eq!(found.covered, covered, "{request:?}");
    }

    /// All instances of an attribute, sorted by the time asked for, then by when they were written; the first or last of
    /// them; and of all those, the part of the span that fits.
    fn expected(&self, request: &HistoryRequest) -> (Vec<(TermId, i64)>, Option<TimeSpan>) {
        let time_of = |plain: &Plain| match request.time {
            TimeProperty::ObservedAt => plain.observed,
            TimeProperty::ModifiedAt => Some(plain.modified),
            TimeProperty::CreatedAt => Some(plain.created).filter(|_| !plain.is_removal),
            TimeProperty::DeletedAt => Some(plain.modified).filter(|_| plain.is_removal),
        };
        let mut all: Vec<(TermId, i64, i64)> = Vec::new();
        for name in NAMES {
            let of_name = self.past.iter().filter(|((held, _), _)| *held == name);
            let mut of_name: Vec<(i64, i64)> =
                of_name.filter_map(|((_, time), plain)| Some((time_of(plain)?, *time))).collect();
            of_name.retain(|(at, _)| request.span.contains(Timestamp(*at)));
            of_name.sort_unstable();
            // One more than fits is looked at, of times alike too.
            let most = request.instances_max + 1;
            match request.last_n {
                Some(last_n) => drop(of_name.drain(..of_name.len().saturating_sub(last_n.min(most)))),
                None => of_name.truncate(most),
            }
            all.extend(of_name.into_iter().map(|(at, time)| (name, at, time)));
        }
        let mut times: Vec<i64> = all.iter().map(|(_, at, _)| *at).collect();
        times.sort_unstable();
        let covered = (times.len() > request.instances_max).then(|| {
            let (first, last) = (times[0], times[times.len() - 1]);
            if request.last_n.is_some() {
                let beyond = times[times.len() - request.instances_max - 1];
                let from = if beyond < last { beyond + 1 } else { beyond };
                return TimeSpan { from: Timestamp(from), ..request.span };
            }
            let beyond = times[request.instances_max];
            let to = if beyond > first { beyond } else { beyond + 1 };
            TimeSpan { to: Timestamp(to), ..request.span }
        });
        if let Some(covered) = covered {
            all.retain(|(_, at, _)| covered.contains(Timestamp(*at)));
        }
        (all.into_iter().map(|(name, _, time)| (name, time)).collect(), covered)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

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
            let (past, living) = (PlainPast::new(), BTreeMap::new());
            let mut trial = Trial { entities, past, living, clock: 0 };
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
