//! One record batch on its way into the columns of its series.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{AnyDictionaryArray, Array, RecordBatch};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, TimeUnit};
use std::borrow::Cow;

use super::schema::Columns;
use crate::wire::gather::{Building, Gather, over_limit};
use crate::wire::number::shorten;
use crate::wire::{NO_VALUE, WireError, flags};

/// Appends the rows of a batch to their series. Cost: a copy for each run of rows of one series.
pub(super) fn take_batch(
    gather: &mut Gather,
    batch: &RecordBatch,
    columns: Columns,
) -> Result<(), WireError> {
    gather.count(batch.num_rows())?;
    let rows = Rows::new(batch, columns)?;
    let series = columns.series.and_then(|place| batch.columns().get(place));
    if let Some(series) = series {
        // Each batch walks its dictionary, however few its rows.
        gather.check_names(series.as_any_dictionary_opt().map_or(0, |names| names.values().len()))?;
    }
    match series {
        Some(series) if gather.is_addressed("").is_none() => {
            each_run(series.as_ref(), &mut |known, name, run| {
                let place = match *known {
                    Some(place) => place,
                    None => *known.insert(gather.place(Some(name))?),
                };
                let series = gather.series.get_mut(place).expect("the place of a known series");
                rows.append(series, run)
            })
        }
        _ if batch.num_rows() == 0 => Ok(()),
        named => {
            if let Some(named) = named {
                check_addressed(gather, named.as_ref())?;
            }
            let place = gather.place(None)?;
            let series = gather.series.get_mut(place).expect("the series of the address was just added");
            rows.append(series, 0..batch.num_rows())
        }
    }
}

/// The name, if it is of another series than the address names.
fn other_name<'n>(gather: &Gather, name: &'n str) -> Option<&'n str> {
    (gather.is_addressed(name) == Some(false)).then_some(name)
}

/// Refuses the first row that names another series than the address; empty cells and nulls name none.
fn check_addressed(gather: &Gather, named: &dyn Array) -> Result<(), WireError> {
    let found = match named.as_any_dictionary_opt() {
        None => text_rows(named)?.enumerate().find_map(|(row, name)| Some((row, other_name(gather, name?)?))),
        Some(dictionary) => {
            let names = texts(dictionary.values().as_ref())?;
            let others: Vec<Option<&str>> = names.iter().map(|name| other_name(gather, (*name)?)).collect();
            if others.iter().all(Option::is_none) {
                return Ok(());
            }
            let keys = dictionary.normalized_keys().into_iter().enumerate();
            let mut keys = keys.filter(|(row, _)| !named.is_null(*row));
            keys.find_map(|(row, key)| Some((row, (*others.get(key)?)?)))
        }
    };
    let Some((row, name)) = found else { return Ok(()) };
    let before = gather.series.first().map_or(0, |series| series.points.len());
    Err(Gather::refuse_other(name, before + row))
}

/// What is done with a run of rows of the named series; its place is kept with the dictionary's entry.
type EachRun<'a> = dyn FnMut(&mut Option<usize>, &str, Range<usize>) -> Result<(), WireError> + 'a;

fn no_name(row: usize) -> WireError {
    WireError::new(format!("row {row} of a batch has no series"))
}

/// Calls `each` for every run of equal names.
fn each_run(series: &dyn Array, each: &mut EachRun<'_>) -> Result<(), WireError> {
    if let Some(nulls) = series.logical_nulls().filter(|nulls| nulls.null_count() > 0) {
        return Err(no_name(nulls.iter().position(|valid| !valid).expect("nulls were counted")));
    }
    let Some(dictionary) = series.as_any_dictionary_opt() else {
        return each_text_run(series, each);
    };
    let names = texts(dictionary.values().as_ref())?;
    let mut places = vec![None; names.len()];
    let keys = dictionary.keys();
    let mut named = |key: Option<usize>, run: Range<usize>| {
        let entry = key.and_then(|key| Some((places.get_mut(key)?, (*names.get(key)?)?)));
        let (place, name) = entry.ok_or_else(|| no_name(run.start))?;
        each(place, name, run)
    };
    match keys.data_type() {
        DataType::Int8 => each_key_run(keys.as_primitive::<Int8Type>().values(), &mut named),
        DataType::Int16 => each_key_run(keys.as_primitive::<Int16Type>().values(), &mut named),
        DataType::Int32 => each_key_run(keys.as_primitive::<Int32Type>().values(), &mut named),
        DataType::Int64 => each_key_run(keys.as_primitive::<Int64Type>().values(), &mut named),
        DataType::UInt8 => each_key_run(keys.as_primitive::<UInt8Type>().values(), &mut named),
        DataType::UInt16 => each_key_run(keys.as_primitive::<UInt16Type>().values(), &mut named),
        DataType::UInt32 => each_key_run(keys.as_primitive::<UInt32Type>().values(), &mut named),
        _ => each_key_run(keys.as_primitive::<UInt64Type>().values(), &mut named),
    }
}

/// The length of the run at the start of `keys`: by blocks first, which compare at once.
fn run_length<K: Copy + PartialEq>(keys: &[K]) -> usize {
    let Some(first) = keys.first() else { return 0 };
    let (blocks, _) = keys.as_chunks::<64>();
    let whole =
        blocks.iter().take_while(|block| block.iter().fold(true, |all, key| all & (key == first))).count()
            * 64;
    whole + keys.iter().skip(whole).take_while(|key| *key == first).count()
}

fn each_key_run<K: Copy + PartialEq + TryInto<usize>>(
    keys: &[K],
    each: &mut dyn FnMut(Option<usize>, Range<usize>) -> Result<(), WireError>,
) -> Result<(), WireError> {
    let mut at = 0;
    while let Some(rest) = keys.get(at..).filter(|rest| !rest.is_empty()) {
        let length = run_length(rest);
        let key = rest.first().and_then(|key| (*key).try_into().ok());
        each(key, at..at + length)?;
        at += length;
    }
    Ok(())
}

fn each_text_run(series: &dyn Array, each: &mut EachRun<'_>) -> Result<(), WireError> {
    let mut start = 0;
    let mut name: Option<&str> = None;
    for (row, text) in text_rows(series)?.enumerate() {
        if text != name {
            if let Some(name) = name {
                each(&mut None, name, start..row)?;
            }
            name = text;
            start = row;
        }
    }
    name.map_or(Ok(()), |name| each(&mut None, name, start..series.len()))
}

/// The texts of a plain column, one by one.
fn text_rows(array: &dyn Array) -> Result<Box<dyn Iterator<Item = Option<&str>> + '_>, WireError> {
    match array.data_type() {
        DataType::Utf8 => Ok(Box::new(array.as_string::<i32>().iter())),
        DataType::LargeUtf8 => Ok(Box::new(array.as_string::<i64>().iter())),
        DataType::Utf8View => Ok(Box::new(array.as_string_view().iter())),
        other => Err(WireError::new(format!("a column of {other} cannot be read as text"))),
    }
}

fn texts(array: &dyn Array) -> Result<Vec<Option<&str>>, WireError> {
    Ok(text_rows(array)?.collect())
}

/// The columns of a batch besides the series.
struct Rows<'a> {
    times: Cow<'a, [i64]>,
    time_nulls: Option<&'a NullBuffer>,
    values: &'a [f64],
    value_nulls: Option<&'a NullBuffer>,
    /// Flags as given: [`UNGIVEN`] for null, [`UNKNOWN`] for what is not a flag.
    flags: Option<Vec<u8>>,
    flag_column: Option<&'a dyn Array>,
}

/// A null in the column of flags.
const UNGIVEN: u8 = 0x7f;
/// What is not a flag.
const UNKNOWN: u8 = 0x7e;
/// The most entries of a dictionary of flags; it is walked for each batch.
const FLAG_NAMES_MAX: usize = 1_024;

impl<'a> Rows<'a> {
    fn new(batch: &'a RecordBatch, columns: Columns) -> Result<Self, WireError> {
        let column =
            |place: usize| batch.columns().get(place).ok_or_else(|| WireError::new("a batch lacks a column"));
        let time = column(columns.time)?;
        let value = column(columns.value)?.as_primitive::<Float64Type>();
        let nulls = |array: &'a dyn Array| array.nulls().filter(|nulls| nulls.null_count() > 0);
        let flag_column = columns.flag.map(column).transpose()?.map(AsRef::as_ref);
        Ok(Self {
            times: read_times(time.as_ref())?,
            time_nulls: nulls(time.as_ref()),
            values: value.values(),
            value_nulls: nulls(value),
            flags: flag_column.map(read_flags).transpose()?,
            flag_column,
        })
    }

    /// Appends the rows of `run`.
    fn append(&self, series: &mut Building, run: Range<usize>) -> Result<(), WireError> {
        let before = series.points.len();
        let refuse = |series: &Building, row: usize, reason: &str| {
            series.refuse(before + row - run.start, reason.to_owned())
        };
        if let Some(row) = self.time_nulls.and_then(|nulls| run.clone().find(|row| nulls.is_null(*row))) {
            return Err(refuse(series, row, "the point has no time"));
        }
        let values = self.values.get(run.clone()).expect("rows of this batch");
        let absent = |row: usize| self.value_nulls.is_some_and(|nulls| nulls.is_null(row));
        if !all_finite(values)
            && let Some((row, value)) =
                run.clone().zip(values).find(|(row, value)| !value.is_finite() && !absent(*row))
        {
            return Err(refuse(series, row, &format!("the value {value} is not finite")));
        }
        if let Some(flags) = &self.flags {
            let flags = flags.get(run.clone()).expect("rows of this batch");
            if let Some((row, _)) = run.clone().zip(flags).find(|(_, flag)| **flag == UNKNOWN) {
                return Err(refuse(series, row, &self.unknown_flag(row)));
            }
            if self.value_nulls.is_none() && flags.iter().fold(true, |all, flag| all & (*flag != UNGIVEN)) {
                series.points.flags.extend_from_slice(flags);
            } else {
                let given = |flag: u8| Some(flag).filter(|flag| *flag != UNGIVEN);
                let pairs = run.clone().zip(flags);
                series
                    .points
                    .flags
                    .extend(pairs.map(|(row, flag)| flags::flag_byte(given(*flag), absent(row))));
            }
        } else {
            series.points.flags.extend(run.clone().map(|row| flags::flag_byte(None, absent(row))));
        }
        if self.value_nulls.is_some() {
            let pairs = run.clone().zip(values);
            series
                .points
                .values
                .extend(pairs.map(|(row, value)| if absent(row) { NO_VALUE } else { *value }));
        } else {
            series.points.values.extend_from_slice(values);
        }
        series.extend_times(self.times.get(run).expect("rows of this batch"));
        Ok(())
    }

    /// What is wrong with the flag of a row.
    fn unknown_flag(&self, row: usize) -> String {
        const READ: &str = "the flag of this row was read as a text";
        let flag = self.flag_column.expect("the flag of this row is unknown").slice(row, 1);
        let text = match flag.data_type() {
            DataType::UInt8 => {
                return format!("{} is the number of no flag", flag.as_primitive::<UInt8Type>().value(0));
            }
            DataType::Int8 => {
                return format!("{} is the number of no flag", flag.as_primitive::<Int8Type>().value(0));
            }
            DataType::Dictionary(..) => {
                let dictionary = flag.as_any_dictionary();
                let key = dictionary.normalized_keys().first().copied();
                let texts = texts(dictionary.values().as_ref()).expect(READ);
                key.and_then(|key| *texts.get(key)?).expect(READ).to_owned()
            }
            _ => texts(flag.as_ref()).ok().and_then(|texts| *texts.first()?).expect(READ).to_owned(),
        };
        format!("{:?} is not a flag", shorten(&text))
    }
}

fn all_finite(values: &[f64]) -> bool {
    const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
    values.iter().fold(true, |all, value| all & (value.to_bits() & EXPONENT != EXPONENT))
}

/// Times in nanoseconds; as they lie if they are so already.
fn read_times(array: &dyn Array) -> Result<Cow<'_, [i64]>, WireError> {
    let DataType::Timestamp(unit, _) = array.data_type() else {
        return Err(WireError::new("the column time has no times"));
    };
    let (times, factor): (&[i64], i64) = match unit {
        TimeUnit::Nanosecond => {
            return Ok(Cow::Borrowed(array.as_primitive::<TimestampNanosecondType>().values()));
        }
        TimeUnit::Microsecond => (array.as_primitive::<TimestampMicrosecondType>().values(), 1_000),
        TimeUnit::Millisecond => (array.as_primitive::<TimestampMillisecondType>().values(), 1_000_000),
        TimeUnit::Second => (array.as_primitive::<TimestampSecondType>().values(), 1_000_000_000),
    };
    let scaled: Option<Vec<i64>> = times
        .iter()
        .enumerate()
        // The value under a null means nothing.
        .map(|(row, time)| if array.is_null(row) { Some(0) } else { time.checked_mul(factor) })
        .collect();
    scaled.map(Cow::Owned).ok_or_else(|| WireError::new("a time is outside of the years 1678 to 2261"))
}

/// The flags of a column: [`UNGIVEN`] for null, [`UNKNOWN`] for what is none.
fn read_flags(array: &dyn Array) -> Result<Vec<u8>, WireError> {
    let known = |text: Option<&str>| text.map_or(UNGIVEN, |text| flags::number(text).unwrap_or(UNKNOWN));
    let checked = |number: u8| if number <= 8 { number } else { UNKNOWN };
    let mut flags: Vec<u8> = match array.data_type() {
        DataType::UInt8 => {
            array.as_primitive::<UInt8Type>().values().iter().map(|number| checked(*number)).collect()
        }
        DataType::Int8 => array
            .as_primitive::<Int8Type>()
            .values()
            .iter()
            .map(|number| checked(number.cast_unsigned()))
            .collect(),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            over_limit(dictionary.values().len(), FLAG_NAMES_MAX, "flags in a dictionary", "FLAG_NAMES_MAX")?;
            let table: Vec<u8> = texts(dictionary.values().as_ref())?.into_iter().map(known).collect();
            read_flag_keys(dictionary, &table)
        }
        _ => text_rows(array)?.map(known).collect(),
    };
    if let Some(nulls) = array.nulls().filter(|nulls| nulls.null_count() > 0) {
        let pairs = flags.iter_mut().zip(nulls);
        pairs.filter(|(_, valid)| !valid).for_each(|(flag, _)| *flag = UNGIVEN);
    }
    Ok(flags)
}

/// The flags that keys name. The library has checked that all keys (that are not null) are within the table.
fn read_flag_keys(dictionary: &dyn AnyDictionaryArray, table: &[u8]) -> Vec<u8> {
    let flag = |key: usize| table.get(key).copied().unwrap_or(UNGIVEN);
    match dictionary.keys().as_primitive_opt::<Int8Type>() {
        Some(keys) => {
            let table: [u8; 256] = std::array::from_fn(flag);
            let keys = keys.values().iter();
            keys.map(|key| table.get(usize::from(key.cast_unsigned())).copied().unwrap_or(UNGIVEN)).collect()
        }
        None if table.is_empty() => vec![UNGIVEN; dictionary.len()],
        None => dictionary.normalized_keys().into_iter().map(flag).collect(),
    }
}
