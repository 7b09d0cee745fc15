//! Fresh rows: blocks and pages of the index, and points of layers that are too large for a commit (spill.rs). They lie in an
//! append space, in partitions by the window of time they are of, and go ahead of the commit that names them; the commit
//! after which nothing names them lets them go. So a write of any size is one small commit, and no partition grows without end.
//!
//! Rows that no state names are left where a writer died, or another came before it. Where a store belongs to one process that
//! takes a write which does not fit in one batch: the state says so before ([`State::untidy`]). Elsewhere any write may
//! leave some in the windows that the strand spans; one beyond them says so before, and a state that spans less than the
//! one before it goes on saying so. [`Strands::sweep_fresh`] removes them.

use std::collections::HashSet;

use bytes::Bytes;
use store::{
    Append, Appended, Commit, CommitWithAppends, Condition, Direction, Epoch, Limits, ROW_BYTES_MAX, Removal,
    Stamp, WriteId,
};

use super::read::{contention, or_gone};
use super::state::State;
use super::wire::{Reader, put_u64};
use super::write::commit;
use super::{Strand, Strands, keys};
use crate::{Error, Malformed};

/// Keys of rows that are removed together.
const KEYS_AT_ONCE: usize = 1_000;
/// The part of what an append may take that is made full use of.
const APPEND_PART: usize = 2;
/// Rows that are looked at together.
const ROWS_AT_ONCE: usize = 64;
/// How often a sweep begins anew because the strand was written meanwhile.
const ATTEMPTS_MAX: usize = 8;
/// Low bits of a generation: the attempt.
const ATTEMPT_BITS: u32 = 36;
/// The others: how many changes of blocks there were.
const COUNT_BITS: u32 = u64::BITS - ATTEMPT_BITS;
/// Bits of where that begins.
const FIRST_COUNT_BITS: u32 = COUNT_BITS - 1;
/// Of what a commit takes, the part that is left free before something is appended in a batch of its own.
const SPARE_PART: usize = 16;

/// Tells an attempt to write apart from others of the same generation; zero where losers leave nothing behind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempt(u64);

impl Attempt {
    /// Of a write that leaves nothing behind if another comes first.
    pub(super) const CLEAN: Self = Self(0);

    /// Of a write that may.
    pub(super) fn of(id: WriteId) -> Self {
        // Ids of one process count on; those of two differ in their high half.
        let (low, high) = halves(id);
        let mixed = (high.rotate_left(17) ^ low).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Self((mixed >> (u64::BITS - ATTEMPT_BITS)).max(1))
    }
}

/// The low and the high half of an id.
pub(super) fn halves(WriteId(id): WriteId) -> (u64, u64) {
    let [a, b, c, d, e, f, g, h, high @ ..] = id.to_le_bytes();
    (u64::from_le_bytes([a, b, c, d, e, f, g, h]), u64::from_le_bytes(high))
}

/// The generation behind another, in an attempt to write. What an attempt leaves behind lies under no key of another.
///
/// # Errors
///
/// [`Error::Limit`] after some 100 million of one strand.
pub(super) fn next_generation(held: u64, Attempt(attempt): Attempt) -> Result<u64, Error> {
    let count = count_of(held) + 1;
    if count >> COUNT_BITS != 0 {
        return Err(Error::Limit(
            "a strand's blocks were changed too often: its generations are used up".into(),
        ));
    }
    Ok(count << ATTEMPT_BITS | attempt)
}

/// Where the generations of a new strand begin: not at zero, so that a reader of a strand that was erased and written anew
/// meanwhile does not take new rows for old ones, nor does who removes the old ones.
pub(super) fn first_generation(id: WriteId) -> u64 {
    Attempt::of(id).0 >> (ATTEMPT_BITS - FIRST_COUNT_BITS) << ATTEMPT_BITS
}

/// How many changes of blocks lead to a generation.
pub(super) fn count_of(generation: u64) -> u64 {
    generation >> ATTEMPT_BITS
}

/// Appends a generation: short where attempts are clean.
pub(super) fn put_generation(out: &mut Vec<u8>, generation: u64) {
    let attempt = generation & ((1 << ATTEMPT_BITS) - 1);
    put_u64(out, count_of(generation) << 1 | u64::from(attempt != 0));
    if attempt != 0 {
        put_u64(out, attempt);
    }
}

/// Reads what [`put_generation`] wrote.
pub(super) fn read_generation(reader: &mut Reader<'_>) -> Result<u64, Malformed> {
    let count = reader.u64()?;
    let (count, attempt) = (count >> 1, if count & 1 == 0 { 0 } else { reader.u64()? });
    let is_one = count >> COUNT_BITS == 0 && attempt >> ATTEMPT_BITS == 0;
    is_one.then_some(count << ATTEMPT_BITS | attempt).ok_or(Malformed)
}

/// The fresh rows that a write puts, and those that it lets go.
#[derive(Debug, Default)]
pub(super) struct Fresh {
    appends: Vec<Append>,
    lets_go: Vec<Removal>,
    /// The window of the last append and its bytes.
    last: (i64, usize),
    window_let_go: i64,
    /// The first and last window of what is put.
    windows: Option<(i64, i64)>,
    bytes: usize,
    /// The bytes of the largest row that is put.
    largest: usize,
}

impl Fresh {
    /// Puts a row of a window.
    pub(super) fn put(
        &mut self,
        strand: &Strand,
        (window, key): (i64, Bytes),
        value: Bytes,
        limits: &Limits,
    ) {
        let more = key.len() + value.len();
        let (of, held) = self.last;
        let most = limits.commit_bytes / APPEND_PART;
        let fits = |append: &&mut Append| {
            of == window && held + more <= most && append.rows.len() < limits.commit_rows / APPEND_PART
        };
        self.bytes += more;
        self.largest = self.largest.max(more);
        let (first, last) = self.windows.unwrap_or((window, window));
        self.windows = Some((first.min(window), last.max(window)));
        match self.appends.last_mut().filter(fits) {
            Some(append) => {
                append.rows.push((key, value));
                self.last = (window, held + more);
            }
            None => {
                let partition = keys::fresh_partition(strand, window);
                self.appends.push(Append { partition, rows: vec![(key, value)] });
                self.last = (window, more);
            }
        }
    }

    /// Lets a row of a window go.
    pub(super) fn remove(&mut self, strand: &Strand, (window, key): (i64, Bytes)) {
        let of = self.window_let_go;
        let fits = |removal: &&mut Removal| of == window && removal.keys.len() < KEYS_AT_ONCE;
        match self.lets_go.last_mut().filter(fits) {
            Some(removal) => removal.keys.push(key),
            None => {
                let partition = keys::fresh_partition(strand, window);
                self.lets_go.push(Removal { partition, keys: vec![key] });
                self.window_let_go = window;
            }
        }
    }

    /// Whether it is too much for one batch with its commit: then some is appended before, and may be left behind.
    pub(super) fn is_too_much(&self, commit: &Commit, limits: &Limits) -> bool {
        let most = limits.commit_bytes - limits.commit_bytes / SPARE_PART;
        !self.appends.is_empty() && self.bytes + commit.bytes() > most
    }

    /// Between which times the rows lie that are put.
    pub(super) fn span(&self) -> Option<(i64, i64)> {
        let (first, last) = self.windows?;
        Some((keys::times_of(first).0, keys::times_of(last).1.min(i64::MAX - 1)))
    }

    /// Refuses a row that no append takes: a block of one point.
    pub(super) fn check_rows(&self, limits: &Limits) -> Result<(), Error> {
        let (bytes, most) = (self.largest, limits.commit_bytes.min(ROW_BYTES_MAX));
        if bytes <= most {
            return Ok(());
        }
        Err(Error::Limit(format!("a point of one strand takes {bytes} bytes: at most {most} are allowed")))
    }

    /// Refuses what is too much for one batch with its commit.
    pub(super) fn check_size(&self, commit: &Commit, limits: &Limits) -> Result<(), Error> {
        if !self.is_too_much(commit, limits) {
            return Ok(());
        }
        let (bytes, most) = (self.bytes + commit.bytes(), limits.commit_bytes);
        Err(Error::Limit(format!(
            "one strand: {bytes} bytes at once: less than {most} are allowed (COMMIT_BYTES_MAX)"
        )))
    }

    /// The commit with what goes ahead of it and what it lets go.
    pub(super) fn with(self, epoch: Epoch, commit: Commit) -> CommitWithAppends {
        CommitWithAppends { appends: self.appends, epoch, commit, lets_go: self.lets_go }
    }
}

impl Strands {
    /// How an attempt is told apart on a strand in this state.
    pub(super) fn attempt(&self, held: &State, id: WriteId) -> Attempt {
        let leaves = held.untidy.is_some() || self.shared.store.may_lag();
        if leaves { Attempt::of(id) } else { Attempt::CLEAN }
    }

    /// What is left of an attempt if another writer comes first; `is_too_much`: for one batch.
    pub(super) fn leftovers(&self, commit: &CommitWithAppends, is_too_much: bool) -> (Epoch, Vec<Removal>) {
        let leaves = is_too_much || self.shared.store.may_lag();
        let removal = |append: &Append| Removal {
            partition: append.partition.clone(),
            keys: append.rows.iter().map(|(key, _)| key.clone()).collect(),
        };
        (commit.epoch, commit.appends.iter().filter(|_| leaves).map(removal).collect())
    }

    /// Removes what an attempt left that another writer came before. What cannot be removed is left to sweeps.
    pub(super) async fn clear_away(&self, (epoch, left): (Epoch, Vec<Removal>)) {
        for Removal { partition, mut keys } in left {
            while !keys.is_empty() {
                let rest = keys.split_off(keys.len().min(KEYS_AT_ONCE));
                let removed = self.shared.store.remove(&partition, keys, Appended::Until(epoch)).await;
                if let Err(error) = removed {
                    tracing::debug!(%error, "rows that a lost race left are left to a sweep");
                    return;
                }
                keys = rest;
            }
        }
    }

    /// Values of fresh rows; `None` if one is gone. Cost: that of [`Strands::rows`] for each window.
    pub(super) async fn fresh_rows(
        &self,
        strand: &Strand,
        wanted: impl Iterator<Item = (i64, Bytes)>,
    ) -> Result<Option<Vec<Bytes>>, Error> {
        let (windows, keys): (Vec<i64>, Vec<Bytes>) = wanted.unzip();
        let (mut values, mut from) = (Vec::new(), 0);
        for run in windows.chunk_by(|one, other| one == other) {
            let Some(window) = run.first() else { continue };
            let partition = keys::fresh_partition(strand, *window);
            let run_keys = keys.get(from..from + run.len()).unwrap_or_default();
            let rows = or_gone!(self.rows(&partition, run_keys).await?);
            if from == 0 && rows.len() == keys.len() {
                return Ok(Some(rows));
            }
            values.extend(rows);
            from += run.len();
        }
        Ok(Some(values))
    }

    /// Removes fresh rows of `first..=last` that the strand does not name, if sweeping may find some; answers how many.
    ///
    /// Cost: one look-up where nothing can be left; else all blocks of the range are read, page by page.
    pub(super) async fn tidy(&self, strand: &Strand) -> Result<usize, Error> {
        let Some((stamp, state)) = self.state(strand).await? else { return Ok(0) };
        let Some(span) = self.span_of_leftovers(&state) else { return Ok(0) };
        let swept = self.sweep_fresh(strand, span).await?;
        self.note_tidy(strand, (stamp, state)).await?;
        Ok(swept)
    }

    /// The first and last time between which fresh rows may be left that the state does not name.
    pub(super) fn span_of_leftovers(&self, state: &State) -> Option<(i64, i64)> {
        let bounds = state.bounds().filter(|_| self.shared.store.may_lag());
        let spans = state.untidy.into_iter().chain(bounds);
        spans.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }

    /// Whether rows of a write may be left in windows in which a sweep would not look.
    pub(super) fn goes_beyond(&self, held: &State, fresh: &Fresh) -> bool {
        self.shared.store.may_lag() && fresh.span().is_some_and(|span| !self.is_spanned(held, span))
    }

    /// Has a state know all windows in which rows may be left of the one before.
    pub(super) fn keep_span(&self, before: Option<(i64, i64)>, state: &mut State) {
        if let Some((first, last)) = before.filter(|span| !self.is_spanned(state, *span)) {
            let (from, to) = state.untidy.unwrap_or((first, last));
            state.untidy = Some((from.min(first), to.max(last)));
        }
    }

    fn is_spanned(&self, state: &State, (first, last): (i64, i64)) -> bool {
        let window = keys::window_of;
        let spanned = self.span_of_leftovers(state);
        spanned.is_some_and(|(from, to)| window(from) <= window(first) && window(last) <= window(to))
    }

    /// Notes that what was left by a range of a state is gone. A writer that comes first leaves it for the next time.
    async fn note_tidy(&self, strand: &Strand, (stamp, swept): (Stamp, State)) -> Result<(), Error> {
        if swept.untidy.is_some() {
            let tidy = State { untidy: None, ..swept };
            let write_id = self.shared.write_ids.next();
            let commit = commit(strand, Some(stamp), &tidy, std::iter::empty(), write_id, None);
            self.try_commit(Commit { reclaims: true, ..commit }).await?;
        }
        Ok(())
    }

    /// Removes fresh rows of the windows of a range that no state names; answers how many. A new epoch begins before any goes, on
    /// condition that the strand is as it was looked at: whoever appended before cannot commit any more, and what is appended
    /// after stays.
    pub(super) async fn sweep_fresh(
        &self,
        strand: &Strand,
        (first, last): (i64, i64),
    ) -> Result<usize, Error> {
        for _ in 0..ATTEMPTS_MAX {
            let held = self.state(strand).await?;
            let Some(orphans) = self.orphans(strand, held.as_ref().map(|(_, it)| it), (first, last)).await?
            else {
                continue;
            };
            if orphans.is_empty() {
                return Ok(0);
            }
            let seen = condition(strand, held.map(|(stamp, _)| stamp));
            match self.shared.store.bump(&strand.partition, vec![seen]).await {
                Ok(epoch) => return self.remove_orphans(orphans, epoch).await,
                Err(error) if error.kind().is_lost_race() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(contention(strand))
    }

    async fn remove_orphans(&self, orphans: Vec<Removal>, epoch: Epoch) -> Result<usize, Error> {
        let mut removed = 0;
        for Removal { partition, keys } in orphans {
            for keys in keys.chunks(KEYS_AT_ONCE) {
                removed += keys.len();
                self.shared.store.remove(&partition, keys.to_vec(), Appended::Before(epoch)).await?;
                tokio::task::yield_now().await;
            }
        }
        Ok(removed)
    }

    /// Fresh rows of the windows of a range that the state does not name; `None` if the state changed meanwhile.
    async fn orphans(
        &self,
        strand: &Strand,
        state: Option<&State>,
        (first, last): (i64, i64),
    ) -> Result<Option<Vec<Removal>>, Error> {
        let mut orphans = Vec::new();
        let spilled = match state {
            Some(state) => or_gone!(self.spilled_rows(strand, state).await?),
            None => Vec::new(),
        };
        for window in keys::windows(first, last) {
            let (from, to) = keys::times_of(window);
            let partition = keys::fresh_partition(strand, window);
            let mut named: HashSet<Bytes> = HashSet::new();
            if let Some(state) = state {
                let pages = or_gone!(self.read_pages(strand, state.index.pages_meeting(from, to)).await?);
                let entries = state.index.entries_meeting(&pages, from, to)?;
                named.extend(entries.iter().map(|entry| entry.row(strand).1));
                named.extend(state.index.pages.iter().map(|page| page.row(strand).1));
                named.extend(spilled.iter().filter(|(of, _)| *of == window).map(|(_, key)| key.clone()));
            }
            let mut keys = Vec::new();
            for mut rest in keys::all_fresh(strand) {
                loop {
                    let store = &self.shared.store;
                    let page = store.scan(&partition, &rest, Direction::Forward, ROWS_AT_ONCE).await?;
                    let found = page.rows().map(|(key, _)| key).filter(|key| !named.contains(*key));
                    keys.extend(found.map(Bytes::copy_from_slice));
                    let Some(last) = page.last_key().filter(|_| page.more()) else { break };
                    rest.start = [last, &[0]].concat().into();
                    tokio::task::yield_now().await;
                }
            }
            if !keys.is_empty() {
                orphans.push(Removal { partition, keys });
            }
        }
        Ok(Some(orphans))
    }
}

/// Holds while the strand is of this version.
fn condition(strand: &Strand, stamp: Option<Stamp>) -> Condition {
    let key = keys::state(strand);
    stamp.map_or(Condition::Absent(key.clone()), |stamp| Condition::Version(key, stamp))
}
