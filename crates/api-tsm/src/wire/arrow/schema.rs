//! The columns of a stream: ours, and those that are taken.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, TimeUnit};

use crate::wire::WireError;

/// What Twinfold writes: names and flags as numbers into dictionaries, so that a point is 19 bytes.
pub(crate) fn written() -> Schema {
    let dictionary = |keys| DataType::Dictionary(Box::new(keys), Box::new(DataType::Utf8));
    let time = DataType::Timestamp(TimeUnit::Nanosecond, Some(Arc::from("UTC")));
    Schema::new(vec![
        Field::new("series", dictionary(DataType::Int16), false),
        Field::new("time", time, false),
        Field::new("value", DataType::Float64, true),
        Field::new("flag", dictionary(DataType::Int8), false),
    ])
}

/// The positions of the columns of a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns {
    pub(crate) series: Option<usize>,
    pub(crate) time: usize,
    pub(crate) value: usize,
    pub(crate) flag: Option<usize>,
}

impl Columns {
    /// Finds the columns of a schema.
    ///
    /// # Errors
    ///
    /// If one is missing, twice there, unknown, or of a type that does not fit.
    pub(crate) fn find(schema: &Schema) -> Result<Self, WireError> {
        let (mut series, mut time, mut value, mut flag) = (None, None, None, None);
        for (place, field) in schema.fields().iter().enumerate() {
            let (slot, fits) = match field.name().as_str() {
                "series" => (&mut series, is_text(field.data_type())),
                "time" => (&mut time, matches!(field.data_type(), DataType::Timestamp(..))),
                "value" => (&mut value, *field.data_type() == DataType::Float64),
                "flag" => (&mut flag, is_flag(field.data_type())),
                other => {
                    return Err(WireError::new(format!(
                        "the columns are series, time, value and flag, not {other:?}"
                    )));
                }
            };
            if !fits {
                let reason =
                    format!("the column {} cannot be of the type {}", field.name(), field.data_type());
                return Err(WireError::new(reason));
            }
            if slot.replace(place).is_some() {
                return Err(WireError::new(format!("the column {} is given twice", field.name())));
            }
        }
        let needed = |column: Option<usize>, name| {
            column.ok_or_else(|| WireError::new(format!("there is no column {name}")))
        };
        Ok(Self { series, time: needed(time, "time")?, value: needed(value, "value")?, flag })
    }
}

fn is_text(data_type: &DataType) -> bool {
    let plain = |plain: &DataType| matches!(plain, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    match data_type {
        DataType::Dictionary(keys, values) => keys.is_integer() && plain(values),
        other => plain(other),
    }
}

fn is_flag(data_type: &DataType) -> bool {
    is_text(data_type) || matches!(data_type, DataType::UInt8 | DataType::Int8)
}
