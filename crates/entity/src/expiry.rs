//! What is left of an entity when time has passed: transient entities and instances cease to be.

use bytes::Bytes;
use store::Timestamp;

use crate::encode::{FLAG_TRANSIENT, FLAGS_AT, put_varint, seal, set_modified};
use crate::{EntityView, Malformed, TermId};

/// What is left of an entity.
pub enum Live {
    /// All of it.
    Whole,
    /// Some of it: its stored form without what expired, and the attributes that lost instances. It was changed when the
    /// last of that expired, so that it is the same whether it was cut out of the store already or not.
    Part(Vec<u8>, Vec<TermId>),
    /// Nothing.
    Gone,
}

/// Whether something expired: at its time it is gone.
pub fn is_expired(time: Option<Timestamp>, now: Timestamp) -> bool {
    time.is_some_and(|time| time <= now)
}

/// What is left of `view` at `now`. Cost: nothing for an entity that never expires, or else one pass.
pub fn live(view: &EntityView<'_>, now: Timestamp) -> Live {
    if !view.is_transient() {
        return Live::Whole;
    }
    if is_expired(view.expires_at(), now) {
        return Live::Gone;
    }
    let instances = || view.attributes().flat_map(|attribute| attribute.instances());
    if !instances().any(|instance| is_expired(instance.expires_at(), now)) {
        return Live::Whole;
    }
    let mut out = view.head().to_vec();
    let mut cut = Vec::new();
    let mut transient = view.expires_at().is_some();
    let mut modified = Timestamp(view.modified_at().0.saturating_add(1));
    for attribute in view.attributes() {
        let start = out.len();
        put_varint(&mut out, u64::from(attribute.name().0));
        let body = out.len();
        let mut lost = false;
        for instance in attribute.instances() {
            if is_expired(instance.expires_at(), now) {
                lost = true;
                modified = modified.max(instance.expires_at().unwrap_or(modified));
            } else {
                transient |= instance.expires_at().is_some();
                out.extend_from_slice(instance.bytes());
            }
        }
        if lost {
            cut.push(attribute.name());
        }
        if out.len() == body {
            out.truncate(start);
        } else {
            seal(&mut out, body);
        }
    }
    set_transient(&mut out, transient);
    set_modified(&mut out, modified);
    Live::Part(out, cut)
}

/// Says in a stored form whether anything of it expires.
pub fn set_transient(stored: &mut [u8], transient: bool) {
    let flags = stored.get_mut(FLAGS_AT).expect("an entity has flags");
    *flags = if transient { *flags | FLAG_TRANSIENT } else { *flags & !FLAG_TRANSIENT };
}

/// A stored entity as it is at `now`; `None` if it is gone. Cost: as [`live`].
///
/// # Errors
///
/// If a transient entity is damaged.
pub fn live_bytes(stored: Bytes, now: Timestamp) -> Result<Option<Bytes>, Malformed> {
    // Most entities are never transient: one byte says so.
    if stored.get(FLAGS_AT).is_some_and(|flags| flags & FLAG_TRANSIENT == 0) {
        return Ok(Some(stored));
    }
    Ok(match live(&EntityView::parse(&stored)?, now) {
        Live::Whole => Some(stored),
        Live::Part(bytes, _) => Some(bytes.into()),
        Live::Gone => None,
    })
}
