//! Intents: changes of the catalogue that reach several buckets, or are more than one commit takes, and happen whole all the same.
//!
//! An intent is a list of conditions and, for each bucket, of chunks of writes (`intent/body.rs`). Its pieces go ahead as fresh rows,
//! and row `i` of the first bucket, the *head*, says how far it is:
//!
//! 1. *Preparing*: it is there. New epochs of its buckets begin, so that nobody commits in them who does not know it
//!    (`commit.rs`). Then its conditions are looked at.
//! 2. *Decided*, if they hold: that is the moment at which all of it happens. If not it is over, and did nothing.
//! 3. Its chunks are committed, bucket by bucket; row `p` of a bucket says how many were, so that each is, once.
//! 4. The head is *idle* again, and says what became of the last 64 intents.
//!
//! Whoever finds an intent carries it on from where it is, so nobody waits for a writer that died. One is under way at a time. Every
//! step is a commit on condition of the row that it changes: who comes late does nothing.
//!
//! Readers may see rows of an intent before others of it, while it is carried out; who does not find a series, searches, begins a
//! change, or uses a repository for the first time, carries it out first. So what is acknowledged is seen, and nothing stays half
//! done or to be done. Where it cannot be carried out (the disk is full) readers are served as it is: nobody was answered that it happened.

mod head;
mod body;

use std::collections::BTreeSet;

use bytes::Bytes;
use futures_util::future::try_join_all;
use store::retry::unless_lost;
use store::rows::Pages;
#[cfg(feature = "testing")]
use store::wire::Malformed;
use store::{
    Append, Appended, Commit, CommitWithAppends, Condition, ErrorKind, Range, Removal, Row, Write, WriteId,
};

use self::body::{Body, Chunk};
use self::head::{Head, State, put_progress, take_progress};
use super::context::{BACKOFF, Context};
use super::pending::{PendingCommit, holds, outcome_of};
use crate::encode::damaged;
use crate::feed::of_definitions;
use crate::{Error, keys};

/// The largest intent in bytes: that of some ten thousand large definitions.
const INTENT_BYTES_MAX: usize = 64 * 1024 * 1024;
/// The largest piece of one in bytes.
const PIECE_BYTES_MAX: usize = 1024 * 1024;
/// Buckets that are dealt with at once.
const BUCKETS_AT_ONCE: usize = 64;
/// Rows of pieces that a sweep looks at together.
const PAGE: usize = 16;
/// Rows of conditions that are looked at together.
const ROWS_AT_ONCE: usize = 1_024;

impl Context {
    /// Carries out a change that is not one commit; `false` if another writer came first. Cost: a commit before, a small one for each
    /// bucket that it reaches, one that decides, those of its writes, and one behind.
    pub(super) async fn commit_by_intent(
        &self,
        pending: PendingCommit,
        buckets: &BTreeSet<u32>,
    ) -> Result<bool, Error> {
        let Some(seen) = self.as_written(&pending.conditions).await? else {
            return Ok(false);
        };
        let reclaims = pending.reclaims;
        let _turn = self.intents.starting.lock().await;
        let body = Body::new(pending, seen, buckets, self.buckets(), &self.store.limits())?.to_bytes();
        let what = || "bytes of a change of the catalogue".into();
        Error::check_limit("INTENT_BYTES_MAX", INTENT_BYTES_MAX, body.len(), what)?;
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let epoch = self.store.fence(self.first_partition());
            let (head, unchanged) = self.head().await?;
            if head.state != State::Idle {
                self.carry_out(head.number).await?;
                continue;
            }
            let id = self.write_ids.next();
            let (appends, pieces) = self.pieces_of(&body, id)?;
            let next = head.next(id, pieces);
            let commit = Commit { reclaims, ..self.of_head(next, unchanged, id) };
            let commit = CommitWithAppends { appends, epoch, commit, lets_go: Vec::new() };
            if outcome_of(self.store.append_then_commit(commit).await)? {
                return self.outcome_of_intent(next.number).await;
            }
        }
        Err(attempts.exhausted("the catalogue").into())
    }

    /// The rows that go ahead of an intent, and how many they are.
    fn pieces_of(&self, body: &[u8], id: WriteId) -> Result<(Vec<Append>, u32), Error> {
        let piece_bytes = PIECE_BYTES_MAX.min(self.store.limits().commit_bytes / 2);
        let append = |(piece, bytes): (u32, &[u8])| Append {
            partition: keys::intents_partition(&self.tenant),
            rows: vec![(keys::piece(id, piece), Bytes::copy_from_slice(bytes))],
        };
        let appends: Vec<Append> = (0..).zip(body.chunks(piece_bytes)).map(append).collect();
        let pieces = u32::try_from(appends.len()).map_err(|_| damaged("an intent"))?;
        Ok((appends, pieces))
    }

    /// Carries out an intent that is stored, and says whether it happened. Whatever goes wrong from here on, others carry it out: then
    /// its outcome is not known.
    async fn outcome_of_intent(&self, number: u64) -> Result<bool, Error> {
        let unknown = || store::Error::new(ErrorKind::Unknown, "a change of the catalogue that is under way");
        let done = match self.carry_out(number).await {
            Ok(()) => self.head().await,
            Err(error) => Err(error),
        };
        match done {
            Ok((head, _)) => Ok(head.outcome_of(number).ok_or_else(unknown)?),
            Err(Error::Store(error)) if error.kind() == ErrorKind::TenantRemoved => Err(error.into()),
            Err(error) => {
                tracing::warn!(%error, number, "a change of the catalogue is left to the next that finds it");
                Err(unknown().into())
            }
        }
    }

    /// Carries out the intent of a number, if it is under way.
    async fn carry_out(&self, number: u64) -> Result<(), Error> {
        // One task of a process reads it; the others find it done.
        let _turn = self.intents.carrying.lock().await;
        // A step that is lost was taken by another, and an intent has three.
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let (head, unchanged) = self.head().await?;
            if head.is_behind(number) {
                self.intents.note_over(head.last_over());
                return Ok(());
            }
            self.carry_on(head, unchanged).await?;
        }
        Err(attempts.exhausted("the catalogue").into())
    }

    /// Carries out the intent that is under way, if one is; whether one was. Cost: a look-up, if none is.
    pub(super) async fn carry_out_met(&self) -> Result<bool, Error> {
        let (head, _) = self.head().await?;
        if head.state == State::Idle {
            self.intents.note_over(head.number);
            return Ok(false);
        }
        Box::pin(self.carry_out(head.number)).await?;
        Ok(true)
    }

    /// The same for readers, who are served if it cannot be carried out now (on a full disk, say): nobody was answered that it happened.
    /// Answers the number of the last intent that is over.
    pub(crate) async fn carry_out_for_reader(&self) -> u64 {
        if let Err(error) = self.carry_out_met().await {
            tracing::debug!(%error, tenant = self.tenant.name(), "a change of the catalogue is not carried out yet");
        }
        self.intents.over()
    }

    async fn head(&self) -> Result<(Head, Condition), Error> {
        let key = keys::intent();
        match self.store.get_linear(self.first_partition(), &key).await? {
            None => Ok((Head::default(), Condition::Absent(key))),
            Some(row) => {
                let head = Head::parse(&row.value).map_err(|_| damaged("the head of intents"))?;
                Ok((head, Condition::Version(key, row.stamp)))
            }
        }
    }

    /// The intent's next step.
    async fn carry_on(&self, head: Head, unchanged: Condition) -> Result<(), Error> {
        let body = match self.body_of(head).await {
            Ok(Some(body)) => Some(body),
            // It was carried out meanwhile.
            Ok(None) if self.head().await?.1 != unchanged => return Ok(()),
            Ok(None) => None,
            Err(error) if error.is_outage() => return Err(error),
            Err(_) => None,
        };
        let next = match (head.state, body) {
            (State::Idle, _) => return Ok(()),
            (State::Preparing, Some(body)) => {
                let buckets: Vec<u32> = body.buckets.iter().map(|(bucket, _)| *bucket).collect();
                for buckets in buckets.chunks(BUCKETS_AT_ONCE) {
                    let bump = |bucket: &u32| self.store.bump(self.partition(*bucket), Vec::new());
                    try_join_all(buckets.iter().map(bump)).await?;
                }
                if self.are_as_written(&body.seen).await? { head.decided() } else { head.over(false) }
            }
            // Nothing of it happened yet.
            (State::Preparing, None) => {
                tracing::warn!(
                    number = head.number,
                    "a change of the catalogue cannot be read, and is dropped"
                );
                head.over(false)
            }
            (State::Decided, Some(body)) => {
                for buckets in body.buckets.chunks(BUCKETS_AT_ONCE) {
                    let pending =
                        buckets.iter().map(|(it, chunks)| self.commit_chunks(head.number, *it, chunks));
                    try_join_all(pending).await?;
                }
                head.over(true)
            }
            (State::Decided, None) => return Err(damaged("an intent")),
        };
        let lets_go = match next.state {
            State::Idle => {
                vec![Removal { partition: keys::intents_partition(&self.tenant), keys: head.keys() }]
            }
            State::Preparing | State::Decided => Vec::new(),
        };
        let epoch = self.store.fence(self.first_partition());
        let commit = self.of_head(next, unchanged, self.write_ids.next());
        // Who comes too late finds what another did.
        outcome_of(
            self.store
                .append_then_commit(CommitWithAppends { appends: Vec::new(), epoch, commit, lets_go })
                .await,
        )
        .map(drop)
    }

    /// The commit that changes the head. What was begun is finished on a nearly full disk, too.
    fn of_head(&self, head: Head, unchanged: Condition, write_id: WriteId) -> Commit {
        Commit {
            partition: self.first_partition().clone(),
            write_id,
            conditions: vec![unchanged],
            writes: vec![Write::PutStamped(keys::intent(), head.to_bytes())],
            change: None,
            reclaims: true,
        }
    }

    /// The intent; `None` if pieces are gone.
    async fn body_of(&self, head: Head) -> Result<Option<Body>, Error> {
        let partition = keys::intents_partition(&self.tenant);
        let rows = self.store.get_many_linear(&partition, &head.keys()).await?;
        let Some(pieces) =
            rows.into_iter().map(|row| row.map(|row| row.value)).collect::<Option<Vec<Bytes>>>()
        else {
            return Ok(None);
        };
        Body::parse(&pieces.concat().into()).map(Some).map_err(|_| damaged("an intent"))
    }

    /// Commits the chunks of an intent in one bucket that were not yet.
    async fn commit_chunks(&self, number: u64, bucket: u32, chunks: &[Chunk]) -> Result<(), Error> {
        let key = keys::progress();
        let mut attempts = BACKOFF.plus(chunks.len()).attempts();
        while attempts.next().await {
            let row = self.store.get_linear(self.partition(bucket), &key).await?;
            let (last, done, unchanged) = match &row {
                None => (0, 0, Condition::Absent(key.clone())),
                Some(Row { value, stamp, .. }) => {
                    let (last, done) =
                        take_progress(value).map_err(|_| damaged("the progress of intents"))?;
                    (last, done, Condition::Version(key.clone(), *stamp))
                }
            };
            let done = if last == number { done } else { 0 };
            let Some(chunk) = chunks.get(done).filter(|_| last <= number) else {
                return Ok(());
            };
            let mut writes = chunk.writes.clone();
            writes.push(Write::PutStamped(key.clone(), put_progress(number, done + 1)));
            let commit = Commit {
                partition: self.partition(bucket).clone(),
                write_id: self.write_ids.next(),
                conditions: vec![unchanged],
                writes,
                change: of_definitions(chunk.change.to_vec()),
                reclaims: true,
            };
            outcome_of(self.store.commit_known(commit).await)?;
        }
        Err(attempts.exhausted("the catalogue").into())
    }

    /// What the rows are that conditions name, by the commits that wrote them; `None` if one does not hold.
    async fn as_written(
        &self,
        conditions: &[Condition],
    ) -> Result<Option<Vec<(Bytes, Option<WriteId>)>>, Error> {
        let keys: Vec<Bytes> = conditions.iter().filter_map(Condition::key).cloned().collect();
        let mut rows = Vec::with_capacity(keys.len());
        for keys in keys.chunks(ROWS_AT_ONCE) {
            rows.extend(self.rows(keys).await?);
            tokio::task::yield_now().await;
        }
        let rowed = conditions.iter().filter(|condition| condition.key().is_some());
        if !rowed.zip(&rows).all(|(condition, row)| holds(condition, row.as_ref())) {
            return Ok(None);
        }
        Ok(Some(keys.into_iter().zip(rows.into_iter().map(|row| row.map(|row| row.write_id))).collect()))
    }

    async fn are_as_written(&self, seen: &[(Bytes, Option<WriteId>)]) -> Result<bool, Error> {
        for seen in seen.chunks(ROWS_AT_ONCE) {
            let keys: Vec<Bytes> = seen.iter().map(|(key, _)| key.clone()).collect();
            let rows = self.rows(&keys).await?;
            if !seen.iter().zip(rows).all(|((_, seen), row)| row.map(|row| row.write_id) == *seen) {
                return Ok(false);
            }
            tokio::task::yield_now().await;
        }
        Ok(true)
    }

    /// Carries out an intent whose writer died, and removes pieces that no head names. For a job. Cost: a look-up and a scan, where
    /// there are none.
    pub(crate) async fn sweep_intents(&self) -> Result<(), Error> {
        self.carry_out_met().await?;
        let (head, unchanged) = self.head().await?;
        if head.state != State::Idle {
            return Ok(());
        }
        let partition = keys::intents_partition(&self.tenant);
        let mut left = Vec::new();
        let mut pages = Pages::new(&self.store, &partition, Range::default(), PAGE);
        while let Some(page) = pages.next().await? {
            left.extend(page.rows().map(|(key, _)| Bytes::copy_from_slice(key)));
        }
        if left.is_empty() {
            return Ok(());
        }
        // Who appended them and has not committed cannot any more, if the head is as it was.
        let bumped = self.store.bump(self.first_partition(), vec![unchanged]).await;
        let Some(epoch) = unless_lost(bumped)? else {
            return Ok(());
        };
        tracing::debug!(pieces = left.len(), last = head.number, "pieces of intents are left over");
        for keys in left.chunks(PAGE) {
            self.store.remove(&partition, keys.to_vec(), Appended::Before(epoch)).await?;
        }
        Ok(())
    }
}

/// What an intent in these bytes is written as.
#[cfg(feature = "testing")]
pub(crate) fn printed_again(bytes: &Bytes) -> Result<Vec<u8>, Malformed> {
    Body::parse(bytes).map(|body| body.to_bytes())
}
