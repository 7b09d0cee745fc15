//! Rows of receivers: read when a follower begins or a receiver catches up, written by plans.

use std::collections::VecDeque;

use bytes::Bytes;
use store::rows::Pages;
use store::{
    Commit, Condition, Direction, Error, ErrorKind, Limits, Partition, Stamp, Store, Write, WriteIds,
};

use crate::keys;
use crate::queue::Message;
use crate::slot::{Plan, Slot};
use crate::status::damaged;
use crate::{Options, Receiver, Status};

/// Rows that are read at once.
const PAGE_ROWS: usize = 1_000;

/// A receiver as its rows say, not yet as the position needs it.
#[derive(Debug)]
pub(crate) struct StoredReceiver {
    receiver: Receiver,
    status: Status,
    version: Option<Stamp>,
    /// Of its first message that lies behind the position.
    beyond: Option<u64>,
}

/// Reads a receiver for a position that was moved so often. Cost: a look-up; a scan of its outbox, if it has a status.
///
/// # Errors
///
/// Those of reads; `Corrupt`.
pub(crate) async fn read_stored(
    store: &Store,
    receiver: Receiver,
    advance: u64,
) -> Result<StoredReceiver, Error> {
    let partition = keys::outbox(&receiver.tenant, receiver.id);
    let row = store.get_linear(&partition, &keys::status(receiver.id)).await?;
    let Some(row) = row else {
        return Ok(StoredReceiver { receiver, status: Status::default(), version: None, beyond: None });
    };
    let mut status = Status::of_value(&row.value).ok_or_else(damaged)?;
    let next = status.next_at(advance);
    let counted = count(store, &partition, receiver.id, next).await?;
    (status.rows, status.bytes) = (counted.rows, counted.bytes);
    let beyond = counted.is_beyond.then_some(next);
    Ok(StoredReceiver { receiver, status, version: Some(row.stamp), beyond })
}

/// Makes a slot of a receiver that was read; removes its messages behind the position, for their changes are matched again. The follower
/// was still the one that has the position after it had read the receiver: else these may be messages of another. Cost: a commit, if there are any.
///
/// # Errors
///
/// Those of a commit.
pub(crate) async fn open_slot(
    store: &Store,
    stored: StoredReceiver,
    advance: u64,
    (options, write_ids): (&Options, &WriteIds),
) -> Result<Slot, Error> {
    let StoredReceiver { receiver, mut status, version, beyond } = stored;
    let Some(before) = version.filter(|_| beyond.is_some() || status.advance > advance) else {
        return Ok(Slot::new(receiver, status, version, advance, options));
    };
    // Said in the status, too: then the follower that was taken over can write nothing more.
    let next = status.next_at(advance);
    (status.advance, status.next, status.before) = (advance, next, next);
    status.pending = status.rows;
    let key = keys::status(receiver.id);
    let mut writes = vec![Write::PutStamped(key.clone(), status.to_value())];
    writes.extend(beyond.map(|next| Write::DeleteRange(keys::messages_from(receiver.id, next))));
    let commit = Commit {
        partition: keys::outbox(&receiver.tenant, receiver.id),
        write_id: write_ids.next(),
        conditions: vec![Condition::Version(key, before)],
        writes,
        change: None,
        reclaims: true,
    };
    let version = store.commit_known(commit).await?;
    Ok(Slot::new(receiver, status, Some(version), advance, options))
}

#[derive(Default)]
struct Counted {
    rows: u64,
    bytes: u64,
    /// Whether there are messages from `next` on.
    is_beyond: bool,
}

async fn count(store: &Store, partition: &Partition, receiver: u128, next: u64) -> Result<Counted, Error> {
    let mut counted = Counted::default();
    let mut pages = Pages::new(store, partition, keys::messages_from(receiver, 0), PAGE_ROWS);
    while let Some(page) = pages.next().await? {
        for (key, value) in page.rows() {
            let message = message_of(key, value)?;
            if message.sequence >= next {
                counted.is_beyond = true;
                return Ok(counted);
            }
            counted.rows += 1;
            counted.bytes += message.payload.len() as u64;
        }
    }
    Ok(counted)
}

fn message_of(key: &[u8], value: &[u8]) -> Result<Message, Error> {
    let sequence = keys::sequence_of(key).ok_or_else(damaged)?;
    Message::of_row(sequence, value).ok_or_else(damaged)
}

/// Loads the next messages of an outbox into the slot. Cost: one page of a scan, and a look-up.
///
/// # Errors
///
/// Those of a scan; `Corrupt`; `Conflict` if another follower has taken over.
pub(crate) async fn load(store: &Store, slot: &mut Slot, options: &Options) -> Result<(), Error> {
    let partition = keys::outbox(&slot.receiver.tenant, slot.receiver.id);
    let mut range = keys::messages_from(slot.receiver.id, slot.load_from);
    // Another follower may still write behind what this one has stored, until it hears that it was taken over.
    range.end = Some(keys::message(slot.receiver.id, slot.load_end()));
    let rows = options.window_messages_max.saturating_sub(slot.queue.len()).max(1);
    let page = store.scan(&partition, &range, Direction::Forward, rows).await?;
    let messages = page.rows().map(|(key, value)| message_of(key, value)).collect::<Result<_, _>>()?;
    // Who takes over removes messages, and stores some of them again: what comes behind the others must not be sent before them.
    let status = store.get_linear(&partition, &keys::status(slot.receiver.id)).await?;
    if status.map(|row| row.stamp) != slot.version {
        return Err(Error::new(ErrorKind::Conflict, "load an outbox: another follower has taken over"));
    }
    slot.load(messages, page.more());
    Ok(())
}

/// The commits of a plan, to be carried out one after the other: messages first, as many commits as the limits ask for; the last has the
/// new status. Each writes the status and asks for the version that the one before left, so that another follower hears of all.
pub(crate) struct Commits {
    partition: Partition,
    status: Bytes,
    /// Its value before the plan, and by the plan.
    values: (Bytes, Bytes),
    pieces: VecDeque<Vec<Write>>,
    reclaims: bool,
}

impl Commits {
    /// Those of a plan.
    pub(crate) fn new(slot: &Slot, plan: &Plan, limits: &Limits) -> Self {
        let id = slot.receiver.id;
        let (rows_max, bytes_max) = (limits.commit_rows / 2, limits.commit_bytes * 3 / 4);
        let (mut pieces, mut piece, mut bytes) = (VecDeque::new(), Vec::new(), 0);
        let put = |message: &Message| Write::Put(keys::message(id, message.sequence), message.to_value());
        let delete = |sequence: &u64| Write::Delete(keys::message(id, *sequence));
        for write in plan.puts.iter().map(put).chain(plan.deletes.iter().map(delete)) {
            let of_write = match &write {
                Write::Put(key, value) => key.len() + value.len(),
                other => other.key().len(),
            };
            if piece.len() >= rows_max || bytes + of_write > bytes_max {
                pieces.push_back(std::mem::take(&mut piece));
                bytes = 0;
            }
            bytes += of_write;
            piece.push(write);
        }
        pieces.push_back(piece);
        Self {
            partition: keys::outbox(&slot.receiver.tenant, id),
            status: keys::status(id),
            values: (slot.status.to_value(), plan.status.to_value()),
            pieces,
            // It notes what is to go next, too.
            reclaims: plan.puts.is_empty(),
        }
    }

    /// Whether only the last is left.
    pub(crate) fn is_last(&self) -> bool {
        self.pieces.len() <= 1
    }

    /// The next of them; `version`: what the one before left.
    pub(crate) fn next(&mut self, version: Option<Stamp>, write_ids: &WriteIds) -> Commit {
        let value = if self.is_last() { &self.values.1 } else { &self.values.0 };
        let mut writes = self.pieces.pop_front().expect("one for each call, up to the last");
        writes.push(Write::PutStamped(self.status.clone(), value.clone()));
        let condition = match version {
            Some(version) => Condition::Version(self.status.clone(), version),
            None => Condition::Absent(self.status.clone()),
        };
        Commit {
            partition: self.partition.clone(),
            write_id: write_ids.next(),
            conditions: vec![condition],
            writes,
            change: None,
            reclaims: self.reclaims,
        }
    }
}
