//! Answers of the committer: what was thought of requests becomes true, or not, with their batch.

use store_contract::{Epoch, Error, ErrorKind, Lease, Stamp};
use tokio::sync::oneshot;

use super::loads::OpenLoad;
use super::request::{Answer, Request};
use super::shared::Shared;

/// An answer that waits for the batch to be durable. One whose caller went away is dropped.
pub(crate) enum Reply {
    One(Answer<Stamp>, Result<Stamp, Error>),
    Group(oneshot::Sender<Vec<Result<Stamp, Error>>>, Vec<Result<Stamp, Error>>),
    Epoch(Answer<Epoch>, Result<Epoch, Error>),
    Lease(Answer<Option<Lease>>, Result<Option<Lease>, Error>),
    Renew(Answer<bool>, bool),
    Load(Answer<OpenLoad>, Result<OpenLoad, Error>),
    Done(Answer<()>, Result<(), Error>),
}

/// What was thought of commits becomes true or not with their batch.
pub(crate) fn settle(shared: &Shared, outcomes: &mut [Result<Stamp, Error>], written: bool) {
    if written {
        return;
    }
    for outcome in outcomes {
        *outcome = Err(match (&*outcome, shared.check_commits()) {
            (Err(_), Err(refused)) => refused,
            (_, _) => under_way(shared),
        });
    }
}

/// Answers; with the lease that was taken for somebody who went away.
pub(crate) fn send(shared: &Shared, reply: Reply, written: bool) -> Option<Lease> {
    match reply {
        Reply::One(answer, mut outcome) => {
            settle(shared, std::slice::from_mut(&mut outcome), written);
            let _ = answer.send(outcome);
        }
        Reply::Group(answer, mut outcomes) => {
            settle(shared, &mut outcomes, written);
            let _ = answer.send(outcomes);
        }
        Reply::Epoch(answer, outcome) => {
            let _ = answer.send(if written { outcome } else { Err(under_way(shared)) });
        }
        Reply::Lease(answer, outcome) => {
            let unsent = answer.send(if written { outcome } else { Err(under_way(shared)) });
            return unsent.err()?.ok()?;
        }
        Reply::Renew(answer, is_held) => {
            let _ = answer.send(if written { Ok(is_held) } else { Err(under_way(shared)) });
        }
        // Of a load whose caller went away nothing is left open.
        Reply::Load(answer, outcome) => {
            let _ = answer.send(if written { outcome } else { Err(under_way(shared)) });
        }
        Reply::Done(answer, outcome) => {
            let _ = answer.send(if written { outcome } else { Err(under_way(shared)) });
        }
    }
    None
}

/// Tells requests that came too late that nothing of them was written.
pub(crate) fn refuse(request: Request, closing: &mut Vec<Answer<()>>) {
    let closed = || Error::new(ErrorKind::Unavailable, "write: the store is closed");
    match request {
        Request::One(_, answer) => drop(answer.send(Err(closed()))),
        Request::Group(commits, answer) => {
            drop(answer.send(commits.iter().map(|_| Err(closed())).collect()));
        }
        Request::Append(_, _, answer)
        | Request::Remove(_, _, _, answer)
        | Request::Ingest(_, answer)
        | Request::Erase(_, answer)
        | Request::KeepFeed(_, _, answer) => {
            drop(answer.send(Err(closed())));
        }
        Request::Load(_, _, answer) => drop(answer.send(Err(closed()))),
        Request::Bump(_, answer) => drop(answer.send(Err(closed()))),
        Request::Lease { answer, .. } => drop(answer.send(Err(closed()))),
        Request::Renew { answer, .. } => drop(answer.send(Err(closed()))),
        Request::Settle(answer) => drop(answer.send(Err(closed()))),
        Request::Reopen => {}
        Request::Close(answer) => closing.push(answer),
    }
}

/// The refusal of a commit whose batch failed: the log may hold it or not.
fn under_way(shared: &Shared) -> Error {
    shared.state().refusal_under_way(shared.path())
}
