use store::Timestamp;

use super::*;
use crate::feed::change_records;
use crate::{DefinitionChange, Duration, PointsChange, SeriesChange, SeriesWrite, Source};
use strands::{ABSENT, Edit, TimeRange};

fn put(series: &Arc<Definition>, points: Points) -> SeriesWrite {
    SeriesWrite { series: series.clone(), quotation: None, edit: Edit::Put(points) }
}

async fn write(repository: &Repository, write: SeriesWrite, now: Timestamp) {
    let outcomes = repository.write_all(vec![write], now).await.expect("checked");
    outcomes.into_iter().for_each(|outcome| outcome.expect("written"));
}

async fn read(repository: &Repository, series: &Definition, source: Source) -> Points {
    let mut points = Points::default();
    let next =
        repository.read_stored(series, source, TimeRange::ALL, 100_000, &mut points).await.expect("read");
    assert_eq!(next, None);
    points
}

#[tokio::test]
async fn points_are_checked_before_any_is_stored() {
    let repository = repository().await;
    let good = define(&repository, draft("good")).await;
    let formula = define(&repository, computed("computed", "1")).await;
    let quoted = DefinitionDraft {
        switches: crate::Switches { quotation: true, ..Default::default() },
        ..draft("quoted")
    };
    let quoted = define(&repository, quoted).await;
    let mut off = quarters(0, &[1.0, 2.0, 3.0]);
    off.times[1] += 1;
    let mut unordered = quarters(0, &[1.0, 2.0, 3.0]);
    unordered.times.swap(1, 2);
    let mut unknown = quarters(0, &[1.0]);
    unknown.flags[0] = 9;
    let mut absent = quarters(8, &[1.0, f64::NAN]);
    absent.flags[1] = crate::Flag::Missing.absent();
    let outside = TimeRange { from: START, to: START + 1 };
    let writes = vec![
        put(&good, absent),
        put(&good, off),
        put(&good, quarters(0, &[1.0, f64::INFINITY])),
        put(&good, quarters(0, &[f64::NAN])),
        put(&good, unordered),
        put(&good, unknown),
        put(&formula, quarters(0, &[1.0])),
        put(&quoted, quarters(0, &[1.0])),
        SeriesWrite { quotation: Some(0), ..put(&good, quarters(0, &[1.0])) },
        SeriesWrite {
            edit: Edit::Replace(outside, quarters(0, &[1.0, 2.0])),
            ..put(&good, Points::default())
        },
    ];
    let Err(Error::Refused(refusals)) = repository.write_all(writes, NOW).await else {
        panic!("refused");
    };
    let told: Vec<_> = refusals.iter().map(|one| (one.place, one.position, one.reason.as_str())).collect();
    let finite = "its value is not a finite number";
    assert_eq!(
        told,
        [
            (1, Some(1), "its time is not on the raster of 15 Minute"),
            (2, Some(1), finite),
            (3, Some(0), finite),
            (4, Some(2), "its time is not after that of the point before"),
            (5, Some(0), "there is no flag of number 9"),
            (6, None, "it has a formula: its values are computed, not written"),
            (7, None, "it has quotations: say which"),
            (8, None, "it has no quotations"),
            (9, Some(1), "it lies outside the range that is replaced"),
        ]
    );
    assert_eq!(
        refusals[0].to_string(),
        "series good, position 1: its time is not on the raster of 15 Minute"
    );
    assert!(read(&repository, &good, Source::default()).await.is_empty());
}

#[tokio::test]
async fn writes_to_one_series_are_one_atom_in_order() {
    let repository = repository().await;
    let (one, other) = (define(&repository, draft("one")).await, define(&repository, draft("other")).await);
    let middle = TimeRange { from: START + 15 * MINUTE, to: START + 45 * MINUTE };
    let writes = vec![
        put(&one, quarters(0, &[1.0, 2.0, 3.0, 4.0])),
        put(&other, quarters(0, &[9.0])),
        SeriesWrite { edit: Edit::Delete(middle), ..put(&one, Points::default()) },
        put(&one, quarters(3, &[5.0])),
    ];
    let outcomes = repository.write_all(writes, NOW).await.expect("checked");
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 4);
    let points = read(&repository, &one, Source::default()).await;
    assert_eq!((points.values, points.times[1]), (vec![1.0, 5.0], START + 45 * MINUTE));
    assert_eq!(read(&repository, &other, Source::default()).await.values, [9.0]);
    assert_eq!(repository.extent(&one, None).await.expect("read"), Some((START, START + 45 * MINUTE)));
}

#[tokio::test]
async fn the_feed_tells_what_happened_to_series() {
    let store = memory();
    let repository = repositories(&store).get_or_create("grid", NOW).await.expect("made");
    let series = define(&repository, draft("s")).await;
    write(&repository, put(&series, quarters(0, &[1.0, 2.0])), NOW).await;
    let range = TimeRange { from: START, to: START + 1 };
    repository.delete_range(&series, None, range, NOW).await.expect("deleted");
    write(
        &repository,
        SeriesWrite { edit: Edit::Replace(range, Points::default()), ..put(&series, Points::default()) },
        NOW,
    )
    .await;
    let change = DefinitionChange { description: Some("d".into()), ..DefinitionChange::default() };
    let changed = repository.change(SeriesRef::Name("s"), change, NOW).await.expect("changed");
    repository.remove(SeriesRef::Name("s"), NOW).await.expect("removed");
    let changes = all_changes(&store).await;
    let told: Vec<SeriesChange> = changes.iter().flat_map(change_records).collect();
    let points = |range, points| PointsChange { series: series.number, range, points };
    let put = TimeRange { from: START, to: START + 15 * MINUTE + 1 };
    assert_eq!(
        told,
        [
            SeriesChange::Defined(series.clone()),
            SeriesChange::Put(points(put, 2)),
            SeriesChange::Deleted(points(range, 0)),
            SeriesChange::Replaced(points(range, 0)),
            SeriesChange::Changed(changed.clone()),
            SeriesChange::Removed(changed),
        ]
    );
}

#[tokio::test]
async fn quotations_are_apart_and_come_latest_first() {
    let repository = repository().await;
    let quoted =
        DefinitionDraft { switches: crate::Switches { quotation: true, ..Default::default() }, ..draft("q") };
    let series = define(&repository, quoted).await;
    for issued in [3, -5, 7] {
        let write_one =
            SeriesWrite { quotation: Some(issued), ..put(&series, quarters(0, &[issued as f64])) };
        write(&repository, write_one, NOW).await;
    }
    let issued = async |before, count| repository.quotations(&series, before, count).await.expect("listed");
    assert_eq!(issued(None, 9).await, [7, 3, -5]);
    assert_eq!(issued(Some(7), 1).await, [3]);
    assert_eq!(issued(Some(-5), 1).await, []);
    let source = Source { quotation: Some(-5), as_of: None };
    assert_eq!(read(&repository, &series, source).await.values, [-5.0]);
    let refused =
        repository.read_stored(&series, Source::default(), TimeRange::ALL, 1, &mut Points::default()).await;
    assert_eq!(refusal(refused), "series q: it has quotations: say which");
    repository.remove(SeriesRef::Name("q"), NOW).await.expect("removed");
    assert_eq!(issued(None, 9).await, []);
}

#[tokio::test]
async fn audited_series_answer_as_they_stood() {
    let repository = repository().await;
    let plain = define(&repository, draft("plain")).await;
    let audited = DefinitionDraft {
        switches: crate::Switches { audit: true, ..Default::default() },
        ..draft("audited")
    };
    let audited = define(&repository, audited).await;
    let at = |seconds: i64| Timestamp(NOW.0 + seconds * 1_000_000);
    write(&repository, put(&audited, quarters(0, &[1.0, 2.0])), at(1)).await;
    write(&repository, put(&audited, quarters(1, &[3.0])), at(2)).await;
    let stood = |seconds| Source { quotation: None, as_of: Some(at(seconds)) };
    assert_eq!(read(&repository, &audited, stood(1)).await.values, [1.0, 2.0]);
    assert_eq!(read(&repository, &audited, stood(2)).await.values, [1.0, 3.0]);
    let written = (at(0), at(9));
    let modifications =
        repository.modifications(&audited, None, TimeRange::ALL, written).await.expect("kept");
    assert_eq!(
        modifications.iter().map(|one| (one.written, one.points)).collect::<Vec<_>>(),
        [(at(1), 2), (at(2), 1)]
    );
    let refused = repository.modifications(&plain, None, TimeRange::ALL, written).await;
    assert_eq!(refusal(refused), "series plain: it is not audited: when values changed is not stored");
    let refused = repository.read_stored(&plain, stood(1), TimeRange::ALL, 1, &mut Points::default()).await;
    assert_eq!(refusal(refused), "series plain: it is not audited: how it was earlier is not stored");
}

#[tokio::test]
async fn points_past_their_retention_go() {
    let store = memory();
    let all = repositories(&store);
    let repository = all.get_or_create("grid", NOW).await.expect("made");
    let kept = |name: &str, quotation| DefinitionDraft {
        retention: Duration::parse("PT1H"),
        switches: crate::Switches { quotation, ..Default::default() },
        ..draft(name)
    };
    let series = define(&repository, kept("s", false)).await;
    let quoted = define(&repository, kept("q", true)).await;
    let forever = define(&repository, draft("forever")).await;
    for one in [&series, &forever] {
        write(&repository, put(one, quarters(0, &[0.0, 1.0, 2.0, 3.0, 4.0])), NOW).await;
    }
    for (issued, first) in [(1, 0), (2, 5)] {
        let write_one = SeriesWrite { quotation: Some(issued), ..put(&quoted, quarters(first, &[1.0])) };
        write(&repository, write_one, NOW).await;
    }
    let at = |minutes: i64| Timestamp(NOW.0 + minutes * 60_000_000);
    assert_eq!(all.trim_expired(at(60)).await.expect("trimmed"), 0);
    assert_eq!(all.trim_expired(at(90)).await.expect("trimmed"), 2);
    assert_eq!(all.trim_expired(at(90)).await.expect("trimmed"), 0);
    assert_eq!(read(&repository, &series, Source::default()).await.values, [2.0, 3.0, 4.0]);
    assert_eq!(read(&repository, &forever, Source::default()).await.len(), 5);
    assert_eq!(repository.quotations(&quoted, None, 9).await.expect("listed"), [2]);
    assert_eq!(ABSENT & crate::Flag::Valid.number(), 0);
}

#[tokio::test]
async fn old_blocks_of_series_with_compression_are_recompressed() {
    let all = repositories(&memory());
    let repository = all.get_or_create("grid", NOW).await.expect("made");
    let kept = |name: &str, compression, quotation| DefinitionDraft {
        switches: crate::Switches { compression, quotation, ..Default::default() },
        ..draft(name)
    };
    let packed = define(&repository, kept("packed", true, false)).await;
    let quoted = define(&repository, kept("quoted", true, true)).await;
    let raw = define(&repository, kept("raw", false, false)).await;
    let values: Vec<f64> =
        (0..2_000_u32).map(|at| f64::from(at % 7 + if at % 50 == 0 { 9_000 } else { 0 })).collect();
    for one in [&packed, &raw] {
        write(&repository, put(one, quarters(0, &values)), NOW).await;
    }
    for issued in [1, 2] {
        let write_one = SeriesWrite { quotation: Some(issued), ..put(&quoted, quarters(0, &values)) };
        write(&repository, write_one, NOW).await;
    }
    let day = std::time::Duration::from_secs(86_400);
    let later = |days: i64| Timestamp(NOW.0 + days * 86_400_000_000);
    assert_eq!(all.recompress(later(30), day * 60).await.expect("recompressed"), 0);
    assert_eq!(all.recompress(later(120), day * 60).await.expect("recompressed"), 3);
    assert_eq!(all.recompress(later(120), day * 60).await.expect("recompressed"), 0);
    assert_eq!(read(&repository, &packed, Source::default()).await.values, values);
}

#[tokio::test]
async fn nothing_is_stored_if_one_series_is_beyond_a_limit() {
    let repository = repository().await;
    let good = define(&repository, draft("good")).await;
    let spontaneous = DefinitionDraft::new("large", crate::Alignment::Spontaneous, None);
    let large = define(&repository, spontaneous).await;
    // Points may be as many as they like, but none may be larger than a row.
    let mut many = Points::default();
    many.push(START, 1.0, 3);
    let place = many.notes.place_of(&vec![7; store::ROW_BYTES_MAX + 1].into());
    many.notes.places.push(place);
    let writes = vec![put(&good, quarters(0, &[1.0])), put(&large, many)];
    let Err(Error::Refused(refusals)) = repository.write_all(writes, NOW).await else { panic!("refused") };
    let told: Vec<_> = refusals.iter().map(|one| (one.place, &*one.series, one.kind)).collect();
    assert_eq!(told, [(1, "large", crate::RefusalKind::Limit)]);
    assert!(refusals.iter().all(|one| one.reason.contains("ROW_BYTES_MAX")), "{refusals:?}");
    assert!(read(&repository, &good, Source::default()).await.is_empty());
}

#[tokio::test]
async fn formulas_refer_by_id_and_follow_the_name() {
    let repository = repository().await;
    let meter = define(&repository, draft("meter")).await;
    let by_id =
        define(&repository, computed("by id", &format!("[{0}] + [{0}, 1] + [meter]", meter.number))).await;
    assert_eq!(&*by_id.formula.as_ref().unwrap().text, "[meter] + [meter, 1] + [meter]");
    assert_eq!(repository.users(meter.number).await.unwrap().len(), 1);
    // Of a name that looks like an ID, the ID is meant if there is one.
    let digits = define(&repository, draft(&meter.number.to_string())).await;
    let again = define(&repository, computed("again", &format!("[{}]", meter.number))).await;
    assert_eq!(&*again.formula.as_ref().unwrap().text, "[meter]");
    assert!(repository.users(digits.number).await.unwrap().is_empty());
    let unknown = repository.define(vec![computed("unknown", "[4000000001]")], NOW).await.unwrap_err();
    assert!(unknown.to_string().contains("4000000001"), "{unknown}");
    let change =
        DefinitionChange { formula: Some(Some(format!("[{}]", digits.number).into())), ..Default::default() };
    let changed = repository.change(SeriesRef::Id(again.number), change, NOW).await.unwrap();
    assert_eq!(&*changed.formula.as_ref().unwrap().text, &format!("[{}]", digits.name));
}
