//! Stored forms of the parts of a schema; each begins with a byte for its version. The number of a part is in its key.
//!
//! ```text
//! property key = version name data-type cardinality aggregate-type write-type status user-data
//! label        = name properties nullable-keys ttl ttl-start-time? enable-label-index status user-data
//! vertex label = version label id-strategy primary-keys
//! edge label   = version label kind parent? links frequency sort-keys
//! index label  = version name base-kind base index-type fields status user-data
//! ```
//! Numbers are varints; lists begin with their length; what may be absent is 0, else the number (no number is 0).

use std::sync::Arc;

use store::wire::{Malformed, Reader, put_text, put_varint};

use super::kinds::{
    AggregateType, EdgeLabelKind, Frequency, IdStrategy, IndexType, SchemaKind, SchemaStatus, WriteType,
};
use super::parts::{
    EdgeLabel, IndexBase, IndexLabel, Label, Link, Numbers, PartId, PropertyKey, SchemaPart, VertexLabel,
};
use super::user_data::UserData;
use crate::numbers::{IndexLabelId, LabelId, PropertyKeyId};
use crate::value::{Cardinality, DataType};

/// The stored form that is written.
const VERSION: u8 = 1;

fn begin() -> Vec<u8> {
    vec![VERSION]
}

fn read(bytes: &[u8]) -> Result<Reader<'_>, Malformed> {
    let mut reader = Reader::new(bytes);
    if reader.byte()? == VERSION { Ok(reader) } else { Err(Malformed) }
}

/// Reads one byte that stands for a variant.
fn take<T>(reader: &mut Reader<'_>, from_code: fn(u8) -> Option<T>) -> Result<T, Malformed> {
    from_code(reader.byte()?).ok_or(Malformed)
}

fn put_keys(out: &mut Vec<u8>, keys: &[PropertyKeyId]) {
    put_varint(out, keys.len() as u64);
    keys.iter().for_each(|key| put_varint(out, key.0.into()));
}

fn take_keys(reader: &mut Reader<'_>) -> Result<Box<[PropertyKeyId]>, Malformed> {
    (0..reader.count()?).map(|_| take_number(reader).map(PropertyKeyId)).collect()
}

/// Keys in order, each once.
fn take_sorted_keys(reader: &mut Reader<'_>) -> Result<Box<[PropertyKeyId]>, Malformed> {
    let keys = take_keys(reader)?;
    if keys.is_sorted_by(|first, second| first < second) { Ok(keys) } else { Err(Malformed) }
}

fn take_number(reader: &mut Reader<'_>) -> Result<u32, Malformed> {
    take_optional_number(reader)?.ok_or(Malformed)
}

fn take_optional_number(reader: &mut Reader<'_>) -> Result<Option<u32>, Malformed> {
    let number = reader.varint_u32()?;
    Ok((number > 0).then_some(number))
}

fn take_flag(reader: &mut Reader<'_>) -> Result<bool, Malformed> {
    match reader.byte()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Malformed),
    }
}

fn take_name(reader: &mut Reader<'_>) -> Result<Arc<str>, Malformed> {
    Ok(reader.text()?.into())
}

impl PropertyKey {
    /// Its stored form.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = begin();
        put_text(&mut out, &self.name);
        out.extend([self.data_type.code(), self.cardinality.code(), self.aggregate_type.code()]);
        out.extend([self.write_type.code(), self.status.code()]);
        self.user_data.put_to(&mut out);
        out
    }

    /// Reads a stored form.
    ///
    /// # Errors
    ///
    /// [`Malformed`].
    pub fn parse(id: PropertyKeyId, bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = read(bytes)?;
        let key = Self {
            id,
            name: take_name(&mut reader)?,
            data_type: take(&mut reader, DataType::from_code)?,
            cardinality: take(&mut reader, Cardinality::from_code)?,
            aggregate_type: take(&mut reader, AggregateType::from_code)?,
            write_type: take(&mut reader, WriteType::from_code)?,
            status: take(&mut reader, SchemaStatus::from_code)?,
            user_data: UserData::take(&mut reader)?,
        };
        reader.end().map(|()| key)
    }
}

fn put_label(out: &mut Vec<u8>, label: &Label) {
    put_text(out, &label.name);
    put_keys(out, &label.properties);
    put_keys(out, &label.nullable_keys);
    put_varint(out, label.ttl_ms);
    put_varint(out, label.ttl_start_time.map_or(0, |key| key.0.into()));
    out.extend([u8::from(label.enable_label_index), label.status.code()]);
    label.user_data.put_to(out);
}

fn take_label(id: LabelId, reader: &mut Reader<'_>) -> Result<Label, Malformed> {
    Ok(Label {
        id,
        name: take_name(reader)?,
        properties: take_sorted_keys(reader)?,
        nullable_keys: take_sorted_keys(reader)?,
        ttl_ms: reader.varint()?,
        ttl_start_time: take_optional_number(reader)?.map(PropertyKeyId),
        enable_label_index: take_flag(reader)?,
        status: take(reader, SchemaStatus::from_code)?,
        user_data: UserData::take(reader)?,
        indexes: Box::default(),
    })
}

impl VertexLabel {
    /// Its stored form.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = begin();
        put_label(&mut out, &self.label);
        out.push(self.id_strategy.code());
        put_keys(&mut out, &self.primary_keys);
        out
    }

    /// Reads a stored form.
    ///
    /// # Errors
    ///
    /// [`Malformed`].
    pub fn parse(id: LabelId, bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = read(bytes)?;
        let label = take_label(id, &mut reader)?;
        let id_strategy = take(&mut reader, IdStrategy::from_code)?;
        let primary_keys = take_keys(&mut reader)?;
        reader.end()?;
        let is_right = match id_strategy {
            IdStrategy::Default => false,
            IdStrategy::PrimaryKey => !primary_keys.is_empty(),
            IdStrategy::Automatic
            | IdStrategy::CustomizeString
            | IdStrategy::CustomizeNumber
            | IdStrategy::CustomizeUuid => primary_keys.is_empty(),
        };
        if is_right { Ok(Self { label, id_strategy, primary_keys }) } else { Err(Malformed) }
    }
}

impl EdgeLabel {
    /// Its stored form.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = begin();
        put_label(&mut out, &self.label);
        out.push(self.kind.code());
        put_varint(&mut out, self.parent.map_or(0, |label| label.0.into()));
        put_varint(&mut out, self.links.len() as u64);
        for link in &self.links {
            put_varint(&mut out, link.source.0.into());
            put_varint(&mut out, link.target.0.into());
        }
        out.push(self.frequency.code());
        put_keys(&mut out, &self.sort_keys);
        out
    }

    /// Reads a stored form.
    ///
    /// # Errors
    ///
    /// [`Malformed`].
    pub fn parse(id: LabelId, bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = read(bytes)?;
        let label = take_label(id, &mut reader)?;
        let kind = take(&mut reader, EdgeLabelKind::from_code)?;
        let parent = take_optional_number(&mut reader)?.map(LabelId);
        let links = (0..reader.count()?).map(|_| take_link(&mut reader)).collect::<Result<_, _>>()?;
        let frequency = take(&mut reader, Frequency::from_code)?;
        let sort_keys = take_keys(&mut reader)?;
        reader.end()?;
        if parent.is_some() != (kind == EdgeLabelKind::Sub) {
            return Err(Malformed);
        }
        Ok(Self { label, kind, parent, links, frequency, sort_keys })
    }
}

fn take_link(reader: &mut Reader<'_>) -> Result<Link, Malformed> {
    Ok(Link { source: LabelId(take_number(reader)?), target: LabelId(take_number(reader)?) })
}

impl IndexLabel {
    /// Its stored form.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = begin();
        put_text(&mut out, &self.name);
        out.push(self.base.kind().code());
        put_varint(&mut out, self.base.label().0.into());
        out.push(self.index_type.code());
        put_keys(&mut out, &self.fields);
        out.push(self.status.code());
        self.user_data.put_to(&mut out);
        out
    }

    /// Reads a stored form.
    ///
    /// # Errors
    ///
    /// [`Malformed`].
    pub fn parse(id: IndexLabelId, bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = read(bytes)?;
        let name = take_name(&mut reader)?;
        let kind = take(&mut reader, SchemaKind::from_code)?;
        let label = LabelId(take_number(&mut reader)?);
        let base = match kind {
            SchemaKind::VertexLabel => IndexBase::Vertex(label),
            SchemaKind::EdgeLabel => IndexBase::Edge(label),
            SchemaKind::PropertyKey | SchemaKind::IndexLabel => return Err(Malformed),
        };
        let index_type = take(&mut reader, IndexType::from_code)?;
        let fields = take_keys(&mut reader)?;
        let status = take(&mut reader, SchemaStatus::from_code)?;
        let user_data = UserData::take(&mut reader)?;
        reader.end()?;
        if fields.is_empty() {
            return Err(Malformed);
        }
        Ok(Self { id, name, base, index_type, fields, user_data, status })
    }
}

impl SchemaPart {
    /// Its stored form.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::PropertyKey(key) => key.to_bytes(),
            Self::VertexLabel(label) => label.to_bytes(),
            Self::EdgeLabel(label) => label.to_bytes(),
            Self::IndexLabel(label) => label.to_bytes(),
        }
    }

    /// Reads a stored form.
    ///
    /// # Errors
    ///
    /// [`Malformed`].
    pub fn parse(id: PartId, bytes: &[u8]) -> Result<Self, Malformed> {
        let PartId { kind, number } = id;
        if number == 0 {
            return Err(Malformed);
        }
        Ok(match kind {
            SchemaKind::PropertyKey => {
                Self::PropertyKey(PropertyKey::parse(PropertyKeyId(number), bytes)?.into())
            }
            SchemaKind::VertexLabel => Self::VertexLabel(VertexLabel::parse(LabelId(number), bytes)?.into()),
            SchemaKind::EdgeLabel => Self::EdgeLabel(EdgeLabel::parse(LabelId(number), bytes)?.into()),
            SchemaKind::IndexLabel => {
                Self::IndexLabel(IndexLabel::parse(IndexLabelId(number), bytes)?.into())
            }
        })
    }
}

impl Numbers {
    /// Their stored form.
    pub fn to_bytes(self) -> Vec<u8> {
        let mut out = begin();
        SchemaKind::ALL.iter().for_each(|kind| put_varint(&mut out, self.next(*kind).into()));
        out
    }

    /// Reads a stored form.
    ///
    /// # Errors
    ///
    /// [`Malformed`].
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = read(bytes)?;
        let mut numbers = Self::default();
        for kind in SchemaKind::ALL {
            *numbers.next_mut(*kind) = take_number(&mut reader)?;
        }
        reader.end().map(|()| numbers)
    }
}
