//! What tasks of this crate do: they remove the elements and rows of parts of the schema that were removed, and fill indexes.
//!
//! A run goes on where the task's row says, for a bounded number of pages, and notes there how far it came. Several processes may run the same
//! task: what one has done the other finds done.
//!
//! Invariant: before a run looks at elements it begins new epochs of all buckets. Writers name the epoch that they knew before they
//! read the schema; so who does not know that a label is gone, or that there is an index, writes nothing after that.
//!
//! Invariant: whatever a run writes names the epochs that it began before it saw what there is to do; who gives a number again begins new
//! ones first, and ends the tasks that name it. So a late run takes nothing of what has the number then, and enters nothing.

mod walk;
mod computed;
mod remove;
mod clean;
mod build;
mod expire;
mod pointers;
#[cfg(test)]
mod tests;

use bytes::Bytes;
use graph::schema::{PartId, SchemaChange, SchemaKind};
use store::{Clock, Deadline, Epoch, ErrorKind, Partition, Timestamp, WriteIds};

pub use self::pointers::PointerSweep;
use self::walk::Cursor;
use crate::handle::{Graph, REMOVE_SCHEMA};
use crate::records::{BACKOFF, Pending};
use crate::state::GraphState;
use crate::{Error, Task, TaskDraft, TaskId, TaskStatus, TaskWork};

/// What is changed, for errors.
const ELEMENTS: &str = "the elements of a task";
/// Pages of a task in one run.
const PAGES_A_RUN: usize = 64;

/// How a run of a task ended.
#[derive(Debug, Eq, PartialEq)]
enum Ended {
    /// All is done.
    Done,
    /// There is more to do.
    More(Cursor),
    /// It cannot be done; why.
    Failed(String),
}

/// What a run of a graph's tasks did.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TaskRuns {
    /// Elements that were removed, or entered into an index.
    pub done: u64,
    /// Whether some tasks are not finished.
    pub is_left: bool,
}

/// One run of a task.
struct Run<'a> {
    graph: &'a Graph,
    partitions: Vec<Partition>,
    /// The epochs that it began.
    epochs: Vec<Epoch>,
    write_ids: WriteIds,
    /// When it began.
    now: Timestamp,
    /// Pages that may still be read.
    pages_left: usize,
    /// Things that were done.
    done: u64,
}

impl Graph {
    /// Runs the tasks of this graph that this crate knows, each for a bounded number of pages. Cost: a scan, if there are none.
    ///
    /// # Errors
    ///
    /// If the store refuses; that of one task, once the others were run.
    pub async fn run_tasks(&self, clock: &Clock) -> Result<TaskRuns, Error> {
        let before = self.state().await?;
        let unfinished =
            self.tasks().unfinished(|task| (task.work != TaskWork::Other).then_some(task)).await?;
        self.adopt_removed(&before, &unfinished, clock).await?;
        let (mut runs, mut failed) = (TaskRuns::default(), None);
        for task in unfinished {
            match self.run_task(task, clock).await {
                Ok((done, is_finished)) => {
                    runs.done += done;
                    runs.is_left |= !is_finished;
                }
                Err(error) if error.is_outage() => return Err(error),
                // The others do not wait for it.
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.map_or(Ok(runs), Err)
    }

    /// Removes what is left of a part of the schema that was removed, beside the task that does so: its number is free then, for a graph that is
    /// restored. Cost: a walk over the elements.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`], and what was done stays done; if the store refuses.
    pub async fn finish_removal(&self, part: PartId, clock: &Clock, deadline: Deadline) -> Result<(), Error> {
        let mut cursor = beginning(part);
        loop {
            deadline.check()?;
            match self.begin_run(clock).await?.remove(&[part], cursor).await? {
                Ended::More(next) => cursor = next,
                Ended::Done | Ended::Failed(_) => {
                    // Its task has nothing left to do.
                    self.note_work();
                    return Ok(());
                }
            }
        }
    }

    /// Begins new epochs of all buckets, and a run.
    async fn begin_run(&self, clock: &Clock) -> Result<Run<'_>, Error> {
        let partitions: Vec<Partition> =
            (0..self.buckets()).map(|bucket| graph::keys::partition(self.part(), bucket)).collect();
        let mut epochs = Vec::with_capacity(partitions.len());
        for partition in &partitions {
            epochs.push(self.store().bump(partition, Vec::new()).await?);
        }
        let (write_ids, now) = (WriteIds::new(), clock.now());
        Ok(Run { graph: self, partitions, epochs, write_ids, now, pages_left: PAGES_A_RUN, done: 0 })
    }

    /// Makes a task for what was removed and has none: somebody deleted it. What was removed before the tasks were read, and is still to be
    /// removed after that, would be named by one of them.
    async fn adopt_removed(
        &self,
        before: &GraphState,
        unfinished: &[Task],
        clock: &Clock,
    ) -> Result<(), Error> {
        let has_task = |part: PartId| {
            unfinished
                .iter()
                .any(|task| matches!(&task.work, TaskWork::Remove(parts) if parts.contains(&part)))
        };
        let removed = before.schema.removed().map(|part| part.id());
        let without_task: Vec<PartId> = removed.filter(|id| !has_task(*id)).collect();
        if without_task.is_empty() {
            return Ok(());
        }
        let state = self.state().await?;
        let is_left = |id: &PartId| state.schema.removed().any(|part| part.id() == *id);
        let parts: Vec<PartId> = without_task.into_iter().filter(is_left).collect();
        if parts.is_empty() {
            return Ok(());
        }
        let work = TaskWork::Remove(parts);
        let draft =
            TaskDraft { name: REMOVE_SCHEMA.into(), kind: REMOVE_SCHEMA.into(), input: "".into(), work };
        self.tasks().create_needed(draft, clock.now()).await?;
        self.note_work();
        Ok(())
    }

    /// Runs a task: how many elements it went through, and whether it is finished.
    async fn run_task(&self, task: Task, clock: &Clock) -> Result<(u64, bool), Error> {
        let begin = |task: &mut Task| {
            if matches!(task.status, TaskStatus::New | TaskStatus::Queued) {
                task.status = TaskStatus::Running;
            }
            Ok(())
        };
        // Before the task is read: who ends it begins epochs then.
        let mut run = self.begin_run(clock).await?;
        let task = match self.tasks().change(task.id, clock.now(), begin).await {
            Ok(task) if task.status.is_finished() => return Ok((0, true)),
            Err(Error::NotFound(_)) => return Ok((0, true)),
            task => task?,
        };
        let ended = match &task.work {
            TaskWork::Other => return Ok((0, true)),
            TaskWork::Remove(parts) => run.remove(parts, Cursor::read(&task.cursor)).await?,
            TaskWork::Clear(_) if task.status == TaskStatus::Cancelling => Ended::Done,
            TaskWork::Clear(key) => run.clear(*key, Cursor::read(&task.cursor)).await?,
            TaskWork::Build(indexes) => {
                let is_cancelled = task.status == TaskStatus::Cancelling;
                match run.build(indexes, Cursor::read(&task.cursor), is_cancelled).await {
                    Err(error) if is_of_an_element(&error) => run.give_up(indexes, &error).await?,
                    ended => ended?,
                }
            }
        };
        let done = run.done;
        Ok((done, self.note_end(task.id, ended, done, clock).await?))
    }

    /// Notes how far a task came; whether it is finished.
    async fn note_end(&self, id: TaskId, ended: Ended, done: u64, clock: &Clock) -> Result<bool, Error> {
        let tasks = self.tasks();
        let noted = tasks.change(id, clock.now(), |task| {
            if task.status.is_finished() {
                return Ok(());
            }
            let is_cancelled = task.status == TaskStatus::Cancelling;
            task.progress += done;
            match &ended {
                Ended::More(cursor) => task.cursor = cursor.to_bytes(),
                Ended::Done if is_cancelled => task.status = TaskStatus::Cancelled,
                Ended::Done => task.status = TaskStatus::Success,
                Ended::Failed(why) => {
                    task.status = TaskStatus::Failed;
                    task.result = why.as_str().into();
                }
            }
            Ok(())
        });
        match noted.await {
            Err(Error::NotFound(_)) => Ok(true),
            task => Ok(task?.status.is_finished()),
        }
    }

    /// Changes the schema as `think` says of the newest one, if it says anything.
    async fn change_state(&self, think: impl Fn(&GraphState) -> Option<SchemaChange>) -> Result<(), Error> {
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let state = self.state().await?;
            let Some(change) = think(&state) else { return Ok(()) };
            if self.state_store().commit(&state, change, Pending::default()).await?.is_some() {
                return Ok(());
            }
        }
        Err(attempts.exhausted("the schema").into())
    }
}

/// Whether an index cannot be filled for an element: it is damaged, or has more rows than a commit takes.
fn is_of_an_element(error: &Error) -> bool {
    match error {
        Error::Malformed(_) => true,
        Error::Store(error) => error.kind() == ErrorKind::TooLarge,
        _ => false,
    }
}

/// No part: of tasks whose steps are of none.
const NO_PART: PartId = PartId { kind: SchemaKind::PropertyKey, number: 0 };

/// A cursor that is at the beginning.
fn beginning(part: PartId) -> Cursor {
    Cursor { part, step: 0, bucket: 0, after: Bytes::new() }
}

/// What is written of the stored cursor of a task that was read.
#[cfg(feature = "testing")]
pub(crate) fn printed_again(bytes: &[u8]) -> Bytes {
    Cursor::read(bytes).to_bytes()
}
