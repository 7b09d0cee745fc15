//! Writes that have little memory, or others beside them.

use super::*;

/// Writers of one anchor beside each other.
const WRITERS: usize = 4;

async fn configs_with(mode: Mode, options: ConfigOptions) -> (Configs, Anchor) {
    let configs = Configs::new(store::testing::memory(clock()), clock(), options);
    make(&configs, mode).await;
    let anchor = configs.create_anchor("d", "s", "a").await.unwrap();
    (configs, anchor)
}

/// What a change or roll-back makes of a tree is checked before it is stored: no cache need hold it.
#[tokio::test]
async fn a_strict_anchor_needs_no_cache() {
    let (_configs, anchor) =
        configs_with(Mode::Strict, ConfigOptions { page_cache_bytes: 0, ..options(1) }).await;
    let many = large(2_000, 100);
    let edits = [add(anchor.schema(), &many)];
    let tried = WriteOptions { dry_run: true, ..WriteOptions::default() };
    assert_eq!(anchor.write_edits(&edits, tried).await.unwrap().version, VersionId(0));
    anchor.write_edits(&edits, WriteOptions::default()).await.unwrap();
    let fewer: Vec<Edit> = (0..1_000).map(|number| remove(anchor.schema(), &format!("i{number}"))).collect();
    anchor.write_edits(&fewer, WriteOptions::default()).await.unwrap();
    assert_eq!(items_of(&anchor, None).await.unwrap(), many[1_000..]);
    let back = anchor.roll_back(VersionId(1), WriteOptions::default()).await.unwrap();
    assert_eq!((back.version, items_of(&anchor, None).await.unwrap()), (VersionId(3), many));
}

/// A roll-back takes longer than a small change, and would lose to writers that never rest: it waits for its turn as they do.
#[tokio::test(start_paused = true)]
async fn a_roll_back_waits_behind_writers_that_wait() {
    let (configs, anchor) = configs_with(Mode::Lenient, options(1)).await;
    anchor.write_edits(&[add(anchor.schema(), &[one("x", 1)])], WriteOptions::default()).await.unwrap();
    anchor.write_edits(&[remove(anchor.schema(), "x")], WriteOptions::default()).await.unwrap();
    let locks = &configs.shared.retry_locks;
    // Another lost, and has its turn.
    let other = locks.lock(locks.of(&[b"d", b"a"])).await;
    let mut roll_back = Box::pin(anchor.roll_back(VersionId(1), WriteOptions::default()));
    assert!(tokio::time::timeout(hour(), &mut roll_back).await.is_err(), "it waits");
    drop(other);
    assert_eq!(roll_back.await.unwrap().version, VersionId(3));
    assert_eq!(items_of(&anchor, None).await.unwrap(), [one("x", 1)]);
}

/// One that lost to another writer has the others wait.
#[test]
fn roll_backs_and_changes_beside_each_other_all_come_through() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.unwrap();
    for seed in store::testing::seeds(6) {
        runtime.block_on(a_roll_back_beside_writers(seed));
    }
}

async fn a_roll_back_beside_writers(seed: u64) {
    let store = store::testing::hostile(clock(), seed);
    let options = ConfigOptions { versions_max: 1_000_000, page_cache_bytes: 0, ..options(1) };
    let configs = Configs::new(store, clock(), options);
    make(&configs, Mode::Lenient).await;
    let anchor = configs.create_anchor("d", "s", "a").await.unwrap();
    let many = large(300, 200);
    anchor.write_edits(&[add(anchor.schema(), &many)], WriteOptions::default()).await.unwrap();
    let nothing = Edit::Delete { entry: Place::Label(Label::top()) };
    anchor.write_edits(&[nothing], WriteOptions::default()).await.unwrap();
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let anchor = anchor.clone();
            tokio::spawn(async move {
                for count in 0..20 {
                    let edit = add(anchor.schema(), &[one(&format!("w{writer}-{count}"), count)]);
                    anchor.write_edits(&[edit], WriteOptions::default()).await.unwrap();
                }
            })
        })
        .collect();
    let outcome = anchor.roll_back(VersionId(1), WriteOptions::default()).await;
    for writer in writers {
        writer.await.unwrap();
    }
    let version = outcome.unwrap_or_else(|error| panic!("seed {seed}: {error}")).version;
    assert_eq!(items_of(&anchor, Some(version)).await.unwrap(), many);
}
