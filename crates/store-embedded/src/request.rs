//! What the committer is asked for.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use store_contract::place::PlaceBytes;
use store_contract::{
    Append, Appended, Commit, CommitWithAppends, Cursor, Epoch, Error, Lease, Partition, Stamp,
};
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::load_folder::LoadFolder;
use super::loads::OpenLoad;

/// A load whose tables are written.
#[derive(Debug)]
pub(crate) struct Ingest {
    /// It stays open until its rows are seen.
    pub(crate) load: OpenLoad,
    /// What the feed is to tell; the rest is the partition, and the write id of the rows.
    pub(crate) said: Commit,
    /// Of all rows, and the mark of the load.
    pub(crate) tables: Vec<PathBuf>,
    /// Around all places of the rows; `None`: there are none, and no tables.
    pub(crate) range: Option<(PlaceBytes, PlaceBytes)>,
    /// Where the tables lie.
    pub(crate) folder: Arc<LoadFolder>,
}

/// A request on its way, with the room it takes in the queue.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) request: Request,
    pub(crate) room: Option<OwnedSemaphorePermit>,
}

/// Where the outcome of a request goes.
pub(crate) type Answer<T> = oneshot::Sender<Result<T, Error>>;

/// What the committer does.
#[derive(Debug)]
pub(crate) enum Request {
    One(Commit, Answer<Stamp>),
    Group(Vec<CommitWithAppends>, oneshot::Sender<Vec<Result<Stamp, Error>>>),
    Append(Append, Epoch, Answer<()>),
    Remove(Partition, Vec<Bytes>, Appended, Answer<()>),
    /// Begins an epoch.
    Bump(Commit, Answer<Epoch>),
    /// Begins a load of a partition, in an epoch.
    Load(Partition, Epoch, Answer<OpenLoad>),
    /// Takes the tables of a load in.
    Ingest(Box<Ingest>, Answer<()>),
    /// Removes all rows of the tenant of this number, which has ended.
    Erase(u32, Answer<()>),
    Lease {
        name: String,
        ttl: Duration,
        answer: Answer<Option<Lease>>,
    },
    Renew {
        lease: Lease,
        ttl: Duration,
        answer: Answer<bool>,
    },
    /// Notes how far a reader of the feed has come.
    KeepFeed(Box<str>, Vec<Cursor>, Answer<()>),
    /// Answers when everything before it is settled: an error if the batch with it failed, so that some of it is not.
    Settle(Answer<()>),
    /// Opens the engine again if the disk was full.
    Reopen,
    Close(Answer<()>),
}
