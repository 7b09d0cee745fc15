//! How hooks and their registrations lie in rows; of the parts that [`crate::encode`] describes.

use store::Cursor;
use store::wire::{Malformed, Reader, put_i64, put_text, put_varint};

use super::{Hook, Registration};
use crate::AttributeSearch;
use crate::encode::{begin, put_option, read, take_list, take_option, take_owned};

/// A hook as bytes.
pub(crate) fn put_hook(hook: &Hook) -> Vec<u8> {
    let mut out = begin();
    put_text(&mut out, &hook.name);
    put_text(&mut out, &hook.url);
    put_option(&mut out, hook.series.as_deref(), put_text);
    put_varint(&mut out, hook.attributes.len() as u64);
    for attribute in &hook.attributes {
        put_text(&mut out, &attribute.name);
        put_option(&mut out, attribute.value.as_deref(), put_text);
    }
    put_option(&mut out, hook.secret.as_deref(), put_text);
    out.push(u8::from(hook.is_active));
    out
}

/// The hook that the bytes are.
pub(crate) fn take_hook(bytes: &[u8]) -> Result<Hook, Malformed> {
    let fields = &mut read(bytes)?;
    Ok(Hook {
        name: take_owned(fields)?,
        url: take_owned(fields)?,
        series: take_option(fields, take_owned)?,
        attributes: take_list(fields, |fields| {
            Ok(AttributeSearch { name: take_owned(fields)?, value: take_option(fields, take_owned)? })
        })?,
        secret: take_option(fields, take_owned)?,
        is_active: fields.byte()? != 0,
    })
}

/// The registration of a hook, as bytes. The row once said how far the hook was notified: those fields are zero now, and passed over.
pub(crate) fn put_registration(registration: &Registration) -> Vec<u8> {
    let mut out = begin();
    let (first, others) = match registration.since.split_first() {
        Some((first, others)) => (*first, others),
        None => (Cursor::default(), &[][..]),
    };
    out.extend_from_slice(&first.to_bytes());
    for _ in 0..4 {
        put_varint(&mut out, 0);
    }
    put_i64(&mut out, 0);
    put_text(&mut out, "");
    // Those of other shards, up to the end: stores with one shard have none.
    for cursor in others {
        out.extend_from_slice(&cursor.to_bytes());
    }
    out
}

/// The registration of a hook in the bytes.
pub(crate) fn take_registration(bytes: &[u8]) -> Result<Registration, Malformed> {
    let fields = &mut read(bytes)?;
    let mut since = vec![take_cursor(fields)?];
    for _ in 0..4 {
        fields.varint()?;
    }
    fields.i64()?;
    take_owned(fields)?;
    while !fields.is_empty() {
        since.push(take_cursor(fields)?);
    }
    Ok(Registration { since })
}

fn take_cursor(fields: &mut Reader<'_>) -> Result<Cursor, Malformed> {
    fields.array().map(Cursor::from_bytes)
}
