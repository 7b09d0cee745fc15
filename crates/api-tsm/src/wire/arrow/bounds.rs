//! What a batch claims of its body, checked before the library slices it: it promises errors for contents that make no
//! sense, but not for stretches that lie outside of the body.
//!
//! Texts as views ("Variable-size Binary View" of the Arrow columnar format 1.5) are entries that name a stretch of a buffer,
//! and may overlap: a few bytes each, they can claim texts without bound, all of which the library would check. So what
//! they claim is added up here.

use std::collections::BTreeMap;

use arrow_ipc::RecordBatch;
use arrow_schema::{DataType, Schema};

/// Bytes of a view; the first four are the length of its text.
const VIEW_BYTES: usize = 16;

/// The buffers of a column in a batch.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Buffers {
    /// Nulls, and entries of so many bytes.
    Entries(usize),
    /// Nulls, offsets of so many bytes, and the bytes of texts.
    Texts(usize),
    /// Nulls, views, and as many of bytes as the batch says.
    Views,
}

impl Buffers {
    fn of(data_type: &DataType) -> Self {
        match data_type {
            DataType::Utf8 => Self::Texts(4),
            DataType::LargeUtf8 => Self::Texts(8),
            DataType::Utf8View => Self::Views,
            DataType::Dictionary(keys, _) => Self::Entries(width(keys)),
            other => Self::Entries(width(other)),
        }
    }
}

/// Bytes of an entry of a type that [`Columns`](super::schema::Columns) takes and that is no text.
fn width(data_type: &DataType) -> usize {
    data_type.primitive_width().expect("keys, times, values and numbers of flags have a width")
}

/// The buffers of batches and of dictionaries.
#[derive(Debug, Default)]
pub(super) struct Layouts {
    /// Those of each column.
    pub(super) columns: Vec<Buffers>,
    /// Those of the values of each dictionary, by its ID.
    pub(super) dictionaries: BTreeMap<i64, Buffers>,
}

impl Layouts {
    /// Those of a schema whose types are the ones we take; `described` is what it was made of.
    pub(super) fn of(schema: &Schema, described: arrow_ipc::Schema<'_>) -> Self {
        let columns = schema.fields().iter().map(|field| Buffers::of(field.data_type())).collect();
        let mut dictionaries = BTreeMap::new();
        for (field, described) in schema.fields().iter().zip(described.fields().into_iter().flatten()) {
            if let (DataType::Dictionary(_, values), Some(dictionary)) =
                (field.data_type(), described.dictionary())
            {
                // Of columns that share a dictionary the library takes the first.
                dictionaries.entry(dictionary.id()).or_insert(Buffers::of(values));
            }
        }
        Self { columns, dictionaries }
    }
}

/// Checks that all stretches of a batch lie in its body and are as long as its columns need them; answers the bytes of text
/// that views claim. `None` if not. Cost: a nanosecond a view.
pub(super) fn claimed(batch: RecordBatch<'_>, columns: &[Buffers], body: &[u8]) -> Option<u64> {
    let rows = usize::try_from(batch.length()).ok()?;
    let nodes = batch.nodes()?;
    if nodes.len() != columns.len() {
        return None;
    }
    let mut stretches = batch.buffers()?.iter().map(|buffer| {
        let from = usize::try_from(buffer.offset()).ok()?;
        let to = from.checked_add(usize::try_from(buffer.length()).ok()?)?;
        body.get(from..to)
    });
    // One more than there are is as wrong as one outside of the body; and no stretch holds a part of an entry.
    let mut next = |entries: usize, bytes: usize| {
        let bytes_min = entries.checked_mul(bytes)?;
        let is_sound = |stretch: &&[u8]| stretch.len() >= bytes_min && stretch.len().is_multiple_of(bytes);
        stretches.next().flatten().filter(is_sound)
    };
    let mut counts = batch.variadicBufferCounts().into_iter().flatten();
    let mut claimed = 0_u64;
    for (column, node) in columns.iter().zip(nodes) {
        let nulls = usize::try_from(node.null_count()).ok()?;
        if usize::try_from(node.length()) != Ok(rows) || nulls > rows {
            return None;
        }
        next(if nulls > 0 { rows.div_ceil(8) } else { 0 }, 1)?;
        match column {
            Buffers::Entries(bytes) => {
                next(rows, *bytes)?;
            }
            Buffers::Texts(bytes) => {
                // Offsets of no rows may be left out.
                next(if rows == 0 { 0 } else { rows.checked_add(1)? }, *bytes)?;
                next(0, 1)?;
            }
            Buffers::Views => {
                let (views, _) = next(rows, VIEW_BYTES)?.as_chunks::<VIEW_BYTES>();
                let buffers = usize::try_from(counts.next()?).ok()?;
                for _ in 0..buffers {
                    next(0, 1)?;
                }
                // Without buffers of bytes, views hold their texts themselves.
                for [a, b, c, d, ..] in views.iter().take(if buffers == 0 { 0 } else { views.len() }) {
                    claimed = claimed.saturating_add(u32::from_le_bytes([*a, *b, *c, *d]).into());
                }
            }
        }
    }
    Some(claimed)
}
