//! Stores of each format that must open, as bytes: a change of the format that does not open them is found here, and needs a
//! format of its own.

use rocksdb::{ColumnFamilyDescriptor, DB, Options};

use super::*;
use crate::{Stamp, TenantName, Tenants};

/// Makes a store of these rows, by family, key and value, without any code of this crate.
fn write(folder: &Path, format: &str, rows: &[(&str, &[u8], &[u8])]) {
    let mut options = Options::default();
    options.create_if_missing(true);
    options.create_missing_column_families(true);
    let families =
        ["default", "feed", "meta"].map(|name| ColumnFamilyDescriptor::new(name, Options::default()));
    let db = DB::open_cf_descriptors(&options, folder.join("rocksdb"), families).unwrap();
    for (family, key, value) in rows {
        db.put_cf(db.cf_handle(family).unwrap(), key, value).unwrap();
    }
    fs::write(folder.join("FORMAT"), format).unwrap();
}

#[tokio::test]
async fn a_store_of_format_6_opens() {
    let folder = tempfile::tempdir().unwrap();
    let write_id = |n: u8| [&[0; 15][..], &[n]].concat();
    let change = |n: u8| [&write_id(n)[..], b"\0\0\0\x07\xc8\0\0\0\x01", b"\xc8\x01\x02change"].concat();
    let stamped = [b"\x01\0\0\0\0\0\0\0\x01", &write_id(1)[..], b"value"].concat();
    let tenant =
        [b"\x01\0\0\0\0\0\0\0\0", &write_id(9)[..], b"\x01\0\0\0\x07", &[0; 8], b"\xc8\0\x04kept"].concat();
    let rows: [(&str, &[u8], &[u8]); 12] = [
        ("default", b"\0\x03\0\0\0\0dErde", &tenant),
        ("default", b"\x07\xc8\0\0\0\x01a", &stamped),
        ("default", b"\x07\xc8\0\0\0\x01b", b"\0plain"),
        ("default", b"\x07\xc8\0\0\0\x01c", b""),
        ("feed", b"\0\0\0\0\0\0\0\x01", &change(1)),
        ("feed", b"\0\0\0\0\0\0\0\x02", &change(2)),
        ("meta", b"d\xc8", b"tests"),
        ("meta", b"f", b"\0\0\0\0\0\0\0\x01"),
        ("meta", b"i", b"\0\0\0\0\0\0\0\x07\0"),
        ("meta", b"s\x03", b"\0tenants"),
        ("meta", b"s\xc8", b"\0things"),
        ("meta", b"s\xca", b"\x01blocks"),
    ];
    write(folder.path(), "twinfold store\nformat 6\ncreated by 0.1.0\n", &rows);
    let store = Store::open(folder.path(), options(Clock::System)).unwrap();
    let tenants = Tenants::new(store.clone());
    let tenant = tenants.get(&TenantName::new("Erde").unwrap()).await.unwrap().unwrap();
    let kept = tenants.info(&tenant).await.unwrap().stored(testing::TESTS).cloned();
    assert_eq!((tenant.number(), kept), (7, Some(Bytes::from_static(b"kept"))));
    let partition = Partition { tenant, ..testing::things(1) };
    let keys = ["a", "b", "c"].map(|key| Bytes::copy_from_slice(key.as_bytes()));
    let rows = store.get_many(&partition, &keys).await.unwrap();
    let rows: Vec<_> =
        rows.into_iter().flatten().map(|row| (row.stamp.to_string(), row.write_id, row.value)).collect();
    let plain = Stamp::default().to_string();
    let expected = [
        ("0000000000000007-1".to_owned(), WriteId(1), Bytes::from_static(b"value")),
        (plain.clone(), WriteId(0), Bytes::from_static(b"plain")),
        (plain, WriteId(0), Bytes::new()),
    ];
    assert_eq!(rows, expected);
    let changes = store.feed(0, Cursor::default(), 9).await.unwrap().changes;
    assert_eq!(changes.iter().map(|change| change.number).collect::<Vec<_>>(), [1, 2]);
    assert!(
        changes
            .iter()
            .all(|change| change.partition == partition && change.record == testing::record("change"))
    );
    let stamp = store.commit(testing::commit(3, vec![], vec![])).await.unwrap();
    assert_eq!(stamp.to_string(), "0000000000000007-3", "numbers go on");
}
