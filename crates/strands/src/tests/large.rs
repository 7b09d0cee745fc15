//! Writes that no commit takes: over others, kept, and on condition of a version, in a store with portable limits.

use store::testing::hostile;

use super::*;
use crate::write::check_write;

/// More than a portable commit takes, if there are 40.
pub(super) fn heavy(first: i64, step: i64, count: usize, seed: u8) -> Points {
    let mut points = points(first, step, count, f64::from(seed));
    for at in 0..count as u64 {
        let mut word = (at << 8 | u64::from(seed)).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let note = (0..30_000 / 8).flat_map(|_| {
            word = (word ^ word << 13).wrapping_mul(0x2545_F491_4F6C_DD1D) ^ word >> 7;
            word.to_le_bytes()
        });
        let place = points.notes.place_of(&note.collect());
        points.notes.places.push(place);
    }
    points
}

fn kept(strand: &Strand, written: i64, edits: Vec<Edit>) -> StrandWrite {
    StrandWrite { written: Timestamp(written), audited: true, ..write(strand, edits) }
}

async fn as_of(strands: &Strands, strand: &Strand, at: i64) -> BTreeMap<i64, Held> {
    let (mut all, mut from) = (Points::default(), Some(i64::MIN));
    while let Some(start) = from {
        let range = TimeRange { from: start, to: i64::MAX };
        from = strands.read_page(strand, range, Some(Timestamp(at)), 20, &mut all).await.unwrap();
    }
    rows(&all)
}

#[tokio::test]
async fn what_no_commit_takes_lies_over_others_and_is_kept() {
    for seed in store::testing::seeds(6) {
        let store = hostile(Clock::manual(Timestamp(0)), seed);
        let [strands, other] = [store.beside(), store].map(|store| Strands::new(store, small()));
        let day = strand(3, "large");
        let [below, over] = [heavy(0, 2, 50, 1), heavy(1, 2, 50, 2)];
        write_one(&strands, kept(&day, 1, vec![Edit::Put(below.clone())])).await.unwrap();
        write_one(&other, kept(&day, 2, vec![Edit::Put(over.clone())])).await.unwrap();
        let (_, state) = strands.state(&day).await.unwrap().unwrap();
        assert!(state.overlays.is_some_and(|overlays| overlays.spilled) && state.audit.spilled);
        let first = rows(&below);
        let both: BTreeMap<_, _> = first.clone().into_iter().chain(rows(&over)).collect();
        let check = async |strands: &Strands, now: &BTreeMap<i64, Held>| {
            assert!(read_all(strands, &day).await == *now);
            assert!(as_of(strands, &day, 1).await == first && as_of(strands, &day, 2).await == both);
            check_rows(strands, &day).await;
        };
        check(&strands, &both).await;
        assert_eq!(strands.extent(&day).await.unwrap(), Some((0, 99)));
        let last = strands.read_last(&day, TimeRange { from: 10, to: 22 }, 3).await.unwrap();
        assert_eq!(last.times, [19, 20, 21]);
        assert!(strands.fold(&day, Encoding::Hot).await.unwrap());
        let (_, state) = strands.state(&day).await.unwrap().unwrap();
        assert_eq!((state.overlay_count(), state.audit.spilled), (0, true));
        check(&other, &both).await;
        // What clears all overlays takes their points along.
        write_one(&strands, kept(&day, 3, vec![Edit::Put(heavy(0, 2, 50, 3))])).await.unwrap();
        write_one(&other, kept(&day, 4, vec![Edit::Put(heavy(1, 2, 50, 4))])).await.unwrap();
        let few = Edit::Replace(TimeRange { from: -10, to: 150 }, points(7, 1, 1, 0.0));
        write_one(&strands, kept(&day, 5, vec![few])).await.unwrap();
        check(&other, &rows(&points(7, 1, 1, 0.0))).await;
        // Retention takes what is kept with its parts, and erasing the rest.
        assert!(strands.expire(&day, 60).await.unwrap());
        check_rows(&strands, &day).await;
        let all = strands.modifications(&day, TimeRange::ALL, (Timestamp(0), Timestamp(9))).await.unwrap();
        assert_eq!(all.iter().map(|it| it.points).collect::<Vec<_>>(), [50, 50, 50, 50, 1]);
        assert!(as_of(&other, &day, 2).await == both.range(60..).map(|(at, it)| (*at, it.clone())).collect());
        assert!(strands.expire(&day, 200).await.unwrap());
        assert!(!strands.state(&day).await.unwrap().unwrap().1.audit.spilled);
        check_rows(&strands, &day).await;
        write_one(&other, kept(&day, 6, vec![Edit::Put(heavy(300, 2, 50, 6))])).await.unwrap();
        write_one(&other, kept(&day, 7, vec![Edit::Put(heavy(301, 2, 50, 7))])).await.unwrap();
        strands.erase(&day, Vec::new(), None).await.unwrap();
        check_rows(&strands, &day).await;
    }
}

#[tokio::test]
async fn a_large_write_stands_on_the_version_that_it_expects() {
    for seed in store::testing::seeds(6) {
        let store = hostile(Clock::manual(Timestamp(0)), seed);
        let [strands, other] = [store.beside(), store].map(|store| Strands::new(store, small()));
        let day = strand(3, "large");
        let expecting = |expects, edit| StrandWrite { expects: Some(expects), ..write(&day, vec![edit]) };
        let none = strands.version(&day).await.unwrap();
        write_one(&strands, expecting(none, Edit::Put(heavy(0, 1, 60, 1)))).await.unwrap();
        let version = other.version(&day).await.unwrap();
        write_one(&other, expecting(version, Edit::Put(heavy(50, 3, 60, 2)))).await.unwrap();
        let held = read_all(&strands, &day).await;
        for stale in [none, version] {
            let late = write_one(&strands, expecting(stale, Edit::Put(heavy(0, 1, 60, 3)))).await;
            assert!(matches!(late, Err(Error::Contention(_))), "{late:?}");
        }
        assert!(read_all(&other, &day).await == held);
        assert_eq!(held.len(), 60 + 60 - 4);
        check_rows(&other, &day).await;
    }
}

/// All that lies in the span of one block goes together.
#[tokio::test]
async fn a_fold_of_one_block_may_be_more_than_a_batch() {
    for seed in store::testing::seeds(6) {
        let strands = Strands::new(hostile(Clock::manual(Timestamp(0)), seed), small());
        let day = strand(3, "large");
        write_one(&strands, write(&day, vec![Edit::Put(points(0, 20, 8, 0.0))])).await.unwrap();
        write_one(&strands, write(&day, vec![Edit::Put(heavy(1, 2, 60, 1))])).await.unwrap();
        let held = read_all(&strands, &day).await;
        assert!(strands.fold(&day, Encoding::Hot).await.unwrap());
        assert_eq!(strands.state(&day).await.unwrap().unwrap().1.overlay_count(), 0);
        assert!(read_all(&strands, &day).await == held);
        check_rows(&strands, &day).await;
    }
}

#[tokio::test]
async fn a_point_that_no_row_takes_is_refused_by_name() {
    let strands = Strands::new(hostile(Clock::manual(Timestamp(0)), 1), small());
    let day = strand(3, "large");
    let mut point = points(0, 1, 1, 0.0);
    let place = point.notes.place_of(&Bytes::from(vec![7; 2 * 1024 * 1024]));
    point.notes.places.push(place);
    for audited in [false, true] {
        let raw =
            StrandWrite { audited, encoding: Encoding::Raw, ..write(&day, vec![Edit::Put(point.clone())]) };
        let error = write_one(&strands, raw).await.unwrap_err();
        assert!(matches!(&error, Error::Limit(limit) if limit.name == "ROW_BYTES_MAX"), "{error}");
    }
    assert!(strands.state(&day).await.unwrap().is_none());
}

/// What goes ahead of a large write whose writer dies is told from what others put, and goes.
#[tokio::test]
async fn what_a_large_write_left_behind_is_swept_and_nothing_else() {
    let strands = Strands::new(hostile(Clock::manual(Timestamp(0)), 1), small());
    let day = strand(3, "large");
    write_one(&strands, kept(&day, 1, vec![Edit::Put(heavy(0, 2, 50, 1))])).await.unwrap();
    write_one(&strands, kept(&day, 2, vec![Edit::Put(heavy(1, 2, 50, 2))])).await.unwrap();
    let (before, rows) = (read_all(&strands, &day).await, as_of(&strands, &day, 1).await);
    strands.tidy(&day).await.unwrap();
    let checked = check_write(kept(&day, 3, vec![Edit::Put(heavy(1, 2, 50, 3))])).unwrap();
    loop {
        let ready = strands.prepare(&checked).await.unwrap().expect("nothing is gone");
        if let Some(said) = ready.untidy {
            assert!(strands.try_commit(said).await.unwrap());
            continue;
        }
        for append in ready.commit.appends {
            strands.shared.store.append(append, ready.commit.epoch).await.unwrap();
        }
        break;
    }
    let (_, state) = strands.state(&day).await.unwrap().unwrap();
    assert!(state.untidy.is_some());
    assert_eq!(strands.recompress(&day, i64::MIN).await.unwrap(), 0);
    assert_eq!(strands.state(&day).await.unwrap().unwrap().1.untidy, None);
    assert!(read_all(&strands, &day).await == before && as_of(&strands, &day, 1).await == rows);
    check_rows(&strands, &day).await;
}
