//! Commits: atomic, conditional, in order, within limits.

use bytes::Bytes;
use store_contract::incarnation::{incarnation_of_stamp, number_of_stamp};

use super::{BLOCKS, append, bytes, commit, done, kind, put, stamped, things, value};
use crate::{
    Condition, Direction, ErrorKind, Limits, Partition, ROW_BYTES_MAX, Range, Stamp, Store, Write, WriteId,
};
use store_contract::limits::KEY_BYTES_MAX;

pub(super) async fn check_stamps_and_rows(store: &Store) {
    let first = done(store, commit(1, vec![], vec![stamped("a", "one"), put("i", "")])).await;
    let second = done(store, commit(2, vec![], vec![stamped("a", "two"), put("j", "plain")])).await;
    assert!(first != second && first != Stamp::default(), "each commit has its own");
    let row = store.get(&things(0), b"a").await.expect("get").expect("row");
    assert_eq!((row.stamp, row.write_id, row.value), (second, WriteId(2), bytes("two")));
    for (key, text) in [("i", ""), ("j", "plain")] {
        let row = store.get(&things(0), key.as_bytes()).await.expect("get").expect("row");
        assert_eq!(
            (row.stamp, row.write_id, row.value),
            (Stamp::default(), WriteId(0), bytes(text)),
            "plain row"
        );
    }
    // A row may change from stamped to plain and back; reads follow.
    done(store, commit(3, vec![], vec![put("a", "plain")])).await;
    let row = store.get(&things(0), b"a").await.expect("get").expect("row");
    assert_eq!((row.stamp, row.value), (Stamp::default(), bytes("plain")));
    let fourth = done(store, commit(4, vec![], vec![stamped("a", ""), stamped("", "empty key")])).await;
    let keys = [bytes("a"), bytes("none"), bytes(""), bytes("j")];
    let rows = store.get_many(&things(0), &keys).await.expect("get many");
    let rows: Vec<_> = rows.into_iter().map(|row| row.map(|row| (row.stamp, row.value))).collect();
    let expected = [
        Some((fourth, bytes(""))),
        None,
        Some((fourth, bytes("empty key"))),
        Some((Stamp::default(), bytes("plain"))),
    ];
    assert_eq!(rows, expected);
}

pub(super) async fn check_conditions(store: &Store) {
    let stamp = done(store, commit(1, vec![], vec![stamped("a", "one"), put("plain", "x")])).await;
    let cases = [
        (Condition::Absent(bytes("a")), false),
        (Condition::Absent(bytes("none")), true),
        (Condition::Absent(bytes("plain")), false),
        (Condition::Present(bytes("a")), true),
        (Condition::Present(bytes("plain")), true),
        (Condition::Present(bytes("none")), false),
        (Condition::Version(bytes("a"), stamp), true),
        (
            Condition::Version(bytes("a"), incarnation_of_stamp(stamp).stamp(number_of_stamp(stamp) + 1)),
            false,
        ),
        (Condition::Version(bytes("a"), Stamp::default()), false),
        (Condition::Version(bytes("none"), stamp), false),
        (Condition::Version(bytes("plain"), Stamp::default()), false),
    ];
    for (condition, holds) in cases {
        let said = format!("{condition:?}");
        let outcome = store.commit(commit(9, vec![condition], vec![put("witness", &said)])).await;
        assert_eq!(outcome.is_ok(), holds, "{said}");
        if !holds {
            assert_eq!(kind(outcome), ErrorKind::Conflict, "{said}");
            assert_ne!(value(store, "witness").await.as_deref(), Some(&said[..]), "refused yet written");
        }
    }
    // After deletion and rewriting, an old version must not hold again.
    done(store, commit(10, vec![], vec![Write::Delete(bytes("a"))])).await;
    let outcome = store.commit(commit(11, vec![Condition::Present(bytes("a"))], vec![])).await;
    assert_eq!(kind(outcome), ErrorKind::Conflict);
    done(store, commit(12, vec![Condition::Absent(bytes("a"))], vec![stamped("a", "again")])).await;
    let outcome = store.commit(commit(13, vec![Condition::Version(bytes("a"), stamp)], vec![])).await;
    assert_eq!(kind(outcome), ErrorKind::Conflict);
}

pub(super) async fn check_atomicity(store: &Store) {
    done(store, commit(1, vec![], vec![stamped("a", "one")])).await;
    let conditions = vec![Condition::Present(bytes("a")), Condition::Absent(bytes("a"))];
    let writes = vec![stamped("a", "two"), put("b", "two"), Write::Delete(bytes("c"))];
    assert_eq!(kind(store.commit(commit(2, conditions, writes)).await), ErrorKind::Conflict);
    assert_eq!(value(store, "a").await.as_deref(), Some("one"));
    assert_eq!(value(store, "b").await, None);
    // Conditions see the state before.
    done(store, commit(3, vec![Condition::Absent(bytes("c"))], vec![put("c", "2")])).await;
    assert_eq!(value(store, "c").await.as_deref(), Some("2"));
    // The same key in another bucket, tenant or space is another row.
    let mut elsewhere = commit(4, vec![Condition::Absent(bytes("a"))], vec![stamped("a", "elsewhere")]);
    elsewhere.partition = things(1);
    done(store, elsewhere).await;
    assert_eq!(value(store, "a").await.as_deref(), Some("one"));
}

pub(super) async fn check_groups(store: &Store) {
    let absent = |key: &str| Condition::Absent(bytes(key));
    let range = |start, end| Write::DeleteRange(range(start, end));
    let commits = vec![
        commit(1, vec![absent("a")], vec![stamped("a", "1")]),
        commit(2, vec![absent("a")], vec![stamped("a", "2")]),
        commit(3, vec![Condition::Present(bytes("a"))], vec![put("p", "3")]),
        commit(4, vec![], vec![Write::Delete(bytes("a"))]),
        commit(5, vec![absent("a")], vec![stamped("a", "5")]),
        commit(6, vec![absent("p")], vec![put("p", "6")]),
        commit(7, vec![], vec![range("p", Some("pp")), range("pq", Some("q")), put("pp", "7")]),
        commit(8, vec![absent("p"), Condition::Present(bytes("pp"))], vec![put("p", "8")]),
    ];
    let outcomes = store.commit_all(commits).await;
    let held: Vec<bool> = outcomes.iter().map(Result::is_ok).collect();
    assert_eq!(held, [true, false, true, true, true, false, true, true]);
    let stamps: Vec<Stamp> = outcomes.into_iter().filter_map(Result::ok).collect();
    assert!(
        stamps.is_sorted_by(|one, next| number_of_stamp(*one) < number_of_stamp(*next)),
        "in order: {stamps:?}"
    );
    assert_eq!(value(store, "a").await.as_deref(), Some("5"));
    assert_eq!(value(store, "p").await.as_deref(), Some("8"));
    assert_eq!(value(store, "pp").await.as_deref(), Some("7"));
    assert!(store.commit_all(vec![]).await.is_empty());
    // Many at once, each its own atom; the row of each is there afterwards.
    let many = (0..1_000)
        .map(|n| commit(100 + n, vec![absent(&format!("m{n}"))], vec![stamped(&format!("m{n}"), "x")]));
    let outcomes = store.commit_all(many.collect()).await;
    assert_eq!(outcomes.iter().filter(|it| it.is_ok()).count(), 1_000);
    for n in [0, 499, 999] {
        assert_eq!(value(store, &format!("m{n}")).await.as_deref(), Some("x"));
    }
}

pub(super) async fn check_delete_range(store: &Store) {
    let rows = ["a", "b", "c", "d", "e"].map(|key| stamped(key, key));
    done(store, commit(1, vec![], rows.to_vec())).await;
    let mut other = commit(2, vec![], vec![stamped("c", "other bucket")]);
    other.partition = things(1);
    done(store, other).await;
    for key in ["a", "b", "c", "d", "e"] {
        assert_eq!(value(store, key).await.as_deref(), Some(key));
    }
    let empty = Write::DeleteRange(range("d", Some("b")));
    done(store, commit(3, vec![], vec![empty, Write::DeleteRange(range("b", Some("d")))])).await;
    for (key, there) in [("a", true), ("b", false), ("c", false), ("d", true), ("e", true)] {
        assert_eq!(value(store, key).await.is_some(), there, "{key}");
    }
    done(store, commit(4, vec![Condition::Absent(bytes("c"))], vec![stamped("c", "new")])).await;
    let behind = Write::DeleteRange(range("zz", None));
    done(store, commit(5, vec![], vec![Write::DeleteRange(range("", Some("z"))), put("z", "kept"), behind]))
        .await;
    for (key, there) in [("a", false), ("c", false), ("e", false), ("z", true)] {
        assert_eq!(value(store, key).await.is_some(), there, "{key}");
    }
    assert!(store.get(&things(1), b"c").await.expect("get").is_some(), "another bucket is untouched");
}

/// What has another meaning in another order is refused, and nothing of it is written.
pub(super) async fn check_order(store: &Store) {
    let delete = |key: &str| Write::Delete(bytes(key));
    let removed = |start, end| Write::DeleteRange(range(start, end));
    let refused = [
        vec![put("b", "1"), put("a", "1"), put("b", "2")],
        vec![put("a", "1"), delete("a")],
        vec![delete("a"), stamped("a", "1")],
        vec![delete("a"), delete("a")],
        vec![removed("a", Some("c")), put("b", "1")],
        vec![put("b", "1"), removed("b", None)],
        vec![removed("a", None), delete("a")],
        vec![removed("a", Some("z")), removed("b", Some("c")), put("d", "1")],
    ];
    for writes in refused {
        let said = format!("{writes:?}");
        let alone = store.commit(commit(1, vec![], writes.clone())).await;
        assert_eq!(kind(alone), ErrorKind::Misuse, "{said}");
        let [other, twice] = [commit(2, vec![], vec![put("other", "1")]), commit(3, vec![], writes)];
        let mut grouped = store.commit_all(vec![twice, other]).await.into_iter();
        assert_eq!(grouped.next().map(kind::<Stamp>), Some(ErrorKind::Misuse), "{said}");
        assert!(
            grouped.next().is_some_and(|outcome| outcome.is_ok()),
            "others of the group are not concerned"
        );
        for key in ["a", "b", "d"] {
            assert_eq!(value(store, key).await, None, "{said}");
        }
    }
    // Ranges may overlap, and touch rows.
    let ranges = || [removed("c", Some("e")), removed("d", Some("f")), removed("x", Some("a"))];
    let rows = [put("b", "1"), put("f", "1"), delete("a"), put("y", "1")];
    done(store, commit(4, vec![], rows.into_iter().chain(ranges()).collect())).await;
    for (key, is_there) in [("a", false), ("b", true), ("f", true), ("y", true)] {
        assert_eq!(value(store, key).await.is_some(), is_there, "{key}");
    }
}

fn range(start: &str, end: Option<&str>) -> Range {
    Range { start: bytes(start), end: end.map(bytes) }
}

pub(super) async fn check_limits(store: &Store) {
    let big = |length: usize| Bytes::from(vec![7; length]);
    let Limits { commit_rows, commit_bytes, good_rows, good_bytes } = store.limits();
    assert!(good_rows <= commit_rows && good_bytes <= commit_bytes);
    assert!(Limits::PORTABLE.commit_rows <= commit_rows && Limits::PORTABLE.commit_bytes <= commit_bytes);
    let value_bytes = ROW_BYTES_MAX.min(commit_bytes - KEY_BYTES_MAX - 100);
    let keyed = |key: usize| Write::Put(Bytes::from(key.to_string()), big(commit_bytes / 2));
    let refused = [
        commit(1, vec![], vec![Write::Put(big(KEY_BYTES_MAX + 1), Bytes::new())]),
        commit(2, vec![], vec![Write::PutStamped(bytes("a"), big(ROW_BYTES_MAX + 1))]),
        commit(3, vec![Condition::Absent(big(KEY_BYTES_MAX + 1))], vec![]),
        commit(4, vec![], vec![Write::Delete(big(KEY_BYTES_MAX + 1))]),
        commit(5, vec![], vec![Write::Delete(bytes("a")); commit_rows + 1]),
        commit(6, vec![], (0..3).map(keyed).collect()),
    ];
    let mut accepted = commit(7, vec![], vec![Write::Put(big(KEY_BYTES_MAX), Bytes::new())]);
    accepted.writes.push(Write::PutStamped(bytes("b"), big(value_bytes)));
    for commit in refused {
        let write_id = commit.write_id;
        assert_eq!(kind(store.commit(commit).await), ErrorKind::TooLarge, "{write_id:?}");
    }
    let error = store.commit(commit(6, vec![], (0..3).map(keyed).collect())).await.expect_err("too large");
    assert!(error.action().contains(&commit_bytes.to_string()), "the limit in force is named: {error}");
    done(store, accepted).await;
    let row = store.get(&things(0), b"b").await.expect("get").expect("row");
    assert_eq!(row.value.len(), value_bytes);
    assert!(store.get(&things(0), &big(KEY_BYTES_MAX)).await.expect("get").is_some());
    assert!(store.get(&things(0), &big(KEY_BYTES_MAX + 1)).await.expect("get").is_none());
    assert_eq!(value(store, "a").await, None);
    let most = (0..commit_rows).map(|key| Write::Put(Bytes::from(format!("m{key}")), Bytes::new()));
    done(store, commit(8, vec![], most.collect())).await;
}

/// Rows that are found by scans only.
pub(super) async fn check_scanned(store: &Store) {
    let stamp =
        done(store, commit(1, vec![], vec![stamped("a", "one"), put("A1", "x"), put("Z", "y")])).await;
    for key in ["A1", "Z"] {
        let conditions = [
            Condition::Absent(bytes(key)),
            Condition::Present(bytes(key)),
            Condition::Version(bytes(key), stamp),
        ];
        for condition in conditions {
            let refused = store.commit(commit(2, vec![condition], vec![put("b", "")])).await;
            assert_eq!(kind(refused), ErrorKind::Misuse, "{key} in a condition");
        }
        let refused = store.commit(commit(3, vec![], vec![put("b", ""), stamped(key, "")])).await;
        assert_eq!(kind(refused), ErrorKind::Misuse, "{key} with a stamp");
    }
    assert_eq!(value(store, "b").await, None, "nothing of what was refused");
    // They can be read by their key all the same, and what is read is as new as any.
    for n in [4, 5] {
        let text = n.to_string();
        done(store, commit(n, vec![], vec![put("A1", &text), Write::Delete(bytes("Z"))])).await;
        assert_eq!((value(store, "A1").await, value(store, "Z").await), (Some(text), None));
    }
    let page = store.scan(&things(0), &Range::default(), Direction::Forward, 9).await.expect("scan");
    assert_eq!(page.rows().map(|(key, _)| key).collect::<Vec<_>>(), [b"A1".as_slice(), b"a"]);
}

pub(super) async fn check_spaces(store: &Store) {
    let blocks = Partition { space: BLOCKS, ..things(3) };
    let rows = vec![(bytes("k1"), bytes("v1")), (bytes("k2"), bytes(""))];
    for _ in 0..2 {
        append(store, &blocks, rows.clone()).await.expect("append, twice the same");
    }
    let row = store.get(&blocks, b"k1").await.expect("get").expect("row");
    assert_eq!(row.value, bytes("v1"));
    assert_eq!(kind(append(store, &things(0), rows).await), ErrorKind::Misuse);
    let mut wrong = commit(1, vec![], vec![put("a", "b")]);
    wrong.partition = blocks.clone();
    assert_eq!(kind(store.commit(wrong).await), ErrorKind::Misuse);
    // The same number used for the other kind is the same mistake, however it is spelled.
    let forged = crate::Space { kind: crate::SpaceKind::Commit, ..BLOCKS };
    let mut wrong = commit(2, vec![], vec![put("k1", "b")]);
    wrong.partition.space = forged;
    assert_eq!(kind(store.commit(wrong).await), ErrorKind::Misuse);
    // So is the number used for a space of another name.
    let other = Partition { space: crate::Space { name: "others", ..BLOCKS }, ..blocks.clone() };
    assert_eq!(kind(append(store, &other, vec![(bytes("k1"), bytes("w"))]).await), ErrorKind::Misuse);
    let row = store.get(&blocks, b"k1").await.expect("get").expect("row");
    assert_eq!(row.value, bytes("v1"));
    let large = vec![(bytes("k"), Bytes::from(vec![0; ROW_BYTES_MAX + 1]))];
    assert_eq!(kind(append(store, &blocks, large).await), ErrorKind::TooLarge);
}

/// Many writers increase one counter with version conditions: no increase is lost.
pub(super) async fn check_races(store: &Store) {
    done(store, commit(1, vec![], vec![stamped("counter", "0")])).await;
    let mut tasks = Vec::new();
    for writer in 0..8_u128 {
        let store = store.clone();
        tasks.push(tokio::spawn(async move {
            let mut done = 0;
            while done < 10 {
                let row = store.get(&things(0), b"counter").await.expect("get").expect("row");
                let count: u32 = std::str::from_utf8(&row.value).expect("text").parse().expect("number");
                let condition = Condition::Version(bytes("counter"), row.stamp);
                let writes =
                    vec![stamped("counter", &(count + 1).to_string()), put(&format!("i{}", count + 1), "")];
                match store.commit(commit(writer * 1_000 + done, vec![condition], writes)).await {
                    Ok(_) => done += 1,
                    Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict),
                }
            }
        }));
    }
    for task in tasks {
        task.await.expect("writer");
    }
    assert_eq!(value(store, "counter").await.as_deref(), Some("80"));
}
