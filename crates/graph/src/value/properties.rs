//! All properties of an element, as they are stored: read where they lie, built in any order.
//!
//! ```text
//! properties = { varint key, byte type (0x80: several), [varint count], value.. }, in the order of keys
//! ```

use smallvec::SmallVec;
use store::wire::{Malformed, Reader, put_varint};

use super::{DataType, Scalar, ScalarRef, Value};
use crate::PropertyKeyId;

/// Marks the type of a property that has several values.
const MANY: u8 = 0x80;

/// Properties of an element, owned.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Properties {
    bytes: Vec<u8>,
}

/// Properties of an element, where they are stored. Their bytes are checked as they are read.
#[derive(Clone, Copy, Debug, Default)]
pub struct PropertiesRef<'a> {
    bytes: &'a [u8],
}

/// The value of a property, where it is stored.
#[derive(Clone, Copy, Debug)]
pub enum ValueRef<'a> {
    /// See [`Value::One`].
    One(ScalarRef<'a>),
    /// See [`Value::Many`].
    Many(ScalarsRef<'a>),
}

/// Several values of one type, where they are stored; they are well formed.
#[derive(Clone, Copy, Debug)]
pub struct ScalarsRef<'a> {
    data_type: DataType,
    count: usize,
    bytes: &'a [u8],
}

impl Properties {
    /// The same, borrowed.
    #[inline]
    pub fn as_ref(&self) -> PropertiesRef<'_> {
        PropertiesRef { bytes: &self.bytes }
    }

    /// Properties stored in these bytes.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self { bytes: bytes.to_vec() }
    }
}

impl<'a> PropertiesRef<'a> {
    /// No properties.
    pub const NONE: PropertiesRef<'static> = PropertiesRef { bytes: &[] };

    /// Properties stored in these bytes.
    #[inline]
    pub fn of_bytes(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// As they are stored.
    #[inline]
    pub fn as_bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.bytes.is_empty()
    }

    /// Them in the order of their keys. Behind an error nothing more comes.
    #[inline]
    pub fn iter(self) -> PropertiesIter<'a> {
        PropertiesIter { reader: Reader::new(self.bytes) }
    }

    /// The value of one. Cost: that of reading those before it.
    ///
    /// # Errors
    ///
    /// If the bytes are malformed.
    pub fn get(self, key: PropertyKeyId) -> Result<Option<ValueRef<'a>>, Malformed> {
        for property in self.iter() {
            let (found, value) = property?;
            if found >= key {
                return Ok((found == key).then_some(value));
            }
        }
        Ok(None)
    }
}

impl ValueRef<'_> {
    /// The same, owned.
    pub fn to_value(self) -> Value {
        match self {
            Self::One(scalar) => Value::One(scalar.to_scalar()),
            Self::Many(scalars) => Value::Many(scalars.iter().map(ScalarRef::to_scalar).collect()),
        }
    }

    /// Their type.
    pub fn data_type(self) -> DataType {
        match self {
            Self::One(scalar) => scalar.data_type(),
            Self::Many(scalars) => scalars.data_type,
        }
    }
}

impl<'a> ScalarsRef<'a> {
    /// How many there are.
    pub fn len(self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.count == 0
    }

    /// Them in their order.
    pub fn iter(self) -> ScalarsIter<'a> {
        ScalarsIter { data_type: self.data_type, left: self.count, reader: Reader::new(self.bytes) }
    }
}

/// Values one by one; made by [`ScalarsRef::iter`].
#[derive(Debug)]
pub struct ScalarsIter<'a> {
    data_type: DataType,
    left: usize,
    reader: Reader<'a>,
}

impl<'a> Iterator for ScalarsIter<'a> {
    type Item = ScalarRef<'a>;

    fn next(&mut self) -> Option<ScalarRef<'a>> {
        self.left = self.left.checked_sub(1)?;
        Some(ScalarRef::take(&mut self.reader, self.data_type).expect("they were read when they were found"))
    }
}

/// Properties one by one; made by [`PropertiesRef::iter`].
#[derive(Debug)]
pub struct PropertiesIter<'a> {
    reader: Reader<'a>,
}

impl<'a> PropertiesIter<'a> {
    #[inline]
    fn take(&mut self) -> Result<(PropertyKeyId, ValueRef<'a>), Malformed> {
        let reader = &mut self.reader;
        let key = PropertyKeyId(u32::try_from(reader.varint()?).map_err(|_| Malformed)?);
        let code = reader.byte()?;
        let data_type = DataType::from_code(code & !MANY).ok_or(Malformed)?;
        if code & MANY == 0 {
            return Ok((key, ValueRef::One(ScalarRef::take(reader, data_type)?)));
        }
        let count = usize::try_from(reader.varint()?).map_err(|_| Malformed)?;
        let begin = reader.rest();
        for _ in 0..count {
            ScalarRef::take(reader, data_type)?;
        }
        let length = begin.len() - reader.rest().len();
        let bytes = begin.get(..length).ok_or(Malformed)?;
        Ok((key, ValueRef::Many(ScalarsRef { data_type, count, bytes })))
    }
}

impl<'a> Iterator for PropertiesIter<'a> {
    type Item = Result<(PropertyKeyId, ValueRef<'a>), Malformed>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.reader.is_empty() {
            return None;
        }
        let taken = self.take();
        if taken.is_err() {
            self.reader = Reader::new(&[]);
        }
        Some(taken)
    }
}

/// Takes properties in any order; of two with one key the later counts. It can be used again and again.
#[derive(Clone, Debug, Default)]
pub struct PropertiesBuilder {
    bytes: Vec<u8>,
    /// Key, where its bytes begin and end.
    entries: SmallVec<[(PropertyKeyId, usize, usize); 16]>,
}

impl PropertiesBuilder {
    /// Takes one value.
    #[inline]
    pub fn put_one(&mut self, key: PropertyKeyId, value: ScalarRef<'_>) {
        let begin = self.begin(key, value.data_type().code());
        value.put(&mut self.bytes);
        self.entries.push((key, begin, self.bytes.len()));
    }

    /// Takes several values, which are all of this type.
    pub fn put_many<'a>(
        &mut self,
        key: PropertyKeyId,
        data_type: DataType,
        values: impl ExactSizeIterator<Item = ScalarRef<'a>>,
    ) {
        let begin = self.begin(key, data_type.code() | MANY);
        put_varint(&mut self.bytes, values.len() as u64);
        for value in values {
            debug_assert_eq!(value.data_type(), data_type, "values of one type");
            value.put(&mut self.bytes);
        }
        self.entries.push((key, begin, self.bytes.len()));
    }

    /// Takes a value as it was read.
    pub fn put_ref(&mut self, key: PropertyKeyId, value: ValueRef<'_>) {
        match value {
            ValueRef::One(scalar) => self.put_one(key, scalar),
            ValueRef::Many(scalars) => {
                let begin = self.begin(key, scalars.data_type.code() | MANY);
                put_varint(&mut self.bytes, scalars.count as u64);
                self.bytes.extend_from_slice(scalars.bytes);
                self.entries.push((key, begin, self.bytes.len()));
            }
        }
    }

    /// Takes a value; several of none need their type.
    pub fn put(&mut self, key: PropertyKeyId, data_type: DataType, value: &Value) {
        match value {
            Value::One(scalar) => self.put_one(key, scalar.as_ref()),
            Value::Many(scalars) => self.put_many(key, data_type, scalars.iter().map(Scalar::as_ref)),
        }
    }

    /// The keys taken so far.
    pub fn keys(&self) -> impl Iterator<Item = PropertyKeyId> + '_ {
        self.entries.iter().map(|(key, ..)| *key)
    }

    /// Appends them as they are stored, and forgets them. Cost: a copy, and a sort where they did not come in the order of keys.
    pub fn finish_into(&mut self, out: &mut Vec<u8>) {
        if self.entries.is_sorted_by(|one, two| one.0 < two.0) {
            out.extend_from_slice(&self.bytes);
        } else {
            // Stable: the last of equal keys stays the last.
            self.entries.sort_by_key(|(key, ..)| *key);
            for (index, (key, begin, end)) in self.entries.iter().enumerate() {
                if self.entries.get(index + 1).is_some_and(|next| next.0 == *key) {
                    continue;
                }
                out.extend_from_slice(self.bytes.get(*begin..*end).expect("the bytes of an entry"));
            }
        }
        self.clear();
    }

    /// Them as they are stored; forgets them.
    pub fn finish(&mut self) -> Properties {
        let mut bytes = Vec::with_capacity(self.bytes.len());
        self.finish_into(&mut bytes);
        Properties { bytes }
    }

    /// Forgets them.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
    }

    fn begin(&mut self, key: PropertyKeyId, code: u8) -> usize {
        let begin = self.bytes.len();
        put_varint(&mut self.bytes, key.0.into());
        self.bytes.push(code);
        begin
    }
}
