//! Writers, readers and folds at the same time.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::Poll;

use super::*;

const WRITERS: i64 = 4;
const POINTS: i64 = 20;
const ROUNDS: i64 = 60;

/// Each writer owns the times that leave its number when divided; each of its writes sets all of them in a window to
/// its round. A reader must never see a writer's round go back, nor two rounds of one write at once.
async fn race(strands: Strands) {
    let day = strand(9, "race");
    let done = Arc::new(AtomicBool::new(false));
    let folds = Arc::new(AtomicU32::new(0));
    let folder = tokio::spawn({
        let (strands, day) = (strands.clone(), day.clone());
        let (done, folds) = (Arc::clone(&done), Arc::clone(&folds));
        async move {
            while !done.load(Ordering::SeqCst) {
                let folded = strands.fold(&day, Encoding::Hot).await.unwrap();
                folds.fetch_add(u32::from(folded), Ordering::SeqCst);
                tokio::task::yield_now().await;
            }
        }
    });
    let reader = tokio::spawn({
        let (strands, day, done) = (strands.clone(), day.clone(), Arc::clone(&done));
        async move {
            let mut newest = [0.0; 4];
            while !done.load(Ordering::SeqCst) {
                let mut all = Points::default();
                strands.read_page(&day, TimeRange::ALL, None, usize::MAX, &mut all).await.unwrap();
                check_rounds(&all, &mut newest);
                tokio::task::yield_now().await;
            }
        }
    });
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (strands, day, folds) = (strands.clone(), day.clone(), Arc::clone(&folds));
            tokio::spawn(async move {
                for round in 1..=ROUNDS {
                    // A fold comes between, whoever is given the processor: who does not write is no hindrance.
                    while round > ROUNDS / 2 && folds.load(Ordering::SeqCst) == 0 {
                        tokio::task::yield_now().await;
                    }
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
    done.store(true, Ordering::SeqCst);
    reader.await.unwrap();
    folder.await.unwrap();
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
    race(Strands::new(memory(), small())).await;
    race(spilling(memory())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn folds_race_with_writers_and_readers_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    race(spilling(embedded(folder.path()))).await;
}

/// Blocks are packed smaller while others write to them, fold them, delete some and read them.
async fn recompress_race(store: Store) {
    let strands = Strands::new(store, StrandOptions { block_points_max: 64, ..small() });
    let day = strand(9, "recompressed");
    let count = 64 * 40;
    let profile = |value: f64| {
        let mut profile = points(0, 1, count, 0.0);
        profile.flags.fill(3);
        for (value_of, at) in profile.values.iter_mut().zip(0_u32..) {
            let spike = if at % 50 == 0 { 9_000 } else { 0 };
            *value_of = value + f64::from(at.wrapping_mul(0x9E37_79B9) >> 29 | spike) / 10.0;
        }
        profile
    };
    write_one(&strands, write(&day, vec![Edit::Put(profile(0.0))])).await.unwrap();
    let done = Arc::new(std::sync::atomic::AtomicBool::new(false));
    // Two that recompress, as two nodes would; one that folds; one that reads.
    let task = |kind: u8| {
        let (strands, day, done) = (strands.clone(), day.clone(), Arc::clone(&done));
        tokio::spawn(async move {
            let mut work = 0;
            while !done.load(std::sync::atomic::Ordering::SeqCst) {
                work += match kind {
                    0 => strands.recompress(&day, i64::MAX).await.unwrap(),
                    1 => usize::from(strands.fold(&day, Encoding::Hot).await.unwrap()),
                    _ => {
                        let held = read_all(&strands, &day).await;
                        // The deleted part goes and comes whole.
                        assert!([count, count - 300].contains(&held.len()), "{}", held.len());
                        held.len()
                    }
                };
                tokio::task::yield_now().await;
            }
            work
        })
    };
    let tasks = [task(0), task(0), task(1), task(2)];
    let mut expected = BTreeMap::new();
    for round in 1..=40_i64 {
        let mut part = Points::default();
        let all = profile(round as f64);
        part.extend_from_range(&all, 0..count);
        let edit = match round % 4 {
            0 => Edit::Put(part),
            1 => Edit::Delete(TimeRange { from: 1_000, to: 1_300 }),
            _ => {
                let mut few = Points::default();
                let from = usize::try_from(round * 61 % 600).unwrap();
                few.extend_from_range(&part, from..from + 200);
                Edit::Put(few)
            }
        };
        if let Edit::Put(points) = &edit {
            expected.extend(rows(points));
        } else {
            expected.retain(|time, _| !(1_000..1_300).contains(time));
        }
        write_one(&strands, write(&day, vec![edit])).await.unwrap();
    }
    done.store(true, std::sync::atomic::Ordering::SeqCst);
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(read_all(&strands, &day).await, expected);
    // In quiet, one sweep packs all that is left, and knows it.
    strands.fold(&day, Encoding::Hot).await.unwrap();
    strands.recompress(&day, i64::MAX).await.unwrap();
    let (_, state) = strands.state(&day).await.unwrap().unwrap();
    assert_eq!(state.recompressed.map(|recompressed| recompressed.generation), Some(state.generation));
    assert_eq!(read_all(&strands, &day).await, expected);
    check_rows(&strands, &day).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn recompressing_races_with_writers_readers_and_folds_in_memory() {
    recompress_race(memory()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn recompressing_races_with_writers_readers_and_folds_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    recompress_race(embedded(folder.path())).await;
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

/// Else one who wins could win every race, and one who lost lose every time.
#[tokio::test]
async fn who_comes_while_others_queue_queues_too() {
    let strands = Strands::new(memory(), small());
    let (day, other) = (strand(4, "queued"), strand(5, "other"));
    let queue = strands.shared.locks.lock(strands.lock_of(&day)).await;
    assert_ne!(strands.lock_of(&day), strands.lock_of(&other));
    write_one(&strands, write(&other, vec![Edit::Put(points(0, 1, 1, 0.0))])).await.unwrap();
    let mut waiting = Box::pin(write_one(&strands, write(&day, vec![Edit::Put(points(0, 1, 1, 0.0))])));
    let first = poll_fn(|context| Poll::Ready(waiting.as_mut().poll(context))).await;
    assert!(first.is_pending(), "it waits for its turn");
    drop(queue);
    waiting.await.unwrap();
}

/// Else importers of other strands, whose groups share few turns, would go one by one.
#[tokio::test]
async fn a_group_does_not_wait_for_those_of_it_that_queue() {
    let strands = Strands::new(memory(), small());
    let (day, other) = (strand(4, "queued"), strand(5, "other"));
    let queue = strands.shared.locks.lock(strands.lock_of(&day)).await;
    let put = |strand: &Strand| write(strand, vec![Edit::Put(points(0, 1, 1, 0.0))]);
    let mut waiting = Box::pin(strands.write_all(vec![put(&day), put(&other)]));
    while read_all(&strands, &other).await.is_empty() {
        let polled = poll_fn(|context| Poll::Ready(waiting.as_mut().poll(context))).await;
        assert!(polled.is_pending(), "one waits for its turn");
        tokio::task::yield_now().await;
    }
    assert!(read_all(&strands, &day).await.is_empty());
    drop(queue);
    assert!(waiting.await.into_iter().all(|outcome| outcome.is_ok()));
    assert_eq!(read_all(&strands, &day).await.len(), 1);
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
#[test]
fn a_fold_does_not_bring_back_a_joined_block() {
    // The one thread that could encode is held up until the block has gone.
    let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
    let (release, held) = std::sync::mpsc::sync_channel::<()>(1);
    runtime.spawn_blocking(move || held.recv());
    runtime.block_on(delete_under_a_fold(release));
}

async fn delete_under_a_fold(release: std::sync::mpsc::SyncSender<()>) {
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
    release.send(()).unwrap();
    assert!(fold.await.unwrap());
    check_rows(&strands, &day).await;
    assert_eq!(strands.extent(&day).await.unwrap(), Some((0, 400_004)));
    assert_eq!(read_all(&strands, &day).await.len(), 4_096 * 6 + 5);
}
