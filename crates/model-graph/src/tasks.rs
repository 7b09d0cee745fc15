//! Tasks of a graph: work that outlasts a request, and a restart. A task is a row; whoever runs it notes there how far it came.
//!
//! Invariant: for each task there is one row that finds it by its status, written in the same commit.

mod encode;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use graph::schema::{PartId, SchemaKind};
use graph::{IndexLabelId, PropertyKeyId};
use store::rows::Pages;
use store::{Condition, Direction, Range, Timestamp, Write};

use self::encode::{put_task, take_task};
use crate::records::{BACKOFF, Pending, Records, damaged, unchanged};
use crate::state::StateStore;
use crate::{Error, keys};

/// What is changed, for errors.
const TASKS: &str = "the tasks";
/// The most bytes of what a task is given, and of what it answers.
pub const TASK_BYTES_MAX: usize = 1024 * 1024;
/// The most tasks that wait to be begun: where there are as many, nobody may ask for more. Those that follow from a change of the schema
/// are made nevertheless.
pub const TASKS_WAITING_MAX: usize = 1_000;
/// The most tasks in a page.
pub const TASK_PAGE_MAX: usize = 1_000;

/// The number of a task of a graph, from 1.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct TaskId(pub u64);

impl std::fmt::Display for TaskId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// How far a task is.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum TaskStatus {
    /// Made, not begun.
    New,
    /// Somebody will begin it.
    Queued,
    /// Begun.
    Running,
    /// Done.
    Success,
    /// It shall end.
    Cancelling,
    /// It was ended.
    Cancelled,
    /// It could not be done.
    Failed,
}

impl TaskStatus {
    /// All, as they follow each other.
    pub const ALL: &[Self] = &[
        Self::New,
        Self::Queued,
        Self::Running,
        Self::Success,
        Self::Cancelling,
        Self::Cancelled,
        Self::Failed,
    ];
    /// Those of tasks that nobody has begun.
    const WAITING: &[Self] = &[Self::New, Self::Queued];
    /// Those of tasks that somebody has to do something for, as they follow each other.
    const UNFINISHED: &[Self] = &[Self::New, Self::Queued, Self::Running, Self::Cancelling];

    /// Its name in answers and parameters.
    pub fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Success => "success",
            Self::Cancelling => "cancelling",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }

    /// The one of this name, in small letters.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|status| status.name() == name)
    }

    /// Whether nothing is left to be done.
    pub fn is_finished(self) -> bool {
        !Self::UNFINISHED.contains(&self)
    }
}

/// What a task does.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TaskWork {
    /// Removes the elements and rows of parts of the schema that were removed.
    Remove(Vec<PartId>),
    /// Removes the values of a property that computations wrote.
    Clear(PropertyKeyId),
    /// Enters all elements into indexes.
    Build(Vec<IndexLabelId>),
    /// What whoever runs tasks of its type reads from its input.
    Other,
}

impl TaskWork {
    /// Whether it fills or empties one of these parts. What removes them ends by itself once they are gone.
    fn is_for(&self, parts: &[PartId]) -> bool {
        let of = |kind, number| parts.contains(&PartId { kind, number });
        match self {
            Self::Clear(key) => of(SchemaKind::PropertyKey, key.0),
            Self::Build(indexes) => indexes.iter().any(|index| of(SchemaKind::IndexLabel, index.0)),
            Self::Remove(_) | Self::Other => false,
        }
    }
}

/// A task to be made.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TaskDraft {
    /// For people.
    pub name: Box<str>,
    /// What kind of work: `remove_schema`, `rebuild_index`, `gremlin`, ...
    pub kind: Box<str>,
    /// What it is given; JSON text, or empty.
    pub input: Box<str>,
    /// What it does.
    pub work: TaskWork,
}

/// A task.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Task {
    /// Its number.
    pub id: TaskId,
    /// For people.
    pub name: Box<str>,
    /// What kind of work.
    pub kind: Box<str>,
    /// What it is given; JSON text, or empty.
    pub input: Box<str>,
    /// What it does.
    pub work: TaskWork,
    /// How far it is.
    pub status: TaskStatus,
    /// Of so many things it has done so many.
    pub progress: u64,
    /// How often it was begun again.
    pub retries: u32,
    /// What came of it: JSON text, or why it failed; empty before.
    pub result: Box<str>,
    /// When it was made.
    pub created: Timestamp,
    /// When it was changed last.
    pub updated: Timestamp,
    /// Where whoever runs it goes on.
    pub cursor: Bytes,
}

/// Some tasks, and where there are more.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TaskPage {
    /// By number.
    pub tasks: Vec<Task>,
    /// The last of them, if there are more behind it.
    pub next: Option<TaskId>,
}

/// The numbers of some tasks, and where there are more.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TaskIds {
    /// In order.
    pub ids: Vec<TaskId>,
    /// The last of them, if there are more behind it.
    pub next: Option<TaskId>,
}

/// The tasks of a graph; clones share.
#[derive(Clone, Debug)]
pub struct Tasks {
    state: Arc<StateStore>,
}

impl Tasks {
    pub(crate) fn new(state: Arc<StateStore>) -> Self {
        Self { state }
    }

    fn records(&self) -> &Records {
        self.state.records()
    }

    /// Makes a task that somebody asks for. Cost: one commit, and a scan of those that wait.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] for a large input, and if [`TASKS_WAITING_MAX`] wait already; if the store refuses.
    pub async fn create(&self, draft: TaskDraft, now: Timestamp) -> Result<TaskId, Error> {
        self.check_waiting().await?;
        self.create_needed(draft, now).await
    }

    /// Makes a task that must be, however many wait. Cost: one commit.
    pub(crate) async fn create_needed(&self, draft: TaskDraft, now: Timestamp) -> Result<TaskId, Error> {
        check_bytes(&draft.input)?;
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let mut pending = Pending::default();
            let ids = add(self.records(), &mut pending, std::slice::from_ref(&draft), now).await?;
            if self.records().commit(pending).await?.is_some() {
                return ids.into_iter().next().ok_or_else(|| damaged("the number of a task"));
            }
        }
        Err(attempts.exhausted(TASKS).into())
    }

    /// Refuses another task that is asked for, where as many wait as may. Cost: a scan of those.
    pub(crate) async fn check_waiting(&self) -> Result<(), Error> {
        let mut waiting = 0;
        for status in TaskStatus::WAITING {
            let range = keys::tasks_of_status(status.code());
            waiting += self.numbers(&range, TASKS_WAITING_MAX).await?.0.len();
        }
        store::LimitExceeded::check("TASKS_WAITING_MAX", TASKS_WAITING_MAX, waiting + 1)
            .map_err(|limit| Error::Limit { what: "tasks that wait to be begun".into(), limit })
    }

    /// A task. Cost: one read.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; if the store refuses.
    pub async fn get(&self, id: TaskId) -> Result<Task, Error> {
        let row = self.records().get(&keys::task(id.0)).await?.ok_or_else(|| not_found(id))?;
        read(id, &row.value)
    }

    /// Up to `limit` tasks by number, of a status, if one is given, from behind `after` on. Cost: a scan, and with a status a read for
    /// each.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn list(
        &self,
        status: Option<TaskStatus>,
        after: Option<TaskId>,
        limit: usize,
    ) -> Result<TaskPage, Error> {
        let TaskIds { ids, next } = self.ids(status, after, limit).await?;
        let mut tasks = Vec::new();
        for id in ids {
            match self.get(id).await {
                // Another has changed or removed it meanwhile.
                Ok(task) if status.is_some_and(|status| task.status != status) => {}
                Err(Error::NotFound(_)) => {}
                task => tasks.push(task?),
            }
        }
        Ok(TaskPage { tasks, next })
    }

    /// The same, but their numbers alone. Cost: a scan.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn ids(
        &self,
        status: Option<TaskStatus>,
        after: Option<TaskId>,
        limit: usize,
    ) -> Result<TaskIds, Error> {
        let range = status.map_or_else(keys::tasks, |status| keys::tasks_of_status(status.code()));
        let key = |id: TaskId| match status {
            Some(status) => keys::task_of_status(status.code(), id.0),
            None => keys::task(id.0),
        };
        let range = after.map_or(range.clone(), |after| range.after_key(&key(after)));
        let (ids, has_more) = self.numbers(&range, limit.clamp(1, TASK_PAGE_MAX)).await?;
        let next = ids.last().copied().filter(|_| has_more);
        Ok(TaskIds { ids, next })
    }

    /// Up to `limit` numbers of tasks, as rows find them, and whether there are more: a page ends at some megabytes, too.
    async fn numbers(&self, range: &Range, limit: usize) -> Result<(Vec<TaskId>, bool), Error> {
        let (store, partition) = self.records().place();
        let page = store.scan(partition, range, Direction::Forward, limit).await?;
        let number =
            |(key, _)| keys::number_of_task(key).map(TaskId).ok_or_else(|| damaged("a key of a task"));
        Ok((page.rows().map(number).collect::<Result<_, Error>>()?, page.more()))
    }

    /// What `wanted` says of each for which somebody has something to do, those begun first. Cost: a scan, and a read of each; one is in
    /// memory at a time.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn unfinished<T>(&self, wanted: impl Fn(Task) -> Option<T>) -> Result<Vec<T>, Error> {
        let (store, partition) = self.records().place();
        let mut found = BTreeMap::new();
        // In the order in which tasks change their status: one that does meanwhile is met once more, not missed.
        for (begun, status) in TaskStatus::UNFINISHED.iter().enumerate() {
            let range = keys::tasks_of_status(status.code());
            let mut pages = Pages::new(store, partition, range, TASK_PAGE_MAX);
            while let Some(page) = pages.next().await? {
                for (key, _) in page.rows() {
                    let id =
                        keys::number_of_task(key).map(TaskId).ok_or_else(|| damaged("a key of a task"))?;
                    match self.get(id).await {
                        Err(Error::NotFound(_)) => {}
                        task => _ = found.insert(id, (Reverse(begun), wanted(task?))),
                    }
                }
            }
        }
        let mut found: Vec<_> = found.into_values().collect();
        found.sort_by_key(|(begun, _)| *begun);
        Ok(found.into_iter().filter_map(|(_, wanted)| wanted).collect())
    }

    /// Changes a task, and answers with it as it is then. Cost: one read, one commit.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; what `change` answers; if the store refuses.
    pub async fn change(
        &self,
        id: TaskId,
        now: Timestamp,
        change: impl Fn(&mut Task) -> Result<(), Error>,
    ) -> Result<Task, Error> {
        let key = keys::task(id.0);
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let row = self.records().get(&key).await?.ok_or_else(|| not_found(id))?;
            let old = read(id, &row.value)?;
            let mut task = old.clone();
            change(&mut task)?;
            if task == old {
                return Ok(task);
            }
            task.updated = now;
            let mut pending = Pending::default();
            pending.conditions.push(unchanged(&key, Some(&row)));
            put(&mut pending, &task, Some(old.status));
            if self.records().commit(pending).await?.is_some() {
                return Ok(task);
            }
        }
        Err(attempts.exhausted(TASKS).into())
    }

    /// Has a task end, if it is not finished; whether it will. Removals cannot be ended: what they remove is gone for readers already.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; if the store refuses.
    pub async fn cancel(&self, id: TaskId, now: Timestamp) -> Result<bool, Error> {
        let task = self.change(id, now, |task| {
            task.status = match (task.status, &task.work) {
                (status, TaskWork::Remove(_)) => status,
                (TaskStatus::New | TaskStatus::Queued, TaskWork::Other) => TaskStatus::Cancelled,
                (TaskStatus::New | TaskStatus::Queued | TaskStatus::Running, _) => TaskStatus::Cancelling,
                (status, _) => status,
            };
            Ok(())
        });
        Ok(matches!(task.await?.status, TaskStatus::Cancelling | TaskStatus::Cancelled))
    }

    /// The commit, if any is needed, that cancels all work for parts of the schema that are gone; a run under way notes nothing more.
    pub(crate) async fn cancelled_for(
        &self,
        parts: &[PartId],
        now: Timestamp,
    ) -> Result<Option<Pending>, Error> {
        let mut pending = Pending::default();
        for id in self.unfinished(|task| task.work.is_for(parts).then_some(task.id)).await? {
            let key = keys::task(id.0);
            let Some(row) = self.records().get(&key).await? else { continue };
            let mut task = read(id, &row.value)?;
            if task.status.is_finished() {
                continue;
            }
            let was = std::mem::replace(&mut task.status, TaskStatus::Cancelled);
            task.updated = now;
            pending.conditions.push(unchanged(&key, Some(&row)));
            put(&mut pending, &task, Some(was));
        }
        Ok((!pending.writes.is_empty()).then_some(pending))
    }

    /// Removes a task that is finished, or with `force` any.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::Invalid`] for one that is not finished; if the store refuses.
    pub async fn delete(&self, id: TaskId, force: bool) -> Result<(), Error> {
        let key = keys::task(id.0);
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let row = self.records().get(&key).await?.ok_or_else(|| not_found(id))?;
            let status = read(id, &row.value)?.status;
            if !force && !status.is_finished() {
                let status = status.name();
                return Err(Error::Invalid(format!(
                    "Can't delete incomplete task '{id}' in status '{status}', Please try to cancel the task first"
                )));
            }
            let of_status = Write::Delete(keys::task_of_status(status.code(), id.0));
            let pending = Pending {
                conditions: vec![unchanged(&key, Some(&row))],
                writes: vec![Write::Delete(key.clone()), of_status],
            };
            if self.records().commit(pending).await?.is_some() {
                return Ok(());
            }
        }
        Err(attempts.exhausted(TASKS).into())
    }
}

/// Adds tasks to a commit, numbered as they come; another commit of new tasks between refuses it.
pub(crate) async fn add(
    records: &Records,
    pending: &mut Pending,
    drafts: &[TaskDraft],
    now: Timestamp,
) -> Result<Vec<TaskId>, Error> {
    if drafts.is_empty() {
        return Ok(Vec::new());
    }
    let key = keys::next_task();
    let row = records.get(&key).await?;
    let mut next = match &row {
        None => 1,
        Some(row) => {
            keys::number_of_task(&row.value).ok_or_else(|| damaged("the number of the next task"))?
        }
    };
    pending.conditions.push(unchanged(&key, row.as_ref()));
    let mut ids = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let TaskDraft { name, kind, input, work } = draft.clone();
        let task = Task {
            id: TaskId(next),
            name,
            kind,
            input,
            work,
            status: TaskStatus::New,
            progress: 0,
            retries: 0,
            result: "".into(),
            created: now,
            updated: now,
            cursor: Bytes::new(),
        };
        put(pending, &task, None);
        ids.push(task.id);
        next += 1;
    }
    pending.writes.push(Write::PutStamped(key, Bytes::copy_from_slice(&next.to_be_bytes())));
    Ok(ids)
}

/// Writes a task that was in another status, or is new.
fn put(pending: &mut Pending, task: &Task, was: Option<TaskStatus>) {
    let key = keys::task(task.id.0);
    if was.is_none() {
        pending.conditions.push(Condition::Absent(key.clone()));
    }
    pending.writes.push(Write::PutStamped(key, put_task(task)));
    if was != Some(task.status) {
        let of = |status: TaskStatus| keys::task_of_status(status.code(), task.id.0);
        pending.writes.push(Write::Put(of(task.status), Bytes::new()));
        pending.writes.extend(was.map(|was| Write::Delete(of(was))));
    }
}

fn read(id: TaskId, stored: &[u8]) -> Result<Task, Error> {
    take_task(id, stored).map_err(|_| damaged("a task"))
}

fn not_found(id: TaskId) -> Error {
    Error::NotFound(format!("task {id}").into())
}

fn check_bytes(text: &str) -> Result<(), Error> {
    store::LimitExceeded::check("TASK_BYTES_MAX", TASK_BYTES_MAX, text.len())
        .map_err(|limit| Error::Limit { what: "the input of a task".into(), limit })
}

/// What is written of a stored task that was read.
#[cfg(feature = "testing")]
pub(crate) fn printed_again(bytes: &[u8]) -> Result<Bytes, graph::Malformed> {
    take_task(TaskId(1), bytes).map(|task| put_task(&task))
}
