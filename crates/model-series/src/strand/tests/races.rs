//! Writers, readers and folds at the same time.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use super::*;

const WRITERS: i64 = 4;
const POINTS: i64 = 20;
const ROUNDS: i64 = 60;

/// Each writer owns the times that leave its number when divided; each of its writes sets all of them in a window to
/// its round. A reader must never see a writer's round go back, nor two rounds of one write at once.
async fn race(store: Store) {
    let strands = Strands::new(store, small());
    let day = strand(9, "race");
    let done = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let folder = tokio::spawn({
        let (strands, day, done) = (strands.clone(), day.clone(), Arc::clone(&done));
        async move {
            let mut folds = 0;
            while !done.load(std::sync::atomic::Ordering::SeqCst) {
                folds += u32::from(strands.fold(&day, Encoding::Hot).await.unwrap());
                tokio::task::yield_now().await;
            }
            folds
        }
    });
    let reader = tokio::spawn({
        let (strands, day, done) = (strands.clone(), day.clone(), Arc::clone(&done));
        async move {
            let mut newest = [0.0; 4];
            while !done.load(std::sync::atomic::Ordering::SeqCst) {
                let mut all = Points::default();
                strands.read_page(&day, TimeRange::ALL, None, usize::MAX, &mut all).await.unwrap();
                check_rounds(&all, &mut newest);
                tokio::task::yield_now().await;
            }
        }
    });
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (strands, day) = (strands.clone(), day.clone());
            tokio::spawn(async move {
                for round in 1..=ROUNDS {
                    let mut points = Points::default();
                    for at in 0..POINTS {
                        points.push(at * WRITERS + writer, round as f64, 3);
                    }
                    write_one(&strands, write(&day, vec![Edit::Put(points)])).await.unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    done.store(true, std::sync::atomic::Ordering::SeqCst);
    reader.await.unwrap();
    assert!(folder.await.unwrap() > 0);
    let all = read_all(&strands, &day).await;
    assert_eq!(i64::try_from(all.len()), Ok(POINTS * WRITERS));
    assert!(all.values().all(|held| f64::from_bits(held.0) == ROUNDS as f64));
    check_rows(&strands, &day).await;
}

fn check_rounds(all: &Points, newest: &mut [f64]) {
    for (writer, newest) in newest.iter_mut().enumerate() {
        let mine = all.times.iter().zip(&all.values).filter(|(time, _)| **time % WRITERS == writer as i64);
        let rounds: BTreeSet<u64> = mine.map(|(_, value)| value.to_bits()).collect();
        assert!(rounds.len() <= 1, "a write is seen whole");
        if let Some(round) = rounds.first() {
            assert!(f64::from_bits(*round) >= *newest, "a write is not lost again");
            *newest = f64::from_bits(*round);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn folds_race_with_writers_and_readers_in_memory() {
    race(memory()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn folds_race_with_writers_and_readers_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    race(embedded(folder.path())).await;
}

/// Deletions drop blocks and overlays under a fold's hands; what is read is one of the two states.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn folds_race_with_deletions() {
    let strands = Strands::new(memory(), small());
    let day = strand(9, "race");
    let folder = tokio::spawn({
        let (strands, day) = (strands.clone(), day.clone());
        async move {
            for _ in 0..200 {
                strands.fold(&day, Encoding::Hot).await.unwrap();
                tokio::task::yield_now().await;
            }
        }
    });
    for round in 0..100_u32 {
        let value = f64::from(round);
        // By turns in one run, in pieces, and over one another: blocks, overlays, both.
        let edits = match round % 3 {
            0 => vec![Edit::Put(points(0, 1, 100, value))],
            1 => vec![Edit::Put(points(0, 2, 50, value)), Edit::Put(points(1, 2, 50, value))],
            _ => (0..100).map(|at| Edit::Put(points(at, 1, 1, value))).collect(),
        };
        for edit in edits {
            write_one(&strands, write(&day, vec![edit])).await.unwrap();
        }
        assert_eq!(read_all(&strands, &day).await.len(), 100);
        write_one(&strands, write(&day, vec![Edit::Delete(TimeRange { from: 0, to: 1_000 })])).await.unwrap();
        assert_eq!(read_all(&strands, &day).await.len(), 0, "nothing deleted comes back");
    }
    folder.await.unwrap();
    strands.fold(&day, Encoding::Hot).await.unwrap();
    assert_eq!(read_all(&strands, &day).await.len(), 0);
    check_rows(&strands, &day).await;
}

/// Strands that are written beyond their limits are noted, and folding them makes them lean again.
#[tokio::test]
async fn strands_beyond_their_limits_are_noted_once() {
    let strands = Strands::new(memory(), small());
    let day = strand(4, "noted");
    for at in 0..20 {
        write_one(&strands, write(&day, vec![Edit::Put(points(at, 1, 1, 0.0))])).await.unwrap();
    }
    let (noted, encoding) = strands.next_to_fold().await;
    assert_eq!((&noted, encoding), (&day, Encoding::Hot));
    assert!(strands.fold(&noted, encoding).await.unwrap());
    let (_, state) = strands.state(&day).await.unwrap().unwrap();
    assert_eq!((state.overlay_count(), state.index.blocks()), (0, 3));
    let next = tokio::time::timeout(std::time::Duration::ZERO, strands.next_to_fold()).await;
    assert!(next.is_err(), "each waits once");
    // Nobody folds: who writes does.
    for at in 0..200 {
        write_one(&strands, write(&day, vec![Edit::Put(points(at, 1, 1, 0.0))])).await.unwrap();
        let (_, state) = strands.state(&day).await.unwrap().unwrap();
        assert!(state.overlay_count() <= 8 * small().overlays_max + 1);
    }
}

/// A block that a fold joins to its neighbour, though no overlay is near, goes while the fold encodes.
#[tokio::test]
async fn a_fold_does_not_bring_back_a_joined_block() {
    let strands = Strands::new(memory(), StrandOptions::recommended());
    let day = strand(4, "joined");
    let put = |points: Points| write(&day, vec![Edit::Put(points)]);
    // Under overlays and so many that encoding is handed on; full and untouched; overlay points; the block.
    write_one(&strands, put(points(0, 10, 4_096 * 5, 0.0))).await.unwrap();
    for block in 0..5 {
        write_one(&strands, put(points(block * 40_960, 10, 1, 9.0))).await.unwrap();
    }
    write_one(&strands, put(points(300_000, 1, 4_096, 0.0))).await.unwrap();
    write_one(&strands, put(points(400_000, 1, 5, 0.0))).await.unwrap();
    write_one(&strands, put(points(500_000, 1, 300, 0.0))).await.unwrap();
    let mut fold = Box::pin(strands.fold(&day, Encoding::Hot));
    let first = poll_fn(|context| Poll::Ready(fold.as_mut().poll(context))).await;
    assert!(first.is_pending(), "encoding is handed on");
    write_one(&strands, write(&day, vec![Edit::Delete(TimeRange { from: 500_000, to: 600_000 })]))
        .await
        .unwrap();
    assert!(fold.await.unwrap());
    check_rows(&strands, &day).await;
    assert_eq!(strands.extent(&day).await.unwrap(), Some((0, 400_004)));
    assert_eq!(read_all(&strands, &day).await.len(), 4_096 * 6 + 5);
}
