//! Contexts kept as documents of the store, tenant by tenant: those that users host, and those that were fetched.

use std::sync::Arc;

use bytes::Bytes;
use model_entities::{Entities, Error, Tenant, TenantName, Timestamp};
use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::source::id_of;

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

/// The contexts of each tenant; clones share.
#[derive(Clone, Debug)]
pub(super) struct Hosted {
    entities: Entities,
}

impl Hosted {
    pub(super) fn new(entities: Entities) -> Self {
        Self { entities }
    }

    /// The life of a tenant; `None`: there is no such tenant. Cost: a look-up, and a read if there is none.
    pub(super) async fn life(&self, tenant: &TenantName) -> Result<Option<Tenant>, Error> {
        match self.entities.tenant(tenant).await {
            Ok(entities) => Ok(Some(entities.tenant().clone())),
            Err(Error::NoSuchTenant(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Keeps a document of a tenant, which is created if it is new, under a new id, which it answers: made of text and
    /// time, so that the same requests at the same times have the same answers.
    pub(super) async fn add(
        &self,
        tenant: &TenantName,
        text: &str,
        now: Timestamp,
    ) -> Result<Box<str>, Error> {
        self.entities.tenant_or_create(tenant).await?;
        let documents = self.entities.documents(tenant).await?;
        let mut number = xxh3_128_with_seed(text.as_bytes(), now.0.cast_unsigned());
        let mut id = id_of(number);
        while documents.get(HOSTED, &id).await?.is_some() {
            number = number.wrapping_add(1);
            id = id_of(number);
        }
        let stored = Stored { text: text.into(), created: now };
        documents.put(HOSTED, &id, encode(&stored)).await?;
        Ok(id)
    }

    /// A hosted document; a tenant that does not exist has none.
    pub(super) async fn get(&self, tenant: &TenantName, id: &str) -> Result<Option<Stored>, Error> {
        self.read(tenant, HOSTED, id).await
    }

    async fn read(&self, tenant: &TenantName, collection: &str, name: &str) -> Result<Option<Stored>, Error> {
        let value = match self.entities.documents(tenant).await {
            Err(Error::NoSuchTenant(_)) => None,
            documents => documents?.get(collection, name).await?,
        };
        Ok(value.as_deref().and_then(decode))
    }

    /// Ids and times of hosted documents, in order of the ids.
    pub(super) async fn list(&self, tenant: &TenantName) -> Result<Vec<(Box<str>, Timestamp)>, Error> {
        self.all(tenant, HOSTED).await
    }

    async fn all(&self, tenant: &TenantName, collection: &str) -> Result<Vec<(Box<str>, Timestamp)>, Error> {
        let heads = self.entities.documents(tenant).await?.heads(collection, TIME_BYTES).await?;
        Ok(heads.into_iter().filter_map(|(name, head)| Some((name.into(), time_of(&head)?))).collect())
    }

    pub(super) async fn delete(&self, tenant: &TenantName, id: &str) -> Result<bool, Error> {
        self.entities.documents(tenant).await?.delete(HOSTED, id).await
    }

    /// Keeps a fetched document, unless there are too many already; answers whether it did.
    pub(super) async fn keep_fetched(
        &self,
        tenant: &TenantName,
        url: &str,
        stored: &Stored,
    ) -> Result<bool, Error> {
        let documents = self.entities.documents(tenant).await?;
        let has_room = documents.get(FETCHED, url).await?.is_some()
            || documents.heads(FETCHED, 0).await?.len() < FETCHED_MAX;
        if has_room {
            documents.put(FETCHED, url, encode(stored)).await?;
        }
        Ok(has_room)
    }

    /// A document that was fetched earlier; a tenant that does not exist has none.
    pub(super) async fn get_fetched(&self, tenant: &TenantName, url: &str) -> Result<Option<Stored>, Error> {
        self.read(tenant, FETCHED, url).await
    }

    /// URLs and times of fetched documents, in order of the URLs.
    pub(super) async fn list_fetched(
        &self,
        tenant: &TenantName,
    ) -> Result<Vec<(Box<str>, Timestamp)>, Error> {
        self.all(tenant, FETCHED).await
    }

    pub(super) async fn delete_fetched(&self, tenant: &TenantName, url: &str) -> Result<bool, Error> {
        self.entities.documents(tenant).await?.delete(FETCHED, url).await
    }
}

fn encode(stored: &Stored) -> Bytes {
    [&stored.created.0.to_be_bytes(), stored.text.as_bytes()].concat().into()
}

fn decode(value: &[u8]) -> Option<Stored> {
    let text = std::str::from_utf8(value.get(TIME_BYTES..)?).ok()?;
    Some(Stored { text: text.into(), created: time_of(value)? })
}

/// The time at the head of a stored context.
fn time_of(value: &[u8]) -> Option<Timestamp> {
    let time = value.first_chunk::<TIME_BYTES>()?;
    Some(Timestamp(i64::from_be_bytes(*time)))
}
