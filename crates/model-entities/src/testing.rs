//! The pure steps of a write, one by one, for benches: no store, no clock.

use store::{Timestamp, Write};

use crate::{EntityView, Error, Operation, apply, index};

/// What an operation makes of a stored entity: the new stored form, and the index rows to write.
///
/// # Errors
///
/// What the operation refuses.
pub fn think(
    stored: Option<&[u8]>,
    id: &str,
    operation: &Operation,
    now: Timestamp,
) -> Result<(Option<Vec<u8>>, Vec<Write>), Error> {
    let view = stored.map(EntityView::parse).transpose()?;
    let outcome = apply::apply(view.as_ref(), id, operation, now, apply::WriteRules::FREE)?;
    Ok((outcome.bytes, outcome.writes))
}

/// How many index rows a stored entity has.
///
/// # Errors
///
/// If the bytes are no entity.
pub fn count_index_rows(stored: &[u8]) -> Result<usize, Error> {
    Ok(index::index_rows(&EntityView::parse(stored)?, &index::Indexed::All).len())
}
