//! Kept writes: a strand as it stood at a time, and what was written when.

use store::{Direction, Timestamp};

use super::layer::{EncodedLayer, Layer, compose};
use super::read::{Patience, or_gone};
use super::state::State;
use super::{Modification, Strand, Strands, keys};
use crate::{Error, Malformed, Points, TimeRange};

/// Rows that are read at once.
const PAGE_ROWS: usize = 256;
/// Layers that are held before they are made one.
const LAYERS_MAX: usize = 64;

/// Refuses a strand some of whose writes were not kept.
fn check_audited(state: &State) -> Result<(), Error> {
    if state.audited && !state.unaudited {
        return Ok(());
    }
    let text = "a strand whose writes were not all kept (audit) cannot be read as of a time";
    Err(Error::Invalid(text.into()))
}

impl Strands {
    /// See [`Strands::read_page`]. Cost: that of a read, if nothing was written later; else all writes
    /// kept until then that touch the range are decoded and merged.
    pub(super) async fn page_as_of(
        &self,
        strand: &Strand,
        range: TimeRange,
        at: Timestamp,
        points_max: usize,
        out: &mut Points,
    ) -> Result<Option<i64>, Error> {
        if range.is_empty() {
            return Ok(None);
        }
        let before = out.len();
        let mut patience = Patience::default();
        let layer = loop {
            if let Some((stamp, state)) = self.state(strand).await? {
                check_audited(&state)?;
                if state.written <= at {
                    // As it stands now, if nobody writes meanwhile.
                    let next = self.try_page(strand, range, points_max, out, &mut patience).await?;
                    if let Some(next) = next.filter(|_| patience.has_seen(stamp)) {
                        return Ok(next);
                    }
                    out.truncate(before);
                }
            }
            if let Some(layer) = self.try_as_of(strand, range, at).await? {
                break layer;
            }
            patience.wait(strand).await?;
        };
        let len = layer.points.len().min(points_max.max(1));
        out.extend_from_range(&layer.points, 0..len);
        Ok(layer.points.times.get(len).copied())
    }

    /// All writes until `at` as one; `None` if the strand was erased meanwhile.
    async fn try_as_of(
        &self,
        strand: &Strand,
        range: TimeRange,
        at: Timestamp,
    ) -> Result<Option<Layer>, Error> {
        let Some((_, state)) = self.state(strand).await? else {
            return Ok(Some(Layer::default()));
        };
        let mut layers = Vec::new();
        let mut take = |_, layer: &EncodedLayer<'_>| -> Result<(), Malformed> {
            layers.push(layer.decode(range)?);
            if layers.len() >= LAYERS_MAX {
                layers = vec![compose(&layers)];
            }
            Ok(())
        };
        self.each_kept(strand, range, (Timestamp(i64::MIN), at), &mut take).await?;
        // An erased strand's rows may have gone while they were read.
        let (_, now) = or_gone!(self.state(strand).await?);
        Ok((now.sequence >= state.sequence).then(|| compose(&layers)))
    }

    /// See [`Strands::modifications`].
    pub(super) async fn kept_writes(
        &self,
        strand: &Strand,
        range: TimeRange,
        written: (Timestamp, Timestamp),
    ) -> Result<Vec<Modification>, Error> {
        let mut all = Vec::new();
        let mut take = |when, layer: &EncodedLayer<'_>| -> Result<(), Malformed> {
            all.extend(layer.modification(when));
            Ok(())
        };
        self.each_kept(strand, range, written, &mut take).await?;
        Ok(all)
    }

    /// Kept writes that touch the range, oldest first.
    async fn each_kept(
        &self,
        strand: &Strand,
        range: TimeRange,
        (from, to): (Timestamp, Timestamp),
        take: &mut (dyn FnMut(Timestamp, &EncodedLayer<'_>) -> Result<(), Malformed> + Send),
    ) -> Result<(), Error> {
        if from > to {
            return Ok(());
        }
        let mut rest = keys::audits(strand, from, to);
        loop {
            let page =
                self.shared.store.scan(&strand.partition, &rest, Direction::Forward, PAGE_ROWS).await?;
            for (key, value) in page.rows() {
                let layer = EncodedLayer::parse(value)?;
                if layer.meets(range) {
                    take(keys::written_of(key).ok_or(Malformed)?, &layer)?;
                }
            }
            let Some(last) = page.last_key().filter(|_| page.more()) else { return Ok(()) };
            rest.start = [last, &[0]].concat().into();
        }
    }
}
