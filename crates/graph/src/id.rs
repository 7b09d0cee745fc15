//! Ids of vertices and edges: as values, as text, and as parts of keys.

mod spliced;
mod edge;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

use store::key::{Reader, put_i64, put_text};

pub use edge::{EdgeId, EdgeIdError, put_edge_text};
pub use spliced::{EMPTY_VALUE, join_names, number_as_text, primary_key_id, sortable_f32, sortable_f64};

/// The longest id of a vertex in bytes, if it is a text.
pub const VERTEX_ID_BYTES_MAX: usize = 128;

/// The first byte of a number in a key.
const NUMBER: u8 = b'L';
/// The first byte of a text in a key.
const TEXT: u8 = b'S';
/// The first byte of a UUID in a key.
const UUID: u8 = b'U';
/// Ends a text in a key.
const TEXT_END: u8 = 0;

/// The id of a vertex.
///
/// Invariant (of those that are stored): a text has at most [`VERTEX_ID_BYTES_MAX`] bytes.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum VertexId {
    /// A number: given by the client, or by us.
    Number(i64),
    /// A text: given by the client, or spliced of primary keys.
    Text(Box<str>),
    /// A UUID.
    Uuid(u128),
}

/// The id of a vertex, read where it lies.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum VertexIdRef<'a> {
    /// See [`VertexId::Number`].
    Number(i64),
    /// See [`VertexId::Text`].
    Text(Cow<'a, str>),
    /// See [`VertexId::Uuid`].
    Uuid(u128),
}

impl VertexId {
    /// Appends it as a part of a key: it ends itself, and sorts as the values do inside each kind.
    pub fn put_key(&self, out: &mut Vec<u8>) {
        match self {
            Self::Number(number) => {
                out.push(NUMBER);
                put_i64(out, *number);
            }
            Self::Text(text) => {
                out.push(TEXT);
                put_text(out, text);
            }
            Self::Uuid(uuid) => {
                out.push(UUID);
                out.extend_from_slice(&uuid.to_be_bytes());
            }
        }
    }

    /// Bytes of it as a part of a key; of a text with zeros and ones some more. Keys that are made with the room that they need cost one allocation.
    #[inline]
    pub(crate) fn key_bytes(&self) -> usize {
        match self {
            Self::Number(_) => 1 + 8,
            Self::Text(text) => 1 + text.len() + 1,
            Self::Uuid(_) => 1 + 16,
        }
    }

    /// It as a part of a key. Cost: an allocation.
    pub fn to_key(&self) -> Vec<u8> {
        let mut key = Vec::with_capacity(self.key_bytes());
        self.put_key(&mut key);
        key
    }

    /// The id that is all of these bytes, a part of a key.
    pub fn of_key(part: &[u8]) -> Option<Self> {
        VertexIdRef::of_key(part).map(VertexIdRef::into_owned)
    }

    /// The same, borrowed.
    pub fn as_ref(&self) -> VertexIdRef<'_> {
        match self {
            Self::Number(number) => VertexIdRef::Number(*number),
            Self::Text(text) => VertexIdRef::Text(Cow::Borrowed(text)),
            Self::Uuid(uuid) => VertexIdRef::Uuid(*uuid),
        }
    }
}

impl<'a> VertexIdRef<'a> {
    /// The id that is all of these bytes, a part of a key. Cost: of a text a look at each byte.
    pub fn of_key(part: &'a [u8]) -> Option<Self> {
        let (kind, rest) = part.split_first()?;
        let mut reader = Reader::new(rest);
        let id = match *kind {
            NUMBER => Self::Number(reader.i64()?),
            TEXT => Self::Text(reader.text()?),
            UUID => Self::Uuid(u128::from_be_bytes(reader.array()?)),
            _ => return None,
        };
        reader.rest().is_empty().then_some(id)
    }

    /// The same, owned.
    pub fn into_owned(self) -> VertexId {
        match self {
            Self::Number(number) => VertexId::Number(number),
            Self::Text(text) => VertexId::Text(text.into()),
            Self::Uuid(uuid) => VertexId::Uuid(uuid),
        }
    }
}

/// Splits the id of a vertex off the front of a key; gives its bytes and the rest. Cost: of a text a search for its end.
pub fn split_key(key: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = match *key.first()? {
        NUMBER => 1 + 8,
        UUID => 1 + 16,
        TEXT => 1 + memchr::memchr(TEXT_END, key.get(1..)?)? + 1,
        _ => return None,
    };
    key.split_at_checked(length)
}

/// The first bytes, in keys, of all ids that are texts which begin with `prefix`.
pub fn text_prefix_key(prefix: &str) -> Vec<u8> {
    let mut key = vec![TEXT];
    store::key::put_escaped(&mut key, prefix.as_bytes());
    key
}

impl From<&str> for VertexId {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl fmt::Display for VertexId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().fmt(formatter)
    }
}

impl fmt::Display for VertexIdRef<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(formatter),
            Self::Text(text) => formatter.write_str(text),
            Self::Uuid(uuid) => uuid::Uuid::from_u128(*uuid).fmt(formatter),
        }
    }
}
