//! Stored vertices and edges: a header, then properties.
//!
//! ```text
//! vertex = byte form, [i64 expiry], varint label, properties       an edge has its label in its key
//! edge   = byte form, [i64 expiry], [u64 life], properties
//! form   = 1 (the version), 0x80: there is an expiry (milliseconds since 1970), 0x40: there is a life (keys.rs: pointers)
//! ```

use store::wire::{Malformed, Reader, put_i64, put_varint};

use crate::{EdgeId, LabelId, Properties, PropertiesRef, VertexId};

const VERSION: u8 = 1;
/// Marks that it expires.
const EXPIRES: u8 = 0x80;
/// Marks that an edge is pointed at from another partition.
const LIVES: u8 = 0x40;

/// A vertex.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Vertex {
    /// Its id.
    pub id: VertexId,
    /// Its label.
    pub label: LabelId,
    /// When it ends, in milliseconds since 1970.
    pub expires: Option<i64>,
    /// Its properties.
    pub properties: Properties,
}

/// An edge.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Edge {
    /// Its id, which says its label and its ends.
    pub id: EdgeId,
    /// When it ends, in milliseconds since 1970.
    pub expires: Option<i64>,
    /// Its properties.
    pub properties: Properties,
}

/// What is stored of a vertex, where it lies.
#[derive(Clone, Copy, Debug)]
pub struct VertexView<'a> {
    /// Its label.
    pub label: LabelId,
    /// When it ends, in milliseconds since 1970.
    pub expires: Option<i64>,
    /// Its properties.
    pub properties: PropertiesRef<'a>,
}

/// What is stored of an edge, where it lies.
#[derive(Clone, Copy, Debug)]
pub struct EdgeView<'a> {
    /// When it ends, in milliseconds since 1970.
    pub expires: Option<i64>,
    /// What tells it from an earlier edge of the same id, where a row in another partition points at it.
    pub life: Option<u64>,
    /// Its properties.
    pub properties: PropertiesRef<'a>,
}

/// Appends the header of a vertex; its properties follow.
#[inline]
pub fn put_vertex_header(out: &mut Vec<u8>, label: LabelId, expires: Option<i64>) {
    put_form(out, expires, 0);
    put_varint(out, label.0.into());
}

/// Appends the header of an edge; its properties follow.
#[inline]
pub fn put_edge_header(out: &mut Vec<u8>, expires: Option<i64>, life: Option<u64>) {
    put_form(out, expires, if life.is_some() { LIVES } else { 0 });
    if let Some(life) = life {
        out.extend_from_slice(&life.to_le_bytes());
    }
}

fn put_form(out: &mut Vec<u8>, expires: Option<i64>, lives: u8) {
    match expires {
        None => out.push(VERSION | lives),
        Some(moment) => {
            out.push(VERSION | EXPIRES | lives);
            put_i64(out, moment);
        }
    }
}

/// The form, and the expiry if there is one.
fn take_form(reader: &mut Reader<'_>) -> Result<(u8, Option<i64>), Malformed> {
    let form = reader.byte()?;
    if form & !(EXPIRES | LIVES) != VERSION {
        return Err(Malformed);
    }
    let expires = if form & EXPIRES == 0 { None } else { Some(reader.i64()?) };
    Ok((form, expires))
}

impl<'a> VertexView<'a> {
    /// What these bytes store. Cost: that of the header.
    ///
    /// # Errors
    ///
    /// If they are malformed, or of another version.
    #[inline]
    pub fn parse(stored: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(stored);
        let (form, expires) = take_form(&mut reader)?;
        if form & LIVES != 0 {
            return Err(Malformed);
        }
        let label = LabelId(reader.varint_u32()?);
        Ok(Self { label, expires, properties: PropertiesRef::of_bytes(reader.rest()) })
    }

    /// Whether it has ended.
    #[inline]
    pub fn is_expired(&self, now_ms: i64) -> bool {
        self.expires.is_some_and(|moment| moment <= now_ms)
    }
}

impl<'a> EdgeView<'a> {
    /// What these bytes store. Cost: that of the header.
    ///
    /// # Errors
    ///
    /// If they are malformed, or of another version.
    #[inline]
    pub fn parse(stored: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(stored);
        let (form, expires) = take_form(&mut reader)?;
        let life = if form & LIVES == 0 { None } else { Some(u64::from_le_bytes(reader.array()?)) };
        Ok(Self { expires, life, properties: PropertiesRef::of_bytes(reader.rest()) })
    }

    /// Whether it has ended.
    #[inline]
    pub fn is_expired(&self, now_ms: i64) -> bool {
        self.expires.is_some_and(|moment| moment <= now_ms)
    }
}

impl Vertex {
    /// As it is stored.
    pub fn to_stored(&self) -> Vec<u8> {
        let mut stored = Vec::with_capacity(vertex_bytes(self));
        self.put_stored(&mut stored);
        stored
    }

    /// Appends it as it is stored.
    #[inline]
    pub fn put_stored(&self, out: &mut Vec<u8>) {
        put_vertex_header(out, self.label, self.expires);
        out.extend_from_slice(self.properties.as_ref().as_bytes());
    }

    /// What is stored under this id.
    ///
    /// # Errors
    ///
    /// If the bytes are malformed.
    pub fn of_stored(id: VertexId, stored: &[u8]) -> Result<Self, Malformed> {
        let VertexView { label, expires, properties } = VertexView::parse(stored)?;
        Ok(Self { id, label, expires, properties: Properties::of_bytes(properties.as_bytes()) })
    }
}

impl Edge {
    /// As it is stored, at both of its ends.
    pub fn to_stored(&self) -> Vec<u8> {
        self.to_stored_of_life(None)
    }

    /// As it is stored where a row in another partition points at it, with this life.
    pub fn to_stored_of_life(&self, life: Option<u64>) -> Vec<u8> {
        let mut stored = Vec::with_capacity(edge_bytes(self, life));
        self.put_stored(life, &mut stored);
        stored
    }

    /// Appends it as it is stored, of this life if it is pointed at.
    #[inline]
    pub fn put_stored(&self, life: Option<u64>, out: &mut Vec<u8>) {
        put_edge_header(out, self.expires, life);
        out.extend_from_slice(self.properties.as_ref().as_bytes());
    }

    /// What is stored under this id.
    ///
    /// # Errors
    ///
    /// If the bytes are malformed.
    pub fn of_stored(id: EdgeId, stored: &[u8]) -> Result<Self, Malformed> {
        let EdgeView { expires, properties, .. } = EdgeView::parse(stored)?;
        Ok(Self { id, expires, properties: Properties::of_bytes(properties.as_bytes()) })
    }
}

/// Bytes of a stored vertex: with the room that it needs it costs one allocation.
fn vertex_bytes(vertex: &Vertex) -> usize {
    let label = match vertex.label.0 {
        0..0x80 => 1,
        0x80..0x4000 => 2,
        0x4000..0x20_0000 => 3,
        0x20_0000..0x1000_0000 => 4,
        _ => 5,
    };
    1 + moment_bytes(vertex.expires) + label + vertex.properties.as_ref().as_bytes().len()
}

/// Bytes of a stored edge.
fn edge_bytes(edge: &Edge, life: Option<u64>) -> usize {
    1 + moment_bytes(edge.expires) + life.map_or(0, |_| 8) + edge.properties.as_ref().as_bytes().len()
}

fn moment_bytes(moment: Option<i64>) -> usize {
    moment.map_or(0, |_| 8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys;
    use crate::{EdgeDirection, PropertiesBuilder, PropertyKeyId, ScalarRef};

    /// What is made with other room than it needs is allocated twice on its way to the store.
    #[test]
    fn rows_are_made_with_the_room_that_they_need() {
        let mut builder = PropertiesBuilder::default();
        builder.put_one(PropertyKeyId(1), ScalarRef::Text("x"));
        let properties = builder.finish();
        for label in [1, 200, 70_000, 3_000_000, u32::MAX].map(LabelId) {
            for id in [VertexId::Number(-1), VertexId::Uuid(1), "1:marko".into()] {
                for expires in [None, Some(5)] {
                    let vertex = Vertex { id: id.clone(), label, expires, properties: properties.clone() };
                    let stored = vertex.to_stored();
                    assert_eq!(
                        (stored.len(), Vertex::of_stored(id.clone(), &stored)),
                        (stored.capacity(), Ok(vertex))
                    );
                    let (source, target) = (id.clone(), id.clone());
                    let edge_id = EdgeId { source, label, sub_label: label, sort_values: "a".into(), target };
                    let mut key = Vec::new();
                    keys::put_edge(&mut key, &edge_id, EdgeDirection::Out);
                    assert_eq!(keys::edge(&edge_id, EdgeDirection::Out), key);
                    let edge = Edge { id: edge_id, expires, properties: properties.clone() };
                    for life in [None, Some(7)] {
                        let stored = edge.to_stored_of_life(life);
                        assert_eq!(
                            (stored.len(), EdgeView::parse(&stored).unwrap().life),
                            (stored.capacity(), life)
                        );
                    }
                }
                assert_eq!(id.to_key().len(), id.key_bytes());
            }
        }
    }
}
