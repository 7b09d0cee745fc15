//! What the feed holds, however the store was left.

use rocksdb::IteratorMode;

use super::*;
use crate::failure::family;
use crate::format::FEED;
use crate::shared::Shared;
use store_contract::FeedOptions;

/// What is counted is what is there.
#[track_caller]
fn check_counted(shared: &Shared) -> u64 {
    let engine = shared.engine().unwrap();
    let rows = engine.iterator_cf(family(&engine, FEED), IteratorMode::Start).map(Result::unwrap);
    let bytes: usize = rows.map(|(key, value)| key.len() + value.len()).sum();
    let counted = shared.feed_log.lock().bytes();
    assert_eq!(counted, bytes as u64);
    counted
}

#[tokio::test]
async fn the_feed_is_counted_alike_whether_closed_or_killed() {
    let folder = tempfile::tempdir().unwrap();
    let feed = FeedOptions { bytes_max: 20_000, ..testing::FEED };
    let options = || EmbeddedOptions { feed, look: Duration::from_secs(3_600), ..options(Clock::System) };
    let open = |path: &Path| Embedded::open(path, options()).unwrap();
    let mut store = open(folder.path());
    let mut start = Cursor::default();
    for round in 0..6_u32 {
        for n in 0..100_u32 {
            let mut commit = testing::commit(n.into(), vec![], vec![Write::Put(row_key(n), row_key(n))]);
            if n % 3 == round % 3 {
                commit.change = None;
            }
            let group = vec![commit; 1 + n as usize % 4];
            assert!(store.commit_all(group).await.into_iter().all(|told| told.is_ok()));
        }
        let counted = check_counted(store.shared());
        assert!(counted <= feed.bytes_max + 1_000, "{counted}");
        if round == 2 {
            start = store.shared().feed_end();
            store.keep_feed("reader", &[start]).await.unwrap();
        }
        if round == 3 {
            // What the reader has not seen is still there; in the end the cap counts.
            assert!(store.feed(start, 9).await.unwrap().changes.len() == 9);
        }
        let end = store.shared().feed_end();
        let killed = tempfile::tempdir().unwrap();
        copy_as_killed(folder.path(), killed.path());
        let other = open(killed.path());
        assert_eq!((check_counted(other.shared()), other.shared().feed_end()), (counted, end));
        drop(other);
        drop(store);
        store = open(folder.path());
        assert_eq!((check_counted(store.shared()), store.shared().feed_end()), (counted, end));
        // As one that was full is opened again.
        store.shared().note_failure(&Error::new(ErrorKind::NoSpace, "write"));
        store.shared().reopen().unwrap();
        assert_eq!(check_counted(store.shared()), counted);
        drop(store);
        store = open(folder.path());
    }
    assert_eq!(store.feed(start, 9).await.unwrap_err().kind(), ErrorKind::TooLarge);
}
