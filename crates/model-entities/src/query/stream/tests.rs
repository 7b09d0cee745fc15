//! Streams over many buckets are read side by side, page after page, and merged in order.

use entity::TermId;
use store::{Clock, Commit, Timestamp, Write, WriteIds};

use super::*;

const BUCKETS: u32 = 16;
const IDS: usize = 1_600;

/// Ids of two ranges, spread over buckets as they come.
async fn spread(store: &Store) -> (Vec<Partition>, Vec<String>) {
    let partitions: Vec<Partition> =
        (0..BUCKETS).map(|bucket| keys::entities_partition(&store::testing::tenant(1), bucket)).collect();
    let ids: Vec<String> = (0..IDS).map(|at| format!("urn:x:{at:04}")).collect();
    let write_ids = WriteIds::new();
    for (at, partition) in partitions.iter().enumerate() {
        let of_bucket = |id: &&String| store::bucket_of(id.as_bytes(), BUCKETS) as usize == at;
        let writes = ids.iter().filter(of_bucket).flat_map(|id| {
            let types = if id.ends_with('7') { &[1, 2][..] } else { &[1][..] };
            types.iter().map(|of_type| {
                let mut key = Vec::new();
                keys::put_type(&mut key, TermId(*of_type), id);
                Write::Put(key.into(), Bytes::new())
            })
        });
        let (partition, write_id, writes) = (partition.clone(), write_ids.next(), writes.collect());
        let commit =
            Commit { partition, write_id, conditions: Vec::new(), writes, change: None, reclaims: false };
        while let Err(error) = store.commit_known(commit.clone()).await {
            assert_eq!(error.kind(), store::ErrorKind::Conflict, "{error}");
        }
    }
    (partitions, ids)
}

/// All that a union gives, and how often it waited for pages.
async fn drained(store: &Store, partitions: &[Partition], types: &[u32]) -> (Vec<String>, usize) {
    let ranges: Vec<Range> = types.iter().map(|of_type| keys::type_range(TermId(*of_type))).collect();
    let mut union = Union::new(Buckets { partitions: partitions.len(), sources: 0 }, &ranges, 16);
    let (mut found, mut waits, mut key) = (Vec::new(), 0, Vec::new());
    loop {
        if union.is_starved() {
            waits += 1;
            union.fill(store, partitions).await.unwrap();
        } else if union.next(&mut key, false).is_some() {
            found.push(keys::id_of_key(&key).unwrap().to_owned());
        } else {
            return (found, waits);
        }
    }
}

/// Sixteen buckets hold some hundred ids each: pages of 16, 32 and 64. It waits for all first pages at once, and for those that follow;
/// if each bucket's page were waited for by itself, that would be 34 times.
#[tokio::test]
async fn buckets_are_read_side_by_side() {
    let clock = Clock::manual(Timestamp(0));
    for store in [store::testing::memory(clock.clone()), store::testing::hostile(clock, 3)] {
        let (partitions, ids) = spread(&store).await;
        let (found, waits) = drained(&store, &partitions, &[1]).await;
        assert_eq!(found, ids);
        assert!(waits <= 6, "{waits}");
        let (found, _) = drained(&store, &partitions, &[1, 2]).await;
        assert_eq!(found, ids);
        let (found, _) = drained(&store, &partitions[..1], &[1, 2]).await;
        assert!(found.is_sorted() && found.len() < 200, "{found:?}");
    }
}
