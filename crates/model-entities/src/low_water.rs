//! Up to where rows of what expired are known to be removed.

use bytes::Bytes;
use parking_lot::Mutex;

/// So many passes over what expired go on behind what the last one removed; the next begins at the beginning: another node
/// may have written something there.
const PASSES_SHORT: u32 = 60;

/// Up to where the rows of what expires are removed, as far as this process knows. Removed rows are passed over one by one
/// by every scan that meets them, for a long time.
#[derive(Debug, Default)]
pub(crate) struct LowWater(Mutex<Mark>);

#[derive(Debug, Default)]
struct Mark {
    /// No row has a key below; `None`: nothing is known.
    first: Option<Bytes>,
    /// The first key that was written since the last pass began.
    written: Option<Bytes>,
    passes: u32,
}

impl LowWater {
    /// Begins a pass: the key where it begins, if not at the beginning.
    pub(crate) fn begin(&self) -> Option<Bytes> {
        let mut mark = self.0.lock();
        mark.written = None;
        mark.passes += 1;
        if mark.passes > PASSES_SHORT {
            (mark.passes, mark.first) = (0, None);
        }
        mark.first.clone()
    }

    /// Notes that a pass removed all rows below a key, but for those that were written meanwhile.
    pub(crate) fn end(&self, first: Bytes) {
        let mut mark = self.0.lock();
        let written = mark.written.clone();
        mark.first = Some(written.map_or(first.clone(), |written| written.min(first)));
    }

    /// Notes that a row is about to be written: it may be of something that has already expired.
    pub(crate) fn note(&self, key: &[u8]) {
        let mut mark = self.0.lock();
        let Mark { first, written, .. } = &mut *mark;
        if written.as_ref().is_none_or(|written| key < &**written) {
            *written = Some(Bytes::copy_from_slice(key));
        }
        if first.as_ref().is_some_and(|first| key < &**first) {
            first.clone_from(written);
        }
    }
}
