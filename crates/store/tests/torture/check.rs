//! What must be true of a store after its process died: everything acknowledged is there, nothing is
//! half there, and rows, index rows and feed tell the same.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use store::{Cursor, Direction, EmbeddedOptions, Range, Store};

use crate::workload::{
    BUCKETS, LOADED, LOADED_ROWS, MODEL, blocks, digest, index_rows, key, loaded, partition,
};

/// What was acknowledged since the last check, and what the feed told up to then.
#[derive(Default)]
pub(crate) struct Ledger {
    /// Number of the commit to thing and digest.
    acknowledged: BTreeMap<u64, (u32, u64)>,
    /// Number of the commit to the incarnation that its stamp names, of those.
    incarnations: BTreeMap<u64, String>,
    blocks: BTreeSet<u64>,
    /// Loads that were finished.
    loads: BTreeSet<u64>,
    /// The load that the feed told last.
    loaded: Option<u64>,
    /// Incarnations in which something was acknowledged that is gone: no later state may be of one of them.
    lost: BTreeSet<String>,
    cursor: Cursor,
    /// The number of the last change that was told.
    told: u64,
    /// Thing to number and digest of its last change; digest zero: deleted.
    things: BTreeMap<u32, (u64, u64)>,
    pub(crate) commits: u64,
    /// How often a process could write again after it was refused for want of room.
    pub(crate) recoveries: u64,
}

/// What may be missing.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Loss {
    Nothing,
    OfLastPart,
}

impl Ledger {
    /// Notes a line of the process; what is no whole line was cut by the kill.
    pub(crate) fn note(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["A", id, stamp, digest] => {
                let entry = (id.parse().expect("id"), digest.parse().expect("digest"));
                let (incarnation, number) = parts_of(stamp);
                let before = self.acknowledged.insert(number, entry);
                assert_eq!(before, None, "a stamp was given twice: {line}");
                self.incarnations.insert(number, incarnation.to_owned());
                self.commits += 1;
            }
            ["B", number] => {
                self.blocks.insert(number.parse().expect("number"));
            }
            ["L", id] => {
                self.loads.insert(id.parse().expect("id"));
                self.commits += 1;
            }
            ["R"] => self.recoveries += 1,
            ["ready"] | ["E", ..] => {}
            _ => panic!("the process said: {line}"),
        }
    }

    /// Opens the store and holds it against the ledger. If the loss of a last part is allowed, what is
    /// lost must be the last part: nothing that is there may have come after it.
    pub(crate) async fn check(&mut self, folder: &Path, options: EmbeddedOptions, loss: Loss) {
        let store =
            Store::open(folder, options).unwrap_or_else(|error| panic!("the store does not open: {error}"));
        self.follow_feed(&store).await;
        if loss == Loss::OfLastPart {
            let lost = self.acknowledged.split_off(&(self.told + 1));
            lost.keys().for_each(|number| self.lost.extend(self.incarnations.remove(number)));
            self.blocks.clear();
            // Each was synced when it was finished.
        }
        assert!(self.loads.is_empty(), "loads that were finished, but are not in the feed: {:?}", self.loads);
        self.incarnations.clear();
        assert!(self.acknowledged.is_empty(), "acknowledged, but not in the feed: {:?}", self.acknowledged);
        let mut found = BTreeMap::new();
        for bucket in 0..BUCKETS {
            found.extend(check_bucket(&store, bucket).await);
        }
        let expected = self.things.iter().filter(|(_, (_, digest))| *digest != 0);
        let expected: BTreeMap<u32, (u64, u64)> = expected.map(|(id, thing)| (*id, *thing)).collect();
        assert_eq!(found, expected, "rows and feed must tell the same");
        if let Some(id) = expected.keys().next() {
            let row = store.get(&partition(*id), &key(b'e', *id)).await.expect("get").expect("a thing");
            let stamp = row.stamp.to_string();
            let (now, _) = parts_of(&stamp);
            assert!(!self.lost.contains(now), "{now} is the incarnation of stamps whose commits are gone");
        }
        self.check_blocks(&store).await;
        self.check_loaded(&store).await;
        store.close().await.expect("close");
    }

    async fn follow_feed(&mut self, store: &Store) {
        // What was told before is still there, whatever became of the process that wrote on.
        self.cursor = store.adopt_cursor(self.cursor);
        loop {
            let changes = store.feed(0, self.cursor, 1_000).await.expect("feed").changes;
            if changes.is_empty() {
                break;
            }
            for change in changes {
                // Each load has taken a number beside that of its change.
                assert!(change.number > self.told, "the feed is in order");
                (self.cursor, self.told) = (change.cursor, change.number);
                let (id, digest) = change.record.of(MODEL).expect("of the workload").payload.split_at(4);
                let id = u32::from_be_bytes(id.try_into().expect("id"));
                let digest = u64::from_be_bytes(digest.try_into().expect("digest"));
                if let Some(said) = self.acknowledged.remove(&change.number) {
                    assert_eq!(said, (id, digest), "the feed tells another change than was acknowledged");
                }
                if id == LOADED {
                    self.loads.remove(&digest);
                    self.loaded = Some(digest);
                    continue;
                }
                self.things.insert(id, (change.number, digest));
            }
        }
        assert_eq!(self.cursor, store.feed_end(0));
    }

    /// Of loads the last one that was told is there, and whole.
    async fn check_loaded(&self, store: &Store) {
        let page =
            store.scan(&loaded(), &Range::default(), Direction::Forward, usize::MAX).await.expect("scan");
        assert_eq!(page.len(), if self.loaded.is_some() { LOADED_ROWS as usize } else { 0 });
        for (key, value) in page.rows() {
            let id = value.first_chunk().map(|id| u64::from_be_bytes(*id));
            assert_eq!(id, self.loaded, "a row of another load under {}", key.escape_ascii());
        }
    }

    async fn check_blocks(&mut self, store: &Store) {
        for number in std::mem::take(&mut self.blocks) {
            let row = store.get(&blocks(), &number.to_be_bytes()).await.expect("get");
            assert_eq!(row.expect("an acknowledged block").value.len(), 100);
        }
    }
}

/// Incarnation and number of a commit, as its stamp says them to people.
fn parts_of(stamp: &str) -> (&str, u64) {
    let (incarnation, number) = stamp.split_once('-').expect("a stamp");
    (incarnation, number.parse().expect("a number"))
}

/// The things of a bucket by scan; each has exactly its index rows, and a point read agrees.
async fn check_bucket(store: &Store, bucket: u32) -> BTreeMap<u32, (u64, u64)> {
    let mut rows = BTreeMap::new();
    let mut range = Range::default();
    loop {
        let page = store.scan(&partition(bucket), &range, Direction::Forward, 1_000).await.expect("scan");
        rows.extend(page.rows().map(|(key, value)| (key.to_vec(), value.to_vec())));
        if !page.more() {
            break;
        }
        range.start = [page.last_key().expect("a row"), &[0]].concat().into();
    }
    let mut things = BTreeMap::new();
    let mut index = BTreeMap::new();
    for (row_key, value) in rows.iter().filter(|(row_key, _)| row_key.starts_with(b"e")) {
        let id = u32::from_be_bytes(row_key[1..].try_into().expect("id"));
        let row = store.get(&partition(id), &key(b'e', id)).await.expect("get").expect("a scanned row");
        assert_eq!(row.value, value, "scan and get must tell the same");
        things.insert(id, (parts_of(&row.stamp.to_string()).1, digest(value)));
        index.extend(
            index_rows(id, digest(value)).into_iter().map(|(key, value)| (key.to_vec(), value.to_vec())),
        );
    }
    rows.retain(|row_key, _| !row_key.starts_with(b"e"));
    assert!(rows == index, "index rows that disagree with their things in bucket {bucket}");
    things
}
