//! A graph or a graph space as the directory knows it, and its stored form.

use bytes::Bytes;
use store::Timestamp;
use store::wire::{Malformed, Reader, put_i64, put_text, put_varint};

use super::DEFAULT_GRAPH;

const VERSION: u8 = 1;

/// A graph, as the directory lists it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct GraphInfo {
    /// Its name in its space.
    pub name: Box<str>,
    /// JSON text that front ends know: nickname, description, configuration.
    pub settings: Box<str>,
    /// When it was made.
    pub created: Timestamp,
    /// Over how many buckets its vertices are spread.
    pub buckets: u32,
}

/// A graph space, as the directory lists it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SpaceInfo {
    /// Its name.
    pub name: Box<str>,
    /// JSON text that front ends know: nickname, description, limits.
    pub settings: Box<str>,
    /// When it was made.
    pub created: Timestamp,
}

impl GraphInfo {
    /// The one that is always there, before it is made.
    pub(super) fn default_graph(buckets: u32) -> Self {
        Self { name: DEFAULT_GRAPH.into(), settings: "".into(), created: Timestamp(0), buckets }
    }
}

/// What the directory keeps of a graph or a space for this model.
pub(super) fn put_info(info: &GraphInfo) -> Bytes {
    let mut out = vec![VERSION];
    put_text(&mut out, &info.settings);
    put_i64(&mut out, info.created.0);
    put_varint(&mut out, info.buckets.into());
    out.into()
}

pub(super) fn take_info(name: &str, bytes: &[u8]) -> Result<GraphInfo, Malformed> {
    let mut reader = Reader::new(bytes);
    if reader.byte()? != VERSION {
        return Err(Malformed);
    }
    let settings = reader.text()?.into();
    let created = Timestamp(reader.i64()?);
    let buckets = reader.varint_u32()?;
    reader.end()?;
    if buckets == 0 {
        return Err(Malformed);
    }
    Ok(GraphInfo { name: name.into(), settings, created, buckets })
}
