//! Contexts kept as documents of the store: those that users host, and those that were fetched.

use std::sync::Arc;

use bytes::Bytes;
use model_entities::{Documents, Error, Timestamp};
use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::active::id_of;

/// The collection of hosted contexts, by id.
const HOSTED: &str = "contexts";
/// The collection of fetched contexts, by URL.
const FETCHED: &str = "fetched-contexts";
/// The most fetched contexts kept; whoever can make the server fetch cannot fill the store.
const FETCHED_MAX: usize = 10_000;
/// A stored context is its time of creation (microseconds, big-endian) and its text.
const TIME_BYTES: usize = 8;

/// A document and when it came.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Stored {
    /// The document: an object with a member `@context`.
    pub text: Arc<str>,
    /// When it came.
    pub created: Timestamp,
}

/// The hosted contexts; clones share.
#[derive(Clone, Debug)]
pub(super) struct Hosted {
    documents: Documents,
}

impl Hosted {
    pub(super) fn new(documents: Documents) -> Self {
        Self { documents }
    }

    /// Keeps a document under a new id, which it answers: made of text and time, so that the same
    /// requests at the same times have the same answers.
    pub(super) async fn add(&self, text: &str, now: Timestamp) -> Result<Box<str>, Error> {
        let mut number = xxh3_128_with_seed(text.as_bytes(), now.0.cast_unsigned());
        let mut id = id_of(number);
        while self.documents.get(HOSTED, &id).await?.is_some() {
            number = number.wrapping_add(1);
            id = id_of(number);
        }
        let stored = Stored { text: text.into(), created: now };
        self.documents.put(HOSTED, &id, encode(&stored)).await?;
        Ok(id)
    }

    pub(super) async fn get(&self, id: &str) -> Result<Option<Stored>, Error> {
        let value = self.documents.get(HOSTED, id).await?;
        Ok(value.as_deref().and_then(decode))
    }

    pub(super) async fn list(&self) -> Result<Vec<(Box<str>, Stored)>, Error> {
        self.all(HOSTED).await
    }

    async fn all(&self, collection: &str) -> Result<Vec<(Box<str>, Stored)>, Error> {
        let documents = self.documents.list(collection).await?;
        Ok(documents.into_iter().filter_map(|(name, value)| Some((name.into(), decode(&value)?))).collect())
    }

    pub(super) async fn delete(&self, id: &str) -> Result<bool, Error> {
        self.documents.delete(HOSTED, id).await
    }

    /// Keeps a fetched document, unless there are too many already; answers whether it did.
    pub(super) async fn keep_fetched(&self, url: &str, stored: &Stored) -> Result<bool, Error> {
        let has_room = self.documents.get(FETCHED, url).await?.is_some()
            || self.documents.list(FETCHED).await?.len() < FETCHED_MAX;
        if has_room {
            self.documents.put(FETCHED, url, encode(stored)).await?;
        }
        Ok(has_room)
    }

    pub(super) async fn get_fetched(&self, url: &str) -> Result<Option<Stored>, Error> {
        let value = self.documents.get(FETCHED, url).await?;
        Ok(value.as_deref().and_then(decode))
    }

    pub(super) async fn list_fetched(&self) -> Result<Vec<(Box<str>, Stored)>, Error> {
        self.all(FETCHED).await
    }

    pub(super) async fn delete_fetched(&self, url: &str) -> Result<bool, Error> {
        self.documents.delete(FETCHED, url).await
    }
}

fn encode(stored: &Stored) -> Bytes {
    [&stored.created.0.to_be_bytes(), stored.text.as_bytes()].concat().into()
}

fn decode(value: &[u8]) -> Option<Stored> {
    let (time, text) = value.split_first_chunk::<TIME_BYTES>()?;
    let text = std::str::from_utf8(text).ok()?;
    Some(Stored { text: text.into(), created: Timestamp(i64::from_be_bytes(*time)) })
}
