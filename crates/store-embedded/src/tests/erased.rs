//! What was removed with its tenant.

use super::*;
use store_contract::Commit;

#[tokio::test]
async fn a_store_at_rest_gives_back_what_was_removed_with_its_tenant() {
    let folder = tempfile::tempdir().unwrap();
    let store = overwritten(folder.path());
    let city = testing::tenant(1);
    overwrite(&store).await;
    for n in 0..LIVE_ROWS * 4 {
        let random = |at: u64| xxhash_rust::xxh3::xxh3_64_with_seed(&at.to_le_bytes(), u64::from(n));
        let value: Bytes = (0..LIVE_ROW_BYTES / 8).flat_map(|at| random(at).to_le_bytes()).collect();
        let write = Write::Put(Bytes::from(format!("row {n}")), value);
        let partition = Partition { tenant: city.clone(), ..testing::things(0) };
        let commit = Commit { partition, ..testing::commit(u128::from(n), vec![], vec![write]) };
        store.commit(commit).await.unwrap();
    }
    let live = u64::from(LIVE_ROWS) * LIVE_ROW_BYTES;
    let begun = std::time::Instant::now();
    let waits = |enough: bool| {
        assert!(begun.elapsed() < Duration::from_secs(300), "{} bytes", table_bytes(folder.path()));
        !enough
    };
    while waits(table_bytes(folder.path()) > live * 3) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    store.erase(city.number()).await.unwrap();
    while waits((live..live * 3 / 2).contains(&table_bytes(folder.path()))) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
