//! Where a follower is in the feed: a cursor for each shard, all in one row, so that they move together.

use bytes::Bytes;
use store::{Commit, Condition, Cursor, Error, ErrorKind, Stamp, Store, Write, WriteIds};

use crate::{Receiver, keys};

const FORMAT: u8 = 1;

/// The position of a follower, as its row says.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Position {
    /// Counts the moves: statuses of receivers name the one that they belong to.
    pub(crate) advance: u64,
    /// By shard; none for a shard that is new.
    pub(crate) cursors: Vec<Cursor>,
}

impl Position {
    pub(crate) fn to_value(&self) -> Bytes {
        let mut value = vec![FORMAT];
        value.extend_from_slice(&self.advance.to_be_bytes());
        for cursor in &self.cursors {
            value.extend_from_slice(&cursor.to_bytes());
        }
        value.into()
    }

    pub(crate) fn of_value(store: &Store, value: &[u8]) -> Option<Self> {
        let (&FORMAT, rest) = value.split_first()? else { return None };
        let (advance, cursors) = rest.split_first_chunk()?;
        let (cursors, rest) = cursors.as_chunks();
        let cursors = cursors.iter().map(|bytes| store.adopt_cursor(Cursor::from_bytes(*bytes))).collect();
        rest.is_empty().then(|| Self { advance: u64::from_be_bytes(*advance), cursors })
    }

    /// Reads the position and writes it anew, so that whoever followed before cannot move it any more. `None` if there was none.
    pub(crate) async fn take_over(
        store: &Store,
        name: &str,
        write_ids: &WriteIds,
    ) -> Result<Option<(Self, Stamp)>, Error> {
        let Some(row) = store.get_linear(&keys::deliveries(), &keys::position(name)).await? else {
            return Ok(None);
        };
        let position = Self::of_value(store, &row.value)
            .ok_or_else(|| Error::new(ErrorKind::Corrupt, format!("read the position of {name}")))?;
        let stamp = position.write(store, name, Some(row.stamp), write_ids).await?;
        Ok(Some((position, stamp)))
    }

    /// Checks that nobody has taken over since this version was stored. Cost: a cached look-up, or a round to other nodes.
    ///
    /// # Errors
    ///
    /// `Conflict` if another follower has; those of a read.
    pub(crate) async fn check(&self, store: &Store, name: &str, version: Stamp) -> Result<(), Error> {
        let row = store.get_linear(&keys::deliveries(), &keys::position(name)).await?;
        if row.is_some_and(|row| row.stamp == version) {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Conflict, format!("follow as {name}: another follower has taken over")))
    }

    /// Stores it in place of the version `before`.
    ///
    /// # Errors
    ///
    /// `Conflict` if another follower has taken over; those of a commit.
    pub(crate) async fn write(
        &self,
        store: &Store,
        name: &str,
        before: Option<Stamp>,
        write_ids: &WriteIds,
    ) -> Result<Stamp, Error> {
        let key = keys::position(name);
        let condition = match before {
            Some(stamp) => Condition::Version(key.clone(), stamp),
            None => Condition::Absent(key.clone()),
        };
        let commit = Commit {
            partition: keys::deliveries(),
            write_id: write_ids.next(),
            conditions: vec![condition],
            writes: vec![Write::PutStamped(key, self.to_value())],
            change: None,
            reclaims: true,
        };
        store.commit_known(commit).await
    }
}

/// Where a shard is followed from: the stored position; but not before the slowest receiver was made. Without both, the end.
pub(crate) fn start_of(shard: u32, position: &Position, receivers: &[Receiver], end: Cursor) -> Cursor {
    // A shard that is newer than a receiver has nothing from before it.
    let since =
        |receiver: &Receiver| receiver.since.get(shard as usize).copied().unwrap_or(Cursor::default());
    let slowest =
        receivers.iter().map(since).reduce(|one, other| if other.is_before(one) { other } else { one });
    match (position.cursors.get(shard as usize).copied(), slowest) {
        (None, None) => end,
        (Some(cursor), None) | (None, Some(cursor)) => cursor,
        (Some(stored), Some(made)) => {
            if stored.is_before(made) {
                made
            } else {
                stored
            }
        }
    }
}
