//! Retention: instances that are older than the policy keeps them go.

use model_series::{Edit, TimeRange};
use smallvec::SmallVec;
use store::Timestamp;

use super::fold::write_of;
use super::note::MICROSECOND;
use crate::{Entities, Error, TenantEntities, TermId, keys};

impl Entities {
    /// Removes instances that were written longer ago than the policy keeps them; answers from how many attributes' pasts
    /// some were. Cost: nothing if all is kept for ever, or else a look at each entity and the past of each attribute.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn trim_history(&self, now: Timestamp) -> Result<usize, Error> {
        let mut trimmed = 0;
        for tenant in self.tenants().await? {
            let tenant = self.tenant(&tenant).await?;
            if !tenant.context().policy.keeps_all() {
                trimmed += tenant.trim(now).await?;
            }
        }
        Ok(trimmed)
    }
}

impl TenantEntities {
    async fn trim(&self, now: Timestamp) -> Result<usize, Error> {
        let context = self.context();
        let mut ids = self.union(&[keys::entities_range(), keys::pasts_range()]);
        let (mut key, mut trimmed) = (Vec::new(), 0);
        loop {
            if ids.is_starved() {
                ids.fill(&context.store, &context.partitions).await?;
            }
            if ids.next(&mut key, false).is_none() {
                return Ok(trimmed);
            }
            if let Some(id) = keys::id_of_key(&key) {
                trimmed += self.trim_one(id, now).await?;
            }
        }
    }

    /// Trims the past of one entity; answers of how many attributes and datasets.
    async fn trim_one(&self, id: &str, now: Timestamp) -> Result<usize, Error> {
        let Some(known) = self.history(id).await? else {
            return Ok(0);
        };
        let context = self.context();
        let cutoff = |attribute: TermId| {
            let keep = context.policy.keep(&context.terms, &known.types, attribute)?;
            let keep = i64::try_from(keep.as_micros()).unwrap_or(i64::MAX);
            Some(now.0.saturating_sub(keep).saturating_mul(MICROSECOND))
        };
        let _turn = self.turn(id).await;
        // Head rows may be as old.
        self.fold_now(id).await?;
        let (mut writes, mut emptied) = (Vec::new(), SmallVec::<[_; 4]>::new());
        for strand in self.strands_of(id, |_, _| true).await? {
            let attribute = keys::attribute_of_strand(&strand.name, id).map(|(attribute, _)| attribute);
            let Some(cutoff) = attribute.and_then(cutoff) else {
                continue;
            };
            match context.pasts.strands.extent(&strand).await? {
                Some((first, _)) if first >= cutoff => {}
                Some((_, last)) if last >= cutoff => {
                    let edit = Edit::Delete(TimeRange { from: i64::MIN, to: cutoff });
                    writes.push(write_of(strand, vec![edit], now));
                }
                _ => emptied.push(strand),
            }
        }
        let trimmed = writes.len() + emptied.len();
        for outcome in context.pasts.strands.write_all(writes).await {
            outcome?;
        }
        for strand in emptied {
            context.pasts.strands.erase(&strand, Vec::new(), bytes::Bytes::new()).await?;
        }
        Ok(trimmed)
    }
}
