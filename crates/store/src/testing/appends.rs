//! Rows that go ahead of commits, their removal, and the epochs between.

use bytes::Bytes;

use super::{BLOCKS, append, bytes, commit, kind, put, things, value};
use crate::{
    Append, Appended, Commit, CommitWithAppends, Condition, Epoch, ErrorKind, Partition, Removal, Store,
};

fn blocks(bucket: u32) -> Partition {
    Partition { space: BLOCKS, ..things(bucket) }
}

fn append_of(bucket: u32, key: &str, value: &str) -> Append {
    Append { partition: blocks(bucket), rows: vec![(bytes(key), bytes(value))] }
}

/// The value of a row that was appended, as text.
async fn block(store: &Store, bucket: u32, key: &str) -> Option<String> {
    let row = store.get_linear(&blocks(bucket), key.as_bytes()).await.expect("get");
    row.map(|row| String::from_utf8(row.value.to_vec()).expect("text"))
}

/// A removal takes what was appended in the epochs that it names, and nothing newer.
pub(super) async fn check_epochs(store: &Store) {
    let put_block = async |key: &str, value: &str, epoch: Epoch| {
        store.append(append_of(1, key, value), epoch).await.map_err(|error| error.kind())
    };
    let remove = async |keys: &[&str], appended| {
        let keys = keys.iter().map(|key| bytes(key)).collect();
        store.remove(&blocks(1), keys, appended).await.expect("removed");
    };
    let first = store.fence(&things(0));
    for key in ["old", "again", "Scanned", "left"] {
        put_block(key, "first", first).await.expect("appended");
    }
    let refused = store.bump(&things(0), vec![Condition::Present(bytes("none"))]).await;
    assert_eq!(kind(refused), ErrorKind::Conflict);
    assert_eq!(store.fence(&things(0)), first, "a bump that was refused begins nothing");
    let second = store.bump(&things(0), vec![Condition::Absent(bytes("none"))]).await.expect("begun");
    put_block("new", "second", second).await.expect("appended");
    put_block("again", "second", second).await.expect("appended");
    // A slow writer: some engines see that it is late, in others it makes no difference.
    assert!(matches!(put_block("new", "first", first).await, Ok(()) | Err(ErrorKind::Fenced)));
    remove(&["old", "again", "new", "none", "Scanned"], Appended::Before(second)).await;
    let all = async || {
        let mut all = Vec::new();
        for key in ["old", "again", "new", "Scanned", "left"] {
            all.push(block(store, 1, key).await);
        }
        all
    };
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(all().await, [None, text("second"), text("second"), None, text("first")]);
    let page = store.scan(&blocks(1), &crate::Range::default(), crate::Direction::Forward, 9).await;
    assert_eq!(page.expect("scan").len(), 3);
    remove(&["again", "left"], Appended::Until(second)).await;
    assert_eq!(all().await, [None, None, text("second"), None, None]);
    let misplaced = store.remove(&things(0), vec![bytes("a")], Appended::Before(second)).await;
    assert_eq!(kind(misplaced), ErrorKind::Misuse);
    let many = vec![Bytes::new(); store.limits().commit_rows + 1];
    assert_eq!(kind(store.remove(&blocks(1), many, Appended::Before(second)).await), ErrorKind::TooLarge);
}

/// What goes ahead is there when its commit is; without its epoch the commit is not.
pub(super) async fn check_commits(store: &Store) {
    let with = |appends, epoch, commit| CommitWithAppends { appends, epoch, commit, lets_go: vec![] };
    let epoch = store.fence(&things(0));
    let appends = vec![append_of(1, "x", "1"), append_of(2, "y", "2")];
    let first = commit(1, vec![Condition::Absent(bytes("a"))], vec![put("a", "1")]);
    store.append_then_commit(with(appends, epoch, first.clone())).await.expect("committed");
    let found = async |bucket, key: &str| block(store, bucket, key).await;
    assert_eq!((found(1, "x").await, found(2, "y").await), (Some("1".into()), Some("2".into())));
    assert_eq!(value(store, "a").await.as_deref(), Some("1"));
    // Where one process has the store to itself, a conflict drops the appends.
    let again = Commit { write_id: crate::WriteId(2), ..first };
    let refused = store.append_then_commit(with(vec![append_of(1, "z", "3")], epoch, again)).await;
    assert_eq!(kind(refused), ErrorKind::Conflict);
    assert!(store.may_lag() || found(1, "z").await.is_none());
    let begun = store.bump(&things(0), vec![]).await.expect("begun");
    let late = with(vec![append_of(1, "z", "3")], epoch, commit(3, vec![], vec![put("a", "late")]));
    assert_eq!(kind(store.append_then_commit(late.clone()).await), ErrorKind::Fenced);
    assert_eq!(value(store, "a").await.as_deref(), Some("1"));
    let bare = with(vec![], epoch, commit(4, vec![], vec![put("b", "1")]));
    store.append_then_commit(bare).await.expect("without appends the epoch does not matter");
    store.append_then_commit(CommitWithAppends { epoch: begun, ..late }).await.expect("in the new epoch");
    assert_eq!((found(1, "z").await, value(store, "a").await), (Some("3".into()), Some("late".into())));
    // What is let go goes with the commit, and stays without it.
    let removal = || vec![Removal { partition: blocks(2), keys: vec![bytes("y"), bytes("none")] }];
    let refused = commit(8, vec![Condition::Absent(bytes("a"))], vec![]);
    let refused = CommitWithAppends { lets_go: removal(), ..with(vec![], begun, refused) };
    assert_eq!(kind(store.append_then_commit(refused).await), ErrorKind::Conflict);
    assert!(found(2, "y").await.is_some());
    let letting_go = with(vec![append_of(2, "w", "4")], begun, commit(9, vec![], vec![]));
    let letting_go = CommitWithAppends { lets_go: removal(), ..letting_go };
    store.append_then_commit(letting_go).await.expect("committed");
    assert_eq!((found(2, "y").await, found(2, "w").await), (None, Some("4".into())));
    // More than one commit takes.
    let limits = store.limits();
    let size = limits.commit_bytes / 4;
    let large = |bucket| {
        let row = |n: usize| (bytes(&format!("large{n}")), Bytes::from(vec![7; size]));
        Append { partition: blocks(bucket), rows: (0..3).map(row).collect() }
    };
    let many = with(vec![large(1), large(2)], begun, commit(5, vec![], vec![put("c", "1")]));
    store.append_then_commit(many).await.expect("committed");
    for bucket in [1, 2] {
        let row = store.get_linear(&blocks(bucket), b"large2").await.expect("get").expect("a row");
        assert_eq!(row.value.len(), size);
    }
    let too_large = Append { partition: blocks(1), rows: vec![(bytes("k"), Bytes::from(vec![0; size * 5]))] };
    let refused = with(vec![too_large], begun, commit(6, vec![], vec![put("d", "1")]));
    assert_eq!(kind(store.append_then_commit(refused).await), ErrorKind::TooLarge);
    assert_eq!(value(store, "d").await, None);
    let misplaced = Append { partition: things(1), ..append_of(1, "x", "1") };
    let refused = with(vec![misplaced], begun, commit(7, vec![], vec![put("d", "1")]));
    assert_eq!(kind(store.append_then_commit(refused).await), ErrorKind::Misuse);
}

/// Of a group each is settled by itself, in the order of its partition.
pub(super) async fn check_groups(store: &Store) {
    let with = |n: u128, bucket: u32, conditions| {
        let commit = commit(n, conditions, vec![put("a", &n.to_string())]);
        CommitWithAppends {
            appends: vec![append_of(5, &format!("k{n}"), "v")],
            epoch: store.fence(&things(bucket)),
            commit: Commit { partition: things(bucket), ..commit },
            lets_go: vec![],
        }
    };
    let absent = || vec![Condition::Absent(bytes("a"))];
    let commits = vec![with(1, 0, absent()), with(2, 1, absent()), with(3, 0, absent()), with(4, 1, vec![])];
    let outcomes = store.append_then_commit_all(commits).await;
    let kinds: Vec<_> = outcomes.into_iter().map(|it| it.err().map(|error| error.kind())).collect();
    assert_eq!(kinds, [None, None, Some(ErrorKind::Conflict), None]);
    for key in ["k1", "k2", "k4"] {
        assert!(block(store, 5, key).await.is_some(), "{key}");
    }
    assert_eq!(value(store, "a").await.as_deref(), Some("1"));
    let outcomes = store.commit_all_known(vec![commit(5, vec![], vec![]), commit(6, absent(), vec![])]).await;
    let kinds: Vec<_> = outcomes.into_iter().map(|it| it.err().map(|error| error.kind())).collect();
    assert_eq!(kinds, [None, Some(ErrorKind::Conflict)]);
    append(store, &blocks(5), vec![(bytes("k1"), bytes("v"))]).await.expect("twice the same is once");
}
