//! Definitions found, searched and decoded, and formulas computed, on one core.
//!
//! `cargo bench -p model-series --bench catalogue`
//!
//! 25,000 series, as a bulk read names them, on the embedded engine in a folder of its own. The best of several turns
//! counts.

#![expect(clippy::unwrap_used, reason = "a measuring program: a panic is its answer")]

use std::hint::black_box;
use std::io::Write as _;
use std::time::{Duration, Instant};

use model_series::{
    Alignment, Attribute, AttributeKind, AttributeSearch, AttributeType, AttributeValue, DRAFTS_MAX,
    DefinitionDraft, Interval, IntervalUnit, Points, Repositories, Repository, Search, SeriesOptions,
    SeriesRef, StrandOptions, Timestamp,
};
use rasters::compute;
use store::{EmbeddedOptions, Store};

/// Series of the repository.
const SERIES: usize = 25_000;
/// Slots that a formula is computed in: a month of quarter hours of some series.
const SLOTS: usize = 32 * 1_024;
const TURNS: usize = 15;
const NOW: Timestamp = Timestamp(1_767_225_600_000_000);

fn main() {
    formulas();
    let folder = tempfile::tempdir().unwrap();
    let options = EmbeddedOptions::recommended();
    let store = Store::open(folder.path(), options).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(catalogue(&store));
}

/// The best time of some turns, told as nanoseconds for each of `count` things.
fn tell(what: &str, count: usize, mut turn: impl FnMut()) {
    let mut best = Duration::MAX;
    for _ in 0..TURNS {
        let begin = Instant::now();
        turn();
        best = best.min(begin.elapsed());
    }
    row(what, count, best);
}

fn row(what: &str, count: usize, took: Duration) {
    let each = took.as_secs_f64() / count as f64;
    let line = format!(
        "{what:<44} {:>9.2} ms {:>9.1} ns each {:>9.1} M/s",
        took.as_secs_f64() * 1e3,
        each * 1e9,
        1e-6 / each
    );
    let mut out = std::io::stdout();
    writeln!(out, "{line}").unwrap();
}

fn formulas() {
    let operand = |phase: f64| {
        let mut points = Points::default();
        for slot in 0..SLOTS {
            points.push(slot as i64 * 900_000_000_000, (slot as f64 * 0.01 + phase).sin().abs() + 1.0, 3);
        }
        points
    };
    let operands = [operand(0.0), operand(1.0)];
    let times = operands[0].times.clone();
    for text in [
        "[a] + 2 * [b]",
        "max([a], 0) / [b]",
        "if([a] > [b], [a], coalesce([b], 0))",
        "movingavg([a], 96) - lag([b], 4)",
    ] {
        let formula = lang_formula::parse(text).unwrap();
        tell(text, SLOTS, || drop(black_box(compute(&formula, &times, &operands))));
    }
}

async fn catalogue(store: &Store) {
    let options = SeriesOptions {
        strands: StrandOptions::recommended(),
        tenants_max: 1_000,
        repositories_max: 1_000,
        catalogue_buckets: 1,
        definitions_cached_max: 100_000,
    };
    let repositories = Repositories::new(store.clone(), options);
    let repository = repositories.get_or_create("bench", NOW).await.unwrap();
    let of_type = AttributeType {
        name: "Region".into(),
        kind: AttributeKind::Text,
        is_multiple: false,
        description: "".into(),
    };
    repository.put_attribute_type(of_type).await.unwrap();
    let names: Vec<String> =
        (0..SERIES).map(|number| format!("Grid/Station {:03}/Feeder {number:05}", number % 250)).collect();
    let begin = Instant::now();
    let mut drafts = names.iter().enumerate().map(|(place, name)| draft(name, place));
    for first in (0..SERIES).step_by(DRAFTS_MAX) {
        let count = (SERIES - first).min(DRAFTS_MAX);
        repository.define(drafts.by_ref().take(count).collect(), NOW).await.unwrap();
    }
    row("define", SERIES, begin.elapsed());
    let wanted: Vec<SeriesRef<'_>> = names.iter().map(|name| SeriesRef::Name(name)).collect();
    find(&repository, &wanted, "find_many by name, decoded before").await;
    let fresh = Repositories::new(store.clone(), options).get("bench").await.unwrap();
    let begin = Instant::now();
    assert!(fresh.find_many(&wanted).await.unwrap().iter().all(Option::is_some));
    row("find_many by name, decoded anew", SERIES, begin.elapsed());
    let by_value = AttributeSearch { name: "Region".into(), value: Some("region 7".into()) };
    search(
        &repository,
        "search by attribute and value",
        Search { attributes: vec![by_value], ..Search::default() },
    )
    .await;
    search(
        &repository,
        "search by name Grid/Station 01%",
        Search { name: Some("Grid/Station 01%".into()), ..Search::default() },
    )
    .await;
    search(
        &repository,
        "search by description %7 of 25%",
        Search { description: Some("%7 of 25%".into()), ..Search::default() },
    )
    .await;
}

fn draft(name: &str, place: usize) -> DefinitionDraft {
    let region = AttributeValue::Text(format!("region {}", place % 50).into());
    DefinitionDraft {
        description: format!("feeder {place} of 25000").into(),
        attributes: vec![Attribute { name: "Region".into(), value: region, from: None, to: None }],
        ..DefinitionDraft::new(name, Alignment::Begin, Some(Interval::new(IntervalUnit::Minute, 15)))
    }
}

async fn find(repository: &Repository, wanted: &[SeriesRef<'_>], what: &str) {
    let mut best = Duration::MAX;
    for _ in 0..TURNS {
        let begin = Instant::now();
        assert!(repository.find_many(wanted).await.unwrap().iter().all(Option::is_some));
        best = best.min(begin.elapsed());
    }
    row(what, wanted.len(), best);
}

async fn search(repository: &Repository, what: &str, search: Search) {
    let search = Search { limit: 1_000, ..search };
    let begin = Instant::now();
    let found = repository.search(&search).await.unwrap().series.len();
    row(&format!("{what} ({found})"), found.max(1), begin.elapsed());
}
