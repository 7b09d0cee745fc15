//! One value: owned, or where it lies in stored bytes.

use std::cmp::Ordering;

use store::wire::{Malformed, Reader, put_bytes, put_f64, put_zigzag};

use super::DataType;

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// Any value, as the JSON text that was given.
    Object(Box<str>),
    /// True or false.
    Boolean(bool),
    /// A number of one byte.
    Byte(i8),
    /// A number of four bytes.
    Int(i32),
    /// A number of eight bytes.
    Long(i64),
    /// A float of four bytes.
    Float(f32),
    /// A float of eight bytes.
    Double(f64),
    /// A text.
    Text(Box<str>),
    /// Bytes.
    Blob(Box<[u8]>),
    /// A moment: milliseconds since 1970, UTC.
    Date(i64),
    /// A number of 128 bits.
    Uuid(u128),
}

/// One value, where it lies. Variants as of [`Scalar`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "said at Scalar")]
pub enum ScalarRef<'a> {
    Object(&'a str),
    Boolean(bool),
    Byte(i8),
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    Text(&'a str),
    Blob(&'a [u8]),
    Date(i64),
    Uuid(u128),
}

impl Scalar {
    /// The same, borrowed.
    #[inline]
    pub fn as_ref(&self) -> ScalarRef<'_> {
        match self {
            Self::Object(json) => ScalarRef::Object(json),
            Self::Boolean(value) => ScalarRef::Boolean(*value),
            Self::Byte(value) => ScalarRef::Byte(*value),
            Self::Int(value) => ScalarRef::Int(*value),
            Self::Long(value) => ScalarRef::Long(*value),
            Self::Float(value) => ScalarRef::Float(*value),
            Self::Double(value) => ScalarRef::Double(*value),
            Self::Text(text) => ScalarRef::Text(text),
            Self::Blob(bytes) => ScalarRef::Blob(bytes),
            Self::Date(millis) => ScalarRef::Date(*millis),
            Self::Uuid(uuid) => ScalarRef::Uuid(*uuid),
        }
    }
}

impl<'a> ScalarRef<'a> {
    /// The same, owned.
    pub fn to_scalar(self) -> Scalar {
        match self {
            Self::Object(json) => Scalar::Object(json.into()),
            Self::Boolean(value) => Scalar::Boolean(value),
            Self::Byte(value) => Scalar::Byte(value),
            Self::Int(value) => Scalar::Int(value),
            Self::Long(value) => Scalar::Long(value),
            Self::Float(value) => Scalar::Float(value),
            Self::Double(value) => Scalar::Double(value),
            Self::Text(text) => Scalar::Text(text.into()),
            Self::Blob(bytes) => Scalar::Blob(bytes.into()),
            Self::Date(millis) => Scalar::Date(millis),
            Self::Uuid(uuid) => Scalar::Uuid(uuid),
        }
    }

    /// Its type.
    #[inline]
    pub fn data_type(self) -> DataType {
        match self {
            Self::Object(_) => DataType::Object,
            Self::Boolean(_) => DataType::Boolean,
            Self::Byte(_) => DataType::Byte,
            Self::Int(_) => DataType::Int,
            Self::Long(_) => DataType::Long,
            Self::Float(_) => DataType::Float,
            Self::Double(_) => DataType::Double,
            Self::Text(_) => DataType::Text,
            Self::Blob(_) => DataType::Blob,
            Self::Date(_) => DataType::Date,
            Self::Uuid(_) => DataType::Uuid,
        }
    }

    /// The number that it is; of a float the nearest one of double precision is the number itself.
    pub fn to_f64(self) -> Option<f64> {
        match self {
            Self::Byte(value) => Some(value.into()),
            Self::Int(value) => Some(value.into()),
            #[expect(clippy::cast_precision_loss, reason = "for sums and weights, which are floats")]
            Self::Long(value) => Some(value as f64),
            Self::Float(value) => Some(value.into()),
            Self::Double(value) => Some(value),
            _ => None,
        }
    }

    /// The whole number that it is.
    fn to_i64(self) -> Option<i64> {
        match self {
            Self::Byte(value) => Some(value.into()),
            Self::Int(value) => Some(value.into()),
            Self::Long(value) => Some(value),
            _ => None,
        }
    }

    /// How two values compare; numbers of any types as numbers. `None`: they cannot be compared, or one is no number (NaN).
    pub fn compare(self, other: ScalarRef<'_>) -> Option<Ordering> {
        if let (Some(one), Some(two)) = (self.to_i64(), other.to_i64()) {
            return Some(one.cmp(&two));
        }
        if let (Some(one), Some(two)) = (self.to_f64(), other.to_f64()) {
            return one.partial_cmp(&two);
        }
        match (self, other) {
            (Self::Boolean(one), ScalarRef::Boolean(two)) => Some(one.cmp(&two)),
            (Self::Text(one), ScalarRef::Text(two)) | (Self::Object(one), ScalarRef::Object(two)) => {
                Some(one.cmp(two))
            }
            (Self::Blob(one), ScalarRef::Blob(two)) => Some(one.cmp(two)),
            (Self::Date(one), ScalarRef::Date(two)) => Some(one.cmp(&two)),
            (Self::Uuid(one), ScalarRef::Uuid(two)) => Some(one.cmp(&two)),
            _ => None,
        }
    }

    /// What equal values of one type have in common, and no others: to find them by hashes.
    pub fn identity(self) -> Box<[u8]> {
        let float = |number: f64| {
            let bits = if number == 0.0 || number.is_nan() { number.abs() } else { number };
            bits.to_bits().to_be_bytes().into()
        };
        let whole = |number: i64| number.to_be_bytes().into();
        match self {
            Self::Object(text) | Self::Text(text) => text.as_bytes().into(),
            Self::Blob(bytes) => bytes.into(),
            Self::Boolean(value) => whole(value.into()),
            Self::Byte(number) => whole(number.into()),
            Self::Int(number) => whole(number.into()),
            Self::Long(number) | Self::Date(number) => whole(number),
            Self::Float(number) => float(number.into()),
            Self::Double(number) => float(number),
            Self::Uuid(uuid) => uuid.to_be_bytes().into(),
        }
    }

    /// Appends the value, without its type.
    #[inline]
    pub(super) fn put(self, out: &mut Vec<u8>) {
        match self {
            Self::Object(text) | Self::Text(text) => put_bytes(out, text.as_bytes()),
            Self::Boolean(value) => out.push(u8::from(value)),
            Self::Byte(value) => out.push(value.cast_unsigned()),
            Self::Int(value) => put_zigzag(out, value.into()),
            Self::Long(value) | Self::Date(value) => put_zigzag(out, value),
            Self::Float(value) => out.extend_from_slice(&value.to_bits().to_le_bytes()),
            Self::Double(value) => put_f64(out, value),
            Self::Blob(bytes) => put_bytes(out, bytes),
            Self::Uuid(uuid) => out.extend_from_slice(&uuid.to_be_bytes()),
        }
    }

    /// Reads a value of this type.
    #[inline]
    pub(super) fn take(reader: &mut Reader<'a>, data_type: DataType) -> Result<Self, Malformed> {
        Ok(match data_type {
            DataType::Object => Self::Object(reader.text()?),
            DataType::Boolean => match reader.byte()? {
                0 => Self::Boolean(false),
                1 => Self::Boolean(true),
                _ => return Err(Malformed),
            },
            DataType::Byte => Self::Byte(reader.byte()?.cast_signed()),
            DataType::Int => Self::Int(i32::try_from(reader.zigzag()?).map_err(|_| Malformed)?),
            DataType::Long => Self::Long(reader.zigzag()?),
            DataType::Float => Self::Float(f32::from_bits(u32::from_le_bytes(reader.array()?))),
            DataType::Double => Self::Double(reader.f64()?),
            DataType::Text => Self::Text(reader.text()?),
            DataType::Blob => Self::Blob(reader.bytes()?),
            DataType::Date => Self::Date(reader.zigzag()?),
            DataType::Uuid => Self::Uuid(u128::from_be_bytes(reader.array()?)),
        })
    }
}
