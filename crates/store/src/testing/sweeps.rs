//! Writers whose rows go ahead of their commits, sweepers who remove rows that no commit points at, and readers, interleaved
//! by a seed. All of them pause anywhere, and some never come back.
//!
//! An *authority* (a row of a commit space) names a *life*; a row of an append space under that life goes ahead of it. Nothing
//! acknowledged is lost, no authority is without its row, and in the end no row without an authority is left.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use parking_lot::Mutex;

use super::{BLOCKS, bytes, commit, things};
use crate::hostile::Dice;
use crate::{
    Append, Appended, Commit, CommitWithAppends, Condition, Direction, Epoch, ErrorKind, Partition, Range,
    Row, Stamp, Store, Write,
};

const SUBJECTS: u64 = 3;
const WRITES: usize = 10;
const SWEEPS: usize = 6;
const READS: usize = 40;
const PAUSE_MAX: u64 = 7;
/// Enough for all that is under way in a hostile engine to be carried out.
const SETTLES: usize = 400;

/// What is played, and what has been said so far.
struct Play<'a> {
    /// Handles as two processes would have them.
    stores: [&'a Store; 2],
    bucket: u32,
    /// Whether commits heed the epoch in which their rows were appended.
    is_fenced: bool,
    dice: Mutex<Dice>,
    lives: Mutex<u64>,
    /// What became of writes: `None` for what nobody knows.
    told: Mutex<HashMap<u128, Option<bool>>>,
    faults: Mutex<Vec<String>>,
}

impl Play<'_> {
    fn partition(&self) -> Partition {
        things(self.bucket)
    }

    fn blocks(&self) -> Partition {
        Partition { space: BLOCKS, ..things(self.bucket + 1) }
    }

    fn roll(&self, sides: u64) -> u64 {
        self.dice.lock().next() % sides
    }

    async fn pause(&self) {
        for _ in 0..self.roll(PAUSE_MAX) {
            tokio::task::yield_now().await;
        }
    }

    fn fault(&self, text: String) {
        self.faults.lock().push(text);
    }

    async fn authority(&self, store: &Store, subject: &str) -> Option<Row> {
        store.get_linear(&self.partition(), subject.as_bytes()).await.expect("get")
    }

    /// A life never used before, of a subject.
    fn life(&self, subject: &str) -> String {
        let mut lives = self.lives.lock();
        *lives += 1;
        format!("{subject}/{lives}")
    }

    async fn write(&self, store: &Store) {
        for _ in 0..WRITES {
            let subject = format!("s{}", self.roll(SUBJECTS));
            let epoch = store.fence(&self.partition());
            self.pause().await;
            let held = self.authority(store, &subject).await;
            self.pause().await;
            match held {
                None => {
                    self.put(store, &subject, None, self.life(&subject), epoch).await;
                }
                Some(row) => self.change(store, &subject, row, epoch).await,
            }
        }
    }

    /// An update that keeps its life, one under a new life, or a removal.
    async fn change(&self, store: &Store, subject: &str, row: Row, epoch: Epoch) {
        let life = String::from_utf8(row.value.to_vec()).expect("text");
        let is_done = match self.roll(3) {
            0 => {
                self.put(store, subject, Some(row.stamp), life, epoch).await;
                return;
            }
            1 => self.put(store, subject, Some(row.stamp), self.life(subject), epoch).await,
            _ => {
                let conditions = vec![Condition::Version(bytes(subject), row.stamp)];
                let commit = self.commit(conditions, Write::Delete(bytes(subject)));
                let write_id = commit.write_id.0;
                let outcome = store.commit_known(commit).await;
                self.note(write_id, outcome)
            }
        };
        self.pause().await;
        // What was let go is removed behind, or left to the sweepers.
        if is_done && self.roll(2) == 0 {
            let removed = store.remove(&self.blocks(), vec![bytes(&life)], Appended::Until(epoch)).await;
            removed.expect("removed");
        }
    }

    /// A row, then the authority that points at it; whether that is acknowledged.
    async fn put(
        &self,
        store: &Store,
        subject: &str,
        held: Option<Stamp>,
        life: String,
        epoch: Epoch,
    ) -> bool {
        let key = bytes(subject);
        let condition = match held {
            None => Condition::Absent(key.clone()),
            Some(stamp) => Condition::Version(key.clone(), stamp),
        };
        let append = Append { partition: self.blocks(), rows: vec![(bytes(&life), bytes(&life))] };
        let mut commit = self.commit(vec![condition], Write::PutStamped(key, bytes(&life)));
        let write_id = commit.write_id.0;
        let outcome = if self.is_fenced && self.roll(2) == 0 {
            let (appends, lets_go) = (vec![append], Vec::new());
            store.append_then_commit(CommitWithAppends { appends, epoch, commit, lets_go }).await
        } else {
            match store.append(append, epoch).await {
                Ok(()) => {}
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Fenced, "{error}");
                    return false;
                }
            }
            self.pause().await;
            if self.roll(8) == 0 {
                return false;
            }
            if self.is_fenced {
                commit.conditions.push(Condition::Fence(epoch));
            }
            store.commit_known(commit).await
        };
        self.note(write_id, outcome)
    }

    /// A commit that leaves a trace of itself.
    fn commit(&self, conditions: Vec<Condition>, write: Write) -> Commit {
        let mut lives = self.lives.lock();
        *lives += 1;
        let trace = Write::Put(Bytes::from(format!("trace{lives}")), Bytes::new());
        let commit = commit(u128::from(*lives), conditions, vec![write, trace]);
        Commit { partition: self.partition(), ..commit }
    }

    fn note(&self, write_id: u128, outcome: Result<Stamp, crate::Error>) -> bool {
        let told = match outcome {
            Ok(_) => Some(true),
            Err(error) if error.kind().is_lost_race() => Some(false),
            Err(error) if error.kind() == ErrorKind::Unknown => None,
            Err(error) => panic!("{error}"),
        };
        self.told.lock().insert(write_id, told);
        told == Some(true)
    }

    async fn rows(&self, store: &Store) -> Vec<String> {
        let page = store.scan(&self.blocks(), &Range::default(), Direction::Forward, 1_000).await;
        let key = |(key, _): (&[u8], &[u8])| String::from_utf8(key.to_vec()).expect("text");
        page.expect("scan").rows().map(key).collect()
    }

    /// Removes rows that have no authority; answers how many were found.
    async fn sweep(&self, store: &Store) -> usize {
        let mut found = 0;
        for life in self.rows(store).await {
            let subject = life.split('/').next().expect("a subject");
            let held = self.authority(store, subject).await;
            if held.as_ref().is_some_and(|row| row.value == life) {
                continue;
            }
            found += 1;
            self.pause().await;
            let seen = match held {
                None => Condition::Absent(bytes(subject)),
                Some(row) => Condition::Version(bytes(subject), row.stamp),
            };
            match store.bump(&self.partition(), vec![seen]).await {
                Ok(epoch) => {
                    self.pause().await;
                    let keys = vec![bytes(&life)];
                    store.remove(&self.blocks(), keys, Appended::Before(epoch)).await.expect("removed");
                }
                Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict, "{error}"),
            }
        }
        found
    }

    async fn sweeps(&self, store: &Store) {
        for _ in 0..SWEEPS {
            self.pause().await;
            self.sweep(store).await;
        }
    }

    async fn read(&self, store: &Store) {
        for _ in 0..READS {
            self.pause().await;
            self.check_subject(store, &format!("s{}", self.roll(SUBJECTS))).await;
        }
    }

    /// An authority has its row, as long as it stands.
    async fn check_subject(&self, store: &Store, subject: &str) {
        let Some(held) = self.authority(store, subject).await else { return };
        self.pause().await;
        if store.get_linear(&self.blocks(), &held.value).await.expect("get").is_some() {
            return;
        }
        if self.authority(store, subject).await.is_some_and(|now| now.stamp == held.stamp) {
            self.fault(format!("{} is without its row", held.value.escape_ascii()));
        }
    }

    /// What must be so once nobody writes any more.
    async fn check_end(&self, store: &Store) {
        for _ in 0..SETTLES {
            self.authority(store, "nobody").await;
        }
        for _ in 0..3 {
            self.sweep(store).await;
        }
        let mut lives = HashSet::new();
        for subject in 0..SUBJECTS {
            let subject = format!("s{subject}");
            self.check_subject(store, &subject).await;
            let held = self.authority(store, &subject).await;
            lives.extend(held.map(|row| String::from_utf8(row.value.to_vec()).expect("text")));
        }
        for row in self.rows(store).await.into_iter().filter(|row| !lives.contains(row)) {
            self.fault(format!("{row} is left without an authority"));
        }
        let told: Vec<_> = self.told.lock().iter().map(|(id, told)| (*id, *told)).collect();
        for (write_id, told) in told {
            let key = format!("trace{write_id}");
            let is_there = store.get_linear(&self.partition(), key.as_bytes()).await.expect("get").is_some();
            if told.is_some_and(|told| told != is_there) {
                self.fault(format!("write {write_id} was told to be {told:?}"));
            }
        }
    }
}

/// Plays once; answers with what went wrong.
pub(crate) async fn play(stores: [&Store; 2], bucket: u32, seed: u64, is_fenced: bool) -> Vec<String> {
    let (lives, told, faults) = (Mutex::default(), Mutex::default(), Mutex::default());
    let play = Play { stores, bucket, is_fenced, dice: Mutex::new(Dice(seed)), lives, told, faults };
    let [one, other] = play.stores;
    tokio::join!(
        play.write(one),
        play.write(other),
        play.write(one),
        play.sweeps(one),
        play.sweeps(other),
        play.read(other),
    );
    play.check_end(one).await;
    play.faults.into_inner()
}

/// Plays a few times.
pub(super) async fn check(store: &Store) {
    for seed in 0..4_u32 {
        let other = store.beside();
        let faults = play([store, &other], 2 * seed, seed.into(), true).await;
        assert!(faults.is_empty(), "seed {seed}: {faults:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::FEED;
    use crate::{Clock, FeedOptions, HostileOptions, MemoryOptions, Timestamp};

    fn memory() -> MemoryOptions {
        let feed = FeedOptions { bytes_min: 1 << 30, bytes_max: 1 << 40, ..FEED };
        MemoryOptions { clock: Clock::manual(Timestamp(0)), feed }
    }

    async fn play_on(store: Store, seed: u64, is_fenced: bool) -> Vec<String> {
        play([&store, &store.beside()], 0, seed, is_fenced).await
    }

    #[tokio::test]
    async fn nothing_is_lost_and_nothing_is_left_in_memory() {
        for seed in crate::testing::seeds(2_000) {
            let faults = play_on(Store::memory(memory()), seed, true).await;
            assert!(faults.is_empty(), "seed {seed}: {faults:?}");
        }
    }

    #[tokio::test]
    async fn nothing_is_lost_and_nothing_is_left_in_a_hostile_store() {
        for seed in crate::testing::seeds(2_000) {
            let store = Store::hostile(HostileOptions::new(memory(), seed));
            let faults = play_on(store, seed, true).await;
            assert!(faults.is_empty(), "seed {seed}: {faults:?}");
        }
    }

    /// The control: that commits heed their epoch is what keeps rows under their authorities.
    #[tokio::test]
    async fn without_epochs_rows_are_lost() {
        let (mut lost_in_memory, mut lost) = (0, 0);
        for seed in crate::testing::seeds(300) {
            let store = Store::hostile(HostileOptions::new(memory(), seed));
            lost_in_memory += usize::from(!play_on(Store::memory(memory()), seed, false).await.is_empty());
            lost += usize::from(!play_on(store, seed, false).await.is_empty());
        }
        assert!(lost_in_memory > 0 && lost > 0, "{lost_in_memory} and {lost} of 300 runs");
    }
}
