//! Packing what is old of histories smaller.

use std::time::Duration;

use entity::Error;
use store::Timestamp;

use super::trim::before;
use crate::{Entities, TenantEntities};

impl Entities {
    /// Packs blocks of histories smaller whose newest instance was written more than `age` before `now`; answers how many blocks.
    /// For a job: about once a day. Two that do it at once do no harm. What fails is skipped ([`crate::SkipLog`]).
    ///
    /// Cost: a look at each entity and at the history of each attribute; for the rest see [`strands::Strands::recompress`].
    ///
    /// # Errors
    ///
    /// If the store serves nobody, or its directory of tenants cannot be read. What was packed before stays so.
    pub async fn recompress_history(&self, now: Timestamp, age: Duration) -> Result<usize, Error> {
        let before = before(now, age);
        let mut recompressed = 0;
        for tenant in self.tenants_for("recompress").await? {
            recompressed += tenant.recompress(before).await?;
        }
        Ok(recompressed)
    }
}

impl TenantEntities {
    async fn recompress(&self, before: i64) -> Result<usize, Error> {
        let (mut ids, mut recompressed) = (self.walk_histories("recompress"), 0);
        while let Some(id) = ids.next().await? {
            match self.recompress_one(&id, before).await {
                Ok(blocks) => recompressed += blocks,
                Err(error) => self.state().skip("recompress", &id, error)?,
            }
        }
        Ok(recompressed)
    }

    async fn recompress_one(&self, id: &str, before: i64) -> Result<usize, Error> {
        let state = self.state();
        let mut recompressed = 0;
        for strand in self.strands_of(id, |_, _| true).await? {
            match state.histories.strands.recompress(&strand, before).await {
                Ok(blocks) => recompressed += blocks,
                Err(error) => state.skip("recompress", &strand, error.into())?,
            }
        }
        Ok(recompressed)
    }
}

#[cfg(test)]
mod tests {
    use smallvec::smallvec;

    use super::*;
    use crate::history::sweep::tests::spoil_strand;
    use crate::history::tests::tenant;
    use crate::write::{tests::options, tests::run, tests::store};
    use entity::HistoryRequest;
    use entity::{Attribute, Draft, Instance, Kind, TermId};

    /// Writes 2700 instances, a part of them each second.
    async fn write_parts(entities: &TenantEntities, id: &str) {
        // Small numbers and, one in four, large ones: pco gives each kind its own bits.
        let instance = |number: i32| {
            let hash = xxhash_rust::xxh3::xxh3_64(&number.to_le_bytes());
            let value = if hash.is_multiple_of(4) { hash % 1_000_003 } else { hash % 4 };
            let observed_at = Some(Timestamp(i64::from(number) * 1_000_000));
            Instance { observed_at, ..Instance::new(Kind::Property, value.to_string()) }
        };
        for part in 0..3 {
            let instances = (0..900).map(|place| instance(part * 900 + place)).collect();
            let attributes = vec![Attribute { name: TermId(10), instances }];
            let draft = Draft { types: smallvec![TermId(1)], attributes, ..Draft::default() };
            let now = Timestamp(i64::from(part) * 1_000_000);
            entities.write_history(id, &draft, now).await.unwrap();
        }
    }

    #[test]
    fn a_damaged_history_keeps_no_other_from_being_packed() {
        run(async {
            let store = store();
            let entities = tenant(&store).await;
            for id in ["urn:x:1", "urn:x:2"] {
                write_parts(&entities, id).await;
            }
            spoil_strand(&store, "urn:x:1", TermId(10)).await;
            let all = Entities::new(store, options(1));
            assert_eq!(
                all.recompress_history(Timestamp(2_500_000), Duration::from_secs(1)).await.unwrap(),
                2
            );
            assert_eq!(all.skips().count(), 1);
        });
    }

    #[test]
    fn what_is_old_is_packed_smaller_and_stays_the_same() {
        run(async {
            let store = store();
            let entities = tenant(&store).await;
            write_parts(&entities, "urn:x:1").await;
            let read = async || {
                let found = entities.read_history("urn:x:1", &HistoryRequest::all(10_000)).await.unwrap();
                let found = found.unwrap();
                assert_eq!(found.attributes[0].len(), 2700);
                found.attributes[0].instances().map(|one| one.instance_id()).collect::<Vec<_>>()
            };
            let before = read().await;
            let all = Entities::new(store.clone(), options(1));
            let age = Duration::from_secs(1);
            assert_eq!(
                all.recompress_history(Timestamp(1_000_000), age).await.unwrap(),
                0,
                "nothing is as old"
            );
            assert_eq!(all.recompress_history(Timestamp(2_500_000), age).await.unwrap(), 2);
            assert_eq!(all.recompress_history(Timestamp(2_500_000), age).await.unwrap(), 0);
            assert_eq!(read().await, before);
        });
    }
}
