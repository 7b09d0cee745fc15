//! Changes to the history itself; the current entity stays as it is.
//!
//! Edits change strands: head rows are folded before. Instances that are written into the history get times between
//! those of the entity's own writes, which are whole microseconds.

mod erase;
mod instance;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use entity::apply::check_history;
use entity::encode::put_instance;
use entity::history::header::Header;
use entity::history::note::{MICROSECOND, PointsBuilder, micros, nanos};
use entity::view::Fields;
use entity::{Attribute, Draft, Error, Instance, InstanceView, Kind, TermId, TimeProperty, TimeSpan, keys};
use smallvec::SmallVec;
use store::{Condition, Timestamp, Write};
use strands::{Edit, Strand, StrandWrite};

use super::fold::{BACKOFF, write_of};
use super::select::Bound;
use crate::TenantEntities;
use crate::histories::damaged_header;
use crate::tenant::TenantState;
use crate::watch::Watch;

/// Instances written into the history within one microsecond.
const INSTANCES_A_MICROSECOND: i64 = MICROSECOND - 1;

impl TenantEntities {
    /// Adds instances to the history (NGSI-LD 5.6.11 create or update, 5.6.12 add attributes). An attribute of the draft may
    /// have many instances of one dataset, told apart by their order; those to be removed are recorded as removals at the
    /// time of this write (4.5.7). The current entity does not change. Answers whether there was neither a history nor an
    /// entity: then types are needed. Types and scopes are added to the header of a history without an entity; else the
    /// entity's own count.
    ///
    /// Cost: a fold, and a commit for each attribute and dataset, each an atom, in one group.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if a value or, for a new one, the types are missing; if the store refuses.
    pub async fn write_history(&self, id: &str, draft: &Draft, now: Timestamp) -> Result<bool, Error> {
        check_history(id, draft)?;
        let _lock = self.lock_history(id).await;
        self.fold_now(id).await?;
        let mut left = given_strands(draft);
        let mut is_new = None;
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let mut writes = Vec::with_capacity(left.len());
            for given in &left {
                writes.push(self.history_write(id, given, now).await?);
            }
            // An entity that comes goes on behind all that is written.
            let last = writes.iter().map(|write| write.written).max().unwrap_or(now);
            let was_new = self.write_header(id, draft, now, last).await?;
            let is_new = *is_new.get_or_insert(was_new);
            let mut lost = Vec::new();
            let outcomes = self.state().histories.strands.write_all(writes).await;
            for (given, outcome) in left.into_iter().zip(outcomes) {
                match outcome {
                    Err(strands::Error::Contention(_)) => lost.push(given),
                    outcome => outcome?,
                }
            }
            if lost.is_empty() {
                return Ok(is_new);
            }
            left = lost;
        }
        Err(attempts.exhausted(id).into())
    }

    /// Writes the header of a history without an entity; answers whether nothing was known before.
    async fn write_header(
        &self,
        id: &str,
        draft: &Draft,
        now: Timestamp,
        last: Timestamp,
    ) -> Result<bool, Error> {
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let (state, watch) = self.watch(id).await?;
            if state.row_linear(id).await?.is_some() {
                return Ok(false);
            }
            let row = state.header_row(id).await?;
            let stored = row.as_ref().map(|row| Header::parse(&row.value).ok_or_else(damaged_header));
            let stored = stored.transpose()?;
            let is_new = stored.is_none() && !self.has_history(id).await?;
            if is_new && draft.types.is_empty() {
                return Err(Error::Invalid("type is missing".into()));
            }
            let header = added(stored.as_ref(), draft, now, last);
            let header = match &stored {
                Some(stored) if !self.sets_scopes(id, draft, now).await? => {
                    Header { scopes: stored.scopes.clone(), ..header }
                }
                _ => header,
            };
            if stored.as_ref() == Some(&header) {
                return Ok(false);
            }
            let key = keys::history_header(id);
            let condition = match row {
                Some(row) => Condition::Version(key.clone(), row.stamp),
                None => Condition::Absent(key.clone()),
            };
            let types = header.types.iter();
            let types = types.map(|of_type| Write::Put(keys::history_type(*of_type, id), Bytes::new()));
            let mut writes: Vec<Write> = types.collect();
            writes.push(Write::PutStamped(key, header.encode().into()));
            let conditions = vec![Condition::Absent(keys::entity(id)), condition];
            if state.commit_history(id, watch, conditions, writes).await? {
                return Ok(is_new);
            }
        }
        Err(attempts.exhausted(id).into())
    }

    /// Whether the scopes of a draft are those that are known from here on: not if they were observed before others that are
    /// recorded.
    async fn sets_scopes(&self, id: &str, draft: &Draft, now: Timestamp) -> Result<bool, Error> {
        let instances = draft.attributes.iter().filter(|attribute| attribute.name == TermId::SCOPE);
        let times = instances.flat_map(|attribute| &attribute.instances);
        let Some(given) = times.map(|instance| instance.observed_at.unwrap_or(now)).max() else {
            return Ok(true);
        };
        let bound = Bound::Last(1);
        for source in self.sources(id, |attribute, _| attribute == TermId::SCOPE).await? {
            let newest = self.select(&source, TimeProperty::ObservedAt, TimeSpan::ALL, bound).await?;
            if newest.edge(bound).is_some_and(|newest| given < newest) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The instances of one dataset, at times after those that are stored there.
    async fn history_write(
        &self,
        id: &str,
        given: &GivenStrand<'_>,
        now: Timestamp,
    ) -> Result<StrandWrite, Error> {
        let strand = self.strand(id, keys::strand_name(id, given.attribute, given.dataset));
        let strands = &self.state().histories.strands;
        // Times are chosen after what is stored: what another node writes meanwhile is not to be overwritten.
        let version = strands.version(&strand).await?;
        let last = strands.extent(&strand).await?.map(|(_, last)| micros(last));
        let base = last.map_or(now.0, |last| now.0.max(last.0.saturating_add(1)));
        let mut builder = PointsBuilder::default();
        let mut stored = Vec::new();
        for (index, instance) in (0_i64..).zip(&given.instances) {
            let written = base.saturating_add(index / INSTANCES_A_MICROSECOND);
            let time =
                written.saturating_mul(MICROSECOND).saturating_add(1 + index % INSTANCES_A_MICROSECOND);
            let at = Timestamp(written);
            if instance.remove && given.attribute == TermId::SCOPE {
                builder.push_seen_removal(time, nanos(instance.observed_at.unwrap_or(at)), Kind::Property);
                continue;
            }
            if instance.remove {
                builder.push_removal(time, instance.kind.unwrap_or(Kind::Property));
                continue;
            }
            stored.clear();
            let instance = scoped_at(given.attribute, instance, at);
            put_instance(&mut stored, &instance, at, at);
            builder.push(time, &read_instance(&stored).ok_or(entity::Malformed)?);
        }
        let written = builder.points.times.last().map_or(now, |last| micros(*last));
        Ok(write_of(strand, vec![Edit::Put(builder.points)], written, Some(version)))
    }

    /// Strands that are meant, after a fold: they hold all there is.
    async fn folded_strands(
        &self,
        id: &str,
        is_meant: impl Fn(TermId, Option<&str>) -> bool,
    ) -> Result<Vec<Strand>, Error> {
        self.fold_now(id).await?;
        let strands = self.strands_of(id, is_meant).await?;
        if strands.is_empty() && self.history(id).await?.is_none() {
            return Err(Error::NoSuchEntity(id.into()));
        }
        Ok(strands)
    }
}

impl TenantState {
    /// Answers false if a condition does not hold.
    async fn commit_history(
        &self,
        id: &str,
        watch: Watch,
        mut conditions: Vec<Condition>,
        writes: Vec<Write>,
    ) -> Result<bool, Error> {
        conditions.push(Condition::Fence(watch.fence));
        let commit = self.silent(self.partition(id)?, conditions, writes, false);
        Ok(self.commit_silently(commit).await?.is_some())
    }
}

/// The instances that a draft gives of one attribute and dataset, in order.
struct GivenStrand<'d> {
    attribute: TermId,
    dataset: Option<&'d str>,
    instances: Vec<&'d Instance>,
}

/// What a draft gives, by attribute and dataset, in the order they are first met. Cost: linear in the instances.
fn given_strands(draft: &Draft) -> Vec<GivenStrand<'_>> {
    let mut strands: Vec<GivenStrand<'_>> = Vec::with_capacity(draft.attributes.len());
    let mut indexes = HashMap::new();
    for Attribute { name, instances } in &draft.attributes {
        for instance in instances {
            let dataset = instance.dataset.as_deref();
            let index = *indexes.entry((*name, dataset)).or_insert(strands.len());
            match strands.get_mut(index) {
                Some(strand) => strand.instances.push(instance),
                None => strands.push(GivenStrand { attribute: *name, dataset, instances: vec![instance] }),
            }
        }
    }
    strands
}

/// What is known of a history, and of the draft.
fn added(stored: Option<&Header>, draft: &Draft, now: Timestamp, last: Timestamp) -> Header {
    let new = Header { created: now, last, deleted: None, types: SmallVec::new(), scopes: Vec::new() };
    let mut header = stored.cloned().unwrap_or(new);
    let mut types: HashSet<TermId> = header.types.iter().copied().collect();
    header.types.extend(draft.types.iter().copied().filter(|of_type| types.insert(*of_type)));
    if let Some(scopes) = &draft.scopes {
        header.scopes.clone_from(scopes);
    }
    header.last = header.last.max(last);
    header
}

/// An instance as it is written into the history; scopes that do not say when they were observed are observed now.
fn scoped_at(attribute: TermId, instance: &Instance, now: Timestamp) -> Cow<'_, Instance> {
    if attribute != TermId::SCOPE || instance.observed_at.is_some() {
        return Cow::Borrowed(instance);
    }
    Cow::Owned(Instance { observed_at: Some(now), ..instance.clone() })
}

fn read_instance(stored: &[u8]) -> Option<InstanceView<'_>> {
    InstanceView::body(Fields::new(stored).bytes()?, stored)
}
