//! Which attributes the entities of a type have: noted before the first entity that has one is written, with its id, and taken back
//! by a job once no entity has it any more.
//!
//! A note says that there may be such entities; whether there are is seen at the entity that it names, or else by a walk
//! through those of the type. The job reads a note, raises the fences and looks once more: writers that know of the note then note it
//! again before they commit, and it is taken back only as the version that was read.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use smallvec::SmallVec;
use store::{Commit, Condition, Direction, Partition, Row, Stamp, Write};

use crate::entities::next_range;
use crate::tenant::Context;
use crate::watch::Watch;
use crate::{EntityView, Error, TenantEntities, TermId, keys};

/// Rows that are read in one page.
const PAGE_ROWS: usize = 256;
/// Notes that are written at once.
const NOTES_MAX: usize = 1_000;

/// An entity is read; `false` ends the walk.
pub(crate) type Visit<'a> = &'a mut (dyn FnMut(&EntityView<'_>) -> bool + Send);

impl Context {
    /// Notes which attributes an entity that is about to be written may be the first of its types to have: those that it was `given`,
    /// or all; `false`: the fence was raised. Cost: a look in memory for each; a commit, if one is news.
    pub(crate) async fn note_entity(
        &self,
        id: &str,
        watch: &Watch,
        view: &EntityView<'_>,
        given: Option<&[TermId]>,
    ) -> Result<bool, Error> {
        let mut new = {
            let types: SmallVec<[TermId; 4]> = view.types().collect();
            let with_types = |name| types.iter().map(move |of_type| (*of_type, name));
            match given {
                Some(given) => watch.known.unknown(given.iter().copied().flat_map(with_types)),
                None => {
                    let names = view.attributes().map(|attribute| attribute.name());
                    watch.known.unknown(names.flat_map(with_types))
                }
            }
        };
        new.sort_unstable();
        new.dedup();
        Ok(new.is_empty() || self.note_in_use(id, watch, &new).await?)
    }

    /// Notes that entities with these types have these attributes, before `id` is written; `false`: the fence was raised.
    /// Cost: a commit, if it is news.
    async fn note_in_use(&self, id: &str, watch: &Watch, pairs: &[(TermId, TermId)]) -> Result<bool, Error> {
        for pairs in pairs.chunks(NOTES_MAX.min(self.store.limits().good_rows)) {
            let value = Bytes::copy_from_slice(id.as_bytes());
            let write = |pair: &(TermId, TermId)| Write::PutStamped(keys::in_use(*pair), value.clone());
            let commit = Commit {
                partition: self.partition(id)?.clone(),
                write_id: self.write_ids.next(),
                conditions: vec![Condition::Fence(watch.fence)],
                writes: pairs.iter().map(write).collect(),
                change: None,
                reclaims: false,
            };
            match self.store.commit_known(commit).await {
                Ok(_) => watch.known.learn(pairs),
                Err(error) if error.kind().is_lost_race() => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }

    /// The attributes that entities of a type in a bucket may have, each with an entity that had it.
    pub(crate) async fn noted(
        &self,
        partition: &Partition,
        of_type: TermId,
    ) -> Result<BTreeMap<TermId, Box<str>>, Error> {
        let (mut noted, mut range) = (BTreeMap::new(), Some(keys::in_use_range(of_type)));
        while let Some(rest) = range {
            let page = self.store.scan(partition, &rest, Direction::Forward, PAGE_ROWS).await?;
            for (key, id) in page.rows() {
                if let Some(name) = keys::attribute_of_key(key) {
                    noted.insert(name, String::from_utf8_lossy(id).into());
                }
            }
            range = next_range(&rest, &page);
        }
        Ok(noted)
    }

    /// Meets entities that have these noted attributes, until there was one for each that any has: first those that the notes
    /// name, then all of the type. Answers the attributes that none has, and those whose notes name another.
    pub(crate) async fn meet(
        &self,
        partition: &Partition,
        of_type: TermId,
        noted: &BTreeMap<TermId, Box<str>>,
        visit: Visit<'_>,
    ) -> Result<(BTreeSet<TermId>, BTreeSet<TermId>), Error> {
        let mut missing: BTreeSet<TermId> = noted.keys().copied().collect();
        let mut ids: Vec<&str> = noted.values().map(|id| &**id).collect();
        ids.sort_unstable();
        ids.dedup();
        let mut see = |view: &EntityView<'_>| {
            let before = missing.len();
            if view.types().any(|held| held == of_type) {
                view.attributes().for_each(|attribute| _ = missing.remove(&attribute.name()));
            }
            if missing.len() < before {
                visit(view);
            }
            !missing.is_empty()
        };
        let mut is_open = true;
        for ids in ids.chunks(PAGE_ROWS) {
            is_open = is_open && see_all(self.rows_at(partition, ids).await?, &mut see)?;
        }
        let misnamed = missing.clone();
        if !misnamed.is_empty() {
            let mut see = |view: &EntityView<'_>| {
                let before = missing.len();
                view.attributes().for_each(|attribute| _ = missing.remove(&attribute.name()));
                if missing.len() < before {
                    visit(view);
                }
                !missing.is_empty()
            };
            self.walk_type(partition, of_type, &mut see).await?;
        }
        Ok((missing, misnamed))
    }

    /// Reads the entities of a type in a bucket, in order of ids, until `visit` has enough. Cost: two reads each.
    pub(crate) async fn walk_type(
        &self,
        partition: &Partition,
        of_type: TermId,
        visit: Visit<'_>,
    ) -> Result<(), Error> {
        let mut range = Some(keys::type_range(of_type));
        while let Some(rest) = range {
            let page = self.store.scan(partition, &rest, Direction::Forward, PAGE_ROWS).await?;
            let ids: Vec<&str> = page.rows().filter_map(|(key, _)| keys::id_of_key(key)).collect();
            if !see_all(self.rows_at(partition, &ids).await?, visit)? {
                return Ok(());
            }
            range = next_range(&rest, &page);
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    async fn rows_at(&self, partition: &Partition, ids: &[&str]) -> Result<Vec<Option<Row>>, Error> {
        let keys: Vec<Bytes> = ids.iter().map(|id| keys::entity(id)).collect();
        Ok(self.store.get_many_linear(partition, &keys).await?)
    }
}

/// Whether `visit` wants more.
fn see_all(rows: Vec<Option<Row>>, visit: Visit<'_>) -> Result<bool, Error> {
    for row in rows.into_iter().flatten() {
        if !visit(&EntityView::peek(&row.value)?) {
            return Ok(false);
        }
    }
    Ok(true)
}

impl TenantEntities {
    /// Looks after the notes that were found to be out of date: names another entity, or takes them back.
    pub(crate) async fn sweep_in_use(&self) -> Result<(), Error> {
        let context = self.context();
        let doubted = std::mem::take(&mut *context.indexes.stale.lock());
        if doubted.is_empty() {
            return Ok(());
        }
        let mut noted = Vec::new();
        for pair in doubted {
            for partition in &context.partitions {
                if let Some(row) = context.store.get_linear(partition, &keys::in_use(pair)).await? {
                    noted.push((partition, pair, row.stamp));
                }
            }
        }
        // Whoever noted it before this and has not committed yet notes it again.
        context.raise_fences().await?;
        for (partition, pair, stamp) in noted {
            self.sweep_note(partition, pair, stamp).await?;
        }
        Ok(())
    }

    /// Looks after a note as it was read before the fences were raised.
    async fn sweep_note(
        &self,
        partition: &Partition,
        pair: (TermId, TermId),
        stamp: Stamp,
    ) -> Result<(), Error> {
        let (context, key) = (self.context(), keys::in_use(pair));
        let mut witness: Option<Box<str>> = None;
        let mut find = |view: &EntityView<'_>| {
            if view.attributes().any(|attribute| attribute.name() == pair.1) {
                witness = Some(view.id().into());
            }
            witness.is_none()
        };
        context.walk_type(partition, pair.0, &mut find).await?;
        let write = match witness {
            Some(id) => Write::PutStamped(key.clone(), Bytes::copy_from_slice(id.as_bytes())),
            None => Write::Delete(key.clone()),
        };
        let commit = Commit {
            partition: partition.clone(),
            write_id: context.write_ids.next(),
            conditions: vec![Condition::Version(key, stamp)],
            writes: vec![write],
            change: None,
            reclaims: true,
        };
        match context.store.commit_known(commit).await {
            Ok(_) => Ok(()),
            // Somebody has noted it again.
            Err(error) if error.kind().is_lost_race() => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
