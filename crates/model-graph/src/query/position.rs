//! Where a walk goes on: in memory, and as an opaque token of bounded size that a client brings back.
//!
//! ```text
//! token = byte 1 (the version), u64 fingerprint of the plan, varint stage, varint path, varint bucket, varint range, the key to go on from
//! ```

use bytes::Bytes;
use graph::plan::{AccessPath, Stage, fingerprint};
use store::wire::{self, Malformed, put_varint};
use store::{Deadline, Range};

use super::Matches;
use crate::{Error, Reader};

const VERSION: u8 = 1;
/// The most bytes of a token: of a key, and what is before it.
pub const PAGE_TOKEN_BYTES_MAX: usize = 8 * 1_024;

/// Where a walk is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Position {
    pub(super) stage: usize,
    /// Which path of the stage; `None`: not chosen yet.
    pub(super) chosen: Option<usize>,
    pub(super) bucket: u32,
    pub(super) range: usize,
    /// In the range; `None`: at its beginning.
    pub(super) start: Option<Bytes>,
}

impl Position {
    pub(super) fn first(reader: &Reader, stages: &[Stage]) -> Option<Self> {
        Self::of_stage(0, reader, stages)
    }

    fn of_stage(stage: usize, reader: &Reader, stages: &[Stage]) -> Option<Self> {
        let bucket = *buckets_of(reader, stages.get(stage)?).start();
        Some(Self { stage, chosen: None, bucket, range: 0, start: None })
    }

    /// Behind the range: in the next one, the next bucket, the next stage.
    pub(super) fn next(self, reader: &Reader, stages: &[Stage]) -> Option<Self> {
        let (stage, path) = (self.stage(stages)?, self.path(stages)?);
        if self.range + 1 < path.ranges.len() {
            return Some(Self { range: self.range + 1, start: None, ..self });
        }
        if self.bucket < *buckets_of(reader, stage).end() {
            return Some(Self { bucket: self.bucket + 1, range: 0, start: None, ..self });
        }
        self.next_stage(reader, stages)
    }

    /// In the next stage.
    pub(super) fn next_stage(self, reader: &Reader, stages: &[Stage]) -> Option<Self> {
        Self::of_stage(self.stage + 1, reader, stages)
    }

    pub(super) fn stage<'s>(&self, stages: &'s [Stage]) -> Option<&'s Stage> {
        stages.get(self.stage)
    }

    pub(super) fn path<'s>(&self, stages: &'s [Stage]) -> Option<&'s AccessPath> {
        self.stage(stages)?.paths.get(self.chosen?)
    }

    /// What is left of the range.
    pub(super) fn rest(&self, path: &AccessPath) -> Option<Range> {
        let range = path.ranges.get(self.range)?;
        Some(match &self.start {
            None => range.clone(),
            Some(start) => Range { start: start.clone(), end: range.end.clone() },
        })
    }

    fn put(&self, out: &mut Vec<u8>) {
        let path = self.chosen.map_or(0, |path| path + 1);
        for number in [self.stage, path, self.range] {
            put_varint(out, u64::try_from(number).expect("a count fits 64 bits"));
        }
        put_varint(out, self.bucket.into());
        if let Some(start) = &self.start {
            out.extend_from_slice(start);
        }
    }

    fn read(reader: &mut wire::Reader<'_>) -> Result<Self, Malformed> {
        let mut number = || usize::try_from(reader.varint()?).map_err(|_| Malformed);
        let (stage, path, range) = (number()?, number()?, number()?);
        let bucket = reader.varint_u32()?;
        let start = Some(reader.rest()).filter(|start| !start.is_empty()).map(Bytes::copy_from_slice);
        Ok(Self { stage, chosen: path.checked_sub(1), bucket, range, start })
    }

    /// Whether it is one of a walk of these stages.
    fn is_of(&self, reader: &Reader, stages: &[Stage]) -> bool {
        let Some(stage) = self.stage(stages) else { return false };
        if !buckets_of(reader, stage).contains(&self.bucket) {
            return false;
        }
        if self.chosen.is_none() {
            return self.range == 0 && self.start.is_none();
        }
        let range = self.path(stages).and_then(|path| path.ranges.get(self.range));
        let is_within = |range: &Range| {
            let start = self.start.as_ref();
            start.is_none_or(|start| {
                *start >= range.start && range.end.as_ref().is_none_or(|end| start <= end)
            })
        };
        range.is_some_and(is_within)
    }
}

/// The buckets in which a stage finds something.
pub(super) fn buckets_of(reader: &Reader, stage: &Stage) -> std::ops::RangeInclusive<u32> {
    match &stage.vertex {
        Some(vertex) => {
            let bucket = reader.bucket_of(&vertex.to_key());
            bucket..=bucket
        }
        None => 0..=reader.context().buckets.saturating_sub(1),
    }
}

impl Reader {
    /// The same as [`Reader::matches`], from where another walk of the same plan was.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the token is of another plan, or of none.
    pub fn matches_from(
        &self,
        stages: Vec<Stage>,
        token: &[u8],
        deadline: Deadline,
    ) -> Result<Matches<'_>, Error> {
        let matches = self.matches(stages, deadline);
        let stages = &matches.stages;
        let mut reader = wire::Reader::new(token);
        let mut read = || {
            let is_known = reader.byte()? == VERSION;
            let of = u64::from_le_bytes(reader.array()?);
            match is_known && of == fingerprint(stages) {
                true => Position::read(&mut reader),
                false => Err(Malformed),
            }
        };
        let refusal = || Error::Invalid("Invalid page: it is not of this query".into());
        let position = read().map_err(|_| refusal())?;
        if token.len() > PAGE_TOKEN_BYTES_MAX || !position.is_of(self, stages) {
            return Err(refusal());
        }
        Ok(Matches { position: Some(position), ..matches })
    }
}

impl Matches<'_> {
    /// What [`Reader::matches_from`] goes on from; `None`: nothing is left. Cost: linear in the plan.
    pub fn token(&self) -> Option<Vec<u8>> {
        let position = self.position.as_ref()?;
        let mut token = vec![VERSION];
        token.extend_from_slice(&fingerprint(&self.stages).to_le_bytes());
        position.put(&mut token);
        Some(token)
    }
}
