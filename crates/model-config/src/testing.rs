//! Doors for fuzzing, and for tests of what damage does: stored forms, which are private. Not part of the API.

use bytes::Bytes;
use lang_yang::Features;
use store::wire::Malformed;
use store::{Timestamp, Write};

use crate::changes::{Action, ConfigChange};
use crate::configs::{Configs, Pending};
use crate::rows::{
    AnchorRow, Counts, DataspaceRow, Mode, ModuleReference, SchemaSetRow, VersionRow, parse_removal,
    removal_to_bytes,
};
use crate::subscriptions::Subscriptions;
use crate::version::VersionId;
use crate::{Error, blobs, keys};

/// Reads a stored value of this kind (0 counts, 1 dataspace, 2 schema set, 3 anchor, 4 version, 5 removal, 6 subscriptions, 7 change
/// record, 8 the first piece of a blob, 9 key), and writes and reads again what was read.
///
/// # Panics
///
/// If what is written again is refused, or means something else.
pub fn read_stored(kind: u8, bytes: &[u8]) {
    let Ok(written) = printed_again(kind, bytes) else { return };
    assert_eq!(printed_again(kind, &written), Ok(written.clone()), "what is written is read");
}

fn printed_again(kind: u8, bytes: &[u8]) -> Result<Bytes, Malformed> {
    let shared = Bytes::copy_from_slice(bytes);
    match kind % 10 {
        0 => Counts::parse(bytes).map(Counts::to_bytes),
        1 => DataspaceRow::parse(bytes).map(DataspaceRow::to_bytes),
        2 => SchemaSetRow::parse(bytes).map(|row| row.to_bytes()),
        3 => AnchorRow::parse(bytes).map(|row| row.to_bytes()),
        4 => VersionRow::parse(&shared).map(|row| row.to_bytes()),
        5 => parse_removal(bytes).map(removal_to_bytes),
        6 => Subscriptions::parse(bytes).map(|subscriptions| subscriptions.to_bytes()),
        7 => change_again(bytes),
        8 => blobs::printed_again(bytes),
        _ => {
            read_key(bytes);
            Err(Malformed)
        }
    }
}

/// A change record, its kind before it.
fn change_again(bytes: &[u8]) -> Result<Bytes, Malformed> {
    let (kind, payload) = bytes.split_first().ok_or(Malformed)?;
    let change = ConfigChange::parse(*kind, &Bytes::copy_from_slice(payload))?;
    let record = change.to_record();
    let own = record.of(keys::MODEL).ok_or(Malformed)?;
    Ok([&[own.kind][..], own.payload].concat().into())
}

fn read_key(key: &[u8]) {
    keys::name_of_dataspace(key);
    keys::name_of_schema_set(key);
    keys::anchor_of_index(key);
    keys::version_of_key(key);
    keys::number_of_removal(key);
    keys::page_of_key(key);
    keys::blob_of_key(key);
    if let Some((dataspace, name)) = keys::names_of_anchor(key) {
        assert_eq!(keys::names_of_anchor(&keys::anchor(&dataspace, &name)), Some((dataspace, name)));
    }
}

/// Makes the subscriptions of a tenant what nobody can read.
///
/// # Errors
///
/// If the store refuses.
pub async fn damage_subscriptions(configs: &Configs) -> Result<(), Error> {
    let writes = vec![Write::PutStamped(keys::subscriptions(), Bytes::from_static(b"damaged"))];
    configs.commit(Pending { writes, ..Pending::default() }).await.map(|_| ())
}

/// A stored value of each kind that [`read_stored`] knows, its kind before it.
pub fn stored_examples() -> Vec<Vec<u8>> {
    let at = Timestamp(1_700_000_000_000_000);
    let reference =
        ModuleReference { name: "m".into(), namespace: "urn:m".into(), revision: "2026-01-01".into() };
    let schema_set = SchemaSetRow {
        mode: Mode::Strict,
        created: at,
        is_leaving: true,
        hash: 7,
        features: Features::Listed(vec![("m".into(), "f".into())]),
        files: vec![("m.yang".into(), 9)],
        modules: vec![reference],
    };
    let anchor = AnchorRow {
        number: 5,
        schema_set: "s".into(),
        mode: Mode::Lenient,
        hash: 7,
        created: at,
        head: 4,
        oldest: 2,
        oldest_until: Some(at),
        has_pages: true,
        is_untidy: false,
    };
    let page = |number: u32| config::PageId { version: 3, nonce: 8, number };
    let version = VersionRow {
        at,
        observed: Some(at),
        restored: Some(2),
        superseded: vec![page(1), page(2), page(9)],
        root: config::Root::empty().encode().into(),
    };
    let change = ConfigChange { number: 5, at, observed: Some(at), is_cut: true, ..change_of(&["/x"]) };
    let record = change.to_record();
    let own = record.of(keys::MODEL).expect("it is ours");
    let record = [&[own.kind][..], own.payload].concat();
    let forms: Vec<Bytes> = vec![
        Counts { buckets: 4, dataspaces: 2 }.to_bytes(),
        DataspaceRow { created: at, schema_sets: 1 }.to_bytes(),
        schema_set.to_bytes(),
        anchor.to_bytes(),
        version.to_bytes(),
        removal_to_bytes(true),
        Subscriptions::default().to_bytes(),
        record.into(),
        Bytes::from_static(&[1, 3, b'x']),
        keys::anchor("d", "a"),
    ];
    (0..).zip(forms).map(|(kind, form)| [&[kind], &form[..]].concat()).collect()
}

/// A change of anchor `a` of dataspace `d` that replaces what lies at these places.
#[must_use]
pub fn change_of(places: &[&str]) -> ConfigChange {
    ConfigChange {
        dataspace: "d".into(),
        anchor: "a".into(),
        schema_set: "s".into(),
        number: 1,
        before: VersionId(1),
        after: Some(VersionId(2)),
        at: Timestamp(1),
        observed: None,
        places: places.iter().map(|place| (Action::Replace, (*place).into())).collect(),
        is_cut: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_read() {
        for example in stored_examples() {
            let (kind, bytes) = example.split_first().expect("it has a kind");
            if *kind < 9 {
                assert_eq!(printed_again(*kind, bytes).as_deref(), Ok(bytes), "{kind}");
            }
            read_stored(*kind, bytes);
        }
    }
}
