//! A walk shows each row once, in order, in pages of any size.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::{Clock, Commit, FeedOptions, MemoryOptions, Space, SpaceKind, Tenant, Timestamp, Write, WriteId};

const THINGS: Space = Space { id: 201, kind: SpaceKind::Commit, name: "things" };

type Map = BTreeMap<Vec<u8>, Vec<u8>>;

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().build().unwrap()
}

async fn filled(rows: &Map) -> (Store, Partition) {
    let feed = FeedOptions::recommended();
    let store = Store::memory(MemoryOptions { clock: Clock::manual(Timestamp(0)), feed });
    let partition = Partition { tenant: Tenant::default(), space: THINGS, bucket: 0 };
    let put = |(key, value): (&Vec<u8>, &Vec<u8>)| Write::Put(key.clone().into(), value.clone().into());
    let commit = Commit {
        partition: partition.clone(),
        write_id: WriteId(1),
        conditions: Vec::new(),
        writes: rows.iter().map(put).collect(),
        change: None,
        reclaims: false,
    };
    store.commit(commit).await.unwrap();
    (store, partition)
}

fn things() -> impl Strategy<Value = Map> {
    let key = prop::collection::vec(prop_oneof![Just(0_u8), Just(1), Just(255)], 1..4);
    prop::collection::btree_map(key, prop::collection::vec(any::<u8>(), 0..3), 1..40)
}

proptest! {
    #[test]
    fn a_walk_shows_what_one_scan_would(rows in things(), prefix in 0_u8..3, page_rows in 1_usize..20) {
        runtime().block_on(async {
            let (store, partition) = filled(&rows).await;
            let snapshot = store.snapshot().unwrap();
            let range = Range::prefix(vec![prefix]);
            let wanted: Map = rows.into_iter().filter(|(key, _)| key[0] == prefix).collect();
            for source in [Rows::from(&store), Rows::from(&snapshot)] {
                let mut walked = Vec::new();
                let mut pages = Pages::new(source, &partition, range.clone(), page_rows);
                while let Some(page) = pages.next().await.unwrap() {
                    assert!(page.len() <= page_rows);
                    walked.extend(page.rows().map(|(key, value)| (key.to_vec(), value.to_vec())));
                }
                assert!(walked.iter().map(|(key, _)| key).eq(wanted.keys()));
                assert!(walked.iter().map(|(_, value)| value).eq(wanted.values()));
                assert!(pages.rest().is_none() && pages.next().await.unwrap().is_none());
            }
        });
    }

    #[test]
    fn a_walk_ends_where_it_is_broken_off(rows in things(), page_rows in 1_usize..20, most in 0_usize..50) {
        runtime().block_on(async {
            let (store, partition) = filled(&rows).await;
            let mut seen = 0;
            let walked = Pages::new(&store, &partition, Range::default(), page_rows).each(|_, _| {
                seen += 1;
                Ok::<_, Error>(if seen >= most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            });
            walked.await.unwrap();
            assert_eq!(seen, rows.len().min(most.max(1)));
        });
    }
}

#[test]
fn pages_may_grow() {
    let rows: Map = (0..20).map(|key| (vec![key], Vec::new())).collect();
    runtime().block_on(async {
        let (store, partition) = filled(&rows).await;
        let (mut pages, mut sizes) = (Pages::new(&store, &partition, Range::default(), 1), Vec::new());
        while let Some(page) = pages.next_up_to(1 << sizes.len()).await.unwrap() {
            sizes.push(page.len());
        }
        assert_eq!(sizes, [1, 2, 4, 8, 5]);
    });
}
