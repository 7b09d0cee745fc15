use super::*;
use crate::{ReadRequest, SeriesWrite, Zone};
use strands::{Edit, Flag, Points, TimeRange};

const HOUR: i64 = 60 * MINUTE;

async fn write(repository: &Repository, name: &str, points: Points) {
    let series = find(repository, name).await;
    let write = SeriesWrite { series, quotation: None, edit: Edit::Put(points) };
    let outcomes = repository.write_all(vec![write], NOW).await.expect("checked");
    outcomes.into_iter().for_each(|outcome| outcome.expect("written"));
}

async fn read(repository: &Repository, name: &str, range: TimeRange) -> Vec<(i64, Option<f64>)> {
    let series = find(repository, name).await;
    let reader = repository.reader(ReadRequest::default()).await.expect("a reader");
    let points = reader.read(&series, range).await.expect("read");
    let value = |place: usize| (points.flags[place] & crate::ABSENT == 0).then_some(points.values[place]);
    (0..points.len()).map(|place| ((points.times[place] - START) / (15 * MINUTE), value(place))).collect()
}

fn slots(from: i64, to: i64) -> TimeRange {
    TimeRange { from: START + from * 15 * MINUTE, to: START + to * 15 * MINUTE }
}

#[tokio::test]
async fn formulas_are_computed_from_what_is_stored_when_read() {
    let repository = repository().await;
    let drafts = vec![
        draft("a"),
        draft("b"),
        computed("sum", "[a] + 2 * [b]"),
        computed("twice", "[sum] * 2"),
        computed("earlier", "[a, -1] - lag([a], 2)"),
        computed("tomorrow", "[a, PT15M]"),
        computed("average", "movingavg([a], 2)"),
    ];
    repository.define(drafts, NOW).await.expect("defined");
    write(&repository, "a", quarters(0, &[1.0, 2.0, 4.0, 8.0])).await;
    write(&repository, "b", quarters(1, &[10.0, 20.0])).await;
    let all = slots(0, 4);
    let sum = [(0, None), (1, Some(22.0)), (2, Some(44.0)), (3, None)];
    assert_eq!(read(&repository, "sum", all).await, sum);
    assert_eq!(read(&repository, "sum", TimeRange::ALL).await, sum);
    assert_eq!(read(&repository, "twice", slots(1, 3)).await, [(1, Some(44.0)), (2, Some(88.0))]);
    assert_eq!(read(&repository, "earlier", slots(2, 4)).await, [(2, Some(1.0)), (3, Some(2.0))]);
    let late = [(0, None), (1, None), (2, Some(1.0)), (3, Some(2.0)), (4, Some(4.0))];
    assert_eq!(read(&repository, "earlier", TimeRange::ALL).await, late);
    assert_eq!(
        read(&repository, "tomorrow", slots(-1, 9)).await,
        [(-1, Some(1.0)), (0, Some(2.0)), (1, Some(4.0)), (2, Some(8.0))]
    );
    // What the range cuts off counts all the same.
    assert_eq!(read(&repository, "average", slots(2, 3)).await, [(2, Some(3.0))]);
    assert_eq!(read(&repository, "sum", slots(40, 50)).await, []);
}

#[tokio::test]
async fn operands_are_brought_to_the_raster_and_unit_of_the_formula() {
    let repository = repository().await;
    let kilowatt = Unit { integral: Some("kWh".into()), ..unit("kW") };
    repository.put_unit(kilowatt).await.expect("a unit");
    repository.put_unit(Unit { aggregation: UnitRule::Sum, ..unit("kWh") }).await.expect("a unit");
    let hour = Some(Interval::new(IntervalUnit::Hour, 1));
    let hourly = |name: &str, formula: &str| DefinitionDraft { interval: hour, ..computed(name, formula) };
    let ends = DefinitionDraft { alignment: Alignment::End, ..draft("ends") };
    let drafts = vec![
        DefinitionDraft { unit: Some("kW".into()), ..draft("power") },
        ends,
        hourly("energy", "[power,, kWh]"),
        hourly("peak", "[power,,, MAX]"),
        computed("shifted", "[ends] + 1"),
    ];
    repository.define(drafts, NOW).await.expect("defined");
    write(&repository, "power", quarters(0, &[1.0, 2.0, 3.0, 6.0, 8.0, 8.0, 8.0, 8.0])).await;
    write(&repository, "ends", quarters(1, &[5.0, 6.0])).await;
    assert_eq!(read(&repository, "energy", slots(0, 8)).await, [(0, Some(3.0)), (4, Some(8.0))]);
    assert_eq!(read(&repository, "peak", slots(0, 8)).await, [(0, Some(6.0)), (4, Some(8.0))]);
    // Named by its end there, by its beginning here.
    assert_eq!(read(&repository, "shifted", slots(0, 8)).await, [(0, Some(6.0)), (1, Some(7.0))]);
}

#[tokio::test]
async fn days_of_offsets_are_those_of_the_calendar() {
    let repository = repository().await;
    let berlin = Zone::get("Europe/Berlin").expect("a zone");
    let zoned = |draft: DefinitionDraft| DefinitionDraft { zone: Some(berlin.clone()), ..draft };
    let hour = Some(Interval::new(IntervalUnit::Hour, 1));
    let hourly = |draft: DefinitionDraft| zoned(DefinitionDraft { interval: hour, ..draft });
    repository
        .define(vec![hourly(draft("a")), hourly(computed("before", "[a, -P1D]"))], NOW)
        .await
        .expect("defined");
    // 2026-03-29 in Berlin has 23 hours: from 02:00 to 03:00 there is none.
    let noon = jiff::civil::date(2026, 3, 28).at(12, 0, 0, 0).in_tz("Europe/Berlin").expect("a time");
    let noon = i64::try_from(noon.timestamp().as_nanosecond()).expect("in range");
    let mut points = Points::default();
    points.push(noon, 7.0, Flag::Valid.number());
    write(&repository, "a", points).await;
    let series = find(&repository, "before").await;
    let reader = repository.reader(ReadRequest::default()).await.expect("a reader");
    let range = TimeRange { from: noon, to: noon + 48 * HOUR };
    let found = reader.read(&series, range).await.expect("read");
    assert_eq!((found.times, found.values), (vec![noon + 23 * HOUR], vec![7.0]));
}

#[tokio::test]
async fn months_end_where_they_end() {
    let repository = repository().await;
    repository.define(vec![draft("a"), computed("month ago", "[a, -P1M]")], NOW).await.expect("defined");
    // 28 February 2026 is a month before 28, 29, 30 and 31 March.
    let february = START + 58 * 24 * HOUR;
    let mut points = Points::default();
    for slot in 0..96 {
        points.push(february + slot * 15 * MINUTE, f64::from(u8::try_from(slot).expect("small")), 3);
    }
    write(&repository, "a", points).await;
    let march = february + 28 * 24 * HOUR;
    let series = find(&repository, "month ago").await;
    for (days, minutes) in [(0, 4 * 24 * 60), (1, 25 * 60), (2, 60)] {
        let reader = repository.reader(ReadRequest::default()).await.expect("a reader");
        let from = march + days * 24 * HOUR;
        let found =
            reader.read(&series, TimeRange { from, to: from + minutes * MINUTE }).await.expect("read");
        let expected: Vec<f64> =
            (0..minutes / 15).map(|slot| f64::from(u8::try_from(slot % 96).expect("small"))).collect();
        assert_eq!(found.values, expected, "from day {days}");
    }
}

#[tokio::test]
async fn formulas_that_multiply_are_refused_by_name() {
    let repository = repository().await;
    define(&repository, draft("0")).await;
    for depth in 1..=13 {
        let below = depth - 1;
        define(&repository, computed(&depth.to_string(), &format!("[{below}] + [{below}, -1]"))).await;
    }
    let reader = repository.reader(ReadRequest::default()).await.expect("a reader");
    let series = find(&repository, "13").await;
    let refused = refusal(reader.read(&series, slots(0, 2)).await);
    assert!(refused.contains("4096"), "{refused}");
    // Where a tower of them has points is found in no time.
    let empty = reader.read(&find(&repository, "13").await, TimeRange::ALL).await.expect("nothing");
    assert!(empty.is_empty());
    let reader = repository.reader(ReadRequest::default()).await.expect("a reader");
    let far = TimeRange { from: 0, to: START * 5 };
    let empty = reader.read(&find(&repository, "1").await, far).await.expect("nothing, centuries long");
    assert!(empty.is_empty());
    let lags = format!("{}[0]{}", "lag(".repeat(14), ", 600000)".repeat(14));
    let wide = define(&repository, computed("wide", &lags)).await;
    let refused = refusal(reader.read(&wide, slots(0, 2)).await);
    assert!(refused.contains("slots to compute at once"), "{refused}");
}
