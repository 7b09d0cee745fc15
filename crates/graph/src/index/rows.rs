//! The index rows of an element.

use std::sync::Arc;

use bytes::Bytes;

use super::values::{NONE, put_value, skip_value};
use crate::analyse::Words;
use crate::schema::{IndexKind, IndexLabel};
use crate::{IndexLabelId, Malformed, PropertiesRef, ScalarRef, ValueRef, keys};

/// A row of an index.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct IndexRow {
    /// Its key.
    pub key: Bytes,
    /// Its value: of a UNIQUE index the row of the element, else nothing.
    pub value: Bytes,
    /// Whether it is of a UNIQUE index: stamped, and put only where none is, or one of an element that is not there any more.
    pub is_unique: bool,
}

/// Appends the rows of an element in some indexes; each key once. `element_row` is the key of its row in the space of elements: of an edge the one
/// at its source. Cost: an allocation for each row, and of SEARCH the search for words.
///
/// # Errors
///
/// If the stored bytes are damaged.
pub fn put_index_rows(
    indexes: &[Arc<IndexLabel>],
    element_row: &[u8],
    properties: PropertiesRef<'_>,
    out: &mut Vec<IndexRow>,
) -> Result<(), Malformed> {
    for index in indexes {
        match index.index_type.kind() {
            IndexKind::Search => put_words(index, element_row, properties, out)?,
            IndexKind::Unique => put_values(index, element_row, properties, true, out)?,
            IndexKind::Secondary | IndexKind::Range | IndexKind::Shard => {
                put_values(index, element_row, properties, false, out)?;
            }
        }
    }
    Ok(())
}

/// Leaves in `old` the rows that go, and in `new` those that come. Cost: a sort of both.
pub fn retain_changes(old: &mut Vec<IndexRow>, new: &mut Vec<IndexRow>) {
    if old.is_empty() || new.is_empty() {
        return;
    }
    old.sort_unstable();
    new.sort_unstable();
    let stays: Vec<_> = new.iter().map(|row| old.binary_search(row).is_ok()).collect();
    old.retain(|row| new.binary_search(row).is_err());
    let mut stays = stays.into_iter();
    new.retain(|_| !stays.next().expect("one for each"));
}

/// The row of the element that an index row finds, by how many fields the index has: for `X` rows. Cost: of texts a search for their ends.
pub fn element_of_row(row: &[u8], fields: usize) -> Option<&[u8]> {
    let values = keys::values_of_index_row(row)?;
    (0..fields).try_fold(values, |rest, _| skip_value(rest))
}

/// Whether a row that finds an element is the one of its values as they are: for indexes of which an element has at most one. Cost: the values are spelled
/// into `scratch`.
///
/// # Errors
///
/// If the stored bytes are damaged.
pub fn is_row_of(
    index: &IndexLabel,
    element_row: &[u8],
    properties: PropertiesRef<'_>,
    (row, scratch): (&[u8], &mut Vec<u8>),
) -> Result<bool, Malformed> {
    scratch.clear();
    keys::put_index_prefix(scratch, index.id);
    for (position, field) in index.fields.iter().enumerate() {
        match properties.get(*field)? {
            // Such an element has no row.
            None if position == 0 => return Ok(false),
            None => scratch.push(NONE),
            Some(ValueRef::One(value)) => put_value(scratch, value),
            Some(ValueRef::Many(_)) => return Err(Malformed),
        }
    }
    let element = element_row.get(1..).ok_or(Malformed)?;
    Ok(row.strip_prefix(&scratch[..]) == Some(element))
}

/// One row for each word of a text, or of several.
fn put_words(
    index: &IndexLabel,
    element_row: &[u8],
    properties: PropertiesRef<'_>,
    out: &mut Vec<IndexRow>,
) -> Result<(), Malformed> {
    let [field] = *index.fields else { return Err(Malformed) };
    let Some(value) = properties.get(field)? else { return Ok(()) };
    let mut key = Vec::with_capacity(64);
    for word in words_of(value).iter() {
        keys::put_index_prefix(&mut key, index.id);
        put_value(&mut key, ScalarRef::Text(word));
        out.push(finding_row(&mut key, element_row)?);
    }
    Ok(())
}

/// The words of a stored value: of texts; of several those of all.
pub(crate) fn words_of(value: ValueRef<'_>) -> Words {
    let of_scalar = |scalar: ScalarRef<'_>| match scalar {
        ScalarRef::Text(text) => Words::of_text(text),
        _ => Words::default(),
    };
    match value {
        ValueRef::One(scalar) => of_scalar(scalar),
        ValueRef::Many(scalars) => scalars.iter().map(of_scalar).fold(Words::default(), Words::and),
    }
}

/// One row of the values of all fields; where a field has several values, one for each.
fn put_values(
    index: &IndexLabel,
    element_row: &[u8],
    properties: PropertiesRef<'_>,
    is_unique: bool,
    out: &mut Vec<IndexRow>,
) -> Result<(), Malformed> {
    let mut heads = vec![head_of(index.id, is_unique)];
    for (position, field) in index.fields.iter().enumerate() {
        match properties.get(*field)? {
            // Queries ask at least for the first field.
            None if position == 0 && !is_unique => return Ok(()),
            None => heads.iter_mut().for_each(|head| head.push(NONE)),
            Some(ValueRef::One(value)) => heads.iter_mut().for_each(|head| put_value(head, value)),
            Some(ValueRef::Many(values)) => {
                let with = |head: &Vec<u8>, value| {
                    let mut head = head.clone();
                    put_value(&mut head, value);
                    head
                };
                heads =
                    heads.iter().flat_map(|head| values.iter().map(move |value| with(head, value))).collect();
                heads.sort_unstable();
                heads.dedup();
            }
        }
    }
    for mut head in heads {
        out.push(match is_unique {
            true => IndexRow { key: head.into(), value: Bytes::copy_from_slice(element_row), is_unique },
            false => finding_row(&mut head, element_row)?,
        });
    }
    Ok(())
}

fn head_of(index: IndexLabelId, is_unique: bool) -> Vec<u8> {
    let mut head = Vec::with_capacity(64);
    if is_unique {
        keys::put_unique_prefix(&mut head, index);
    } else {
        keys::put_index_prefix(&mut head, index);
    }
    head
}

fn finding_row(head: &mut Vec<u8>, element_row: &[u8]) -> Result<IndexRow, Malformed> {
    head.extend_from_slice(element_row.get(1..).ok_or(Malformed)?);
    let key = Bytes::copy_from_slice(head);
    head.clear();
    Ok(IndexRow { key, value: Bytes::new(), is_unique: false })
}
