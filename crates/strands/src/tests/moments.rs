//! Reads at one moment, and writes of which all or none are begun.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::{ColumnSet, Summary};
use crate::{Part, Wanted};

const COUNT: usize = 60_000;

/// A store that keeps moments and takes as much at once as the embedded one, whatever other tests are given.
fn plain_memory() -> Store {
    let (clock, feed) = (Clock::manual(Timestamp(0)), store::FeedOptions::recommended());
    Store::memory(store::MemoryOptions { clock, feed })
}

fn full(value: f64) -> Points {
    let mut full = Points::default();
    (0..i64::try_from(COUNT).unwrap()).for_each(|time| full.push(time, value, 3));
    full
}

async fn replace(strands: &Strands, strand: &Strand, value: f64) {
    let all = TimeRange { from: 0, to: i64::MAX };
    write_one(strands, write(strand, vec![Edit::Replace(all, full(value))])).await.unwrap();
}

/// All values that a read of many pages sees; between its pages `between` is called.
async fn read_in_pages<F: Future<Output = ()>>(
    strands: &Strands,
    strand: &Strand,
    mut between: impl FnMut() -> F,
) -> Points {
    let (mut all, mut range) = (Points::default(), TimeRange::ALL);
    while let Some(next) = strands.read_page(strand, range, None, 4_096, &mut all).await.unwrap() {
        range.from = next;
        between().await;
    }
    assert_eq!(all.len(), COUNT);
    all
}

fn values(points: &Points) -> BTreeSet<u64> {
    points.values.iter().map(|value| value.to_bits()).collect()
}

async fn pages_see_one_state(store: Store) {
    let strands = Strands::new(store, StrandOptions::recommended());
    let day = strand(3, "replaced");
    replace(&strands, &day, 1.0).await;
    // Without a moment, pages are of the states that they find.
    let mixed = read_in_pages(&strands, &day, || replace(&strands, &day, 2.0)).await;
    assert_eq!(values(&mixed).len(), 2);
    let pinned = strands.at_one_moment().unwrap();
    let round = std::cell::Cell::new(3.0);
    let disturb = || async {
        round.set(round.get() + 1.0);
        replace(&strands, &day, round.get()).await;
        // A part is put over, and folded: blocks go and come.
        write_one(&strands, write(&day, vec![Edit::Put(points(20_000, 7, 30, 9.0))])).await.unwrap();
        strands.fold(&day, Encoding::Hot).await.unwrap();
    };
    let all = read_in_pages(&pinned, &day, disturb).await;
    assert_eq!(values(&all), BTreeSet::from([2.0_f64.to_bits()]));
    // Every way of reading sees the same, though all that it is made of is gone by now.
    let range = TimeRange { from: 100, to: 50_000 };
    let mut wanted = Points::default();
    let mut next = Some(range.from);
    while let Some(from) = next {
        let rest = TimeRange { from, ..range };
        next = pinned.read_wanted(&day, rest, &|_: &Summary| true, 1_000, &mut wanted).await.unwrap();
    }
    assert_eq!((wanted.len(), values(&wanted)), (49_900, BTreeSet::from([2.0_f64.to_bits()])));
    let mut shown = Vec::new();
    let mut show = |part: Part<'_>| {
        match part {
            Part::Summary(_) => {}
            Part::Block(_, columns) | Part::Stretch(columns) => shown.extend_from_slice(columns.values),
        }
        ControlFlow::Continue(())
    };
    pinned.visit(&day, range, &|_, _| Wanted::Columns(ColumnSet::ALL), &mut show).await.unwrap();
    assert_eq!((shown.len(), shown.iter().all(|value| *value == 2.0)), (49_900, true));
    assert_eq!(pinned.read_last(&day, range, 2).await.unwrap().values, [2.0, 2.0]);
    assert_eq!(pinned.extent(&day).await.unwrap(), Some((0, 59_999)));
    // Writes through it go to the strand as it is.
    replace(&pinned, &day, 100.0).await;
    let now = read_in_pages(&strands, &day, || async {}).await;
    assert_eq!(values(&now), BTreeSet::from([100.0_f64.to_bits()]));
    strands.erase(&day, Vec::new(), None).await.unwrap();
    assert_eq!(values(&read_in_pages(&pinned, &day, || async {}).await).len(), 1);
    assert_eq!(strands.extent(&day).await.unwrap(), None);
}

#[tokio::test]
async fn pages_see_one_state_in_memory() {
    pages_see_one_state(plain_memory()).await;
}

#[tokio::test]
async fn pages_see_one_state_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    pages_see_one_state(embedded(folder.path())).await;
}

/// A writer goes back and forth between two full states of two strands while others read both.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_beside_a_writer_never_see_a_mixture() {
    let folder = tempfile::tempdir().unwrap();
    let strands = Strands::new(embedded(folder.path()), StrandOptions::recommended());
    let day = strand(4, "back and forth");
    replace(&strands, &day, 0.0).await;
    let done = Arc::new(AtomicBool::new(false));
    let writer = tokio::spawn({
        let (strands, day, done) = (strands.clone(), day.clone(), done.clone());
        async move {
            let mut round = 0_u32;
            while !done.load(Ordering::SeqCst) {
                round += 1;
                replace(&strands, &day, f64::from(round % 2)).await;
            }
            round
        }
    });
    for _ in 0..60 {
        let pinned = strands.at_one_moment().unwrap();
        let all = read_in_pages(&pinned, &day, tokio::task::yield_now).await;
        assert_eq!(values(&all).len(), 1);
    }
    done.store(true, Ordering::SeqCst);
    assert!(writer.await.unwrap() > 0);
}

#[tokio::test]
async fn nothing_is_written_if_one_is_beyond_a_limit() {
    let strands = Strands::new(plain_memory(), small());
    let names = ["first", "second", "third"];
    let put = |name: &'static str, points| write(&strand(5, name), vec![Edit::Put(points)]);
    // Each block of what is kept has a row in the commit.
    let too_many = |name| StrandWrite { audited: true, ..put(name, points(0, 1, 900_000, 0.0)) };
    // Over what is there, too: it becomes overlays.
    for name in ["second", "third"] {
        write_one(&strands, put(name, points(-1, 2, 50_000, 1.0))).await.unwrap();
    }
    for large in ["second", "third"] {
        let group = names
            .iter()
            .map(|name| if *name == large { too_many(name) } else { put(name, points(0, 1, 9, 5.0)) });
        let refused = strands.write_all_or_none(group.collect()).await.unwrap_err();
        let place = names.iter().position(|name| *name == large).unwrap();
        assert!(
            matches!(&refused[..], [(at, Error::Limit(limit))] if *at == place && limit.name == "COMMIT_ROWS_MAX"),
            "{refused:?}"
        );
        assert_eq!(strands.extent(&strand(5, "first")).await.unwrap(), None);
        assert_eq!(strands.extent(&strand(5, "second")).await.unwrap(), Some((-1, 99_997)));
        assert_eq!(strands.extent(&strand(5, "third")).await.unwrap(), Some((-1, 99_997)));
    }
    // What keeps to it is written, however many points it has.
    let raster = points(0, 1, 420_000, 0.0);
    let group = vec![put("first", raster.clone()), put("third", raster)];
    assert!(strands.write_all_or_none(group).await.unwrap().into_iter().all(|outcome| outcome.is_ok()));
    for (name, first) in [("first", 0), ("third", -1)] {
        assert_eq!(strands.extent(&strand(5, name)).await.unwrap(), Some((first, 419_999)), "{name}");
    }
}
