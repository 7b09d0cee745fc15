//! The feed of changes, by shards, and those who read it.

use super::{Engine, Store};
use crate::{Change, Cursor, Error, ErrorKind, FeedPage};

impl Store {
    /// How many shards the feed has; changes of one partition are all in one shard, in order.
    pub fn feed_shards(&self) -> u32 {
        match &self.engine {
            Engine::Memory(_) | Engine::Embedded(_) => 1,
            Engine::Hostile(hostile) => hostile.feed_shards(),
        }
    }

    /// Up to `changes_max` changes after `cursor`: each at least once, those of one partition in their order, those of several in
    /// any. Commits that say nothing are passed over.
    ///
    /// # Errors
    ///
    /// `Unavailable`; `TooLarge` if the cursor is older than the oldest change stored; `OtherIncarnation` if it is of another incarnation;
    /// `Misuse` if there is no such shard.
    pub async fn feed(&self, shard: u32, cursor: Cursor, changes_max: usize) -> Result<FeedPage, Error> {
        self.check_shard("read", shard)?;
        match &self.engine {
            Engine::Memory(memory) => memory.feed(cursor, changes_max, |_| true),
            Engine::Embedded(embedded) => embedded.feed(cursor, changes_max).await,
            Engine::Hostile(hostile) => {
                hostile.pause().await;
                hostile.feed(shard, cursor, changes_max)
            }
        }
    }

    /// Registers a reader of a shard of the feed by its name, or acknowledges how far it has come, by one or many cursors of that
    /// shard: changes behind the slowest stay for it up to the cap ([`crate::FeedOptions`]), also over restarts. Without a
    /// cursor of this incarnation nothing stays for it any more. If several acknowledge for one reader the last one counts: it
    /// names a cursor that is not newer than the shard's end before he looked how far the reader has come. Cost: a small
    /// write, if that is news.
    ///
    /// # Errors
    ///
    /// `Unavailable`; `TooLarge` for a name or a number of readers beyond the limits; `Misuse` if there is no such shard.
    pub async fn keep_feed(&self, reader: &str, shard: u32, cursors: &[Cursor]) -> Result<(), Error> {
        self.check_shard("keep", shard)?;
        match &self.engine {
            Engine::Memory(memory) => memory.keep_feed(reader, cursors),
            Engine::Embedded(embedded) => embedded.keep_feed(reader, cursors).await,
            Engine::Hostile(hostile) => {
                hostile.pause().await;
                hostile.keep_feed(reader, shard, cursors)
            }
        }
    }

    fn check_shard(&self, doing: &str, shard: u32) -> Result<(), Error> {
        if shard < self.feed_shards() {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Misuse, format!("{doing} the feed: there is no shard {shard}")))
    }

    /// The cursor behind the newest change of a shard: each commit that was acknowledged before lies before it.
    pub fn feed_end(&self, shard: u32) -> Cursor {
        debug_assert!(shard < self.feed_shards(), "no such shard");
        match &self.engine {
            Engine::Memory(memory) => memory.feed_end(),
            Engine::Embedded(embedded) => embedded.feed_end(),
            Engine::Hostile(hostile) => hostile.memory().feed_end(),
        }
    }

    /// Whether a change of a shard certainly came before this cursor of it was the shard's end. An engine that cannot tell of the last
    /// changes before it says no.
    pub fn came_before(&self, change: &Change, cursor: Cursor) -> bool {
        match &self.engine {
            Engine::Memory(_) | Engine::Embedded(_) => {
                change.cursor == cursor || change.cursor.is_before(cursor)
            }
            Engine::Hostile(_) => change.cursor.is_before(cursor),
        }
    }

    /// A cursor that was read from a row of this store, as one of the store's present incarnation: what a restore brings back, or
    /// the end of a process leaves, it leaves whole, the row and what it points at. Never for one stored elsewhere. One that
    /// points behind the end stays as it is.
    pub fn adopt_cursor(&self, cursor: Cursor) -> Cursor {
        match &self.engine {
            Engine::Memory(memory) => memory.adopt_cursor(cursor),
            Engine::Embedded(embedded) => embedded.adopt_cursor(cursor),
            Engine::Hostile(hostile) => hostile.memory().adopt_cursor(cursor),
        }
    }
}
