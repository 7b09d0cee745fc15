//! The head of intents: how far the one under way is, and what became of those before.

use bytes::Bytes;
use store::WriteId;
use store::wire::{Malformed, put_varint};

use crate::encode::{begin, read};
use crate::keys;

/// Intents whose outcome is remembered.
const OUTCOMES: u64 = 64;

/// Row `i`.
///
/// ```text
/// head = format:u8=1  state:u8 (0 idle, 1 preparing, 2 decided)  number  outcomes:u64  id:u128  pieces
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Head {
    pub(super) state: State,
    /// Intents so far, this one counted.
    pub(super) number: u64,
    /// What became of those that are over: the lowest bit is of the last, one if it happened.
    pub(super) outcomes: u64,
    /// Of this one, or the last.
    pub(super) id: WriteId,
    pub(super) pieces: u32,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum State {
    #[default]
    Idle = 0,
    Preparing = 1,
    Decided = 2,
}

impl Head {
    pub(super) fn next(self, id: WriteId, pieces: u32) -> Self {
        Self { state: State::Preparing, number: self.number + 1, outcomes: self.outcomes, id, pieces }
    }

    pub(super) fn decided(self) -> Self {
        Self { state: State::Decided, ..self }
    }

    pub(super) fn over(self, has_happened: bool) -> Self {
        Self { state: State::Idle, outcomes: self.outcomes << 1 | u64::from(has_happened), ..self }
    }

    /// Whether an intent is over.
    pub(super) fn is_behind(self, number: u64) -> bool {
        self.last_over() >= number
    }

    pub(super) fn last_over(self) -> u64 {
        self.number - u64::from(self.state != State::Idle)
    }

    /// Whether an intent that is over happened; `None` if it is too long ago to say.
    pub(super) fn outcome_of(self, number: u64) -> Option<bool> {
        let ago = self.last_over().checked_sub(number).filter(|ago| *ago < OUTCOMES)?;
        Some(self.outcomes >> ago & 1 == 1)
    }

    pub(super) fn keys(self) -> Vec<Bytes> {
        (0..self.pieces).map(|piece| keys::piece(self.id, piece)).collect()
    }

    pub(super) fn to_bytes(self) -> Bytes {
        let mut out = begin();
        out.push(self.state as u8);
        put_varint(&mut out, self.number);
        out.extend_from_slice(&self.outcomes.to_le_bytes());
        out.extend_from_slice(&self.id.0.to_le_bytes());
        put_varint(&mut out, self.pieces.into());
        out.into()
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let fields = &mut read(bytes)?;
        let state = match fields.byte()? {
            0 => State::Idle,
            1 => State::Preparing,
            2 => State::Decided,
            _ => return Err(Malformed),
        };
        let number = fields.varint()?;
        if number == 0 && state != State::Idle {
            return Err(Malformed);
        }
        let outcomes = u64::from_le_bytes(fields.array()?);
        let id = WriteId(u128::from_le_bytes(fields.array()?));
        Ok(Self { state, number, outcomes, id, pieces: fields.varint_u32()? })
    }
}

pub(super) fn put_progress(number: u64, chunks: usize) -> Bytes {
    let mut out = begin();
    put_varint(&mut out, number);
    put_varint(&mut out, chunks as u64);
    out.into()
}

pub(super) fn take_progress(bytes: &[u8]) -> Result<(u64, usize), Malformed> {
    let fields = &mut read(bytes)?;
    Ok((fields.varint()?, fields.length(usize::MAX)?))
}
