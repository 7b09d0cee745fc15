//! What is known of a receiver over restarts: where its sequence numbers are, what it took, why it failed, what waits for it.

use bytes::Bytes;
use store::{Commit, Direction, Error, ErrorKind, Range, Store, Tenant, Timestamp, Write, WriteIds};

use crate::keys;
use crate::queue::Pause;

const FORMAT: u8 = 1;
/// The most characters of an error that are stored.
const ERROR_CHARS_MAX: usize = 200;

/// The status of a receiver, as of the last flush.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Status {
    /// The move of the follower's position that `next` belongs to.
    pub(crate) advance: u64,
    /// The number of the next message behind that position.
    pub(crate) next: u64,
    /// The same before that move: counts if the position was not moved in the end.
    pub(crate) before: u64,
    /// Messages in the outbox.
    pub(crate) rows: u64,
    /// Their bytes.
    pub(crate) bytes: u64,
    /// Messages that it has not acknowledged, in its outbox or in memory.
    pub pending: u64,
    /// Messages that it acknowledged.
    pub delivered: u64,
    /// Attempts that failed, ever.
    pub failed: u64,
    /// Attempts that failed since the last that succeeded.
    pub failures: u32,
    /// No attempt before; of a receiver that failed last.
    pub retry_at: Timestamp,
    /// Messages lost because its outbox was full.
    pub overflowed: u64,
    /// Since when its outbox has been full; `None` if it is not.
    pub overflowed_since: Option<Timestamp>,
    /// Times that the feed was cut before the follower had read it: what was lost is not known.
    pub cuts: u64,
    /// When it acknowledged last.
    pub last_success: Option<Timestamp>,
    /// When it failed last.
    pub last_failure: Option<Timestamp>,
    /// Why the last attempt failed; empty if it did not.
    pub last_error: Box<str>,
}

impl Status {
    /// The number of the next message, at a position that was moved so often.
    pub(crate) fn next_at(&self, advance: u64) -> u64 {
        if self.advance > advance { self.before } else { self.next }
    }

    pub(crate) fn note_success(&mut self, messages: u64, now: Timestamp) {
        self.delivered = self.delivered.saturating_add(messages);
        self.failures = 0;
        self.retry_at = Timestamp(i64::MIN);
        self.last_success = Some(now);
        self.last_error = "".into();
    }

    pub(crate) fn note_failure(&mut self, error: &str, now: Timestamp, pause: Pause) {
        self.failed = self.failed.saturating_add(1);
        self.failures = pause.failures;
        self.retry_at = pause.retry_at;
        self.last_failure = Some(now);
        self.last_error = error.chars().take(ERROR_CHARS_MAX).collect();
    }

    pub(crate) fn to_value(&self) -> Bytes {
        let mut value = vec![FORMAT];
        for number in [
            self.advance,
            self.next,
            self.before,
            self.rows,
            self.bytes,
            self.pending,
            self.delivered,
            self.failed,
            self.failures.into(),
            self.overflowed,
            self.cuts,
        ] {
            value.extend_from_slice(&number.to_be_bytes());
        }
        value.extend_from_slice(&self.retry_at.0.to_be_bytes());
        for time in [self.overflowed_since, self.last_success, self.last_failure] {
            value.push(u8::from(time.is_some()));
            value.extend_from_slice(&time.map_or(0, |time| time.0).to_be_bytes());
        }
        value.extend_from_slice(self.last_error.as_bytes());
        value.into()
    }

    pub(crate) fn of_value(value: &[u8]) -> Option<Self> {
        let (&FORMAT, mut rest) = value.split_first()? else { return None };
        let number = |rest: &mut &[u8]| {
            let (number, behind) = rest.split_first_chunk()?;
            *rest = behind;
            Some(u64::from_be_bytes(*number))
        };
        let mut status = Self {
            advance: number(&mut rest)?,
            next: number(&mut rest)?,
            before: number(&mut rest)?,
            rows: number(&mut rest)?,
            bytes: number(&mut rest)?,
            pending: number(&mut rest)?,
            delivered: number(&mut rest)?,
            failed: number(&mut rest)?,
            failures: number(&mut rest)?.try_into().ok()?,
            overflowed: number(&mut rest)?,
            cuts: number(&mut rest)?,
            retry_at: Timestamp(number(&mut rest)?.cast_signed()),
            ..Self::default()
        };
        for time in [&mut status.overflowed_since, &mut status.last_success, &mut status.last_failure] {
            let (is_there, behind) = rest.split_first()?;
            rest = behind;
            let at = Timestamp(number(&mut rest)?.cast_signed());
            *time = (*is_there != 0).then_some(at);
        }
        status.last_error = std::str::from_utf8(rest).ok()?.into();
        Some(status)
    }
}

/// The status of a receiver as of the last flush; the default one if it has none yet. Cost: a cached look-up.
///
/// # Errors
///
/// Those of a read; `Corrupt`.
pub async fn read_status(store: &Store, tenant: &Tenant, receiver: u128) -> Result<Status, Error> {
    let row = store.get_linear(&keys::outbox(tenant, receiver), &keys::status(receiver)).await?;
    row.map_or(Ok(Status::default()), |row| Status::of_value(&row.value).ok_or_else(damaged))
}

pub(crate) fn damaged() -> Error {
    Error::new(ErrorKind::Corrupt, "read the status or a message of a receiver")
}

/// Removes all rows of a receiver that is gone; those that a follower writes meanwhile go when it hears of the removal.
///
/// # Errors
///
/// Those of a commit.
pub async fn forget(store: &Store, tenant: &Tenant, receiver: u128) -> Result<(), Error> {
    let partition = keys::outbox(tenant, receiver);
    let messages = keys::messages_from(receiver, 0);
    let has_status = store.get_linear(&partition, &keys::status(receiver)).await?.is_some();
    if !has_status && store.scan(&partition, &messages, Direction::Forward, 1).await?.is_empty() {
        return Ok(());
    }
    let commit = Commit {
        partition,
        write_id: WriteIds::new().next(),
        conditions: Vec::new(),
        writes: vec![Write::Delete(keys::status(receiver)), remove(messages)],
        change: None,
        reclaims: true,
    };
    store.commit_known(commit).await.map(|_| ())
}

fn remove(messages: Range) -> Write {
    Write::DeleteRange(messages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_come_back_as_they_were_stored() {
        let status = Status {
            advance: 1,
            next: 2,
            before: 3,
            rows: 4,
            bytes: 5,
            pending: 6,
            delivered: 7,
            failed: 8,
            failures: 9,
            retry_at: Timestamp(-10),
            overflowed: 11,
            overflowed_since: Some(Timestamp(12)),
            cuts: 13,
            last_success: None,
            last_failure: Some(Timestamp(14)),
            last_error: "why, ü".into(),
        };
        let value = status.to_value();
        assert_eq!(Status::of_value(&value), Some(status.clone()));
        assert_eq!(Status::of_value(&Status::default().to_value()), Some(Status::default()));
        assert_eq!((status.next_at(0), status.next_at(1), status.next_at(2)), (3, 2, 2));
        for end in 0..value.len() - "why, ü".len() {
            assert_eq!(Status::of_value(&value[..end]), None);
        }
    }
}
