//! The feed, resolving of lost acknowledgements, leases, closing.

use std::time::Duration;

use store_contract::incarnation::{incarnation_of_cursor, number_of_cursor, number_of_stamp};

use super::{
    BLOCKS, FEED_RECORDS_MIN, TESTS, append, bytes, commit, done, kind, put, record, stamped, things,
};
use crate::{
    ChangeRecord, Clock, Commit, Condition, Cursor, ErrorKind, Lease, Model, Outcome, Partition, Range,
    Stamp, Store, Timestamp, WriteId,
};

pub(super) async fn check_feed(store: &Store) {
    assert_eq!(number_of_cursor(store.feed_end(0)), 0);
    assert!(store.feed(0, Cursor::default(), 10).await.expect("feed").changes.is_empty());
    let mut stamps = Vec::new();
    for n in 1..=10_u32 {
        let mut it = commit(u128::from(n), vec![], vec![stamped("a", "x")]);
        it.partition = things(n % 3);
        stamps.push(done(store, it).await);
        let refused = commit(99, vec![Condition::Present(bytes("none"))], vec![]);
        assert_eq!(kind(store.commit(refused).await), ErrorKind::Conflict);
    }
    let blocks = Partition { space: BLOCKS, ..things(0) };
    append(store, &blocks, vec![(bytes("k"), bytes("v"))]).await.expect("append");
    let mut cursor = Cursor::default();
    let mut seen = Vec::new();
    loop {
        let page = store.feed(0, cursor, 3).await.expect("feed");
        assert!(page.changes.len() <= 3);
        if page.cursor == cursor {
            break;
        }
        cursor = page.cursor;
        seen.extend(page.changes);
    }
    assert_eq!(cursor, store.feed_end(0));
    assert_eq!(seen.len(), 10, "refused commits and appends are not in the feed");
    for ((n, change), stamp) in (1..).zip(&seen).zip(stamps) {
        assert_eq!(change.write_id, WriteId(n));
        assert_eq!(change.record, record(format!("change {n}")));
        assert_eq!(change.partition, things(u32::try_from(n % 3).expect("small")));
        assert_eq!(
            (change.number, number_of_cursor(change.cursor)),
            (number_of_stamp(stamp), number_of_stamp(stamp))
        );
    }
    assert_eq!(kind(store.feed(1, Cursor::default(), 3).await), ErrorKind::Misuse);
}

/// The cursor so many commits before this one.
/// The cursor of the same incarnation behind the commit of this number.
fn at(cursor: Cursor, number: u64) -> Cursor {
    incarnation_of_cursor(cursor).cursor(number)
}

fn back(cursor: Cursor, commits: u64) -> Cursor {
    at(cursor, number_of_cursor(cursor) - commits)
}

/// What is of another store, or of another life of this one, is refused as such.
pub(super) async fn check_incarnation(store: &Store, other: &Store) {
    let stamp = done(store, commit(1, vec![], vec![stamped("a", "1")])).await;
    let foreign = done(other, commit(1, vec![], vec![stamped("a", "1")])).await;
    assert_ne!(stamp, foreign);
    let commit_on = |stamp| commit(2, vec![Condition::Version(bytes("a"), stamp)], vec![stamped("a", "2")]);
    assert_eq!(kind(store.commit(commit_on(foreign)).await), ErrorKind::OtherIncarnation);
    assert_eq!(kind(store.feed(0, other.feed_end(0), 9).await), ErrorKind::OtherIncarnation);
    let beyond = at(store.feed_end(0), 2);
    assert_eq!(kind(store.feed(0, beyond, 9).await), ErrorKind::OtherIncarnation, "nobody was there");
    assert_eq!(store.feed(0, Cursor::default(), 9).await.expect("the beginning").changes.len(), 1);
    done(store, commit_on(stamp)).await;
    // A cursor that this store holds itself is taken for what it says.
    let held = Cursor::from_bytes(other.feed_end(0).to_bytes());
    assert_eq!(held, other.feed_end(0));
    assert_eq!(store.feed(0, store.adopt_cursor(held), 9).await.expect("adopted").changes.len(), 1);
    assert_eq!(store.adopt_cursor(at(held, 3)), at(held, 3));
}

/// A commit that says nothing of itself.
fn silent(write_id: u128) -> Commit {
    Commit { change: None, ..commit(write_id, vec![], vec![stamped("a", "x")]) }
}

/// Commits that say nothing are passed over, and found by their ids; what a reader has not seen is kept up to the cap.
pub(super) async fn check_feed_readers(store: &Store) {
    let first = done(store, commit(1, vec![], vec![put("a", "x")])).await;
    for n in 2..20 {
        done(store, silent(n)).await;
    }
    let last = done(store, commit(20, vec![], vec![put("a", "x")])).await;
    let silent_end = done(store, silent(21)).await;
    let page = store.feed(0, Cursor::default(), 9).await.expect("feed");
    let numbers: Vec<_> = page.changes.iter().map(|change| change.number).collect();
    assert_eq!(numbers, [first, last].map(number_of_stamp));
    assert_eq!(page.cursor, store.feed_end(0), "behind what says nothing, too");
    let seen = page.changes.first().expect("the first change").cursor;
    assert_eq!(store.feed(0, seen, 1).await.expect("feed").changes.len(), 1);
    let resolve = async |write_id| store.resolve(&things(0), WriteId(write_id), None).await;
    assert_eq!(resolve(21).await.expect("resolve"), Outcome::Committed(silent_end));
    assert!(matches!(resolve(7).await.expect("resolve"), Outcome::Committed(_)));
    assert_eq!(resolve(99).await.expect("resolve"), Outcome::NotCommitted);
    let elsewhere = store.resolve(&things(1), WriteId(21), None).await.expect("resolve");
    assert_eq!(elsewhere, Outcome::NotCommitted);
    // Of two places of one reader the slower counts.
    let start = page.cursor;
    let fill = async || {
        for n in 0..FEED_RECORDS_MIN {
            done(store, commit(100 + u128::from(n), vec![], vec![put("a", "x")])).await;
        }
    };
    fill().await;
    store.keep_feed("reader", 0, &[store.feed_end(0), start]).await.expect("registered");
    fill().await;
    let kept = store.feed(0, start, 1_000).await.expect("kept for the reader").changes;
    assert_eq!(kept.len() as u64, 2 * FEED_RECORDS_MIN);
    store.keep_feed("reader", 0, &[]).await.expect("forgotten");
    fill().await;
    assert_eq!(kind(store.feed(0, start, 3).await), ErrorKind::TooLarge);
    store.keep_feed("reader", 0, &[store.feed_end(0)]).await.expect("registered");
    let end = store.feed_end(0);
    for _ in 0..4 {
        fill().await;
    }
    assert_eq!(kind(store.feed(0, end, 3).await), ErrorKind::TooLarge, "the cap holds");
    let long = "x".repeat(store_contract::limits::FEED_READER_NAME_BYTES_MAX + 1);
    assert_eq!(kind(store.keep_feed(&long, 0, &[end]).await), ErrorKind::TooLarge);
    assert_eq!(kind(store.keep_feed("reader", store.feed_shards(), &[end]).await), ErrorKind::Misuse);
}

pub(super) async fn check_feed_limit(store: &Store) {
    let many = FEED_RECORDS_MIN * 4;
    for n in 0..many {
        done(store, commit(u128::from(n), vec![], vec![put("a", "x")])).await;
    }
    assert_eq!(kind(store.feed(0, Cursor::default(), 3).await), ErrorKind::TooLarge, "what is gone is said");
    let end = store.feed_end(0);
    let page = store.feed(0, back(end, FEED_RECORDS_MIN), 1_000).await.expect("what must be kept");
    assert_eq!(page.changes.len() as u64, FEED_RECORDS_MIN);
    assert_eq!(page.changes.last().map(|change| change.write_id), Some(WriteId(u128::from(many - 1))));
    assert!(store.feed(0, end, 1_000).await.expect("feed").changes.is_empty());
    let gone = store.resolve(&things(0), WriteId(0), None).await;
    assert_eq!(kind(gone), ErrorKind::Unknown);
}

pub(super) async fn check_resolve(store: &Store) {
    let stamp = done(store, commit(7, vec![], vec![stamped("a", "x")])).await;
    let refused = commit(8, vec![Condition::Absent(bytes("a"))], vec![]);
    assert_eq!(kind(store.commit(refused).await), ErrorKind::Conflict);
    let resolve = async |write_id| store.resolve(&things(0), WriteId(write_id), None).await.expect("resolve");
    assert_eq!(resolve(7).await, Outcome::Committed(stamp));
    assert_eq!(resolve(8).await, Outcome::NotCommitted);
    assert_eq!(resolve(9).await, Outcome::NotCommitted);
    let elsewhere = store.resolve(&things(1), WriteId(7), None).await.expect("resolve");
    assert_eq!(elsewhere, Outcome::NotCommitted);
    // A commit whose caller went away is settled all the same, one way or the other.
    drop(Box::pin(store.commit(commit(10, vec![], vec![stamped("b", "x")]))));
    let outcome = resolve(10).await;
    let row = store.get(&things(0), b"b").await.expect("get");
    assert_eq!(outcome, row.map_or(Outcome::NotCommitted, |row| Outcome::Committed(row.stamp)));
}

pub(super) async fn check_leases(store: &Store, clock: &Clock) {
    let pass = |seconds: u64| clock.pass(Duration::from_secs(seconds));
    let ttl = Duration::from_secs(10);
    let take = async |name: &str| store.lease(name, ttl).await.expect("lease");
    let renew = async |lease: &Lease| store.renew(lease, ttl).await.expect("renew");
    let first = take("job").await.expect("free");
    assert_eq!(take("job").await, None, "whoever asks, under whatever name");
    assert!(take("other job").await.is_some());
    pass(9);
    assert!(renew(&first).await);
    pass(9);
    assert_eq!(take("job").await, None, "the renewal counts");
    // A clock that is set, by ten years or back, lets nothing run out, nor last.
    for by in [-1, 1, 10] {
        clock.set(Timestamp(clock.now().0 + by * 365 * 86_400 * 1_000_000));
        assert_eq!(take("job").await, None);
        assert!(renew(&first).await);
    }
    pass(10);
    assert!(!renew(&first).await, "it has run out");
    let second = take("job").await.expect("run out");
    assert!(second.epoch() > first.epoch());
    assert!(!renew(&first).await, "it is another's now");
    assert!(store.renew(&second, Duration::ZERO).await.expect("given back"));
    let third = take("job").await.expect("free again");
    assert!(third.epoch() > second.epoch() && !renew(&second).await && renew(&third).await);
    let long = "x".repeat(store_contract::limits::LEASE_NAME_BYTES_MAX + 1);
    assert_eq!(kind(store.lease(&long, ttl).await), ErrorKind::TooLarge);
}

pub(super) async fn check_close(store: &Store) {
    done(store, commit(1, vec![], vec![stamped("a", "x")])).await;
    let clone = store.clone();
    store.close().await.expect("close");
    store.close().await.expect("closing twice is closing once");
    let outcome = clone.commit(commit(2, vec![], vec![])).await;
    assert_eq!(kind(outcome), ErrorKind::Unavailable);
    assert_eq!(
        clone
            .commit_all(vec![commit(3, vec![], vec![]); 2])
            .await
            .into_iter()
            .map(kind::<Stamp>)
            .collect::<Vec<_>>(),
        [ErrorKind::Unavailable; 2]
    );
    let blocks = Partition { space: BLOCKS, ..things(0) };
    assert_eq!(kind(append(&clone, &blocks, vec![(bytes("k"), bytes("v"))]).await), ErrorKind::Unavailable);
    assert_eq!(kind(clone.get(&things(0), b"a").await), ErrorKind::Unavailable);
    assert_eq!(kind(clone.get(&things(0), b"none").await), ErrorKind::Unavailable);
    let scan = clone.scan(&things(0), &Range::default(), crate::Direction::Forward, 1).await;
    assert_eq!(kind(scan), ErrorKind::Unavailable);
    assert_eq!(kind(clone.feed(0, Cursor::default(), 1).await), ErrorKind::Unavailable);
    assert_eq!(kind(clone.resolve(&things(0), WriteId(1), None).await), ErrorKind::Unavailable);
    assert_eq!(kind(clone.lease("job", Duration::from_secs(1)).await), ErrorKind::Unavailable);
    assert_eq!(clone.get_cached(&things(0), b"a"), None);
}

/// Each model reads its own records alone, and has its number to itself.
pub(super) async fn check_models(store: &Store) {
    let other = Model { id: 201, name: "others" };
    let said = |model, said: &str| Some(ChangeRecord::new(model, 1, 2, bytes(said)));
    for (write_id, change) in [(1, said(TESTS, "one")), (2, said(other, "")), (3, None)] {
        done(store, Commit { change, ..commit(write_id, vec![], vec![stamped("a", "x")]) }).await;
    }
    let taken = said(Model { name: "thieves", ..TESTS }, "stolen");
    let refused = Commit { change: taken, ..commit(4, vec![], vec![stamped("a", "stolen")]) };
    assert_eq!(kind(store.commit(refused.clone()).await), ErrorKind::Misuse);
    let mut outcomes = store.commit_all(vec![refused, commit(5, vec![], vec![])]).await.into_iter();
    assert_eq!(outcomes.next().map(kind), Some(ErrorKind::Misuse));
    assert!(outcomes.next().is_some_and(|outcome| outcome.is_ok()));
    let changes = store.feed(0, Cursor::default(), 9).await.expect("feed").changes;
    let read = |model| {
        let own = changes.iter().filter_map(move |change| change.record.of(model));
        own.map(|own| String::from_utf8(own.payload.to_vec()).expect("a text")).collect::<Vec<_>>()
    };
    assert_eq!(read(TESTS), ["one", "change 5"]);
    assert_eq!(read(other), [""], "one that says little says something");
    assert!(read(Model { name: "thieves", ..TESTS }).is_empty());
}
