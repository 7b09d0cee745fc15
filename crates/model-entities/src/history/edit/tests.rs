//! The history is changed, and the entity is not.

use super::*;
use crate::history::tests::tenant;
use crate::policy::{HistoryPolicy, HistoryRule};
use crate::write::{tests::options, tests::run, tests::store};
use crate::{Entities, Options};
use entity::query::{Query, TypeQuery};
use entity::{AggregateMethod, HistoryRequest, InstanceId, Instances, Operation};
use smallvec::smallvec;
use std::time::Duration;
use store::TenantName;

const ID: &str = "urn:x:1";
const SPEED: TermId = TermId(10);

fn instance(value: &str, observed: i64, dataset: Option<&str>) -> Instance {
    let dataset = dataset.map(Into::into);
    Instance { observed_at: Some(Timestamp(observed)), dataset, ..Instance::new(Kind::Property, value) }
}

fn draft(instances: Vec<Instance>) -> Draft {
    let attributes = vec![Attribute { name: SPEED, instances: instances.into() }];
    Draft { id: ID.into(), types: smallvec![TermId(1)], attributes, ..Draft::default() }
}

/// Values in the order of a time property.
async fn values(entities: &TenantEntities, time: TimeProperty) -> Vec<(String, InstanceId)> {
    let request = HistoryRequest { time, ..HistoryRequest::all(1000) };
    let Some(history) = entities.read_history(ID, &request).await.unwrap() else {
        return Vec::new();
    };
    let instances = history.attributes.iter().flat_map(|attribute| attribute.instances());
    let value = |instance: entity::RecordedInstance<'_>| {
        let mut value = String::new();
        instance.write_value(&mut value);
        (value, instance.instance_id())
    };
    instances.map(value).collect()
}

fn texts(values: &[(String, InstanceId)]) -> Vec<&str> {
    values.iter().map(|(value, _)| value.as_str()).collect()
}

/// The commits of many attributes share syncs.
#[test]
fn a_history_of_many_attributes_goes_with_few_syncs() {
    let folder = tempfile::tempdir().unwrap();
    let options = store::EmbeddedOptions {
        cache_bytes: 1 << 20,
        block_cache_bytes: 1 << 20,
        memtable_bytes: 1 << 20,
        disk_free_min: Some(0),
        ..store::EmbeddedOptions::recommended()
    };
    run(async {
        let store = store::Store::open(folder.path(), options).unwrap();
        let entities = tenant(&store).await;
        let attribute =
            |name| Attribute { name: TermId(name), instances: smallvec![Instance::new(Kind::Property, "1")] };
        let attributes = (10..110).map(attribute).collect();
        let draft = Draft { id: ID.into(), types: smallvec![TermId(1)], attributes, ..Draft::default() };
        entities.apply(ID, Operation::Create(draft), Timestamp(1)).await.unwrap();
        entities.fold_history(ID).await.unwrap();
        let before = store.statistics();
        entities.delete_history(ID).await.unwrap();
        let after = store.statistics();
        assert!(after.commits - before.commits >= 100, "each is an atom");
        assert!(after.syncs - before.syncs <= 50, "{} syncs", after.syncs - before.syncs);
        assert!(values(&entities, TimeProperty::ModifiedAt).await.is_empty());
        store.close().await.unwrap();
    });
}

/// A commit whose outcome nobody knew must not leave what comes back later.
#[test]
fn a_history_that_was_deleted_stays_so_on_the_worst_store() {
    for seed in store::testing::seeds(60) {
        run(async {
            let store = store::testing::hostile(store::Clock::manual(Timestamp(0)), seed);
            let (one, other) = (tenant(&store).await, tenant(&store.beside()).await);
            for round in 0..4 {
                for number in 1..4 {
                    let draft = draft(vec![instance("1", number, None)]);
                    one.apply(ID, Operation::UpsertUpdate(draft), Timestamp(number)).await.unwrap();
                }
                let all = Instances::All;
                match round % 2 {
                    0 => one.delete_history_attribute(ID, SPEED, &all).await.unwrap(),
                    _ => one.delete_history(ID).await.unwrap(),
                }
                for entities in [&other, &one] {
                    entities.fold_history(ID).await.unwrap();
                    assert!(values(entities, TimeProperty::ModifiedAt).await.is_empty(), "seed {seed}");
                }
            }
        });
    }
}

#[test]
fn a_history_is_written_without_an_entity() {
    run(async {
        let entities = tenant(&store()).await;
        let mut nothing = draft(vec![instance("1", 10, None)]);
        nothing.types.clear();
        assert!(matches!(entities.write_history(ID, &nothing, Timestamp(5)).await, Err(Error::Invalid(_))));
        let many: Vec<_> =
            (0..2500).map(|number| instance(&number.to_string(), 5000 - number, None)).collect();
        assert!(entities.write_history(ID, &draft(many), Timestamp(5)).await.unwrap());
        let second = draft(vec![instance("-1", 9000, None), instance("7", 1, Some("urn:d:1"))]);
        assert!(!entities.write_history(ID, &second, Timestamp(5)).await.unwrap());
        let known = entities.history(ID).await.unwrap().unwrap();
        assert_eq!((known.types.as_slice(), known.deleted_at), ([TermId(1)].as_slice(), None));
        assert!(entities.get(ID, Timestamp(5)).await.unwrap().is_none());
        let request = HistoryRequest { time: TimeProperty::ObservedAt, ..HistoryRequest::all(10_000) };
        let found = entities.read_history(ID, &request).await.unwrap().unwrap();
        let lens: Vec<_> = found.attributes.iter().map(|one| (one.dataset(), one.len())).collect();
        assert_eq!(lens, [(None, 2501), (Some("urn:d:1"), 1)]);
        let ids: std::collections::HashSet<_> = found
            .attributes
            .iter()
            .flat_map(|one| one.instances())
            .map(|instance| instance.instance_id())
            .collect();
        assert_eq!(ids.len(), 2502, "no two have one name");
        let mut first = String::new();
        found.attributes[0].instances().next().unwrap().write_value(&mut first);
        assert_eq!(first, "2499", "the earliest observed");
        // The entity comes, and goes on behind its history.
        entities
            .apply(ID, Operation::Create(draft(vec![instance("8", 9999, None)])), Timestamp(1))
            .await
            .unwrap();
        assert_eq!(texts(&values(&entities, TimeProperty::ModifiedAt).await).len(), 1000);
        let last = HistoryRequest { last_n: Some(1), ..HistoryRequest::all(10) };
        let found = entities.read_history(ID, &last).await.unwrap().unwrap();
        assert!(found.attributes[0].instances().next().unwrap().observed_at() == Some(Timestamp(9999)));
    });
}

#[test]
fn instances_are_changed_and_removed_by_name() {
    run(async {
        let entities = tenant(&store()).await;
        for value in ["1", "2", "3"] {
            let operation = Operation::UpsertUpdate(draft(vec![instance(value, 10, None)]));
            entities.apply(ID, operation, Timestamp(5)).await.unwrap();
        }
        let held = values(&entities, TimeProperty::ModifiedAt).await;
        assert_eq!(texts(&held), ["1", "2", "3"]);
        let name: InstanceId = held[1].1.to_string().parse().unwrap();
        let patch = Instance { kind: None, unit_code: Some("KMH".into()), ..instance("22.50", 11, None) };
        entities.patch_instance(ID, SPEED, name, &patch, Timestamp(99)).await.unwrap();
        let request = HistoryRequest::all(10);
        let found = entities.read_history(ID, &request).await.unwrap().unwrap();
        let second = found.attributes[0].instances().nth(2).unwrap();
        assert_eq!((second.unit_code(), second.modified_at()), (Some("KMH"), Timestamp(99)));
        assert_eq!((second.instance_id(), second.created_at()), (name, Timestamp(5)));
        // The last that was changed comes last, and is found by that time alone.
        assert_eq!(texts(&values(&entities, TimeProperty::ModifiedAt).await), ["1", "3", "22.50"]);
        assert_eq!(texts(&values(&entities, TimeProperty::CreatedAt).await), ["1", "22.50", "3"]);
        let within = async |span: TimeSpan, last_n: Option<usize>| {
            let request = HistoryRequest { span, last_n, ..HistoryRequest::all(10) };
            let found = entities.read_history(ID, &request).await.unwrap().unwrap();
            let instances = found.attributes.iter().flat_map(|one| one.instances());
            instances.map(|one| one.modified_at().0).collect::<Vec<_>>()
        };
        assert_eq!(within(TimeSpan::before(Timestamp(99)), None).await, [5, 7]);
        assert_eq!(within(TimeSpan::after(Timestamp(98)), None).await, [99]);
        assert_eq!(within(TimeSpan::ALL, Some(1)).await, [99]);
        let late = HistoryRequest { span: TimeSpan::after(Timestamp(98)), ..HistoryRequest::all(10) };
        let sum = [AggregateMethod::Sum, AggregateMethod::TotalCount];
        let found = entities.aggregate_history(ID, &late, &sum, None).await.unwrap().unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].buckets().len(), 1);
        let query = Query { types: Some(TypeQuery::Is(Some(TermId(1)))), limit: 10, ..Query::default() };
        let found = entities.query_history(&query, TimeProperty::ModifiedAt, late.span).await.unwrap();
        assert_eq!(found.ids, [ID.into()]);
        let other = Instance::new(Kind::Relationship, "\"urn:x:2\"");
        let refused = entities.patch_instance(ID, SPEED, name, &other, Timestamp(99)).await;
        assert!(matches!(refused, Err(Error::Invalid(_))));
        entities.delete_instance(ID, SPEED, name).await.unwrap();
        assert_eq!(texts(&values(&entities, TimeProperty::ModifiedAt).await), ["1", "3"]);
        let again = entities.delete_instance(ID, SPEED, name).await;
        assert!(matches!(again, Err(Error::NoSuchInstance(_))));
        let wrong = entities.delete_instance(ID, TermId(11), name).await;
        assert!(matches!(wrong, Err(Error::NoSuchAttribute(..))));
        let nobody = entities.delete_instance("urn:x:2", SPEED, name).await;
        assert!(matches!(nobody, Err(Error::NoSuchEntity(_))));
        let entity = entities.get(ID, Timestamp(6)).await.unwrap().unwrap();
        let now = entity.view().unwrap().attribute(SPEED).unwrap();
        assert_eq!(now.instance(None).unwrap().value(), "3", "the entity is as it was");
    });
}

#[test]
fn a_removal_keeps_the_kind_of_what_went() {
    run(async {
        let entities = tenant(&store()).await;
        let kinds = [Kind::Relationship, Kind::Property, Kind::ListRelationship];
        let instances = kinds.iter().zip(["urn:d:1", "urn:d:2", "urn:d:3"]).map(|(kind, dataset)| {
            let value = if *kind == Kind::ListRelationship { "[\"urn:x:2\"]" } else { "\"urn:x:2\"" };
            Instance { dataset: Some(dataset.into()), ..Instance::new(*kind, value) }
        });
        entities.apply(ID, Operation::Create(draft(instances.collect())), Timestamp(5)).await.unwrap();
        entities.apply(ID, Operation::Delete, Timestamp(8)).await.unwrap();
        let request = HistoryRequest { time: TimeProperty::DeletedAt, ..HistoryRequest::all(10) };
        for _ in 0..2 {
            let found = entities.read_history(ID, &request).await.unwrap().unwrap();
            let removed = found.attributes.iter().flat_map(|one| one.instances().map(|one| one.kind()));
            assert_eq!(removed.collect::<Vec<_>>(), kinds);
            assert!(found.attributes.iter().zip(kinds).all(|(one, kind)| one.kinds()[..] == [kind]));
            // And from the strands.
            entities.fold_history(ID).await.unwrap();
        }
    });
}

/// What two nodes write into one attribute's history at the same time is all kept.
#[test]
fn histories_that_two_nodes_write_at_once_are_kept() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(3).build().unwrap();
    runtime.block_on(async {
        let store = store();
        let nodes = [tenant(&store).await, tenant(&store).await];
        let writers = nodes.clone().map(|entities| {
            tokio::spawn(async move {
                for number in 0..100 {
                    let history = draft(vec![instance("1", number, None), instance("2", number, None)]);
                    entities.write_history(ID, &history, Timestamp(5)).await.unwrap();
                }
            })
        });
        for writer in writers {
            writer.await.unwrap();
        }
        assert_eq!(values(&nodes[0], TimeProperty::ModifiedAt).await.len(), 400);
    });
}

#[test]
fn histories_are_deleted_whole_and_by_attribute() {
    run(async {
        let entities = tenant(&store()).await;
        let both = draft(vec![instance("1", 10, None), instance("2", 10, Some("urn:d:1"))]);
        entities.apply(ID, Operation::Create(both), Timestamp(5)).await.unwrap();
        let dataset = Instances::Dataset("urn:d:1".into());
        entities.delete_history_attribute(ID, SPEED, &dataset).await.unwrap();
        assert_eq!(texts(&values(&entities, TimeProperty::ModifiedAt).await), ["1"]);
        let again = entities.delete_history_attribute(ID, SPEED, &dataset).await;
        assert!(matches!(again, Err(Error::NoSuchAttribute(..))));
        entities.apply(ID, Operation::Delete, Timestamp(8)).await.unwrap();
        let known = entities.history(ID).await.unwrap().unwrap();
        assert_eq!(known.deleted_at, Some(Timestamp(8)));
        let query = Query { types: Some(TypeQuery::Is(Some(TermId(1)))), limit: 10, ..Query::default() };
        let span = entity::TimeSpan::ALL;
        let found = entities.query_history(&query, TimeProperty::ModifiedAt, span).await.unwrap();
        assert_eq!(found.ids, [ID.into()]);
        entities.delete_history(ID).await.unwrap();
        assert!(entities.history(ID).await.unwrap().is_none());
        let found = entities.query_history(&query, TimeProperty::ModifiedAt, span).await.unwrap();
        assert!(found.ids.is_empty());
        assert!(matches!(entities.delete_history(ID).await, Err(Error::NoSuchEntity(_))));
        // It comes back, earlier than it went, and its history begins anew.
        entities
            .apply(ID, Operation::Create(draft(vec![instance("9", 1, None)])), Timestamp(3))
            .await
            .unwrap();
        assert_eq!(texts(&values(&entities, TimeProperty::ModifiedAt).await), ["9"]);
        entities.delete_history(ID).await.unwrap();
        assert!(values(&entities, TimeProperty::ModifiedAt).await.is_empty());
        assert!(entities.get(ID, Timestamp(9)).await.unwrap().is_some(), "the entity stays");
    });
}

#[test]
fn the_policy_says_what_is_recorded_and_how_long() {
    run(async {
        let rule = |of_type: Option<&str>| HistoryRule {
            of_type: of_type.map(Into::into),
            ..HistoryRule::default()
        };
        let rules = vec![
            HistoryRule { record: Some(false), ..rule(Some("urn:t:secret")) },
            HistoryRule {
                attribute: Some("urn:a:kept".into()),
                keep: Some(Duration::MAX),
                ..rule(Some("urn:t:plain"))
            },
            HistoryRule { keep: Some(Duration::from_micros(100)), ..rule(None) },
        ];
        let options = Options { history: HistoryPolicy { rules }, ..options(1) };
        let all = Entities::new(store(), options);
        let entities = all.tenant_or_create(&TenantName::default()).await.unwrap();
        let names = ["urn:t:plain", "urn:t:secret", "urn:a:kept", "urn:a:trimmed"];
        let [plain, secret, kept, trimmed] = entities.intern(&names).await.unwrap()[..] else { panic!() };
        let write = async |id: &str, of_type: TermId, now: i64| {
            let of = |name| Attribute { name, instances: smallvec![instance(&now.to_string(), now, None)] };
            let attributes = vec![of(kept), of(trimmed)];
            let draft = Draft { id: id.into(), types: smallvec![of_type], attributes, ..Draft::default() };
            entities.apply(id, Operation::UpsertUpdate(draft), Timestamp(now)).await.unwrap();
        };
        for now in [10, 50, 120] {
            write(ID, plain, now).await;
            write("urn:x:2", secret, now).await;
        }
        assert_eq!(all.trim_history(Timestamp(160)).await.unwrap(), 1);
        let request = HistoryRequest::all(100);
        let found = entities.read_history(ID, &request).await.unwrap().unwrap();
        let lens: Vec<_> = found.attributes.iter().map(|one| (one.attribute(), one.len())).collect();
        assert_eq!(lens, [(kept, 3), (trimmed, 1)]);
        assert_eq!(all.trim_history(Timestamp(1000)).await.unwrap(), 1);
        let found = entities.read_history(ID, &request).await.unwrap().unwrap();
        assert_eq!(found.attributes.len(), 1);
        let found = entities.read_history("urn:x:2", &request).await.unwrap().unwrap();
        assert!(found.attributes.is_empty(), "nothing is recorded of it");
    });
}

/// Scopes hold until they are set anew: retention leaves those that hold at its cutoff, and trims nothing twice.
#[test]
fn scopes_that_hold_outlive_retention() {
    run(async {
        let keep = Some(Duration::from_micros(100));
        let rules = vec![HistoryRule { tenant: None, of_type: None, attribute: None, record: None, keep }];
        let options = Options { history: HistoryPolicy { rules }, ..options(1) };
        let all = Entities::new(store(), options);
        let entities = all.tenant_or_create(&TenantName::default()).await.unwrap();
        for (scope, now) in [("/a", 10), ("/b", 20), ("/c", 190)] {
            let scopes = Some(vec![scope.into()]);
            let draft = Draft { id: ID.into(), types: smallvec![TermId(1)], scopes, ..Draft::default() };
            entities.apply(ID, Operation::UpsertUpdate(draft), Timestamp(now)).await.unwrap();
        }
        let scopes = async || texts(&values(&entities, TimeProperty::ObservedAt).await).join(" ");
        assert_eq!(scopes().await, r#""/a" "/b" "/c""#);
        assert_eq!(all.trim_history(Timestamp(200)).await.unwrap(), 1);
        assert_eq!(scopes().await, r#""/b" "/c""#);
        assert_eq!(all.trim_history(Timestamp(200)).await.unwrap(), 0);
        assert_eq!(all.trim_history(Timestamp(1000)).await.unwrap(), 1);
        assert_eq!(scopes().await, r#""/c""#);
        // What was removed holds no longer.
        entities.apply(ID, Operation::Delete, Timestamp(2000)).await.unwrap();
        assert_eq!(all.trim_history(Timestamp(5000)).await.unwrap(), 1);
        assert_eq!(scopes().await, "");
    });
}

/// What is known of a history without an entity are the scopes that were observed last, in whatever order they are written.
#[test]
fn older_scopes_do_not_take_the_place_of_newer_ones() {
    run(async {
        let entities = tenant(&store()).await;
        let known = async |scope: &str, observed: i64| {
            let value = entity::scope_value([scope].into_iter());
            let attribute =
                Attribute { name: TermId::SCOPE, instances: smallvec![instance(&value, observed, None)] };
            let scopes = Some(vec![scope.into()]);
            let draft = Draft { scopes, attributes: vec![attribute], ..draft(Vec::new()) };
            entities.write_history(ID, &draft, Timestamp(100)).await.unwrap();
            let known = entities.history(ID).await.unwrap().unwrap();
            known.scopes.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(known("/a", 50).await, ["/a"]);
        assert_eq!(known("/old", 40).await, ["/a"]);
        assert_eq!(known("/same", 50).await, ["/same"]);
        assert_eq!(known("/b", 60).await, ["/b"]);
    });
}
