use std::collections::BTreeMap;
use std::task::Poll;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::testing::{THINGS, commit, hostile, memory, record, rows_of_tenant};
use crate::{Append, Clock, Condition, Cursor, Direction, Partition, Range, Space, SpaceKind, WriteId};

const BLOCKS: Space = Space { id: 202, kind: SpaceKind::Append, name: "blocks" };
const NO_PAUSE: Duration = Duration::ZERO;
const MANY: usize = 1_000;

fn name(text: &str) -> TenantName {
    TenantName::new(text).unwrap()
}

fn things(tenant: &Tenant, bucket: u32) -> Partition {
    Partition { tenant: tenant.clone(), space: THINGS, bucket }
}

fn block(tenant: &Tenant, bucket: u32) -> Append {
    let partition = Partition { space: BLOCKS, ..things(tenant, bucket) };
    Append { partition, rows: vec![(Bytes::from_static(b"b"), Bytes::new())] }
}

async fn created(tenants: &Tenants, text: &str) -> Tenant {
    match tenants.create(&name(text), MANY, None).await.unwrap() {
        TenantCreation::Created(tenant) => tenant,
        other => panic!("{text} is not new: {other:?}"),
    }
}

async fn all(tenants: &Tenants) -> Vec<Tenant> {
    tenants.all().await.unwrap().into_iter().map(|info| info.tenant).collect()
}

async fn kept(tenants: &Tenants, tenant: &Tenant, model: Model) -> Result<Option<Bytes>, Error> {
    Ok(tenants.info(tenant).await?.stored(model).cloned())
}

async fn put(store: &Store, partition: Partition, key: &str, value: &str) -> Result<(), Error> {
    let write = Write::PutStamped(key.to_owned().into(), value.to_owned().into());
    let commit = Commit { partition, write_id: WriteIds::new().next(), ..commit(0, vec![], vec![write]) };
    store.commit_known(commit).await.map(drop)
}

#[tokio::test]
async fn tenants_are_created_listed_and_removed() {
    for store in [memory(Clock::System), hostile(Clock::System, 7)] {
        let tenants = Tenants::new(store.clone());
        assert_eq!(tenants.get(&name("city")).await.unwrap(), None);
        assert!(tenants.get(&TenantName::default()).await.unwrap().unwrap().is_default());
        let city = created(&tenants, "city").await;
        assert_eq!(tenants.get(&name("city")).await.unwrap(), Some(city.clone()));
        let exists = tenants.create(&name("city"), MANY, None).await.unwrap();
        assert_eq!(exists, TenantCreation::Exists(city.clone()));
        let again = tenants.create(&TenantName::default(), 0, None).await.unwrap();
        assert_eq!(again, TenantCreation::Exists(Tenant::default()));
        assert_eq!(tenants.create(&name("town"), 1, None).await.unwrap(), TenantCreation::Full);
        let town = created(&tenants, "town").await;
        assert_eq!(all(&tenants).await, [city.clone(), town.clone()]);
        assert_eq!(tenants.list(Some(&name("city"))).await.unwrap().tenants.len(), 1);

        assert!(tenants.remove(&name("city")).await.unwrap());
        assert!(!tenants.remove(&name("city")).await.unwrap());
        assert_eq!(tenants.remove(&TenantName::default()).await.unwrap_err().kind(), ErrorKind::Misuse);
        assert!(city.is_ended() && !tenants.is_current(&city).await.unwrap());
        assert_eq!(tenants.get(&name("city")).await.unwrap(), None);
        assert_eq!(all(&tenants).await, std::slice::from_ref(&town));
        let second = created(&tenants, "city").await;
        assert!(second != city && second.number() > town.number());
        // There is room for as many as there are, not for those that were.
        assert_eq!(tenants.create(&name("x"), 2, None).await.unwrap(), TenantCreation::Full);
        assert_eq!(tenants.finish_removals(NO_PAUSE).await.unwrap(), 1);
        assert_eq!(tenants.finish_removals(NO_PAUSE).await.unwrap(), 0);
        assert!(tenants.is_current(&second).await.unwrap());
    }
}

#[tokio::test]
async fn what_models_keep_is_changed_on_condition_of_what_it_was() {
    const ONE: Model = Model { id: 1, name: "one" };
    const TWO: Model = Model { id: 2, name: "two" };
    let bytes = |text: &'static str| Bytes::from_static(text.as_bytes());
    for store in [memory(Clock::System), hostile(Clock::System, 3)] {
        let tenants = Tenants::new(store.clone());
        let creation = tenants.create(&name("city"), MANY, Some((ONE, bytes("4")))).await.unwrap();
        let TenantCreation::Created(city) = creation else { panic!("{creation:?}") };
        for tenant in [&city, &Tenant::default()] {
            let was = kept(&tenants, tenant, ONE).await.unwrap();
            assert_eq!(was, (!tenant.is_default()).then(|| bytes("4")));
            assert_eq!(tenants.put(tenant, ONE, was.as_ref(), &bytes("8")).await.unwrap(), Some(bytes("8")));
            assert_eq!(tenants.put(tenant, ONE, was.as_ref(), &bytes("9")).await.unwrap(), Some(bytes("8")));
            assert_eq!(tenants.put(tenant, TWO, None, &bytes("two")).await.unwrap(), Some(bytes("two")));
            assert_eq!(kept(&tenants, tenant, ONE).await.unwrap(), Some(bytes("8")));
        }
        let large = Bytes::from(vec![0; TENANT_MODEL_BYTES_MAX + 1]);
        assert_eq!(tenants.put(&city, TWO, None, &large).await.unwrap_err().kind(), ErrorKind::TooLarge);
        tenants.remove(&name("city")).await.unwrap();
        let refused = tenants.put(&city, ONE, None, &bytes("1")).await.unwrap_err();
        assert_eq!((refused.kind(), refused.action()), (ErrorKind::TenantRemoved, "city"));
        assert_eq!(kept(&tenants, &city, ONE).await.unwrap_err().kind(), ErrorKind::TenantRemoved);
    }
}

/// Everything that a life of a tenant can be asked is refused once it was removed, and nothing of it is left; what others have stays.
async fn check_removal(store: &Store) {
    let tenants = Tenants::new(store.clone());
    let (city, town) = (created(&tenants, "city").await, created(&tenants, "town").await);
    for tenant in [&city, &town, &Tenant::default()] {
        for bucket in 0..3 {
            put(store, things(tenant, bucket), "a", tenant.name()).await.unwrap();
            store.append(block(tenant, bucket), store.fence(&things(tenant, bucket))).await.unwrap();
        }
    }
    let (partition, snapshot) = (things(&city, 0), store.snapshot().unwrap());
    let stale = store.get(&partition, b"a").await.unwrap().unwrap();
    let (begun, of_default) = (store.feed_end(0), rows_of_tenant(store, 0));
    assert!(tenants.remove(&name("city")).await.unwrap());
    let again = created(&tenants, "city").await;

    let keys = [Bytes::from_static(b"a")];
    let all = Range::default();
    let kind = |error: Error| (error.kind(), error.action().to_owned());
    let gone = (ErrorKind::TenantRemoved, "city".to_owned());
    for _ in 0..2 {
        assert_eq!(kind(put(store, partition.clone(), "a", "late").await.unwrap_err()), gone);
        let fence = store.fence(&partition);
        assert_eq!(kind(store.append(block(&city, 0), fence).await.unwrap_err()), gone);
        assert_eq!(kind(store.get(&partition, b"a").await.unwrap_err()), gone);
        assert_eq!(kind(store.get_linear(&partition, b"a").await.unwrap_err()), gone);
        assert_eq!(kind(store.get_many(&partition, &keys).await.unwrap_err()), gone);
        assert_eq!(kind(store.get_many_linear(&partition, &keys).await.unwrap_err()), gone);
        assert_eq!(store.get_cached(&partition, b"a"), None);
        assert_eq!(kind(store.scan(&partition, &all, Direction::Forward, 9).await.unwrap_err()), gone);
        assert_eq!(kind(store.skip(&partition, &all, b"", 9).await.unwrap_err()), gone);
        assert_eq!(kind(snapshot.get(&partition, b"a").await.unwrap_err()), gone);
        assert_eq!(kind(snapshot.scan(&partition, &all, Direction::Forward, 9).await.unwrap_err()), gone);
        assert_eq!(kind(store.resolve(&partition, WriteId(1), None).await.unwrap_err()), gone);
        assert_eq!(store.get_linear(&things(&again, 0), b"a").await.unwrap(), None);
        // Once removed only, then with its rows gone.
        tenants.finish_removals(NO_PAUSE).await.unwrap();
    }
    assert_eq!(rows_of_tenant(store, city.number()), 0);
    assert_eq!(rows_of_tenant(store, town.number()), 6);
    // The directory: another row of the name in the place of the one.
    assert_eq!(rows_of_tenant(store, 0), of_default);
    put(store, things(&again, 0), "a", "again").await.unwrap();
    let write = Write::Put(Bytes::from_static(b"c"), Bytes::new());
    let condition = Condition::Version(Bytes::from_static(b"a"), stale.stamp);
    let stale = Commit { partition: things(&again, 0), ..commit(9, vec![condition], vec![write]) };
    assert_eq!(store.commit_known(stale).await.unwrap_err().kind(), ErrorKind::Conflict);
    for shard in 0..store.feed_shards() {
        let told = store.feed(shard, Cursor::default(), 1_000).await.unwrap().changes;
        assert!(
            told.iter().all(|change| change.partition.tenant != city && change.record == record("change 0"))
        );
    }
    assert!(store.feed(0, begun, 100).await.is_ok());
}

#[tokio::test]
async fn a_removed_tenant_is_gone_with_everything_in_memory() {
    check_removal(&memory(Clock::System)).await;
    check_removal(&Store::hostile(crate::HostileOptions::calm(crate::MemoryOptions {
        clock: Clock::System,
        feed: crate::FeedOptions::recommended(),
    })))
    .await;
}

#[tokio::test]
async fn a_removed_tenant_is_gone_with_everything_on_disk_and_after_a_break() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Store::open(folder.path(), crate::EmbeddedOptions::recommended()).unwrap();
    let store = open();
    check_removal(&store).await;
    // Removed, and the process ends before its rows are gone.
    let tenants = Tenants::new(store.clone());
    let ruin = created(&tenants, "ruin").await;
    put(&store, things(&ruin, 1), "a", "ruin").await.unwrap();
    assert!(tenants.remove(&name("ruin")).await.unwrap());
    store.close().await.unwrap();
    drop((store, tenants));

    let store = open();
    let tenants = Tenants::new(store.clone());
    assert_eq!(tenants.get(&name("ruin")).await.unwrap(), None);
    assert_eq!(rows_of_tenant(&store, ruin.number()), 1);
    assert_eq!(tenants.finish_removals(NO_PAUSE).await.unwrap(), 1);
    assert_eq!(rows_of_tenant(&store, ruin.number()), 0);
    let again = created(&tenants, "ruin").await;
    assert!(again.number() > ruin.number());
    let told = store.feed(0, Cursor::default(), 1_000).await.unwrap().changes;
    assert!(told.iter().all(|change| change.partition.tenant != ruin) && !told.is_empty());
    store.close().await.unwrap();
}

const PARTS: Model = Model { id: 7, name: "parts" };

async fn check_parts(store: &Store) {
    let tenants = Tenants::new(store.clone());
    let (city, town) = (created(&tenants, "city").await, created(&tenants, "town").await);
    let mut parts = Vec::new();
    for tenant in [&city, &town, &Tenant::default()] {
        let inside = tenants.within(tenant, PARTS, "main");
        for text in ["main", "a", "b"] {
            assert_eq!(inside.get(&name(text)).await.unwrap(), None);
            let TenantCreation::Created(part) = inside.create(&name(text), 2, None).await.unwrap() else {
                panic!("{text} is not new");
            };
            assert_eq!(part.within(), Some(tenant));
            put(store, things(&part, 0), "a", text).await.unwrap();
            parts.push(part);
        }
        assert_eq!(inside.create(&name("c"), 2, None).await.unwrap(), TenantCreation::Full);
        assert_eq!(all(&inside).await.iter().map(Tenant::name).collect::<Vec<_>>(), ["a", "b", "main"]);
    }
    // One goes alone, and comes again at once.
    let inside = tenants.within(&city, PARTS, "main");
    let a = inside.get(&name("a")).await.unwrap().unwrap();
    let other = Bytes::from_static(b"other");
    assert!(!inside.remove_if(&a, PARTS, Some(&other)).await.unwrap());
    assert!(inside.remove_if(&a, PARTS, None).await.unwrap());
    assert!(a.is_ended() && !city.is_ended());
    let TenantCreation::Created(again) = inside.create(&name("a"), 2, None).await.unwrap() else {
        panic!("a is not new");
    };
    put(store, things(&again, 0), "b", "again").await.unwrap();
    assert_eq!(tenants.finish_removals(NO_PAUSE).await.unwrap(), 1);
    assert_eq!((rows_of_tenant(store, a.number()), rows_of_tenant(store, again.number())), (0, 1));
    // All go with their tenant, whatever another node knows of them.
    let beside = Tenants::new(store.beside());
    let far = beside.get(&name("city")).await.unwrap().unwrap();
    let far = beside.within(&far, PARTS, "main").get(&name("b")).await.unwrap().unwrap();
    assert!(tenants.remove(&name("city")).await.unwrap());
    for (tenants, part) in [(&tenants, &again), (&beside, &far)] {
        let refused = put(&tenants.store, things(part, 0), "a", "late").await.unwrap_err();
        assert_eq!((refused.kind(), refused.action()), (ErrorKind::TenantRemoved, "city"));
    }
    let refused = inside.create(&name("late"), 9, None).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::TenantRemoved);
    assert!(tenants.within(&created(&tenants, "city").await, PARTS, "main").all().await.unwrap().is_empty());
    tenants.finish_removals(NO_PAUSE).await.unwrap();
    for part in parts.iter().chain([&again]) {
        let is_there = part.within() != Some(&city);
        assert_eq!(rows_of_tenant(store, part.number()), usize::from(is_there), "{part}");
    }
}

#[tokio::test]
async fn parts_are_named_inside_a_tenant_and_go_alone_or_with_it() {
    check_parts(&memory(Clock::System)).await;
    let memory = || crate::MemoryOptions { clock: Clock::System, feed: crate::FeedOptions::recommended() };
    check_parts(&Store::hostile(crate::HostileOptions::calm(memory()))).await;
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), crate::EmbeddedOptions::recommended()).unwrap();
    check_parts(&store).await;
    store.close().await.unwrap();
    drop(store);
    let store = Store::open(folder.path(), crate::EmbeddedOptions::recommended()).unwrap();
    let town = Tenants::new(store.clone()).get(&name("town")).await.unwrap().unwrap();
    let number = store.lives().of_name(&Directory { within: Some((town, PARTS.id)) }, &name("b"));
    assert!(number.is_some(), "parts are known from the start");
}

/// Whatever moment a removal's caller leaves at: once the row is gone, so is the life.
async fn check_dropped_removals(store: &Store) {
    let tenants = Tenants::new(store.clone());
    for polls in 1..=4 {
        let city = created(&tenants, "city").await;
        let (city_name, key) = (name("city"), tenants.key(&name("city")));
        {
            let mut removal = std::pin::pin!(tenants.remove(&city_name));
            for _ in 0..polls {
                let is_done =
                    std::future::poll_fn(|cx| Poll::Ready(removal.as_mut().poll(cx).is_ready())).await;
                // What was asked for may be done meanwhile, and the future not told.
                tokio::time::sleep(Duration::from_millis(20)).await;
                if is_done {
                    break;
                }
            }
        }
        let is_there = async || store.get_linear(&tenant_rows::partition(), &key).await.unwrap().is_some();
        for _ in 0..500 {
            if city.is_ended() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let written = put(store, things(&city, 0), "a", "late").await;
        assert_eq!(written.is_ok(), is_there().await, "{polls} polls");
        tenants.finish_removals(NO_PAUSE).await.unwrap();
        assert_eq!(rows_of_tenant(store, city.number()), usize::from(written.is_ok()), "{polls} polls");
        tenants.remove(&city_name).await.unwrap();
        tenants.finish_removals(NO_PAUSE).await.unwrap();
    }
}

#[tokio::test]
async fn a_removal_whose_caller_leaves_is_whole_or_is_none() {
    check_dropped_removals(&memory(Clock::System)).await;
    check_dropped_removals(&hostile(Clock::System, 7)).await;
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), crate::EmbeddedOptions::recommended()).unwrap();
    check_dropped_removals(&store).await;
}

#[tokio::test]
async fn a_damaged_row_stops_no_other_removal() {
    let store = memory(Clock::System);
    let tenants = Tenants::new(store.clone());
    let (city, town) = (created(&tenants, "city").await, created(&tenants, "town").await);
    let inside = tenants.within(&city, PARTS, "main");
    created(&inside, "a").await;
    let b = created(&inside, "b").await;
    for tenant in [&city, &b, &town] {
        put(&store, things(tenant, 0), "a", "row").await.unwrap();
    }
    let nonsense = [inside.key(&name("a")), Bytes::from_static(b"r\0")];
    let writes = nonsense.iter().map(|key| Write::Put(key.clone(), Bytes::from_static(b"?"))).collect();
    tenants.commit(vec![], writes, false).await.unwrap();
    for gone in ["city", "town"] {
        assert!(tenants.remove(&name(gone)).await.unwrap());
    }
    let error = tenants.finish_removals(NO_PAUSE).await.unwrap_err();
    assert!(
        error.kind() == ErrorKind::Corrupt && error.action().contains("r\\x00"),
        "the first one: {error}"
    );
    assert_eq!((rows_of_tenant(&store, b.number()), rows_of_tenant(&store, town.number())), (0, 0));
    // What is left stays named, so that somebody can look at it.
    let mended = nonsense.into_iter().map(Write::Delete).collect();
    tenants.commit(vec![], mended, false).await.unwrap();
    assert_eq!(tenants.finish_removals(NO_PAUSE).await.unwrap(), 1);
    assert_eq!(rows_of_tenant(&store, city.number()), 0);
}

#[derive(Clone, Debug)]
enum Step {
    Create(u8),
    Remove(u8),
    /// Its life ends, and another begins.
    Renew(u8),
    Write(u8, u8),
    /// A write through the handle that the node had of the life before.
    WriteLate(u8, u8),
    Finish,
}

fn steps() -> impl Strategy<Value = Vec<(bool, Step)>> {
    let step = prop_oneof![
        (0..3_u8).prop_map(Step::Create),
        (0..3_u8).prop_map(Step::Remove),
        (0..3_u8).prop_map(Step::Renew),
        (0..3_u8, 0..4_u8).prop_map(|(tenant, key)| Step::Write(tenant, key)),
        (0..3_u8, 0..4_u8).prop_map(|(tenant, key)| Step::WriteLate(tenant, key)),
        Just(Step::Finish),
    ];
    prop::collection::vec((any::<bool>(), step), 1..60)
}

/// Ends the life of a tenant, if there is one, and begins another, which is empty.
async fn renew(
    tenants: &Tenants,
    tenant: u8,
    model: &mut BTreeMap<u8, BTreeMap<u8, usize>>,
    lives: &mut BTreeMap<u8, Tenant>,
) {
    let found = tenants.get(&name(&format!("t{tenant}"))).await.unwrap();
    assert_eq!(found.is_some(), model.contains_key(&tenant));
    if let Some(life) = found {
        let model_of = Model { id: 1, name: "one" };
        assert!(tenants.renew_if(&life, model_of, None).await.unwrap() && life.is_ended());
        lives.insert(tenant, life);
        model.insert(tenant, BTreeMap::new());
    }
}

/// Two nodes do as the steps say; after each, what both see of the tenants is what a plain map holds.
async fn check_steps(store: Store, steps: Vec<(bool, Step)>) {
    let nodes = [store.clone(), store.beside()].map(|store| (Tenants::new(store.clone()), store));
    let mut model: BTreeMap<u8, BTreeMap<u8, usize>> = BTreeMap::new();
    let mut lives: BTreeMap<u8, Tenant> = BTreeMap::new();
    let named = |tenant: u8| name(&format!("t{tenant}"));
    for (number, (other, step)) in steps.into_iter().enumerate() {
        let (tenants, store) = &nodes[usize::from(other)];
        match step {
            Step::Create(tenant) => {
                let is_new = match tenants.create(&named(tenant), MANY, None).await.unwrap() {
                    TenantCreation::Created(life) => {
                        lives.insert(tenant, life);
                        true
                    }
                    TenantCreation::Exists(_) => false,
                    TenantCreation::Full => panic!("there is room"),
                };
                assert_eq!(is_new, !model.contains_key(&tenant));
                model.entry(tenant).or_default();
            }
            Step::Remove(tenant) => {
                let is_removed = tenants.remove(&named(tenant)).await.unwrap();
                assert_eq!(is_removed, model.remove(&tenant).is_some());
            }
            Step::Renew(tenant) => renew(tenants, tenant, &mut model, &mut lives).await,
            Step::Write(tenant, key) => {
                let found = tenants.get(&named(tenant)).await.unwrap();
                assert_eq!(found.is_some(), model.contains_key(&tenant));
                if let (Some(found), Some(rows)) = (found, model.get_mut(&tenant)) {
                    loop {
                        match put(store, things(&found, 0), &key.to_string(), &number.to_string()).await {
                            Err(error) if error.kind() == ErrorKind::Conflict => {}
                            done => break done.unwrap(),
                        }
                    }
                    rows.insert(key, number);
                }
            }
            Step::WriteLate(tenant, key) => {
                if let Some(life) = lives.get(&tenant).filter(|_| !model.contains_key(&tenant)) {
                    let late = put(store, things(life, 0), &key.to_string(), "late").await;
                    assert_ne!(late.map_err(|error| error.kind()), Ok(()));
                }
            }
            Step::Finish => drop(tenants.finish_removals(NO_PAUSE).await.unwrap()),
        }
        for (tenants, store) in &nodes {
            let all: Vec<TenantName> = all(tenants).await.iter().map(Tenant::to_name).collect();
            assert!(all.iter().cloned().eq(model.keys().map(|tenant| named(*tenant))));
            for (tenant, rows) in &model {
                let life = tenants.get(&named(*tenant)).await.unwrap().unwrap();
                let page =
                    store.scan(&things(&life, 0), &Range::default(), Direction::Forward, 99).await.unwrap();
                let expected = rows.iter().map(|(key, number)| (key.to_string(), number.to_string()));
                let found = page.rows().map(|(key, value)| (text(key), text(value)));
                assert!(found.eq(expected), "{tenant}");
            }
        }
    }
    while nodes[0].0.finish_removals(NO_PAUSE).await.unwrap() > 0 {}
    let live: Vec<u32> = all(&nodes[0].0).await.iter().map(Tenant::number).collect();
    for number in (1..200).filter(|number| !live.contains(number)) {
        assert_eq!(rows_of_tenant(&store, number), 0, "rows of life {number} are left");
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((64 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn two_nodes_keep_tenants_as_a_map_does(steps in steps(), seed in any::<u64>()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(check_steps(memory(Clock::System), steps.clone()));
        runtime.block_on(check_steps(hostile(Clock::System, seed), steps));
    }
}
