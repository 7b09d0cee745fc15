//! Texts as views ("Variable-size Binary View" of the Arrow columnar format 1.5): entries that name a stretch of a
//! buffer, and may overlap. A few bytes each, they can claim texts without bound, all of which the library would check;
//! so what they claim is added up before.

use arrow_ipc::RecordBatch;
use arrow_schema::{DataType, Schema};

/// Bytes of a view; the first four are the length of its text.
const VIEW_BYTES: usize = 16;

/// The buffers of a column in a batch.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Buffers {
    /// Nulls and entries.
    Two,
    /// Nulls, offsets and bytes.
    Three,
    /// Nulls, views, and as many of bytes as the batch says.
    Views,
}

impl Buffers {
    /// Those of each column of a schema whose types are the ones we take.
    pub(super) fn of(schema: &Schema) -> Vec<Self> {
        let kind = |data_type: &DataType| match data_type {
            DataType::Utf8 | DataType::LargeUtf8 => Self::Three,
            DataType::Utf8View => Self::Views,
            _ => Self::Two,
        };
        schema.fields().iter().map(|field| kind(field.data_type())).collect()
    }
}

/// The bytes of text that the views of a batch claim; `columns` are those of the schema, one of views for a dictionary.
/// `None` if the batch's description does not fit its body. Cost: a nanosecond a view.
pub(super) fn claimed(batch: RecordBatch<'_>, columns: &[Buffers], body: &[u8]) -> Option<u64> {
    // Without buffers of bytes, views hold their texts themselves.
    let Some(counts) = batch.variadicBufferCounts().filter(|counts| !counts.is_empty()) else {
        return Some(0);
    };
    let mut counts = counts.iter();
    let buffers = batch.buffers()?;
    let (mut place, mut claimed) = (0_usize, 0_u64);
    for column in columns {
        place = place.checked_add(match column {
            Buffers::Two => 2,
            Buffers::Three => 3,
            Buffers::Views => {
                let views = (place.checked_add(1)? < buffers.len()).then(|| buffers.get(place + 1))?;
                let from = usize::try_from(views.offset()).ok()?;
                let to = from.checked_add(usize::try_from(views.length()).ok()?)?;
                let (views, _) = body.get(from..to)?.as_chunks::<VIEW_BYTES>();
                for [a, b, c, d, ..] in views {
                    claimed = claimed.saturating_add(u32::from_le_bytes([*a, *b, *c, *d]).into());
                }
                usize::try_from(counts.next()?).ok()?.checked_add(2)?
            }
        })?;
    }
    Some(claimed)
}
