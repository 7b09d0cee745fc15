//! Two nodes that sweep, trim and recompress at once, over the worst store, while series come, are written and go.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::*;
use crate::{SeriesWrite, Source};
use strands::{Edit, TimeRange};

/// The times of the points of each series that there is.
type Plain = BTreeMap<String, Vec<i64>>;

const TURNS: i64 = 48;
/// A removed number is free again after three turns.
const TURN: i64 = 6 * 60_000_000;
/// The quarter hour of points that are beyond their retention of a year.
const LONG_AGO: i64 = -50_000;

fn at(turn: i64) -> Timestamp {
    Timestamp(NOW.0 + turn * TURN)
}

/// `None` if there is no such series as the writer had found.
async fn put(repository: &Repository, series: &Arc<Definition>, first: i64, turn: i64) -> Option<Points> {
    let points = quarters(first, &[1.0, 2.0, 3.0]);
    let edit = Edit::Put(points.clone());
    let write = SeriesWrite { series: series.clone(), quotation: None, edit };
    match repository.write_all(vec![write], at(turn)).await {
        Ok(mut outcomes) => outcomes.pop().and_then(Result::ok).map(|()| points),
        Err(_) => None,
    }
}

async fn write_all(nodes: &[Repository; 2], seed: i64, turn: &Cell<i64>) -> Plain {
    let (mut plain, mut late) = (Plain::new(), None);
    for now in 1..=TURNS {
        turn.set(now);
        let repository = &nodes[usize::try_from((now + seed) % 2).unwrap()];
        let name = format!("s {}", (now * 5 + seed) % 3);
        let Some(times) = plain.get_mut(&name) else {
            let draft = DefinitionDraft { retention: crate::Duration::parse("P1Y"), ..draft(&name) };
            repository.define(vec![draft], at(now)).await.expect("defined");
            plain.insert(name, Vec::new());
            continue;
        };
        if (now + seed) % 5 == 0 {
            let series = find(repository, &name).await;
            repository.remove(SeriesRef::Name(&name), at(now)).await.expect("removed");
            plain.remove(&name);
            late = Some(series);
            continue;
        }
        let series = find(repository, &name).await;
        let written =
            put(repository, &series, now * 3, now).await.expect("a series that is there is written");
        times.extend(written.times);
        if now % 4 == 0 {
            put(repository, &series, LONG_AGO + now * 3, now).await.expect("written");
        }
        // Somebody who found a series before it was removed comes late.
        if let Some(series) = late.take().filter(|gone| gone.number != series.number) {
            put(&nodes[usize::try_from((now + seed + 1) % 2).unwrap()], &series, 5_000, now).await;
        }
    }
    plain
}

async fn do_jobs(all: &Repositories, turn: &Cell<i64>, late: i64) {
    while turn.get() < TURNS {
        let now = at(turn.get() - late);
        all.sweep(now).await.expect("swept");
        all.trim_expired(now).await.expect("trimmed");
        all.recompress(now, std::time::Duration::ZERO).await.expect("recompressed");
        tokio::task::yield_now().await;
    }
}

async fn check(repository: &Repository, plain: &Plain, seed: u64) {
    for number in 0..3 {
        let name = format!("s {number}");
        let found = repository.find_many(&[SeriesRef::Name(&name)]).await.expect("looked for").remove(0);
        assert_eq!(found.is_some(), plain.contains_key(&name), "{name}, seed {seed}");
        let (Some(series), Some(times)) = (found, plain.get(&name)) else { continue };
        let mut points = Points::default();
        let range = TimeRange::ALL;
        repository.read_stored(&series, Source::default(), range, 10_000, &mut points).await.expect("read");
        points.times.retain(|time| *time >= START);
        assert_eq!(&points.times, times, "{name}, seed {seed}");
    }
}

#[test]
fn two_nodes_that_sweep_trim_and_recompress_at_once_lose_nothing() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    for seed in store::testing::seeds(40) {
        runtime.block_on(async {
            let store = store::testing::hostile(Clock::manual(NOW), seed);
            let all = [repositories(&store.beside()), repositories(&store)];
            let draft = RepositoryDraft { name: "grid".into(), description: "".into() };
            all[0].create(draft, NOW).await.expect("created");
            let nodes = [all[0].get("grid").await.expect("there"), all[1].get("grid").await.expect("there")];
            furnish(&nodes[0]).await;
            let turn = Cell::new(0);
            let (plain, (), ()) = tokio::join!(
                write_all(&nodes, i64::try_from(seed).expect("small"), &turn),
                do_jobs(&all[0], &turn, 0),
                do_jobs(&all[1], &turn, 1),
            );
            for repository in &nodes {
                check(repository, &plain, seed).await;
            }
        });
    }
}
