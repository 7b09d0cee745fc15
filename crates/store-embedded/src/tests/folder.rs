//! A folder that goes while the store is open.

use super::*;

const PATIENCE: Duration = Duration::from_secs(300);

/// Makes the folder of an open store go; then nothing is acknowledged any more.
async fn check_lost(how: impl Fn(&Path)) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    // The monitor never looks: the write itself must notice.
    let store = Embedded::open(&path, EmbeddedOptions { look: PATIENCE, ..options(Clock::System) }).unwrap();
    fill(&store, 20).await;
    assert!(store.statistics().is_writable);
    how(&path);
    // The last look may be as old as that.
    tokio::time::sleep(Duration::from_millis(2)).await;
    for attempt in 0..2 {
        let refused = store.commit(testing::commit(99, vec![], vec![])).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::FolderLost, "{refused}");
        assert!(refused.action().contains(path.to_str().unwrap()), "{attempt}: {refused}");
    }
    assert!(!store.statistics().is_writable);
    check_filled(&store, 20).await;
    let copy = folder.path().join("copy");
    assert_eq!(store.backup(&copy).await.unwrap_err().kind(), ErrorKind::FolderLost);
    assert!(!copy.exists());
    assert_eq!(store.close().await.unwrap_err().kind(), ErrorKind::FolderLost);
}

#[tokio::test]
async fn nothing_is_acknowledged_into_a_folder_that_is_gone() {
    check_lost(|path| fs::remove_dir_all(path).unwrap()).await;
    check_lost(|path| fs::rename(path, path.with_file_name("elsewhere")).unwrap()).await;
    check_lost(|path| fs::remove_file(path.join("LOCK")).unwrap()).await;
    // Another folder at its path, with a lock of its own.
    check_lost(|path| {
        fs::rename(path, path.with_file_name("elsewhere")).unwrap();
        fs::create_dir(path).unwrap();
        fs::write(path.join("LOCK"), "").unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_look_that_fails_for_a_moment_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link");
    let lead = |to: &str| {
        let made = folder.path().join("made");
        std::os::unix::fs::symlink(to, &made).unwrap();
        fs::rename(made, &link).unwrap();
    };
    fs::create_dir(folder.path().join("real")).unwrap();
    lead("real");
    let store = Embedded::open(&link.join("data"), options(Clock::System)).unwrap();
    fill(&store, 20).await;
    // A link to itself: every look at what lies behind it fails, though nothing has gone.
    lead("link");
    tokio::time::sleep(Duration::from_millis(2)).await;
    for attempt in 0..3 {
        let refused = store.commit(testing::commit(99, vec![], vec![])).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Unknown, "{attempt}: {refused}");
    }
    let copy = folder.path().join("copy");
    assert_eq!(store.backup(&copy).await.unwrap_err().kind(), ErrorKind::Unavailable);
    assert!(!copy.exists());
    check_filled(&store, 20).await;
    lead("real");
    // Of what was refused the first alone was written: the store learned of the failure when it had been.
    assert_eq!(number_of_cursor(store.feed_end()), 21);
    store.commit(testing::commit(100, vec![], vec![])).await.unwrap();
    assert_eq!(number_of_cursor(store.feed_end()), 22);
    assert!(store.statistics().is_writable);
    store.backup(&copy).await.unwrap();
    store.close().await.unwrap();
    check_filled(&open(&link.join("data")).unwrap(), 20).await;
}

#[tokio::test]
async fn a_lost_folder_is_noticed_without_a_write() {
    for part in ["", "rocksdb"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        let looks = EmbeddedOptions { look: Duration::from_millis(1), ..options(Clock::System) };
        let store = Embedded::open(&path, looks).unwrap();
        fill(&store, 20).await;
        let elsewhere = folder.path().join("elsewhere");
        fs::rename(path.join(part), &elsewhere).unwrap();
        let started = std::time::Instant::now();
        while store.statistics().is_writable {
            assert!(started.elapsed() < PATIENCE, "the monitor does not look");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        drop(store);
        if part.is_empty() {
            // What was acknowledged is where the folder is.
            check_filled(&open(&elsewhere).unwrap(), 20).await;
        }
    }
}

#[tokio::test]
async fn what_lies_at_the_path_of_a_lost_folder_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let store = open(&path).unwrap();
    fill(&store, 20).await;
    fs::rename(&path, folder.path().join("elsewhere")).unwrap();
    // Files as those of a younger store, whose numbers are lower.
    let rows = path.join("rocksdb");
    fs::create_dir_all(&rows).unwrap();
    for name in ["LOCK", "rocksdb/000001.log", "rocksdb/000002.sst", "rocksdb/MANIFEST-000001"] {
        fs::write(path.join(name), "another's").unwrap();
    }
    // The last look may be as old as that.
    tokio::time::sleep(Duration::from_millis(2)).await;
    assert!(store.commit(testing::commit(99, vec![], vec![])).await.is_err());
    drop(store);
    let mut names: Vec<_> = fs::read_dir(&rows).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["000001.log", "000002.sst", "MANIFEST-000001"]);
}
