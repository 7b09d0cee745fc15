use bytes::Bytes;
use store::Limits;

use super::*;
use crate::codec::{Block, Encoding};
use crate::pending::check_size;
use crate::strand::{BLOCK_BYTES_MAX, StrandOptions};

fn raster(first: i64, step: i64, count: i64) -> Points {
    let mut points = Points::default();
    (0..count).for_each(|at| points.push(first + at * step, 1.0, 3));
    points
}

fn strand() -> Strand {
    let space = store::Space { id: 240, kind: store::SpaceKind::Commit, name: "strands" };
    let partition = store::Partition { tenant: store::Tenant::default(), space, bucket: 0 };
    Strand { partition, name: Bytes::new() }
}

fn entry(points: &Points) -> Entry {
    let rules = Rules::new(StrandOptions::recommended(), Limits::EMBEDDED);
    let blocks = encode_runs(&[(points, 0..points.len())], 1, Encoding::Hot, &rules).unwrap();
    assert_eq!(blocks.len(), 1);
    blocks[0].0
}

#[test]
fn a_block_is_covered_only_if_each_of_its_times_is() {
    let check = |points: &Points, block: &Points, expected: bool| {
        assert_eq!(covers(points, step_of(&points.times), &entry(block)), expected);
    };
    let day = raster(0, 900, 96);
    check(&day, &day, true);
    check(&raster(-900, 900, 98), &day, true);
    check(&raster(0, 300, 400), &day, true);
    check(&raster(0, 900, 95), &day, false);
    check(&raster(900, 900, 96), &day, false);
    check(&raster(-450, 900, 98), &day, false);
    check(&raster(0, 1_800, 96), &day, false);
    check(&raster(0, 900, 96), &raster(900, 1, 1), true);
    check(&raster(0, 900, 96), &raster(901, 1, 1), false);
    check(&raster(0, 1, 1), &raster(0, 1, 1), false);
    let mut uneven = raster(0, 900, 96);
    uneven.times[1] += 1;
    check(&day, &uneven, false);
    check(&uneven, &day, false);
}

#[test]
fn runs_go_around_blocks_that_stay() {
    let points = raster(0, 10, 100);
    let stay = [entry(&raster(201, 1, 9)), entry(&raster(505, 1, 2)), entry(&raster(5_000, 1, 2))];
    assert_eq!(runs_between(&points, &stay), Some((Vec::new(), vec![0..21, 21..51, 51..100])));
    assert_eq!(runs_between(&points, &[entry(&raster(195, 5, 9))]), None);
    let covered = entry(&raster(300, 20, 9));
    let (gone, runs) = runs_between(&points, &[covered]).unwrap();
    assert_eq!((gone.as_slice(), runs.as_slice()), (&[covered][..], std::slice::from_ref(&(0..100))));
}

#[test]
fn a_strand_that_cannot_be_folded_takes_no_overlay_beyond_the_limit() {
    let strand = strand();
    let held = |count: u64| State {
        overlay_next: 7 + count,
        overlays: Some(Overlays {
            first_ordinal: 7,
            points: count,
            clears: false,
            first: 0,
            last: 99,
            spilled: false,
        }),
        ..State::new()
    };
    let checked = |clears: Vec<TimeRange>, points| CheckedWrite {
        strand: strand.clone(),
        layer: Layer { clears, points },
        encoding: Encoding::Hot,
        written: Timestamp(0),
        audited: false,
        expires: None,
        mark: None,
        beside: Vec::new(),
        change: None,
        expects: None,
    };
    let rules = Rules::new(StrandOptions::recommended(), Limits::EMBEDDED);
    let limit = OVERLAYS_LIMIT as u64;
    let plan_commit = |count, checked: &CheckedWrite| {
        plan_commit(&held(count), &Pages::default(), checked, &rules, Attempt::CLEAN)
    };
    let few = checked(Vec::new(), raster(5, 1, 1));
    assert_eq!(plan_commit(limit - 1, &few).unwrap().state.overlay_count(), OVERLAYS_LIMIT);
    assert!(matches!(plan_commit(limit, &few), Err(Error::Limit(limit)) if limit.name == "OVERLAYS_LIMIT"));
    // What makes all of them needless is taken, and fits in a commit.
    let all = plan_commit(limit, &checked(vec![TimeRange::ALL], raster(5, 1, 1))).unwrap();
    assert_eq!(all.state.overlay_count(), 1);
    assert!(check_size(&all.writes, &Limits::PORTABLE).is_ok());
}

#[test]
fn large_blocks_are_halved() {
    let mut points = raster(0, 10, 64);
    for at in 0..64_u8 {
        let note = vec![at; 100_000 + usize::from(at)].into();
        let place = points.notes.place_of(&note);
        points.notes.places.push(place);
    }
    let rules = Rules::new(StrandOptions::recommended(), Limits::EMBEDDED);
    let blocks = encode_runs(&[(&points, 0..64)], 1, Encoding::Raw, &rules).unwrap();
    assert!(blocks.iter().all(|(_, bytes)| bytes.len() <= BLOCK_BYTES_MAX));
    let mut all = Points::default();
    for (_, bytes) in &blocks {
        Block::parse(bytes).unwrap().decode_into(&mut all).unwrap();
    }
    assert_eq!(all, points);
}
