//! Writers that end between any two of their steps, beside others: what they leave is mended by the jobs, and is never seen from one side only.

use std::collections::BTreeSet;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use bytes::Bytes;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use store::Range;

use super::races::IDS;
use super::*;

/// The most steps of an operation before its process ends.
const STEPS_MAX: u32 = 60;
/// Enough for all that is under way in the worst store to be carried out.
const SETTLES: usize = 200;

/// A future that is given up after so many steps.
struct Mortal<F> {
    inner: F,
    steps: u32,
}

impl<F: Future + Unpin> Future for Mortal<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(steps) = self.steps.checked_sub(1) else { return Poll::Ready(None) };
        self.steps = steps;
        Pin::new(&mut self.inner).poll(context).map(Some)
    }
}

/// One operation; some wrongs are those of clients.
async fn operate(node: &Node, random: &mut StdRng) {
    let mut id = || IDS[random.random_range(0..IDS.len())];
    let (one, two) = (id(), id());
    let age = Some(random.random_range(0..3));
    let done = match random.random_range(0..9) {
        0 | 1 => {
            let put = VertexOperation::Put(vertex(one, PERSON, properties(Some(one), age)));
            node.vertices(vec![put]).await.map(drop)
        }
        2 => node.remove(&[one.into()]).await.map(drop),
        3 => {
            let removals = vec![EdgeOperation::Remove(edge_id(one, KNOWS, two))];
            node.edges(removals, CheckVertices::No).await.map(drop)
        }
        4 => sweep(node).await,
        5 => {
            widen(node, one);
            Ok(())
        }
        _ => {
            let edges =
                [(one, two), (two, one)].map(|(one, two)| edge(one, KNOWS, two, properties(None, age)));
            let puts = edges.map(|edge| EdgeOperation::Put(edge, None)).to_vec();
            node.edges(puts, CheckVertices::Yes).await.map(drop)
        }
    };
    let is_known = matches!(done, Ok(()) | Err(Error::NoSuchVertex(_) | Error::Contention(_)));
    assert!(is_known, "{done:?}");
}

/// Spreads pointers at a vertex further, as far as there are buckets.
fn widen(node: &Node, id: &str) {
    let mut hubs = node.hubs.write();
    let (key, none) = (VertexId::from(id).to_key(), Hubs::default());
    let width = Hubs::width(hubs.as_ref(), &key);
    let becomes = hubs.as_deref().unwrap_or(&none).with(&key, width * 2, node.buckets);
    *hubs = becomes.map(Arc::new).or_else(|| hubs.take());
}

/// What all nodes know of hubs.
type Known = Arc<RwLock<Option<Arc<Hubs>>>>;

/// A process after the other writes through one node's handle; each ends in the middle of something.
async fn write(store: Store, hubs: Known, buckets: u32, seed: u64) {
    let mut random = StdRng::seed_from_u64(seed);
    for _ in 0..6 {
        let node = Node::new(store.beside(), buckets).with_hubs(&hubs);
        for _ in 0..3 {
            operate(&node, &mut random).await;
        }
        let steps = random.random_range(0..STEPS_MAX);
        Mortal { inner: pin!(operate(&node, &mut random)), steps }.await;
    }
}

/// Removes pointers without edges of all buckets.
async fn sweep(node: &Node) -> Result<(), Error> {
    for bucket in 0..node.buckets {
        let mut after = Some(Bytes::new());
        while let Some(from) = after {
            after = node.writer.sweep_pointers(bucket, &from).await?.last;
        }
    }
    Ok(())
}

/// All pointers, and those that the edges need.
async fn pointers(node: &Node) -> [BTreeSet<Vec<u8>>; 2] {
    let (mut found, mut needed) = (BTreeSet::new(), BTreeSet::new());
    for bucket in 0..node.buckets {
        let partition = keys::pointers_partition(&Tenant::default(), bucket);
        let page = node.store.scan(&partition, &Range::default(), Direction::Forward, 4_000).await.unwrap();
        found.extend(page.rows().map(|(row, _)| row.to_vec()));
    }
    for (key, value) in node.rows(b'e').await {
        let id = graph::EdgeKey::parse(&key).unwrap().to_id().unwrap();
        let life = graph::EdgeView::parse(&value).unwrap().life;
        assert_eq!(life.is_some(), node.writer.spans_buckets(&id), "{id}");
        needed.extend(life.map(|life| keys::pointer(&id, life).to_vec()));
    }
    [found, needed]
}

async fn check(store: Store, hubs: Known, buckets: u32) {
    let node = Node::new(store.beside(), buckets).with_hubs(&hubs);
    for _ in 0..SETTLES {
        node.store.get_linear(node.writer.partition(0), b"nobody").await.unwrap();
    }
    races::check(&node).await;
    let [found, needed] = pointers(&node).await;
    assert!(found.is_superset(&needed), "no edge is without its pointer");
    // What is under way when the first sweep begins is left to the second.
    for _ in 0..2 {
        sweep(&node).await.unwrap();
        for _ in 0..SETTLES {
            node.store.get_linear(node.writer.partition(0), b"nobody").await.unwrap();
        }
    }
    let [found, needed] = pointers(&node).await;
    assert_eq!(found, needed, "no pointer is without its edge");
    races::check(&node).await;
}

#[test]
fn writers_that_end_in_the_middle_leave_a_whole_graph() {
    for seed in store::testing::seeds(160) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(async {
            let [_, (store, beside)] = stores(seed);
            let buckets = if seed % 4 == 0 { 1 } else { 4 };
            let hubs = Known::default();
            let mut writers = tokio::task::JoinSet::new();
            for writer in 0..4 {
                let store = if writer % 2 == 0 { &store } else { &beside };
                writers.spawn(write(store.clone(), hubs.clone(), buckets, seed * 4 + writer));
            }
            while let Some(done) = writers.join_next().await {
                done.unwrap();
            }
            check(store, hubs, buckets).await;
        });
    }
}
