//! Hooks: who is told of changes. The model decides whom, and where in the feed each hook stands; sending is the
//! server's business.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use store::{Change, Cursor, Stamp, Timestamp};

use super::context::Context;
use super::pattern::Pattern;
use super::search::AttributeFilter;
use super::{AttributeSearch, Definition};
use crate::{Error, SeriesChange, change_records};

/// Whom to tell of changes of which series.
#[derive(Clone, Debug, PartialEq)]
pub struct Hook {
    /// Unique in its repository.
    pub name: Box<str>,
    /// Where to.
    pub url: Box<str>,
    /// A pattern for the names of series (as in [`crate::Search`]); all if none is given.
    pub series: Option<Box<str>>,
    /// Attributes that the series must have.
    pub attributes: Vec<AttributeSearch>,
    /// What the sender signs notifications with.
    pub secret: Option<Box<str>>,
    /// Whether it is told anything.
    pub is_active: bool,
}

/// How far a hook was told: a durable row for each.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct HookState {
    /// By shard of the feed: everything up to here was told, or was not for this hook.
    pub cursors: Vec<Cursor>,
    /// Attempts that failed since the last that succeeded.
    pub failures: u32,
    /// No attempt before.
    pub retry_at: Timestamp,
    /// Changes that were told.
    pub delivered: u64,
    /// Attempts that failed, ever.
    pub failed: u64,
    /// Times that the feed was cut before the hook had read it: what was lost is not known.
    pub cuts: u64,
    /// Why the last attempt failed; empty if it did not.
    pub last_error: Box<str>,
}

/// A hook, how far it was told, and the version of that: it stays while the hook is only changed, and moves when
/// the hook is told or made anew under its name.
#[derive(Clone, Debug, PartialEq)]
pub struct HookStanding {
    /// Whom to tell of what.
    pub hook: Hook,
    /// How far.
    pub state: HookState,
    /// The version of `state`.
    pub version: Stamp,
}

/// How long a sender waits after failures.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BackOff {
    /// Microseconds after the first failure; doubled with each further.
    pub first_us: i64,
    /// Microseconds at most.
    pub longest_us: i64,
}

impl HookState {
    /// Up to where it was told a shard of the feed: from the beginning on, if nothing is known of that.
    pub fn cursor(&self, shard: u32) -> Cursor {
        self.cursors.get(shard as usize).copied().unwrap_or_default()
    }

    fn cursors_with(&self, shard: u32, cursor: Cursor) -> Vec<Cursor> {
        let (mut cursors, place) = (self.cursors.clone(), shard as usize);
        if cursors.len() <= place {
            cursors.resize(place + 1, Cursor::default());
        }
        if let Some(slot) = cursors.get_mut(place) {
            *slot = cursor;
        }
        cursors
    }

    /// The state once everything of a shard up to `cursor` was told, `changes` in number.
    #[must_use]
    pub fn after_success(&self, (shard, cursor): (u32, Cursor), changes: u64) -> Self {
        Self {
            cursors: self.cursors_with(shard, cursor),
            failures: 0,
            retry_at: Timestamp(i64::MIN),
            delivered: self.delivered.saturating_add(changes),
            last_error: "".into(),
            ..self.clone()
        }
    }

    /// The state after a failed attempt: the cursors stay, the next attempt is later.
    #[must_use]
    pub fn after_failure(&self, error: &str, now: Timestamp, back_off: BackOff) -> Self {
        let doubled = back_off.first_us.saturating_mul(1 << self.failures.min(40));
        let wait = doubled.min(back_off.longest_us);
        Self {
            failures: self.failures.saturating_add(1),
            retry_at: Timestamp(now.0.saturating_add(wait)),
            failed: self.failed.saturating_add(1),
            last_error: error.chars().take(ERROR_CHARS_MAX).collect(),
            ..self.clone()
        }
    }

    /// The state after a shard of the feed was cut beyond its cursor: goes on at `cursor`, and says so.
    #[must_use]
    pub fn after_cut(&self, (shard, cursor): (u32, Cursor)) -> Self {
        Self { cursors: self.cursors_with(shard, cursor), cuts: self.cuts.saturating_add(1), ..self.clone() }
    }

    /// Whether an attempt is due.
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.retry_at <= now
    }
}

/// The most characters of an error that are kept.
const ERROR_CHARS_MAX: usize = 200;

/// A change that a hook is to be told.
#[derive(Clone, Debug, PartialEq)]
pub struct HookEvent {
    /// Where the feed's shard tells it; changes of one commit share a place.
    pub cursor: Cursor,
    /// The number of that place: grows from change to change of one partition.
    pub number: u64,
    /// The series, as it is now; as it was, if it was removed.
    pub series: Arc<Definition>,
    /// What happened.
    pub change: SeriesChange,
}

/// A hook's choice of series, ready to match.
#[derive(Clone, Debug)]
pub struct HookFilter {
    is_active: bool,
    name: Option<Pattern>,
    attributes: AttributeFilter,
}

impl HookFilter {
    /// Whether changes of this series are for the hook. Cost: matching the name; attributes count whenever they hold.
    pub fn wants(&self, series: &Definition) -> bool {
        self.is_active
            && self.name.as_ref().is_none_or(|name| name.matches(&series.name))
            && self.attributes.matches(series, None)
    }
}

impl Hook {
    /// The hook's choice, ready to match.
    pub fn filter(&self) -> HookFilter {
        HookFilter {
            is_active: self.is_active,
            name: self.series.as_deref().map(Pattern::new),
            attributes: AttributeFilter::new(&self.attributes),
        }
    }
}

impl Context {
    /// What of the feed a hook is to be told; see [`crate::Repository::hook_events`].
    pub(crate) async fn hook_events(&self, hook: &Hook, changes: &[Change]) -> Result<Vec<HookEvent>, Error> {
        let filter = hook.filter();
        let ours = changes.iter().filter(|change| change.partition.tenant == self.tenant);
        let records = ours.flat_map(|change| change_records(change).map(move |record| (change, record)));
        let records: Vec<(&Change, SeriesChange)> = records.collect();
        let numbers: Vec<u32> = records.iter().map(|(_, record)| record.series()).collect();
        let found = self.find_each(&numbers).await?;
        let mut events = Vec::new();
        for ((place, change), found) in records.into_iter().zip(found) {
            // Points of a series that is gone by now: the record of its removal follows.
            let told = change.definition().cloned();
            let found = match found {
                Ok(found) => found.map(|found| found.definition),
                Err(error) => {
                    let number = change.series();
                    self.skip("hooks", &format_args!("changes of series {number}"), error)?;
                    None
                }
            };
            let series = told.or(found);
            if let Some(series) = series.filter(|series| filter.wants(series)) {
                let Change { cursor, number, .. } = *place;
                events.push(HookEvent { cursor, number, series, change });
            }
        }
        Ok(events)
    }
}
