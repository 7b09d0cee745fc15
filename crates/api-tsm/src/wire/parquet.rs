//! Points as a Parquet file: columns `series`, `time`, `value`, `flag`. Written only, row group by row group, so that
//! memory holds one of them however long the export is.

use std::sync::Arc;

use model_series::{ABSENT, Points};
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, TimeUnit, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type};

use super::{WireError, flags};

/// Points in a row group: about 5 MB in memory.
const GROUP_POINTS_MAX: usize = 256 * 1024;
/// Texts handed to a column's writer at a time.
const TEXTS_MAX: usize = 4096;
/// Why there is a file writer.
const BEGUN: &str = "`begin` made the writer, which only `end` takes";
/// Why there is another column.
const COLUMN: &str = "the schema has four columns, written in turn";

/// Writes a Parquet file through buffers of the caller.
pub(crate) struct ParquetWriter {
    /// `None` after the end.
    writer: Option<SerializedFileWriter<Vec<u8>>>,
    name: ByteArray,
    /// The names of the series whose points are buffered, and how many points each has.
    names: Vec<(ByteArray, usize)>,
    times: Vec<i64>,
    /// Only values that are there; `present` says of which points.
    values: Vec<f64>,
    present: Vec<i16>,
    flags: Vec<u8>,
}

impl From<ParquetError> for WireError {
    fn from(error: ParquetError) -> Self {
        Self::new(format!("the Parquet file cannot be written: {error}"))
    }
}

fn schema() -> Result<Type, ParquetError> {
    let text = |name| {
        Type::primitive_type_builder(name, Physical::BYTE_ARRAY)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(Some(LogicalType::String))
            .build()
            .map(Arc::new)
    };
    let instant = LogicalType::timestamp(true, TimeUnit::NANOS);
    let time = Type::primitive_type_builder("time", Physical::INT64)
        .with_repetition(Repetition::REQUIRED)
        .with_logical_type(Some(instant))
        .build()?;
    let value = Type::primitive_type_builder("value", Physical::DOUBLE)
        .with_repetition(Repetition::OPTIONAL)
        .build()?;
    let fields = vec![text("series")?, Arc::new(time), Arc::new(value), text("flag")?];
    Type::group_type_builder("points").with_fields(fields).build()
}

fn properties() -> Result<WriterProperties, ParquetError> {
    let time = ColumnPath::from("time");
    let value = ColumnPath::from("value");
    Ok(WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_created_by("Twinfold".to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_column_dictionary_enabled(time.clone(), false)
        .set_column_encoding(time, Encoding::DELTA_BINARY_PACKED)
        .set_column_dictionary_enabled(value.clone(), false)
        .set_column_encoding(value, Encoding::BYTE_STREAM_SPLIT)
        .build())
}

impl ParquetWriter {
    pub(crate) fn new() -> Self {
        Self {
            writer: None,
            name: ByteArray::default(),
            names: Vec::new(),
            times: Vec::new(),
            values: Vec::new(),
            present: Vec::new(),
            flags: Vec::new(),
        }
    }

    pub(crate) fn begin(&mut self, out: &mut Vec<u8>) -> Result<(), WireError> {
        let schema = Arc::new(schema()?);
        self.writer = Some(SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties()?))?);
        self.ship(out)
    }

    pub(crate) fn begin_series(&mut self, name: &str) {
        self.name = ByteArray::from(name);
    }

    pub(crate) fn points(&mut self, out: &mut Vec<u8>, points: &Points) -> Result<(), WireError> {
        let columns = points.times.chunks(GROUP_POINTS_MAX).zip(points.values.chunks(GROUP_POINTS_MAX));
        for ((times, values), flags) in columns.zip(points.flags.chunks(GROUP_POINTS_MAX)) {
            if self.times.len() + times.len() > GROUP_POINTS_MAX {
                self.write_group(out)?;
            }
            self.names.push((self.name.clone(), times.len()));
            self.times.extend_from_slice(times);
            self.present.extend(flags.iter().map(|flag| i16::from(flag & ABSENT == 0)));
            let present = values.iter().zip(flags).filter(|(_, flag)| **flag & ABSENT == 0);
            self.values.extend(present.map(|(value, _)| *value));
            self.flags.extend_from_slice(flags);
        }
        Ok(())
    }

    pub(crate) fn end(&mut self, out: &mut Vec<u8>) -> Result<(), WireError> {
        if !self.times.is_empty() {
            self.write_group(out)?;
        }
        out.append(&mut self.writer.take().expect(BEGUN).into_inner()?);
        Ok(())
    }

    /// Hands the caller what the file writer has written.
    fn ship(&mut self, out: &mut Vec<u8>) -> Result<(), WireError> {
        let writer = self.writer.as_mut().expect(BEGUN);
        writer.flush().map_err(ParquetError::from)?;
        out.append(writer.inner_mut());
        Ok(())
    }

    fn write_group(&mut self, out: &mut Vec<u8>) -> Result<(), WireError> {
        let mut group = self.writer.as_mut().expect(BEGUN).next_row_group()?;
        let names = self.names.drain(..).flat_map(|(name, count)| std::iter::repeat_n(name, count));
        write_texts(&mut group, names)?;
        let mut column = group.next_column()?.expect(COLUMN);
        column.typed::<Int64Type>().write_batch(&self.times, None, None)?;
        column.close()?;
        let mut column = group.next_column()?.expect(COLUMN);
        column.typed::<DoubleType>().write_batch(&self.values, Some(&self.present), None)?;
        column.close()?;
        let names = flags::NAMES.map(ByteArray::from);
        let name = |flag: &u8| names.get(usize::from(flag & !ABSENT)).cloned();
        let flag = |flag: &u8| name(flag).expect("only flags with a name are stored");
        write_texts(&mut group, self.flags.iter().map(flag))?;
        group.close()?;
        self.times.clear();
        self.values.clear();
        self.present.clear();
        self.flags.clear();
        self.ship(out)
    }
}

fn write_texts(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    mut texts: impl Iterator<Item = ByteArray>,
) -> Result<(), WireError> {
    let mut column = group.next_column()?.expect(COLUMN);
    let mut some = Vec::with_capacity(TEXTS_MAX);
    loop {
        some.extend(texts.by_ref().take(TEXTS_MAX));
        if some.is_empty() {
            break;
        }
        column.typed::<ByteArrayType>().write_batch(&some, None, None)?;
        some.clear();
    }
    Ok(column.close()?)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let count = GROUP_POINTS_MAX + 1_000;
        let mut long = Points::default();
        for place in 0..count as i64 {
            let absent = place % 7 == 0;
            long.push(place * 1_000, place as f64 / 8.0, if absent { 8 | ABSENT } else { 3 });
        }
        let mut short = Points::default();
        short.push(5, -0.0, 6);
        let (mut writer, mut out, mut parts) = (ParquetWriter::new(), Vec::new(), Vec::new());
        writer.begin(&mut out).unwrap();
        for (name, points) in [("a", &short), ("empty", &Points::default()), ("b", &long)] {
            writer.begin_series(name);
            writer.points(&mut out, points).unwrap();
            parts.push(out.len());
        }
        assert!(parts[2] > parts[1], "whole row groups are handed on before the end");
        writer.end(&mut out).unwrap();
        let file = SerializedFileReader::new(Bytes::from(out)).unwrap();
        assert_eq!(file.num_row_groups(), 3);
        let rows: Vec<_> = file.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows.len(), count + 1);
        assert_eq!(
            (rows[0].get_string(0).unwrap().as_str(), rows[0].get_double(2).unwrap().to_bits()),
            ("a", (-0.0_f64).to_bits())
        );
        for (place, row) in rows[1..].iter().enumerate() {
            assert_eq!(row.get_string(0).unwrap(), "b");
            assert_eq!(row.get_long(1).unwrap(), long.times[place]);
            let value = row.get_double(2).ok();
            assert_eq!(value, (place % 7 != 0).then_some(long.values[place]));
            assert_eq!(row.get_string(3).unwrap(), if value.is_some() { "Valid" } else { "Missing" });
        }
    }
}
