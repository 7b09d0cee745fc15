//! Contexts stored as documents of a tenant: those that users host, and those that were fetched.

use std::sync::Arc;

use bytes::Bytes;
use model_entities::{Entities, Error as ModelError, Tenant, TenantName, Timestamp};
use xxhash_rust::xxh3::xxh3_128_with_seed;

use crate::error::Error;
use crate::source::id_of;

/// The collection of hosted contexts, by id.
const HOSTED: &str = "contexts";
/// The collection of fetched contexts, by URL.
const FETCHED: &str = "fetched-contexts";
/// The most fetched contexts that a tenant stores: clients that make the server fetch cannot fill the store.
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
pub(crate) struct Hosted {
    entities: Entities,
}

impl Hosted {
    pub(crate) fn new(entities: Entities) -> Self {
        Self { entities }
    }

    /// The life of a tenant; `None`: there is no such tenant. Cost: a look-up, and a read if there is none.
    pub(crate) async fn life(&self, tenant: &TenantName) -> Result<Option<Tenant>, ModelError> {
        match self.entities.tenant(tenant).await {
            Ok(entities) => Ok(Some(entities.tenant().clone())),
            Err(ModelError::NoSuchTenant(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Stores a document of a tenant, which is created if it is new, and returns its new id. The id is made of text and
    /// time, so that the same requests at the same times have the same answers.
    pub(crate) async fn add(
        &self,
        tenant: &TenantName,
        text: &str,
        now: Timestamp,
    ) -> Result<Box<str>, ModelError> {
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
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`]; if the store refuses.
    pub(crate) async fn get(&self, tenant: &TenantName, id: &str) -> Result<Option<Stored>, Error> {
        self.read(tenant, HOSTED, id).await
    }

    async fn read(&self, tenant: &TenantName, collection: &str, name: &str) -> Result<Option<Stored>, Error> {
        let value = match self.entities.documents(tenant).await {
            Err(ModelError::NoSuchTenant(_)) => return Ok(None),
            Ok(documents) => documents.get(collection, name).await,
            Err(error) => Err(error),
        };
        value?.map(|value| decode(&value).ok_or_else(|| damaged(collection, name))).transpose()
    }

    /// How many documents a tenant hosts; one that does not exist hosts none.
    pub(crate) async fn count(&self, tenant: &TenantName) -> Result<usize, ModelError> {
        match self.entities.documents(tenant).await {
            Err(ModelError::NoSuchTenant(_)) => Ok(0),
            documents => Ok(documents?.heads(HOSTED, 0).await?.len()),
        }
    }

    /// Ids and times of hosted documents, in order of the ids.
    ///
    /// # Errors
    ///
    /// If the tenant does not exist; [`Error::Damaged`]; if the store refuses.
    pub(crate) async fn list(&self, tenant: &TenantName) -> Result<Vec<(Box<str>, Timestamp)>, Error> {
        self.all(tenant, HOSTED).await
    }

    async fn all(&self, tenant: &TenantName, collection: &str) -> Result<Vec<(Box<str>, Timestamp)>, Error> {
        let heads = async { self.entities.documents(tenant).await?.heads(collection, TIME_BYTES).await };
        let dated = heads.await?.into_iter().map(|(name, head)| match time_of(&head) {
            Some(time) => Ok((name.into(), time)),
            None => Err(damaged(collection, &name)),
        });
        dated.collect()
    }

    pub(crate) async fn delete(&self, tenant: &TenantName, id: &str) -> Result<bool, ModelError> {
        self.entities.documents(tenant).await?.delete(HOSTED, id).await
    }

    /// Stores a fetched document, unless there are too many already; `false`: it did not.
    pub(crate) async fn put_fetched(
        &self,
        tenant: &TenantName,
        url: &str,
        stored: &Stored,
    ) -> Result<bool, ModelError> {
        let documents = self.entities.documents(tenant).await?;
        let has_room = documents.get(FETCHED, url).await?.is_some()
            || documents.heads(FETCHED, 0).await?.len() < FETCHED_MAX;
        if has_room {
            documents.put(FETCHED, url, encode(stored)).await?;
        }
        Ok(has_room)
    }

    /// A document that was fetched earlier; a tenant that does not exist has none.
    ///
    /// # Errors
    ///
    /// As [`Hosted::get`].
    pub(crate) async fn get_fetched(&self, tenant: &TenantName, url: &str) -> Result<Option<Stored>, Error> {
        self.read(tenant, FETCHED, url).await
    }

    /// URLs and times of fetched documents, in order of the URLs.
    ///
    /// # Errors
    ///
    /// As [`Hosted::list`].
    pub(crate) async fn list_fetched(
        &self,
        tenant: &TenantName,
    ) -> Result<Vec<(Box<str>, Timestamp)>, Error> {
        self.all(tenant, FETCHED).await
    }

    pub(crate) async fn delete_fetched(&self, tenant: &TenantName, url: &str) -> Result<bool, ModelError> {
        self.entities.documents(tenant).await?.delete(FETCHED, url).await
    }
}

#[cold]
fn damaged(collection: &str, name: &str) -> Error {
    tracing::error!(collection, name, "a stored context is damaged");
    Error::Damaged
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
