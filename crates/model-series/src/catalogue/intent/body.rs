//! What an intent says: what must hold, and what is written where.
//!
//! ```text
//! body      = format:u8=1  count seen*  count bucket*
//! seen      = bytes:key  0 | 1 write id:u128       no row, or the one that this commit wrote
//! bucket    = number  count chunk*
//! chunk     = count write*  bytes:change            one commit
//! write     = 0 bytes:key bytes:value | 1 (stamped) bytes:key bytes:value | 2 (deleted) bytes:key
//! ```
//!
//! Numbers and counts are varints, bytes have their length before them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use bytes::Bytes;
use store::wire::{Malformed, Reader, put_bytes, put_varint};
use store::{ErrorKind, LimitExceeded, Limits, Write, WriteId};

use super::super::pending::{PendingCommit, bytes_of};
use crate::encode::{begin, read, take_list};
use crate::feed::part_definitions;
use crate::{Error, keys};

/// An intent.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Body {
    /// Rows that must be as they were seen: by key, the commits that wrote them, or none.
    pub(super) seen: Vec<(Bytes, Option<WriteId>)>,
    /// All buckets that it looks at or writes, with what is written.
    pub(super) buckets: Vec<(u32, Vec<Chunk>)>,
}

/// What one commit takes well.
#[derive(Debug, Default, Eq, PartialEq)]
pub(super) struct Chunk {
    pub(super) writes: Vec<Write>,
    /// Records of definitions.
    pub(super) change: Bytes,
}

impl Body {
    /// What carries a change out.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] for a row that is too large for a commit; `Misuse` for a change that cannot be parted: one that removes ranges, or reports of definitions that it does not write.
    pub(super) fn new(
        pending: PendingCommit,
        seen: Vec<(Bytes, Option<WriteId>)>,
        buckets: &BTreeSet<u32>,
        all_buckets: u32,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let misused = || store::Error::new(ErrorKind::Misuse, "part a change of the catalogue");
        let mut records: HashMap<Bytes, Vec<u8>> = HashMap::new();
        for (number, record) in part_definitions(&pending.change).map_err(|_| misused())? {
            records.entry(keys::definition(number)).or_default().extend_from_slice(record);
        }
        let mut parts: BTreeMap<u32, Vec<Draft>> =
            buckets.iter().map(|bucket| (*bucket, Vec::new())).collect();
        for write in pending.writes {
            if matches!(write, Write::DeleteRange(_)) {
                return Err(misused().into());
            }
            let record = records.remove(write.key()).unwrap_or_default();
            let bytes = bytes_of(&write) + record.len();
            let drafts = parts.entry(keys::bucket_of_key(write.key(), all_buckets)).or_default();
            match drafts.last_mut().filter(|draft| draft.takes(bytes, limits)) {
                Some(draft) => draft.add(write, &record, bytes),
                None => {
                    let mut draft = Draft::default();
                    draft.add(write, &record, bytes);
                    drafts.push(draft);
                }
            }
        }
        if !records.is_empty() {
            return Err(misused().into());
        }
        // What is decided is carried out: a chunk that the store refuses would block it for ever.
        if let Some(draft) = parts.values().flatten().find(|draft| !draft.fits(limits)) {
            let (max, got) = (limits.commit_bytes as u64, draft.bytes as u64);
            let limit = LimitExceeded { name: "COMMIT_BYTES_MAX", max, got };
            return Err(Error::Limit {
                what: "bytes of a definition with its record of changes".into(),
                limit,
            });
        }
        let chunks = |drafts: Vec<Draft>| {
            drafts.into_iter().map(|it| Chunk { writes: it.writes, change: it.change.into() }).collect()
        };
        let buckets = parts.into_iter().map(|(bucket, drafts)| (bucket, chunks(drafts))).collect();
        Ok(Self { seen, buckets })
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut out = begin();
        put_varint(&mut out, self.seen.len() as u64);
        for (key, written) in &self.seen {
            put_bytes(&mut out, key);
            out.push(u8::from(written.is_some()));
            out.extend(written.iter().flat_map(|id| id.0.to_le_bytes()));
        }
        put_varint(&mut out, self.buckets.len() as u64);
        for (bucket, chunks) in &self.buckets {
            put_varint(&mut out, (*bucket).into());
            put_varint(&mut out, chunks.len() as u64);
            for chunk in chunks {
                put_varint(&mut out, chunk.writes.len() as u64);
                chunk.writes.iter().for_each(|write| put_write(&mut out, write));
                put_bytes(&mut out, &chunk.change);
            }
        }
        out
    }

    /// The intent in these bytes; shares their memory.
    pub(super) fn parse(bytes: &Bytes) -> Result<Self, Malformed> {
        let fields = &mut read(bytes)?;
        let seen = take_list(fields, |fields| {
            let key = bytes.slice_ref(fields.bytes()?);
            let written = match fields.byte()? {
                0 => None,
                1 => Some(WriteId(u128::from_le_bytes(fields.array()?))),
                _ => return Err(Malformed),
            };
            Ok((key, written))
        })?;
        let buckets = take_list(fields, |fields| {
            let bucket = fields.varint_u32()?;
            let chunks = take_list(fields, |fields| {
                let writes = take_list(fields, |fields| take_write(fields, bytes))?;
                Ok(Chunk { writes, change: bytes.slice_ref(fields.bytes()?) })
            })?;
            Ok((bucket, chunks))
        })?;
        fields.end()?;
        Ok(Self { seen, buckets })
    }
}

/// A chunk in the making.
#[derive(Debug, Default)]
struct Draft {
    writes: Vec<Write>,
    change: Vec<u8>,
    bytes: usize,
}

impl Draft {
    /// Whether there is room for a write of so many bytes beside the row that says how far the intent is.
    fn takes(&self, bytes: usize, limits: &Limits) -> bool {
        self.writes.len() + 2 < limits.good_rows && self.bytes + bytes < limits.good_bytes
    }

    /// Whether it is a commit, with what is added.
    fn fits(&self, limits: &Limits) -> bool {
        self.bytes <= limits.commit_bytes - limits.commit_bytes / 64
    }

    fn add(&mut self, write: Write, record: &[u8], bytes: usize) {
        self.writes.push(write);
        self.change.extend_from_slice(record);
        self.bytes += bytes;
    }
}

fn put_write(out: &mut Vec<u8>, write: &Write) {
    let (kind, key, value) = match write {
        Write::Put(key, value) => (0, key, Some(value)),
        Write::PutStamped(key, value) => (1, key, Some(value)),
        Write::Delete(key) => (2, key, None),
        Write::DeleteRange(_) => return,
    };
    out.push(kind);
    put_bytes(out, key);
    value.into_iter().for_each(|value| put_bytes(out, value));
}

fn take_write(fields: &mut Reader<'_>, bytes: &Bytes) -> Result<Write, Malformed> {
    let kind = fields.byte()?;
    let key = bytes.slice_ref(fields.bytes()?);
    let mut value = || fields.bytes().map(|value| bytes.slice_ref(value));
    Ok(match kind {
        0 => Write::Put(key, value()?),
        1 => Write::PutStamped(key, value()?),
        2 => Write::Delete(key),
        _ => return Err(Malformed),
    })
}
