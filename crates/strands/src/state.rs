//! The state row of a strand: what a writer and a reader must know before all else. Small, always cached. Pure.

use store::Timestamp;

use crate::codec::{Encoding, Malformed};
use crate::fields::{put_generation, put_last, read_generation, read_last};
use crate::index::Index;
use store::wire::{Reader, put_varint, put_zigzag};

/// The form of the row; another is refused.
const FORMAT: u8 = 3;

const AUDITED: u8 = 1;
const UNAUDITED: u8 = 2;
const CLEARED: u8 = 4;
const MARKED: u8 = 8;
const OVERLAID: u8 = 16;
const RECOMPRESSED: u8 = 32;
const EXPIRED: u8 = 64;
const UNTIDY: u8 = 128;
/// These two lie above the encoding.
const OVERLAYS_SPILLED: u8 = 4;
const AUDIT_SPILLED: u8 = 8;
const ENCODING: u8 = 3;

/// The state of a strand.
///
/// Invariant: `overlays.is_some()` exactly when there are overlay rows, and their rows are those of the ordinals
/// `first..next`, every one of them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct State {
    /// Writes so far.
    pub(crate) sequence: u64,
    /// Changes of blocks so far, and which attempt the last was (fresh.rs).
    pub(crate) generation: u64,
    /// When it was last written.
    pub(crate) written: Timestamp,
    /// How the last write was packed.
    pub(crate) encoding: Encoding,
    /// Whether a write was kept.
    pub(crate) audited: bool,
    /// Whether a write was not kept.
    pub(crate) unaudited: bool,
    /// Where audited writes are; stored once a write was kept.
    pub(crate) audit: AuditRows,
    /// How far blocks were looked at to be packed smaller.
    pub(crate) recompressed: Option<Recompressed>,
    /// A caller's progress.
    pub(crate) mark: Option<i64>,
    /// The first and last time of writes that may have left fresh rows which no state names.
    pub(crate) untidy: Option<(i64, i64)>,
    /// The ordinal of the next overlay.
    pub(crate) overlay_next: u64,
    /// The overlays there are.
    pub(crate) overlays: Option<Overlays>,
    /// The blocks there are.
    pub(crate) index: Index,
}

/// What is known of the rows of audited writes without reading them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct AuditRows {
    /// Tells the strand from one of the same name that was erased.
    pub(crate) life: u32,
    /// The levels (bits) of which there may be rows.
    pub(crate) levels: u64,
    /// Before this time audited writes are gone, or about to go.
    pub(crate) from: i64,
    /// Whether points of one may lie in rows of their own.
    pub(crate) spilled: bool,
}

/// Blocks up to this generation that end before this time are packed as small as they become.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Recompressed {
    pub(crate) generation: u64,
    pub(crate) before: i64,
}

impl Recompressed {
    pub(crate) fn has_seen(self, generation: u64, last: i64) -> bool {
        generation <= self.generation && last < self.before
    }
}

/// What is known of a strand's overlays without reading them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Overlays {
    /// The oldest one's ordinal.
    pub(crate) first_ordinal: u64,
    /// Points in them.
    pub(crate) points: u64,
    /// Whether one of them deletes.
    pub(crate) clears: bool,
    /// The first time they touch (at the earliest).
    pub(crate) first: i64,
    /// The last time they touch (at the latest).
    pub(crate) last: i64,
    /// Whether points of one lie in rows of their own.
    pub(crate) spilled: bool,
}

impl Overlays {
    /// These and newer ones.
    pub(crate) fn with(self, newer: Self) -> Self {
        Self {
            first_ordinal: self.first_ordinal,
            points: self.points + newer.points,
            clears: self.clears || newer.clears,
            first: self.first.min(newer.first),
            last: self.last.max(newer.last),
            spilled: self.spilled || newer.spilled,
        }
    }

    /// Whether an instant of `first..=last` may be touched.
    pub(crate) fn meet(&self, first: i64, last: i64) -> bool {
        self.first <= last && first <= self.last
    }
}

impl State {
    /// A strand that was never written.
    pub(crate) fn new() -> Self {
        Self {
            sequence: 0,
            generation: 0,
            written: Timestamp(i64::MIN),
            encoding: Encoding::Hot,
            audited: false,
            unaudited: false,
            audit: AuditRows { life: 0, levels: 0, from: i64::MIN, spilled: false },
            recompressed: None,
            mark: None,
            untidy: None,
            overlay_next: 0,
            overlays: None,
            index: Index::default(),
        }
    }

    /// How many overlays there are.
    pub(crate) fn overlay_count(&self) -> usize {
        let count = self.overlays.map_or(0, |overlays| self.overlay_next - overlays.first_ordinal);
        usize::try_from(count).unwrap_or(usize::MAX)
    }

    /// The first and last time that blocks and overlays touch; points lie nowhere else.
    pub(crate) fn bounds(&self) -> Option<(i64, i64)> {
        let overlaid = self.overlays.map(|overlays| (overlays.first, overlays.last));
        match (self.index.extent(), overlaid) {
            (Some(held), Some(over)) => Some((held.0.min(over.0), held.1.max(over.1))),
            (held, over) => held.or(over),
        }
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64 + 80 * self.index.tail.len() + 24 * self.index.pages.len());
        out.push(FORMAT);
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        let encoding = match self.encoding {
            Encoding::Raw => 0,
            Encoding::Hot => 1,
            Encoding::Cold => 2,
        };
        out.push(
            encoding
                | flag(self.overlays.is_some_and(|overlays| overlays.spilled), OVERLAYS_SPILLED)
                | flag(self.audited && self.audit.spilled, AUDIT_SPILLED),
        );
        out.push(
            flag(self.audited, AUDITED)
                | flag(self.unaudited, UNAUDITED)
                | flag(self.overlays.is_some_and(|overlays| overlays.clears), CLEARED)
                | flag(self.mark.is_some(), MARKED)
                | flag(self.recompressed.is_some(), RECOMPRESSED)
                | flag(self.untidy.is_some(), UNTIDY)
                | flag(self.audited && self.audit.from > i64::MIN, EXPIRED)
                | flag(self.overlays.is_some(), OVERLAID),
        );
        put_varint(&mut out, self.sequence);
        put_generation(&mut out, self.generation);
        put_zigzag(&mut out, self.written.0);
        if let Some(mark) = self.mark {
            put_zigzag(&mut out, mark);
        }
        if let Some(recompressed) = self.recompressed {
            put_generation(&mut out, recompressed.generation);
            put_zigzag(&mut out, recompressed.before);
        }
        if let Some((first, last)) = self.untidy {
            put_zigzag(&mut out, first);
            put_last(&mut out, first, last);
        }
        if self.audited {
            put_varint(&mut out, self.audit.life.into());
            put_varint(&mut out, self.audit.levels);
            if self.audit.from > i64::MIN {
                put_zigzag(&mut out, self.audit.from);
            }
        }
        put_varint(&mut out, self.overlay_next);
        if let Some(overlays) = self.overlays {
            put_varint(&mut out, self.overlay_next - overlays.first_ordinal);
            put_varint(&mut out, overlays.points);
            put_zigzag(&mut out, overlays.first);
            put_last(&mut out, overlays.first, overlays.last);
        }
        self.index.put(&mut out);
        out
    }

    /// Reads a row. Cost: some 10 ns, and as much again for each block in the tail.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        if reader.byte()? != FORMAT {
            return Err(Malformed);
        }
        let packed = reader.byte()?;
        let encoding = match packed & ENCODING {
            0 => Encoding::Raw,
            1 => Encoding::Hot,
            2 => Encoding::Cold,
            _ => return Err(Malformed),
        };
        let flags = reader.byte()?;
        check_spilled(packed, flags)?;
        let (sequence, generation) = (reader.varint()?, read_generation(&mut reader)?);
        let written = Timestamp(reader.zigzag()?);
        let mark = if flags & MARKED == 0 { None } else { Some(reader.zigzag()?) };
        let recompressed = match flags & RECOMPRESSED {
            0 => None,
            _ => Some(Recompressed { generation: read_generation(&mut reader)?, before: reader.zigzag()? }),
        };
        let untidy = if flags & UNTIDY == 0 {
            None
        } else {
            let first = reader.zigzag()?;
            Some((first, read_last(&mut reader, first)?))
        };
        let audit = AuditRows { spilled: packed & AUDIT_SPILLED != 0, ..read_audit(&mut reader, flags)? };
        let overlay_next = reader.varint()?;
        let overlays = if flags & OVERLAID == 0 {
            None
        } else {
            let count = reader.varint()?;
            let points = reader.varint()?;
            let first = reader.zigzag()?;
            Some(Overlays {
                first_ordinal: overlay_next.checked_sub(count).filter(|_| count > 0).ok_or(Malformed)?,
                points,
                clears: flags & CLEARED != 0,
                first,
                last: read_last(&mut reader, first)?,
                spilled: packed & OVERLAYS_SPILLED != 0,
            })
        };
        let index = Index::read(&mut reader)?;
        reader.end()?;
        let (audited, unaudited) = (flags & AUDITED != 0, flags & UNAUDITED != 0);
        Ok(Self {
            sequence,
            generation,
            written,
            encoding,
            audited,
            unaudited,
            audit,
            recompressed,
            mark,
            untidy,
            overlay_next,
            overlays,
            index,
        })
    }
}

/// What lies in rows of its own is of something that there is.
fn check_spilled(packed: u8, flags: u8) -> Result<(), Malformed> {
    let is_told = |spilled, whole| packed & spilled == 0 || flags & whole != 0;
    let is_known = packed & !(ENCODING | OVERLAYS_SPILLED | AUDIT_SPILLED) == 0;
    let is_sound = is_known && is_told(OVERLAYS_SPILLED, OVERLAID) && is_told(AUDIT_SPILLED, AUDITED);
    is_sound.then_some(()).ok_or(Malformed)
}

fn read_audit(reader: &mut Reader<'_>, flags: u8) -> Result<AuditRows, Malformed> {
    let mut audit = State::new().audit;
    if flags & AUDITED != 0 {
        (audit.life, audit.levels) = (reader.varint_u32()?, reader.varint()?);
    }
    if flags & EXPIRED != 0 {
        audit.from = reader.zigzag()?;
    }
    Ok(audit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_come_back_and_cut_ones_are_refused() {
        let overlays = Overlays {
            first_ordinal: 4,
            points: 300,
            clears: true,
            first: -7,
            last: i64::MAX - 1,
            spilled: true,
        };
        let mut state =
            State { sequence: 12, generation: 3, mark: Some(-5), overlay_next: 9, ..State::new() };
        for overlays in [None, Some(overlays)] {
            state.overlays = overlays;
            state.audited = !state.audited;
            state.untidy = Some((-4, i64::MAX - 1)).filter(|_| !state.audited);
            state.recompressed = Some(Recompressed { generation: 3, before: -9 }).filter(|_| state.audited);
            state.audit = match state.audited {
                true => AuditRows { life: 77, levels: 1 << 63 | 5, from: 1 << 40, spilled: true },
                false => State::new().audit,
            };
            let bytes = state.to_bytes();
            assert_eq!(State::parse(&bytes), Ok(state.clone()));
            assert!((0..bytes.len()).all(|len| State::parse(&bytes[..len]).is_err()));
        }
        assert_eq!(State::parse(&[1]), Err(Malformed));
    }
}
