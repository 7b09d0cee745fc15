//! What reads in pages hold and ask for: a page, and nothing twice.

use store::{Durability, EmbeddedOptions};

use super::*;

/// Point reads of the store, the cache's and the engine's.
fn point_reads(store: &Store) -> u64 {
    let statistics = store.statistics();
    statistics.cache_hits + statistics.cache_misses
}

fn on_disk(folder: &std::path::Path) -> Store {
    let durability = Durability::Interval(std::time::Duration::from_secs(3_600));
    let options = EmbeddedOptions { durability, background_jobs: 1, ..EmbeddedOptions::recommended() };
    Store::open(folder, options).unwrap()
}

#[tokio::test]
async fn the_ends_of_an_endless_read_are_looked_for_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = on_disk(folder.path());
    let repository = repository_in(store.clone(), StrandOptions::recommended()).await;
    let series = define(&repository, draft("load", Alignment::Begin, Some(QUARTERS), "kW")).await;
    let start = at("2026-01-01T00:00:00+01:00");
    write(&repository, &series, None, row(start, QUARTER, 4_000), NOW).await;
    let request = ReadRequest { interval: Some(HOURS), ..ReadRequest::default() };
    let reader = repository.reader(request).await.unwrap();
    let reads_of = async |range| {
        let before = point_reads(&store);
        assert_eq!(paged(&reader, &series, range, 50).await.len(), 1_000);
        point_reads(&store) - before
    };
    let with_ends = reads_of(TimeRange { from: start, to: start + 4_000 * QUARTER }).await;
    let endless = reads_of(TimeRange::ALL).await;
    assert!(endless <= with_ends + 5, "{endless} reads of the store, with ends {with_ends}");
}

/// The past of quotations is long, the page is short.
#[tokio::test]
async fn what_holds_of_quotations_is_looked_for_from_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let store = on_disk(folder.path());
    let strands = StrandOptions { block_points_max: 64, ..StrandOptions::recommended() };
    let repository = repository_in(store.clone(), strands).await;
    let switches = Switches { quotation: true, ..Switches::default() };
    let drafted = DefinitionDraft { switches, ..draft("setpoint", Alignment::Spontaneous, None, "kW") };
    let series = define(&repository, drafted).await;
    let start = at("2026-01-01T00:00:00Z");
    for issued in 0..3 {
        write(&repository, &series, Some(issued), row(start + issued, QUARTER, 10_000), NOW).await;
    }
    let request = ReadRequest { interval: Some(QUARTERS), ..ReadRequest::default() };
    let reader = repository.reader(request).await.unwrap();
    let end = start + 10_000 * QUARTER;
    let before = point_reads(&store);
    let found = paged(&reader, &series, TimeRange { from: end, to: end + 100 * QUARTER }, 10).await;
    let reads = point_reads(&store) - before;
    assert_eq!(found.values, vec![4.0; 100]);
    // Ten pages, three quotations, a few rows each.
    assert!(reads < 200, "{reads} reads of the store");
}

/// How long the longest page is.
async fn longest_page(
    reader: &Reader,
    series: &Arc<Definition>,
    range: TimeRange,
    points_max: usize,
) -> usize {
    let (mut progress, mut longest) = (Progress::new(range), 0);
    while !progress.is_at_end() {
        let mut page = Points::default();
        reader.read_page(series, &mut progress, points_max, &mut page).await.unwrap();
        longest = longest.max(page.len());
    }
    longest
}

#[tokio::test]
async fn no_page_is_longer_than_asked_for() {
    let strands = StrandOptions { block_points_max: 64, ..StrandOptions::recommended() };
    let repository = repository_with(strands).await;
    let (audit, quotation) = (true, true);
    let start = at("2026-01-01T00:00:00Z");
    for (name, alignment, interval, switches) in [
        ("hours", Alignment::Begin, Some(HOURS), Switches::default()),
        ("held", Alignment::Spontaneous, None, Switches::default()),
        ("audited", Alignment::Spontaneous, None, Switches { audit, ..Switches::default() }),
        ("forecast", Alignment::Spontaneous, None, Switches { quotation, ..Switches::default() }),
    ] {
        let drafted = DefinitionDraft { switches, ..draft(name, alignment, interval, "kW") };
        let series = define(&repository, drafted).await;
        for issued in 0..if switches.quotation { 3 } else { 1 } {
            let mut points = row(start + issued * 50 * HOUR, 3 * HOUR, 1_000);
            (0..1_000).filter(|place| place % 7 > 2).for_each(|place| {
                (points.values[place], points.flags[place]) = (0.0, Flag::Faulty.absent());
            });
            let issued = switches.quotation.then_some(issued);
            write(&repository, &series, issued, points, NOW).await;
        }
        for (interval, unit, gaps) in [
            (None, None, Gaps::Linear),
            (None, None, Gaps::Previous),
            (interval, interval.map(|_| "kWh".into()), Gaps::None),
            (Some(HOURS), Some("kWh".into()), Gaps::Linear),
        ] {
            let as_of = switches.audit.then_some(NOW);
            let request = ReadRequest { interval, unit, gaps, as_of, ..ReadRequest::default() };
            let reader = repository.reader(request.clone()).await.unwrap();
            for range in [TimeRange::ALL, TimeRange { from: start + HOUR / 2, to: start + 2_000 * HOUR }] {
                let longest = longest_page(&reader, &series, range, 100).await;
                // A page of what has no slots ends with a block.
                assert!((30..=164).contains(&longest), "{name} {request:?}: {longest}");
                let whole = reader.read(&series, range).await.unwrap();
                assert!(whole.len() > 600, "{name} {request:?}");
                assert_eq!(paged(&reader, &series, range, 100).await, whole, "{name} {request:?}");
            }
        }
    }
}

#[tokio::test]
async fn fine_formulas_are_told_by_the_year() {
    let repository = repository().await;
    let fine = Interval::new(IntervalUnit::Second, 30);
    let x = define(&repository, draft("x", Alignment::Begin, Some(fine), "kWh")).await;
    let year = |year: i32| at(&format!("{year}-01-01T00:00:00+01:00"));
    let held = [(year(2020), 1.0), (year(2020) + 200 * DAY, 2.0), (year(2027) + 300 * DAY, 3.0)];
    write(&repository, &x, None, points(&held), NOW).await;
    let twice = define(&repository, computed("twice", fine, "kWh", "2 * [x]")).await;
    let years =
        ReadRequest { interval: Some(Interval::new(IntervalUnit::Year, 1)), ..ReadRequest::default() };
    let range = TimeRange { from: year(2020), to: year(2029) };
    let reader = repository.reader(years).await.unwrap();
    let found = paged(&reader, &twice, range, 16 * 1_024).await;
    check(&found, &[(year(2020), 6.0, MISSING), (year(2027), 6.0, MISSING)]);
    let total = Arc::new(reader).total(&[twice], range, 1).await.unwrap();
    assert_eq!(total, found);
}
