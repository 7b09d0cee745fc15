//! Which attributes the entities of a type have: noted before the first entity that has one is written, with its id, and taken back
//! by a job once no entity has it any more.
//!
//! A note says that there may be such entities; whether there are is seen at the entity that it names, or else by a walk
//! through those of the type. The job reads a note, raises the fences and looks once more: writers that know of the note then note it
//! again before they commit, and it is taken back only as the version that was read.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use entity::{EntityView, Error, TermId, keys};
use smallvec::SmallVec;
use store::{Condition, Deadline, Direction, ErrorKind, Pace, Partition, Row, Stamp, Write};

use crate::TenantEntities;
use crate::long_read::{LIGHT_ENTITY_BYTES, LongRead};
use crate::tenant::{TenantState, no_bucket};
use crate::watch::Watch;

/// Rows that are read in one page.
const PAGE_ROWS: usize = 256;
/// Entities that are read at once.
const BATCH: usize = 64;
/// Notes that are written at once.
const NOTES_MAX: usize = 1_000;

/// Steps of a read.
pub(crate) const STEPS_A_READ: usize = 20;
/// Steps of a look at an entity, and bytes of it that make one more.
const STEPS_AN_ENTITY: usize = 10;
const BYTES_A_STEP: usize = 256;

/// What a look at an entity takes.
pub(crate) fn steps_of(row: &Row) -> usize {
    STEPS_AN_ENTITY + row.value.len() / BYTES_A_STEP
}

/// An entity is read; `false` ends the walk.
pub(crate) type Visit<'a> = &'a mut (dyn FnMut(&EntityView<'_>) -> bool + Send);

/// A type and an attribute that entities of it have.
pub(crate) type Pair = (TermId, TermId);

/// What is to be noted before entities are written, by bucket: each pair once, with an entity that is to have it.
#[derive(Default)]
pub(crate) struct Notes<'a>(BTreeMap<usize, (Watch, BTreeMap<Pair, &'a str>)>);

impl<'a> Notes<'a> {
    pub(crate) fn add(&mut self, bucket: usize, watch: &Watch, id: &'a str, pairs: Vec<Pair>) {
        if !pairs.is_empty() {
            let (_, pairs_of_bucket) =
                self.0.entry(bucket).or_insert_with(|| (watch.clone(), BTreeMap::new()));
            pairs_of_bucket.extend(pairs.into_iter().map(|pair| (pair, id)));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The attributes of an entity that is about to be written, those that it was `given` or all, that are not known to be in use with its
/// types. Cost: a look in memory for each.
pub(crate) fn unnoted(watch: &Watch, view: &EntityView<'_>, given: Option<&[TermId]>) -> Vec<Pair> {
    let types: SmallVec<[TermId; 4]> = view.types().collect();
    let with_types = |name| types.iter().map(move |of_type| (*of_type, name));
    let mut new = match given {
        Some(given) => watch.known.unknown(given.iter().copied().flat_map(with_types)),
        None => watch.known.unknown(view.attributes().flat_map(|attribute| with_types(attribute.name()))),
    };
    if given.is_some() && !new.is_empty() {
        // What it was given may have been taken away.
        new.retain(|(_, name)| view.attributes().any(|attribute| attribute.name() == *name));
    }
    new.sort_unstable();
    new.dedup();
    new
}

impl TenantState {
    /// Notes what an entity that is about to be written is the first to have; `false`: the fence was raised. Cost: a commit, if
    /// that is anything.
    pub(crate) async fn note_entity(
        &self,
        id: &str,
        watch: &Watch,
        view: &EntityView<'_>,
        given: Option<&[TermId]>,
    ) -> Result<bool, Error> {
        let mut notes = Notes::default();
        notes.add(self.bucket(id), watch, id, unnoted(watch, view, given));
        if notes.is_empty() {
            return Ok(true);
        }
        self.put_notes(notes).await?;
        Ok(unnoted(watch, view, given).is_empty())
    }

    /// Puts notes; those whose fence was raised are not known afterwards. Cost: a group of commits.
    ///
    /// # Errors
    ///
    /// If the store refuses some; others may have been put.
    pub(crate) async fn put_notes(&self, notes: Notes<'_>) -> Result<(), Error> {
        let rows_max = NOTES_MAX.min(self.store.limits().good_rows);
        let (mut put, mut commits) = (Vec::new(), Vec::new());
        for (bucket, (watch, pairs_of_bucket)) in notes.0 {
            let partition = self.partitions.get(bucket).ok_or_else(no_bucket)?;
            let pairs_of_bucket: Vec<(Pair, &str)> = pairs_of_bucket.into_iter().collect();
            for some in pairs_of_bucket.chunks(rows_max) {
                let write = |(pair, id): &(Pair, &str)| {
                    Write::PutStamped(keys::in_use(*pair), Bytes::copy_from_slice(id.as_bytes()))
                };
                let fence = vec![Condition::Fence(watch.fence)];
                commits.push(self.silent(partition, fence, some.iter().map(write).collect(), false));
                let pairs: Vec<Pair> = some.iter().map(|(pair, _)| *pair).collect();
                put.push((watch.clone(), pairs));
            }
        }
        let mut failed = Ok(());
        for ((watch, pairs), outcome) in put.into_iter().zip(self.store.commit_all_known(commits).await) {
            match outcome {
                Ok(_) => watch.known.learn(&pairs),
                Err(error) if error.kind().is_lost_race() => {}
                Err(error) => failed = Err(error.into()),
            }
        }
        failed
    }

    /// The attributes that entities of a type in a bucket may have, each with an entity that had it.
    pub(crate) async fn noted(
        &self,
        partition: &Partition,
        of_type: TermId,
        long: &mut LongRead<'_>,
    ) -> Result<BTreeMap<TermId, Box<str>>, Error> {
        let (mut noted, mut range) = (BTreeMap::new(), Some(keys::in_use_range(of_type)));
        while let Some(rest) = range {
            let page = self.store.scan(partition, &rest, Direction::Forward, PAGE_ROWS).await?;
            for (key, id) in page.rows() {
                if let Some(name) = keys::attribute_of_key(key) {
                    noted.insert(name, String::from_utf8_lossy(id).into());
                }
            }
            long.spend(STEPS_A_READ + page.len()).await?;
            range = rest.after_page(&page);
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
        long: &mut LongRead<'_>,
        visit: Visit<'_>,
    ) -> Result<(BTreeSet<TermId>, BTreeSet<TermId>), Error> {
        let mut missing: BTreeSet<TermId> = noted.keys().copied().collect();
        let mut ids: Vec<&str> = noted.values().map(|id| &**id).collect();
        ids.sort_unstable();
        ids.dedup();
        let mut meets = |missing: &mut BTreeSet<TermId>, view: &EntityView<'_>| {
            let before = missing.len();
            if view.types().any(|of| of == of_type) {
                view.attributes().for_each(|attribute| _ = missing.remove(&attribute.name()));
            }
            if missing.len() < before {
                visit(view);
            }
            !missing.is_empty()
        };
        self.see(partition, &ids, long, &mut |view| meets(&mut missing, view)).await?;
        let misnamed = missing.clone();
        if !misnamed.is_empty() {
            self.walk_type(partition, of_type, long, &mut |view| meets(&mut missing, view)).await?;
        }
        Ok((missing, misnamed))
    }

    /// Reads the entities of a type in a bucket, in order of ids, until `visit` has enough; damaged ones are passed over, of which
    /// `false` tells. Cost: two reads each.
    pub(crate) async fn walk_type(
        &self,
        partition: &Partition,
        of_type: TermId,
        long: &mut LongRead<'_>,
        visit: Visit<'_>,
    ) -> Result<bool, Error> {
        let mut is_whole = true;
        let mut range = Some(keys::type_range(of_type));
        while let Some(rest) = range {
            let page = self.store.scan(partition, &rest, Direction::Forward, PAGE_ROWS).await?;
            let ids: Vec<&str> = page.rows().filter_map(|(key, _)| keys::id_of_key(key)).collect();
            let seen = self.see(partition, &ids, long, visit).await?;
            is_whole &= !seen.met_damage;
            if seen.is_enough {
                return Ok(is_whole);
            }
            range = rest.after_page(&page);
            tokio::task::yield_now().await;
        }
        Ok(is_whole)
    }

    /// Reads entities of a bucket, some at a time, until `visit` has enough; damaged ones are passed over.
    async fn see(
        &self,
        partition: &Partition,
        ids: &[&str],
        long: &mut LongRead<'_>,
        visit: Visit<'_>,
    ) -> Result<Seen, Error> {
        let mut seen = Seen::default();
        for ids in ids.chunks(BATCH) {
            let rows = self.rows_at(partition, ids).await?;
            if rows.iter().flatten().any(|row| row.value.len() > LIGHT_ENTITY_BYTES) {
                long.enter_lane().await?;
            }
            let mut rows = rows.into_iter().flatten();
            while !seen.is_enough && !long.run(|pace| seen.see_some(&mut rows, visit, pace)) {
                long.pace.check()?;
                long.rest().await?;
            }
            if seen.is_enough {
                break;
            }
            long.spend(STEPS_A_READ).await?;
        }
        Ok(seen)
    }

    async fn rows_at(&self, partition: &Partition, ids: &[&str]) -> Result<Vec<Option<Row>>, Error> {
        let keys: Vec<Bytes> = ids.iter().map(|id| keys::entity(id)).collect();
        Ok(self.store.get_many_linear(partition, &keys).await?)
    }
}

/// What came of looking at entities.
#[derive(Default)]
struct Seen {
    /// Who visits wants no more.
    is_enough: bool,
    met_damage: bool,
}

impl Seen {
    /// Looks at entities for a slice; whether that was all of them, or enough.
    fn see_some(&mut self, rows: &mut impl Iterator<Item = Row>, visit: Visit<'_>, pace: &mut Pace) -> bool {
        while !pace.is_tired() {
            let Some(row) = rows.next() else { return true };
            if !pace.spend(steps_of(&row)) {
                return false;
            }
            match EntityView::peek(&row.value) {
                Ok(view) => self.is_enough = !visit(&view),
                Err(_) => self.met_damage = true,
            }
            if self.is_enough {
                return true;
            }
        }
        false
    }
}

impl TenantEntities {
    /// Looks after the notes that were found to be out of date: names another entity, or takes them back.
    pub(crate) async fn sweep_in_use(&self) -> Result<(), Error> {
        let state = self.state();
        let doubted = std::mem::take(&mut *state.indexes.stale.lock());
        if doubted.is_empty() {
            return Ok(());
        }
        let mut nobodys = Vec::new();
        for pair in doubted {
            for partition in &state.partitions {
                let Some(row) = state.store.get_linear(partition, &keys::in_use(pair)).await? else {
                    continue;
                };
                match state.witness(partition, pair).await? {
                    Some(id) => state.change_note(partition, pair, row.stamp, Some(id)).await?,
                    None => nobodys.push((partition, pair, row.stamp)),
                }
            }
        }
        if nobodys.is_empty() {
            return Ok(());
        }
        // Whoever noted it before it was read, and has not committed yet, notes it again.
        state.raise_fences().await?;
        for (partition, pair, stamp) in nobodys {
            let id = state.witness(partition, pair).await?;
            state.change_note(partition, pair, stamp, id).await?;
        }
        Ok(())
    }
}

impl TenantState {
    /// An entity of a bucket that has an attribute with a type. Cost: that of a walk up to it.
    async fn witness(&self, partition: &Partition, pair: Pair) -> Result<Option<Box<str>>, Error> {
        let mut witness: Option<Box<str>> = None;
        let mut find = |view: &EntityView<'_>| {
            if view.attributes().any(|attribute| attribute.name() == pair.1) {
                witness = Some(view.id().into());
            }
            witness.is_none()
        };
        let long = &mut LongRead::of_job(Deadline::default());
        let is_whole = self.walk_type(partition, pair.0, long, &mut find).await?;
        if witness.is_none() && !is_whole {
            // One that is damaged may have it.
            return Err(
                store::Error::new(ErrorKind::Corrupt, "looking for entities with an attribute").into()
            );
        }
        Ok(witness)
    }

    /// Has a note name an entity, or takes it back, if it is still this version.
    async fn change_note(
        &self,
        partition: &Partition,
        pair: Pair,
        stamp: Stamp,
        id: Option<Box<str>>,
    ) -> Result<(), Error> {
        let key = keys::in_use(pair);
        let write = match id {
            Some(id) => Write::PutStamped(key.clone(), Bytes::copy_from_slice(id.as_bytes())),
            None => Write::Delete(key.clone()),
        };
        // If it is refused, somebody has noted it again.
        let commit = self.silent(partition, vec![Condition::Version(key, stamp)], vec![write], true);
        self.commit_silently(commit).await.map(drop)
    }
}
