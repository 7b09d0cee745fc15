//! What is written comes back; what nobody wrote is refused, and never panics.

use proptest::prelude::*;

use super::*;

fn varint(bytes: &[u8]) -> Result<u64, Malformed> {
    let mut reader = Reader::new(bytes);
    let number = reader.varint()?;
    reader.end()?;
    Ok(number)
}

#[test]
fn a_varint_is_spelled_as_leb128() {
    for (number, spelled) in [
        (0, &[0][..]),
        (127, &[0x7f]),
        (128, &[0x80, 0x01]),
        (300, &[0xac, 0x02]),
        (u64::MAX, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]),
    ] {
        let mut out = Vec::new();
        put_varint(&mut out, number);
        assert_eq!((out.as_slice(), varint(&out)), (spelled, Ok(number)));
    }
}

#[test]
fn a_varint_that_is_cut_endless_or_beyond_64_bits_is_malformed() {
    let mut past_64_bits = [0xff; 10];
    for last in 0x02..=0xff {
        past_64_bits[9] = last;
        assert_eq!(varint(&past_64_bits), Err(Malformed), "a tenth byte of {last:#x}");
    }
    for bytes in [&[][..], &[0x80], &[0x80, 0x80], &[0xff; 12], &[0x80; 11]] {
        assert_eq!(varint(bytes), Err(Malformed), "{bytes:x?}");
    }
}

#[test]
fn lengths_and_counts_are_bounded() {
    assert_eq!(Reader::new(&[5]).length(4), Err(Malformed));
    assert_eq!(Reader::new(&[4]).length(4), Ok(4));
    assert_eq!(Reader::new(&[3, 0, 0]).count(), Err(Malformed));
    assert_eq!(Reader::new(&[2, 0, 0]).count(), Ok(2));
    assert_eq!(Reader::new(&[3, b'a', b'b']).bytes(), Err(Malformed));
    assert_eq!(Reader::new(&[1, 0xff]).text(), Err(Malformed));
    assert_eq!(Reader::new(&[0xff, 0xff, 0xff, 0xff, 0x10]).varint_u32(), Err(Malformed));
    assert_eq!(Reader::new(&[0xff, 0xff, 0xff, 0xff, 0x0f]).varint_u32(), Ok(u32::MAX));
}

/// Numbers of every length alike.
fn numbers() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0_u32..64).prop_map(|(number, shift)| number >> shift)
}

proptest! {
    #[test]
    fn parts_come_back(
        unsigned in numbers(), signed: i64, float: f64, text: String, bytes: Vec<u8>, tail: [u8; 3],
    ) {
        let mut out = Vec::new();
        put_varint(&mut out, unsigned);
        put_zigzag(&mut out, signed);
        put_i64(&mut out, signed);
        put_f64(&mut out, float);
        put_text(&mut out, &text);
        put_bytes(&mut out, &bytes);
        out.extend_from_slice(&tail);
        let mut reader = Reader::new(&out);
        prop_assert_eq!(reader.varint(), Ok(unsigned));
        prop_assert_eq!(reader.zigzag(), Ok(signed));
        prop_assert_eq!(reader.i64(), Ok(signed));
        prop_assert_eq!(reader.f64().unwrap().to_bits(), float.to_bits());
        prop_assert_eq!(reader.text(), Ok(text.as_str()));
        prop_assert_eq!(reader.bytes(), Ok(bytes.as_slice()));
        prop_assert_eq!((reader.array(), reader.rest()), (Ok(tail), &[][..]));
    }

    /// Whatever is read of a number is all that its bytes say: no bit is lost.
    #[test]
    fn a_varint_is_refused_or_whole(bytes in prop::collection::vec(any::<u8>(), 0..12)) {
        let mut reader = Reader::new(&bytes);
        if let Ok(number) = reader.varint() {
            let spelled = &bytes[..bytes.len() - reader.rest().len()];
            let whole = spelled.iter().rev().fold(0_u128, |number, byte| number << 7 | u128::from(byte & 0x7f));
            prop_assert_eq!(u128::from(number), whole);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
        let reader = Reader::new(&bytes);
        for read in [
            |mut reader: Reader<'_>| reader.varint().is_ok(),
            |mut reader: Reader<'_>| reader.zigzag().is_ok(),
            |mut reader: Reader<'_>| reader.count().is_ok(),
            |mut reader: Reader<'_>| reader.text().is_ok(),
            |mut reader: Reader<'_>| reader.f64().is_ok(),
            |mut reader: Reader<'_>| reader.take(3).is_ok(),
            |mut reader: Reader<'_>| reader.array::<16>().is_ok(),
        ] {
            read(reader);
        }
    }
}
