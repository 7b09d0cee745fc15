//! Sums of many series by several tasks.

use super::*;
use crate::evaluate::total::Awaited;

/// Values whose sum hangs on the order in which they are added.
fn uneven(series: i64, place: i64) -> f64 {
    let mixed = (series * 7_919 + place * 104_729) % 1_000_003;
    f64::from(i32::try_from(mixed).unwrap()) / 1_000.0 * 10_f64.powi(i32::try_from(series % 12).unwrap() - 6)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sums_do_not_hang_on_how_many_tasks_there_are() {
    let repository = repository().await;
    let start = at("2026-01-01T00:00:00+01:00");
    let mut all = Vec::new();
    for number in 0..70_i64 {
        let series =
            define(&repository, draft(&format!("s{number}"), Alignment::Begin, Some(QUARTERS), "kWh")).await;
        // Every seventh begins a day late, and one holds nothing.
        let first = if number % 7 == 3 { 96 } else { 0 };
        let places = if number == 40 { 0..0 } else { first..400 };
        let held: Vec<_> = places.map(|place| (start + place * QUARTER, uneven(number, place))).collect();
        write(&repository, &series, None, points(&held), NOW).await;
        all.push(series);
    }
    for interval in [None, Some(HOURS)] {
        let request = ReadRequest { interval, ..ReadRequest::default() };
        let reader = Arc::new(repository.reader(request).await.unwrap());
        for range in [TimeRange::ALL, TimeRange { from: start + HOUR, to: start + 90 * HOUR }] {
            let one = reader.total(&all, range, 1).await.unwrap();
            for tasks in [2, 4, 64] {
                assert_eq!(reader.total(&all, range, tasks).await.unwrap(), one);
            }
            // The empty series leaves every sum without one of its parts.
            assert!(one.flags.iter().all(|flag| *flag == MISSING));
            let mut by_hand = BTreeMap::new();
            for series in &all {
                let points = reader.read(series, range).await.unwrap();
                for (time, value) in points.times.iter().zip(&points.values) {
                    *by_hand.entry(*time).or_insert(0.0) += value;
                }
            }
            assert_eq!(one.times, by_hand.keys().copied().collect::<Vec<_>>());
            for (found, expected) in one.values.iter().zip(by_hand.values()) {
                let tolerance: f64 = 1e-12 * f64::max(1.0, *expected);
                assert!((found - expected).abs() <= tolerance, "{found} for {expected}");
            }
        }
    }
}

#[tokio::test]
async fn nothing_adds_up_to_nothing() {
    let repository = repository().await;
    let reader = Arc::new(repository.reader(ReadRequest::default()).await.unwrap());
    assert!(reader.total(&[], TimeRange::ALL, 2).await.unwrap().is_empty());
}

/// All of a sum; before each page one is asked for that nobody waits for.
async fn interrupted(pages: &mut TotalPages) -> Points {
    let mut all = Points::default();
    loop {
        let mut dropped = Box::pin(pages.next());
        let waker = std::task::Waker::noop();
        let polled = dropped.as_mut().poll(&mut std::task::Context::from_waker(waker));
        assert!(polled.is_pending() || matches!(polled, std::task::Poll::Ready(Ok(None))));
        drop(dropped);
        match pages.next().await.unwrap() {
            Some(page) => all.extend_from_range(&page, 0..page.len()),
            None => return all,
        }
    }
}

/// What the gaps of the next page are filled from went with a page that failed or was dropped, and the series with it.
#[tokio::test]
async fn a_page_that_nobody_waited_for_comes_again() {
    let repository = repository().await;
    let start = at("2026-01-01T00:00:00+01:00");
    let hours = define(&repository, draft("hours", Alignment::Begin, Some(HOURS), "kW")).await;
    let held = define(&repository, draft("held", Alignment::Spontaneous, None, "kW")).await;
    for series in [&hours, &held] {
        write(&repository, series, None, row(start, 7 * HOUR, 30), NOW).await;
    }
    let range = TimeRange { from: start - 5 * HOUR, to: start + 240 * HOUR };
    for gaps in [Gaps::None, Gaps::Previous, Gaps::Linear] {
        let request = ReadRequest { interval: Some(HOURS), gaps, ..ReadRequest::default() };
        let reader = Arc::new(repository.reader(request).await.unwrap());
        let all = [hours.clone(), held.clone()];
        let expected = reader.total(&all, range, 2).await.unwrap();
        let mut pages = reader.total_pages(&all, range, 2).await.unwrap().in_pages_of(10);
        for _ in 0..2 {
            assert_eq!(interrupted(&mut pages).await, expected, "{gaps:?}");
            pages.rewind();
        }
        for series in &all {
            let whole = paged(&reader, series, range, 1_000).await;
            let mut progress = Progress::new(range);
            for _ in 0..2 {
                let mut found = Points::default();
                while reader.read_page(series, &mut progress, 7, &mut found).await.unwrap() {}
                assert_eq!(found, whole, "{} {gaps:?}", series.name);
                progress.rewind();
            }
        }
    }
}

/// Else sums that nobody waits for would go on, and hold what they read.
#[tokio::test]
async fn tasks_end_when_nobody_waits_for_them() {
    let held = Arc::new(());
    let task = Awaited(tokio::spawn({
        let held = held.clone();
        async move {
            std::future::pending::<()>().await;
            drop(held);
        }
    }));
    tokio::task::yield_now().await;
    assert_eq!(Arc::strong_count(&held), 2);
    drop(task);
    while Arc::strong_count(&held) > 1 {
        tokio::task::yield_now().await;
    }
}
