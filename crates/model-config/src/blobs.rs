//! Texts of modules and compiled schemas: compressed, in pieces that an append takes, under a hash of what they say. So what many schema
//! sets of a tenant share is stored once.
//!
//! A blob goes ahead of the commit of the schema set that names it, and that commit names the epoch from before it was looked
//! whether the blob is there. Who removes blobs that no schema set names begins a new epoch first, and removes what is older.

use std::collections::HashSet;

use bytes::Bytes;
use store::rows::Pages;
use store::wire::{Malformed, Reader, put_varint};
use store::{Append, Appended, Epoch, Partition, Store, Tenant};

use crate::error::damaged;
use crate::{Error, keys};

/// The compression level of texts, which are written once.
const LEVEL: i32 = 3;
/// The largest blob that is read, not compressed.
const BLOB_BYTES_MAX: u64 = 512 << 20;
/// An append is made so full at most: a part of what it may be.
const APPEND_PART: usize = 2;
/// Room for the key of a piece, and for what the first one says of all.
const BESIDE_BYTES: usize = 64;
/// Rows that are read, or removed, at once.
const PAGE_ROWS: usize = 100;

/// What a blob is.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum BlobKind {
    /// The text of a module.
    Text,
    /// A compiled schema, in this form of `lang-yang`.
    Schema,
}

impl BlobKind {
    /// In keys. A new form of compiled schemas is a kind of its own.
    fn code(self) -> u8 {
        match self {
            Self::Text => 1,
            Self::Schema => 2,
        }
    }
}

/// Which blob.
pub(crate) type BlobId = (BlobKind, u128);

/// A blob to be stored: compressed, with how much it was.
#[derive(Clone, Debug)]
pub(crate) struct PackedBlob {
    pub(crate) id: BlobId,
    raw_bytes: usize,
    compressed: Vec<u8>,
}

impl PackedBlob {
    /// Cost: that of the compression, some 100 MB/s.
    pub(crate) fn new(id: BlobId, raw: &[u8]) -> Result<Self, Error> {
        let compressed = zstd::bulk::compress(raw, LEVEL).map_err(|_| damaged("what is to be compressed"))?;
        Ok(Self { id, raw_bytes: raw.len(), compressed })
    }

    /// Its rows: the first says how many there are, and how large it is.
    fn rows(&self, piece_bytes: usize) -> Vec<(Bytes, Bytes)> {
        let (kind, hash) = self.id;
        let pieces = self.compressed.chunks(piece_bytes);
        let count = pieces.len();
        let row = |(piece, bytes): (u32, &[u8])| {
            let mut value = Vec::with_capacity(bytes.len() + BESIDE_BYTES);
            if piece == 0 {
                put_varint(&mut value, count as u64);
                put_varint(&mut value, self.raw_bytes as u64);
            }
            value.extend_from_slice(bytes);
            (keys::blob(kind.code(), hash, piece), value.into())
        };
        (0..).zip(pieces).map(row).collect()
    }
}

/// The blobs of a tenant.
#[derive(Clone, Debug)]
pub(crate) struct Blobs {
    store: Store,
    partition: Partition,
}

impl Blobs {
    pub(crate) fn new(store: &Store, tenant: &Tenant) -> Self {
        Self { store: store.clone(), partition: keys::blobs(tenant) }
    }

    /// What is to be appended so that all of these are there: those that are there whole already are left out.
    pub(crate) async fn appends(&self, blobs: &[PackedBlob]) -> Result<Vec<Append>, Error> {
        let limits = self.store.limits();
        let most = limits.commit_bytes / APPEND_PART;
        let mut appends: Vec<Append> = Vec::new();
        let mut bytes = 0;
        for blob in blobs {
            if self.read_packed(blob.id).await?.is_some() {
                continue;
            }
            for (key, value) in blob.rows(most.saturating_sub(BESIDE_BYTES).max(1)) {
                let more = key.len() + value.len();
                bytes += more;
                match appends
                    .last_mut()
                    .filter(|append| bytes <= most && append.rows.len() < limits.commit_rows / APPEND_PART)
                {
                    Some(append) => append.rows.push((key, value)),
                    None => {
                        bytes = more;
                        appends.push(Append { partition: self.partition.clone(), rows: vec![(key, value)] });
                    }
                }
            }
        }
        Ok(appends)
    }

    /// A blob; `None` if it is not there, or not whole.
    pub(crate) async fn read(&self, id: BlobId) -> Result<Option<Vec<u8>>, Error> {
        let Some((raw_bytes, compressed)) = self.read_packed(id).await? else { return Ok(None) };
        let raw = zstd::bulk::decompress(&compressed, raw_bytes).map_err(|_| damaged("a blob"))?;
        if raw.len() == raw_bytes { Ok(Some(raw)) } else { Err(damaged("a blob")) }
    }

    async fn read_packed(&self, (kind, hash): BlobId) -> Result<Option<(usize, Vec<u8>)>, Error> {
        let key = |piece: u32| keys::blob(kind.code(), hash, piece);
        let Some(first) = self.store.get_linear(&self.partition, &key(0)).await? else { return Ok(None) };
        let (pieces, raw_bytes, head) = parse_first(&first.value).map_err(|_| damaged("a blob"))?;
        let mut compressed = head.to_vec();
        for piece in 1..pieces {
            // One after the other: together they may be as large as they like.
            let Some(row) = self.store.get_linear(&self.partition, &key(piece)).await? else {
                return Ok(None);
            };
            compressed.extend_from_slice(&row.value);
        }
        Ok(Some((raw_bytes, compressed)))
    }

    /// Removes blobs of epochs before this one that are not in use; answers with how many rows. Cost: a scan of all blobs.
    pub(crate) async fn sweep(&self, in_use: &HashSet<(u8, u128)>, before: Epoch) -> Result<usize, Error> {
        let (mut removed, mut pages) =
            (0, Pages::new(&self.store, &self.partition, keys::all_blobs(), PAGE_ROWS));
        while let Some(page) = pages.next().await? {
            let mut gone = Vec::new();
            for (key, _) in page.rows() {
                let blob = keys::blob_of_key(key).ok_or_else(|| damaged("the key of a blob"))?;
                if !in_use.contains(&blob) {
                    gone.push(Bytes::copy_from_slice(key));
                }
            }
            removed += gone.len();
            if !gone.is_empty() {
                self.store.remove(&self.partition, gone, Appended::Before(before)).await?;
            }
        }
        Ok(removed)
    }
}

/// The blobs that are named by these ids, as keys name them.
pub(crate) fn named(ids: impl IntoIterator<Item = BlobId>) -> HashSet<(u8, u128)> {
    ids.into_iter().map(|(kind, hash)| (kind.code(), hash)).collect()
}

/// What the first piece of a blob says: how many pieces there are, how large it is, and how it begins.
fn parse_first(bytes: &[u8]) -> Result<(u32, usize, &[u8]), Malformed> {
    let mut reader = Reader::new(bytes);
    let (pieces, raw_bytes) = (reader.varint_u32()?, reader.varint()?);
    if raw_bytes > BLOB_BYTES_MAX {
        return Err(Malformed);
    }
    let raw_bytes = usize::try_from(raw_bytes).map_err(|_| Malformed)?;
    Ok((pieces, raw_bytes, reader.rest()))
}

/// What of the first piece of a blob is read, and written again.
#[cfg(any(test, feature = "testing"))]
pub(crate) fn printed_again(bytes: &[u8]) -> Result<Bytes, Malformed> {
    let (pieces, raw_bytes, head) = parse_first(bytes)?;
    let mut out = Vec::new();
    put_varint(&mut out, pieces.into());
    put_varint(&mut out, raw_bytes as u64);
    out.extend_from_slice(head);
    Ok(out.into())
}

#[cfg(test)]
mod tests {
    use store::testing::seeds;
    use store::{Clock, Timestamp};

    use super::*;

    const ID: BlobId = (BlobKind::Text, 7);

    fn noise(bytes: usize) -> Vec<u8> {
        let mut state: u64 = 1;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state.to_be_bytes()[0]
        };
        (0..bytes).map(|_| next()).collect()
    }

    async fn put(blobs: &Blobs, store: &Store, blob: &PackedBlob) -> usize {
        let epoch = store.fence(&keys::catalogue(&Tenant::default()));
        let appends = blobs.appends(std::slice::from_ref(blob)).await.unwrap();
        let count = appends.len();
        for append in appends {
            store.append(append, epoch).await.unwrap();
        }
        count
    }

    #[tokio::test]
    async fn large_blobs_lie_in_pieces_and_are_stored_once() {
        for seed in seeds(4) {
            let store = store::testing::hostile(Clock::manual(Timestamp(1)), seed);
            let blobs = Blobs::new(&store, &Tenant::default());
            let raw = noise(3 << 20);
            let blob = PackedBlob::new(ID, &raw).unwrap();
            assert!(put(&blobs, &store, &blob).await > 5, "in appends that the store takes");
            assert_eq!(blobs.read(ID).await.unwrap().as_ref(), Some(&raw));
            assert_eq!(put(&blobs, &store, &blob).await, 0, "it is there");
            assert_eq!(blobs.read((BlobKind::Schema, 7)).await.unwrap(), None);
            let catalogue = keys::catalogue(&Tenant::default());
            let epoch = store.bump(&catalogue, Vec::new()).await.unwrap();
            assert_eq!(blobs.sweep(&named([ID]), epoch).await.unwrap(), 0);
            assert!(blobs.sweep(&named([]), epoch).await.unwrap() > 5);
            assert_eq!(blobs.read(ID).await.unwrap(), None);
        }
    }
}
