//! What is damaged stops no job for others.

use bytes::Bytes;
use store::{Commit, Direction, Partition, Range, Timestamp, Write, WriteIds};

use super::*;
use crate::keys;
use crate::{Duration, Hook, SeriesWrite, ServedHooks, Switches};
use strands::Edit;

async fn rows(store: &Store, partition: &Partition, range: Range) -> Vec<Bytes> {
    let page = store.scan(partition, &range, Direction::Forward, 1_000).await.expect("scanned");
    page.rows().map(|(key, _)| Bytes::copy_from_slice(key)).collect()
}

/// Puts bytes under keys that are nothing.
pub(super) async fn spoil(store: &Store, partition: &Partition, keys: Vec<Bytes>) {
    let writes = keys.into_iter().map(|key| Write::PutStamped(key, Bytes::from_static(b"?"))).collect();
    let (partition, write_id) = (partition.clone(), WriteIds::new().next());
    let commit =
        Commit { partition, write_id, conditions: Vec::new(), writes, change: None, reclaims: false };
    store.commit_known(commit).await.expect("spoilt");
}

pub(super) async fn spoil_points(store: &Store, series: (&Repository, &Definition)) {
    let partition = keys::series_partition(series.0.tenant(), series.1.number);
    let rows = rows(store, &partition, Range::default()).await;
    assert!(!rows.is_empty());
    spoil(store, &partition, rows).await;
}

async fn spoil_definition(store: &Store, series: (&Repository, &Definition)) {
    let partition = keys::catalogue_partition(series.0.tenant(), 0);
    spoil(store, &partition, vec![keys::definition(series.1.number)]).await;
}

async fn filled(repository: &Repository, name: &str) -> Arc<Definition> {
    let switches = Switches { compression: true, ..Switches::default() };
    let draft = DefinitionDraft { retention: Duration::parse("PT1H"), switches, ..draft(name) };
    let series = define(repository, draft).await;
    let values: Vec<f64> =
        (0..2_000_u32).map(|at| f64::from(at % 7 + if at % 50 == 0 { 9_000 } else { 0 })).collect();
    let edit = Edit::Put(quarters(0, &values));
    let write = SeriesWrite { series: series.clone(), quotation: None, edit };
    let outcomes = repository.write_all(vec![write], NOW).await.expect("checked");
    outcomes.into_iter().for_each(|outcome| outcome.expect("written"));
    series
}

#[tokio::test]
async fn points_of_others_are_packed_and_trimmed() {
    let store = memory();
    let all = repositories(&store);
    let repository = all.get_or_create("grid", NOW).await.expect("made");
    all.get_or_create("broken", NOW).await.expect("made");
    let [strand, definition] = [filled(&repository, "a").await, filled(&repository, "b").await];
    let sound = filled(&repository, "c").await;
    spoil_points(&store, (&repository, &strand)).await;
    spoil_definition(&store, (&repository, &definition)).await;
    let (directory, broken) =
        store::testing::directory_row(Some((&store::Tenant::default(), keys::MODEL)), "broken");
    spoil(&store, &directory, vec![broken]).await;

    let fresh = repositories(&store);
    let (later, age) = (Timestamp(NOW.0 + 120 * 86_400_000_000), std::time::Duration::from_hours(1_440));
    assert_eq!(fresh.recompress(later, age).await.expect("goes on"), 1);
    assert_eq!(fresh.strands().skips().count(), 3);
    let soon = Timestamp(NOW.0 + 90 * 60_000_000);
    assert_eq!(fresh.trim_expired(soon).await.expect("goes on"), 1);
    assert_eq!(fresh.strands().skips().count(), 6);
    let repository = fresh.get("grid").await.expect("there");
    assert_eq!(
        repository.extent(&sound, None).await.expect("read").map(|(first, _)| first > START),
        Some(true)
    );
    // Whoever reads what is damaged is told so.
    assert!(repository.extent(&strand, None).await.is_err());
    assert!(repository.find(SeriesRef::Id(definition.number)).await.is_err());
    assert!(fresh.list().await.is_err());
}

#[tokio::test]
async fn removals_of_others_are_finished() {
    let store = memory();
    let all = repositories(&store);
    let repository = all.get_or_create("grid", NOW).await.expect("made");
    let [damaged, sound] = [filled(&repository, "a").await, filled(&repository, "b").await];
    spoil_points(&store, (&repository, &damaged)).await;
    assert!(repository.remove(SeriesRef::Name("a"), NOW).await.is_err(), "its points cannot be removed");
    repository.remove(SeriesRef::Name("b"), NOW).await.expect("removed");
    let fresh = repositories(&store);
    let hour = Timestamp(NOW.0 + 3_600_000_000);
    fresh.sweep(hour).await.expect("goes on");
    assert_eq!(fresh.strands().skips().count(), 1);
    let waiting = rows(&store, &keys::catalogue_partition(repository.tenant(), 0), keys::removals()).await;
    assert_eq!(waiting, [keys::removal(damaged.number)], "{} is free", sound.number);
}

#[tokio::test]
async fn other_hooks_are_served_and_told_of_other_series() {
    let store = memory();
    let all = repositories(&store);
    let repository = all.get_or_create("grid", NOW).await.expect("made");
    let hook = |name: &str| Hook {
        name: name.into(),
        url: "http://x".into(),
        series: None,
        attributes: Vec::new(),
        secret: None,
        is_active: true,
    };
    for name in ["damaged", "sound"] {
        repository.put_hook(hook(name)).await.expect("a hook");
    }
    let mut served = ServedHooks::default();
    assert!(all.refresh_hooks(&mut served).await.expect("read"));
    let partition = keys::catalogue_partition(repository.tenant(), 0);
    spoil(&store, &partition, vec![keys::hook("damaged")]).await;
    let [damaged, sound] = [filled(&repository, "a").await, filled(&repository, "b").await];
    spoil_definition(&store, (&repository, &damaged)).await;

    let fresh = repositories(&store);
    let mut hooks = ServedHooks::default();
    assert!(fresh.refresh_hooks(&mut hooks).await.expect("goes on"));
    let names: Vec<_> = hooks.iter().map(|hook| (&*hook.repository_name, &*hook.hook.name)).collect();
    assert_eq!(names, [("grid", "sound")]);
    assert_eq!(fresh.strands().skips().count(), 1);
    // Who knew it before does not take it for one that is gone: its outbox stays.
    let other = all.get_or_create("other", NOW).await.expect("made");
    other.put_hook(hook("new")).await.expect("a hook");
    assert!(all.refresh_hooks(&mut served).await.expect("goes on"));
    let mut names: Vec<_> = served.iter().map(|hook| &*hook.hook.name).collect();
    names.sort_unstable();
    assert_eq!(names, ["damaged", "new", "sound"]);
    let repository = fresh.get("grid").await.expect("there");
    assert!(repository.hooks().await.is_err(), "whoever lists them is told so");
    let changes = all_changes(&store).await;
    let matches = fresh.match_hooks(&hooks, (0, &changes)).await.expect("goes on");
    let events: Vec<_> = matches.into_iter().map(|(_, event)| event).collect();
    let told: Vec<_> =
        events.iter().map(|event| (event.series.number, event.change.definition().is_some())).collect();
    assert_eq!(told, [(damaged.number, true), (sound.number, true), (sound.number, false)]);
}

/// Its rows are read one after the other.
#[tokio::test]
async fn a_hook_that_is_removed_while_hooks_are_read_is_gone() {
    let store = memory();
    let repository = repositories(&store).get_or_create("grid", NOW).await.expect("made");
    for name in ["going", "staying"] {
        let hook = Hook {
            name: name.into(),
            url: "http://x".into(),
            series: None,
            attributes: Vec::new(),
            secret: None,
            is_active: true,
        };
        repository.put_hook(hook).await.expect("a hook");
    }
    let removed = Commit {
        partition: keys::catalogue_partition(repository.tenant(), 0),
        write_id: WriteIds::new().next(),
        conditions: Vec::new(),
        writes: vec![Write::Delete(keys::hook_registration("going"))],
        change: None,
        reclaims: false,
    };
    store.commit_known(removed).await.expect("removed");
    let hooks = repository.hooks().await.expect("read");
    let names: Vec<&str> = hooks.iter().map(|(hook, _)| &*hook.name).collect();
    assert_eq!(names, ["staying"]);
}
