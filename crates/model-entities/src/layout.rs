//! Over how many buckets the entities of a tenant are spread, and who must know of it before that changes; `rebucket.rs` moves
//! entities.
//!
//! The directory says the number with which a tenant was created. Once it is changed, a stamped row says what holds:
//!
//! ```text
//! layout = format:u8=1  epoch:u32  is_known:u8  buckets:u32  from:u32
//! ```
//!
//! The epoch is even while every entity is in its bucket of `buckets`; odd while entities move there from their buckets of `from`.
//! It grows by one with each. An odd one holds only once it is known: until the fences of all buckets were raised since the
//! row was written, nobody moves anything. An even one holds at once; it is known when the fences were raised and what the
//! move left is removed.
//!
//! Writers remember the layout as they do the register (`consumers.rs`): for as long as the fence of a bucket is not raised. So
//! none who knows less writes behind the first entity that moved. Readers who find nothing, or read more than one row, ask
//! afterwards whether the layout still holds (`TenantState::newer`): in one process that is a load.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use entity::keys;
use store::{Condition, Partition, Stamp, Tenant, Write, bucket_of};

const FORMAT: u8 = 1;
/// How entities are spread.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Layout {
    /// Odd while entities move.
    pub(crate) epoch: u32,
    pub(crate) buckets: u32,
    /// How many there were, while entities move; else the same.
    pub(crate) from: u32,
}

/// A layout as it is stored.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct StoredLayout {
    pub(crate) layout: Layout,
    pub(crate) is_known: bool,
    /// `None`: there is no row.
    pub(crate) stamp: Option<Stamp>,
}

/// Looks at the stored layout, which readers share: whoever is done with his rows may go by any look that began since.
#[derive(Debug, Default)]
pub(crate) struct Looks {
    begun: AtomicU64,
    /// The last one that came back.
    done: tokio::sync::Mutex<u64>,
}

impl Looks {
    /// Has a look taken that begins from now on: by the caller, or by another who came meanwhile. Cost: that of a look or two,
    /// and one look for all who come while one is under way.
    pub(crate) async fn take<E>(&self, look: impl Future<Output = Result<(), E>>) -> Result<(), E> {
        let since = self.begun.load(Ordering::SeqCst);
        let mut done = self.done.lock().await;
        if *done > since {
            return Ok(());
        }
        let number = self.begun.fetch_add(1, Ordering::SeqCst) + 1;
        look.await?;
        *done = number;
        Ok(())
    }
}

impl Layout {
    /// That of a tenant whose entities never moved.
    pub(crate) fn created(buckets: u32) -> Self {
        Self { epoch: 0, buckets, from: buckets }
    }

    pub(crate) fn is_moving(&self) -> bool {
        self.epoch % 2 == 1
    }

    /// How many moves of entities had begun: what change records are numbered by.
    pub(crate) fn moves(&self) -> u32 {
        self.epoch.div_ceil(2)
    }

    /// All partitions that may hold an entity: first those that entities move from.
    pub(crate) fn partitions(&self, tenant: &Tenant) -> Box<[Partition]> {
        let sources = if self.from > self.buckets { self.buckets..self.from } else { 0..0 };
        let others = 0..if self.from > self.buckets { self.buckets } else { self.buckets.max(self.from) };
        sources.chain(others).map(|bucket| keys::entities_partition(tenant, bucket)).collect()
    }

    /// How many of the partitions entities move from.
    pub(crate) fn sources(&self) -> usize {
        let sources = match self.is_moving() {
            true if self.from > self.buckets => self.from - self.buckets,
            true => self.from,
            false => 0,
        };
        sources as usize
    }

    /// The place among the partitions of the first bucket.
    pub(crate) fn first(&self) -> usize {
        self.from.saturating_sub(self.buckets) as usize
    }

    /// The place of the partition that an entity moves from; `None`: it stays where it is.
    pub(crate) fn source(&self, id: &str) -> Option<usize> {
        if !self.is_moving() {
            return None;
        }
        let bucket = bucket_of(id.as_bytes(), self.from);
        let is_moved = bucket != bucket_of(id.as_bytes(), self.buckets);
        is_moved.then(|| bucket.checked_sub(self.buckets).unwrap_or(bucket) as usize)
    }

    pub(crate) fn put(self, is_known: bool) -> Write {
        let mut value = vec![FORMAT];
        value.extend_from_slice(&self.epoch.to_be_bytes());
        value.push(u8::from(is_known));
        value.extend_from_slice(&self.buckets.to_be_bytes());
        value.extend_from_slice(&self.from.to_be_bytes());
        Write::PutStamped(keys::layout(), value.into())
    }
}

impl StoredLayout {
    pub(crate) fn parse(value: &Bytes, stamp: Stamp) -> Option<Self> {
        let (&[FORMAT], rest) = value.split_first_chunk()? else { return None };
        let (epoch, rest) = rest.split_first_chunk()?;
        let (&[known @ (0 | 1)], rest) = rest.split_first_chunk()? else { return None };
        let (buckets, rest) = rest.split_first_chunk()?;
        let from = rest.try_into().ok()?;
        let [epoch, buckets, from] = [*epoch, *buckets, from].map(u32::from_be_bytes);
        let layout = Layout { epoch, buckets, from };
        let is_sound =
            buckets.is_power_of_two() && from.is_power_of_two() && (buckets == from) != layout.is_moving();
        is_sound.then_some(Self { layout, is_known: known == 1, stamp: Some(stamp) })
    }

    /// What holds.
    pub(crate) fn in_force(&self) -> Layout {
        match self.layout {
            Layout { epoch, from, .. } if self.layout.is_moving() && !self.is_known => {
                Layout { epoch: epoch - 1, buckets: from, from }
            }
            layout => layout,
        }
    }

    pub(crate) fn condition(&self) -> Condition {
        match self.stamp {
            Some(stamp) => Condition::Version(keys::layout(), stamp),
            None => Condition::Absent(keys::layout()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever comes while a look is under way waits for the next one, and all of them for the same.
    #[tokio::test]
    async fn looks_are_shared_by_those_who_come_before_they_begin() {
        let (looks, value) = (Looks::default(), AtomicU64::new(0));
        let seen = AtomicU64::new(0);
        let look = async || {
            let now = value.load(Ordering::SeqCst);
            tokio::task::yield_now().await;
            seen.store(now, Ordering::SeqCst);
            Ok::<_, ()>(())
        };
        let asks = (0..100).map(async |number: u64| {
            for _ in 0..number / 10 {
                tokio::task::yield_now().await;
            }
            // What was stored before it asks is seen.
            value.fetch_max(number, Ordering::SeqCst);
            looks.take(look()).await.unwrap();
            assert!(seen.load(Ordering::SeqCst) >= number, "{number}");
        });
        futures_util::future::join_all(asks).await;
        let begun = looks.begun.load(Ordering::SeqCst);
        assert!((2..=20).contains(&begun), "{begun}");
        let failing = looks.take(async { Err(()) }).await;
        assert_eq!((failing, looks.take(async { Ok::<_, ()>(()) }).await), (Err(()), Ok(())));
        assert_eq!(looks.begun.load(Ordering::SeqCst), begun + 2);
    }

    /// Each id is found where the layouts before and after say, and what moves goes from a source to another partition.
    #[test]
    fn places_are_those_of_buckets() {
        let tenant = Tenant::default();
        for (from, buckets) in [(1, 2), (1, 8), (4, 8), (8, 4), (8, 1), (2, 1)] {
            let layout = Layout { epoch: 3, buckets, from };
            let partitions = layout.partitions(&tenant);
            assert_eq!(partitions.len(), from.max(buckets) as usize);
            for number in 0..200 {
                let id = format!("urn:x:{number}");
                let bucket = |of| keys::entities_partition(&tenant, bucket_of(id.as_bytes(), of));
                let home = layout.first() + bucket_of(id.as_bytes(), buckets) as usize;
                assert_eq!(partitions[home], bucket(buckets));
                match layout.source(&id) {
                    None => assert_eq!(bucket(from), bucket(buckets)),
                    Some(source) => {
                        assert_eq!(partitions[source], bucket(from));
                        assert!(source < layout.sources() && home >= layout.sources(), "{from} to {buckets}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_stored_comes_back() {
        for (epoch, is_known, buckets, from) in [(1, false, 4, 1), (3, true, 2, 4), (4, false, 2, 2)] {
            let layout = Layout { epoch, buckets, from };
            let Write::PutStamped(_, value) = layout.put(is_known) else { panic!() };
            let read = StoredLayout::parse(&value, Stamp::default()).unwrap();
            assert_eq!((read.layout, read.is_known), (layout, is_known));
            for end in 0..value.len() {
                assert_eq!(StoredLayout::parse(&value.slice(..end), Stamp::default()), None);
            }
        }
        for wrong in [Layout { epoch: 1, buckets: 4, from: 4 }, Layout { epoch: 1, buckets: 3, from: 4 }] {
            let Write::PutStamped(_, value) = wrong.put(true) else { panic!() };
            assert_eq!(StoredLayout::parse(&value, Stamp::default()), None);
        }
    }
}
