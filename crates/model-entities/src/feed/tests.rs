//! What is told comes back; other bytes never panic.

use proptest::prelude::*;

use super::*;

fn terms() -> impl Strategy<Value = Vec<TermId>> {
    prop::collection::vec(any::<u32>().prop_map(TermId), 0..6)
}

proptest! {
    #[test]
    fn records_come_back(records in prop::collection::vec((0..3_usize, "\\PC{0,9}", terms(), terms()), 0..4)) {
        let fates = [Fate::Created, Fate::Updated, Fate::Deleted];
        let mut payload = Vec::new();
        for (fate, id, types, touched) in &records {
            put_record(&mut payload, fates[*fate], id, types, touched);
        }
        let expected: Vec<_> = records
            .iter()
            .map(|(fate, id, types, touched)| ChangeRecord {
                fate: fates[*fate],
                id,
                types: types[..].into(),
                touched: touched[..].into(),
            })
            .collect();
        prop_assert_eq!(change_records(&payload).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn other_bytes_end_the_records(bytes in prop::collection::vec(0..8_u8, 0..60)) {
        prop_assert!(change_records(&bytes).count() <= bytes.len());
    }
}

#[test]
fn what_changed_nothing_is_not_told() {
    let mut payload = Vec::new();
    put_record(&mut payload, Fate::Unchanged, "urn:x:1", &[], &[]);
    assert!(payload.is_empty());
}
