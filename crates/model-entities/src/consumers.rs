//! Who reads what entities were and became: while a tenant has a consumer, its change records carry states
//! (`feed.rs`).
//!
//! Whether there is one is a stamped row, the register. Writers remember it by bucket for as long as the fence of the bucket
//! is not raised (`watch.rs`), and their commits happen only as long as that fence is not raised. The first consumer writes the register
//! and then raises the fences. So nothing slips by, and writers without consumers pay for a look in memory.
//!
//! Invariant: a register that says that its fences were raised was written by who raised them after the first consumer came,
//! over the very version that was there before.

#[cfg(test)]
mod tests;

use bytes::Bytes;
use entity::{Error, Limit, LimitName, keys};
use store::retry::RetryBackoff;
use store::rows::Pages;
use store::{Condition, ErrorKind, Stamp, Write};

use crate::TenantEntities;
use crate::tenant::TenantState;

/// The most consumers of a tenant.
pub const CONSUMERS_MAX: u32 = 1_000;
/// The longest name of a consumer in bytes.
pub const CONSUMER_NAME_BYTES_MAX: usize = 256;
/// How often a registration starts again because another came first.
const BACKOFF: RetryBackoff = RetryBackoff::at_once(64);
/// Names that are read in one page.
const PAGE_NAMES: usize = 256;

/// How many consumers there are: a row of five bytes, none without consumers.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Register {
    count: u32,
    /// Whether the fences were raised since the first consumer came.
    is_known: bool,
}

impl Register {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let (count, [is_known @ (0 | 1)]) = bytes.split_first_chunk()? else { return None };
        Some(Self { count: u32::from_be_bytes(*count), is_known: *is_known == 1 })
    }

    fn put(self) -> Write {
        let value = [&self.count.to_be_bytes()[..], &[u8::from(self.is_known)]].concat();
        Write::PutStamped(keys::register(), value.into())
    }
}

/// The register as it was read.
struct Registered {
    register: Register,
    /// `None`: there is no row.
    stamp: Option<Stamp>,
}

impl Registered {
    fn condition(&self) -> Condition {
        match self.stamp {
            Some(stamp) => Condition::Version(keys::register(), stamp),
            None => Condition::Absent(keys::register()),
        }
    }
}

impl TenantState {
    /// Whether there are any consumers. Cost: a read.
    pub(crate) async fn has_consumers(&self) -> Result<bool, Error> {
        Ok(self.register().await?.register.count > 0)
    }

    async fn register(&self) -> Result<Registered, Error> {
        let row = self.store.get_linear(&keys::consumers_partition(self.tenant()), &keys::register()).await?;
        let Some(row) = row else {
            return Ok(Registered { register: Register::default(), stamp: None });
        };
        let damaged = || store::Error::new(ErrorKind::Corrupt, "reading the register of consumers");
        let register = Register::parse(&row.value).ok_or_else(damaged)?;
        Ok(Registered { register, stamp: Some(row.stamp) })
    }

    async fn has_consumer(&self, name: &str) -> Result<bool, Error> {
        let row =
            self.store.get_linear(&keys::consumers_partition(self.tenant()), &keys::consumer(name)).await?;
        Ok(row.is_some())
    }

    /// Commits in the partition of consumers; `None`: another came first.
    pub(crate) async fn commit_consumers(
        &self,
        conditions: Vec<Condition>,
        writes: Vec<Write>,
    ) -> Result<Option<Stamp>, Error> {
        let partition = keys::consumers_partition(self.tenant());
        self.commit_silently(self.silent(&partition, conditions, writes, false)).await
    }
}

impl TenantEntities {
    /// Registers a consumer, durably: when this returns, every change behind the feed's present end ([`store::Store::feed_end`])
    /// tells what entities were and became, whoever writes it. One that is registered stays so. Cost: a small commit; for
    /// the first one, a barrier: writes under way are settled or begin again.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] for too long a name, or one consumer too many; if the store refuses: then it is to be tried again.
    pub async fn add_consumer(&self, name: &str) -> Result<(), Error> {
        if name.is_empty() || name.len() > CONSUMER_NAME_BYTES_MAX {
            let (max, got) = (CONSUMER_NAME_BYTES_MAX, name.len());
            return Err(Error::Limit(Limit { name: LimitName::ConsumerNameBytes, max, got }));
        }
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            if let Some((register, stamp)) = self.enter_consumer(name).await? {
                return self.make_known(register, stamp).await;
            }
        }
        Err(attempts.exhausted(name).into())
    }

    /// Enters a consumer; `None`: another came first. The register with it, and its version.
    async fn enter_consumer(&self, name: &str) -> Result<Option<(Register, Stamp)>, Error> {
        let state = self.state();
        // First the consumer: what the register says then is true of it.
        let is_held = state.has_consumer(name).await?;
        let stored = state.register().await?;
        if is_held {
            return Ok(stored.stamp.map(|stamp| (stored.register, stamp)));
        }
        Limit::check(LimitName::Consumers, CONSUMERS_MAX as usize, stored.register.count as usize + 1)?;
        let register = Register { count: stored.register.count + 1, ..stored.register };
        let key = keys::consumer(name);
        let conditions = vec![stored.condition(), Condition::Absent(key.clone())];
        let stamp = state.commit_consumers(conditions, vec![register.put(), Write::Put(key, Bytes::new())]);
        Ok(stamp.await?.map(|stamp| (register, stamp)))
    }

    /// Raises the fences, unless that was done since the first consumer came.
    async fn make_known(&self, register: Register, stamp: Stamp) -> Result<(), Error> {
        if register.is_known {
            return Ok(());
        }
        let state = self.state();
        state.raise_fences().await?;
        // If another changed it meanwhile, the next consumer raises them once more.
        let condition = Condition::Version(keys::register(), stamp);
        let known = Register { is_known: true, ..register };
        state.commit_consumers(vec![condition], vec![known.put()]).await.map(drop)
    }

    /// Removes a consumer; answers whether there was one. After the last one writers tell states no more. Cost: a small commit.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn remove_consumer(&self, name: &str) -> Result<bool, Error> {
        let state = self.state();
        let key = keys::consumer(name);
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let stored = state.register().await?;
            if !state.has_consumer(name).await? {
                // The last one may have gone without writers noticing.
                if stored.stamp.is_none() && state.may_record_states() {
                    state.raise_fences().await?;
                }
                return Ok(false);
            }
            let left = stored.register.count.saturating_sub(1);
            let write = match left {
                0 => Write::Delete(keys::register()),
                count => Register { count, ..stored.register }.put(),
            };
            let conditions = vec![stored.condition(), Condition::Present(key.clone())];
            let writes = vec![write, Write::Delete(key.clone())];
            if state.commit_consumers(conditions, writes).await?.is_some() {
                if left == 0 {
                    state.raise_fences().await?;
                }
                return Ok(true);
            }
        }
        Err(attempts.exhausted(name).into())
    }

    /// The names of all consumers, in order. Cost: a read for each few hundred.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn consumers(&self) -> Result<Vec<Box<str>>, Error> {
        let state = self.state();
        let partition = keys::consumers_partition(state.tenant());
        let mut pages = Pages::new(&state.store, &partition, keys::consumers_range(), PAGE_NAMES);
        let mut names = Vec::new();
        while let Some(page) = pages.next().await? {
            names.extend(page.rows().filter_map(|(key, _)| keys::consumer_of_key(key)).map(Into::into));
        }
        Ok(names)
    }
}
