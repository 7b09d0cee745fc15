//! Retention: instances that are older than the policy keeps them go.
//!
//! A removal costs a write for each attribute and dataset, however little goes. So a history waits until its oldest instance is
//! overdue by a part of what is kept ([`OVERDUE_PART`]), at most a day; then all goes that is due.

use std::time::Duration;

use entity::history::note::{Class, MICROSECOND, Point};
use entity::{Error, TermId, keys};
use smallvec::SmallVec;
use store::{Timestamp, Write};
use strands::{Edit, Strand, StrandVersion, TimeRange};

use super::fold::write_of;
use crate::{Entities, TenantEntities};

/// The oldest instance stays for one part in so many longer than is said.
const OVERDUE_PART: u32 = 16;
/// And no longer than this.
const OVERDUE_MAX: Duration = Duration::from_hours(24);

impl Entities {
    /// Removes instances that were written longer ago than the policy keeps them, once the oldest of an attribute's history is
    /// overdue by a sixteenth, or a day; answers from how many attributes' histories some were. Cost: nothing if all is kept for ever, or else a look at each entity and the history of each attribute.
    /// What fails is skipped ([`crate::SkipLog`]).
    ///
    /// # Errors
    ///
    /// If the store serves nobody, or its directory of tenants cannot be read.
    pub async fn trim_history(&self, now: Timestamp) -> Result<usize, Error> {
        let mut trimmed = 0;
        for tenant in self.tenants_for("trim").await? {
            if !tenant.state().policy.keeps_all() {
                trimmed += tenant.trim(now).await?;
            }
        }
        Ok(trimmed)
    }
}

impl TenantEntities {
    async fn trim(&self, now: Timestamp) -> Result<usize, Error> {
        let (mut ids, mut trimmed) = (self.walk_histories("trim"), 0);
        while let Some(id) = ids.next().await? {
            match self.trim_one(&id, now).await {
                Ok(histories) => trimmed += histories,
                Err(error) => self.state().skip("trim", &id, error)?,
            }
        }
        Ok(trimmed)
    }

    /// Scopes hold until they are set anew or removed (4.18): those that hold at the cutoff stay, however old.
    async fn before_valid(&self, strand: &Strand, cutoff: i64) -> Result<i64, Error> {
        let before = TimeRange { from: i64::MIN, to: cutoff };
        let last = self.state().histories.strands.read_last(strand, before, 1).await?;
        let holds = !last.is_empty() && Point::new(&last, 0).class != Class::Removal;
        Ok(last.times.first().copied().filter(|_| holds).unwrap_or(cutoff))
    }

    /// Trims the history of one entity; answers of how many attributes and datasets. Those that fail are skipped.
    async fn trim_one(&self, id: &str, now: Timestamp) -> Result<usize, Error> {
        let Some(known) = self.history(id).await? else {
            return Ok(0);
        };
        let state = self.state();
        let cutoffs = |attribute: TermId| {
            let keep = state.policy.keep(&state.terms, &known.types, attribute)?;
            let overdue = keep + (keep / OVERDUE_PART).min(OVERDUE_MAX);
            Some((before(now, keep), before(now, overdue)))
        };
        let _lock = self.lock_history(id).await;
        // Head rows may be as old.
        if let Err(error) = self.fold_now(id).await {
            state.skip("fold", &id, error)?;
        }
        let (mut writes, mut emptied) = (Vec::new(), SmallVec::<[_; 4]>::new());
        for strand in self.strands_of(id, |_, _| true).await? {
            let attribute = keys::attribute_of_strand(&strand.name, id).map(|(attribute, _)| attribute);
            let Some((attribute, cutoffs)) = attribute.and_then(|name| Some((name, cutoffs(name)?))) else {
                continue;
            };
            match self.due_of(&strand, attribute, cutoffs).await {
                Ok(Due::Nothing) => {}
                Ok(Due::Before(cutoff)) => {
                    let edit = Edit::Delete(TimeRange { from: i64::MIN, to: cutoff });
                    writes.push(write_of(strand, vec![edit], now, None));
                }
                Ok(Due::All(version)) => emptied.push((strand, version)),
                Err(error) => state.skip("trim", &strand, error)?,
            }
        }
        let mut trimmed = 0;
        let cut: Vec<Strand> = writes.iter().map(|write| write.strand.clone()).collect();
        for (strand, outcome) in cut.iter().zip(state.histories.strands.write_all(writes).await) {
            match outcome {
                Ok(()) => trimmed += 1,
                Err(error) => state.skip("trim", strand, error.into())?,
            }
        }
        for (strand, version) in emptied {
            let beside = vec![Write::Delete(keys::changed(&strand.name))];
            match state.histories.strands.erase_version(&strand, version, beside).await {
                // What another node wrote to it meanwhile stays.
                Ok(is_erased) => trimmed += usize::from(is_erased),
                Err(error) => state.skip("trim", &strand, error.into())?,
            }
        }
        Ok(trimmed)
    }

    /// What is to go of a strand, given the time before which nothing is kept and that before which it is overdue.
    async fn due_of(
        &self,
        strand: &Strand,
        attribute: TermId,
        (cutoff, overdue): (i64, i64),
    ) -> Result<Due, Error> {
        let strands = &self.state().histories.strands;
        let version = strands.version(strand).await?;
        let cutoff = match attribute {
            TermId::SCOPE => self.before_valid(strand, cutoff).await?,
            _ => cutoff,
        };
        Ok(match strands.extent(strand).await? {
            Some((first, _)) if first >= overdue.min(cutoff) => Due::Nothing,
            Some((_, last)) if last >= cutoff => Due::Before(cutoff),
            _ => Due::All(version),
        })
    }
}

/// What is to go of a strand.
enum Due {
    Nothing,
    /// All before this time.
    Before(i64),
    /// All of it, if it is still of this version.
    All(StrandVersion),
}

/// So long before `now`, in nanoseconds.
pub(super) fn before(now: Timestamp, age: Duration) -> i64 {
    let age = i64::try_from(age.as_micros()).unwrap_or(i64::MAX);
    now.0.saturating_sub(age).saturating_mul(MICROSECOND)
}
