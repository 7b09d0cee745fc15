//! How much series take on the disk, with all that is kept of them.

use std::path::Path;

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use store::{Durability, EmbeddedOptions};

use super::*;
use crate::SeriesWrite;
use strands::{ABSENT, Edit, Flag, TimeRange};

const HALF_HOURS: usize = 1_440;

/// A month of half hours in thousandths: the curve of a day, noise of a byte, runs of estimated and of missing ones.
fn profile(random: &mut StdRng) -> Points {
    let (base, swing) = (random.random_range(22_000..54_000), random.random_range(2_000.0..18_000.0));
    let mut points = Points::default();
    for at in 0..HALF_HOURS {
        let day = (at as f64 / 48.0 * std::f64::consts::TAU).sin() * swing;
        let thousandths = f64::from(base + random.random_range(0..256)) + day.round();
        points.push(START + at as i64 * 30 * MINUTE, thousandths / 1_000.0, Flag::Valid.number());
    }
    let (estimated, missing) = (random.random_range(0..1_400), random.random_range(0..1_430));
    points.flags[estimated..estimated + 40].fill(Flag::Estimated.number());
    points.flags[missing..missing + 10].fill(Flag::Missing.number() | ABSENT);
    points.values[missing..missing + 10].fill(0.0);
    points
}

/// Bytes of the tables of rows and of the feed: all but what the engine notes of itself, which does not grow with points.
fn table_bytes(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder.join("rocksdb")).expect("the engine's folder");
    let files = files.map(|file| file.expect("a file"));
    let tables = files.filter(|file| file.path().extension().is_some_and(|it| it == "sst"));
    tables.map(|file| file.metadata().expect("its size").len()).sum()
}

fn open(folder: &Path) -> Store {
    // Nothing here is about what a loss of power takes.
    let durability = Durability::Interval(std::time::Duration::from_secs(3_600));
    Store::open(folder, EmbeddedOptions { durability, ..EmbeddedOptions::recommended() }).expect("opened")
}

async fn define_all(repository: &Repository, count: usize) -> Vec<Arc<Definition>> {
    let interval = Interval::new(IntervalUnit::Minute, 30);
    let draft = |number| {
        DefinitionDraft::new(&format!("load profile of meter {number}"), Alignment::Begin, Some(interval))
    };
    repository.define((0..count).map(draft).collect(), NOW).await.expect("defined")
}

async fn put_all(repository: &Repository, series: &[Arc<Definition>], points: &[Points]) {
    let write = |(series, points): (&Arc<Definition>, &Points)| SeriesWrite {
        series: series.clone(),
        quotation: None,
        edit: Edit::Put(points.clone()),
    };
    let writes = series.iter().zip(points).map(write).collect();
    let outcomes = repository.write_all(writes, NOW).await.expect("checked");
    outcomes.into_iter().for_each(|outcome| outcome.expect("written"));
}

#[tokio::test]
async fn a_month_of_half_hours_takes_at_most_1_7_bytes_a_point() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let repository = repositories(&store).get_or_create("grid", NOW).await.expect("made");
    let mut random = StdRng::seed_from_u64(5);
    let profiles: Vec<Points> = (0..200).map(|_| profile(&mut random)).collect();
    let series = define_all(&repository, profiles.len()).await;
    put_all(&repository, &series, &profiles).await;
    store.close().await.expect("closed");
    let each = table_bytes(folder.path()) as f64 / (profiles.len() * HALF_HOURS) as f64;
    assert!(each <= 1.7, "{each} bytes a point");
    let store = open(folder.path());
    let repository = repositories(&store).get("grid").await.expect("there");
    for (series, points) in series.iter().zip(&profiles) {
        let mut held = Points::default();
        let next =
            repository.read_stored(series, crate::Source::default(), TimeRange::ALL, 100_000, &mut held);
        assert_eq!(next.await.expect("read"), None);
        assert_eq!(held, *points);
    }
}
