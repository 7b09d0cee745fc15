use bytes::Bytes;
use proptest::prelude::*;
use store::{Cursor, Model, Partition, Tenant, WriteId};

use super::*;
use crate::keys::SERIES;
use strands::Points;

fn change(model: Model, format: u8, payload: Bytes) -> Change {
    let partition = Partition { tenant: Tenant::default(), space: SERIES, bucket: 0 };
    let record = ChangeRecord::new(model, format, KIND_POINTS, payload);
    Change { cursor: Cursor::default(), number: 1, partition, write_id: WriteId(1), record }
}

#[test]
fn records_of_edits_are_read_back() {
    let points = Points { times: vec![5, 9], values: vec![1.0, 2.0], flags: vec![3, 3], ..Points::default() };
    let range = TimeRange { from: -1, to: 20 };
    let edits = [Edit::Put(points.clone()), Edit::Delete(range), Edit::Replace(range, points)];
    let payload: Vec<u8> = edits.iter().flat_map(|edit| edit_record(7, &Layout::Spontaneous, edit)).collect();
    let told: Vec<SeriesChange> = change_records(&change(MODEL, FORMAT, payload.clone().into())).collect();
    let of = |range, points| PointsChange { series: 7, range, points };
    let expected = [
        SeriesChange::Put(of(TimeRange { from: 5, to: 10 }, 2)),
        SeriesChange::Deleted(of(range, 0)),
        SeriesChange::Replaced(of(range, 2)),
    ];
    assert_eq!(told, expected);
    assert!(edit_record(7, &Layout::Spontaneous, &Edit::Put(Points::default())).is_empty());
    let other = Model { id: 1, ..MODEL };
    assert_eq!(change_records(&change(other, FORMAT, payload.clone().into())).count(), 0);
    assert_eq!(change_records(&change(MODEL, FORMAT + 1, payload.into())).count(), 0);
}

proptest! {
    #[test]
    fn any_payload_is_read_without_panic(payload in prop::collection::vec(any::<u8>(), 0..200)) {
        let records = change_records(&change(MODEL, FORMAT, payload.into())).count();
        prop_assert!(records <= 200);
    }
}
