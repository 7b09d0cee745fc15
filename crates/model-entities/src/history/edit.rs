//! Changes to the history itself; the entity as it is stays as it is.
//!
//! Edits change strands: what head rows say is folded before. Instances that are written into the history get times between
//! those of the entity's own writes, which are whole microseconds.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use entity::apply::{WriteRules, apply, check_history};
use entity::encode::{put_instance, put_names, put_times, put_varint, seal};
use entity::history::note::{MICROSECOND, Point, PointsBuilder, micros, nanos, tag_of};
use entity::index::Indexed;
use entity::view::Fields;
use entity::{
    Attribute, Draft, EntityView, Error, Instance, InstanceView, Instances, Kind, Operation, TermId, keys,
};
use entity::{InstanceId, TimeProperty, TimeSpan, history::header::Header};
use futures_util::future::join_all;
use smallvec::{SmallVec, smallvec};
use store::{Condition, Timestamp, Write};
use strands::{Edit, Points, Strand, StrandVersion, StrandWrite, TimeRange};

use super::fold::{BACKOFF, write_of};
use super::select::Bound;
use crate::TenantEntities;
use crate::tenant::TenantState;
use crate::watch::Watch;

/// Instances written into the history within one microsecond.
const INSTANCES_A_MICROSECOND: i64 = MICROSECOND - 1;

/// Strands that are erased side by side.
const ERASED_AT_ONCE: usize = 32;

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

    async fn write_strand(&self, write: StrandWrite) -> Result<(), Error> {
        let outcomes = self.state().histories.strands.write_all(vec![write]).await;
        outcomes.into_iter().try_for_each(|outcome| outcome.map_err(Error::from))
    }

    /// Makes known what is to be known of a history without an entity; answers whether nothing was known before.
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
            let held = row.as_ref().map(|row| Header::parse(&row.value).ok_or_else(super::heads::damaged));
            let held = held.transpose()?;
            let is_new = held.is_none() && !self.has_history(id).await?;
            if is_new && draft.types.is_empty() {
                return Err(Error::Invalid("type is missing".into()));
            }
            let header = added(held.as_ref(), draft, now, last);
            let header = match &held {
                Some(held) if !self.sets_scopes(id, draft, now).await? => {
                    Header { scopes: held.scopes.clone(), ..header }
                }
                _ => header,
            };
            if held.as_ref() == Some(&header) {
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

    /// The instances of one dataset, at times behind those that are held there.
    async fn history_write(
        &self,
        id: &str,
        given: &GivenStrand<'_>,
        now: Timestamp,
    ) -> Result<StrandWrite, Error> {
        let strand = self.strand(id, keys::strand_name(id, given.attribute, given.dataset));
        let strands = &self.state().histories.strands;
        // Times are chosen behind what is held: what another node writes meanwhile is not to be hit.
        let version = strands.version(&strand).await?;
        let last = strands.extent(&strand).await?.map(|(_, last)| micros(last));
        let base = last.map_or(now.0, |last| now.0.max(last.0.saturating_add(1)));
        let mut builder = PointsBuilder::default();
        let mut stored = Vec::new();
        for (place, instance) in (0_i64..).zip(&given.instances) {
            let written = base.saturating_add(place / INSTANCES_A_MICROSECOND);
            let time =
                written.saturating_mul(MICROSECOND).saturating_add(1 + place % INSTANCES_A_MICROSECOND);
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

    /// Removes the whole history of an entity (5.6.16); the entity itself stays, if it is there. It is no atom: readers meanwhile, and
    /// those after an error, may find a part of it; what makes it known goes last, so that it can be called again.
    ///
    /// Cost: a commit for each attribute and dataset, [`ERASED_AT_ONCE`] of them side by side.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchEntity`] if there is no history; if the store refuses.
    pub async fn delete_history(&self, id: &str) -> Result<(), Error> {
        let _lock = self.lock_history(id).await;
        let header = self.state().header_row(id).await?;
        if header.is_none() && !self.has_history(id).await? {
            return Err(Error::NoSuchEntity(id.into()));
        }
        // Head rows first: a strand's mark, which says what of them to pass over, goes with the strand.
        loop {
            let (state, watch) = self.watch(id).await?;
            let heads = state.heads_in(state.partition(id)?, id, false).await?;
            if state.newer().await?.is_some() {
                continue;
            }
            let Some(newest) = heads.newest() else {
                break;
            };
            // What is still there is read again.
            state.drop_heads(id, &heads, newest, watch).await?;
        }
        self.erase_strands(&self.strands_of(id, |_, _| true).await?).await?;
        // What makes it known goes last, so that it can be deleted again after a crash.
        if let Some(row) = header {
            let header = Header::parse(&row.value).ok_or_else(super::heads::damaged)?;
            let mut writes: Vec<Write> =
                header.types.iter().map(|of_type| Write::Delete(keys::history_type(*of_type, id))).collect();
            let key = keys::history_header(id);
            writes.extend([Write::Delete(key.clone()), Write::Delete(keys::folded(id))]);
            let mut attempts = BACKOFF.attempts();
            while attempts.next().await {
                let (state, watch) = self.watch(id).await?;
                // If it is another one now, the entity has come back or gone again meanwhile; if it has moved, it is the same.
                let same = state.header_row(id).await?.filter(|now| now.value == row.value);
                let Some(same) = same else { break };
                let is_same = vec![Condition::Version(key.clone(), same.stamp)];
                if state.commit_history(id, watch, is_same, writes.clone()).await? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Removes the history of an attribute (5.6.13), each dataset an atom. Cost: as [`Self::delete_history`], of that attribute.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchEntity`], [`Error::NoSuchAttribute`] if there is no history of it; if the store refuses.
    pub async fn delete_history_attribute(
        &self,
        id: &str,
        attribute: TermId,
        instances: &Instances,
    ) -> Result<(), Error> {
        let _lock = self.lock_history(id).await;
        let is_meant = |name, dataset: Option<&str>| name == attribute && instances.means(dataset);
        let strands = self.folded_strands(id, is_meant).await?;
        if strands.is_empty() {
            let dataset = match instances {
                Instances::Dataset(dataset) => Some(dataset.clone()),
                Instances::Default | Instances::All => None,
            };
            return Err(Error::NoSuchAttribute(attribute, dataset));
        }
        self.erase_strands(&strands).await
    }

    /// Erases strands, some side by side: their commits share syncs. Each is an atom of its own; after an error all those
    /// that were begun with it have been tried, and the rest is there.
    async fn erase_strands(&self, strands: &[Strand]) -> Result<(), Error> {
        for some in strands.chunks(ERASED_AT_ONCE) {
            let outcomes = join_all(some.iter().map(|strand| self.erase_strand(strand))).await;
            outcomes.into_iter().collect::<Result<(), Error>>()?;
        }
        Ok(())
    }

    async fn erase_strand(&self, strand: &Strand) -> Result<(), Error> {
        let beside = vec![Write::Delete(keys::changed(&strand.name))];
        Ok(self.state().histories.strands.erase(strand, beside, None).await?)
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

    /// Removes one instance (5.6.15).
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchEntity`], [`Error::NoSuchAttribute`], [`Error::NoSuchInstance`]; if the store refuses.
    pub async fn delete_instance(
        &self,
        id: &str,
        attribute: TermId,
        instance: InstanceId,
    ) -> Result<(), Error> {
        let _lock = self.lock_history(id).await;
        let Held { strand, .. } = self.find_instance(id, attribute, instance).await?;
        let edit = Edit::Delete(TimeRange { from: instance.time, to: instance.time.saturating_add(1) });
        self.write_strand(write_of(strand, vec![edit], micros(instance.time), None)).await
    }

    /// Changes one instance (5.6.14): members that are given take the place of held ones. It keeps its name; the
    /// `modifiedAt` it shows, and is found by, is `now`.
    ///
    /// # Errors
    ///
    /// As [`Self::delete_instance`]; [`Error::Invalid`] for another kind, and for a removal.
    pub async fn patch_instance(
        &self,
        id: &str,
        attribute: TermId,
        instance: InstanceId,
        patch: &Instance,
        now: Timestamp,
    ) -> Result<(), Error> {
        let _lock = self.lock_history(id).await;
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let held = self.find_instance(id, attribute, instance).await?;
            let write = patch_write(id, attribute, held, patch, now)?;
            match self.write_strand(write).await {
                Err(Error::Contention(_)) => {}
                outcome => return outcome,
            }
        }
        Err(attempts.exhausted(id).into())
    }

    /// The strand that holds an instance, and the instance.
    async fn find_instance(&self, id: &str, attribute: TermId, instance: InstanceId) -> Result<Held, Error> {
        let strands = self.folded_strands(id, |name, _| name == attribute).await?;
        if strands.is_empty() {
            return Err(Error::NoSuchAttribute(attribute, None));
        }
        let range = TimeRange { from: instance.time, to: instance.time.saturating_add(1) };
        for strand in strands {
            let dataset = keys::attribute_of_strand(&strand.name, id).and_then(|(_, dataset)| dataset);
            if tag_of(id, attribute, dataset) != instance.tag {
                continue;
            }
            let version = self.state().histories.strands.version(&strand).await?;
            let points = self.state().histories.strands.read_last(&strand, range, 1).await?;
            if !points.is_empty() {
                return Ok(Held { strand, version, points });
            }
        }
        Err(Error::NoSuchInstance(instance))
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
    let mut places = HashMap::new();
    for Attribute { name, instances } in &draft.attributes {
        for instance in instances {
            let dataset = instance.dataset.as_deref();
            let place = *places.entry((*name, dataset)).or_insert(strands.len());
            match strands.get_mut(place) {
                Some(strand) => strand.instances.push(instance),
                None => strands.push(GivenStrand { attribute: *name, dataset, instances: vec![instance] }),
            }
        }
    }
    strands
}

/// An instance as it is held, alone, by a version of its strand.
struct Held {
    strand: Strand,
    version: StrandVersion,
    points: Points,
}

/// What changes an instance that is held. With it goes a row that says so of the strand: its instances are no longer in the
/// order of their `modifiedAt`.
fn patch_write(
    id: &str,
    attribute: TermId,
    held: Held,
    patch: &Instance,
    now: Timestamp,
) -> Result<StrandWrite, Error> {
    let Held { strand, version, points } = held;
    let point = Point::new(&points, 0);
    let dataset = keys::attribute_of_strand(&strand.name, id).and_then(|(_, dataset)| dataset);
    let mut stored = Vec::new();
    point.put_stored(&mut stored, dataset);
    if stored.is_empty() || patch.remove {
        return Err(Error::Invalid("a removal has no members to change, and is none to be made".into()));
    }
    let patch = Instance { dataset: dataset.map(Into::into), ..patch.clone() };
    let patched = patched(id, attribute, &stored, patch, now)?;
    let view = EntityView::parse(&patched)?;
    let patched = view.attribute(attribute).and_then(|attribute| attribute.instance(dataset));
    let mut builder = PointsBuilder::default();
    builder.push(point.time, &patched.ok_or(entity::Malformed)?);
    let beside = vec![Write::Put(keys::changed(&strand.name), Bytes::new())];
    let write = write_of(strand, vec![Edit::Put(builder.points)], now, Some(version));
    Ok(StrandWrite { beside, ..write })
}

/// What is known of a history, and of the draft.
fn added(held: Option<&Header>, draft: &Draft, now: Timestamp, last: Timestamp) -> Header {
    let new = Header { created: now, last, deleted: None, types: SmallVec::new(), scopes: Vec::new() };
    let mut header = held.cloned().unwrap_or(new);
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

/// An entity with one attribute of one instance, after that was patched.
fn patched(
    id: &str,
    attribute: TermId,
    stored: &[u8],
    patch: Instance,
    now: Timestamp,
) -> Result<Vec<u8>, Error> {
    let mut entity = Vec::with_capacity(stored.len() + 128);
    put_times(&mut entity, now, now, None, false);
    put_names(&mut entity, id, &[], std::iter::empty(), now);
    put_varint(&mut entity, u64::from(attribute.0));
    let start = entity.len();
    entity.extend_from_slice(stored);
    seal(&mut entity, start);
    let operation = Operation::PatchAttribute(Attribute { name: attribute, instances: smallvec![patch] });
    let rules = WriteRules { entity_bytes_max: usize::MAX, indexed: &Indexed::None };
    let outcome = apply(Some(&EntityView::parse(&entity)?), id, &operation, now, rules)?;
    Ok(outcome.bytes.unwrap_or(entity))
}
