//! Where a follower is in the feed: a cursor for each shard, all in one row, so that they move together.

use bytes::Bytes;
use store::{Commit, Condition, Cursor, Error, ErrorKind, Stamp, Store, Write, WriteIds};

use crate::keys;

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
