//! Retention: instances that are older than the policy keeps them go.
//!
//! A removal costs a write for each attribute and dataset, however little goes. So a past waits until its oldest instance is
//! overdue by a part of what is kept ([`OVERDUE_PART`]), at most a day; then all goes that is due.

use std::time::Duration;

use model_series::{Edit, Strand, TimeRange};
use smallvec::SmallVec;
use store::{Timestamp, Write};

use super::fold::write_of;
use super::note::{Class, MICROSECOND, Point};
use crate::{Entities, Error, TenantEntities, TermId, keys};

/// The oldest instance stays for one part in so many longer than is said.
const OVERDUE_PART: u32 = 16;
/// And no longer than this.
const OVERDUE_MAX: Duration = Duration::from_hours(24);

impl Entities {
    /// Removes instances that were written longer ago than the policy keeps them, once the oldest of an attribute's past is
    /// overdue by a sixteenth, or a day; answers from how many attributes' pasts some were. Cost: nothing if all is kept for ever, or else a look at each entity and the past of each attribute.
    /// Entities that cannot be trimmed are logged and passed over.
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
                match self.trim_one(id, now).await {
                    Ok(pasts) => trimmed += pasts,
                    // Others are not to wait for it.
                    Err(error) => {
                        tracing::warn!(%id, error = &error as &dyn std::error::Error, "history not trimmed");
                    }
                }
            }
        }
    }

    /// Scopes hold until they are set anew or removed (4.18): those that hold at the cutoff stay, however old.
    async fn before_valid(&self, strand: &Strand, cutoff: i64) -> Result<i64, Error> {
        let before = TimeRange { from: i64::MIN, to: cutoff };
        let last = self.context().pasts.strands.read_last(strand, before, 1).await?;
        let holds = !last.is_empty() && Point::new(&last, 0).class != Class::Removal;
        Ok(last.times.first().copied().filter(|_| holds).unwrap_or(cutoff))
    }

    /// Trims the past of one entity; answers of how many attributes and datasets.
    async fn trim_one(&self, id: &str, now: Timestamp) -> Result<usize, Error> {
        let Some(known) = self.history(id).await? else {
            return Ok(0);
        };
        let context = self.context();
        let cutoffs = |attribute: TermId| {
            let keep = context.policy.keep(&context.terms, &known.types, attribute)?;
            let overdue = keep + (keep / OVERDUE_PART).min(OVERDUE_MAX);
            Some((before(now, keep), before(now, overdue)))
        };
        let _turn = self.turn(id).await;
        // Head rows may be as old.
        self.fold_now(id).await?;
        let (mut writes, mut emptied) = (Vec::new(), SmallVec::<[_; 4]>::new());
        for strand in self.strands_of(id, |_, _| true).await? {
            let attribute = keys::attribute_of_strand(&strand.name, id).map(|(attribute, _)| attribute);
            let Some((cutoff, overdue)) = attribute.and_then(cutoffs) else {
                continue;
            };
            let version = context.pasts.strands.version(&strand).await?;
            let cutoff = match attribute {
                Some(TermId::SCOPE) => self.before_valid(&strand, cutoff).await?,
                _ => cutoff,
            };
            match context.pasts.strands.extent(&strand).await? {
                Some((first, _)) if first >= overdue.min(cutoff) => {}
                Some((_, last)) if last >= cutoff => {
                    let edit = Edit::Delete(TimeRange { from: i64::MIN, to: cutoff });
                    writes.push(write_of(strand, vec![edit], now, None));
                }
                _ => emptied.push((strand, version)),
            }
        }
        let mut trimmed = writes.len();
        for outcome in context.pasts.strands.write_all(writes).await {
            outcome?;
        }
        for (strand, version) in emptied {
            let beside = vec![Write::Delete(keys::changed(&strand.name))];
            // What another node wrote to it meanwhile stays.
            trimmed += usize::from(context.pasts.strands.erase_version(&strand, version, beside).await?);
        }
        Ok(trimmed)
    }
}

/// So long before `now`, in nanoseconds.
pub(super) fn before(now: Timestamp, age: Duration) -> i64 {
    let age = i64::try_from(age.as_micros()).unwrap_or(i64::MAX);
    now.0.saturating_sub(age).saturating_mul(MICROSECOND)
}
