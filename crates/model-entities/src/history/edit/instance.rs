//! One instance of a history, changed or removed.

use bytes::Bytes;
use entity::apply::{WriteRules, apply};
use entity::encode::{put_names, put_times, put_varint, seal};
use entity::history::note::{Point, PointsBuilder, micros, tag_of};
use entity::index::Indexed;
use entity::{Attribute, EntityView, Error, Instance, InstanceId, Operation, TermId, keys};
use smallvec::smallvec;
use store::{Timestamp, Write};
use strands::{Edit, Points, Strand, StrandVersion, StrandWrite, TimeRange};

use crate::TenantEntities;
use crate::history::fold::{BACKOFF, write_of};

impl TenantEntities {
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
        let StoredInstance { strand, .. } = self.find_instance(id, attribute, instance).await?;
        let edit = Edit::Delete(TimeRange { from: instance.time, to: instance.time.saturating_add(1) });
        self.write_strand(write_of(strand, vec![edit], micros(instance.time), None)).await
    }

    /// Changes one instance (5.6.14): members that are given replace stored ones. It keeps its name; the
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
            let stored = self.find_instance(id, attribute, instance).await?;
            let write = patch_write(id, attribute, stored, patch, now)?;
            match self.write_strand(write).await {
                Err(Error::Contention(_)) => {}
                outcome => return outcome,
            }
        }
        Err(attempts.exhausted(id).into())
    }

    /// An instance, and the strand that it is stored in.
    async fn find_instance(
        &self,
        id: &str,
        attribute: TermId,
        instance: InstanceId,
    ) -> Result<StoredInstance, Error> {
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
                return Ok(StoredInstance { strand, version, points });
            }
        }
        Err(Error::NoSuchInstance(instance))
    }

    async fn write_strand(&self, write: StrandWrite) -> Result<(), Error> {
        let outcomes = self.state().histories.strands.write_all(vec![write]).await;
        outcomes.into_iter().try_for_each(|outcome| outcome.map_err(Error::from))
    }
}

/// An instance as it is stored, alone, in a version of its strand.
struct StoredInstance {
    strand: Strand,
    version: StrandVersion,
    points: Points,
}

/// What changes a stored instance. With it goes a row that says so of the strand: its instances are no longer in the
/// order of their `modifiedAt`.
fn patch_write(
    id: &str,
    attribute: TermId,
    stored: StoredInstance,
    patch: &Instance,
    now: Timestamp,
) -> Result<StrandWrite, Error> {
    let StoredInstance { strand, version, points } = stored;
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
    Ok(outcome.bytes.expect("a patch of an instance that is there changes it"))
}
