//! Long work inside one page: time of which nothing is held costs nothing, others get their turn, and it has a limit and an end.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

const SECONDS: Interval = Interval::new(IntervalUnit::Second, 1);
const YEARS: Interval = Interval::new(IntervalUnit::Year, 1);

fn years(from: i32, to: i32) -> TimeRange {
    TimeRange {
        from: at(&format!("{from}-01-01T00:00:00+01:00")),
        to: at(&format!("{to}-01-01T00:00:00+01:00")),
    }
}

/// A series of seconds with a point in each of the years, and one that is computed from it.
async fn sparse(repository: &Repository, formula: &str) -> (Arc<Definition>, Arc<Definition>) {
    let x = define(repository, draft("x", Alignment::Begin, Some(SECONDS), "kWh")).await;
    let rows = [1911, 1925, 2020, 2021].map(|year| (years(year, year + 1).from + 200 * DAY, f64::from(year)));
    write(repository, &x, None, points(&rows), NOW).await;
    let f = define(repository, computed("f", SECONDS, "kWh", formula)).await;
    (x, f)
}

#[tokio::test]
async fn sparse_formulas_are_told_by_the_decade_without_a_walk() {
    let repository = repository().await;
    let (x, f) = sparse(&repository, "[x] * 1").await;
    for interval in [YEARS, Interval::new(IntervalUnit::Year, 10)] {
        for gaps in [Gaps::None, Gaps::Previous, Gaps::Linear] {
            let request = ReadRequest { interval: Some(interval), gaps, ..ReadRequest::default() };
            let mut reader = repository.reader(request).await.unwrap();
            reader.sizes.piece_slots = 512;
            let reader = Arc::new(reader);
            for range in [years(1900, 2030), years(1950, 1960), TimeRange::ALL] {
                let expected = reader.read(&x, range).await.unwrap();
                assert_eq!(reader.read(&f, range).await.unwrap(), expected);
                assert_eq!(paged(&reader, &f, range, 1).await, expected);
                assert_eq!(reader.total(std::slice::from_ref(&f), range, 1).await.unwrap(), expected);
            }
        }
    }
}

#[tokio::test]
async fn a_value_before_is_looked_for_without_a_walk() {
    let repository = repository().await;
    let (_, f) = sparse(&repository, "[x] * 1").await;
    let request = ReadRequest { interval: Some(YEARS), gaps: Gaps::Previous, ..ReadRequest::default() };
    let reader = repository.reader(request).await.unwrap();
    let absent = Flag::Missing.absent();
    let range = years(1910, 1911);
    check(&reader.read(&f, range).await.unwrap(), &[(range.from, 0.0, absent)]);
    let range = years(2019, 2020);
    let filled = Flag::Interpolated.number();
    check(&reader.read(&f, range).await.unwrap(), &[(range.from, 1925.0, filled)]);
}

/// How often another task had its turn while `work` was done, by a runtime of one thread.
fn turns_of_others<F: Future<Output = ()>>(work: F) -> usize {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let turns = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&turns);
        let other = tokio::spawn(async move {
            loop {
                counted.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
            }
        });
        work.await;
        other.abort();
        turns.load(Ordering::Relaxed)
    })
}

async fn dense(repository: &Repository) -> (Arc<Definition>, TimeRange) {
    let f = define(repository, computed("dense", SECONDS, "kWh", "7")).await;
    let from = years(2026, 2027).from;
    (f, TimeRange { from, to: from + DAY })
}

#[test]
fn others_get_their_turn_while_slots_are_computed() {
    let turns = turns_of_others(async {
        let repository = repository().await;
        let (dense, range) = dense(&repository).await;
        let request = ReadRequest { interval: Some(HOURS), ..ReadRequest::default() };
        let mut reader = repository.reader(request).await.unwrap();
        reader.sizes.piece_slots = 8_192;
        assert_eq!(reader.read(&dense, range).await.unwrap().len(), 24);
    });
    // Ten pieces, and what is done before.
    assert!(turns >= 10, "{turns} turns");
}

#[test]
fn others_get_their_turn_while_values_are_looked_for() {
    let turns = turns_of_others(async {
        let repository = repository().await;
        let switches = Switches { quotation: true, ..Switches::default() };
        let drafted =
            DefinitionDraft { switches, ..draft("forecast", Alignment::Begin, Some(SECONDS), "kWh") };
        let series = define(&repository, drafted).await;
        let from = years(2026, 2027).from;
        let mut absent = points(&[(from, 1.0)]);
        (1..100_000).for_each(|place| absent.push(from + place * 1_000_000_000, 0.0, Flag::Missing.absent()));
        write(&repository, &series, Some(1), absent, NOW).await;
        let request = ReadRequest { gaps: Gaps::Linear, ..ReadRequest::default() };
        let reader = repository.reader(request).await.unwrap();
        let mut page = Points::default();
        let mut progress = Progress::new(TimeRange { from, to: from + DAY });
        reader.read_page(&series, &mut progress, 10, &mut page).await.unwrap();
        assert_eq!(page.len(), 10);
    });
    assert!(turns >= 6, "{turns} turns");
}

#[tokio::test]
async fn slots_to_compute_have_a_limit() {
    let repository = repository().await;
    let (dense, day) = dense(&repository).await;
    let (x, twice) = sparse(&repository, "[x] * 2").await;
    let full: Vec<_> = (0..5_000).map(|place| (day.from + place * 1_000_000_000, 1.0)).collect();
    write(&repository, &x, None, points(&full), NOW).await;
    for (series, interval, most) in [(dense, HOURS, 86_400), (twice, YEARS, 5_000)] {
        for gaps in [Gaps::None, Gaps::Previous] {
            let request = ReadRequest { interval: Some(interval), gaps, ..ReadRequest::default() };
            let reader =
                |most| repository.reader(ReadRequest { answer_slots_max: Some(most), ..request.clone() });
            let few = Arc::new(reader(most - 1).await.unwrap());
            let text = refusal(few.read(&series, day).await);
            assert!(text.contains("answer_slots_max"), "{text}");
            assert!(
                refusal(few.total(std::slice::from_ref(&series), day, 1).await).contains("answer_slots_max")
            );
            let enough = Arc::new(reader(most).await.unwrap());
            let found = enough.read(&series, day).await.unwrap();
            assert_eq!(enough.total(std::slice::from_ref(&series), day, 1).await.unwrap(), found);
            // What was computed for an answer counts for that one alone.
            assert_eq!(enough.read(&series, day).await.unwrap(), found);
        }
    }
}

#[tokio::test]
async fn what_ends_behind_the_calendar_ends() {
    let repository = repository().await;
    let minutes = Interval::new(IntervalUnit::Minute, 1);
    let x = define(&repository, draft("x", Alignment::Begin, Some(minutes), "kWh")).await;
    let ends = define(&repository, draft("ends", Alignment::End, Some(minutes), "kWh")).await;
    let held = define(&repository, draft("held", Alignment::Spontaneous, None, "kW")).await;
    let from = at("2261-12-31T00:00:00Z");
    for series in [&x, &ends, &held] {
        write(&repository, series, None, points(&[(from, 1.0)]), NOW).await;
    }
    let f = define(&repository, computed("f", minutes, "kWh", "coalesce([x], 7)")).await;
    for to in
        [at("2262-01-01T23:00:00Z"), at("2262-01-03T00:00:00Z"), at("2262-04-11T00:00:00Z"), i64::MAX - 1]
    {
        for begin in [from, at("2262-01-01T22:00:00Z"), at("2262-03-01T00:00:00Z")] {
            for interval in [None, Some(minutes), Some(HOURS), Some(YEARS)] {
                for gaps in [Gaps::None, Gaps::Previous, Gaps::Linear] {
                    for series in [&f, &x, &ends, &held] {
                        let request = ReadRequest { interval, gaps, ..ReadRequest::default() };
                        let reader = Arc::new(repository.reader(request).await.unwrap());
                        let range = TimeRange { from: begin, to: to.max(begin) };
                        let (mut progress, mut pages) = (Progress::new(range), 0);
                        let mut found = Points::default();
                        while reader.read_page(series, &mut progress, 500, &mut found).await.unwrap() {
                            pages += 1;
                            assert!(pages < 30, "{} {interval:?} {gaps:?} {range:?}", series.name);
                        }
                        assert!(found.len() < 5_000, "{} {}", series.name, found.len());
                        if interval.is_some() {
                            let mut total = reader
                                .total_pages(std::slice::from_ref(series), range, 1)
                                .await
                                .unwrap()
                                .in_pages_of(500);
                            let mut pages = 0;
                            while total.next().await.unwrap().is_some() {
                                pages += 1;
                                assert!(pages < 30, "{} {interval:?} {gaps:?} {range:?}", series.name);
                            }
                        }
                    }
                }
            }
        }
    }
}
