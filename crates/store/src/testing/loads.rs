//! Loads: what they put is there as committed rows are, beside commits that go on.

use std::collections::BTreeMap;

use bytes::Bytes;
use store_contract::limits::{LOAD_ADD_BYTES_MAX, LOADS_MAX};

use super::{BLOCKS, bytes, commit, done, kind, put, record, stamped, things, value};
use crate::{
    ChangeRecord, Commit, Condition, Cursor, Direction, Error, ErrorKind, Load, LoadRows, Partition, Range,
    Stamp, Store, Write,
};

const LOADED: &str = "loaded";

async fn begin(store: &Store) -> Load {
    let epoch = store.fence(&things(0));
    store.load(&things(0), epoch).await.expect("a load")
}

fn rows(rows: &[(&str, &str)]) -> LoadRows {
    let mut packed = LoadRows::default();
    rows.iter().for_each(|(key, value)| packed.put(key.as_bytes(), value.as_bytes()));
    packed
}

fn stamped_rows(rows: &[(&str, &str)]) -> LoadRows {
    let mut packed = LoadRows::with_capacity(64, rows.len());
    rows.iter().for_each(|(key, value)| packed.put_stamped(key.as_bytes(), value.as_bytes()));
    packed
}

fn said() -> Option<ChangeRecord> {
    Some(record(LOADED))
}

async fn all_of(store: &Store) -> String {
    let page = store.scan(&things(0), &Range::default(), Direction::Forward, 99).await.expect("scan");
    let texts = page.rows().map(|(key, value)| [key, b"=", value].concat());
    let texts: Vec<_> = texts.map(|text| String::from_utf8(text).expect("text")).collect();
    texts.join(" ")
}

/// What is loaded is as what is committed.
pub(super) async fn check_rows(store: &Store) {
    let first = vec![stamped("a", "1"), stamped("b", "1"), put("c", "1"), put("T", "1"), stamped("z", "1")];
    done(store, commit(1, vec![], first)).await;
    let load = begin(store).await;
    load.add(rows(&[("c", "x"), ("T", "2"), ("S", ""), ("c", "2"), ("", "no key")])).await.expect("add");
    load.add(LoadRows::default()).await.expect("add");
    load.add(stamped_rows(&[("m", "x"), ("b", "2"), ("a", "x")])).await.expect("add");
    load.add(stamped_rows(&[("m", "2"), ("n", ""), ("a", "2")])).await.expect("add");
    load.finish(said()).await.expect("finish");
    assert_eq!(all_of(store).await, "=no key S= T=2 a=2 b=2 c=2 m=2 n= z=1");
    let mut loaded = Stamp::default();
    for key in ["b", "m", "n", "a"] {
        let row = store.get_linear(&things(0), key.as_bytes()).await.expect("get").expect("a row");
        assert!(row.stamp != Stamp::default() && row.write_id.0 != 0, "{key}: {row:?}");
        loaded = row.stamp;
    }
    let plain = store.get_linear(&things(0), b"c").await.expect("get").expect("a row");
    assert_eq!((plain.stamp, plain.write_id.0), (Stamp::default(), 0));
    // Versions of what was loaded are those of one commit each.
    let on = |stamp, value: &str| {
        commit(2, vec![Condition::Version(bytes("a"), stamp)], vec![stamped("a", value)])
    };
    let second = done(store, on(loaded, "3")).await;
    assert_ne!(second, loaded);
    assert_eq!(kind(store.commit(on(loaded, "4")).await), ErrorKind::Conflict);
    done(store, commit(3, vec![Condition::Present(bytes("c"))], vec![Write::Delete(bytes("c"))])).await;
    assert_eq!(
        kind(store.commit(commit(4, vec![Condition::Absent(bytes("m"))], vec![])).await),
        ErrorKind::Conflict
    );
    assert_eq!(all_of(store).await, "=no key S= T=2 a=3 b=2 m=2 n= z=1");
    // Who repeats it comes to the same.
    for _ in 0..2 {
        let again = begin(store).await;
        again.add(stamped_rows(&[("a", "5"), ("q", "5")])).await.expect("add");
        again.finish(None).await.expect("finish");
        assert_eq!(all_of(store).await, "=no key S= T=2 a=5 b=2 m=2 n= q=5 z=1");
    }
    assert_eq!(kind(store.commit(on(second, "6")).await), ErrorKind::Conflict, "it was loaded since");
    let empty = begin(store).await;
    empty.finish(said()).await.expect("finish");
    assert_eq!(all_of(store).await, "=no key S= T=2 a=5 b=2 m=2 n= q=5 z=1");
}

/// What no load takes, and loads that are over.
pub(super) async fn check_refused(store: &Store) {
    let epoch = store.fence(&things(0));
    let appends = Partition { space: BLOCKS, ..things(0) };
    assert_eq!(kind(store.load(&appends, epoch).await), ErrorKind::Misuse);
    let load = begin(store).await;
    let long = "k".repeat(store_contract::limits::KEY_BYTES_MAX + 1);
    assert_eq!(kind(load.add(rows(&[(&long, "")])).await), ErrorKind::TooLarge);
    assert_eq!(kind(load.add(stamped_rows(&[("T", "")])).await), ErrorKind::Misuse);
    let large = "v".repeat(LOAD_ADD_BYTES_MAX / 3);
    let many = rows(&[("a", &large), ("b", &large), ("c", &large), ("d", &large)]);
    let refused = load.add(many).await.expect_err("too much at once");
    assert_eq!(refused.limit().map(|limit| limit.name), Some("LOAD_ADD_BYTES_MAX"));
    load.add(rows(&[("a", "1")])).await.expect("a refused add changes nothing");
    load.finish(None).await.expect("finish");
    assert_eq!(kind(load.add(rows(&[("b", "1")])).await), ErrorKind::Misuse);
    assert_eq!(kind(load.finish(None).await), ErrorKind::Misuse);
    assert_eq!(all_of(store).await, "a=1");
    // Once a new epoch has begun nothing is written.
    let late = begin(store).await;
    store.bump(&things(0), vec![]).await.expect("begun");
    assert_eq!(kind(finish_with_b(&late).await), ErrorKind::Fenced);
    // Not all look when it begins.
    let outcome = match store.load(&things(0), epoch).await {
        Ok(load) => finish_with_b(&load).await,
        Err(refused) => Err(refused),
    };
    assert_eq!(kind(outcome), ErrorKind::Fenced);
    assert_eq!(all_of(store).await, "a=1");
}

async fn finish_with_b(load: &Load) -> Result<(), Error> {
    load.add(rows(&[("b", "1")])).await?;
    load.finish(None).await
}

/// All at once, where a store belongs to one process.
pub(super) async fn check_moment(store: &Store) {
    done(store, commit(1, vec![], vec![stamped("a", "1"), put("b", "1"), stamped("d", "1")])).await;
    // Readers come to know what is there, and what is not.
    for key in ["a", "b", "c", "d", "e"] {
        value(store, key).await;
    }
    let before = store.snapshot().expect("snapshot");
    let load = begin(store).await;
    let dropped = begin(store).await;
    load.add(rows(&[("b", "2")])).await.expect("add");
    load.add(stamped_rows(&[("c", "2"), ("a", "2")])).await.expect("add");
    dropped.add(rows(&[("b", "never")])).await.expect("add");
    drop(dropped);
    // Commits go on, and a new epoch of another partition is none of this one.
    done(store, commit(2, vec![], vec![stamped("d", "2")])).await;
    store.bump(&things(1), vec![]).await.expect("begun");
    assert_eq!(all_of(store).await, "a=1 b=1 d=2");
    let amid = store.snapshot().expect("snapshot");
    load.finish(said()).await.expect("finish");
    let after = store.snapshot().expect("snapshot");
    done(store, commit(3, vec![], vec![stamped("a", "3")])).await;
    assert_eq!(all_of(store).await, "a=3 b=2 c=2 d=2");
    for (key, expected) in [("a", "3"), ("b", "2"), ("c", "2"), ("d", "2")] {
        assert_eq!(value(store, key).await.as_deref(), Some(expected), "{key}");
    }
    let cases = [(&before, "a=1 b=1 d=1"), (&amid, "a=1 b=1 d=2"), (&after, "a=2 b=2 c=2 d=2")];
    for (snapshot, expected) in cases {
        let mut found = Vec::new();
        for key in ["a", "b", "c", "d"] {
            let row = snapshot.get(&things(0), key.as_bytes()).await.expect("get");
            let cached = snapshot.get_cached(&things(0), key.as_bytes());
            assert!(cached.is_none() || cached == Some(row.clone()), "{key}: {cached:?} is not {row:?}");
            found.extend(row.map(|row| format!("{key}={}", String::from_utf8_lossy(&row.value))));
        }
        assert_eq!(found.join(" "), expected);
    }
    check_feed(store).await;
}

/// The feed tells of a load once, in the order of what was seen.
async fn check_feed(store: &Store) {
    let changes = store.feed(0, Cursor::default(), 99).await.expect("feed").changes;
    let told: Vec<_> = changes.iter().map(|change| change.record.clone()).collect();
    let expected = [record("change 1"), record("change 2"), record(LOADED), record("change 3")];
    assert_eq!(told, expected);
    assert!(changes.is_sorted_by(|one, next| one.number < next.number));
    assert!(changes.iter().all(|change| change.partition == things(0)));
    let end = store.feed_end(0);
    assert_eq!(changes.last().map(|change| change.cursor), Some(end));
}

/// Counts of rows that are passed over are anew.
pub(super) async fn check_skips(store: &Store) {
    const ROWS: u32 = 30_000;
    let key = |n: u32| format!("k{n:05}");
    for parity in 0..2 {
        let load = begin(store).await;
        for first in (parity..ROWS).step_by(2_000) {
            let mut packed = LoadRows::default();
            // From the last one on.
            for n in (first..ROWS.min(first + 2_000)).step_by(2).collect::<Vec<_>>().into_iter().rev() {
                packed.put(key(n).as_bytes(), &n.to_be_bytes());
            }
            load.add(packed).await.expect("add");
        }
        load.finish(None).await.expect("finish");
        let expected = if parity == 0 { ROWS / 2 } else { ROWS };
        for _ in 0..2 {
            let (mut passed, mut next) = (0, Some(Bytes::new()));
            while let Some(from) = next {
                let more =
                    store.skip(&things(0), &Range::prefix("k"), &from, usize::MAX).await.expect("skip");
                (passed, next) = (passed + more.rows, more.next);
            }
            assert_eq!(passed, expected as usize);
        }
    }
}

/// Many add, others commit: each commit is there, or was overwritten whole; conditions hold or are refused.
pub(super) async fn check_races(store: &Store) {
    const TASKS: u32 = 4;
    const ROWS: u32 = 500;
    let load = begin(store).await;
    let key = |task: u32, n: u32| format!("{task} {n:04}");
    let adding = (0..TASKS).map(|task| {
        let load = load.clone();
        tokio::spawn(async move {
            for n in 0..ROWS {
                let mut packed = LoadRows::default();
                packed.put_stamped(key(task, n.wrapping_mul(7_919) % ROWS).as_bytes(), b"loaded");
                packed.put_stamped(b"shared", task.to_string().as_bytes());
                load.add(packed).await.expect("add");
            }
        })
    });
    let adding: Vec<_> = adding.collect();
    // Beside it a counter, which the load sets back once.
    let counting = store.clone();
    let counter = tokio::spawn(async move {
        let mut counted = 0_u32;
        for n in 0..400_u128 {
            let row = counting.get_linear(&things(0), b"counter").await.expect("get");
            let condition = row.as_ref().map_or(Condition::Absent(bytes("counter")), |row| {
                Condition::Version(bytes("counter"), row.stamp)
            });
            let now = row.map_or(0, |row| String::from_utf8_lossy(&row.value).parse().expect("a number"));
            let next = vec![stamped("counter", &(now + 1_u32).to_string())];
            match counting.commit(Commit { change: None, ..commit(n, vec![condition], next) }).await {
                Ok(_) => counted += 1,
                Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict),
            }
        }
        counted
    });
    for task in adding {
        task.await.expect("added");
    }
    load.add(stamped_rows(&[("counter", "100000")])).await.expect("add");
    load.finish(said()).await.expect("finish");
    let counted = counter.await.expect("counted");
    let counter: u32 = value(store, "counter").await.expect("a counter").parse().expect("a number");
    assert!((100_000..=100_000 + counted).contains(&counter), "{counter} of {counted}");
    let mut found = BTreeMap::new();
    let (mut range, mut more) = (Range::default(), true);
    while more {
        let page = store.scan(&things(0), &range, Direction::Forward, 999).await.expect("scan");
        found.extend(page.rows().map(|(key, value)| (key.to_vec(), value.to_vec())));
        more = page.more();
        range = page.last_key().map_or(Range::default(), |last| Range::default().after_key(last));
    }
    assert_eq!(found.len(), (TASKS * ROWS) as usize + 2);
    let is_loaded = |task: u32, n: u32| found.get(key(task, n).as_bytes()).is_some_and(|it| it == b"loaded");
    assert!((0..TASKS).all(|task| (0..ROWS).all(|n| is_loaded(task, n))));
}

/// As many as may be open, and what becomes of them when the store is closed.
pub(super) async fn check_many(store: &Store) {
    let mut open = Vec::new();
    for _ in 0..LOADS_MAX {
        open.push(begin(store).await);
    }
    let refused = store.load(&things(0), store.fence(&things(0))).await.expect_err("one too many");
    assert_eq!(refused.limit().map(|limit| limit.name), Some("LOADS_MAX"));
    for (n, load) in open.iter().enumerate() {
        load.add(rows(&[("a", &n.to_string())])).await.expect("add");
    }
    // The last that is finished has the last word.
    while let Some(load) = open.pop() {
        load.finish(None).await.expect("finish");
        assert_eq!(value(store, "a").await, Some(open.len().to_string()));
    }
    let late = begin(store).await;
    late.add(rows(&[("b", "1")])).await.expect("add");
    store.close().await.expect("close");
    assert_eq!(kind(late.finish(None).await), ErrorKind::Unavailable);
}
