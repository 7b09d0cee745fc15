//! Snapshots: what was acknowledged before is in them whole, and nothing of what came later.

use super::{bytes, commit, done, put, stamped, things};
use crate::retry::READ_ATTEMPTS_MAX;
use crate::{Direction, ErrorKind, Range, ReadAttempts, Snapshot, Store, Write};

async fn was(snapshot: &Snapshot, key: &str) -> Option<String> {
    let row = snapshot.get(&things(0), key.as_bytes()).await.expect("get");
    let cached = snapshot.get_cached(&things(0), key.as_bytes());
    assert!(cached.is_none() || cached == Some(row.clone()), "{key}: {cached:?} is not {row:?}");
    row.map(|row| String::from_utf8(row.value.to_vec()).expect("text"))
}

async fn all_of(snapshot: &Snapshot, direction: Direction, rows_max: usize) -> String {
    let page = snapshot.scan(&things(0), &Range::default(), direction, rows_max).await.expect("scan");
    let texts = page.rows().map(|(key, value)| [key, b"=", value].concat());
    let texts: Vec<_> = texts.map(|text| String::from_utf8(text).expect("text")).collect();
    texts.join(" ") + if page.more() { " …" } else { "" }
}

/// What is overwritten, removed, removed by a range or added later is as it was.
pub(super) async fn check_snapshot(store: &Store) {
    let first = ["a", "b", "c", "d"].map(|key| stamped(key, "1"));
    done(store, commit(1, vec![], first.into_iter().chain([put("i", "1"), put("j", "1")]).collect())).await;
    let snapshot = store.snapshot().expect("snapshot");
    let second = vec![stamped("a", "2"), Write::Delete(bytes("b")), put("aa", "2"), put("i", "2")];
    done(store, commit(2, vec![], second)).await;
    let range = Range { start: bytes("c"), end: Some(bytes("d")) };
    done(store, commit(3, vec![], vec![Write::DeleteRange(range), stamped("e", "3")])).await;
    let between = store.snapshot().expect("snapshot");
    done(store, commit(4, vec![], vec![stamped("a", "4"), Write::Delete(bytes("j"))])).await;
    let same = |text: &str| Some(text.to_owned());
    for _ in 0..2 {
        assert_eq!(was(&snapshot, "a").await, same("1"));
        assert_eq!(was(&snapshot, "b").await, same("1"));
        assert_eq!(was(&snapshot, "c").await, same("1"));
        assert_eq!(was(&snapshot, "d").await, same("1"));
        assert_eq!(was(&snapshot, "i").await, same("1"));
        assert_eq!(was(&snapshot, "e").await, None);
        assert_eq!(was(&between, "a").await, same("2"));
        assert_eq!(was(&between, "b").await, None);
        assert_eq!(was(&between, "j").await, same("1"));
    }
    let rows = snapshot.get_many(&things(0), &["a", "x", "c", "e"].map(bytes)).await.expect("get");
    let values: Vec<_> = rows.into_iter().map(|row| row.map(|row| row.value)).collect();
    assert_eq!(values, [Some(bytes("1")), None, Some(bytes("1")), None]);
    assert_eq!(all_of(&snapshot, Direction::Forward, 9).await, "a=1 b=1 c=1 d=1 i=1 j=1");
    assert_eq!(all_of(&snapshot, Direction::Backward, 9).await, "j=1 i=1 d=1 c=1 b=1 a=1");
    assert_eq!(all_of(&snapshot, Direction::Forward, 2).await, "a=1 b=1 …");
    assert_eq!(all_of(&between, Direction::Forward, 9).await, "a=2 aa=2 d=1 e=3 i=2 j=1");
    let now = store.snapshot().expect("snapshot");
    assert_eq!(all_of(&now, Direction::Backward, 9).await, "i=2 e=3 d=1 aa=2 a=4");
}

/// Snapshots that are taken while commits are under way hold each whole, and all that were acknowledged.
pub(super) async fn check_snapshot_races(store: &Store) {
    let write = |n: u128| vec![stamped("x", &n.to_string()), put("y", &n.to_string())];
    done(store, commit(0, vec![], write(0))).await;
    let (acknowledged, last) = (std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0)), 200);
    let (of_writer, writer) = (acknowledged.clone(), store.clone());
    let writing = tokio::spawn(async move {
        for n in 1..=last {
            done(&writer, commit(n.into(), vec![], write(n.into()))).await;
            of_writer.store(n, std::sync::atomic::Ordering::Release);
        }
    });
    loop {
        let least = acknowledged.load(std::sync::atomic::Ordering::Acquire);
        let snapshot = store.snapshot().expect("snapshot");
        let one = was(&snapshot, "x").await.expect("a row");
        tokio::task::yield_now().await;
        assert_eq!(was(&snapshot, "y").await.as_deref(), Some(&*one));
        assert_eq!(was(&snapshot, "x").await.as_deref(), Some(&*one));
        assert!(one.parse::<u64>().expect("a number") >= least, "{one} is before {least}");
        if least == last {
            break;
        }
    }
    writing.await.expect("writer");
}

/// A read of several pages ends with `Changed` if a commit touched its partition, and no other, since it began there.
pub(super) async fn check_validated(store: &Store) {
    let two = |value: &str| vec![stamped("a", value), put("b", value)];
    done(store, commit(1, vec![], two("1"))).await;
    let (snapshot, late) = (store.snapshot().expect("snapshot"), store.snapshot().expect("snapshot"));
    assert_eq!(was(&snapshot, "a").await.as_deref(), Some("1"));
    let elsewhere = crate::Commit { partition: things(1), ..commit(2, vec![], two("2")) };
    done(store, elsewhere).await;
    assert_eq!(all_of(&snapshot, Direction::Forward, 9).await, "a=1 b=1");
    done(store, commit(3, vec![], two("3"))).await;
    let key = [bytes("b")];
    let refused = [
        snapshot.get(&things(0), b"b").await.map(drop),
        snapshot.get_many(&things(0), &key).await.map(drop),
        snapshot.scan(&things(0), &Range::default(), Direction::Backward, 9).await.map(drop),
    ];
    for refused in refused {
        assert_eq!(super::kind(refused), ErrorKind::Changed);
    }
    assert_eq!(snapshot.get_cached(&things(0), b"a"), None);
    assert_eq!(all_of(&late, Direction::Forward, 9).await, "a=3 b=3", "it began after the commit");
    // Beginning anew helps, and ends.
    for (disturbed, expected) in [(3, None), (u32::MAX, Some(ErrorKind::Changed))] {
        let (mut attempts, mut made) = (ReadAttempts::default(), 0);
        let told = loop {
            made += 1;
            let snapshot = store.snapshot().expect("snapshot");
            assert!(was(&snapshot, "a").await.is_some());
            if made <= disturbed {
                done(store, commit(u128::from(made), vec![], two("4"))).await;
            }
            match snapshot.get(&things(0), b"b").await {
                Err(error) if attempts.again(&error) => {}
                told => break told.map_err(|error| error.kind()).err(),
            }
        };
        assert_eq!((told, made), (expected, disturbed.saturating_add(1).min(READ_ATTEMPTS_MAX)));
    }
}
