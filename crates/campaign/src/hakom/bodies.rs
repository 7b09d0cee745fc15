//! The bodies of writes in the two JSON forms, built by joining pieces: a generator that formats measures itself.

use super::series::{Data, Series, TIME_BYTES};
use super::tally::Flag;

/// `{"From":"2026-01-01T00:00:00Z","Value":`
const ROW_BYTES: usize = TIME_BYTES + 19;

/// What is the same in all bodies of a job.
#[derive(Debug, Clone)]
pub struct Pieces {
    /// The places that are written, in order.
    pub picked: Vec<usize>,
    rows: Vec<[u8; ROW_BYTES]>,
}

impl Pieces {
    /// The pieces for the places `picked`. Cost: one raster.
    pub fn new(data: &Data, picked: Vec<usize>) -> Self {
        let row = |place: &usize| {
            let mut row = *b"{\"From\":\"0000-00-00T00:00:00Z\",\"Value\":";
            if let Some(to) = row.get_mut(9..9 + TIME_BYTES) {
                to.copy_from_slice(&data.time_text(*place));
            }
            row
        };
        let rows = picked.iter().map(row).collect();
        Self { picked, rows }
    }
}

/// Appends series `index` in the rows form, as `{"Name":"…","Data":[…]}`. Cost: some 10 ns a point.
pub fn rows(out: &mut Vec<u8>, data: &Data, pieces: &Pieces, (index, version): (usize, u32)) {
    out.reserve(64 + pieces.rows.len() * (ROW_BYTES + 24));
    out.extend_from_slice(b"{\"Name\":\"");
    data.name(index, out);
    out.extend_from_slice(b"\",\"Data\":[");
    let series = data.one(index);
    for (place, row) in pieces.picked.iter().zip(&pieces.rows) {
        out.extend_from_slice(row);
        let (milli, flag) = series.point(*place, version);
        match milli {
            Some(milli) => decimal(out, milli),
            None => out.extend_from_slice(b"null"),
        }
        out.extend_from_slice(match flag {
            Flag::Valid => b",\"Flag\":\"Valid\"},",
            Flag::Estimated => b",\"Flag\":\"Estimated\"},",
            Flag::Missing => b",\"Flag\":\"Missing\"},",
        });
    }
    close(out);
    out.push(b'}');
}

/// Appends series `index` whole in the compact form, as `{"Name":"…","Start":"…","Values":[…],"Flags":[…]}`; the
/// flags are left out where all are valid.
pub fn compact(out: &mut Vec<u8>, data: &Data, (index, version): (usize, u32)) {
    out.reserve(128 + data.values * 8);
    out.extend_from_slice(b"{\"Name\":\"");
    data.name(index, out);
    out.extend_from_slice(b"\",\"Start\":\"");
    out.extend_from_slice(&data.time_text(0));
    out.extend_from_slice(b"\",\"Values\":[");
    let series = data.one(index);
    for place in 0..data.values {
        match series.point(place, version).0 {
            Some(milli) => decimal(out, milli),
            None => out.extend_from_slice(b"null"),
        }
        out.push(b',');
    }
    close(out);
    if !series.is_valid(version) {
        flags(out, data, &series, version);
    }
    out.push(b'}');
}

fn flags(out: &mut Vec<u8>, data: &Data, series: &Series<'_>, version: u32) {
    out.extend_from_slice(b",\"Flags\":[");
    for place in 0..data.values {
        out.push(b'"');
        out.extend_from_slice(series.point(place, version).1.name().as_bytes());
        out.extend_from_slice(b"\",");
    }
    close(out);
}

/// The last comma becomes the end of the array.
fn close(out: &mut Vec<u8>) {
    match out.last_mut() {
        Some(last) if *last == b',' => *last = b']',
        _ => out.push(b']'),
    }
}

/// Appends thousandths from 0 to 99,999 as a decimal number with three places.
#[inline]
pub fn decimal(out: &mut Vec<u8>, milli: i32) {
    let milli = milli.cast_unsigned();
    let (whole, part) = (milli / 1_000, milli % 1_000);
    let digits = [digit(part / 100), digit(part / 10 % 10), digit(part % 10)];
    let [a, b, c] = digits;
    if whole >= 10 {
        out.extend_from_slice(&[digit(whole / 10), digit(whole % 10), b'.', a, b, c]);
    } else {
        out.extend_from_slice(&[digit(whole), b'.', a, b, c]);
    }
}

#[inline]
fn digit(value: u32) -> u8 {
    #[expect(clippy::cast_possible_truncation, reason = "a digit")]
    let digit = value as u8;
    b'0' + digit
}

#[cfg(test)]
mod tests {
    use serde_json::Value as Json;

    use super::super::series::tests::data;
    use super::*;

    fn flagged(data: &Data) -> usize {
        (0..data.series).find(|index| !data.one(*index).missing_is_empty()).unwrap()
    }

    #[test]
    fn both_forms_say_the_points_of_the_series() {
        let data = data(960, 400);
        let pieces = Pieces::new(&data, (0..960).collect());
        for index in [0, flagged(&data)] {
            let (mut one, mut two) = (Vec::new(), Vec::new());
            rows(&mut one, &data, &pieces, (index, 0));
            compact(&mut two, &data, (index, 0));
            let (one, two): (Json, Json) =
                (serde_json::from_slice(&one).unwrap(), serde_json::from_slice(&two).unwrap());
            assert_eq!(one["Name"], data.name_text(index));
            let rows = one["Data"].as_array().unwrap();
            let values = two["Values"].as_array().unwrap();
            assert_eq!((rows.len(), values.len()), (960, 960));
            assert_eq!(two["Start"], "2026-01-01T00:00:00Z");
            for (place, (row, value)) in rows.iter().zip(values).enumerate() {
                let (milli, flag) = data.one(index).point(place, 0);
                let expected = milli.map(|milli| f64::from(milli) / 1_000.0);
                assert_eq!(row["Value"].as_f64(), expected);
                assert_eq!(value.as_f64(), expected);
                assert_eq!(row["Flag"], flag.name());
                assert_eq!(row["From"].as_str().unwrap().as_bytes(), data.time_text(place));
                if let Some(flags) = two.get("Flags") {
                    assert_eq!(flags[place], flag.name());
                }
            }
        }
    }

    #[test]
    fn decimals_have_three_places() {
        for (milli, text) in [(0, "0.000"), (1_005, "1.005"), (12_340, "12.340"), (99_999, "99.999")] {
            let mut out = Vec::new();
            decimal(&mut out, milli);
            assert_eq!(out, text.as_bytes());
        }
    }
}
