//! The Arrow form: bodies of writes as IPC streams, and answers read batch by batch as they arrive.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::types::{
    ArrowDictionaryKeyType, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Float64Array, Int8Array, PrimitiveArray, RecordBatch, StringArray,
    TimestampSecondArray, UInt8Array, UInt16Array,
};
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, TimeUnit};

use super::series::Data;
use super::tally::{Flag, Tally};

/// Series of one batch of a body.
const BATCH_SERIES: usize = 10;

/// Appends an IPC stream of the places `picked` of the series `range` in `version`: columns series (dictionary),
/// time (seconds, UTC), value, flag (number). Cost: some 5 ns a point.
///
/// # Errors
///
/// If the columns do not fit together, which a test excludes.
pub fn stream(
    out: &mut Vec<u8>,
    data: &Data,
    picked: &[usize],
    range: std::ops::Range<usize>,
    version: u32,
) -> Result<(), ArrowError> {
    let names: ArrayRef =
        Arc::new(StringArray::from_iter_values(range.clone().map(|index| data.name_text(index))));
    let series = DataType::Dictionary(Box::new(DataType::UInt16), Box::new(DataType::Utf8));
    let time = DataType::Timestamp(TimeUnit::Second, Some("UTC".into()));
    let schema = Arc::new(Schema::new(vec![
        Field::new("series", series, false),
        Field::new("time", time, false),
        Field::new("value", DataType::Float64, true),
        Field::new("flag", DataType::UInt8, false),
    ]));
    out.reserve(range.len() * picked.len() * 20 + 4_096);
    let mut writer = StreamWriter::try_new(out, &schema)?;
    for start in range.clone().step_by(BATCH_SERIES) {
        let part = start..(start + BATCH_SERIES).min(range.end);
        let first = start - range.start;
        let columns = columns(data, picked, part, first, version, &names)?;
        writer.write(&RecordBatch::try_new(Arc::clone(&schema), columns)?)?;
    }
    writer.finish()
}

fn columns(
    data: &Data,
    picked: &[usize],
    part: std::ops::Range<usize>,
    first: usize,
    version: u32,
    names: &ArrayRef,
) -> Result<Vec<ArrayRef>, ArrowError> {
    let points = part.len() * picked.len();
    let mut keys = Vec::with_capacity(points);
    let mut times = Vec::with_capacity(points);
    let mut values = Vec::with_capacity(points);
    let mut flags = Vec::with_capacity(points);
    let mut holes = false;
    for (place, index) in part.enumerate() {
        let series = data.one(index);
        let key = u16::try_from(first + place)
            .map_err(|_| ArrowError::InvalidArgumentError("too many series in one body".to_owned()))?;
        keys.resize(keys.len() + picked.len(), key);
        for place in picked {
            let (milli, flag) = series.point(*place, version);
            times.push(data.time(*place));
            holes |= milli.is_none();
            values.push(milli.map_or(f64::NAN, |milli| f64::from(milli) / 1_000.0));
            flags.push(flag.number());
        }
    }
    // Values are numbers, so NaN can mean none meanwhile.
    let values = if holes {
        Float64Array::from_iter(values.into_iter().map(|value| (!value.is_nan()).then_some(value)))
    } else {
        Float64Array::from(values)
    };
    let series = DictionaryArray::<UInt16Type>::try_new(UInt16Array::from(keys), Arc::clone(names))?;
    Ok(vec![
        Arc::new(series),
        Arc::new(TimestampSecondArray::from(times).with_timezone("UTC")),
        Arc::new(values),
        Arc::new(UInt8Array::from(flags)),
    ])
}

/// An answer under way.
#[derive(Debug, Default)]
pub struct Reader {
    decoder: StreamDecoder,
    tallies: Vec<Tally>,
    /// The name of the series that the last rows belonged to.
    name: String,
    codes: HashMap<String, u64>,
    fault: Option<String>,
}

impl Reader {
    /// Takes the next part. Cost: two copies of it, and some 5 ns a point.
    pub fn part(&mut self, bytes: &[u8]) {
        if self.fault.is_some() {
            return;
        }
        let mut buffer = Buffer::from(bytes);
        while !buffer.is_empty() {
            let batch = match self.decoder.decode(&mut buffer) {
                Ok(Some(batch)) => batch,
                Ok(None) => return,
                Err(error) => {
                    self.fault = Some(error.to_string());
                    return;
                }
            };
            if let Err(fault) = self.batch(&batch) {
                self.fault = Some(fault);
                return;
            }
        }
    }

    /// The tallies of all series, in the order of the answer.
    ///
    /// # Errors
    ///
    /// In words, if the answer was no such stream or is not whole.
    pub fn finish(mut self) -> Result<Vec<Tally>, String> {
        match self.fault.take() {
            Some(fault) => Err(fault),
            None => self.decoder.finish().map(|()| self.tallies).map_err(|error| error.to_string()),
        }
    }

    fn batch(&mut self, batch: &RecordBatch) -> Result<(), String> {
        let column = |name: &str| batch.column_by_name(name).ok_or_else(|| format!("no column {name}"));
        let times = Times::of(column("time")?)?;
        let values = column("value")?;
        let values = values.as_any().downcast_ref::<Float64Array>().ok_or("value is no float64")?;
        let flags = match batch.column_by_name("flag") {
            Some(flags) => self.codes_of(flags)?,
            None => Codes::Valid,
        };
        for (name, rows) in runs(column("series")?)? {
            if self.name != name || self.tallies.is_empty() {
                self.name.clear();
                self.name.push_str(&name);
                self.tallies.push(Tally::of(name.as_bytes()));
            }
            let Some(tally) = self.tallies.last_mut() else { continue };
            for (place, row) in (tally.points + 1..).zip(rows.clone()) {
                let Some(second) = times.second(row) else { continue };
                tally.first = tally.first.or(Some(second));
                tally.last = Some(second);
                tally.moments = tally.moments.wrapping_add(second.wrapping_mul(place.cast_signed()));
            }
            add(tally, values, &flags, rows);
        }
        Ok(())
    }

    fn codes_of<'a>(&mut self, flags: &'a ArrayRef) -> Result<Codes<'a>, String> {
        if let Some(numbers) = flags.as_any().downcast_ref::<UInt8Array>() {
            return Ok(Codes::Numbers(numbers));
        }
        if let Some(numbers) = flags.as_any().downcast_ref::<Int8Array>() {
            let codes = numbers.iter().map(|number| {
                number.map_or(0, |number| Flag::code_of_number(u8::try_from(number).unwrap_or(u8::MAX)))
            });
            return Ok(Codes::Each(codes.collect()));
        }
        let mut codes = Vec::with_capacity(flags.len());
        for (name, rows) in runs(flags)? {
            let code = *self.codes.entry(name).or_insert_with_key(|name| Flag::code_of(name.as_bytes()));
            codes.resize(codes.len() + rows.len(), code);
        }
        Ok(Codes::Each(codes))
    }
}

fn add(tally: &mut Tally, values: &Float64Array, flags: &Codes<'_>, rows: std::ops::Range<usize>) {
    let before = tally.points;
    if values.null_count() == 0 {
        for value in values.values().get(rows.clone()).expect("rows of the batch") {
            tally.add_float(*value);
        }
    } else {
        for row in rows.clone() {
            if values.is_null(row) { tally.add(None) } else { tally.add_float(values.value(row)) }
        }
    }
    for (place, row) in (before + 1..).zip(rows) {
        let code = flags.at(row);
        if code > 0 {
            tally.flag(place, code);
        }
    }
}

/// The codes of a column of flags.
enum Codes<'a> {
    Valid,
    Numbers(&'a UInt8Array),
    Each(Vec<u64>),
}

impl Codes<'_> {
    #[inline]
    fn at(&self, row: usize) -> u64 {
        match self {
            Self::Valid => 0,
            Self::Numbers(numbers) if numbers.is_null(row) => 0,
            Self::Numbers(numbers) => Flag::code_of_number(numbers.value(row)),
            Self::Each(codes) => *codes.get(row).expect("a row of the batch"),
        }
    }
}

/// The runs of equal texts of a column, plain or by dictionary; no text is an empty one.
fn runs(column: &ArrayRef) -> Result<Vec<(String, std::ops::Range<usize>)>, String> {
    if let Some(texts) = column.as_any().downcast_ref::<StringArray>() {
        let runs = runs_by(texts.len(), |row| text(texts, row));
        return Ok(runs.map(|(name, rows)| (name.to_owned(), rows)).collect());
    }
    match column.data_type() {
        DataType::Dictionary(key, _) => match **key {
            DataType::Int8 => runs_of::<Int8Type>(column),
            DataType::Int16 => runs_of::<Int16Type>(column),
            DataType::Int32 => runs_of::<Int32Type>(column),
            DataType::Int64 => runs_of::<Int64Type>(column),
            DataType::UInt8 => runs_of::<UInt8Type>(column),
            DataType::UInt16 => runs_of::<UInt16Type>(column),
            DataType::UInt32 => runs_of::<UInt32Type>(column),
            DataType::UInt64 => runs_of::<UInt64Type>(column),
            _ => Err("a dictionary with strange keys".to_owned()),
        },
        other => Err(format!("a column of {other} where texts must be")),
    }
}

fn runs_of<K: ArrowDictionaryKeyType>(
    column: &ArrayRef,
) -> Result<Vec<(String, std::ops::Range<usize>)>, String> {
    let array = column.as_any().downcast_ref::<DictionaryArray<K>>().ok_or("no dictionary")?;
    let texts = array.values().as_any().downcast_ref::<StringArray>().ok_or("a dictionary without texts")?;
    let runs = runs_by(array.len(), |row| array.key(row));
    Ok(runs.map(|(key, rows)| (key.map_or("", |key| text(texts, key)).to_owned(), rows)).collect())
}

fn text(texts: &StringArray, row: usize) -> &str {
    if row < texts.len() && texts.is_valid(row) { texts.value(row) } else { "" }
}

fn runs_by<T: PartialEq>(
    rows: usize,
    at: impl Fn(usize) -> T,
) -> impl Iterator<Item = (T, std::ops::Range<usize>)> {
    let mut start = 0;
    std::iter::from_fn(move || {
        if start >= rows {
            return None;
        }
        let value = at(start);
        let end = (start + 1..rows).find(|row| at(*row) != value).unwrap_or(rows);
        let run = start..end;
        start = end;
        Some((value, run))
    })
}

/// A column of times in any unit.
enum Times<'a> {
    Seconds(&'a PrimitiveArray<TimestampSecondType>),
    Milliseconds(&'a PrimitiveArray<TimestampMillisecondType>),
    Microseconds(&'a PrimitiveArray<TimestampMicrosecondType>),
    Nanoseconds(&'a PrimitiveArray<TimestampNanosecondType>),
}

impl<'a> Times<'a> {
    fn of(column: &'a ArrayRef) -> Result<Self, String> {
        let any = column.as_any();
        any.downcast_ref()
            .map(Self::Nanoseconds)
            .or_else(|| any.downcast_ref().map(Self::Microseconds))
            .or_else(|| any.downcast_ref().map(Self::Milliseconds))
            .or_else(|| any.downcast_ref().map(Self::Seconds))
            .ok_or_else(|| format!("time is a column of {}", column.data_type()))
    }

    fn second(&self, row: usize) -> Option<i64> {
        match self {
            Self::Seconds(times) => times.values().get(row).copied(),
            Self::Milliseconds(times) => times.values().get(row).map(|time| time.div_euclid(1_000)),
            Self::Microseconds(times) => times.values().get(row).map(|time| time.div_euclid(1_000_000)),
            Self::Nanoseconds(times) => times.values().get(row).map(|time| time.div_euclid(1_000_000_000)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::series::Versions;
    use super::super::series::tests::data;
    use super::*;

    fn read(bytes: &[u8], part: usize) -> Result<Vec<Tally>, String> {
        let mut reader = Reader::default();
        for part in bytes.chunks(part) {
            reader.part(part);
        }
        reader.finish()
    }

    #[test]
    fn what_is_written_is_read_whatever_the_parts() {
        let data = data(192, 100);
        let mut body = Vec::new();
        let all: Vec<usize> = (0..192).collect();
        stream(&mut body, &data, &all, 20..95, 0).unwrap();
        let expected: Vec<Tally> = (20..95).map(|index| data.expected(index, &Versions::default())).collect();
        assert!(
            expected.iter().any(|tally| tally.missing > 0) && expected.iter().any(|tally| tally.flags > 0)
        );
        for part in [7, 1_000, 65_536, body.len()] {
            assert_eq!(read(&body, part).as_ref(), Ok(&expected), "parts of {part}");
        }
        assert!(read(&body[..body.len() / 2], 1_000).is_err(), "half an answer is none");
        assert!(read(b"{\"TimeSeries\":[]}", 1_000).is_err());
    }

    #[test]
    fn plain_texts_and_other_units_are_read_too() {
        let times = PrimitiveArray::<TimestampNanosecondType>::from(vec![0, 1_500_000_000, 2_000_000_000]);
        let columns: [(&str, ArrayRef); 4] = [
            ("series", Arc::new(StringArray::from(vec!["a", "a", "b"]))),
            ("time", Arc::new(times)),
            ("value", Arc::new(Float64Array::from(vec![Some(1.5), None, Some(2.001)]))),
            ("flag", Arc::new(StringArray::from(vec![None, Some("Missing"), Some("Estimated")]))),
        ];
        let batch =
            RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true)));
        let batch = batch.unwrap();
        let mut body = Vec::new();
        let mut writer = StreamWriter::try_new(&mut body, &batch.schema()).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        let tallies = read(&body, 1_000).unwrap();
        assert_eq!(tallies.len(), 2);
        assert_eq!((tallies[0].points, tallies[0].missing, tallies[0].sum), (2, 1, 1_500));
        assert_eq!((tallies[0].first, tallies[0].last, tallies[0].flags), (Some(0), Some(1), 4));
        assert_eq!((tallies[1].sum, tallies[1].first, tallies[1].flags), (2_001, Some(2), 1));
    }
}
