//! A catalogue in several buckets: what reaches many of them happens whole, whoever dies.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use store::{Direction, Range, Tenants, Write};

use super::super::pending::PendingCommit;
use super::*;
use crate::encode::take_definition;
use crate::keys;
use crate::{DefinitionChange, Search};

const BUCKETS: u32 = 4;

fn spread(store: &Store, buckets: u32) -> Repositories {
    Repositories::new(store.clone(), SeriesOptions { catalogue_buckets: buckets, ..options() })
}

async fn in_buckets(store: &Store, buckets: u32) -> Repository {
    spread(store, buckets).get_or_create("grid", NOW).await.expect("made")
}

/// The worst store, but for commits of which nobody knows what became.
fn without_lost_commits(seed: u64) -> Store {
    let memory = store::MemoryOptions { clock: Clock::manual(NOW), feed: store::FeedOptions::recommended() };
    Store::hostile(store::HostileOptions { lost: 0, late: 0, ..store::HostileOptions::new(memory, seed) })
}

async fn rows_of(store: &Store, repository: &Repository, bucket: u32) -> usize {
    let partition = keys::catalogue_partition(repository.tenant(), bucket);
    store.scan(&partition, &Range::default(), Direction::Forward, 100_000).await.expect("scanned").len()
}

async fn pieces(store: &Store, repository: &Repository) -> usize {
    let partition = keys::intents_partition(repository.tenant());
    store.scan(&partition, &Range::default(), Direction::Forward, 1_000).await.expect("scanned").len()
}

async fn names(repository: &Repository) -> Vec<String> {
    let (mut names, mut after) = (Vec::new(), None);
    loop {
        let page = repository.search(&Search { limit: 7, after, ..Search::default() }).await.expect("found");
        names.extend(page.series.iter().map(|one| one.name.to_string()));
        match page.next {
            Some(next) => after = Some(next),
            None => return names,
        }
    }
}

fn rename(name: &str) -> DefinitionChange {
    DefinitionChange { name: Some(name.into()), ..DefinitionChange::default() }
}

#[tokio::test]
async fn definitions_spread_and_are_told_in_order_of_names() {
    let store = memory();
    let repository = in_buckets(&store, BUCKETS).await;
    furnish(&repository).await;
    let expected: Vec<String> = (0..200).map(|number| format!("s {number:03}")).collect();
    let unit = Some(Box::from("kW"));
    let drafts = expected.iter().map(|name| DefinitionDraft { unit: unit.clone(), ..draft(name) });
    let defined = repository.define(drafts.collect(), NOW).await.expect("defined");
    assert_eq!(names(&repository).await, expected);
    for bucket in 0..BUCKETS {
        let rows = rows_of(&store, &repository, bucket).await;
        assert!((90..220).contains(&rows), "{rows} rows in bucket {bucket}");
    }
    // Some are left where an acknowledgement was lost.
    spread(&store, BUCKETS).sweep(NOW).await.expect("swept");
    assert_eq!(pieces(&store, &repository).await, 0);
    // Another process, and the numbers.
    let other = in_buckets(&store, 1).await;
    for one in &defined {
        assert_eq!(other.find(SeriesRef::Id(one.number)).await.expect("there"), *one);
    }
    let text = refusal(repository.remove_unit("kW").await);
    assert_eq!(text, "unit kW is used by series s 000");
    let number = repository.tenant().number();
    spread(&store, BUCKETS).remove("grid").await.expect("removed");
    Tenants::new(store.clone()).finish_removals(std::time::Duration::ZERO).await.expect("done");
    assert_eq!(store::testing::rows_of_tenant(&store, number), 0);
}

#[tokio::test]
async fn what_no_commit_takes_is_defined_whole_or_not_at_all() {
    let store = store::testing::hostile(Clock::manual(NOW), 11);
    let repository = in_buckets(&store, 1).await;
    furnish(&repository).await;
    let drafts = || (0..2_000).map(|number| draft(&format!("s {number:04}")));
    let formula = computed("sum", "[s 0000] + [s 1999]");
    repository.define(drafts().chain([formula]).collect(), NOW).await.expect("defined");
    assert_eq!(repository.find(SeriesRef::Name("s 1999")).await.expect("there").name, "s 1999".into());
    let again = drafts().skip(1_999).chain((3_000..6_000).map(|number| draft(&format!("s {number:04}"))));
    refusal(repository.define(again.collect(), NOW).await);
    refusal(repository.find(SeriesRef::Name("s 3000")).await);
    let all = repository.search(&Search { limit: 10_000, ..Search::default() }).await.expect("found");
    assert_eq!(all.series.len(), 2_001);
}

#[tokio::test]
async fn what_a_store_takes_in_no_commit_is_refused_before_it_is_decided() {
    let store = store::testing::hostile(Clock::manual(NOW), 12);
    let repository = in_buckets(&store, BUCKETS).await;
    furnish(&repository).await;
    let tags = (0..200).map(|tag: u32| text("Tag", &format!("{tag} {}", "x".repeat(4_000))));
    let large = DefinitionDraft { attributes: tags.collect(), ..draft("large") };
    let refused = refusal(repository.define(vec![large, computed("f", "[large]")], NOW).await);
    assert!(refused.contains("with its record of changes"), "{refused}");
    assert!(names(&repository).await.is_empty());
    define(&repository, draft("small")).await;
}

#[tokio::test]
async fn the_embedded_engine_keeps_what_is_more_than_one_of_its_batches() {
    let folder = tempfile::tempdir().expect("a folder");
    let open = || Store::open(folder.path(), store::EmbeddedOptions::recommended()).expect("opened");
    let store = open();
    let repository = in_buckets(&store, BUCKETS).await;
    furnish(&repository).await;
    let large = |number: u32| {
        let value = |tag: u32| text("Tag", &format!("{tag} {}", "x".repeat(4_000)));
        DefinitionDraft { attributes: (0..100).map(value).collect(), ..draft(&format!("large {number:02}")) }
    };
    // Some 25 MiB with records of changes; a batch has 16.
    let drafts = (0..30).map(large).chain([computed("f", "[large 29]")]);
    let defined = repository.define(drafts.collect(), NOW).await.expect("defined");
    repository.change(SeriesRef::Name("large 29"), rename("last"), NOW).await.expect("renamed");
    store.close().await.expect("closed");
    drop((repository, store));
    let store = open();
    // The number of buckets is kept.
    let repository = in_buckets(&store, 1).await;
    assert_eq!(names(&repository).await.len(), 31);
    assert_eq!(find(&repository, "large 28").await, defined[28]);
    assert_eq!(find(&repository, "last").await.number, defined[29].number);
    assert_eq!(&*find(&repository, "f").await.formula.as_ref().expect("one").text, "[last]");
    assert_eq!(pieces(&store, &repository).await, 0);
}

#[tokio::test]
async fn renames_and_removals_reach_other_buckets() {
    let store = memory();
    let repository = in_buckets(&store, 64).await;
    let defined = define(&repository, draft("a")).await;
    define(&repository, computed("f", "[a] * 2")).await;
    for name in ["b", "c", "d", "e"] {
        let renamed =
            repository.change(SeriesRef::Id(defined.number), rename(name), NOW).await.expect("renamed");
        assert_eq!((renamed.number, &*renamed.name), (defined.number, name));
        assert_eq!(names(&repository).await, [name, "f"]);
        assert_eq!(
            &*find(&repository, "f").await.formula.as_ref().expect("one").text,
            format!("[{name}] * 2")
        );
    }
    assert_eq!(
        refusal(repository.change(SeriesRef::Name("f"), rename("e"), NOW).await),
        "series e exists already"
    );
    // The name is free again, its number is not.
    let other = define(&repository, draft("a")).await;
    assert_ne!(other.number, defined.number);
    let (other, first) =
        (keys::bucket_of_number(other.number, 64), keys::bucket_of_number(defined.number, 64));
    assert_eq!(other, first);
    refusal(repository.remove(SeriesRef::Name("e"), NOW).await);
    repository.remove(SeriesRef::Name("f"), NOW).await.expect("removed");
    repository.remove(SeriesRef::Name("e"), NOW).await.expect("removed");
    assert_eq!(names(&repository).await, ["a"]);
}

/// Polls a task so many times at most; `None` if it was not done then, and is no more.
async fn live<T>(task: impl Future<Output = T>, mut polls: u32) -> Option<T> {
    let mut task = pin!(task);
    std::future::poll_fn(|context: &mut Context<'_>| match task.as_mut().poll(context) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending if polls == 0 => Poll::Ready(None),
        Poll::Pending => {
            polls -= 1;
            Poll::Pending
        }
    })
    .await
}

/// After a restart a change that was under way is seen or not, and stays so.
#[tokio::test]
async fn what_a_reader_does_not_see_after_a_restart_does_not_happen_later() {
    let (mut kept, mut lost) = (0, 0);
    for polls in 0..80 {
        let store = without_lost_commits(5);
        let repository = in_buckets(&store, 64).await;
        define(&repository, draft("a")).await;
        define(&repository, computed("f", "[a]")).await;
        if live(repository.change(SeriesRef::Name("a"), rename("b"), NOW), polls).await.is_some() {
            break;
        }
        let all = spread(&store.beside(), 1);
        let after = all.get("grid").await.expect("there");
        let formula = find(&after, "f").await.formula.as_ref().expect("one").text.clone();
        let names = [names(&after).await, vec![formula.to_string()]].concat();
        let (old, new) = (["a", "f", "[a]"], ["b", "f", "[b]"]);
        assert!(names == old || names == new, "{names:?} after {polls} polls");
        kept += u32::from(names == new);
        lost += u32::from(names == old);
        all.sweep(NOW).await.expect("swept");
        assert_eq!(
            &*find(&after, "f").await.formula.as_ref().expect("one").text,
            &*formula,
            "after {polls} polls"
        );
    }
    assert!(kept > 0 && lost > 0, "{kept} kept, {lost} lost");
}

#[derive(Clone, Debug)]
enum Step {
    Define(Vec<u8>, u8),
    Rename(u8, u8),
    Remove(u8),
    /// One that has a unit.
    Furnish(u8),
    /// Or removes it.
    PutUnit(bool),
}

fn steps() -> impl Strategy<Value = Vec<(Step, u32)>> {
    let name = 0..9_u8;
    let step = prop_oneof![
        3 => (prop::collection::vec(name.clone(), 1..4), name.clone()).prop_map(|(of, operand)| Step::Define(of, operand)),
        3 => (name.clone(), name.clone()).prop_map(|(from, to)| Step::Rename(from, to)),
        2 => name.prop_map(Step::Remove),
    ];
    // After how many polls the writer dies, most often later than it is done.
    prop::collection::vec((step, 0..120_u32), 1..30)
}

/// Names, each with the name that its formula doubles.
type Plain = BTreeMap<String, Option<String>>;

fn name_of(name: u8) -> String {
    format!("s{name}")
}

/// What becomes of a plain map; `None` if the step is refused.
fn after(plain: &Plain, step: &Step) -> Option<Plain> {
    let mut next = plain.clone();
    match step {
        Step::Define(of, operand) => {
            let operand = name_of(*operand);
            for name in of.iter().map(|name| name_of(*name)) {
                let formula = (name != operand).then(|| operand.clone());
                if next.insert(name, formula).is_some() {
                    return None;
                }
            }
            next.values().flatten().all(|operand| next.contains_key(operand)).then_some(next)
        }
        Step::Rename(from, to) => {
            let [from, to] = [name_of(*from), name_of(*to)];
            let held = next.remove(&from)?;
            if next.insert(to.clone(), held).is_some() {
                return None;
            }
            next.values_mut().flatten().filter(|operand| **operand == from).for_each(|it| it.clone_from(&to));
            Some(next)
        }
        Step::Furnish(_) | Step::PutUnit(_) => None,
        Step::Remove(name) => {
            let name = name_of(*name);
            next.remove(&name)?;
            next.values().flatten().all(|operand| *operand != name).then_some(next)
        }
    }
}

async fn take(repository: &Repository, step: &Step) -> Result<(), Error> {
    match step {
        Step::Define(of, operand) => {
            let operand = name_of(*operand);
            let one = |name: &u8| match name_of(*name) {
                name if name == operand => draft(&name),
                name => computed(&name, &format!("[{operand}] * 2")),
            };
            repository.define(of.iter().map(one).collect(), NOW).await.map(drop)
        }
        Step::Rename(from, to) => {
            repository.change(SeriesRef::Name(&name_of(*from)), rename(&name_of(*to)), NOW).await.map(drop)
        }
        Step::Furnish(name) => {
            let furnished = DefinitionDraft { unit: Some("u".into()), ..draft(&name_of(*name)) };
            repository.define(vec![furnished], NOW).await.map(drop)
        }
        Step::PutUnit(true) => repository.put_unit(unit("u")).await,
        Step::PutUnit(false) => repository.remove_unit("u").await,
        Step::Remove(name) => repository.remove(SeriesRef::Name(&name_of(*name)), NOW).await.map(drop),
    }
}

/// What there is, by three ways of looking.
async fn told(repository: &Repository) -> Plain {
    let mut plain = Plain::new();
    for number in 0..9 {
        let name = name_of(number);
        let found = repository.find_many(&[SeriesRef::Name(&name)]).await.expect("looked for").remove(0);
        let Some(found) = found else { continue };
        assert_eq!(*found.name, *name);
        let operand =
            found.formula.as_ref().and_then(|one| one.tree.names().first().map(|it| (*it).to_owned()));
        plain.insert(name, operand);
    }
    assert_eq!(names(repository).await, plain.keys().cloned().collect::<Vec<_>>());
    for (name, operand) in &plain {
        let Some(operand) = operand else { continue };
        let users = repository.users(find(repository, operand).await.number).await.expect("users");
        assert!(users.iter().any(|user| *user.name == **name), "{operand} does not know {name}");
    }
    plain
}

async fn play(
    (store, buckets): (&Store, u32),
    both: &[Repository; 2],
    all: &Repositories,
    steps: Vec<(Step, u32)>,
) {
    let mut plain = Plain::new();
    for (turn, (step, polls)) in steps.into_iter().enumerate() {
        let [writer, other] = if turn % 2 == 0 { [&both[0], &both[1]] } else { [&both[1], &both[0]] };
        let expected = after(&plain, &step);
        match live(take(writer, &step), polls).await {
            Some(Ok(())) => plain = expected.unwrap_or_else(|| panic!("{step:?} is refused of {plain:?}")),
            Some(Err(error)) => assert!(expected.is_none(), "{step:?} of {plain:?}: {error}"),
            // Whole, or not at all.
            None => {
                // What is only prepared is decided by the next writer, or by the job; what was under way comes too late.
                if turn % 3 == 0 {
                    all.sweep(NOW).await.expect("swept");
                }
                other.put_unit(unit(&format!("u {turn}"))).await.expect("a unit");
                for bucket in 0..buckets {
                    let partition = keys::catalogue_partition(other.tenant(), bucket);
                    store.bump(&partition, Vec::new()).await.expect("a new epoch");
                }
                let now = told(other).await;
                let is_whole = now == plain || Some(&now) == expected.as_ref();
                assert!(is_whole, "{step:?} of {plain:?}: {now:?}");
                plain = now;
            }
        }
        assert_eq!(told(other).await, plain, "after {step:?}");
    }
    all.sweep(NOW).await.expect("swept");
    assert_eq!(pieces(store, &both[0]).await, 0, "pieces are left");
}

/// All rows of a kind, in all buckets.
async fn rows_of_kind(store: &Store, repository: &Repository, buckets: u32, kind: u8) -> Vec<(Bytes, Bytes)> {
    let mut rows = Vec::new();
    for bucket in 0..buckets {
        let partition = keys::catalogue_partition(repository.tenant(), bucket);
        let page = store.scan(&partition, &Range::prefix(vec![kind]), Direction::Forward, 10_000).await;
        for (key, value) in page.expect("scanned").rows() {
            assert_eq!(keys::bucket_of_key(key, buckets), bucket);
            rows.push((Bytes::copy_from_slice(key), Bytes::copy_from_slice(value)));
        }
    }
    rows
}

/// Asks the rows themselves whether names, definitions, and who refers to whom, say the same.
async fn check_rows(store: &Store, repository: &Repository, buckets: u32, seed: u64) {
    let (mut names, mut users) = (BTreeMap::new(), BTreeMap::<u32, Vec<u32>>::new());
    let mut formulas = Vec::new();
    let units = repository.units().await.expect("units");
    for (key, value) in rows_of_kind(store, repository, buckets, b'd').await {
        let definition = take_definition(&value).expect("a definition");
        assert_eq!(keys::number_of_key(&key), Some(definition.number));
        assert!(definition.used_units().all(|unit| units.get(unit).is_ok()), "no unit, seed {seed}");
        assert_eq!(names.insert(definition.name.to_string(), definition.number), None, "twice, seed {seed}");
        let operands = definition
            .formula
            .as_ref()
            .map(|one| one.tree.names().into_iter().map(String::from).collect::<Vec<_>>());
        formulas.push((definition.number, operands.unwrap_or_default()));
    }
    for (user, operands) in formulas {
        for operand in operands {
            let number = names.get(&operand).unwrap_or_else(|| panic!("{operand} is not there, seed {seed}"));
            users.entry(*number).or_default().push(user);
        }
    }
    users.values_mut().for_each(|users| users.sort_unstable());
    let of_name = |(key, value): (Bytes, Bytes)| {
        let name = keys::name_of_key(&key, 1).expect("a name").to_owned();
        (name, keys::number_of_value(&value).expect("a number"))
    };
    let told: BTreeMap<String, u32> =
        rows_of_kind(store, repository, buckets, b'n').await.into_iter().map(of_name).collect();
    assert_eq!(told, names, "seed {seed}");
    let of_users = |(key, value): (Bytes, Bytes)| {
        let (numbers, _) = value.as_chunks::<4>();
        let numbers = numbers.iter().map(|number| u32::from_be_bytes(*number)).collect();
        (keys::number_of_key(&key).expect("a number"), numbers)
    };
    let told: BTreeMap<u32, Vec<u32>> =
        rows_of_kind(store, repository, buckets, b'f').await.into_iter().map(of_users).collect();
    assert_eq!(told, users, "seed {seed}");
}

/// Takes random steps; some it leaves before they are done.
async fn take_many(repository: &Repository, random: &mut StdRng) {
    for _ in 0..20 {
        let [one, other, operand] = [(); 3].map(|()| random.random_range(0..6_u8));
        let step = match random.random_range(0..10) {
            0..=2 => Step::Define(BTreeSet::from([one, other]).into_iter().collect(), operand),
            3..=5 => Step::Rename(one, other),
            6 | 7 => Step::Remove(one),
            8 => Step::Furnish(one),
            _ => Step::PutUnit(random.random_bool(0.5)),
        };
        // Who dies while he removes a unit leaves it to others to put it back.
        let dies = random.random_bool(0.2) && !matches!(step, Step::PutUnit(_));
        let polls = if dies { random.random_range(0..60) } else { u32::MAX };
        match live(take(repository, &step), polls).await {
            None | Some(Ok(())) => {}
            Some(Err(error)) => {
                assert!(
                    !matches!(error, Error::Store(_) | Error::Contention(_) | Error::Malformed(_)),
                    "{error}"
                );
            }
        }
    }
}

#[test]
fn changes_of_many_buckets_at_once_leave_no_row_without_the_other() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    for seed in store::testing::seeds(120) {
        runtime.block_on(async {
            let buckets = [1, 4, 16][usize::try_from(seed % 3).expect("small")];
            let store = store::testing::hostile(Clock::manual(NOW), seed);
            let all = [spread(&store.beside(), buckets), spread(&store, 1)];
            let first = all[0].get_or_create("grid", NOW).await.expect("made");
            let second = all[1].get("grid").await.expect("there");
            let mut random = [0, 1, 2, 3].map(|writer| StdRng::seed_from_u64(seed * 10 + writer));
            let [one, two, three, four] = &mut random;
            tokio::join!(
                take_many(&first, one),
                take_many(&second, two),
                take_many(&second, three),
                take_many(&first, four),
            );
            all[0].sweep(NOW).await.expect("swept");
            check_rows(&store, &first, buckets, seed).await;
            assert_eq!(pieces(&store, &first).await, 0, "pieces are left, seed {seed}");
        });
    }
}

/// Two tasks of two processes: the first goes on for a while, then the second, then the first to its end.
#[test]
fn a_task_that_sleeps_in_the_middle_does_nothing_twice_and_nothing_late() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let pairs = [
        // A commit of one bucket is under way when an intent begins.
        (vec![Step::Remove(1)], vec![Step::Define(vec![3], 1)]),
        (vec![Step::Furnish(5)], vec![Step::PutUnit(false)]),
        // An intent is carried out by two, and what it wrote is written anew.
        (vec![Step::Define(vec![3], 1)], vec![Step::Remove(3), Step::Remove(1)]),
        (vec![Step::Rename(1, 4)], vec![Step::Rename(4, 3), Step::Define(vec![1, 6], 1)]),
    ];
    for seed in store::testing::seeds(1_200) {
        runtime.block_on(async {
            let mut random = StdRng::seed_from_u64(seed);
            let store = store::testing::hostile(Clock::manual(NOW), seed);
            let all = [spread(&store.beside(), BUCKETS), spread(&store, BUCKETS)];
            let first = all[0].get_or_create("grid", NOW).await.expect("made");
            let second = all[1].get("grid").await.expect("there");
            first.put_unit(unit("u")).await.expect("a unit");
            define(&first, draft("s1")).await;
            define(&second, draft("s2")).await;
            let (sleeper, other) = &pairs[usize::try_from(seed).expect("small") % pairs.len()];
            let take_all = async |repository: &Repository, steps: &[Step]| {
                for step in steps {
                    // Some are refused.
                    drop(take(repository, step).await);
                }
            };
            let mut asleep = Box::pin(take_all(&first, sleeper));
            let is_done = live(asleep.as_mut(), random.random_range(0..60)).await.is_some();
            let mut awake = Box::pin(take_all(&second, other));
            let is_other_done = live(awake.as_mut(), random.random_range(0..400)).await.is_some();
            if !is_done {
                asleep.await;
            }
            if !is_other_done {
                awake.await;
            }
            all[0].sweep(NOW).await.expect("swept");
            check_rows(&store, &first, BUCKETS, seed).await;
        });
    }
}

#[test]
fn who_sees_a_part_of_a_change_finds_the_rest() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let is_there = async |repository: &Repository, name: &str| {
        let found = repository.find_many(&[SeriesRef::Name(name)]).await.expect("looked for");
        found.iter().any(Option::is_some)
    };
    for seed in store::testing::seeds(200) {
        runtime.block_on(async {
            let store = store::testing::hostile(Clock::manual(NOW), seed);
            let all = [spread(&store.beside(), 16), spread(&store, 16)];
            let first = all[0].get_or_create("grid", NOW).await.expect("made");
            let second = all[1].get("grid").await.expect("there");
            let mut random = StdRng::seed_from_u64(seed);
            let names: [String; 3] =
                [0, 1, 2].map(|place| format!("{place} {}", random.random_range(0..1_000)));
            let drafts = names.iter().map(|name| draft(name)).collect();
            let reads = async {
                for _ in 0..30 {
                    tokio::task::yield_now().await;
                    let seen = random.random_range(0..3);
                    if is_there(&second, &names[seen]).await {
                        let other = &names[(seen + 1) % 3];
                        assert!(is_there(&second, other).await, "{other}, seed {seed}");
                    }
                }
            };
            let (defined, ()) = tokio::join!(first.define(drafts, NOW), reads);
            defined.expect("defined");
        });
    }
}

/// Who stores how far a hook was told takes a lost race for another sender.
#[tokio::test]
async fn a_new_epoch_is_no_lost_race() {
    let store = without_lost_commits(13);
    let (repository, other) = (in_buckets(&store, BUCKETS).await, store.beside());
    for turn in 0..40 {
        let partition = keys::catalogue_partition(repository.tenant(), 0);
        other.bump(&partition, Vec::new()).await.expect("a new epoch");
        let writes = vec![Write::PutStamped(keys::hook("h"), vec![turn].into())];
        let pending = PendingCommit { writes, ..PendingCommit::default() };
        assert!(repository.context.commit(pending).await.expect("stored"), "turn {turn}");
    }
}

#[tokio::test]
async fn a_series_is_not_defined_with_a_unit_that_went_meanwhile() {
    let repository = in_buckets(&store::testing::plain(Clock::manual(NOW)), BUCKETS).await;
    let context = &*repository.context;
    for name in (0..8).map(name_of) {
        repository.put_unit(unit("u")).await.expect("a unit");
        let (_, unchanged) = context.units().await.expect("read");
        let write = Write::PutStamped(keys::definition(keys::home_number(&name)), Bytes::new());
        let pending = || PendingCommit {
            conditions: vec![unchanged.clone()],
            writes: vec![write.clone()],
            ..PendingCommit::default()
        };
        repository.remove_unit("u").await.expect("removed");
        assert!(!context.commit(pending()).await.expect("looked at"), "{name}");
        let (_, unchanged) = context.units().await.expect("read");
        let again = PendingCommit { conditions: vec![unchanged], ..pending() };
        assert!(context.commit(again).await.expect("stored"), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((48 * ProptestConfig::default().cases).div_ceil(256)))]

    /// Two processes take turns, and die at any step.
    #[test]
    fn a_change_of_many_buckets_is_whole_whoever_dies(steps in steps(), seed: u64, buckets in 0..4_u32) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let store = store::testing::hostile(Clock::manual(NOW), seed);
            let all = [spread(&store.beside(), 1 << (2 * buckets)), spread(&store, 1)];
            let both = [
                all[0].get_or_create("grid", NOW).await.expect("made"),
                all[1].get("grid").await.expect("there"),
            ];
            play((&store, 1 << (2 * buckets)), &both, &all[1], steps).await;
        });
    }
}
