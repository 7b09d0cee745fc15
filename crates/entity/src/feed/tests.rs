//! What is change comes back; other bytes never panic.

use proptest::prelude::*;
use store::{Model, Timestamp};

use super::*;
use crate::encode::encode_as;
use crate::testing::operations::draft;
use crate::testing::plain::PlainEntity;

fn terms() -> impl Strategy<Value = Vec<TermId>> {
    prop::collection::vec((10..14_u32).prop_map(TermId), 0..6)
}

fn state() -> impl Strategy<Value = Option<Vec<u8>>> {
    let stored = draft().prop_map(|draft| encode_as("urn:x:1", &draft, Timestamp(7), Timestamp(7)));
    prop::option::of(stored)
}

fn plain(view: &EntityView<'_>) -> PlainEntity {
    PlainEntity::read(view)
}

proptest! {
    #[test]
    fn records_come_back(
        records in prop::collection::vec((0..3_usize, "\\PC{0,9}", terms(), terms(), state(), state()), 0..4),
        with_states: bool,
    ) {
        let fates = [Fate::Created, Fate::Updated, Fate::Deleted];
        let mut change = Records::new(with_states, 7);
        for (fate, id, types, touched, before, after) in &records {
            let before = before.as_ref().map(|bytes| EntityView::parse(bytes).unwrap());
            let after = after.as_deref();
            change.put(&EntityOutcome { fate: fates[*fate], id, types, touched, before: before.as_ref(), after });
        }
        let said = change.into_record(1_000_000);
        let read: Vec<_> = change_records(&said).collect();
        prop_assert_eq!(read.len(), records.len());
        for ((fate, id, types, touched, before, after), read) in records.iter().zip(&read) {
            prop_assert_eq!((read.fate, read.id, read.moves), (fates[*fate], &**id, 7));
            prop_assert_eq!((&read.types[..], &read.touched[..]), (&types[..], &touched[..]));
            prop_assert_eq!(read.states.is_some(), with_states);
            let Some(states) = read.states else { continue };
            prop_assert_eq!(states.after.map(|view| view.bytes().to_vec()), after.clone());
            prop_assert_eq!(states.before.is_some(), before.is_some());
            let (Some(part), Some(before)) = (states.before, before) else { continue };
            let mut expected = plain(&EntityView::parse(before).unwrap());
            if read.fate != Fate::Deleted {
                expected.attributes.retain(|attribute| touched.contains(&TermId(attribute.name)));
            }
            prop_assert_eq!(plain(&part), expected);
        }
        let other = Model { name: "others", ..MODEL };
        let own = said.of(MODEL).unwrap();
        let foreign = ChangeRecord::new(other, own.format, own.kind, own.payload.clone());
        prop_assert_eq!(change_records(&foreign).count(), 0);
    }

    #[test]
    fn other_bytes_end_the_records(bytes in prop::collection::vec(0..8_u8, 0..60), kind in 0..4_u8) {
        let record = ChangeRecord::new(MODEL, FORMAT, kind, bytes.clone());
        prop_assert!(change_records(&record).count() <= bytes.len());
    }
}

#[test]
fn what_changed_nothing_is_not_told() {
    let mut records = Records::new(false, 0);
    let change = EntityOutcome {
        fate: Fate::Unchanged,
        id: "urn:x:1",
        types: &[],
        touched: &[],
        before: None,
        after: None,
    };
    records.put(&change);
    assert!(records.is_empty());
}

/// A write is never refused for what consumers would like to know.
#[test]
fn what_would_be_too_large_goes_without_states() {
    let draft = crate::testing::operations::draft_of(&format!("\"{}\"", "a".repeat(400_000)));
    let stored = encode_as("urn:x:1", &draft, Timestamp(7), Timestamp(7));
    let view = EntityView::parse(&stored).unwrap();
    let has_states = |count: usize, room: usize| {
        let mut records = Records::new(true, 0);
        for _ in 0..count {
            let (before, after) = (Some(&view), Some(&stored[..]));
            records.put(&EntityOutcome {
                fate: Fate::Updated,
                id: "urn:x:1",
                types: &[],
                touched: &[TermId(10)],
                before,
                after,
            });
        }
        let said = records.into_record(room);
        assert_eq!(change_records(&said).count(), count);
        change_records(&said).all(|change| change.states.is_some())
    };
    assert!(has_states(1, 900_000) && has_states(2, 2_000_000));
    assert!(!has_states(1, 700_000) && !has_states(20, usize::MAX));
}
