//! Tenants are created once, keep their buckets, and share their names.

use std::collections::{BTreeMap, BTreeSet};

use entity::{Draft, Operation, TermId};
use store::{Direction, TenantName, Timestamp};

use super::*;
use crate::write::{tests::options, tests::plain_store, tests::put_raw, tests::run, tests::store};

async fn names(entities: &Entities) -> Vec<String> {
    entities.tenants().await.unwrap().iter().map(|tenant| tenant.name().to_owned()).collect()
}

#[test]
fn tenants_are_created_once_and_keep_their_buckets() {
    run(async {
        let store = store();
        let entities = Entities::new(store.clone(), options(4));
        let city = TenantName::new("city").unwrap();
        assert!(matches!(entities.tenant(&city).await, Err(Error::NoSuchTenant(name)) if name == "city"));
        assert!(entities.tenant(&TenantName::default()).await.is_ok());
        let created = entities.tenant_or_create(&city).await.unwrap();
        let terms = created.intern(&["urn:type"]).await.unwrap();
        let draft = Draft { types: terms[..].into(), ..Draft::default() };
        created.apply("urn:x:1", Operation::Create(draft), Timestamp(1)).await.unwrap();
        assert_eq!(names(&entities).await, ["", "city"]);

        let later = Entities::new(store, options(1));
        let found = later.tenant(&city).await.unwrap();
        assert_eq!(found.state().partitions.len(), 4, "fixed when it was created");
        assert_eq!(found.terms().id("urn:type"), Some(TermId(0)));
        assert!(found.get("urn:x:1", Timestamp(2)).await.unwrap().is_some());
        assert_eq!(later.tenant_or_create(&TenantName::default()).await.unwrap().state().partitions.len(), 4);
    });
}

/// What one process makes, changes and removes, another knows that asked for it before.
#[test]
fn processes_know_of_each_other() {
    for seed in store::testing::seeds(40) {
        run(async {
            let store = store::testing::hostile(store::Clock::manual(Timestamp(0)), seed);
            let all = [store.beside(), store]
                .map(|store| Entities::new(store, Options { tenants_max: 1, ..options(1) }));
            let city = TenantName::new("city").unwrap();
            assert!(matches!(all[1].tenant(&city).await, Err(Error::NoSuchTenant(_))));
            let one = all[0].tenant_or_create(&city).await.unwrap();
            let two = all[1].tenant(&city).await.unwrap();
            let full = all[1].tenant_or_create(&TenantName::new("town").unwrap()).await;
            assert!(matches!(full, Err(Error::TooManyTenants { .. })));
            for round in 0..10 {
                let name = format!("urn:type:{round}");
                let terms = one.intern(&[&name]).await.unwrap();
                let again = all[1].tenant(&city).await.unwrap();
                assert_eq!(again.terms().id(&name), Some(terms[0]));
                let draft = Draft { types: terms[..].into(), ..Draft::default() };
                let create = || Operation::Create(draft.clone());
                let now = Timestamp(round);
                one.apply("urn:x:1", create(), now).await.unwrap();
                let refused = two.apply("urn:x:1", create(), now).await;
                assert!(matches!(refused, Err(Error::AlreadyExists(_))), "{refused:?}");
                one.apply("urn:x:1", Operation::Delete, now).await.unwrap();
                let refused = two.apply("urn:x:1", Operation::Delete, now).await;
                assert!(matches!(refused, Err(Error::NoSuchEntity(_))), "{refused:?}");
                let refused = two.apply_all(vec![("urn:x:1".into(), Operation::Delete)], now).await;
                assert!(matches!(refused[..], [Err(Error::NoSuchEntity(_))]), "{refused:?}");
            }
        });
    }
}

/// Two nodes create tenants, fill and remove them, in an order that the seed gives. After each step the store holds of each
/// tenant what a plain map does, whatever late writers try; at the end it holds nothing else.
#[test]
fn tenants_come_and_go_as_in_a_map() {
    for seed in store::testing::seeds(40) {
        run(async {
            let store = match seed % 2 {
                0 => store::testing::hostile(store::Clock::manual(Timestamp(0)), seed),
                _ => store(),
            };
            let nodes = [Entities::new(store.clone(), options(2)), Entities::new(store.beside(), options(2))];
            let mut dice = seed;
            let mut roll = |sides: u64| {
                dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (dice >> 33) % sides
            };
            let mut model: BTreeMap<TenantName, BTreeSet<String>> = BTreeMap::new();
            let mut handles: Vec<TenantEntities> = Vec::new();
            for step in 0..60 {
                let node = &nodes[usize::from(roll(2) == 1)];
                let name = TenantName::new(["a", "b", "c"][usize::try_from(roll(3)).unwrap()]).unwrap();
                let id = format!("urn:x:{}", roll(4));
                match roll(6) {
                    0 => {
                        handles.push(node.tenant_or_create(&name).await.unwrap());
                        model.entry(name).or_default();
                    }
                    1 => assert_eq!(node.remove_tenant(&name).await.unwrap(), model.remove(&name).is_some()),
                    2 => drop(node.finish_removals().await.unwrap()),
                    3 => {
                        let late = handles.iter().rfind(|handle| handle.tenant().is_ended());
                        if let Some(late) = late {
                            let outcome = create(late, &id, step).await;
                            assert!(matches!(outcome, Err(Error::NoSuchTenant(_))), "{outcome:?}");
                            assert!(late.get(&id, Timestamp(step)).await.is_err());
                        }
                    }
                    _ => match (node.tenant(&name).await, model.get_mut(&name)) {
                        (Ok(tenant), Some(ids)) => match create(&tenant, &id, step).await {
                            Ok(_) => assert!(ids.insert(id)),
                            Err(Error::AlreadyExists(_)) => assert!(ids.contains(&id)),
                            Err(error) => panic!("seed {seed}: {error}"),
                        },
                        (Err(Error::NoSuchTenant(_)), None) => {}
                        (found, held) => panic!("seed {seed}: {found:?} {held:?}"),
                    },
                }
                for node in &nodes {
                    let expected = [""].into_iter().chain(model.keys().map(TenantName::as_str));
                    assert!(names(node).await.iter().eq(expected), "seed {seed}");
                    for (name, ids) in &model {
                        assert_eq!(stored_ids(&node.tenant(name).await.unwrap()).await, *ids, "seed {seed}");
                    }
                }
            }
            while nodes[0].finish_removals().await.unwrap() > 0 {}
            for ended in handles.iter().map(TenantEntities::tenant).filter(|tenant| tenant.is_ended()) {
                assert_eq!(store::testing::rows_of_tenant(&store, ended.number()), 0, "seed {seed}");
            }
        });
    }
}

async fn create(tenant: &TenantEntities, id: &str, now: i64) -> Result<entity::Change, Error> {
    let types = tenant.intern(&["urn:type"]).await?;
    let draft = Draft { types: types[..].into(), ..Draft::default() };
    tenant.apply(id, Operation::Create(draft), Timestamp(now)).await
}

/// The ids of all entities that the store holds of a tenant.
async fn stored_ids(tenant: &TenantEntities) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    for partition in &tenant.state().partitions {
        let store = &tenant.state().store;
        let page = store.scan(partition, &keys::entities_range(), Direction::Forward, 99).await.unwrap();
        ids.extend(page.rows().map(|(key, _)| keys::id_of_key(key).unwrap().to_owned()));
    }
    ids
}

#[test]
fn a_node_learns_the_names_that_another_stored() {
    run(async {
        let store = store();
        let [one, two] = [0, 1].map(|_| Entities::new(store.clone(), options(1)));
        let (one, two) = (
            one.tenant(&TenantName::default()).await.unwrap(),
            two.tenant(&TenantName::default()).await.unwrap(),
        );
        let terms = one.intern(&["urn:type"]).await.unwrap();
        let draft = Draft { types: terms[..].into(), ..Draft::default() };
        one.apply("urn:x:1", Operation::Create(draft), Timestamp(1)).await.unwrap();
        assert_eq!(two.terms().iri(terms[0]), None);
        let entity = two.get("urn:x:1", Timestamp(1)).await.unwrap().unwrap();
        let of_type = entity.view().unwrap().types().next().unwrap();
        assert_eq!(two.terms().iri(of_type).as_deref(), Some("urn:type"));
    });
}

#[test]
fn tenants_beyond_the_limit_are_refused_however_many_come_at_once() {
    run(async {
        let store = store();
        let named = |number: usize| TenantName::new(&format!("t{number}")).unwrap();
        let earlier = Entities::new(store.clone(), options(1));
        earlier.tenant_or_create(&named(0)).await.unwrap();

        let entities = Entities::new(store, Options { tenants_max: 3, ..options(1) });
        let mut creations = tokio::task::JoinSet::new();
        for number in 0..10 {
            let (entities, tenant) = (entities.clone(), named(number));
            creations.spawn(async move { entities.tenant_or_create(&tenant).await.map(drop) });
        }
        let outcomes = creations.join_all().await;
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 3, "{outcomes:?}");
        assert_eq!(entities.tenants().await.unwrap().len(), 4, "three and the default one");
        let refused = entities.tenant_or_create(&named(99)).await.unwrap_err();
        let text = "tenant \"t99\" is not created: tenants_max allows 3 beside the default one";
        assert_eq!(refused.to_string(), text);
        assert!(entities.tenant_or_create(&named(0)).await.is_ok(), "one that is there is no new one");
        assert!(entities.tenant_or_create(&TenantName::default()).await.is_ok());
    });
}

/// Reads of what is damaged still fail, and it is tried again later.
#[test]
fn a_damaged_entity_or_tenant_keeps_nothing_of_others_from_expiring() {
    run(async {
        let store = plain_store();
        let before = Entities::new(store.clone(), options(2));
        let names = ["city", "ruin", "town"].map(|name| TenantName::new(name).unwrap());
        for name in &names {
            let tenant = before.tenant_or_create(name).await.unwrap();
            let types = tenant.intern(&["urn:type"]).await.unwrap();
            for id in ["urn:x:1", "urn:x:2", "urn:x:3"] {
                let draft =
                    Draft { types: types[..].into(), expires_at: Some(Timestamp(50)), ..Draft::default() };
                tenant.apply(id, Operation::Create(draft), Timestamp(1)).await.unwrap();
            }
        }
        let [city, ruin, town] = names;
        put_raw(
            &store,
            &keys::terms_partition(before.tenant(&ruin).await.unwrap().tenant()),
            Bytes::from_static(b"i\0\0\0\0"),
            b"\xff",
        )
        .await;
        let state = before.tenant(&city).await.unwrap();
        let partition = state.state().partition("urn:x:2").unwrap().clone();
        put_raw(&store, &partition, keys::entity("urn:x:2"), b"?").await;

        let all = Entities::new(store.clone(), options(2));
        assert_eq!(all.purge_expired(Timestamp(60)).await.unwrap(), 5);
        assert_eq!(all.skips().count(), 2);
        for (tenant, left) in [(&city, vec![keys::entity("urn:x:2")]), (&town, vec![])] {
            let mut found = Vec::new();
            for partition in &all.tenant(tenant).await.unwrap().state().partitions {
                let page =
                    store.scan(partition, &keys::entities_range(), Direction::Forward, 9).await.unwrap();
                found.extend(page.rows().map(|(key, _)| Bytes::copy_from_slice(key)));
            }
            assert_eq!(found, left);
        }
        assert!(all.tenant(&ruin).await.is_err());
        let city = all.tenant(&city).await.unwrap();
        assert!(city.get("urn:x:2", Timestamp(1)).await.is_err());
        for _ in 0..100 {
            assert_eq!(all.purge_expired(Timestamp(60)).await.unwrap(), 0);
        }
        assert!(all.skips().count() > 102, "the entity was tried again, not each time");
        assert!(all.skips().count() < 110, "{}", all.skips().count());
    });
}
